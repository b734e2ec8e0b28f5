//! What compression sees of a packet's headers, and how RFC 2507 §7 classes each field.
//!
//! | class | how it is sent | fields |
//! | --- | --- | --- |
//! | DEF | tells the streams apart | addresses, protocol, ports |
//! | NOCHANGE | in a full header when it changes | DSCP; ECN unless TCP is behind; ACK, SYN, FIN; TCP's data offset |
//! | DELTA | as a difference | TCP's sequence, acknowledgement, window; IPv4's identification in front of TCP |
//! | DELTA | whole, if it has changed | TCP's reserved bits (ECE, CWR) with the ECN bits; TCP's options |
//! | RANDOM | always | checksums of TCP and UDP; identification in front of others |
//! | INFERRED | never | lengths, IPv4's checksum |
//!
//! No packet has urgent data, and the P bit costs nothing, so neither is here. The identification counts the
//! packets of an endpoint, as in captures.

use lasthop_net::engine::Instant;
use lasthop_net::net::{Address, Ecn, Header, NodeId, Packet, TcpFlags, TcpHeader, TcpOptions};

/// The headers of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Headers {
    /// The packet stream to which it belongs.
    pub stream: Stream,
    /// How many bytes they have.
    pub bytes: u32,
    /// What may change within the stream.
    pub fields: Fields,
}

/// What tells packet streams apart (§4): DEF fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    from: NodeId,
    to: Address,
    protocol: Protocol,
    /// Ports, where they are compressed.
    ports: [u16; 2],
}

/// The protocol behind IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Tcp,
    Udp,
    /// RFC 2507 does not know it, as DCCP, and ICMP or fragments of real hosts: only the IPv4 header is compressed.
    Other,
}

/// What may change from packet to packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fields {
    /// Of IPv4 and TCP.
    Tcp(TcpFields),
    /// Of IPv4 and a transport other than TCP.
    Other(OtherFields),
}

/// Fields of IPv4 and TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpFields {
    pub dscp: u8,
    pub ecn: Ecn,
    pub id: u16,
    pub seq: u32,
    pub ack: u32,
    /// ACK, SYN and FIN.
    pub flags: TcpFlags,
    /// ECE and CWR, of what were the reserved bits.
    pub reserved: TcpFlags,
    /// In bytes, before scaling.
    pub window: u32,
    pub options: Options,
    /// Bytes behind the headers: INFERRED.
    pub payload: u32,
}

/// TCP's options, as far as the packet's size counts them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Bytes on the wire. The data offset follows from them.
    pub bytes: u32,
    /// TSval and TSecr, in ms (RFC 7323 §4.1).
    stamps: [u32; 2],
    others: TcpOptions,
}

/// The fields of IPv4 in front of UDP and others that do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherFields {
    dscp: u8,
    ecn: Ecn,
    /// Bytes of RANDOM fields: the identification, and UDP's checksum.
    pub random: u32,
}

impl Headers {
    /// Those of a packet; `None` if its size leaves no room for them.
    pub fn of(packet: &Packet) -> Option<Self> {
        let (protocol, bytes) = match &packet.header {
            Header::Tcp(header) => {
                let bytes = packet.size.checked_sub(header.payload.into())?;
                (Protocol::Tcp, Some(bytes).filter(|bytes| (IPV4 + TCP..=IPV4 + MOST_TCP).contains(bytes))?)
            }
            Header::Dccp(_) | Header::Opaque => (Protocol::Other, IPV4),
            // The others travel in datagrams.
            _ => (Protocol::Udp, IPV4 + UDP),
        };
        if packet.size < bytes {
            return None;
        }
        let ports = if protocol == Protocol::Other { [0; 2] } else { [packet.from.port, packet.to_port] };
        let stream = Stream { from: packet.from.node, to: packet.to, protocol, ports };
        let fields = match &packet.header {
            Header::Tcp(header) => Fields::Tcp(TcpFields::of(packet, header, bytes - IPV4 - TCP)),
            _ => {
                let random = if protocol == Protocol::Udp { IDENTIFICATION + CHECKSUM } else { IDENTIFICATION };
                Fields::Other(OtherFields { dscp: packet.dscp, ecn: packet.ecn, random })
            }
        };
        Some(Self { stream, bytes, fields })
    }
}

impl TcpFields {
    fn of(packet: &Packet, header: &TcpHeader, options: u32) -> Self {
        let stamps = if options > 0 && header.flags.has(TcpFlags::TIMESTAMPS) {
            [header.ts_val, header.ts_echo].map(ticks)
        } else {
            [0; 2]
        };
        let others = if options > 0 { header.options } else { TcpOptions::default() };
        Self {
            dscp: packet.dscp,
            ecn: packet.ecn,
            id: packet.number as u16,
            seq: header.seq as u32,
            ack: header.ack as u32,
            flags: header.flags.only(TcpFlags::ACK.with(TcpFlags::SYN).with(TcpFlags::FIN)),
            reserved: header.flags.only(TcpFlags::ECE.with(TcpFlags::CWR)),
            window: header.window,
            options: Options { bytes: options, stamps, others },
            payload: header.payload.into(),
        }
    }

    /// Whether TCP's checksum is the same: it covers all but fields of IPv4 that are not in the pseudo-header.
    pub fn passes_checksum(&self, sent: &Self) -> bool {
        let Self { dscp, ecn, id, .. } = *sent;
        Self { dscp, ecn, id, ..*self } == *sent
    }
}

/// Bytes of headers without options.
const IPV4: u32 = 20;
const UDP: u32 = 8;
const TCP: u32 = 20;
/// The most bytes of a TCP header (RFC 9293 §3.1).
const MOST_TCP: u32 = 60;

/// Bytes of IPv4's identification, and of a checksum.
pub const IDENTIFICATION: u32 = 2;
pub const CHECKSUM: u32 = 2;

/// Ticks of a time-stamp clock of 1 ms (RFC 7323 §4.1).
fn ticks(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}
