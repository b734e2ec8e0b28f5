//! BBRv3 (draft-ietf-ccwg-bbr, git 4ce5e87d of 2026-08-03): a model of the path, its bandwidth and its least round-trip time, says how
//! fast segments leave and how much may be in flight. Losses bound both; a probe every few seconds looks for more.
//!
//! This file has the connection's events and the order of the steps. The rest is by concept, with the draft's names in the docs:
//! `state` and `model` first, then `startup`, `probe_bw`, `probe_rtt`, `loss`, `control`. Rates are in payload bytes per second,
//! and the pacer, which counts headers, gets them in bits on the wire. Which segments are lost, and which are sent again, is decided elsewhere.

mod ack;
mod control;
mod loss;
mod model;
mod probe_bw;
mod probe_rtt;
mod startup;
mod state;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::Probe;

use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, CongestionKind, EndpointContext, LostSegment,
    Sent, Undo, Wants, WindowRule,
};
use ack::Ack;
use loss::{Bounds, Signals};
use model::{Aggregation, MaxBw, Rounds, UNBOUNDED};
use probe_bw::Cycle;
use probe_rtt::MinRtt;
use startup::FullPipe;
use state::State;

/// BBR's parameters; its constants are the draft's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How many separate ranges have to be lost in a round trip before a loss rate above 2 % ends a bandwidth probe. With 1 a single
    /// lost segment does if fewer than 50 are in flight. quiche asks for 2. Default: 1 (draft-ietf-ccwg-bbr §5.5.10.2).
    pub loss_bursts: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { loss_bursts: 1 }
    }
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Bbr::new(*self, seat))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.loss_bursts == 0 {
            return Err(Fault::new("loss_bursts", "loss_bursts is 0: each probe would end", "expected at least 1"));
        }
        Ok(())
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Bbr {
    loss_bursts: u32,
    /// C.SMSS.
    smss: u64,
    /// C.InitialCwnd.
    initial_window: u64,
    /// C.has_selective_acks.
    sack: bool,
    /// Bytes on the wire for each byte of payload of a full segment.
    wire: f64,
    seed: u64,

    /// C.delivered and C.inflight.
    delivered: u64,
    in_flight: u64,
    /// Since when the path is this one, and C.delivered then.
    since: Instant,
    origin: u64,
    /// C.delivered when the first segment of this path was delivered; `None` before that.
    alone_from: Option<u64>,
    /// Whether the first segment has left, and whether a round-trip time is known.
    started: bool,
    seen_rtt: bool,
    /// Whether it took the place of another controller, with segments in flight, and has seen no acknowledgement yet.
    midway: bool,
    /// InLossRecovery(), and C.delivered when the last fast recovery began.
    recovering: bool,
    recovery_from: u64,
    /// A mark without a count is to be answered.
    marked: bool,

    /// BBR.state.
    state: State,
    rounds: Rounds,
    max_bw: MaxBw,
    /// BBR.bw, bytes/s.
    bw: f64,
    aggregation: Aggregation,
    delay: MinRtt,
    full: FullPipe,
    /// BBR.drain_start_round.
    drain_start_round: u64,
    cycle: Cycle,
    signals: Signals,
    bounds: Bounds,
    /// BBR.idle_restart.
    idle_restart: bool,
    /// Whether the connection is to be marked application-limited (§5.3.4.3).
    holds_back: bool,

    /// C.pacing_rate, payload bytes/s.
    pacing_rate: f64,
    /// C.cwnd.
    cwnd: u64,
    /// BBR.prior_cwnd.
    prior_cwnd: u64,
}

impl Bbr {
    /// At the start of a connection.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        let smss = u64::from(seat.smss);
        let mut bbr = Self {
            loss_bursts: config.loss_bursts,
            smss,
            initial_window: seat.initial_window,
            sack: seat.sack,
            wire: (smss + u64::from(seat.header + seat.options)) as f64 / smss as f64,
            seed: seat.seed,
            delivered: 0,
            in_flight: 0,
            since: Instant::ZERO,
            origin: 0,
            alone_from: Some(0),
            started: false,
            seen_rtt: false,
            midway: false,
            recovering: false,
            recovery_from: 0,
            marked: false,
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw: MaxBw::default(),
            bw: 0.0,
            aggregation: Aggregation::default(),
            delay: MinRtt::default(),
            full: FullPipe::default(),
            drain_start_round: 0,
            cycle: Cycle::default(),
            signals: Signals::default(),
            bounds: Bounds::default(),
            idle_restart: false,
            holds_back: false,
            pacing_rate: 0.0,
            cwnd: seat.initial_window,
            prior_cwnd: 0,
        };
        bbr.init_pacing_rate(Duration::ZERO);
        bbr
    }

    /// OnInit() (§5.2.1), as far as it needs the time.
    fn start(&mut self, now: Instant, srtt: Duration) {
        self.started = true;
        self.seen_rtt = srtt > Duration::ZERO;
        self.delay = MinRtt::new(now, srtt);
        self.aggregation.interval_start = now;
        self.init_pacing_rate(srtt);
    }

    /// HandleRestartFromIdle() (§5.4.1): nothing is in flight, and the application is the limit.
    fn restart_from_idle(&mut self, now: Instant) {
        self.idle_restart = true;
        self.aggregation.interval_start = now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    /// UpdateModelAndState() (§5.2.3).
    fn update_model_and_state(&mut self, ack: &Ack) {
        self.signals.update(ack);
        self.update_congestion_signals(ack);
        self.update_ack_aggregation(ack);
        self.check_full_bw_reached(ack);
        self.check_startup_done(ack);
        self.check_drain_done(ack);
        self.update_cycle(ack);
        self.delay.update(ack.now, ack.rtt);
        self.check_probe_rtt(ack);
        self.signals.advance(ack);
        self.bound_bw();
    }

    /// UpdateControlParameters() (§5.2.3). The quantum follows from the rate.
    fn update_control_parameters(&mut self, ack: &Ack) {
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_cwnd(ack);
    }
}

