//! The receiving end of a connection: reassembly and acknowledgements.
//!
//! It delivers to an application that reads at once, so its buffer holds only out-of-order data, which lie inside the advertised window:
//! the window never changes. A SYN+ACK that is lost is sent again when the SYN is, by the sender's timer. The receiving end closes nothing
//! of its own: it has no data, and its half of the connection just ends.

use lasthop_net::engine::Instant;
use lasthop_net::net::{
    Action, Ecn, Endpoint, EndpointContext, Header, MarkedBytes, Notice, Packet, Port, Probe, SackBlocks, TcpFlags,
    TcpHeader, TcpOptions, Timed, Words,
};

use crate::transport::path_hint::PathHint;
use crate::transport::xcp::sender as xcp;

use super::config::{Config, Handshake};
use super::reassembly::Reassembly;
use super::settings::{ACCURATE_ECN_BYTES, FIRST_BYTE, HEADER_BYTES, OPTIONS_BYTES, Receiving, TIMESTAMP_BYTES};

/// How many marked packets cause an acknowledgement at once (RFC 9768 §3.2.2.5.1, n of increment-triggered ACKs: 2 is recommended).
const MARKS_TO_AN_ACK: u32 = 2;

/// The receiving end.
pub struct Receiver {
    seat: EndpointContext,
    settings: Receiving,
    connection: u32,
    /// The running number of acknowledgements over all connections.
    number: u64,
    /// The highest transmission number arrived over all connections.
    arrived: u64,
    totals: Totals,
    state: State,
    /// An acknowledgement waits to be sent.
    ack_now: Option<Reply>,
    /// Bytes received are to be reported to the flow's source.
    tell: bool,
    /// How many times the terminal's path has changed, modulo 2⁸.
    path_changes: u8,
}

/// The state of one connection.
#[derive(Default)]
struct State {
    /// RCV.NXT, and the data beyond it.
    data: Reassembly,
    /// A duplicate segment to be reported in the next acknowledgement (RFC 2883).
    dsack: Option<(u64, u64)>,
    /// Segments that an acknowledgement is owed for.
    owed: u32,
    /// When the delayed acknowledgement is due; `Instant::MAX` if none is.
    due: Instant,
    /// TS.Recent, and Last.ACK.sent (RFC 7323 §4.3).
    ts_recent: Instant,
    last_ack: u64,
    /// Whether congestion is echoed (RFC 3168 §6.1.3).
    echo: bool,
    /// Payload bytes that came marked (r.ceb of RFC 9768), and marked packets since the last acknowledgement.
    ceb: u64,
    marks: u32,
    /// Whether the last packet came marked.
    last_marked: bool,
    /// XCP: what routers granted to the segments that the next acknowledgement answers, bytes/s.
    granted: f64,
    /// The sequence number of the FIN, when it is known.
    fin: Option<u64>,
}

/// What kind of acknowledgement to send.
#[derive(Clone, Copy)]
struct Reply {
    syn: bool,
    duplicate: bool,
}

#[derive(Default)]
struct Totals {
    packets: u64,
    duplicates: u64,
    bytes: u64,
    /// Payload that had come before.
    duplicate_bytes: u64,
}

impl Receiver {
    /// A receiver at `seat`.
    pub fn new(config: &Config, seat: EndpointContext) -> Self {
        let settings = Receiving::new(config);
        let state = State::new(settings.handshake);
        let (connection, number, arrived) = (0, 0, 0);
        Self {
            seat,
            settings,
            connection,
            number,
            arrived,
            totals: Totals::default(),
            state,
            ack_now: None,
            tell: false,
            path_changes: 0,
        }
    }

    /// Takes a segment's data in. Says how much of it is new.
    fn take(&mut self, start: u64, end: u64) -> u64 {
        let state = &mut self.state;
        if start == state.data.rcv_nxt && state.data.blocks.is_empty() {
            state.data.rcv_nxt = end;
            return end - start;
        }
        if end > state.edge(&self.settings) || end <= state.data.rcv_nxt {
            return 0;
        }
        state.data.insert(start.max(state.data.rcv_nxt), end)
    }

    /// A SYN has come. Says how it is to be answered, with whatever data it carries.
    #[cold]
    fn on_syn(&mut self, header: &TcpHeader) -> Reply {
        let state = &mut self.state;
        let duplicate = state.data.rcv_nxt > 0;
        state.data.rcv_nxt = state.data.rcv_nxt.max(FIRST_BYTE);
        state.ts_recent = state.ts_recent.max(header.ts_val);
        Reply { syn: self.settings.handshake != Handshake::Partial, duplicate }
    }

