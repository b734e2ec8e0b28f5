//! The control parameters: pacing rate, send quantum, congestion window (draft-ietf-ccwg-bbr §5.6).

use lasthop_net::engine::Duration;

use super::Bbr;
use super::ack::Ack;
use super::model::UNBOUNDED;
use super::state::State;

/// 1 − PacingMarginPercent / 100 (§2.5).
const PACING_MARGIN: f64 = 0.99;
/// The round-trip time before there is one (§5.6.2).
const NOMINAL_RTT: f64 = 1e-3;
/// The time that a quantum takes (§5.6.3).
const QUANTUM_SECONDS: f64 = 1e-3;
/// The largest quantum (§5.6.3: 64 KBytes; the sheet of numeric checks reads them as 64 000 B).
const MOST_QUANTUM: u64 = 64_000;

impl Bbr {
    /// InitPacingRate() (§5.6.2).
    pub(super) fn init_pacing_rate(&mut self, srtt: Duration) {
        let rtt = if srtt > Duration::ZERO { srtt.as_secs_f64() } else { NOMINAL_RTT };
        self.pacing_rate = State::Startup.pacing_gain() * self.initial_window as f64 / rtt;
    }

    /// SetPacingRateWithGain() (§5.6.2).
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * PACING_MARGIN;
        if rate > 0.0 && (self.full.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// SetSendQuantum() (§5.6.3), bytes.
    pub(super) fn send_quantum(&self) -> u64 {
        ((self.pacing_rate * QUANTUM_SECONDS) as u64).min(MOST_QUANTUM).max(2 * self.smss)
    }

    /// SetCwnd() (§5.6.4.6).
    pub(super) fn set_cwnd(&mut self, ack: &Ack) {
        let max_inflight = self.max_inflight();
        let grown = self.cwnd.saturating_add(ack.newly_acked);
        if self.full.reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || ack.delivered - self.origin < self.initial_window {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.cwnd = self.cwnd.min(self.cwnd_cap());
    }

    /// ProbeRTTCwnd() (§5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        (self.bdp_multiple(self.bw, State::ProbeRtt.cwnd_gain()) as u64).max(self.min_pipe_cwnd())
    }

    /// BoundCwndForModel() (§5.6.4.7).
    fn cwnd_cap(&self) -> u64 {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => UNBOUNDED,
        };
        cap.min(self.bounds.inflight_shortterm).max(self.min_pipe_cwnd())
    }

    /// SaveCwnd() (§5.6.4.4).
    pub(super) fn save_cwnd(&mut self) {
        let modulated = self.recovering || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// RestoreCwnd() (§5.6.4.4).
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
