//! maxDAT: SDUs that are given up after a PDU was sent in vain too often, and telling the far end.
//!
//! EURANE as published has none of this; Dubois added it (Dubois 2005, §5.1). When a PDU would have to
//! be sent more than `max_dat` times, its SDU and all before it are given up. The far end gets
//! the sequence number of the last PDU of these (move receiving window, MRW). One MRW is
//! outstanding at a time, the highest. It rides like a report. A report that misses nothing up to it
//! ends it; the far end sends one as after a poll, since it might have no other reason to.

use lasthop_net::engine::{Duration, Instant};

use super::Config;
use super::sender::Sender;

/// The order to the far end to give SDUs up.
pub(super) struct Mrw {
    /// How often a PDU may be sent.
    max_dat: u32,
    timer: Duration,
    /// The SDUs given up that the far end does not know of.
    outstanding: Option<GivenUp>,
    /// Whether it is to be sent, for the first time or again.
    wanted: bool,
    /// When it is sent again. `Instant::MAX`: the timer is off.
    repeat: Instant,
    /// How often it was sent, and how often of these again.
    pub(super) told: u64,
    pub(super) repeated: u64,
}

/// SDUs given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GivenUp {
    /// SN_MRW: the sequence number of the last PDU of these.
    pub(super) sn: u32,
    /// The number of the first SDU after these.
    pub(super) resume: u64,
}

impl Mrw {
    /// Nothing given up.
    pub fn new(config: &Config) -> Self {
        Self {
            max_dat: config.max_dat.unwrap_or(u32::MAX),
            timer: config.mrw_timer,
            outstanding: None,
            wanted: false,
            repeat: Instant::MAX,
            told: 0,
            repeated: 0,
        }
    }

    /// Whether the order is to be sent.
    #[inline]
    pub fn wanted(&self) -> bool {
        self.wanted
    }

    /// The order, which leaves at `at`, if one is to be sent.
    pub fn take(&mut self, at: Instant) -> Option<GivenUp> {
        if !std::mem::take(&mut self.wanted) {
            return None;
        }
        self.repeat = at + self.timer;
        self.told += 1;
        self.outstanding
    }

    /// When it is sent again; `Instant::MAX` if it is not.
    #[inline]
    pub fn repeats(&self) -> Instant {
        self.repeat
    }

    /// A timer may have expired.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.repeat <= now {
            self.repeat = Instant::MAX;
            self.wanted = true;
            self.repeated += 1;
        }
    }

    /// A report says what the far end waits for.
    pub fn on_first_missing(&mut self, sn: u32) {
        if self.outstanding.is_some_and(|outstanding| outstanding.sn < sn) {
            (self.outstanding, self.wanted, self.repeat) = (None, false, Instant::MAX);
        }
    }
}

impl Sender {
    /// Gives up what the last report misses although it was sent often enough.
    pub(super) fn give_up_missing(&mut self) {
        if self.mrw.max_dat == u32::MAX {
            return;
        }
        let indices = self.nacks.iter().rev().map(|sn| (sn - self.vt_a) as usize);
        if let Some(index) = indices.into_iter().find(|&index| self.spent(index)) {
            self.give_up(index);
        }
    }

    /// Gives up all that is sent, if a poll needs a PDU and none may be sent again.
    #[inline]
    pub fn give_up_unanswered(&mut self) {
        if !self.poll_wanted || !self.sdus.is_empty() || !self.nacks.is_empty() {
            return;
        }
        if let Some(last) = self.last_unacknowledged().filter(|_| self.to_repeat().is_none()) {
            self.give_up(last);
        }
    }

    /// The PDU that is repeated if there is no other to carry a poll: the last that is not acknowledged
    /// and may be sent again.
    pub(super) fn to_repeat(&self) -> Option<usize> {
        self.sent.iter().rposition(|sent| !sent.acknowledged && sent.vt_dat < self.mrw.max_dat)
    }

    fn spent(&self, index: usize) -> bool {
        self.sent[index].vt_dat >= self.mrw.max_dat
    }

    /// Gives up the SDU of which the PDU at `index` carries the first byte, and all before it. An SDU
    /// that shares a PDU with one given up goes on only if that PDU arrived.
    fn give_up(&mut self, index: usize) {
        let first = self.sent[0].content.sdu;
        let mut sdu = self.sent[index].content.sdu;
        let mut last = None;
        for (at, sent) in self.sent.iter().enumerate().skip(index) {
            if !sent.content.ends {
                continue;
            }
            if sent.content.second == 0 || sent.acknowledged {
                last = Some(at);
                break;
            }
            sdu += 1;
        }
        if last.is_none() {
            self.sdus.forget_begun(sdu);
        }
        let released = last.map_or(self.sent.len(), |last| last + 1);
        for _ in 0..released {
            self.release_first();
        }
        self.totals.given_up += sdu + 1 - first;
        self.mrw.outstanding = Some(GivenUp { sn: self.vt_a - 1, resume: sdu + 1 });
        (self.mrw.wanted, self.mrw.repeat) = (true, Instant::MAX);
        self.release_acknowledged();
        self.nacks.retain(|sn| *sn >= self.vt_a);
        // The far end answers an MRW like a poll.
        self.poll_wanted &= self.unacknowledged > 0;
    }
}
