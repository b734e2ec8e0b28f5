//! What nodes do for flows that ask for a class. A request travels from the sender towards the
//! receiver. A node whose interface on that way conditions flows is an edge: it asks the broker, and
//! passes the request on when that has granted it. The last node answers the sender.
//!
//! The broker keeps a ledger: for each interface of an edge and each class, the rate granted to each flow.
//! It grants what fits into the class's share of the interface, which the edge states. It is the
//! machine of any node, asked by name, or the edge's own.
//!
//! When the share of a class at an edge's interface has changed, or the way leads over another
//! interface, the terminal is behind a new edge: the profile is withdrawn, the ledger's entry
//! released, and the broker asked anew. Until it answers the flow's packets are best effort. The
//! request that goes on from there says how many edges are before it, which were not asked. If the
//! way leads over no edge of this node any more, the sender requests anew, along the new way.

use std::collections::{BTreeMap, VecDeque};

use crate::qos::signal;
use lasthop_net::engine::{BitRate, Bytes, Duration, Instant};
use lasthop_net::net::dscp::Class;
use lasthop_net::net::meter::Promise;
use lasthop_net::net::{
    Action, Answer, Command, Endpoint, EndpointContext, FlowId, NodeId, Notice, Offer, Order, Packet, Place, Port,
    Probe, Signal, SignalHeader, Socket, Timed,
};

/// The port of these machines at every node.
pub const PORT: u16 = 2;

/// After what time a request without an answer is repeated: the initial timeout of RFC 6298 §2.1.
pub const RETRY: Duration = Duration::from_secs(1);

/// Properties of messages.
pub mod flag {
    /// Between an edge and the broker.
    pub const LEDGER: u8 = 1;
    /// Caused by a handover.
    pub const HANDOVER: u8 = 2;
    /// Each edge is its own broker.
    pub const OWN_BROKER: u8 = 4;
}

/// The machine of a node: a part of the way, an edge, a broker.
pub struct Agent {
    here: Socket,
    /// As an edge: the flows that asked.
    flows: BTreeMap<FlowId, Asked>,
    /// As a broker: the rates granted to flows, at each interface and in each class.
    ledger: BTreeMap<(Place, Class), BTreeMap<FlowId, BitRate>>,
    orders: VecDeque<Order>,
    /// What the answers to come, in their order, are for.
    awaited: VecDeque<Awaited>,
    messages: VecDeque<Message>,
    /// Messages to senders for which there is no way, and when each is tried again.
    untold: BTreeMap<FlowId, (Instant, SignalHeader)>,
    /// The number of the last request to a broker.
    requests: u32,
    counts: Counts,
}

/// A flow that asked at this edge.
struct Asked {
    wish: SignalHeader,
    state: State,
    /// Where it leaves, and what its class may have there.
    offer: Offer,
    /// The number of the last request to the broker, and when it is repeated, with the same number.
    number: u32,
    retry_at: Option<Instant>,
    /// When a handover took its profile.
    lost_at: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Asking,
    Granted,
    Refused,
}

/// What the answer to an order is for.
enum Awaited {
    /// What the interface offers to a flow that asks.
    Offer(SignalHeader),
    /// What it offers now to a flow that was here before.
    Again(FlowId),
    /// Whether there is a way to the sender for this message.
    Way(SignalHeader),
    /// Nothing depends on it.
    Nothing,
}

struct Message {
    to: Hop,
    header: SignalHeader,
}

/// Where a message goes.
enum Hop {
    /// To the machine of the next node on the way to this one.
    Toward(NodeId),
    To(Socket),
}

#[derive(Default)]
struct Counts {
    setup_packets: u64,
    handover_packets: u64,
    granted: u64,
    refused: u64,
    handovers: u64,
    interruption: Duration,
}

