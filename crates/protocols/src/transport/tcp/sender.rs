//! The sending end of a connection: sequence space, handshake, sending rule, timers, FIN.
//!
//! Losses are detected by [`recovery`](super::recovery), the amount in flight is set by [congestion control](crate::transport::congestion),
//! and the [`scoreboard`](super::scoreboard) keeps the state of each segment. Segments are cut once and sent again as they were cut.
//! Simplifications: options of the SYN take no bytes; one direction is closed, and TIME-WAIT is left out.
//!
//! This file has the endpoint: packets and notices in and out. The reactions are in the files of the folder, one each.

mod acknowledgement;
mod connection;
mod handshake;
mod hooks;
mod report;
mod sending;
mod timers;

use lasthop_net::engine::{Instant, Stream};
use lasthop_net::net::{
    Action, Endpoint, EndpointContext, Header, Histogram, Notice, Packet, Port, Probe, TcpFlags, TcpOptions, Timed,
};

use super::config::{Config, Handshake};
use super::ground_truth::GroundTruth;
use super::settings::Settings;
use crate::transport::path_hint::PathHint;
use connection::Connection;
use handshake::Phase;
use report::Shown;
use sending::{Choice, Control};

/// The sending end.
pub struct Sender {
    seat: EndpointContext,
    settings: Settings,
    /// Which of the flow's connections this is.
    connection: u32,
    /// The running number of transmissions over all connections.
    number: u64,
    totals: Totals,
    rtt: Histogram,
    truth: GroundTruth,
    c: Connection,
    /// How many times the receiver's path has changed, as it said last.
    path_changes: u8,
    /// The number of the packet that said so. What others say that it has overtaken is out of date.
    path_said: u64,
    /// How many segments may still leave at once ([`Settings::max_burst`]).
    burst: u32,
    /// What observers have been shown, if there are any.
    shown: Option<Box<Shown>>,
}

/// Counts over all connections.
#[derive(Default)]
struct Totals {
    packets: u64,
    bytes: u64,
    resent_packets: u64,
    resent_bytes: u64,
    acked_bytes: u64,
    timeouts: u64,
    detected_spurious: u64,
    fast_retransmits: u64,
    cuts: u64,
    undone: u64,
}

impl Sender {
    /// A sender at `seat`; `stream` is its own.
    pub fn new(config: &Config, seat: EndpointContext, stream: &Stream) -> Self {
        let mut settings = Settings::new(config);
        (settings.flow, settings.seed) = (seat.flow.0, stream.seed());
        Self::with(settings, seat)
    }

    fn with(settings: Settings, seat: EndpointContext) -> Self {
        Self {
            seat,
            connection: 0,
            number: 0,
            totals: Totals::default(),
            rtt: Histogram::default(),
            truth: GroundTruth::default(),
            c: Connection::new(&settings, 0, Instant::ZERO),
            path_changes: 0,
            path_said: 0,
            burst: settings.max_burst,
            shown: None,
            settings,
        }
    }
}

