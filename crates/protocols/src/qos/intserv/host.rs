//! The ends of a flow that reserves: the sender says what it sends and polices itself, the receiver asks for the
//! reservation. Both talk to the RSVP process of their own node.

use crate::qos::dscp::Dscp;
use crate::qos::rejection::Unadmitted;
use crate::qos::signal::{self, Outbox};
use lasthop_net::engine::{BitRate, Duration, Instant, Stream};
use lasthop_net::net::guard::Guard;
use lasthop_net::net::operations::Operations;
use lasthop_net::net::token_bucket::TokenBucket;
use lasthop_net::net::{Action, EndpointContext, Notice, Packet, Probe, Signal, SignalHeader, Timed};

use super::agent::{PORT, flag, lifetime, next_refresh};
use super::{Config, Excess};

/// What both ends have: messages to their node's process, and state that ends when it is not refreshed.
struct SoftState {
    outbox: Outbox,
    stream: Stream,
    refresh: Duration,
    /// When the own message is repeated.
    refresh_at: Instant,
    /// When what the other end said is forgotten.
    expires: Instant,
}

impl SoftState {
    fn new(seat: EndpointContext, stream: Stream, refresh: Duration) -> Self {
        Self { outbox: Outbox::new(seat.local), stream, refresh, refresh_at: Instant::MAX, expires: Instant::MAX }
    }

    /// Says this to the node's process.
    fn tell(&mut self, header: SignalHeader) {
        self.outbox.push_here(PORT, header);
    }

    /// The next refresh is due one period from now, more or less.
    fn refresh_later(&mut self, now: Instant) {
        self.refresh_at = next_refresh(now, self.refresh, &mut self.stream);
    }

    fn next_timeout(&self) -> Option<Instant> {
        let at = self.refresh_at.min(self.expires);
        (at < Instant::MAX).then_some(at)
    }
}

/// The sending end.
pub struct Sender {
    config: Config,
    soft: SoftState,
    spec: SignalHeader,
    /// When PATH was first sent.
    asked_at: Option<Instant>,
    /// The rate that is reserved on the whole way.
    admitted: Option<BitRate>,
    /// Hops of the way that can reserve nothing.
    gaps: u8,
    setup: Option<Duration>,
    bucket: TokenBucket,
    peak: Option<TokenBucket>,
    /// Whether the source has closed, and whether anything was sent since the last refresh.
    closing: bool,
    busy: bool,
    metered: u64,
    policed: u64,
    unadmitted: Unadmitted,
}

impl Sender {
    /// The guard before the sending end at `seat`.
    pub fn new(seat: EndpointContext, stream: Stream, config: Config) -> Self {
        let spec = SignalHeader {
            kind: Signal::Path,
            flags: config.handover_flag(),
            flow: seat.flow,
            sender: seat.local,
            receiver: signal::other_end(&seat),
            bucket: config.bucket.get() as u32,
            rate: config.reserved(),
            floor: config.floor(),
            peak: config.peak.unwrap_or_default(),
            refresh: config.refresh,
            processing: config.processing,
            ..SignalHeader::default()
        };
        Self {
            soft: SoftState::new(seat, stream, config.refresh),
            spec,
            asked_at: None,
            admitted: None,
            gaps: 0,
            setup: None,
            bucket: TokenBucket::new(config.rate, config.bucket, Instant::ZERO),
            peak: config.peak.map(|peak| TokenBucket::new(peak, config.max_packet, Instant::ZERO)),
            closing: false,
            busy: false,
            metered: 0,
            policed: 0,
            unadmitted: Unadmitted::new(config.on_reject),
            config,
        }
    }

