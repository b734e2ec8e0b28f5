//! The medium: what crosses the Iub, and the Node B that divides it.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::Direction;
use crate::radio::channel::{Block, Channel};
use crate::radio::delay_line::DelayLine;
use crate::radio::imposed::Imposed;
use lasthop_net::engine::{BitRate, Duration, Instant, Target};
use lasthop_net::net::clock::Exact;
use lasthop_net::net::copies;
use lasthop_net::net::medium::{Access, Change, Edge, End, Medium, Peer};
use lasthop_net::net::transmitter::{self, KEYS, Transmitter};
use lasthop_net::net::{
    Address, Answer, Cause, Command, Core, FlowId, NodeId, Pkt, Place, Port, Probe, Rejections, What,
};

use super::audiences::Audiences;
use super::bearer::{Air, Bearer, Counts, Sending, To};
use super::retransmission::{self, Passage, Retransmission};
use super::varying::Varying;

/// For what a terminal has a point-to-point bearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MbmsBearers")]
pub enum PerWhat {
    /// One for each flow, with a FIFO and the whole rate of its own.
    #[default]
    Flow,
    /// One for all its flows, which share FIFO and rate.
    Terminal,
}

/// What a medium is made of.
pub struct Setup {
    /// Its name.
    pub name: String,
    /// The Iub, down and up.
    pub iub: [transmitter::Setup; 2],
    /// How bearers send.
    pub sending: Sending,
    /// How long the air takes, one way.
    pub delay: Duration,
    /// For what a terminal has a bearer.
    pub bearers: PerWhat,
    /// From how many listeners on a packet goes over a shared bearer, and where such a bearer's rejections are counted.
    pub shared: Option<(u32, Place)>,
    /// Whether the Node B asks for what it rejected.
    pub retransmission: Option<retransmission::Config>,
    /// Decides which blocks are received.
    pub channel: Box<dyn Channel>,
    /// The terminals.
    pub terminals: Vec<Terminal>,
}

/// What a terminal's part of the medium is made of.
pub struct Terminal {
    /// Where its packets end that do not come.
    pub place: Place,
    /// The transmitter up.
    pub uplink: transmitter::Setup,
    /// How the rate and the delay of its bearers down change. Default: they do not.
    pub varying: Option<Varying>,
}

/// A Node B and its Iub. The first peer is the RNC, the others are the terminals.
pub struct Mbms {
    name: String,
    component: u32,
    terminals: Vec<Ue>,
    /// Where packets end that do not come to terminals.
    places: Vec<Place>,
    /// Down, and up.
    iub: [Transmitter<Exact>; 2],
    /// Of packets on the Iub down, in their order.
    passages: VecDeque<Passage>,
    audiences: Audiences,
    channel: Box<dyn Channel>,
    imposed: Imposed,
    /// Down.
    air: DelayLine,
    uplink_delay: Duration,
    sending: Sending,
    per: PerWhat,
    shared: Option<(u32, Place)>,
    /// Point-to-multipoint bearers by flow.
    shared_bearers: Vec<(FlowId, u32)>,
    /// All bearers, in the order in which they were made.
    bearers: Vec<Bearer>,
    retransmission: Option<Retransmission>,
    /// Packets that the Node B asked for, and that the RNC sent again.
    requests: u64,
    resent: u64,
    /// Of the packet that is divided; empty between events.
    listeners: Vec<u32>,
}

/// A terminal.
struct Ue {
    end: End,
    uplink: Transmitter<Exact>,
    /// Packets that the air lost on their way up.
    lost: u64,
    /// Its bearers by flow.
    bearers: Vec<(FlowId, u32)>,
    varying: Option<Varying>,
    /// The rate of each of its bearers.
    rate: BitRate,
}

/// Where transmitters inside the medium bring packets: it is no node of the network.
const NODE_B: End = End { node: NodeId(u32::MAX), port: Port::LOCAL };

/// What a wake-up is for: the Iub's two transmitters come first.
const AIR: u32 = 2 * KEYS;
const REQUEST: u32 = AIR + 1;
const UPLINKS: u32 = 3 * KEYS;
const BEARERS: u32 = 1 << 31;

