//! BBRv1 (tcp_bbr.c): a model of the path, its largest delivery rate in ten round trips and its least round-trip time in ten seconds, sets
//! pacing and window. Not the draft's BBRv3, which the standard's TCP has.
//!
//! Rates are in segments per microsecond, times 2^24; gains are times 2^8. Where the two tests of the long-term rate are met, a policer is
//! assumed ([`policer`](super::policer)).

use lasthop_net::engine::Stream;
use lasthop_net::net::Probe;

use super::super::clock::HZ;
use super::super::minmax::Max;
use super::super::rate::Sample;
use super::super::tcp::PACING_SHIFT;
use super::super::tcp::{CaState, Tcp};
use super::aggregation::Aggregation;
use super::bandwidth::{BW_SCALE, SCALE, bytes_per_sec};
use super::policer::Policer;

/// `BBR_UNIT`.
const UNIT: u64 = 1 << SCALE;
/// `bbr_high_gain`: 2/ln 2.
const HIGH_GAIN: u64 = UNIT * 2_885 / 1_000 + 1;
/// `bbr_drain_gain`.
const DRAIN_GAIN: u64 = UNIT * 1_000 / 2_885;
/// `bbr_cwnd_gain`.
const CWND_GAIN: u64 = UNIT * 2;
/// `bbr_pacing_gain`: probe, drain, and six phases at the estimate.
const PACING_GAIN: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// `bbr_cycle_rand`: in how many phases a cycle may begin.
const CYCLE_RAND: u64 = 7;
/// `bbr_bw_rtts`: window of the rate, round trips.
const BW_ROUNDS: u64 = 10;
/// `bbr_min_rtt_win_sec`.
const MIN_RTT_WINDOW: u64 = 10 * HZ;
/// `bbr_probe_rtt_mode_ms`, ticks.
const PROBE_RTT: u64 = HZ / 5;
/// `bbr_cwnd_min_target`.
const LEAST_CWND: u64 = 4;
/// `bbr_full_bw_thresh` and `bbr_full_bw_cnt`: by how much the rate has to grow in three round trips.
const FULL_BW: (u64, u32) = (UNIT * 5 / 4, 3);
/// `bbr_min_tso_rate`, bytes a second.
const MIN_TSO_RATE: u64 = 1_200_000 / 8;
/// `GSO_LEGACY_MAX_SIZE` less one and `MAX_TCP_HEADER`.
const GSO_MAX_SIZE: u64 = 65_536 - 1 - 320;
/// `TCP_INIT_CWND`.
const INITIAL_CWND: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The controller.
#[derive(Debug)]
pub struct Bbr {
    stream: Stream,
    mode: Mode,
    /// The largest delivery rate.
    bw: Max,
    /// Round trips so far (`rtt_cnt`), and how much will have been delivered when this one ends.
    rounds: u64,
    next_rtt_delivered: u64,
    round_start: bool,
    min_rtt_us: Option<u64>,
    min_rtt_stamp: u64,
    probe_rtt_done: Option<u64>,
    probe_rtt_round_done: bool,
    prior_cwnd: u64,
    prev_state: CaState,
    packet_conservation: bool,
    idle_restart: bool,
    has_seen_rtt: bool,
    full_bw_reached: bool,
    full_bw: u64,
    full_bw_cnt: u32,
    cycle: usize,
    cycle_us: u64,
    pacing_gain: u64,
    cwnd_gain: u64,
    policer: Policer,
    aggregation: Aggregation,
}

/// `bbr_min_tso_segs`.
pub fn min_tso_segs(pacing_rate: u64) -> u64 {
    if pacing_rate < MIN_TSO_RATE { 1 } else { 2 }
}

