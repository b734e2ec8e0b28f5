//! Independent losses with one probability.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Instant, Probability, Stream};

use super::{Loss, LossConfig, LossModel};

/// Each packet is lost with the same probability, independently of all others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The probability of loss.
    pub p: Probability,
}

impl LossConfig for Config {
    fn build(&self, stream: Stream) -> Loss {
        Loss(Some(Box::new(Bernoulli::new(self, stream))))
    }
}

/// The loss model.
pub struct Bernoulli {
    p: f64,
    stream: Stream,
}

impl Bernoulli {
    /// With its own random stream.
    pub fn new(config: &Config, stream: Stream) -> Self {
        Self { p: config.p.get(), stream }
    }
}

impl LossModel for Bernoulli {
    fn loses(&mut self, _now: Instant) -> bool {
        self.stream.chance(self.p)
    }
}
