//! A link between two nodes of which one direction or both follow a trace.

use crate::engine::Instant;
use crate::net::clock::Exact;
use crate::net::core::Core;
use crate::net::medium::{Access, Change, Edge, End, Medium, Peer};
use crate::net::observe::{Place, Probe, What};
use crate::net::order::{Answer, Command};
use crate::net::schedule::Path;
use crate::net::slab::Pkt;
use crate::net::transmitter::{KEYS, Returned, Setup, Transmitter};

use super::transmitter::{Traced, TracedSetup};

/// How a direction is set up.
pub enum WaySetup {
    /// At a rate.
    Rated(Setup),
    /// At the opportunities of a trace.
    Traced(TracedSetup),
}

impl WaySetup {
    /// Where its drops are counted.
    pub fn place(&self) -> Place {
        match self {
            Self::Rated(setup) => setup.place,
            Self::Traced(setup) => setup.place,
        }
    }
}

/// A link between two nodes, of which a direction or both follow a trace. Peer 0 is the first node, peer 1 the second.
pub struct TraceLink {
    /// From peer 0 to peer 1, and back.
    directions: [Way; 2],
}

enum Way {
    Rated(Box<Transmitter<Exact>>),
    Traced(Box<Traced>),
}

impl TraceLink {
    /// A link between two ends; `forward` is the direction from the first to the second.
    pub fn new(core: &Core, component: u32, ends: [End; 2], forward: WaySetup, backward: WaySetup) -> Self {
        let way = |to, first_key, setup| match setup {
            WaySetup::Rated(setup) => Way::Rated(Box::new(Transmitter::new(core, to, component, first_key, setup))),
            WaySetup::Traced(setup) => Way::Traced(Box::new(Traced::new(core, to, component, first_key, setup))),
        };
        let (mut forward, mut backward) = (way(ends[1], 0, forward), way(ends[0], KEYS, backward));
        forward.set_heard(backward.hears());
        backward.set_heard(forward.hears());
        Self { directions: [forward, backward] }
    }

    /// From now on the delays of packets are these, forward and back.
    pub fn set_paths(&mut self, paths: [Box<dyn Path>; 2]) {
        for (way, path) in self.directions.iter_mut().zip(paths) {
            match way {
                Way::Rated(transmitter) => transmitter.set_path(path),
                Way::Traced(traced) => traced.set_path(path),
            }
        }
    }
}

impl Way {
    /// Whether it has a queue that sees the packets which come in at its interface.
    fn hears(&self) -> bool {
        match self {
            Self::Rated(transmitter) => transmitter.hears(),
            Self::Traced(_) => true,
        }
    }

    fn set_heard(&mut self, heard: bool) {
        match self {
            Self::Rated(transmitter) => transmitter.set_heard(heard),
            Self::Traced(traced) => traced.heard = heard,
        }
    }

    fn place(&self) -> Place {
        match self {
            Self::Rated(transmitter) => transmitter.place(),
            Self::Traced(traced) => traced.place(),
        }
    }

    /// The way, if it is up.
    fn edge(&self, from: u32) -> Option<Edge> {
        let (up, delay) = match self {
            Self::Rated(transmitter) => (transmitter.is_up(), transmitter.delay()),
            Self::Traced(traced) => (traced.is_up(), traced.delay()),
        };
        up.then_some(Edge { from: Peer(from), to: Peer(1 - from), delay })
    }
}

impl Returned for Way {
    fn on_return(&mut self, core: &mut Core, pkt: &Pkt) {
        match self {
            Self::Rated(transmitter) => transmitter.on_return(core, pkt),
            Self::Traced(traced) => traced.on_return(core, pkt),
        }
    }
}

impl Medium for TraceLink {
    fn accept(&mut self, core: &mut Core, from: Peer, _to: &[Peer], packet: Pkt) {
        match &mut self.directions[from.0 as usize] {
            Way::Rated(transmitter) => transmitter.accept(core, packet),
            Way::Traced(traced) => traced.accept(core, packet),
        }
    }

    fn wake(&mut self, core: &mut Core, key: u32) {
        let [forward, backward] = &mut self.directions;
        let (this, other) = if key < KEYS { (forward, backward) } else { (backward, forward) };
        match this {
            Way::Rated(transmitter) => transmitter.wake(core, key, other),
            Way::Traced(traced) => traced.wake(core, key, other),
        }
    }

    fn change(&mut self, core: &mut Core, change: &mut Change) {
        // The first, forward, takes the loss model out of the change.
        for way in &mut self.directions {
            match way {
                Way::Rated(transmitter) => transmitter.change(core, change, None),
                Way::Traced(traced) => traced.change(core, change),
            }
        }
    }

    fn order(&mut self, core: &mut Core, at: Peer, command: &Command) -> Answer {
        match &mut self.directions[at.0 as usize] {
            Way::Rated(transmitter) => transmitter.order(core, command),
            Way::Traced(traced) => traced.order(core, command),
        }
    }

    fn access(&self, peer: Peer) -> Access {
        match &self.directions[1 - peer.0 as usize] {
            Way::Rated(transmitter) => transmitter.access(),
            Way::Traced(traced) => traced.access(),
        }
    }

    fn edges(&self, _now: Instant) -> Vec<Edge> {
        self.directions.iter().zip(0..).filter_map(|(way, from)| way.edge(from)).collect()
    }

    fn holds(&self) -> u64 {
        let held = |way: &Way| match way {
            Way::Rated(transmitter) => transmitter.holds(),
            Way::Traced(traced) => traced.holds(),
        };
        self.directions.iter().map(held).sum()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        for way in &self.directions {
            probe.part(What::Link, core.place_name(way.place()));
            match way {
                Way::Rated(transmitter) => transmitter.sample(core, probe),
                Way::Traced(traced) => traced.sample(core, probe),
            }
        }
    }
}
