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
    /// The steps are repeated in this interval: with `steps = [["0 s", 0.1], ["2 s", 0]]` and `every = "10 s"` a tenth is lost
    /// during two seconds of ten. Default: they are not repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
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
        if self.every == Some(Duration::ZERO) {
            return Err(Fault::new("every", "an interval of zero", "expected longer than all steps"));
        }
        if let Some(every) = self.every
            && let Some(late) = self.steps.iter().find(|step| step.at >= every)
        {
            let message = format!("a step at {}, which is never reached in {every}", late.at);
            return Err(Fault::new("every", message, "expected longer than all steps"));
        }
        attempts_fault(self.attempts)
    }
}

/// The loss model.
pub struct Schedule {
    /// From when on which probability holds, in order.
    steps: Vec<(Duration, f64)>,
    every: Option<Duration>,
    stream: Stream,
}

impl Schedule {
    /// With its own random stream.
    pub fn new(config: &Config, stream: Stream) -> Self {
        let attempts = config.attempts.unwrap_or(1);
        let mut steps: Vec<_> =
            config.steps.iter().map(|step| (step.at, per_attempt(step.p.get(), attempts))).collect();
        // Stable, so of two steps at one instant the one written later holds.
        steps.sort_by_key(|(at, _)| *at);
        Self { steps, every: config.every, stream }
    }

    /// The probability that holds at this time of the run.
    fn at(&self, time: Duration) -> f64 {
        let (round, time) = match self.every {
            None => (0, time),
            Some(every) => (time.as_nanos() / every.as_nanos(), time - every * (time.as_nanos() / every.as_nanos())),
        };
        let before = self.steps.partition_point(|(at, _)| *at <= time);
        // Until the first step of a later round the last one of the round before holds.
        let step = if before == 0 && round > 0 { self.steps.last() } else { self.steps[..before].last() };
        step.map_or(0.0, |(_, p)| *p)
    }
}

impl LossModel for Schedule {
    fn loses(&mut self, now: Instant) -> bool {
        let p = self.at(now.since(Instant::ZERO));
        self.stream.chance(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;
    use crate::engine::choice::parsed;

    /// The tenths of a second, of `seconds`, at which a packet is lost.
    fn lost(text: &str, seconds: u64) -> Vec<u64> {
        let mut model = Schedule::new(&parsed(text).unwrap(), Streams::new(1).stream("link", "loss"));
        (0..10 * seconds).filter(|n| model.loses(Instant::ZERO + Duration::from_millis(100 * n))).collect()
    }

    fn tenths(of: impl IntoIterator<Item = std::ops::Range<u64>>) -> Vec<u64> {
        of.into_iter().flatten().collect()
    }

    #[test]
    fn a_step_holds_until_the_next_in_any_order() {
        assert_eq!(lost("steps = [['3 s', 0], ['1 s', 1]]", 6), tenths(std::iter::once(10..30)));
    }

    #[test]
    fn losses_come_and_go_with_every() {
        assert_eq!(lost("steps = [['0 s', 1], ['1 s', 0]]\nevery = '4 s'", 10), tenths([0..10, 40..50, 80..90]));
    }

    #[test]
    fn before_the_first_step_nothing_is_lost_and_in_later_rounds_the_last_step_holds() {
        assert_eq!(lost("steps = [['1 s', 0], ['3 s', 1]]\nevery = '4 s'", 9), tenths([30..50, 70..90]));
    }

    #[test]
    fn an_interval_that_a_step_lies_beyond_is_refused() {
        for every in ["0 s", "3 s"] {
            let config: Config = parsed(&format!("steps = [['3 s', 1]]\nevery = '{every}'")).unwrap();
            assert_eq!(config.check().unwrap_err().field, "every");
        }
    }
}
