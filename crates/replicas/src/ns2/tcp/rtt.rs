//! ns-2's estimate of the round-trip time: whole clock ticks in scaled integers (`rtt_update`,
//! `rtt_timeout`, `rtt_backoff` in ns-2.35 `tcp/tcp.cc`).
//!
//! A sample counts the ticks of the sender's clock between sending and acknowledgement, so it
//! depends on the phase of the clock, `boot_time`. It knows nothing of which packet is timed.

use lasthop_protocols::transport::tcp::config::RtoOrder;

use super::settings::Settings;

/// The estimator and the value of the retransmission timer.
#[derive(Clone, Debug)]
pub struct Estimator {
    /// Length of a clock tick, seconds.
    tick: f64,
    /// When, within a tick, the clock started, seconds.
    boot_time: f64,
    /// Whether samples come from time stamps, and are rounded instead of counted.
    timestamps: bool,
    min: f64,
    max: f64,
    max_backoff: Option<u32>,
    initial: f64,
    order: RtoOrder,
    values: Values,
    /// The timeout before back-off, seconds (`t_rtxcur_`).
    rto: f64,
}

/// What ns-2 traces of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// The last sample, ticks (`t_rtt_`).
    pub rtt: i32,
    /// Smoothed, ticks times 8 (`t_srtt_`); 0 is unset.
    pub srtt: i32,
    /// Variation, ticks times 4 (`t_rttvar_`).
    pub rttvar: i32,
    /// Back-off multiplier (`t_backoff_`).
    pub backoff: i64,
}

impl Estimator {
    /// Without a sample.
    pub fn new(settings: &Settings, boot_time: f64) -> Self {
        // rttvar_init_ 12 s, srtt_init_ 0.
        let rttvar = ((12.0 / settings.tick) as i32) << RTTVAR_BITS;
        Self {
            tick: settings.tick,
            boot_time,
            timestamps: settings.timestamps,
            min: settings.min_rto,
            max: settings.max_rto,
            max_backoff: settings.max_backoff,
            initial: settings.initial_rto,
            order: settings.rto_order,
            values: Values { rtt: 0, srtt: 0, rttvar, backoff: 1 },
            rto: settings.initial_rto,
        }
    }

    /// What ns-2 traces.
    #[inline]
    pub fn values(&self) -> Values {
        self.values
    }

    /// The smoothed round-trip time in seconds, cut to whole ticks; `None` if unset.
    pub fn srtt(&self) -> Option<f64> {
        (self.values.srtt != 0).then(|| f64::from(self.values.srtt >> SRTT_BITS) * self.tick)
    }

    /// Takes a sample: something is acknowledged `now` that was sent `tao` seconds ago. Gives the ticks counted,
    /// which may be none; the sample is then one.
    pub fn update(&mut self, now: f64, tao: f64) -> i32 {
        let ticks = if self.timestamps {
            tao / self.tick + 0.5
        } else {
            (tao + (now - tao + self.boot_time) % self.tick) / self.tick
        };
        let counted = ticks as i32;
        let v = &mut self.values;
        v.rtt = counted.max(1);
        if v.srtt == 0 {
            v.srtt = v.rtt << SRTT_BITS;
            v.rttvar = v.rtt << (RTTVAR_BITS - 1);
        } else {
            // ns-2 keeps the difference in 16 bits, and the rest in 32, which very short ticks exceed.
            let delta = v.rtt.wrapping_sub(v.srtt >> SRTT_BITS) as i16;
            v.srtt = v.srtt.wrapping_add(delta.into()).max(1);
            let deviation = match self.order {
                RtoOrder::Rfc => delta,
                RtoOrder::Thesis => v.rtt.wrapping_sub(v.srtt >> SRTT_BITS) as i16,
            };
            let growth = i32::from(deviation.wrapping_abs()).wrapping_sub(v.rttvar >> RTTVAR_BITS);
            v.rttvar = v.rttvar.wrapping_add(i32::from(growth as i16)).max(1);
        }
        let ticks = (v.rttvar << (RTTVAR_EXP + SRTT_BITS - RTTVAR_BITS)).wrapping_add(v.srtt) >> SRTT_BITS;
        self.rto = f64::from(ticks) * self.tick;
        counted
    }