impl Bbr {
    /// At the start of a connection.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            mode: Mode::Startup,
            bw: Max::default(),
            rounds: 0,
            next_rtt_delivered: 0,
            round_start: false,
            min_rtt_us: None,
            min_rtt_stamp: 0,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            prior_cwnd: 0,
            prev_state: CaState::Open,
            packet_conservation: false,
            idle_restart: false,
            has_seen_rtt: false,
            full_bw_reached: false,
            full_bw: 0,
            full_bw_cnt: 0,
            cycle: 0,
            cycle_us: 0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
        }
    }

    /// `bbr_init`.
    pub fn begin(&mut self, tcp: &mut Tcp) {
        tcp.snd_ssthresh = u64::MAX;
        tcp.paces = true;
        self.min_rtt_us = tcp.rtt.min();
        self.min_rtt_stamp = tcp.jiffies();
        self.pace_from_rtt(tcp);
        self.policer.reset(tcp);
        self.aggregation.restart(tcp.now_us);
    }

    /// The rate in use: the largest, or a policer's (`bbr_bw`).
    fn bw(&self) -> u64 {
        self.policer.bw().unwrap_or(self.bw.get())
    }

    /// The initial window in a round-trip time, or in a millisecond before the first sample (`bbr_init_pacing_rate_from_rtt`).
    fn pace_from_rtt(&mut self, tcp: &mut Tcp) {
        let rtt_us = if tcp.rtt.srtt > 0 { (tcp.rtt.srtt >> 3).max(1) } else { 1_000 };
        self.has_seen_rtt |= tcp.rtt.srtt > 0;
        let bw = (tcp.snd_cwnd << BW_SCALE) / rtt_us;
        tcp.pacing_rate = bytes_per_sec(tcp.mss, bw, HIGH_GAIN);
    }

    /// `bbr_set_pacing_rate`.
    fn pace(&mut self, tcp: &mut Tcp, bw: u64, gain: u64) {
        let rate = bytes_per_sec(tcp.mss, bw, gain);
        if !self.has_seen_rtt && tcp.rtt.srtt > 0 {
            self.pace_from_rtt(tcp);
        }
        if self.full_bw_reached || rate > tcp.pacing_rate {
            tcp.pacing_rate = rate;
        }
    }

    /// `bbr_main`.
    pub fn on_sample(&mut self, tcp: &mut Tcp, sample: &Sample) {
        self.update_bw(tcp, sample);
        let (bw, full) = (self.bw(), self.full_bw_reached);
        self.aggregation.update(tcp, sample, bw, self.round_start);
        if self.mode == Mode::ProbeBw && self.phase_is_over(tcp, sample) {
            self.next_phase(tcp);
        }
        if !full && self.round_start && !sample.app_limited {
            self.check_full_pipe();
        }
        self.check_drain(tcp);
        self.update_min_rtt(tcp, sample);
        self.update_gains();
        let bw = self.bw();
        self.pace(tcp, bw, self.pacing_gain);
        self.set_cwnd(tcp, sample, bw);
    }

    /// `bbr_update_bw`.
    fn update_bw(&mut self, tcp: &mut Tcp, sample: &Sample) {
        self.round_start = false;
        let (Some(delivered), Some(interval)) = (sample.delivered, sample.interval_us.filter(|us| *us > 0)) else {
            return;
        };
        if sample.prior_delivered() >= self.next_rtt_delivered {
            self.next_rtt_delivered = tcp.delivery.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.sample_policer(tcp, sample);
        let bw = (delivered << BW_SCALE) / interval;
        if !sample.app_limited || bw >= self.bw.get() {
            self.bw.update(BW_ROUNDS, self.rounds, bw);
        }
    }

    /// `bbr_lt_bw_sampling`.
    fn sample_policer(&mut self, tcp: &Tcp, sample: &Sample) {
        let probing = self.mode == Mode::ProbeBw;
        if self.policer.on_sample(tcp, sample.losses, sample.app_limited, self.round_start, probing) {
            self.begin_cycle(tcp);
        }
        if self.policer.has_just_begun() {
            self.pacing_gain = UNIT;
        }
    }

    /// The product of rate, least round-trip time and gain, rounded up (`bbr_bdp`).
    fn bdp(&self, bw: u64, gain: u64) -> u64 {
        let Some(min_rtt) = self.min_rtt_us else { return INITIAL_CWND };
        let bits = (u128::from(bw) * u128::from(min_rtt) * u128::from(gain)) >> SCALE;
        u64::try_from((bits + (1 << BW_SCALE) - 1) >> BW_SCALE).unwrap_or(u64::MAX >> 8)
    }

    /// `bbr_tso_segs_goal`.
    fn burst(tcp: &Tcp) -> u64 {
        let bytes = (tcp.pacing_rate >> PACING_SHIFT).min(GSO_MAX_SIZE);
        (bytes / tcp.mss).max(min_tso_segs(tcp.pacing_rate)).min(0x7f)
    }

    /// Room for what hosts hold, an even number (`bbr_quantization_budget`).
    fn with_budget(&self, tcp: &Tcp, cwnd: u64) -> u64 {
        let cwnd = (cwnd + 3 * Self::burst(tcp) + 1) & !1;
        cwnd + if self.mode == Mode::ProbeBw && self.cycle == 0 { 2 } else { 0 }
    }

    /// `bbr_inflight`.
    fn inflight(&self, tcp: &Tcp, gain: u64) -> u64 {
        self.with_budget(tcp, self.bdp(self.bw.get(), gain))
    }

    /// How many segments will be in the network when the next may leave (`bbr_packets_in_net_at_edt`).
    fn in_network(&self, tcp: &Tcp, in_flight: u64) -> u64 {
        let ahead_us = tcp.wstamp_ns.saturating_sub(tcp.now.as_nanos()) / 1_000;
        let delivered = (u128::from(self.bw()) * u128::from(ahead_us)) >> BW_SCALE;
        let more = if self.pacing_gain > UNIT { Self::burst(tcp) } else { 0 };
        (in_flight + more).saturating_sub(u64::try_from(delivered).unwrap_or(u64::MAX))
    }

    /// `bbr_is_next_cycle_phase`.
    fn phase_is_over(&self, tcp: &Tcp, sample: &Sample) -> bool {
        let passed = tcp.delivery.delivered_us.saturating_sub(self.cycle_us);
        let is_full = self.min_rtt_us.is_some_and(|min| passed > min);
        if self.pacing_gain == UNIT {
            return is_full;
        }
        let in_network = self.in_network(tcp, sample.prior_in_flight);
        if self.pacing_gain > UNIT {
            return is_full && (sample.losses > 0 || in_network >= self.inflight(tcp, self.pacing_gain));
        }
        is_full || in_network <= self.inflight(tcp, UNIT)
    }

    /// `bbr_advance_cycle_phase`.
    fn next_phase(&mut self, tcp: &Tcp) {
        self.cycle = (self.cycle + 1) % PACING_GAIN.len();
        self.cycle_us = tcp.delivery.delivered_us;
    }

    /// `bbr_reset_probe_bw_mode`: any phase but the drain may come first.
    fn begin_cycle(&mut self, tcp: &Tcp) {
        self.mode = Mode::ProbeBw;
        let drawn = ((u128::from(self.stream.bits()) * u128::from(CYCLE_RAND)) >> 64) as usize;
        self.cycle = PACING_GAIN.len() - 1 - drawn;
        self.next_phase(tcp);
    }

    /// `bbr_check_full_bw_reached`.
    fn check_full_pipe(&mut self) {
        let (growth, rounds) = FULL_BW;
        if self.bw.get() >= (self.full_bw * growth) >> SCALE {
            self.full_bw = self.bw.get();
            self.full_bw_cnt = 0;
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= rounds;
    }

    /// `bbr_check_drain`.
    fn check_drain(&mut self, tcp: &mut Tcp) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            tcp.snd_ssthresh = self.inflight(tcp, UNIT);
        }
        if self.mode == Mode::Drain && self.in_network(tcp, tcp.in_flight()) <= self.inflight(tcp, UNIT) {
            self.begin_cycle(tcp);
        }
    }

    /// `bbr_update_min_rtt`.
    fn update_min_rtt(&mut self, tcp: &mut Tcp, sample: &Sample) {
        let now = tcp.jiffies();
        let expired = now > self.min_rtt_stamp + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rtt_us
            && (self.min_rtt_us.is_none_or(|min| rtt < min) || (expired && !sample.ack_delayed))
        {
            self.min_rtt_us = Some(rtt);
            self.min_rtt_stamp = now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(tcp);
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            // Samples of this mode are low by intent.
            let in_flight = tcp.in_flight();
            tcp.delivery.on_app_limited(in_flight);
            if self.probe_rtt_done.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(tcp);
                }
            } else if in_flight <= LEAST_CWND {
                self.probe_rtt_done = Some(now + PROBE_RTT);
                self.probe_rtt_round_done = false;
                self.next_rtt_delivered = tcp.delivery.delivered;
            }
        }
        if sample.delivered.is_some_and(|n| n > 0) {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, tcp: &mut Tcp) {
        let now = tcp.jiffies();
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt_stamp = now;
        tcp.snd_cwnd = tcp.snd_cwnd.max(self.prior_cwnd);
        if self.full_bw_reached {
            self.begin_cycle(tcp);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_update_gains`.
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.bw().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (PACING_GAIN[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// `bbr_save_cwnd`: the last window before losses and probes.
    fn save_cwnd(&mut self, tcp: &Tcp) {
        if self.prev_state < CaState::Recovery && self.mode != Mode::ProbeRtt {
            self.prior_cwnd = tcp.snd_cwnd;
        } else {
            self.prior_cwnd = self.prior_cwnd.max(tcp.snd_cwnd);
        }
    }

    /// `bbr_set_cwnd`.
    fn set_cwnd(&mut self, tcp: &mut Tcp, sample: &Sample, bw: u64) {
        if sample.acked_sacked > 0 {
            tcp.snd_cwnd = self.next_cwnd(tcp, sample, bw);
        }
        if self.mode == Mode::ProbeRtt {
            tcp.snd_cwnd = tcp.snd_cwnd.min(LEAST_CWND);
        }
    }

    fn next_cwnd(&mut self, tcp: &Tcp, sample: &Sample, bw: u64) -> u64 {
        let acked = sample.acked_sacked;
        let cwnd = match self.recover_or_restore(tcp, sample) {
            (cwnd, true) => return cwnd,
            (cwnd, false) => cwnd,
        };
        let mut target = self.bdp(bw, self.cwnd_gain);
        if self.full_bw_reached {
            target += self.aggregation.cwnd(bw);
        }
        let target = self.with_budget(tcp, target);
        let cwnd = if self.full_bw_reached {
            (cwnd + acked).min(target)
        } else if cwnd < target || tcp.delivery.delivered < INITIAL_CWND {
            cwnd + acked
        } else {
            cwnd
        };
        cwnd.max(LEAST_CWND)
    }

    /// Packet conservation in the first round trip of a recovery (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover_or_restore(&mut self, tcp: &Tcp, sample: &Sample) -> (u64, bool) {
        let (before, state) = (self.prev_state, tcp.ca_state);
        let acked = sample.acked_sacked;
        let mut cwnd = tcp.snd_cwnd;
        if sample.losses > 0 {
            cwnd = cwnd.saturating_sub(sample.losses).max(1);
        }
        if state == CaState::Recovery && before != CaState::Recovery {
            self.packet_conservation = true;
            self.next_rtt_delivered = tcp.delivery.delivered;
            cwnd = tcp.in_flight() + acked;
        } else if before >= CaState::Recovery && state < CaState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.prev_state = state;
        if self.packet_conservation { (cwnd.max(tcp.in_flight() + acked), true) } else { (cwnd, false) }
    }

    /// `bbr_ssthresh`.
    pub fn ssthresh(&mut self, tcp: &Tcp) -> u64 {
        self.save_cwnd(tcp);
        tcp.snd_ssthresh
    }

    /// `bbr_undo_cwnd`.
    pub fn undo(&mut self, tcp: &Tcp) -> u64 {
        self.full_bw = 0;
        self.full_bw_cnt = 0;
        self.policer.reset(tcp);
        tcp.snd_cwnd
    }

    /// `bbr_set_state`.
    pub fn on_timeout(&mut self, tcp: &Tcp) {
        self.prev_state = CaState::Loss;
        self.full_bw = 0;
        self.round_start = true;
        self.sample_policer(tcp, &Sample::of_timeout());
    }

    /// `bbr_cwnd_event`.
    pub fn on_start(&mut self, tcp: &mut Tcp) {
        if tcp.delivery.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(tcp.now_us);
        if self.mode == Mode::ProbeBw {
            let bw = self.bw();
            self.pace(tcp, bw, UNIT);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(tcp);
        }
    }

    /// Shows its values.
    pub fn sample(&self, probe: &mut dyn Probe) {
        // Segments per microsecond on a scale, as segments a second.
        probe.value("bw_packets_per_s", self.bw() as f64 * 1e6 / f64::from(1 << BW_SCALE));
        if let Some(min) = self.min_rtt_us {
            probe.value("min_rtt_ms", min as f64 / 1e3);
        }
    }
}
