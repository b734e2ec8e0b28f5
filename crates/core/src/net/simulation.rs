//! A network and the loop that runs it.
//!
//! The world changes between events only: [`Simulation::run_until`] stops the clock, the caller
//! changes or looks, and goes on.

use thiserror::Error;

use crate::engine::{FloatTime, Instant, Target};

use super::core::{Arrival, Core, Port};
use super::machine::{Action, Endpoint, LinkNotice, Notice, Seat, Source, Transfer};
use super::medium::{Access, Change, End, Medium, Peer};
use super::node::{NextHop, Node, OutList, Routes};
use super::observe::{Cause, Observation, Observer, Place, Probe, What};
use super::order::{Answer, Order};
use super::packet::{Address, FlowId, GroupId, NodeId, Socket};
use super::routes::{Graph, Way};
use super::slab::Pkt;

/// A network: nodes, media, endpoints and sources, and the clock that moves them.
pub struct Simulation {
    core: Core,
    nodes: Vec<Node>,
    media: Vec<Box<dyn Medium>>,
    /// The nodes behind each medium's peers.
    ends: Vec<Vec<End>>,
    endpoints: Vec<Seated>,
    flows: Vec<Flow>,
    /// Multicast groups: their members.
    groups: Vec<Vec<NodeId>>,
    /// The endpoints that serve their node and belong to no flow.
    agents: Vec<u32>,
    /// Where packets end that no medium dropped.
    nowhere: Place,
    /// Events since time last went on, as far as they were looked after.
    standing: u64,
}

/// An endpoint at its node.
struct Seated {
    endpoint: Box<dyn Endpoint>,
    node: NodeId,
    flow: FlowId,
    timer: Timer,
}

/// A flow: its source and its endpoints.
struct Flow {
    to: Address,
    source: Box<dyn Source>,
    timer: Timer,
    sender: u32,
    receivers: Vec<u32>,
}

/// The one pending wake-up of a machine.
struct Timer {
    /// What the machine asked for.
    deadline: Option<Instant>,
    /// When it asked.
    since: Instant,
    /// The same by ns-2's clock, if that is followed.
    since_float: Option<FloatTime>,
    /// The deadline by ns-2's clock, if the machine keeps it.
    deadline_float: Option<FloatTime>,
    /// When the valid wake-up in the queue comes; `Instant::MAX` if none is pending.
    armed: Instant,
}

impl Timer {
    const IDLE: Self =
        Self { deadline: None, since: Instant::ZERO, since_float: None, deadline_float: None, armed: Instant::MAX };

    /// Takes the machine's wish. A later one adds nothing to the queue: the pending wake-up
    /// finds nothing due and arms the next.
    #[inline]
    fn set(&mut self, core: &mut Core, target: Target, wish: Option<Instant>) {
        self.set_float(core, target, wish, None);
    }

    /// The same, with the wish by ns-2's clock.
    #[inline]
    fn set_float(&mut self, core: &mut Core, target: Target, wish: Option<Instant>, float: Option<FloatTime>) {
        if wish != self.deadline {
            self.deadline = wish;
            self.since = core.now();
            self.since_float = core.float();
        }
        self.deadline_float = float;
        if let Some(at) = wish {
            let at = at.max(core.now());
            if at < self.armed {
                self.armed = at;
                let order = self.float(at).map_or(self.since, |time| time.order_at(at, self.since));
                core.arm(target, at, order);
            }
        }
    }

    /// The instant `at` by ns-2's clock, if that is followed: a sum of when the machine asked and
    /// how long it wants to wait.
    #[inline]
    fn float(&self, at: Instant) -> Option<FloatTime> {
        let known = self.deadline_float.filter(|_| self.deadline == Some(at));
        known.or_else(|| self.since_float.map(|since| since.after_duration(at.since(self.since))))
    }

    /// The wake-up at `now` has come: the clock shows what the machine waited for.
    #[inline]
    fn set_clock(&self, core: &mut Core, now: Instant) {
        if let Some(time) = self.float(now) {
            core.set_float(time, self.since);
        }
    }
}

/// How many events one instant may have.
const EVENTS_PER_INSTANT: u64 = 10_000_000;
/// After how many events the run is looked after.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;
/// How many packets may be under way: 2 GiB of them.
const PACKETS_UNDER_WAY: u64 = 1 << 24;

