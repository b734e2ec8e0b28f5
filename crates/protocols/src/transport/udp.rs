//! UDP (RFC 768): datagrams without acknowledgement, congestion control or order.
//!
//! A source that writes `n` bytes sends one datagram of `n` bytes of payload. The receiver measures
//! as RTP's does: loss, delay, interarrival jitter. A datagram that comes twice, it measures once:
//! with the received packets of RFC 3550 §A.3, in which duplicates count, these would hide losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant, Stream};
use lasthop_net::net::sequence::{Came, Sequence};
use lasthop_net::net::{
    Action, Endpoint, EndpointContext, Header, Histogram, Notice, Packet, Port, Probe, Timed, UdpHeader,
};
use lasthop_net::profile::Profile;

use super::{TransportConfig, limits};

/// UDP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Header bytes on the wire, IP included. Default: `rfc`: 28 B, 20 of IPv4 and 8 of UDP. `ns2`:
    /// none; what the source writes is the size on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<lasthop_net::engine::Bytes>,
}

impl TransportConfig for Config {
    fn sender(&self, seat: EndpointContext, profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(Sender::new(self.header_bytes(profile), seat))
    }

    fn receiver(&self, seat: EndpointContext, profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(Receiver::new(self.header_bytes(profile), seat))
    }

    fn label(&self, _profile: Profile) -> String {
        "udp".to_owned()
    }

    fn sends_datagrams(&self) -> bool {
        true
    }

    fn can_repeat(&self) -> bool {
        false
    }

    fn header_fault(&self, profile: Profile) -> Option<String> {
        limits::unlike_the_standard(profile.is_ns2() && self.header.is_none(), self.header, 28)
    }

    fn can_multicast(&self) -> bool {
        true
    }

    fn check(&self, _profile: Profile) -> Result<(), Fault> {
        limits::header(self.header).map_or(Ok(()), Err)
    }
}

impl Config {
    /// Header bytes of each datagram.
    fn header_bytes(&self, profile: Profile) -> u32 {
        let usual = if profile.is_ns2() { 0 } else { HEADER_BYTES };
        self.header.map_or(usual, |b| b.get() as u32)
    }
}

/// Header bytes of a datagram: IPv4 without options, UDP.
const HEADER_BYTES: u32 = 28;

/// The largest payload of a datagram (RFC 768 over IPv4 with a 16-bit total length).
pub const MAX_PAYLOAD: u64 = 65_507;

/// The sending end.
pub struct Sender {
    seat: EndpointContext,
    header: u32,
    connection: u32,
    /// Payload sizes that wait to be sent.
    pending: std::collections::VecDeque<u64>,
    sent: u64,
    sent_bytes: u64,
    tell: bool,
}

impl Sender {
    /// A sender at `seat` whose datagrams have `header` header bytes.
    pub fn new(header: u32, seat: EndpointContext) -> Self {
        Self { seat, header, connection: 0, pending: Default::default(), sent: 0, sent_bytes: 0, tell: false }
    }
}

impl Timed for Sender {}

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

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if std::mem::take(&mut self.tell) {
            return Some(Action::Tell(Notice::Sent(self.sent_bytes)));
        }
        let payload = self.pending.pop_front()?;
        let header = UdpHeader { seq: self.sent, sent_at: now };
        self.sent += 1;
        self.sent_bytes += payload;
        self.tell = self.seat.hears.sent;
        *packet = self.seat.packet(self.connection, self.sent, payload as u32 + self.header, Header::Udp(header));
        Some(Action::Send)
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
    duplicates: u64,
    duplicate_bytes: u64,
    /// Payload of datagrams that came for the first time.
    received_bytes: u64,
    sequence: Sequence,
    /// It has joined its group, and nothing has come since: what was sent meanwhile is not lost.
    joined: bool,
    jitter: Jitter,
    /// One-way delays, ns.
    delays: Histogram,
}

impl Receiver {
    /// A receiver at `seat` of datagrams with `header` header bytes.
    pub fn new(header: u32, seat: EndpointContext) -> Self {
        Self {
            header,
            hears: seat.hears.received,
            tell: false,
            received: 0,
            duplicates: 0,
            duplicate_bytes: 0,
            received_bytes: 0,
            sequence: Sequence::default(),
            joined: false,
            jitter: Jitter::default(),
            delays: Histogram::default(),
        }
    }
}

/// The interarrival jitter (RFC 3550 §6.4.1, §A.8): the smoothed difference of the transit times
/// of datagrams that arrive one after the other.
#[derive(Debug, Default)]
pub(super) struct Jitter {
    estimate_ns: f64,
    /// The transit time of the last datagram.
    transit: Option<Duration>,
}

