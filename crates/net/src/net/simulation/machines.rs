//! Endpoints and sources: how they are woken, and how what they want is done.

use crate::engine::Target;
use crate::net::core::Port;
use crate::net::machine::{Action, Notice};
use crate::net::observe::Observation;
use crate::net::order::{Answer, Command, Offer, Order};
use crate::net::packet::{Address, FlowId, NodeId};

use super::{ENDPOINT, KIND, SOURCE, Simulation};

/// The most packets or notices of a machine in one wake-up. It goes on in the next one, at the same instant.
const ACTIONS_PER_WAKE: u32 = 1 << 16;
/// How many of them are counted with the wake-up itself.
const USUAL_ACTIONS: u32 = 64;

impl Simulation {
    #[inline]
    pub(super) fn wake_endpoint(&mut self, index: u32) {
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

    #[inline]
    pub(super) fn wake_source(&mut self, index: u32) {
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
    pub(super) fn tell_losses(&mut self) {
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
    #[inline]
    pub(super) fn ask_source(&mut self, index: u32, sender: u32) -> bool {
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
    pub(super) fn settle(&mut self, index: u32) {
        if self.drain(index) && self.endpoints[index as usize].flow != FlowId::NONE {
            let flow = self.endpoints[index as usize].flow.0;
            let sender = self.flows[flow as usize].sender;
            let mut rounds = 0;
            while self.ask_source(flow, sender) && self.drain(sender) {
                rounds += 1;
                if rounds == ACTIONS_PER_WAKE {
                    self.note_work(rounds);
                    // The source has got a notice, and is asked in the next wake-up.
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
    pub(super) fn send(&mut self, node: NodeId) {
        if self.core.is_observed() {
            let packet = *self.core.vacant();
            self.core.observe(&Observation::Sent { node, packet: &packet });
        }
        let pkt = self.core.send_vacant();
        self.forward(node, Port::LOCAL, pkt);
    }

    /// Sends it to the neighbour on the way to `destination`.
    #[inline(never)]
    pub(super) fn send_toward(&mut self, node: NodeId, destination: NodeId) {
        // Without a way the packet ends like any other without one.
        let neighbour = self.next_hop(node, destination).map_or(destination, |(_, neighbour)| neighbour);
        self.core.vacant().to = Address::Node(neighbour);
        self.send(node);
    }

    /// Passes an order to the interface that it names, or to the out-list of a group.
    #[inline(never)]
    pub(super) fn order(&mut self, node: NodeId, order: &Order) -> Answer {
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
        // A node with one way out knows its next hop to anywhere.
        if order.command == Command::Interface && order.over.is_none() && !self.reaches(node, order.toward) {
            return Answer::Unknown;
        }
        let hop = match order.over {
            Some(port) => self.hop_over(node, port, order.toward),
            None => self.next_hop(node, order.toward).map(|(hop, _)| hop),
        };
        let named = order.over.and_then(|port| self.nodes[node.0 as usize].ports.get(port.0 as usize).copied());
        let Some((medium, from)) = named.or(hop.map(|hop| (hop.medium, hop.from))) else { return Answer::Unknown };
        let port = self.ends[medium][from.0 as usize].port;
        if order.command == Command::Interface {
            return Answer::Interface(port);
        }
        if hop.is_some_and(|hop| !self.media[medium as usize].takes_orders(from, hop.to)) {
            return Answer::Unknown;
        }
        match self.media[medium as usize].order(&mut self.core, from, &order.command) {
            Answer::Offered(offer) => Answer::Offered(Offer { port, ..offer }),
            answer => answer,
        }
    }

    /// Drains `poll` and reads the timer; says whether the source got a notice.
    #[inline]
    pub(super) fn drain(&mut self, index: u32) -> bool {
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
