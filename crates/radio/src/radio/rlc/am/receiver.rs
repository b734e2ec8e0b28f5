//! The receiving side: received and missing PDUs, and the SDUs that they complete.
//!
//! Inside, sequence numbers do not wrap; those of the wire are seen from VR(R) (TS 25.322 §9.4).

use std::collections::VecDeque;

use crate::radio::arq::Outcome;
use crate::radio::rlc::pdu::Pdu;

use super::config::Config;
use super::mrw::Order;
use super::sn_set::{MODULUS, SnSet};

/// The progress of a partly received SDU.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// The PDUs with its first byte and its end.
    first: u64,
    last: u64,
    /// How many PDUs with a part of it have come.
    pdus: u32,
    /// Whether it was delivered before an earlier one.
    delivered: bool,
}

impl Progress {
    const NOTHING: Self = Self { first: NO_FIRST, last: NO_LAST, pdus: 0, delivered: false };

    /// Whether all of it has come.
    #[inline]
    fn is_complete(&self) -> bool {
        self.last.wrapping_sub(self.first).wrapping_add(1) == u64::from(self.pdus)
    }
}

/// Stand for PDUs that have not come yet. They lie so far from each other, and from every PDU, that no number of
/// PDUs lies between.
const NO_FIRST: u64 = 1 << 63;
const NO_LAST: u64 = 1 << 62;

/// The receiving side of an entity.
#[derive(Debug)]
pub struct Receiver {
    window: u64,
    in_sequence: bool,
    /// VR(R): the first PDU that has not come (§9.4 a).
    vr_r: u64,
    /// VR(H): the one after the highest that has come (§9.4 b).
    vr_h: u64,
    /// Those between that have not come.
    missing: SnSet,
    /// The first SDU without an outcome so far, and the progress of those from there on.
    next: u64,
    sdus: VecDeque<Progress>,
    /// Counts.
    pub delivered: u64,
    pub lost: u64,
    pub duplicates: u64,
}

impl Receiver {
    pub fn new(config: &Config) -> Self {
        Self {
            window: u64::from(config.window),
            in_sequence: config.in_sequence,
            vr_r: 0,
            vr_h: 0,
            missing: SnSet::new(),
            next: 0,
            sdus: VecDeque::new(),
            delivered: 0,
            lost: 0,
            duplicates: 0,
        }
    }

    /// VR(R).
    pub fn vr_r(&self) -> u64 {
        self.vr_r
    }

    /// VR(H).
    pub fn vr_h(&self) -> u64 {
        self.vr_h
    }

    /// Whether a PDU below VR(H) is missing.
    pub fn is_missing(&self, sn: u64) -> bool {
        self.missing.contains(sn)
    }

    /// The missing PDUs, from VR(R) on.
    pub fn missing(&self) -> impl Iterator<Item = u64> {
        std::iter::successors(self.missing.first_from(self.vr_r), |sn| {
            self.missing.first_from(sn + 1).filter(|next| *next < self.vr_h)
        })
    }

    /// Takes a PDU with data (§11.3.3). Whether PDUs before it are missing that were not known to be.
    #[inline]
    pub fn on_data(&mut self, pdu: &Pdu, outcomes: &mut Vec<Outcome>) -> bool {
        let ahead = self.ahead(pdu.sn);
        let sn = self.vr_r + ahead;
        let is_ahead = sn >= self.vr_h;
        // It lies outside the window, or has come before (§11.3.4.2, §11.3.4.8).
        if ahead >= self.window || (!is_ahead && !self.missing.remove(sn)) {
            self.duplicates += 1;
            return false;
        }
        let opens_gap = sn > self.vr_h;
        if is_ahead {
            (self.vr_h..sn).for_each(|missing| self.missing.insert(missing));
            self.vr_h = sn + 1;
        }
        if sn == self.vr_r {
            self.vr_r = self.missing.first_from(sn).unwrap_or(self.vr_h);
        }
        debug_assert!(self.is_in_window(), "VR(R) is the first PDU that is missing, and VR(H) not beyond VR(MR)");
        self.note(sn, pdu, outcomes);
        opens_gap
    }

    /// Whether VR(R) to VR(H) lie in the window, and VR(R) is missing unless nothing is (TS 25.322 §9.4).
    fn is_in_window(&self) -> bool {
        let first_missing = self.vr_r == self.vr_h || self.missing.contains(self.vr_r);
        self.vr_r <= self.vr_h && self.vr_h - self.vr_r <= self.window && first_missing
    }

