//! The ends of a flow that reserves: the sender says what it sends and polices itself, the receiver asks for the
//! reservation. Both talk to the RSVP process of their own node.

use std::collections::VecDeque;

use crate::engine::{BitRate, Duration, Instant, Stream};
use crate::net::token_bucket::TokenBucket;
use crate::net::{Action, Endpoint, Notice, Packet, Port, Probe, Seat, Signal, SignalHeader, Socket, Timed};
use crate::qos::dscp::Dscp;
use crate::qos::signal;

use super::agent::{PORT, flag, lifetime, next_refresh};
use super::{Config, Excess, OnReject};

/// What both ends have: messages to their node's process.
struct Messages {
    seat: Seat,
    stream: Stream,
    waiting: VecDeque<(Socket, SignalHeader)>,
    sent: u64,
    refresh: Duration,
    refresh_at: Instant,
}

impl Messages {
    fn new(seat: Seat, stream: Stream, refresh: Duration) -> Self {
        Self { seat, stream, waiting: VecDeque::new(), sent: 0, refresh, refresh_at: Instant::MAX }
    }

    /// Says this to the node's process.
    fn tell(&mut self, header: SignalHeader) {
        self.waiting.push_back((Socket { node: self.seat.local.node, port: PORT }, header));
    }

    /// The next refresh is due one period from now, more or less.
    fn refresh_later(&mut self, now: Instant) {
        self.refresh_at = next_refresh(now, self.refresh, &mut self.stream);
    }

    /// Writes the next message.
    fn poll(&mut self, packet: &mut Packet) -> Option<Action> {
        let (to, header) = self.waiting.pop_front()?;
        self.sent += u64::from(to.node != self.seat.local.node);
        signal::write(packet, self.seat.local, to, self.sent, header);
        Some(Action::Send)
    }
}

/// The sending end.
pub struct Sender {
    inner: Box<dyn Endpoint>,
    config: Config,
    messages: Messages,
    spec: SignalHeader,
    /// When PATH was first sent.
    asked_at: Option<Instant>,
    /// The rate that is reserved on the whole way.
    admitted: Option<BitRate>,
    /// Hops of the way that can reserve nothing.
    gaps: u8,
    expires: Instant,
    setup: Option<Duration>,
    bucket: TokenBucket,
    peak: Option<TokenBucket>,
    /// Whether the source has closed, and whether anything was sent since the last refresh.
    closing: bool,
    busy: bool,
    metered: u64,
    policed: u64,
    unreserved: u64,
    blocked: u64,
}

impl Sender {
    /// A sender before `inner`.
    pub fn new(inner: Box<dyn Endpoint>, seat: Seat, stream: Stream, config: Config) -> Self {
        let receiver = signal::node(seat.remote).map_or(seat.local, |node| Socket { node, port: seat.remote_port });
        let spec = SignalHeader {
            kind: Signal::Path,
            flags: config.handover_flag(),
            flow: seat.flow,
            sender: seat.local,
            receiver,
            bucket: config.bucket.get() as u32,
            rate: config.reserved(),
            floor: config.floor(),
            peak: config.peak.unwrap_or_default(),
            refresh: config.refresh,
            processing: config.processing,
            ..SignalHeader::default()
        };
        Self {
            inner,
            messages: Messages::new(seat, stream, config.refresh),
            spec,
            asked_at: None,
            admitted: None,
            gaps: 0,
            expires: Instant::MAX,
            setup: None,
            bucket: TokenBucket::new(config.rate, config.bucket, Instant::ZERO),
            peak: config.peak.map(|peak| TokenBucket::new(peak, config.max_packet, Instant::ZERO)),
            closing: false,
            busy: false,
            metered: 0,
            policed: 0,
            unreserved: 0,
            blocked: 0,
            config,
        }
    }

    fn on_signal(&mut self, now: Instant, header: &SignalHeader) {
        match header.kind {
            Signal::Resv => {
                self.admitted = Some(header.rate);
                self.gaps = header.hops;
                self.expires = now + lifetime(header.refresh);
                self.bucket.set_rate(now, signal::lower(header.rate, self.config.rate));
                if let Some(asked_at) = self.asked_at {
                    self.setup.get_or_insert(now.since(asked_at));
                }
                if header.flags & flag::CONFIRM != 0 {
                    let confirmation = SignalHeader { kind: Signal::ResvConf, ..*header };
                    self.messages.waiting.push_back((header.receiver, confirmation));
                }
            }
            Signal::ResvTear => self.lose_reservation(),
            _ => {}
        }
    }

    fn lose_reservation(&mut self) {
        self.admitted = None;
        self.expires = Instant::MAX;
    }

