//! Differences whose cause is known. `differences.json` in the folder of a family gives it, by scenario.

use std::collections::BTreeMap;
use std::path::Path;

use crate::report::Outcome;

/// Scenarios and what came of them.
type Outcomes = Vec<(String, Outcome)>;

/// Gives the differences of a folder that are known their cause. One that is no longer there is a failure.
pub fn explain(folder: &Path, outcomes: Outcomes) -> Outcomes {
    let Ok(text) = std::fs::read_to_string(folder.join("differences.json")) else { return outcomes };
    let causes: BTreeMap<String, String> = match serde_json::from_str(&text) {
        Ok(causes) => causes,
        Err(e) => return vec![(String::new(), Outcome::Failed(format!("differences.json: {e}")))],
    };
    let gone = |scenario: &str| !outcomes.iter().any(|(s, o)| s == scenario && matches!(o, Outcome::Differs(..)));
    let stale: Vec<String> = causes.keys().filter(|scenario| gone(scenario)).cloned().collect();
    let stale = stale.into_iter().map(|s| (s, Outcome::Failed("differences.json: it does not differ".to_owned())));
    let explained = outcomes.into_iter().map(|(scenario, outcome)| {
        let outcome = match (outcome, causes.get(&scenario)) {
            (Outcome::Differs(count, first), Some(cause)) => Outcome::Explained(count, first, cause.clone()),
            (outcome, _) => outcome,
        };
        (scenario, outcome)
    });
    explained.chain(stale).collect()
}
