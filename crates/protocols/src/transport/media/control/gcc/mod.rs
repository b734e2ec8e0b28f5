//! Google congestion control: the rate grows until the delay between groups of packets grows, and then falls below what arrived.
//!
//! Two dialects, whose constants must not be mixed: [`draft`] is draft-ietf-rmcat-gcc-02 as written; [`webrtc`] is WebRTC's estimator in the
//! time of REMB, with its numbers. Both run at the sender here, on per-packet feedback (draft §3).

mod convergence;
pub mod draft;
mod meter;
mod threshold;
pub mod webrtc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Instant};

use super::{Feedback, MediaContext, MediaControl, MediaControlConfig};

/// Which of the algorithms of this name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The draft's algorithm, or WebRTC's. Default: "webrtc" (browsers had that one).
    pub dialect: Dialect,
}

/// The descriptions of GCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// draft-ietf-rmcat-gcc-02: a filter of one state, rates by delay and by loss, packets paced in groups of 5 ms.
    Draft,
    /// WebRTC's receiver until 2017: a filter of two states, whole milliseconds, REMB; no rate by loss.
    #[default]
    Webrtc,
}

impl MediaControlConfig for Config {
    fn build(&self, seat: &MediaContext) -> Box<dyn MediaControl> {
        match self.dialect {
            Dialect::Draft => Box::new(draft::Draft::new(seat)),
            Dialect::Webrtc => Box::new(webrtc::Webrtc::new(seat)),
        }
    }

    /// About once a frame (draft §3).
    fn feedback_interval(&self) -> Duration {
        Duration::from_millis(33)
    }
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// When, by the receiver's clock.
    at: Instant,
    number: u64,
    sent_at: Instant,
    bytes: u32,
}

/// The packets of a report in the order in which the receiver got them.
fn in_order_of_arrival(feedback: &Feedback<'_>, arrived: &mut Vec<Arrived>) {
    arrived.clear();
    arrived.extend(feedback.packets.iter().filter_map(|fate| {
        let at = fate.arrival?.at;
        Some(Arrived { at, number: fate.number, sent_at: fate.sent_at, bytes: fate.bytes })
    }));
    arrived.sort_unstable_by_key(|packet| (packet.at, packet.number));
}

/// The receiver's clock in whole milliseconds.
fn whole_ms(at: Instant) -> i64 {
    (at.as_nanos() / 1_000_000) as i64
}

/// What the detector says of the path (draft §5.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Usage {
    /// The delay neither grows nor shrinks.
    #[default]
    Normal,
    /// Queues are being emptied.
    Under,
    /// Queues are growing.
    Over,
}

/// The states of the rate control (draft §5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits until queues have drained.
    Hold,
    /// No congestion is seen.
    Increase,
    /// Congestion is seen.
    Decrease,
}
