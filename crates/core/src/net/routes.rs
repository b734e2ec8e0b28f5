//! Shortest paths by propagation delay, then by hops, then by the lowest node number.
//!
//! A node with only one way out, to a node that has others, needs no table. Searches begin at destinations in use, go
//! backwards, and do not enter nodes with one way out, so a dumbbell of a thousand flows costs two searches over two nodes, and
//! ten terminals of a constellation cost ten over its satellites.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::Duration;

use super::node::NextHop;
use super::packet::NodeId;

/// A way out of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub hop: NextHop,
    pub node: NodeId,
    pub delay: Duration,
}

/// The graph: the ways out of each node, and into it.
pub(super) struct Graph {
    out: Vec<Vec<Way>>,
    /// By the node to which they lead; `node` is where they begin.
    into: Vec<Vec<Way>>,
}

/// How far a node is: the delay of the way in ns, then its hops.
type Distance = (u64, u32);

const FAR: Distance = (u64::MAX, u32::MAX);

impl Graph {
    /// The graph of these ways out of each node.
    pub fn new(out: Vec<Vec<Way>>) -> Self {
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
    pub fn only_way(&self, node: NodeId) -> Option<NextHop> {
        match self.out[node.0 as usize].as_slice() {
            [way] if !self.is_leaf(way.node) => Some(way.hop),
            _ => None,
        }
    }

    fn is_leaf(&self, node: NodeId) -> bool {
        self.out[node.0 as usize].len() == 1
    }

    /// The node over which all ways to `destination` lead: a leaf's neighbour, or itself.
    pub fn root(&self, destination: NodeId) -> NodeId {
        match self.out[destination.0 as usize].as_slice() {
            [way] => way.node,
            _ => destination,
        }
    }

    /// The hop from a root to a leaf of its.
    pub fn to_leaf(&self, root: NodeId, leaf: NodeId) -> Option<NextHop> {
        self.out[root.0 as usize].iter().find(|way| way.node == leaf).map(|way| way.hop)
    }

    /// The first hops of all nodes on their ways to `root`, by node number: Dijkstra's search, backwards over the nodes that are
    /// not leaves.
    pub fn hops_to(&self, root: NodeId) -> Vec<Option<NextHop>> {
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
