//! A trace as a text: a whole number a line.

use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Duration};

/// How many bytes an opportunity carries: an Ethernet frame's payload and the four bytes that a TUN device puts before it (mahimahi).
pub const BYTES: u32 = 1_504;

/// The most lines.
const MOST: usize = 100_000_000;

/// Opportunities to deliver up to 1,504 bytes each: a whole number a line, milliseconds since the start. Lines do not decrease; n equal lines
/// are n opportunities. The last line is also the period, after which the trace begins again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Trace(Arc<[u32]>);

impl TryFrom<String> for Trace {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut times: Vec<u32> = Vec::new();
        // A byte-order mark and Windows' line ends are no part of the numbers.
        for (line, n) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
            if line.starts_with('#') {
                continue;
            }
            let fault = |why: String| Err(format!("line {n} of the trace: {why}"));
            if line.trim().is_empty() {
                return fault("an empty line; expected a whole number of milliseconds".to_owned());
            }
            let Ok(time) = line.trim_end().parse::<u32>() else {
                let shown: String = line.chars().take(40).collect();
                return fault(format!("`{shown}` is no whole number of milliseconds from 0 to {}", u32::MAX));
            };
            if let Some(last) = times.last().filter(|last| time < **last) {
                return fault(format!("{time} comes after {last}; the times must not decrease"));
            }
            if times.len() == MOST {
                return fault(format!("a trace has at most {MOST} lines"));
            }
            times.push(time);
        }
        match times.last() {
            None => Err("the trace has no line; expected milliseconds, one number a line".to_owned()),
            Some(0) => Err("the trace must last for some time: its last line, the period, is 0".to_owned()),
            Some(_) => Ok(Self(times.into())),
        }
    }
}

impl From<Trace> for String {
    fn from(trace: Trace) -> Self {
        let mut text = Self::with_capacity(8 * trace.0.len());
        for time in trace.0.iter() {
            let _ = writeln!(text, "{time}");
        }
        text
    }
}

impl Trace {
    /// The instants, ms.
    pub fn times(&self) -> &[u32] {
        &self.0
    }

    /// After how long it begins again: its last line.
    pub fn period(&self) -> Duration {
        Duration::from_millis(u64::from(self.0[self.0.len() - 1]))
    }

    /// The mean rate over a period.
    pub fn mean_rate(&self) -> BitRate {
        let bits = 8.0 * f64::from(BYTES) * self.0.len() as f64;
        BitRate::from_bps(((bits / self.period().as_secs_f64()).round() as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Trace::try_from(text.to_owned()).unwrap_err()
    }

    #[test]
    fn a_trace_is_a_list_of_milliseconds() {
        let trace = Trace::try_from("\u{feff}# made by hand\r\n0\r\n0\r\n3\r\n5\r\n7\r\n".to_owned()).unwrap();
        assert_eq!(trace.times(), [0, 0, 3, 5, 7]);
        assert_eq!(trace.period(), Duration::from_millis(7));
        assert_eq!(String::from(trace), "0\n0\n3\n5\n7\n");
    }

    #[test]
    fn one_line_of_one_is_twelve_megabits() {
        assert_eq!(Trace::try_from("1".to_owned()).unwrap().mean_rate().as_bps(), 12_032_000);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, expected) in [
            ("", "no line"),
            ("# nothing\n", "no line"),
            ("1\n\n2", "line 2 of the trace: an empty line"),
            ("1\n2x", "line 2 of the trace: `2x`"),
            ("-1", "line 1 of the trace: `-1`"),
            ("1.5", "line 1 of the trace: `1.5`"),
            ("5\n4", "line 2 of the trace: 4 comes after 5"),
            ("0\n0", "the trace must last for some time"),
            ("4294967296", "line 1 of the trace"),
        ] {
            assert!(refused(text).contains(expected), "{text:?}: {}", refused(text));
        }
    }
}