    /// Whether the flow may send this packet, and how.
    fn police(&mut self, now: Instant, packet: &mut Packet) -> bool {
        self.busy = true;
        if self.admitted.is_none() {
            let sends = self.config.on_reject == OnReject::BestEffort;
            self.unreserved += u64::from(sends);
            self.blocked += u64::from(!sends);
            return sends;
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
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        if self.inner.next_timeout().is_some_and(|at| at <= now) {
            self.inner.on_timeout(now);
        }
        if self.expires <= now {
            self.lose_reservation();
        }
        if self.messages.refresh_at <= now {
            if self.closing && !self.busy {
                self.messages.tell(SignalHeader { kind: Signal::PathTear, number: u32::MAX, ..self.spec });
                self.messages.refresh_at = Instant::MAX;
                self.lose_reservation();
            } else {
                self.messages.tell(self.spec);
                self.messages.refresh_later(now);
            }
            self.busy = false;
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let own = self.messages.refresh_at.min(self.expires);
        let at = self.inner.next_timeout().map_or(own, |at| at.min(own));
        (at < Instant::MAX).then_some(at)
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        match packet.signal() {
            Some(header) => self.on_signal(now, header),
            None => self.inner.on_packet(now, packet, via),
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Open | Notice::Write(_) => {
                self.closing = false;
                if self.messages.refresh_at == Instant::MAX {
                    self.asked_at.get_or_insert(now);
                    self.messages.tell(self.spec);
                    self.messages.refresh_later(now);
                }
            }
            Notice::Close => self.closing = true,
            _ => {}
        }
        self.inner.on_notice(now, notice);
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(action) = self.messages.poll(packet) {
            return Some(action);
        }
        loop {
            let action = self.inner.poll(now, packet)?;
            if action != Action::Send || self.police(now, packet) {
                return Some(action);
            }
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.inner.sample(probe);
        probe.value("reserved_bps", self.admitted.map_or(0.0, |rate| rate.as_bps() as f64));
        probe.value("hops_without_reservation", f64::from(self.gaps));
        if let Some(setup) = self.setup {
            probe.value("setup_ms", setup.as_secs_f64() * 1e3);
        }
        probe.value("policed_packets", self.policed as f64);
        probe.value("unreserved_packets", self.unreserved as f64);
        probe.value("blocked_packets", self.blocked as f64);
        probe.value("signalling_packets", self.messages.sent as f64);
        probe.value("state_bytes", size_of::<Self>() as f64);
        // With a peak rate there are two buckets.
        let passes = self.metered * if self.peak.is_some() { 2 } else { 1 };
        let operations = TokenBucket::OPERATIONS.times(passes);
        probe.value("metered_packets", self.metered as f64);
        probe.value("additions_out", operations.additions as f64);
        probe.value("multiplications_out", operations.multiplications as f64);
    }
}

/// The receiving end.
pub struct Receiver {
    inner: Box<dyn Endpoint>,
    messages: Messages,
    /// What the sender says, while it does.
    path: Option<SignalHeader>,
    expires: Instant,
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
    /// A receiver before `inner`.
    pub fn new(inner: Box<dyn Endpoint>, seat: Seat, stream: Stream, config: &Config) -> Self {
        Self {
            inner,
            messages: Messages::new(seat, stream, config.refresh),
            path: None,
            expires: Instant::MAX,
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
            self.messages.tell(SignalHeader { kind: Signal::Resv, flags, rate: self.rate, hops: 0, ..path });
        }
    }

    fn on_signal(&mut self, now: Instant, header: &SignalHeader) {
        match header.kind {
            Signal::Path => {
                let is_new = self.path.replace(*header).is_none();
                self.expires = now + lifetime(header.refresh);
                if is_new {
                    self.rate = header.rate;
                    self.ask(flag::CONFIRM);
                    self.messages.refresh_later(now);
                }
            }
            Signal::ResvErr => {
                self.refusals += 1;
                self.confirmed = None;
                if let Some(path) = self.path {
                    self.rate = path.rate;
                    self.messages.tell(SignalHeader { kind: Signal::ResvTear, ..path });
                }
            }
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
        self.expires = Instant::MAX;
        self.messages.refresh_at = Instant::MAX;
    }
}

impl Timed for Receiver {
    fn on_timeout(&mut self, now: Instant) {
        if self.inner.next_timeout().is_some_and(|at| at <= now) {
            self.inner.on_timeout(now);
        }
        if self.expires <= now {
            self.forget();
        }
        if self.messages.refresh_at <= now {
            // A refused receiver tries again.
            self.ask(if self.confirmed.is_none() { flag::CONFIRM } else { 0 });
            self.messages.refresh_later(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let own = self.messages.refresh_at.min(self.expires);
        let at = self.inner.next_timeout().map_or(own, |at| at.min(own));
        (at < Instant::MAX).then_some(at)
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        match packet.signal() {
            Some(header) => self.on_signal(now, header),
            None => self.inner.on_packet(now, packet, via),
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        if let Notice::Link(_) = notice {
            self.link_changed = now;
        }
        self.inner.on_notice(now, notice);
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        self.messages.poll(packet).or_else(|| self.inner.poll(now, packet))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.inner.sample(probe);
        probe.value("confirmed_bps", self.confirmed.map_or(0.0, |rate| rate.as_bps() as f64));
        probe.value("refusals", self.refusals as f64);
        probe.value("handovers", self.handovers as f64);
        probe.value("interruption_ms", self.interruption.as_secs_f64() * 1e3);
        probe.value("longest_interruption_ms", self.longest.as_secs_f64() * 1e3);
        probe.value("signalling_packets", self.messages.sent as f64);
        probe.value("state_bytes", size_of::<Self>() as f64);
    }
}
