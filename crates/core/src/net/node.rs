//! A node: a place with a forwarding table. Plain data.

use super::core::Port;
use super::medium::Peer;
use super::packet::{GroupId, NodeId};

/// An attachment of a node to a medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    pub medium: u32,
    pub peer: Peer,
}

/// Where a packet leaves, and to which peer of that medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextHop {
    pub port: Port,
    pub to: Peer,
}

/// The next hop by destination.
#[derive(Clone, Debug)]
pub(super) enum Routes {
    /// A node with only one way out: everything goes there.
    Default(Option<NextHop>),
    /// By destination number. Only destinations in use have an entry.
    Table(Vec<Option<NextHop>>),
}

impl Routes {
    #[inline]
    pub fn to(&self, destination: NodeId) -> Option<NextHop> {
        match self {
            Self::Default(hop) => *hop,
            Self::Table(hops) => hops.get(destination.0 as usize).copied().flatten(),
        }
    }
}

/// The copies that a node makes of a group's packets.
#[derive(Clone, Debug, Default)]
pub(super) struct OutList {
    /// The ports by which it leaves, each with the peers to which it goes.
    pub out: Vec<(Port, Vec<Peer>)>,
    /// Whether endpoints of this node listen.
    pub local: bool,
}

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    pub name: String,
    pub interfaces: Vec<Interface>,
    pub routes: Routes,
    /// Out-lists by group, sorted.
    pub groups: Vec<(GroupId, OutList)>,
    /// The endpoint at each port.
    pub sockets: Vec<Option<u32>>,
}

impl Node {
    pub fn new(name: String) -> Self {
        Self { name, interfaces: Vec::new(), routes: Routes::Default(None), groups: Vec::new(), sockets: vec![None] }
    }

    pub fn group(&self, group: GroupId) -> Option<&OutList> {
        let place = self.groups.binary_search_by_key(&group, |(g, _)| *g).ok()?;
        Some(&self.groups[place].1)
    }
}
