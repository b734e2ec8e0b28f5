//! From the bytes of a real packet to what the network reads of it.

use std::net::IpAddr;

use etherparse::{IpNumber, IpSlice, TcpOptionElement, TcpSlice, UdpSlice};
use lasthop_core::net::Ecn;

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

/// Reads the headers of an IP packet; `None` if it is damaged.
pub fn parse(packet: &[u8]) -> Option<Parsed> {
    let ip = IpSlice::from_slice(packet).ok()?;
    let (dscp, ecn) = match (ip.ipv4(), ip.ipv6()) {
        (Some(ip), _) => (ip.header().dcp().value(), ip.header().ecn().value()),
        (_, Some(ip)) => (ip.header().dscp().value(), ip.header().ecn().value()),
        _ => return None,
    };
    let ecn = match ecn {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    };
    let body = ip.payload();
    let (mut ports, mut transport) = ([0; 2], Transport::Other);
    if !body.fragmented {
        match body.ip_number {
            IpNumber::TCP => {
                if let Ok(tcp) = TcpSlice::from_slice(body.payload) {
                    ports = [tcp.source_port(), tcp.destination_port()];
                    transport = Transport::Tcp(segment(&tcp));
                }
            }
            IpNumber::UDP => {
                if let Ok(udp) = UdpSlice::from_slice(body.payload) {
                    ports = [udp.source_port(), udp.destination_port()];
                    transport = Transport::Udp;
                }
            }
            _ => {}
        }
    }
    let (from, to) = (ip.source_addr(), ip.destination_addr());
    Some(Parsed { from, to, protocol: body.ip_number.0, ports, dscp, ecn, transport })
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

    proptest! {
        #[test]
        fn no_bytes_do_harm(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), version in 4u8..7) {
            let _ = parse(&bytes);
            if let Some(byte) = bytes.first_mut() {
                *byte = version << 4 | *byte & 0x0f;
            }
            let _ = parse(&bytes);
        }
    }
}