    fn lose_reservation(&mut self) {
        self.admitted = None;
        self.soft.expires = Instant::MAX;
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        if self.soft.expires <= now {
            self.lose_reservation();
        }
        if self.soft.refresh_at <= now {
            if self.closing && !self.busy {
                self.soft.tell(SignalHeader { kind: Signal::PathTear, number: u32::MAX, ..self.spec });
                self.soft.refresh_at = Instant::MAX;
                self.lose_reservation();
            } else {
                self.soft.tell(self.spec);
                self.soft.refresh_later(now);
            }
            self.busy = false;
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.soft.next_timeout()
    }
}

impl Guard for Sender {
    fn on_signal(&mut self, now: Instant, header: &SignalHeader) {
        match header.kind {
            Signal::Resv => {
                self.admitted = Some(header.rate);
                self.gaps = header.hops;
                self.soft.expires = now + lifetime(header.refresh);
                self.bucket.set_rate(now, signal::lower(header.rate, self.config.rate));
                if let Some(asked_at) = self.asked_at {
                    self.setup.get_or_insert(now.since(asked_at));
                }
                if header.flags & flag::CONFIRM != 0 {
                    let confirmation = SignalHeader { kind: Signal::ResvConf, ..*header };
                    self.soft.outbox.push(header.receiver, confirmation);
                }
            }
            Signal::ResvTear => self.lose_reservation(),
            _ => {}
        }
    }

    fn on_notice(&mut self, now: Instant, notice: &Notice) {
        match notice {
            Notice::Open | Notice::Write(_) => {
                self.closing = false;
                if self.soft.refresh_at == Instant::MAX {
                    self.asked_at.get_or_insert(now);
                    self.soft.tell(self.spec);
                    self.soft.refresh_later(now);
                }
            }
            Notice::Close => self.closing = true,
            _ => {}
        }
    }

    fn poll(&mut self, packet: &mut Packet) -> Option<Action> {
        self.soft.outbox.poll(packet)
    }

