//! A medium in a crate of its own: a beam from one node to many terminals, in which everything takes the same time.

use lasthop_core::engine::{BitRate, Duration, Instant, Target};
use lasthop_core::net::{Access, Change, Core, Edge, End, Medium, NodeId, Peer, Pkt, Probe, Simulation};
use lasthop_core::radio::delay_line::DelayLine;
use lasthop_core::scenario::media::{Around, Built, Faults, Joined, MediumConfig, Setting};

/// The parameters, as an entry of a scenario has them.
pub struct Beam {
    /// Its name. Terminals are nodes called `NAME.ue[0]`, `NAME.ue[1]`, ….
    pub name: String,
    /// The node from which it comes.
    pub from: String,
    /// How many terminals there are.
    pub terminals: u32,
    /// How long a packet takes, in both directions.
    pub delay: Duration,
}

impl MediumConfig for Beam {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "radios"
    }

    fn joins(&self) -> Vec<Joined<'_>> {
        vec![Joined::new("from", &self.from)]
    }

    fn terminals(&self) -> u32 {
        self.terminals
    }

    fn check(&self, _around: &Around<'_>, faults: &mut Faults) {
        if self.delay == Duration::ZERO {
            faults.add("delay", "a beam that takes no time", "expected more than 0 s");
        }
    }

    fn build(&self, simulation: &mut Simulation, ends: &[NodeId], _setting: &Setting) -> Built {
        Built::new(simulation.add_medium(ends, |_core, component, ends| {
            Box::new(Air { line: DelayLine::new(self.delay, Target { component, key: 0 }), ends: ends.to_vec() })
        }))
    }
}

/// The packets on their way. Peer 0 is the node, the others are the terminals.
struct Air {
    line: DelayLine,
    ends: Vec<End>,
}

impl Medium for Air {
    fn accept(&mut self, core: &mut Core, _from: Peer, to: &[Peer], packet: Pkt) {
        let (last, others) = to.split_last().expect("callers never pass an empty receiver list");
        for peer in others {
            let copy = core.copy(&packet);
            self.line.send(core, peer.0, copy);
        }
        self.line.send(core, last.0, packet);
    }

    fn wake(&mut self, core: &mut Core, _key: u32) {
        while let Some((peer, packet)) = self.line.take(core) {
            let End { node, port } = self.ends[peer as usize];
            core.arrive(node, port, packet);
        }
    }

    fn change(&mut self, _core: &mut Core, _change: &mut Change) {}

    fn access(&self, _peer: Peer) -> Access {
        Access { rate: BitRate::MAX, delay: self.line.delay(), up: true }
    }

    fn edges(&self, _now: Instant) -> Vec<Edge> {
        let delay = self.line.delay();
        let both = |n| [(Peer(0), Peer(n)), (Peer(n), Peer(0))];
        (1..self.ends.len() as u32).flat_map(both).map(|(from, to)| Edge { from, to, delay }).collect()
    }

    fn holds(&self) -> u64 {
        self.line.len()
    }

    fn sample(&self, _core: &Core, _probe: &mut dyn Probe) {}
}
