//! SWAN's part at the ends of a real-time flow (Ahn, Campbell, Veres, Sun 2002): the source probes the way and
//! admits itself if there is room; the receiver says when the way carries too much, and the source probes again.
//!
//! Routers keep nothing of it: [`router`] is their queue.

pub mod router;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Instant, Stream};
use lasthop_net::net::operations::Operations;
use lasthop_net::net::token_bucket::TokenBucket;
use lasthop_net::net::{
    Action, Ecn, Endpoint, EndpointContext, FlowId, Notice, Packet, Probe, Signal, SignalHeader, Socket, Timed,
};
use lasthop_net::profile::Profile;

use self::router::RateEstimate;
use super::QosConfig;
use super::dscp::Dscp;
use super::rejection::{OnReject, Unadmitted};
use super::signal::{self, Outbox};
use lasthop_net::net::guard::{Guard, Guarded};

/// Real-time service without state in the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The rate that the flow wants, headers included.
    pub rate: BitRate,
    /// The least rate that will do where the whole is not free. Default: the rate that it wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<BitRate>,
    /// How much may come at once above the admitted rate; more is not sent. Default: 10 kB.
    #[serde(default = "default_bucket")]
    pub bucket: Bytes,
    /// What becomes of data while the flow is not admitted.
    #[serde(default)]
    pub on_reject: OnReject,
    /// How long a source waits at most before it probes again when the way carries too much, W; it draws a time
    /// from 0 to this. Also the least time between two complaints of the receiver. Default: 1 s, SWAN's period.
    #[serde(default = "default_wait")]
    pub wait: Duration,
    /// How long a source waits for the answer to a probe. Default: 1 s.
    #[serde(default = "default_wait")]
    pub timeout: Duration,
    /// After what time a source that did not get all that it wants probes again: 0.5 to 1.5 of this.
    /// Default: 5 s.
    #[serde(default = "default_retry")]
    pub retry: Duration,
}

fn default_bucket() -> Bytes {
    Bytes::new(10_000)
}

fn default_wait() -> Duration {
    Duration::from_secs(1)
}

fn default_retry() -> Duration {
    Duration::from_secs(5)
}

impl Config {
    /// A flow of this rate; the rest as by default.
    pub fn with_rate(rate: BitRate) -> Self {
        Self {
            rate,
            floor: None,
            bucket: default_bucket(),
            on_reject: OnReject::default(),
            wait: default_wait(),
            timeout: default_wait(),
            retry: default_retry(),
        }
    }

    fn floor(&self) -> BitRate {
        self.floor.unwrap_or(self.rate)
    }
}

impl QosConfig for Config {
    fn sender(
        &self,
        inner: Box<dyn Endpoint>,
        seat: EndpointContext,
        _profile: Profile,
        stream: Stream,
    ) -> Box<dyn Endpoint> {
        Box::new(Guarded::new(Sender::new(seat, stream, self.clone()), inner))
    }

    fn receiver(
        &self,
        inner: Box<dyn Endpoint>,
        seat: EndpointContext,
        _profile: Profile,
        _stream: Stream,
    ) -> Box<dyn Endpoint> {
        Box::new(Guarded::new(Receiver::new(seat, self.wait), inner))
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), Fault> {
        if self.floor() > self.rate {
            let message = format!("a floor of {} above the rate of {}", self.floor(), self.rate);
            return Err(Fault::new("floor", message, "expected at most the rate"));
        }
        for (field, time) in [("wait", self.wait), ("timeout", self.timeout), ("retry", self.retry)] {
            if time < SHORTEST {
                let expected = format!("expected at least {SHORTEST}");
                return Err(Fault::new(field, format!("a {field} of {time}"), expected));
            }
        }
        Ok(())
    }
}

/// Over what window a source estimates the rate that it sends: that of an interface's estimate by default.
const WINDOW: Duration = Duration::from_secs(1);

