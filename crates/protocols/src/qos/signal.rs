//! How signalling messages are written: real packets, small, in the class of network control.

use std::collections::VecDeque;

use lasthop_net::engine::BitRate;
use lasthop_net::net::{Action, Address, EndpointContext, NodeId, Packet, SignalHeader, Socket};

/// Bytes of a signalling message on the wire, headers included: an RSVP message with a sender template and a
/// flow specification (RFC 2205 §3.1, RFC 2210 §3.1) over IPv4 takes about this.
pub const MESSAGE_BYTES: u32 = 100;

/// Writes a message.
pub fn write(packet: &mut Packet, from: Socket, to: Socket, number: u64, header: SignalHeader) {
    *packet = header.packet(from, to, number, MESSAGE_BYTES);
}

/// The messages of an end of a flow, until they are sent.
pub struct Outbox {
    here: Socket,
    waiting: VecDeque<(Socket, SignalHeader)>,
    written: u64,
    sent: u64,
}

impl Outbox {
    /// An empty one at `here`.
    pub fn new(here: Socket) -> Self {
        Self { here, waiting: VecDeque::new(), written: 0, sent: 0 }
    }

    /// A message to a port of a node.
    pub fn push(&mut self, to: Socket, header: SignalHeader) {
        self.waiting.push_back((to, header));
    }

    /// A message to a machine of the own node.
    pub fn push_here(&mut self, port: u16, header: SignalHeader) {
        self.push(Socket { port, ..self.here }, header);
    }

    /// Writes the next message.
    pub fn poll(&mut self, packet: &mut Packet) -> Option<Action> {
        let (to, header) = self.waiting.pop_front()?;
        self.written += 1;
        self.sent += u64::from(to.node != self.here.node);
        write(packet, self.here, to, self.written, header);
        Some(Action::Send)
    }

    /// How many messages have left the node.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

/// The other end of a flow; that of a flow to a group is its own.
pub fn other_end(seat: &EndpointContext) -> Socket {
    node(seat.remote).map_or(seat.local, |node| Socket { node, port: seat.remote_port })
}

/// The node of an address; `None` for a group.
pub fn node(address: Address) -> Option<NodeId> {
    match address {
        Address::Node(node) => Some(node),
        Address::Group(_) => None,
    }
}

/// The lower of two rates.
pub fn lower(a: BitRate, b: BitRate) -> BitRate {
    if b < a { b } else { a }
}
