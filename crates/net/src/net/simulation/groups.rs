//! Multicast groups: their members, and the trees from their senders.
//!
//! A tree is instant or signalled. An instant one is always the union of the shortest paths from the sender to the listening nodes. A
//! signalled one begins as the union of the shortest ways back to the sender; after that, machines at the nodes change it, branch by
//! branch, with messages that take their time ([`Command::Open`]). They are notified when nodes join and leave, and when the way back to a
//! sender has changed.

use super::Simulation;
use crate::engine::Duration;
use crate::net::core::Port;
use crate::net::machine::{Membership, Notice, Upstream};
use crate::net::medium::Peer;
use crate::net::node::{NextHop, OutList};
use crate::net::order::{Answer, Branches, Command, Order};
use crate::net::packet::{Address, GroupId, NodeId};

/// How the tree of a group follows its members and the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trees {
    /// Messages from node to node change it.
    #[default]
    Signalled,
    /// It changes at once, as in ns-2.
    Instant,
}

/// A multicast group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The nodes with an endpoint for it: those that listen at some time.
    pub members: Vec<NodeId>,
    /// The members that listen at the start.
    pub listening: Vec<NodeId>,
    /// How its trees change.
    pub trees: Trees,
    /// How long the last router goes on after a node has left.
    pub leave_latency: Duration,
    /// Nodes to which packets always go, independent of membership: broadcast to an area.
    pub area: Vec<NodeId>,
    /// The port of the machines that serve it at the nodes, if there are any.
    pub served_at: Option<u16>,
    /// Nodes that want to listen and are kept out.
    pub expelled: Vec<NodeId>,
    /// What it is in a layered session, if it belongs to one.
    pub part: Part,
    /// Nodes at which the caller injects packets to it ([`Simulation::send_to_group`]), beside the flows' senders.
    pub outside: Vec<NodeId>,
}

/// What a group is in a layered session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// It belongs to none.
    #[default]
    None,
    /// That of the session itself: receivers that take part send to one another here, by instant trees.
    Session,
    /// That of a layer of the session with this group. Receivers join and leave it by themselves.
    Layer(GroupId),
}

/// The way from a node of a tree back to its sender.
pub(super) struct WayBack {
    node: NodeId,
    group: GroupId,
    source: NodeId,
    /// Over which interface it leads, and to which neighbour.
    hop: Option<(NextHop, NodeId)>,
}

impl Group {
    /// A group to which these nodes listen all the time, with instant trees.
    pub fn instant(members: Vec<NodeId>) -> Self {
        Self { listening: members.clone(), members, trees: Trees::Instant, ..Self::default() }
    }
}

impl Simulation {
    /// A node begins or ceases to listen to a group now, or to take part in a session.
    pub fn set_member(&mut self, group: GroupId, node: NodeId, joins: bool) {
        if self.groups[group.0 as usize].part == Part::Session {
            return self.set_participant(group, node, joins);
        }
        let known = &mut self.groups[group.0 as usize];
        if known.listening.contains(&node) == joins {
            return;
        }
        known.listening.retain(|&listening| listening != node);
        if joins {
            known.listening.push(node);
        }
        let (trees, leave_latency, port) = (known.trees, known.leave_latency, known.served_at);
        for (source, receivers) in self.senders(group) {
            let notice = Notice::Membership(Membership { group, source, joins, leave_latency });
            let of_node = receivers.into_iter().find(|&r| self.endpoints[r as usize].node == node);
            let agent = port.and_then(|port| self.sockets.at(node, port));
            for endpoint in [of_node, agent].into_iter().flatten() {
                self.tell(endpoint, notice);
            }
        }
        if trees == Trees::Instant {
            self.route_groups();
        }
        self.forward_arrivals();
    }

    /// From now on the caller injects packets to `group` at `node`: it gets a tree there, if it has none, to the nodes that listen now.
    pub fn send_to_group(&mut self, group: GroupId, node: NodeId) {
        let known = self.senders(group).iter().any(|(sender, _)| *sender == node);
        if known || self.groups[group.0 as usize].part != Part::None {
            return;
        }
        self.groups[group.0 as usize].outside.push(node);
        let Group { listening, area, .. } = &self.groups[group.0 as usize];
        for end in listening.iter().chain(area).copied().chain([node]).collect::<Vec<_>>() {
            self.make_destination(end);
        }
        if self.has_trees {
            self.find_ways();
            self.grow(group, node);
        }
    }

    /// A node's receiver begins or ceases to take part in a session.
    fn set_participant(&mut self, session: GroupId, node: NodeId, joins: bool) {
        let listening = &mut self.groups[session.0 as usize].listening;
        if listening.contains(&node) == joins {
            return;
        }
        listening.retain(|&listening| listening != node);
        if joins {
            listening.push(node);
        }
        self.route_groups();
        let receivers = self.flows_to(session).into_iter().flat_map(|(_, receivers)| receivers);
        let of_node: Vec<u32> = receivers.filter(|&r| self.endpoints[r as usize].node == node).collect();
        for endpoint in of_node {
            self.tell(endpoint, Notice::Session(session, joins));
        }
        self.forward_arrivals();
    }

