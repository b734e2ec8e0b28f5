//! Prague for TCP, as Linux has it (L4STeam's `tcp_prague` 0.6): a window that shrinks by half of the share of marked data (as DCTCP's),
//! grows by one segment in a round trip, and is sent at an even pace. It is an L4S controller (RFC 9331 §4): ECT(1), counted marks.
//!
//! Its arithmetic is Linux's, in integers. Linux counts segments where this counts bytes, since AccECN's option counts them (RFC 9768 §3.2.3):
//! for full segments that is the same. Two things differ. In slow start the fractional window goes along, as in later versions of the
//! module: 0.6 leaves it at the initial window. A cut ends slow start at once, and after a loss the threshold is the new window
//! (RFC 5681 §3.1): Linux takes the threshold down only as the window follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::Probe;

use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, CongestionKind, EndpointContext, Undo, WindowRule,
};

/// The module's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Flows with a round-trip time below this one grow as if they had it, so that they get the same rate (RFC 9331 §4.3). Zero
    /// switches that off. Default: 25 ms (`prague_rtt_target`).
    pub rtt_target: Duration,
    /// The number of round trips after slow start in which a flow still grows by its own round-trip time. Default: 500
    /// (`prague_rtt_transition`).
    pub rtt_transition: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { rtt_target: Duration::from_millis(25), rtt_transition: 500 }
    }
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Prague::new(*self, seat))
    }

    fn is_l4s(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        if self.rtt_target > MAX_SCALED_RTT {
            let ms = self.rtt_target.as_secs_f64() * 1e3;
            return Err(Fault::new("rtt_target", format!("rtt_target is {ms} ms"), "expected at most 100 ms, or zero"));
        }
        Ok(())
    }
}

/// The window, in segments; the names are the module's.
#[derive(Clone, Debug)]
pub struct Prague {
    /// `rtt_target` in units of 2⁷ µs, and `rtt_transition_delay`.
    rtt_target: u64,
    rtt_transition: u32,
    smss: u64,
    /// A full segment on the wire.
    mtu: u64,
    /// `snd_cwnd`: the window in use. It follows the fractional one by a segment on each acknowledgement.
    cwnd: u64,
    ssthresh: u64,
    /// `frac_cwnd`: the fractional window, 20 bits behind the point.
    frac_cwnd: u64,
    /// `upscaled_alpha`: alpha, 20 bits behind the point, times 16.
    upscaled_alpha: u64,
    /// When alpha was computed last (`alpha_stamp`).
    alpha_at: Instant,
    /// Whether a mark has come: until then alpha says nothing.
    saw_ce: bool,
    /// `ai_ack_increase`: the growth in a round trip, in segments with 20 bits behind the point.
    increase: u64,
    /// `srtt_us`: the smoothed round-trip time in µs times 8; 0 before the first sample, and after a change of the path.
    srtt: u64,
    /// Bytes delivered, and bytes that came marked.
    delivered: u64,
    marked: u64,
    round: Round,
    /// Round trips since slow start.
    rounds: u32,
    /// CWR: until this amount is delivered marks cause no other cut.
    cwr_to: Option<u64>,
    /// When the last cut for marks was (`cwr_stamp`).
    cut_at: Option<Instant>,
    /// In a loss (`in_loss`): at least until this amount is delivered.
    loss_to: Option<u64>,
    /// How often a mark or a loss has lowered the fractional window.
    cuts: u64,
    pacing: Option<BitRate>,
}

/// A round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// It is over when this amount is delivered.
    end: u64,
    /// Bytes delivered and marked when it began.
    delivered: u64,
    marked: u64,
}

