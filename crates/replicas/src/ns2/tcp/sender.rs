//! The sending end: a variant over the shared machinery, as an [`Endpoint`].

use lasthop_net::engine::{FloatTime, Instant, Stream};
use lasthop_net::net::{
    Action, Ecn, Endpoint, EndpointContext, Header, Notice, Packet, Port, Probe, TcpFlags, TcpHeader, TcpOptions, Timed,
};

use super::agent::{Ack, Out, TcpAgent};
use super::settings::Settings;

/// What a variant adds: what it does at an acknowledgement and at a timeout, and how it sends.
pub trait Variant: Send {
    /// An acknowledgement has come.
    fn on_ack(&mut self, m: &mut TcpAgent, ack: &Ack);

    /// The retransmission timer has expired.
    fn on_timeout(&mut self, m: &mut TcpAgent);

    /// The connection is forgotten.
    fn reset(&mut self) {}

    /// What the header of a packet carries that leaves now, and left the machinery at this window.
    #[inline]
    fn options(&mut self, _m: &TcpAgent, _window: i64) -> TcpOptions {
        TcpOptions::default()
    }

    /// Sends one packet.
    #[inline]
    fn output(&mut self, m: &mut TcpAgent, seq: i64) {
        m.output(seq);
    }

    /// Bytes on the wire of a packet that carries data or is a SYN.
    #[inline]
    fn wire_size(&self, settings: &Settings, seq: i64) -> u32 {
        if seq > 0 {
            settings.segment + settings.header
        } else if settings.syn {
            settings.syn_size
        } else {
            // ns-2 gives packet 0 no header.
            settings.segment
        }
    }

    /// Sends what the window allows, at most `burst` packets if that is not 0 (`send_much`).
    /// With `force` a random delay is over.
    #[inline]
    fn send_much(&mut self, m: &mut TcpAgent, force: bool, burst: u32) {
        if !force && m.delayed_until.is_some() {
            return;
        }
        if m.next == 0 {
            m.first_sent = m.float_now();
        }
        let mut sent = 0;
        while m.next <= m.highest_ack + m.usable() && m.next < m.end {
            if m.must_delay(force) {
                return;
            }
            self.output(m, m.next);
            m.next += 1;
            sent += 1;
            if sent == burst {
                break;
            }
        }
    }

    /// Limited transmit: one new packet at the first or second duplicate, if there is room.
    #[inline]
    fn send_one(&mut self, m: &mut TcpAgent) {
        if m.may_send_one() {
            self.output(m, m.next);
            m.next += 1;
        }
    }
}

/// The sending end.
pub struct Sender<V> {
    seat: EndpointContext,
    connection: u32,
    variant: V,
    m: TcpAgent,
}

impl<V: Variant> Sender<V> {
    /// A sender at `seat`.
    pub fn new(variant: V, settings: Settings, seat: EndpointContext, stream: Stream) -> Self {
        let m = TcpAgent::new(settings, &seat, stream);
        Self { seat, connection: 0, variant, m }
    }

    fn packet(&mut self, now: Instant, seq: i64, number: u64, cwr: bool, window: i64) -> Packet {
        let options = self.variant.options(&self.m, window);
        let settings = &self.m.settings;
        let is_syn = seq == 0 && self.m.has_syn();
        let mut flags = TcpFlags::NONE;
        if is_syn {
            flags = flags.with(TcpFlags::SYN);
        }
        if cwr {
            flags = flags.with(TcpFlags::CWR);
        }
        let mut ecn = Ecn::NotEct;
        if settings.ecn {
            if seq == 0 {
                flags = flags.with(TcpFlags::ECE);
            } else {
                ecn = Ecn::Ect0;
            }
        }
        let mut size = self.variant.wire_size(settings, seq);
        if settings.timestamps {
            flags = flags.with(TcpFlags::TIMESTAMPS);
            size += if seq > 0 { settings.timestamp_bytes() } else { 0 };
        }
        let header = TcpHeader {
            seq: seq as u64,
            payload: self.m.payload(seq) as u16,
            window: 0,
            flags,
            options,
            ts_val: now,
            ..TcpHeader::default()
        };
        let mut packet = self.seat.packet(self.connection, number, size, Header::Tcp(header));
        packet.ecn = ecn;
        packet
    }
}

