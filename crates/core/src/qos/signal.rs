//! How signalling messages are written: real packets, small, in the class of network control.

use crate::engine::BitRate;
use crate::net::{Address, Ecn, FlowId, Header, NodeId, Packet, SignalHeader, Socket};

use super::dscp::Dscp;

/// Bytes of a signalling message on the wire, headers included: an RSVP message with a sender template and a
/// flow specification (RFC 2205 §3.1, RFC 2210 §3.1) over IPv4 takes about this.
pub const MESSAGE_BYTES: u32 = 100;

/// Writes a message from `from` to the port `to_port` of a node. It belongs to no flow, so that no queue takes
/// it for data.
pub fn write(packet: &mut Packet, from: Socket, to: Socket, number: u64, header: SignalHeader) {
    *packet = Packet {
        from,
        to: Address::Node(to.node),
        to_port: to.port,
        // Network control (RFC 4594 §3.1).
        dscp: Dscp::Cs6.value(),
        ecn: Ecn::NotEct,
        size: MESSAGE_BYTES,
        flow: FlowId::NONE,
        connection: 0,
        number,
        header: Header::Signal(header),
    };
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
