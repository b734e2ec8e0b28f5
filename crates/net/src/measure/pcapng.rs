//! Writes the packets at the endpoints of chosen nodes as a pcapng file, for Wireshark, tshark and
//! tcptrace: one interface for each node, with its name, and time stamps in nanoseconds.
//!
//! Headers are real (Ethernet, IPv4, TCP, UDP or DCCP) with right checksums, and as long as their
//! options make them, whatever the scenario says of their size; payload counts, but is not stored.
//! Node n has the address 10.x.y.z with n in the lower 24 bits; ports are the simulation's plus
//! 40 000, where no dissector takes them for a known protocol.
//!
//! Profile `ns2` counts packets; here they become bytes (see [`Numbering`]).

mod dccp;
mod rtp;

use std::any::Any;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use etherparse::{
    EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader as WireTcp, TcpOptionElement, UdpHeader,
};
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::{PcapNgWriteError, PcapNgWriter};

use super::segments::OF_A_RUN;
use crate::engine::Instant;
use crate::net::{Address, FlowId, Header, NodeId, Observation, Observer, Packet, TcpFlags, TcpHeader};

/// What a capture has to know of a flow that its packets do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpFlow {
    /// Payload bytes of a full segment: the MSS option.
    pub segment: u32,
    /// The most that is advertised, in bytes: it decides the window scale, and stands for the
    /// window where a packet has none.
    pub window: u64,
    /// Whether the receiver sends SACK blocks.
    pub sack: bool,
    /// What sequence numbers count.
    pub numbering: Numbering,
}

/// What sequence numbers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// Bytes, as on the wire: the SYN is 0 and the first byte is 1.
    Bytes,
    /// Packets, all of them full, as in ns-2. `syn` says that packet 0 is a SYN; its
    /// acknowledgement, in ns-2 a bare one, is shown as a SYN of the receiver, so that tools know
    /// the options. Data carry the ACK flag, as they do in TCP. The sizes of a connection's
    /// packets say how long its segments are.
    Packets {
        /// Whether packet 0 is a SYN.
        syn: bool,
        /// The bytes of a packet that are not its segment. Packet 0 has none of them, if it carries data.
        overhead: u32,
    },
}

/// The observer that writes the file.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<io::BufWriter<W>>,
    /// The captured nodes, each an interface, sorted.
    nodes: Vec<(NodeId, u32)>,
    /// By flow; `None` is a flow over UDP.
    flows: Vec<Option<TcpFlow>>,
    /// The transmission that answered the SYN of a connection whose numbers count packets.
    answers: BTreeMap<(FlowId, u32), u64>,
    /// The payload of a full segment of such a connection: its source may have chosen another than its flow's.
    segments: BTreeMap<(FlowId, u32), u32>,
    /// The time stamps that a node received of a connection.
    stamps: BTreeMap<(FlowId, u32, NodeId), Stamps>,
    failure: Option<io::Error>,
    frame: Vec<u8>,
}

/// The growing time stamps that a node received, and when.
#[derive(Default)]
struct Stamps(VecDeque<(Instant, Instant)>);

impl Stamps {
    /// No packet is under way for longer, in ns: the maximum segment lifetime (RFC 9293 §3.4.1).
    const LIFETIME: u64 = 120_000_000_000;

    fn note(&mut self, now: Instant, stamp: Instant) {
        if self.0.back().is_none_or(|&(_, last)| ticks(last) < ticks(stamp)) {
            self.0.push_back((now, stamp));
        }
        while self.0.get(1).is_some_and(|&(at, _)| at.as_nanos() + Self::LIFETIME < now.as_nanos()) {
            self.0.pop_front();
        }
    }

    /// The last one that had come at an instant.
    fn at(&self, instant: Instant) -> Option<Instant> {
        let behind = self.0.partition_point(|&(at, _)| at <= instant);
        Some(self.0.get(behind.checked_sub(1)?)?.1)
    }
}

/// No packet of the file is longer: Ethernet, and the longest packet of IPv4. Readers that build on libpcap end at one that is.
const SNAP_LENGTH: u32 = 14 + 65_535;

/// Offset added to port numbers.
const FIRST_PORT: u16 = 40_000;

/// How much further each connection of a flow begins, so that its SYN is not the one before again.
const ISN_STEP: u32 = 1 << 24;

