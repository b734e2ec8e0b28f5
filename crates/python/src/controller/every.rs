//! How often a controller is called.

use lasthop_core::engine::Duration;

/// How often a controller is called.
#[derive(Clone, Copy, Debug)]
pub enum Every {
    Acks(u64),
    Time(Duration),
    /// A share of the smoothed round-trip time.
    RoundTrips(f64),
}

impl Every {
    /// Reads `"ack"`, `"8 acks"`, `"10 ms"`, `"rtt"` or `"rtt/4"`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("every = {text:?}: write \"ack\", \"8 acks\", \"10 ms\", \"rtt\" or \"rtt/4\"");
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
