//! The ways through a network: routes between nodes. Those of groups are in `groups.rs`.

use super::Simulation;
use crate::net::node::NextHop;
use crate::net::packet::NodeId;
use crate::net::routes::{Way, Ways};

impl Simulation {
    /// Finds all ways anew, and the trees of groups. To be called when the network has been built; it is called again
    /// when ways appear or vanish.
    pub fn route(&mut self) {
        let upstreams = self.upstreams();
        for endpoint in &self.endpoints {
            self.nodes[endpoint.node.0 as usize].is_destination = true;
        }
        for node in self.groups.iter().flat_map(|group| &group.area) {
            self.nodes[node.0 as usize].is_destination = true;
        }
        self.find_ways();
        self.route_groups();
        self.tell_of_upstreams(upstreams);
    }

    /// From now on each packet at each node takes the way that is the shortest then.
    pub fn route_every_packet(&mut self) {
        self.routes_by_packet = true;
    }

    /// Takes the present ways; what leads where is searched for when it is asked.
    pub(super) fn find_ways(&mut self) {
        self.ways = self.present_ways();
    }

    /// The ways as they are now.
    pub(super) fn present_ways(&self) -> Ways {
        Ways::new(self.nodes.len(), self.ways_out())
    }

    /// The hop out of a node to a destination. Only nodes that are destinations are searched for.
    pub(super) fn hop(&mut self, node: NodeId, destination: NodeId) -> Option<NextHop> {
        let known = self.ways.known_hop(node, destination).copied();
        known.or_else(|| self.nodes[destination.0 as usize].is_destination.then(|| self.ways.hop(node, destination))?)
    }

    /// The ways, with the nodes where they begin.
    fn ways_out(&self) -> Vec<(NodeId, Way)> {
        let mut ways = Vec::new();
        for ((medium, number), ends) in self.media.iter().zip(0..).zip(self.ends.iter()) {
            for edge in medium.edges(self.core.now()) {
                let from = ends[edge.from.0 as usize];
                let node = ends[edge.to.0 as usize].node;
                let hop = NextHop { medium: number, from: edge.from, to: edge.to };
                ways.push((from.node, Way { hop, node, delay: edge.delay }));
            }
        }
        ways
    }

    /// Whether a packet from `from` finds its way to `to` at present.
    pub fn reaches(&mut self, from: NodeId, to: NodeId) -> bool {
        let mut at = from;
        for _ in 0..=self.nodes.len() {
            if at == to {
                return true;
            }
            let Some(hop) = self.hop(at, to) else { return false };
            at = self.ends[hop.medium][hop.to.0 as usize].node;
        }
        false
    }

    /// The way out of `node` to `destination`, and the node to which it leads.
    pub(super) fn next_hop(&mut self, node: NodeId, destination: NodeId) -> Option<(NextHop, NodeId)> {
        let hop = self.hop(node, destination).filter(|_| node != destination)?;
        Some((hop, self.ends[hop.medium][hop.to.0 as usize].node))
    }
}
