//! Orders: what a machine may ask of its own node, and the answers.
//!
//! A machine gives orders at its own node only; control between nodes is packets between machines.

use crate::engine::{BitRate, Instant};

use super::core::Port;
use super::dscp::Class;
use super::meter::Promise;
use super::observe::Place;
use super::packet::{FlowId, GroupId, NodeId};

/// An order to an interface of the own node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The node to which its packets go.
    pub toward: NodeId,
    /// Which interface; `None` for that over which packets to the node leave at present.
    pub over: Option<Port>,
    /// The command.
    pub command: Command,
}

/// A command to a queue discipline, to a medium, or to the out-list of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Reserve this rate for a flow, or change its reservation.
    Reserve(FlowId, BitRate),
    /// Release a flow's reservation, or forget its profile.
    Release(FlowId),
    /// Say which interface this is.
    Interface,
    /// Say what a class may have here, if this is where flows are conditioned.
    Offer(Class),
    /// Condition a flow: mark the packets that keep to the promise for the class.
    Condition(FlowId, Class, Promise),
    /// Let through what a sender sends to a group, over this interface and to that node; or to the endpoints here, if it is the own node.
    Open(GroupId, NodeId, Port),
    /// Let it through no longer.
    Shut(GroupId, NodeId),
    /// Let the own endpoints listen to a group.
    Listen(GroupId),
    /// Let them listen to it no longer.
    Ignore(GroupId),
    /// Say how many packets of a flow for this terminal found no room in front of the radio, and when the last.
    Rejections(FlowId, NodeId),
}

/// What a class may have at an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The interface of the node. Its queue does not know it: the node fills it in.
    pub port: Port,
    /// Where the interface counts its drops.
    pub place: Place,
    /// The rate.
    pub rate: BitRate,
}

/// Packets that found no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejections {
    /// How many.
    pub count: u64,
    /// When the last of them came; without meaning if there are none.
    pub last: Instant,
}

impl Rejections {
    /// These and others.
    pub fn and(self, other: Self) -> Self {
        Self { count: self.count + other.count, last: self.last.max(other.last) }
    }
}

/// What a node copies a sender's packets to a group to, after a branch was opened or shut there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branches {
    /// The number of neighbours, the own endpoints among them; and one more at a node to which the packets always go.
    pub count: u32,
    /// The neighbour on the way to the sender at present.
    pub upstream: Option<NodeId>,
}

/// The answer to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Done,
    /// This interface.
    Interface(Port),
    /// A class may have something here.
    Offered(Offer),
    /// It cannot be done: this rate could be reserved in place of the one asked for.
    Refused(BitRate),
    /// A branch was opened or shut.
    Branches(Branches),
    /// Their number so far, and the time of the last.
    Rejected(Rejections),
    /// The interface knows no such order, or there is none.
    Unknown,
}

impl Answer {
    /// The interface that was asked for, if there is one.
    pub fn interface(self) -> Option<Port> {
        if let Self::Interface(port) = self { Some(port) } else { None }
    }
}
