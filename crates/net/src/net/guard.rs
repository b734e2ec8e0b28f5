//! A guard before an endpoint of a flow: it asks, polices or marks for it, and the protocol behind it does not know.

use std::collections::VecDeque;

use crate::engine::{FloatTime, Instant};
use crate::net::{Action, Endpoint, Notice, Packet, Port, Probe, SignalHeader, Timed};

/// Stands before an endpoint. Its timer is its own.
pub trait Guard: Timed {
    /// A message has come to the flow's port. The endpoint does not see it.
    fn on_signal(&mut self, _now: Instant, _header: &SignalHeader) {}
    /// Any other packet has come, and goes on to the endpoint.
    fn on_packet(&mut self, _now: Instant, _packet: &Packet) {}
    /// This is said to the endpoint.
    fn on_notice(&mut self, _now: Instant, _notice: &Notice) {}
    /// What it wants done itself, before anything that the endpoint wants.
    fn poll(&mut self, _packet: &mut Packet) -> Option<Action> {
        None
    }
    /// Whether the packet that the endpoint has written may go. It may be changed.
    fn lets_pass(&mut self, _now: Instant, _packet: &mut Packet) -> bool {
        true
    }
    /// The endpoint wants nothing done at present. What follows from that is polled.
    fn on_rest(&mut self, _endpoint: &dyn Endpoint) {}
    /// Its present state and totals, behind those of the endpoint.
    fn sample(&self, _probe: &mut dyn Probe) {}
}

/// An endpoint and its guard.
pub struct Guarded<G> {
    guard: G,
    endpoint: Box<dyn Endpoint>,
    /// Notices for the source of packets that were held back and that no protocol sends again.
    lost: VecDeque<Notice>,
}

impl<G: Guard> Guarded<G> {
    /// Puts `guard` before `endpoint`.
    pub fn new(guard: G, endpoint: Box<dyn Endpoint>) -> Self {
        Self { guard, endpoint, lost: VecDeque::new() }
    }
}

impl<G: Guard> Timed for Guarded<G> {
    fn on_timeout(&mut self, now: Instant) {
        if self.endpoint.next_timeout().is_some_and(|at| at <= now) {
            self.endpoint.on_timeout(now);
        }
        if self.guard.next_timeout().is_some_and(|at| at <= now) {
            self.guard.on_timeout(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let (guard, endpoint) = (self.guard.next_timeout(), self.endpoint.next_timeout());
        guard.zip(endpoint).map(|(guard, endpoint)| guard.min(endpoint)).or(guard).or(endpoint)
    }

    fn set_float(&mut self, now: FloatTime) {
        self.endpoint.set_float(now);
    }

    fn next_float(&self) -> Option<FloatTime> {
        // Only the endpoint keeps ns-2's clock.
        let at = self.endpoint.next_timeout()?;
        self.endpoint.next_float().filter(|_| self.guard.next_timeout().is_none_or(|guard| at <= guard))
    }
}

impl<G: Guard> Endpoint for Guarded<G> {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        if let Some(header) = packet.signal() {
            return self.guard.on_signal(now, header);
        }
        self.guard.on_packet(now, packet);
        self.endpoint.on_packet(now, packet, via);
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        self.guard.on_notice(now, &notice);
        self.endpoint.on_notice(now, notice);
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        loop {
            if let Some(action) = self.guard.poll(packet) {
                return Some(action);
            }
            match self.endpoint.poll(now, packet) {
                Some(Action::Send | Action::SendToward(_)) if !self.guard.lets_pass(now, packet) => {
                    let unrepaired = packet.header.unrepaired();
                    self.lost.extend(unrepaired.map(|(payload, end)| Notice::Lost { payload, end }));
                }
                Some(action) => return Some(action),
                // After what the endpoint says of having sent them.
                None if !self.lost.is_empty() => return self.lost.pop_front().map(Action::Tell),
                None => {
                    self.guard.on_rest(&*self.endpoint);
                    return self.guard.poll(packet);
                }
            }
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.endpoint.sample(probe);
        self.guard.sample(probe);
    }
}
