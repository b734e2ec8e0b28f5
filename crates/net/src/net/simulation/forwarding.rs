//! A packet at a node: it goes to an endpoint there, on to the next medium, or to several.

use std::slice::from_ref;

use crate::net::core::{Arrival, Core, Port};
use crate::net::node::NextHop;
use crate::net::observe::{Cause, Observation};
use crate::net::packet::{Address, GroupId, NodeId};
use crate::net::slab::Pkt;

use super::{HOME, Simulation};

/// How many deliveries at one node may bring one another about in one event.
const MOST_NESTED: u32 = 8;

impl Simulation {
    #[inline(always)]
    pub(super) fn forward_arrivals(&mut self) {
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
    pub(super) fn forward(&mut self, node: NodeId, via: Port, pkt: Pkt) {
        match self.core.packet(&pkt).to {
            Address::Node(destination) if destination == node => self.deliver_at(node, via, pkt),
            Address::Node(destination) => {
                if self.core.is_observed() || self.routes_by_packet {
                    return self.forward_watched(node, destination, pkt);
                }
                match self.ways.known_hop(node, destination) {
                    Some(hop) => {
                        self.media[hop.medium as usize].accept(&mut self.core, hop.from, from_ref(&hop.to), pkt);
                    }
                    None => self.forward_anew(node, destination, pkt),
                }
            }
            Address::Group(group) => self.replicate(node, via, group, pkt),
        }
    }

    /// The same with an observer, or where ways change all the time.
    #[inline(never)]
    pub(super) fn forward_watched(&mut self, node: NodeId, destination: NodeId, pkt: Pkt) {
        if self.core.is_observed() {
            let packet = *self.core.packet(&pkt);
            self.core.observe(&Observation::Forwarded { node, packet: &packet });
        }
        if self.routes_by_packet {
            // The trees of groups know the ways as they were when one last appeared or vanished: those stay.
            let hop = self.present_ways().hop_of_packet(node, destination);
            return self.send_on(hop, pkt);
        }
        self.forward_anew(node, destination, pkt);
    }

    /// A packet whose way has not been searched for yet.
    #[inline(never)]
    pub(super) fn forward_anew(&mut self, node: NodeId, destination: NodeId, pkt: Pkt) {
        let hop = self.hop(node, destination);
        self.send_on(hop, pkt);
    }

    /// Sends a packet on, if it has a way.
    fn send_on(&mut self, hop: Option<NextHop>, pkt: Pkt) {
        let Some(hop) = hop else {
            return self.core.drop(pkt, self.nowhere, Cause::NoRoute);
        };
        self.media[hop.medium as usize].accept(&mut self.core, hop.from, &[hop.to], pkt);
    }

    /// A multicast packet enters each medium of the out-list once, and stays here if endpoints
    /// listen; copies are made for all but the last.
    #[inline(never)]
    pub(super) fn replicate(&mut self, node: NodeId, via: Port, group: GroupId, pkt: Pkt) {
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
        if list.out.is_empty() {
            return match local {
                true => self.deliver_at(node, via, pkt),
                false => self.core.drop(pkt, self.nowhere, nobody(Cause::NoEndpoint)),
            };
        }
        let mut rest = list.out.len() + usize::from(local);
        if self.core.is_observed() {
            let packet = *self.core.packet(&pkt);
            self.core.observe(&Observation::Forwarded { node, packet: &packet });
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
    pub(super) fn deliver_at(&mut self, node: NodeId, via: Port, pkt: Pkt) {
        if via == Port::LOCAL { self.deliver_home(node, pkt) } else { self.deliver(node, via, pkt) }
    }

    /// A packet is for an endpoint at the node that made it. Machines of one node may talk to one another a few times before
    /// anything else happens; further messages come in events.
    #[inline(never)]
    pub(super) fn deliver_home(&mut self, node: NodeId, pkt: Pkt) {
        if self.nested == MOST_NESTED {
            self.home.push_back(Arrival { node, via: Port::LOCAL, pkt });
            let now = self.core.now();
            return self.core.arm(HOME, now, now);
        }
        self.nested += 1;
        self.deliver(node, Port::LOCAL, pkt);
        self.nested -= 1;
    }

    #[inline]
    pub(super) fn deliver(&mut self, node: NodeId, via: Port, pkt: Pkt) {
        let Some(endpoint) = self.sockets.at(node, self.core.packet(&pkt).to_port) else {
            return self.end_without_endpoint(node, pkt);
        };
        let now = self.core.now();
        if self.core.is_observed() {
            let packet = *self.core.packet(&pkt);
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
}