impl Agent {
    /// The machine at `seat`.
    pub fn new(seat: EndpointContext) -> Self {
        Self {
            here: seat.local,
            flows: BTreeMap::new(),
            ledger: BTreeMap::new(),
            orders: VecDeque::new(),
            awaited: VecDeque::new(),
            messages: VecDeque::new(),
            untold: BTreeMap::new(),
            requests: 0,
            counts: Counts::default(),
        }
    }

    fn order(&mut self, toward: NodeId, over: Option<Port>, command: Command, awaited: Awaited) {
        self.orders.push_back(Order { toward, over, command });
        self.awaited.push_back(awaited);
    }

    fn send(&mut self, to: Hop, header: SignalHeader) {
        self.messages.push_back(Message { to, header });
    }

    /// Tells a sender what it has not asked for. It would not miss that, so this waits for a way.
    fn tell_sender(&mut self, header: SignalHeader) {
        self.order(header.sender.node, None, Command::Interface, Awaited::Way(header));
    }

    fn on_way(&mut self, now: Instant, header: SignalHeader, there_is: bool) {
        if there_is || header.sender.node == self.here.node {
            self.send(Hop::To(header.sender), header);
        } else {
            self.untold.insert(header.flow, (now + RETRY, header));
        }
    }

    /// A flow asks.
    fn on_request(&mut self, header: SignalHeader) {
        self.untold.remove(&header.flow);
        if header.receiver.node == self.here.node {
            // The end of the way. Without an edge the request cannot be kept.
            let kind = if header.hops > 0 { Signal::Grant } else { Signal::Refuse };
            return self.send(Hop::To(header.sender), SignalHeader { kind, ..header });
        }
        let class = Class::of(header.dscp);
        self.order(header.receiver.node, None, Command::Offer(class), Awaited::Offer(header));
    }

    /// The next edge is to be asked too.
    fn pass_on(&mut self, header: SignalHeader) {
        self.send(Hop::Toward(header.receiver.node), SignalHeader { hops: header.hops.saturating_add(1), ..header });
    }

    /// Asks the broker for a flow.
    fn ask_broker(&mut self, now: Instant, asked: Asked) {
        self.requests += 1;
        let flow = asked.wish.flow;
        self.flows.insert(flow, Asked { number: self.requests, state: State::Asking, ..asked });
        self.send_question(now, flow);
    }

    /// Sends the request to the broker, or repeats it.
    fn send_question(&mut self, now: Instant, flow: FlowId) {
        let Some(asked) = self.flows.get_mut(&flow) else { return };
        let Offer { place, rate: share, .. } = asked.offer;
        asked.retry_at = Some(now + RETRY);
        let header = SignalHeader { place, peak: share, number: asked.number, ..to_broker(asked) };
        let broker = self.broker(&header);
        self.send(Hop::To(broker), header);
    }

    fn broker(&self, header: &SignalHeader) -> Socket {
        let own = header.flags & flag::OWN_BROKER != 0;
        Socket { node: if own { self.here.node } else { header.node }, port: PORT }
    }

    /// Withdraws a flow's profile where it is, and gives its entry back to the ledger.
    fn give_back(&mut self, asked: &Asked) {
        let Offer { port, place, .. } = asked.offer;
        self.order(asked.wish.receiver.node, Some(port), Command::Release(asked.wish.flow), Awaited::Nothing);
        let header = SignalHeader { kind: Signal::Release, place, ..to_broker(asked) };
        let to = Hop::To(self.broker(&header));
        // Of several flows behind a new edge, all give back before the first asks again.
        self.messages.push_front(Message { to, header });
    }

    /// A flow no longer leaves where it did, or its class may have something else there.
    fn lose(&mut self, now: Instant, flow: FlowId) -> Option<Asked> {
        let mut asked = self.flows.remove(&flow)?;
        asked.wish.flags |= flag::HANDOVER;
        if asked.state == State::Granted {
            self.counts.handovers += 1;
            asked.lost_at = Some(now);
        }
        self.give_back(&asked);
        Some(asked)
    }

