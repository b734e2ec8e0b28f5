//! Shortest paths by propagation delay, then by hops, then by the lowest node number.
//!
//! A node with only one way out, to a node that has others, is a leaf and needs no table. A search begins at a destination when
//! the first packet for it comes, or for another leaf of the same root; it goes backwards, and does not enter leaves. So a
//! dumbbell of a thousand flows costs two searches over two nodes, ten terminals of a constellation cost ten over its satellites,
//! and a chain of a hundred thousand nodes with one flow costs two.

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

/// Where a packet goes on from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Onward {
    /// There is no way.
    Nowhere,
    /// This way.
    Over(NextHop),
    /// The node is the root itself: to the leaf, if the destination is one.
    Leaf,
}

/// The next hops out of a node.
#[derive(Clone, Debug)]
enum Row {
    /// It is a leaf, and has one.
    Only(NextHop),
    /// By the slot of the destination's root, as far as roots have been searched for.
    Table(Vec<Onward>),
}

impl Row {
    /// The table, if it is no leaf.
    fn table(&mut self) -> Option<&mut Vec<Onward>> {
        match self {
            Self::Only(_) => None,
            Self::Table(onward) => Some(onward),
        }
    }
}

/// The ways as they were at one time, and the results of searches in them.
pub(super) struct Ways {
    graph: Graph,
    /// By node number.
    rows: Vec<Row>,
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
    /// The ways out of each node, with the node where they begin; nothing has been searched for.
    pub fn new(nodes: usize, ways: Vec<(NodeId, Way)>) -> Self {
        let graph = Graph::new(nodes, ways);
        let only = |number| graph.only_way(NodeId(number));
        let rows = (0..).take(nodes).map(|number| only(number).map_or(Row::Table(Vec::new()), Row::Only));
        let (rows, leaves) = (rows.collect(), graph.to_leaves());
        Self { graph, rows, slots: vec![NONE; nodes], roots: vec![NONE; nodes], leaves, taken: 0 }
    }

    /// The hop out of a node, if it is known already.
    #[inline(always)]
    pub fn known_hop(&self, node: NodeId, destination: NodeId) -> Option<&NextHop> {
        let onward = match &self.rows[node.0 as usize] {
            Row::Only(hop) => return Some(hop),
            Row::Table(onward) => onward.get(self.slots[destination.0 as usize] as usize)?,
        };
        match onward {
            Onward::Over(hop) => Some(hop),
            Onward::Leaf => self.leaves[destination.0 as usize].as_ref(),
            Onward::Nowhere => None,
        }
    }

    /// The hop out of a node to a destination; searched at the first use.
    pub fn hop(&mut self, node: NodeId, destination: NodeId) -> Option<NextHop> {
        if self.slots[destination.0 as usize] == NONE {
            self.search(destination);
        }
        self.known_hop(node, destination).copied()
    }

    /// The hop out of a node for one packet, searched for from there.
    pub fn hop_of_packet(&self, node: NodeId, destination: NodeId) -> Option<NextHop> {
        self.graph.hop_of_packet(node, destination)
    }

    /// Searches for the ways to a destination.
    fn search(&mut self, destination: NodeId) {
        let root = self.graph.root(destination);
        if self.roots[root.0 as usize] == NONE {
            if u64::from(self.taken + 1) * self.rows.len() as u64 > MOST_ENTRIES && self.taken > 0 {
                self.forget();
            }
            let first = self.graph.hops_to(root);
            for (row, hop) in self.rows.iter_mut().zip(first) {
                if let Some(onward) = row.table() {
                    onward.push(hop.map_or(Onward::Nowhere, Onward::Over));
                }
            }
            if let Some(last) = self.rows[root.0 as usize].table().and_then(|onward| onward.last_mut()) {
                *last = Onward::Leaf;
            }
            self.roots[root.0 as usize] = self.taken;
            self.taken += 1;
        }
        self.slots[destination.0 as usize] = self.roots[root.0 as usize];
    }

    fn forget(&mut self) {
        self.slots.fill(NONE);
        self.roots.fill(NONE);
        self.taken = 0;
        self.rows.iter_mut().filter_map(Row::table).for_each(Vec::clear);
    }
}

