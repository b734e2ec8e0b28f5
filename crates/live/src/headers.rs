//! From the bytes of a real packet to what the network reads of it.

use std::net::IpAddr;

use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice, TcpOptionElement, TcpSlice, UdpSlice};
use lasthop_core::net::Ecn;

use crate::igmp;

/// What the network has to know of a real packet.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The source address.
    pub from: IpAddr,
    /// The destination address.
    pub to: IpAddr,
    /// The protocol behind the IP header.
    pub protocol: u8,
    /// Ports, source first; zero where there are none, as in fragments.
    pub ports: [u16; 2],
    /// The differentiated-services code point.
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// The header behind it.
    pub transport: Transport,
}

/// A transport header as it stands in the packet.
#[derive(Clone, Debug)]
pub enum Transport {
    /// TCP.
    Tcp(Segment),
    /// UDP.
    Udp,
    /// Anything else, and fragments.
    Other,
}

/// A TCP header as it stands in the packet.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Payload bytes.
    pub payload: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// FIN, SYN, RST, ACK, ECE, CWR.
    pub flags: Flags,
    /// The shift of the window-scale option.
    pub scale: Option<u8>,
    /// The blocks of the SACK option.
    pub sack: Vec<(u32, u32)>,
    /// TSval and TSecr.
    pub stamps: Option<(u32, u32)>,
}

/// The flags that the network knows, and RST.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "RFC 9293 §3.1 has their names")]
pub struct Flags {
    pub fin: bool,
    pub syn: bool,
    pub rst: bool,
    pub ack: bool,
    pub ece: bool,
    pub cwr: bool,
}

/// Reads the headers of an IP packet; `None` if there is none, or its end is missing. Whatever lies behind IP's own header is carried as it is,
/// also if it is damaged: a network that forwards does not look there.
pub fn parse(packet: &[u8]) -> Option<Parsed> {
    let base = Base::of(packet)?;
    let (protocol, body) = behind_extensions(&base);
    let (mut ports, mut transport) = ([0; 2], Transport::Other);
    match IpNumber(protocol) {
        IpNumber::TCP => {
            if let Some(tcp) = body.and_then(|body| TcpSlice::from_slice(body).ok()) {
                ports = [tcp.source_port(), tcp.destination_port()];
                transport = Transport::Tcp(segment(&tcp));
            }
        }
        IpNumber::UDP => {
            if let Some(udp) = body.and_then(|body| UdpSlice::from_slice(body).ok()) {
                ports = [udp.source_port(), udp.destination_port()];
                transport = Transport::Udp;
            }
        }
        _ => {}
    }
    let Base { from, to, dscp, ecn, .. } = base;
    let ecn = match ecn {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    };
    Some(Parsed { from, to, protocol, ports, dscp, ecn, transport })
}

/// The message of IGMP that a packet is: whole, in IPv4.
pub fn igmp_message(packet: &[u8]) -> Option<&[u8]> {
    let base = Base::of(packet).filter(|base| base.from.is_ipv4())?;
    let (protocol, body) = behind_extensions(&base);
    body.filter(|_| protocol == igmp::PROTOCOL)
}

/// What IP's own header says.
struct Base<'p> {
    from: IpAddr,
    to: IpAddr,
    protocol: u8,
    dscp: u8,
    ecn: u8,
    /// Whether it is a fragment of IPv4.
    is_fragment: bool,
    body: &'p [u8],
}

impl<'p> Base<'p> {
    fn of(packet: &'p [u8]) -> Option<Self> {
        if packet.first()? >> 4 == 4 {
            let ip = Ipv4HeaderSlice::from_slice(packet).ok()?;
            return Some(Self {
                from: ip.source_addr().into(),
                to: ip.destination_addr().into(),
                protocol: ip.protocol().0,
                dscp: ip.dcp().value(),
                ecn: ip.ecn().value(),
                is_fragment: ip.is_fragmenting_payload(),
                body: packet.get(ip.slice().len()..ip.total_len().into())?,
            });
        }
        let ip = Ipv6HeaderSlice::from_slice(packet).ok()?;
        let behind = &packet[ip.slice().len()..];
        // RFC 2675 §2: the length of a jumbogram stands elsewhere, and is 0 here.
        let length = Some(usize::from(ip.payload_length())).filter(|length| *length > 0).unwrap_or(behind.len());
        Some(Self {
            from: ip.source_addr().into(),
            to: ip.destination_addr().into(),
            protocol: ip.next_header().0,
            dscp: ip.dscp().value(),
            ecn: ip.ecn().value(),
            is_fragment: false,
            body: behind.get(..length)?,
        })
    }
}

/// The protocol behind the extension headers (RFC 8200 §4; RFC 4302 in IPv4 too), and what belongs to it: nothing of a fragment, which may begin
/// anywhere (§4.5), so that all fragments of a packet have the protocol that their header names.
fn behind_extensions<'p>(base: &Base<'p>) -> (u8, Option<&'p [u8]>) {
    let (mut protocol, mut body) = (base.protocol, base.body);
    if base.is_fragment {
        return (protocol, None);
    }
    loop {
        let words = usize::from(body.get(1).copied().unwrap_or_default());
        let length = match IpNumber(protocol) {
            IpNumber::AUTHENTICATION_HEADER => 4 * (words + 2),
            _ if base.from.is_ipv4() => return (protocol, Some(body)),
            IpNumber::IPV6_HEADER_HOP_BY_HOP | IpNumber::IPV6_ROUTE_HEADER | IpNumber::IPV6_DESTINATION_OPTIONS => {
                8 * (words + 1)
            }
            IpNumber::IPV6_FRAGMENTATION_HEADER => 8,
            _ => return (protocol, Some(body)),
        };
        let Some((header, rest)) = body.split_at_checked(length) else { return (protocol, None) };
        let is_fragment =
            protocol == IpNumber::IPV6_FRAGMENTATION_HEADER.0 && (header[2], header[3] & !0b110) != (0, 0);
        (protocol, body) = (header[0], rest);
        if is_fragment {
            return (protocol, None);
        }
    }
}