    /// The nodes that send to a group, with the endpoints that receive it.
    fn senders(&self, group: GroupId) -> Vec<(NodeId, Vec<u32>)> {
        match self.groups[group.0 as usize].part {
            Part::None => {
                let mut senders = self.flows_to(group);
                let outside = self.groups[group.0 as usize].outside.iter();
                let others: Vec<_> = outside.filter(|node| senders.iter().all(|(known, _)| known != *node)).collect();
                senders.extend(others.into_iter().map(|&node| (node, Vec::new())));
                senders
            }
            Part::Layer(session) => self.flows_to(session),
            Part::Session => {
                let talking = self.groups[group.0 as usize].listening.iter();
                talking.map(|&node| (node, Vec::new())).collect()
            }
        }
    }

    /// The nodes of flows to a group, with the endpoints that receive them.
    fn flows_to(&self, group: GroupId) -> Vec<(NodeId, Vec<u32>)> {
        let flows = self.flows.iter().filter(|flow| flow.to == Address::Group(group));
        flows.map(|flow| (self.endpoints[flow.sender as usize].node, flow.receivers.to_vec())).collect()
    }

    fn tell(&mut self, endpoint: u32, notice: Notice) {
        let now = self.core.now();
        self.endpoints[endpoint as usize].endpoint.on_notice(now, notice);
        self.settle(endpoint);
    }

    /// Builds the trees that are instant, and at the start of the run also the others.
    pub(super) fn route_groups(&mut self) {
        let begun = std::mem::replace(&mut self.has_trees, true);
        let is_kept = |groups: &[Group], group: GroupId| begun && groups[group.0 as usize].trees == Trees::Signalled;
        for node in &mut self.nodes {
            node.groups.retain(|((group, _), _)| is_kept(&self.groups, *group));
        }
        for number in 0..self.groups.len() as u32 {
            let group = GroupId(number);
            if is_kept(&self.groups, group) {
                continue;
            }
            for (source, _) in self.senders(group) {
                self.grow(group, source);
            }
        }
    }

    /// Builds the tree of a sender to all nodes that listen.
    fn grow(&mut self, group: GroupId, source: NodeId) {
        let Group { listening, area, trees, .. } = self.groups[group.0 as usize].clone();
        for &node in &listening {
            self.nodes[node.0 as usize].group_mut(group, source).local = true;
        }
        for &node in &area {
            self.nodes[node.0 as usize].group_mut(group, source).area = true;
        }
        for &node in listening.iter().chain(&area) {
            match trees {
                Trees::Instant => self.grow_forwards(group, source, node),
                Trees::Signalled => self.grow_back(group, source, node),
            }
        }
    }

    /// Lets a tree reach a node by the shortest path from its sender.
    fn grow_forwards(&mut self, group: GroupId, source: NodeId, node: NodeId) {
        if !self.reaches(source, node) {
            return;
        }
        let mut at = source;
        while at != node {
            let Some((hop, next)) = self.next_hop(at, node) else { break };
            self.nodes[at.0 as usize].group_mut(group, source).open(hop);
            at = next;
        }
    }

    /// Lets a tree reach a node by its shortest way back to the sender.
    fn grow_back(&mut self, group: GroupId, source: NodeId, node: NodeId) {
        if !self.reaches(node, source) {
            return;
        }
        let mut at = node;
        while at != source {
            let Some((hop, parent)) = self.next_hop(at, source) else { break };
            let port = self.ends[hop.medium][hop.from.0 as usize].port;
            self.nodes[at.0 as usize].group_mut(group, source).parent = Some(port);
            let down = NextHop { medium: hop.medium, from: hop.to, to: hop.from };
            self.nodes[parent.0 as usize].group_mut(group, source).open(down);
            at = parent;
        }
    }

    /// Where the ways back to senders of signalled groups lead at present.
    pub(super) fn upstreams(&mut self) -> Vec<WayBack> {
        let mut found = Vec::new();
        for number in 0..self.nodes.len() as u32 {
            let groups = self.nodes[number as usize].groups.iter();
            let lists: Vec<(GroupId, NodeId)> = groups
                .filter(|((group, source), list)| {
                    let signalled = self.groups[group.0 as usize].trees == Trees::Signalled;
                    signalled && list.branches() > 0 && source.0 != number
                })
                .map(|(key, _)| *key)
                .collect();
            for (group, source) in lists {
                let hop = self.next_hop(NodeId(number), source);
                found.push(WayBack { node: NodeId(number), group, source, hop });
            }
        }
        found
    }

