//! The state of a connection (`struct tcp_sock`), by the kernel's names, and what follows from it alone. Windows are counted in segments.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

use super::clock;
use super::rate::Delivery;
use super::rtt::Estimator;
use super::segments::Segments;
use super::settings::Settings;

/// `icsk_ca_state`. The order counts: from `Recovery` on losses are being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    Open,
    Disorder,
    Cwr,
    Recovery,
    Loss,
}

/// What the one retransmission timer is armed for (`icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    None,
    Retransmit,
    LossProbe,
    Reordering,
    /// The receiver's window is closed.
    ZeroWindow,
}

/// A segment to be put on the wire.
#[derive(Clone, Copy, Debug)]
pub enum Out {
    Syn,
    /// With SND.NXT of the time when it is made: the first one comes before data that are sent at the same instant.
    Ack {
        seq: u64,
    },
    /// Without data, below SND.UNA: the receiver answers with its window.
    Probe,
    /// Of `len` sequence numbers, the FIN's included.
    Data {
        start: u64,
        len: u32,
        fin: bool,
        push: bool,
    },
}

/// RACK (RFC 8985 as tcp_recovery.c has it).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rack {
    /// When the segment delivered last was sent, us; and its end.
    pub sent_us: u64,
    pub end_seq: u64,
    pub rtt_us: u64,
    /// Whether the two have moved on since losses were looked for.
    pub advanced: bool,
    /// Reordering window, quarters of the least round-trip time.
    pub reo_wnd_steps: u64,
    /// Recoveries until the window is reset.
    pub reo_wnd_persist: u32,
    pub dsack_seen: bool,
    pub last_delivered: u64,
}

/// Totals over all connections of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub packets: u64,
    pub bytes: u64,
    pub resent_packets: u64,
    pub resent_bytes: u64,
    pub acked_bytes: u64,
    pub timeouts: u64,
    pub recoveries: u64,
    pub loss_probes: u64,
    pub cuts: u64,
    pub undone: u64,
}

/// The connection without its congestion control.
pub struct Tcp {
    pub now: Instant,
    /// `tcp_mstamp`.
    pub now_us: u64,
    pub mss: u64,
    pub initial_window: u64,

    pub snd_una: u64,
    pub snd_nxt: u64,
    /// One past the last byte that the source has written.
    pub write_seq: u64,
    pub closing: bool,
    pub fin_sent: bool,
    /// The end of the last small segment sent (`snd_sml`).
    pub snd_sml: u64,
    /// The right edge of the receiver's window.
    pub wnd_end: u64,
    pub segments: Segments,
    /// The running number of transmissions.
    pub tx: u64,
    pub sacked_out: u64,
    pub lost_out: u64,
    pub retrans_out: u64,
    /// Segments taken for lost so far (`lost`).
    pub lost: u64,
    /// One past the highest SACKed byte.
    pub highest_sack: u64,
    /// The blocks of the last acknowledgement (`recv_sack_cache`).
    pub sack_cache: [(u64, u64); 3],

    pub snd_cwnd: u64,
    pub snd_cwnd_cnt: u64,
    pub snd_ssthresh: u64,
    pub snd_cwnd_stamp: u64,
    pub snd_cwnd_used: u64,
    pub max_packets_out: u64,
    pub cwnd_usage_seq: u64,
    pub is_cwnd_limited: bool,
    pub prior_cwnd: u64,
    pub prr_delivered: u64,
    pub prr_out: u64,

    pub ca_state: CaState,
    pub high_seq: u64,
    /// The threshold before the last reduction, for undo; 0 if there is none.
    pub prior_ssthresh: u64,
    /// SND.UNA when the recovery began that may be undone (`undo_marker`).
    pub undo_marker: Option<u64>,
    /// Retransmissions of it that no duplicate was reported for; `None` before the first.
    pub undo_retrans: Option<u64>,
    /// When the first retransmission of the recovery was sent, us (`retrans_stamp`).
    pub retrans_stamp: u64,
    /// The place from which lost segments are looked for (`retransmit_skb_hint`), a sequence number.
    pub retransmit_hint: Option<u64>,
    pub frto: bool,
    /// Timeouts in a row (`icsk_retransmits`).
    pub retransmits: u32,
    /// Segments that the receiver said had come twice (`dsack_dups`), and those sent again (`total_retrans`).
    pub dsack_dups: u64,
    pub total_retrans: u64,
    /// The degree of reordering, segments (`reordering`), and whether there was any (`reord_seen`).
    pub reordering: u64,
    pub reord_seen: bool,
    pub rack: Rack,
    pub tlp_high_seq: u64,
    pub tlp_retrans: bool,

