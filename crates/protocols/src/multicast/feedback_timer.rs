//! The wait of a receiver before it says what others may say first.
//!
//! How long it waits is drawn. [`exponential`] keeps the number of receivers that speak before they hear each other small,
//! however many there are (Fuhrmann, Widmer 2001; RFC 4654 §3.4, §4.5; RFC 5740 §5.5.3). PGM's NAKs, of which an element on the
//! way lets one through, wait [`uniform`]ly (RFC 3208 §6.3); a receiver has many of them at once, so they lie in a list of their own.

use lasthop_net::engine::{Duration, Instant};

/// A pending wait, or none.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeedbackTimer {
    /// When it was set, and for how long.
    pending: Option<(Instant, Duration)>,
}

impl FeedbackTimer {
    /// Waits from now on; what it waited for before is forgotten.
    pub fn set(&mut self, now: Instant, wait: Duration) {
        self.pending = Some((now, wait));
    }

    /// Waits for nothing. Says whether it did.
    pub fn cancel(&mut self) -> bool {
        self.pending.take().is_some()
    }

    /// The whole wait is multiplied by `factor`, also the part of it that is over.
    pub fn rescale(&mut self, factor: f64) {
        if let Some((_, wait)) = &mut self.pending {
            *wait = wait.mul_f64(factor);
        }
    }

    /// Prolongs the wait.
    pub fn postpone(&mut self, by: Duration) {
        if let Some((_, wait)) = &mut self.pending {
            *wait += by;
        }
    }

    /// Whether it waits.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// When the wait is over.
    #[inline]
    pub fn at(&self) -> Option<Instant> {
        self.pending.map(|(since, wait)| since + wait)
    }
}

/// The wait that `x`, uniform in (0, 1], stands for: max(T·(1 + ln x / ln N), 0), with T the `span` and N the `receivers` reckoned
/// with, more than 1 (RFC 4654 §4.5).
pub fn exponential(x: f64, span: Duration, receivers: f64) -> Duration {
    span.mul_f64(1.0 + libm::log(x) / libm::log(receivers))
}

/// The wait that `x`, uniform in [0, 1), stands for, of at most `span` (NAK_BO_IVL in RFC 3208 §6.3).
pub fn uniform(x: f64, span: Duration) -> Duration {
    span.mul_f64(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;

    /// T = 3 s, N = 10,000.
    #[test]
    fn waits_are_those_of_the_formula() {
        let span = Duration::from_secs(3);
        for (x, expected) in
            [(1.0, 3.0), (0.5, 2.774), (0.1, 2.25), (0.01, 1.5), (0.001, 0.75), (1e-4, 0.0), (1e-6, 0.0)]
        {
            let wait = exponential(x, span, 1e4).as_secs_f64();
            assert!((wait - expected).abs() < 5e-4, "x = {x}: {wait}, not {expected}");
        }
    }

    #[test]
    fn a_wait_is_stretched_whole() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut timer = FeedbackTimer::default();
        timer.set(at(100), Duration::from_millis(200));
        timer.rescale(1.5);
        assert_eq!(timer.at(), Some(at(400)));
        timer.postpone(Duration::from_millis(50));
        assert_eq!(timer.at(), Some(at(450)));
        assert!(timer.cancel() && !timer.cancel() && timer.at().is_none());
    }

    /// How many of `n` receivers speak in a round, if what one says is heard after a sixth of it.
    fn speakers(n: usize, rounds: u32) -> f64 {
        let span = Duration::from_secs(6);
        let mut stream = Streams::new(1).stream("feedback", "waits");
        let mut all = 0;
        for _ in 0..rounds {
            let mut waits: Vec<Duration> = (0..n).map(|_| exponential(1.0 - stream.unit(), span, 1e4)).collect();
            waits.sort_unstable();
            all += waits.partition_point(|wait| *wait < waits[0] + Duration::from_secs(1));
        }
        f64::from(all as u32) / f64::from(rounds)
    }

    /// With F(t) = N^(t/T−1) the distribution of a wait, and D = T/6 until a report is heard, a receiver speaks if its wait is below D, or
    /// if no wait was shorter by D: n·F(D) + n·N^(1/6)·∫ (1−u)^(n−1) du from 1/N to N^(−1/6) are expected to. The figures in the middle are
    /// those of a simulation apart from this one, which are to be met within 15 %.
    #[test]
    fn few_speak_however_many_there_are() {
        for (n, apart, rounds) in
            [(1, 1.0, 100), (10, 4.2, 20_000), (100, 4.8, 10_000), (1000, 4.3, 4_000), (10_000, 6.8, 1_000)]
        {
            let count = n as f64;
            let power = |base: f64| libm::pow(base, count);
            let late = libm::pow(1e4, 1.0 / 6.0) * (power(1.0 - 1e-4) - power(1.0 - libm::pow(1e4, -1.0 / 6.0)));
            let expected = count * libm::pow(1e4, -5.0 / 6.0) + late;
            let mean = speakers(n, rounds);
            // The number is spread by less than its mean: five standard errors.
            let error = 5.0 * expected / f64::from(rounds).sqrt();
            assert!((mean - expected).abs() <= error, "{n} receivers: {mean}, not {expected} ± {error}");
            assert!((mean / apart - 1.0).abs() <= 0.15, "{n} receivers: {mean}, not {apart}");
        }
    }
}
