//! Interventions from outside, between events: changes of media, and packets injected by the caller.

use std::collections::BTreeMap;

use crate::engine::{Fault, Instant};
use crate::net::machine::{LinkNotice, Notice};
use crate::net::medium::{Access, Change, Peer};
use crate::net::packet::{Address, FlowId, NodeId, Packet};

use super::Simulation;

impl Simulation {
    /// When the next wake-up is due. It may be an old one with nothing due.
    pub fn next_event(&mut self) -> Option<Instant> {
        self.core.queue.peek().map(|wake| wake.at)
    }

    /// Injects a packet at `node`, now: it goes to an endpoint there, or on, and counts as sent.
    ///
    /// # Errors
    /// If its addresses are not of this network, or it belongs to a flow that there is not.
    pub fn inject(&mut self, node: NodeId, packet: Packet) -> Result<(), Fault> {
        let wrong = |field, what: &str| Err(Fault::new(field, format!("there is no such {what}"), ""));
        let is_node = |node: NodeId| (node.0 as usize) < self.nodes.len();
        if !is_node(node) || !is_node(packet.from.node) {
            return wrong("from", "node");
        }
        let known = match packet.to {
            Address::Node(node) => is_node(node),
            Address::Group(group) => (group.0 as usize) < self.groups.len(),
        };
        if !known {
            return wrong("to", "node or group");
        }
        if packet.flow != FlowId::NONE && packet.flow.0 as usize >= self.flows.len() {
            return wrong("flow", "flow");
        }
        *self.core.vacant() = packet;
        self.send(node);
        Ok(())
    }

    /// Changes a medium now.
    pub fn change(&mut self, medium: u32, change: Change) {
        self.change_all(medium, [change]);
    }

    /// Changes several ways of a medium now.
    pub fn change_all(&mut self, medium: u32, changes: impl IntoIterator<Item = Change>) {
        let edges = self.media[medium as usize].edges(self.core.now());
        let before = self.accesses(medium);
        for mut change in changes {
            self.media[medium as usize].change(&mut self.core, &mut change);
        }
        if self.media[medium as usize].edges(self.core.now()) != edges {
            self.route();
        }
        self.forward_arrivals();
        self.tell_of_change(medium, &before);
    }

    /// The way to a peer of a medium at present.
    pub fn access(&self, medium: u32, peer: Peer) -> Access {
        self.media[medium as usize].access(peer)
    }

    /// The ways to the nodes of a medium.
    pub(super) fn accesses(&self, medium: u32) -> Vec<Access> {
        let peers = 0..self.ends[medium as usize].len() as u32;
        peers.map(|peer| self.access(medium, Peer(peer))).collect()
    }

    /// Notifies the machines at a medium's nodes of changes of the ways to them.
    pub(super) fn tell_of_change(&mut self, medium: u32, before: &[Access]) {
        let after = self.accesses(medium);
        let ways = self.ends[medium as usize].iter().zip(before.iter().zip(after));
        let changed = ways.filter(|(_, (before, after))| *before != after);
        let notices: Vec<(NodeId, LinkNotice)> =
            changed.map(|(end, (&before, after))| (end.node, LinkNotice { port: end.port, before, after })).collect();
        let mut at: BTreeMap<NodeId, Vec<u32>> = notices.iter().map(|(node, _)| (*node, Vec::new())).collect();
        for (seated, index) in self.endpoints.iter().zip(0..) {
            if let Some(there) = at.get_mut(&seated.node) {
                there.push(index);
            }
        }
        for (node, notice) in notices {
            for &index in &at[&node] {
                self.endpoints[index as usize].endpoint.on_notice(self.core.now(), Notice::Link(notice));
                self.settle(index);
            }
        }
    }
}
