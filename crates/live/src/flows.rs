//! The flows of real hosts: connections by addresses, protocol and ports.
//!
//! Both directions of a connection are one flow, as in the network. Their state is what the headers of the network need beyond a single
//! packet: sequence numbers that do not wrap, and the scale of windows.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use lasthop_core::engine::Instant;
use lasthop_core::net::simulation::FIRST_OUTSIDE_FLOW;
use lasthop_core::net::{Cause, FlowId, Header, Place, SackBlocks, TcpFlags, TcpHeader, TcpOptions, UdpHeader};

use crate::headers::{Parsed, Segment, Transport};

/// The most flows that are known at a time: then the one least recently used is forgotten.
pub const MOST_FLOWS: usize = 65_536;

/// The name of all that were forgotten.
pub const OLDER: &str = "older";

/// The number of all that were forgotten, where the network counts drops.
pub const OLDER_FLOW: FlowId = FlowId(FlowId::NONE.0 - 1);

/// Where the network has counted drops of a flow, and for which cause.
pub type DropsAt = (Place, Cause);

/// Two ends, the smaller one first, and the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Address and port of each end.
    pub ends: [(IpAddr, u16); 2],
    /// The protocol number.
    pub protocol: u8,
}

/// What became of the packets of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that hosts sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets handed to hosts.
    pub delivered: u64,
    /// Packets that the network dropped.
    pub dropped: u64,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its ends and protocol.
    pub key: Key,
    /// Its packets.
    pub counts: Counts,
    /// Where packets of it were dropped, each once.
    drops: Vec<DropsAt>,
    /// When it was used last, in packets of all flows.
    used: u64,
    directions: [Direction; 2],
}

/// One direction of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    /// The highest sequence number, unwrapped; `None` before the first segment.
    highest: Option<u64>,
    /// The shift of the windows that its sender advertises.
    scale: u8,
    /// Packets sent.
    packets: u64,
}

impl Flow {
    /// Its ends, the smaller one first.
    pub fn name(&self) -> String {
        let [one, other] = self.key.ends.map(|(address, port)| SocketAddr::new(address, port));
        format!("{one} {other}")
    }
}

/// The flows known at present.
#[derive(Debug)]
pub struct Flows {
    numbers: BTreeMap<Key, FlowId>,
    flows: BTreeMap<FlowId, Flow>,
    /// Flows by last use.
    by_use: BTreeMap<u64, FlowId>,
    uses: u64,
    next: FlowId,
    most: usize,
    /// The counts of flows that were forgotten.
    pub older: Counts,
    /// Drops that the network counts of flows that were forgotten since this was last taken.
    forgotten: Vec<(FlowId, DropsAt)>,
}

impl Default for Flows {
    fn default() -> Self {
        Self::new(MOST_FLOWS)
    }
}

impl Flows {
    /// At most `most` flows are known at a time.
    pub fn new(most: usize) -> Self {
        Self {
            numbers: BTreeMap::new(),
            flows: BTreeMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            next: FIRST_OUTSIDE_FLOW,
            most,
            older: Counts::default(),
            forgotten: Vec::new(),
        }
    }

    /// The name of a flow: its ends. Those that were forgotten are `older`; a flow of the network itself has none.
    pub fn name(&self, flow: FlowId) -> String {
        if flow < FIRST_OUTSIDE_FLOW || flow == FlowId::NONE {
            return String::new();
        }
        self.flows.get(&flow).map_or_else(|| OLDER.to_owned(), Flow::name)
    }

    /// The flow of a packet that a host sends at `now`, and the packet's header in the network.
    pub fn send(&mut self, now: Instant, packet: &Parsed, size: u64) -> (FlowId, Header) {
        let ends = [(packet.from, packet.ports[0]), (packet.to, packet.ports[1])];
        let turned = usize::from(ends[0] > ends[1]);
        let key = Key { ends: [ends[turned], ends[1 - turned]], protocol: packet.protocol };
        let id = match self.numbers.get(&key) {
            Some(&id) => id,
            None => self.add(key),
        };
        let Some(flow) = self.flows.get_mut(&id) else { return (FlowId::NONE, Header::Opaque) };
        self.by_use.remove(&flow.used);
        self.uses += 1;
        flow.used = self.uses;
        self.by_use.insert(self.uses, id);
        flow.counts.sent += 1;
        flow.counts.sent_bytes += size;
        let header = match &packet.transport {
            Transport::Tcp(segment) => flow.tcp(turned, segment),
            Transport::Udp => Header::Udp(UdpHeader { seq: flow.directions[turned].packets, sent_at: now }),
            Transport::Other => Header::Opaque,
        };
        flow.directions[turned].packets += 1;
        (id, header)
    }

