//! A node: a place with a forwarding table. Plain data.

use super::core::Port;
use super::medium::Peer;
use super::packet::{GroupId, NodeId};

/// Where a packet goes next: into a medium, from one of its peers to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextHop {
    pub medium: u32,
    pub from: Peer,
    pub to: Peer,
}

/// The copies that a node makes of a group's packets.
#[derive(Clone, Debug, Default)]
pub(super) struct OutList {
    /// The media that it enters, each from one of their peers to others.
    pub out: Vec<(u32, Peer, Vec<Peer>)>,
    /// Whether endpoints of this node listen.
    pub local: bool,
    /// Whether the packets always go to this node, independent of membership.
    pub area: bool,
    /// The only interface from which packets are taken, if not all are.
    pub parent: Option<Port>,
}

impl OutList {
    /// To how many neighbours they go, the own endpoints among them. A node of an area has one more, which is never shut.
    pub fn branches(&self) -> u32 {
        let neighbours: u32 = self.out.iter().map(|(.., peers)| peers.len() as u32).sum();
        neighbours + u32::from(self.local) + u32::from(self.area)
    }

    /// They go to this peer of a medium, too. Says whether they did not before.
    pub fn open(&mut self, hop: NextHop) -> bool {
        match self.out.iter_mut().find(|(medium, from, _)| (*medium, *from) == (hop.medium, hop.from)) {
            Some((.., peers)) if peers.contains(&hop.to) => return false,
            Some((.., peers)) => peers.push(hop.to),
            None => self.out.push((hop.medium, hop.from, vec![hop.to])),
        }
        true
    }

    /// They go to these peers of media no longer. Says whether they went to any.
    pub fn shut(&mut self, leads: impl Fn(u32, Peer) -> bool) -> bool {
        let before = self.branches();
        for (medium, _, peers) in &mut self.out {
            peers.retain(|&peer| !leads(*medium, peer));
        }
        self.out.retain(|(.., peers)| !peers.is_empty());
        self.branches() < before
    }
}

/// The first port for endpoints of flows; those below are for machines that serve their node.
pub const FIRST_FREE_PORT: u16 = 4;

/// A node.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Its interfaces: the medium and the peer there, by port.
    pub ports: Vec<(u32, Peer)>,
    /// Whether packets may be for it: it has an endpoint.
    pub is_destination: bool,
    /// Whether packets to ports without an endpoint are given to the caller of the simulation.
    pub hands_out: bool,
    /// Out-lists by group and sending node, sorted: each sender has a tree of its own.
    pub groups: Vec<((GroupId, NodeId), OutList)>,
}

impl Node {
    /// The out-list of a group's sender; an empty one if there is none.
    pub fn group_mut(&mut self, group: GroupId, from: NodeId) -> &mut OutList {
        let place = self.groups.binary_search_by_key(&(group, from), |(key, _)| *key).unwrap_or_else(|place| {
            self.groups.insert(place, ((group, from), OutList::default()));
            place
        });
        &mut self.groups[place].1
    }

    pub fn group(&self, group: GroupId, from: NodeId) -> Option<&OutList> {
        let place = self.groups.binary_search_by_key(&(group, from), |(key, _)| *key).ok()?;
        Some(&self.groups[place].1)
    }
}
