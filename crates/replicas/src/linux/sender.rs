//! The sending end as an [`Endpoint`]: handshake, packets and notices in and out.

use lasthop_net::engine::{BitRate, Duration, Instant, Stream};
use lasthop_net::net::{
    Action, Endpoint, EndpointContext, Header, Histogram, Notice, Packet, Port, Probe, TcpFlags, TcpHeader, Timed,
    Variable,
};
use lasthop_protocols::transport::tcp::ground_truth::GroundTruth;

use super::clock;
use super::congestion::Control;
use super::receive_window::UNSCALED;
use super::rtt;
use super::settings::{HEADER_BYTES, SYN_OPTION_BYTES, Settings, TIMESTAMP_BYTES};
use super::socket::Socket;
use super::tcp::{FIRST_BYTE, Out, Pending, Tcp, Totals};

/// The sending end.
pub struct Sender {
    seat: EndpointContext,
    settings: Settings,
    stream: Stream,
    connection: u32,
    phase: Phase,
    pub(super) socket: Socket,
    /// The running number of transmissions over all connections.
    number: u64,
    truth: GroundTruth,
    rtt: Histogram,
    /// What was reported to the source, and shown, last.
    told_sent: u64,
    told_acked: u64,
    told_rate: Option<BitRate>,
    shown: [f64; 10],
}

/// How far the connection has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    /// When the SYN was sent first and last, and how often again.
    Opening {
        first: Instant,
        sent: Instant,
        again: u32,
    },
    /// Open, but what the source wrote before leaves only at this time ([`FIRST_WRITE`]).
    Opened {
        writes_at: Instant,
    },
    Open,
}

impl Sender {
    /// A sender at `seat`.
    pub fn new(settings: Settings, seat: EndpointContext, stream: Stream) -> Self {
        let socket = Socket { tcp: Tcp::new(&settings), control: Control::new(&settings, stream.numbered(0)) };
        Self {
            seat,
            settings,
            stream,
            connection: 0,
            phase: Phase::Closed,
            socket,
            number: 0,
            truth: GroundTruth::default(),
            rtt: Histogram::default(),
            told_sent: 0,
            told_acked: 0,
            told_rate: None,
            shown: [f64::NAN; 10],
        }
    }

    /// The connection is forgotten; totals stay.
    fn renew(&mut self) {
        let totals: Totals = self.socket.tcp.totals;
        let stream = self.stream.numbered(self.connection.into());
        self.socket = Socket { tcp: Tcp::new(&self.settings), control: Control::new(&self.settings, stream) };
        self.socket.tcp.totals = totals;
        self.phase = Phase::Closed;
        self.truth.reset();
        (self.told_sent, self.told_acked, self.told_rate) = (0, 0, None);
    }

    /// The SYN leaves, for the first time or again.
    fn send_syn(&mut self, now: Instant) {
        let (first, again) = match self.phase {
            Phase::Opening { first, again, .. } => (first, again + 1),
            _ => (now, 0),
        };
        self.phase = Phase::Opening { first, sent: now, again };
        let tcp = &mut self.socket.tcp;
        tcp.total_retrans += u64::from(again > 0);
        if again > SYN_LINEAR_TIMEOUTS {
            tcp.rtt.back_off();
        }
        tcp.out.push_back(Out::Syn);
        tcp.arm(Pending::Retransmit, tcp.rtt.rto, false);
    }