/// What makes a run end early.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// An event makes the next one without time going on.
    #[error("time stands still at {at}: {events} events in one instant, the next of them at {component}")]
    Stalled {
        /// Where time stopped.
        at: Instant,
        /// How many events there were.
        events: u64,
        /// Who has the next one.
        component: String,
    },
    /// More packets are under way than memory should hold.
    #[error("{packets} packets are under way at {at}: a queue or a window without limit?")]
    TooManyPackets {
        /// When.
        at: Instant,
        /// How many.
        packets: u64,
    },
    /// The books do not balance: a defect of lasthop.
    #[error(
        "packets are not conserved: sent {sent} + copied {copied} ≠ delivered {delivered} + dropped {dropped} + in flight {in_flight}"
    )]
    NotConserved {
        /// Sent by endpoints.
        sent: u64,
        /// Copied where the way divides.
        copied: u64,
        /// Delivered to endpoints.
        delivered: u64,
        /// Dropped.
        dropped: u64,
        /// Held by media at the end.
        in_flight: u64,
    },
}

/// How far a call of [`Simulation::run_until`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The instant asked for is reached.
    Reached,
    /// The events allowed were used up first.
    Paused,
}

/// The kinds of components, in the two highest bits of a target.
const KIND: u32 = 30;
const MEDIUM: u32 = 0;
const ENDPOINT: u32 = 1;
const SOURCE: u32 = 2;

