//! How a network is built.

use std::collections::VecDeque;

use super::{ENDPOINT, Ends, Flow, Group, KIND, LOSSES, MEDIUM, SOURCE, Seated, Simulation, Sockets, Timer};
use crate::engine::{Instant, Target};
use crate::net::core::{Core, Port};
use crate::net::machine::{Endpoint, EndpointContext, Source};
use crate::net::medium::{End, Medium, Peer};
use crate::net::names::Names;
use crate::net::node::{FIRST_FREE_PORT, Node};
use crate::net::packet::{Address, FlowId, GroupId, NodeId, Socket};
use crate::net::routes::Ways;

impl Simulation {
    /// An empty network whose random streams derive from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut core = Core::new(seed);
        let nowhere = core.place("network");
        Self {
            core,
            nodes: Vec::new(),
            node_names: Names::default(),
            media: Vec::new(),
            ways: Ways::new(0, Vec::new()),
            ends: Ends::default(),
            endpoints: Vec::new(),
            sockets: Sockets::default(),
            flows: Vec::new(),
            groups: Vec::new(),
            has_trees: false,
            routes_by_packet: false,
            agents: Vec::new(),
            nowhere,
            home: VecDeque::new(),
            handed_out: Vec::new(),
            nested: 0,
            most_rows: u64::MAX,
            keeps_transfers: false,
            count_transfers_at: 0,
            events: 0,
            until_look: 0,
            unlooked: 0,
            standing: 0,
            marks: None,
        }
    }

    /// Adds a node.
    pub fn add_node(&mut self, name: &str) -> NodeId {
        self.nodes.push(Node::default());
        self.node_names.push(name);
        self.sockets.add_node();
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a medium between `nodes`, which become its peers 0, 1, …. `make` gets the number of
    /// the component to which wake-ups come, and the peers' ends.
    pub fn add_medium(
        &mut self,
        nodes: &[NodeId],
        make: impl FnOnce(&mut Core, u32, &[End]) -> Box<dyn Medium>,
    ) -> u32 {
        let medium = self.media.len() as u32;
        let mut ends = Vec::with_capacity(nodes.len());
        for (&node, peer) in nodes.iter().zip(0..) {
            let ports = &mut self.nodes[node.0 as usize].ports;
            ends.push(End { node, port: Port(ports.len() as u32) });
            ports.push((medium, Peer(peer)));
        }
        let made = make(&mut self.core, (MEDIUM << KIND) | medium, &ends);
        self.media.push(made);
        self.ends.push(&ends);
        medium
    }

    /// Adds a multicast group.
    pub fn add_group(&mut self, group: Group) -> GroupId {
        self.groups.push(group);
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
        make_sender: impl FnOnce(EndpointContext) -> Box<dyn Endpoint>,
        mut make_receiver: impl FnMut(EndpointContext) -> Box<dyn Endpoint>,
    ) -> FlowId {
        let flow = FlowId(self.flows.len() as u32);
        let members = match to {
            Address::Node(node) => vec![node],
            Address::Group(group) => self.groups[group.0 as usize].members.clone(),
        };
        let local = Socket { node: from, port: self.free_port(&[from]) };
        let remote_port = self.free_port(&members);
        let observed = self.core.is_observed();
        let hears = source.hears();
        if hears.lost {
            self.core.note_losses(LOSSES);
        }
        let sender = self.seat(
            local,
            flow,
            make_sender(EndpointContext { local, remote: to, remote_port, flow, hears, observed }),
        );
        let mut receivers = Vec::with_capacity(members.len());
        for node in members {
            let here = Socket { node, port: remote_port };
            let seat = EndpointContext {
                local: here,
                remote: Address::Node(from),
                remote_port: local.port,
                flow,
                hears,
                observed,
            };
            receivers.push(self.seat(here, flow, make_receiver(seat)));
        }
        let mut timer = Timer::IDLE;
        timer.set(&mut self.core, Target { component: (SOURCE << KIND) | flow.0, key: 0 }, Some(start));
        self.flows.push(Flow { to, source, timer, sender, receivers: receivers.into() });
        flow
    }

    /// Packets may be sent to `node` though no endpoint is there. They end there, where an observer sees them.
    pub fn make_destination(&mut self, node: NodeId) {
        self.nodes[node.0 as usize].is_destination = true;
    }

    /// Adds a machine that serves `node` at `port`, below `FIRST_FREE_PORT`: routers have such
    /// for signalling. `make` gets its seat.
    pub fn add_agent(&mut self, node: NodeId, port: u16, make: impl FnOnce(EndpointContext) -> Box<dyn Endpoint>) {
        let local = Socket { node, port };
        let observed = self.core.is_observed();
        let remote = Address::Node(node);
        let seat = EndpointContext {
            local,
            remote,
            remote_port: port,
            flow: FlowId::NONE,
            hears: Default::default(),
            observed,
        };
        let agent = self.seat(local, FlowId::NONE, make(seat));
        self.agents.push(agent);
        let seated = &mut self.endpoints[agent as usize];
        let wish = seated.endpoint.next_timeout();
        seated.timer.set(&mut self.core, Target { component: (ENDPOINT << KIND) | agent, key: 0 }, wish);
    }

    /// The lowest port free at all of `nodes`.
    fn free_port(&self, nodes: &[NodeId]) -> u16 {
        nodes.iter().map(|node| self.sockets.free(*node)).fold(FIRST_FREE_PORT, u16::max)
    }

    fn seat(&mut self, at: Socket, flow: FlowId, endpoint: Box<dyn Endpoint>) -> u32 {
        let number = self.endpoints.len() as u32;
        self.sockets.listen(at, number);
        self.endpoints.push(Seated { endpoint, node: at.node, flow, timer: Timer::IDLE });
        number
    }
}
