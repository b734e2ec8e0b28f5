//! The receiving end: acknowledgements at once while the window grows and for sixteen segments at a time, then each second segment
//! (`__tcp_ack_snd_check`); SACKs in bulk (`compressed_ack`); duplicates reported.
//!
//! It delivers to an application that reads as soon as it is woken. Its half of the connection just ends; a lost SYN+ACK is sent again when the
//! SYN is.

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{
    Action, Endpoint, EndpointContext, Header, Notice, Packet, Port, Probe, SackBlocks, TcpFlags, TcpHeader,
    TcpOptions, Timed,
};
use lasthop_protocols::transport::tcp::reassembly::Reassembly;

use super::clock::{self, HZ};
use super::receive_window::ReceiveWindow;
use super::rtt::Estimator;
use super::settings::{HEADER_BYTES, SYN_OPTION_BYTES, Settings, TIMESTAMP_BYTES};
use super::tcp::{FIRST_BYTE, REORDERING};

/// `TCP_MAX_QUICKACKS`.
const MAX_QUICKACKS: u64 = 16;
/// `TCP_ATO_MIN`, ticks: 40 ms.
const ATO_MIN: u64 = HZ / 25;
/// `TCP_MSS_DEFAULT`.
const MIN_RCV_MSS: u64 = 536;
/// `tcp_comp_sack_nr`.
const COMPRESSED_MOST: u32 = 44;
/// `tcp_comp_sack_delay_ns`, the share of the round-trip time below which it stays, and `tcp_comp_sack_slack_ns`: with no other timer near, the
/// timer expires at the end of its slack, as in the reference's captures.
const COMPRESSED_DELAY: Duration = Duration::from_millis(1);
const COMPRESSED_SHARE: u64 = 20;
const COMPRESSED_SLACK: Duration = Duration::from_micros(100);
/// How long the application takes to be woken and to read. In the reference's captures an acknowledgement that reading sends leaves 60 µs after the
/// segment (median of 4,145), one that the segment itself sends 40 µs (of 60,000).
const WAKE: Duration = Duration::from_micros(20);
/// `TCP_SACK_BLOCKS_EXPECTED`.
const BLOCKS_EXPECTED: usize = 2;
/// `tcp_delack_max`: a tick less than `TCP_RTO_MIN`.
const DELAY_MOST: u64 = HZ / 5 - 1;
/// `TCP_MSS_DEFAULT` and `TCP_MIN_MSS` with a TCP header, and a TCP header with time stamps: by the length of a segment with its header it is
/// decided whether full ones may be that small.
const SMALL: [u64; 2] = [536 + 20, 88 + 20];
const TCP_HEADER: u64 = 32;

/// The receiving end.
pub struct Receiver {
    seat: EndpointContext,
    settings: Settings,
    connection: u32,
    /// The running number of acknowledgements over all connections.
    number: u64,
    /// The highest transmission number arrived over all connections.
    arrived: u64,
    totals: Totals,
    state: State,
    /// SACKs that were held back leave before an acknowledgement.
    flushed: Option<SackBlocks>,
    /// An acknowledgement waits to be sent.
    ack: Option<Reply>,
    tell: bool,
}

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
    duplicate_bytes: u64,
}

/// The state of one connection.
struct State {
    data: Reassembly,
    window: ReceiveWindow,
    /// RCV.NXT as last acknowledged (`rcv_wup`).
    acked: u64,
    ts_recent: Instant,
    /// A duplicate that the next acknowledgement reports.
    dsack: Option<(u64, u64)>,
    fin: Option<u64>,
    /// Acknowledgements that are sent at once (`icsk_ack.quick`).
    quick: u64,
    /// The delay of others, ticks; 0 before the first segment (`icsk_ack.ato`).
    ato: u64,
    /// When the last segment in order came, ticks (`lrcvtime`).
    last_received: u64,
    /// What a full segment is taken to be (`rcv_mss`).
    rcv_mss: u64,
    last_size: u64,
    /// An acknowledgement is owed (`ICSK_ACK_SCHED`), one at once (`ICSK_ACK_NOW`), one after reading (`ICSK_ACK_PUSHED`).
    scheduled: bool,
    at_once: bool,
    pushed: bool,
    /// When the delayed one is due, and when the application has read.
    due: Instant,
    read_at: Instant,
    /// SACKs held back, when they are due, and the count of those that were not held back at this RCV.NXT.
    compressed: u32,
    compressed_due: Instant,
    compressed_rcv_nxt: u64,
    dup_acks: u64,
    /// When the SYN+ACK left, and the round-trip time from there to its acknowledgement.
    syn_sent: Instant,
    rtt: Option<Duration>,
    /// The retransmission timeout, ticks (`icsk_rto`): that of the SYN+ACK's round-trip time.
    rto: u64,
}

