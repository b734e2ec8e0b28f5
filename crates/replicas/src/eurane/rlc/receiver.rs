//! The receiving half: received PDUs, the SDUs that they complete, and when a report is due.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};
use lasthop_radio::radio::arq::Outcome;
use lasthop_radio::radio::rlc::Pdu;

use super::Config;
use super::ticks::Timer;

/// What an entity has received.
pub(super) struct Receiver {
    pub(super) prohibit: Duration,
    /// VR(R): the first sequence number that is missing.
    vr_r: u32,
    /// PDUs from VR(R) to the highest that has come. Empty if nothing is missing; otherwise the first
    /// one is missing, and the last has come.
    later: VecDeque<Option<Part>>,
    /// The number of the first SDU that is neither delivered nor lost.
    sdu: u64,
    /// Whether a report is to be sent.
    wanted: bool,
    /// Whether a poll came while reports were prohibited.
    remembered: bool,
    /// Until when reports are prohibited.
    pub(super) prohibited: Timer,
    pub(super) totals: Totals,
}

/// What the order of SDUs needs to know of a PDU.
#[derive(Clone, Copy)]
struct Part {
    /// The number of the SDU of its first byte.
    sdu: u64,
    starts: bool,
    ends: bool,
}

/// Counts since the start.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) pdus: u64,
    pub(super) duplicates: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) reports: u64,
}

impl Receiver {
    /// A receiver to which nothing has come.
    pub fn new(config: &Config) -> Self {
        Self {
            prohibit: config.status_prohibit,
            vr_r: 0,
            later: VecDeque::new(),
            sdu: 0,
            wanted: false,
            remembered: false,
            prohibited: Timer::new(Instant::ZERO),
            totals: Totals::default(),
        }
    }

    /// Takes a PDU with data.
    #[inline]
    pub fn on_data(&mut self, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
        let part = Part { sdu: pdu.sdu, starts: pdu.starts, ends: pdu.ends > 0 };
        self.totals.pdus += 1;
        if pdu.sn == self.vr_r && self.later.is_empty() {
            self.vr_r += 1;
            self.pass(part, outcomes);
            return;
        }
        let Some(index) = pdu.sn.checked_sub(self.vr_r).map(|index| index as usize) else {
            self.totals.duplicates += 1;
            return;
        };
        if index >= self.later.len() {
            self.later.resize(index, None);
            self.later.push_back(Some(part));
        } else if self.later[index].replace(part).is_some() {
            self.totals.duplicates += 1;
        }
        self.advance(outcomes);
        debug_assert!(!matches!(self.later.front(), Some(Some(_))), "VR(R) has not come");
    }

    /// After a PDU with data, or an order to give SDUs up: whether a report is to be sent. While reports are prohibited a poll is
    /// remembered, and missing PDUs are not.
    #[inline]
    pub fn consider_report(&mut self, now: Instant, polled: bool) {
        if now < self.prohibited.at {
            self.remembered |= polled;
        } else {
            self.wanted |= polled || !self.later.is_empty();
        }
    }

    /// The sender has given up all SDUs before number `resume`, the last of whose PDUs is `sn`. Those among them that are complete are
    /// delivered.
    pub fn give_up(&mut self, sn: u32, resume: u64, outcomes: &mut Vec<Outcome>) {
        // The SDU of which all PDUs so far have come.
        let mut whole = Some(self.sdu);
        while self.vr_r <= sn {
            self.vr_r += 1;
            let Some(part) = self.later.pop_front().flatten() else {
                whole = None;
                continue;
            };
            if part.starts {
                whole = Some(part.sdu);
            }
            if part.ends {
                if whole == Some(part.sdu) {
                    self.pass(part, outcomes);
                }
                whole = Some(part.sdu + 1);
            }
        }
        self.lose_before(resume, outcomes);
        self.advance(outcomes);
    }

    /// Goes on to the next PDU that is missing.
    fn advance(&mut self, outcomes: &mut Vec<Outcome>) {
        while let Some(&Some(part)) = self.later.front() {
            self.later.pop_front();
            self.vr_r += 1;
            self.pass(part, outcomes);
        }
    }

    /// All PDUs up to this one have come, or all that matter.
    #[inline]
    fn pass(&mut self, part: Part, outcomes: &mut Vec<Outcome>) {
        // A PDU of a later SDU: what the sender gave up before it never ended.
        self.lose_before(part.sdu, outcomes);
        if part.ends {
            outcomes.push(Outcome::Delivered(part.sdu));
            self.sdu = part.sdu + 1;
            self.totals.delivered += 1;
        }
    }

    /// SDUs before this one, unless delivered, are lost.
    #[inline]
    fn lose_before(&mut self, sdu: u64, outcomes: &mut Vec<Outcome>) {
        while self.sdu < sdu {
            outcomes.push(Outcome::Lost(self.sdu));
            self.sdu += 1;
            self.totals.lost += 1;
        }
    }

    /// A report is to be sent, though nothing asks for it.
    pub fn want_report(&mut self) {
        self.wanted = true;
    }

    /// Whether a report is to be sent.
    #[inline]
    pub fn wants_report(&self) -> bool {
        self.wanted
    }

    /// How many bits of a bitmap are counted. The first of those sent, which says that the PDU before
    /// the first missing one has come, is not.
    #[inline]
    pub fn report_bits(&self) -> u32 {
        self.later.len() as u32
    }

    /// The report that leaves now, if one is to be sent: its first sequence number, and the PDUs received from there on, at most
    /// `limit` bits. The next one is prohibited until `prohibited`.
    pub fn take_report(&mut self, prohibited: Timer, limit: usize) -> Option<(u32, Vec<bool>)> {
        if !std::mem::take(&mut self.wanted) {
            return None;
        }
        self.prohibited = prohibited;
        self.totals.reports += 1;
        let mut received = Vec::with_capacity(1 + self.later.len());
        received.extend((self.vr_r > 0).then_some(true));
        received.extend(self.later.iter().map(Option::is_some));
        received.truncate(limit);
        Some((self.vr_r.saturating_sub(1), received))
    }

    /// The next timer; `Instant::MAX` if there is none.
    #[inline]
    pub fn next_timeout(&self) -> Instant {
        if self.remembered { self.prohibited.at } else { Instant::MAX }
    }

    /// A timer may have expired.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.remembered && self.prohibited.at <= now {
            self.remembered = false;
            self.wanted = true;
        }
    }

    /// How many PDUs wait for one that is missing.
    pub fn waiting(&self) -> usize {
        self.later.iter().flatten().count()
    }
}