/// The cell, as channels number cells.
const CELL: [u32; 1] = [0];

impl Mbms {
    /// One whose wake-ups come to `component`; `ends` are the RNC and the terminals.
    pub fn new(core: &Core, component: u32, ends: &[End], setup: Setup) -> Self {
        let [down, up] = setup.iub;
        let uplink_delay = setup.terminals.first().map_or(setup.delay, |terminal| terminal.uplink.delay);
        let places = setup.terminals.iter().map(|terminal| terminal.place).collect();
        let terminals = (0..).zip(setup.terminals).zip(&ends[1..]).map(|((number, terminal), end)| Ue {
            end: *end,
            uplink: Transmitter::new(core, NODE_B, component, UPLINKS + KEYS * number, terminal.uplink),
            lost: 0,
            bearers: Vec::new(),
            varying: terminal.varying,
            rate: setup.sending.rate,
        });
        let target = |key| Target { component, key };
        Self {
            name: setup.name,
            component,
            terminals: terminals.collect(),
            places,
            iub: [
                Transmitter::new(core, NODE_B, component, 0, down),
                Transmitter::new(core, ends[0], component, KEYS, up),
            ],
            passages: VecDeque::new(),
            audiences: Audiences::default(),
            channel: setup.channel,
            imposed: Imposed::default(),
            air: DelayLine::new(setup.delay, target(AIR)),
            uplink_delay,
            sending: setup.sending,
            per: setup.bearers,
            shared: setup.shared,
            shared_bearers: Vec::new(),
            bearers: Vec::new(),
            retransmission: setup.retransmission.map(|config| Retransmission::new(config, target(REQUEST))),
            requests: 0,
            resent: 0,
            listeners: Vec::new(),
        }
    }

    /// Sends a packet for these terminals down the Iub.
    fn send_down(&mut self, core: &mut Core, pkt: Pkt, passage: Passage, terminals: &[u32]) {
        let [down, _] = &mut self.iub;
        let held = down.holds();
        down.accept(core, pkt);
        // Its queue may have had no room.
        if down.holds() > held {
            self.passages.push_back(passage);
            self.audiences.push(terminals);
        }
    }

    /// A packet has come to the Node B.
    fn divide(&mut self, core: &mut Core, pkt: Pkt) {
        let passage = self.passages.pop_front().unwrap_or_default();
        let mut listeners = std::mem::take(&mut self.listeners);
        self.audiences.pop(&mut listeners);
        let packet = core.packet(&pkt);
        let (flow, to_group) = (packet.flow, matches!(packet.to, Address::Group(_)));
        match self.shared {
            Some((least, place)) if to_group && listeners.len() >= least as usize => {
                let bearer = self.shared_bearer(flow);
                self.offer(core, bearer, pkt, passage, &listeners, place);
            }
            _ => copies::each(core, pkt, &listeners, |core, terminal, pkt| {
                let bearer = self.own_bearer(terminal, flow);
                self.offer(core, bearer, pkt, passage, &[terminal], self.places[terminal as usize]);
            }),
        }
        self.listeners = listeners;
    }

    /// Gives a packet to a bearer. If that has no room it ends at `place`, and may be asked for.
    fn offer(&mut self, core: &mut Core, bearer: u32, pkt: Pkt, passage: Passage, terminals: &[u32], place: Place) {
        if let Err(pkt) = self.bearers[bearer as usize].accept(core, pkt, terminals, passage.requests > 0) {
            if let Some(retransmission) = &mut self.retransmission {
                self.requests += u64::from(retransmission.on_rejected(core, &pkt, passage, terminals));
            }
            core.drop(pkt, place, Cause::Overflow);
        }
    }

    /// The bearer of a terminal for a flow. It is made when it is first used.
    fn own_bearer(&mut self, terminal: u32, flow: FlowId) -> u32 {
        let key = if self.per == PerWhat::Flow { flow } else { FlowId::NONE };
        let ue = &mut self.terminals[terminal as usize];
        if let Some((_, bearer)) = ue.bearers.iter().find(|(known, _)| *known == key) {
            return *bearer;
        }
        let number = self.bearers.len() as u32;
        ue.bearers.push((key, number));
        let (varying, rate) = (ue.varying.as_ref().map(Varying::of_bearer), ue.rate);
        let name = named(&format!("{}.ue[{terminal}] down", self.name), key);
        self.add_bearer(name, To::One(terminal), Sending { rate, ..self.sending.clone() }, varying)
    }