impl State {
    fn new(settings: &Settings) -> Self {
        Self {
            data: Reassembly::default(),
            window: ReceiveWindow::new(settings.window, settings.window_clamp),
            acked: 0,
            ts_recent: Instant::ZERO,
            dsack: None,
            fin: None,
            quick: 0,
            ato: 0,
            last_received: 0,
            rcv_mss: MIN_RCV_MSS.min(settings.mss.into()),
            last_size: 0,
            scheduled: false,
            at_once: false,
            pushed: false,
            due: Instant::MAX,
            read_at: Instant::MAX,
            compressed: 0,
            compressed_due: Instant::MAX,
            compressed_rcv_nxt: 0,
            dup_acks: 0,
            syn_sent: Instant::ZERO,
            rtt: None,
            rto: HZ,
        }
    }

    /// `tcp_incr_quickack`.
    fn raise_quick(&mut self) {
        let count = match self.window.edge().saturating_sub(self.acked) / (2 * self.rcv_mss) {
            0 => 2,
            count => count.min(MAX_QUICKACKS),
        };
        self.quick = self.quick.max(count);
    }

    fn grow(&mut self, bytes: u64, mss: u64) {
        // `tcp_event_data_recv`: small segments do not count.
        if bytes >= 128 && self.window.grow(bytes, mss) {
            self.quick |= 1;
        }
    }

    /// A segment in order has come (`tcp_event_data_recv`, `tcp_measure_rcv_mss`).
    fn on_in_order(&mut self, now: Instant, bytes: u64, flags: TcpFlags, mss: u64) {
        self.scheduled = true;
        let push = flags.has(TcpFlags::PUSH);
        let last = std::mem::take(&mut self.last_size);
        if bytes >= self.rcv_mss {
            self.rcv_mss = bytes.min(mss);
            // The end of a write, perhaps: its sender may wait.
            self.pushed |= push;
        } else {
            // Two of the same size may be full ones.
            let plain = !push && !flags.has(TcpFlags::FIN);
            if bytes + TCP_HEADER >= SMALL[usize::from(plain)] {
                self.last_size = bytes;
            }
            if last == bytes && self.last_size == bytes {
                self.rcv_mss = bytes;
            } else {
                self.pushed = true;
            }
        }
        let ticks = clock::jiffies(now);
        if self.ato == 0 {
            self.raise_quick();
            self.ato = ATO_MIN;
        } else {
            let gap = ticks - self.last_received;
            if gap <= ATO_MIN / 2 {
                self.ato = (self.ato >> 1) + ATO_MIN / 2;
            } else if gap < self.ato {
                self.ato = ((self.ato >> 1) + gap).min(self.rto);
            } else if gap > self.rto {
                // The sender may have begun anew.
                self.raise_quick();
            }
        }
        self.last_received = ticks;
        self.grow(bytes, mss);
    }

    /// An acknowledgement leaves (`tcp_event_ack_sent`).
    fn note_ack(&mut self) {
        self.compressed = 0;
        self.compressed_due = Instant::MAX;
        if self.quick > 0 && self.scheduled {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = ATO_MIN;
            }
        }
        (self.scheduled, self.at_once, self.pushed) = (false, false, false);
        (self.due, self.read_at) = (Instant::MAX, Instant::MAX);
        self.acked = self.data.rcv_nxt;
    }

    /// Whether an acknowledgement is sent now; else a timer is armed (`__tcp_ack_snd_check`).
    fn decide(&mut self, now: Instant) -> bool {
        if self.quick > 0 || self.at_once {
            return true;
        }
        if self.data.blocks.is_empty() {
            if self.data.rcv_nxt - self.acked > self.rcv_mss {
                return true;
            }
            if self.pushed {
                // `tcp_cleanup_rbuf`.
                self.read_at = self.read_at.min(now + WAKE);
            }
            return self.delay(now);
        }
        // With a gap behind it not even a full advance is answered before the application has read: unread data take from a window that no
        // longer grows (`__tcp_select_window`). So it is the first of those that are not held back.
        if self.compressed >= COMPRESSED_MOST {
            return true;
        }
        if self.compressed_rcv_nxt != self.data.rcv_nxt {
            self.compressed_rcv_nxt = self.data.rcv_nxt;
            self.dup_acks = 0;
        }
        if self.dup_acks < REORDERING {
            self.dup_acks += 1;
            return true;
        }
        self.compressed += 1;
        if self.compressed_due == Instant::MAX {
            let rtt = self.rtt.unwrap_or(Duration::MAX);
            let share = Duration::from_nanos(rtt.as_nanos() / COMPRESSED_SHARE);
            self.compressed_due = now + COMPRESSED_DELAY.min(share) + COMPRESSED_SLACK;
        }
        false
    }

    /// Arms the timer of a delayed acknowledgement (`tcp_send_delayed_ack`). Says whether it is better sent now.
    fn delay(&mut self, now: Instant) -> bool {
        let mut ato = self.ato.max(1);
        if ato > ATO_MIN {
            let most = self.rtt.map_or(HZ / 2, |rtt| clock::ticks(rtt.as_nanos() / 1_000).max(ATO_MIN));
            ato = ato.min(most.min(HZ / 2));
        }
        ato = ato.min(DELAY_MOST);
        if self.due < Instant::MAX && clock::jiffies(self.due) <= clock::jiffies(now) + (ato >> 2) {
            return true;
        }
        self.due = self.due.min(clock::expiry(now, ato));
        false
    }
}

