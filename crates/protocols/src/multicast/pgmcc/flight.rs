//! The packets in flight: sent and neither acknowledged nor taken for lost.
//!
//! A packet is acknowledged when any receiver says so: ACKs of one that is not the acker any more give
//! back tokens too, since the acker has none for packets that were not sent to it.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

/// How many packets a bitmap covers (draft-ietf-rmt-bb-pgmcc-03 §2.1.3).
pub const BITMAP: u64 = 32;

/// The packets of the sender that may still be acknowledged, and its repairs.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    /// The number of the first packet of `packets`.
    base: u64,
    /// Whether each is in flight; the first one is.
    packets: VecDeque<bool>,
    /// How many of them are.
    outstanding: u32,
    /// Repairs, and when each is taken for received. They are not acknowledged.
    repairs: VecDeque<(u64, Instant)>,
}

impl Flight {
    /// Packet `next` leaves.
    #[inline]
    pub fn send(&mut self, next: u64) {
        if self.packets.is_empty() {
            self.base = next;
        }
        debug_assert_eq!(self.base + self.packets.len() as u64, next, "data are sent in order");
        self.packets.push_back(true);
        self.outstanding += 1;
    }

    /// A repair leaves, which is in flight until then.
    pub fn send_repair(&mut self, seq: u64, until: Instant) {
        self.repairs.push_back((seq, until));
    }

    /// Whether a repair of this packet is in flight.
    pub fn repairs(&self, seq: u64) -> bool {
        self.repairs.iter().any(|(repair, _)| *repair == seq)
    }

    /// Takes repairs that have had their time out of flight.
    pub fn land_repairs(&mut self, now: Instant) {
        while self.repairs.front().is_some_and(|(_, until)| *until <= now) {
            self.repairs.pop_front();
        }
    }

    /// When the next repair has had its time.
    pub fn next_landing(&self) -> Option<Instant> {
        self.repairs.front().map(|(_, until)| *until)
    }

    /// How long a repair is in flight: it lands in the order in which it was sent.
    pub fn landing(&self, now: Instant, round_trip: Duration) -> Instant {
        let last = self.repairs.back().map_or(now, |(_, until)| *until);
        last.max(now + round_trip)
    }

    /// F: data and repairs in flight.
    #[inline]
    pub fn count(&self) -> u32 {
        self.outstanding + self.repairs.len() as u32
    }

    /// Whether data are in flight.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.outstanding > 0
    }

    /// An ACK reports the fate of packets up to `last`: bit *n* of the bitmap `known` stands for packet `last` − *n*. Returns how many
    /// others will never be reported: their own ACKs were lost.
    pub fn on_ack(&mut self, last: u64, known: u32) -> u32 {
        let mut unknown = 0;
        let end = (self.base + self.packets.len() as u64).min(last.saturating_add(1));
        for seq in self.base..end {
            let in_flight = &mut self.packets[(seq - self.base) as usize];
            let out_of_reach = seq + BITMAP <= last;
            if *in_flight && (out_of_reach || known >> (last - seq) & 1 == 1) {
                *in_flight = false;
                self.outstanding -= 1;
                unknown += u32::from(out_of_reach);
            }
        }
        self.forget_front();
        unknown
    }

    fn forget_front(&mut self) {
        while self.packets.front().is_some_and(|in_flight| !in_flight) {
            self.packets.pop_front();
            self.base += 1;
        }
    }

    /// F := 0.
    pub fn clear(&mut self) {
        self.base += self.packets.len() as u64;
        self.packets.clear();
        self.repairs.clear();
        self.outstanding = 0;
    }

    /// The lowest number that may still be acknowledged, if any.
    pub fn first(&self) -> Option<u64> {
        (!self.packets.is_empty()).then_some(self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(packets: u64) -> Flight {
        let mut flight = Flight::default();
        (0..packets).for_each(|seq| flight.send(seq));
        flight
    }

    #[test]
    fn lost_acks_are_made_up_for_by_the_next() {
        let mut flight = sent(20);
        assert_eq!((flight.on_ack(9, 0b11_1111_0111), flight.count(), flight.first()), (0, 11, Some(6)));
        assert_eq!((flight.on_ack(10, 0b1_0000), flight.count(), flight.first()), (0, 10, Some(10)));
    }

    /// ACKs for 40 packets were lost: the fate of those before the last 32 stays unknown.
    #[test]
    fn packets_that_no_bitmap_covers_are_given_up() {
        let mut flight = sent(50);
        assert_eq!((flight.on_ack(39, !0), flight.count()), (8, 10));
    }

    #[test]
    fn what_was_cleared_is_not_acknowledged() {
        let mut flight = sent(5);
        flight.clear();
        flight.send(5);
        assert_eq!((flight.on_ack(4, !0), flight.count()), (0, 1));
        assert_eq!((flight.on_ack(5, !0), flight.count()), (0, 0));
    }

    #[test]
    fn repairs_are_in_flight_for_their_time() {
        let at = Instant::from_nanos;
        let mut flight = sent(2);
        flight.send_repair(0, flight.landing(at(0), Duration::from_nanos(100)));
        flight.send_repair(1, flight.landing(at(5), Duration::from_nanos(50)));
        assert_eq!((flight.count(), flight.next_landing()), (4, Some(at(100))));
        flight.land_repairs(at(99));
        assert!(flight.repairs(0));
        flight.land_repairs(at(100));
        assert_eq!((flight.count(), flight.next_landing()), (2, None));
    }
}