    pub rtt: Estimator,
    pub delivery: Delivery,

    /// `sk_pacing_rate`, bytes a second; `u64::MAX` before the first.
    pub pacing_rate: u64,
    /// Whether the socket paces by its own timer (`SK_PACING_NEEDED`).
    pub paces: bool,
    /// When the next segment may leave, ns (`tcp_wstamp_ns`).
    pub wstamp_ns: u64,
    /// Segments with data sent so far (`data_segs_out`).
    pub data_segs_out: u64,
    /// `lsndtime`, ticks.
    pub lsndtime: u64,

    pub pending: Pending,
    /// When the timer expires; `Instant::MAX` if it is off.
    pub timer_at: Instant,
    /// When the pacing timer expires.
    pub pacing_at: Instant,
    /// Probes of a closed window sent (`icsk_probes_out`).
    pub probes: u32,

    pub out: VecDeque<Out>,
    pub totals: Totals,
}

/// The first data byte's sequence number; 0 is the SYN's.
pub const FIRST_BYTE: u64 = 1;

/// `sk_pacing_shift`: a burst is what the pacing rate gives in 2^−10 s.
pub const PACING_SHIFT: u32 = 10;

/// `TCP_FASTRETRANS_THRESH`, and `tcp_reordering`.
pub const REORDERING: u64 = 3;

impl Tcp {
    /// A connection that is closed.
    pub fn new(settings: &Settings) -> Self {
        Self {
            now: Instant::ZERO,
            now_us: 0,
            mss: settings.mss.into(),
            initial_window: settings.initial_window,
            snd_una: 0,
            snd_nxt: FIRST_BYTE,
            write_seq: FIRST_BYTE,
            closing: false,
            fin_sent: false,
            snd_sml: 0,
            wnd_end: 0,
            segments: Segments::default(),
            tx: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            lost: 0,
            highest_sack: 0,
            sack_cache: [(0, 0); 3],
            snd_cwnd: settings.initial_window,
            snd_cwnd_cnt: 0,
            snd_ssthresh: settings.initial_ssthresh,
            snd_cwnd_stamp: 0,
            snd_cwnd_used: 0,
            max_packets_out: 0,
            cwnd_usage_seq: 0,
            is_cwnd_limited: false,
            prior_cwnd: 0,
            prr_delivered: 0,
            prr_out: 0,
            ca_state: CaState::Open,
            high_seq: 0,
            prior_ssthresh: 0,
            undo_marker: None,
            undo_retrans: None,
            retrans_stamp: 0,
            retransmit_hint: None,
            frto: false,
            retransmits: 0,
            dsack_dups: 0,
            total_retrans: 0,
            reordering: REORDERING,
            reord_seen: false,
            rack: Rack { reo_wnd_steps: 1, ..Rack::default() },
            tlp_high_seq: 0,
            tlp_retrans: false,
            rtt: Estimator::default(),
            delivery: Delivery::default(),
            pacing_rate: u64::MAX,
            paces: false,
            wstamp_ns: 0,
            data_segs_out: 0,
            lsndtime: 0,
            pending: Pending::None,
            timer_at: Instant::MAX,
            pacing_at: Instant::MAX,
            probes: 0,
            out: VecDeque::new(),
            totals: Totals::default(),
        }
    }

    /// It is `now`.
    #[inline]
    pub fn set_now(&mut self, now: Instant) {
        self.now = now;
        self.now_us = clock::micros(now);
    }

    /// `tcp_jiffies32`.
    #[inline]
    pub fn jiffies(&self) -> u64 {
        clock::jiffies(self.now)
    }

    /// `packets_out`.
    #[inline]
    pub fn packets_out(&self) -> u64 {
        self.segments.len() as u64
    }

    /// `tcp_left_out`.
    #[inline]
    pub fn left_out(&self) -> u64 {
        self.sacked_out + self.lost_out
    }

