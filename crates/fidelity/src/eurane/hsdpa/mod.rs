//! The family `hsdpa`: terminals on one HS-DSCH. Decisions and events are compared one by one, with ns-2's draws where any matter. If those
//! are not the reference's, what each terminal got from 5 s to 30 s is compared by means.

mod draws;
mod events;
mod index;
mod runs;
mod slots;
mod watch;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::families::Outcomes;
use crate::in_parallel;
use crate::report::Outcome;

use index::Scenario;

/// Compares the scenarios of a folder.
pub fn compare(folder: &Path, value: Value, jobs: usize) -> Result<Outcomes, String> {
    let scenarios = index::read(value)?;
    let reference = runs::read(&folder.join("runs.csv"))?;
    let (exact, random): (Vec<_>, Vec<_>) = scenarios.into_iter().partition(Scenario::draws_nothing);
    let mut variants: BTreeMap<String, Vec<Scenario>> = BTreeMap::new();
    for scenario in random {
        variants.entry(scenario.variant().to_owned()).or_default().push(scenario);
    }
    let variants: Vec<(String, Vec<Scenario>)> = variants.into_iter().collect();
    let exact = in_parallel(jobs, &exact, |scenario| one_by_one(folder, scenario, &reference));
    let random = in_parallel(jobs, &variants, |(variant, scenarios)| {
        let replayed: Outcomes = scenarios.iter().flat_map(|it| one_by_one(folder, it, &reference)).collect();
        if replayed.iter().all(|(_, outcome)| matches!(outcome, Outcome::Same(_))) {
            return replayed;
        }
        let outcome = runs::compare_random(scenarios, &reference).unwrap_or_else(Outcome::Failed);
        vec![(variant.clone(), outcome)]
    });
    Ok(exact.into_iter().chain(random).flatten().collect())
}

/// A scenario of one seed: its decisions, its events if they are recorded, and its means.
fn one_by_one(folder: &Path, scenario: &Scenario, reference: &runs::Reference) -> Outcomes {
    let id = |what: &str| format!("{} {what}", scenario.id);
    let seen = match watch::run(scenario, scenario.seed, true) {
        Ok(seen) => seen,
        Err(message) => return vec![(scenario.id.clone(), Outcome::Failed(message))],
    };
    let decisions = slots::compare(&folder.join(&scenario.slots_file), &seen);
    let mut outcomes = vec![(id("decisions"), decisions.unwrap_or_else(Outcome::Failed))];
    if let Some(file) = &scenario.events_file {
        outcomes.push((id("events"), events::compare(&folder.join(file), &seen).unwrap_or_else(Outcome::Failed)));
    }
    outcomes.push((id("means"), runs::compare_exact(scenario, reference, &seen).unwrap_or_else(Outcome::Failed)));
    outcomes
}
