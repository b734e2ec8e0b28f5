//! A tail-drop FIFO: start and arrival of a packet are computed when it is accepted.

use crate::engine::units::Amount;
use crate::net::clock::Clock;
use crate::net::core::Core;
use crate::net::discipline::Backlog;
use crate::net::observe::Cause;
use crate::net::schedule::Occasion;
use crate::net::slab::{NONE, Pkt, behind, flights_from};

use super::landing::Landing;
use super::{Stage, Transmitter, flown, service};

impl<C: Clock> Transmitter<C> {
    /// Computes the packet's start and arrival, unless the queue is full.
    #[inline]
    pub(super) fn plan(&mut self, core: &mut Core, pkt: Pkt) {
        let event = Self::event(core);
        let busy = self.start_what_is_due(core, &event);
        let size = core.packet(&pkt).size;
        let Stage::Planned { limit, first, waiting } = &mut self.stage else { return };
        let full = match *limit {
            Amount::Packets(most) => waiting.packets >= most,
            Amount::Bytes(most) => waiting.bytes + u64::from(size) > most.get(),
        };
        if full && !core.packet(&pkt).is_exempt() {
            debug_assert!(self.counts_what_waits(core), "what counts for the limit is what waits");
            return core.drop(pkt, self.place, Cause::Overflow);
        }
        let service = C::serve(&mut self.schedule, (event.at, event.time), size);
        C::keep(core, &pkt, service.times);
        let place = self.line.push(core, pkt, flown(&service, size, event.at));
        if busy {
            waiting.packets += 1;
            waiting.bytes += u64::from(size);
            if *first == NONE {
                *first = place;
            }
        } else {
            // Nothing waits at a free serialiser.
            self.service = service.sending();
        }
        let landing =
            Landing { at: service.arrival, since: C::order(service.start, service.arrival, service.times[1]) };
        if landing.is_before(self.armed) {
            self.arm(core, landing);
        }
    }

    /// Whether the count of waiting packets and bytes agrees with the packets that wait.
    fn counts_what_waits(&self, core: &Core) -> bool {
        let Stage::Planned { first, waiting, .. } = &self.stage else { return true };
        let each = flights_from(core, *first).map(|flight| Backlog { packets: 1, bytes: u64::from(flight.size) });
        each.fold(Backlog::default(), |sum, each| sum + each) == *waiting
    }

    /// Counts as started the packets that have started on this occasion. Says whether the serialiser is busy.
    #[inline]
    pub(super) fn start_what_is_due(&mut self, core: &Core, occasion: &Occasion<C>) -> bool {
        loop {
            if self.service.occupies(occasion) {
                return true;
            }
            let Stage::Planned { first, waiting, .. } = &mut self.stage else { return false };
            if *first == NONE {
                return false;
            }
            let next = core.slab().flight(*first);
            // By ns-2's clock an occasion may lie behind the end of a service that its nanosecond lies before.
            if next.start > occasion.at && next.start > self.service.out {
                return false;
            }
            self.service = service(core, *first, next);
            waiting.packets -= 1;
            waiting.bytes -= u64::from(next.size);
            *first = behind(core, *first);
        }
    }
}
