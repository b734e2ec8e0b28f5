//! Membership: the machine at each node that lets a sender's tree grow and shrink, with messages that take their time.
//!
//! A host that joins sends a JOIN to its router, which opens a branch; a router that was not on the tree sends a GRAFT to the
//! next one on the way back to the sender, and so on up to the first that is. A host that leaves sends a LEAVE. The last router
//! goes on for the leave latency (IGMPv2: the interval of its last queries, RFC 2236 §8.8 and §8.9) and then shuts the branch; a
//! router without branches sends a PRUNE. Where the way back leads elsewhere, the node sends a GRAFT there, and a PRUNE to the
//! neighbour before. There are no floods: this is how source-specific groups (RFC 4607) and the lists of MBMS (3GPP TS 23.246) work.
//!
//! The manager of a group can take a host out of it and let it in again: the host's machine then acts as if the host itself left or joined.
//! The manager can also query how many packets for a host found no room in front of its radio: the query goes from machine to machine,
//! towards the host, until one of them knows.
//!
//! Messages take 40 bytes, wait with the data, and are never dropped by a queue, by a loss model of packets or in a handover. Each has a
//! number, and one that a later message of the same node has overtaken, on another way, is ignored: a branch has to be as its node said last.
//! Where the way back leads to the same neighbour over another interface, a GRAFT moves the branch. A LEAVE or PRUNE that finds no way is kept
//! until there is one: a neighbour that never received it would go on for good. A JOIN or GRAFT needs no such care, since one is sent when the
//! way back has changed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{
    Action, Answer, Branches, Command, Endpoint, EndpointContext, GroupId, Membership, NodeId, Notice, Order, Packet,
    Port, Probe, Rejections, Signal, SignalHeader, Socket, Timed,
};

/// The port of the machines.
pub const PORT: u16 = 0;

/// What every node needs.
pub const AGENT: lasthop_net::net::Agent =
    lasthop_net::net::Agent { port: PORT, make: |seat, _| Box::new(Agent::new(seat)) };

/// Bytes of a message on the wire.
pub const MESSAGE_BYTES: u32 = 40;

/// How often it is looked whether there is a way by now for what has found none. Without it soft state would end after 260 s (IGMPv2, RFC 2236
/// §8.4) or 210 s (PIM, RFC 7761 §4.11).
const RETRY: Duration = Duration::from_secs(1);

/// The packets of one sender to a group.
type Channel = (GroupId, NodeId);

/// The machine of a node.
pub struct Agent {
    here: Socket,
    steps: VecDeque<Step>,
    /// The order that waits for its answer.
    asked: Option<Waiting>,
    /// What the own endpoints have left: the manager cannot let them in again.
    left: BTreeSet<Channel>,
    /// Branches to be shut, and when.
    leaving: BTreeMap<(Channel, NodeId), Instant>,
    /// The number of the last message of each neighbour about a branch.
    heard: BTreeMap<(Channel, NodeId), u32>,
    /// What has found no way, and when that is looked at again.
    unsaid: BTreeMap<(Channel, Option<NodeId>), Said>,
    retry_at: Instant,
    counts: Counts,
}

/// The next action.
enum Step {
    Order(Order, Waiting),
    Say(Said),
    /// Relays a query hop by hop, or its reply.
    Pass(SignalHeader),
}

/// A message about a channel.
#[derive(Clone, Copy)]
struct Said {
    /// A node, or else the neighbour on the way to the sender.
    to: Option<NodeId>,
    kind: Signal,
    channel: Channel,
    leave_latency: Duration,
}

/// What an order was given for.
#[derive(Clone, Copy)]
enum Waiting {
    Branch(Asked),
    /// Whether there is a way for the message.
    Way(Said),
    Rejections(SignalHeader),
}

/// A branch that was opened or shut.
#[derive(Clone, Copy)]
struct Asked {
    channel: Channel,
    /// Whether it leads to the own endpoints.
    own: bool,
    opened: bool,
    /// How long the last router goes on, if the own endpoints leave.
    leave_latency: Duration,
}

/// How many messages of a kind were sent, and all their bytes.
#[derive(Default)]
struct Counts {
    joins: u64,
    leaves: u64,
    grafts: u64,
    prunes: u64,
    passed: u64,
}

