//! The messages of signalling protocols.

use crate::engine::{BitRate, Duration};

use super::super::dscp::Dscp;
use super::super::observe::Place;
use super::{Address, Ecn, FlowId, Header, NodeId, Packet, Socket};

/// A message of a signalling protocol: its kind, its addressee, its flow.
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
    /// The number of the message, of the request that it answers, or of a group.
    pub number: u32,
    /// A bucket, in bytes; of membership, the running number of the message.
    pub bucket: u32,
    /// The rate asked for, offered or granted.
    pub rate: BitRate,
    /// The least rate that will do.
    pub floor: BitRate,
    /// A peak rate.
    pub peak: BitRate,
    /// How often the message is repeated, how long what it ends goes on, or how long ago what it tells of was.
    pub refresh: Duration,
    /// How long each node works at the message.
    pub processing: Duration,
}

impl SignalHeader {
    /// The packet that carries it, the sender's n-th, of this size on the wire. It belongs to no flow, so that no queue takes it for data.
    pub fn packet(self, from: Socket, to: Socket, number: u64, size: u32) -> Packet {
        Packet {
            from,
            to: Address::Node(to.node),
            to_port: to.port,
            // Network control (RFC 4594 §3.1).
            dscp: Dscp::Cs6.value(),
            ecn: Ecn::NotEct,
            size,
            flow: FlowId::NONE,
            connection: 0,
            number,
            header: Header::Signal(self),
        }
    }
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
    /// RSVP: release a flow's reservation (RFC 2205 §3.1.6).
    ResvTear,
    /// The context of a flow moves to where its data go from now on (after RFC 4067).
    Context,
    /// SWAN: how much is free on the way?
    Probe,
    /// SWAN: the bandwidth available on the path.
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
    /// Membership: a host wants what a sender sends to a group.
    Join,
    /// Membership: a host wants it no longer.
    Leave,
    /// Membership: a router below wants it, too.
    Graft,
    /// Membership: a router below wants it no longer.
    Prune,
    /// Membership: the manager of the group takes a host out of it.
    Expel,
    /// Membership: the manager of the group lets a host in again.
    Admit,
    /// Membership: how many packets of a flow for a host found no room in front of its radio?
    Rejections,
    /// Membership: their number, and the time of the last.
    Rejected,
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
            Self::Join => "join",
            Self::Leave => "leave",
            Self::Graft => "graft",
            Self::Prune => "prune",
            Self::Expel => "expel",
            Self::Admit => "admit",
            Self::Rejections => "rejections",
            Self::Rejected => "rejected",
        }
    }
}
