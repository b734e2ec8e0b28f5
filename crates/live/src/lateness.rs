//! How late packets were handed to their hosts.

use lasthop_core::engine::Duration;
use lasthop_core::net::Histogram;

/// The distribution of lateness: the time of the write less the instant at which the packet came, in the network.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    histogram: Histogram,
    largest: Duration,
    late: u64,
}

impl Lateness {
    /// Counts a packet; it is late if it was written more than `limit` after it came.
    pub fn add(&mut self, lateness: Duration, limit: Duration) {
        self.histogram.add(lateness.as_nanos());
        self.largest = self.largest.max(lateness);
        self.late += u64::from(lateness > limit);
    }

    /// How many packets were counted.
    pub fn packets(&self) -> u64 {
        self.histogram.len()
    }

    /// How many of them were late.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// The least lateness that the share `q` of all packets does not exceed, in seconds.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.histogram.quantile(q).map(|nanos| nanos * 1e-9)
    }

    /// The largest.
    pub fn largest(&self) -> Duration {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_is_later_than_the_limit() {
        let mut lateness = Lateness::default();
        for micros in [10, 1_000, 1_001, 5_000] {
            lateness.add(Duration::from_micros(micros), Duration::from_millis(1));
        }
        assert_eq!((lateness.packets(), lateness.late()), (4, 2));
        assert_eq!(lateness.largest(), Duration::from_millis(5));
        let half = lateness.quantile(0.5).unwrap();
        assert!((half / 1e-3 - 1.0).abs() < 0.032, "{half}");
    }
}
