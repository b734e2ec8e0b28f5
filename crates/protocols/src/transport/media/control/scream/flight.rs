//! Packets on their way, and which of them are lost.

use std::collections::VecDeque;

use super::ticks::{PER_SECOND, Ticks};

/// kReorderTime: how much later a packet must have been sent that arrived, for one to be lost: 30 ms (ScreamTx.h), in ticks.
const REORDER_TIME: Ticks = 1_966;
/// detectLoss (ScreamV2Tx.cpp): packets this far behind the highest that had arrived before are looked at no more, but for as many as it has
/// now moved by, 32 at most: these are lost in any case.
const REACH: u64 = 512;
const STRIDE: u64 = 32;
/// timeStampClockRate: RTP's timestamps of frames, a second.
const CLOCK: u64 = 90_000;

/// The packets of which it is not known what became of them, or that were passed by later ones.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    /// [`Parameters::longest_leap`](super::Parameters::longest_leap), by a clock of 90 kHz.
    longest_leap: u64,
    /// By their numbers, without gaps.
    packets: VecDeque<Packet>,
    /// The number of the first of `packets`.
    first: u64,
    /// Packets with lower numbers are in flight no more: one with a number at least as high arrived.
    edge: u64,
    /// Bytes from the edge on.
    bytes: i64,
    /// The packet that arrived last: when it was sent.
    acked_sent_at: Ticks,
    /// timeStampAckHigh: of the packets that arrived, the latest timestamp of a frame.
    acked_stamp: u64,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    sent_at: Ticks,
    frame_at: Ticks,
    bytes: u32,
    marker: bool,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Unknown,
    Arrived,
    Settled,
}

/// A packet that has arrived, for the first time that it is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub(super) sent_at: Ticks,
    pub(super) bytes: u32,
    pub(super) marker: bool,
}

impl Flight {
    pub(super) fn new(longest_leap: u64) -> Self {
        Self { longest_leap, packets: VecDeque::new(), first: 0, edge: 0, bytes: 0, acked_sent_at: 0, acked_stamp: 0 }
    }

    /// Bytes in flight: those after the highest packet that arrived. A lost packet below it does not count (RFC 8298 §4.1.1).
    pub(super) fn bytes(&self) -> i64 {
        self.bytes
    }

    /// A packet has left. `frame_at` is the time of its frame, RTP's timestamp.
    pub(super) fn on_sent(&mut self, now: Ticks, number: u64, bytes: u32, frame_at: Ticks, marker: bool) {
        if self.packets.is_empty() {
            self.first = number;
        }
        // Numbers that were not used belong to no packet.
        let missing = Packet { sent_at: now, frame_at, bytes: 0, marker: false, fate: Fate::Settled };
        while self.first + (self.packets.len() as u64) < number {
            self.packets.push_back(missing);
        }
        self.packets.push_back(Packet { sent_at: now, frame_at, bytes, marker, fate: Fate::Unknown });
        self.bytes += i64::from(bytes);
    }

    /// Nothing is in flight any more.
    pub(super) fn forget(&mut self) {
        self.packets.clear();
        self.bytes = 0;
    }

