//! Video as in the evaluations of 3G and LTE: frames at equal intervals, each of several slices
//! whose sizes and distances are Pareto-distributed, cut off at a largest value.
//!
//! The means that the tables state (100 B and 6 ms) are those of values cut off, not of values
//! drawn again: [αk − m(k/m)^α]/(α − 1) is 101.4 B and 5.94 ms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Duration, Fault, Instant, Stream};
use lasthop_net::net::{Notice, Source, Timed};

use super::{LARGEST_DATAGRAM, RTP_HEADER, SourceConfig};

/// Video in frames of several slices: over UDP one RTP packet for each slice. The first frame
/// comes at once. By default 65 kbit/s (3GPP TR 25.892, Annex A: 64 kbit/s).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Video")]
pub struct Config {
    /// The time between two frames. Default: 100 ms.
    pub interval: Duration,
    /// Slices of a frame. Default: 8.
    pub slices: u32,
    /// The least size of a slice, without headers: the scale of its Pareto distribution. Default:
    /// 40 B. (20 B for 32 kbit/s.)
    pub min_size: Bytes,
    /// The largest size of a slice, at which the distribution is cut off. Default: 250 B. (125 B
    /// for 32 kbit/s.)
    pub max_size: Bytes,
    /// The least time between two slices of a frame: the scale of its Pareto distribution. Default:
    /// 2.5 ms.
    pub min_gap: Duration,
    /// The longest time between two slices of a frame, at which the distribution is cut off.
    /// Default: 12.5 ms.
    pub max_gap: Duration,
    /// The shape of both distributions. Default: 1.2.
    pub shape: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(100),
            slices: 8,
            min_size: Bytes::new(40),
            max_size: Bytes::new(250),
            min_gap: Duration::from_nanos(2_500_000),
            max_gap: Duration::from_nanos(12_500_000),
            shape: 1.2,
        }
    }
}

impl SourceConfig for Config {
    fn build(&self, start: Instant, stream: Stream) -> Box<dyn Source> {
        Box::new(Video {
            config: self.clone(),
            stream,
            start,
            frame: 0,
            slice: 0,
            next: start,
            due: 0,
            woken: false,
            opened: false,
        })
    }

    fn suits_datagrams(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        let largest = LARGEST_DATAGRAM - RTP_HEADER;
        let wrong = |field, message: String, expected: &str| Err(Fault::new(field, message, expected.to_owned()));
        if self.interval == Duration::ZERO {
            return wrong(
                "interval",
                "frames at intervals of zero".to_owned(),
                "expected an interval, such as \"100 ms\"",
            );
        }
        if !(1..=MOST_SLICES).contains(&self.slices) {
            return wrong(
                "slices",
                format!("frames of {} slices", self.slices),
                &format!("expected 1 to {MOST_SLICES}"),
            );
        }
        if self.min_size.get() == 0 || self.min_size > self.max_size || self.max_size.get() > largest {
            let message = format!("slices of {} to {}", self.min_size, self.max_size);
            return wrong("min_size", message, &format!("expected sizes from 1 B to {largest} B, the least first"));
        }
        if self.min_gap > self.max_gap {
            let message = format!("gaps of {} to {}", self.min_gap, self.max_gap);
            return wrong("min_gap", message, "expected the least first");
        }
        if self.max_gap * u64::from(self.slices - 1) >= self.interval {
            let message = format!("{} slices at most {} apart", self.slices, self.max_gap);
            return wrong("max_gap", message, &format!("a frame must end before the next, {} later", self.interval));
        }
        if !(self.shape > 0.0 && self.shape.is_finite()) {
            return wrong("shape", format!("a Pareto distribution of shape {}", self.shape), "expected more than 0");
        }
        Ok(())
    }
}

/// The most slices of a frame: without gaps all of them come at once.
const MOST_SLICES: u32 = 10_000;

/// The source.
#[derive(Debug)]
pub struct Video {
    config: Config,
    stream: Stream,
    start: Instant,
    /// The next slice: its frame, its number within the frame, and when it comes.
    frame: u64,
    slice: u32,
    next: Instant,
    /// Slices that are to be written now.
    due: u64,
    woken: bool,
    opened: bool,
}

impl Video {
    /// A Pareto-distributed value from `least` on, cut off at `most`.
    fn draw(&mut self, least: f64, most: f64) -> f64 {
        self.stream.pareto(self.config.shape, least).min(most)
    }