impl CongestionControl for Bbr {
    fn wants(&self) -> Wants {
        Wants { sends: true, records: true }
    }

    fn on_sent(&mut self, sent: &Sent) {
        if !self.started {
            self.start(sent.now, sent.srtt);
            self.midway = sent.in_flight > sent.bytes;
            self.since = if self.midway { sent.now } else { Instant::ZERO };
        }
        self.in_flight = sent.in_flight;
        if sent.app_limited && sent.in_flight == sent.bytes {
            self.restart_from_idle(sent.now);
        }
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.in_flight = self.in_flight.saturating_sub(lost.bytes);
        if self.started && lost.record.sent_at >= self.since {
            self.handle_lost_packet(lost);
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if !self.started || self.midway {
            // Segments in flight left before it was there.
            self.delivered = sample.delivered;
            self.on_path_change(if self.started { self.since } else { sample.now });
        }
        let ack = Ack::new(sample, sample.delivered.saturating_sub(self.delivered), self.since, &mut self.alone_from);
        (self.delivered, self.in_flight) = (ack.delivered, ack.in_flight);
        self.holds_back = false;
        if !self.seen_rtt && ack.rtt.is_some() && ack.srtt > Duration::ZERO {
            // §5.6.2: C.srtt after the first non-zero sample.
            self.seen_rtt = true;
            self.init_pacing_rate(ack.srtt);
        }
        let recovering = sample.recovering || sample.after_timeout;
        if std::mem::replace(&mut self.recovering, recovering) && !recovering {
            self.restore_cwnd();
        }
        let uncounted = if std::mem::take(&mut self.marked) { self.smss } else { 0 };
        let marked = if sample.ce > 0 { sample.ce } else { uncounted };
        if marked > 0 {
            self.handle_marks(&ack, marked);
        }
        self.update_model_and_state(&ack);
        self.update_control_parameters(&ack);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.kind {
            // OnEnterFastRecovery() (§5.6.4.4).
            CongestionKind::Loss => {
                self.save_cwnd();
                self.recovery_from = self.delivered;
            }
            CongestionKind::Ecn => self.marked = true,
        }
    }

    /// OnEnterRTO() (§5.6.4.4).
    fn on_timeout(&mut self, _now: Instant, _flight: u64, _again: bool) {
        self.save_cwnd();
        self.recovering = true;
        self.cwnd = self.in_flight + self.smss;
    }

    /// An idle time does not change the window (§5.4.1), nor do recoveries (§5.6.4.4). A lost SYN does: the initial window is the
    /// transport's (§5.6.4.1).
    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        if let WindowRule::Start(most) = rule
            && !self.started
        {
            self.initial_window = self.initial_window.min(most);
            self.cwnd = self.initial_window;
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    /// HandleSpuriousLossDetection() (§5.5.11.2), upon the state before the loss: window, bounds and state are those of then.
    fn on_undo(&mut self, _undo: &Undo) {
        self.signals.loss_in_round = false;
        self.full.reset(0.0);
        if self.state == State::Up {
            self.start_refill();
        }
    }

    /// Bandwidth, delays and bounds are parameters of a path (§2.9), and of this one nothing is known: the model begins anew as at the
    /// start of a connection, from the initial window, as RFC 9000 §9.4 has it. Segments that left before tell nothing of it.
    fn on_path_change(&mut self, now: Instant) {
        let waits = self.cycle.waits();
        self.state = State::Startup;
        self.rounds = Rounds::default();
        self.rounds.begin(self.delivered);
        self.max_bw = MaxBw::default();
        self.bw = 0.0;
        self.aggregation = Aggregation::default();
        self.full = FullPipe::default();
        self.cycle = Cycle::after(waits);
        self.signals = Signals::new(self.delivered);
        self.bounds = Bounds::default();
        self.midway = false;
        (self.since, self.origin, self.alone_from) = (now, self.delivered, None);
        (self.cwnd, self.prior_cwnd) = (self.initial_window, 0);
        self.start(now, Duration::ZERO);
    }

    fn window(&self) -> u64 {
        self.cwnd
    }

    /// Losses and marks bound the model (§5.5.10); the window follows by acknowledgements.
    fn cuts(&self) -> Option<u64> {
        Some(0)
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate::from_bps((self.pacing_rate * self.wire * 8.0) as u64))
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let segments = |bytes: u64| bytes as f64 / self.smss as f64;
        probe.value("bbr_state", f64::from(self.state as u8));
        probe.value("max_bw_bps", self.max_bw.get() * 8.0);
        probe.value("bw_bps", self.bw * 8.0);
        if let Some(min_rtt) = self.delay.min_rtt {
            probe.value("min_rtt_ms", min_rtt.as_secs_f64() * 1e3);
        }
        for (name, bound) in [
            ("inflight_longterm_packets", self.bounds.inflight_longterm),
            ("inflight_shortterm_packets", self.bounds.inflight_shortterm),
        ] {
            if bound < UNBOUNDED {
                probe.value(name, segments(bound));
            }
        }
    }
}

#[cfg(test)]
mod tests;
