//! The sending end (`TfrcAgent`).

use crate::ns2::tfrc::settings::Settings;
use lasthop_net::engine::{FloatTime, Instant};
use lasthop_net::net::{
    Action, Ecn, Endpoint, EndpointContext, Header, Histogram, Notice, Packet, Port, Probe, TfrcHeader, Timed,
};

use super::{SMALL, formula};

mod slow_start;

/// The sending end.
pub struct Sender {
    seat: EndpointContext,
    settings: Settings,
    connection: u32,
    /// The present, in seconds by ns-2's clock.
    now: FloatTime,
    /// Payload bytes of a packet (`size_`).
    size: f64,
    /// Whether packets are being sent (`active_`, and the first has left).
    started: bool,
    /// The next packet (`seqno_`), and the end of what the source has written (`maxseq_`).
    next: u64,
    end: u64,
    /// The next packet waits for data (`datalimited_`), when that last ended (`lastlimited_`), and
    /// whether it has been so since the no-feedback timer was set (`all_idle_`).
    data_limited: bool,
    last_limited: f64,
    all_idle: bool,
    /// Packets to be handed over by `poll`.
    due: u32,
    send_at: Option<FloatTime>,
    no_feedback_at: Option<FloatTime>,
    /// Whether no answer is waited for.
    over: bool,
    phase: Phase,
    /// The allowed rate (`rate_`), the one before it (`oldrate_`), and by how much the rate used
    /// grows with each packet (`delta_`), bytes per second.
    rate: f64,
    old_rate: f64,
    delta: f64,
    /// When the rate changed last (`last_change_`).
    changed_at: f64,
    /// Twice the rate of reception (`ss_maxrate_` and `maxrate_`).
    max_rate: f64,
    /// What the equation allows (`rcvrate`).
    fair_rate: f64,
    /// Rounds in which the rate was above twice the rate of reception (`heavyrounds_`).
    heavy_rounds: u32,
    rtt: Rtt,
    /// Reports and expiries so far (`round_id`).
    round: u32,
    urgent: bool,
    heard: bool,
    told: [Option<u64>; 2],
    /// Whether bytes sent are to be reported to the source.
    tell_sent: bool,
    sent: u64,
    sent_bytes: u64,
    acked_bytes: u64,
    expiries: u64,
    loss_rate: f64,
    old: u64,
    rtts: Histogram,
}

/// `rate_change_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Equation,
}

/// Round-trip times: TCP's retransmission timeout in ticks, and the mean for the equation.
#[derive(Clone, Copy, Debug)]
struct Rtt {
    tick: f64,
    /// Ticks times 8, and ticks times 4.
    srtt: i32,
    rttvar: i32,
    /// The retransmission timeout, seconds (`tzero_`).
    rto: f64,
    /// The mean, the mean of square roots, and the last sample, seconds.
    mean: f64,
    sqrt_mean: f64,
    last: f64,
}

impl Rtt {
    fn new(settings: &Settings) -> Self {
        let rttvar = ((12.0 / settings.tick) as i32) << 2;
        Self { tick: settings.tick, srtt: 0, rttvar, rto: 0.0, mean: 0.0, sqrt_mean: 1.0, last: 1.0 }
    }

    /// Takes a sample (`update_rtt`).
    fn update(&mut self, sample: f64, keep: f64) {
        let ticks = ((sample / self.tick + 0.5) as i32).max(1);
        if self.srtt != 0 {
            let delta = ticks - (self.srtt >> 3);
            self.srtt = (self.srtt + delta).max(1);
            self.rttvar = (self.rttvar + delta.abs() - (self.rttvar >> 2)).max(1);
        } else {
            self.srtt = ticks << 3;
            self.rttvar = ticks << 1;
        }
        self.rto = f64::from(((self.rttvar << 3) + self.srtt) >> 3) * self.tick;
        if self.mean > 0.0 {
            self.mean = keep * self.mean + (1.0 - keep) * sample;
            self.sqrt_mean = keep * self.sqrt_mean + (1.0 - keep) * libm::sqrt(sample);
        } else {
            self.mean = sample;
            self.sqrt_mean = libm::sqrt(sample);
        }
        self.last = sample;
    }
}

