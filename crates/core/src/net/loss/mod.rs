//! Loss models: which packets a link loses, in front of its queue. A lost packet takes no
//! transmission time.

pub mod bernoulli;

use crate::engine::{Fault, Instant, Stream};

use super::packet::Packet;

/// Decides which packets are lost.
pub trait LossModel: Send {
    /// Whether this packet is lost. Called once for each packet, in the order of arrival.
    fn loses(&mut self, now: Instant, packet: &Packet) -> bool;
}

/// The parameters of a loss model.
pub trait LossConfig {
    /// The model for one direction of a link; `stream` is its own.
    fn build(&self, stream: Stream) -> Loss;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// A loss model, ready for use; `None` loses nothing.
#[derive(Default)]
pub struct Loss(pub Option<Box<dyn LossModel>>);
