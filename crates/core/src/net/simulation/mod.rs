//! A network and the loop that runs it.
//!
//! The world changes between events only: [`Simulation::run_until`] stops the clock, the caller
//! changes or looks, and goes on.
//!
//! This file has the loop. Beside it: how a network is built, how ways are found through it, how
//! machines are woken, and what can be seen from outside.

mod building;
mod error;
mod groups;
mod looking;
mod marks;
mod routing;
mod timer;

pub use error::RunError;
pub use groups::{Group, Part, Trees};

use std::collections::VecDeque;
use std::slice::from_ref;

use crate::engine::{Fault, FloatTime, Instant, Target};

use super::core::{Arrival, Core, Port};
use super::machine::{Action, Endpoint, LinkNotice, Notice, Source};
use super::medium::{Access, Change, End, Medium, Peer};
use super::node::Node;
use super::observe::{Cause, Observation, Observer, Place};
use super::order::{Answer, Command, Order};
use super::packet::{Address, FlowId, GroupId, NodeId, Packet};
use super::routes::Ways;
use super::slab::Pkt;

use marks::Marks;
use timer::Timer;

/// A network: nodes, media, endpoints and sources, and the clock that moves them.
pub struct Simulation {
    core: Core,
    nodes: Vec<Node>,
    media: Vec<Box<dyn Medium>>,
    /// The ways through the network.
    ways: Ways,
    /// The nodes behind each medium's peers.
    ends: Vec<Vec<End>>,
    endpoints: Vec<Seated>,
    flows: Vec<Flow>,
    groups: Vec<Group>,
    /// Whether trees have been built.
    has_trees: bool,
    /// Whether ways change all the time, so that each packet at each node finds its own.
    routes_by_packet: bool,
    /// The endpoints that serve their node and belong to no flow.
    agents: Vec<u32>,
    /// Where packets end that no medium dropped.
    nowhere: Place,
    /// Packets made at a node for an endpoint there that come in an event of their own, since too many were on their way
    /// already.
    home: VecDeque<Arrival>,
    /// How many deliveries at one node are under way, each brought about by the one before.
    nested: u32,
    /// The most rows of a table that is recorded.
    most_rows: u64,
    /// Whether sources keep their transfers for a table, and how many events there are to be before these are counted.
    keeps_transfers: bool,
    count_transfers_at: u64,
    /// Events so far, with what machines did in one beyond what is usual.
    events: u64,
    /// Events until the run is looked after.
    until_look: u64,
    /// Events since its size was looked at.
    unlooked: u64,
    /// Events since time last went on, as far as they were looked after.
    standing: u64,
    /// What flows had counted when their transfers began, if somebody wants to know.
    marks: Option<Marks>,
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
/// Not a component: the network itself, for what the key says.
const NETWORK: u32 = 3;
/// Packets were dropped of which sources want to hear.
const LOSSES: Target = Target { component: NETWORK << KIND, key: 0 };
/// A packet that was made at a node is for an endpoint there.
const HOME: Target = Target { component: NETWORK << KIND, key: 1 };

/// How many events one instant may have.
const EVENTS_PER_INSTANT: u64 = 10_000_000;
/// After how many events the run is looked after.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;
/// After how many events for each flow transfers are counted.
const EVENTS_PER_FLOW: u64 = 16;
/// How many deliveries at one node may bring one another about in one event.
const MOST_NESTED: u32 = 8;
/// How much a machine may do in one wake-up: so many packets, or notices. It goes on in the next one, at the same instant.
const ACTIONS_PER_WAKE: u32 = 1 << 16;
/// How many of them are counted with the wake-up itself.
const USUAL_ACTIONS: u32 = 64;
/// How many packets may be under way: some 800 MiB of them.
const PACKETS_UNDER_WAY: u64 = 1 << 22;
/// How many wake-ups may wait: half of what their numbers can tell apart.
const WAKES_WAITING: usize = 1 << 23;

impl Simulation {
    /// The core, for building: streams and places.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// The core, for building: streams and places.
    pub fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    /// No table of what is recorded may have more rows than these; if sources keep their transfers, nor may that of transfers.
    pub fn set_most_rows(&mut self, rows: u64, keeps_transfers: bool) {
        (self.most_rows, self.keeps_transfers) = (rows, keeps_transfers);
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

    /// The present.
    pub fn now(&self) -> Instant {
        self.core.now()
    }

    /// How many events there were so far.
    pub fn events(&self) -> u64 {
        self.events
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
            self.until_look = some;
            while self.until_look > 0 {
                let Some(wake) = self.core.queue.pop(last) else {
                    // What happens at `until` is caused by it.
                    self.core.set_clock(until, Instant::ZERO);
                    self.core.set_float(FloatTime::new(until), Instant::ZERO);
                    self.events += some - self.until_look;
                    debug_assert_eq!(self.check_conservation(), Ok(()));
                    self.unlooked += some - self.until_look;
                    // Many short stretches are as one long one.
                    if self.unlooked >= EVENTS_BETWEEN_LOOKS {
                        self.look_at_size()?;
                    }
                    return Ok(Progress::Reached);
                };
                self.until_look -= 1;
                self.core.set_clock(wake.at, wake.since);
                self.dispatch(wake.target);
            }
            left -= some;
            self.events += some;
            self.look_after(began, some)?;
        }
        Ok(Progress::Paused)
    }

