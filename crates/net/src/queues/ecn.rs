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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::bench::{Bench, any_packet};
    use crate::net::packet::Packet;

    #[test]
    fn a_packet_is_marked_once() {
        let mut bench = Bench::new();
        for (ecn, capable, marks) in
            [(Ecn::NotEct, false, 0), (Ecn::Ect0, true, 1), (Ecn::Ect1, true, 2), (Ecn::Ce, true, 2)]
        {
            let packet = bench.core.insert(Packet { ecn, ..any_packet() });
            assert_eq!(mark_if_capable(&mut bench.core, &packet, Place(0)), capable, "{ecn:?}");
            assert_eq!(bench.core.counters().marks.values().sum::<u64>(), marks, "{ecn:?}");
            bench.core.drop(packet, Place(0), crate::net::Cause::Early);
        }
    }
}