impl Sender {
    /// A sender at `seat`.
    pub fn new(settings: Settings, seat: EndpointContext) -> Self {
        Self {
            seat,
            connection: 0,
            now: FloatTime::default(),
            size: f64::from(settings.segment),
            started: false,
            next: 0,
            end: 0,
            data_limited: false,
            last_limited: 0.0,
            all_idle: false,
            due: 0,
            send_at: None,
            no_feedback_at: None,
            over: false,
            phase: Phase::SlowStart,
            rate: settings.initial_rate,
            old_rate: settings.initial_rate,
            delta: 0.0,
            changed_at: 0.0,
            max_rate: 0.0,
            fair_rate: 0.0,
            heavy_rounds: 0,
            rtt: Rtt::new(&settings),
            round: 0,
            urgent: true,
            heard: false,
            told: [None; 2],
            tell_sent: false,
            sent: 0,
            sent_bytes: 0,
            acked_bytes: 0,
            expiries: 0,
            loss_rate: 0.0,
            old: 0,
            rtts: Histogram::default(),
            settings,
        }
    }

    /// More packets may be sent (`advanceby`).
    fn write(&mut self, bytes: u64) {
        let packets = if bytes == u64::MAX { u64::MAX } else { bytes.div_ceil(u64::from(self.settings.segment)) };
        self.end = self.end.saturating_add(packets);
        if packets == 0 {
            return;
        }
        if !self.started {
            self.started = true;
            self.due += 1;
            self.send_at = Some(self.now.after(self.size / self.rate));
            self.no_feedback_at = Some(self.now.after(2.0 * self.size / self.rate));
        } else if self.data_limited {
            self.data_limited = false;
            self.last_limited = self.now.as_secs();
            self.all_idle = false;
            self.due += 1;
        }
    }

    /// Sends a packet and sets the timer for the next (`nextpkt`).
    fn send_next(&mut self) {
        if self.next + u64::from(self.due) < self.end {
            self.due += 1;
        } else {
            self.data_limited = true;
        }
        let rate = if self.round > 2 && self.phase == Phase::SlowStart && self.old_rate + SMALL < self.rate {
            self.old_rate += self.delta;
            self.old_rate
        } else if self.settings.damping {
            self.rate * self.rtt.sqrt_mean / libm::sqrt(self.rtt.last)
        } else {
            self.rate
        };
        if rate > SMALL {
            self.send_at = Some(self.now.after((self.size / rate).max(SMALL)));
        }
    }

    /// `initial_rate` by RFC 3390, in packets for each round trip.
    fn initial_window(&self) -> f64 {
        match self.settings.segment {
            0..=1095 => 4.0,
            1096..=2189 => 3.0,
            _ => 2.0,
        }
    }

    fn set_no_feedback(&mut self) {
        let wait = (2.0 * self.rtt.mean).max(2.0 * self.size / self.rate);
        self.no_feedback_at = (!self.over).then(|| self.now.after(wait));
    }

    fn increase(&mut self) {
        let (now, rtt) = (self.now.as_secs(), self.rtt.mean);
        self.rate += self.size / rtt * ((now - self.changed_at) / rtt).min(2.0);
        let idle = self.was_idle(now - 1.5 * rtt);
        let least = if idle { self.initial_window() * self.size / rtt } else { self.size / rtt };
        let most = self.max_rate.max(least).min(self.fair_rate);
        self.rate = self.rate.min(most);
        self.changed_at = now;
        self.heavy_rounds = 0;
    }

    fn decrease(&mut self) {
        self.rate = self.fair_rate;
        let most = self.max_rate.max(self.size / self.rtt.mean);
        self.heavy_rounds = if self.rate > most { self.heavy_rounds + 1 } else { 0 };
        if self.heavy_rounds > self.settings.heavy_rounds {
            self.rate = self.rate.min(most);
        }
        self.changed_at = self.now.as_secs();
    }