    /// The broker has answered.
    fn on_decision(&mut self, now: Instant, header: SignalHeader) {
        let Some(asked) = self.flows.get_mut(&header.flow) else { return };
        // A repetition may have been granted what was refused at first.
        let is_known = match asked.state {
            State::Asking => false,
            State::Granted => true,
            State::Refused => header.kind == Signal::Refuse,
        };
        if is_known || asked.number != header.number {
            return; // an answer to an earlier question
        }
        asked.retry_at = None;
        let wish = asked.wish;
        if header.kind == Signal::Refuse {
            self.counts.refused += 1;
            asked.state = State::Refused;
            return self.tell_sender(SignalHeader { kind: Signal::Refuse, ..wish });
        }
        asked.state = State::Granted;
        self.counts.granted += 1;
        if let Some(lost_at) = asked.lost_at.take() {
            self.counts.interruption = self.counts.interruption.max(now.since(lost_at));
        }
        let port = asked.offer.port;
        let promise = Promise { rate: wish.rate, burst: Bytes::new(wish.bucket.into()) };
        let condition = Command::Condition(wish.flow, Class::of(wish.dscp), promise);
        self.order(wish.receiver.node, Some(port), condition, Awaited::Nothing);
        // After a handover too: another edge may have refused.
        self.pass_on(wish);
    }

    /// A flow gives back what it was granted.
    fn on_release(&mut self, header: SignalHeader) {
        self.untold.remove(&header.flow);
        if let Some(asked) = self.flows.remove(&header.flow) {
            self.give_back(&asked);
        }
        if header.receiver.node != self.here.node {
            self.send(Hop::Toward(header.receiver.node), header);
        }
    }

    /// The broker: an edge asks for a flow. Asking again replaces the grant.
    fn decide(&mut self, edge: Socket, header: SignalHeader) {
        let entries = self.ledger.entry((header.place, Class::of(header.dscp))).or_default();
        entries.remove(&header.flow);
        let granted: u64 = entries.values().map(|rate| rate.as_bps()).sum();
        let free = header.peak.as_bps().saturating_sub(granted);
        let kind = if header.rate.as_bps() <= free {
            entries.insert(header.flow, header.rate);
            Signal::Grant
        } else {
            Signal::Refuse
        };
        self.send(Hop::To(edge), SignalHeader { kind, ..header });
    }

    /// What an interface offers to a flow that asks here.
    fn on_offer(&mut self, now: Instant, wish: SignalHeader, answer: Answer) {
        let lost = match self.flows.get(&wish.flow) {
            Some(asked) if answer != Answer::Offered(asked.offer) => self.lose(now, wish.flow),
            _ => None,
        };
        let Answer::Offered(offer) = answer else {
            // Not an edge.
            return self.send(Hop::Toward(wish.receiver.node), wish);
        };
        match self.flows.get(&wish.flow).map(|asked| asked.state) {
            // The answer is under way.
            Some(State::Asking) => {}
            Some(State::Granted) => self.pass_on(wish),
            Some(State::Refused) | None => {
                let lost_at = lost.and_then(|asked| asked.lost_at);
                let asked = Asked { wish, state: State::Asking, offer, number: 0, retry_at: None, lost_at };
                self.ask_broker(now, asked);
            }
        }
    }

    /// What an interface offers to a flow after a link has changed.
    fn on_offer_again(&mut self, now: Instant, flow: FlowId, answer: Answer) {
        if self.flows.get(&flow).is_none_or(|asked| answer == Answer::Offered(asked.offer)) {
            return; // another link
        }
        let Some(mut asked) = self.lose(now, flow) else { return };
        if let Answer::Offered(offer) = answer {
            // The edges before this one are not asked.
            asked.wish.number = asked.wish.hops.into();
            self.ask_broker(now, Asked { offer, ..asked });
        } else {
            // The next edge, if there is one, is at another node.
            self.tell_sender(asked.wish);
        }
    }
}

