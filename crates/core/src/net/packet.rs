//! The packet: a small plain value, and the layouts of the headers that it can carry.
//!
//! Layouts live here because network elements and observers read some of their fields; what
//! the fields mean is the business of the protocol in its own area.

use crate::engine::{BitRate, Duration, FloatTime, Instant};

use super::observe::Place;

/// A node of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A multicast group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// A flow: one source, its sending and its receiving endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// No flow: a machine that serves its node.
    pub const NONE: Self = Self(u32::MAX);
}

impl Default for FlowId {
    fn default() -> Self {
        Self::NONE
    }
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// To one node.
    Node(NodeId),
    /// To every member of a group.
    Group(GroupId),
}

/// One end of a flow: its node and its port there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Socket {
    /// The node.
    pub node: NodeId,
    /// The port, which selects the endpoint at the node.
    pub port: u16,
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand marks.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, ECT(1).
    Ect1 = 0b01,
    /// ECN-capable, ECT(0).
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

/// One packet on its way.
#[derive(Clone, Debug)]
pub struct Packet {
    /// The sending end.
    pub from: Socket,
    /// Where it goes.
    pub to: Address,
    /// The port at the destination.
    pub to_port: u16,
    /// The differentiated-services code point.
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// Bytes on the wire, IP header included.
    pub size: u32,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Which of the flow's successive connections it belongs to.
    pub connection: u32,
    /// Truth: the running number of this transmission among all of its endpoint, from 1.
    /// No protocol decides by it; spurious timeouts are classified from it.
    pub number: u64,
    /// The transport header.
    pub header: Header,
}

/// A transport header.
#[derive(Clone, Debug)]
pub enum Header {
    /// TCP.
    Tcp(TcpHeader),
    /// UDP with the sequence number and time stamp of RTP.
    Udp(UdpHeader),
    /// A data packet of TFRC.
    Tfrc(TfrcHeader),
    /// A feedback packet of TFRC.
    TfrcReport(TfrcReport),
    /// DCCP.
    Dccp(DccpHeader),
    /// A message by which hosts and routers agree on a quality of service.
    Signal(SignalHeader),
}

/// A TCP header (RFC 9293 §3.1) with its options.
///
/// Sequence numbers do not wrap. In profile `rfc` they count bytes from 0, the SYN's; in
/// profile `ns2` they count packets, and `ack` is the highest packet received in order.
#[derive(Clone, Debug, Default)]
pub struct TcpHeader {
    /// The first sequence number of the segment.
    pub seq: u64,
    /// The acknowledgement number.
    pub ack: u64,
    /// Payload bytes.
    pub payload: u32,
    /// The advertised window in bytes, scaling already applied; [`TcpHeader::ANY_WINDOW`] on
    /// acknowledgements of receivers that advertise none.
    pub window: u32,
    /// SYN, ACK, FIN, ECE, CWR and whether time stamps are present.
    pub flags: TcpFlags,
    /// SACK blocks, or what XCP puts in their place.
    pub options: TcpOptions,
    /// Time-stamp option, TSval (RFC 7323).
    pub ts_val: Instant,
    /// Time-stamp option, TSecr.
    pub ts_echo: Instant,
    /// Truth, on an acknowledgement: the highest transmission number that had arrived when it
    /// was made.
    pub arrived: u64,
}

/// Flags of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// The acknowledgement field counts.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// Time stamps are present (an option, kept here to save space).
    pub const TIMESTAMPS: Self = Self(0x20);
    /// Truth, on an acknowledgement: the segment that caused it had arrived before.
    pub const DUPLICATE: Self = Self(0x08);

    /// No flag.
    pub const NONE: Self = Self(0);

    /// Whether all flags of `other` are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl TcpHeader {
    /// The window of a receiver that advertises none.
    pub const ANY_WINDOW: u32 = u32::MAX;

    /// The SACK blocks.
    #[inline]
    pub fn sack(&self) -> &SackBlocks {
        match &self.options {
            TcpOptions::Sack(blocks) => blocks,
            _ => const { &SackBlocks::NONE },
        }
    }
}

