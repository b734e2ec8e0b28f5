//! Bearers whose rate and delay change: each terminal's are drawn anew at equal intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Fault, Instant, Redraw, Stream, redraw};

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
    /// When the first one begins to hold. Default: 0 s.
    #[serde(default)]
    pub from: Duration,
    /// When the last one ends to hold. Default: never.
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
        redraw::check(self.period, self.from, self.until)
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
    drawn: Redraw<Drawn>,
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
        let drawn = Redraw::new(config.period, config.from, config.until);
        Self { config, rate, delay, stream, drawn }
    }

    /// The same for a bearer of the terminal.
    #[must_use]
    pub fn of_bearer(&self) -> Self {
        Self::new(self.config.clone(), self.rate, self.delay, self.stream.numbered(0))
    }

    /// What holds now.
    pub fn at(&mut self, now: Instant) -> Drawn {
        let Self { config, rate, delay, stream, drawn } = self;
        let draw = |stream: &mut Stream| {
            let rate = stream.uniform(config.slowest.as_bps() as f64, rate.as_bps() as f64);
            let more = stream.uniform(0.0, (config.longest - *delay).as_secs_f64());
            Drawn { rate: BitRate::from_bps(rate as u64), more: Duration::from_secs_f64(more) }
        };
        drawn.at(now, stream, draw).unwrap_or(Drawn { rate: *rate, more: Duration::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;

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
