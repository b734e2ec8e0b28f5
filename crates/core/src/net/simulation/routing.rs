//! The ways through a network: routes between nodes. Those of groups are in `groups.rs`.

use super::Simulation;
use crate::net::node::{NextHop, Routes};
use crate::net::packet::NodeId;
use crate::net::routes::{Graph, Way};

impl Simulation {
    /// Computes all routes, and the trees of groups, from the present ways. To be called when the network
    /// has been built; it is called again when ways appear or vanish.
    pub fn route(&mut self) {
        let upstreams = self.upstreams();
        let graph = Graph::new(self.ways());
        let mut destinations: Vec<NodeId> = self.endpoints.iter().map(|e| e.node).collect();
        destinations.sort_unstable();
        destinations.dedup();
        for n in 0..self.nodes.len() {
            let node = NodeId(n as u32);
            self.nodes[n].routes = match graph.only_way(node) {
                Some(hop) => Routes::Default(Some(hop)),
                None => Routes::Table(graph.table(node, &destinations)),
            };
        }
        self.route_groups();
        self.tell_of_upstreams(upstreams);
    }

    /// The ways out of each node.
    fn ways(&self) -> Vec<Vec<Way>> {
        let mut ways = vec![Vec::new(); self.nodes.len()];
        for ((medium, number), ends) in self.media.iter().zip(0..).zip(&self.ends) {
            for edge in medium.edges(self.core.now()) {
                let from = ends[edge.from.0 as usize];
                let node = ends[edge.to.0 as usize].node;
                let hop = NextHop { medium: number, from: edge.from, to: edge.to };
                ways[from.node.0 as usize].push(Way { hop, node, delay: edge.delay });
            }
        }
        ways
    }

    /// Whether a packet from `from` finds its way to `to` at present.
    pub fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        let mut at = from;
        for _ in 0..=self.nodes.len() {
            if at == to {
                return true;
            }
            let node = &self.nodes[at.0 as usize];
            let Some(hop) = node.routes.to(to) else { return false };
            at = self.ends[hop.medium as usize][hop.to.0 as usize].node;
        }
        false
    }

    /// The way out of `node` to `destination`, and the node to which it leads.
    pub(super) fn next_hop(&self, node: NodeId, destination: NodeId) -> Option<(NextHop, NodeId)> {
        let hop = self.nodes[node.0 as usize].routes.to(destination).filter(|_| node != destination)?;
        Some((hop, self.ends[hop.medium as usize][hop.to.0 as usize].node))
    }
}