/// Below this, messages would be the load.
const SHORTEST: Duration = Duration::from_millis(10);

/// The sending end.
pub struct Sender {
    seat: EndpointContext,
    stream: Stream,
    config: Config,
    started: bool,
    /// Whether the source has closed.
    closing: bool,
    /// The rate at which it sends real time.
    admitted: Option<BitRate>,
    bucket: TokenBucket,
    /// The rate that it has sent, as interfaces estimate it.
    sent: RateEstimate,
    /// The number of the last probe, and whether its answer is outstanding.
    number: u32,
    probing: bool,
    /// When it probes next.
    probe_at: Instant,
    /// The other end, and messages to it.
    other: Socket,
    outbox: Outbox,
    /// When it first probed, and how long it took to be admitted.
    asked_at: Instant,
    setup: Option<Duration>,
    regulations: u64,
    rejections: u64,
    metered: u64,
    policed: u64,
    unadmitted: Unadmitted,
}

impl Sender {
    /// The guard before the sending end at `seat`.
    pub fn new(seat: EndpointContext, stream: Stream, config: Config) -> Self {
        Self {
            seat,
            stream,
            started: false,
            closing: false,
            admitted: None,
            bucket: TokenBucket::new(config.rate, config.bucket, Instant::ZERO),
            sent: RateEstimate::new(WINDOW),
            number: 0,
            probing: false,
            probe_at: Instant::MAX,
            other: signal::other_end(&seat),
            outbox: Outbox::new(seat.local),
            asked_at: Instant::ZERO,
            setup: None,
            regulations: 0,
            rejections: 0,
            metered: 0,
            policed: 0,
            unadmitted: Unadmitted::new(config.on_reject),
            config,
        }
    }

    /// Asks the way how much is left. It says how much of the traffic is its own.
    fn probe(&mut self, now: Instant) {
        // A repetition has the number of the first: its answer may come later than `timeout`.
        self.number += u32::from(!self.probing);
        self.probing = true;
        self.probe_at = now + self.config.timeout;
        let header = SignalHeader {
            kind: Signal::Probe,
            flow: self.seat.flow,
            sender: self.seat.local,
            number: self.number,
            rate: self.config.rate,
            floor: BitRate::from_bps(self.sent.at(now).ceil() as u64),
            ..SignalHeader::default()
        };
        self.outbox.push(self.other, header);
    }

    /// The bandwidth that the path has left for this flow.
    fn on_reply(&mut self, now: Instant, header: &SignalHeader) {
        if !self.probing || header.number != self.number {
            return; // of an earlier probe, or the second one
        }
        self.probing = false;
        match Some(header.rate).filter(|rate| *rate >= self.config.floor()) {
            Some(rate) => {
                self.admitted = Some(rate);
                self.setup.get_or_insert(now.since(self.asked_at));
                self.bucket.set_rate(now, rate);
            }
            None => {
                self.rejections += 1;
                self.stop();
            }
        }
        let whole = self.admitted == Some(self.config.rate);
        let later = self.config.retry.mul_f64(self.stream.uniform(0.5, 1.5));
        self.probe_at = if whole { Instant::MAX } else { now + later };
    }

    /// It sends no real time any more.
    fn stop(&mut self) {
        self.admitted = None;
        self.sent = RateEstimate::new(WINDOW);
    }

    /// The way carries too much.
    fn on_regulate(&mut self, now: Instant) {
        self.regulations += 1;
        if self.admitted.is_some() && !self.probing {
            let wait = self.config.wait.mul_f64(self.stream.unit());
            self.probe_at = self.probe_at.min(now + wait);
        }
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        if self.probe_at <= now {
            self.probe(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.probe_at < Instant::MAX).then_some(self.probe_at)
    }
}

impl Guard for Sender {
    fn on_signal(&mut self, now: Instant, header: &SignalHeader) {
        match header.kind {
            Signal::ProbeReply => self.on_reply(now, header),
            Signal::Regulate => self.on_regulate(now),
            _ => {}
        }
    }