    /// The SYN+ACK has come (`tcp_rcv_synsent_state_process`, `tcp_finish_connect`).
    fn on_opened(&mut self, [first, sent]: [Instant; 2], again: u32, header: &TcpHeader) {
        let tcp = &mut self.socket.tcp;
        if header.ack < FIRST_BYTE {
            return;
        }
        self.phase = Phase::Opened { writes_at: tcp.now + FIRST_WRITE };
        tcp.snd_una = FIRST_BYTE;
        tcp.wnd_end = header.ack + u64::from(header.window).min(UNSCALED);
        tcp.disarm();
        tcp.delivery.delivered = 1;
        tcp.delivery.delivered_us = tcp.now_us;
        tcp.delivery.first_tx_us = clock::micros(sent);
        // With a SYN that was sent again, its time stamp tells which one was answered.
        let from = if again > 0 { header.ts_echo } else { sent };
        let us = tcp.now_us.saturating_sub(clock::micros(from));
        tcp.rtt.note_min(tcp.jiffies(), us);
        tcp.rtt.on_sample(us, FIRST_BYTE, FIRST_BYTE);
        self.rtt.add(us * 1_000);
        tcp.update_pacing_rate();
        // Not if the first one was answered, which was only late (`tcp_try_undo_spurious_syn`).
        if again > 1 && clock::micros(header.ts_echo) / 1_000 != clock::micros(first) / 1_000 {
            tcp.snd_cwnd = 1;
        }
        tcp.snd_cwnd_stamp = tcp.jiffies();
        self.socket.control.begin(tcp);
        tcp.out.push_back(Out::Ack { seq: tcp.snd_nxt });
    }

    /// What was written before leaves now, as if it were written now; a close comes after it.
    fn on_first_write(&mut self) {
        self.phase = Phase::Open;
        let tcp = &mut self.socket.tcp;
        if tcp.write_seq > FIRST_BYTE {
            tcp.delivery.on_app_limited(0);
        }
        let closing = std::mem::take(&mut tcp.closing);
        self.socket.write(false);
        self.socket.tcp.closing = closing;
        self.socket.write(false);
    }

    fn packet(&mut self, now: Instant, out: Out, packet: &mut Packet) {
        self.number += 1;
        let tcp = &self.socket.tcp;
        let mut flags = TcpFlags::TIMESTAMPS.with(TcpFlags::ACK);
        let mut size = HEADER_BYTES + TIMESTAMP_BYTES;
        let mut payload = 0;
        let seq = match out {
            Out::Syn => {
                flags = TcpFlags::TIMESTAMPS.with(TcpFlags::SYN);
                size = HEADER_BYTES + SYN_OPTION_BYTES;
                0
            }
            Out::Ack { seq } => seq,
            Out::Probe => tcp.snd_una.saturating_sub(1),
            Out::Data { start, len, fin, push } => {
                payload = len - u32::from(fin);
                if fin {
                    flags = flags.with(TcpFlags::FIN);
                }
                if payload > 0 {
                    size = self.settings.header + TIMESTAMP_BYTES + payload;
                }
                if push {
                    flags = flags.with(TcpFlags::PUSH);
                }
                start
            }
        };
        let ack = u64::from(!matches!(out, Out::Syn));
        let window = UNSCALED as u32;
        let header =
            TcpHeader { seq, ack, payload: payload as u16, window, flags, ts_val: now, ..TcpHeader::default() };
        *packet = self.seat.packet(self.connection, self.number, size, Header::Tcp(header));
    }

    /// The next notice for the source.
    fn tell(&mut self) -> Option<Notice> {
        let (tcp, hears) = (&self.socket.tcp, self.seat.hears);
        let bytes = |seq: u64, fin: bool| seq.saturating_sub(FIRST_BYTE + u64::from(fin));
        if hears.sent {
            let sent = bytes(tcp.snd_nxt, tcp.fin_sent);
            if std::mem::replace(&mut self.told_sent, sent) != sent {
                return Some(Notice::Sent(sent));
            }
        }
        if hears.rate
            && let Some(srtt) = tcp.srtt()
        {
            // The window over the smoothed round-trip time, at most the pacing rate.
            let allowed = u128::from(tcp.snd_cwnd * tcp.mss) * 8_000_000_000 / u128::from(srtt.as_nanos().max(1));
            let mut bps = u64::try_from(allowed).unwrap_or(u64::MAX);
            if tcp.paces {
                bps = bps.min(tcp.pacing_rate.saturating_mul(8));
            }
            let rate = BitRate::from_bps(bps);
            if self.told_rate.replace(rate) != Some(rate) {
                return Some(Notice::Rate(rate));
            }
        }
        if hears.acked {
            let acked = bytes(tcp.snd_una, tcp.fin_sent && tcp.snd_una == tcp.snd_nxt);
            if std::mem::replace(&mut self.told_acked, acked) != acked {
                return Some(Notice::Acked(acked));
            }
        }
        None
    }

