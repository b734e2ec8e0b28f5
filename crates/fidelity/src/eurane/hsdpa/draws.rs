//! Hybrid ARQ with the draws of ns-2's generator.
//!
//! EURANE has one generator for all that it draws. For each block it draws a threshold. Between these it draws a delay of 0 s for each PDU that a
//! terminal's RLC hands down (`overhead_`), and for each interval in which a terminal's MAC has something to send (`avg_delay_`); and TFRC
//! draws one for each packet but its first.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use lasthop_core::engine::{Decibel, Instant};
use lasthop_core::net::Simulation;
use lasthop_core::net::observe::{PduStep, Place};
use lasthop_core::radio::rate_map::RateMap;
use lasthop_core::radio::shared_channel::harq::Attempts;
use lasthop_core::radio::shared_channel::reception::{Reception, ReceptionConfig, Thresholds};
use lasthop_core::scenario::registry;
use lasthop_core::scenario::types::Scenario;

use crate::mrg::Mrg32k3a;

/// The generator, and what it has drawn.
#[derive(Clone)]
pub struct Draws(Arc<Mutex<State>>);

struct State {
    generator: Mrg32k3a,
    /// The places of uplinks; empty before the run.
    uplinks: Vec<Place>,
    /// Of each of these: the last interval for which a delay was drawn.
    drawn: Vec<Instant>,
    /// The flows that have sent a packet.
    begun: BTreeSet<u32>,
}

impl Draws {
    /// What this generator will draw.
    pub fn new(generator: Mrg32k3a) -> Self {
        Self(Arc::new(Mutex::new(State { generator, uplinks: Vec::new(), drawn: Vec::new(), begun: BTreeSet::new() })))
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets the cell of a scenario draw its thresholds here.
    pub fn decide(&self, scenario: &mut Scenario) {
        let channel = scenario.cell.first_mut().and_then(|cell| cell.hs_dsch.as_mut());
        let Some(reception) = channel.and_then(|channel| channel.reception.as_mut()) else { return };
        if let registry::Reception::Thresholds(thresholds) = reception {
            let drawn = Drawn { draws: self.clone(), thresholds: thresholds.clone() };
            *reception = registry::Reception::custom("thresholds of ns-2", Arc::new(drawn));
        }
    }

    /// Learns the places of a simulation.
    pub fn begin(&self, simulation: &mut Simulation) {
        let core = simulation.core_mut();
        let count = core.place("the last one").0;
        let uplinks: Vec<Place> =
            (0..count).map(Place).filter(|place| core.place_name(*place).ends_with("] up")).collect();
        self.with(|state| {
            state.drawn = vec![Instant::ZERO; uplinks.len()];
            state.uplinks = uplinks;
        });
    }

    /// A packet of TFRC leaves.
    pub fn on_tfrc(&self, flow: u32) {
        self.with(|state| {
            if !state.begun.insert(flow) {
                state.generator.uniform();
            }
        });
    }

    /// A PDU is handed down, or sent over the air.
    pub fn see(&self, at: Instant, place: Place, step: PduStep) {
        self.with(|state| {
            let Some(number) = state.uplinks.iter().position(|uplink| *uplink == place) else { return };
            let draws = match step {
                PduStep::Sent => true,
                PduStep::Aired => std::mem::replace(&mut state.drawn[number], at) != at,
                PduStep::Dropped | PduStep::Lost | PduStep::Received => false,
            };
            if draws {
                state.generator.uniform();
            }
        });
    }
}

/// Thresholds drawn by ns-2's generator.
struct Drawn {
    draws: Draws,
    thresholds: Thresholds,
}

impl ReceptionConfig for Drawn {
    fn build(&self) -> Box<dyn Reception> {
        Box::new(Self { draws: self.draws.clone(), thresholds: self.thresholds.clone() })
    }
}

impl Reception for Drawn {
    fn receives(&self, block: &mut Attempts, sir: Decibel, map: &dyn RateMap) -> bool {
        if block.transmission == 1 {
            // `Random::integer`: the remainder of a number of 31 bits.
            let count = self.thresholds.thresholds.len() as u64;
            let number = (self.draws.with(|state| state.generator.uniform()) * f64::from(1u32 << 31)) as u64;
            block.draw = ((number % count) as f64 + 0.5) / count as f64;
        }
        self.thresholds.receives(block, sir, map)
    }
}