    /// The value of the timer in seconds, back-off included: the back-off multiplies the value that has
    /// been raised to the least value (RFC 2988 mode, `rfc2988_`).
    pub fn timeout_secs(&self) -> f64 {
        let value = self.rto.max(self.min) * self.values.backoff as f64;
        value.min(self.max).max(2.0 * self.tick)
    }

    /// The timer has expired: doubles the value. Beyond eight times it forgets the mean, and
    /// keeps it in the variation.
    pub fn back_off(&mut self) {
        let doubles = match self.max_backoff {
            Some(most) => self.values.backoff < i64::from(most),
            None => self.values.backoff < 64 || self.timeout_secs() < self.max,
        };
        if doubles {
            self.values.backoff <<= 1;
        }
        let v = &mut self.values;
        if v.backoff > 8 {
            v.rttvar = v.rttvar.wrapping_add(v.srtt >> SRTT_BITS);
            v.srtt = 0;
        }
    }

    /// Something timed was acknowledged: the timer has its plain value again.
    #[inline]
    pub fn end_back_off(&mut self) {
        self.values.backoff = 1;
    }

    /// Forgets everything but the phase of the clock.
    pub fn reset(&mut self) {
        self.values = Values { rtt: 0, srtt: 0, rttvar: ((12.0 / self.tick) as i32) << RTTVAR_BITS, backoff: 1 };
        self.rto = self.initial;
    }
}

/// Bits of `srtt` behind the binary point.
const SRTT_BITS: u32 = 3;
/// Bits of `rttvar` behind the binary point.
const RTTVAR_BITS: u32 = 2;
/// The timeout is the mean and 2 to this power times the variation.
const RTTVAR_EXP: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_protocols::transport::tcp::config::Config;

    fn estimator(change: impl FnOnce(&mut Settings)) -> Estimator {
        let mut settings = Settings::new(&Config::default());
        settings.min_rto = 0.0;
        change(&mut settings);
        Estimator::new(&settings, 0.0)
    }

    fn rtos(mut e: Estimator, samples: &[f64]) -> Vec<f64> {
        let round = |s: f64| (s * 1e4).round() / 1e4;
        samples
            .iter()
            .map(|&s| {
                e.update(10.0 + s, s);
                round(e.timeout_secs())
            })
            .collect()
    }

    /// Transport sheet §1.8, check 1.
    #[test]
    fn timeouts_after_four_samples() {
        let samples = [0.2, 0.3, 0.25, 1.1];
        assert_eq!(rtos(estimator(|s| s.timestamps = true), &samples), [0.60, 0.61, 0.55, 1.47]);
        let raised = estimator(|s| (s.timestamps, s.min_rto) = (true, 1.0));
        assert_eq!(rtos(raised, &samples), [1.0, 1.0, 1.0, 1.47]);
    }

    /// Transport sheet §1.8, check 2.
    #[test]
    fn back_off_doubles_up_to_the_cap() {
        let series = |initial: f64, n: usize| {
            let mut e = estimator(|s| (s.initial_rto, s.max_rto) = (initial, 64.0));
            let mut values = vec![e.timeout_secs()];
            for _ in 1..n {
                e.back_off();
                values.push(e.timeout_secs());
            }
            values
        };
        assert_eq!(series(1.0, 8), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0]);
        assert_eq!(series(3.0, 6), [3.0, 6.0, 12.0, 24.0, 48.0, 64.0]);
    }

    /// `rtt_backoff` in ns-2.29: a timer of 200 ms ends at 12.8 s, whatever `maxrto_` is.
    #[test]
    fn back_off_may_end_at_a_multiple() {
        let mut e = estimator(|s| (s.initial_rto, s.max_rto, s.max_backoff) = (0.2, 100_000.0, Some(64)));
        for _ in 0..10 {
            e.back_off();
        }
        assert_eq!((e.values().backoff, e.timeout_secs()), (64, 12.8));
    }

    #[test]
    fn the_phase_of_the_clock_decides_a_sample() {
        let sample = |boot_time: f64| {
            let mut e = estimator(|_| ());
            e.boot_time = boot_time;
            e.update(0.204168, 0.104168);
            e.values().rtt
        };
        assert_eq!(sample(3.4e-6), 10);
        assert_eq!(sample(0.006), 11);
    }
}
