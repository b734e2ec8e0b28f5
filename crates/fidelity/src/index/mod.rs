//! The description of a family, as its `index.json` has it. Every level refuses keys that it
//! does not know.
//!
//! [`Network`] is what all forms of description come to. Each form has a file of its own.

mod dumbbell;
mod handover;
mod model;
mod parts;
mod random_loss;

pub use model::{Case, Change, Direction, Flow, Network, Tcp, XcpRouter};
pub use random_loss::{RandomLoss, Summary};

use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use dumbbell::Dumbbell;
use handover::Handover;
use random_loss::RandomLossFile;

/// A scenario, or its name and the part that is not understood.
pub type ReadCase = Result<Case, (String, String)>;

/// The index of a folder.
///
/// # Errors
/// If it cannot be read, or is no index.
pub fn read(folder: &Path) -> Result<Value, String> {
    let file = folder.join("index.json");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("index.json: {e}"))
}

/// The scenarios of an index on a dumbbell that stays as it is.
///
/// # Errors
/// If it is not understood.
pub fn dumbbells(index: Value) -> Result<Vec<ReadCase>, String> {
    exact::<Dumbbell>(index)
}

/// The scenarios of an index on a dumbbell that changes.
///
/// # Errors
/// If it is not understood.
pub fn changing(index: Value) -> Result<Vec<ReadCase>, String> {
    exact::<Handover>(index)
}

/// The deterministic scenarios of tfrc, and the statistical ones.
///
/// # Errors
/// If it is not understood.
pub fn tfrc(index: Value) -> Result<(Vec<ReadCase>, Vec<Value>), String> {
    let file: TfrcFile = file(index)?;
    Ok((cases::<Handover>(file.exact_scenarios), file.statistical))
}

/// One network, several variants and loss rates, many seeds.
///
/// # Errors
/// If it is not understood.
pub fn random_loss(folder: &Path, index: Value) -> Result<RandomLoss, String> {
    file::<RandomLossFile>(index)?.describe(folder)
}

/// An index of a known form.
///
/// # Errors
/// If it is not understood.
pub fn file<T: DeserializeOwned>(index: Value) -> Result<T, String> {
    serde_json::from_value(index).map_err(|e| format!("index.json: {e}"))
}

/// The names of all scenarios in an index of whatever form.
pub fn ids(value: &Value) -> Vec<String> {
    let lists = value.as_object().into_iter().flat_map(|o| o.values()).filter_map(Value::as_array);
    let mut ids: Vec<String> = lists.flatten().filter_map(|s| s.get("id")?.as_str()).map(str::to_owned).collect();
    if ids.is_empty() {
        ids.push(String::new());
    }
    ids
}

/// The network of a scenario that is part of a larger description.
///
/// # Errors
/// If it is not understood.
pub fn part(scenario: &Value) -> Result<Network, String> {
    let mut scenario = scenario.clone();
    if let Some(scenario) = scenario.as_object_mut() {
        scenario.insert("id".to_owned(), "scenario".into());
        scenario.insert("file".to_owned(), "".into());
    }
    let scenario: Handover = serde_json::from_value(scenario).map_err(|e| format!("scenario: {e}"))?;
    Ok(scenario.describe()?.network)
}

trait Description: for<'de> Deserialize<'de> {
    fn describe(self) -> Result<Case, String>;
}

fn exact<D: Description>(index: Value) -> Result<Vec<ReadCase>, String> {
    let file: ExactFile = file(index)?;
    let exact = file.scenarios.into_iter().chain(file.exact_scenarios).collect();
    let (mut all, bins) = (cases::<D>(exact), cases::<D>(file.dumbbells));
    all.extend(bins.into_iter().map(|case| case.map(|case| Case { bins: true, ..case })));
    Ok(all)
}

fn cases<D: Description>(scenarios: Vec<Value>) -> Vec<ReadCase> {
    let cases = scenarios.into_iter().map(|scenario| {
        let id = scenario.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        let read = serde_json::from_value::<D>(scenario).map_err(|e| e.to_string());
        read.and_then(D::describe).map_err(|e| (id, e))
    });
    cases.collect()
}

/// An index of deterministic scenarios. Fields for readers are ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct ExactFile {
    family: String,
    simulator: IgnoredAny,
    columns: IgnoredAny,
    quirks: IgnoredAny,
    comparison: Option<IgnoredAny>,
    tfrc_sensitivity: Option<IgnoredAny>,
    choices: Option<IgnoredAny>,
    #[serde(default)]
    scenarios: Vec<Value>,
    #[serde(default)]
    exact_scenarios: Vec<Value>,
    #[serde(default)]
    dumbbells: Vec<Value>,
}

/// The index of tfrc.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct TfrcFile {
    family: String,
    simulator: IgnoredAny,
    columns: IgnoredAny,
    quirks: IgnoredAny,
    exact_scenarios: Vec<Value>,
    statistical: Vec<Value>,
}
