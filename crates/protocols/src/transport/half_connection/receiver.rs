//! The receiving end of a half-connection.

use lasthop_net::engine::Instant;
use lasthop_net::net::{Action, Endpoint, EndpointContext, LinkNotice, Notice, Packet, Port, Probe, Timed};

use super::address::address;

/// What notes the packets that come, and answers.
pub trait Receiving: Timed {
    /// A data packet has come. Gives the payload bytes of the connection up to it, a truth that its
    /// header carries; `None` if it is none.
    fn on_data(&mut self, now: Instant, packet: &Packet) -> Option<u64>;

    /// A link of the node has changed.
    fn on_link(&mut self, _notice: &LinkNotice) {}

    /// The node begins or ceases to listen to the group.
    fn on_membership(&mut self, _joins: bool) {}

    /// Writes size, ECN field and header of an answer that is due. `end` is the greatest number of
    /// payload bytes that came. Says whether one is.
    fn take(&mut self, now: Instant, end: u64, packet: &mut Packet) -> bool;

    /// Forgets the connection; totals stay.
    fn reset(&mut self);

    /// Its state and totals.
    fn sample(&self, probe: &mut dyn Probe);
}

/// The receiving end, around the machine `R`.
pub struct Receiver<R> {
    machine: R,
    seat: EndpointContext,
    connection: u32,
    number: u64,
    /// Payload bytes of the connection up to the highest packet received.
    end: u64,
    tell: bool,
    /// Packets of earlier connections.
    old: u64,
}

impl<R: Receiving> Receiver<R> {
    /// `machine` at `seat`.
    pub fn new(machine: R, seat: EndpointContext) -> Self {
        Self { machine, seat, connection: 0, number: 0, end: 0, tell: false, old: 0 }
    }
}

impl<R: Receiving> Timed for Receiver<R> {
    fn on_timeout(&mut self, now: Instant) {
        self.machine.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.machine.next_timeout()
    }
}

impl<R: Receiving> Endpoint for Receiver<R> {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        if packet.connection != self.connection {
            if packet.connection < self.connection {
                self.old += 1;
                return;
            }
            self.connection = packet.connection;
            self.end = 0;
            self.machine.reset();
        }
        let Some(end) = self.machine.on_data(now, packet) else { return };
        if end > self.end {
            self.end = end;
            self.tell = self.seat.hears.received;
        }
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        match notice {
            Notice::Link(notice) => self.machine.on_link(&notice),
            Notice::Membership(change) => self.machine.on_membership(change.joins),
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if self.machine.take(now, self.end, packet) {
            self.number += 1;
            address(packet, &self.seat, self.connection, self.number);
            return Some(Action::Send);
        }
        std::mem::take(&mut self.tell).then_some(Action::Tell(Notice::Received(self.end)))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.machine.sample(probe);
        probe.value("old_connection_packets", self.old as f64);
    }
}
