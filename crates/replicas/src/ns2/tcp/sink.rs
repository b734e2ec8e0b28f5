//! The receiving end (`TCPSink`, and with delayed acknowledgements or SACK blocks its children;
//! ns-2.35 `tcp/tcp-sink.cc`).
//!
//! A delayed acknowledgement waits for a second packet. Packet 0, packets out of order and packets that fill a gap are acknowledged at
//! once.

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{
    Action, Ecn, Endpoint, EndpointContext, Header, Notice, Packet, Port, Probe, SackBlocks, TcpFlags, TcpHeader,
    TcpOptions, Timed, Words,
};
use lasthop_protocols::transport::tcp::config::Variant;

use super::sack_stack::SackStack;
use super::settings::Settings;

/// The receiving end.
pub struct Sink {
    seat: EndpointContext,
    delay: Option<Duration>,
    sack: bool,
    /// XCP: what routers granted to packets that are not yet acknowledged (`xcp_rev_fb_`).
    feedback: Option<f64>,
    /// The payload that packets mostly have.
    segment: i64,
    connection: u32,
    arrivals: Arrivals,
    stack: SackStack,
    /// The time stamp that goes back (`ts_to_echo_`).
    ts_to_echo: Instant,
    /// The last acknowledgement (`last_ack_sent_`).
    last_ack: i64,
    /// A congestion mark has come and the sender has not answered it (`ecn_unacked_`).
    marked: bool,
    /// The packet whose acknowledgement is delayed, and until when.
    delayed: Option<(Arrived, Instant)>,
    pending: Option<Pending>,
    /// In-order payload is to be reported to the source.
    tell: bool,
    /// Payload bytes of the connection received in order.
    bytes: u64,
    /// Packets beyond the gap with another payload than `segment`, and the bytes that they lack.
    other: Vec<(i64, i64)>,
    /// The highest transmission number that has arrived.
    highest_number: u64,
    acks_sent: u64,
    received: u64,
    received_bytes: u64,
    duplicates: u64,
    duplicate_bytes: u64,
    old: u64,
}

/// What an acknowledgement needs to know of the packet that causes it.
#[derive(Clone, Copy)]
struct Arrived {
    seq: i64,
    ecn: Ecn,
    flags: TcpFlags,
    duplicate: bool,
}

/// An acknowledgement that is to be sent.
struct Pending {
    sack: SackBlocks,
    ece: bool,
    duplicate: bool,
}

impl Sink {
    /// A sink at `seat`.
    pub fn new(settings: &Settings, seat: EndpointContext) -> Self {
        Self {
            seat,
            delay: settings.ack_delay,
            sack: settings.sack(),
            feedback: (settings.variant == Variant::Xcp).then_some(0.0),
            segment: i64::from(settings.segment),
            connection: 0,
            arrivals: Arrivals::default(),
            stack: SackStack::default(),
            ts_to_echo: Instant::ZERO,
            last_ack: 0,
            marked: false,
            delayed: None,
            pending: None,
            tell: false,
            bytes: 0,
            other: Vec::new(),
            highest_number: 0,
            acks_sent: 0,
            received: 0,
            received_bytes: 0,
            duplicates: 0,
            duplicate_bytes: 0,
            old: 0,
        }
    }

    /// A packet of a later connection has come: everything before is forgotten. Totals stay.
    fn begin(&mut self, connection: u32) {
        self.connection = connection;
        self.arrivals = Arrivals::default();
        self.stack.clear();
        self.ts_to_echo = Instant::ZERO;
        self.feedback = self.feedback.map(|_| 0.0);
        self.last_ack = 0;
        self.marked = false;
        self.delayed = None;
        self.bytes = 0;
        self.other.clear();
    }

    /// Takes note of payload: what `packets` bring in order, less what some of them lack.
    fn deliver(&mut self, packets: i64, has_syn: bool) {
        let mut bytes = (packets - i64::from(has_syn)) * self.segment;
        if !self.other.is_empty() {
            let next = self.arrivals.next;
            self.other.retain(|&(seq, lacking)| {
                let waits = seq >= next;
                bytes -= if waits { 0 } else { lacking };
                waits
            });
        }
        self.bytes += bytes as u64;
        self.received_bytes += bytes as u64;
        self.tell = self.seat.hears.received && bytes > 0;
    }

    /// Payload beyond the gap.
    fn waiting_bytes(&self) -> i64 {
        let lacking: i64 = self.other.iter().map(|(_, lacking)| lacking).sum();
        self.arrivals.waiting() * self.segment - lacking
    }

