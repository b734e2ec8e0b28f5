//! Proportional fair: highest rate in the slot relative to the terminal's average throughput.
//!
//! The average of terminal i changes in each slot, whether or not it has something to send, by R ← (1 − 1/T) R + r/T,
//! where r is what it got in the slot and T the window in slots (Jalali, Padovani, Pankaj, *Data throughput of CDMA-HDR*,
//! VTC 2000).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault};

use super::{Candidate, Scheduler, SchedulerConfig, check_window, share_of_slot};

/// The terminal with the highest ratio of what the slot would carry to its average; of several, the one with the lowest
/// number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ProportionalFair")]
pub struct Config {
    /// Over which time the average goes back. Default: 2 s: 1000 slots of 2 ms, the number of slots that Jalali et
    /// al. take.
    pub window: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self { window: Duration::from_secs(2) }
    }
}

impl SchedulerConfig for Config {
    fn build(&self, slot: Duration) -> Box<dyn Scheduler> {
        Box::new(ProportionalFair { share: share_of_slot(slot, self.window), averages: Vec::new() })
    }

    fn check(&self) -> Result<(), Fault> {
        check_window(self.window)
    }
}

/// The scheduler.
struct ProportionalFair {
    /// What a slot counts in the average: 1/T.
    share: f64,
    averages: Vec<Average>,
}

/// What a terminal got on average.
#[derive(Clone, Copy, Default)]
struct Average {
    /// Bits per slot, before the slot `of`.
    bits: f64,
    of: u64,
}

impl ProportionalFair {
    /// The average of a terminal before a slot.
    fn before(&self, slot: u64, terminal: u32) -> f64 {
        let Some(average) = self.averages.get(terminal as usize) else { return 0.0 };
        average.bits * libm::pow(1.0 - self.share, slot.saturating_sub(average.of) as f64)
    }
}

impl Scheduler for ProportionalFair {
    fn order(&mut self, slot: u64, candidates: &mut [Candidate]) {
        // A terminal without throughput so far comes before all others.
        let gain = |candidate: &Candidate| f64::from(candidate.bits) / self.before(slot, candidate.terminal);
        candidates.sort_by_cached_key(|candidate| {
            // Positive numbers are in the order of their bits.
            (std::cmp::Reverse(gain(candidate).to_bits()), candidate.terminal)
        });
    }

    fn on_served(&mut self, slot: u64, terminal: u32, bits: u32) {
        let after = self.before(slot, terminal) * (1.0 - self.share) + self.share * f64::from(bits);
        if self.averages.len() <= terminal as usize {
            self.averages.resize(terminal as usize + 1, Average::default());
        }
        self.averages[terminal as usize] = Average { bits: after, of: slot + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidates, order};
    use super::*;

    fn scheduler(slots: u64) -> Box<dyn Scheduler> {
        let slot = Duration::from_millis(2);
        Config { window: slot * slots }.build(slot)
    }

    /// How often each terminal is served alone over `slots` slots in which all have something to send.
    fn shares(scheduler: &mut dyn Scheduler, of: &[(u32, f64, u32)], slots: u64) -> Vec<f64> {
        let mut served = vec![0; of.len()];
        for slot in 0..slots {
            let first = order(scheduler, slot, candidates(of))[0];
            scheduler.on_served(slot, first, of[first as usize].2);
            served[first as usize] += 1;
        }
        served.iter().map(|n| f64::from(*n) / slots as f64).collect()
    }

    #[test]
    fn steady_terminals_get_equal_time_whatever_their_rates() {
        // The maximum of Σ log R with R = x r and Σ x = 1 has equal x (Kelly 1997).
        let got = shares(&mut *scheduler(100), &[(0, 0.0, 2880), (1, 8.0, 14_400), (2, 3.5, 8640)], 30_000);
        for share in got {
            assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn the_average_follows_its_definition() {
        // T = 4: after a slot with 400 bits, 100; three slots without any, 100 · 0.75³ = 42.1875.
        let mut averages = ProportionalFair { share: 0.25, averages: Vec::new() };
        averages.on_served(7, 2, 400);
        assert!((averages.before(8, 2) - 100.0).abs() < 1e-12);
        assert!((averages.before(11, 2) - 42.1875).abs() < 1e-12);
        averages.on_served(11, 2, 400);
        assert!((averages.before(12, 2) - (42.1875 * 0.75 + 100.0)).abs() < 1e-12);
        assert_eq!(averages.before(12, 0), 0.0, "who was never served");
    }

    #[test]
    fn who_was_never_served_comes_first() {
        let mut scheduler = scheduler(100);
        scheduler.on_served(0, 0, 100);
        assert_eq!(order(&mut *scheduler, 1, candidates(&[(0, 0.0, 9000), (1, 0.0, 10), (2, 0.0, 10)])), [1, 2, 0]);
    }
}