    fn on_data(&mut self, now: Instant, packet: &Packet, header: &TcpHeader) {
        let fin = header.flags.has(TcpFlags::FIN);
        let start = header.seq + u64::from(header.flags.has(TcpFlags::SYN));
        let end = start + u64::from(header.payload) + u64::from(fin);
        if header.payload > 0 {
            self.totals.packets += 1;
        }
        // RFC 3168 §6.1.5, RFC 9768 §3.2.1: marks count of segments in the window.
        let acceptable = end > self.state.data.rcv_nxt && start < self.state.edge(&self.settings);
        let urgent = acceptable && self.note_marks(packet.ecn, header);
        if header.flags.has(TcpFlags::TIMESTAMPS) && start <= self.state.last_ack {
            self.state.ts_recent = self.state.ts_recent.max(header.ts_val);
        }
        let before = self.state.data.rcv_nxt;
        let was_gap = !self.state.data.blocks.is_empty();
        let fresh = self.take(start, end);
        let new = fresh > 0;
        let had_fin = self.state.fin.is_some();
        if fin && new {
            self.state.fin = Some(end - 1);
        }
        let state = &mut self.state;
        let advance = state.data.rcv_nxt - before;
        if advance > 0 {
            let fin_passed = u64::from(state.fin.is_some_and(|fin| (before..state.data.rcv_nxt).contains(&fin)));
            let payload = advance - fin_passed;
            self.totals.bytes += payload;
            self.tell |= self.seat.hears.received && payload > 0;
        }
        // Old data do not move the edge.
        let inside = end <= state.edge(&self.settings);
        if inside {
            self.totals.duplicate_bytes += end - start - fresh - u64::from(fin && had_fin);
        }
        let duplicate = !new && inside;
        if duplicate {
            self.totals.duplicates += u64::from(header.payload > 0);
            if self.settings.dsack && self.settings.sack && header.payload > 0 {
                state.dsack = Some((start, end));
            }
        }
        debug_assert!(state.is_in_order(&self.settings), "blocks lie in order between RCV.NXT and the window's edge");
        // RFC 5681 §4.2: at once for a gap, for data that fill one, and for a duplicate.
        state.owed += 1;
        if !new || was_gap || !state.data.blocks.is_empty() || fin || urgent || state.owed >= self.settings.ack_every {
            self.ack_now = Some(Reply { syn: false, duplicate });
        } else if state.due == Instant::MAX {
            state.due = now + self.settings.ack_delay;
        }
    }

    /// RFC 3168 §6.1.3: congestion is echoed until the sender says that it has reduced; RFC 9768 §3.2.1: or marks are counted.
    /// Says whether the mark makes an acknowledgement at once: of a packet that follows one without, and each second one (RFC 9768 §3.2.2.5.1).
    #[inline]
    fn note_marks(&mut self, ecn: Ecn, header: &TcpHeader) -> bool {
        if self.settings.accurate_ecn {
            let state = &mut self.state;
            let marked = ecn == Ecn::Ce;
            let changed = marked != std::mem::replace(&mut state.last_marked, marked);
            if marked {
                state.ceb += u64::from(header.payload);
                state.marks += 1;
                return changed || state.marks >= MARKS_TO_AN_ACK;
            }
        } else if self.settings.ecn {
            if header.flags.has(TcpFlags::CWR) {
                self.state.echo = false;
            }
            if ecn == Ecn::Ce {
                self.state.echo = true;
            }
        }
        false
    }

    #[inline]
    fn acknowledge(&mut self, now: Instant, reply: Reply, packet: &mut Packet) {
        let state = &mut self.state;
        state.owed = 0;
        state.marks = 0;
        state.due = Instant::MAX;
        state.last_ack = state.data.rcv_nxt;
        self.number += 1;
        let mut flags = TcpFlags::ACK;
        let mut size = HEADER_BYTES;
        if reply.syn {
            flags = flags.with(TcpFlags::SYN);
        }
        if reply.duplicate {
            flags = flags.with(TcpFlags::DUPLICATE);
        }
        // On the SYN+ACK, ECE says that the receiver echoes marks (RFC 3168 §6.1.1).
        if state.echo || (reply.syn && self.settings.ecn) {
            flags = flags.with(TcpFlags::ECE);
        }
        let mut header = TcpHeader {
            ack: state.data.rcv_nxt,
            window: self.settings.buffer,
            path_changes: self.path_changes,
            ..TcpHeader::default()
        };
        if self.settings.timestamps {
            flags = flags.with(TcpFlags::TIMESTAMPS);
            size += TIMESTAMP_BYTES;
            header.ts_val = now;
            header.ts_echo = state.ts_recent;
        }
        if self.settings.accurate_ecn {
            header.ceb = MarkedBytes::new(state.ceb);
            size += ACCURATE_ECN_BYTES;
        }
        if state.dsack.is_some() || (self.settings.sack && !state.data.blocks.is_empty()) {
            let mut sack = SackBlocks::default();
            state.data.report(state.dsack.take(), &mut sack);
            // Beside time stamps and AccECN two blocks have room, not three.
            sack.truncate((OPTIONS_BYTES + HEADER_BYTES - size).saturating_sub(4) as usize / 8);
            // Kind and length, then eight bytes a block, padded to a multiple of four.
            size += (2 + 8 * sack.len() as u32).next_multiple_of(4);
            header.options = TcpOptions::Sack(sack);
        }
        if self.settings.explicit {
            size += xcp::HEADER_BYTES;
            header.options = TcpOptions::Feedback(Words::new(std::mem::take(&mut state.granted)));
        }
        header.seq = u64::from(!reply.syn);
        header.flags = flags;
        header.arrived = self.arrived;
        *packet = self.seat.packet(self.connection, self.number, size, Header::Tcp(header));
    }
}

