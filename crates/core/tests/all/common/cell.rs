//! Cells of UMTS for tests: what became of each PDU and packet, and what the cell shows at the end.

use std::any::Any;
use std::collections::BTreeMap;

use lasthop_core::engine::Instant;
use lasthop_core::net::observe::PduStep;
use lasthop_core::net::{Histogram, Observation, Observer, Place, Probe, What};
use lasthop_core::scenario::builder::build;
use lasthop_core::scenario::types::Scenario;

/// Something that happened to a PDU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// When.
    pub at: Instant,
    /// The terminal.
    pub ue: usize,
    /// Whether it goes up.
    pub up: bool,
    /// What.
    pub step: PduStep,
}

/// The events in a cell.
#[derive(Default)]
pub struct Happened {
    /// To PDUs, in order.
    pub pdus: Vec<Step>,
    /// When a terminal began to be served by what.
    pub services: Vec<(Instant, usize, &'static str)>,
    /// When packets came to their receivers.
    pub arrivals: Vec<Instant>,
    /// What the cell and its bearers show at the end, by name and quantity.
    pub values: BTreeMap<(String, String), f64>,
}

impl Happened {
    /// When PDUs took this step in this direction, with their terminals.
    pub fn when(&self, step: PduStep, up: bool) -> Vec<(Instant, usize)> {
        let is_it = |s: &&Step| s.step == step && s.up == up;
        self.pdus.iter().filter(is_it).map(|s| (s.at, s.ue)).collect()
    }

    /// A quantity of the cell, or of `ue[n] down` and the like.
    pub fn value(&self, part: &str, quantity: &str) -> f64 {
        let part = if part.is_empty() { "cell".to_owned() } else { format!("cell.{part}") };
        let value = self.values.get(&(part, quantity.to_owned()));
        *value.unwrap_or_else(|| panic!("there is no {quantity}: {:?}", self.values.keys()))
    }
}

/// Runs the scenario of this text, whose only medium is a cell called `cell`.
pub fn happened(text: &str, seed: u64) -> Happened {
    run(&super::scenario::scenario(text), seed)
}

/// Runs a scenario whose only medium is a cell called `cell`.
pub fn run(scenario: &Scenario, seed: u64) -> Happened {
    let mut simulation = build(scenario, seed, Some(Box::new(Watch::default()))).unwrap().simulation;
    simulation.run_until(Instant::ZERO + scenario.duration, u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    let observer = simulation.take_observer().expect("it is observed").into_any();
    let watch = observer.downcast::<Watch>().expect("by a watch");
    let terminal = |place| {
        let name = simulation.core().place_name(place);
        let (number, direction) = name.strip_prefix("cell.ue[").unwrap().split_once("] ").unwrap();
        (number.parse().unwrap(), direction == "up")
    };
    let mut values = Values::default();
    simulation.sample_media(&mut values);
    let pdu = |&(at, place, step)| {
        let (ue, up) = terminal(place);
        Step { at, ue, up, step }
    };
    Happened {
        pdus: watch.pdus.iter().map(pdu).collect(),
        services: watch.services.iter().map(|&(at, place, service)| (at, terminal(place).0, service)).collect(),
        arrivals: watch.arrivals,
        values: values.values,
    }
}

/// Writes down what happens.
#[derive(Default)]
struct Watch {
    pdus: Vec<(Instant, Place, PduStep)>,
    services: Vec<(Instant, Place, &'static str)>,
    arrivals: Vec<Instant>,
}

impl Observer for Watch {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Pdu { at, place, step, .. } => self.pdus.push((at, place, step)),
            Observation::Served { place, service } => self.services.push((now, place, service)),
            Observation::Received { .. } => self.arrivals.push(now),
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[derive(Default)]
struct Values {
    part: String,
    values: BTreeMap<(String, String), f64>,
}

impl Probe for Values {
    fn part(&mut self, _what: What, name: &str) {
        name.clone_into(&mut self.part);
    }

    fn value(&mut self, quantity: &'static str, value: f64) {
        self.values.insert((self.part.clone(), quantity.to_owned()), value);
    }

    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}