impl Sender {
    /// The path of the terminal, which one of the two ends is, is another one from now on.
    #[cold]
    fn on_path_change(&mut self, now: Instant) {
        let c = &mut self.c;
        match self.settings.path_hint {
            PathHint::Off => return,
            PathHint::Delays => {
                c.show_flight();
                c.congestion.on_path_change(now);
            }
            PathHint::Restart => c.congestion = self.settings.controller(c.so_far(now, self.connection)),
        }
        // What an undo would bring back is of the old path too.
        let anew = self.settings.path_hint == PathHint::Restart;
        c.detector.on_path_change(now, anew);
        if let Some(reversal) = &mut c.reversal {
            reversal.on_path_change(now, anew);
        }
        c.path_since = now;
        c.rto.forget();
        c.round.sample_again();
        c.recovery.on_path_change();
        c.delivery.forget_delays();
        c.refresh();
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        self.burst = self.settings.max_burst;
        if self.c.recovery_at <= now {
            self.on_recovery_timer(now);
        }
        if self.c.rto_at <= now {
            self.on_rto(now);
        }
        if self.c.persist_at <= now {
            self.on_persist(now);
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        let c = &self.c;
        let mut at = c.rto_at.min(c.persist_at).min(c.recovery_at);
        if c.paced {
            at = at.min(c.release);
        }
        (at < Instant::MAX).then_some(at)
    }
}

impl Endpoint for Sender {
    #[inline]
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Tcp(header) = &packet.header else { return };
        if packet.connection != self.connection || !header.flags.has(TcpFlags::ACK) {
            return;
        }
        self.burst = self.settings.max_burst;
        if let TcpOptions::Feedback(change) = header.options
            && let Some(explicit) = self.c.congestion.explicit()
        {
            explicit.on_feedback(change.get());
            self.c.refresh();
        }
        if header.path_changes != self.path_changes && packet.number > self.path_said {
            (self.path_changes, self.path_said) = (header.path_changes, packet.number);
            self.on_path_change(now);
        }
        if self.c.phase == Phase::Open {
            if header.flags.has(TcpFlags::SYN) && self.settings.handshake == Handshake::Full {
                // The handshake's last acknowledgement has not arrived.
                self.c.control = Some(Control::Ack);
            } else {
                self.on_ack(now, header);
            }
        } else if self.c.phase == Phase::Opening {
            self.on_opened(now, header);
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        self.burst = self.settings.max_burst;
        match notice {
            Notice::Open => self.open(),
            Notice::Write(bytes) if !self.c.closing => self.c.end = self.c.end.saturating_add(bytes),
            Notice::Close => self.c.closing = true,
            Notice::Reset => {
                self.connection += 1;
                self.truth.reset();
                self.c = Connection::new(&self.settings, self.connection, now);
            }
            Notice::Segment(bytes) if self.c.phase == Phase::Closed => {
                self.settings = self.settings.with_segment(bytes);
                self.c = Connection::new(&self.settings, self.connection, now);
            }
            Notice::Link(_) => self.on_path_change(now),
            _ => {}
        }
    }

    #[inline]
    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(control) = self.c.control.take() {
            self.send_control(now, control, packet);
            return Some(Action::Send);
        }
        if self.seat.observed
            && let Some(action) = self.show()
        {
            return Some(action);
        }
        match self.choose(now) {
            Some(Choice::New { len, fin }) => self.send_new(now, len, fin, packet),
            Some(Choice::Again(id)) => self.resend(now, id, packet),
            None => return self.tell().map(Action::Tell),
        }
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let (c, totals) = (&self.c, &self.totals);
        let smss = f64::from(self.settings.smss);
        probe.value("sent_packets", totals.packets as f64);
        probe.value("sent_bytes", totals.bytes as f64);
        probe.value("retransmitted_packets", totals.resent_packets as f64);
        probe.value("retransmitted_bytes", totals.resent_bytes as f64);
        probe.value("acked_bytes", totals.acked_bytes as f64);
        probe.value("timeouts", totals.timeouts as f64);
        let truth = self.truth.totals();
        probe.value("spurious_timeouts", truth.spurious_timeouts as f64);
        probe.value("ack_loss_timeouts", truth.ack_loss_timeouts as f64);
        probe.value("spurious_fast_retransmits", truth.spurious_fast_retransmits as f64);
        probe.value("detected_spurious_timeouts", totals.detected_spurious as f64);
        probe.value("fast_retransmits", totals.fast_retransmits as f64);
        probe.value("window_cuts", totals.cuts as f64);
        probe.value("cwnd_packets", c.window as f64 / smss);
        if let Some(ssthresh) = c.congestion.ssthresh() {
            probe.value("ssthresh_packets", ssthresh as f64 / smss);
        }
        probe.value("in_flight_packets", c.in_flight() as f64 / smss);
        if let Some(srtt) = c.rto.srtt() {
            probe.value("srtt_ms", srtt.as_secs_f64() * 1e3);
        }
        probe.value("rto_ms", c.rto.rto().as_secs_f64() * 1e3);
        probe.distribution("rtt_ms", 1e-6, &self.rtt);
        if self.settings.undo {
            probe.value("undone_cuts", totals.undone as f64);
        }
        c.recovery.sample(probe);
        c.congestion.sample(probe);
    }
}

#[cfg(test)]
mod tests;