    /// The shared bearer for a flow. It is made when it is first used.
    fn shared_bearer(&mut self, flow: FlowId) -> u32 {
        if let Some((_, bearer)) = self.shared_bearers.iter().find(|(known, _)| *known == flow) {
            return *bearer;
        }
        self.shared_bearers.push((flow, self.bearers.len() as u32));
        // Point to multipoint has no feedback, and so one attempt only.
        self.add_bearer(
            named(&format!("{} ptm", self.name), flow),
            To::Several(Audiences::default()),
            Sending { attempts: 1, ..self.sending.clone() },
            None,
        )
    }

    fn add_bearer(&mut self, name: String, to: To, sending: Sending, varying: Option<Varying>) -> u32 {
        let number = self.bearers.len() as u32;
        let target = Target { component: self.component, key: BEARERS + number };
        self.bearers.push(Bearer::new(name, target, to, &sending, varying));
        number
    }

    fn wake_iub(&mut self, core: &mut Core, key: u32) {
        let [down, up] = &mut self.iub;
        if key >= KEYS {
            return up.wake(core, key, down);
        }
        down.wake(core, key, up);
        if let Some(pkt) = core.take_arrival(NODE_B.node) {
            self.divide(core, pkt);
        }
    }

    fn wake_bearer(&mut self, core: &mut Core, number: u32) {
        let Self { channel, imposed, air: line, places, .. } = self;
        let mut air = Air { channel: &mut **channel, imposed, line, places };
        self.bearers[number as usize].wake(core, &mut air);
    }

    /// What terminals received is complete in them.
    fn wake_air(&mut self, core: &mut Core) {
        while let Some((terminal, pkt)) = self.air.take(core) {
            let end = self.terminals[terminal as usize].end;
            core.arrive(end.node, end.port, pkt);
        }
    }

    fn wake_uplink(&mut self, core: &mut Core, key: u32) {
        let terminal = (key - UPLINKS) / KEYS;
        let ue = &mut self.terminals[terminal as usize];
        let [_, up] = &mut self.iub;
        // A FIFO needs no view of the other direction.
        ue.uplink.wake(core, key, up);
        let Some(pkt) = core.take_arrival(NODE_B.node) else { return };
        let (at, direction) = (core.now(), Direction::Up);
        let block = Block { terminal, direction, dedicated: true, sent: core.since(), at, cells: &CELL };
        if self.imposed.receive(&mut *self.channel, &block).any() || core.packet(&pkt).is_exempt() {
            up.accept(core, pkt);
        } else {
            ue.lost += 1;
            core.drop(pkt, ue.uplink.place(), Cause::Radio);
        }
    }

    /// The RNC sends again what the Node B asked for.
    fn wake_request(&mut self, core: &mut Core) {
        let mut terminals = std::mem::take(&mut self.listeners);
        while let Some((pkt, passage)) = self.retransmission.as_mut().and_then(|r| r.take(core, &mut terminals)) {
            self.resent += 1;
            self.send_down(core, pkt, passage, &terminals);
        }
        self.listeners = terminals;
    }

    /// How many packets of a flow for a terminal found no room in front of the radio.
    fn rejections(&self, flow: FlowId, terminal: &Ue) -> Rejections {
        let own = terminal.bearers.iter().map(|(_, bearer)| *bearer);
        let shared = self.shared_bearers.iter().filter(|(known, _)| *known == flow).map(|(_, bearer)| *bearer);
        let all = own.chain(shared).map(|bearer| self.bearers[bearer as usize].rejections(flow));
        all.fold(Rejections::default(), Rejections::and)
    }
}

/// The name of a bearer for a flow, if it is one for a flow.
fn named(bearer: &str, flow: FlowId) -> String {
    if flow == FlowId::NONE { bearer.to_owned() } else { format!("{bearer} flow[{}]", flow.0) }
}