    /// Polices admitted traffic.
    fn lets_pass(&mut self, now: Instant, packet: &mut Packet) -> bool {
        self.busy = true;
        if self.admitted.is_none() {
            return self.unadmitted.lets_pass();
        }
        self.metered += 1;
        let size = packet.size;
        let within_peak = self.peak.as_mut().is_none_or(|peak| peak.holds(now, size));
        if u64::from(size) <= self.config.max_packet.get() && within_peak && self.bucket.take(now, size) {
            self.peak.as_mut().map(|peak| peak.take(now, size));
            return true;
        }
        self.policed += 1;
        packet.dscp = Dscp::Cs1.value();
        self.config.excess == Excess::Demote
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("reserved_bps", self.admitted.map_or(0.0, |rate| rate.as_bps() as f64));
        probe.value("hops_without_reservation", f64::from(self.gaps));
        if let Some(setup) = self.setup {
            probe.value("setup_ms", setup.as_secs_f64() * 1e3);
        }
        probe.value("policed_packets", self.policed as f64);
        self.unadmitted.sample(probe);
        probe.value("signalling_packets", self.soft.outbox.sent() as f64);
        probe.value("state_bytes", size_of::<Self>() as f64);
        // With a peak rate there are two buckets.
        let passes = self.metered * if self.peak.is_some() { 2 } else { 1 };
        probe.value("metered_packets", self.metered as f64);
        TokenBucket::OPERATIONS.times(passes).show(probe, Operations::OUT);
    }
}

/// The receiving end.
pub struct Receiver {
    soft: SoftState,
    /// What the sender says, while it does.
    path: Option<SignalHeader>,
    /// The rate that it asks for.
    rate: BitRate,
    confirmed: Option<BitRate>,
    refusals: u64,
    /// When an access link of its node last changed.
    link_changed: Instant,
    /// The last handover after which the reservation was confirmed.
    handover: u32,
    handovers: u64,
    interruption: Duration,
    longest: Duration,
}

impl Receiver {
    /// The guard before the receiving end at `seat`.
    pub fn new(seat: EndpointContext, stream: Stream, config: &Config) -> Self {
        Self {
            soft: SoftState::new(seat, stream, config.refresh),
            path: None,
            rate: config.reserved(),
            confirmed: None,
            refusals: 0,
            link_changed: Instant::ZERO,
            handover: 0,
            handovers: 0,
            interruption: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }

    /// Asks for the reservation.
    fn ask(&mut self, flags: u8) {
        if let Some(path) = self.path {
            let flags = flags | (path.flags & flag::TRANSFER);
            self.soft.tell(SignalHeader { kind: Signal::Resv, flags, rate: self.rate, hops: 0, ..path });
        }
    }

    /// The reservation holds. Where more is reserved than the narrowest hop gave, that is given back.
    fn confirm(&mut self, rate: BitRate) {
        self.confirmed = Some(rate);
        if rate != self.rate {
            self.rate = rate;
            self.ask(0);
        }
    }

    fn note_interruption(&mut self, time: Duration) {
        self.handovers += 1;
        self.interruption += time;
        self.longest = self.longest.max(time);
    }

    fn forget(&mut self) {
        self.path = None;
        self.confirmed = None;
        self.handover = 0; // the nodes forget their numbers, too
        self.soft.expires = Instant::MAX;
        self.soft.refresh_at = Instant::MAX;
    }
}

impl Timed for Receiver {
    fn on_timeout(&mut self, now: Instant) {
        if self.soft.expires <= now {
            self.forget();
        }
        if self.soft.refresh_at <= now {
            // A receiver that was refused, or given less than it asked for, tries again.
            let wanted = self.path.map_or(self.rate, |path| path.rate);
            self.rate = wanted;
            self.ask(if self.confirmed == Some(wanted) { 0 } else { flag::CONFIRM });
            self.soft.refresh_later(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.soft.next_timeout()
    }
}

impl Guard for Receiver {
    fn on_signal(&mut self, now: Instant, header: &SignalHeader) {
        match header.kind {
            Signal::Path => {
                let is_new = self.path.replace(*header).is_none();
                self.soft.expires = now + lifetime(header.refresh);
                if is_new {
                    self.rate = header.rate;
                    self.ask(flag::CONFIRM);
                    self.soft.refresh_later(now);
                }
            }
            Signal::ResvErr => {
                self.refusals += 1;
                self.confirmed = None;
                if let Some(path) = self.path {
                    self.rate = path.rate;
                    self.soft.tell(SignalHeader { kind: Signal::ResvTear, ..path });
                }
            }
            // It was on its way when the path was torn down or forgotten.
            Signal::ResvConf | Signal::Context if self.path.is_none() => {}
            Signal::ResvConf => {
                if header.number > self.handover {
                    self.handover = header.number;
                    self.note_interruption(now.since(self.link_changed));
                }
                self.confirm(header.rate);
            }
            Signal::Context => {
                self.note_interruption(Duration::ZERO);
                self.confirm(header.rate);
            }
            Signal::PathTear => self.forget(),
            _ => {}
        }
    }

    fn on_notice(&mut self, now: Instant, notice: &Notice) {
        if let Notice::Link(_) = notice {
            self.link_changed = now;
        }
    }

    fn poll(&mut self, packet: &mut Packet) -> Option<Action> {
        self.soft.outbox.poll(packet)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("confirmed_bps", self.confirmed.map_or(0.0, |rate| rate.as_bps() as f64));
        probe.value("refusals", self.refusals as f64);
        probe.value("handovers", self.handovers as f64);
        probe.value("interruption_ms", self.interruption.as_secs_f64() * 1e3);
        probe.value("longest_interruption_ms", self.longest.as_secs_f64() * 1e3);
        probe.value("signalling_packets", self.soft.outbox.sent() as f64);
        probe.value("state_bytes", size_of::<Self>() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;
    use lasthop_net::net::{Address, FlowId, Hears, NodeId, Socket};

    #[test]
    fn a_confirmation_that_comes_after_the_path_was_torn_down_confirms_nothing() {
        let local = Socket { node: NodeId(0), port: 9 };
        let remote = Address::Node(NodeId(1));
        let hears = Hears::default();
        let seat = EndpointContext { local, remote, remote_port: 9, flow: FlowId(0), hears, observed: false };
        let config = Config::with_rate(BitRate::from_kbps(80));
        let mut receiver = Receiver::new(seat, Streams::new(1).stream("f", "r"), &config);
        let header = SignalHeader { rate: BitRate::from_kbps(80), refresh: config.refresh, ..SignalHeader::default() };
        let mut hear = |kind, number| {
            receiver.on_signal(Instant::ZERO, &SignalHeader { kind, number, ..header });
            (receiver.confirmed, receiver.handovers)
        };
        hear(Signal::Path, 0);
        assert_eq!(hear(Signal::ResvConf, 1), (Some(header.rate), 1));
        assert_eq!(hear(Signal::PathTear, 0), (None, 1));
        assert_eq!(hear(Signal::ResvConf, 1), (None, 1));
        assert_eq!(hear(Signal::Context, 1), (None, 1));
    }
}
