//! Scripted losses: the scenario says which packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Instant, Stream};

use super::{Loss, LossConfig, LossModel};

/// The listed packets are lost, all others arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Which packets are lost: their numbers in the order of arrival at this direction of the
    /// link, all flows together, from 0. A model that a change puts in place counts from there.
    pub drop: Vec<u64>,
}

impl LossConfig for Config {
    fn build(&self, _stream: Stream) -> Loss {
        Loss(Some(Box::new(List::new(self))))
    }
}

/// The loss model.
pub struct List {
    /// The numbers of packets yet to be lost, highest first.
    remaining: Vec<u64>,
    /// The number of the next packet.
    next: u64,
}

impl List {
    /// At its first packet.
    pub fn new(config: &Config) -> Self {
        let mut remaining = config.drop.clone();
        remaining.sort_unstable_by(|a, b| b.cmp(a));
        remaining.dedup();
        Self { remaining, next: 0 }
    }
}

impl LossModel for List {
    fn loses(&mut self, _now: Instant) -> bool {
        let number = self.next;
        self.next += 1;
        self.remaining.pop_if(|lost| *lost == number).is_some()
    }
}
