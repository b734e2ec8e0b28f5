//! The sending end: layers of constant rates, each to a group of its own.

use lasthop_net::engine::{Duration, Instant, Stream};
use lasthop_net::net::packet::LayeredHeader;
use lasthop_net::net::{
    Action, Address, Endpoint, EndpointContext, GroupId, Header, Notice, Packet, Port, Probe, Timed,
};

/// A layer at its source.
struct Layer {
    /// Seconds between packets.
    gap: f64,
    next: Instant,
    sent: u64,
}

/// The sender of a session.
pub struct Sender {
    seat: EndpointContext,
    /// The session's group; those of the layers follow.
    session: GroupId,
    size: u32,
    payload: u64,
    jitter: f64,
    stream: Stream,
    layers: Vec<Layer>,
    stagger: bool,
    connection: u32,
    running: bool,
    /// Bytes still to be sent, and whether no more will be written.
    left: u64,
    closed: bool,
    sent_bytes: u64,
    number: u64,
    tell: bool,
}

/// How a session sends.
pub struct Sending {
    /// Seconds between the packets of each layer.
    pub gaps: Vec<f64>,
    /// Bytes of a packet on the wire, and of payload in it.
    pub size: (u32, u64),
    /// By which share of itself a gap is shorter or longer, at most.
    pub jitter: f64,
    /// Whether layers begin one after the other, over one gap of each.
    pub stagger: bool,
}

impl Sender {
    /// One that sends to the groups behind that of `seat`.
    pub fn new(sending: Sending, seat: EndpointContext, stream: Stream) -> Self {
        let session = match seat.remote {
            Address::Group(group) => group,
            Address::Node(_) => GroupId(0),
        };
        let layer = |gap| Layer { gap, next: Instant::MAX, sent: 0 };
        Self {
            seat,
            session,
            size: sending.size.0,
            payload: sending.size.1,
            jitter: sending.jitter,
            stream,
            layers: sending.gaps.into_iter().map(layer).collect(),
            stagger: sending.stagger,
            connection: 0,
            running: false,
            left: 0,
            closed: false,
            sent_bytes: 0,
            number: 0,
            tell: false,
        }
    }

    fn begin(&mut self, now: Instant) {
        let all = self.layers.len() as f64;
        for (layer, number) in self.layers.iter_mut().zip(0_u32..) {
            let late = if self.stagger { f64::from(number) / all * layer.gap } else { 0.0 };
            layer.next = now + Duration::from_secs_f64(late);
        }
        self.running = true;
    }

    /// Whether there is enough for a packet: a whole one, or the last.
    fn has_data(&self) -> bool {
        self.left >= self.payload || (self.closed && self.left > 0)
    }

    /// More data are there. Layers that had none for a while go on from now: what they missed is not made up for.
    fn write(&mut self, now: Instant, bytes: u64) {
        let had = self.has_data();
        self.left = self.left.saturating_add(bytes);
        if self.running && !had && self.has_data() {
            self.layers.iter_mut().for_each(|layer| layer.next = layer.next.max(now));
        }
    }

    /// The layer whose packet is due first.
    fn first(&self) -> Option<usize> {
        let due = self.layers.iter().enumerate().min_by_key(|(_, layer)| layer.next);
        due.filter(|_| self.running && self.has_data()).map(|(place, _)| place)
    }
}

impl Timed for Sender {
    fn next_timeout(&self) -> Option<Instant> {
        self.first().map(|place| self.layers[place].next)
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _via: Port) {}

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Open => self.begin(now),
            Notice::Write(bytes) => self.write(now, bytes),
            Notice::Close => self.closed = true,
            Notice::Reset => {
                (self.left, self.running, self.closed) = (0, false, false);
                self.connection += 1;
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if std::mem::take(&mut self.tell) {
            return Some(Action::Tell(Notice::Sent(self.sent_bytes)));
        }
        let place = self.first().filter(|&place| self.layers[place].next <= now)?;
        let random = if self.jitter > 0.0 { self.stream.uniform(-self.jitter, self.jitter) } else { 0.0 };
        let layer = &mut self.layers[place];
        let number = place as u32 + 1;
        let header = LayeredHeader::Data { layer: number, seq: layer.sent, sent_at: now };
        layer.next += Duration::from_secs_f64(layer.gap * (1.0 + random));
        layer.sent += 1;
        self.left = self.left.saturating_sub(self.payload);
        self.sent_bytes += self.payload;
        self.number += 1;
        self.tell = self.seat.hears.sent;
        *packet = self.seat.packet(self.connection, self.number, self.size, Header::Layered(header));
        packet.to = Address::Group(GroupId(self.session.0 + number));
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("sent_packets", self.number as f64);
        probe.value("sent_bytes", self.sent_bytes as f64);
    }
}
