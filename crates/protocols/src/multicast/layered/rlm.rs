//! RLM: receiver-driven layered multicast (McCanne, Jacobson, Vetterli 1996), with the rules of its authors' code in ns-2
//! (`tcl/rlm/rlm.tcl`).
//!
//! A receiver adds a layer now and then, as an experiment. If packets are lost soon after, the experiment has failed: it drops the layer
//! and waits longer before it tries that layer again. States: *steady*, *hysteresis* after a loss, *measurement*, and *dropped* after a
//! layer was.
//!
//! As shipped, ns-2's code has two defects, which profile `ns2` keeps: a receiver that has once had all layers makes no further experiment,
//! and one that has dropped the last layer never joins again. Here a receiver keeps its first layer, and its join timer runs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::units::Probability;
use lasthop_net::engine::{Duration, Fault, Instant, Stream};
use lasthop_net::net::Probe;
use lasthop_net::profile::Profile;

use super::control::{ControlConfig, Controller};

/// The constants, as in ns-2. Those of the paper, where they differ: `relax` 2/3, `most_join` 600 s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RlmConfig")]
pub struct Config {
    /// The join timer of each layer at first, and at least, T_J. Default: 5 s.
    pub join: Duration,
    /// The longest one. Default: 60 s.
    pub most_join: Duration,
    /// By what a failed experiment lengthens it, α. Default: 2.
    pub back_off: f64,
    /// By what it is shortened while all is well, β. Default: 0.75.
    pub relax: Probability,
    /// The detection time at first, T_D. Default: 5 s.
    pub detection: Duration,
    /// Its deviation at first, σ. Default: 2 s.
    pub deviation: Duration,
    /// The gain of the detection time and its deviation, g1 and g2. Default: 0.25.
    pub gain: Probability,
    /// The share of losses above which a layer is dropped in the measurement state. Default: 0.25.
    pub loss: Probability,
    /// How many packets have to come before that is judged. Default: 10.
    pub packets: u64,
    /// Whether receivers tell one another of their experiments (shared learning). Default: yes.
    pub shared_learning: bool,
    /// Whether the two defects of ns-2's code are kept. Default: as the profile says: only `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defects: Option<bool>,
}

impl Default for Config {
    fn default() -> Self {
        let share = |p| Probability::new(p).unwrap_or_default();
        Self {
            join: Duration::from_secs(5),
            most_join: Duration::from_secs(60),
            back_off: 2.0,
            relax: share(0.75),
            detection: Duration::from_secs(5),
            deviation: Duration::from_secs(2),
            gain: share(0.25),
            loss: share(0.25),
            packets: 10,
            shared_learning: true,
            defects: None,
        }
    }
}

