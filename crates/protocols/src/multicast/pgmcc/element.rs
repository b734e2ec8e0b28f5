//! A network element (RFC 3208 §7): the machine of a node that hands NAKs on towards the sender, one for each packet, and repairs
//! back to where they were asked for.
//!
//! Every neighbour counts as an interface of its own. So a NAK goes from node to node, each answers with a confirmation to the
//! one before, and a repair goes back the same way. A node's own receivers ask at their node. Not done: anticipating
//! confirmations (§7.4), and parity.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{
    Action, Address, Endpoint, EndpointContext, FlowId, Header, NodeId, Notice, Packet, PgmData, PgmHeader, PgmNak,
    Port, Probe, Socket, Timed,
};

use super::deadlines::Deadlines;
use super::sizes::{NAK_BYTES, NCF_BYTES};

/// The port of the network element at every node.
pub const PORT: u16 = 3;

/// A packet of a session that is missed; `None` for reports that ask for nothing.
type Missed = (FlowId, u32, Option<u64>);

/// The network element of one node.
pub struct Element {
    seat: EndpointContext,
    number: u64,
    missed: Deadlines<Missed, Asked>,
    outbox: VecDeque<Out>,
    counts: Counts,
}

/// A repair that was asked for.
#[derive(Clone, Debug)]
struct Asked {
    /// The ends that asked.
    by: Vec<Socket>,
    /// The NAK that went on, of the receiver with the most loss.
    nak: PgmNak,
    /// Once it was confirmed: until when further NAKs go no farther (NAK_ELIM_IVL).
    confirmed: Option<Instant>,
    /// How often the NAK was sent again.
    repeats: u32,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug)]
struct Out {
    to: To,
    flow: FlowId,
    connection: u32,
    size: u32,
    header: PgmHeader,
}

#[derive(Clone, Copy, Debug)]
enum To {
    Socket(Socket),
    Toward(NodeId),
}

#[derive(Debug, Default)]
struct Counts {
    naks: u64,
    forwarded: u64,
    repeated: u64,
    confirmations: u64,
    repairs: u64,
    unasked: u64,
    most: usize,
}

impl Element {
    /// The element of the node at `seat`.
    pub fn new(seat: EndpointContext) -> Self {
        Self { seat, number: 0, missed: Deadlines::default(), outbox: VecDeque::new(), counts: Counts::default() }
    }

    fn on_nak(&mut self, now: Instant, packet: &Packet, nak: &PgmNak) {
        self.counts.naks += 1;
        let key = (packet.flow, packet.connection, nak.missing);
        if let Some(seq) = nak.missing {
            self.counts.confirmations += 1;
            let header = PgmHeader::Confirmation(seq);
            self.push(To::Socket(packet.from), packet.flow, packet.connection, NCF_BYTES, header);
        }
        let mut by = Vec::new();
        if let Some(asked) = self.missed.get_mut(key) {
            if !asked.by.contains(&packet.from) {
                asked.by.push(packet.from);
            }
            // A receiver that asks so late has missed the repair, and asks for another.
            if asked.confirmed.is_some_and(|until| until <= now) {
                by = std::mem::take(&mut asked.by);
                self.missed.remove(key);
            }
        }
        if let Some(asked) = self.missed.get_mut(key) {
            if nak.elements.forward_worse && nak.report.loss > asked.nak.report.loss {
                asked.nak = *nak;
                self.forward(key, nak);
            }
            return;
        }
        if by.is_empty() {
            by.push(packet.from);
        }
        let asked = Asked { by, nak: *nak, confirmed: None, repeats: 0 };
        self.missed.insert(key, now + nak.elements.repeat, asked);
        self.counts.most = self.counts.most.max(self.missed.len());
        self.forward(key, nak);
    }

    /// Sends a NAK on: to the next element on the way to the sender, or to the sender here.
    fn forward(&mut self, (flow, connection, _): Missed, nak: &PgmNak) {
        self.counts.forwarded += 1;
        let here = nak.source.node == self.seat.local.node;
        let to = if here { To::Socket(nak.source) } else { To::Toward(nak.source.node) };
        self.push(to, flow, connection, NAK_BYTES, PgmHeader::Nak(*nak));
    }

    fn on_confirmation(&mut self, now: Instant, packet: &Packet, seq: u64) {
        let key = (packet.flow, packet.connection, Some(seq));
        if let Some(asked) = self.missed.remove(key) {
            let repair = asked.nak.elements.repair;
            let confirmed = Some(now + repair.mul_f64(ELIMINATION));
            self.missed.insert(key, now + repair, Asked { confirmed, ..asked });
        }
    }

