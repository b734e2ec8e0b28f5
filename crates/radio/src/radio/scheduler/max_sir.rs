//! The best signal first: SIR scheduling, or maximum C/I.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Duration;

use super::{Candidate, Scheduler, SchedulerConfig};

/// The terminal with the highest signal-to-interference ratio first; of several, the one with the lowest number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "MaxSir")]
pub struct Config {}

impl SchedulerConfig for Config {
    fn build(&self, _slot: Duration) -> Box<dyn Scheduler> {
        Box::new(MaxSir)
    }
}

/// The scheduler.
struct MaxSir;

impl Scheduler for MaxSir {
    fn order(&mut self, _slot: u64, candidates: &mut [Candidate]) {
        // Stable: of equals the one with the lowest number stays first.
        candidates.sort_by(|a, b| b.sir.db().total_cmp(&a.sir.db()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidates, order};
    use super::*;

    #[test]
    fn the_best_comes_first_and_ties_go_to_the_lowest_number() {
        let mut scheduler = Config::default().build(Duration::from_millis(2));
        let all = candidates(&[(0, -4.0, 8), (1, 8.5, 8), (2, 3.0, 8), (3, 8.5, 8)]);
        scheduler.on_served(0, 1, 8);
        assert_eq!(order(&mut *scheduler, 1, all), [1, 3, 2, 0]);
    }
}
