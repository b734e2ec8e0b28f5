//! The sending end of a flow that asks for a class: it tells its own node, waits for the answer, and
//! gives the class back when everything has been sent.

use std::collections::VecDeque;

use crate::engine::{Duration, Instant};
use crate::net::{Action, Endpoint, NodeId, Notice, Packet, Port, Probe, Seat, Signal, SignalHeader, Socket, Timed};
use crate::qos::intserv::OnReject;
use crate::qos::signal;

use super::Config;
use super::agent::{PORT, RETRY, flag};

/// The sending end.
pub struct Sender {
    inner: Box<dyn Endpoint>,
    seat: Seat,
    /// What is asked.
    request: SignalHeader,
    on_reject: OnReject,
    messages: VecDeque<SignalHeader>,
    state: State,
    /// When the request is repeated.
    retry_at: Option<Instant>,
    asked_at: Instant,
    setup: Option<Duration>,
    closing: bool,
    sent: u64,
    /// Packets that went without having been admitted, and that did not go for that.
    unreserved: u64,
    blocked: u64,
    refusals: u64,
}

/// How far the flow has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was to be sent yet, or nothing is any more.
    Idle,
    Asking,
    Admitted,
    Refused,
}

impl Sender {
    /// A sender before `inner`.
    pub fn new(inner: Box<dyn Endpoint>, seat: Seat, config: &Config, broker: Option<NodeId>) -> Self {
        let receiver = signal::node(seat.remote).map_or(seat.local, |node| Socket { node, port: seat.remote_port });
        let request = SignalHeader {
            kind: Signal::Request,
            dscp: config.class.class().dscp(),
            flags: if broker.is_none() { flag::OWN_BROKER } else { 0 },
            flow: seat.flow,
            sender: seat.local,
            receiver,
            node: broker.unwrap_or_default(),
            bucket: config.burst.get() as u32,
            rate: config.rate,
            ..SignalHeader::default()
        };
        Self {
            inner,
            seat,
            request,
            on_reject: config.on_reject,
            messages: VecDeque::new(),
            state: State::Idle,
            retry_at: None,
            asked_at: Instant::ZERO,
            setup: None,
            closing: false,
            sent: 0,
            unreserved: 0,
            blocked: 0,
            refusals: 0,
        }
    }

    fn ask(&mut self, now: Instant) {
        self.messages.push_back(self.request);
        self.retry_at = Some(now + RETRY);
    }

    fn give_back(&mut self) {
        self.messages.push_back(SignalHeader { kind: Signal::Release, ..self.request });
        self.retry_at = None;
    }

    fn on_signal(&mut self, now: Instant, header: &SignalHeader) {
        if self.state == State::Idle {
            return; // an answer to what was given back
        }
        self.retry_at = None;
        match header.kind {
            Signal::Grant => {
                self.state = State::Admitted;
                self.setup.get_or_insert(now.since(self.asked_at));
            }
            Signal::Refuse => {
                self.refusals += 1;
                self.state = State::Refused;
                if self.on_reject == OnReject::Block {
                    // It will not send again, so the edges that admitted it may forget it.
                    self.give_back();
                }
            }
            _ => {}
        }
    }

    /// Whether edges may know the flow.
    fn holds_something(&self) -> bool {
        match self.state {
            State::Idle => false,
            State::Asking | State::Admitted => true,
            State::Refused => self.on_reject == OnReject::BestEffort,
        }
    }

    /// Whether the flow may send a packet now.
    fn may_send(&mut self) -> bool {
        if self.state == State::Admitted {
            return true;
        }
        let sends = self.on_reject == OnReject::BestEffort;
        self.unreserved += u64::from(sends);
        self.blocked += u64::from(!sends);
        sends
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        if self.inner.next_timeout().is_some_and(|at| at <= now) {
            self.inner.on_timeout(now);
        }
        if self.retry_at.is_some_and(|at| at <= now) {
            self.ask(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        [self.inner.next_timeout(), self.retry_at].into_iter().flatten().min()
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        match packet.signal() {
            Some(header) => self.on_signal(now, header),
            None => self.inner.on_packet(now, packet, via),
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Open | Notice::Write(_) => {
                self.closing = false;
                if self.state == State::Idle {
                    self.state = State::Asking;
                    self.asked_at = now;
                    self.ask(now);
                }
            }
            Notice::Close => self.closing = true,
            _ => {}
        }
        self.inner.on_notice(now, notice);
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        loop {
            if let Some(header) = self.messages.pop_front() {
                self.sent += 1;
                let to = Socket { node: self.seat.local.node, port: PORT };
                signal::write(packet, self.seat.local, to, self.sent, header);
                return Some(Action::Send);
            }
            match self.inner.poll(now, packet) {
                Some(Action::Send) if !self.may_send() => {}
                Some(action) => return Some(action),
                // Closed, nothing to say and nothing to wait for: all is done.
                None if self.closing && self.holds_something() && self.inner.next_timeout().is_none() => {
                    self.state = State::Idle;
                    self.give_back();
                }
                None => return None,
            }
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.inner.sample(probe);
        probe.value("admitted", f64::from(u8::from(self.state == State::Admitted)));
        if let Some(setup) = self.setup {
            probe.value("setup_ms", setup.as_secs_f64() * 1e3);
        }
        probe.value("refusals", self.refusals as f64);
        probe.value("unreserved_packets", self.unreserved as f64);
        probe.value("blocked_packets", self.blocked as f64);
        probe.value("state_bytes", size_of::<Self>() as f64);
    }
}
