//! Offload: a host's kernel leaves the cutting of TCP into segments to its device, and takes segments joined, each time with a header of virtio
//! in front. What it hands over whole is cut here, before the network sees it: there each segment is a packet of its own, is queued, delayed and
//! dropped alone. Segments for a host that are due in one write are joined again.
//!
//! This spares system calls and passes through the kernel, and changes nothing in the network. Begin with [`mod@cut`], then [`mod@join`].

pub mod cut;
pub mod join;

mod checksum;
mod virtio;

pub use cut::cut;
pub use join::join;

use std::io::{self, IoSlice};

use crate::bridge::Delivery;
use crate::device::{LONGEST_PACKET, Packets, Written};

/// What stands between a device with headers of virtio and the loop.
#[derive(Debug)]
pub struct Offload {
    mtu: usize,
    /// The frame that is cut.
    frame: Vec<u8>,
    /// Headers of the frame that is written.
    head: Vec<u8>,
}

impl Offload {
    /// For a device with this MTU.
    pub fn new(mtu: u32) -> Self {
        Self { mtu: mtu as usize, frame: vec![0; virtio::LENGTH + LONGEST_PACKET], head: Vec::new() }
    }

    /// Reads a frame by `read`, and gives its packets. A frame that contradicts itself is a packet without bytes, which is for no host.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read(
        &mut self,
        packets: &mut Packets,
        read: impl FnOnce(&mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<bool> {
        packets.clear();
        let Some(length) = read(&mut self.frame)? else { return Ok(false) };
        if cut(&self.frame[..length], self.mtu, packets).is_none() {
            packets.clear();
            packets.add(0);
        }
        Ok(true)
    }

    /// Writes the first of `packets` by `write`, joined with those behind it that it can be joined with.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn write(
        &mut self,
        packets: &[Delivery],
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<bool>,
    ) -> io::Result<Written> {
        let (count, headers) = join(packets.iter().map(|delivery| &*delivery.bytes), &mut self.head);
        let mut parts = Vec::with_capacity(1 + count);
        parts.push(IoSlice::new(&self.head));
        parts.extend(packets[..count].iter().map(|delivery| IoSlice::new(&delivery.bytes[headers..])));
        Ok(Written { packets: count, taken: write(&parts)? })
    }
}

/// Offsets in a TCP header (RFC 9293 §3.1), and flags there.
mod tcp {
    pub const SEQ: usize = 4;
    pub const FLAGS: usize = 13;
    pub const CHECKSUM: usize = 16;
    pub const FIN: u8 = 0x01;
    pub const SYN: u8 = 0x02;
    pub const RST: u8 = 0x04;
    pub const PSH: u8 = 0x08;
    pub const ACK: u8 = 0x10;
    pub const URG: u8 = 0x20;
    pub const CWR: u8 = 0x80;
}

/// Where the parts of a TCP segment lie in its packet.
#[derive(Clone, Copy)]
struct Layout {
    is_v4: bool,
    /// The TCP header.
    tcp: usize,
    /// The payload.
    payload: usize,
}

impl Layout {
    /// Of a whole packet that ends with its payload; `None` of anything else.
    fn of(packet: &[u8]) -> Option<Self> {
        let ip = etherparse::IpSlice::from_slice(packet).ok()?;
        let body = ip.payload();
        if body.ip_number != etherparse::IpNumber::TCP || body.fragmented {
            return None;
        }
        let is_v4 = ip.ipv4().is_some();
        let segment = etherparse::TcpSlice::from_slice(body.payload).ok()?;
        let tcp = packet.len() - body.payload.len();
        let layout = Self { is_v4, tcp, payload: tcp + segment.header_slice().len() };
        (layout.length(packet) == packet.len()).then_some(layout)
    }

    /// The length of the packet that its IP header says.
    fn length(self, packet: &[u8]) -> usize {
        if self.is_v4 { word(packet, 2).into() } else { 40 + usize::from(word(packet, 4)) }
    }

    /// Writes the length of the packet into its IP header, and the identification with the checksum that it has in IPv4.
    fn write_length(self, packet: &mut [u8], length: usize, identification: u16) {
        if !self.is_v4 {
            put(packet, 4, (length - 40) as u16);
            return;
        }
        put(packet, 2, length as u16);
        put(packet, 4, identification);
        put(packet, 10, 0);
        let header = 4 * usize::from(packet[0] & 0x0f);
        let sum = checksum::of(&packet[..header], 0);
        put(packet, 10, sum);
    }

    /// The sum of the pseudo-header (RFC 9293 §3.1, RFC 8200 §8.1) of a segment with `length` bytes of header and payload.
    fn pseudo_header(self, packet: &[u8], length: usize) -> u64 {
        let addresses = if self.is_v4 { &packet[12..20] } else { &packet[8..40] };
        let rest = [0, 6, (length >> 8) as u8, length as u8];
        checksum::sum(addresses) + checksum::sum(&rest)
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod samples {
    //! Packets and frames for tests, made by another implementation.

    use etherparse::{IpFragOffset, IpHeaders, IpNumber, Ipv4Header, Ipv6Header, PacketBuilder, TcpHeader};

    use super::virtio;

    /// The header of a segment of data, with time stamps.
    pub fn data(seq: u32) -> TcpHeader {
        let mut tcp = TcpHeader::new(4_000, 80, seq, 500);
        (tcp.ack, tcp.acknowledgment_number) = (true, 99);
        tcp.set_options_raw(&[1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6]).unwrap();
        tcp
    }

    /// A packet with this header and payload; `id` is the identification in IPv4.
    pub fn packet(is_v4: bool, id: u16, tcp: &TcpHeader, payload: &[u8]) -> Vec<u8> {
        let ip = if is_v4 {
            let mut ip = Ipv4Header::new(0, 64, IpNumber::TCP, [10, 77, 0, 1], [10, 77, 0, 2]).unwrap();
            (ip.identification, ip.dont_fragment, ip.fragment_offset) = (id, true, IpFragOffset::ZERO);
            ip.ecn = etherparse::IpEcn::Ect0;
            IpHeaders::Ipv4(ip, Default::default())
        } else {
            let [mut source, mut destination] = [[0xfd; 16]; 2];
            (source[15], destination[15]) = (1, 2);
            let label = 0x1_2345.try_into().unwrap();
            let ip = Ipv6Header {
                traffic_class: 0b10,
                flow_label: label,
                hop_limit: 64,
                source,
                destination,
                ..Default::default()
            };
            IpHeaders::Ipv6(ip, Default::default())
        };
        let mut packet = Vec::new();
        PacketBuilder::ip(ip).tcp_header(tcp.clone()).write(&mut packet, payload).unwrap();
        packet
    }

    /// A packet as the kernel hands it over to be cut into segments of `size`.
    pub fn frame(is_v4: bool, size: u16, packet: &[u8]) -> Vec<u8> {
        let at = if is_v4 { 20 } else { 40 };
        let header = virtio::Header {
            flags: virtio::NEEDS_CSUM,
            gso_type: if is_v4 { virtio::GSO_TCPV4 } else { virtio::GSO_TCPV6 },
            hdr_len: (at + 32) as u16,
            gso_size: size,
            csum_start: at as u16,
            csum_offset: 16,
        };
        [&header.bytes()[..], packet].concat()
    }

    /// Bytes that differ from each other.
    pub fn bytes(length: usize) -> Vec<u8> {
        (0..length as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }
}
