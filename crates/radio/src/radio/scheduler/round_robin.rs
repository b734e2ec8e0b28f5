//! Round robin: the terminals in turn, from the one after that served last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Duration;

use super::{Candidate, Scheduler, SchedulerConfig};

/// The terminals in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RoundRobin")]
pub struct Config {}

impl SchedulerConfig for Config {
    fn build(&self, _slot: Duration) -> Box<dyn Scheduler> {
        Box::new(RoundRobin { next: 0 })
    }
}

/// The scheduler.
struct RoundRobin {
    /// The number from which on the turn goes.
    next: u32,
}

impl Scheduler for RoundRobin {
    fn order(&mut self, _slot: u64, candidates: &mut [Candidate]) {
        let before = candidates.iter().take_while(|candidate| candidate.terminal < self.next).count();
        candidates.rotate_left(before);
    }

    fn on_served(&mut self, _slot: u64, terminal: u32, _bits: u32) {
        self.next = terminal + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidates, order};
    use super::*;

    #[test]
    fn the_turn_goes_on_after_who_was_served_last() {
        let mut scheduler = Config::default().build(Duration::from_millis(2));
        let all = || candidates(&[(1, 0.0, 8), (4, 9.0, 8), (7, 3.0, 8)]);
        assert_eq!(order(&mut *scheduler, 0, all()), [1, 4, 7]);
        for (served, expected) in [(1, [4, 7, 1]), (4, [7, 1, 4]), (5, [7, 1, 4]), (7, [1, 4, 7])] {
            scheduler.on_served(0, served, 8);
            assert_eq!(order(&mut *scheduler, 1, all()), expected, "after {served}");
        }
    }
}
