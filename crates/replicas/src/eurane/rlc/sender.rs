//! The sending half: PDUs sent, kept until they are acknowledged, and sent again; and polls.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};
use lasthop_radio::radio::arq::{Slot, Unsent};
use lasthop_radio::radio::rlc::{Pdu, Reason, Status};

use super::Config;
use super::discard::Mrw;
use super::sdus::{Content, Sdus};
use super::ticks::{Ticks, Timer};

/// What an entity sends of its own SDUs.
pub(super) struct Sender {
    /// The size of a PDU.
    pdu: u8,
    window: u32,
    poll_every: u32,
    poll_timer: Duration,
    pub(super) sdus: Sdus,
    /// VT(S): the next sequence number.
    pub(super) vt_s: u32,
    /// VT(A): the sequence number of the first PDU kept.
    pub(super) vt_a: u32,
    /// PDUs from VT(A) to VT(S) - 1.
    pub(super) sent: VecDeque<Sent>,
    /// How many of these are not acknowledged.
    pub(super) unacknowledged: u32,
    /// What the last report misses and has not been sent since, in order.
    pub(super) nacks: VecDeque<u32>,
    /// The sequence number after the highest that a report spoke of.
    reported: u32,
    /// The sequence number after the last report's first one.
    after_first: u32,
    /// Whether the next PDU polls, whatever it is.
    pub(super) poll_wanted: bool,
    /// The PDU with a poll which a report has yet to cover. `None`: any report will do.
    awaited: Option<u32>,
    /// When the next poll is sent.
    pub(super) poll_expires: Timer,
    /// PDUs sent since the last poll.
    since_poll: u32,
    pub(super) ticks: Ticks,
    pub(super) mrw: Mrw,
    pub(super) totals: Totals,
}

/// A PDU that was sent.
pub(super) struct Sent {
    pub(super) content: Content,
    pub(super) acknowledged: bool,
    /// VT(DAT): how often it was sent.
    pub(super) vt_dat: u32,
}

/// Counts since the start.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) sdus: u64,
    pub(super) refused: u64,
    pub(super) given_up: u64,
    pub(super) new: u64,
    pub(super) again: u64,
    pub(super) polls: u64,
}

impl Sender {
    /// A sender that has sent nothing.
    pub fn new(config: &Config) -> Self {
        Self {
            pdu: config.pdu.get() as u8,
            window: config.window,
            poll_every: config.poll_every,
            poll_timer: config.poll_timer,
            sdus: Sdus::new(config.buffer.get()),
            vt_s: 0,
            vt_a: 0,
            sent: VecDeque::new(),
            unacknowledged: 0,
            nacks: VecDeque::new(),
            reported: 0,
            after_first: 0,
            poll_wanted: false,
            awaited: None,
            poll_expires: Timer::OFF,
            since_poll: 0,
            ticks: Ticks::new(),
            mrw: Mrw::new(config),
            totals: Totals::default(),
        }
    }

    /// Takes an SDU, if there is room.
    pub fn enqueue(&mut self, bytes: u32, exempt: bool) -> bool {
        let taken = self.sdus.push(bytes, exempt);
        *(if taken { &mut self.totals.sdus } else { &mut self.totals.refused }) += 1;
        taken
    }

    /// Whether the next PDU may be one with data.
    #[inline]
    pub fn may_send(&self) -> bool {
        self.poll_wanted || (self.window_open() && !(self.sdus.is_empty() && self.nacks.is_empty()))
    }

    /// How many PDUs are to be sent, if the window is open.
    pub fn ready(&self) -> u64 {
        self.nacks.len() as u64 + self.sdus.bytes().div_ceil(u64::from(self.pdu))
    }

    /// Whether the far end may be sent more. It counts from the highest sequence number that a report spoke of, not from the lowest that is
    /// missing; and missing PDUs count twice.
    #[inline]
    fn window_open(&self) -> bool {
        let next = u64::from(self.vt_s) + self.nacks.len() as u64;
        next < u64::from(self.reported) + u64::from(self.window)
    }

    /// Whether one of the next `pdus` PDUs will have room for `reserve` bytes beside its data.
    pub fn carries(&self, reserve: u8, pdus: u64) -> bool {
        if !self.window_open() {
            return false;
        }
        let before = self.nacks.len() as u64;
        let with_room = |sn: &u32| self.sent[(sn - self.vt_a) as usize].content.padding >= reserve;
        self.nacks.iter().take(pdus as usize).any(with_room) || (!self.sdus.is_empty() && before < pdus)
    }

