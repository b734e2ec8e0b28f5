//! The headers of layered multicast.

use crate::engine::Instant;

/// A message of a layered session.
#[derive(Clone, Copy, Debug)]
pub enum LayeredHeader {
    /// Data of a layer.
    Data {
        /// The layer, from 1.
        layer: u32,
        /// The packet's number in its layer, from 0.
        seq: u64,
        /// When it was sent.
        sent_at: Instant,
    },
    /// A receiver tells the others that it has added this layer (RLM's shared learning).
    Added(u32),
}
