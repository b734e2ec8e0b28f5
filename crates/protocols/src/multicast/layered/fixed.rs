//! Always the same layers: a receiver that follows no rule.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Instant, Stream};
use lasthop_net::net::Probe;
use lasthop_net::profile::Profile;

use super::control::{ControlConfig, Controller};

/// The same layers all the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "FixedLayers")]
pub struct Config {
    /// How many, from the lowest. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<u32>,
}

impl ControlConfig for Config {
    fn build(&self, layers: u32, _profile: Profile, _stream: Stream) -> Box<dyn Controller> {
        Box::new(Fixed { wanted: self.layers.unwrap_or(layers).min(layers), level: 0 })
    }
}

struct Fixed {
    wanted: u32,
    level: u32,
}

impl Controller for Fixed {
    fn begin(&mut self, _now: Instant) {
        self.level = self.wanted;
    }

    fn end(&mut self) {
        self.level = 0;
    }

    fn on_packet(&mut self, _now: Instant, _layer: u32, _lost: u64) {}

    fn on_timeout(&mut self, _now: Instant) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn level(&self) -> u32 {
        self.level
    }

    fn sample(&self, _probe: &mut dyn Probe) {}
}
