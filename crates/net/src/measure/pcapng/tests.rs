//! Headers as they are written, byte by byte.

use pcap_file::pcapng::PcapNgReader;
use pcap_file::pcapng::blocks::block_common::Block;

use super::*;
use crate::engine::Duration;

const ENDS: [NodeId; 2] = [NodeId(0), NodeId(1)];

/// A packet of connection `connection` that node `from` sends after some milliseconds.
fn packet(from: u32, connection: u32, at: u64, header: TcpHeader) -> Packet {
    let mut packet = Packet { flow: FlowId(0), connection, to: Address::Node(NodeId(1 - from)), ..Packet::vacant() };
    packet.from.node = NodeId(from);
    let (ts_val, flags) = (Instant::ZERO + Duration::from_millis(at), header.flags.with(TcpFlags::TIMESTAMPS));
    packet.header = Header::Tcp(TcpHeader { ts_val, flags, ..header });
    packet
}

/// The TCP headers of a capture of packets that are received after some milliseconds, each twice: sent, and received.
fn written(packets: &[(u64, Packet)]) -> Vec<WireTcp> {
    let flow = TcpFlow { segment: 1000, window: 65_535, sack: true, numbering: Numbering::Bytes };
    let nodes = ENDS.map(|node| (node, format!("n{}", node.0)));
    let mut capture = Capture::new(Vec::new(), &nodes, vec![Some(flow)]).unwrap();
    let mut seen = Vec::new();
    for (received, packet) in packets {
        let Header::Tcp(header) = &packet.header else { panic!("all are TCP's") };
        let to = NodeId(1 - packet.from.node.0);
        seen.push((header.ts_val, packet.from.node, packet, Direction::Outbound));
        seen.push((Instant::ZERO + Duration::from_millis(*received), to, packet, Direction::Inbound));
    }
    seen.sort_by_key(|(at, ..)| *at);
    for (at, node, packet, direction) in seen {
        capture.record(at, node, packet, direction);
    }
    let file = capture.finish().unwrap();
    let mut reader = PcapNgReader::new(&file[..]).unwrap();
    let mut headers = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap().0 {
            headers.push(WireTcp::from_slice(&packet.data[34..]).unwrap().0);
        }
    }
    headers
}

/// The value and the echo of the time-stamp option.
fn stamps(tcp: &WireTcp) -> (u32, u32) {
    let option = tcp.options_iterator().filter_map(Result::ok).find_map(|option| match option {
        TcpOptionElement::Timestamp(value, echo) => Some((value, echo)),
        _ => None,
    });
    option.expect("all carry it")
}

#[test]
fn data_echo_the_last_time_stamp_that_had_come_when_they_were_sent() {
    let (ack, data) = (TcpFlags::ACK, TcpHeader { payload: 1000, flags: TcpFlags::ACK, ..TcpHeader::default() });
    let echo = |ms| Instant::ZERO + Duration::from_millis(ms);
    let headers = written(&[
        (60, packet(1, 0, 10, TcpHeader { flags: ack, ts_echo: echo(1), ..TcpHeader::default() })),
        (110, packet(0, 0, 60, data)),
        (140, packet(0, 0, 90, data)),
        (95, packet(1, 0, 45, TcpHeader { flags: ack, ts_echo: echo(2), ..TcpHeader::default() })),
        (150, packet(0, 0, 100, data)),
    ]);
    let mut pairs: Vec<_> = headers.iter().map(stamps).collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs, [(10, 1), (45, 2), (60, 10), (90, 10), (100, 45)], "sent and received alike");
}

#[test]
fn a_syn_announces_the_payload_and_its_options_and_another_connection_begins_elsewhere() {
    for connection in [0, 3] {
        let syn = TcpHeader { flags: TcpFlags::SYN, ..TcpHeader::default() };
        let headers = written(&[(50, packet(0, connection, 0, syn))]);
        let mss = headers[0].options_iterator().filter_map(Result::ok).find_map(|option| match option {
            TcpOptionElement::MaximumSegmentSize(bytes) => Some(bytes),
            _ => None,
        });
        assert_eq!((mss, headers[0].sequence_number), (Some(1012), connection << 24));
    }
}

#[test]
fn a_push_of_the_sender_is_kept() {
    let data = |flags| packet(0, 0, 0, TcpHeader { payload: 1000, flags, ..TcpHeader::default() });
    let pushed = |flags| written(&[(50, data(flags))])[0].psh;
    assert!(pushed(TcpFlags::ACK.with(TcpFlags::PUSH)) && !pushed(TcpFlags::ACK));
}
