//! What the headers of all packets of a half-connection have in common.

use lasthop_net::net::{EndpointContext, Packet};

/// Writes the fields of a packet from `seat` that are the same for all protocols.
#[inline]
pub fn address(packet: &mut Packet, seat: &EndpointContext, connection: u32, number: u64) {
    packet.from = seat.local;
    packet.to = seat.remote;
    packet.to_port = seat.remote_port;
    packet.dscp = 0;
    packet.flow = seat.flow;
    packet.connection = connection;
    packet.number = number;
}
