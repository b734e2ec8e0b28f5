//! The sending end of a half-connection.

use lasthop_net::engine::{BitRate, Instant};
use lasthop_net::net::{Action, Endpoint, EndpointContext, Hears, Notice, Packet, Port, Probe, Timed, Variable};

use super::address::address;
use super::outbox::Outbox;

/// What decides when a packet leaves, and what its header says.
pub trait Sending: Timed {
    /// The backlog, and the totals sent.
    fn outbox(&mut self) -> &mut Outbox;

    /// A packet of the receiver has come. Says whether it told something.
    fn on_answer(&mut self, now: Instant, packet: &Packet) -> bool;

    /// Writes size, ECN field and header of a packet that leaves now. Says whether one does.
    fn take(&mut self, now: Instant, packet: &mut Packet) -> bool;

    /// The next variable that has changed. Polled only if there is an observer.
    fn show(&mut self) -> Option<(Variable, f64)> {
        None
    }

    /// Whether drops are reported to subscribed sources ([`Notice::Lost`]); completion then needs no timeout.
    fn losses_are_told(&self) -> bool {
        false
    }

    /// The rate at which payload may leave, if it is known.
    fn rate(&self) -> Option<BitRate> {
        None
    }

    /// The receiver has everything that will ever come: no answer is waited for.
    fn over(&mut self) {}

    /// Forgets the connection, but for the outbox; totals stay.
    fn reset(&mut self);

    /// Its state and totals, the outbox's included.
    fn sample(&self, probe: &mut dyn Probe);
}

/// The sending end, around the machine `S`.
pub struct Sender<S> {
    machine: S,
    seat: EndpointContext,
    connection: u32,
    number: u64,
    tell_sent: bool,
    tell_acked: bool,
    tell_over: bool,
    told_rate: Option<BitRate>,
    /// Packets of earlier connections.
    old: u64,
}

impl<S: Sending> Sender<S> {
    /// `machine` at `seat`.
    pub fn new(machine: S, seat: EndpointContext) -> Self {
        Self {
            machine,
            seat,
            connection: 0,
            number: 0,
            tell_sent: false,
            tell_acked: false,
            tell_over: false,
            told_rate: None,
            old: 0,
        }
    }
}

impl<S: Sending> Timed for Sender<S> {
    fn on_timeout(&mut self, now: Instant) {
        self.machine.on_timeout(now);
        if self.machine.outbox().gave_up() {
            let Hears { received, lost, .. } = self.seat.hears;
            self.tell_over = received && !(lost && self.machine.losses_are_told());
            self.tell_acked = self.seat.hears.acked;
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.machine.next_timeout()
    }
}

impl<S: Sending> Endpoint for Sender<S> {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        if packet.connection != self.connection {
            self.old += 1;
        } else if self.machine.on_answer(now, packet) {
            self.tell_acked = self.seat.hears.acked;
        }
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        match notice {
            Notice::Write(bytes) => {
                let drops = self.machine.outbox().write(bytes);
                self.tell_sent |= drops && self.seat.hears.sent;
            }
            Notice::Close => self.machine.outbox().close(),
            Notice::Over => self.machine.over(),
            Notice::Reset => {
                self.machine.outbox().reset();
                self.machine.reset();
                self.connection += 1;
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if self.seat.observed
            && let Some((variable, value)) = self.machine.show()
        {
            return Some(Action::Observe(variable, value));
        }
        if self.machine.take(now, packet) {
            self.number += 1;
            address(packet, &self.seat, self.connection, self.number);
            self.tell_sent = self.seat.hears.sent;
            return Some(Action::Send);
        }
        if self.seat.hears.rate
            && let Some(rate) = self.machine.rate()
            && self.told_rate.replace(rate) != Some(rate)
        {
            return Some(Action::Tell(Notice::Rate(rate)));
        }
        if std::mem::take(&mut self.tell_sent) {
            return Some(Action::Tell(Notice::Sent(self.machine.outbox().end())));
        }
        while let Some(lost) = self.machine.outbox().take_lost() {
            if self.seat.hears.lost {
                return Some(Action::Tell(lost));
            }
        }
        if std::mem::take(&mut self.tell_over) {
            return Some(Action::Tell(Notice::Received(self.machine.outbox().end())));
        }
        let acked = std::mem::take(&mut self.tell_acked);
        acked.then(|| Action::Tell(Notice::Acked(self.machine.outbox().acked())))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.machine.sample(probe);
        probe.value("old_connection_packets", self.old as f64);
    }
}