    /// Makes the acknowledgement that `packet` causes (`ack`).
    fn acknowledge(&mut self, packet: Arrived) {
        let saved = self.delayed.take().map(|(saved, _)| saved);
        let causes = [Some(packet), saved];
        let any = |test: &dyn Fn(&Arrived) -> bool| causes.iter().flatten().any(test);
        let capable = |a: &Arrived| a.ecn != Ecn::NotEct;
        if any(&|a| a.flags.has(TcpFlags::CWR)) {
            self.marked = false;
        }
        if any(&|a| a.ecn == Ecn::Ce) {
            self.marked = true;
        }
        let asks = any(&|a| !capable(a) && a.flags.has(TcpFlags::ECE));
        let ece = asks || (any(&capable) && self.marked);
        let sack = if self.sack { self.blocks(&packet) } else { SackBlocks::default() };
        self.last_ack = self.arrivals.next - 1;
        self.pending = Some(Pending { sack, ece, duplicate: packet.duplicate });
    }

    fn blocks(&mut self, packet: &Arrived) -> SackBlocks {
        let ack = self.arrivals.next - 1;
        let seen = self.arrivals.highest;
        if ack >= seen {
            self.stack.clear();
            return SackBlocks::default();
        }
        let end = self.arrivals.hole_after(packet.seq);
        let fresh = (packet.seq > ack).then(|| (self.arrivals.start_of_block(end), end));
        self.stack.report(fresh, end, seen)
    }
}

impl Timed for Sink {
    fn on_timeout(&mut self, now: Instant) {
        if let Some((packet, at)) = self.delayed
            && at <= now
        {
            self.acknowledge(packet);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.delayed.map(|(_, at)| at)
    }
}

impl Endpoint for Sink {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Tcp(header) = &packet.header else { return };
        if packet.connection != self.connection {
            if packet.connection < self.connection {
                self.old += 1;
                return;
            }
            self.begin(packet.connection);
        }
        let seq = header.seq as i64;
        let is_syn = header.flags.has(TcpFlags::SYN);
        self.highest_number = self.highest_number.max(packet.number);
        if let (Some(sum), TcpOptions::Congestion(granted)) = (&mut self.feedback, &header.options) {
            *sum += granted.delta.get();
        }
        if header.ts_val >= self.ts_to_echo && seq <= self.last_ack + 1 {
            self.ts_to_echo = header.ts_val;
        }
        let Arrival { duplicate, in_order } = self.arrivals.take(seq);
        let arrived = Arrived { seq, ecn: packet.ecn, flags: header.flags, duplicate };
        self.received += 1;
        if duplicate {
            self.duplicates += 1;
            self.duplicate_bytes += u64::from(header.payload);
        }
        if !duplicate && !is_syn && i64::from(header.payload) != self.segment {
            self.other.push((seq, self.segment - i64::from(header.payload)));
        }
        if in_order > 0 {
            self.deliver(in_order, is_syn);
        }
        let ack = self.arrivals.next - 1;
        if let Some(delay) = self.delay
            && self.delayed.is_none()
            && seq == ack
            && seq >= self.arrivals.highest
            && seq != 0
        {
            self.delayed = Some((arrived, now + delay));
        } else {
            self.acknowledge(arrived);
        }
    }

    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        let Some(Pending { sack, ece, duplicate }) = self.pending.take() else {
            return std::mem::take(&mut self.tell).then_some(Action::Tell(Notice::Received(self.bytes)));
        };
        self.acks_sent += 1;
        let mut flags = TcpFlags::ACK;
        if ece {
            flags = flags.with(TcpFlags::ECE);
        }
        if duplicate {
            flags = flags.with(TcpFlags::DUPLICATE);
        }
        let size = ACK_BYTES + BLOCK_BYTES * sack.len() as u32;
        let options = match &mut self.feedback {
            Some(sum) => TcpOptions::Feedback(Words::new(std::mem::take(sum))),
            None => TcpOptions::Sack(sack),
        };
        *packet = self.seat.packet(
            self.connection,
            self.acks_sent,
            size,
            Header::Tcp(TcpHeader {
                ack: self.last_ack as u64,
                window: TcpHeader::ANY_WINDOW,
                flags,
                options,
                ts_val: now,
                ts_echo: self.ts_to_echo,
                arrived: self.highest_number,
                ..TcpHeader::default()
            }),
        );
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("received_packets", self.received as f64);
        probe.value("received_bytes", self.received_bytes as f64);
        probe.value("waiting_bytes", self.waiting_bytes() as f64);
        probe.value("duplicate_packets", self.duplicates as f64);
        probe.value("duplicate_bytes", self.duplicate_bytes as f64);
        probe.value("old_connection_packets", self.old as f64);
    }
}

