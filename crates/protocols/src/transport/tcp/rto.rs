//! The retransmission timeout (RFC 6298): smoothed round-trip time, its variation, back-off.

use lasthop_net::engine::Duration;

use super::config::{Rto, RtoOrder};

/// The parameters of the estimator, with the defaults of RFC 6298.
#[derive(Clone, Copy, Debug)]
pub struct RtoConfig {
    min: Duration,
    max: Duration,
    initial: Duration,
    granularity: Duration,
    order: RtoOrder,
    ack_delay: Duration,
}

impl RtoConfig {
    /// What `config` says. The granularity of 1 ms is a choice: RFC 6298 §2 leaves it to the clock.
    pub fn new(config: &Rto) -> Self {
        let min = config.min.unwrap_or(Duration::from_secs(1));
        Self {
            min,
            max: config.max.unwrap_or(Duration::from_secs(60)).max(min),
            initial: config.initial.unwrap_or(Duration::from_secs(1)),
            granularity: config.granularity.unwrap_or(Duration::from_millis(1)),
            order: config.order,
            ack_delay: Duration::ZERO,
        }
    }

    /// For a receiver that may hold an acknowledgement back for `delay`, which is added to the
    /// timeout (RFC 9002 §6.2.1, max_ack_delay). Where the least timeout is far above such delays
    /// this is not needed.
    pub fn with_ack_delay(self, delay: Duration) -> Self {
        Self { ack_delay: delay, ..self }
    }

    /// Clock granularity G.
    pub fn granularity(&self) -> Duration {
        self.granularity
    }
}

/// The estimator of one connection. It knows nothing of segments: Karn's rule, which samples
/// are valid, is kept by the caller.
#[derive(Clone, Debug)]
pub struct RtoEstimator {
    config: RtoConfig,
    /// SRTT; `None` before the first sample.
    srtt: Option<Duration>,
    /// RTTVAR.
    rttvar: Duration,
    /// The timeout without back-off.
    base: Duration,
    /// How often the timer has expired since the last sample: RTO = base · 2ⁿ.
    doublings: u32,
    /// What a spurious timeout left for the first sample of new data (RFC 4015 §3, step (11)).
    floor: Option<Conservative>,
}

/// The estimate before a spurious timeout, for [`RtoEstimator::undo`].
#[derive(Clone, Copy, Debug)]
pub struct Conservative {
    /// SRTT_prev = SRTT + 2·G.
    srtt: Duration,
    /// RTTVAR_prev.
    rttvar: Duration,
}

impl RtoEstimator {
    /// An estimator without a sample.
    pub fn new(config: RtoConfig) -> Self {
        let base = config.initial.min(config.max);
        Self { config, srtt: None, rttvar: Duration::ZERO, base, doublings: 0, floor: None }
    }

    /// Takes a sample of a segment that was sent once. After a spurious timeout `fresh` says that it
    /// had not been sent before that.
    pub fn on_sample(&mut self, r: Duration, fresh: bool) {
        let (r, ns) = (r.as_nanos(), Duration::from_nanos);
        self.doublings = 0;
        let (srtt, rttvar) = match (self.srtt, self.floor.take_if(|_| fresh)) {
            // RFC 4015 §3, step (11).
            (_, Some(prev)) => (prev.srtt.as_nanos().max(r), prev.rttvar.as_nanos().max(r / 2)),
            // RFC 6298 §2.2.
            (None, None) => (r, r / 2),
            // RFC 6298 §2.3, rounded to the nearest nanosecond.
            (Some(old), None) => {
                let old = old.as_nanos();
                let new = (7 * old + r + 4) / 8;
                let mean = match self.config.order {
                    RtoOrder::Rfc => old,
                    RtoOrder::Thesis => new,
                };
                (new, (3 * self.rttvar.as_nanos() + mean.abs_diff(r) + 2) / 4)
            }
        };
        self.srtt = Some(ns(srtt));
        self.rttvar = ns(rttvar);
        let rto = ns(srtt + self.config.granularity.as_nanos().max(4 * rttvar));
        self.base = (rto + self.config.ack_delay).clamp(self.config.min, self.config.max);
    }

    /// Forgets the estimates: they are of another path. The timer is what it was before the first sample (RFC 6298 §2.1), or what it is if
    /// that is longer.
    pub fn forget(&mut self) {
        let initial = self.config.initial.min(self.config.max);
        (self.srtt, self.rttvar, self.floor) = (None, Duration::ZERO, None);
        self.base = self.base.max(initial);
    }