    /// `tcp_packets_in_flight`.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        (self.packets_out() + self.retrans_out).saturating_sub(self.left_out())
    }

    /// `tcp_in_slow_start`.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
    }

    /// `tcp_in_cwnd_reduction`.
    #[inline]
    pub fn in_reduction(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// `tcp_is_cwnd_limited`: whether the window is in use, so that it may grow.
    #[inline]
    pub fn is_limited(&self) -> bool {
        // In slow start a window may become twice what was in use.
        self.is_cwnd_limited || (self.in_slow_start() && self.snd_cwnd < 2 * self.max_packets_out)
    }

    /// `tcp_current_ssthresh`: the threshold that remembers three quarters of the window.
    pub fn current_ssthresh(&self) -> u64 {
        if self.in_reduction() {
            self.snd_ssthresh
        } else {
            self.snd_ssthresh.max((self.snd_cwnd >> 1) + (self.snd_cwnd >> 2))
        }
    }

    /// `tcp_highest_sack_seq`.
    #[inline]
    pub fn highest_sack_seq(&self) -> u64 {
        if self.sacked_out > 0 { self.highest_sack } else { self.snd_una }
    }

    /// `tcp_any_retrans_done`.
    pub fn any_retransmitted(&self) -> bool {
        self.retrans_out > 0 || self.segments.first().is_some_and(|first| first.ever_resent)
    }

    /// Arms the timer for `what` in `ticks` ticks (`tcp_reset_xmit_timer`); what paces the sender holds it back too.
    pub fn arm(&mut self, what: Pending, ticks: u64, behind_pacing: bool) {
        let paced_us = self.wstamp_ns.saturating_sub(self.now.as_nanos()) / 1_000;
        let delay = if behind_pacing && self.paces { clock::whole_ticks(paced_us) } else { 0 };
        self.pending = what;
        self.timer_at = clock::expiry(self.now, ticks.min(super::rtt::RTO_MAX) + delay);
    }

    /// Stops the timer.
    pub fn disarm(&mut self) {
        self.pending = Pending::None;
        self.timer_at = Instant::MAX;
    }

    /// When the retransmission timeout of the first segment is due, us from now (`tcp_rto_delta_us`).
    pub fn rto_delta_us(&self) -> i64 {
        let sent = self.segments.first().map_or(self.now_us, |first| first.sent_us);
        (sent + clock::ticks_us(self.rtt.rto)) as i64 - self.now_us as i64
    }

    /// `tcp_rearm_rto`.
    pub fn rearm_rto(&mut self) {
        if self.segments.is_empty() {
            self.disarm();
            return;
        }
        let mut rto = self.rtt.rto;
        if matches!(self.pending, Pending::Reordering | Pending::LossProbe) {
            rto = clock::ticks(self.rto_delta_us().max(1) as u64);
        }
        self.arm(Pending::Retransmit, rto, true);
    }

    /// The payload of the next new segment, and whether it bears the FIN (`tcp_send_head`): the last one that was not sent when the source
    /// closed does, or else one of its own.
    #[inline]
    pub fn new_segment(&self) -> Option<(u32, bool)> {
        let left = self.write_seq.saturating_sub(self.snd_nxt);
        let fin = self.closing && !self.fin_sent && left <= self.mss;
        (left > 0 || fin).then_some((left.min(self.mss) as u32, fin))
    }

    /// Marks samples application-limited if less than a segment waits, the window has room, and no loss is to be repaired
    /// (`tcp_rate_check_app_limited`).
    pub fn check_app_limited(&mut self) {
        let in_flight = self.in_flight();
        let waits = self.write_seq.saturating_sub(self.snd_nxt);
        if waits < self.mss && in_flight < self.snd_cwnd && self.lost_out <= self.retrans_out {
            self.delivery.on_app_limited(in_flight);
        }
    }

    /// Whether the counts are those of the segments.
    #[cfg(test)]
    pub fn is_consistent(&self) -> bool {
        let count = |is: &dyn Fn(&super::segments::Segment) -> bool| {
            (0..self.segments.len()).filter_map(|n| self.segments.at(n)).filter(|one| is(one)).count() as u64
        };
        count(&|one| one.sacked) == self.sacked_out
            && count(&|one| one.lost) == self.lost_out
            && count(&|one| one.resent) == self.retrans_out
            && self.snd_una <= self.snd_nxt
            && self.snd_cwnd > 0
    }

    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        (self.rtt.srtt > 0).then(|| Duration::from_micros(self.rtt.srtt >> 3))
    }
}