    /// A machine has done this much in one wake-up, more than is usual: each of its actions counts as an event.
    #[cold]
    fn note_work(&mut self, actions: u32) {
        let actions = u64::from(actions);
        let counted = actions.min(self.until_look);
        self.until_look -= counted;
        self.standing += actions - counted;
    }

    /// Ends the run if time stands still, or if packets pile up.
    fn look_after(&mut self, began: Instant, events: u64) -> Result<(), RunError> {
        let at = self.now();
        self.standing = if at == began { self.standing + events } else { 0 };
        if self.standing > EVENTS_PER_INSTANT {
            let component = self.core.queue.peek().map_or_else(String::new, |wake| self.component_name(wake.target));
            return Err(RunError::Stalled { at, events: self.standing, component });
        }
        self.look_at_size()
    }

    /// Whether what waits and what is recorded are not too much. Transfers are counted seldom: that takes time for each flow.
    fn look_at_size(&mut self) -> Result<(), RunError> {
        self.unlooked = 0;
        self.check_waiting()?;
        if self.events >= self.count_transfers_at {
            self.count_transfers_at = self.events + EVENTS_PER_FLOW * self.flows.len() as u64;
            self.check_transfers()?;
        }
        Ok(())
    }

    /// Whether what waits and what is recorded are not too much, at the end of a run.
    ///
    /// # Errors
    /// [`RunError::TooManyPackets`], [`RunError::TooManyWakes`] or [`RunError::TooManyRows`].
    pub fn check_size(&self) -> Result<(), RunError> {
        self.check_waiting()?;
        self.check_transfers()
    }

    fn check_waiting(&self) -> Result<(), RunError> {
        let at = self.now();
        let packets = self.core.under_way();
        if packets > PACKETS_UNDER_WAY {
            return Err(RunError::TooManyPackets { at, packets });
        }
        let wakes = self.core.queue.len();
        if wakes > WAKES_WAITING {
            return Err(RunError::TooManyWakes { at, wakes: wakes as u64 });
        }
        let (table, rows) = self.core.observer.as_ref().map_or(("", 0), |observer| observer.largest_table());
        self.check_rows(table, rows)
    }

    fn check_transfers(&self) -> Result<(), RunError> {
        if !self.keeps_transfers {
            return Ok(());
        }
        let transfers: u64 = self.flows.iter().map(|flow| flow.source.transfers().len() as u64).sum();
        self.check_rows("transfers", transfers)?;
        let quantities = self.marks.as_ref().map_or(0, Marks::quantities);
        self.check_rows("transfer_quantities", transfers.saturating_mul(quantities))
    }

    /// Whether a table that has so many rows may have them.
    ///
    /// # Errors
    /// [`RunError::TooManyRows`].
    pub fn check_rows(&self, table: &'static str, rows: u64) -> Result<(), RunError> {
        if rows <= self.most_rows {
            return Ok(());
        }
        Err(RunError::TooManyRows { at: self.now(), table, rows, most: self.most_rows })
    }

    /// When the next wake-up is due. It may be an old one with nothing due.
    pub fn next_event(&mut self) -> Option<Instant> {
        self.core.queue.peek().map(|wake| wake.at)
    }

