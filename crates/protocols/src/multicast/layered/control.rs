//! What decides to how many layers a receiver subscribes.

use lasthop_net::engine::{Fault, Instant, Stream};
use lasthop_net::net::Probe;
use lasthop_net::profile::Profile;

/// A subscription controller. Layers are numbered from 1, and a receiver has all up to its level.
pub trait Controller: Send {
    /// The receiver begins, with no layer.
    fn begin(&mut self, now: Instant);
    /// The receiver ends. It has no layer any longer.
    fn end(&mut self);
    /// A packet of a layer has come; `lost` packets before it are missing.
    fn on_packet(&mut self, now: Instant, layer: u32, lost: u64);
    /// Another receiver has added this layer.
    fn on_added(&mut self, _now: Instant, _layer: u32) {}
    /// The instant that [`Controller::next_timeout`] named has come.
    fn on_timeout(&mut self, now: Instant);
    /// When it wants to be woken.
    fn next_timeout(&self) -> Option<Instant>;
    /// How many layers it wants to have.
    fn level(&self) -> u32;
    /// The layer that it has added, if the other receivers are to be informed. Polled after every input.
    fn tell(&mut self) -> Option<u32> {
        None
    }
    /// Its present state and totals.
    fn sample(&self, probe: &mut dyn Probe);
}

/// The parameters of a subscription controller.
pub trait ControlConfig: Send + Sync {
    /// The controller of a receiver with this number of layers; `stream` is its own.
    fn build(&self, layers: u32, profile: Profile, stream: Stream) -> Box<dyn Controller>;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}