impl<W: Write> Capture<W> {
    /// Captures at `nodes`, each with its name; `flows` in the order of their numbers.
    ///
    /// # Errors
    /// If the head of the file cannot be written.
    pub fn new(out: W, nodes: &[(NodeId, String)], flows: Vec<Option<TcpFlow>>) -> io::Result<Self> {
        let mut writer = PcapNgWriter::new(io::BufWriter::new(out)).map_err(of_the_system)?;
        for (_, name) in nodes {
            let options = vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                InterfaceDescriptionOption::IfDescription(Cow::Borrowed(OF_A_RUN)),
                InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
            ];
            // Several interfaces in one file can only be of this kind for tcpdump and tcptrace.
            let linktype = DataLink::ETHERNET;
            let block = InterfaceDescriptionBlock { linktype, snaplen: SNAP_LENGTH, options };
            writer.write_pcapng_block(block).map_err(of_the_system)?;
        }
        let mut nodes: Vec<(NodeId, u32)> = nodes.iter().map(|(node, _)| *node).zip(0..).collect();
        nodes.sort_unstable();
        let (answers, segments, stamps, frame) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), Vec::new());
        Ok(Self { writer, nodes, flows, answers, segments, stamps, failure: None, frame })
    }

    /// Ends the file and gives back what it was written to.
    ///
    /// # Errors
    /// The first failure to write.
    pub fn finish(self) -> io::Result<W> {
        match self.failure {
            Some(failure) => Err(failure),
            None => self.writer.into_inner().into_inner().map_err(io::IntoInnerError::into_error),
        }
    }

    fn record(&mut self, now: Instant, node: NodeId, packet: &Packet, direction: Direction) {
        let Ok(place) = self.nodes.binary_search_by_key(&node, |(n, _)| *n) else { return };
        if self.failure.is_some() {
            return;
        }
        if let (Direction::Inbound, Header::Tcp(header)) = (direction, &packet.header)
            && header.flags.has(TcpFlags::TIMESTAMPS)
        {
            self.stamps.entry((packet.flow, packet.connection, node)).or_default().note(now, header.ts_val);
        }
        let length = self.build(packet);
        let block = EnhancedPacketBlock {
            interface_id: self.nodes[place].1,
            timestamp: std::time::Duration::from_nanos(now.as_nanos()),
            original_len: length,
            data: Cow::Borrowed(&self.frame),
            options: vec![EnhancedPacketOption::Flags(direction as u32)],
        };
        if let Err(error) = self.writer.write_pcapng_block(block) {
            self.failure = Some(of_the_system(error));
        }
    }

    /// Puts the headers of `packet` into `frame`, and gives its length with the payload.
    fn build(&mut self, packet: &Packet) -> u32 {
        let (source, destination) = (ip_address(Address::Node(packet.from.node)), ip_address(packet.to));
        let ports = (port(packet.from.port), port(packet.to_port));
        let mut transport = [0; dccp::MAX_BYTES];
        let (protocol, headers, payload) = match &packet.header {
            Header::Tcp(header) => {
                let (mut tcp, payload) = self.tcp(packet, header);
                (tcp.source_port, tcp.destination_port) = ports;
                let payload = payload.min(LARGEST - tcp.header_len());
                tcp.checksum = tcp
                    .calc_checksum_ipv4_raw(source, destination, &ZEROS[..payload])
                    .expect("its length was cut to fit");
                let bytes = tcp.to_bytes();
                transport[..bytes.len()].copy_from_slice(&bytes);
                (IpNumber::TCP, bytes.len(), payload)
            }
            Header::Dccp(header) => {
                let (length, payload) = dccp::write(&mut transport, header, ports, [source, destination], LARGEST);
                (IpNumber(dccp::PROTOCOL), length, payload)
            }
            Header::Rtp(header) => {
                let inner = rtp::data(packet.flow, header);
                let payload = header.payload as usize;
                let length = datagram(&mut transport, ports, [source, destination], &inner, payload);
                (IpNumber::UDP, length, payload)
            }
            Header::Rtcp(report) => {
                let inner = rtp::report(packet.flow, report);
                let length = datagram(&mut transport, ports, [source, destination], &inner, 0);
                (IpNumber::UDP, length, 0)
            }
            // TFRC and TFMCC are not protocols of their own, PGM may travel in datagrams, and signalling does.
            Header::Udp(_)
            | Header::Opaque
            | Header::Tfrc(_)
            | Header::TfrcReport(_)
            | Header::Tfmcc(_)
            | Header::TfmccReport(_)
            | Header::Pgm(_)
            | Header::Layered(_)
            | Header::Signal(_) => {
                let payload = (packet.size as usize).saturating_sub(20 + UDP_BYTES).min(LARGEST - UDP_BYTES);
                let length = datagram(&mut transport, ports, [source, destination], &[], payload);
                (IpNumber::UDP, length, payload)
            }
        };
        let length = (headers + payload) as u16;
        let mut ip = Ipv4Header::new(length, HOPS, protocol, source, destination).expect("its length was cut to fit");
        ip.dscp = IpDscp::try_new(packet.dscp & 0x3f).expect("six bits");
        ip.ecn = IpEcn::try_new(packet.ecn as u8).expect("two bits");
        ip.identification = packet.number as u16;
        ip.header_checksum = ip.calc_header_checksum();
        let (source, destination) = (mac_address(Address::Node(packet.from.node)), mac_address(packet.to));
        let ethernet = Ethernet2Header { source, destination, ether_type: EtherType::IPV4 };
        self.frame.clear();
        self.frame.extend_from_slice(&ethernet.to_bytes());
        self.frame.extend_from_slice(&ip.to_bytes());
        self.frame.extend_from_slice(&transport[..headers]);
        (self.frame.len() + payload) as u32
    }

    /// The TCP header as it is on the wire, without ports and checksum, and the bytes of payload.
    fn tcp(&mut self, packet: &Packet, header: &TcpHeader) -> (WireTcp, usize) {
        let mut flow = self.flows.get(packet.flow.0 as usize).copied().flatten().unwrap_or(UNKNOWN);
        let key = (packet.flow, packet.connection);
        if let Numbering::Packets { overhead, .. } = flow.numbering {
            let known = self.segments.get(&key).copied();
            let told =
                (header.payload > 0).then(|| packet.size.saturating_sub(if header.seq > 0 { overhead } else { 0 }));
            if let (None, Some(segment)) = (known, told) {
                self.segments.insert(key, segment);
            }
            flow.segment = known.or(told).unwrap_or(flow.segment);
        }
        let TcpFlow { segment, numbering, .. } = flow;
        let mut flags = header.flags;
        let mut payload = u32::from(header.payload);
        let [mut seq, mut ack] = [header.seq, header.ack];
        if let Numbering::Packets { syn, .. } = numbering {
            if flags.has(TcpFlags::ACK) {
                if syn && ack == 0 && *self.answers.entry(key).or_insert(packet.number) == packet.number {
                    flags = flags.with(TcpFlags::SYN);
                }
                seq = u64::from(!flags.has(TcpFlags::SYN));
                ack = flow.byte(ack.wrapping_add(1));
            } else {
                seq = flow.byte(seq);
                ack = 1;
                // ns-2 sends full packets, even if less was written.
                payload = if payload > 0 { segment } else { 0 };
                if !flags.has(TcpFlags::SYN) {
                    flags = flags.with(TcpFlags::ACK);
                }
            }
        }
        let isn = packet.connection.wrapping_mul(ISN_STEP);
        let mut tcp = WireTcp::new(0, 0, isn.wrapping_add(seq as u32), 0);
        let is_syn = flags.has(TcpFlags::SYN);
        tcp.syn = is_syn;
        tcp.fin = flags.has(TcpFlags::FIN);
        tcp.ack = flags.has(TcpFlags::ACK);
        tcp.psh = payload > 0 && (payload < segment || header.flags.has(TcpFlags::PUSH));
        tcp.ece = flags.has(TcpFlags::ECE);
        tcp.cwr = flags.has(TcpFlags::CWR);
        if tcp.ack {
            tcp.acknowledgment_number = isn.wrapping_add(ack as u32);
        }
        let window = match header.window {
            0 | TcpHeader::ANY_WINDOW => flow.window,
            bytes => u64::from(bytes),
        };
        // RFC 7323 §2.2: the window of a SYN is not scaled.
        let shift = if is_syn { 0 } else { flow.shift() };
        tcp.window_size = (window >> shift).min(u64::from(u16::MAX)) as u16;
        let mut options = Vec::new();
        if is_syn {
            // RFC 6691 §2: it does not shrink for the options that each segment carries.
            let most = segment + if flags.has(TcpFlags::TIMESTAMPS) { STAMP_BYTES } else { 0 };
            options.push(TcpOptionElement::MaximumSegmentSize(most.min(u32::from(u16::MAX)) as u16));
            options.push(TcpOptionElement::WindowScale(flow.shift()));
            if flow.sack {
                options.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
            }
        }
        if flags.has(TcpFlags::TIMESTAMPS) {
            // Senders of data here leave the echo out. It is the last stamp that had come (RFC 7323 §3.2, §4.3).
            let known = self.stamps.get(&(packet.flow, packet.connection, packet.from.node));
            let echo = match header.ts_echo {
                Instant::ZERO if tcp.ack => known.and_then(|stamps| stamps.at(header.ts_val)).unwrap_or_default(),
                echo => echo,
            };
            options.push(TcpOptionElement::Timestamp(ticks(header.ts_val), ticks(echo)));
        }
        let edge = |n: u64| isn.wrapping_add(if numbering == Numbering::Bytes { n } else { flow.byte(n) } as u32);
        let mut blocks = header.sack().iter(header.ack).map(|(start, end)| (edge(start), edge(end)));
        if let Some(first) = blocks.next() {
            options.push(TcpOptionElement::SelectiveAcknowledgement(first, [blocks.next(), blocks.next(), None]));
        }
        tcp.set_options(&options).expect("three SACK blocks and a time stamp fit into 40 bytes");
        (tcp, payload as usize)
    }
}

