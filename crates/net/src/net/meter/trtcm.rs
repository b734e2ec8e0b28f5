//! The two-rate three-colour marker, colour-blind (RFC 2698): a bucket of the peak burst at the
//! peak rate, and one of the committed burst at the committed rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Bytes, Fault, Instant};
use crate::net::operations::Operations;
use crate::net::token_bucket::TokenBucket;

use super::{Colour, Promise};

/// The two-rate three-colour marker. CIR and CBS are what the flow was promised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The peak rate PIR, as a multiple of the committed rate; at least 1 (RFC 2698 §2). Default:
    /// 2.
    pub peak: f64,
    /// The peak burst size PBS. Default: as large as the committed burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<Bytes>,
}

impl Default for Config {
    fn default() -> Self {
        Self { peak: 2.0, peak_burst: None }
    }
}

impl Config {
    /// The meter of a flow.
    pub fn start(&self, promise: Promise, now: Instant) -> TrTcm {
        TrTcm {
            peak: TokenBucket::new(peak_rate(promise.rate, self.peak), self.peak_burst.unwrap_or(promise.burst), now),
            committed: TokenBucket::new(promise.rate, promise.burst, now),
        }
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        check_peak("meter.trtcm.peak", self.peak)
    }
}

/// The rate at `peak` times `rate`.
pub(super) fn peak_rate(rate: BitRate, peak: f64) -> BitRate {
    BitRate::from_bps(libm::round(rate.as_bps() as f64 * peak) as u64)
}

/// A peak is at least what it is the peak of.
pub(super) fn check_peak(field: &'static str, peak: f64) -> Result<(), Fault> {
    if (1.0..=1e6).contains(&peak) {
        return Ok(());
    }
    Err(Fault::new(field, format!("a peak of {peak} times the rate"), "expected a factor of at least 1"))
}

/// The meter: Tp and Tc of RFC 2698 §3.
#[derive(Debug)]
pub struct TrTcm {
    peak: TokenBucket,
    committed: TokenBucket,
}

impl TrTcm {
    /// Two buckets.
    pub const OPERATIONS: Operations = TokenBucket::OPERATIONS.times(2);

    /// The colour of a packet (RFC 2698 §3).
    pub fn colour(&mut self, now: Instant, bytes: u32) -> Colour {
        if !self.peak.take(now, bytes) {
            Colour::Red
        } else if self.committed.take(now, bytes) {
            Colour::Green
        } else {
            Colour::Yellow
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_two_rates() {
        // By hand: CIR 8000 B/s, CBS 2000 B, PIR 16000 B/s, PBS 3000 B, packets of 1000 B. Four at
        // once: the third finds C empty, the fourth P too. At 62.5 ms P has 1000 B and C 500 B; at
        // 125 ms P has 1000 B again and C 1000 B; at 200 ms P has 1200 B and C 600 B.
        let promise = Promise { rate: BitRate::from_kbps(64), burst: Bytes::new(2_000) };
        let config = Config { peak: 2.0, peak_burst: Some(Bytes::new(3_000)) };
        let mut meter = config.start(promise, Instant::ZERO);
        use Colour::{Green, Red, Yellow};
        for (at, expected) in
            [(0.0, Green), (0.0, Green), (0.0, Yellow), (0.0, Red), (0.0625, Yellow), (0.125, Green), (0.2, Yellow)]
        {
            assert_eq!(meter.colour(Instant::from_secs_f64(at), 1_000), expected, "at {at} s");
        }
    }

    #[test]
    fn a_peak_below_the_rate_is_refused() {
        for peak in [0.5, -1.0, f64::NAN, f64::INFINITY] {
            let fault = Config { peak, peak_burst: None }.check().unwrap_err();
            assert!(fault.expected.contains("at least 1"), "{peak}");
        }
        assert_eq!(Config { peak: 1.0, peak_burst: None }.check(), Ok(()));
    }
}
