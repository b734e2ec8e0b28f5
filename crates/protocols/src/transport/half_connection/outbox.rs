//! What the source wrote to a half-connection: the part that waits, and how much was sent.

use lasthop_net::net::Probe;

use super::backlog::Backlog;

/// The backlog of a connection, and the totals of all of them.
#[derive(Debug)]
pub struct Outbox {
    backlog: Backlog,
    closed: bool,
    /// Whether the end of a transfer was given up: the last packet was not answered.
    gave_up: bool,
    sent_bytes: u64,
    acked_bytes: u64,
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
            sent_bytes: 0,
            acked_bytes: 0,
            total_packets: 0,
            total_bytes: 0,
        }
    }

    /// The source writes.
    pub fn write(&mut self, bytes: u64) {
        self.backlog.write(bytes);
    }

    /// The source has written everything.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets the connection; totals stay.
    pub fn reset(&mut self) {
        self.backlog.clear();
        (self.closed, self.gave_up) = (false, false);
        (self.sent_bytes, self.acked_bytes) = (0, 0);
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
        self.sent_bytes += u64::from(payload);
        self.total_packets += 1;
        self.total_bytes += u64::from(payload);
    }

    /// Payload bytes of the connection that came or are lost.
    pub fn on_acked(&mut self, bytes: u64) {
        self.acked_bytes = self.acked_bytes.max(bytes);
    }

    /// No answer will come. If everything was sent, gives up the packets whose fate is unknown. Says whether it did.
    pub fn give_up(&mut self) -> bool {
        let over = self.closed && self.backlog.is_empty();
        if over {
            self.gave_up = self.acked_bytes < self.sent_bytes;
            self.acked_bytes = self.sent_bytes;
        }
        over
    }

    /// Whether it gave up since it was asked last.
    pub fn gave_up(&mut self) -> bool {
        std::mem::take(&mut self.gave_up)
    }

    /// Payload bytes of the connection that were sent.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// How many of them came or are lost.
    pub fn acked_bytes(&self) -> u64 {
        self.acked_bytes
    }

    /// Its totals.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("sent_packets", self.total_packets as f64);
        probe.value("sent_bytes", self.total_bytes as f64);
        probe.value("acked_bytes", self.acked_bytes as f64);
        probe.value("dropped_writes", self.backlog.dropped() as f64);
    }
}
