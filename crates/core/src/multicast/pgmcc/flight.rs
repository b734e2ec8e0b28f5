//! What is in flight: packets sent and neither acknowledged nor taken for lost, by the bitmaps of all ACKs together.

use std::collections::VecDeque;

use crate::engine::{Duration, Instant};

/// How many later packets must be acknowledged before a packet counts as lost (draft-ietf-rmt-bb-pgmcc-03 §2.2).
const LATER_ACKED: u32 = 3;

/// How many packets a bitmap covers (§2.1.3).
const BITMAP: u64 = 32;

/// The packets of the sender that may still be acknowledged, and its repairs.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    /// The number of the first packet of `packets`.
    base: u64,
    packets: VecDeque<Sent>,
    /// How many of them are in flight.
    outstanding: u32,
    /// One more than the highest number acknowledged.
    acked_to: u64,
    /// Repairs, and when each is taken for received. Nobody acknowledges them.
    repairs: VecDeque<(u64, Instant)>,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// No bitmap has said anything about it.
    Unknown,
    /// A bitmap has said that it is missing.
    Missing,
    /// Acknowledged.
    Acked,
    /// Taken for lost.
    Lost,
}

/// What an ACK shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Packets acknowledged for the first time.
    pub acked: u32,
    /// Packets that are lost.
    pub lost: u32,
    /// Packets of which no ACK will say what became of them: those ACKs were lost themselves.
    pub unknown: u32,
}

impl Flight {
    /// Packet `next` leaves.
    #[inline]
    pub fn send(&mut self, next: u64) {
        if self.packets.is_empty() {
            self.base = next;
        }
        debug_assert_eq!(self.base + self.packets.len() as u64, next, "data are sent in order");
        self.packets.push_back(Sent::Unknown);
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

    /// An ACK says which of the packets up to `last` have come.
    pub fn on_ack(&mut self, last: u64, mask: u32) -> Shown {
        let mut shown = Shown::default();
        let end = self.base + self.packets.len() as u64;
        // Numbers that were not sent, or are not remembered, say nothing.
        let from = last.saturating_sub(BITMAP - 1).max(self.base);
        for seq in from..end.min(last.saturating_add(1)) {
            let packet = &mut self.packets[(seq - self.base) as usize];
            let came = mask >> (last - seq) & 1 == 1;
            match packet {
                Sent::Unknown | Sent::Missing if came => {
                    *packet = Sent::Acked;
                    self.acked_to = self.acked_to.max(seq + 1);
                    shown.acked += 1;
                }
                Sent::Unknown => *packet = Sent::Missing,
                _ => {}
            }
        }
        self.forget_front();
        self.judge(last, &mut shown);
        self.forget_front();
        self.outstanding -= shown.acked + shown.lost + shown.unknown;
        shown
    }

    /// Takes packets for lost.
    fn judge(&mut self, last: u64, shown: &mut Shown) {
        let mut later = 0;
        // Behind the highest number acknowledged nothing is lost; most ACKs leave nothing before it.
        for seq in (self.base..self.acked_to).rev() {
            let out_of_reach = seq + BITMAP <= last;
            let packet = &mut self.packets[(seq - self.base) as usize];
            match packet {
                Sent::Acked => later += 1,
                Sent::Missing if later >= LATER_ACKED => {
                    *packet = Sent::Lost;
                    shown.lost += 1;
                }
                Sent::Unknown if out_of_reach => {
                    *packet = Sent::Lost;
                    shown.unknown += 1;
                }
                _ => {}
            }
        }
    }

    fn forget_front(&mut self) {
        while self.packets.front().is_some_and(|packet| matches!(packet, Sent::Acked | Sent::Lost)) {
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

    fn shown(acked: u32, lost: u32, unknown: u32) -> Shown {
        Shown { acked, lost, unknown }
    }

    #[test]
    fn three_later_packets_make_a_missing_one_lost() {
        let mut flight = sent(10);
        assert_eq!(flight.on_ack(0, !0), shown(1, 0, 0));
        // 1 to 3 are missing.
        assert_eq!(flight.on_ack(4, 0b1_0001), shown(1, 0, 0));
        assert_eq!(flight.on_ack(5, 0b10_0011), shown(1, 0, 0));
        assert_eq!(flight.count(), 7);
        assert_eq!(flight.on_ack(6, 0b100_0111), shown(1, 3, 0));
        assert_eq!((flight.count(), flight.first()), (3, Some(7)));
        // Once lost, a packet stays lost.
        assert_eq!(flight.on_ack(7, !0), shown(1, 0, 0));
    }

    #[test]
    fn lost_acks_are_made_up_for_by_the_next() {
        let mut flight = sent(20);
        assert_eq!(flight.on_ack(9, 0b11_1111_0111), shown(9, 1, 0));
        assert_eq!(flight.count(), 10);
    }

    /// ACKs for 40 packets were lost: of those before the last 32 nobody knows.
    #[test]
    fn packets_that_no_bitmap_covers_are_given_up_without_a_loss() {
        let mut flight = sent(50);
        assert_eq!(flight.on_ack(39, !0), shown(32, 0, 8));
        assert_eq!(flight.count(), 10);
    }

    /// The far receiver has 0 to 3, the near one all but 2: its bitmap fills the holes of the other.
    #[test]
    fn the_bitmaps_of_all_receivers_count_together() {
        let mut flight = sent(8);
        assert_eq!(flight.on_ack(7, 0b1101_1111), shown(7, 1, 0));
        let mut flight = sent(8);
        assert_eq!(flight.on_ack(3, 0b1111), shown(4, 0, 0));
        assert_eq!(flight.on_ack(7, 0b1101_1111), shown(4, 0, 0));
    }

    #[test]
    fn what_was_cleared_is_not_acknowledged() {
        let mut flight = sent(5);
        flight.clear();
        flight.send(5);
        assert_eq!((flight.count(), flight.on_ack(4, !0)), (1, shown(0, 0, 0)));
        assert_eq!(flight.on_ack(5, !0), shown(1, 0, 0));
        assert_eq!(flight.on_ack(u64::MAX, !0), shown(0, 0, 0));
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