    /// No report until the timer expired: the rate is halved, and a packet leaves (`reduce_rate_on_no_feedback`).
    fn no_feedback(&mut self) {
        self.expiries += 1;
        self.end_slow_start_without_feedback();
        if !self.all_idle && !self.data_limited {
            self.rate *= 0.5;
        } else {
            let initial = self.initial_window() * self.size / self.rtt.mean;
            if self.rate > 2.0 * initial {
                self.rate *= 0.5;
            } else if self.rate > initial {
                self.rate = initial;
            }
        }
        self.urgent = true;
        self.round += 1;
        self.set_no_feedback();
        if self.data_limited {
            self.all_idle = true;
            if self.seat.hears.received && !self.seat.hears.lost {
                // Nothing more will say what became of the last packet.
                self.told[0] = Some(self.sent_bytes);
            }
        }
        self.send_next();
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        self.now = self.now.or_nearest(now);
        let due = |at: Option<FloatTime>| at.filter(|at| at.instant() <= now);
        match (due(self.send_at), due(self.no_feedback_at)) {
            (Some(send), Some(no_feedback)) if no_feedback <= send => {
                self.no_feedback();
            }
            (Some(_), _) => {
                self.send_at = None;
                self.send_next();
            }
            (None, Some(_)) => self.no_feedback(),
            (None, None) => {}
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.next_float().map(FloatTime::instant)
    }

    fn set_float(&mut self, now: FloatTime) {
        self.now = now;
    }

    fn next_float(&self) -> Option<FloatTime> {
        match (self.send_at, self.no_feedback_at) {
            (Some(a), Some(b)) => Some(if b < a { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        self.now = self.now.or_nearest(now);
        let Header::TfrcReport(report) = &packet.header else { return };
        if packet.connection != self.connection {
            self.old += 1;
            return;
        }
        self.round += 1;
        self.urgent = false;
        self.loss_rate = report.p;
        self.acked_bytes = self.acked_bytes.max(report.end);
        if self.seat.hears.acked {
            self.told[1] = Some(self.acked_bytes);
        }
        let now = self.now.as_secs();
        self.max_rate = if self.round > 1 && report.rate > 0.0 { 2.0 * report.rate * self.size } else { 0.0 };
        let sample = now - (report.echo.as_secs() + report.delay);
        self.rtts.add((sample * 1e9) as u64);
        self.rtt.update(sample, self.settings.rtt_weight);
        self.fair_rate = formula::rate(report.p, self.rtt.mean, self.rtt.rto, self.size);
        self.set_no_feedback();
        if !std::mem::replace(&mut self.heard, true) || (self.phase == Phase::SlowStart && report.p <= 0.0) {
            self.slow_start();
            self.send_next();
        } else if self.phase == Phase::SlowStart {
            self.phase = Phase::Equation;
            self.rate = self.fair_rate;
            self.old_rate = self.rate;
        } else if self.fair_rate > self.rate {
            self.increase();
        } else {
            self.decrease();
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        self.now = self.now.or_nearest(now);
        match notice {
            Notice::Write(bytes) => self.write(bytes),
            Notice::Reset => {
                let (connection, seat, settings) = (self.connection + 1, self.seat, self.settings.clone());
                let counts = (self.sent, self.expiries, self.old, std::mem::take(&mut self.rtts));
                let now = self.now;
                *self = Self::new(settings, seat);
                (self.connection, self.now) = (connection, now);
                (self.sent, self.expiries, self.old, self.rtts) = counts;
            }
            Notice::Over => (self.over, self.no_feedback_at) = (true, None),
            _ => {}
        }
    }

    fn poll(&mut self, _now: Instant, packet: &mut Packet) -> Option<Action> {
        if self.due == 0 {
            if std::mem::take(&mut self.tell_sent) {
                return Some(Action::Tell(Notice::Sent(self.sent_bytes)));
            }
            if let Some(bytes) = self.told[0].take() {
                return Some(Action::Tell(Notice::Received(bytes)));
            }
            return self.told[1].take().map(|bytes| Action::Tell(Notice::Acked(bytes)));
        }
        self.due -= 1;
        self.sent += 1;
        let payload = self.settings.segment;
        self.sent_bytes += u64::from(payload);
        self.tell_sent = self.seat.hears.sent;
        *packet = Packet {
            from: self.seat.local,
            to: self.seat.remote,
            to_port: self.seat.remote_port,
            dscp: 0,
            ecn: if self.settings.ecn { Ecn::Ect0 } else { Ecn::NotEct },
            size: payload + self.settings.header,
            flow: self.seat.flow,
            connection: self.connection,
            number: self.sent,
            header: Header::Tfrc(TfrcHeader {
                seq: self.next,
                sent_at: self.now,
                rtt: self.rtt.mean,
                rto: self.rtt.rto,
                payload,
                end: self.sent_bytes,
                round: self.round,
                epoch: 0,
                urgent: self.urgent,
            }),
        };
        self.next += 1;
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("sent_packets", self.sent as f64);
        probe.value("sent_bytes", (self.sent * u64::from(self.settings.segment)) as f64);
        probe.value("acked_bytes", self.acked_bytes as f64);
        probe.value("nofeedback_expiries", self.expiries as f64);
        probe.value("old_connection_packets", self.old as f64);
        probe.value("rate_bps", self.rate * 8.0);
        probe.value("loss_event_rate", self.loss_rate);
        if self.rtt.mean > 0.0 {
            probe.value("srtt_ms", self.rtt.mean * 1e3);
        }
        probe.distribution("rtt_ms", 1e-6, &self.rtts);
    }
}