/// What a TCP header carries beside its fixed part: one of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TcpOptions {
    /// SACK blocks, perhaps none.
    Sack(SackBlocks),
    /// XCP's congestion header, on a packet with data: what the sender asks, and what routers
    /// grant.
    Congestion(CongestionHeader),
    /// XCP's answer on an acknowledgement: the sum of what was granted to the packets that it
    /// acknowledges, bytes/s.
    Feedback(Words),
}

impl Default for TcpOptions {
    #[inline]
    fn default() -> Self {
        Self::Sack(SackBlocks::NONE)
    }
}

/// XCP's congestion header (Katabi, Handley, Rohrs 2002 §3.2; in the form of ns-2.35 and
/// draft-falk-xcp-spec).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionHeader {
    /// The sender's smoothed round-trip time, s; 0 before it knows one.
    pub rtt: Words,
    /// The time between two packets of the sender, s: its round-trip time over its window in
    /// packets.
    pub x: Words,
    /// Change of the sender's throughput, bytes/s: what it asks for, and what is left of that
    /// after the routers so far.
    pub delta: Words,
}

impl CongestionHeader {
    /// That of a sender that knows no round-trip time and asks for nothing.
    pub const NONE: Self = Self { rtt: Words::new(0.0), x: Words::new(0.0), delta: Words::new(0.0) };
}

/// A double in two words of 32 bits, so that what holds it needs no alignment to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words([u32; 2]);

impl Words {
    /// The words of a number.
    #[inline]
    pub const fn new(value: f64) -> Self {
        let bits = value.to_bits();
        Self([bits as u32, (bits >> 32) as u32])
    }

    /// The number.
    #[inline]
    pub const fn get(self) -> f64 {
        f64::from_bits(self.0[0] as u64 | (self.0[1] as u64) << 32)
    }
}

/// Up to three SACK blocks (RFC 2018), most recent first.
///
/// Numbers are modulo 2³², as on the wire; [`SackBlocks::iter`] gives full ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    len: Len,
}

/// How many SACK blocks there are. An enumeration, so that its unused values tell the kinds of
/// [`TcpOptions`] apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
enum Len {
    #[default]
    None,
    One,
    Two,
    Three,
}

impl SackBlocks {
    /// The most blocks that a header holds: three, as RFC 2018 §3 says for use with time stamps.
    pub const MAX: usize = 3;

    /// No block.
    pub const NONE: Self = Self { blocks: [(0, 0); 3], len: Len::None };

    /// Adds the block `[start, end)` unless three are there.
    #[inline]
    pub fn push(&mut self, start: u64, end: u64) {
        let place = self.len();
        if let Some(block) = self.blocks.get_mut(place) {
            *block = (start as u32, end as u32);
            self.len = match self.len {
                Len::None => Len::One,
                Len::One => Len::Two,
                Len::Two | Len::Three => Len::Three,
            };
        }
    }

    /// How many blocks there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == Len::None
    }

    /// Whether the first block reports a duplicate: it lies below `ack`, or in the second (RFC 2883 §4).
    pub fn reports_duplicate(&self, ack: u64) -> bool {
        let mut blocks = self.iter(ack);
        blocks.next().is_some_and(|(start, end)| {
            start < ack || blocks.next().is_some_and(|(from, to)| from <= start && end <= to)
        })
    }

    /// The blocks as full sequence numbers `[start, end)`, those nearest to `ack`.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let near = move |n: u32| ack.wrapping_add_signed(i64::from(n.wrapping_sub(ack as u32) as i32));
        self.blocks[..self.len()].iter().map(move |&(start, end)| (near(start), near(end)))
    }
}

/// A UDP header, with what RTP (RFC 3550 §5.1) adds for measurements.
#[derive(Clone, Debug, Default)]
pub struct UdpHeader {
    /// The datagram's number in its flow, from 0.
    pub seq: u64,
    /// When it was sent.
    pub sent_at: Instant,
}

