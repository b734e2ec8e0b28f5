//! Sources: what a flow has to send, one file each.

pub mod greedy;

use crate::engine::{Fault, Instant, Stream};
use crate::net::Source;

/// The parameters of a source.
pub trait SourceConfig {
    /// The source of a flow that starts at `start`; `stream` is its own.
    fn build(&self, start: Instant, stream: Stream) -> Box<dyn Source>;

    /// Whether what it writes makes sense as datagrams: one for each write, of bounded size.
    fn suits_datagrams(&self) -> bool;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}