impl Medium for Mbms {
    fn accept(&mut self, core: &mut Core, from: Peer, to: &[Peer], packet: Pkt) {
        if let Some(terminal) = from.0.checked_sub(1) {
            return self.terminals[terminal as usize].uplink.accept(core, packet);
        }
        let number = match &mut self.retransmission {
            Some(retransmission) if matches!(core.packet(&packet).to, Address::Group(_)) => {
                Some(retransmission.on_sent(core.packet(&packet).flow))
            }
            _ => None,
        };
        let mut listeners = std::mem::take(&mut self.listeners);
        listeners.clear();
        listeners.extend(to.iter().map(|peer| peer.0 - 1));
        self.send_down(core, packet, Passage { number, requests: 0 }, &listeners);
        self.listeners = listeners;
    }

    fn wake(&mut self, core: &mut Core, key: u32) {
        match key {
            BEARERS.. => self.wake_bearer(core, key - BEARERS),
            UPLINKS.. => self.wake_uplink(core, key),
            AIR => self.wake_air(core),
            REQUEST => self.wake_request(core),
            _ => self.wake_iub(core, key),
        }
    }

    fn change(&mut self, core: &mut Core, change: &mut Change) {
        let Some(terminal) = change.peer.0.checked_sub(1) else { return };
        self.imposed.change(terminal, core.now(), change);
        if let Some([rate, _]) = change.rate {
            let ue = &mut self.terminals[terminal as usize];
            ue.rate = rate;
            for (_, bearer) in &ue.bearers {
                self.bearers[*bearer as usize].set_rate(rate);
            }
        }
    }

    fn order(&mut self, _core: &mut Core, at: Peer, command: &Command) -> Answer {
        match *command {
            Command::Rejections(flow, terminal) if at == Peer(0) => {
                let ue = self.terminals.iter().find(|ue| ue.end.node == terminal);
                ue.map_or(Answer::Unknown, |ue| Answer::Rejected(self.rejections(flow, ue)))
            }
            _ => Answer::Unknown,
        }
    }

    fn access(&self, peer: Peer) -> Access {
        let [down, up] = &self.iub;
        match peer.0.checked_sub(1) {
            None => {
                let rate = self.terminals.first().map_or(BitRate::default(), |ue| ue.uplink.access().rate);
                Access { rate, delay: self.uplink_delay + up.delay(), up: true }
            }
            Some(_) => Access { rate: self.sending.rate, delay: down.delay() + self.air.delay(), up: true },
        }
    }

    fn edges(&self, _now: Instant) -> Vec<Edge> {
        let rnc = Peer(0);
        let both = |number: u32| {
            let ue = Peer(number + 1);
            let [down, up] = [ue, rnc].map(|peer| self.access(peer).delay);
            [Edge { from: rnc, to: ue, delay: down }, Edge { from: ue, to: rnc, delay: up }]
        };
        (0..self.terminals.len() as u32).flat_map(both).collect()
    }

    fn holds(&self) -> u64 {
        let iub: u64 = self.iub.iter().map(Transmitter::holds).sum();
        let uplinks: u64 = self.terminals.iter().map(|ue| ue.uplink.holds()).sum();
        iub + uplinks + self.bearers.iter().map(Bearer::holds).sum::<u64>() + self.air.len()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        for direction in &self.iub {
            probe.part(What::Link, core.place_name(direction.place()));
            direction.sample(core, probe);
        }
        let mut all = Counts::default();
        self.bearers.iter().for_each(|bearer| all.add(bearer.counts()));
        probe.part(What::Cell, &self.name);
        probe.value("ues", self.terminals.len() as f64);
        all.sample(probe);
        probe.value("requests", self.requests as f64);
        probe.value("resent_packets", self.resent as f64);
        for bearer in &self.bearers {
            probe.part(What::Bearer, bearer.name());
            bearer.sample(probe);
        }
        for ue in &self.terminals {
            probe.part(What::Bearer, core.place_name(ue.uplink.place()));
            ue.uplink.sample(core, probe);
            probe.value("failed_tries", ue.lost as f64);
        }
    }
}
