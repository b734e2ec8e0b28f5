//! What all of ns-2's TCP variants share (`TcpAgent`, ns-2.35 `tcp/tcp.cc`): numbering in
//! packets, the window, the timer, the timed packet, cuts, and sending.
//!
//! It does nothing of its own accord: a variant calls it at each acknowledgement and timeout.
//! What it wants done it puts into `out`, which [`super::sender`] hands on.
//!
//! More than 500 lines: it follows the functions of `tcp.cc` one by one, so that the two can be read side by side.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, FloatTime, Instant, Stream};
use lasthop_net::net::{EndpointContext, Hears, Histogram, Notice, SackBlocks, TcpHeader, Variable};
use lasthop_protocols::transport::tcp::ground_truth::GroundTruth;

use super::rtt::Estimator;
use super::settings::Settings;

/// Duplicate acknowledgements that mean a loss (`numdupacks_`).
pub const DUPLICATES: i64 = 3;

/// An acknowledgement as the sender reads it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The highest packet that the receiver has in order; −1 before the first.
    pub seq: i64,
    /// SACK blocks, [start, end).
    pub sack: SackBlocks,
    /// XCP: what the routers granted, bytes/s.
    pub feedback: Option<f64>,
    /// The time stamp that comes back.
    pub ts_echo: Instant,
    /// ECN echo.
    pub ece: bool,
}

impl Ack {
    /// The SACK blocks as packet numbers.
    pub fn blocks(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.sack.iter(self.seq as u64).map(|(start, end)| (start as i64, end as i64))
    }
}

/// The last action on the window (`last_cwnd_action_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastAction {
    None,
    DupAck,
    Timeout,
    Ecn,
    /// A recovery that duplicates had begun has ended.
    Exited,
}

/// Where a cut leaves `cwnd_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutTo {
    Half,
    One,
    /// `windowInit_`.
    Initial,
}

/// Whether the resend pointer goes back to the first unacknowledged packet (`mild`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    GoBack,
    Stay,
}

/// The pending actions, in order.
#[derive(Clone, Copy, Debug)]
pub enum Out {
    /// A packet, with the window at which it leaves.
    Send {
        seq: i64,
        number: u64,
        cwr: bool,
        window: i64,
    },
    Observe(Variable, f64),
}

/// Totals over all connections of the sender.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// First transmissions, the SYN included.
    pub sent: u64,
    /// Payload bytes in them.
    pub sent_bytes: u64,
    pub resent: u64,
    pub resent_bytes: u64,
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Expiries of the timer with data outstanding.
    pub timeouts: u64,
    /// Expiries without.
    pub idle_timeouts: u64,
    pub fast_retransmits: u64,
    /// Calls of ns-2's `slowdown` but those of an idle sender (`ncwndcuts1_`).
    pub cuts: u64,
    /// Acknowledgements of an earlier connection.
    pub old: u64,
    /// Round-trip-time samples, ns.
    pub rtt: Histogram,
}

/// The state and the arithmetic that variants share.
pub struct TcpAgent {
    pub settings: Settings,
    /// The present, set before each input.
    pub now: Instant,
    /// The present by ns-2's clock, if that is followed.
    clock: FloatTime,
    /// Whether it is.
    follows_clock: bool,
    /// The next packet to send (`t_seqno_`).
    pub next: i64,
    /// One past the last packet that the source has handed over (`curseq_`).
    pub end: i64,
    /// The highest packet acknowledged; moves on during recovery (`highest_ack_`).
    pub highest_ack: i64,
    /// The same, but Sack1 holds it during recovery (`last_ack_`).
    pub last_ack: i64,
    /// The highest packet sent (`maxseq_`).
    pub max_seq: i64,
    /// The highest packet sent when recovery, or a timeout, began (`recover_`).
    pub recover: i64,
    pub dupacks: i64,
    /// Reno's inflation of the window (`dupwnd_`).
    pub inflation: i64,
    cwnd: f64,
    ssthresh: i64,
    /// `window_`, or less if an acknowledgement says so.
    pub window: i64,
    initial_window: f64,
    pub last_action: LastAction,
    pub rtt: Estimator,
    /// Whether a packet is timed (`rtt_active_`).
    pub timing: bool,
    timed_seq: i64,
    timed_at: Stamp,
    /// When packets that carry time stamps were sent, where ns-2's clock is followed, each time once, from the last one echoed on.
    stamps: VecDeque<Stamp>,
    /// When the retransmission timer expires.
    pub rtx_at: Option<Instant>,
    /// The same by ns-2's clock, if that is followed.
    pub rtx_float: FloatTime,
    /// When a random delay before sending ends (`delsnd_timer_`).
    pub delayed_until: Option<Instant>,
    /// When packet 0 was about to be sent last (`firstsent_`).
    pub first_sent: FloatTime,
    /// `nrexmit_`, since the connection was opened.
    pub rexmits: u64,
    ecn: EcnState,
    /// Packets not yet acknowledged whose payload is not a whole segment, and the bytes that
    /// they lack.
    short: VecDeque<(i64, u64)>,
    /// Payload bytes of this connection sent for the first time.
    sent_bytes: u64,
    /// Payload bytes of this connection acknowledged.
    acked_bytes: u64,
    /// Running number of the next transmission, less one.
    pub number: u64,
    pub truth: GroundTruth,
    pub counts: Counts,
    pub out: VecDeque<Out>,
    observed: bool,
    hears: Hears,
    /// The parts of `sent_bytes` and `acked_bytes` that were reported to the source.
    told: [u64; 2],
    stream: Stream,
}

