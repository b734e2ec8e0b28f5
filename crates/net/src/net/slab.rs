//! Where packets lie while they are under way, and the lines in which they fly over links.

use crate::engine::{Duration, FloatTime, Instant};

use super::core::Core;
use super::packet::Packet;

/// A packet in the slab. It cannot be copied; it ends in [`Core::deliver`](super::Core::deliver)
/// or [`Core::drop`](super::Core::drop).
#[derive(Debug)]
#[must_use = "a packet ends in `deliver` or `drop`"]
pub struct Pkt(pub(super) u32);

/// The packets under way, in places that are used again.
#[derive(Debug, Default)]
pub(super) struct Slab {
    packets: Vec<Packet>,
    flights: Vec<Flight>,
    /// Ends of service and arrivals by ns-2's clock; empty if that is not followed.
    times: Vec<[FloatTime; 2]>,
    /// What media have written on packets; empty if none does.
    tags: Vec<u32>,
    free: Vec<u32>,
}

/// A packet's way over the link that it is on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    /// The next one in its line.
    pub next: u32,
    /// Bytes on the wire.
    pub size: u32,
    /// The queue took it.
    pub accepted: Instant,
    /// Its first bit goes out.
    pub start: Instant,
    /// Its last bit is out.
    pub out: Instant,
    /// Its last bit has arrived.
    pub arrival: Instant,
}

impl Flight {
    /// Whether it was accepted, started, was out and arrived in this order, the last of these not after `now`. The start comes of
    /// ns-2's doubles in its profile, and may be rounded to the nanosecond before.
    pub fn is_in_time(&self, now: Instant) -> bool {
        let rounded = self.start + Duration::from_nanos(1);
        self.accepted <= rounded && [self.start, self.out, self.arrival, now].is_sorted()
    }

    /// For how long it has been sent until `now`.
    pub fn sent_for(&self, now: Instant) -> Duration {
        self.out.min(now).since(self.start)
    }
}

impl Slab {
    /// The place where the next packet is to lie, to be written; [`Slab::take_vacant`] takes it.
    #[inline]
    pub fn vacant(&mut self) -> &mut Packet {
        let place = match self.free.last() {
            Some(&place) => place,
            None => self.grow(),
        };
        &mut self.packets[place as usize]
    }

