//! The single-rate three-colour marker, colour-blind (RFC 2697): a bucket of the committed burst
//! that fills at the committed rate, and a bucket of the excess burst that gets what the first
//! has no room for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Bytes, Instant};
use crate::net::operations::Operations;
use crate::net::token_bucket::TokenBucket;

use super::{Colour, Promise};

/// The single-rate three-colour marker. CIR and CBS are what the flow was promised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The excess burst size EBS (RFC 2697 §2). Default: as large as the committed burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_burst: Option<Bytes>,
}

impl Config {
    /// The meter of a flow.
    pub fn start(&self, promise: Promise, now: Instant) -> SrTcm {
        let excess = self.excess_burst.unwrap_or(promise.burst);
        SrTcm {
            committed: TokenBucket::new(promise.rate, promise.burst, now),
            // It fills by spilling over alone.
            excess: TokenBucket::new(BitRate::from_bps(0), excess, now),
        }
    }
}

/// The meter: Tc and Te of RFC 2697 §3.
#[derive(Debug)]
pub struct SrTcm {
    committed: TokenBucket,
    excess: TokenBucket,
}

impl SrTcm {
    /// One bucket, and the sum and the difference of the other.
    pub const OPERATIONS: Operations = TokenBucket::OPERATIONS.and(Operations { additions: 2, multiplications: 0 });

    /// The colour of a packet (RFC 2697 §3).
    pub fn colour(&mut self, now: Instant, bytes: u32) -> Colour {
        let spilt = self.committed.fill(now);
        self.excess.add(spilt);
        if self.committed.take(now, bytes) {
            Colour::Green
        } else if self.excess.take(now, bytes) {
            Colour::Yellow
        } else {
            Colour::Red
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_two_buckets() {
        // By hand: CIR 8000 B/s, CBS 2000 B, EBS 1000 B, packets of 1000 B. Four at once: two
        // empty C, one empties E. At 0.125 s C holds 1000 B; at 0.2 s 600 B; at 0.5 s C is full
        // (at 0.375 s) and E has 1000 B.
        let promise = Promise { rate: BitRate::from_kbps(64), burst: Bytes::new(2_000) };
        let config = Config { excess_burst: Some(Bytes::new(1_000)) };
        let mut meter = config.start(promise, Instant::ZERO);
        use Colour::{Green, Red, Yellow};
        for (at, expected) in
            [(0.0, Green), (0.0, Green), (0.0, Yellow), (0.0, Red), (0.125, Green), (0.2, Red), (0.5, Green)]
        {
            assert_eq!(meter.colour(Instant::from_secs_f64(at), 1_000), expected, "at {at} s");
        }
    }

    #[test]
    fn the_excess_bucket_fills_only_when_the_committed_one_is_full() {
        // RFC 2697 §3: "if Tc is less than CBS, Tc is incremented by one, else if Te is less than
        // EBS, Te is incremented by one".
        let promise = Promise { rate: BitRate::from_kbps(64), burst: Bytes::new(1_000) };
        let mut meter = Config::default().start(promise, Instant::ZERO);
        assert_eq!([0; 3].map(|_| meter.colour(Instant::ZERO, 1_000)), [Colour::Green, Colour::Yellow, Colour::Red]);
        // 1499 B have come in 187.4 ms: C is full, E lacks more than half.
        let late = Instant::from_nanos(187_400_000);
        assert_eq!([0; 2].map(|_| meter.colour(late, 1_000)), [Colour::Green, Colour::Red]);
        assert_eq!(meter.colour(late, 499), Colour::Yellow);
    }
}