impl Receiver {
    /// A receiver at `seat`.
    pub fn new(settings: Settings, seat: EndpointContext) -> Self {
        let state = State::new(&settings);
        Self {
            seat,
            settings,
            connection: 0,
            number: 0,
            arrived: 0,
            totals: Totals::default(),
            state,
            flushed: None,
            ack: None,
            tell: false,
        }
    }

    #[cold]
    fn on_syn(&mut self, now: Instant, header: &TcpHeader) {
        let state = &mut self.state;
        let duplicate = state.data.rcv_nxt > 0;
        state.data.rcv_nxt = state.data.rcv_nxt.max(FIRST_BYTE);
        state.ts_recent = state.ts_recent.max(header.ts_val);
        if !duplicate {
            state.syn_sent = now;
        }
        self.ack = Some(Reply { syn: true, duplicate });
    }

    fn on_data(&mut self, now: Instant, header: &TcpHeader) {
        let mss = u64::from(self.settings.mss);
        let fin = header.flags.has(TcpFlags::FIN);
        let (start, payload) = (header.seq, u64::from(header.payload));
        let end = start + payload + u64::from(fin);
        let state = &mut self.state;
        self.totals.packets += u64::from(payload > 0);
        if start <= state.acked {
            state.ts_recent = state.ts_recent.max(header.ts_val);
        }
        let rcv_nxt = state.data.rcv_nxt;
        state.scheduled = true;
        if end > state.window.edge().max(rcv_nxt + 1) {
            // Beyond the window: the answer says where it ends.
            state.at_once = true;
        } else if end <= rcv_nxt {
            // A retransmission of what has come: `tcp_enter_quickack_mode`.
            self.totals.duplicates += u64::from(payload > 0);
            self.totals.duplicate_bytes += payload;
            state.dsack = (payload > 0).then_some((start, end));
            state.raise_quick();
            state.ato = ATO_MIN;
        } else {
            // What is held back goes before it is forgotten (`tcp_sack_compress_send_ack`); this segment then waits for the next one.
            if start > rcv_nxt && state.compressed > 0 && state.data.recency(start, end) >= BLOCKS_EXPECTED {
                let mut sack = SackBlocks::default();
                state.data.report(None, &mut sack);
                self.flushed = Some(sack);
                state.note_ack();
            }
            let fresh = state.data.insert(start.max(rcv_nxt), end);
            let known = end - start - fresh - u64::from(fin && state.fin.is_some());
            self.totals.duplicate_bytes += known;
            if fresh == 0 {
                self.totals.duplicates += u64::from(payload > 0);
                state.dsack = Some((start, end));
            }
            if fin && fresh > 0 {
                state.fin = Some(end - 1);
            }
            let advance = state.data.rcv_nxt - rcv_nxt;
            if advance > 0 {
                let fin_passed = state.fin.is_some_and(|fin| (rcv_nxt..state.data.rcv_nxt).contains(&fin));
                let bytes = advance - u64::from(fin_passed);
                self.totals.bytes += bytes;
                self.tell |= self.seat.hears.received && bytes > 0;
                // RFC 5681 §4.2: at once when the last gap is filled; and for a FIN.
                let filled = advance > end - start.max(rcv_nxt) && state.data.blocks.is_empty();
                state.at_once |= filled || fin_passed;
                if payload > 0 {
                    state.on_in_order(now, payload, header.flags, mss);
                }
            } else {
                state.grow(payload, mss);
            }
        }
        let duplicate = state.dsack.is_some();
        if state.scheduled && state.decide(now) {
            self.ack = Some(Reply { syn: false, duplicate });
        }
    }