/// A point in time by both clocks; by ns-2's it is the nearest double if that is not followed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    pub at: Instant,
    pub float: FloatTime,
}

/// ECN as ns-2 has it (`ect_`, `ecn_burst_`, `ecn_backoff_`, `cong_action_`).
#[derive(Clone, Copy, Debug, Default)]
struct EcnState {
    /// The receiver understands it.
    agreed: bool,
    burst: bool,
    /// The window is one packet and the timer is backed off instead.
    backoff: bool,
    /// The next packet says that the window has been reduced.
    reduced: bool,
}

impl TcpAgent {
    pub fn new(settings: Settings, seat: &EndpointContext, mut stream: Stream) -> Self {
        let boot_time = settings.boot_time.unwrap_or_else(|| stream.unit() * settings.tick);
        let rtt = Estimator::new(&settings, boot_time);
        Self {
            now: Instant::ZERO,
            clock: FloatTime::default(),
            follows_clock: false,
            next: 0,
            end: 0,
            highest_ack: -1,
            last_ack: -1,
            max_seq: -1,
            recover: 0,
            dupacks: 0,
            inflation: 0,
            cwnd: starting_window(&settings),
            ssthresh: settings.initial_ssthresh,
            window: settings.window,
            initial_window: settings.initial_window,
            last_action: LastAction::None,
            rtt,
            timing: false,
            timed_seq: -1,
            timed_at: Stamp::default(),
            stamps: VecDeque::new(),
            rtx_at: None,
            rtx_float: FloatTime::default(),
            delayed_until: None,
            first_sent: FloatTime::default(),
            rexmits: 0,
            ecn: EcnState::default(),
            short: VecDeque::new(),
            sent_bytes: 0,
            acked_bytes: 0,
            number: 0,
            truth: GroundTruth::default(),
            counts: Counts::default(),
            out: VecDeque::new(),
            observed: seat.observed,
            hears: seat.hears,
            told: [0; 2],
            stream,
            settings,
        }
    }

    /// Forgets the connection. Totals and the phase of the clock stay.
    pub fn reset(&mut self) {
        self.next = 0;
        self.end = 0;
        self.highest_ack = -1;
        self.last_ack = -1;
        self.max_seq = -1;
        self.recover = 0;
        self.dupacks = 0;
        self.inflation = 0;
        self.window = self.settings.window;
        self.initial_window = self.settings.initial_window;
        self.set_cwnd(starting_window(&self.settings));
        self.set_ssthresh(self.settings.initial_ssthresh);
        self.last_action = LastAction::None;
        self.rtt.reset();
        self.timing = false;
        self.timed_seq = -1;
        self.stamps.clear();
        self.rtx_at = None;
        self.delayed_until = None;
        self.rexmits = 0;
        self.ecn = EcnState::default();
        self.short.clear();
        self.sent_bytes = 0;
        self.acked_bytes = 0;
        self.told = [0; 2];
        self.truth.reset();
    }

    /// The present by ns-2's clock, which the network follows.
    #[inline]
    pub fn set_clock(&mut self, now: FloatTime) {
        self.clock = now;
        self.follows_clock = true;
    }