/// The graph: the ways out of each node, and into it.
struct Graph {
    out: Lists,
    /// By the node to which they lead; `node` is where they begin. Without those of leaves, which no search enters.
    into: Lists,
}

/// A list of ways for each node, one behind the other: most have one way, for which a list of its own would be large.
struct Lists {
    /// Where the list of each node begins, and where the last one ends.
    begins: Box<[u32]>,
    ways: Box<[Way]>,
}

impl Lists {
    /// The ways of each node, in the order in which they are given.
    fn new(nodes: usize, mut ways: Vec<(NodeId, Way)>) -> Self {
        ways.sort_by_key(|(node, _)| *node);
        let begins = (0..=nodes as u32).map(|node| ways.partition_point(|(of, _)| of.0 < node) as u32).collect();
        Self { begins, ways: ways.into_iter().map(|(_, way)| way).collect() }
    }

    fn nodes(&self) -> usize {
        self.begins.len() - 1
    }

    fn of(&self, node: NodeId) -> &[Way] {
        let [begin, end] = [0, 1].map(|more| self.begins[node.0 as usize + more] as usize);
        &self.ways[begin..end]
    }

    /// The list of each node.
    fn each(&self) -> impl Iterator<Item = (NodeId, &[Way])> {
        (0..self.nodes() as u32).map(|node| (NodeId(node), self.of(NodeId(node))))
    }
}

/// How far a node is: the delay of the way in ns, then its hops.
type Distance = (u64, u32);

const FAR: Distance = (u64::MAX, u32::MAX);

impl Graph {
    /// The graph of these ways, with the nodes where they begin.
    fn new(nodes: usize, ways: Vec<(NodeId, Way)>) -> Self {
        let mut graph = Self { out: Lists::new(nodes, ways), into: Lists::new(nodes, Vec::new()) };
        let is_entered = |node: NodeId| graph.only_way(node).is_none();
        let asked = graph.out.each().filter(|(from, _)| is_entered(*from));
        let asked = asked.flat_map(|(from, ways)| ways.iter().map(move |way| (from, *way)));
        let asked = asked.filter(|(_, way)| is_entered(way.node));
        let into: Vec<_> = asked.map(|(from, way)| (way.node, Way { node: from, ..way })).collect();
        graph.into = Lists::new(nodes, into);
        graph
    }

    /// The only way out of a node that has just one, to a node that knows where to go on. Of two
    /// nodes that have only each other neither does: between them a packet would go to and fro.
    fn only_way(&self, node: NodeId) -> Option<NextHop> {
        match self.out.of(node) {
            [way] if !self.is_leaf(way.node) => Some(way.hop),
            _ => None,
        }
    }

    fn is_leaf(&self, node: NodeId) -> bool {
        self.out.of(node).len() == 1
    }

    /// The node over which all ways to `destination` lead: a leaf's neighbour, or itself.
    fn root(&self, destination: NodeId) -> NodeId {
        match self.out.of(destination) {
            [way] => way.node,
            _ => destination,
        }
    }

    /// The hop from its root to each leaf.
    fn to_leaves(&self) -> Vec<Option<NextHop>> {
        let mut hops = vec![None; self.out.nodes()];
        for (from, ways) in self.out.each() {
            for way in ways.iter().filter(|way| self.is_leaf(way.node) && self.root(way.node) == from) {
                hops[way.node.0 as usize].get_or_insert(way.hop);
            }
        }
        hops
    }