    /// A report says that this packet arrived; `None` if that is known or the packet is forgotten.
    pub(super) fn on_arrived(&mut self, number: u64) -> Option<Acked> {
        let packet = self.packets.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)?;
        if packet.fate != Fate::Unknown {
            return None;
        }
        packet.fate = Fate::Arrived;
        self.acked_sent_at = packet.sent_at;
        if stamp(packet.frame_at).wrapping_sub(self.acked_stamp) < self.longest_leap {
            self.acked_stamp = stamp(packet.frame_at);
        }
        Some(Acked { sent_at: packet.sent_at, bytes: packet.bytes, marker: packet.marker })
    }

    /// All packets up to this one have left the flight: their bytes. `settled` gets, in the order of those whose fate is now known, whether they
    /// are lost.
    pub(super) fn advance(&mut self, highest: u64, mut settled: impl FnMut(bool)) -> u64 {
        let before = self.edge.saturating_sub(1);
        let (reach, mut passed) = (before.saturating_sub(REACH), 0);
        let lost_from = reach.saturating_sub(highest.saturating_sub(before).min(STRIDE));
        for (packet, number) in self.packets.iter_mut().zip(self.first..=highest) {
            if number >= self.edge {
                passed += u64::from(packet.bytes);
            }
            // tsDiffCorrection of detectLoss: the time between the two frames is added. It is endless if the packet's is the later one.
            let frames = self.acked_stamp.checked_sub(stamp(packet.frame_at));
            let frames = frames.map(|stamps| (PER_SECOND as f32 * stamps as f32 / CLOCK as f32) as Ticks);
            let late = frames.is_some_and(|frames| packet.sent_at + REORDER_TIME + frames < self.acked_sent_at);
            match packet.fate {
                Fate::Unknown if number + STRIDE < reach => {}
                Fate::Unknown if number < lost_from => continue,
                Fate::Unknown if number < reach || late => settled(true),
                Fate::Arrived => settled(false),
                Fate::Unknown | Fate::Settled => continue,
            }
            packet.fate = Fate::Settled;
        }
        self.edge = self.edge.max(highest + 1);
        self.bytes -= passed as i64;
        while self.packets.front().is_some_and(|packet| packet.fate == Fate::Settled) {
            self.packets.pop_front();
            self.first += 1;
        }
        passed
    }
}

/// RTP's timestamp of a frame.
fn stamp(frame_at: Ticks) -> u64 {
    frame_at * CLOCK / PER_SECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many are lost when packets up to each of these have arrived, but for those between 696 and 735; each is sent a tick after the other,
    /// in one frame.
    fn lost(highest: &[u64]) -> Vec<usize> {
        let mut flight = Flight::new(50_000);
        (0..1_300).for_each(|number| flight.on_sent(number, number, 1, 0, false));
        let mut arrived = 0;
        let mut advance = |highest: u64| {
            for number in arrived..=highest {
                let is_lost = (696..736).contains(&number);
                assert!(is_lost || flight.on_arrived(number).is_some());
            }
            arrived = highest + 1;
            let mut lost = 0;
            flight.advance(highest, |is_lost| lost += usize::from(is_lost));
            lost
        };
        highest.iter().map(|highest| advance(*highest)).collect()
    }

    /// These numbers are those of a run of ScreamV2Tx (c8f84c3d): each report looks back by its own stride.
    #[test]
    fn packets_far_behind_are_lost_by_strides() {
        assert_eq!(lost(&[1_197, 1_213, 1_216, 1_232, 1_248, 1_252, 1_268]), [0, 0, 3, 5, 16, 4, 8]);
        // One stride of 32 passes by the rest for good.
        assert_eq!(lost(&[1_207, 1_290, 1_299]), [0, 0, 0]);
    }

    /// A packet is lost that left 30 ms before one that has arrived, in the same frame; but not after a leap of timestamps that is not followed.
    #[test]
    fn timestamps_that_leap_are_not_followed() {
        for (longest_leap, leap, expected) in [(50_000, 36_408, 1), (50_000, 36_409, 0), (u64::MAX / 2, 36_409, 1)] {
            let mut flight = Flight::new(longest_leap);
            flight.on_sent(0, 0, 1, 0, true);
            flight.on_sent(leap, 1, 1, leap, false);
            flight.on_sent(leap + 2_000, 2, 1, leap, true);
            let mut lost = 0;
            for number in [0, 2] {
                assert!(flight.on_arrived(number).is_some());
                flight.advance(number, |is_lost| lost += u64::from(is_lost));
            }
            assert_eq!(lost, expected, "{leap} of {longest_leap}");
        }
    }
}
