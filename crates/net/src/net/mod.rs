//! The network: packets, nodes, media, queues, and the loop that moves packets between them.
//!
//! Nodes forward, media carry, queues decide, endpoints talk, sources ask. Read
//! [`simulation`] for the loop, [`transmitter`] for how a link works, [`machine`] for what
//! endpoints and sources are.

#[cfg(any(test, feature = "testing"))]
pub mod bench;
pub mod clock;
pub mod copies;
pub mod core;
pub mod discipline;
pub mod dscp;
pub mod guard;
mod histogram;
pub mod indication;
pub mod jitter;
pub mod link;
pub mod loss;
pub mod machine;
pub mod medium;
pub mod meter;
mod names;
mod node;
pub mod observe;
pub mod operations;
pub mod order;
pub mod packet;
mod routes;
pub mod schedule;
pub mod sequence;
pub mod simulation;
mod slab;
pub mod sparing;
pub mod token_bucket;
pub mod trace;
pub mod transmitter;
pub mod watched;

pub use self::core::{Core, Counters, DropCount, Port};
pub use discipline::{Backlog, QueueDiscipline};
pub use machine::{
    Action, Agent, Endpoint, EndpointContext, Hears, LinkNotice, Membership, Notice, Source, Timed, Transfer, Upstream,
};
pub use medium::{Access, Change, Edge, End, InFlight, Medium, Peer, Queued};
pub use node::FIRST_FREE_PORT;
pub use observe::{Cause, Histogram, Observation, Observer, PduStep, Place, Probe, SeenBlock, SeenPdu, Variable, What};
pub use order::{Answer, Branches, Command, Offer, Order, Rejections};
pub use packet::{
    AckVector, Address, CongestionHeader, DccpHeader, DccpOptions, DccpType, Direction, Ecn, FlowId, GroupId, Header,
    LayeredHeader, ListedInterval, ListedIntervals, MarkedBytes, NodeId, Packet, PacketState, PgmAck, PgmData,
    PgmElements, PgmHeader, PgmNak, PgmPath, PgmReport, RtcpReport, RtpHeader, SackBlocks, Signal, SignalHeader,
    Socket, TcpFlags, TcpHeader, TcpOptions, TfmccEcho, TfmccHeader, TfmccReport, TfrcHeader, TfrcReport, UdpHeader,
    Words,
};
pub use simulation::{RunError, Simulation};
pub use slab::Pkt;