/// What a data packet of TFRC carries (RFC 5348 §3.2.1). Times are seconds in doubles, as both
/// profiles compute with them.
#[derive(Clone, Debug, Default)]
pub struct TfrcHeader {
    /// The packet's number, from 0.
    pub seq: u64,
    /// When it was sent.
    pub sent_at: FloatTime,
    /// The sender's estimate of the round-trip time in seconds; 0 before there is one.
    pub rtt: f64,
    /// The sender's retransmission timeout, as the equation uses it, in seconds (ns-2).
    pub rto: f64,
    /// Payload bytes.
    pub payload: u32,
    /// Payload bytes of the connection so far, this packet's included.
    pub end: u64,
    /// How many reports and expiries of the no-feedback timer the sender has seen (ns-2).
    pub round: u32,
    /// How many times the receiver had told of a handover when it was sent.
    pub epoch: u16,
    /// Whether the sender wants a report at once (ns-2).
    pub urgent: bool,
}

/// What a feedback packet of TFRC carries (RFC 5348 §3.2.2).
#[derive(Clone, Debug, Default)]
pub struct TfrcReport {
    /// The highest number received.
    pub seq: u64,
    /// When the packet received last was sent.
    pub echo: FloatTime,
    /// How long ago it came, in seconds.
    pub delay: f64,
    /// The rate of reception: bytes per second, in profile `ns2` packets per second.
    pub rate: f64,
    /// The loss event rate.
    pub p: f64,
    /// Payload bytes of the connection up to the highest number received.
    pub end: u64,
    /// The capacity that a handover leads to, if the receiver knows it.
    pub hint: Option<BitRate>,
    /// How many times the receiver has told of a handover.
    pub epoch: u16,
    /// Whether that handover leads to a faster link, a slower one, or nobody knows.
    pub direction: Direction,
    /// Whether a loss event began since the last report.
    pub new_loss: bool,
}

/// Where a handover leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Nobody knows.
    #[default]
    Unknown,
    /// To a faster link.
    Up,
    /// To a slower link.
    Down,
}

/// A DCCP header (RFC 4340 §5.1) with the options that congestion controls exchange. Sequence
/// numbers have 48 bits.
#[derive(Clone, Debug, Default)]
pub struct DccpHeader {
    /// The packet's type.
    pub kind: DccpType,
    /// The congestion control's four bits (CCVal).
    pub ccval: u8,
    /// The sequence number; every packet has one.
    pub seq: u64,
    /// The acknowledgement number: the greatest sequence number received. DCCP-Data has none.
    pub ack: u64,
    /// Payload bytes.
    pub payload: u32,
    /// Truth: payload bytes of the connection so far, this packet's included. It costs no bytes.
    pub end: u64,
    /// Options.
    pub options: DccpOptions,
}

/// Types of DCCP packets (RFC 4340 §5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum DccpType {
    /// Data without acknowledgement.
    #[default]
    Data = 2,
    /// Acknowledgement without data.
    Ack = 3,
}

/// Options of a DCCP packet, by the congestion control that they belong to.
#[derive(Clone, Debug, Default)]
pub enum DccpOptions {
    /// None.
    #[default]
    None,
    /// Feedback of CCID 3 (RFC 4342 §8), 20 bytes with padding.
    Tfrc {
        /// The loss event rate (§8.5).
        p: f64,
        /// The receive rate in bytes per second (§8.3).
        rate: f64,
        /// Time since the acknowledged packet came, in seconds (RFC 4340 §13.2).
        elapsed: f64,
    },
}

/// A message of a signalling protocol: what it wants, of whom, for which flow.
///
/// One layout serves all of them; each says which fields its messages use. What a message does
/// not use is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalHeader {
    /// What it wants.
    pub kind: Signal,
    /// A code point, such as the class asked for.
    pub dscp: u8,
    /// Properties of the message; each protocol has its own.
    pub flags: u8,
    /// Hops, as the protocol counts them.
    pub hops: u8,
    /// The flow that it is about, whatever flow the packet itself belongs to.
    pub flow: FlowId,
    /// The sending end of that flow.
    pub sender: Socket,
    /// The receiving end of that flow.
    pub receiver: Socket,
    /// A node that the message names, such as a bandwidth broker.
    pub node: NodeId,
    /// An interface, by the place at which it counts its drops.
    pub place: Place,
    /// The number of the message, or of the request that it answers.
    pub number: u32,
    /// A bucket, in bytes.
    pub bucket: u32,
    /// The rate asked for, offered or granted.
    pub rate: BitRate,
    /// The least rate that will do.
    pub floor: BitRate,
    /// A peak rate.
    pub peak: BitRate,
    /// How often the message is repeated.
    pub refresh: Duration,
    /// How long each node works at the message.
    pub processing: Duration,
}

