//! Interventions from outside, between events: changes of media, packets injected by the caller, and packets handed out to it.

use std::collections::BTreeMap;

use crate::engine::{Fault, Instant};
use crate::net::machine::{LinkNotice, Notice};
use crate::net::medium::{Access, Change, Peer};
use crate::net::observe::{Cause, Observation};
use crate::net::packet::{Address, FlowId, NodeId, Packet};
use crate::net::slab::Pkt;

use super::Simulation;

/// The port of a packet that is to be handed out: no endpoint is ever seated there, since ports are given from the lowest on.
pub const OUTSIDE_PORT: u16 = u16::MAX;

/// The first flow of those that the caller numbers: packets of theirs are injected, and the network has no source or endpoint of theirs.
pub const FIRST_OUTSIDE_FLOW: FlowId = FlowId(1 << 31);

/// A packet that has come to a node which hands packets out ([`Simulation::hand_out_at`]).
#[derive(Clone, Debug)]
pub struct HandedOut {
    /// When it came.
    pub at: Instant,
    /// The node.
    pub node: NodeId,
    /// The packet.
    pub packet: Packet,
}

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
        if packet.flow < FIRST_OUTSIDE_FLOW && packet.flow.0 as usize >= self.flows.len() {
            return wrong("flow", "flow");
        }
        *self.core.vacant() = packet;
        self.send(node);
        Ok(())
    }

    /// From now on packets may be sent to `node`, and those that come to a port without an endpoint are handed out there: they count as
    /// delivered, and [`Simulation::take_handed_out`] gives them to the caller. To be called before [`Simulation::route`].
    pub fn hand_out_at(&mut self, node: NodeId) {
        self.make_destination(node);
        self.nodes[node.0 as usize].hands_out = true;
    }

    /// Moves the packets handed out since the last call to the end of `to`, in the order in which they came. The caller takes them after
    /// each step, since the network keeps all of them until then.
    pub fn take_handed_out(&mut self, to: &mut Vec<HandedOut>) {
        to.append(&mut self.handed_out);
    }

    /// A packet has come to a port of `node` without an endpoint.
    #[inline(never)]
    pub(super) fn end_without_endpoint(&mut self, node: NodeId, pkt: Pkt) {
        if !self.nodes[node.0 as usize].hands_out {
            return self.core.drop(pkt, self.nowhere, Cause::NoEndpoint);
        }
        let at = self.core.now();
        if self.core.is_observed() {
            let packet = *self.core.packet(&pkt);
            self.core.observe(&Observation::Received { node, packet: &packet });
        }
        let packet = *self.core.deliver(pkt);
        self.handed_out.push(HandedOut { at, node, packet });
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
        let peers = 0..self.ends[medium].len() as u32;
        peers.map(|peer| self.access(medium, Peer(peer))).collect()
    }

    /// Notifies the machines at a medium's nodes of changes of the ways to them.
    pub(super) fn tell_of_change(&mut self, medium: u32, before: &[Access]) {
        let after = self.accesses(medium);
        let ways = self.ends[medium].iter().zip(before.iter().zip(after));
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
