//! Explicit congestion notification, as queues give it (RFC 3168 §5).

use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::observe::Place;
use crate::net::packet::Ecn;

/// Marks a packet at `place` if its transport understands marks. Says whether it does.
pub fn mark_if_capable(core: &mut Core, packet: &Pkt, place: Place) -> bool {
    let capable = core.packet(packet).ecn != Ecn::NotEct;
    if capable {
        core.mark(packet, place);
    }
    capable
}
