//! Independent losses with a probability that changes in steps over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Duration, Fault, Instant, Probability, Stream};

use super::{Loss, LossConfig, LossModel, attempts_fault, per_attempt};

/// Each packet is lost independently, with the probability that holds at its arrival.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// From when on which probability holds, in any order: `[["10 s", 0.01], ["20 s", 0]]`, or
    /// `[{ at = "10 s", p = 0.01 }]`. Times count from the start of the run; before the first
    /// nothing is lost.
    #[schemars(with = "Vec<StepForms>")]
    pub steps: Vec<Step>,
    /// The probabilities are the residual losses p after n `attempts`, as where a base station retransmits; each attempt fails with
    /// p^(1/n). Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// A probability that holds from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// From when.
    pub at: Duration,
    /// The probability of loss.
    pub p: Probability,
}

/// The two forms in which a step can be written.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its JSON Schema is used")]
enum StepForms {
    Pair(Duration, Probability),
    Named { at: Duration, p: Probability },
}

impl LossConfig for Config {
    fn build(&self, stream: Stream) -> Loss {
        Loss(Some(Box::new(Schedule::new(self, stream))))
    }

    fn check(&self) -> Result<(), Fault> {
        attempts_fault(self.attempts)
    }
}

/// The loss model.
pub struct Schedule {
    /// Steps to come, the next one last.
    to_come: Vec<Step>,
    attempts: u32,
    p: f64,
    stream: Stream,
}

impl Schedule {
    /// With its own random stream.
    pub fn new(config: &Config, stream: Stream) -> Self {
        let mut to_come = config.steps.clone();
        to_come.reverse();
        // Stable, so of two steps at one instant the one written later holds.
        to_come.sort_by_key(|step| std::cmp::Reverse(step.at));
        Self { to_come, attempts: config.attempts.unwrap_or(1), p: 0.0, stream }
    }
}

impl LossModel for Schedule {
    fn loses(&mut self, now: Instant) -> bool {
        while let Some(step) = self.to_come.pop_if(|step| Instant::ZERO + step.at <= now) {
            self.p = per_attempt(step.p.get(), self.attempts);
        }
        self.stream.chance(self.p)
    }
}