impl ControlConfig for Config {
    fn build(&self, layers: u32, profile: Profile, stream: Stream) -> Box<dyn Controller> {
        Box::new(Rlm::new(self.clone(), layers, self.defects.unwrap_or(profile.is_ns2()), stream))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.join == Duration::ZERO || self.join > self.most_join {
            let message = format!("a join timer of {} to {}", self.join, self.most_join);
            return Err(Fault::new("join", message, "expected more than 0 s, and not more than `most_join`"));
        }
        if self.detection == Duration::ZERO {
            return Err(Fault::new("detection", "a detection time of 0 s", "expected more than 0 s"));
        }
        if self.back_off < 1.0 {
            return Err(Fault::new(
                "back_off",
                format!("{} would shorten the timer", self.back_off),
                "expected 1 or more",
            ));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Steady,
    Hysteresis,
    Measurement,
    Dropped,
}

/// A layer, whether or not the receiver has it.
#[derive(Clone, Debug)]
struct Layer {
    /// T_J, in seconds.
    join: f64,
    /// When any receiver of the session added it last (join_ts).
    joined: Option<Instant>,
    /// When an experiment with it began that is to be watched for (pending_ts).
    pending: Option<Instant>,
    /// When this receiver added it last.
    added: Option<Instant>,
    /// Whether a packet has come since then.
    came: bool,
}

/// The controller.
pub struct Rlm {
    config: Config,
    defects: bool,
    stream: Stream,
    state: State,
    level: u32,
    layers: Vec<Layer>,
    /// T_D and σ, in seconds.
    detection: f64,
    deviation: f64,
    join_timer: Option<Instant>,
    detection_timer: Option<Instant>,
    received: u64,
    lost: u64,
    /// Both when the measurement began.
    measured: (u64, u64),
    tell: Option<u32>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    added: u64,
    failed: u64,
    dropped: u64,
}

impl Rlm {
    /// A controller for this number of layers.
    fn new(config: Config, layers: u32, defects: bool, stream: Stream) -> Self {
        let join = config.join.as_secs_f64();
        let layer = Layer { join, joined: None, pending: None, added: None, came: false };
        Self {
            state: State::Steady,
            level: 0,
            layers: vec![layer; layers as usize],
            detection: config.detection.as_secs_f64(),
            deviation: config.deviation.as_secs_f64(),
            join_timer: None,
            detection_timer: None,
            received: 0,
            lost: 0,
            measured: (0, 0),
            tell: None,
            counts: Counts::default(),
            config,
            defects,
            stream,
        }
    }

    fn layer(&mut self, number: u32) -> Option<&mut Layer> {
        self.layers.get_mut((number as usize).checked_sub(1)?)
    }

    /// Sets the timer of the next experiment: half the layer's T_J, and an exponential time of that mean, cut at four times it.
    fn set_join_timer(&mut self, now: Instant) {
        let next = if self.defects { self.level + 1 } else { (self.level + 1).min(self.layers.len() as u32) };
        let Some(join) = self.layer(next).map(|layer| layer.join) else {
            self.join_timer = None;
            return;
        };
        let random = loop {
            let random = self.stream.exponential(join);
            if random < 4.0 * join {
                break random;
            }
        };
        self.join_timer = Some(now + Duration::from_secs_f64(join / 2.0 + random));
    }

    fn set_detection_timer(&mut self, now: Instant, deviations: f64) {
        self.detection_timer = Some(now + Duration::from_secs_f64(self.detection + deviations * self.deviation));
    }

    fn is_recent(&self, now: Instant, at: Option<Instant>) -> bool {
        let recent = Duration::from_secs_f64(self.detection + 2.0 * self.deviation);
        at.is_some_and(|at| now.since(at) < recent)
    }

    /// Adds the next layer.
    fn add(&mut self, now: Instant) -> bool {
        let next = self.level + 1;
        let Some(layer) = self.layer(next) else { return false };
        (layer.added, layer.came) = (Some(now), false);
        self.level = next;
        self.counts.added += 1;
        true
    }

    fn drop_layer(&mut self, now: Instant) {
        if self.level > u32::from(!self.defects) {
            self.level -= 1;
            self.counts.dropped += 1;
        }
        if !self.defects && self.join_timer.is_none() {
            self.set_join_timer(now);
        }
    }

    /// The top layer brings packets since it was added. If it does not for longer than T_D, T_D is too short.
    fn top_flows(&mut self, now: Instant) -> bool {
        let level = self.level;
        let Some(layer) = self.layer(level) else { return false };
        if layer.came {
            return true;
        }
        let waited = layer.added.map_or(0.0, |added| now.since(added).as_secs_f64());
        // Before the session's first packet waiting says nothing of the time that a layer takes. Sources of ns-2's runs send from the start.
        if waited > self.detection && self.layers.iter().any(|layer| layer.came) {
            self.detection = 1.2 * waited;
        }
        false
    }

    fn on_join_timer(&mut self, now: Instant) {
        let waits = (1..=self.level).any(|n| self.is_recent(now, self.layers[n as usize - 1].joined));
        if self.state == State::Steady && !waits && self.top_flows(now) && self.add(now) {
            let level = self.level;
            self.tell = self.config.shared_learning.then_some(level);
            if let Some(layer) = self.layer(level) {
                (layer.joined, layer.pending) = (Some(now), Some(now));
            }
        }
        self.set_join_timer(now);
    }

    fn on_detection_timer(&mut self, now: Instant) {
        match self.state {
            State::Hysteresis => self.measure(now),
            State::Dropped | State::Measurement => {
                self.state = State::Steady;
                self.set_detection_timer(now, 1.5);
            }
            State::Steady => {
                let (least, relax) = (self.config.join.as_secs_f64(), self.config.relax.get());
                let level = self.level;
                if let Some(layer) = self.layer(level) {
                    layer.join = (relax * layer.join).max(least);
                }
                self.set_detection_timer(now, 1.5);
            }
        }
    }

    fn measure(&mut self, now: Instant) {
        self.state = State::Measurement;
        self.set_detection_timer(now, f64::from(self.level) / 2.0 + 1.5);
        self.measured = (self.received, self.lost);
    }

    fn wait_after_drop(&mut self, now: Instant) {
        self.drop_layer(now);
        self.state = State::Dropped;
        self.set_detection_timer(now, 1.5);
    }

    /// An experiment with layer `n` has failed: it and those above it wait longer.
    fn back_off(&mut self, n: u32) {
        let most = self.config.most_join.as_secs_f64();
        let factor = self.config.back_off;
        let Some(layer) = self.layer(n) else { return };
        layer.join = (factor * layer.join).min(most);
        let join = layer.join;
        for above in &mut self.layers[n as usize..] {
            above.join = above.join.max(join);
        }
    }

    fn on_loss(&mut self, now: Instant) {
        match self.state {
            State::Hysteresis | State::Dropped => {}
            State::Measurement => {
                let (received, lost) = (self.received - self.measured.0, self.lost - self.measured.1);
                let share = lost as f64 / (lost + received).max(1) as f64;
                if received >= self.config.packets && share > self.config.loss.get() {
                    self.wait_after_drop(now);
                }
            }
            State::Steady => self.on_loss_in_steady(now),
        }
    }

    fn on_loss_in_steady(&mut self, now: Instant) {
        let pending =
            (1..=self.layers.len() as u32).rev().find(|&n| self.is_recent(now, self.layers[n as usize - 1].pending));
        if let Some(n) = pending {
            self.back_off(n);
            if n == self.level {
                let began = self.layers[n as usize - 1].pending;
                let detected = began.map_or(0.0, |began| now.since(began).as_secs_f64());
                let gain = self.config.gain.get();
                self.deviation += gain * ((detected - self.detection).abs() - self.deviation);
                self.detection += gain * (detected - self.detection);
                self.counts.failed += 1;
                return self.wait_after_drop(now);
            }
            if n == self.level + 1 {
                self.set_join_timer(now);
            }
        }
        let level = self.level;
        let added = self.layer(level).and_then(|layer| layer.added);
        if self.is_recent(now, added) {
            self.measure(now);
        } else {
            self.state = State::Hysteresis;
            self.set_detection_timer(now, 1.5);
        }
    }
}

impl Controller for Rlm {
    fn begin(&mut self, now: Instant) {
        self.state = State::Steady;
        self.add(now);
        self.set_join_timer(now);
    }

    fn end(&mut self) {
        (self.level, self.join_timer, self.detection_timer) = (0, None, None);
    }

    fn on_packet(&mut self, now: Instant, layer: u32, lost: u64) {
        self.received += 1;
        if let Some(layer) = self.layer(layer) {
            layer.came = true;
        }
        if lost > 0 {
            self.lost += lost;
            self.on_loss(now);
        }
    }

    fn on_added(&mut self, now: Instant, layer: u32) {
        let level = self.level;
        if let Some(known) = self.layer(layer) {
            known.joined = Some(now);
            if layer > level {
                known.pending = Some(now);
            }
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.detection_timer.is_some_and(|at| at <= now) {
            self.detection_timer = None;
            self.on_detection_timer(now);
        }
        if self.join_timer.is_some_and(|at| at <= now) {
            self.join_timer = None;
            self.on_join_timer(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        [self.join_timer, self.detection_timer].into_iter().flatten().min()
    }

    fn level(&self) -> u32 {
        self.level
    }

    fn tell(&mut self) -> Option<u32> {
        self.tell.take()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("added_layers", self.counts.added as f64);
        probe.value("failed_experiments", self.counts.failed as f64);
        probe.value("dropped_layers", self.counts.dropped as f64);
        probe.value("detection_s", self.detection);
        probe.value("deviation_s", self.deviation);
        let top = self.layers.get(self.level as usize).map_or(0.0, |layer| layer.join);
        probe.value("join_timer_s", top);
    }
}

#[cfg(test)]
mod tests;