    /// Moves the window as the far end asks (§11.6.3). What that leaves: VR(R), and the indicator of the
    /// PDU there, if it is the one asked for (§11.6.3.1).
    pub fn on_order(&mut self, sn: u32, end: u8, kept: u64, outcomes: &mut Vec<Outcome>) -> Order {
        let ahead = self.ahead(sn);
        // What seems to lie further ahead than half of the numbers lies behind: an old order.
        let wanted = if ahead <= MODULUS / 2 { self.vr_r + ahead } else { self.vr_r };
        let outdated = ahead > MODULUS / 2;
        for passed in self.vr_r..wanted {
            self.missing.remove(passed);
        }
        self.vr_h = self.vr_h.max(wanted);
        if wanted > self.vr_r {
            self.vr_r = self.missing.first_from(wanted).unwrap_or(self.vr_h);
        }
        debug_assert!(self.is_in_window(), "an order moves the window, and all that is in it");
        self.lose_before(kept, |progress| progress.is_complete(), outcomes);
        self.deliver(outcomes);
        let end = if self.vr_r == wanted && !outdated { end } else { 0 };
        Order { sn: self.vr_r, end, kept }
    }

    /// Starts anew: all that has come is discarded, and the far end goes on with the SDU `kept`
    /// (§11.4.3).
    pub fn reset(&mut self, kept: u64, outcomes: &mut Vec<Outcome>) {
        self.lose_before(kept, |_| false, outcomes);
        self.sdus.clear();
        self.missing.clear();
        (self.vr_r, self.vr_h) = (0, 0);
    }

    /// How far a sequence number of the wire lies from VR(R) on.
    #[inline]
    fn ahead(&self, sn: u32) -> u64 {
        u64::from(sn).wrapping_sub(self.vr_r) % MODULUS
    }

    /// Notes what a new PDU carries, and delivers what it completes.
    #[inline]
    fn note(&mut self, sn: u64, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
        let first = if pdu.starts { sn } else { NO_FIRST };
        if pdu.ends == 0 {
            self.count(pdu.sdu, first, NO_LAST, outcomes);
        } else {
            let ended = pdu.sdu + u64::from(pdu.ends);
            self.count(pdu.sdu, first, sn, outcomes);
            (pdu.sdu + 1..ended).for_each(|sdu| self.count(sdu, sn, sn, outcomes));
            if pdu.goes_on {
                self.count(ended, sn, NO_LAST, outcomes);
            }
        }
        self.deliver(outcomes);
    }

    /// Counts a PDU with a part of an SDU: its first, its last, or another.
    #[inline(always)]
    fn count(&mut self, sdu: u64, first: u64, last: u64, outcomes: &mut Vec<Outcome>) {
        let Some(place) = sdu.checked_sub(self.next).map(|place| place as usize) else { return };
        if place >= self.sdus.len() {
            self.make_room(place);
        }
        let progress = &mut self.sdus[place];
        progress.pdus += 1;
        if first != NO_FIRST {
            progress.first = first;
        }
        if last != NO_LAST {
            progress.last = last;
        }
        if !self.in_sequence && progress.is_complete() {
            progress.delivered = true;
            outcomes.push(Outcome::Delivered(sdu));
            self.delivered += 1;
        }
    }

    /// The first PDU of an SDU has come: most PDUs are not the first.
    #[cold]
    fn make_room(&mut self, place: usize) {
        self.sdus.resize(place + 1, Progress::NOTHING);
    }

    /// Delivers complete SDUs, up to the first that is not.
    #[inline]
    fn deliver(&mut self, outcomes: &mut Vec<Outcome>) {
        while let Some(front) = self.sdus.front() {
            if !front.is_complete() {
                return;
            }
            if !front.delivered {
                outcomes.push(Outcome::Delivered(self.next));
                self.delivered += 1;
            }
            self.sdus.pop_front();
            self.next += 1;
        }
    }

    /// Ends all SDUs before `kept`: those that `keeps` says are delivered, the others lost.
    fn lose_before(&mut self, kept: u64, keeps: impl Fn(&Progress) -> bool, outcomes: &mut Vec<Outcome>) {
        while self.next < kept {
            let progress = self.sdus.pop_front().unwrap_or(Progress::NOTHING);
            let sdu = self.next;
            self.next += 1;
            if progress.delivered {
                continue;
            }
            if keeps(&progress) {
                outcomes.push(Outcome::Delivered(sdu));
                self.delivered += 1;
            } else {
                outcomes.push(Outcome::Lost(sdu));
                self.lost += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 25.322 §11.3.4.2: the window ends below VR(MR) = VR(R) + Configured_Rx_Window_size.
    #[test]
    fn a_pdu_at_vr_mr_is_discarded() {
        let mut receiver = Receiver::new(&Config { window: 4, ..Config::default() });
        let mut takes = |sn| {
            receiver.on_data(&Pdu { sn, ..Pdu::default() }, &mut Vec::new());
            (receiver.vr_h(), receiver.duplicates)
        };
        assert_eq!([takes(4), takes(3)], [(0, 1), (4, 1)]);
    }

    #[test]
    fn variables_that_do_not_fit_are_seen() {
        let mut receiver = Receiver::new(&Config { window: 4, ..Config::default() });
        assert!(receiver.is_in_window());
        receiver.vr_h = 2;
        assert!(!receiver.is_in_window(), "VR(R) has come");
        receiver.missing.insert(0);
        assert!(receiver.is_in_window());
        receiver.vr_h = 5;
        assert!(!receiver.is_in_window(), "VR(H) lies beyond VR(MR)");
    }
}
