//! Shortest paths by propagation delay, then by hops, then by the lowest node number.
//!
//! A node with only one way out, to a node that has others, needs no table. Tables are computed
//! among the other nodes only, and hold only destinations in use, so a dumbbell of a thousand
//! flows costs two searches over two nodes.

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

/// The graph: the ways out of each node.
pub(super) struct Graph {
    ways: Vec<Vec<Way>>,
}

/// How far a node is: the delay of the way in ns, then its hops.
type Distance = (u64, u32);

const FAR: Distance = (u64::MAX, u32::MAX);

impl Graph {
    pub fn new(ways: Vec<Vec<Way>>) -> Self {
        Self { ways }
    }

    /// The only way out of a node that has just one, to a node that knows where to go on. Of two
    /// nodes that have only each other neither does: between them a packet would go to and fro.
    pub fn only_way(&self, node: NodeId) -> Option<NextHop> {
        match self.ways[node.0 as usize].as_slice() {
            [way] if !self.is_leaf(way.node) => Some(way.hop),
            _ => None,
        }
    }

    fn is_leaf(&self, node: NodeId) -> bool {
        self.ways[node.0 as usize].len() == 1
    }

    /// The first hop from `from` to each of `destinations`, by node number.
    pub fn table(&self, from: NodeId, destinations: &[NodeId]) -> Vec<Option<NextHop>> {
        let first = self.first_hops(from);
        let mut table = vec![None; self.ways.len()];
        for &destination in destinations {
            let slot = destination.0 as usize;
            table[slot] = first[slot].or_else(|| self.to_leaf(from, destination, &first));
        }
        table
    }

    /// A leaf is reached over its only neighbour; searches do not enter leaves.
    fn to_leaf(&self, from: NodeId, leaf: NodeId, first: &[Option<NextHop>]) -> Option<NextHop> {
        let [way] = self.ways[leaf.0 as usize].as_slice() else { return None };
        if way.node == from {
            return self.ways[from.0 as usize].iter().find(|w| w.node == leaf).map(|w| w.hop);
        }
        first[way.node.0 as usize]
    }

    /// Dijkstra's search from `from` over the nodes that are not leaves.
    fn first_hops(&self, from: NodeId) -> Vec<Option<NextHop>> {
        let mut best = vec![FAR; self.ways.len()];
        let mut first: Vec<Option<NextHop>> = vec![None; self.ways.len()];
        let mut heap = BinaryHeap::new();
        best[from.0 as usize] = (0, 0);
        heap.push(Reverse(((0, 0), from)));
        while let Some(Reverse((distance, node))) = heap.pop() {
            if distance > best[node.0 as usize] {
                continue;
            }
            for way in &self.ways[node.0 as usize] {
                if self.is_leaf(way.node) {
                    continue;
                }
                let farther = (distance.0.saturating_add(way.delay.as_nanos()), distance.1 + 1);
                let slot = way.node.0 as usize;
                if farther < best[slot] {
                    best[slot] = farther;
                    first[slot] = if node == from { Some(way.hop) } else { first[node.0 as usize] };
                    heap.push(Reverse((farther, way.node)));
                }
            }
        }
        first
    }
}