    /// Writes an acknowledgement, or, with its blocks, one that was made before the last segment came.
    fn acknowledge(&mut self, now: Instant, reply: Reply, flushed: Option<SackBlocks>, packet: &mut Packet) {
        self.number += 1;
        let mut flags = TcpFlags::ACK.with(TcpFlags::TIMESTAMPS);
        let mut size = HEADER_BYTES + TIMESTAMP_BYTES;
        let state = &mut self.state;
        if flushed.is_none() {
            state.note_ack();
        }
        if reply.syn {
            flags = flags.with(TcpFlags::SYN);
            size = HEADER_BYTES + SYN_OPTION_BYTES;
        }
        if reply.duplicate {
            flags = flags.with(TcpFlags::DUPLICATE);
        }
        let mut sack = SackBlocks::default();
        match flushed {
            Some(before) => sack = before,
            None => state.data.report(state.dsack.take(), &mut sack),
        }
        let mut options = TcpOptions::default();
        if !sack.is_empty() {
            size += (2 + 8 * sack.len() as u32).next_multiple_of(4);
            options = TcpOptions::Sack(sack);
        }
        let rcv_nxt = state.data.rcv_nxt;
        // A SYN's window is not scaled.
        let window = if reply.syn { state.window.unscaled() } else { state.window.select(rcv_nxt) };
        let header = TcpHeader {
            seq: u64::from(!reply.syn),
            ack: rcv_nxt,
            window: window as u32,
            flags,
            options,
            ts_val: now,
            ts_echo: state.ts_recent,
            arrived: self.arrived,
            ..TcpHeader::default()
        };
        *packet = self.seat.packet(self.connection, self.number, size, Header::Tcp(header));
    }
}

impl Timed for Receiver {
    fn on_timeout(&mut self, now: Instant) {
        let state = &mut self.state;
        if state.due <= now || state.compressed_due <= now || state.read_at <= now {
            if state.due <= now && state.compressed == 0 {
                // It was waited for in vain: longer the next time (`tcp_delack_timer_handler`).
                state.ato = (state.ato << 1).min(state.rto);
            }
            self.ack.get_or_insert(Reply { syn: false, duplicate: false });
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let at = self.state.due.min(self.state.compressed_due).min(self.state.read_at);
        (at < Instant::MAX).then_some(at)
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
            self.state = State::new(&self.settings);
        }
        if header.flags.has(TcpFlags::SYN) {
            self.on_syn(now, header);
        } else if self.state.data.rcv_nxt == 0 {
            // No SYN has come: the kernel would answer with a reset.
        } else if header.payload > 0 || header.flags.has(TcpFlags::FIN) {
            self.on_data(now, header);
        } else if header.seq < self.state.data.rcv_nxt {
            // A probe of the window.
            self.ack = Some(Reply { syn: false, duplicate: false });
        }
        if self.state.rtt.is_none() && header.flags.has(TcpFlags::ACK) && !header.flags.has(TcpFlags::SYN) {
            let rtt = now.since(self.state.syn_sent);
            self.state.rtt = Some(rtt);
            self.state.rto = Estimator::first(rtt.as_nanos() / 1_000).rto;
        }
    }

    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(sack) = self.flushed.take() {
            self.acknowledge(now, Reply { syn: false, duplicate: false }, Some(sack), packet);
            return Some(Action::Send);
        }
        if let Some(reply) = self.ack.take() {
            self.acknowledge(now, reply, None, packet);
            return Some(Action::Send);
        }
        if std::mem::take(&mut self.tell) {
            let fin = u64::from(self.state.fin.is_some_and(|fin| fin < self.state.data.rcv_nxt));
            return Some(Action::Tell(Notice::Received(self.state.data.rcv_nxt.saturating_sub(FIRST_BYTE + fin))));
        }
        None
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let data = &self.state.data;
        let fin = self.state.fin.is_some_and(|fin| fin >= data.rcv_nxt);
        let waiting = data.blocks.iter().map(|(start, end)| end - start).sum::<u64>() - u64::from(fin);
        probe.value("received_packets", self.totals.packets as f64);
        probe.value("received_bytes", self.totals.bytes as f64);
        probe.value("waiting_bytes", waiting as f64);
        probe.value("duplicate_packets", self.totals.duplicates as f64);
        probe.value("duplicate_bytes", self.totals.duplicate_bytes as f64);
    }
}