impl<W: Write + Send + 'static> Observer for Capture<W> {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Sent { node, packet } => self.record(now, node, packet, Direction::Outbound),
            Observation::Received { node, packet } => self.record(now, node, packet, Direction::Inbound),
            Observation::Dropped { .. }
            | Observation::Marked { .. }
            | Observation::Changed { .. }
            | Observation::Arrived { .. }
            | Observation::Handover { .. }
            | Observation::Served { .. }
            | Observation::Slot { .. }
            | Observation::Forwarded { .. }
            | Observation::Copied { .. }
            | Observation::Pdu { .. } => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl TcpFlow {
    /// The number on the wire of the first byte of packet `number`.
    fn byte(&self, number: u64) -> u64 {
        let syn = matches!(self.numbering, Numbering::Packets { syn: true, .. });
        match (syn, number) {
            (true, 0) => 0,
            _ => 1 + (number - u64::from(syn)) * u64::from(self.segment),
        }
    }

    /// The window scale: the least with which the window fits.
    fn shift(&self) -> u8 {
        /// RFC 7323 §2.3.
        const MOST: u8 = 14;
        (0..MOST).find(|shift| self.window >> shift <= u64::from(u16::MAX)).unwrap_or(MOST)
    }
}

/// A flow of which nothing is known.
const UNKNOWN: TcpFlow = TcpFlow { segment: 1460, window: 0xffff, sack: true, numbering: Numbering::Bytes };

