//! What can be observed of a run. Areas emit observations, [`crate::measure`] makes tables of
//! them; nothing in a run depends on whether there is an observer.

use crate::engine::Instant;

use super::medium::Access;
use super::packet::{FlowId, NodeId, Packet};

pub use super::histogram::Histogram;

/// A place where packets wait, fly or end, for counting and for naming drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The queue was full.
    Overflow,
    /// Active queue management dropped it early.
    Early,
    /// It exceeded what its flow or its class was promised.
    Policed,
    /// The loss model took it.
    Loss,
    /// A handover emptied the queue, or lost packets in flight.
    Handover,
    /// The link was down.
    LinkDown,
    /// No route led to its destination.
    NoRoute,
    /// No endpoint listens at its port.
    NoEndpoint,
    /// Its sender knows of no member of its group.
    NoMembers,
    /// It came to a member of a tree from elsewhere than its parent.
    WrongInterface,
    /// It belonged to an earlier connection.
    OldConnection,
    /// A part of it did not come over the radio, or its link ARQ gave it up.
    Radio,
    /// Its compressed header could not be got back: the context was lost.
    ContextLost,
    /// Its layer may not enter the link at present.
    Blocked,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 14] = [
        Self::Overflow,
        Self::Early,
        Self::Policed,
        Self::Loss,
        Self::Handover,
        Self::LinkDown,
        Self::NoRoute,
        Self::NoEndpoint,
        Self::NoMembers,
        Self::WrongInterface,
        Self::OldConnection,
        Self::Radio,
        Self::ContextLost,
        Self::Blocked,
    ];

    /// The cause as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Early => "early",
            Self::Policed => "policed",
            Self::Loss => "loss",
            Self::Handover => "handover",
            Self::LinkDown => "link_down",
            Self::NoRoute => "no_route",
            Self::NoEndpoint => "no_endpoint",
            Self::NoMembers => "no_members",
            Self::WrongInterface => "wrong_interface",
            Self::OldConnection => "old_connection",
            Self::Radio => "radio",
            Self::ContextLost => "context_lost",
            Self::Blocked => "blocked",
        }
    }
}

/// A variable of an endpoint whose every change can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// Congestion window, in packets.
    Cwnd,
    /// Slow-start threshold, in packets.
    Ssthresh,
    /// Last round-trip-time sample; seconds, or ticks in profile `ns2`.
    Rtt,
    /// Smoothed round-trip time; seconds, or ticks times 8 in profile `ns2`.
    Srtt,
    /// Round-trip-time variation; seconds, or ticks times 4 in profile `ns2`.
    Rttvar,
    /// Retransmission timeout, seconds.
    Rto,
    /// Back-off multiplier of the retransmission timeout.
    Backoff,
    /// Retransmission timeouts so far.
    Timeouts,
    /// Bytes in flight, in packets.
    InFlight,
    /// Pacing rate, bit/s.
    PacingRate,
    /// Layers to which a receiver subscribes.
    Layers,
}

