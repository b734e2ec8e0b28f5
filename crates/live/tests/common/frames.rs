//! Packets as a kernel hands them over to a device that cuts TCP.

use etherparse::PacketBuilder;

/// The header of virtio of a packet of TCP over IPv4 to be cut into segments of `size`: linux/virtio_net.h.
pub fn virtio(size: u16) -> [u8; 10] {
    let [[a, b], [c, d], [e, f], [g, h]] = [40, size, 20, 16].map(u16::to_ne_bytes);
    [1, 1, a, b, c, d, e, f, g, h]
}

/// A packet of 10.77.0.1 for 10.77.0.2 that begins with this sequence number.
pub fn uncut(seq: u32, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64)
        .tcp(4_000, 80, seq, 500)
        .ack(1)
        .psh()
        .write(&mut packet, payload)
        .unwrap();
    packet
}
