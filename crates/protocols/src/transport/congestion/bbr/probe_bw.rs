//! The cycle of ProbeBW: DOWN, CRUISE, REFILL, UP (draft-ietf-ccwg-bbr §5.3.3).

use lasthop_net::engine::{Duration, Instant, Streams};

use super::Bbr;
use super::ack::Ack;
use super::model::UNBOUNDED;
use super::state::State;

/// Headroom (§2.8).
const HEADROOM: f64 = 0.15;
/// The bound on the wait in rounds, for coexistence with Reno (§5.3.3.5.3).
const RENO_ROUNDS: f64 = 63.0;
/// The shortest wait between probes, seconds; up to a second is added at random (§5.3.3.5.3).
const PROBE_WAIT: f64 = 2.0;
/// The greatest BBR.bw_probe_up_rounds (§5.3.3.6).
const MOST_UP_ROUNDS: u32 = 30;

/// BBR.ack_phase (§2.14): what acknowledgements tell about a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// Nothing.
    #[default]
    Init,
    /// The pipe is being filled.
    Refilling,
    /// The flight rises.
    ProbeStarting,
    /// They are of segments sent in the probe.
    ProbeFeedback,
    /// The probe has ended; they still are of its segments.
    ProbeStopping,
}

/// The state of the cycle (§2.14).
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    /// BBR.ack_phase.
    pub(super) phase: AckPhase,
    /// BBR.is_bw_probe_sample.
    pub(super) probe_sample: bool,
    /// BBR.bw_probe_up_acked.
    up_acked: u64,
    /// BBR.probe_up_acked_per_inc.
    up_acked_per_inc: u64,
    /// BBR.bw_probe_up_rounds.
    up_rounds: u32,
    /// BBR.rounds_since_probe_up.
    pub(super) rounds_since_up: u64,
    /// BBR.bw_probe_wait.
    wait: Duration,
    /// BBR.cycle_stamp.
    stamp: Instant,
    /// BBR.prev_probe_too_high.
    pub(super) too_high: bool,
    /// BBR.prev_probe_precautionary.
    precautionary: bool,
    /// How many waits were drawn.
    waits: u64,
}

impl Default for Cycle {
    fn default() -> Self {
        Self {
            phase: AckPhase::Init,
            probe_sample: false,
            up_acked: 0,
            up_acked_per_inc: UNBOUNDED,
            up_rounds: 0,
            rounds_since_up: 0,
            wait: Duration::ZERO,
            stamp: Instant::ZERO,
            too_high: false,
            precautionary: false,
            waits: 0,
        }
    }
}

impl Cycle {
    /// At the start of a path, with this number of waits drawn before.
    pub(super) fn after(waits: u64) -> Self {
        Self { waits, ..Self::default() }
    }

    /// BBR.bw_probe_wait.
    #[cfg(test)]
    pub(super) fn wait(&self) -> Duration {
        self.wait
    }

    /// How many waits were drawn.
    pub(super) fn waits(&self) -> u64 {
        self.waits
    }
}

impl Bbr {
    /// EnterProbeBW(), StartProbeBW_DOWN().
    pub(super) fn start_down(&mut self, now: Instant) {
        self.signals.reset();
        self.cycle.up_acked_per_inc = UNBOUNDED;
        self.pick_probe_wait();
        self.cycle.stamp = now;
        self.cycle.phase = AckPhase::ProbeStopping;
        self.rounds.begin(self.delivered);
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL().
    pub(super) fn start_refill(&mut self) {
        self.bounds.reset_short_term();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0;
        self.cycle.precautionary = false;
        self.cycle.phase = AckPhase::Refilling;
        self.rounds.begin(self.delivered);
        self.state = State::Refill;
    }

    /// StartProbeBW_UP().
    fn start_up(&mut self, rate: f64) {
        self.cycle.phase = AckPhase::ProbeStarting;
        self.rounds.begin(self.delivered);
        self.full.reset(rate);
        self.state = State::Up;
        self.raise_slope();
    }

    /// PickProbeWait() (§5.3.3.5.3).
    fn pick_probe_wait(&mut self) {
        let mut stream = Streams::new(self.seed).stream("bbr", "probe wait").numbered(self.cycle.waits);
        self.cycle.waits += 1;
        self.cycle.rounds_since_up = stream.bits() & 1;
        self.cycle.wait = Duration::from_secs_f64(PROBE_WAIT + stream.unit());
    }

    /// UpdateProbeBWCyclePhase() (§5.3.3.6).
    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        if !self.full.reached || self.adapt_long_term_model(ack) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Refill if self.rounds.start => {
                self.cycle.probe_sample = true;
                self.start_up(ack.rate);
            }
            State::Up if self.is_time_to_go_down(ack) => {
                self.cycle.too_high = false;
                self.start_down(ack.now);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW() (§5.3.3.5.3).
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let segments = self.target_inflight() / self.smss as f64;
        now > self.cycle.stamp + self.cycle.wait || self.cycle.rounds_since_up as f64 >= segments.min(RENO_ROUNDS)
    }

    /// IsTimeToCruise().
    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        ack.in_flight <= self.inflight_with_headroom() && ack.in_flight <= self.inflight(self.max_bw.get(), 1.0)
    }

    /// IsTimeToGoDown(). The flight has reached the bound if no further segment fits below it.
    fn is_time_to_go_down(&mut self, ack: &Ack) -> bool {
        let longterm = self.bounds.inflight_longterm;
        if self.cycle.too_high && ack.prior_in_flight.saturating_add(self.smss) > longterm {
            self.cycle.precautionary = true;
            return true;
        }
        if ack.cwnd_limited && self.cwnd >= longterm {
            self.full.reset(ack.rate);
            return false;
        }
        self.full.now
    }

    /// InflightWithHeadroom().
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = ((HEADROOM * longterm as f64) as u64).max(self.smss);
        longterm.saturating_sub(headroom).max(self.min_pipe_cwnd())
    }

    /// RaiseInflightLongtermSlope().
    fn raise_slope(&mut self) {
        let growth = 1 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MOST_UP_ROUNDS);
        self.cycle.up_acked_per_inc = (self.cwnd / growth).max(self.smss);
    }

    /// ProbeInflightLongtermUpward().
    fn probe_upward(&mut self, ack: &Ack) {
        if !ack.cwnd_limited || self.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.cycle.up_acked += ack.newly_acked;
        let increments = self.cycle.up_acked / self.cycle.up_acked_per_inc;
        self.cycle.up_acked -= increments * self.cycle.up_acked_per_inc;
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.saturating_add(increments * self.smss);
        if self.rounds.start {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel(). Says whether it has decided on a transition.
    fn adapt_long_term_model(&mut self, ack: &Ack) -> bool {
        if self.cycle.phase == AckPhase::ProbeStarting && self.rounds.start {
            self.cycle.phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.phase == AckPhase::ProbeStopping && self.rounds.start {
            self.cycle.probe_sample = false;
            self.cycle.phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !ack.app_limited {
                    self.max_bw.advance();
                }
                // Precautionary probing: acceleration (§5.3.3.4.2).
                if self.cycle.precautionary && !self.cycle.too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if self.bounds.inflight_longterm < UNBOUNDED && !self.is_inflight_too_high(ack.lost, ack.tx_in_flight) {
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(ack.tx_in_flight);
            if self.state == State::Up {
                self.probe_upward(ack);
            }
        }
        false
    }
}
