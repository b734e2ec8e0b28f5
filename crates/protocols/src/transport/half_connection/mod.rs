//! A half-connection (RFC 4340 §3.2): data one way, answers the other, and nothing sent again. Here
//! is what its protocols have in common: connections, what the source hears, the frame of each
//! packet. TFRC and DCCP's congestion controls put their machines inside.

pub mod backlog;
pub mod outbox;
pub mod receiver;
pub mod sender;

pub use outbox::Outbox;
pub use receiver::{Receiver, Receiving};
pub use sender::{Sender, Sending};

use lasthop_net::net::{Packet, Seat};

/// Writes the fields of a packet from `seat` that are the same for all protocols.
#[inline]
fn address(packet: &mut Packet, seat: &Seat, connection: u32, number: u64) {
    packet.from = seat.local;
    packet.to = seat.remote;
    packet.to_port = seat.remote_port;
    packet.dscp = 0;
    packet.flow = seat.flow;
    packet.connection = connection;
    packet.number = number;
}