    /// Finds out when the next slice comes.
    fn plan(&mut self) {
        self.slice += 1;
        if self.slice < self.config.slices {
            let gap = self.draw(self.config.min_gap.as_secs_f64(), self.config.max_gap.as_secs_f64());
            self.next += Duration::from_secs_f64(gap);
        } else {
            self.slice = 0;
            self.frame += 1;
            // Computed from its number, so that frames do not drift.
            self.next = self.start + self.config.interval * self.frame;
        }
    }
}

impl Timed for Video {
    fn on_timeout(&mut self, now: Instant) {
        self.woken = true;
        while self.next <= now && now < Instant::MAX {
            self.due += 1;
            self.plan();
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        // The first call comes at the flow's start without being asked for.
        self.woken.then_some(self.next)
    }
}

impl Source for Video {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        let left = self.due.checked_sub(1)?;
        if !std::mem::replace(&mut self.opened, true) {
            return Some(Notice::Open);
        }
        self.due = left;
        let size = self.draw(self.config.min_size.get() as f64, self.config.max_size.get() as f64);
        Some(Notice::Write(RTP_HEADER + libm::round(size) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::write_times;
    use lasthop_net::engine::choice::parsed;

    /// Mean and standard deviation of a Pareto distribution cut off at `m`: with r = k/m,
    /// E = [αk − m·r^α]/(α − 1) and E² = [2m²·r^α − αk²]/(2 − α).
    fn cut_off(k: f64, m: f64, a: f64) -> (f64, f64) {
        let tail = libm::pow(k / m, a);
        let mean = (a * k - m * tail) / (a - 1.0);
        let square = (2.0 * m * m * tail - a * k * k) / (2.0 - a);
        (mean, (square - mean * mean).sqrt())
    }

    fn check(text: &str, kbps: f64) {
        let config: Config = parsed(text).unwrap();
        config.check().unwrap();
        let frames = 20_000;
        let writes = write_times(&config, Instant::ZERO, Instant::from_nanos(frames * 100_000_000));
        assert_eq!(writes.len() as u64, frames * 8);
        let n = writes.len() as f64;
        let (k, m) = (config.min_size.get() as f64, config.max_size.get() as f64);
        let sizes: Vec<f64> = writes.iter().map(|(_, bytes)| (bytes - RTP_HEADER) as f64).collect();
        assert!(sizes.iter().all(|s| (k..=m).contains(s)));
        let (mean, deviation) = cut_off(k, m, 1.2);
        let got = sizes.iter().sum::<f64>() / n;
        // Five standard errors, and half a per mille of rounding to whole bytes.
        assert!((got - mean).abs() < 5.0 * deviation / n.sqrt() + 0.05, "{got} B, expected {mean}");
        assert!((got * 8.0 * 8.0 * 10.0 / 1e3 - kbps).abs() < 0.02 * kbps, "{got} B are not {kbps} kbit/s");
        // A share (k/m)^α is cut off.
        let tail = libm::pow(k / (m - 0.5), 1.2);
        let cut = sizes.iter().filter(|s| **s >= m).count() as f64 / n;
        assert!((cut - tail).abs() < 5.0 * (tail / n).sqrt(), "{cut} cut off, expected {tail}");
        let mut gaps = Vec::new();
        for (frame, slices) in (0u64..).zip(writes.chunks(8)) {
            assert_eq!(slices[0].0, Instant::from_nanos(frame * 100_000_000));
            gaps.extend(slices.windows(2).map(|pair| pair[1].0.since(pair[0].0).as_secs_f64() * 1e3));
        }
        let n = gaps.len() as f64;
        let (mean, deviation) = cut_off(2.5, 12.5, 1.2);
        let got = gaps.iter().sum::<f64>() / n;
        assert!((got - mean).abs() < 5.0 * deviation / n.sqrt(), "{got} ms, expected {mean}");
        assert!((mean - 6.0).abs() < 0.1, "the table says 6 ms");
    }

    #[test]
    fn sizes_gaps_and_rate_are_those_of_the_closed_form() {
        check("", 64.9);
        check("min_size = '20 B'\nmax_size = '125 B'", 32.4);
    }

    #[test]
    fn contradictions_are_refused() {
        for (text, field) in [
            ("interval = '0 s'", "interval"),
            ("slices = 0", "slices"),
            ("min_size = '0 B'", "min_size"),
            ("max_size = '30 B'", "min_size"),
            ("max_size = '65500 B'", "min_size"),
            ("min_gap = '13 ms'", "min_gap"),
            ("interval = '80 ms'", "max_gap"),
            ("slices = 9", "max_gap"),
            ("shape = 0", "shape"),
        ] {
            let config: Config = parsed(text).unwrap();
            assert_eq!(config.check().unwrap_err().field, field, "{text}");
        }
    }
}