impl Variable {
    /// The variable as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cwnd => "cwnd",
            Self::Ssthresh => "ssthresh",
            Self::Rtt => "rtt",
            Self::Srtt => "srtt",
            Self::Rttvar => "rttvar",
            Self::Rto => "rto",
            Self::Backoff => "backoff",
            Self::Timeouts => "timeouts",
            Self::InFlight => "in_flight",
            Self::PacingRate => "pacing_rate",
            Self::Layers => "layers",
        }
    }
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Observation<'a> {
    /// An endpoint at `node` handed a packet to its node.
    Sent {
        /// The node.
        node: NodeId,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet reached an endpoint at `node`.
    Received {
        /// The node.
        node: NodeId,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet goes on from `node`, where it has come or was made.
    Forwarded {
        /// The node.
        node: NodeId,
        /// The packet.
        packet: &'a Packet,
    },
    /// A copy of a packet was made, which is under way too from now on: by a handover, or where the way of a packet to a group divides. The
    /// packet itself may have ended before.
    Copied {
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet was dropped.
    Dropped {
        /// Where.
        place: Place,
        /// Why.
        cause: Cause,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet was marked as having experienced congestion.
    Marked {
        /// Where.
        place: Place,
        /// The packet.
        packet: &'a Packet,
    },
    /// A variable of the flow's endpoint at `node` changed.
    Changed {
        /// The node.
        node: NodeId,
        /// The flow.
        flow: FlowId,
        /// What changed.
        variable: Variable,
        /// Its new value.
        value: f64,
    },
    /// A terminal is served by something else from now on.
    Served {
        /// The terminal's bearer down.
        place: Place,
        /// What serves it.
        service: &'static str,
    },
    /// Something happened to a PDU of a radio's link ARQ.
    Pdu {
        /// When: not always the present, since a medium may look at several instants in one event.
        at: Instant,
        /// The bearer and direction.
        place: Place,
        /// The step.
        step: PduStep,
        /// To what.
        pdu: &'a SeenPdu<'a>,
        /// Bytes that wait now in the queue concerned.
        queued: Option<u32>,
    },
    /// A slot of a radio's shared channel, or a part of it, carries a block to a terminal.
    Slot {
        /// The terminal's bearer down.
        place: Place,
        /// What the slot carries.
        block: &'a SeenBlock,
    },
    /// A packet arrived at the far side of a link that is watched ([`Watched`](super::watched::Watched)).
    Arrived {
        /// The direction of the link.
        place: Place,
        /// When its transmission began.
        start: Instant,
        /// The packet.
        packet: &'a Packet,
    },
    /// A direction of a link changes now, at once or from now on in steps.
    Handover {
        /// The direction of the link.
        place: Place,
        /// What it offers until now.
        before: Access,
        /// What it will offer when the change is complete.
        after: Access,
    },
}

/// What happens to a PDU of a radio's link ARQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PduStep {
    /// Its sending entity handed it down.
    Sent,
    /// The queue in front of the air was full.
    Dropped,
    /// The transmission time interval that carries it begins.
    Aired,
    /// It would have come now, but the air lost it.
    Lost,
    /// It came to the receiving entity.
    Received,
}

/// A PDU as it is seen.
#[derive(Clone, Copy, Debug)]
pub struct SeenPdu<'a> {
    /// Its sequence number, if it carries data.
    pub sn: Option<u32>,
    /// How many SDUs end in it.
    pub ends: u16,
    /// The polling bit.
    pub poll: bool,
    /// Length indicators.
    pub indicators: u8,
    /// Bytes of SDUs.
    pub data: u16,
    /// Bytes of these that belong to its first SDU.
    pub first: u16,
    /// Bytes of padding.
    pub padding: u16,
    /// Why it is sent.
    pub reason: &'static str,
    /// The status report that it carries: its first sequence number, which have come from there on, and
    /// its size in bytes.
    pub report: Option<(u32, &'a [bool], u16)>,
}

/// What a slot of a shared channel carries to one terminal.
#[derive(Clone, Copy, Debug)]
pub struct SeenBlock {
    /// The cell that sends it.
    pub cell: u32,
    /// The process of hybrid ARQ to which it belongs; 0 if there is only one.
    pub process: u8,
    /// Its number among the terminal's blocks.
    pub number: u32,
    /// How often it has been sent, this time included.
    pub transmission: u32,
    /// The transport format: modulation and coding.
    pub format: u8,
    /// How many codes it takes.
    pub codes: u8,
    /// Its size.
    pub bits: u32,
    /// How many of these are data.
    pub data: u32,
    /// Bits that waited for the terminal in front of the air, these included.
    pub waiting: u64,
    /// Whether it is received.
    pub received: bool,
}

/// An observer of a run.
pub trait Observer: Send {
    /// Takes note of an observation.
    fn see(&mut self, now: Instant, observation: &Observation<'_>);

    /// The table that it writes with the most rows, and how many these are. It is asked now and then, so that a run ends
    /// before its memory does.
    fn largest_table(&self) -> (&'static str, u64) {
        ("", 0)
    }

    /// Gives itself back as what it is, at the end of the run.
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any>;
}

/// What a part is that shows its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A direction of a link.
    Link,
    /// A radio cell.
    Cell,
    /// A direction of a terminal's radio bearer.
    Bearer,
    /// An endpoint or another machine of a node.
    Machine,
}

impl What {
    /// The part as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Cell => "cell",
            Self::Bearer => "bearer",
            Self::Machine => "machine",
        }
    }
}

/// Takes the present values of a component, by name. Names carry their unit (`queue_bytes`).
pub trait Probe {
    /// What follows belongs to this part.
    fn part(&mut self, what: What, name: &str);
    /// A value.
    fn value(&mut self, name: &'static str, value: f64);
    /// A distribution: `name` carries the unit that remains after multiplying by `scale`.
    fn distribution(&mut self, name: &'static str, scale: f64, histogram: &Histogram);
    /// Whether a distribution of this name is looked at. One that takes long to make need not be shown otherwise.
    fn wants(&self, _name: &'static str) -> bool {
        true
    }
}
