//! Shortest paths by propagation delay, then by hops, then by the lowest node number.
//!
//! A node with only one way out, to a node that has others, is a leaf and needs no table. A search begins at a destination when
//! the first packet for it comes, or for another leaf of the same root; it goes backwards, and does not enter leaves. So a
//! dumbbell of a thousand flows costs two searches over two nodes, ten terminals of a constellation cost ten over its satellites,
//! and a chain of a hundred thousand nodes with one flow costs two.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::Duration;

use super::node::{NextHop, Node, Onward, Routes};
use super::packet::NodeId;

/// A way out of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub hop: NextHop,
    pub node: NodeId,
    pub delay: Duration,
}

/// The ways as they were at one time, and what has been searched for in them.
pub(super) struct Ways {
    graph: Graph,
    /// By the number of a destination: the slot of its root, or none yet.
    slots: Vec<u32>,
    /// The slot of each root, by its number.
    roots: Vec<u32>,
    /// The hop from its root to each leaf.
    leaves: Vec<Option<NextHop>>,
    /// How many slots are taken.
    taken: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;
/// The most entries that nodes' tables have together: 800 MB. Then all is forgotten, and searched for anew.
const MOST_ENTRIES: u64 = 50_000_000;

impl Ways {
    /// The ways out of each node; nothing has been searched for.
    pub fn new(out: Vec<Vec<Way>>) -> Self {
        let (nodes, graph) = (out.len(), Graph::new(out));
        let leaves = graph.to_leaves();
        Self { graph, slots: vec![NONE; nodes], roots: vec![NONE; nodes], leaves, taken: 0 }
    }

    /// What a node's table is before anything has been searched for.
    pub fn of_node(&self, node: NodeId) -> Routes {
        self.graph.only_way(node).map_or_else(|| Routes::Table(Vec::new()), |hop| Routes::Default(Some(hop)))
    }

    /// The next hop by a node's table; `None` if the destination has not been searched for.
    #[inline]
    pub fn look_up(&self, routes: &Routes, destination: NodeId) -> Option<Option<NextHop>> {
        match routes {
            Routes::Default(hop) => Some(*hop),
            Routes::Table(hops) => match hops.get(*self.slots.get(destination.0 as usize)? as usize)? {
                Onward::Over(hop) => Some(Some(*hop)),
                Onward::Nowhere => Some(None),
                Onward::Leaf => Some(self.leaves[destination.0 as usize]),
            },
        }
    }

    /// Searches for the ways to a destination, and writes them into the tables of all nodes.
    pub fn search(&mut self, destination: NodeId, nodes: &mut [Node]) {
        let root = self.graph.root(destination);
        if self.roots[root.0 as usize] == NONE {
            if u64::from(self.taken + 1) * nodes.len() as u64 > MOST_ENTRIES && self.taken > 0 {
                self.forget(nodes);
            }
            let first = self.graph.hops_to(root);
            for (node, hop) in nodes.iter_mut().zip(first) {
                if let Routes::Table(hops) = &mut node.routes {
                    hops.push(hop.map_or(Onward::Nowhere, Onward::Over));
                }
            }
            if let Routes::Table(hops) = &mut nodes[root.0 as usize].routes
                && let Some(own) = hops.last_mut()
            {
                *own = Onward::Leaf;
            }
            self.roots[root.0 as usize] = self.taken;
            self.taken += 1;
        }
        self.slots[destination.0 as usize] = self.roots[root.0 as usize];
    }

    fn forget(&mut self, nodes: &mut [Node]) {
        self.slots.fill(NONE);
        self.roots.fill(NONE);
        self.taken = 0;
        for node in nodes {
            if let Routes::Table(hops) = &mut node.routes {
                hops.clear();
            }
        }
    }
}

/// The graph: the ways out of each node, and into it.
struct Graph {
    out: Vec<Vec<Way>>,
    /// By the node to which they lead; `node` is where they begin.
    into: Vec<Vec<Way>>,
}

/// How far a node is: the delay of the way in ns, then its hops.
type Distance = (u64, u32);

const FAR: Distance = (u64::MAX, u32::MAX);

impl Graph {
    /// The graph of these ways out of each node.
    fn new(out: Vec<Vec<Way>>) -> Self {
        let mut into = vec![Vec::new(); out.len()];
        for (ways, from) in out.iter().zip(0..) {
            for way in ways {
                into[way.node.0 as usize].push(Way { node: NodeId(from), ..*way });
            }
        }
        Self { out, into }
    }

    /// The only way out of a node that has just one, to a node that knows where to go on. Of two
    /// nodes that have only each other neither does: between them a packet would go to and fro.
    fn only_way(&self, node: NodeId) -> Option<NextHop> {
        match self.out[node.0 as usize].as_slice() {
            [way] if !self.is_leaf(way.node) => Some(way.hop),
            _ => None,
        }
    }

    fn is_leaf(&self, node: NodeId) -> bool {
        self.out[node.0 as usize].len() == 1
    }

    /// The node over which all ways to `destination` lead: a leaf's neighbour, or itself.
    fn root(&self, destination: NodeId) -> NodeId {
        match self.out[destination.0 as usize].as_slice() {
            [way] => way.node,
            _ => destination,
        }
    }

    /// The hop from its root to each leaf.
    fn to_leaves(&self) -> Vec<Option<NextHop>> {
        let mut hops = vec![None; self.out.len()];
        for (ways, from) in self.out.iter().zip(0..) {
            for way in ways.iter().filter(|way| self.is_leaf(way.node) && self.root(way.node) == NodeId(from)) {
                hops[way.node.0 as usize].get_or_insert(way.hop);
            }
        }
        hops
    }

    /// The first hops of all nodes on their ways to `root`, by node number: Dijkstra's search, backwards over the nodes that are
    /// not leaves.
    fn hops_to(&self, root: NodeId) -> Vec<Option<NextHop>> {
        let mut best = vec![FAR; self.out.len()];
        let mut first: Vec<Option<NextHop>> = vec![None; self.out.len()];
        let mut heap = BinaryHeap::new();
        best[root.0 as usize] = (0, 0);
        heap.push(Reverse(((0, 0), root)));
        while let Some(Reverse((distance, node))) = heap.pop() {
            if distance > best[node.0 as usize] {
                continue;
            }
            for way in &self.into[node.0 as usize] {
                let farther = (distance.0.saturating_add(way.delay.as_nanos()), distance.1 + 1);
                let slot = way.node.0 as usize;
                if farther < best[slot] {
                    best[slot] = farther;
                    first[slot] = Some(way.hop);
                    if !self.is_leaf(way.node) {
                        heap.push(Reverse((farther, way.node)));
                    }
                }
            }
        }
        first
    }
}