    /// A packet of somebody else is at `node`, now: it goes to an endpoint there, or on, and counts as sent.
    ///
    /// # Errors
    /// If its addresses are not of this network, or it belongs to a flow that there is not.
    pub fn inject(&mut self, node: NodeId, packet: Packet) -> Result<(), Fault> {
        let wrong = |field, what: &str| Err(Fault::new(field, format!("there is no such {what}"), ""));
        let is_node = |node: NodeId| (node.0 as usize) < self.nodes.len();
        if !is_node(node) || !is_node(packet.from.node) {
            return wrong("from", "node");
        }
        let known = match packet.to {
            Address::Node(node) => is_node(node),
            Address::Group(group) => (group.0 as usize) < self.groups.len(),
        };
        if !known {
            return wrong("to", "node or group");
        }
        if packet.flow != FlowId::NONE && packet.flow.0 as usize >= self.flows.len() {
            return wrong("flow", "flow");
        }
        *self.core.vacant() = packet;
        self.send(node);
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

    #[inline]
    fn dispatch(&mut self, target: Target) {
        let index = target.component & ((1 << KIND) - 1);
        match target.component >> KIND {
            MEDIUM => {
                self.media[index as usize].wake(&mut self.core, target.key);
                if self.core.take_ways_changed() {
                    self.route();
                }
                self.forward_arrivals();
            }
            ENDPOINT => self.wake_endpoint(index),
            SOURCE => self.wake_source(index),
            _ => self.wake_network(target),
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
            Address::Node(destination) if destination == node => self.deliver_at(node, via, pkt),
            Address::Node(destination) => {
                if self.core.is_observed() || self.routes_by_packet {
                    return self.forward_watched(node, destination, pkt);
                }
                match self.ways.plain_hop(node, destination) {
                    Some(hop) => {
                        self.media[hop.medium as usize].accept(&mut self.core, hop.from, from_ref(&hop.to), pkt);
                    }
                    None => self.forward_anew(node, destination, pkt),
                }
            }
            Address::Group(group) => self.replicate(node, via, group, pkt),
        }
    }

    /// The same where somebody looks, or where ways change all the time.
    #[inline(never)]
    fn forward_watched(&mut self, node: NodeId, destination: NodeId, pkt: Pkt) {
        if self.core.is_observed() {
            let packet = self.core.packet(&pkt).clone();
            self.core.observe(&Observation::Forwarded { node, packet: &packet });
        }
        if self.routes_by_packet {
            self.find_ways();
            // A node with one way out would send on what arrives nowhere.
            if !self.reaches(node, destination) {
                return self.core.drop(pkt, self.nowhere, Cause::NoRoute);
            }
        }
        self.forward_anew(node, destination, pkt);
    }

    /// A packet goes from a root to its leaf, or where nobody has searched for the way yet.
    #[inline(never)]
    fn forward_anew(&mut self, node: NodeId, destination: NodeId, pkt: Pkt) {
        let Some(hop) = self.hop(node, destination) else {
            return self.core.drop(pkt, self.nowhere, Cause::NoRoute);
        };
        self.media[hop.medium as usize].accept(&mut self.core, hop.from, &[hop.to], pkt);
    }

    /// A multicast packet enters each medium of the out-list once, and stays here if endpoints
    /// listen; copies are made for all but the last.
    #[inline(never)]
    fn replicate(&mut self, node: NodeId, via: Port, group: GroupId, pkt: Pkt) {
        let here = &self.nodes[node.0 as usize];
        let source = self.core.packet(&pkt).from.node;
        let nobody = |elsewhere| if source == node { Cause::NoMembers } else { elsewhere };
        let Some(list) = here.group(group, source) else {
            return self.core.drop(pkt, self.nowhere, nobody(Cause::NoRoute));
        };
        if list.parent.is_some_and(|parent| parent != via) {
            return self.core.drop(pkt, self.nowhere, Cause::WrongInterface);
        }
        let local = list.local;
        let mut rest = list.out.len() + usize::from(local);
        if rest == 0 {
            return self.core.drop(pkt, self.nowhere, nobody(Cause::NoEndpoint));
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
            self.deliver_at(node, via, copy);
        }
    }

    /// A packet is for an endpoint at `node`.
    #[inline(never)]
    fn deliver_at(&mut self, node: NodeId, via: Port, pkt: Pkt) {
        if via == Port::LOCAL { self.deliver_home(node, pkt) } else { self.deliver(node, via, pkt) }
    }

    /// A packet is for an endpoint at the node that made it. Machines of one node may talk to one another a few times before
    /// anything else happens; what goes on beyond that comes in events.
    #[inline(never)]
    fn deliver_home(&mut self, node: NodeId, pkt: Pkt) {
        if self.nested == MOST_NESTED {
            self.home.push_back(Arrival { node, via: Port::LOCAL, pkt });
            let now = self.core.now();
            return self.core.arm(HOME, now, now);
        }
        self.nested += 1;
        self.deliver(node, Port::LOCAL, pkt);
        self.nested -= 1;
    }

    #[inline(never)]
    fn wake_network(&mut self, target: Target) {
        if target == LOSSES {
            self.tell_losses();
        } else if let Some(Arrival { node, via, pkt }) = self.home.pop_front() {
            self.deliver(node, via, pkt);
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
        let Some(due) = seated.timer.ring(&mut self.core, now) else { return };
        if due {
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
        let Some(due) = flow.timer.ring(&mut self.core, now) else { return };
        if due {
            flow.source.on_timeout(now);
        }
        let sender = flow.sender;
        self.ask_source(index, sender);
        self.settle(sender);
    }

    /// Tells sources of packets of theirs that were dropped.
    #[inline(never)]
    fn tell_losses(&mut self) {
        let now = self.core.now();
        for (FlowId(index), notice) in self.core.take_losses() {
            let flow = &mut self.flows[index as usize];
            if flow.source.hears().lost {
                flow.source.on_notice(now, notice);
                let sender = flow.sender;
                self.ask_source(index, sender);
                self.settle(sender);
            }
        }
    }

    /// Passes on what a source asks of its sender; says whether there was anything.
    fn ask_source(&mut self, index: u32, sender: u32) -> bool {
        let now = self.core.now();
        let mut asked = 0;
        while let Some(notice) = self.flows[index as usize].source.poll(now) {
            if notice == Notice::Open && self.marks.is_some() {
                self.mark(index);
            }
            let endpoint = &mut self.endpoints[sender as usize].endpoint;
            if let Some(float) = self.core.float() {
                endpoint.set_float(float);
            }
            endpoint.on_notice(now, notice);
            asked += 1;
            if asked == ACTIONS_PER_WAKE {
                break;
            }
        }
        if asked > USUAL_ACTIONS {
            self.note_work(asked);
        }
        let flow = &mut self.flows[index as usize];
        let wish = if asked < ACTIONS_PER_WAKE { flow.source.next_timeout() } else { Some(now) };
        flow.timer.set(&mut self.core, Target { component: (SOURCE << KIND) | index, key: 0 }, wish);
        asked > 0
    }

    /// Does what an endpoint wants done, and what follows from it at its source.
    #[inline]
    fn settle(&mut self, index: u32) {
        if self.drain(index) && self.endpoints[index as usize].flow != FlowId::NONE {
            let flow = self.endpoints[index as usize].flow.0;
            let sender = self.flows[flow as usize].sender;
            let mut rounds = 0;
            while self.ask_source(flow, sender) && self.drain(sender) {
                rounds += 1;
                if rounds == ACTIONS_PER_WAKE {
                    self.note_work(rounds);
                    // The source has been told something, and is asked in the next wake-up.
                    let now = Some(self.core.now());
                    let target = Target { component: (SOURCE << KIND) | flow, key: 0 };
                    self.flows[flow as usize].timer.set(&mut self.core, target, now);
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

    /// Passes an order to the interface that it names, or to the out-list of a group.
    #[inline(never)]
    fn order(&mut self, node: NodeId, order: &Order) -> Answer {
        match order.command {
            Command::Open(..) | Command::Shut(..) => return self.order_group(node, order),
            Command::Listen(group) => {
                self.set_member(group, node, true);
                return Answer::Done;
            }
            Command::Ignore(group) => {
                self.set_member(group, node, false);
                return Answer::Done;
            }
            _ => {}
        }
        let Some((hop, _)) = self.next_hop(node, order.toward) else { return Answer::Unknown };
        self.media[hop.medium as usize].order(&mut self.core, hop.from, &order.command)
    }

    /// Drains `poll` and reads the timer; says whether the source was told something.
    #[inline]
    fn drain(&mut self, index: u32) -> bool {
        let now = self.core.now();
        let mut told = false;
        let mut left = ACTIONS_PER_WAKE;
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
            left -= 1;
            if left == 0 {
                break;
            }
        }
        if left < ACTIONS_PER_WAKE - USUAL_ACTIONS {
            self.note_work(ACTIONS_PER_WAKE - left);
        }
        let seated = &mut self.endpoints[index as usize];
        let wish = if left > 0 { seated.endpoint.next_timeout() } else { Some(now) };
        let float = self.core.float().and_then(|_| seated.endpoint.next_float());
        seated.timer.set_float(&mut self.core, Target { component: (ENDPOINT << KIND) | index, key: 0 }, wish, float);
        told
    }
}