impl Agent {
    /// The machine at `seat`.
    pub fn new(seat: EndpointContext) -> Self {
        Self {
            here: seat.local,
            steps: VecDeque::new(),
            asked: None,
            left: BTreeSet::new(),
            leaving: BTreeMap::new(),
            heard: BTreeMap::new(),
            unsaid: BTreeMap::new(),
            retry_at: Instant::MAX,
            counts: Counts::default(),
        }
    }

    fn open(&mut self, channel: Channel, toward: NodeId, over: Port) {
        let (group, source) = channel;
        let own = toward == self.here.node;
        let order = Order { toward, over: None, command: Command::Open(group, source, over) };
        let asked = Asked { channel, own, opened: true, leave_latency: Duration::ZERO };
        self.steps.push_back(Step::Order(order, Waiting::Branch(asked)));
    }

    fn shut(&mut self, channel: Channel, toward: NodeId, leave_latency: Duration) {
        let (group, source) = channel;
        let own = toward == self.here.node;
        let order = Order { toward, over: None, command: Command::Shut(group, source) };
        let asked = Asked { channel, own, opened: false, leave_latency };
        self.steps.push_back(Step::Order(order, Waiting::Branch(asked)));
    }

    /// The own endpoints begin or cease to listen.
    fn on_membership(&mut self, change: Membership) {
        let channel = (change.group, change.source);
        if change.joins {
            self.left.remove(&channel);
            self.open(channel, self.here.node, Port::LOCAL);
        } else {
            self.left.insert(channel);
            self.shut(channel, self.here.node, change.leave_latency);
        }
    }

    /// The branches that the node has since the last order.
    fn on_branches(&mut self, asked: Asked, Branches { count, upstream }: Branches) {
        let Asked { channel, own, opened, leave_latency } = asked;
        if channel.1 == self.here.node {
            return; // the sender's own node is the root
        }
        let kind = match (opened, own) {
            (true, true) => Signal::Join,
            (true, false) => Signal::Graft,
            (false, true) => Signal::Leave,
            (false, false) => Signal::Prune,
        };
        if count == u32::from(opened) {
            let said = Said { to: None, kind, channel, leave_latency };
            if opened {
                self.say(said, upstream);
            } else {
                self.say_once_there_is_a_way(said);
            }
        }
    }

    /// Opens a branch at the next node; a LEAVE or PRUNE that still waits for a way there is void.
    fn say(&mut self, said: Said, upstream: Option<NodeId>) {
        for to in [None, upstream] {
            self.unsaid.remove(&(said.channel, to));
        }
        self.steps.push_back(Step::Say(said));
    }

    fn say_once_there_is_a_way(&mut self, said: Said) {
        let toward = said.to.unwrap_or(said.channel.1);
        let order = Order { toward, over: None, command: Command::Interface };
        self.steps.push_back(Step::Order(order, Waiting::Way(said)));
    }

    fn on_way(&mut self, now: Instant, said: Said, there_is: bool) {
        if there_is {
            self.steps.push_front(Step::Say(said));
        } else {
            self.unsaid.insert((said.channel, said.to), said);
            self.retry_at = self.retry_at.min(now + RETRY);
        }
    }

    fn write(&mut self, packet: &mut Packet, to: NodeId, said: Said) {
        let Said { kind, channel, leave_latency, .. } = said;
        let count = match kind {
            Signal::Join => &mut self.counts.joins,
            Signal::Leave => &mut self.counts.leaves,
            Signal::Graft => &mut self.counts.grafts,
            _ => &mut self.counts.prunes,
        };
        *count += 1;
        let (group, source) = channel;
        let order = self.messages();
        let header = SignalHeader {
            kind,
            node: source,
            number: group.0,
            bucket: order as u32,
            refresh: leave_latency,
            ..SignalHeader::default()
        };
        *packet = header.packet(self.here, Socket { node: to, port: PORT }, order, MESSAGE_BYTES);
    }

    fn messages(&self) -> u64 {
        let Counts { joins, leaves, grafts, prunes, passed } = self.counts;
        joins + leaves + grafts + prunes + passed
    }
}

