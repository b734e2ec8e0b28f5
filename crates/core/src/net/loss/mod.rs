//! Loss models: which packets a link loses, in front of its queue. A lost packet takes no
//! transmission time.

pub mod bernoulli;

use crate::engine::Instant;

use super::packet::Packet;

/// Decides which packets are lost.
pub trait LossModel: Send {
    /// Whether this packet is lost. Called once for each packet, in the order of arrival.
    fn loses(&mut self, now: Instant, packet: &Packet) -> bool;
}

/// A loss model, ready for use; `None` loses nothing.
#[derive(Default)]
pub struct Loss(pub Option<Box<dyn LossModel>>);
