//! Admission: whether a cell has room for further dedicated channels, and the part of it in use.
//!
//! Dedicated channels (DCH) take of two things: of the rate that the cell may give away downlink, and of
//! its tree of codes. Both are reserved when the set-up begins.

use crate::radio::umts::ovsf::{Code, Spread, Tree};
use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::Probe;

use super::Cell;

/// What the dedicated channel down beside a downlink shared channel (DSCH) carries: signalling alone, at
/// 3.4 kbit/s (TS 34.108 §6.10.2.4.1.2).
const ASSOCIATED: BitRate = BitRate::from_bps(3_400);

/// What a cell has given away, and what it may.
pub(super) struct Admission {
    /// What the common channels take of the rate.
    common: BitRate,
    /// What each terminal's dedicated channels take.
    each: BitRate,
    spread: Spread,
    codes: Tree,
    /// How many terminals have dedicated channels, or are about to.
    granted: u64,
    /// How many of them another may take.
    preemptible: u64,
    /// How many the rate allows.
    most: u64,
    /// Until when the following have been added up.
    until: Instant,
    granted_time: f64,
    code_time: f64,
    full_time: Duration,
}

impl Admission {
    /// For a cell that may give away `budget`, with its common channels. If it has a shared channel, that
    /// is given away for good.
    pub fn new(budget: BitRate, cell: &Cell) -> Self {
        let mut codes = Tree::of_cell();
        if let Some(dsch) = cell.dsch {
            let taken = codes.take_all(Spread::of(dsch.rate), &mut Vec::new());
            debug_assert!(taken, "the check of the scenario made sure that there are codes for it");
        }
        let each = if cell.dsch.is_some() { ASSOCIATED } else { cell.dch_down.rate };
        let common = BitRate::from_bps(cell.fach.rate.as_bps() + cell.dsch.map_or(0, |dsch| dsch.rate.as_bps()));
        Self {
            common,
            each,
            spread: Spread::of(each),
            codes,
            granted: 0,
            preemptible: 0,
            most: budget.as_bps().saturating_sub(common.as_bps()) / each.as_bps(),
            until: Instant::ZERO,
            granted_time: 0.0,
            code_time: 0.0,
            full_time: Duration::ZERO,
        }
    }

    /// Whether dedicated channels for one more terminal fit.
    pub fn has_room(&self) -> bool {
        self.granted < self.most && self.codes.free_codes(self.spread.sf) >= self.spread.codes
    }

    /// Whether a terminal can be made to give up its channels.
    pub fn has_preemptible(&self) -> bool {
        self.preemptible > 0
    }

    /// Takes the codes of one terminal's dedicated channels, for which there must be room.
    pub fn grant(&mut self, now: Instant, codes: &mut Vec<Code>) {
        self.add_up(now);
        self.granted += 1;
        let taken = self.codes.take_all(self.spread, codes);
        debug_assert!(taken, "who asked made sure that there is room");
    }

    /// Takes back what a terminal had.
    pub fn release(&mut self, now: Instant, codes: &mut Vec<Code>) {
        self.add_up(now);
        self.granted -= 1;
        codes.drain(..).for_each(|code| self.codes.release(code));
    }

    /// One more, or one less, of the terminals that can be made to give up their channels.
    pub fn set_preemptible(&mut self, now: Instant, preemptible: bool) {
        self.add_up(now);
        if preemptible {
            self.preemptible += 1;
        } else {
            self.preemptible -= 1;
        }
    }

    /// How much was given away, on average over the run, and how long there was no room.
    pub fn sample(&self, now: Instant, probe: &mut dyn Probe) {
        let last = now.since(self.until);
        let seconds = now.as_secs_f64();
        let mean = |time: f64, present: f64| {
            let time = time + present * last.as_secs_f64();
            if seconds > 0.0 { time / seconds } else { 0.0 }
        };
        let granted = mean(self.granted_time, self.granted as f64);
        let full_time = self.full_time + if self.is_full() { last } else { Duration::ZERO };
        probe.value("dedicated", self.granted as f64);
        let (common, each) = (self.common.as_bps() as f64 / 1e3, self.each.as_bps() as f64 / 1e3);
        probe.value("occupancy_kbps", common + each * granted);
        probe.value("code_occupancy", mean(self.code_time, self.codes.used()));
        probe.value("full_s", full_time.as_secs_f64());
    }

    /// No further dedicated channels fit, and no terminal can be made to give up its channels.
    fn is_full(&self) -> bool {
        self.preemptible == 0 && !self.has_room()
    }

    /// Adds up what holds for the whole cell, before it changes.
    fn add_up(&mut self, now: Instant) {
        let time = now.since(self.until);
        self.granted_time += self.granted as f64 * time.as_secs_f64();
        self.code_time += self.codes.used() * time.as_secs_f64();
        if self.is_full() {
            self.full_time += time;
        }
        self.until = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::umts::channel::Rate;

    fn rate(kbps: u64) -> Rate {
        Rate { rate: BitRate::from_bps(kbps * 1000), tti: Duration::from_millis(10) }
    }

    fn admission(budget_kbps: u64, dch_kbps: u64) -> Admission {
        let cell = Cell { terminals: 1, cells: 1, fach: rate(32), dch_down: rate(dch_kbps), dsch: None };
        Admission::new(BitRate::from_bps(budget_kbps * 1000), &cell)
    }

    #[test]
    fn a_code_given_back_is_room_again() {
        let mut admission = admission(100_000, 384);
        let mut codes: Vec<Vec<Code>> = Vec::new();
        while admission.has_room() {
            codes.push(Vec::new());
            admission.grant(Instant::ZERO, codes.last_mut().unwrap());
        }
        admission.release(Instant::ZERO, &mut codes[3]);
        assert!(admission.has_room() && codes[3].is_empty());
    }

    #[test]
    fn the_rate_or_the_codes_decide_how_many_fit() {
        // ⌊(800 − 32)/64⌋ = 12; 31 codes of SF 32 beside the common channels; of SF 16 (128 kbit/s) 15, of
        // SF 8 (384 kbit/s) 7, of SF 4 three, all of which 2048 kbit/s take.
        for (budget, dch, most) in [
            (800, 64, 12),
            (95, 64, 0),
            (100_000, 64, 31),
            (100_000, 128, 15),
            (100_000, 384, 7),
            (100_000, 768, 3),
            (100_000, 2048, 1),
        ] {
            let mut admission = admission(budget, dch);
            let mut granted = 0;
            while admission.has_room() {
                admission.grant(Instant::ZERO, &mut Vec::new());
                granted += 1;
            }
            assert_eq!(granted, most, "{dch} kbit/s of {budget} kbit/s");
        }
    }
}