impl Timed for Agent {
    fn on_timeout(&mut self, now: Instant) {
        let due: Vec<_> = self.leaving.iter().filter(|(_, at)| **at <= now).map(|(branch, _)| *branch).collect();
        for (channel, node) in due {
            self.leaving.remove(&(channel, node));
            self.shut(channel, node, Duration::ZERO);
        }
        if self.retry_at <= now {
            self.retry_at = Instant::MAX;
            for said in std::mem::take(&mut self.unsaid).into_values() {
                self.say_once_there_is_a_way(said);
            }
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let at = self.leaving.values().min().map_or(self.retry_at, |at| self.retry_at.min(*at));
        (at < Instant::MAX).then_some(at)
    }
}

impl Endpoint for Agent {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        let Some(signal) = packet.signal() else { return };
        let (channel, from) = ((GroupId(signal.number), signal.node), packet.from.node);
        if matches!(signal.kind, Signal::Join | Signal::Graft | Signal::Leave | Signal::Prune) {
            let last = self.heard.entry((channel, from)).or_default();
            if signal.bucket < *last {
                return;
            }
            *last = signal.bucket;
        }
        match signal.kind {
            Signal::Join | Signal::Graft => {
                self.leaving.remove(&(channel, from));
                self.open(channel, from, via);
            }
            Signal::Leave if signal.refresh > Duration::ZERO => {
                self.leaving.insert((channel, from), now + signal.refresh);
            }
            Signal::Leave | Signal::Prune => self.shut(channel, from, Duration::ZERO),
            Signal::Expel => self.shut(channel, self.here.node, Duration::ZERO),
            Signal::Admit if self.left.contains(&channel) => {}
            Signal::Admit => self.open(channel, self.here.node, Port::LOCAL),
            Signal::Rejections if signal.node != self.here.node => {
                let order =
                    Order { toward: signal.node, over: None, command: Command::Rejections(signal.flow, signal.node) };
                self.steps.push_back(Step::Order(order, Waiting::Rejections(*signal)));
            }
            _ => {}
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Membership(change) => self.on_membership(change),
            Notice::Upstream(upstream) => {
                let channel = (upstream.group, upstream.source);
                let said = |to, kind| Said { to, kind, channel, leave_latency: Duration::ZERO };
                self.say(said(None, Signal::Graft), upstream.now);
                if upstream.before.is_some() {
                    self.say_once_there_is_a_way(said(upstream.before, Signal::Prune));
                }
            }
            Notice::Answer(answer) => match (self.asked.take(), answer) {
                (Some(Waiting::Branch(asked)), Answer::Branches(branches)) => self.on_branches(asked, branches),
                (Some(Waiting::Way(said)), answer) => self.on_way(now, said, answer.interface().is_some()),
                (Some(Waiting::Rejections(question)), Answer::Rejected(Rejections { count, last })) => {
                    let number = u32::try_from(count).unwrap_or(u32::MAX);
                    let (kind, refresh) = (Signal::Rejected, now.since(last));
                    self.steps.push_back(Step::Pass(SignalHeader { kind, number, refresh, ..question }));
                }
                (Some(Waiting::Rejections(question)), _) => self.steps.push_back(Step::Pass(question)),
                _ => {}
            },
            _ => {}
        }
    }

    fn poll(&mut self, _now: Instant, packet: &mut Packet) -> Option<Action> {
        match self.steps.pop_front()? {
            Step::Order(order, asked) => {
                self.asked = Some(asked);
                Some(Action::Order(order))
            }
            Step::Pass(header) => {
                self.counts.passed += 1;
                let answers = header.kind == Signal::Rejected;
                let to = if answers { header.sender } else { Socket { node: header.node, port: PORT } };
                *packet = header.packet(self.here, to, self.messages(), MESSAGE_BYTES);
                Some(if answers { Action::Send } else { Action::SendToward(header.node) })
            }
            Step::Say(said) => {
                self.write(packet, said.to.unwrap_or(said.channel.1), said);
                Some(if said.to.is_some() { Action::Send } else { Action::SendToward(said.channel.1) })
            }
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("joins_sent", self.counts.joins as f64);
        probe.value("leaves_sent", self.counts.leaves as f64);
        probe.value("grafts_sent", self.counts.grafts as f64);
        probe.value("prunes_sent", self.counts.prunes as f64);
        probe.value("control_bytes", (self.messages() * u64::from(MESSAGE_BYTES)) as f64);
    }
}