impl State {
    fn new(handshake: Handshake) -> Self {
        let rcv_nxt = match handshake {
            Handshake::Full | Handshake::Partial | Handshake::DataOnSyn => 0,
            Handshake::None => FIRST_BYTE,
        };
        Self { data: Reassembly::new(rcv_nxt), last_ack: rcv_nxt, due: Instant::MAX, ..Self::default() }
    }

    /// Out-of-order payload. A FIN among it has a sequence number and is no byte.
    fn waiting(&self) -> u64 {
        let fin = self.fin.is_some_and(|fin| fin >= self.data.rcv_nxt);
        self.data.blocks.iter().map(|(start, end)| end - start).sum::<u64>() - u64::from(fin)
    }

    /// The right edge of the window. Before the SYN, which takes no room, it lies where it will lie
    /// after it.
    fn edge(&self, settings: &Receiving) -> u64 {
        self.data.rcv_nxt.max(FIRST_BYTE) + u64::from(settings.buffer)
    }

    /// Whether the blocks lie in order, disjoint and not touching, beyond RCV.NXT and inside the window.
    fn is_in_order(&self, settings: &Receiving) -> bool {
        let inside = self.data.blocks.back().is_none_or(|block| block.1 <= self.edge(settings));
        let before = std::iter::once(self.data.rcv_nxt).chain(self.data.blocks.iter().map(|block| block.1));
        inside && before.zip(&self.data.blocks).all(|(before, &(start, end))| before < start && start < end)
    }
}

impl Timed for Receiver {
    fn on_timeout(&mut self, now: Instant) {
        if self.state.due <= now {
            self.ack_now = Some(Reply { syn: false, duplicate: false });
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.state.due < Instant::MAX).then_some(self.state.due)
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Some(header) = packet.tcp() else { return };
        self.arrived = self.arrived.max(packet.number);
        if packet.connection != self.connection {
            if packet.connection < self.connection {
                return;
            }
            self.connection = packet.connection;
            self.state = State::new(self.settings.handshake);
        }
        if let TcpOptions::Congestion(granted) = &header.options {
            self.state.granted += granted.delta.get();
        }
        let syn = header.flags.has(TcpFlags::SYN).then(|| self.on_syn(header));
        if header.payload > 0 || header.flags.has(TcpFlags::FIN) {
            self.on_data(now, packet, header);
        }
        if syn.is_some() {
            self.ack_now = syn;
        }
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        if let Notice::Link(_) = notice
            && self.settings.path_hint != PathHint::Off
        {
            self.path_changes = self.path_changes.wrapping_add(1);
            if self.state.data.rcv_nxt > FIRST_BYTE {
                self.ack_now.get_or_insert(Reply { syn: false, duplicate: false });
            }
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(reply) = self.ack_now.take() {
            self.acknowledge(now, reply, packet);
            return Some(Action::Send);
        }
        if self.tell {
            self.tell = false;
            let fin = u64::from(self.state.fin.is_some_and(|fin| fin < self.state.data.rcv_nxt));
            return Some(Action::Tell(Notice::Received(self.state.data.rcv_nxt.saturating_sub(FIRST_BYTE + fin))));
        }
        None
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("received_packets", self.totals.packets as f64);
        probe.value("received_bytes", self.totals.bytes as f64);
        probe.value("waiting_bytes", self.state.waiting() as f64);
        probe.value("duplicate_packets", self.totals.duplicates as f64);
        probe.value("duplicate_bytes", self.totals.duplicate_bytes as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_out_of_order_are_seen() {
        let settings = Receiving::new(&Config::default());
        let state = |blocks: &[(u64, u64)]| State { data: Reassembly::of(10, blocks), ..State::default() };
        assert!(state(&[(11, 12), (13, 20)]).is_in_order(&settings));
        let beyond = state(&[]).edge(&settings) + 1;
        for wrong in [
            [(10, 12), (13, 20)],
            [(11, 13), (13, 20)],
            [(13, 20), (11, 12)],
            [(11, 11), (13, 20)],
            [(11, 12), (13, beyond)],
        ] {
            assert!(!state(&wrong).is_in_order(&settings), "{wrong:?}");
        }
    }
}