    /// The next PDU with data, for this slot. Room for `reserve` bytes beside the data is kept, or
    /// found if it was sent before.
    #[inline(always)]
    pub fn pull(&mut self, slot: &Slot, reserve: u8) -> Option<Pdu> {
        if !self.may_send() {
            return None;
        }
        let (index, reason) = if let Some(sn) = self.nacks.pop_front() {
            self.poll_wanted |= self.nacks.is_empty();
            self.totals.again += 1;
            ((sn - self.vt_a) as usize, Reason::Retransmission)
        } else if let Some(content) = self.sdus.cut(self.pdu, reserve) {
            self.poll_wanted |= self.sdus.is_empty();
            self.totals.new += 1;
            debug_assert_eq!(self.vt_s, self.vt_a + self.sent.len() as u32, "PDUs from VT(A) to VT(S) are kept");
            self.vt_s += 1;
            self.unacknowledged += 1;
            self.sent.push_back(Sent { content, acknowledged: false, vt_dat: 0 });
            (self.sent.len() - 1, Reason::New)
        } else {
            let Some(index) = self.to_repeat() else {
                self.poll_wanted = false;
                return None;
            };
            self.totals.polls += 1;
            (index, Reason::Poll)
        };
        let sn = self.vt_a + index as u32;
        let poll = self.polls(sn, slot, reason);
        let sent = &mut self.sent[index];
        sent.vt_dat += 1;
        Some(sent.content.pdu(sn, self.pdu, poll, reason))
    }

    /// Whether a PDU of this slot polls. A poll starts the timer, if no later one is awaited.
    fn polls(&mut self, sn: u32, slot: &Slot, reason: Reason) -> bool {
        self.since_poll += 1;
        let poll = std::mem::take(&mut self.poll_wanted) || self.since_poll >= self.poll_every;
        if poll {
            self.since_poll = 0;
            // A PDU repeated in place of a later one that may not be sent again stands for that.
            let last = if reason == Reason::Poll { self.last_unacknowledged() } else { None };
            let sn = last.map_or(sn, |last| self.vt_a + last as u32);
            if self.awaited.is_none_or(|awaited| sn >= awaited) || self.poll_expires.at == Instant::MAX {
                self.awaited = Some(sn);
                self.poll_expires = self.ticks.timer(slot, slot.at, self.poll_timer);
            }
        }
        poll
    }

    /// The last PDU that is not acknowledged.
    pub(super) fn last_unacknowledged(&self) -> Option<usize> {
        self.sent.iter().rposition(|sent| !sent.acknowledged)
    }

    /// Takes a report. The PDUs that it misses replace those that the last one missed, even if they were sent since.
    pub fn on_report(&mut self, status: &Status) {
        while self.vt_a < status.first && self.release_first() {}
        self.nacks.clear();
        // The first may tell of PDUs that are kept no longer.
        let before = self.vt_a.saturating_sub(status.first).min(status.received.len() as u32);
        let told = status.received[before as usize..].iter();
        for ((sn, sent), received) in (self.vt_a..).zip(&mut self.sent).zip(told) {
            if !received {
                self.nacks.push_back(sn);
            } else if !sent.acknowledged {
                sent.acknowledged = true;
                self.unacknowledged -= 1;
            }
        }
        self.release_acknowledged();
        self.reported = status.first + status.received.len() as u32;
        self.after_first = status.first + 1;
        if self.awaited.is_none_or(|awaited| awaited < self.reported) {
            self.awaited = None;
            self.poll_expires = Timer::OFF;
            self.poll_wanted = false;
        }
        // The bitmap begins with the last PDU before the first that is missing; with SN 0 if that is
        // missing itself.
        self.mrw.on_first_missing(status.first + u32::from(status.received.first() == Some(&true)));
        self.give_up_missing();
    }

    /// Forgets acknowledged PDUs before the first that is not.
    pub(super) fn release_acknowledged(&mut self) {
        while self.sent.front().is_some_and(|sent| sent.acknowledged) && self.release_first() {}
    }

    /// Forgets the first PDU kept.
    pub(super) fn release_first(&mut self) -> bool {
        let Some(sent) = self.sent.pop_front() else { return false };
        self.vt_a += 1;
        self.unacknowledged -= u32::from(!sent.acknowledged);
        true
    }

    /// The next timer; `Instant::MAX` if there is none.
    #[inline]
    pub fn next_timeout(&self) -> Instant {
        self.poll_expires.at.min(self.mrw.repeats())
    }

    /// A timer may have expired.
    pub fn on_timeout(&mut self, now: Instant) {
        self.mrw.on_timeout(now);
        if self.poll_expires.at > now {
            return;
        }
        self.poll_expires = Timer::OFF;
        let all_reported = self.after_first == self.vt_s && self.nacks.is_empty();
        if !all_reported && self.unacknowledged > 0 {
            self.awaited = None;
            self.poll_wanted = true;
        }
    }

    /// What it holds.
    pub fn backlog(&self) -> Unsent {
        Unsent { sdus: self.sdus.bytes(), unacknowledged: u64::from(self.unacknowledged) * u64::from(self.pdu) }
    }
}
