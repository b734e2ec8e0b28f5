//! A machine that sends packets of given sizes at given instants, and receives packets.

use std::collections::VecDeque;

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::net::packet::{Address, Packet};
use lasthop_core::net::{Action, Endpoint, EndpointContext, NodeId, Notice, Port, Probe, Timed};

/// The port of scripts at their nodes.
pub const PORT: u16 = 1;

/// A packet to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Send {
    /// When.
    pub at: Instant,
    /// Its number.
    pub number: u64,
    /// Its size in bytes.
    pub size: u32,
}

/// The machine.
pub struct Script {
    seat: EndpointContext,
    to: NodeId,
    /// The packets still to be sent.
    sends: VecDeque<Send>,
    /// Whether the instant before that of the next packet has come.
    ready: bool,
}

impl Script {
    /// It sends these packets, in order, to the script at `to`.
    pub fn new(seat: EndpointContext, to: NodeId, sends: Vec<Send>) -> Self {
        Self { seat, to, sends: sends.into(), ready: false }
    }
}

impl Timed for Script {
    fn on_timeout(&mut self, now: Instant) {
        self.ready = self.sends.front().is_some_and(|send| send.at > now) || self.ready;
    }

    /// It wakes a moment before it sends: what else happens at that instant has an earlier cause, as it
    /// has where a packet comes over a link.
    fn next_timeout(&self) -> Option<Instant> {
        let at = self.sends.front()?.at;
        let moment = Duration::from_nanos(u64::from(!self.ready));
        Some(Instant::from_nanos(at.as_nanos() - moment.as_nanos()))
    }
}

impl Endpoint for Script {
    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _via: Port) {}

    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        let send = *self.sends.front().filter(|send| send.at <= now)?;
        self.sends.pop_front();
        // Others of the same instant follow at once.
        self.ready = self.sends.front().is_some_and(|next| next.at == now);
        *packet = Packet {
            from: self.seat.local,
            to: Address::Node(self.to),
            to_port: PORT,
            size: send.size,
            number: send.number,
            ..Packet::vacant()
        };
        Some(Action::Send)
    }

    fn sample(&self, _probe: &mut dyn Probe) {}
}
