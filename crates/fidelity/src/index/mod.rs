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
use serde::de::IgnoredAny;
use serde_json::Value;

use dumbbell::Dumbbell;
use handover::Handover;
use random_loss::RandomLossFile;

/// A family of scenarios.
pub enum Family {
    /// Deterministic scenarios; those that cannot be read, with the reason.
    Exact(Vec<Result<Case, (String, String)>>),
    /// One network, several variants and loss rates, many seeds.
    RandomLoss(Box<RandomLoss>),
    /// Deterministic scenarios of TFRC, and statistical ones.
    Tfrc(Vec<Result<Case, (String, String)>>, Vec<Value>),
    /// Another kind: the names of its scenarios.
    Unsupported(Vec<String>),
}

impl Family {
    /// Reads the index of a folder.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join("index.json");
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| format!("index.json: {e}"))?;
        let family = value.get("family").and_then(Value::as_str).unwrap_or_default();
        // A family may come in several folders: tcp-scripted, tcp-scripted-more.
        let is = |name: &str| family.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        if is("tcp-scripted") || is("tcp-droptail") {
            exact::<Dumbbell>(value)
        } else if is("handover") || is("xcp") {
            exact::<Handover>(value)
        } else if is("tfrc") {
            let file: TfrcFile = serde_json::from_value(value).map_err(|e| format!("index.json: {e}"))?;
            Ok(Self::Tfrc(cases::<Handover>(file.exact_scenarios), file.statistical))
        } else if is("tcp-random-loss") {
            let family: RandomLossFile = serde_json::from_value(value).map_err(|e| format!("index.json: {e}"))?;
            family.describe(folder).map(|f| Self::RandomLoss(Box::new(f)))
        } else {
            Ok(Self::Unsupported(ids(&value)))
        }
    }
}

/// The names of all scenarios in an index of whatever form.
fn ids(value: &Value) -> Vec<String> {
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
/// What is not understood of it.
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

fn exact<D: Description>(value: Value) -> Result<Family, String> {
    let file: ExactFile = serde_json::from_value(value).map_err(|e| format!("index.json: {e}"))?;
    let exact = file.scenarios.into_iter().chain(file.exact_scenarios).collect();
    let (mut all, bins) = (cases::<D>(exact), cases::<D>(file.dumbbells));
    all.extend(bins.into_iter().map(|case| case.map(|case| Case { bins: true, ..case })));
    Ok(Family::Exact(all))
}

fn cases<D: Description>(scenarios: Vec<Value>) -> Vec<Result<Case, (String, String)>> {
    let cases = scenarios.into_iter().map(|scenario| {
        let id = scenario.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        let read = serde_json::from_value::<D>(scenario).map_err(|e| e.to_string());
        read.and_then(D::describe).map_err(|e| (id, e))
    });
    cases.collect()
}

/// An index of deterministic scenarios. What is for readers is not looked at.
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
