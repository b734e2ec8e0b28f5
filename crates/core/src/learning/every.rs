//! How often a controller is called, and how long a step of a learner is.

use crate::engine::Duration;

/// How often a controller is called, and how long a step of a learner is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// A number of acknowledgements.
    Acks(u64),
    /// A time.
    Time(Duration),
    /// A share of the smoothed round-trip time.
    RoundTrips(f64),
}

impl Every {
    /// Reads `"ack"`, `"8 acks"`, `"10 ms"`, `"rtt"` or `"rtt/4"`.
    ///
    /// # Errors
    /// A sentence that shows the text and what to write. It begins with the value, so that callers put the parameter's name before it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?}: write \"ack\", \"8 acks\", \"10 ms\", \"rtt\" or \"rtt/4\"");
        if text == "ack" {
            return Ok(Self::Acks(1));
        }
        if let Some(count) = text.strip_suffix(" acks") {
            return count.parse().ok().filter(|n| *n > 0).map(Self::Acks).ok_or_else(wrong);
        }
        if text == "rtt" {
            return Ok(Self::RoundTrips(1.0));
        }
        if let Some(parts) = text.strip_prefix("rtt/") {
            return parts
                .parse()
                .ok()
                .filter(|n| (1.0..=1000.0).contains(n))
                .map(|n: f64| Self::RoundTrips(1.0 / n))
                .ok_or_else(wrong);
        }
        Duration::parse(text).ok().filter(|time| *time > Duration::ZERO).map(Self::Time).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_or_refused() {
        for (text, expected) in [
            ("ack", Every::Acks(1)),
            ("8 acks", Every::Acks(8)),
            ("10 ms", Every::Time(Duration::from_millis(10))),
            ("rtt", Every::RoundTrips(1.0)),
            ("rtt/4", Every::RoundTrips(0.25)),
        ] {
            assert_eq!(Every::parse(text), Ok(expected), "{text}");
        }
        for text in ["", "acks", "0 acks", "0 ms", "rtt/0", "rtt/0.5", "rtt/nan", "-1 ms", "soon"] {
            let message = Every::parse(text).unwrap_err();
            assert!(message.starts_with(&format!("{text:?}")), "{message}");
        }
    }
}
