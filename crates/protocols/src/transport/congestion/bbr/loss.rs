//! What losses and marks do to the model (draft-ietf-ccwg-bbr §5.5.10).

use lasthop_net::engine::Instant;

use super::super::LostSegment;
use super::Bbr;
use super::ack::Ack;
use super::model::UNBOUNDED;
use super::state::State;

/// LossThresh: the loss rate that a probe may cause (§2.8).
const LOSS_THRESH: f64 = 0.02;
/// Beta: the multiplicative decrease (§2.8).
const BETA: f64 = 0.7;

/// The delivery process of the last round, and its losses (§2.10).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    /// BBR.bw_latest, bytes/s.
    pub(super) bw_latest: f64,
    /// BBR.inflight_latest.
    pub(super) inflight_latest: u64,
    /// BBR.loss_round_delivered.
    pub(super) round_delivered: u64,
    /// BBR.loss_round_start: whether this acknowledgement ended such a round.
    pub(super) round_start: bool,
    /// BBR.is_loss_in_round.
    pub(super) loss_in_round: bool,
    /// Discontiguous ranges of the sequence space lost in this round.
    pub(super) ranges: u32,
    /// The end of the last range.
    pub(super) range_end: u64,
    /// Bytes reported as marked in this round.
    pub(super) marked: u64,
}

impl Signals {
    /// A round begins with what has been delivered.
    pub(super) fn new(delivered: u64) -> Self {
        Self { round_delivered: delivered, ..Self::default() }
    }

    /// ResetCongestionSignals().
    pub(super) fn reset(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0;
    }

    /// A segment of this place was lost.
    fn note_range(&mut self, start: u64, bytes: u64) {
        if self.ranges == 0 || start != self.range_end {
            self.ranges += 1;
        }
        self.range_end = start + bytes;
    }

    /// UpdateLatestDeliverySignals().
    pub(super) fn update(&mut self, ack: &Ack) {
        self.bw_latest = self.bw_latest.max(ack.rate);
        self.inflight_latest = self.inflight_latest.max(ack.volume);
        self.round_start = ack.prior_delivered.is_some_and(|prior| prior >= self.round_delivered);
        if self.round_start {
            self.round_delivered = ack.delivered;
        }
    }

    /// AdvanceLatestDeliverySignals().
    pub(super) fn advance(&mut self, ack: &Ack) {
        if self.round_start {
            self.bw_latest = ack.rate;
            self.inflight_latest = ack.volume;
            self.ranges = 0;
            self.marked = 0;
        }
    }
}

/// The bounds that losses set (§2.9).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// BBR.inflight_longterm.
    pub(super) inflight_longterm: u64,
    /// BBR.bw_shortterm, bytes/s.
    pub(super) bw_shortterm: f64,
    /// BBR.inflight_shortterm.
    pub(super) inflight_shortterm: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { inflight_longterm: UNBOUNDED, bw_shortterm: f64::INFINITY, inflight_shortterm: UNBOUNDED }
    }
}

impl Bounds {
    /// ResetShortTermModel().
    pub(super) fn reset_short_term(&mut self) {
        *self = Self { inflight_longterm: self.inflight_longterm, ..Self::default() };
    }

    /// InitLowerBounds(), LossLowerBounds() (§5.5.10.3).
    pub(super) fn lower(&mut self, signals: &Signals, max_bw: f64, cwnd: u64) {
        if self.bw_shortterm == f64::INFINITY {
            self.bw_shortterm = max_bw;
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = cwnd;
        }
        self.bw_shortterm = signals.bw_latest.max(BETA * self.bw_shortterm);
        self.inflight_shortterm = signals.inflight_latest.max((BETA * self.inflight_shortterm as f64) as u64);
    }
}

impl Bbr {
    /// UpdateCongestionSignals() (§5.5.10.3).
    pub(super) fn update_congestion_signals(&mut self, ack: &Ack) {
        self.rounds.update(ack.prior_delivered, ack.delivered);
        self.cycle.rounds_since_up += u64::from(self.rounds.start);
        self.max_bw.update(ack.rate, ack.app_limited);
        if !self.signals.round_start {
            return;
        }
        // AdaptLowerBoundsFromCongestion().
        if self.signals.loss_in_round && !self.state.is_probing() {
            self.bounds.lower(&self.signals, self.max_bw.get(), self.cwnd);
        }
        self.signals.loss_in_round = false;
    }

    /// Whether more is lost, or marked in this round, than a probe may cause.
    pub(super) fn is_loss_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        (lost + self.signals.marked) as f64 > tx_in_flight as f64 * LOSS_THRESH
    }

    /// IsInflightTooHigh() (§5.5.10.2), and the bursts that [`Config`](super::Config) asks for.
    pub(super) fn is_inflight_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        if !self.sack && lost > 0 {
            return true;
        }
        let bursts = self.loss_bursts <= 1 || self.signals.ranges >= self.loss_bursts;
        bursts && self.is_loss_high(lost, tx_in_flight)
    }

    /// NoteLoss() (§5.5.10.2). Of SaveStateUponLoss() only the window is left: the rest is in the snapshot.
    fn note_loss(&mut self, delivered: u64) {
        if !self.signals.loss_in_round {
            self.signals.round_delivered = delivered;
            self.save_cwnd();
        }
        self.signals.loss_in_round = true;
    }

    /// HandleLostPacket() (§5.5.10.2).
    pub(super) fn handle_lost_packet(&mut self, lost: &LostSegment) {
        self.note_loss(lost.delivered);
        self.signals.note_range(lost.start, lost.bytes);
        let (tx_in_flight, since) = (lost.record.tx_in_flight, lost.lost - lost.record.lost);
        if self.cycle.probe_sample && self.is_inflight_too_high(since, tx_in_flight) {
            let at_loss = inflight_at_loss(tx_in_flight, since + self.signals.marked, lost.bytes);
            self.handle_inflight_too_high(lost.now, at_loss as u64, lost.record.app_limited);
        }
    }

    /// The receiver reports `bytes` as marked: in the loss test of the round they count as lost ones (§3.7).
    pub(super) fn handle_marks(&mut self, ack: &Ack, bytes: u64) {
        self.note_loss(ack.delivered);
        self.signals.marked += bytes;
        if self.cycle.probe_sample && ack.tx_in_flight > 0 && self.is_inflight_too_high(ack.lost, ack.tx_in_flight) {
            self.handle_inflight_too_high(ack.now, ack.tx_in_flight, ack.app_limited);
        }
    }

    /// HandleInflightTooHigh() (§5.5.10.2).
    fn handle_inflight_too_high(&mut self, now: Instant, tx_in_flight: u64, app_limited: bool) {
        self.cycle.too_high = true;
        self.cycle.probe_sample = false;
        if !app_limited {
            self.bounds.inflight_longterm = tx_in_flight.max((self.target_inflight() * BETA) as u64);
        }
        if self.state == State::Up {
            self.start_down(now);
        }
    }
}

/// InflightAtLoss() (§5.5.10.2): the flight at which losses passed LossThresh, in a segment of `size` bytes that is one of `lost` since
/// it was sent.
pub(super) fn inflight_at_loss(tx_in_flight: u64, lost: u64, size: u64) -> f64 {
    let (inflight_prev, lost_prev) = (tx_in_flight as f64 - size as f64, lost as f64 - size as f64);
    inflight_prev + (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH)
}
