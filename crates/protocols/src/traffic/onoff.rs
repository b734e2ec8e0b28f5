//! Bursts: on and off in turn, with writes of one size at a constant rate while on.
//!
//! Time spent on is a clock of its own: write `n` comes when it shows n · size / rate. So what a
//! burst leaves of an interval counts in the next one, and the mean rate is exactly
//! rate · on / (on + off). (ns-2 rounds each burst to whole packets, at least one.)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Instant, Stream};
use lasthop_net::net::{Notice, Source, Timed};

use super::{SourceConfig, datagram_size, writes_before};

/// Bursts of writes, from the start of the flow to the end of the run: over UDP one datagram each.
/// The first burst begins at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Config(Fields);

/// Bursts of writes, from the start of the flow to the end of the run: over UDP one datagram each.
/// The first burst begins at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "OnOff")]
struct Fields {
    /// The rate of the payload during a burst, headers not counted. Default: 64 kbit/s (ns-2).
    rate: BitRate,
    /// The payload of each write. Default: 210 B (ns-2).
    size: Bytes,
    /// The mean length of a burst. Default: 500 ms (ns-2).
    on: Duration,
    /// The mean length of the silence between two bursts. Default: 500 ms (ns-2).
    off: Duration,
    /// How the lengths are distributed.
    distribution: Distribution,
    /// The shape of the Pareto distribution, above 1; below 2 its variance is infinite. Default: 1.5 (ns-2).
    shape: f64,
}

/// How the lengths of bursts and silences are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Distribution {
    /// Exponential.
    #[default]
    Exponential,
    /// Pareto: many flows together are self-similar.
    Pareto,
    /// All are as long as the mean.
    Constant,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            rate: BitRate::from_kbps(64),
            size: Bytes::new(210),
            on: Duration::from_millis(500),
            off: Duration::from_millis(500),
            distribution: Distribution::default(),
            shape: 1.5,
        }
    }
}

impl Fields {
    /// How long most bursts are, in seconds: the mean, or the least of a Pareto distribution, whose mean the few long ones make.
    fn usual_burst(&self) -> f64 {
        let mean = self.on.as_secs_f64();
        match self.distribution {
            Distribution::Exponential | Distribution::Constant => mean,
            Distribution::Pareto => pareto_scale(mean, self.shape),
        }
    }
}

