//! The family tcp-random-loss: one network, several variants and loss rates, many seeds.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::dumbbell::Dumbbell;
use super::{Description, Network};

/// A statistical family.
#[derive(Debug)]
pub struct RandomLoss {
    /// Seconds at the start that are left out of means.
    pub warm: f64,
    /// The network; its flow's variant is to be filled in.
    pub network: Network,
    /// What ns-2 gave.
    pub summary: Vec<Summary>,
    /// The seeds of ns-2's runs, for each row of `summary`.
    pub seeds: Vec<Vec<u32>>,
}

/// Means and standard errors of one variant at one loss rate.
#[derive(Clone, Debug, Deserialize)]
pub struct Summary {
    /// The variant.
    pub variant: String,
    /// The probability of loss.
    pub loss: f64,
    /// How many seeds.
    pub n: u64,
    /// `goodput_bps_mean`, `goodput_bps_stderr`, and so on.
    #[serde(flatten)]
    pub values: BTreeMap<String, f64>,
}

/// The index of tcp-random-loss.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
pub struct RandomLossFile {
    family: String,
    simulator: IgnoredAny,
    files: IgnoredAny,
    comparison: IgnoredAny,
    loss_model: IgnoredAny,
    columns: IgnoredAny,
    warm_s: f64,
    scenario: Value,
    quirks: Option<IgnoredAny>,
    summary: Vec<Summary>,
}

impl RandomLossFile {
    pub fn describe(self, folder: &Path) -> Result<RandomLoss, String> {
        let mut scenario = self.scenario;
        if let Some(scenario) = scenario.as_object_mut() {
            scenario.insert("id".to_owned(), "scenario".into());
            scenario.insert("file".to_owned(), "".into());
        }
        let scenario: Dumbbell = serde_json::from_value(scenario).map_err(|e| format!("scenario: {e}"))?;
        let runs = seeds(&folder.join("runs.csv"))?;
        let of = |s: &Summary| runs.iter().filter(|r| r.0 == s.variant && r.1 == s.loss).map(|r| r.2).collect();
        let seeds: Vec<Vec<u32>> = self.summary.iter().map(of).collect();
        if let Some(at) = self.summary.iter().zip(&seeds).position(|(s, seeds)| s.n != seeds.len() as u64) {
            return Err(format!("summary[{at}].n is not the number of rows in runs.csv"));
        }
        Ok(RandomLoss { warm: self.warm_s, network: scenario.describe()?.network, summary: self.summary, seeds })
    }
}

/// Variant, probability of loss and seed of each run.
fn seeds(file: &Path) -> Result<Vec<(String, f64, u32)>, String> {
    #[derive(Deserialize)]
    struct Run {
        variant: String,
        loss: f64,
        seed: u32,
    }
    let wrong = |e: csv::Error| format!("{}: {e}", file.display());
    let mut reader = csv::Reader::from_path(file).map_err(wrong)?;
    reader.deserialize::<Run>().map(|run| run.map(|r| (r.variant, r.loss, r.seed)).map_err(wrong)).collect()
}