    /// The present as a double: by ns-2's clock, or the nearest one.
    #[inline]
    pub fn float_now(&self) -> FloatTime {
        self.clock.or_nearest(self.now)
    }

    /// Whether echoes of time stamps are asked for: XCP's own always.
    #[inline]
    fn is_stamped(&self) -> bool {
        self.settings.timestamps || self.settings.variant == lasthop_protocols::transport::tcp::config::Variant::Xcp
    }

    /// The present by both clocks.
    #[inline]
    fn stamp(&self) -> Stamp {
        Stamp { at: self.now, float: self.float_now() }
    }

    /// When a packet was sent whose time stamp is echoed. Packets carry the nanosecond only.
    pub fn echoed(&mut self, echo: Instant) -> Stamp {
        while self.stamps.front().is_some_and(|stamp| stamp.at < echo) {
            self.stamps.pop_front();
        }
        let known = self.stamps.front().filter(|stamp| stamp.at == echo);
        known.copied().unwrap_or_else(|| Stamp { at: echo, float: FloatTime::new(echo) })
    }

    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    pub fn ssthresh(&self) -> i64 {
        self.ssthresh
    }

    #[inline]
    pub fn set_cwnd(&mut self, cwnd: f64) {
        if cwnd != self.cwnd {
            self.cwnd = cwnd;
            self.observe(Variable::Cwnd, cwnd);
        }
    }

    #[inline]
    pub fn set_ssthresh(&mut self, ssthresh: i64) {
        if ssthresh != self.ssthresh {
            self.ssthresh = ssthresh;
            self.observe(Variable::Ssthresh, ssthresh as f64);
        }
    }

    #[inline]
    fn observe(&mut self, variable: Variable, value: f64) {
        if self.observed {
            self.out.push_back(Out::Observe(variable, value));
        }
    }

    /// The window in whole packets (`window()`).
    #[inline]
    pub fn usable(&self) -> i64 {
        // Below one packet only until the timer expires: ns-2 halves a window of one at a mark.
        debug_assert!(self.cwnd >= 0.0, "cwnd_ is {}", self.cwnd);
        (self.cwnd as i64 + self.inflation).min(self.window)
    }

    /// The window (`windowd()`).
    fn usable_exact(&self) -> f64 {
        (self.cwnd + self.inflation as f64).min(self.window as f64)
    }

    /// An acknowledgement advertises this window. ns-2's receivers advertise none, but a network
    /// element may have written one.
    #[inline]
    pub fn obey_window(&mut self, bytes: u32) {
        let most = self.settings.window;
        self.window = match bytes {
            TcpHeader::ANY_WINDOW => most,
            bytes => most.min(i64::from(bytes / self.settings.segment).max(1)),
        };
    }

