//! Bearers whose rate and delay change: each terminal's are drawn anew at equal intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Duration, Fault, Instant, Stream};

/// The rate and the delay of each terminal's bearers down are drawn anew at equal intervals, evenly between the Node B's `rate` and
/// `delay` and these. Bearers of one terminal have the same. A packet never overtakes another of its bearer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MbmsVarying")]
pub struct Config {
    /// The slowest rate.
    pub slowest: BitRate,
    /// The longest delay.
    pub longest: Duration,
    /// How long each draw holds.
    pub period: Duration,
    /// When the first one begins to hold. 0 s.
    #[serde(default)]
    pub from: Duration,
    /// When the last one ends to hold. Never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
}

impl Config {
    /// Whether its parameters make sense beside the rate and the delay of the Node B.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self, rate: BitRate, delay: Duration) -> Result<(), Fault> {
        if self.slowest > rate {
            let message = format!("{} is faster than the bearers, {rate}", self.slowest);
            return Err(Fault::new("slowest", message, "expected at most their `rate`"));
        }
        if self.longest < delay {
            let message = format!("{} is shorter than the bearers' delay, {delay}", self.longest);
            return Err(Fault::new("longest", message, "expected at least their `delay`"));
        }
        if self.period == Duration::ZERO {
            return Err(Fault::new("period", "draws that hold for no time", "expected an interval, such as \"5 s\""));
        }
        if self.until.is_some_and(|until| until <= self.from) {
            let expected = format!("expected a time after {}", self.from);
            return Err(Fault::new("until", "draws that end before they begin", expected));
        }
        Ok(())
    }
}

/// What a terminal's bearers carry at each time.
#[derive(Debug)]
pub struct Varying {
    config: Config,
    /// Of the Node B.
    rate: BitRate,
    delay: Duration,
    stream: Stream,
    /// The number of the present draw, and what it gave.
    present: Option<(u64, Drawn)>,
}

/// What a draw gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// The rate.
    pub rate: BitRate,
    /// By how much the delay is longer than the Node B's.
    pub more: Duration,
}

impl Varying {
    /// With a random stream of the terminal.
    pub fn new(config: Config, rate: BitRate, delay: Duration, stream: Stream) -> Self {
        Self { config, rate, delay, stream, present: None }
    }

    /// The same for a bearer of the terminal.
    #[must_use]
    pub fn of_bearer(&self) -> Self {
        Self::new(self.config.clone(), self.rate, self.delay, self.stream.numbered(0))
    }

    /// What holds now.
    pub fn at(&mut self, now: Instant) -> Drawn {
        let from = Instant::ZERO + self.config.from;
        if now < from || self.config.until.is_some_and(|until| now >= Instant::ZERO + until) {
            return Drawn { rate: self.rate, more: Duration::ZERO };
        }
        let number = now.since(from).as_nanos() / self.config.period.as_nanos().max(1);
        match self.present {
            Some((present, drawn)) if present == number => drawn,
            _ => {
                let mut stream = self.stream.numbered(number);
                let rate = stream.uniform(self.config.slowest.as_bps() as f64, self.rate.as_bps() as f64);
                let most = (self.config.longest - self.delay).as_secs_f64();
                let more = Duration::from_secs_f64(stream.uniform(0.0, most));
                let drawn = Drawn { rate: BitRate::from_bps(rate as u64), more };
                self.present = Some((number, drawn));
                drawn
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    fn config() -> Config {
        Config {
            slowest: BitRate::from_kbps(100),
            longest: Duration::from_millis(120),
            period: Duration::from_secs(5),
            from: Duration::from_secs(10),
            until: Some(Duration::from_secs(100_010)),
        }
    }

    fn terminal() -> Varying {
        let stream = Streams::new(1).stream("nb.ue[0] down", "varying");
        Varying::new(config(), BitRate::from_kbps(400), Duration::from_millis(20), stream)
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn before_and_after_it_is_as_the_node_b_says() {
        let mut of = terminal();
        for second in [0, 9, 100_010, 200_000] {
            assert_eq!(of.at(at(second)), Drawn { rate: BitRate::from_kbps(400), more: Duration::ZERO });
        }
    }

    /// Evenly distributed variables: their means and extremes over 20,000 draws, five standard errors.
    #[test]
    fn draws_lie_evenly_in_the_ranges_and_hold_for_a_period() {
        let mut of = terminal();
        let draws: Vec<Drawn> = (0..20_000).map(|n| of.at(at(10 + 5 * n))).collect();
        let rates: Vec<f64> = draws.iter().map(|drawn| drawn.rate.as_bps() as f64 / 1e3).collect();
        let delays: Vec<f64> = draws.iter().map(|drawn| drawn.more.as_secs_f64() * 1e3).collect();
        for (values, low, high) in [(rates, 100.0, 400.0), (delays, 0.0, 100.0)] {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            assert!((mean - (low + high) / 2.0).abs() < 5.0 * (high - low) / (12.0 * n).sqrt(), "{mean}");
            assert!(values.iter().all(|value| (low..=high).contains(value)));
        }
        assert_eq!(of.at(at(12)), draws[0]);
        assert_eq!(of.at(at(14)), draws[0]);
        assert_ne!(of.at(at(15)), draws[0]);
    }

    #[test]
    fn bearers_of_a_terminal_have_the_same() {
        let terminal = terminal();
        let (mut one, mut other) = (terminal.of_bearer(), terminal.of_bearer());
        for n in 0..10 {
            assert_eq!(one.at(at(10 + 5 * n)), other.at(at(10 + 5 * n)));
        }
    }

    #[test]
    fn it_gets_worse_than_the_node_b_and_not_better() {
        let (rate, delay) = (BitRate::from_kbps(400), Duration::from_millis(20));
        assert!(config().check(rate, delay).is_ok());
        let faster = Config { slowest: BitRate::from_kbps(401), ..config() };
        let shorter = Config { longest: Duration::from_millis(19), ..config() };
        let never = Config { period: Duration::ZERO, ..config() };
        let over = Config { until: Some(Duration::from_secs(10)), ..config() };
        for (wrong, field) in [(faster, "slowest"), (shorter, "longest"), (never, "period"), (over, "until")] {
            let fault = wrong.check(rate, delay).unwrap_err();
            assert!(format!("{fault:?}").contains(field), "{fault:?}");
        }
    }
}
