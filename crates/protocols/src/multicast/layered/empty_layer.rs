//! A receiver for routers that block layers (Peng and Sikdar 2003, §II.B.4): it keeps one layer of which nothing comes, so that the
//! router above the bottleneck has one to release.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant, Stream};
use lasthop_net::net::Probe;
use lasthop_net::profile::Profile;

use super::control::{ControlConfig, Controller};

/// One layer more than comes. The paper has no times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "EmptyLayer")]
pub struct Config {
    /// How long after a layer was added the next one may be, and its emptiness is judged. Default:
    /// 2 s.
    pub add: Duration,
    /// After how long without a packet a layer counts as empty. Default: 1 s.
    pub empty: Duration,
    /// How often the receiver looks. Default: 0.25 s.
    pub check: Duration,
}

impl Default for Config {
    fn default() -> Self {
        let (add, empty) = (Duration::from_secs(2), Duration::from_secs(1));
        Self { add, empty, check: Duration::from_millis(250) }
    }
}

impl ControlConfig for Config {
    fn build(&self, layers: u32, _profile: Profile, _stream: Stream) -> Box<dyn Controller> {
        let layers = vec![Layer::default(); layers as usize];
        Box::new(EmptyLayer { config: self.clone(), layers, level: 0, next_check: None, added: 0, dropped: 0 })
    }

    fn check(&self) -> Result<(), Fault> {
        if self.check == Duration::ZERO {
            return Err(Fault::new("check", "looks without time between them", "expected more than 0 s"));
        }
        Ok(())
    }
}

struct EmptyLayer {
    config: Config,
    layers: Vec<Layer>,
    level: u32,
    next_check: Option<Instant>,
    added: u64,
    dropped: u64,
}

#[derive(Clone, Copy, Default)]
struct Layer {
    joined: Instant,
    /// When a packet came last, since it was joined.
    came: Option<Instant>,
}

/// How a layer to which the receiver subscribes is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Flowing,
    /// It was added only just now.
    Unknown,
    Empty,
}

impl EmptyLayer {
    fn flow(&self, now: Instant, layer: &Layer) -> Flow {
        if layer.came.is_some_and(|came| now.since(came) < self.config.empty) {
            Flow::Flowing
        } else if now.since(layer.joined) < self.config.add {
            Flow::Unknown
        } else {
            Flow::Empty
        }
    }

    fn add(&mut self, now: Instant) {
        if let Some(layer) = self.layers.get_mut(self.level as usize) {
            *layer = Layer { joined: now, came: None };
            self.level += 1;
            self.added += 1;
        }
    }

    fn look(&mut self, now: Instant) {
        let flows: Vec<Flow> = self.layers[..self.level as usize].iter().map(|layer| self.flow(now, layer)).collect();
        let mut empty = (0..).zip(&flows).filter(|(_, flow)| **flow == Flow::Empty).map(|(layer, _)| layer);
        match (empty.next(), empty.next()) {
            (Some(lowest), Some(_)) => {
                self.dropped += u64::from(self.level - (lowest + 1));
                self.level = lowest + 1;
            }
            (None, _) if flows.iter().all(|flow| *flow == Flow::Flowing) => {
                let newest = self.layers[..self.level as usize].last();
                if newest.is_none_or(|layer| now.since(layer.joined) >= self.config.add) {
                    self.add(now);
                }
            }
            _ => {}
        }
    }
}

impl Controller for EmptyLayer {
    fn begin(&mut self, now: Instant) {
        self.add(now);
        self.next_check = Some(now + self.config.check);
    }

    fn end(&mut self) {
        (self.level, self.next_check) = (0, None);
    }

    fn on_packet(&mut self, now: Instant, layer: u32, _lost: u64) {
        if let Some(layer) = self.layers.get_mut(layer as usize - 1) {
            layer.came = Some(now);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.look(now);
        self.next_check = Some(now + self.config.check);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.next_check
    }

    fn level(&self) -> u32 {
        self.level
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("added_layers", self.added as f64);
        probe.value("dropped_layers", self.dropped as f64);
    }
}
