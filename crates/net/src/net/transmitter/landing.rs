//! The flight: packets land in the order of their arrivals, and some are overtaken.

use crate::engine::{EventQueue, Instant};
use crate::net::clock::Clock;
use crate::net::core::Core;
use crate::net::medium::End;
use crate::net::observe::Cause;
use crate::net::slab::{Flight, Flights, NONE, Pkt};

use super::{ARRIVAL, Returned, Stage, Transmitter, service};

/// When a packet lands, and since when it has been on its way: the order of wake-ups.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Landing {
    pub at: Instant,
    pub since: Instant,
}

impl Landing {
    /// None comes.
    pub const NEVER: Self = Self { at: Instant::MAX, since: Instant::MAX };

    /// Whether it comes before another. The cause is compared by its distance, since an order by ns-2's clock may lie before the start of the run.
    #[inline]
    pub fn is_before(self, other: Self) -> bool {
        let cause = |l: Self| l.since.as_nanos().wrapping_sub(l.at.as_nanos()).wrapping_sub(1);
        if self.at == other.at { cause(self) < cause(other) } else { self.at < other.at }
    }

    /// Whether the present wake-up is this one. Only an age beyond what the queue remembers
    /// needs a second look.
    #[inline]
    pub fn is_now(self, core: &Core) -> bool {
        core.now() == self.at
            && (core.since() == self.since || core.since() == EventQueue::remembered(self.at, self.since))
    }
}

impl<C: Clock> Transmitter<C> {
    /// A packet may have landed.
    #[inline(always)]
    pub(super) fn wake_arrival(&mut self, core: &mut Core, reverse: &mut impl Returned) {
        let fired = self.armed;
        if !fired.is_now(core) {
            return; // an old wake-up
        }
        self.armed = Landing::NEVER;
        if self.overtaken().is_some() {
            return self.wake_among_overtaken(core, fired, reverse);
        }
        if let Some(first) = self.line.front(core) {
            let landing = self.landing(core, self.line.head(), first);
            // Mostly it is the one that was armed for.
            if landing == fired || !fired.is_before(landing) {
                self.land(core, reverse, false);
            }
        }
        // What lands arms nothing here, and overtakes nothing.
        if let Some(next) = self.line.front(core)
            && next.arrival < Instant::MAX
        {
            self.arm(core, self.landing(core, self.line.head(), next));
        }
    }

    /// The same while packets may overtake others.
    #[inline(never)]
    fn wake_among_overtaken(&mut self, core: &mut Core, fired: Landing, reverse: &mut impl Returned) {
        if self.next_landing(core).is_some_and(|next| !fired.is_before(next)) {
            let overtaken = self.overtaken_lands_first(core);
            self.land(core, reverse, overtaken);
        }
        self.arm_arrival(core);
    }

    /// The first packet of the line, or of those overtaken, leaves the flight.
    #[inline(always)]
    fn land(&mut self, core: &mut Core, reverse: &mut impl Returned, overtaken: bool) {
        let line = if overtaken { &mut self.unusual().overtaken } else { &mut self.line };
        let Some((pkt, landed)) = line.pop(core) else { return };
        if let Stage::Planned { first, waiting, .. } = &mut self.stage
            && *first == pkt.0
        {
            // It started and was out without another event in between.
            waiting.packets -= 1;
            waiting.bytes -= u64::from(landed.size);
            *first = self.line.head();
            self.service = service(core, pkt.0, &landed);
        }
        self.end_flight(core, pkt, &landed, self.to, reverse);
    }

    /// A packet in flight that was [detached](Self::detach_in_flight) has come to where it was sent to.
    pub fn land_detached(&mut self, core: &mut Core, pkt: Pkt, to: End, reverse: &mut impl Returned) {
        let landed = *core.slab().flight(pkt.0);
        self.end_flight(core, pkt, &landed, to, reverse);
    }

    /// Its transmission counts, and it arrives, if it is not spoilt.
    #[inline(always)]
    fn end_flight(&mut self, core: &mut Core, pkt: Pkt, landed: &Flight, to: End, reverse: &mut impl Returned) {
        debug_assert!(landed.is_in_time(core.now()), "no packet is before its time: {landed:?} at {}", core.now());
        let [_, time] = C::kept(core, pkt.0);
        C::set_now(core, time, landed.start);
        self.sent.packets += 1;
        self.sent.bytes += u64::from(landed.size);
        self.busy += landed.out.since(landed.start);
        if landed.start != landed.accepted {
            self.waits.get_or_insert_default().add(landed.start.since(landed.accepted).as_nanos());
        }
        if self.spoils(core, &pkt) {
            return core.drop(pkt, self.place, Cause::Radio);
        }
        if self.heard {
            reverse.on_return(core, &pkt);
        }
        core.arrive(to.node, to.port, pkt);
    }

    /// Whether the packet that arrives next is one of those overtaken.
    #[inline]
    fn overtaken_lands_first(&self, core: &Core) -> bool {
        // Almost always there are none.
        self.overtaken().is_some_and(|overtaken| match (overtaken.front(core), self.line.front(core)) {
            (Some(o), Some(l)) => {
                let [_, o_time] = C::kept(core, overtaken.head());
                let [_, l_time] = C::kept(core, self.line.head());
                C::compare((o.arrival, o_time), (l.arrival, l_time)).is_le()
            }
            (o, _) => o.is_some(),
        })
    }

    /// The next landing.
    #[inline]
    fn next_landing(&self, core: &Core) -> Option<Landing> {
        let overtaken = self.overtaken().filter(|_| self.overtaken_lands_first(core));
        let place = overtaken.unwrap_or(&self.line).head();
        (place != NONE).then(|| self.landing(core, place, core.slab().flight(place)))
    }

    /// The landing of the packet at `place`, which has this flight.
    #[inline(always)]
    fn landing(&self, core: &Core, place: u32, flight: &Flight) -> Landing {
        let [_, time] = C::kept(core, place);
        Landing { at: flight.arrival, since: C::order(flight.start, flight.arrival, time) }
    }

    /// Arms the next arrival, unless an earlier wake-up is pending, which will do it.
    #[inline(always)]
    pub(super) fn arm_arrival(&mut self, core: &mut Core) {
        if let Some(next) = self.next_landing(core)
            && next.is_before(self.armed)
            && next.at < Instant::MAX
        {
            self.arm(core, next);
        }
    }

    #[inline(always)]
    pub(super) fn arm(&mut self, core: &mut Core, next: Landing) {
        // On a way that becomes shorter the nanosecond of a packet may lie before that of the one ahead: it lands with that one.
        let next = Landing { at: next.at.max(core.now()), ..next };
        self.armed = next;
        core.arm(self.target(ARRIVAL), next.at, next.since);
    }

    /// Sets aside packets that have started, so that later ones may arrive earlier.
    pub(super) fn let_overtake(&mut self, core: &mut Core, flight: Flights) {
        let overtaken = &mut self.unusual().overtaken;
        let mut early = overtaken.drain(core);
        early.extend(flight);
        early.sort_by_key(|(_, f)| f.arrival);
        for (pkt, kept) in early {
            overtaken.push(core, pkt, kept);
        }
    }
}
