//! The sender's feedback rounds (RFC 4654 §3.2, §3.4): their length, the largest round-trip time, and below which rate receivers
//! are to report.

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::Probe;

/// The length of a round in R_max, if reports go to the sender alone (T).
pub const LENGTH: f64 = 6.0;
/// The largest round-trip time before any report, seconds.
const INITIAL_R_MAX: f64 = 0.5;
/// The factor by which R_max decays after a round without a larger sample.
const DECAY: f64 = 0.9;
/// By which share a rate must be lower than one that was reported to be reported too (g).
const MARGIN: f64 = 0.1;
/// Rounds are numbered with four bits.
const NUMBERS: u8 = 16;

/// The present round.
#[derive(Clone, Debug)]
pub struct Rounds {
    number: u8,
    began: Instant,
    /// Whether a receiver other than the CLR has reported in it.
    heard: bool,
    /// X_supp, bytes per second; infinite before such a report.
    x_supp: f64,
    /// R_max and R_peak, seconds.
    r_max: f64,
    r_peak: f64,
    /// Rounds that have ended, and reports in them of receivers other than the CLR.
    ended: u64,
    reports: u64,
    /// Those that came in the present round, also late ones of the round before.
    present_reports: u64,
}

impl Rounds {
    /// The first round.
    pub fn new(now: Instant) -> Self {
        Self {
            number: 0,
            began: now,
            heard: false,
            x_supp: f64::INFINITY,
            r_max: INITIAL_R_MAX,
            r_peak: 0.0,
            ended: 0,
            reports: 0,
            present_reports: 0,
        }
    }

    /// Its number (fb_nr).
    pub fn number(&self) -> u8 {
        self.number
    }

    /// The rate below which receivers are to report (X_supp).
    pub fn x_supp(&self) -> f64 {
        self.x_supp
    }

    /// The largest round-trip time (R_max), seconds, but at least the `interval` at which packets leave: a shorter one would expect reports
    /// before there is something to report.
    #[inline]
    pub fn r_max(&self, interval: f64) -> f64 {
        self.r_max.max(interval)
    }

    /// A report gives a sample of a round-trip time (§3.2).
    pub fn on_sample(&mut self, sample: f64) {
        self.r_max = self.r_max.max(sample);
        self.r_peak = self.r_peak.max(sample);
    }

    /// A receiver other than the CLR reports this rate in the round of this number (§3.4).
    pub fn on_report(&mut self, round: u8, rate: f64) {
        self.present_reports += 1;
        if round != self.number {
            return;
        }
        self.heard = true;
        if self.x_supp > rate {
            self.x_supp = (1.0 - MARGIN) * rate;
        }
    }

    /// The next round begins if this one is over. Says whether it was.
    #[inline]
    pub fn advance(&mut self, now: Instant, interval: f64) -> bool {
        let length = LENGTH * self.r_max(interval) * if self.heard { 1.0 } else { 2.0 };
        if now < self.began + Duration::from_secs_f64(length) {
            return false;
        }
        // Without any sample nothing is known of the round-trip times of now.
        if self.r_peak > 0.0 {
            self.r_max = (DECAY * self.r_max).max(self.r_peak);
        }
        self.number = (self.number + 1) % NUMBERS;
        (self.began, self.heard, self.x_supp, self.r_peak) = (now, false, f64::INFINITY, 0.0);
        self.ended += 1;
        self.reports += std::mem::take(&mut self.present_reports);
        true
    }

    /// Forgets the measurements; totals stay.
    pub fn reset(&mut self, now: Instant) {
        *self = Self { ended: self.ended, reports: self.reports, ..Self::new(now) };
    }

    /// Its state and totals.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("rounds", self.ended as f64);
        if self.ended > 0 {
            probe.value("reports_per_round", self.reports as f64 / self.ended as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn a_round_lasts_six_r_max_or_until_somebody_reports() {
        let mut rounds = Rounds::new(ms(0));
        rounds.on_sample(0.4);
        rounds.on_report(0, 1000.0);
        assert_eq!(rounds.x_supp(), 900.0);
        rounds.on_report(0, 900.0);
        assert_eq!(rounds.x_supp(), 900.0);
        rounds.on_report(15, 10.0);
        assert_eq!(rounds.x_supp(), 900.0);
        assert!(!rounds.advance(ms(2999), 0.1));
        assert!(rounds.advance(ms(3000), 0.1));
        assert_eq!((rounds.number(), rounds.x_supp(), rounds.r_max(0.1)), (1, f64::INFINITY, 0.45));
        // Only the CLR reports: twice as long, and R_max stays. Six of it are over.
        assert!(!rounds.advance(ms(3000 + 5399), 0.1));
        rounds.on_report(1, 1000.0);
        assert!(rounds.advance(ms(3000 + 5399), 0.1));
        assert_eq!(rounds.r_max(0.1), 0.45);
        assert!(!rounds.advance(ms(8399 + 5399), 0.1) && rounds.advance(ms(8399 + 5400), 0.1));
    }

    #[test]
    fn r_max_falls_by_a_tenth_of_itself_at_most() {
        let mut rounds = Rounds::new(ms(0));
        rounds.on_sample(0.1);
        assert!(rounds.advance(ms(6000), 0.0));
        assert_eq!(rounds.r_max(0.0), 0.45);
        rounds.on_sample(0.43);
        assert!(rounds.advance(ms(12_000), 0.0));
        assert_eq!(rounds.r_max(0.0), 0.43);
        rounds.on_sample(0.7);
        assert_eq!((rounds.r_max(0.0), rounds.r_max(2.0)), (0.7, 2.0));
        assert!(rounds.advance(ms(24_000), 0.0));
        assert_eq!(rounds.r_max(0.0), 0.7);
    }

    #[test]
    fn numbers_wrap() {
        let mut rounds = Rounds::new(ms(0));
        for n in 1..=20 {
            assert!(rounds.advance(ms(6000 * n), 0.0));
            assert_eq!(u64::from(rounds.number()), n % 16);
        }
    }
}
