//! Differences whose cause is known. `differences.json` in the folder of a family gives it, by scenario.

use std::collections::BTreeMap;
use std::path::Path;

use crate::families::Outcomes;
use crate::report::Outcome;

/// Gives the differences of a folder that are known their cause. One that is no longer there is a failure.
///
/// # Errors
/// If the file of causes is not understood.
pub fn explain(folder: &Path, outcomes: Outcomes) -> Result<Outcomes, String> {
    let Ok(text) = std::fs::read_to_string(folder.join("differences.json")) else { return Ok(outcomes) };
    let causes: BTreeMap<String, String> = serde_json::from_str(&text).map_err(|e| format!("differences.json: {e}"))?;
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
    Ok(explained.chain(stale).collect())
}