    /// A packet of the flow was handed to its host.
    pub fn delivered(&mut self, flow: FlowId) {
        self.counts(flow).delivered += 1;
    }

    /// A packet of the flow was dropped there.
    pub fn dropped(&mut self, flow: FlowId, there: DropsAt) {
        self.counts(flow).dropped += 1;
        match self.flows.get_mut(&flow) {
            Some(flow) if flow.drops.contains(&there) => {}
            Some(flow) => flow.drops.push(there),
            None => self.forgotten.push((flow, there)),
        }
    }

    /// Takes drops that the network still counts of flows that were forgotten.
    pub fn take_forgotten(&mut self) -> impl Iterator<Item = (FlowId, DropsAt)> {
        self.forgotten.drain(..)
    }

    /// The flows known at present, in the order in which they began.
    pub fn iter(&self) -> impl Iterator<Item = &Flow> {
        self.flows.values()
    }

    fn counts(&mut self, flow: FlowId) -> &mut Counts {
        self.flows.get_mut(&flow).map_or(&mut self.older, |flow| &mut flow.counts)
    }

    fn add(&mut self, key: Key) -> FlowId {
        if self.flows.len() == self.most
            && let Some((_, id)) = self.by_use.pop_first()
            && let Some(flow) = self.flows.remove(&id)
        {
            self.numbers.remove(&flow.key);
            let Counts { sent, sent_bytes, delivered, dropped } = flow.counts;
            self.older.sent += sent;
            self.older.sent_bytes += sent_bytes;
            self.older.delivered += delivered;
            self.older.dropped += dropped;
            self.forgotten.extend(flow.drops.into_iter().map(|there| (id, there)));
        }
        let id = self.next;
        // The last numbers mean no flow and older ones; after 2³¹ flows the first are long forgotten.
        self.next = if id.0 + 1 == OLDER_FLOW.0 { FIRST_OUTSIDE_FLOW } else { FlowId(id.0 + 1) };
        self.uses += 1;
        self.by_use.insert(self.uses, id);
        self.numbers.insert(key, id);
        let (counts, directions) = (Counts::default(), [Direction::default(); 2]);
        self.flows.insert(id, Flow { key, counts, drops: Vec::new(), used: self.uses, directions });
        id
    }
}

impl Flow {
    /// The header in the network of a segment in this direction.
    fn tcp(&mut self, direction: usize, segment: &Segment) -> Header {
        // A reset has no field there: it is carried, and nothing acts on it.
        if segment.flags.rst {
            return Header::Opaque;
        }
        let seq = self.directions[direction].unwrap(segment.seq);
        let acked = &mut self.directions[1 - direction];
        let ack = if segment.flags.ack { acked.unwrap(segment.ack) } else { 0 };
        if segment.flags.syn {
            // RFC 7323 §2.2, §2.3: the option counts on SYNs only, and a shift is at most 14.
            self.directions[direction].scale = segment.scale.unwrap_or(0).min(14);
        }
        // RFC 7323 §2.2: the window of a SYN is not scaled.
        let scale = if segment.flags.syn { 0 } else { self.directions[direction].scale };
        let mut flags = TcpFlags::NONE;
        for (set, flag) in [
            (segment.flags.fin, TcpFlags::FIN),
            (segment.flags.syn, TcpFlags::SYN),
            (segment.flags.ack, TcpFlags::ACK),
            (segment.flags.ece, TcpFlags::ECE),
            (segment.flags.cwr, TcpFlags::CWR),
            (segment.stamps.is_some(), TcpFlags::TIMESTAMPS),
        ] {
            flags = if set { flags.with(flag) } else { flags };
        }
        let mut blocks = SackBlocks::NONE;
        for &(start, end) in &segment.sack {
            blocks.push(start.into(), end.into());
        }
        // Time stamps are ticks of the sender's clock (RFC 7323 §5.4 lets a tick be 1 ms to 1 s); here a tick is shown as 1 ms.
        let ticks = |ticks: u32| Instant::from_nanos(u64::from(ticks) * 1_000_000);
        let (value, echo) = segment.stamps.unwrap_or_default();
        Header::Tcp(TcpHeader {
            seq,
            ack,
            payload: u16::try_from(segment.payload).unwrap_or(u16::MAX),
            window: u32::from(segment.window) << scale,
            flags,
            options: TcpOptions::Sack(blocks),
            ts_val: ticks(value),
            ts_echo: ticks(echo),
            ..TcpHeader::default()
        })
    }
}