    /// The next variable that has changed.
    fn show(&mut self) -> Option<Action> {
        let tcp = &self.socket.tcp;
        let set = |is: bool, value: f64| if is { value } else { f64::NAN };
        let measured = tcp.rtt.srtt > 0;
        let values = [
            (Variable::Cwnd, tcp.snd_cwnd as f64),
            (Variable::Ssthresh, set(tcp.snd_ssthresh < u64::MAX, tcp.snd_ssthresh as f64)),
            (Variable::Rtt, set(measured, tcp.rtt.last as f64 / 1e6)),
            (Variable::Srtt, set(measured, (tcp.rtt.srtt >> 3) as f64 / 1e6)),
            (Variable::Rttvar, set(measured, tcp.rtt.rttvar() as f64 / 1e6)),
            (Variable::Rto, clock::ticks_us(tcp.rtt.rto) as f64 / 1e6),
            (Variable::Backoff, f64::from(1 << tcp.rtt.backoff.min(30))),
            (Variable::Timeouts, tcp.totals.timeouts as f64),
            (Variable::InFlight, tcp.in_flight() as f64),
            (Variable::PacingRate, set(tcp.pacing_rate < u64::MAX, tcp.pacing_rate as f64 * 8.0)),
        ];
        for (shown, (variable, value)) in self.shown.iter_mut().zip(values) {
            if *shown != value && !value.is_nan() {
                *shown = value;
                return Some(Action::Observe(variable, value));
            }
        }
        None
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        self.socket.tcp.set_now(now);
        match self.phase {
            Phase::Opening { .. } => {
                if self.socket.tcp.timer_at <= now {
                    self.socket.tcp.totals.timeouts += 1;
                    self.send_syn(now);
                }
                return;
            }
            Phase::Opened { writes_at } if writes_at <= now => self.on_first_write(),
            _ => {}
        }
        let timeouts = self.socket.tcp.totals.timeouts;
        let una = self.socket.tcp.snd_una;
        self.socket.on_timers();
        if self.socket.tcp.totals.timeouts > timeouts {
            self.truth.on_timeout(una, self.number + 1);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let writes_at = if let Phase::Opened { writes_at } = self.phase { writes_at } else { Instant::MAX };
        let at = self.socket.tcp.timer_at.min(self.socket.tcp.pacing_at).min(writes_at);
        (at < Instant::MAX).then_some(at)
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Tcp(header) = &packet.header else { return };
        if packet.connection != self.connection || !header.flags.has(TcpFlags::ACK) {
            return;
        }
        self.socket.tcp.set_now(now);
        match self.phase {
            Phase::Closed => return,
            Phase::Opening { first, sent, again } => self.on_opened([first, sent], again, header),
            Phase::Opened { .. } | Phase::Open if header.flags.has(TcpFlags::SYN) => {
                let tcp = &mut self.socket.tcp;
                tcp.out.push_back(Out::Ack { seq: tcp.snd_nxt });
            }
            Phase::Opened { .. } | Phase::Open => {
                let (recoveries, last) = (self.socket.tcp.totals.recoveries, self.socket.tcp.rtt.last);
                self.truth.on_ack(header.ack, header.arrived, header.flags.has(TcpFlags::DUPLICATE));
                self.socket.on_ack(header);
                let tcp = &self.socket.tcp;
                if tcp.rtt.last != last {
                    self.rtt.add(tcp.rtt.last * 1_000);
                }
                if tcp.totals.recoveries > recoveries {
                    self.truth.on_fast_retransmit(tcp.snd_una, self.number + 1);
                }
            }
        }
        if self.phase == Phase::Open {
            self.socket.write(false);
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        self.socket.tcp.set_now(now);
        match notice {
            Notice::Open if self.phase == Phase::Closed => self.send_syn(now),
            Notice::Write(bytes) if !self.socket.tcp.closing => {
                let tcp = &mut self.socket.tcp;
                if self.phase == Phase::Open {
                    tcp.check_app_limited();
                    if tcp.segments.is_empty() && !self.socket.control.governs() {
                        tcp.restart_after_idle();
                    }
                }
                tcp.write_seq = tcp.write_seq.saturating_add(bytes).min(ENDLESS);
            }
            Notice::Close => self.socket.tcp.closing = true,
            Notice::Reset => {
                self.connection += 1;
                self.renew();
            }
            Notice::Segment(bytes) if self.phase == Phase::Closed => {
                self.settings = self.settings.with_segment(bytes);
                self.renew();
            }
            _ => return,
        }
        if self.phase == Phase::Open {
            self.socket.write(false);
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(out) = self.socket.tcp.out.pop_front() {
            self.packet(now, out, packet);
            return Some(Action::Send);
        }
        if self.seat.observed
            && let Some(action) = self.show()
        {
            return Some(action);
        }
        self.tell().map(Action::Tell)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let tcp = &self.socket.tcp;
        let (totals, truth) = (&tcp.totals, self.truth.totals());
        probe.value("sent_packets", totals.packets as f64);
        probe.value("sent_bytes", totals.bytes as f64);
        probe.value("retransmitted_packets", totals.resent_packets as f64);
        probe.value("retransmitted_bytes", totals.resent_bytes as f64);
        probe.value("acked_bytes", totals.acked_bytes as f64);
        probe.value("timeouts", totals.timeouts as f64);
        probe.value("spurious_timeouts", truth.spurious_timeouts as f64);
        probe.value("ack_loss_timeouts", truth.ack_loss_timeouts as f64);
        probe.value("spurious_fast_retransmits", truth.spurious_fast_retransmits as f64);
        probe.value("fast_retransmits", totals.recoveries as f64);
        probe.value("loss_probes", totals.loss_probes as f64);
        probe.value("window_cuts", totals.cuts as f64);
        probe.value("undone_cuts", totals.undone as f64);
        probe.value("cwnd_packets", tcp.snd_cwnd as f64);
        if tcp.snd_ssthresh < u64::MAX {
            probe.value("ssthresh_packets", tcp.snd_ssthresh as f64);
        }
        probe.value("in_flight_packets", tcp.in_flight() as f64);
        if let Some(srtt) = tcp.srtt() {
            probe.value("srtt_ms", srtt.as_secs_f64() * 1e3);
        }
        let rto = Duration::from_micros(clock::ticks_us(tcp.rtt.rto.min(rtt::RTO_MAX)));
        probe.value("rto_ms", rto.as_secs_f64() * 1e3);
        probe.distribution("rtt_ms", 1e-6, &self.rtt);
        self.socket.control.sample(probe);
    }
}

/// How long after the connection is open its application has been woken and has written. In the reference's captures the first segment leaves 118 to
/// 429 µs after the acknowledgement of the SYN+ACK, 205 in the median of sixteen.
const FIRST_WRITE: Duration = Duration::from_micros(200);

/// `tcp_syn_linear_timeouts`: for the first four timeouts the SYN is sent again after the same time.
const SYN_LINEAR_TIMEOUTS: u32 = 4;

/// What a source that never ends has written: far from the end of 64 bits.
const ENDLESS: u64 = u64::MAX / 4;
