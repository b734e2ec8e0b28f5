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
        let mut destinations: Vec<NodeId> = self.endpoints.iter().map(|e| e.node).collect();
        destinations.sort_unstable();
        destinations.dedup();
        for node in &mut self.nodes {
            if let Routes::Table(hops) = &mut node.routes {
                hops.clear();
            }
        }
        self.route_to(&destinations);
        self.route_groups();
        self.tell_of_upstreams(upstreams);
    }

    /// From now on each packet at each node takes the way that is the shortest then.
    pub fn route_every_packet(&mut self) {
        self.routes_by_packet = true;
    }

    /// Computes the routes to these from the present ways.
    pub(super) fn route_to(&mut self, destinations: &[NodeId]) {
        let graph = Graph::new(self.ways());
        let all = self.nodes.len();
        for (node, number) in self.nodes.iter_mut().zip(0..) {
            match (graph.only_way(NodeId(number)), &mut node.routes) {
                (Some(hop), routes) => *routes = Routes::Default(Some(hop)),
                (None, Routes::Table(hops)) => hops.resize(all, None),
                (None, routes) => *routes = Routes::Table(vec![None; all]),
            }
        }
        let mut by_root: Vec<(NodeId, NodeId)> = destinations.iter().map(|&to| (graph.root(to), to)).collect();
        by_root.sort_unstable();
        for same in by_root.chunk_by(|a, b| a.0 == b.0) {
            let root = same[0].0;
            let first = graph.hops_to(root);
            for (node, number) in self.nodes.iter_mut().zip(0..) {
                let Routes::Table(hops) = &mut node.routes else { continue };
                let here = NodeId(number);
                for &(_, to) in same {
                    hops[to.0 as usize] = match here {
                        _ if here == to => None,
                        _ if here == root => graph.to_leaf(root, to),
                        _ => first[number as usize],
                    };
                }
            }
        }
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