    /// Tells the machines at the nodes which of the ways back lead elsewhere than before, or over another interface.
    pub(super) fn tell_of_upstreams(&mut self, before: Vec<WayBack>) {
        for WayBack { node, group, source, hop: before } in before {
            let now = self.next_hop(node, source);
            if now == before {
                continue;
            }
            self.set_parent(node, group, source);
            // A neighbour that has become another is to prune; the same one moves its branch.
            let neighbour = |hop: Option<(NextHop, NodeId)>| hop.map(|(_, neighbour)| neighbour);
            let now = neighbour(now);
            let before = neighbour(before).filter(|before| Some(*before) != now);
            let port = self.groups[group.0 as usize].served_at;
            if let Some(agent) = port.and_then(|port| self.sockets.at(node, port)) {
                self.tell(agent, Notice::Upstream(Upstream { group, source, before, now }));
            }
        }
    }

    /// From now on a node takes a sender's packets from the interface over which its own packets to that sender leave.
    fn set_parent(&mut self, node: NodeId, group: GroupId, source: NodeId) {
        let port =
            self.next_hop(node, source).map_or(Port::LOCAL, |(hop, _)| self.ends[hop.medium][hop.from.0 as usize].port);
        self.nodes[node.0 as usize].group_mut(group, source).parent = Some(port);
    }

    /// Passes an order to the out-list of a group at `node`.
    pub(super) fn order_group(&mut self, node: NodeId, order: &Order) -> Answer {
        let toward = order.toward;
        match order.command {
            Command::Open(group, source, port) => {
                if self.nodes[node.0 as usize].group(group, source).is_none_or(|list| list.branches() == 0) {
                    self.set_parent(node, group, source);
                }
                let opened = if toward == node {
                    let list = self.nodes[node.0 as usize].group_mut(group, source);
                    let opened = !std::mem::replace(&mut list.local, true);
                    self.tell_expelled(group, source, node, true);
                    opened
                } else {
                    let Some(hop) = self.hop_over(node, port, toward) else { return Answer::Unknown };
                    let ends = &self.ends;
                    let list = self.nodes[node.0 as usize].group_mut(group, source);
                    // The neighbour takes packets from one interface only.
                    let elsewhere = |medium: u32, peer: Peer| {
                        (medium, peer) != (hop.medium, hop.to) && ends[medium][peer.0 as usize].node == toward
                    };
                    let moved = list.shut(elsewhere);
                    list.open(hop) && !moved
                };
                if opened { self.branches(node, group, source) } else { Answer::Done }
            }
            Command::Shut(group, source) => {
                if toward == node {
                    self.tell_expelled(group, source, node, false);
                }
                let ends = &self.ends;
                let leads = |medium: u32, peer: Peer| ends[medium][peer.0 as usize].node == toward;
                let list = self.nodes[node.0 as usize].group_mut(group, source);
                let shut = match toward == node {
                    true => std::mem::take(&mut list.local),
                    false => list.shut(leads),
                };
                if shut { self.branches(node, group, source) } else { Answer::Done }
            }
            _ => Answer::Unknown,
        }
    }

    fn branches(&mut self, node: NodeId, group: GroupId, source: NodeId) -> Answer {
        let upstream = self.next_hop(node, source).map(|(_, neighbour)| neighbour);
        let count = self.nodes[node.0 as usize].group(group, source).map_or(0, OutList::branches);
        Answer::Branches(Branches { count, upstream })
    }

    /// The branch to a node's own endpoints is opened or shut: tells the receiver there, unless it was its own wish.
    fn tell_expelled(&mut self, group: GroupId, source: NodeId, node: NodeId, joins: bool) {
        let Group { listening, expelled, leave_latency, .. } = &mut self.groups[group.0 as usize];
        let was_out = expelled.contains(&node);
        if joins != was_out || !listening.contains(&node) {
            return;
        }
        let leave_latency = *leave_latency;
        expelled.retain(|&out| out != node);
        if !joins {
            expelled.push(node);
        }
        for (from, receivers) in self.senders(group) {
            let of_node = receivers.into_iter().find(|&r| self.endpoints[r as usize].node == node);
            if let Some(endpoint) = of_node.filter(|_| from == source) {
                self.tell(endpoint, Notice::Membership(Membership { group, source, joins, leave_latency }));
            }
        }
    }

    /// The hop from an interface of `node` to a neighbour there.
    pub(super) fn hop_over(&self, node: NodeId, port: Port, neighbour: NodeId) -> Option<NextHop> {
        let &(medium, from) = self.nodes[node.0 as usize].ports.get(port.0 as usize)?;
        let peer = self.ends[medium].iter().position(|end| end.node == neighbour)?;
        Some(NextHop { medium, from, to: Peer(peer as u32) })
    }
}
