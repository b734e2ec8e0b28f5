//! What the source wrote to a half-connection: the part that waits, and how much was sent.

use std::collections::VecDeque;

use lasthop_net::net::{Notice, Probe};

use super::backlog::Backlog;

/// The backlog of a connection, and the totals of all of them.
#[derive(Debug)]
pub struct Outbox {
    backlog: Backlog,
    closed: bool,
    /// Whether the end of a transfer was given up: the last packet was not answered.
    gave_up: bool,
    /// Payload bytes of the connection that were sent, or dropped before: where it is in what the source wrote.
    end: u64,
    /// How many of them came, are lost or were dropped.
    acked: u64,
    /// Dropped bytes beyond `acked`: where they end, and how many they are.
    skipped: VecDeque<(u64, u64)>,
    acked_bytes: u64,
    /// Drops of which the source does not know.
    lost: VecDeque<Notice>,
    total_packets: u64,
    total_bytes: u64,
}

impl Outbox {
    /// An empty one, for packets of `segment` bytes of payload, in which `limit` writes may wait.
    pub fn new(segment: u32, limit: usize) -> Self {
        Self {
            backlog: Backlog::new(segment, limit),
            closed: false,
            gave_up: false,
            end: 0,
            acked: 0,
            skipped: VecDeque::new(),
            acked_bytes: 0,
            lost: VecDeque::new(),
            total_packets: 0,
            total_bytes: 0,
        }
    }

    /// The source writes. Says whether an older write was dropped for it.
    pub fn write(&mut self, bytes: u64) -> bool {
        let Some(dropped) = self.backlog.write(bytes) else { return false };
        match self.skipped.back_mut() {
            Some((end, bytes)) if *end == self.end => (*end, *bytes) = (*end + dropped, *bytes + dropped),
            _ => self.skipped.push_back((self.end + dropped, dropped)),
        }
        self.end += dropped;
        let payload = u32::try_from(dropped).unwrap_or(u32::MAX);
        self.lost.push_back(Notice::Lost { payload, end: self.end });
        true
    }

    /// A drop, for the source.
    pub fn take_lost(&mut self) -> Option<Notice> {
        self.lost.pop_front()
    }

    /// The source has written everything.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets the connection; totals stay.
    pub fn reset(&mut self) {
        self.backlog.clear();
        (self.closed, self.gave_up) = (false, false);
        (self.end, self.acked, self.acked_bytes) = (0, 0, 0);
        self.skipped.clear();
        self.lost.clear();
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.backlog.is_empty()
    }

    /// The payload of the next packet.
    #[inline]
    pub fn peek(&self) -> Option<u32> {
        self.backlog.peek()
    }

    /// The next packet, of `payload` bytes, leaves.
    #[inline]
    pub fn send(&mut self, payload: u32) {
        self.backlog.pop();
        self.end += u64::from(payload);
        self.total_packets += 1;
        self.total_bytes += u64::from(payload);
    }

    /// Everything up to here came, is lost or was dropped.
    pub fn on_acked(&mut self, end: u64) {
        let more = end.saturating_sub(self.acked);
        self.acked += more;
        self.acked_bytes += more;
        while let Some((_, bytes)) = self.skipped.pop_front_if(|(end, _)| *end <= self.acked) {
            self.acked_bytes -= bytes;
        }
    }

    /// No answer will come. If everything was sent, gives up the packets whose fate is unknown. Says whether it did.
    pub fn give_up(&mut self) -> bool {
        let over = self.closed && self.backlog.is_empty();
        if over {
            self.gave_up = self.acked < self.end;
            self.on_acked(self.end);
        }
        over
    }

    /// Whether it gave up since it was asked last.
    pub fn gave_up(&mut self) -> bool {
        std::mem::take(&mut self.gave_up)
    }

    /// Payload bytes of the connection that were sent, or dropped before.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How many of them came, are lost or were dropped.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Its totals.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("sent_packets", self.total_packets as f64);
        probe.value("sent_bytes", self.total_bytes as f64);
        probe.value("acked_bytes", self.acked_bytes as f64);
        probe.value("dropped_writes", self.backlog.dropped() as f64);
    }
}