/// The kinds of signalling messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Signal {
    /// RSVP: here go the data of a flow (RFC 2205 §3.1.3).
    #[default]
    Path,
    /// RSVP: reserve for a flow (RFC 2205 §3.1.4).
    Resv,
    /// RSVP: a reservation was refused (RFC 2205 §3.1.8).
    ResvErr,
    /// RSVP: a reservation is in place (RFC 2205 §3.1.9).
    ResvConf,
    /// RSVP: forget a flow (RFC 2205 §3.1.5).
    PathTear,
    /// RSVP: give back what is reserved for a flow (RFC 2205 §3.1.6).
    ResvTear,
    /// The context of a flow moves to where its data go from now on (after RFC 4067).
    Context,
    /// SWAN: how much is free on the way?
    Probe,
    /// SWAN: so much is free on the way.
    ProbeReply,
    /// SWAN: the way carries too much.
    Regulate,
    /// Bandwidth broker: a request.
    Request,
    /// Bandwidth broker: granted.
    Grant,
    /// Bandwidth broker: refused.
    Refuse,
    /// Bandwidth broker: given back.
    Release,
}

impl Signal {
    /// The kind as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Resv => "resv",
            Self::ResvErr => "resv_err",
            Self::ResvConf => "resv_conf",
            Self::PathTear => "path_tear",
            Self::ResvTear => "resv_tear",
            Self::Context => "context",
            Self::Probe => "probe",
            Self::ProbeReply => "probe_reply",
            Self::Regulate => "regulate",
            Self::Request => "request",
            Self::Grant => "grant",
            Self::Refuse => "refuse",
            Self::Release => "release",
        }
    }
}

const _: () = assert!(size_of::<TcpOptions>() == size_of::<SackBlocks>(), "other options cost no space");
const _: () = assert!(size_of::<Packet>() <= 128, "a packet takes at most two cache lines");

impl Packet {
    /// A place for a packet that is to be written.
    pub fn vacant() -> Self {
        let nowhere = Socket { node: NodeId(u32::MAX), port: 0 };
        Self {
            from: nowhere,
            to: Address::Node(nowhere.node),
            to_port: 0,
            dscp: 0,
            ecn: Ecn::NotEct,
            size: 0,
            flow: FlowId(u32::MAX),
            connection: 0,
            number: 0,
            header: Header::Udp(UdpHeader::default()),
        }
    }

    /// The TCP header, if it carries one.
    #[inline]
    pub fn tcp(&self) -> Option<&TcpHeader> {
        match &self.header {
            Header::Tcp(header) => Some(header),
            _ => None,
        }
    }

    /// The signalling message, if it is one.
    #[inline]
    pub fn signal(&self) -> Option<&SignalHeader> {
        match &self.header {
            Header::Signal(header) => Some(header),
            _ => None,
        }
    }

    /// Whether it is a pure acknowledgement: part of the classification key of network elements.
    pub fn is_pure_ack(&self) -> bool {
        self.tcp().is_some_and(|h| {
            h.payload == 0 && h.flags.has(TcpFlags::ACK) && !h.flags.has(TcpFlags::SYN) && !h.flags.has(TcpFlags::FIN)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_survives_its_words() {
        for value in [0.0, -0.0, 1e24, 0.1, -1.0 / 3.0, f64::MIN_POSITIVE, f64::NAN] {
            assert_eq!(Words::new(value).get().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn sack_blocks_survive_the_wrap_of_32_bits() {
        let mut sack = SackBlocks::default();
        let ack = (7 << 32) - 1_000;
        sack.push(ack + 500, ack + 1_500);
        sack.push(ack - 200, ack - 100);
        let blocks: Vec<_> = sack.iter(ack).collect();
        assert_eq!(blocks, [(ack + 500, ack + 1_500), (ack - 200, ack - 100)]);
    }
}
