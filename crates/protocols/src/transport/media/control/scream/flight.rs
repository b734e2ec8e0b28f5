//! Packets on their way, and which of them are lost.

use std::collections::VecDeque;

use super::ticks::Ticks;

/// kReorderTime: how much later a packet must have been sent that arrived, for one to be lost: 30 ms (ScreamTx.h), in ticks.
const REORDER_TIME: Ticks = 1_966;
/// A packet this far behind the highest that arrived is lost in any case (ScreamV2Tx.cpp, detectLoss).
const REACH: u64 = 512;

/// The packets of which it is not known what became of them, or that were passed by later ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
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
    /// Of the packets that arrived, the latest time of a frame.
    acked_frame_at: Ticks,
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
        self.acked_frame_at = self.acked_frame_at.max(packet.frame_at);
        Some(Acked { sent_at: packet.sent_at, bytes: packet.bytes, marker: packet.marker })
    }

    /// All packets up to this one have left the flight: their bytes. `settled` gets, in the order of those whose fate is now known, whether they
    /// are lost.
    pub(super) fn advance(&mut self, highest: u64, mut settled: impl FnMut(bool)) -> u64 {
        let (reach, mut passed) = (self.edge.saturating_sub(1 + REACH), 0);
        for (packet, number) in self.packets.iter_mut().zip(self.first..=highest) {
            if number >= self.edge {
                passed += u64::from(packet.bytes);
            }
            // tsDiffCorrection of detectLoss: the time between the two frames is added.
            let frames = self.acked_frame_at.saturating_sub(packet.frame_at);
            let late = packet.sent_at + REORDER_TIME + frames < self.acked_sent_at;
            match packet.fate {
                Fate::Unknown if late || number < reach => settled(true),
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