    /// The first hops of all nodes on their ways to `root`, by node number: Dijkstra's search, backwards over the nodes that are
    /// not leaves.
    fn hops_to(&self, root: NodeId) -> Vec<Option<NextHop>> {
        let mut best = vec![FAR; self.out.nodes()];
        let mut first: Vec<Option<NextHop>> = vec![None; self.out.nodes()];
        let mut heap = BinaryHeap::new();
        best[root.0 as usize] = (0, 0);
        heap.push(Reverse(((0, 0), root)));
        while let Some(Reverse((distance, node))) = heap.pop() {
            if distance > best[node.0 as usize] {
                continue;
            }
            for way in self.into.of(node) {
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

    /// The first hop from a node to a destination, as ns-2 finds it for each packet at each node (`SatRouteObject`, ns-2.35
    /// `satellite/satroute.cc`): Dijkstra's search from the node on.
    ///
    /// Many ways through a constellation are equally long, since all links of its planes are. Which of them is taken follows from the search:
    /// delays are added up as doubles, in steps of 10 ns; of nodes equally far the one with the lowest number is looked at first, and a
    /// way as long as a known one does not replace it. The least delay is a step, so no two nodes send a packet to and fro.
    fn hop_of_packet(&self, from: NodeId, to: NodeId) -> Option<NextHop> {
        let mut seconds = vec![f64::INFINITY; self.out.nodes()];
        let mut first: Vec<Option<NextHop>> = vec![None; self.out.nodes()];
        let mut heap = BinaryHeap::new();
        // Distances are not negative, so their bits are in their order.
        let entry = |seconds: f64, node: NodeId| Reverse((seconds.to_bits(), node));
        seconds[from.0 as usize] = 0.0;
        heap.push(entry(0.0, from));
        while let Some(Reverse((bits, node))) = heap.pop() {
            if node == to {
                break;
            }
            let here = seconds[node.0 as usize];
            if bits > here.to_bits() {
                continue;
            }
            for way in self.out.of(node) {
                let steps = ((way.delay.as_nanos() + STEP_NS / 2) / STEP_NS).max(1);
                let farther = here + steps as f64 / STEPS_PER_SECOND;
                let slot = way.node.0 as usize;
                if farther < seconds[slot] {
                    seconds[slot] = farther;
                    first[slot] = if node == from { Some(way.hop) } else { first[node.0 as usize] };
                    heap.push(entry(farther, way.node));
                }
            }
        }
        first[to.0 as usize]
    }
}

/// In these steps delays of ways are compared for each packet (`SatGeometry::propdelay`).
const STEP_NS: u64 = 10;
const STEPS_PER_SECOND: f64 = 1e8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::medium::Peer;

    /// Ways as (from, to, nanoseconds); each hop is named by its place in this list.
    fn graph(ways: &[(u32, u32, u64)]) -> Graph {
        let way = |(place, &(from, to, ns)): (u32, &(u32, u32, u64))| {
            let hop = NextHop { medium: place, from: Peer(0), to: Peer(1) };
            (NodeId(from), Way { hop, node: NodeId(to), delay: Duration::from_nanos(ns) })
        };
        Graph::new(8, (0..).zip(ways).map(way).collect())
    }

    /// Dijkstra's search of ns-2 by hand: node 1 is looked at before node 2, which is as far, and a way as long as a known one, within 10 ns,
    /// does not replace it.
    #[test]
    fn of_equal_ways_a_packet_takes_that_over_the_lowest_node() {
        let hop = |ways: &[(u32, u32, u64)]| graph(ways).hop_of_packet(NodeId(0), NodeId(3)).map(|hop| hop.medium);
        assert_eq!(hop(&[(0, 2, 500), (2, 3, 700), (0, 1, 500), (1, 3, 700)]), Some(2));
        assert_eq!(hop(&[(0, 2, 500), (2, 3, 696), (0, 1, 500), (1, 3, 700)]), Some(2), "a difference within a step");
        assert_eq!(hop(&[(0, 2, 500), (2, 3, 690), (0, 1, 500), (1, 3, 700)]), Some(0));
        // The nearer node is looked at first, whatever its number.
        assert_eq!(hop(&[(0, 2, 500), (2, 3, 700), (0, 1, 700), (1, 3, 500)]), Some(0));
        assert_eq!(hop(&[(0, 1, 500), (3, 1, 500)]), None);
    }

    /// Of nodes without distance to one another each sends towards the destination.
    #[test]
    fn ways_without_length_make_no_circle() {
        let graph = graph(&[(0, 1, 0), (1, 0, 0), (0, 3, 40), (1, 3, 40)]);
        let hops = [0, 1].map(|node| graph.hop_of_packet(NodeId(node), NodeId(3)).map(|hop| hop.medium));
        assert_eq!(hops, [Some(2), Some(3)]);
    }
}