    /// Takes the packet that was written to [`Slab::vacant`].
    #[inline]
    pub fn take_vacant(&mut self) -> Pkt {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                self.grow();
                self.free.pop().unwrap_or_default()
            }
        };
        Pkt(place)
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let place = self.packets.len() as u32;
        if self.packets.len() == self.packets.capacity() {
            // By a quarter, not by doubling: this is most of a large network's memory.
            let more = (self.packets.len() / 4).max(64);
            self.packets.reserve_exact(more);
            self.flights.reserve_exact(more);
        }
        self.packets.push(Packet::vacant());
        self.flights.push(Flight::default());
        self.free.push(place);
        place
    }

    /// A copy of a packet.
    #[inline]
    pub fn copy(&mut self, pkt: &Pkt) -> Pkt {
        let copy = self.take_vacant();
        let from = pkt.0 as usize;
        self.packets.copy_within(from..=from, copy.0 as usize);
        copy
    }

    /// Ends the packet's stay. Its value stays readable until the place is used again.
    #[inline]
    pub fn release(&mut self, pkt: Pkt) -> &Packet {
        self.free.push(pkt.0);
        &self.packets[pkt.0 as usize]
    }

    #[inline]
    pub fn get(&self, pkt: &Pkt) -> &Packet {
        &self.packets[pkt.0 as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, pkt: &Pkt) -> &mut Packet {
        &mut self.packets[pkt.0 as usize]
    }

    #[inline]
    pub fn flight(&self, place: u32) -> &Flight {
        &self.flights[place as usize]
    }

    #[inline]
    pub fn flight_mut(&mut self, pkt: &Pkt) -> &mut Flight {
        &mut self.flights[pkt.0 as usize]
    }

    pub fn keep_times(&mut self, pkt: &Pkt, times: [FloatTime; 2]) {
        let place = pkt.0 as usize;
        if place >= self.times.len() {
            self.times.resize(self.packets.len(), Default::default());
        }
        self.times[place] = times;
    }

    pub fn kept_times(&self, place: u32) -> [FloatTime; 2] {
        self.times.get(place as usize).copied().unwrap_or_default()
    }

    pub fn set_tag(&mut self, pkt: &Pkt, tag: u32) {
        let place = pkt.0 as usize;
        if place >= self.tags.len() {
            self.tags.resize(self.packets.len(), 0);
        }
        self.tags[place] = tag;
    }

    pub fn tag(&self, pkt: &Pkt) -> u32 {
        self.tags.get(pkt.0 as usize).copied().unwrap_or_default()
    }

    /// How many packets are under way.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

/// Packets out of their line.
pub(super) type Flights = Vec<(Pkt, Flight)>;

/// No place.
pub(super) const NONE: u32 = u32::MAX;

/// Packets one behind the other, linked where they lie.
#[derive(Debug)]
pub(super) struct Line {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for Line {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Line {
    pub const EMPTY: Self = Self { head: NONE, tail: NONE, len: 0 };

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    pub fn len(&self) -> u64 {
        u64::from(self.len)
    }

    /// The place of the first packet, or [`NONE`].
    #[inline]
    pub fn head(&self) -> u32 {
        self.head
    }

    /// The first packet's flight.
    #[inline]
    pub fn front<'a>(&self, core: &'a Core) -> Option<&'a Flight> {
        (self.head != NONE).then(|| core.slab().flight(self.head))
    }

    /// The last packet's flight.
    #[inline]
    pub fn back<'a>(&self, core: &'a Core) -> Option<&'a Flight> {
        (self.tail != NONE).then(|| core.slab().flight(self.tail))
    }

    /// Adds a packet and gives its place.
    #[inline]
    pub fn push(&mut self, core: &mut Core, pkt: Pkt, flight: Flight) -> u32 {
        let slab = core.slab_mut();
        slab.flights[pkt.0 as usize] = Flight { next: NONE, ..flight };
        if self.tail == NONE {
            self.head = pkt.0;
        } else {
            slab.flights[self.tail as usize].next = pkt.0;
        }
        self.tail = pkt.0;
        self.len += 1;
        pkt.0
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop(&mut self, core: &Core) -> Option<(Pkt, Flight)> {
        if self.head == NONE {
            return None;
        }
        let place = self.head;
        let flight = *core.slab().flight(place);
        self.head = flight.next;
        if flight.next == NONE {
            self.tail = NONE;
        }
        self.len -= 1;
        Some((Pkt(place), flight))
    }

    /// Takes all packets.
    pub fn drain(&mut self, core: &Core) -> Flights {
        std::iter::from_fn(|| self.pop(core)).collect()
    }
}

/// The flights from a place on, in the order of their line.
pub(super) fn flights_from(core: &Core, place: u32) -> impl Iterator<Item = &Flight> {
    let mut next = place;
    std::iter::from_fn(move || {
        let flight = (next != NONE).then(|| core.slab().flight(next))?;
        next = flight.next;
        Some(flight)
    })
}

/// The place behind this one in its line, or [`NONE`].
#[inline]
pub(super) fn behind(core: &Core, place: u32) -> u32 {
    core.slab().flight(place).next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_comes_before_its_time_is_seen() {
        let at = Instant::from_nanos;
        let fine = Flight { accepted: at(1), start: at(1), out: at(3), arrival: at(5), ..Flight::default() };
        assert!(fine.is_in_time(at(5)) && !fine.is_in_time(at(4)));
        for wrong in
            [Flight { accepted: at(3), ..fine }, Flight { start: at(4), ..fine }, Flight { out: at(6), ..fine }]
        {
            assert!(!wrong.is_in_time(at(9)), "{wrong:?}");
        }
    }
}
