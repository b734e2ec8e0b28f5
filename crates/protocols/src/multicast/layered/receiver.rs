//! The receiving end: counts the packets of each layer, and joins and leaves their groups as its controller says.

use std::collections::VecDeque;

use lasthop_net::engine::Instant;
use lasthop_net::net::packet::LayeredHeader;
use lasthop_net::net::{
    Action, Address, Command, Endpoint, EndpointContext, GroupId, Header, Histogram, Notice, Order, Packet, Port,
    Probe, Timed, Variable,
};

use super::control::Controller;

/// Bytes of a message to other receivers on the wire (ns-2's RLM).
const MESSAGE_BYTES: u32 = 40;

/// A receiver of a session.
pub struct Receiver {
    seat: EndpointContext,
    /// The session's group; those of the layers follow. Known from the first word of its node.
    session: Option<GroupId>,
    /// What decides to how many layers it subscribes.
    controller: Box<dyn Controller>,
    /// The number that is expected next, for each layer to which it subscribes and of which something came.
    expected: Vec<Option<u64>>,
    /// Layers to which it subscribes.
    level: u32,
    header: u32,
    steps: VecDeque<Action>,
    message: Option<u32>,
    messages: u64,
    tell: bool,
    counts: Counts,
    delays: Histogram,
}

#[derive(Default)]
struct Counts {
    received: u64,
    received_bytes: u64,
    lost: u64,
    joins: u64,
    leaves: u64,
}

impl Receiver {
    /// A receiver of `layers` layers, whose packets have `header` header bytes.
    pub fn new(controller: Box<dyn Controller>, layers: u32, header: u32, seat: EndpointContext) -> Self {
        Self {
            seat,
            session: None,
            controller,
            expected: vec![None; layers as usize],
            level: 0,
            header,
            steps: VecDeque::new(),
            message: None,
            messages: 0,
            tell: false,
            counts: Counts::default(),
            delays: Histogram::default(),
        }
    }

    /// Joins and leaves what the controller's level asks for.
    fn follow(&mut self) {
        let Some(GroupId(session)) = self.session else { return };
        let wanted = self.controller.level();
        let toward = self.seat.local.node;
        while self.level < wanted {
            self.level += 1;
            self.expected[self.level as usize - 1] = None;
            self.counts.joins += 1;
            self.steps.push_back(Action::Order(Order {
                toward,
                over: None,
                command: Command::Listen(GroupId(session + self.level)),
            }));
        }
        while self.level > wanted {
            self.counts.leaves += 1;
            self.steps.push_back(Action::Order(Order {
                toward,
                over: None,
                command: Command::Ignore(GroupId(session + self.level)),
            }));
            self.level -= 1;
        }
        if self.seat.observed && !self.steps.is_empty() {
            self.steps.push_back(Action::Observe(Variable::Layers, f64::from(self.level)));
        }
        self.message = self.controller.tell().or(self.message);
    }
}

impl Timed for Receiver {
    fn on_timeout(&mut self, now: Instant) {
        self.controller.on_timeout(now);
        self.follow();
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.controller.next_timeout()
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Layered(header) = &packet.header else { return };
        match *header {
            LayeredHeader::Added(layer) => self.controller.on_added(now, layer),
            LayeredHeader::Data { layer, seq, sent_at } => {
                // Packets that still come of a layer that was left are not counted.
                if layer == 0 || layer > self.level {
                    return;
                }
                let expected = &mut self.expected[layer as usize - 1];
                let lost = expected.map_or(0, |expected| seq.saturating_sub(expected));
                *expected = Some(expected.map_or(seq + 1, |expected| expected.max(seq + 1)));
                self.counts.received += 1;
                self.counts.received_bytes += u64::from(packet.size.saturating_sub(self.header));
                self.counts.lost += lost;
                self.delays.add(now.since(sent_at).as_nanos());
                self.tell = self.seat.hears.received;
                self.controller.on_packet(now, layer, lost);
            }
        }
        self.follow();
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        if let Notice::Session(session, begins) = notice {
            self.session = Some(session);
            if begins {
                self.controller.begin(now);
            } else {
                self.controller.end();
            }
            self.follow();
        }
    }

    fn poll(&mut self, _now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(step) = self.steps.pop_front() {
            return Some(step);
        }
        if std::mem::take(&mut self.tell) {
            return Some(Action::Tell(Notice::Received(self.counts.received_bytes)));
        }
        let (level, session) = (self.message.take()?, self.session?);
        self.messages += 1;
        *packet = self.seat.packet(0, self.messages, MESSAGE_BYTES, Header::Layered(LayeredHeader::Added(level)));
        packet.to = Address::Group(session);
        packet.to_port = self.seat.local.port;
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("received_packets", self.counts.received as f64);
        probe.value("received_bytes", self.counts.received_bytes as f64);
        probe.value("lost_packets", self.counts.lost as f64);
        probe.value("layers", f64::from(self.level));
        probe.value("layer_joins", self.counts.joins as f64);
        probe.value("layer_leaves", self.counts.leaves as f64);
        probe.value("messages_sent", self.messages as f64);
        self.controller.sample(probe);
        probe.distribution("delay_ms", 1e-6, &self.delays);
    }
}
