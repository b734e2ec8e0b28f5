//! Logs of today's congestion controls, made by their own code: inputs and outputs of each, in one folder with one index.
//!
//! An index has a list `entries`; each names its file, the controller it is of (`source`), and how it can be compared (`kind`). Exact ones
//! are replayed: the inputs go into the arithmetic of the core, and each output is compared. Of trajectories the same run is made, and
//! summaries are compared; so of ns-3's runs, which count as statistical.

mod cc;
mod gcc;
mod log;
mod nada;
mod ns3;
mod prague;
mod scream;
mod trajectory;

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::families::Outcomes;
use crate::report::Outcome;
use crate::{in_parallel, index};

/// The index. Fields for readers are ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Index {
    made: Option<IgnoredAny>,
    rule: Option<IgnoredAny>,
    harness_cc: Option<IgnoredAny>,
    columns_cc_trajectory: Option<IgnoredAny>,
    checked: Option<IgnoredAny>,
    implementations_disagree: Option<IgnoredAny>,
    rejected: Option<IgnoredAny>,
    entries: Vec<Value>,
}

/// A log.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Entry {
    file: String,
    half: Option<IgnoredAny>,
    bytes: Option<IgnoredAny>,
    sha256: Option<IgnoredAny>,
    source: String,
    algorithm: Option<IgnoredAny>,
    implementation: Option<IgnoredAny>,
    /// The implementation, of QUIC's controllers.
    who: Option<String>,
    scenario: Option<String>,
    path: Option<Value>,
    kind: Kind,
    segment_bytes: Option<u64>,
    note: Option<IgnoredAny>,
    #[serde(rename = "use")]
    usage: Option<IgnoredAny>,
    how_sure: Option<IgnoredAny>,
}

/// How a log can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Input by input, output by output.
    Exact,
    /// The same path, by summaries.
    Trajectory,
    /// Another simulator, by summaries.
    Statistical,
}

/// Replays a log.
type Replay = fn(&Path) -> Result<Outcome, String>;

/// Of which sources exact logs are replayed.
const EXACT: [(&str, Replay); 4] =
    [("nada", nada::replay), ("gcc", gcc::replay), ("prague", prague::replay), ("scream", scream::replay)];

/// Makes the run of a log again, by what its name says.
type Rerun = fn(&Path, &str) -> Result<Outcome, String>;

/// Of which sources trajectories are.
const TRAJECTORIES: [(&str, Rerun); 3] =
    [("gcc", trajectory::gcc::replay), ("prague", trajectory::prague::replay), ("scream", scream::rerun)];

/// Compares a log of a folder by all that the index says of it and of others.
type Compare = fn(&Path, &Entry, &[Value]) -> Result<Outcome, String>;

/// Of which sources all logs are.
const ALL: [(&str, Compare); 2] = [("cc", cc::compare), ("ns3", ns3::compare)];

/// Compares the logs of an index.
pub fn compare(folder: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    let index: Index = index::file(index)?;
    Ok(in_parallel(jobs, &index.entries, |entry| {
        let file = entry.get("file").and_then(Value::as_str).unwrap_or("without file");
        let name = file.strip_suffix(".csv").unwrap_or(file).to_owned();
        let outcome = Entry::deserialize(entry)
            .map_err(|error| error.to_string())
            .and_then(|entry| one(folder, &entry, &index.entries));
        (name, outcome.unwrap_or_else(Outcome::Failed))
    }))
}

fn one(folder: &Path, entry: &Entry, entries: &[Value]) -> Result<Outcome, String> {
    let file = folder.join(&entry.file);
    let of = |source: &str| source == entry.source;
    if let Some((_, compare)) = ALL.iter().find(|(source, _)| of(source)) {
        return compare(folder, entry, entries);
    }
    let replay = EXACT.iter().find(|(source, _)| entry.kind == Kind::Exact && of(source));
    let rerun = TRAJECTORIES.iter().find(|(source, _)| entry.kind == Kind::Trajectory && of(source));
    match (replay, rerun) {
        (Some((_, replay)), _) => replay(&file),
        (None, Some((_, rerun))) => rerun(&file, &entry.file),
        (None, None) => Ok(Outcome::Unsupported("another kind of log".to_owned())),
    }
}