/// `packetSize_` of a sink.
const ACK_BYTES: u32 = 40;
/// Two sequence numbers.
const BLOCK_BYTES: u32 = 8;

/// Which packets have arrived (`Acker`). The bits of packets below the window are overwritten
/// when numbers wrap around the ring, as in ns-2; a block found from such a packet may be short.
struct Arrivals {
    /// The next packet expected in order.
    next: i64,
    /// The highest packet that has arrived.
    highest: i64,
    /// A bit for each packet, modulo the ring's length, which is a power of two.
    ring: Vec<u64>,
}

struct Arrival {
    duplicate: bool,
    /// Packets that are now in order.
    in_order: i64,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self { next: 0, highest: 0, ring: vec![0] }
    }
}

impl Arrivals {
    fn len(&self) -> i64 {
        self.ring.len() as i64 * 64
    }

    #[inline]
    fn has(&self, seq: i64) -> bool {
        let bit = (seq & (self.len() - 1)) as usize;
        self.ring[bit / 64] >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn set(&mut self, seq: i64, value: bool) {
        let bit = (seq & (self.len() - 1)) as usize;
        let word = &mut self.ring[bit / 64];
        *word = (*word & !(1 << (bit % 64))) | u64::from(value) << (bit % 64);
    }

    fn widen(&mut self) {
        let mut wider = Self { next: self.next, highest: self.highest, ring: vec![0; self.ring.len() * 2] };
        for seq in self.next..=self.highest + 1 {
            wider.set(seq, self.has(seq));
        }
        *self = wider;
    }

    /// Packets beyond the gap.
    fn waiting(&self) -> i64 {
        (self.next..=self.highest).filter(|seq| self.has(*seq)).count() as i64
    }

    /// Takes a packet (`update`).
    #[inline]
    fn take(&mut self, seq: i64) -> Arrival {
        while seq + 1 - self.next >= self.len() - 1 {
            self.widen();
        }
        let mut fresh = false;
        if seq > self.highest {
            for missing in self.highest + 1..seq {
                self.set(missing, false);
            }
            self.highest = seq;
            self.set(seq + 1, false);
            fresh = true;
        }
        if seq < self.next {
            return Arrival { duplicate: true, in_order: 0 };
        }
        let duplicate = !fresh && self.has(seq);
        self.set(seq, true);
        let before = self.next;
        while self.has(self.next) {
            self.next += 1;
        }
        Arrival { duplicate, in_order: self.next - before }
    }

    /// The first packet from `seq` on that is missing.
    fn hole_after(&self, seq: i64) -> i64 {
        let mut at = seq;
        while at <= self.highest {
            let bit = (at & (self.len() - 1)) as usize;
            let run = i64::from((self.ring[bit / 64] >> (bit % 64)).trailing_ones().min(64 - (bit % 64) as u32));
            at += run;
            if run < 64 - (bit % 64) as i64 {
                break;
            }
        }
        at.min(self.highest + 1)
    }

    /// The start of the block that ends before `end`.
    fn start_of_block(&self, end: i64) -> i64 {
        let mut at = end;
        while at > self.next {
            let bit = ((at - 1) & (self.len() - 1)) as usize;
            let room = bit % 64 + 1;
            let run = (self.ring[bit / 64] << (64 - room)).leading_ones().min(room as u32) as usize;
            at -= run as i64;
            if run < room {
                break;
            }
        }
        at.max(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_across_words_and_after_widening() {
        let mut arrivals = Arrivals::default();
        for seq in (0..50).chain(60..300).chain(310..311) {
            arrivals.take(seq);
        }
        assert_eq!((arrivals.next, arrivals.highest), (50, 310));
        for seq in [60, 64, 127, 128, 299] {
            let end = arrivals.hole_after(seq);
            assert_eq!((arrivals.start_of_block(end), end), (60, 300), "from {seq}");
        }
        assert_eq!(arrivals.hole_after(310), 311);
        assert!(arrivals.take(299).duplicate);
        assert!(!arrivals.take(55).duplicate);
    }
}