    fn on_notice(&mut self, now: Instant, notice: &Notice) {
        match notice {
            Notice::Open | Notice::Write(_) => {
                self.closing = false;
                if !std::mem::replace(&mut self.started, true) {
                    self.asked_at = now;
                    self.probe(now);
                }
            }
            Notice::Close => self.closing = true,
            _ => {}
        }
    }

    fn poll(&mut self, packet: &mut Packet) -> Option<Action> {
        self.outbox.poll(packet)
    }

    /// Polices admitted traffic.
    fn lets_pass(&mut self, now: Instant, packet: &mut Packet) -> bool {
        if self.admitted.is_none() {
            return self.unadmitted.lets_pass();
        }
        self.metered += 1;
        let conforms = self.bucket.take(now, packet.size);
        if conforms {
            self.sent.add(now, packet.size);
        }
        self.policed += u64::from(!conforms);
        packet.dscp = Dscp::Ef.value();
        packet.ecn = Ecn::Ect0;
        conforms
    }

    fn on_rest(&mut self, endpoint: &dyn Endpoint) {
        // Closed, nothing to say and nothing to wait for: a later transfer is another one.
        if self.closing && self.started && endpoint.next_timeout().is_none() {
            (self.started, self.probing, self.probe_at) = (false, false, Instant::MAX);
            self.stop();
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("admitted_bps", self.admitted.map_or(0.0, |rate| rate.as_bps() as f64));
        if let Some(setup) = self.setup {
            probe.value("setup_ms", setup.as_secs_f64() * 1e3);
        }
        probe.value("rejections", self.rejections as f64);
        probe.value("regulations", self.regulations as f64);
        probe.value("policed_packets", self.policed as f64);
        self.unadmitted.sample(probe);
        probe.value("signalling_packets", self.outbox.sent() as f64);
        probe.value("state_bytes", size_of::<Self>() as f64);
        probe.value("metered_packets", self.metered as f64);
        let sent = RateEstimate::OPERATIONS.times(self.metered - self.policed);
        TokenBucket::OPERATIONS.times(self.metered).and(sent).show(probe, Operations::OUT);
    }
}

/// The receiving end.
pub struct Receiver {
    flow: FlowId,
    /// The least time between two complaints.
    wait: Duration,
    complained: Option<Instant>,
    marks: u64,
    /// The other end, and messages to it.
    other: Socket,
    outbox: Outbox,
}

impl Receiver {
    /// The guard before the receiving end at `seat`.
    pub fn new(seat: EndpointContext, wait: Duration) -> Self {
        let (other, outbox) = (signal::other_end(&seat), Outbox::new(seat.local));
        Self { flow: seat.flow, wait, complained: None, marks: 0, other, outbox }
    }
}

impl Timed for Receiver {}

impl Guard for Receiver {
    fn on_signal(&mut self, _now: Instant, header: &SignalHeader) {
        if header.kind == Signal::Probe {
            self.outbox.push(self.other, SignalHeader { kind: Signal::ProbeReply, ..*header });
        }
    }

    /// Complains of marks, but not too often.
    fn on_packet(&mut self, now: Instant, packet: &Packet) {
        if packet.ecn != Ecn::Ce {
            return;
        }
        self.marks += 1;
        if self.complained.is_none_or(|at| now >= at + self.wait) {
            self.complained = Some(now);
            let header = SignalHeader { kind: Signal::Regulate, flow: self.flow, ..SignalHeader::default() };
            self.outbox.push(self.other, header);
        }
    }

    fn poll(&mut self, packet: &mut Packet) -> Option<Action> {
        self.outbox.poll(packet)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("marked_packets", self.marks as f64);
        probe.value("signalling_packets", self.outbox.sent() as f64);
        probe.value("state_bytes", size_of::<Self>() as f64);
    }
}
