//! SACK blocks (`tcp_sacktag_write_queue`): which segments have arrived out of order, and which twice.

use lasthop_net::net::SackBlocks;

use super::flags::{Flags, Tally};
use super::tcp::{CaState, Tcp};

/// `TCP_MAX_REORDERING` (`tcp_max_reordering`).
const MAX_REORDERING: u64 = 300;

impl Tcp {
    /// Takes in the blocks of an acknowledgement of `ack`; `una` is SND.UNA before it.
    pub fn tag_sacked(&mut self, sack: &SackBlocks, ack: u64, una: u64, flags: &mut Flags, tally: &mut Tally) {
        let duplicate = sack.duplicate(ack).filter(|block| self.on_duplicate(*block, una, flags, tally));
        let first = usize::from(duplicate.is_some());
        let mut blocks = [(0, 0); 3];
        for (place, (start, end)) in blocks.iter_mut().zip(sack.iter(ack).skip(first)) {
            if start < end && end <= self.snd_nxt && end > self.snd_una {
                *place = (start, end);
            }
        }
        // In the order of their numbers: the newest comes first, and one below it is no sign of reordering.
        blocks.sort_unstable();
        let known = std::mem::replace(&mut self.sack_cache, blocks);
        for (mut from, end) in blocks {
            // What was tagged before need not be looked at again.
            for (a, b) in known {
                if a < b && a < end && b > from {
                    self.tag(from, a, flags, tally);
                    from = b;
                }
            }
            self.tag(from, end, flags, tally);
        }
        if (self.ca_state != CaState::Loss || self.undo_marker.is_some()) && tally.reord < u64::MAX {
            self.check_reordering(tally.reord);
        }
    }

    /// Tags the segments that lie in [from, to).
    fn tag(&mut self, from: u64, to: u64, flags: &mut Flags, tally: &mut Tally) {
        let mut place = self.segments.place(from);
        while let Some(one) = self.segments.at_mut(place) {
            place += 1;
            if one.end() > to {
                return;
            }
            if one.sacked {
                continue;
            }
            let (start, end, sent_us) = (one.start, one.end(), one.sent_us);
            let (lost, resent, ever) = (one.lost, one.resent, one.ever_resent);
            if resent && lost {
                (one.lost, one.resent) = (false, false);
                self.lost_out -= 1;
                self.retrans_out -= 1;
            } else if !resent && lost {
                one.lost = false;
                self.lost_out -= 1;
            }
            one.sacked = true;
            self.delivery.delivered += 1;
            self.delivery.on_delivered(one, &mut tally.sample);
            if !resent && !ever {
                // An original in what was taken for a hole: the path reorders.
                if start < self.highest_sack_seq() {
                    tally.reord = tally.reord.min(start);
                }
                if end <= self.high_seq {
                    flags.original_sacked = true;
                }
                tally.first_sacked_us.get_or_insert(sent_us);
                tally.last_sacked_us = Some(sent_us);
            }
            self.rack_advance(ever, end, sent_us);
            flags.data_sacked = true;
            self.highest_sack = self.highest_sack_seq().max(end);
            self.sacked_out += 1;
        }
    }

    /// Data came twice, says the receiver (`tcp_check_dsack`, `tcp_dsack_seen`, `tcp_sacktag_one`). Says whether that may be: not if more came
    /// twice than was sent again. Such data count as delivered.
    fn on_duplicate(&mut self, (start, end): (u64, u64), una: u64, flags: &mut Flags, tally: &mut Tally) -> bool {
        if start >= end {
            return false;
        }
        let count = (end - start).div_ceil(self.mss);
        flags.probe_duplicate = count == 1 && self.tlp_high_seq > 0 && self.tlp_high_seq == end;
        self.dsack_dups += count;
        if self.dsack_dups > self.total_retrans {
            return false;
        }
        // Without reordering it was no needless recovery that sent it, and the probe is sent by a timer.
        self.rack.dsack_seen |= self.reord_seen && !flags.probe_duplicate;
        flags.duplicate_reported = true;
        self.delivery.delivered += count;
        let counts = self.undo_marker.is_some_and(|marker| end > marker);
        if end <= una {
            if counts {
                self.undo_retrans = self.undo_retrans.map(|left| left.saturating_sub(count));
            }
            return true;
        }
        if end > self.snd_nxt || (start <= self.snd_una && (!counts || end > self.snd_una)) {
            return true;
        }
        let mut place = self.segments.place(start);
        while let Some(one) = self.segments.at_mut(place).filter(|one| one.end() <= end) {
            place += 1;
            if counts && one.ever_resent {
                self.undo_retrans = self.undo_retrans.map(|left| left.saturating_sub(1));
            }
            if one.ever_resent && one.sacked {
                tally.reord = tally.reord.min(one.start);
            }
            if one.resent && one.end() > self.snd_una {
                one.resent = false;
                self.retrans_out -= 1;
            }
        }
        true
    }

    /// Data from `low` on have arrived after later ones (`tcp_check_sack_reordering`).
    pub fn check_reordering(&mut self, low: u64) {
        let highest = self.highest_sack_seq();
        if low >= highest {
            return;
        }
        let metric = highest - low;
        if metric > self.reordering * self.mss {
            self.reordering = metric.div_ceil(self.mss).min(MAX_REORDERING);
        }
        self.reord_seen = true;
    }
}