impl Direction {
    /// The number nearest to the highest so far that is `seq` modulo 2³². The first number stands for itself.
    fn unwrap(&mut self, seq: u32) -> u64 {
        let Some(highest) = self.highest else {
            // One turn up, so that numbers a little below the first have a place.
            let first = (1 << 32) | u64::from(seq);
            self.highest = Some(first);
            return first;
        };
        let ahead = seq.wrapping_sub(highest as u32);
        let full = if ahead < 1 << 31 {
            highest + u64::from(ahead)
        } else {
            highest.saturating_sub(u64::from(ahead.wrapping_neg()))
        };
        self.highest = Some(highest.max(full));
        full
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;
    use crate::headers::parse;

    fn datagram(port: u16) -> Parsed {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64).udp(port, 9);
        builder.write(&mut packet, &[0; 10]).unwrap();
        parse(&packet).unwrap()
    }

    fn segment(turned: bool, seq: u32, ack: u32, window: u16) -> Parsed {
        let (ends, ports) = if turned {
            ([[10, 77, 0, 2], [10, 77, 0, 1]], [80, 7])
        } else {
            ([[10, 77, 0, 1], [10, 77, 0, 2]], [7, 80])
        };
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4(ends[0], ends[1], 64).tcp(ports[0], ports[1], seq, window).ack(ack);
        builder.write(&mut packet, &[0; 100]).unwrap();
        parse(&packet).unwrap()
    }

    #[test]
    fn sequence_numbers_do_not_wrap_and_acknowledgements_follow_them() {
        let mut flows = Flows::default();
        let mut numbers = |turned, seq, ack| {
            let (_, header) = flows.send(Instant::ZERO, &segment(turned, seq, ack, 1), 140);
            let Header::Tcp(tcp) = header else { panic!("{header:?}") };
            (tcp.seq, tcp.ack)
        };
        let (first, _) = numbers(false, u32::MAX - 99, 0);
        assert_eq!(numbers(false, 0, 0).0, first + 100);
        assert_eq!(numbers(true, 0, 100).1, first + 200);
        // An old segment lies below.
        assert_eq!(numbers(false, u32::MAX - 199, 0).0, first - 100);
        assert_eq!(numbers(false, 100, 0).0, first + 200);
    }

    #[test]
    fn both_directions_are_one_flow_and_windows_are_scaled_after_the_syn() {
        let mut flows = Flows::default();
        let mut syn = segment(false, 1, 0, 1_000);
        let Transport::Tcp(tcp) = &mut syn.transport else { panic!() };
        (tcp.flags.syn, tcp.scale) = (true, Some(7));
        let window = |(_, header): (FlowId, Header)| match header {
            Header::Tcp(tcp) => tcp.window,
            _ => panic!("{header:?}"),
        };
        let there = flows.send(Instant::ZERO, &syn, 140);
        let back = flows.send(Instant::ZERO, &segment(true, 1, 2, 1_000), 140);
        assert_eq!(there.0, back.0);
        assert_eq!(window(there), 1_000);
        assert_eq!(window(flows.send(Instant::ZERO, &segment(false, 2, 2, 1_000), 140)), 128_000);
        assert_eq!(window(back), 1_000, "each direction has a scale of its own");
    }

    #[test]
    fn the_least_recently_used_flow_is_forgotten_and_its_counts_are_kept() {
        let mut flows = Flows::new(2);
        let first = flows.send(Instant::ZERO, &datagram(1), 38).0;
        flows.send(Instant::ZERO, &datagram(2), 38);
        assert_eq!(flows.send(Instant::ZERO, &datagram(1), 38).0, first);
        flows.send(Instant::ZERO, &datagram(3), 38);
        let ports: Vec<u16> = flows.iter().map(|flow| flow.key.ends[0].1).collect();
        assert_eq!(ports, [1, 3]);
        assert_eq!(flows.older, Counts { sent: 1, sent_bytes: 38, ..Counts::default() });
    }
}
