//! Frame sizes that an encoder produced at several bit rates, and the sizes at a rate between them (RFC 8593 §6).

use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Recorded sizes: on the first line bit rates in kbit/s, ascending, and on each further line the sizes in bytes of one frame at these rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct FrameTrace(Arc<Sizes>);

#[derive(Debug, PartialEq)]
struct Sizes {
    /// bit/s.
    rates: Vec<f64>,
    /// A row for each frame, a size for each rate.
    frames: Vec<Vec<f64>>,
}

/// SkipFrames: frames that are left out when a trace begins again, so that no large first frame returns (RFC 8593 §6.2.1).
const SKIPPED: usize = 20;

/// fs_min and fs_max (RFC 8593 §6.2.1), bytes.
const SMALLEST: f64 = 10.0;
const LARGEST: f64 = 1e6;

/// The largest rate, kbit/s.
const MOST_KBPS: f64 = 1e7;

impl TryFrom<String> for FrameTrace {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let mut rows = text.lines().zip(1..).filter_map(|(line, number)| {
            let line = line.split('#').next().unwrap_or_default().trim();
            (!line.is_empty()).then_some((line, number))
        });
        let numbers = |line: &str, number: usize, most: f64| -> Result<Vec<f64>, String> {
            let each = line.split([',', ' ', '\t']).filter(|word| !word.is_empty());
            each.map(|word| match word.parse::<f64>() {
                Ok(value) if value >= 0.0 && value <= most => Ok(value),
                _ => Err(format!("line {number} of the trace: `{word}` is no number from 0 to {most}")),
            })
            .collect()
        };
        let Some((line, number)) = rows.next() else { return Err("the trace is empty".to_owned()) };
        let rates = numbers(line, number, MOST_KBPS)?;
        if rates.first().is_none_or(|first| *first < 1.0) || !rates.is_sorted_by(|a, b| a < b) {
            return Err(format!("line {number} of the trace: expected bit rates in kbit/s, from 1 on and ascending"));
        }
        let mut frames = Vec::new();
        for (line, number) in rows {
            let sizes = numbers(line, number, LARGEST)?;
            if sizes.len() != rates.len() {
                return Err(format!("line {number} of the trace: {} sizes for {} rates", sizes.len(), rates.len()));
            }
            frames.push(sizes);
        }
        if frames.len() <= SKIPPED {
            return Err(format!("the trace has {} frames: it takes more than {SKIPPED}", frames.len()));
        }
        Ok(Self(Arc::new(Sizes { rates: rates.into_iter().map(|kbps| 1e3 * kbps).collect(), frames })))
    }
}

impl From<FrameTrace> for String {
    fn from(trace: FrameTrace) -> Self {
        let line = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let mut text = line(&trace.0.rates.iter().map(|rate| rate / 1e3).collect::<Vec<_>>());
        for sizes in &trace.0.frames {
            let _ = write!(text, "\n{}", line(sizes));
        }
        text
    }
}

impl FrameTrace {
    /// The size of frame `n` at `rate` bit/s, in bytes (§6.2.1): between recorded rates by interpolation, beyond them in proportion.
    pub fn size(&self, n: u64, rate: f64) -> f64 {
        let Sizes { rates, frames } = &*self.0;
        let length = frames.len() as u64;
        let skipped = SKIPPED as u64;
        let place = if n < length { n } else { (n - length) % (length - skipped) + skipped };
        let sizes = &frames[place as usize];
        let above = rates.partition_point(|known| *known <= rate);
        let size = match above {
            0 => sizes[0] * rate / rates[0],
            _ if above == rates.len() => sizes[above - 1] * rate / rates[above - 1],
            _ => {
                let share = (rate - rates[above - 1]) / (rates[above] - rates[above - 1]);
                sizes[above] * share + sizes[above - 1] * (1.0 - share)
            }
        };
        size.clamp(SMALLEST, LARGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> FrameTrace {
        let rows: Vec<String> = (0..30).map(|n| format!("{} {}", 100 + n, 300 + n)).collect();
        FrameTrace::try_from(format!("100 200 # kbit/s\n{}", rows.join("\n"))).unwrap()
    }

    /// RFC 8593 §6.2.1: cases a, b and c, and where the trace begins again.
    #[test]
    fn sizes_lie_between_those_of_the_rates_around() {
        let trace = trace();
        for (n, rate, expected) in [
            (0, 100e3, 100.0),
            (0, 150e3, 200.0),
            (5, 175e3, 255.0),
            (0, 50e3, 50.0),
            (0, 400e3, 600.0),
            (29, 100e3, 129.0),
            // The first 20 of 30 frames are left out from then on.
            (30, 100e3, 120.0),
            (39, 100e3, 129.0),
            (40, 100e3, 120.0),
            (0, 1.0, 10.0),
        ] {
            assert_eq!(trace.size(n, rate), expected, "frame {n} at {rate}");
        }
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        let text = String::from(trace());
        assert_eq!(FrameTrace::try_from(text).unwrap(), trace());
    }

    #[test]
    fn wrong_traces_name_the_line() {
        for (text, said) in [
            ("", "empty"),
            ("200 100", "line 1"),
            ("0 100", "line 1"),
            ("100 200\n1", "line 2 of the trace: 1 sizes for 2 rates"),
            ("100\n# no frame\n1\nx", "line 4 of the trace: `x`"),
            ("100\n-1", "line 2"),
            ("100\nnan", "line 2"),
            ("100\n1\n2", "2 frames"),
        ] {
            let error = FrameTrace::try_from(text.to_owned()).unwrap_err();
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