impl Prague {
    /// At the start of a connection.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        let smss = u64::from(seat.smss);
        let cwnd = (seat.initial_window / smss).max(1);
        Self {
            rtt_target: micros(config.rtt_target) >> RTT_UNIT,
            rtt_transition: config.rtt_transition,
            smss,
            mtu: smss + u64::from(seat.header) + u64::from(seat.options),
            cwnd,
            ssthresh: if seat.initial_ssthresh == u64::MAX { u64::MAX } else { seat.initial_ssthresh / smss },
            frac_cwnd: cwnd << CWND_UNIT,
            upscaled_alpha: MAX_ALPHA << SHIFT_G,
            alpha_at: Instant::ZERO,
            saw_ce: false,
            increase: ONE_CWND,
            srtt: 0,
            delivered: 0,
            marked: 0,
            round: Round::default(),
            rounds: 0,
            cwr_to: None,
            cut_at: None,
            loss_to: None,
            cuts: 0,
            pacing: None,
        }
    }

    /// The fractional window, rounded up.
    fn whole(&self) -> u64 {
        self.frac_cwnd.div_ceil(ONE_CWND).max(1)
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether the flow is old enough to count as one with the target's round-trip time.
    fn is_rtt_independent(&self) -> bool {
        self.rtt_target > 0 && !self.in_slow_start() && self.rounds >= self.rtt_transition
    }

    /// Whether it does not count so, or the target's round-trip time has passed since `then`.
    fn target_passed(&self, now: Instant, then: Instant) -> bool {
        !self.is_rtt_independent() || micros(now.since(then)) >= self.rtt_target << RTT_UNIT
    }

    /// The smoothed round-trip time as Linux computes it: from each sample, in whole µs.
    fn on_rtt(&mut self, rtt: Duration) {
        let sample = micros(rtt);
        self.srtt = if self.srtt == 0 { sample << 3 } else { self.srtt - (self.srtt >> 3) + sample }.max(1);
    }

    /// The growth in a round trip: one segment, or less for a short one, so that all grow by a segment in the target's and the rates
    /// are the same.
    fn set_increase(&mut self) {
        let rtt = (self.srtt >> 3) >> RTT_UNIT;
        let scaled = self.rounds >= self.rtt_transition && rtt > 0 && rtt < self.rtt_target;
        let square = self.rtt_target * self.rtt_target;
        self.increase = if scaled { ((rtt << CWND_UNIT) * rtt + (square >> 1)) / square } else { ONE_CWND };
    }

    /// Marks have come, for the first time in a round trip.
    fn enter_cwr(&mut self, now: Instant, in_flight: u64) {
        self.cwr_to = Some(self.delivered + in_flight);
        if self.cut_at.is_some_and(|last| !self.target_passed(now, last)) {
            return;
        }
        self.cut_at = Some(now);
        let alpha = u128::from(self.upscaled_alpha >> SHIFT_G);
        let reduction = (alpha * u128::from(self.frac_cwnd) + u128::from(MAX_ALPHA)) >> (ALPHA_BITS + 1);
        self.frac_cwnd -= reduction as u64;
        self.cuts += u64::from(reduction > 0);
        self.ssthresh = self.ssthresh.min(self.cwnd);
    }

    /// A loss: the answer of classic congestion control (RFC 9331 §4.3).
    fn enter_loss(&mut self, lasts_to: u64) {
        self.loss_to = Some(lasts_to);
        self.frac_cwnd -= self.frac_cwnd >> 1;
        self.cuts += 1;
        self.ssthresh = self.whole().max(MIN_CWND);
    }

    /// Slow start on `acked` bytes; says what of them is beyond the threshold.
    fn slow_start(&mut self, acked: u64) -> u64 {
        let base = if self.frac_cwnd >> CWND_UNIT == self.cwnd { self.frac_cwnd } else { self.cwnd << CWND_UNIT };
        let grown = base + (acked << CWND_UNIT) / self.smss;
        let most = self.ssthresh.saturating_mul(ONE_CWND);
        self.frac_cwnd = grown.min(most);
        self.cwnd = self.frac_cwnd >> CWND_UNIT;
        ((grown - self.frac_cwnd) * self.smss) >> CWND_UNIT
    }

    /// Growth on `acked` bytes that came unmarked.
    fn grow(&mut self, mut acked: u64) {
        if self.in_slow_start() {
            acked = self.slow_start(acked);
            if acked == 0 {
                self.set_increase();
                return;
            }
        }
        let window = self.whole();
        let increase = (acked * self.increase / self.smss + (window >> 1)) / window;
        self.frac_cwnd += increase.max(acked / self.smss);
        self.follow();
    }

    /// The window in use takes a step towards the fractional one.
    fn follow(&mut self) {
        let window = self.whole();
        if self.cwnd > window && self.cwnd > MIN_CWND {
            self.cwnd -= 1;
            self.ssthresh = self.cwnd;
            self.set_increase();
        } else if self.cwnd < window {
            self.cwnd += 1;
            self.set_increase();
        }
    }

    /// A round trip is over.
    fn next_round(&mut self, now: Instant, in_flight: u64) {
        if self.saw_ce {
            let Round { delivered, marked, .. } = self.round;
            let share = ((self.marked - marked) << ALPHA_BITS) / (self.delivered - delivered).max(1);
            let alpha = self.upscaled_alpha - (self.upscaled_alpha >> SHIFT_G) + share;
            self.upscaled_alpha = alpha.min(MAX_ALPHA << SHIFT_G);
            self.alpha_at = now;
        }
        self.round = Round { end: self.delivered + in_flight, delivered: self.delivered, marked: self.marked };
        if !self.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        self.set_increase();
    }

    /// The fractional window in a round trip; twice that early in slow start.
    fn pace(&mut self) {
        if self.srtt == 0 {
            return;
        }
        let twice = u64::from(self.cwnd < self.ssthresh / 2);
        let one = ((8_000_000 * self.mtu) << twice) / self.srtt;
        let rate = (u128::from(one) * u128::from(self.frac_cwnd) + u128::from(ONE_CWND >> 1)) >> CWND_UNIT;
        let rate = u64::try_from(rate).unwrap_or(u64::MAX).max(LEAST_RATE);
        self.pacing = Some(BitRate::from_bps(rate.saturating_mul(8)));
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, sample: &AckSample) {
        // After an undo the count lags behind.
        let fresh = (sample.delivered - self.delivered).min(sample.acked + sample.sacked);
        self.delivered = sample.delivered;
        self.marked += sample.ce;
        if let Some(rtt) = sample.rtt {
            self.on_rtt(rtt);
        }
        if !sample.recovering && self.loss_to.is_some_and(|to| self.delivered >= to) {
            self.loss_to = None;
        }
        if self.cwr_to.is_some_and(|to| self.delivered > to) {
            self.cwr_to = None;
        }
        if sample.ce > 0 {
            self.saw_ce = true;
            if self.cwr_to.is_none() && self.loss_to.is_none() {
                self.enter_cwr(sample.now, sample.in_flight);
            }
        }
        let unmarked = fresh.saturating_sub(sample.ce);
        // Below the integer window the fraction holds the sender back, by its pace: that window then is never full.
        let in_use = sample.window_limited || self.frac_cwnd < self.cwnd * ONE_CWND;
        if unmarked > 0 && self.loss_to.is_none() && !sample.recovering && in_use {
            self.grow(unmarked);
        } else {
            self.follow();
        }
        if self.delivered >= self.round.end && self.target_passed(sample.now, self.alpha_at) {
            self.next_round(sample.now, sample.in_flight);
        }
        self.pace();
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        // Marks are counted by acknowledgements.
        if event.kind == CongestionKind::Loss && self.loss_to.is_none() {
            self.enter_loss(self.delivered);
        }
    }

    fn on_timeout(&mut self, _now: Instant, flight: u64, again: bool) {
        // Once for all losses of a window, as Linux does.
        let lasts_to = self.delivered + flight;
        if again || self.loss_to.is_some() {
            self.loss_to = Some(lasts_to);
        } else {
            self.enter_loss(lasts_to);
        }
        self.cwnd = 1;
        self.pace();
    }

    fn window(&self) -> u64 {
        self.cwnd * self.smss
    }

    fn cuts(&self) -> Option<u64> {
        Some(self.cuts)
    }

    fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh < u64::MAX).then(|| self.ssthresh.saturating_mul(self.smss))
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        let Some(window) = rule.applied(self.window()) else { return };
        self.cwnd = (window / self.smss).max(1);
        // Where the flow begins anew the fractional window does too; else it is where the window comes back to.
        if matches!(rule, WindowRule::Start(_)) {
            self.frac_cwnd = self.frac_cwnd.min(self.cwnd << CWND_UNIT);
        }
        self.pace();
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        // The fractional window and alpha are as they were; the window comes back to the former by a segment on each acknowledgement.
        self.cwnd = (undo.window / self.smss).max(1);
        self.ssthresh = self.ssthresh.max(undo.flight / self.smss);
    }

    fn on_path_change(&mut self, _now: Instant) {
        // The next sample is of the new path. Until then the pace is kept, and alpha, which is a share and no delay, stays.
        self.srtt = 0;
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("alpha", (self.upscaled_alpha >> SHIFT_G) as f64 / MAX_ALPHA as f64);
        probe.value("fractional_cwnd_packets", self.frac_cwnd as f64 / ONE_CWND as f64);
    }
}

fn micros(time: Duration) -> u64 {
    time.as_nanos() / 1_000
}

// The module's constants.

/// `MIN_CWND`: the least window that a cut leaves.
const MIN_CWND: u64 = 2;
/// `PRAGUE_ALPHA_BITS`.
const ALPHA_BITS: u32 = 20;
/// `PRAGUE_MAX_ALPHA`: all data are marked.
const MAX_ALPHA: u64 = 1 << ALPHA_BITS;
/// `PRAGUE_SHIFT_G`: alpha's gain is 2⁻⁴.
const SHIFT_G: u32 = 4;
/// `CWND_UNIT`.
const CWND_UNIT: u32 = 20;
/// `ONE_CWND`: one segment.
const ONE_CWND: u64 = 1 << CWND_UNIT;
/// `RTT_UNIT`: round-trip times are compared in units of 2⁷ µs.
const RTT_UNIT: u32 = 7;
/// `MAX_SCALED_RTT`.
const MAX_SCALED_RTT: Duration = Duration::from_millis(100);
/// The least pace, bytes/s: the module has none, and a flow whose data are all marked for long would stand still. It is
/// the least rate of the same authors' `udp_prague`.
const LEAST_RATE: u64 = 12_500;

#[cfg(test)]
mod tests;