    fn on_repair(&mut self, packet: &Packet, data: &PgmData) {
        let Some(asked) = self.missed.remove((packet.flow, packet.connection, Some(data.seq))) else {
            self.counts.unasked += 1;
            return;
        };
        for socket in asked.by {
            self.counts.repairs += 1;
            let header = PgmHeader::Repair(*data);
            self.push(To::Socket(socket), packet.flow, packet.connection, packet.size, header);
        }
    }

    fn push(&mut self, to: To, flow: FlowId, connection: u32, size: u32, header: PgmHeader) {
        self.outbox.push_back(Out { to, flow, connection, size, header });
    }
}

impl Timed for Element {
    fn on_timeout(&mut self, now: Instant) {
        while let Some((key, asked)) = self.missed.pop_due(now) {
            // Confirmed, but no repair came: receivers that still miss it will ask anew. A report that asks for nothing is not repeated.
            let elements = asked.nak.elements;
            if asked.confirmed.is_some() || key.2.is_none() || asked.repeats >= elements.retries {
                continue;
            }
            self.counts.repeated += 1;
            let nak = asked.nak;
            let due = now + elements.repeat.max(SHORTEST);
            self.missed.insert(key, due, Asked { repeats: asked.repeats + 1, ..asked });
            self.forward(key, &nak);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.missed.next()
    }
}

/// For how long NAKs go no farther once one was confirmed, of the time that receivers wait for a repair (NAK_RDATA_IVL): it has to be less, or
/// no receiver could ask again (RFC 3208 §7). Half of it, as in routers of Bay Networks (5 s of 10 s).
const ELIMINATION: f64 = 0.5;
/// A NAK is not repeated sooner, whatever it says.
const SHORTEST: Duration = Duration::from_millis(1);

impl Endpoint for Element {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        match &packet.header {
            Header::Pgm(PgmHeader::Nak(nak)) => self.on_nak(now, packet, nak),
            Header::Pgm(PgmHeader::Confirmation(seq)) => self.on_confirmation(now, packet, *seq),
            Header::Pgm(PgmHeader::Repair(data)) => self.on_repair(packet, data),
            _ => {}
        }
    }

    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, _now: Instant, packet: &mut Packet) -> Option<Action> {
        let out = self.outbox.pop_front()?;
        self.number += 1;
        let from = self.seat;
        *packet = from.packet(out.connection, self.number, out.size, Header::Pgm(out.header));
        packet.flow = out.flow;
        match out.to {
            To::Socket(socket) => {
                (packet.to, packet.to_port) = (Address::Node(socket.node), socket.port);
                Some(Action::Send)
            }
            To::Toward(node) => {
                packet.to_port = PORT;
                Some(Action::SendToward(node))
            }
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let counts = &self.counts;
        probe.value("naks", counts.naks as f64);
        probe.value("naks_forwarded", counts.forwarded as f64);
        probe.value("naks_repeated", counts.repeated as f64);
        probe.value("confirmations", counts.confirmations as f64);
        probe.value("repairs", counts.repairs as f64);
        probe.value("unasked_repairs", counts.unasked as f64);
        probe.value("most_missed_packets", counts.most as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::net::{Hears, PgmElements, PgmReport};

    const FLOW: FlowId = FlowId(7);

    fn socket(node: u32, port: u16) -> Socket {
        Socket { node: NodeId(node), port }
    }

    /// The element of node 1, between the sender at node 0 and receivers at 2 and 3.
    fn element() -> Element {
        let local = socket(1, PORT);
        let remote = Address::Node(NodeId(1));
        let hears = Hears::default();
        Element::new(EndpointContext { local, remote, remote_port: PORT, flow: FlowId::NONE, hears, observed: false })
    }

    fn packet(from: Socket, header: PgmHeader) -> Packet {
        Packet { from, flow: FLOW, size: 900, header: Header::Pgm(header), ..Packet::vacant() }
    }

    fn nak(node: u32, loss: u16, forward_worse: bool) -> Packet {
        let report = PgmReport { receiver: NodeId(node), loss, ..PgmReport::default() };
        let (repeat, repair) = (Duration::from_millis(50), Duration::from_secs(1));
        let elements = PgmElements { repeat, repair, retries: 2, forward_worse };
        let nak = PgmNak { report, missing: Some(5), source: socket(0, 4), elements };
        packet(socket(node, PORT), PgmHeader::Nak(nak))
    }

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// What it sends, where.
    fn sent(element: &mut Element, now: Instant) -> Vec<(&'static str, u32)> {
        let mut packet = Packet::vacant();
        let mut sent = Vec::new();
        while let Some(action) = element.poll(now, &mut packet) {
            assert_eq!(packet.flow, FLOW);
            let Header::Pgm(header) = &packet.header else { panic!("{packet:?}") };
            let what = match header {
                PgmHeader::Nak(_) => "nak",
                PgmHeader::Confirmation(5) => "ncf",
                PgmHeader::Repair(_) => "repair",
                _ => panic!("{header:?}"),
            };
            let to = match (action, packet.to) {
                (Action::SendToward(node), _) | (Action::Send, Address::Node(node)) => node,
                _ => panic!("{action:?}"),
            };
            sent.push((what, to.0));
        }
        sent
    }

    #[test]
    fn one_nak_goes_on_and_repairs_go_where_they_were_asked_for() {
        let mut element = element();
        element.on_packet(ms(0), &nak(2, 100, false), Port(1));
        assert_eq!(sent(&mut element, ms(0)), [("ncf", 2), ("nak", 0)]);
        element.on_packet(ms(1), &nak(3, 200, false), Port(2));
        element.on_packet(ms(2), &nak(3, 200, false), Port(2));
        assert_eq!(sent(&mut element, ms(2)), [("ncf", 3), ("ncf", 3)]);
        let repair = PgmHeader::Repair(PgmData { seq: 5, ..PgmData::default() });
        element.on_packet(ms(3), &packet(socket(0, PORT), repair), Port(0));
        assert_eq!(sent(&mut element, ms(3)), [("repair", 2), ("repair", 3)]);
        element.on_packet(ms(4), &packet(socket(0, PORT), repair), Port(0));
        assert_eq!((sent(&mut element, ms(4)), element.next_timeout()), (vec![], None));
    }

    #[test]
    fn an_unconfirmed_nak_is_repeated_and_a_confirmed_one_waits_for_its_repair() {
        let mut element = element();
        element.on_packet(ms(0), &nak(2, 0, false), Port(1));
        sent(&mut element, ms(0));
        for at in [50, 100] {
            assert_eq!(element.next_timeout(), Some(ms(at)));
            element.on_timeout(ms(at));
            assert_eq!(sent(&mut element, ms(at)), [("nak", 0)]);
        }
        element.on_packet(ms(110), &packet(socket(0, PORT), PgmHeader::Confirmation(5)), Port(0));
        assert_eq!(element.next_timeout(), Some(ms(1_110)));
        element.on_timeout(ms(1_110));
        assert_eq!((sent(&mut element, ms(1_110)), element.next_timeout()), (vec![], None));
    }

    #[test]
    fn a_receiver_that_asks_again_after_the_time_for_a_repair_is_heard() {
        let mut element = element();
        element.on_packet(ms(0), &nak(2, 0, false), Port(1));
        element.on_packet(ms(10), &packet(socket(0, PORT), PgmHeader::Confirmation(5)), Port(0));
        element.on_packet(ms(20), &nak(3, 0, false), Port(2));
        assert_eq!(sent(&mut element, ms(20)), [("ncf", 2), ("nak", 0), ("ncf", 3)]);
        // A receiver waits a second from its confirmation at 0, and its NAK goes on though the state here ends at 1010 ms.
        element.on_packet(ms(509), &nak(2, 0, false), Port(1));
        assert_eq!(sent(&mut element, ms(509)), [("ncf", 2)]);
        element.on_packet(ms(1_000), &nak(2, 0, false), Port(1));
        assert_eq!(sent(&mut element, ms(1_000)), [("ncf", 2), ("nak", 0)]);
        assert_eq!(element.next_timeout(), Some(ms(1_050)), "it is repeated until it is confirmed");
        element.on_packet(ms(1_001), &nak(3, 0, false), Port(2));
        assert_eq!(sent(&mut element, ms(1_001)), [("ncf", 3)], "only one goes on");
        let repair = PgmHeader::Repair(PgmData { seq: 5, ..PgmData::default() });
        element.on_packet(ms(1_002), &packet(socket(0, PORT), repair), Port(0));
        assert_eq!(sent(&mut element, ms(1_002)), [("repair", 2), ("repair", 3)]);
    }

    #[test]
    fn a_worse_receiver_is_heard_if_that_is_wanted() {
        for (worse, second) in [(false, vec![("ncf", 3)]), (true, vec![("ncf", 3), ("nak", 0)])] {
            let mut element = element();
            element.on_packet(ms(0), &nak(2, 100, worse), Port(1));
            sent(&mut element, ms(0));
            element.on_packet(ms(1), &nak(3, 200, worse), Port(2));
            assert_eq!(sent(&mut element, ms(1)), second);
            element.on_packet(ms(2), &nak(2, 150, worse), Port(1));
            assert_eq!(sent(&mut element, ms(2)), [("ncf", 2)], "not worse than what went on");
        }
    }
}
