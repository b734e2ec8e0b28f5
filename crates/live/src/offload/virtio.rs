//! The header in front of each packet of a device with `IFF_VNET_HDR`: `struct virtio_net_hdr` of linux/virtio_net.h, its numbers in the byte
//! order of the machine (virtio 1.2 §5.1.6 has the fields).

/// Its length in bytes.
pub const LENGTH: usize = 10;

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the checksum is to be computed from `csum_start` on, and the field has the sum of the pseudo-header.
pub const NEEDS_CSUM: u8 = 1;

/// `VIRTIO_NET_HDR_GSO_*`.
pub const GSO_NONE: u8 = 0;
pub const GSO_TCPV4: u8 = 1;
pub const GSO_TCPV6: u8 = 4;
/// A bit beside the type: the first segment has CWR.
pub const GSO_ECN: u8 = 0x80;

/// The header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub flags: u8,
    pub gso_type: u8,
    /// How much of the packet is header: a hint.
    pub hdr_len: u16,
    /// Payload of a segment.
    pub gso_size: u16,
    /// Where the checksum begins to count.
    pub csum_start: u16,
    /// Where it stands, from there.
    pub csum_offset: u16,
}

impl Header {
    /// The header of a frame, and the packet behind it.
    pub fn read(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (&[flags, gso_type, a, b, c, d, e, f, g, h], packet) = frame.split_first_chunk::<LENGTH>()?;
        let [hdr_len, gso_size, csum_start, csum_offset] = [[a, b], [c, d], [e, f], [g, h]].map(u16::from_ne_bytes);
        Some((Self { flags, gso_type, hdr_len, gso_size, csum_start, csum_offset }, packet))
    }

    /// As it is written.
    pub fn bytes(self) -> [u8; LENGTH] {
        let numbers = [self.hdr_len, self.gso_size, self.csum_start, self.csum_offset];
        let [[a, b], [c, d], [e, f], [g, h]] = numbers.map(u16::to_ne_bytes);
        [self.flags, self.gso_type, a, b, c, d, e, f, g, h]
    }
}
