//! The model of the path: rounds, bandwidth, aggregation, and what follows from them for the flight (draft-ietf-ccwg-bbr §5.5, §5.6.4.2).

use lasthop_net::engine::Instant;

use super::super::filter::Greatest;
use super::Bbr;
use super::ack::Ack;
use super::state::State;

/// A bound that is not set: Infinity.
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// ExtraAckedFilterLen, rounds (§2.12), and the length in Startup (§5.5.9).
const EXTRA_ACKED_FILTER_LEN: u64 = 10;
const EXTRA_ACKED_FILTER_LEN_IN_STARTUP: u64 = 1;
/// MinPipeCwnd, segments (§2.8).
const MIN_PIPE_CWND: u64 = 4;
/// Quanta in the offload budget of TCP (§5.5.8.1).
const QUANTA: u64 = 3;

/// Packet-timed round trips (§5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// BBR.next_round_delivered.
    next_delivered: u64,
    /// BBR.round_count.
    pub(super) count: u64,
    /// BBR.round_start: whether this acknowledgement began a round.
    pub(super) start: bool,
}

impl Rounds {
    /// UpdateRound().
    pub(super) fn update(&mut self, prior_delivered: Option<u64>, delivered: u64) {
        self.start = prior_delivered.is_some_and(|prior| prior >= self.next_delivered);
        if self.start {
            self.begin(delivered);
            self.count += 1;
        }
    }

    /// StartRound().
    pub(super) fn begin(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}

/// BBR.max_bw_filter: the greatest rate of this and of the previous cycle of ProbeBW, MaxBwFilterLen = 2 (§2.11, §5.5.5).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBw {
    previous: f64,
    current: f64,
}

impl MaxBw {
    /// BBR.max_bw, bytes/s; 0 before the first sample.
    pub(super) fn get(&self) -> f64 {
        self.previous.max(self.current)
    }

    /// UpdateMaxBw().
    pub(super) fn update(&mut self, rate: f64, app_limited: bool) {
        if rate > 0.0 && (rate >= self.get() || !app_limited) {
            self.current = self.current.max(rate);
        }
    }

    /// AdvanceMaxBwFilter() (§5.5.6). A cycle without a sample takes nothing from the memory.
    pub(super) fn advance(&mut self) {
        if self.current > 0.0 {
            self.previous = self.current;
            self.current = 0.0;
        }
    }
}

/// The degree of aggregation (§5.5.9).
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// BBR.extra_acked_interval_start.
    pub(super) interval_start: Instant,
    /// BBR.extra_acked_delivered.
    delivered: u64,
    /// BBR.extra_acked_filter, by rounds.
    filter: Greatest<u64, u64>,
}

impl Aggregation {
    /// BBR.extra_acked, bytes.
    pub(super) fn extra_acked(&self) -> u64 {
        self.filter.get().unwrap_or(0)
    }
}

impl Bbr {
    /// UpdateACKAggregation() (§5.5.9).
    pub(super) fn update_ack_aggregation(&mut self, ack: &Ack) {
        let aggregation = &mut self.aggregation;
        let mut expected = self.bw * ack.now.since(aggregation.interval_start).as_secs_f64();
        if aggregation.delivered as f64 <= expected {
            aggregation.delivered = 0;
            aggregation.interval_start = ack.now;
            expected = 0.0;
        }
        aggregation.delivered += ack.newly_acked;
        let extra = (aggregation.delivered as f64 - expected) as u64;
        let rounds = if self.full.reached { EXTRA_ACKED_FILTER_LEN } else { EXTRA_ACKED_FILTER_LEN_IN_STARTUP };
        let from = (self.rounds.count + 1).saturating_sub(rounds);
        aggregation.filter.update(self.rounds.count, extra.min(self.cwnd), from);
    }

    /// BoundBWForModel() (§5.5.10.3).
    pub(super) fn bound_bw(&mut self) {
        self.bw = self.max_bw.get().min(self.bounds.bw_shortterm);
    }

    /// BDPMultiple() (§5.6.4.2) of a bandwidth; bytes.
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        match self.delay.min_rtt {
            None => self.initial_window as f64,
            Some(min_rtt) => gain * bw * min_rtt.as_secs_f64(),
        }
    }

    /// MinPipeCwnd in bytes.
    pub(super) fn min_pipe_cwnd(&self) -> u64 {
        MIN_PIPE_CWND * self.smss
    }

    /// QuantizationBudget() (§5.6.4.2), with TCP's UpdateOffloadBudget() (§5.5.8.1).
    fn quantization_budget(&self, inflight_cap: f64) -> u64 {
        let least = (QUANTA * self.send_quantum()).max(self.min_pipe_cwnd());
        let headroom = if self.state == State::Up { 2 * self.smss } else { 0 };
        (inflight_cap as u64).max(least).saturating_add(headroom)
    }

    /// Inflight() (§5.6.4.2) at a bandwidth.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// UpdateMaxInflight() (§5.6.4.2): BBR.max_inflight.
    pub(super) fn max_inflight(&self) -> u64 {
        let bdp = self.bdp_multiple(self.bw, self.state.cwnd_gain());
        self.quantization_budget(bdp + self.aggregation.extra_acked() as f64)
    }

    /// TargetInflight() (§5.3.3.5.3).
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0).min(self.cwnd as f64)
    }
}
