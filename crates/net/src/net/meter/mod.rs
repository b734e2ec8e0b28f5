//! Meters (RFC 2475 §2.3.3.1): they hold a flow's packets against its traffic profile, and give
//! each a colour. All are colour-blind: what an earlier meter said does not count.

pub mod srtcm;
pub mod trtcm;
pub mod tsw;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Bytes, Fault, Instant, Stream};

use super::operations::Operations;
use super::token_bucket::TokenBucket;

/// How well a packet keeps to the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Within the profile.
    Green,
    /// Above the committed rate.
    Yellow,
    /// Above everything agreed.
    Red,
}

/// What a flow was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The rate (the CIR of RFC 2697 and 2698, the CTR of RFC 2859).
    pub rate: BitRate,
    /// The burst (the CBS of RFC 2697 and 2698).
    pub burst: Bytes,
}

crate::choice! {
    /// How packets are held against what their flow was promised.
    pub enum Meter: "meter" {
        /// A token bucket: two colours, green and red.
        "token_bucket" => TokenBucket(Plain),
        /// The single-rate three-colour marker (RFC 2697).
        "srtcm" => SrTcm(srtcm::Config),
        /// The two-rate three-colour marker (RFC 2698).
        "trtcm" => TrTcm(trtcm::Config),
        /// The time sliding window with two colours: green and red.
        "tsw2cm" => Tsw2(tsw::Two),
        /// The time sliding window with three colours (RFC 2859).
        "tsw3cm" => Tsw3(tsw::Three),
    }
}

/// A token bucket of the promised rate and burst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plain {}

impl Meter {
    /// A meter of this kind for a flow that was promised `promise` at `now`.
    pub fn start(&self, promise: Promise, now: Instant, stream: Stream) -> Gauge {
        match self {
            Self::TokenBucket(_) => Gauge::Bucket(TokenBucket::new(promise.rate, promise.burst, now)),
            Self::SrTcm(config) => Gauge::SrTcm(config.start(promise, now)),
            Self::TrTcm(config) => Gauge::TrTcm(config.start(promise, now)),
            Self::Tsw2(config) => Gauge::Tsw(config.start(promise, now, stream)),
            Self::Tsw3(config) => Gauge::Tsw(config.start(promise, now, stream)),
        }
    }

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        match self {
            Self::TrTcm(config) => config.check(),
            Self::Tsw2(config) => config.check(),
            Self::Tsw3(config) => config.check(),
            Self::TokenBucket(_) | Self::SrTcm(_) => Ok(()),
        }
    }
}

/// A meter at work for one flow.
#[derive(Debug)]
pub enum Gauge {
    /// A token bucket.
    Bucket(TokenBucket),
    /// RFC 2697.
    SrTcm(srtcm::SrTcm),
    /// RFC 2698.
    TrTcm(trtcm::TrTcm),
    /// RFC 2859.
    Tsw(tsw::Tsw),
}

impl Gauge {
    /// The colour of a packet of this size that comes now.
    pub fn colour(&mut self, now: Instant, bytes: u32) -> Colour {
        match self {
            Self::Bucket(bucket) => {
                if bucket.take(now, bytes) {
                    Colour::Green
                } else {
                    Colour::Red
                }
            }
            Self::SrTcm(meter) => meter.colour(now, bytes),
            Self::TrTcm(meter) => meter.colour(now, bytes),
            Self::Tsw(meter) => meter.colour(now, bytes),
        }
    }

    /// The most arithmetic that a packet takes.
    pub fn operations(&self) -> Operations {
        match self {
            Self::Bucket(_) => TokenBucket::OPERATIONS,
            Self::SrTcm(_) => srtcm::SrTcm::OPERATIONS,
            Self::TrTcm(_) => trtcm::TrTcm::OPERATIONS,
            Self::Tsw(_) => tsw::Tsw::OPERATIONS,
        }
    }
}
