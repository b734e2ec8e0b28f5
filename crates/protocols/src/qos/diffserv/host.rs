//! The sending end of a flow that asks for a class: it tells its own node, waits for the answer, and
//! gives the class back when everything has been sent.

use crate::qos::rejection::Unadmitted;
use crate::qos::signal::{self, Outbox};
use lasthop_net::engine::{Duration, Instant, Stream};
use lasthop_net::net::guard::Guard;
use lasthop_net::net::{Action, Endpoint, EndpointContext, NodeId, Notice, Packet, Probe, Signal, SignalHeader, Timed};

use super::Config;
use super::agent::{PORT, RETRY, flag};

/// The sending end.
pub struct Sender {
    /// The request.
    request: SignalHeader,
    outbox: Outbox,
    stream: Stream,
    state: State,
    /// When the request is repeated, or made again after a refusal.
    retry_at: Option<Instant>,
    /// After what time it is made again.
    retry: Option<Duration>,
    /// Answers count that speak for all edges from this one on, of those on the way: all when it has asked itself, from the one that has
    /// refused, any when all have granted.
    heard_from: u32,
    asked_at: Instant,
    setup: Option<Duration>,
    closing: bool,
    unadmitted: Unadmitted,
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
    /// The guard before the sending end at `seat`.
    pub fn new(seat: EndpointContext, stream: Stream, config: &Config, broker: Option<NodeId>) -> Self {
        let request = SignalHeader {
            kind: Signal::Request,
            dscp: config.class.class().dscp(),
            flags: if broker.is_none() { flag::OWN_BROKER } else { 0 },
            flow: seat.flow,
            sender: seat.local,
            receiver: signal::other_end(&seat),
            node: broker.unwrap_or_default(),
            bucket: config.burst.get() as u32,
            rate: config.rate,
            ..SignalHeader::default()
        };
        Self {
            request,
            outbox: Outbox::new(seat.local),
            stream,
            state: State::Idle,
            retry_at: None,
            retry: config.retry(),
            heard_from: 0,
            asked_at: Instant::ZERO,
            setup: None,
            closing: false,
            unadmitted: Unadmitted::new(config.on_reject),
            refusals: 0,
        }
    }

    fn ask(&mut self, now: Instant) {
        self.outbox.push_here(PORT, self.request);
        self.retry_at = Some(now + RETRY);
        self.heard_from = 0;
    }

    fn give_back(&mut self) {
        self.outbox.push_here(PORT, SignalHeader { kind: Signal::Release, ..self.request });
        self.retry_at = None;
    }

    /// Whether edges may know the flow.
    fn holds_something(&self) -> bool {
        match self.state {
            State::Idle => false,
            State::Asking | State::Admitted => true,
            State::Refused => !self.unadmitted.is_blocked(),
        }
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        if self.retry_at.is_some_and(|at| at <= now) {
            if self.state == State::Refused {
                self.state = State::Asking;
            }
            self.ask(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.retry_at
    }
}

impl Guard for Sender {
    fn on_signal(&mut self, now: Instant, header: &SignalHeader) {
        if self.state == State::Idle {
            return; // an answer to a released request
        }
        if matches!(header.kind, Signal::Grant | Signal::Refuse) && header.number > self.heard_from {
            return; // an edge behind has asked by itself
        }
        let due = self.retry_at.take();
        match header.kind {
            Signal::Grant => {
                self.heard_from = u32::MAX;
                self.request.flags &= !flag::HANDOVER;
                self.state = State::Admitted;
                self.setup.get_or_insert(now.since(self.asked_at));
            }
            Signal::Refuse => {
                self.request.flags &= !flag::HANDOVER;
                self.refusals += 1;
                self.heard_from = header.hops.into();
                self.state = State::Refused;
                if self.unadmitted.is_blocked() {
                    // It sends nothing, so the edges that admitted it may forget it.
                    self.give_back();
                }
                self.retry_at = self.retry.map(|retry| now + retry.mul_f64(self.stream.uniform(0.5, 1.5)));
            }
            // An edge does not see the flow any more. The others do until there is an answer.
            Signal::Request if self.holds_something() => {
                self.request.flags |= flag::HANDOVER;
                self.ask(now);
            }
            _ => self.retry_at = due,
        }
    }

    fn on_notice(&mut self, now: Instant, notice: &Notice) {
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
    }

    fn poll(&mut self, packet: &mut Packet) -> Option<Action> {
        self.outbox.poll(packet)
    }

    fn lets_pass(&mut self, _now: Instant, _packet: &mut Packet) -> bool {
        self.state == State::Admitted || self.unadmitted.lets_pass()
    }

    fn on_rest(&mut self, endpoint: &dyn Endpoint) {
        // Closed, nothing to say and nothing to wait for: all is done.
        if self.closing && self.state != State::Idle && endpoint.next_timeout().is_none() {
            if self.holds_something() {
                self.give_back();
            }
            (self.state, self.retry_at) = (State::Idle, None);
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("admitted", f64::from(u8::from(self.state == State::Admitted)));
        if let Some(setup) = self.setup {
            probe.value("setup_ms", setup.as_secs_f64() * 1e3);
        }
        probe.value("refusals", self.refusals as f64);
        self.unadmitted.sample(probe);
        probe.value("state_bytes", size_of::<Self>() as f64);
    }
}
