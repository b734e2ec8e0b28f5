//! The state of a terminal that moves, and its history.

use crate::radio::mobility::movement::Movement;
use crate::radio::mobility::{ActiveSet, Held};
use crate::radio::propagation::Shadow;
use lasthop_net::engine::{Decibel, Duration, Instant, Level, Point};
use lasthop_net::net::Probe;

/// A terminal.
pub struct Terminal {
    pub(super) movement: Box<dyn Movement>,
    pub(super) shadow: Shadow,
    /// Where it will be at the next measurement.
    pub(super) place: Point,
    /// What it hears now of the pilot of each cell, and of each other system.
    pub(super) pilots: Vec<Level>,
    pub(super) systems: Vec<Level>,
    /// The gains to each cell and other system at the next measurement.
    pub(super) next: Vec<Decibel>,
    pub(super) next_systems: Vec<Decibel>,
    pub(super) set: ActiveSet,
    /// Whether it has dedicated channels.
    pub(super) dedicated: bool,
    /// The other system that serves it.
    pub(super) away: Option<u32>,
    /// Nothing is sent to or from it until then, and the step after that.
    pub(super) pause: Option<(Instant, Then)>,
    /// Where its RLC ends.
    pub(super) rnc: u32,
    /// Of each cell: since when it is better than those of its set, by what a hard handover or a reselection asks for.
    pub(super) better: Vec<Held>,
    /// Of each other system: since when it asks for the terminal, or would let it go.
    pub(super) heard: Vec<Held>,
    /// Since when no cell of it belongs to its RNC.
    pub(super) drifted: Held,
    pub(super) past: Past,
}

/// The step after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It goes on.
    Resume,
    /// Its RLC ends at this RNC from then on, and it goes on.
    Relocate(u32),
}

/// How a terminal changed to other cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A cell of another Node B joined or left.
    Soft,
    /// A cell of a Node B joined or left that has another one in the set.
    Softer,
    /// All cells were left for one.
    Hard,
    /// The same without dedicated channels.
    Reselection,
    /// To another system, or back.
    Intersystem,
    /// To another serving RNC.
    Relocation,
}

/// The kinds as they stand in results.
const KINDS: [&str; 6] =
    ["soft_handovers", "softer_handovers", "hard_handovers", "reselections", "intersystem_handovers", "relocations"];

/// What a terminal went through so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    until: Instant,
    kinds: [u64; KINDS.len()],
    /// With cells of several Node Bs; with several of one Node B; with nothing sent; at another system.
    soft: Duration,
    softer: Duration,
    silent: Duration,
    away: Duration,
    /// Cells of the set × seconds.
    cell_seconds: f64,
}

/// What a terminal has at present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    pub cells: u32,
    pub soft: bool,
    pub softer: bool,
    pub silent: bool,
    pub away: bool,
}

impl Past {
    pub(super) fn count(&mut self, kind: Kind) {
        self.kinds[kind as usize] += 1;
    }

    /// Adds up until now the state present since the last call.
    pub(super) fn add(&mut self, now: Instant, present: Present) {
        let time = now.since(self.until);
        self.until = now;
        self.cell_seconds += f64::from(present.cells) * time.as_secs_f64();
        let all = [
            (present.soft, &mut self.soft),
            (present.softer, &mut self.softer),
            (present.silent, &mut self.silent),
            (present.away, &mut self.away),
        ];
        for (is, sum) in all {
            if is {
                *sum += time;
            }
        }
    }

    pub(super) fn sample(&self, probe: &mut dyn Probe) {
        for (name, count) in KINDS.into_iter().zip(self.kinds) {
            probe.value(name, count as f64);
        }
        probe.value("soft_s", self.soft.as_secs_f64());
        probe.value("softer_s", self.softer.as_secs_f64());
        probe.value("interruption_s", self.silent.as_secs_f64());
        probe.value("other_system_s", self.away.as_secs_f64());
    }

    /// Cells of the set × seconds.
    pub(super) fn cell_seconds(&self) -> f64 {
        self.cell_seconds
    }
}