    /// The timer has expired (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        if self.rto() < self.config.max {
            self.doublings += 1;
        }
    }

    /// The SYN was lost (RFC 6298 §5.7): data begin with at least 3 s.
    pub fn after_lost_syn(&mut self) {
        self.doublings = 0;
        self.base = self.base.max(Duration::from_secs(3)).min(self.config.max);
    }

    /// The timeout, back-off included.
    #[inline]
    pub fn rto(&self) -> Duration {
        if self.doublings == 0 {
            return self.base;
        }
        (self.base * (1 << self.doublings.min(32))).min(self.config.max)
    }

    /// SRTT.
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// RTTVAR.
    pub fn rttvar(&self) -> Duration {
        self.rttvar
    }

    /// Whether it waits for such a sample: backed off, or after a spurious timeout.
    #[inline]
    pub fn waits(&self, fresh: bool) -> bool {
        self.doublings > 0 || (fresh && self.floor.is_some())
    }

    /// The factor of the back-off.
    pub fn backoff(&self) -> f64 {
        (1u64 << self.doublings.min(32)) as f64
    }

    /// What to keep at a timeout in case that it proves spurious (RFC 4015 §3, step (0));
    /// `None` before the first sample.
    pub fn save(&self) -> Option<Conservative> {
        let srtt = self.srtt? + self.config.granularity * 2;
        Some(Conservative { srtt, rttvar: self.rttvar })
    }

    /// The timeout was spurious: the first sample of new data counts at once (RFC 4015 §3, step
    /// (11)).
    pub fn undo(&mut self, saved: Option<Conservative>) {
        self.doublings = 0;
        self.floor = saved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(rto: Rto) -> RtoEstimator {
        RtoEstimator::new(RtoConfig::new(&rto))
    }

    #[test]
    fn samples_give_the_timeouts_of_the_formulae() {
        let samples = [0.2, 0.3, 0.25, 1.1];
        for (order, min, expected) in [
            (RtoOrder::Rfc, 0.0, [0.6, 0.6125, 0.5547, 1.4635]),
            (RtoOrder::Thesis, 0.0, [0.6, 0.6, 0.5406, 1.3426]),
            (RtoOrder::Rfc, 1.0, [1.0, 1.0, 1.0, 1.4635]),
        ] {
            let mut rto = estimator(Rto { min: Some(Duration::from_secs_f64(min)), order, ..Rto::default() });
            for (sample, expected) in samples.into_iter().zip(expected) {
                rto.on_sample(Duration::from_secs_f64(sample), true);
                let got = rto.rto().as_secs_f64();
                assert!((got - expected).abs() < 0.5e-4, "{order:?}, minimum {min}: {got} for {expected}");
            }
        }
    }

    /// RFC 9002 §6.2.1: srtt + max(4 · rttvar, granularity) + max_ack_delay.
    #[test]
    fn the_delay_of_acknowledgements_is_added() {
        let config = RtoConfig::new(&Rto { min: Some(Duration::ZERO), ..Rto::default() });
        let mut rto = RtoEstimator::new(config.with_ack_delay(Duration::from_millis(200)));
        assert_eq!(rto.rto(), Duration::from_secs(1), "before a sample");
        rto.on_sample(Duration::from_millis(100), true);
        assert_eq!(rto.rto(), Duration::from_millis(500));
        (0..200).for_each(|_| rto.on_sample(Duration::from_millis(100), true));
        assert_eq!(rto.rto(), Duration::from_millis(301));
        rto.back_off();
        assert_eq!(rto.rto(), Duration::from_millis(602));
    }

    #[test]
    fn each_expiry_doubles_the_timeout_up_to_the_maximum() {
        for (initial, expected) in [(1, &[1, 2, 4, 8, 16, 32, 64, 64][..]), (3, &[3, 6, 12, 24, 48, 64, 64][..])] {
            let mut rto = estimator(Rto {
                initial: Some(Duration::from_secs(initial)),
                max: Some(Duration::from_secs(64)),
                ..Rto::default()
            });
            for &expected in expected {
                assert_eq!(rto.rto(), Duration::from_secs(expected));
                rto.back_off();
            }
            rto.on_sample(Duration::from_millis(100), true);
            assert_eq!(rto.rto(), Duration::from_secs(1), "a sample ends the back-off");
        }
    }

    #[test]
    fn after_a_spurious_timeout_the_first_sample_of_new_data_counts_in_full() {
        let mut rto = estimator(Rto::default());
        for _ in 0..50 {
            rto.on_sample(Duration::from_millis(100), true);
        }
        let saved = rto.save();
        rto.back_off();
        rto.undo(saved);
        // Of data sent before: 7/8·100 + 2000/8, as ever.
        rto.on_sample(Duration::from_secs(2), false);
        assert_eq!(rto.srtt(), Some(Duration::from_nanos(337_500_000)));
        rto.on_sample(Duration::from_secs(2), true);
        assert_eq!(rto.srtt(), Some(Duration::from_secs(2)));
        assert_eq!(rto.rttvar(), Duration::from_secs(1));
    }
}
