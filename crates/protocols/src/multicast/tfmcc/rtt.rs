//! A receiver's round-trip time (RFC 4654 §4.3).

use lasthop_net::engine::{Duration, Instant};

/// The weights of the old mean, of the current limiting receiver and of others.
const KEPT: [f64; 2] = [0.5, 0.9];
/// The least round-trip time.
const LEAST: Duration = Duration::from_millis(1);

/// The estimate.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    /// The mean of samples; before the first, the largest of all receivers.
    mean: Duration,
    /// The way back of the last sample, in nanoseconds of both clocks, if there is one.
    back: Option<i64>,
    /// By the last packet, if it came after the last sample.
    adjusted: Option<Duration>,
}

impl Rtt {
    /// Without any sample: the largest of all receivers.
    pub fn new(largest: Duration) -> Self {
        Self { mean: largest.max(LEAST), back: None, adjusted: None }
    }

    /// Whether there is a sample.
    #[inline]
    pub fn is_measured(&self) -> bool {
        self.back.is_some()
    }

    /// The round-trip time.
    #[inline]
    pub fn value(&self) -> Duration {
        self.adjusted.unwrap_or(self.mean)
    }

    /// The largest round-trip time of all receivers is this now.
    #[inline]
    pub fn follow(&mut self, largest: Duration) {
        if self.back.is_none() {
            self.mean = largest.max(LEAST);
        }
    }

    /// A packet sent at `sent_at` brings back the receiver's own time stamp, held time added.
    pub fn on_echo(&mut self, now: Instant, sent_at: Instant, stamp: Instant, limiting: bool) {
        let sample = now.since(stamp).max(LEAST);
        self.mean = match self.back {
            None => sample,
            Some(_) => {
                let kept = KEPT[usize::from(limiting)];
                Duration::from_secs_f64(kept * self.mean.as_secs_f64() + (1.0 - kept) * sample.as_secs_f64())
            }
        };
        self.back = Some(sent_at.as_nanos() as i64 - stamp.as_nanos() as i64);
        self.adjusted = None;
    }

    /// Any other packet: its way here, and the way back of the last sample.
    #[inline]
    pub fn on_packet(&mut self, now: Instant, sent_at: Instant) {
        if let Some(back) = self.back {
            let there = now.as_nanos() as i64 - sent_at.as_nanos() as i64;
            let both = Duration::from_nanos(u64::try_from(there + back).unwrap_or(0));
            self.adjusted = Some(both.max(LEAST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn estimate(rtt: &Rtt) -> f64 {
        rtt.value().as_secs_f64() * 1e3
    }

    #[test]
    fn samples_are_averaged_and_packets_adjust_them() {
        let mut rtt = Rtt::new(Duration::from_millis(500));
        rtt.on_packet(ms(10), ms(0));
        rtt.follow(Duration::from_millis(400));
        assert!(!rtt.is_measured() && estimate(&rtt) == 400.0);
        // 40 ms there, 60 ms back.
        rtt.on_echo(ms(1000), ms(960), ms(900), false);
        assert!(rtt.is_measured() && estimate(&rtt) == 100.0);
        rtt.follow(Duration::from_millis(300));
        // 70 ms there.
        rtt.on_packet(ms(1100), ms(1030));
        assert_eq!(estimate(&rtt), 130.0);
        // The next sample meets the mean of samples, not what packets made of it.
        rtt.on_echo(ms(1200), ms(1150), ms(1080), false);
        assert_eq!(estimate(&rtt), 110.0);
        rtt.on_echo(ms(1300), ms(1250), ms(1190), true);
        assert_eq!(estimate(&rtt), 110.0);
        rtt.on_echo(ms(1400), ms(1350), ms(1200), true);
        assert_eq!(estimate(&rtt), 119.0);
    }

    #[test]
    fn a_sample_is_at_least_a_millisecond() {
        let mut rtt = Rtt::new(Duration::ZERO);
        assert_eq!(estimate(&rtt), 1.0);
        rtt.on_echo(ms(5), ms(5), ms(5), false);
        assert_eq!(estimate(&rtt), 1.0);
        rtt.on_packet(ms(6), ms(6));
        assert_eq!(estimate(&rtt), 1.0);
    }
}
