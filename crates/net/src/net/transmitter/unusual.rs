//! What few transmitters have. It lies apart from what all have, which is smaller so.

use crate::engine::Instant;
use crate::net::clock::Clock;
use crate::net::core::Core;
use crate::net::loss::Loss;
use crate::net::slab::{Flights, Line, Pkt};

use super::Transmitter;

/// Loss models, overtaken packets, and what a change has left to be done.
#[derive(Default)]
pub(super) struct Unusual {
    /// The loss model in front of the queue.
    pub loss: Loss,
    /// The loss model of the way, after transmission.
    pub errors: Loss,
    /// Packets that packets of the line may overtake, in the order of arrivals; mostly empty.
    pub overtaken: Line,
    /// Nothing starts before `held`, because of a change at `held_since`.
    pub held: Instant,
    pub held_since: Instant,
    /// On their way from the old access, after a change; `arrival` is when they come to the queue.
    pub forwarded: Line,
}

/// Whether a model loses this packet.
#[inline]
fn loses(model: &mut Loss, core: &Core, pkt: &Pkt) -> bool {
    model.0.as_mut().is_some_and(|model| model.loses(core.now())) && !core.packet(pkt).is_exempt()
}

impl<C: Clock> Transmitter<C> {
    /// What it has of this; from now on it may.
    pub(super) fn unusual(&mut self) -> &mut Unusual {
        self.unusual.get_or_insert_default()
    }

    /// Whether this packet is lost in front of the queue.
    #[inline]
    pub(super) fn loses(&mut self, core: &Core, pkt: &Pkt) -> bool {
        self.unusual.as_mut().is_some_and(|unusual| loses(&mut unusual.loss, core, pkt))
    }

    /// Whether this packet is lost on its way.
    #[inline]
    pub(super) fn spoils(&mut self, core: &Core, pkt: &Pkt) -> bool {
        self.unusual.as_mut().is_some_and(|unusual| loses(&mut unusual.errors, core, pkt))
    }

    /// The packets that may be overtaken, if there are any.
    #[inline]
    pub(super) fn overtaken(&self) -> Option<&Line> {
        self.unusual.as_ref().map(|unusual| &unusual.overtaken).filter(|line| !line.is_empty())
    }

    /// Takes out those packets.
    pub(super) fn take_overtaken(&mut self, core: &Core) -> Flights {
        self.unusual.as_mut().map(|unusual| unusual.overtaken.drain(core)).unwrap_or_default()
    }

    /// Until when nothing starts, and since when, if a change ever interrupted it.
    pub(super) fn interruption(&self) -> Option<(Instant, Instant)> {
        self.unusual.as_ref().map(|unusual| (unusual.held, unusual.held_since))
    }
}
