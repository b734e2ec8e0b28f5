//! Constant bit rate: writes of one size at equal intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Bytes, Duration, Instant, Stream};
use lasthop_net::net::{Notice, Source, Timed};

use super::{SourceConfig, datagram_size, writes_before};

/// Writes of one size at equal intervals, from the start of the flow to the end of the run: over
/// UDP one datagram each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Config {
    pace: Pace,
    size: Bytes,
}

/// How often a write comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    /// So that the payload has this rate.
    Rate(BitRate),
    /// After this time.
    Interval(Duration),
}

/// Writes of one size at equal intervals, from the start of the flow to the end of the run: over
/// UDP one datagram each.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Cbr")]
struct Fields {
    /// The rate of the payload, headers not counted. 64 kbit/s, a voice channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<BitRate>,
    /// The time between two writes, instead of a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Duration>,
    /// The payload of each write. Default: 1000 B.
    size: Bytes,
}

impl Default for Fields {
    fn default() -> Self {
        Self { rate: None, interval: None, size: Bytes::new(1000) }
    }
}

impl Config {
    /// Writes of `size` bytes, so that the payload has this rate.
    pub fn with_rate(rate: BitRate, size: Bytes) -> Self {
        Self { pace: Pace::Rate(rate), size }
    }
}

impl TryFrom<Fields> for Config {
    type Error = String;
    fn try_from(fields: Fields) -> Result<Self, String> {
        let pace = match (fields.rate, fields.interval) {
            (Some(_), Some(_)) => return Err("`rate` and `interval` say the same twice: keep one".to_owned()),
            (_, Some(Duration::ZERO)) => return Err("`interval` must be longer than 0 s".to_owned()),
            (_, Some(interval)) => Pace::Interval(interval),
            (rate, None) => Pace::Rate(rate.unwrap_or(BitRate::from_kbps(64))),
        };
        Ok(Self { pace, size: datagram_size(fields.size)? })
    }
}

impl From<Config> for Fields {
    fn from(config: Config) -> Self {
        let (rate, interval) = match config.pace {
            Pace::Rate(rate) => (Some(rate), None),
            Pace::Interval(interval) => (None, Some(interval)),
        };
        Self { rate, interval, size: config.size }
    }
}

impl SourceConfig for Config {
    fn build(&self, start: Instant, _stream: Stream) -> Box<dyn Source> {
        Box::new(Cbr { config: self.clone(), start, due: 0, asked: 0, opened: false })
    }

    fn suits_datagrams(&self) -> bool {
        true
    }

    fn writes(&self, time: Duration) -> u64 {
        let nanos = u128::from(time.as_nanos());
        let writes = match self.pace {
            Pace::Rate(rate) => nanos * u128::from(rate.as_bps()) / (u128::from(self.size.get()) * 8 * 1_000_000_000),
            Pace::Interval(interval) => nanos / u128::from(interval.as_nanos()),
        };
        u64::try_from(writes).unwrap_or(u64::MAX)
    }
}

/// The source.
#[derive(Debug)]
pub struct Cbr {
    config: Config,
    start: Instant,
    /// How many writes are due by now, and how many were asked for.
    due: u64,
    asked: u64,
    opened: bool,
}

impl Cbr {
    /// When write `n` is due; computed from `n`, so that rounding never adds up.
    fn time_of(&self, n: u64) -> Instant {
        let after = match self.config.pace {
            Pace::Rate(rate) => writes_before(n, self.config.size, rate),
            Pace::Interval(interval) => interval * n,
        };
        self.start + after
    }
}

impl Timed for Cbr {
    fn on_timeout(&mut self, now: Instant) {
        while self.time_of(self.due) <= now && now < Instant::MAX {
            self.due += 1;
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        // The first call comes at the flow's start without being asked for.
        (self.due > 0).then(|| self.time_of(self.due))
    }
}

impl Source for Cbr {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        if self.asked == self.due {
            return None;
        }
        if !std::mem::replace(&mut self.opened, true) {
            return Some(Notice::Open);
        }
        self.asked += 1;
        Some(Notice::Write(self.config.size.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::write_times;
    use lasthop_net::engine::choice::parsed;

    fn times(text: &str, until: Instant) -> Vec<(Instant, u64)> {
        let config: Config = parsed(text).unwrap();
        write_times(&config, Instant::from_nanos(7), until)
    }

    #[test]
    fn writes_come_at_multiples_of_the_interval() {
        let at = Instant::from_nanos;
        assert_eq!(
            times("interval = '1 ms'\nsize = '10 B'", at(2_500_000)),
            [(at(7), 10), (at(1_000_007), 10), (at(2_000_007), 10)]
        );
    }

    #[test]
    fn a_rate_that_no_interval_meets_is_kept_in_the_long_run() {
        // 1000 B at 3 Mbit/s: 8/3 ms.
        let writes = times("rate = '3 Mbit/s'", Instant::from_nanos(10_000_000_008));
        assert_eq!(writes.len(), 3_751);
        assert_eq!(writes[3_750], (Instant::from_nanos(10_000_000_007), 1000));
        assert_eq!(writes[1].0, Instant::from_nanos(2_666_673));
    }

    #[test]
    fn contradictions_are_refused() {
        for (text, part) in [
            ("rate = '1 Mbit/s'\ninterval = '1 ms'", "keep one"),
            ("interval = '0 s'", "longer than 0 s"),
            ("size = '0 B'", "from 1 B to 65507 B"),
            ("size = '70 kB'", "from 1 B to 65507 B"),
            ("sizes = '70 kB'", "unknown field"),
        ] {
            let error = parsed::<Config>(text).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
