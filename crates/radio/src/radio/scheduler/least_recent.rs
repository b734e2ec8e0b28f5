//! The longest wait first: EURANE's round robin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Duration;

use super::{Candidate, Scheduler, SchedulerConfig};

/// The terminal that was served longest ago, where one for which something begins to wait counts as served then; of several, the
/// one with the lowest number. Unlike in a fixed turn, a terminal that has something to send now and then comes after those that wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "LeastRecent")]
pub struct Config {}

impl SchedulerConfig for Config {
    fn build(&self, _slot: Duration) -> Box<dyn Scheduler> {
        Box::new(LeastRecent)
    }
}

/// The scheduler.
struct LeastRecent;

impl Scheduler for LeastRecent {
    fn order(&mut self, _slot: u64, candidates: &mut [Candidate]) {
        candidates.sort_unstable_by_key(|candidate| (candidate.since, candidate.terminal));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidates, order};
    use super::*;
    use lasthop_net::engine::Instant;

    #[test]
    fn who_has_waited_longest_comes_first_and_ties_go_to_the_lowest_number() {
        let mut scheduler = Config::default().build(Duration::from_millis(2));
        let mut all = candidates(&[(0, 9.0, 8), (1, -4.0, 8), (2, 3.0, 8), (3, 3.0, 8)]);
        for (candidate, ms) in all.iter_mut().zip([8, 6, 2, 2]) {
            candidate.since = Instant::ZERO + Duration::from_millis(ms);
        }
        assert_eq!(order(&mut *scheduler, 5, all), [2, 3, 1, 0]);
    }
}
