//! The path of a log of a QUIC controller, as its index describes it.

use serde::Deserialize;
use serde_json::Value;

use super::quic::PACKET;

/// The path, and the application that writes into it. Times are in µs.
#[derive(Debug, PartialEq)]
pub struct Path {
    /// From when it has which rate and length, in order; the first from the start.
    pub stretches: Vec<Stretch>,
    /// Bytes that wait at most; the packet in service does not count.
    pub buffer: u64,
    /// Every how many packets one is lost in front of the queue.
    pub loses: Option<u64>,
    /// From when the application writes at which rate, in order; the first from the start.
    pub application: Vec<Writing>,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    pub from: u64,
    /// bit/s.
    pub rate: f64,
    /// There and back.
    pub rtt: f64,
}

/// How fast the application writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Writing {
    pub from: u64,
    /// bit/s; `None` as fast as the path takes.
    pub rate: Option<f64>,
}

/// As the index has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    rate_bps: Option<f64>,
    rtt_s: Option<f64>,
    steps: Option<Vec<(f64, f64, f64)>>,
    buffer_bytes: u64,
    #[expect(dead_code, reason = "named so that other keys are refused: the log ends then")]
    duration_s: Option<f64>,
    #[expect(dead_code, reason = "named so that other keys are refused: the log ends then")]
    acks: Option<u64>,
    loss: Option<String>,
    application: Option<Vec<(f64, Value)>>,
}

impl Path {
    /// Reads a description.
    pub fn read(described: &Value) -> Result<Self, String> {
        let path = Described::deserialize(described).map_err(|error| format!("path: {error}"))?;
        let steps = match (path.steps, path.rate_bps, path.rtt_s) {
            (Some(steps), None, None) => steps,
            (None, Some(rate), Some(rtt)) => vec![(0.0, rate, rtt)],
            _ => return Err("path: neither steps nor a rate and a round trip".to_owned()),
        };
        let stretch = |(from, rate, rtt): &(f64, f64, f64)| {
            let is_sound = (1e3..=1e11).contains(rate) && (0.0..=60.0).contains(rtt);
            if is_sound { Ok(Stretch { from: us(*from)?, rate: *rate, rtt: rtt * 1e6 }) } else { Err(()) }
        };
        let stretches = steps.iter().map(stretch).collect::<Result<Vec<_>, ()>>();
        let stretches = stretches.map_err(|()| "path: a rate or a time makes no sense".to_owned())?;
        if stretches.first().is_none_or(|first| first.from > 0) || !stretches.is_sorted_by_key(|stretch| stretch.from) {
            return Err("path: the steps are not in order from the start".to_owned());
        }
        let loses = path.loss.as_deref().map(every).transpose()?;
        let application = path.application.unwrap_or_else(|| vec![(0.0, "unlimited".into())]);
        let application = application.iter().map(writing).collect::<Result<Vec<_>, String>>()?;
        if application.first().is_none_or(|first| first.from > 0) || !application.is_sorted_by_key(|w| w.from) {
            return Err("path: the application does not write from the start".to_owned());
        }
        Ok(Self { stretches, buffer: path.buffer_bytes, loses, application })
    }

    /// Packets that pass until a time, at most.
    pub fn packets(&self, until: u64) -> f64 {
        self.stretches.iter().map(|stretch| stretch.rate).fold(0.0, f64::max) * until as f64 / (PACKET as f64 * 8e6)
    }

    /// The stretch at this time.
    pub fn at(&self, now: u64) -> Stretch {
        self.stretches[self.stretches.partition_point(|stretch| stretch.from <= now) - 1]
    }

    /// What the application writes at this time, and when that changes: a microsecond after the time of the description.
    pub fn writing(&self, now: u64) -> (Option<f64>, u64) {
        let later = self.application.partition_point(|writing| writing.from == 0 || writing.from < now);
        (self.application[later - 1].rate, self.application.get(later).map_or(u64::MAX, |next| next.from + 1))
    }

    /// From when to when path and application stay as they are.
    pub fn constant(&self) -> Vec<(u64, u64)> {
        let begins = self.stretches.iter().map(|stretch| stretch.from);
        let mut begins: Vec<u64> = begins.chain(self.application.iter().map(|writing| writing.from)).collect();
        begins.sort_unstable();
        begins.dedup();
        let ends = begins.iter().skip(1).copied().chain([u64::MAX]);
        begins.iter().copied().zip(ends).collect()
    }
}

/// "every 100th packet sent", with or without more words behind it.
fn every(words: &str) -> Result<u64, String> {
    let number = words.strip_prefix("every ").and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    let number = number.and_then(|digits| digits.parse().ok()).filter(|every| *every > 0);
    number.ok_or_else(|| format!("path: losses \"{words}\""))
}

fn writing((from, rate): &(f64, Value)) -> Result<Writing, String> {
    let rate = match rate {
        Value::String(word) if word == "unlimited" => None,
        rate => Some(rate.as_f64().filter(|rate| (0.0..=1e11).contains(rate)).ok_or("path: the application's rate")?),
    };
    Ok(Writing { from: us(*from).map_err(|()| "path: a time makes no sense")?, rate })
}

fn us(seconds: f64) -> Result<u64, ()> {
    if (0.0..=MOST_SECONDS).contains(&seconds) { Ok((seconds * 1e6).round() as u64) } else { Err(()) }
}

/// The longest run, s.
const MOST_SECONDS: f64 = 86_400.0;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn descriptions_are_read_or_refused() {
        let path = Path::read(&json!({
            "steps": [[0, 1e7, 0.03], [20, 1e6, 0.15]], "buffer_bytes": 64000, "duration_s": 60,
            "loss": "every 100th packet sent, retransmissions counted", "application": [[0, 2e6], [15, "unlimited"]]
        }))
        .unwrap();
        assert_eq!((path.at(19_999_999).rate, path.at(20_000_000).rtt), (1e7, 150e3));
        assert_eq!(path.writing(15_000_000), (Some(2e6), 15_000_001));
        assert_eq!(path.writing(15_000_001), (None, u64::MAX));
        assert_eq!(path.loses, Some(100));
        assert_eq!(path.constant(), [(0, 15_000_000), (15_000_000, 20_000_000), (20_000_000, u64::MAX)]);
        for (changed, why) in [
            (json!({"rate_bps": 1e7, "rtt_s": 0.04, "buffer_bytes": 1, "jitter_s": 1}), "jitter_s"),
            (json!({"rate_bps": 0.0, "rtt_s": 0.04, "buffer_bytes": 1}), "makes no sense"),
            (json!({"steps": [[5, 1e7, 0.03]], "buffer_bytes": 1}), "not in order"),
            (json!({"steps": [], "buffer_bytes": 1}), "not in order"),
            (json!({"rate_bps": 1e7, "rtt_s": 0.04, "buffer_bytes": 1, "loss": "every 0th"}), "losses"),
            (json!({"rate_bps": 1e7, "rtt_s": 0.04, "buffer_bytes": 1, "application": [[0, -1.0]]}), "rate"),
            (json!("see name"), "path"),
        ] {
            let error = Path::read(&changed).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