/// The least value of a Pareto distribution with this mean.
fn pareto_scale(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

impl TryFrom<Fields> for Config {
    type Error = String;
    fn try_from(fields: Fields) -> Result<Self, String> {
        datagram_size(fields.size)?;
        if fields.on == Duration::ZERO {
            return Err("`on` must be longer than 0 s".to_owned());
        }
        if !(fields.shape > 1.0 && fields.shape.is_finite()) {
            return Err(format!("`shape` must be above 1, for a mean to exist, and not {}", fields.shape));
        }
        Ok(Self(fields))
    }
}

impl From<Config> for Fields {
    fn from(config: Config) -> Self {
        config.0
    }
}

impl SourceConfig for Config {
    fn build(&self, start: Instant, stream: Stream) -> Box<dyn Source> {
        let mut source = OnOff {
            config: self.0.clone(),
            stream,
            burst: Burst { begins: start, ends: start, before: Duration::ZERO },
            next: start,
            writes: 0,
            due: 0,
            opened: false,
        };
        let length = source.draw(self.0.on);
        source.burst.ends = start + length;
        Box::new(source)
    }

    fn suits_datagrams(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        let Fields { rate, size, on, .. } = self.0;
        let bursts = (writes_before(1, size, rate).as_secs_f64() / self.0.usual_burst()) as u64;
        if bursts > MOST_BURSTS {
            let message = format!("a write of {size} at {rate} takes {bursts} bursts of {on}");
            return Err(Fault::new("on", message, format!("expected longer bursts: the most is {MOST_BURSTS}")));
        }
        Ok(())
    }
}

/// The most bursts that a single write may wait for: each has to be drawn.
const MOST_BURSTS: u64 = 10_000_000;

/// The source.
#[derive(Debug)]
pub struct OnOff {
    config: Fields,
    stream: Stream,
    burst: Burst,
    /// When the next write is due, in `burst`.
    next: Instant,
    /// How many writes were due so far, and how many of them are to be asked for.
    writes: u64,
    due: u64,
    opened: bool,
}

/// A time of being on.
#[derive(Debug)]
struct Burst {
    begins: Instant,
    ends: Instant,
    /// Time spent on before it.
    before: Duration,
}

impl OnOff {
    /// A length with this mean.
    fn draw(&mut self, mean: Duration) -> Duration {
        let shape = self.config.shape;
        match self.config.distribution {
            Distribution::Exponential => Duration::from_secs_f64(self.stream.exponential(mean.as_secs_f64())),
            Distribution::Pareto => {
                Duration::from_secs_f64(self.stream.pareto(shape, pareto_scale(mean.as_secs_f64(), shape)))
            }
            Distribution::Constant => mean,
        }
    }

    /// Finds the burst in which the next write falls, and when.
    fn plan(&mut self) {
        let on_time = writes_before(self.writes, self.config.size, self.config.rate);
        loop {
            let length = self.burst.ends.since(self.burst.begins);
            if on_time < self.burst.before + length || self.burst.ends == Instant::MAX {
                break;
            }
            let silence = self.draw(self.config.off);
            let begins = self.burst.ends + silence;
            let ends = begins + self.draw(self.config.on);
            self.burst = Burst { begins, ends, before: self.burst.before + length };
        }
        self.next = self.burst.begins + on_time.saturating_sub(self.burst.before);
    }
}

impl Timed for OnOff {
    fn on_timeout(&mut self, now: Instant) {
        while self.next <= now && now < Instant::MAX {
            self.writes += 1;
            self.due += 1;
            self.plan();
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        // The first call comes at the flow's start without being asked for.
        (self.writes > 0).then_some(self.next)
    }
}

impl Source for OnOff {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        let left = self.due.checked_sub(1)?;
        if !std::mem::replace(&mut self.opened, true) {
            return Some(Notice::Open);
        }
        self.due = left;
        Some(Notice::Write(self.config.size.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::write_times;
    use lasthop_net::engine::choice::parsed;

    fn times(text: &str, seconds: u64) -> Vec<Instant> {
        let config: Config = parsed(text).unwrap();
        let until = Instant::from_nanos(seconds * 1_000_000_000);
        write_times(&config, Instant::ZERO, until).into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn constant_bursts_carry_the_rest_of_an_interval_over() {
        // One write for each 0.4 s of being on; bursts are [0, 1), [3, 4), [6, 7), …
        let text = "rate = '20 kbit/s'\nsize = '1000 B'\non = '1 s'\noff = '2 s'\ndistribution = 'constant'";
        let seconds: Vec<f64> = times(text, 8).iter().map(|t| t.as_secs_f64()).collect();
        assert_eq!(seconds, [0.0, 0.4, 0.8, 3.2, 3.6, 6.0, 6.4, 6.8]);
    }

    #[test]
    fn the_mean_rate_is_that_of_the_closed_form() {
        // 100 writes a second while on, on for a third of the time, over 60 000 s.
        let common = "rate = '800 kbit/s'\nsize = '1000 B'\non = '0.5 s'\noff = '1 s'\n";
        let expected = 100.0 / 3.0;
        // Five standard errors of the share of time on: for a renewal process with coefficient of
        // variation c of both lengths, c · √2 · on · off / (on + off)² · √(cycle / time).
        for (distribution, variation) in
            [("distribution = 'exponential'", 1.0), ("distribution = 'pareto'\nshape = 3", 0.578)]
        {
            let count = times(&format!("{common}{distribution}"), 60_000).len();
            let rate = count as f64 / 60_000.0;
            let error = 5.0 * 100.0 * variation * 2f64.sqrt() * (2.0 / 9.0) * (1.5f64 / 60_000.0).sqrt();
            assert!((rate - expected).abs() < error, "{distribution}: {rate}, expected {expected} ± {error}");
        }
    }
}
