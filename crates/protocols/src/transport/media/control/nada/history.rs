//! The packets of the observation window, and what they say (RFC 8698 §5.1).

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

use super::intervals::LossIntervals;

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Its number in the flow.
    pub number: u64,
    /// Its bytes.
    pub bytes: u32,
    /// When it was sent, by the sender's clock.
    pub sent_at: Instant,
    /// When it arrived, by the receiver's.
    pub arrived_at: Instant,
    /// When the sender got the report of it.
    pub acked_at: Instant,
    /// Whether it was marked CE.
    pub marked: bool,
}

impl Packet {
    /// Its one-way delay, ns: the clocks need not agree.
    fn delay(&self) -> i64 {
        self.arrived_at.as_nanos() as i64 - self.sent_at.as_nanos() as i64
    }
}

/// What the window says of rate, losses and marks.
pub struct RateAndRatios {
    /// r_recv, bit/s; `None` if all arrived at once.
    pub rate: Option<f64>,
    /// Packets lost.
    pub lost: u64,
    /// The share that was lost, and of those that arrived the share that was marked.
    pub loss: f64,
    /// See `loss`.
    pub marks: f64,
}

/// Packets sent in the last LOGWIN.
#[derive(Clone, Debug, Default)]
pub struct History {
    packets: VecDeque<Packet>,
    bytes: u64,
    marked: u64,
    /// d_base, ns.
    base: Option<i64>,
    /// Delays of packets that were sent before count for nothing: they took another path.
    path_since: Instant,
    intervals: LossIntervals,
}

impl History {
    /// A packet has arrived. One that was sent before the last known one is passed over.
    pub fn add(&mut self, packet: &Packet) {
        if let Some(last) = self.packets.back() {
            if packet.number <= last.number || packet.sent_at < last.sent_at {
                return;
            }
            if packet.sent_at.since(last.sent_at) > LOGWIN {
                *self = Self { path_since: self.path_since, ..Self::default() };
            }
        }
        if packet.sent_at >= self.path_since {
            let delay = packet.delay();
            self.base = Some(self.base.map_or(delay, |base| base.min(delay)));
        }
        self.intervals.on_arrival(packet.number);
        self.packets.push_back(*packet);
        self.bytes += u64::from(packet.bytes);
        self.marked += u64::from(packet.marked);
        while let Some(first) = self.packets.front()
            && packet.sent_at.since(first.sent_at) >= LOGWIN
        {
            self.bytes -= u64::from(first.bytes);
            self.marked -= u64::from(first.marked);
            self.packets.pop_front();
        }
    }

    /// Forgets d_base, and all delays of packets that were sent before `now`.
    pub fn forget_delays(&mut self, now: Instant) {
        self.base = None;
        self.path_since = now;
    }

    /// d_queue, ns: the least of the last 15 delays above d_base (§5.1.1).
    pub fn queue_ns(&self) -> Option<u64> {
        self.newest().take(TAPS).filter_map(|packet| self.above_base(packet)).min()
    }

    /// The least of the last 15 round-trip times.
    pub fn rtt(&self) -> Option<Duration> {
        self.newest().take(TAPS).map(|packet| packet.acked_at.since(packet.sent_at)).min()
    }

    /// Whether a packet in the window waited longer than `limit`.
    pub fn exceeds(&self, limit: Duration) -> bool {
        self.newest().filter_map(|packet| self.above_base(packet)).any(|queue| queue > limit.as_nanos())
    }

    /// Whether a packet in the window was marked.
    pub fn has_marks(&self) -> bool {
        self.marked > 0
    }

    /// Rate, losses and marks (§5.1.2 to §5.1.4), if there are packets enough.
    pub fn rate_and_ratios(&self) -> Option<RateAndRatios> {
        let (first, last) = (self.packets.front()?, self.packets.back()?);
        let arrived = self.packets.len() as u64;
        if arrived < LEAST {
            return None;
        }
        let span = last.arrived_at.since(first.arrived_at);
        // The first packet ends the time before the span.
        let bits = (self.bytes - u64::from(first.bytes)) as f64 * 8.0;
        let sent = last.number - first.number + 1;
        Some(RateAndRatios {
            rate: (span > Duration::ZERO).then(|| bits / span.as_secs_f64()),
            lost: sent - arrived,
            loss: (sent - arrived) as f64 / sent as f64,
            marks: self.marked as f64 / arrived as f64,
        })
    }

    /// The mean of the loss intervals and the present one, in packets; `None` before the first loss.
    pub fn loss_intervals(&self) -> Option<(f64, f64)> {
        self.intervals.average_and_current()
    }

    /// Packets of this path, from the newest on.
    fn newest(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().rev().take_while(|packet| packet.sent_at >= self.path_since)
    }

    fn above_base(&self, packet: &Packet) -> Option<u64> {
        // No delay is below the base, which is the least of them.
        self.base.map(|base| (packet.delay() - base).max(0) as u64)
    }
}

/// LOGWIN: the observation window (RFC 8698, Table 2); a longer pause makes all before it void (ns3-rmcat).
const LOGWIN: Duration = Duration::from_millis(500);
/// The taps of the minimum filter of delays (§5.1.1).
const TAPS: usize = 15;
/// The least number of packets of which rates and ratios are computed (ns3-rmcat).
const LEAST: u64 = 5;