    /// Whether everything sent has been acknowledged.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.highest_ack == self.max_seq
    }

    /// The source hands over `bytes` more; `u64::MAX` is a source that never ends. Packets are
    /// all of one size, so the last one of each write is filled up.
    pub fn write(&mut self, bytes: u64) {
        if bytes == u64::MAX {
            self.end = ENDLESS;
        } else if self.end < ENDLESS {
            let segment = u64::from(self.settings.segment);
            let packets = bytes.div_ceil(segment);
            self.end += packets as i64;
            let lacking = packets * segment - bytes;
            if lacking > 0 {
                // Before a SYN is sent it is not yet counted in `end`.
                let syn = i64::from(self.has_syn() && self.max_seq == -1);
                self.short.push_back((self.end - 1 + syn, lacking));
            }
        }
    }

    /// Whether packet 0 is a SYN without data.
    pub fn has_syn(&self) -> bool {
        self.settings.syn && self.settings.variant != lasthop_protocols::transport::tcp::config::Variant::Vegas
    }

    /// Payload bytes of a packet.
    pub fn payload(&self, seq: i64) -> u64 {
        if seq == 0 && self.has_syn() {
            return 0;
        }
        let segment = u64::from(self.settings.segment);
        match self.short.binary_search_by_key(&seq, |(short, _)| *short) {
            Ok(place) => segment - self.short[place].1,
            Err(_) => segment,
        }
    }

    /// Counts the data acknowledged since `highest_ack` was `before`.
    #[inline]
    pub fn note_acked(&mut self, before: i64) {
        if self.highest_ack > before {
            let packets = self.highest_ack - before - i64::from(before == -1 && self.has_syn());
            let mut bytes = packets as u64 * u64::from(self.settings.segment);
            while let Some(&(short, lacking)) = self.short.front()
                && short <= self.highest_ack
            {
                // ns-2's Vegas resends the packet after the last acknowledged one even if it was never written; data written there later
                // are acknowledged already.
                bytes = bytes.saturating_sub(lacking);
                self.short.pop_front();
            }
            self.counts.acked_bytes += bytes;
            self.acked_bytes += bytes;
        }
    }

    /// The next notice to the source, if it subscribes to it.
    #[inline]
    pub fn tell(&mut self) -> Option<Notice> {
        if self.hears.sent && self.sent_bytes > self.told[0] {
            self.told[0] = self.sent_bytes;
            return Some(Notice::Sent(self.sent_bytes));
        }
        if self.hears.acked && self.acked_bytes > self.told[1] {
            self.told[1] = self.acked_bytes;
            return Some(Notice::Acked(self.acked_bytes));
        }
        None
    }

    /// Sends a packet (`output`). The timer starts if it does not run, or anew if nothing is
    /// outstanding.
    #[inline]
    pub fn output(&mut self, seq: i64) {
        // Vegas' own `output` knows no SYN.
        if seq == 0 && self.has_syn() && self.max_seq == -1 {
            self.end += 1;
        }
        let idle = self.is_idle();
        self.emit(seq);
        if self.rtx_at.is_none() || idle {
            self.set_timer();
        }
    }

    /// Sends a packet without a thought for the timer.
    #[inline]
    pub fn emit(&mut self, seq: i64) {
        let cwr = std::mem::take(&mut self.ecn.reduced) && self.settings.ecn;
        self.number += 1;
        if self.follows_clock && self.is_stamped() && self.stamps.back().is_none_or(|stamp| stamp.at < self.now) {
            self.stamps.push_back(self.stamp());
        }
        self.out.push_back(Out::Send { seq, number: self.number, cwr, window: self.usable() });
        let bytes = if self.short.is_empty() && seq > 0 { u64::from(self.settings.segment) } else { self.payload(seq) };
        if seq > self.max_seq {
            self.counts.sent += 1;
            self.counts.sent_bytes += bytes;
            self.sent_bytes += bytes;
            self.max_seq = seq;
            if !self.timing {
                self.timing = true;
                if seq > self.timed_seq {
                    self.timed_seq = seq;
                    self.timed_at = self.stamp();
                }
            }
        } else {
            self.counts.resent += 1;
            self.counts.resent_bytes += bytes;
        }
    }

    /// Starts the retransmission timer, whether it runs or not (`set_rtx_timer`).
    #[inline]
    pub fn set_timer(&mut self) {
        let timeout = self.rtt.timeout_secs();
        self.rtx_at = Some(self.now + Duration::from_secs_f64(timeout));
        self.rtx_float = self.clock.after(timeout);
    }

    /// Starts it after a cut or a timeout (`reset_rtx_timer`): nothing is timed any more.
    pub fn reset_timer(&mut self, resume: Resume, back_off: bool) {
        if back_off {
            self.back_off();
        }
        self.set_timer();
        if resume == Resume::GoBack {
            self.next = self.highest_ack + 1;
        }
        self.timing = false;
    }

    /// Starts it at an acknowledgement (`newtimer`). ns-2 means to stop it when everything is
    /// acknowledged, but `next` is always beyond the acknowledgement, so it runs on.
    #[inline]
    pub fn timer_at_ack(&mut self, ack: i64) {
        if self.next > ack || ack < self.max_seq || self.cwnd < 1.0 {
            self.set_timer();
        } else {
            self.rtx_at = None;
        }
    }

    fn back_off(&mut self) {
        let old = self.rtt.values();
        self.rtt.back_off();
        let new = self.rtt.values();
        if self.observed {
            for (old, new, variable) in [
                (old.backoff as f64, new.backoff as f64, Variable::Backoff),
                (f64::from(old.rttvar), f64::from(new.rttvar), Variable::Rttvar),
                (f64::from(old.srtt), f64::from(new.srtt), Variable::Srtt),
            ] {
                if old != new {
                    self.observe(variable, new);
                }
            }
        }
    }

    /// The timer has its plain value again (`t_backoff_ = 1`).
    #[inline]
    pub fn end_back_off(&mut self) {
        if self.rtt.values().backoff != 1 {
            self.rtt.end_back_off();
            self.observe(Variable::Backoff, 1.0);
        }
    }

    /// Takes a round-trip-time sample (`rtt_update`).
    pub fn sample_rtt(&mut self, sent: Stamp) {
        let nanos = self.now.since(sent.at);
        self.counts.rtt.add(nanos.as_nanos());
        let old = self.rtt.values();
        // A sample may lie just between two numbers of ticks. Then the sums of ns-2's clock decide.
        let [now, passed] = match self.follows_clock {
            true => [self.clock.as_secs(), self.clock.seconds_since(sent.float)],
            false => [self.now.as_secs_f64(), nanos.as_secs_f64()],
        };
        let counted = self.rtt.update(now, passed);
        if self.observed {
            let new = self.rtt.values();
            if counted != old.rtt {
                self.observe(Variable::Rtt, f64::from(counted));
            }
            if counted < 1 {
                self.observe(Variable::Rtt, f64::from(new.rtt));
            }
            if new.srtt != old.srtt {
                self.observe(Variable::Srtt, f64::from(new.srtt));
            }
            if new.rttvar != old.rttvar {
                self.observe(Variable::Rttvar, f64::from(new.rttvar));
            }
        }
    }

    /// Whether an acknowledgement covers the timed packet.
    #[inline]
    pub fn covers_timed(&self, ack: &Ack) -> bool {
        self.timing && ack.seq >= self.timed_seq
    }

    /// New data are acknowledged (`newack`).
    #[inline]
    pub fn new_ack(&mut self, ack: &Ack) {
        self.dupacks = 0;
        self.last_ack = ack.seq;
        self.highest_ack = ack.seq;
        self.next = self.next.max(ack.seq + 1);
        if self.settings.timestamps {
            let sent = self.echoed(ack.ts_echo);
            self.sample_rtt(sent);
        }
        if self.covers_timed(ack) {
            if !(self.ecn.agreed && self.ecn.backoff && ack.ece) {
                // With a window of one and marks that go on, the back-off stays.
                self.end_back_off();
                self.ecn.backoff = false;
            }
            self.timing = false;
            if !self.settings.timestamps {
                self.sample_rtt(self.timed_at);
            }
        }
        self.timer_at_ack(ack.seq);
    }

    /// New data are acknowledged, and the window grows (`recv_newack_helper`).
    #[inline]
    pub fn new_ack_and_grow(&mut self, ack: &Ack) {
        self.new_ack(ack);
        if !self.ecn.agreed || !ack.ece {
            self.grow();
        }
        self.note_ecn(ack);
    }

    /// New data are acknowledged, and the window is another's business.
    pub fn new_ack_without_growth(&mut self, ack: &Ack) {
        self.new_ack(ack);
        self.note_ecn(ack);
    }

    /// Takes note of an echo, or of its end.
    #[inline]
    fn note_ecn(&mut self, ack: &Ack) {
        if self.ecn.agreed {
            self.ecn.backoff &= ack.ece;
            self.ecn.burst = ack.ece;
        } else if ack.ece {
            self.ecn.agreed = true;
        }
    }

    /// The acknowledgement of a SYN opens the initial window.
    #[inline]
    pub fn open_after_syn(&mut self) {
        if self.last_ack == 0 && self.settings.syn {
            self.set_cwnd(self.initial_window);
        }
    }

    /// Opens the window for one acknowledgement (`opencwnd`). `window_` does not bound it.
    #[inline]
    pub fn grow(&mut self) {
        let growth = if self.cwnd < self.ssthresh as f64 { 1.0 } else { 1.0 / self.cwnd };
        self.set_cwnd(self.cwnd + growth);
    }

    /// Cuts the window (`slowdown`), and `ssthresh` to half of it if asked to.
    pub fn cut(&mut self, to: CutTo, ssthresh: bool) {
        let half = if self.settings.exact_half { self.usable_exact() / 2.0 } else { (self.usable() / 2) as f64 };
        self.counts.cuts += u64::from(!self.is_idle());
        if ssthresh {
            self.set_ssthresh(half as i64);
        }
        self.set_cwnd(match to {
            CutTo::Half => half,
            CutTo::One => 1.0,
            CutTo::Initial => f64::from(self.initial_window as i32),
        });
        if self.ssthresh < 2 {
            self.set_ssthresh(2);
        }
        self.ecn.reduced = true;
    }

    /// An acknowledgement echoes a congestion mark: half the window, once in a round trip
    /// (`ecn`). To be called before anything else is done with it.
    pub fn on_ecn_echo(&mut self, ack: &Ack) {
        if ack.seq > self.recover || self.last_action == LastAction::Timeout {
            self.recover = self.max_seq;
            self.last_action = LastAction::Ecn;
            if self.cwnd <= 1.0 {
                if self.ecn.backoff {
                    self.back_off();
                } else {
                    self.ecn.backoff = true;
                }
            } else {
                self.ecn.backoff = false;
            }
            self.cut(CutTo::Half, true);
        }
    }

    /// Limited transmit (`send_one`): whether one new packet may leave at the first or second
    /// duplicate.
    #[inline]
    pub fn may_send_one(&self) -> bool {
        self.next <= self.highest_ack + self.window
            && self.next < self.end
            && self.next as f64 <= self.highest_ack as f64 + self.cwnd + self.dupacks as f64
    }

    /// Whether a fast retransmit is allowed: not below `recover`, unless the first data packet is lost, or `bugFix_` is off and no congestion
    /// mark has cut the window.
    pub fn may_retransmit_fast(&self) -> bool {
        let first = self.settings.heeds_first_loss && self.highest_ack == 0;
        self.highest_ack > self.recover || (!self.settings.guard && !self.cut_by_ecn()) || first
    }

    /// Whether the last cut answered a congestion mark.
    pub fn cut_by_ecn(&self) -> bool {
        self.settings.ecn && self.last_action == LastAction::Ecn
    }

    /// Notes a fast retransmit of the first unacknowledged packet, which is the next to leave.
    pub fn note_fast_retransmit(&mut self) {
        self.counts.fast_retransmits += 1;
        self.truth.on_fast_retransmit((self.highest_ack + 1) as u64, self.number + 1);
    }

    /// Notes an expiry of the timer.
    pub fn note_timeout(&mut self) {
        if self.is_idle() {
            self.counts.idle_timeouts += 1;
        } else {
            self.counts.timeouts += 1;
            self.truth.on_timeout((self.highest_ack + 1) as u64, self.number + 1);
        }
    }

    /// Counts a timeout in ns-2's `nrexmit_`.
    pub fn count_rexmit(&mut self) {
        self.rexmits += 1;
        self.observe(Variable::Timeouts, self.rexmits as f64);
    }

    /// What every variant but Fack and Vegas does when the timer expires (`TcpAgent::timeout`),
    /// up to the sending.
    pub fn on_timeout(&mut self) {
        if self.cwnd < 1.0 {
            self.set_cwnd(1.0);
        }
        let idle = self.is_idle();
        if !idle || self.settings.idle_restart {
            self.recover = self.max_seq;
            if self.settings.heeds_first_loss && self.highest_ack == -1 && self.initial_window > 1.0 {
                // The first packet was lost.
                self.initial_window = 1.0;
            }
            if idle {
                self.cut(CutTo::One, false);
            } else if self.last_action == LastAction::Ecn {
                // The mark has cut ssthresh already.
                self.cut(CutTo::One, false);
            } else {
                self.count_rexmit();
                self.last_action = LastAction::Timeout;
                self.cut(CutTo::One, true);
            }
        }
        self.reset_timer(Resume::GoBack, !idle);
        self.last_action = LastAction::Timeout;
    }

    /// Whether sending must wait for the end of a random delay; starts one if none is under way
    /// (`overhead_`).
    #[inline]
    pub fn must_delay(&mut self, force: bool) -> bool {
        if force || self.settings.overhead == 0.0 {
            return false;
        }
        if self.delayed_until.is_none() {
            let delay = self.stream.unit() * self.settings.overhead;
            self.delayed_until = Some(self.now + Duration::from_secs_f64(delay));
        }
        true
    }
}

/// The window before anything is acknowledged: a SYN goes alone.
fn starting_window(settings: &Settings) -> f64 {
    if settings.syn { 1.0 } else { settings.initial_window }
}

/// What a source that never ends has handed over (`TCP_MAXSEQ`, but 64 bits wide).
const ENDLESS: i64 = i64::MAX / 4;
