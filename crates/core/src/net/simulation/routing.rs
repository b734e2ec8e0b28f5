//! The ways through a network: routes between nodes, and the trees of groups.

use super::Simulation;
use crate::net::node::{NextHop, OutList, Routes};
use crate::net::packet::{Address, GroupId, NodeId};
use crate::net::routes::{Graph, Way};

impl Simulation {
    /// Computes all routes and out-lists from the present ways. To be called when the network
    /// has been built; it is called again when ways appear or vanish.
    pub fn route(&mut self) {
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

    /// Builds for each group the union of the shortest paths from its senders to its members.
    fn route_groups(&mut self) {
        let mut trees: Vec<(GroupId, NodeId, NodeId)> = Vec::new();
        for flow in &self.flows {
            let Address::Group(group) = flow.to else { continue };
            let from = self.endpoints[flow.sender as usize].node;
            trees.extend(flow.receivers.iter().map(|&r| (group, from, self.endpoints[r as usize].node)));
        }
        for node in &mut self.nodes {
            node.groups.clear();
        }
        for (group, from, member) in trees {
            self.out_list(member, group, from).local = true;
            if !self.reaches(from, member) {
                continue;
            }
            let mut at = from;
            while at != member {
                let Some(hop) = self.nodes[at.0 as usize].routes.to(member) else { break };
                let out = &mut self.out_list(at, group, from).out;
                match out.iter_mut().find(|(medium, from, _)| (*medium, *from) == (hop.medium, hop.from)) {
                    Some((.., peers)) if peers.contains(&hop.to) => {}
                    Some((.., peers)) => peers.push(hop.to),
                    None => out.push((hop.medium, hop.from, vec![hop.to])),
                }
                at = self.ends[hop.medium as usize][hop.to.0 as usize].node;
            }
        }
    }

    fn out_list(&mut self, node: NodeId, group: GroupId, from: NodeId) -> &mut OutList {
        let groups = &mut self.nodes[node.0 as usize].groups;
        let place = groups.binary_search_by_key(&(group, from), |(key, _)| *key).unwrap_or_else(|place| {
            groups.insert(place, ((group, from), OutList::default()));
            place
        });
        &mut groups[place].1
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