fn segment(tcp: &TcpSlice<'_>) -> Segment {
    let (mut scale, mut sack, mut stamps) = (None, Vec::new(), None);
    for option in tcp.options_iterator().map_while(Result::ok) {
        match option {
            TcpOptionElement::WindowScale(shift) => scale = Some(shift),
            TcpOptionElement::SelectiveAcknowledgement(first, others) => {
                sack.push(first);
                sack.extend(others.into_iter().flatten());
            }
            TcpOptionElement::Timestamp(value, echo) => stamps = Some((value, echo)),
            _ => {}
        }
    }
    Segment {
        seq: tcp.sequence_number(),
        ack: tcp.acknowledgment_number(),
        payload: tcp.payload().len() as u32,
        window: tcp.window_size(),
        flags: Flags { fin: tcp.fin(), syn: tcp.syn(), rst: tcp.rst(), ack: tcp.ack(), ece: tcp.ece(), cwr: tcp.cwr() },
        scale,
        sack,
        stamps,
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_segment_is_read_with_its_options() {
        let builder = PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64)
            .tcp(4_000, 80, 77, 500)
            .ack(99)
            .options(&[
                TcpOptionElement::Timestamp(5, 6),
                TcpOptionElement::SelectiveAcknowledgement((200, 300), [Some((400, 500)), None, None]),
            ])
            .unwrap();
        let mut packet = Vec::new();
        builder.write(&mut packet, &[0; 10]).unwrap();
        let parsed = parse(&packet).unwrap();
        assert_eq!(parsed.ports, [4_000, 80]);
        let Transport::Tcp(tcp) = parsed.transport else { panic!("{parsed:?}") };
        assert_eq!((tcp.seq, tcp.ack, tcp.payload, tcp.window), (77, 99, 10, 500));
        assert_eq!((tcp.stamps, tcp.sack), (Some((5, 6)), vec![(200, 300), (400, 500)]));
        assert!(tcp.flags.ack && !tcp.flags.syn);
    }

    /// An IPv6 packet with these bytes behind its header.
    fn v6(next: u8, body: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, body.len() as u8, next, 64];
        packet.extend([[0xfd; 16], [0xfe; 16]].concat());
        packet.extend(body);
        packet
    }

    /// RFC 8200 §4.5: a fragment begins anywhere in what is cut, and what is cut may begin with extension headers.
    #[test]
    fn fragments_are_of_the_protocol_that_their_header_names() {
        // The second one goes on with payload, which is no header of destination options, although 60 names one.
        for (offset, payload) in [([0, 1], [17, 0, 1, 4, 0, 0, 0, 0]), ([0, 8], [6, 0xff, 1, 2, 3, 4, 5, 6])] {
            let fragment = v6(44, &[&[60, 0, offset[0], offset[1], 0, 0, 0, 7], &payload[..]].concat());
            let parsed = parse(&fragment).unwrap();
            assert_eq!((parsed.protocol, parsed.ports), (60, [0, 0]), "{offset:?}");
        }
        let mut packet = Vec::new();
        PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64).udp(1, 2).write(&mut packet, &[0xff; 40]).unwrap();
        // RFC 791 §3.1: a fragment with the authentication header's protocol, and one of IGMP; neither begins with a header.
        (packet[6], packet[7]) = (0, 9);
        for protocol in [51, 2] {
            packet[9] = protocol;
            assert_eq!(parse(&packet).map(|parsed| parsed.protocol), Some(protocol));
            assert_eq!(igmp_message(&packet), None);
        }
    }

    #[test]
    fn what_is_behind_extension_headers_is_read_and_what_is_damaged_is_carried() {
        let udp = [0, 7, 0, 9, 0, 8, 0, 0];
        // Hop by hop, routing, destination options of 16 bytes, a fragment header of a whole packet (RFC 6946), authentication of 16 bytes.
        let chain = [
            &[43, 0, 1, 4, 0, 0, 0, 0][..],
            &[60, 0, 0, 0, 0, 0, 0, 0],
            &[44, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[51, 0, 0, 0, 0, 0, 0, 7],
            &[17, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9, 9],
            &udp,
        ];
        let parsed = parse(&v6(0, &chain.concat())).unwrap();
        assert_eq!((parsed.protocol, parsed.ports), (17, [7, 9]));
        // A router forwards by the header of IPv6 (RFC 8200 §4): options that end early are the receiver's to refuse.
        let parsed = parse(&v6(60, &[17, 9, 1, 4, 0, 0, 0, 0])).unwrap();
        assert_eq!((parsed.protocol, parsed.ports), (60, [0, 0]));
        let whole = v6(17, &udp);
        assert!(parse(&whole).is_some() && parse(&whole[..47]).is_none(), "a packet whose end is missing");
        // Next header 2 is not IGMP in IPv6.
        assert_eq!(igmp_message(&v6(2, &[0x16, 0, 0, 0, 239, 77, 0, 1])), None);
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), version in 4u8..7) {
            let _ = (parse(&bytes), igmp_message(&bytes));
            if let Some(byte) = bytes.first_mut() {
                *byte = version << 4 | *byte & 0x0f;
            }
            let _ = (parse(&bytes), igmp_message(&bytes));
        }
    }
}