impl Jitter {
    pub(super) fn add(&mut self, transit: Duration) {
        if let Some(last) = self.transit.replace(transit) {
            let difference = transit.as_nanos().abs_diff(last.as_nanos()) as f64;
            self.estimate_ns += (difference - self.estimate_ns) / 16.0;
        }
    }

    /// The estimate in milliseconds.
    pub(super) fn ms(&self) -> f64 {
        self.estimate_ns * 1e-6
    }
}

impl Timed for Receiver {}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        self.received += 1;
        let payload = u64::from(packet.size.saturating_sub(self.header));
        if let Header::Udp(header) = &packet.header {
            if std::mem::take(&mut self.joined) {
                self.sequence.begin_at(header.seq);
            }
            if self.sequence.take(header.seq) == Came::Again {
                self.duplicates += 1;
                self.duplicate_bytes += payload;
                return;
            }
            let transit = now.since(header.sent_at);
            self.jitter.add(transit);
            self.delays.add(transit.as_nanos());
        }
        self.received_bytes += payload;
        self.tell = self.hears;
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        if let Notice::Membership(change) = notice {
            self.joined = change.joins;
        }
    }

    fn poll(&mut self, _now: Instant, _packet: &mut Packet) -> Option<Action> {
        std::mem::take(&mut self.tell).then_some(Action::Tell(Notice::Received(self.received_bytes)))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("received_packets", self.received as f64);
        probe.value("received_bytes", self.received_bytes as f64);
        probe.value("duplicate_packets", self.duplicates as f64);
        probe.value("duplicate_bytes", self.duplicate_bytes as f64);
        probe.value("lost_packets", self.sequence.missing() as f64);
        probe.value("missing_at_start", self.sequence.missing_at_start() as f64);
        probe.value("jitter_ms", self.jitter.ms());
        probe.distribution("delay_ms", 1e-6, &self.delays);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::net::{Address, FlowId, Hears, NodeId, Socket};

    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut jitter = Jitter::default();
        let estimates: Vec<f64> = [100, 110, 100, 130]
            .map(|ms| {
                jitter.add(Duration::from_millis(ms));
                jitter.estimate_ns * 1e-6
            })
            .to_vec();
        for (got, expected) in estimates.iter().zip([0.0, 0.625, 1.2109, 3.0103]) {
            assert!((got - expected).abs() < 5e-5, "{estimates:?}");
        }
    }

    /// What a probe is shown.
    #[derive(Default)]
    struct Values(Vec<(&'static str, f64)>);

    impl Probe for Values {
        fn part(&mut self, _what: lasthop_net::net::What, _name: &str) {}
        fn value(&mut self, name: &'static str, value: f64) {
            self.0.push((name, value));
        }
        fn distribution(&mut self, name: &'static str, scale: f64, histogram: &Histogram) {
            self.0.push((name, histogram.quantile(0.5).map_or(f64::NAN, |ns| ns * scale)));
        }
    }

    #[test]
    fn a_receiver_measures_loss_and_delay_whatever_comes_twice() {
        let here = Socket { node: NodeId(1), port: 1 };
        let seat = EndpointContext {
            local: here,
            remote: Address::Node(NodeId(0)),
            remote_port: 1,
            flow: FlowId(0),
            hears: Hears::default(),
            observed: false,
        };
        let mut sender = Sender::new(28, seat);
        let mut receiver = Receiver::new(28, seat);
        for n in 0..10u64 {
            let now = Instant::from_nanos(n * 20_000_000);
            sender.on_notice(now, Notice::Write(100));
            let mut packet = Packet::vacant();
            assert_eq!(sender.poll(now, &mut packet), Some(Action::Send), "one datagram for each write");
            assert!(sender.poll(now, &mut Packet::vacant()).is_none());
            assert_eq!(packet.size, 128);
            if ![3, 4, 9].contains(&n) {
                receiver.on_packet(now + Duration::from_nanos(31), &packet, Port(0));
            }
            // Copies make up for no loss, and their later arrival is no delay.
            if [2, 5].contains(&n) {
                receiver.on_packet(now + Duration::from_millis(1), &packet, Port(0));
            }
        }
        let mut values = Values::default();
        receiver.sample(&mut values);
        let expected = [
            ("received_packets", 9.0),
            ("received_bytes", 700.0),
            ("duplicate_packets", 2.0),
            ("duplicate_bytes", 200.0),
            // The last one is not missed yet.
            ("lost_packets", 2.0),
            ("missing_at_start", 0.0),
            ("jitter_ms", 0.0),
            ("delay_ms", 31e-6),
        ];
        assert_eq!(values.0, expected);
    }
}
