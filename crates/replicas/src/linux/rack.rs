//! Losses by the time of sending (tcp_recovery.c; RFC 8985): a segment is lost if one that was sent later has arrived, and a round trip and the
//! reordering window have passed.

use super::clock;
use super::rate::{Sample, sent_after};
use super::segments::Segment;
use super::tcp::{CaState, Pending, Tcp};

/// `TCP_TIMEOUT_MIN_US`.
pub const TIMEOUT_MIN_US: u64 = 2_000;

/// `TCP_RACK_RECOVERY_THRESH`.
const PERSIST: u32 = 16;

impl Tcp {
    /// A segment has arrived that was sent at `sent_us` (`tcp_rack_advance`).
    pub fn rack_advance(&mut self, ever_resent: bool, end: u64, sent_us: u64) {
        let rtt_us = self.now_us.saturating_sub(sent_us);
        // An acknowledgement that comes so early is that of the original transmission.
        if ever_resent && self.rtt.min().is_some_and(|min| rtt_us < min) {
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt_us = rtt_us;
        if sent_after(sent_us, end, self.rack.sent_us, self.rack.end_seq) {
            self.rack.sent_us = sent_us;
            self.rack.end_seq = end;
        }
    }

    /// How long a segment may be late (`tcp_rack_reo_wnd`), us.
    fn reordering_window(&self) -> u64 {
        if !self.reord_seen && (self.ca_state >= CaState::Recovery || self.sacked_out >= self.reordering) {
            return 0;
        }
        let quarter = self.rtt.min().unwrap_or(u64::MAX) >> 2;
        quarter.saturating_mul(self.rack.reo_wnd_steps).min(self.rtt.srtt >> 3)
    }

    /// How long a segment has yet to be waited for, us; not positive if it is lost (`tcp_rack_skb_timeout`).
    pub fn rack_remaining(&self, sent_us: u64, window: u64) -> i64 {
        (self.rack.rtt_us + window) as i64 - (self.now_us.saturating_sub(sent_us)) as i64
    }

    /// Marks segments lost (`tcp_rack_detect_loss`); answers the longest time that others have to be waited for, us.
    pub fn rack_detect(&mut self) -> u64 {
        let window = self.reordering_window();
        let (rack, now_us) = (self.rack, self.now_us);
        let mut timeout = 0;
        let mut lost = Vec::new();
        self.segments.walk_by_time(|one: &mut Segment| {
            if !sent_after(rack.sent_us, rack.end_seq, one.sent_us, one.end()) {
                return false;
            }
            let remaining = (rack.rtt_us + window) as i64 - now_us.saturating_sub(one.sent_us) as i64;
            if remaining <= 0 {
                one.found_lost = true;
                lost.push(one.start);
            } else {
                timeout = timeout.max(remaining as u64);
            }
            true
        });
        for start in lost {
            let place = self.segments.place(start);
            self.mark_lost(place);
        }
        timeout
    }

    /// After an acknowledgement (`tcp_rack_mark_lost`). Says whether the timer was armed for segments that are waited for.
    pub fn rack_mark_lost(&mut self) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let timeout = self.rack_detect();
        if timeout > 0 {
            self.arm(Pending::Reordering, clock::ticks(timeout + TIMEOUT_MIN_US), false);
        }
        timeout > 0
    }

    /// The segment at `place` is lost (`tcp_mark_skb_lost`).
    pub fn mark_lost(&mut self, place: usize) {
        let Some(one) = self.segments.at_mut(place) else { return };
        if one.sacked {
            return;
        }
        let start = one.start;
        if !one.lost {
            one.lost = true;
            self.lost_out += 1;
            self.lost += 1;
        } else if one.resent {
            one.resent = false;
            self.retrans_out -= 1;
            self.lost += 1;
        }
        self.retransmit_hint = self.retransmit_hint.map(|hint| hint.min(start));
    }

    /// Duplicates widen the reordering window, once a round trip (`tcp_rack_update_reo_wnd`).
    pub fn rack_update_window(&mut self, sample: &Sample) {
        if sample.prior_delivered() == 0 {
            return;
        }
        let rack = &mut self.rack;
        if sample.prior_delivered() < rack.last_delivered {
            rack.dsack_seen = false;
        }
        if rack.dsack_seen {
            rack.reo_wnd_steps = (rack.reo_wnd_steps + 1).min(0xff);
            rack.dsack_seen = false;
            rack.last_delivered = self.delivery.delivered;
            rack.reo_wnd_persist = PERSIST;
        } else if rack.reo_wnd_persist == 0 {
            rack.reo_wnd_steps = 1;
        }
    }

    /// A reduction proved needless by duplicates: the window stays wide for a little longer.
    pub fn rack_persist(&mut self) {
        self.rack.reo_wnd_persist = (self.rack.reo_wnd_persist + 1).min(PERSIST);
    }
}