impl<V: Variant> Timed for Sender<V> {
    fn on_timeout(&mut self, now: Instant) {
        let m = &mut self.m;
        m.now = now;
        if m.rtx_at.is_some_and(|at| at <= now) {
            m.rtx_at = None;
            m.note_timeout();
            self.variant.on_timeout(m);
        }
        if m.delayed_until.is_some_and(|at| at <= now) {
            m.delayed_until = None;
            self.variant.send_much(m, true, m.settings.max_burst);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        match (self.m.rtx_at, self.m.delayed_until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn set_float(&mut self, now: FloatTime) {
        self.m.set_clock(now);
    }

    fn next_float(&self) -> Option<FloatTime> {
        let rtx = self.m.rtx_at?;
        self.m.delayed_until.is_none_or(|delayed| rtx < delayed).then_some(self.m.rtx_float)
    }
}

impl<V: Variant> Endpoint for Sender<V> {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Tcp(header) = &packet.header else { return };
        let m = &mut self.m;
        if packet.connection != self.connection {
            m.counts.old += 1;
            return;
        }
        m.now = now;
        let ack = Ack {
            seq: header.ack as i64,
            sack: *header.sack(),
            feedback: match header.options {
                TcpOptions::Feedback(feedback) => Some(feedback.get()),
                _ => None,
            },
            ts_echo: header.ts_echo,
            ece: header.flags.has(TcpFlags::ECE),
        };
        let una = (ack.seq + 1) as u64;
        m.truth.on_ack(una, header.arrived, header.flags.has(TcpFlags::DUPLICATE));
        if ack.ece && m.settings.ecn {
            m.on_ecn_echo(&ack);
        }
        m.obey_window(header.window);
        let before = m.highest_ack;
        self.variant.on_ack(m, &ack);
        m.note_acked(before);
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        let m = &mut self.m;
        m.now = now;
        match notice {
            Notice::Write(bytes) => {
                m.write(bytes);
                self.variant.send_much(m, false, m.settings.max_burst);
            }
            Notice::Reset => {
                self.connection += 1;
                m.reset();
                self.variant.reset();
            }
            Notice::Segment(bytes) if m.end == 0 => {
                m.settings.segment = bytes.clamp(1, m.settings.largest_segment);
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        match self.m.out.pop_front() {
            Some(Out::Send { seq, number, cwr, window }) => {
                *packet = self.packet(now, seq, number, cwr, window);
                Some(Action::Send)
            }
            Some(Out::Observe(variable, value)) => Some(Action::Observe(variable, value)),
            None => self.m.tell().map(Action::Tell),
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let m = &self.m;
        let (counts, truth) = (&m.counts, m.truth.totals());
        probe.value("sent_packets", counts.sent as f64);
        probe.value("sent_bytes", counts.sent_bytes as f64);
        probe.value("retransmitted_packets", counts.resent as f64);
        probe.value("retransmitted_bytes", counts.resent_bytes as f64);
        probe.value("acked_bytes", counts.acked_bytes as f64);
        probe.value("timeouts", counts.timeouts as f64);
        probe.value("idle_timeouts", counts.idle_timeouts as f64);
        probe.value("spurious_timeouts", truth.spurious_timeouts as f64);
        probe.value("ack_loss_timeouts", truth.ack_loss_timeouts as f64);
        probe.value("fast_retransmits", counts.fast_retransmits as f64);
        probe.value("spurious_fast_retransmits", truth.spurious_fast_retransmits as f64);
        probe.value("window_cuts", counts.cuts as f64);
        probe.value("old_connection_packets", counts.old as f64);
        probe.value("cwnd_packets", m.cwnd());
        probe.value("ssthresh_packets", m.ssthresh() as f64);
        probe.value("in_flight_packets", (m.next - 1 - m.highest_ack) as f64);
        if let Some(srtt) = m.rtt.srtt() {
            probe.value("srtt_ms", srtt * 1e3);
        }
        probe.value("rto_ms", m.rtt.timeout_secs() * 1e3);
        probe.distribution("rtt_ms", 1e-6, &counts.rtt);
    }
}
