//! The families there are, each with what compares it.

use std::path::Path;

use serde_json::Value;

use crate::index::{self, ReadCase};
use crate::report::Outcome;
use crate::{bins, compare, eurane, live, modern, random_loss, rlm, satellite, tfrc, trace_link};

/// Scenarios and their outcomes.
pub type Outcomes = Vec<(String, Outcome)>;

/// Compares the folder of a family, whose index this is, with this many threads.
type Compare = fn(&Path, Value, usize) -> Result<Outcomes, String>;

/// A family may come in several folders: tcp-scripted, tcp-scripted-more.
const FAMILIES: [(&str, Compare); 13] = [
    ("tcp-scripted", |folder, index, jobs| Ok(exact(folder, index::dumbbells(index)?, jobs))),
    ("tcp-droptail", |folder, index, jobs| Ok(exact(folder, index::dumbbells(index)?, jobs))),
    ("tcp-random-loss", |folder, index, jobs| Ok(random_loss::compare(&index::random_loss(folder, index)?, jobs))),
    ("handover", |folder, index, jobs| Ok(exact(folder, index::changing(index)?, jobs))),
    ("xcp", |folder, index, jobs| Ok(exact(folder, index::changing(index)?, jobs))),
    ("tfrc", tfrc::compare),
    ("satellite", satellite::compare),
    ("rlm", rlm::compare),
    ("rlc-am", eurane::rlc),
    ("switch", eurane::switch),
    ("tcp-fach", eurane::means),
    ("hsdpa", eurane::hsdpa),
    ("trace-link", trace_link::compare),
];

/// Compares a folder; `Err` names the fault of the folder itself.
pub fn folder(folder: &Path, jobs: usize) -> Result<Outcomes, String> {
    let index = index::read(folder)?;
    if index.get("entries").is_some() {
        return modern::compare(folder, index, jobs);
    }
    if index.get("cells").is_some() {
        return live::compare(folder, index, jobs);
    }
    let name = index.get("family").and_then(Value::as_str).unwrap_or_default();
    let is = |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    match FAMILIES.iter().find(|(known, _)| is(known)) {
        Some((_, compare)) => compare(folder, index, jobs),
        None => {
            let unsupported = |id| (id, Outcome::Unsupported("another kind of scenario".to_owned()));
            Ok(index::ids(&index).into_iter().map(unsupported).collect())
        }
    }
}

/// Deterministic scenarios, by events or by bins of time.
fn exact(folder: &Path, cases: Vec<ReadCase>, jobs: usize) -> Outcomes {
    let (bins, events): (Vec<_>, Vec<_>) =
        cases.into_iter().partition(|case| case.as_ref().is_ok_and(|case| case.bins));
    let bins: Vec<_> = bins.into_iter().filter_map(Result::ok).collect();
    compare::family(folder, &events, jobs).into_iter().chain(bins::family(folder, &bins, jobs)).collect()
}
