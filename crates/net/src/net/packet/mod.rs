//! The packet: a small plain value, and the layouts of the headers that it can carry, a file each.
//!
//! Layouts live here because network elements and observers read some of their fields; what
//! the fields mean is the business of the protocol in its own area.

mod dccp;
mod layered;
mod pgm;
mod rtp;
mod sack;
mod signal;
mod tcp;
mod tfmcc;
mod tfrc;
mod udp;
mod xcp;

pub use dccp::{AckVector, DccpHeader, DccpOptions, DccpType, ListedInterval, ListedIntervals, PacketState};
pub use layered::LayeredHeader;
pub use pgm::{PgmAck, PgmData, PgmElements, PgmHeader, PgmNak, PgmPath, PgmReport};
pub use rtp::{RtcpReport, RtpHeader};
pub use sack::SackBlocks;
pub use signal::{Signal, SignalHeader};
pub use tcp::{MarkedBytes, TcpFlags, TcpHeader, TcpOptions};
pub use tfmcc::{TfmccEcho, TfmccHeader, TfmccReport};
pub use tfrc::{Direction, TfrcHeader, TfrcReport};
pub use udp::UdpHeader;
pub use xcp::{CongestionHeader, Words};

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

/// One packet on its way. What is read at every hop lies in front, in one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
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
    /// Ground truth: the running number of this transmission among all of its endpoint, from 1.
    /// No protocol decides by it; spurious timeouts are classified from it.
    pub number: u64,
    /// The transport header.
    pub header: Header,
}

/// A transport header.
#[derive(Clone, Copy, Debug)]
pub enum Header {
    /// TCP.
    Tcp(TcpHeader),
    /// UDP with the sequence number and time stamp of RTP.
    Udp(UdpHeader),
    /// A header that the network does not read: of a packet from outside, neither TCP nor UDP.
    Opaque,
    /// A data packet of TFRC.
    Tfrc(TfrcHeader),
    /// A feedback packet of TFRC.
    TfrcReport(TfrcReport),
    /// A data packet of a media flow: RTP over UDP.
    Rtp(RtpHeader),
    /// Its feedback: RTCP over UDP.
    Rtcp(RtcpReport),
    /// DCCP.
    Dccp(DccpHeader),
    /// A data packet of TFMCC.
    Tfmcc(TfmccHeader),
    /// A receiver report of TFMCC.
    TfmccReport(TfmccReport),
    /// PGM, with PGMCC.
    Pgm(PgmHeader),
    /// A message of a layered session.
    Layered(LayeredHeader),
    /// A message by which hosts and routers agree on a quality of service.
    Signal(SignalHeader),
}

impl Header {
    /// Of a data packet of a protocol that sends nothing again and counts bytes: its payload, and the bytes of the flow up to its end.
    pub fn unrepaired(&self) -> Option<(u32, u64)> {
        match self {
            Self::Tfrc(header) => Some((header.payload, header.end)),
            Self::Rtp(header) => Some((header.payload, header.end)),
            _ => None,
        }
    }

    /// Whether a packet to a group with it has data for the first time: no repair, and no message.
    pub fn is_new_data(&self) -> bool {
        matches!(
            self,
            Self::Udp(_) | Self::Tfmcc(_) | Self::Pgm(PgmHeader::Data(_)) | Self::Layered(LayeredHeader::Data { .. })
        )
    }
}

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

    /// Its number and its packet-loss indication, if it is a packet in which a base station may set that bit.
    #[inline]
    pub fn indication(&mut self) -> Option<(u64, &mut bool)> {
        match &mut self.header {
            Header::Tfmcc(header) => Some((header.seq, &mut header.loss_indicated)),
            Header::Pgm(PgmHeader::Data(data)) => Some((data.seq, &mut data.loss_indicated)),
            _ => None,
        }
    }

    /// Whether queues, loss models and handovers must let it pass: messages of membership, so that an error of the tree cannot be taken for
    /// an effect of congestion.
    #[inline]
    pub fn is_exempt(&self) -> bool {
        use Signal::{Admit, Expel, Graft, Join, Leave, Prune, Rejected, Rejections};
        let of_membership = |kind| matches!(kind, Join | Leave | Graft | Prune | Expel | Admit | Rejections | Rejected);
        self.signal().is_some_and(|signal| of_membership(signal.kind))
    }

    /// Whether it carries data of the flow: no acknowledgement, no report, no message.
    pub fn has_data(&self) -> bool {
        match &self.header {
            Header::Tcp(header) => header.payload > 0,
            Header::Dccp(header) => header.payload > 0,
            Header::Pgm(header) => matches!(header, PgmHeader::Data(_) | PgmHeader::Repair(_)),
            Header::Layered(header) => matches!(header, LayeredHeader::Data { .. }),
            Header::Udp(_) | Header::Opaque | Header::Rtp(_) | Header::Tfrc(_) | Header::Tfmcc(_) => true,
            Header::Rtcp(_) | Header::TfrcReport(_) | Header::TfmccReport(_) | Header::Signal(_) => false,
        }
    }

    /// Whether it is a pure acknowledgement: part of the classification key of network elements.
    pub fn is_pure_ack(&self) -> bool {
        self.tcp().is_some_and(|h| {
            h.payload == 0 && h.flags.has(TcpFlags::ACK) && !h.flags.has(TcpFlags::SYN) && !h.flags.has(TcpFlags::FIN)
        })
    }
}