/// A message about a flow to the broker.
fn to_broker(asked: &Asked) -> SignalHeader {
    let flags = asked.wish.flags | flag::LEDGER;
    SignalHeader { kind: Signal::Request, flags, ..asked.wish }
}

impl Timed for Agent {
    fn on_timeout(&mut self, now: Instant) {
        let due = |(flow, asked): (&FlowId, &Asked)| asked.retry_at.is_some_and(|at| at <= now).then_some(*flow);
        let due: Vec<FlowId> = self.flows.iter().filter_map(due).collect();
        for flow in due {
            self.send_question(now, flow);
        }
        let due: Vec<_> =
            self.untold.iter().filter(|(_, (at, _))| *at <= now).map(|(_, (_, header))| *header).collect();
        for header in due {
            self.untold.remove(&header.flow);
            self.tell_sender(header);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let asked = self.flows.values().filter_map(|asked| asked.retry_at);
        asked.chain(self.untold.values().map(|(at, _)| *at)).min()
    }
}

impl Endpoint for Agent {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Some(&header) = packet.signal() else { return };
        match (header.kind, header.flags & flag::LEDGER != 0) {
            (Signal::Request, false) => self.on_request(header),
            (Signal::Request, true) => self.decide(packet.from, header),
            (Signal::Grant | Signal::Refuse, true) => self.on_decision(now, header),
            (Signal::Release, false) => self.on_release(header),
            (Signal::Release, true) => {
                let entries = self.ledger.entry((header.place, Class::of(header.dscp))).or_default();
                entries.remove(&header.flow);
            }
            _ => {}
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Answer(answer) => match self.awaited.pop_front() {
                Some(Awaited::Offer(wish)) => self.on_offer(now, wish, answer),
                Some(Awaited::Again(flow)) => self.on_offer_again(now, flow, answer),
                Some(Awaited::Way(header)) => self.on_way(now, header, answer.interface().is_some()),
                Some(Awaited::Nothing) | None => {}
            },
            Notice::Link(_) => {
                let flows: Vec<_> = self.flows.iter().map(|(flow, asked)| (*flow, asked.wish)).collect();
                for (flow, wish) in flows {
                    self.order(wish.receiver.node, None, Command::Offer(Class::of(wish.dscp)), Awaited::Again(flow));
                }
            }
            _ => {}
        }
    }

    fn poll(&mut self, _now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(order) = self.orders.pop_front() {
            return Some(Action::Order(order));
        }
        let Message { to, header } = self.messages.pop_front()?;
        let (socket, leaves) = match to {
            Hop::To(socket) => (socket, socket.node != self.here.node),
            Hop::Toward(node) => (Socket { node, port: PORT }, true),
        };
        let count = if header.flags & flag::HANDOVER != 0 {
            &mut self.counts.handover_packets
        } else {
            &mut self.counts.setup_packets
        };
        *count += u64::from(leaves);
        let number = self.counts.setup_packets + self.counts.handover_packets;
        signal::write(packet, self.here, socket, number, header);
        Some(match to {
            Hop::To(_) => Action::Send,
            Hop::Toward(node) => Action::SendToward(node),
        })
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let entries: usize = self.ledger.values().map(BTreeMap::len).sum();
        probe.value("diffserv_flows", self.flows.len() as f64);
        probe.value("diffserv_state_bytes", (self.flows.len() * size_of::<(FlowId, Asked)>()) as f64);
        probe.value("ledger_entries", entries as f64);
        probe.value("ledger_bytes", (entries * size_of::<(FlowId, BitRate)>()) as f64);
        probe.value("diffserv_granted", self.counts.granted as f64);
        probe.value("diffserv_refused", self.counts.refused as f64);
        probe.value("diffserv_handovers", self.counts.handovers as f64);
        probe.value("diffserv_interruption_ms", self.counts.interruption.as_secs_f64() * 1e3);
        probe.value("diffserv_setup_packets", self.counts.setup_packets as f64);
        probe.value("diffserv_handover_packets", self.counts.handover_packets as f64);
    }
}
