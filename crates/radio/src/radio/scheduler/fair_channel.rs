//! Fair channel-dependent: highest SIR relative to the terminal's own average (FCDS, as in EURANE).
//!
//! The terminal's average is the mean m and the variance v of the signal-to-interference ratio x in dB, over slots in which it has
//! something to send and others: in each m ← α m + (1 − α) x, then v ← α v + (1 − α) (x − m)².

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Decibel, Duration, Fault};

use super::{Candidate, Scheduler, SchedulerConfig, check_window, share_of_slot};

/// The terminal whose ratio lies most standard deviations above its mean; of several, the one with the lowest number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "FairChannel")]
pub struct Config {
    /// Over which time mean and variance go back. Default: 2 s: 1000 slots of 2 ms, α = 0.999
    /// (EURANE).
    pub window: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self { window: Duration::from_secs(2) }
    }
}

impl SchedulerConfig for Config {
    fn build(&self, slot: Duration) -> Box<dyn Scheduler> {
        Box::new(FairChannel { alpha: 1.0 - share_of_slot(slot, self.window), usual: Vec::new() })
    }

    fn check(&self) -> Result<(), Fault> {
        check_window(self.window)
    }
}

/// The scheduler.
struct FairChannel {
    /// What the past counts in the averages.
    alpha: f64,
    usual: Vec<Option<Usual>>,
}

/// Mean and variance of a terminal's ratio.
#[derive(Clone, Copy)]
struct Usual {
    mean: f64,
    variance: f64,
}

impl FairChannel {
    /// How many standard deviations a candidate lies above its mean.
    fn above(&self, candidate: &Candidate) -> f64 {
        match self.usual.get(candidate.terminal as usize) {
            Some(Some(Usual { mean, variance })) if *variance > 0.0 => (candidate.sir.db() - mean) / variance.sqrt(),
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
        let usual = &mut self.usual[terminal as usize];
        let Some(Usual { mean, variance }) = usual else {
            *usual = Some(Usual { mean: sir.db(), variance: 0.0 });
            return;
        };
        // The effect of `slots` steps with one ratio.
        let past = libm::pow(self.alpha, slots as f64);
        let away = *mean - sir.db();
        *variance = past * (*variance + away * away * self.alpha * (1.0 - past));
        *mean = sir.db() + away * past;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Watch;
    use super::super::testing::{candidates, order};
    use super::*;
    use crate::radio::imposed::NO_SIGNAL;

    fn scheduler() -> Box<dyn Scheduler> {
        Config::default().build(Duration::from_millis(2))
    }

    #[test]
    fn many_slots_at_once_are_as_many_single_ones() {
        let (mut mean, mut variance): (f64, f64) = (50.0, 0.0);
        let mut averages = FairChannel { alpha: 0.999, usual: Vec::new() };
        averages.on_quality(3, Decibel::new(50.0), 1);
        for (db, slots) in [(54.0, 250), (48.0, 1), (48.0, 7), (60.0, 2000)] {
            for _ in 0..slots {
                // The definition, step by step.
                mean = 0.999 * mean + 0.001 * db;
                variance = 0.999 * variance + 0.001 * (db - mean) * (db - mean);
            }
            averages.on_quality(3, Decibel::new(db), slots);
            let usual = averages.usual[3].unwrap();
            assert!((usual.mean - mean).abs() < 1e-9 && (usual.variance - variance).abs() < 1e-9);
        }
    }

    #[test]
    fn who_is_better_off_than_usual_comes_first() {
        let mut scheduler = scheduler();
        for (terminal, usual, now) in [(0, 20.0, 19.0), (1, 4.0, 6.0), (2, 10.0, 10.0)] {
            scheduler.on_quality(terminal, Decibel::new(usual), 1);
            scheduler.on_quality(terminal, Decibel::new(now), 100);
        }
        // Terminal 2 has no variance, and so lies at its mean.
        assert_eq!(order(&mut *scheduler, 101, candidates(&[(0, 19.0, 8), (1, 6.0, 8), (2, 10.0, 8)])), [1, 2, 0]);
    }

    /// A terminal that comes back from 20 s without coverage lies where it lay before, not 150 standard deviations above a mean of that time.
    #[test]
    fn slots_without_coverage_have_no_quality() {
        let orders = [5.0, NO_SIGNAL.db()].map(|gap| {
            let (mut scheduler, mut watch) = (scheduler(), Watch::new(0));
            let air = |terminal: u32, slot: u64| match (terminal, slot) {
                (0, 1_000..11_000) => (Decibel::new(gap), 10_999),
                // Above and below 5 dB by turns.
                _ if (slot / 10 + u64::from(terminal)).is_multiple_of(2) => (Decibel::new(7.0), slot),
                _ => (Decibel::new(3.0), slot),
            };
            watch.tell(&mut *scheduler, 11_200, [0, 1].into_iter(), air);
            order(&mut *scheduler, 11_201, candidates(&[(0, 5.0, 8), (1, 6.0, 8)]))
        });
        assert_eq!(orders, [[1, 0], [1, 0]]);
    }

    #[test]
    fn among_those_whose_air_stays_the_lowest_number_comes_first() {
        let mut scheduler = scheduler();
        for slots in [1, 500] {
            for (terminal, db) in [(0, -6.2), (1, -2.16), (2, 1.92)] {
                scheduler.on_quality(terminal, Decibel::new(db), slots);
            }
        }
        assert_eq!(order(&mut *scheduler, 501, candidates(&[(0, -6.2, 8), (1, -2.16, 8), (2, 1.92, 8)])), [0, 1, 2]);
    }
}