impl Simulation {
    /// An empty network whose random streams derive from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut core = Core::new(seed);
        let nowhere = core.place("network".to_owned());
        Self {
            core,
            nodes: Vec::new(),
            media: Vec::new(),
            ends: Vec::new(),
            endpoints: Vec::new(),
            flows: Vec::new(),
            groups: Vec::new(),
            agents: Vec::new(),
            nowhere,
            standing: 0,
        }
    }

    /// The core, for building: streams and places.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// The core, for building: streams and places.
    pub fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    /// Adds a node.
    pub fn add_node(&mut self, name: &str) -> NodeId {
        self.nodes.push(Node::new(name.to_owned()));
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// The name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.nodes[node.0 as usize].name
    }

    /// Adds a medium between `nodes`, which become its peers 0, 1, …. `make` gets the number of
    /// the component to which wake-ups come, and the peers' ends.
    pub fn add_medium<M: Medium + 'static>(
        &mut self,
        nodes: &[NodeId],
        make: impl FnOnce(&mut Core, u32, &[End]) -> M,
    ) -> u32 {
        let medium = self.media.len() as u32;
        let mut ends = Vec::with_capacity(nodes.len());
        for (&node, peer) in nodes.iter().zip(0..) {
            let ports = &mut self.nodes[node.0 as usize].ports;
            ends.push(End { node, port: Port(ports.len() as u32) });
            ports.push((medium, Peer(peer)));
        }
        let made = make(&mut self.core, (MEDIUM << KIND) | medium, &ends);
        self.media.push(Box::new(made));
        self.ends.push(ends);
        medium
    }

    /// Adds a multicast group.
    pub fn add_group(&mut self, members: Vec<NodeId>) -> GroupId {
        self.groups.push(members);
        GroupId(self.groups.len() as u32 - 1)
    }

    /// Adds a flow from `from` to `to`, which starts at `start`. `make_sender` and
    /// `make_receiver` get the seats of the endpoints; a group has a receiver at each member.
    pub fn add_flow(
        &mut self,
        from: NodeId,
        to: Address,
        start: Instant,
        source: Box<dyn Source>,
        make_sender: impl FnOnce(Seat) -> Box<dyn Endpoint>,
        mut make_receiver: impl FnMut(Seat) -> Box<dyn Endpoint>,
    ) -> FlowId {
        let flow = FlowId(self.flows.len() as u32);
        let members = match to {
            Address::Node(node) => vec![node],
            Address::Group(group) => self.groups[group.0 as usize].clone(),
        };
        let local = Socket { node: from, port: self.free_port(&[from]) };
        let remote_port = self.free_port(&members);
        let observed = self.core.is_observed();
        let hears = source.hears();
        let sender =
            self.seat(local, flow, make_sender(Seat { local, remote: to, remote_port, flow, hears, observed }));
        let mut receivers = Vec::with_capacity(members.len());
        for node in members {
            let here = Socket { node, port: remote_port };
            let seat =
                Seat { local: here, remote: Address::Node(from), remote_port: local.port, flow, hears, observed };
            receivers.push(self.seat(here, flow, make_receiver(seat)));
        }
        let mut timer = Timer::IDLE;
        timer.set(&mut self.core, Target { component: (SOURCE << KIND) | flow.0, key: 0 }, Some(start));
        self.flows.push(Flow { to, source, timer, sender, receivers });
        flow
    }

    /// Adds a machine that serves `node` at `port`, below [`FIRST_FREE_PORT`](super::FIRST_FREE_PORT): routers have such
    /// for signalling. `make` gets its seat.
    pub fn add_agent(&mut self, node: NodeId, port: u16, make: impl FnOnce(Seat) -> Box<dyn Endpoint>) {
        let local = Socket { node, port };
        let observed = self.core.is_observed();
        let remote = Address::Node(node);
        let seat = Seat { local, remote, remote_port: port, flow: FlowId::NONE, hears: Default::default(), observed };
        let agent = self.seat(local, FlowId::NONE, make(seat));
        self.agents.push(agent);
        let seated = &mut self.endpoints[agent as usize];
        let wish = seated.endpoint.next_timeout();
        seated.timer.set(&mut self.core, Target { component: (ENDPOINT << KIND) | agent, key: 0 }, wish);
    }

    /// The lowest port free at all of `nodes`.
    fn free_port(&self, nodes: &[NodeId]) -> u16 {
        nodes.iter().map(|n| self.nodes[n.0 as usize].sockets.len()).max().unwrap_or_default() as u16
    }

    fn seat(&mut self, at: Socket, flow: FlowId, endpoint: Box<dyn Endpoint>) -> u32 {
        let number = self.endpoints.len() as u32;
        let sockets = &mut self.nodes[at.node.0 as usize].sockets;
        sockets.resize(sockets.len().max(usize::from(at.port) + 1), None);
        sockets[usize::from(at.port)] = Some(number);
        self.endpoints.push(Seated { endpoint, node: at.node, flow, timer: Timer::IDLE });
        number
    }

    /// Lets somebody look at the run, from now on. Endpoints made before say nothing of their
    /// variables.
    pub fn set_observer(&mut self, observer: Box<dyn Observer>) {
        self.core.observer = Some(observer);
    }

    /// Takes the observer back.
    pub fn take_observer(&mut self) -> Option<Box<dyn Observer>> {
        self.core.observer.take()
    }

    /// Computes all routes and out-lists from the present ways. To be called when the network
    /// has been built; [`Simulation::change`] calls it when ways appear or vanish.
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

    /// The present.
    pub fn now(&self) -> Instant {
        self.core.now()
    }

    /// Runs all events before `until`, but at most `events` of them; then the clock stands at
    /// `until`. Events at `until` itself belong to the next call, so a change or a look comes
    /// before them.
    ///
    /// # Errors
    /// [`RunError::Stalled`] and [`RunError::TooManyPackets`].
    pub fn run_until(&mut self, until: Instant, events: u64) -> Result<Progress, RunError> {
        let Some(last) = until.as_nanos().checked_sub(1).map(Instant::from_nanos) else {
            return Ok(Progress::Reached);
        };
        let mut left = events;
        while left > 0 {
            let began = self.core.now();
            let some = left.min(EVENTS_BETWEEN_LOOKS);
            for _ in 0..some {
                let Some(wake) = self.core.queue.pop(last) else {
                    // What happens at `until` is caused by it.
                    self.core.set_clock(until, Instant::ZERO);
                    self.core.set_float(FloatTime::new(until), Instant::ZERO);
                    return Ok(Progress::Reached);
                };
                self.core.set_clock(wake.at, wake.since);
                self.dispatch(wake.target);
            }
            left -= some;
            self.look_after(began, some)?;
        }
        Ok(Progress::Paused)
    }

    /// Ends the run if time stands still, or if packets pile up.
    fn look_after(&mut self, began: Instant, events: u64) -> Result<(), RunError> {
        let at = self.now();
        self.standing = if at == began { self.standing + events } else { 0 };
        if self.standing > EVENTS_PER_INSTANT {
            let component = self.core.queue.peek().map_or_else(String::new, |wake| self.component_name(wake.target));
            return Err(RunError::Stalled { at, events: self.standing, component });
        }
        let packets = self.core.under_way();
        if packets > PACKETS_UNDER_WAY {
            return Err(RunError::TooManyPackets { at, packets });
        }
        Ok(())
    }

    /// Changes a medium now.
    pub fn change(&mut self, medium: u32, mut change: Change) {
        let edges = self.media[medium as usize].edges(self.core.now());
        let before = self.accesses(medium);
        self.media[medium as usize].change(&mut self.core, &mut change);
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
    fn accesses(&self, medium: u32) -> Vec<Access> {
        let peers = 0..self.ends[medium as usize].len() as u32;
        peers.map(|peer| self.access(medium, Peer(peer))).collect()
    }

    /// Tells the machines at a medium's nodes what has become of the ways to them.
    fn tell_of_change(&mut self, medium: u32, before: &[Access]) {
        let after = self.accesses(medium);
        let ends = self.ends[medium as usize].clone();
        for ((end, before), after) in ends.into_iter().zip(before).zip(after) {
            if *before == after {
                continue;
            }
            let notice = LinkNotice { port: end.port, before: *before, after };
            for index in 0..self.endpoints.len() {
                if self.endpoints[index].node == end.node {
                    self.endpoints[index].endpoint.on_notice(self.core.now(), Notice::Link(notice));
                    self.settle(index as u32);
                }
            }
        }
    }

    /// Whether the books balance: sent + copied = delivered + dropped + in flight, with what is
    /// in flight counted where it is.
    ///
    /// # Errors
    /// [`RunError::NotConserved`], which is a defect of lasthop.
    pub fn check_conservation(&self) -> Result<(), RunError> {
        let counters = self.core.counters();
        let in_flight = self.media.iter().map(|m| m.holds()).sum();
        let (sent, copied, delivered, dropped) = (counters.sent, counters.copied, counters.delivered, counters.dropped);
        if sent + copied == delivered + dropped + in_flight && in_flight == self.core.under_way() {
            Ok(())
        } else {
            Err(RunError::NotConserved { sent, copied, delivered, dropped, in_flight })
        }
    }

    /// Shows the present state of every medium, part by part.
    pub fn sample_media(&self, probe: &mut dyn Probe) {
        for medium in &self.media {
            medium.sample(&self.core, probe);
        }
    }

    /// Shows the present state of a flow's sender.
    pub fn sample_sender(&self, flow: FlowId, probe: &mut dyn Probe) {
        let sender = self.flows[flow.0 as usize].sender;
        self.endpoints[sender as usize].endpoint.sample(probe);
    }

    /// Shows the present state of a flow's receivers, one part for each, named for its node.
    pub fn sample_receivers(&self, flow: FlowId, probe: &mut dyn Probe) {
        for &receiver in &self.flows[flow.0 as usize].receivers {
            let seated = &self.endpoints[receiver as usize];
            probe.part(What::Machine, self.node_name(seated.node));
            seated.endpoint.sample(probe);
        }
    }

    /// Shows the present state of every agent, one part for each, named for its node.
    pub fn sample_agents(&self, probe: &mut dyn Probe) {
        for &agent in &self.agents {
            let seated = &self.endpoints[agent as usize];
            probe.part(What::Machine, self.node_name(seated.node));
            seated.endpoint.sample(probe);
        }
    }

    /// The transfers that a flow's source has begun.
    pub fn transfers(&self, flow: FlowId) -> &[Transfer] {
        self.flows[flow.0 as usize].source.transfers()
    }

    fn component_name(&self, target: Target) -> String {
        let index = target.component & ((1 << KIND) - 1);
        match target.component >> KIND {
            MEDIUM => {
                let ends = self.ends[index as usize].iter();
                format!("the medium of {}", ends.map(|e| self.node_name(e.node)).collect::<Vec<_>>().join(", "))
            }
            ENDPOINT => format!("an endpoint at {}", self.node_name(self.endpoints[index as usize].node)),
            _ => format!("the source of flow {index}"),
        }
    }

    #[inline]
    fn dispatch(&mut self, target: Target) {
        let index = target.component & ((1 << KIND) - 1);
        match target.component >> KIND {
            MEDIUM => {
                self.media[index as usize].wake(&mut self.core, target.key);
                self.forward_arrivals();
            }
            ENDPOINT => self.wake_endpoint(index),
            _ => self.wake_source(index),
        }
    }

    #[inline(always)]
    fn forward_arrivals(&mut self) {
        // A medium mostly hands over one packet at a time. Handing one on makes no arrival.
        if self.core.arrivals.len() > 1 {
            for Arrival { node, via, pkt } in std::mem::take(&mut self.core.arrivals) {
                self.forward(node, via, pkt);
            }
        } else if let Some(Arrival { node, via, pkt }) = self.core.arrivals.pop() {
            self.forward(node, via, pkt);
        }
    }

    /// A packet is at `node`: it goes to an endpoint there, or on.
    #[inline]
    fn forward(&mut self, node: NodeId, via: Port, pkt: Pkt) {
        match self.core.packet(&pkt).to {
            Address::Node(destination) if destination == node => self.deliver(node, via, pkt),
            Address::Node(destination) => {
                let here = &self.nodes[node.0 as usize];
                let Some(hop) = here.routes.to(destination) else {
                    return self.core.drop(pkt, self.nowhere, Cause::NoRoute);
                };
                self.media[hop.medium as usize].accept(&mut self.core, hop.from, &[hop.to], pkt);
            }
            Address::Group(group) => self.replicate(node, via, group, pkt),
        }
    }

    /// A multicast packet enters each medium of the out-list once, and stays here if endpoints
    /// listen; copies are made for all but the last.
    #[inline(never)]
    fn replicate(&mut self, node: NodeId, via: Port, group: GroupId, pkt: Pkt) {
        let here = &self.nodes[node.0 as usize];
        let Some(list) = here.group(group, self.core.packet(&pkt).from.node) else {
            return self.core.drop(pkt, self.nowhere, Cause::NoRoute);
        };
        let local = list.local;
        let mut rest = list.out.len() + usize::from(local);
        if rest == 0 {
            return self.core.drop(pkt, self.nowhere, Cause::NoRoute);
        }
        let mut pkt = Some(pkt);
        let mut take = |core: &mut Core| {
            rest -= 1;
            if rest == 0 { pkt.take() } else { pkt.as_ref().map(|p| core.copy(p)) }
        };
        for (medium, from, peers) in &list.out {
            if let Some(copy) = take(&mut self.core) {
                self.media[*medium as usize].accept(&mut self.core, *from, peers, copy);
            }
        }
        if local && let Some(copy) = take(&mut self.core) {
            self.deliver(node, via, copy);
        }
    }

    #[inline]
    fn deliver(&mut self, node: NodeId, via: Port, pkt: Pkt) {
        let port = usize::from(self.core.packet(&pkt).to_port);
        let Some(&Some(endpoint)) = self.nodes[node.0 as usize].sockets.get(port) else {
            return self.core.drop(pkt, self.nowhere, Cause::NoEndpoint);
        };
        let now = self.core.now();
        if self.core.is_observed() {
            let packet = self.core.packet(&pkt).clone();
            self.core.observe(&Observation::Received { node, packet: &packet });
        }
        let float = self.core.float();
        let packet = self.core.deliver(pkt);
        let seated = &mut self.endpoints[endpoint as usize];
        if let Some(float) = float {
            seated.endpoint.set_float(float);
        }
        seated.endpoint.on_packet(now, packet, via);
        self.settle(endpoint);
    }

    fn wake_endpoint(&mut self, index: u32) {
        let now = self.core.now();
        let seated = &mut self.endpoints[index as usize];
        if seated.timer.armed != now {
            return; // an old wake-up
        }
        seated.timer.armed = Instant::MAX;
        seated.timer.set_clock(&mut self.core, now);
        if seated.timer.deadline.is_some_and(|at| at <= now) {
            // The same deadline, wished for again, would be a new one.
            seated.timer.deadline = None;
            if let Some(float) = self.core.float() {
                seated.endpoint.set_float(float);
            }
            seated.endpoint.on_timeout(now);
        }
        self.settle(index);
    }

    fn wake_source(&mut self, index: u32) {
        let now = self.core.now();
        let flow = &mut self.flows[index as usize];
        if flow.timer.armed != now {
            return; // an old wake-up
        }
        flow.timer.armed = Instant::MAX;
        flow.timer.set_clock(&mut self.core, now);
        if flow.timer.deadline.is_some_and(|at| at <= now) {
            flow.timer.deadline = None;
            flow.source.on_timeout(now);
        }
        let sender = flow.sender;
        self.ask_source(index, sender);
        self.settle(sender);
    }

    /// Passes on what a source asks of its sender; says whether there was anything.
    fn ask_source(&mut self, index: u32, sender: u32) -> bool {
        let now = self.core.now();
        let flow = &mut self.flows[index as usize];
        let mut asked = false;
        while let Some(notice) = flow.source.poll(now) {
            let endpoint = &mut self.endpoints[sender as usize].endpoint;
            if let Some(float) = self.core.float() {
                endpoint.set_float(float);
            }
            endpoint.on_notice(now, notice);
            asked = true;
        }
        let wish = flow.source.next_timeout();
        flow.timer.set(&mut self.core, Target { component: (SOURCE << KIND) | index, key: 0 }, wish);
        asked
    }

    /// Does what an endpoint wants done, and what follows from it at its source.
    #[inline]
    fn settle(&mut self, index: u32) {
        if self.drain(index) && self.endpoints[index as usize].flow != FlowId::NONE {
            let flow = self.endpoints[index as usize].flow.0;
            let sender = self.flows[flow as usize].sender;
            while self.ask_source(flow, sender) {
                if !self.drain(sender) {
                    break;
                }
            }
        }
    }

    /// Sends the packet that an endpoint at `node` has written.
    #[inline]
    fn send(&mut self, node: NodeId) {
        if self.core.is_observed() {
            let packet = self.core.vacant().clone();
            self.core.observe(&Observation::Sent { node, packet: &packet });
        }
        let pkt = self.core.send_vacant();
        self.forward(node, Port::LOCAL, pkt);
    }

    /// Sends it to the neighbour on the way to `destination`.
    #[inline(never)]
    fn send_toward(&mut self, node: NodeId, destination: NodeId) {
        // Without a way the packet ends like any other without one.
        let neighbour = self.next_hop(node, destination).map_or(destination, |(_, neighbour)| neighbour);
        self.core.vacant().to = Address::Node(neighbour);
        self.send(node);
    }

    /// The way out of `node` to `destination`, and the node to which it leads.
    fn next_hop(&self, node: NodeId, destination: NodeId) -> Option<(NextHop, NodeId)> {
        let hop = self.nodes[node.0 as usize].routes.to(destination).filter(|_| node != destination)?;
        Some((hop, self.ends[hop.medium as usize][hop.to.0 as usize].node))
    }

    /// Passes an order to the interface that it names.
    #[inline(never)]
    fn order(&mut self, node: NodeId, order: &Order) -> Answer {
        let Some((hop, _)) = self.next_hop(node, order.toward) else { return Answer::Unknown };
        self.media[hop.medium as usize].order(&mut self.core, hop.from, &order.command)
    }

    /// Drains `poll` and reads the timer; says whether the source was told something.
    #[inline]
    fn drain(&mut self, index: u32) -> bool {
        let now = self.core.now();
        let mut told = false;
        let seated = &mut self.endpoints[index as usize];
        let node = seated.node;
        while let Some(action) = self.endpoints[index as usize].endpoint.poll(now, self.core.vacant()) {
            match action {
                Action::Send => self.send(node),
                Action::SendToward(destination) => self.send_toward(node, destination),
                Action::Order(order) => {
                    let answer = self.order(node, &order);
                    self.endpoints[index as usize].endpoint.on_notice(now, Notice::Answer(answer));
                }
                Action::Tell(notice) => {
                    let flow = self.endpoints[index as usize].flow;
                    if let Some(flow) = self.flows.get_mut(flow.0 as usize) {
                        flow.source.on_notice(now, notice);
                        told = true;
                    }
                }
                Action::Observe(variable, value) => {
                    let flow = self.endpoints[index as usize].flow;
                    self.core.observe(&Observation::Changed { node, flow, variable, value });
                }
            }
        }
        let seated = &mut self.endpoints[index as usize];
        let wish = seated.endpoint.next_timeout();
        let float = self.core.float().and_then(|_| seated.endpoint.next_float());
        seated.timer.set_float(&mut self.core, Target { component: (ENDPOINT << KIND) | index, key: 0 }, wish, float);
        told
    }
}
