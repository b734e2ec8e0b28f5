//! UDP (RFC 768): datagrams without acknowledgement, congestion control or order.
//!
//! A source that writes `n` bytes sends one datagram of `n` bytes of payload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Fault, Instant, Stream};
use crate::net::{Action, Ecn, Endpoint, Header, Notice, Packet, Port, Probe, Seat, Timed, UdpHeader};
use crate::profile::Profile;

use super::TransportConfig;

/// UDP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Header bytes on the wire, IP included: 20 (IPv4) + 8 (UDP).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<crate::engine::Bytes>,
}

impl TransportConfig for Config {
    fn sender(&self, seat: Seat, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(Sender::new(self, seat))
    }

    fn receiver(&self, seat: Seat, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(Receiver::new(self, seat))
    }

    fn label(&self, _profile: Profile) -> String {
        "udp".to_owned()
    }

    fn sends_datagrams(&self) -> bool {
        true
    }

    fn can_multicast(&self) -> bool {
        true
    }

    fn check(&self, _profile: Profile) -> Result<(), Fault> {
        match self.header {
            Some(header) if header.get() > MAX_HEADER => {
                let expected = format!("expected at most {MAX_HEADER} B");
                Err(Fault::new("header", format!("a header of {header} is too large"), expected))
            }
            _ => Ok(()),
        }
    }
}

/// Header bytes of a datagram: IPv4 without options, UDP.
const HEADER_BYTES: u64 = 28;

/// The largest header that a scenario may ask for, tunnels and all.
const MAX_HEADER: u64 = 1_000;

/// The largest payload of a datagram (RFC 768 over IPv4 with a 16-bit total length).
pub const MAX_PAYLOAD: u64 = 65_507;

/// The sending end.
pub struct Sender {
    seat: Seat,
    header: u32,
    connection: u32,
    /// Payload sizes that wait to be sent.
    pending: std::collections::VecDeque<u64>,
    sent: u64,
    sent_bytes: u64,
    tell: bool,
}

impl Sender {
    /// A sender at `seat`.
    pub fn new(config: &Config, seat: Seat) -> Self {
        let header = config.header.map_or(HEADER_BYTES, |b| b.get()) as u32;
        Self { seat, header, connection: 0, pending: Default::default(), sent: 0, sent_bytes: 0, tell: false }
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, _now: Instant) {}
    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _via: Port) {}

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        match notice {
            // A source without end would never let go; the builder refuses the pair.
            Notice::Write(bytes) if bytes < u64::MAX => self.pending.push_back(bytes.min(MAX_PAYLOAD)),
            Notice::Reset => {
                self.pending.clear();
                self.connection += 1;
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Action> {
        if std::mem::take(&mut self.tell) {
            return Some(Action::Tell(Notice::Sent(self.sent_bytes)));
        }
        let payload = self.pending.pop_front()?;
        let header = UdpHeader { seq: self.sent, sent_at: now };
        self.sent += 1;
        self.sent_bytes += payload;
        self.tell = self.seat.hears.sent;
        Some(Action::Send(Packet {
            from: self.seat.local,
            to: self.seat.remote,
            to_port: self.seat.remote_port,
            dscp: 0,
            ecn: Ecn::NotEct,
            size: payload as u32 + self.header,
            flow: self.seat.flow,
            connection: self.connection,
            number: self.sent,
            header: Header::Udp(header),
        }))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("sent_packets", self.sent as f64);
        probe.value("sent_bytes", self.sent_bytes as f64);
    }
}

/// The receiving end.
pub struct Receiver {
    header: u32,
    hears: bool,
    tell: bool,
    received: u64,
    received_bytes: u64,
}

impl Receiver {
    /// A receiver at `seat`.
    pub fn new(config: &Config, seat: Seat) -> Self {
        let header = config.header.map_or(HEADER_BYTES, |b| b.get()) as u32;
        Self { header, hears: seat.hears.received, tell: false, received: 0, received_bytes: 0 }
    }
}

impl Timed for Receiver {
    fn on_timeout(&mut self, _now: Instant) {}
    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, _now: Instant, packet: &Packet, _via: Port) {
        self.received += 1;
        self.received_bytes += u64::from(packet.size.saturating_sub(self.header));
        self.tell = self.hears;
    }

    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, _now: Instant) -> Option<Action> {
        std::mem::take(&mut self.tell).then_some(Action::Tell(Notice::Received(self.received_bytes)))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("received_packets", self.received as f64);
        probe.value("received_bytes", self.received_bytes as f64);
    }
}
