//! Fair channel-dependent scheduling as EURANE computes it (`hsdpalink.cc`).
//!
//! The rule is that of [`fair_channel`](lasthop_radio::radio::scheduler::fair_channel), but of the power received, 40 dB and 1 dB for each
//! step of the CQI, and means and variances are kept in single precision. So they come to rest near the values to which they tend: a mean
//! within 2 mdB. Terminals that lie equally far above their means by the rule, such as two whose CQI goes up and down together, differ
//! by roundings here, and these say whose slot it is for seconds at a time.

use lasthop_net::engine::Decibel;
use lasthop_radio::radio::rate_map::cqi;
use lasthop_radio::radio::scheduler::{Candidate, Scheduler};

/// The scheduler.
#[derive(Default)]
pub struct FairChannel {
    usual: Vec<Option<Usual>>,
}

/// Mean and variance of a terminal's power.
#[derive(Clone, Copy, PartialEq)]
struct Usual {
    mean: f32,
    variance: f32,
}

/// `alpha_`.
const ALPHA: f64 = 0.999;

/// The power of the first transmission of a block.
fn power(sir: Decibel) -> f32 {
    40.0 + f32::from(cqi::of_sir(sir))
}

impl Usual {
    /// A slot with this power.
    fn next(self, power: f32) -> Self {
        let mean = (f64::from(self.mean) * ALPHA + (1.0 - ALPHA) * f64::from(power)) as f32;
        let away = f64::from(power - mean);
        let variance = (f64::from(self.variance) * ALPHA + (1.0 - ALPHA) * (away * away)) as f32;
        Self { mean, variance }
    }
}

impl FairChannel {
    /// How many standard deviations a candidate lies above its mean.
    fn above(&self, candidate: &Candidate) -> f32 {
        match self.usual.get(candidate.terminal as usize) {
            Some(Some(Usual { mean, variance })) if *variance > 0.0 => (power(candidate.sir) - mean) / variance.sqrt(),
            _ => 0.0,
        }
    }
}

impl Scheduler for FairChannel {
    fn order(&mut self, _slot: u64, candidates: &mut [Candidate]) {
        // They are given by number, and a stable order keeps that among equals.
        candidates.sort_by(|a, b| self.above(b).total_cmp(&self.above(a)));
    }

    fn watches(&self) -> bool {
        true
    }

    fn on_quality(&mut self, terminal: u32, sir: Decibel, slots: u64) {
        if self.usual.len() <= terminal as usize {
            self.usual.resize(terminal as usize + 1, None);
        }
        let (power, usual) = (power(sir), &mut self.usual[terminal as usize]);
        let mut slots = slots;
        let mut state = usual.unwrap_or_else(|| {
            slots -= 1;
            Usual { mean: power, variance: 0.0 }
        });
        // Single precision comes to rest within some 100,000 slots, however long the air stays the same.
        for _ in 0..slots {
            let next = state.next(power);
            if next == state {
                break;
            }
            state = next;
        }
        *usual = Some(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Instant;

    /// The terminals that come first in each of these slots, with something to send to all, by CQI patterns as runs.
    fn first(patterns: &[&[(u64, u8)]], slots: u64) -> Vec<u32> {
        let cqi = |terminal: usize, slot: u64| {
            let runs = patterns[terminal];
            let mut left = slot % runs.iter().map(|(length, _)| length).sum::<u64>();
            for (length, cqi) in runs {
                match left.checked_sub(*length) {
                    None => return *cqi,
                    Some(rest) => left = rest,
                }
            }
            unreachable!("a slot within the pattern")
        };
        let mut scheduler = FairChannel::default();
        let of_slot = |slot| {
            let candidate = |terminal: usize| Candidate {
                terminal: terminal as u32,
                sir: cqi::to_sir(cqi(terminal, slot)),
                bits: 320,
                since: Instant::ZERO,
            };
            let mut candidates: Vec<Candidate> = (0..patterns.len()).map(candidate).collect();
            candidates.iter().for_each(|it| scheduler.on_quality(it.terminal, it.sir, 1));
            scheduler.order(slot, &mut candidates);
            candidates[0].terminal
        };
        (0..slots).map(of_slot).collect()
    }

    const LOW_HIGH: &[(u64, u8)] = &[(250, 8), (250, 16)];

    /// What a program of C++17 with EURANE's lines gives. By the rule the two lie equally far above their means in every slot, and double
    /// precision gives the first 2805 of 8000.
    #[test]
    fn roundings_choose_between_those_whose_air_changes_together() {
        assert!(first(&[LOW_HIGH, &[(250, 12), (250, 20)]], 8_000).iter().all(|terminal| *terminal == 0));
        let second =
            first(&[LOW_HIGH, &[(250, 12), (250, 16)]], 8_000).iter().filter(|terminal| **terminal == 1).count();
        assert_eq!(second, 6_914);
    }

    #[test]
    fn the_one_that_is_better_off_than_usual_comes_first() {
        let turns = first(&[LOW_HIGH, &[(250, 16), (250, 8)]], 4_000);
        assert_eq!([600, 800, 3_100, 3_300].map(|slot| turns[slot]), [1, 0, 1, 0]);
    }

    #[test]
    fn a_long_time_without_change_is_many_slots() {
        let mut schedulers = [FairChannel::default(), FairChannel::default()];
        for (cqi, slots) in [(8, 1), (16, 700), (9, 200_000), (14, 5)] {
            let sir = cqi::to_sir(cqi);
            schedulers[0].on_quality(2, sir, slots);
            (0..slots).for_each(|_| schedulers[1].on_quality(2, sir, 1));
            assert!(schedulers[0].usual == schedulers[1].usual, "{slots} slots with CQI {cqi}");
        }
        schedulers[0].on_quality(0, cqi::to_sir(9), u64::MAX);
    }
}