/// Which way a packet passed an interface (pcapng, `epb_flags`).
#[derive(Clone, Copy)]
enum Direction {
    Inbound = 1,
    Outbound = 2,
}

/// The initial time to live (RFC 1700).
const HOPS: u8 = 64;

const UDP_BYTES: usize = 8;

/// The time-stamp option, padded (RFC 7323, appendix A).
const STAMP_BYTES: u32 = 12;

/// Puts UDP's header and the headers inside, which `payload` zero bytes follow, into `bytes`, and gives their length.
fn datagram(
    bytes: &mut [u8; dccp::MAX_BYTES],
    ports: (u16, u16),
    [source, destination]: [[u8; 4]; 2],
    inner: &[u8],
    payload: usize,
) -> usize {
    let headers = UDP_BYTES + inner.len();
    let length = (headers + payload) as u16;
    let mut udp = UdpHeader { source_port: ports.0, destination_port: ports.1, length, checksum: 0 };
    let content =
        if inner.is_empty() { Cow::from(&ZEROS[..payload]) } else { Cow::from([inner, &ZEROS[..payload]].concat()) };
    udp.checksum = udp.calc_checksum_ipv4_raw(source, destination, &content).expect("its length was cut to fit");
    bytes[..UDP_BYTES].copy_from_slice(&udp.to_bytes());
    bytes[UDP_BYTES..headers].copy_from_slice(inner);
    headers
}

/// The largest IPv4 payload.
const LARGEST: usize = 65_535 - 20;

/// Payload, which has no content.
static ZEROS: [u8; LARGEST] = [0; LARGEST];

/// Ticks of a time-stamp clock of 1 ms (RFC 7323 §4.1).
/// What the system said, if it was the system that failed.
fn of_the_system(error: PcapNgWriteError) -> io::Error {
    match error {
        PcapNgWriteError::Io(error) => error,
        other => io::Error::other(other),
    }
}

fn ticks(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}

fn port(port: u16) -> u16 {
    port.wrapping_add(FIRST_PORT)
}

fn ip_address(address: Address) -> [u8; 4] {
    let (first, number) = match address {
        Address::Node(node) => (10, node.0),
        // Administratively scoped (RFC 2365).
        Address::Group(group) => (239, group.0),
    };
    let [_, a, b, c] = number.to_be_bytes();
    [first, a, b, c]
}

fn mac_address(address: Address) -> [u8; 6] {
    match address {
        // Locally administered.
        Address::Node(node) => {
            let [a, b, c, d] = node.0.to_be_bytes();
            [0x02, 0, a, b, c, d]
        }
        // RFC 1112 §6.4: the lower 23 bits.
        Address::Group(group) => {
            let [_, a, b, c] = group.0.to_be_bytes();
            [0x01, 0x00, 0x5e, a & 0x7f, b, c]
        }
    }
}

#[cfg(test)]
mod tests;
