//! The point-to-point link: two transmitters, one for each direction.

use crate::engine::Instant;

use super::clock::{Clock, Exact, Ns2};
use super::core::Core;
use super::medium::{Access, Change, Edge, End, Medium, Peer};
use super::observe::{Probe, What};
use super::order::{Answer, Command};
use super::schedule::Path;
use super::slab::Pkt;
use super::transmitter::{KEYS, Setup, Transmitter};

/// A link between two nodes. Peer 0 is the first, peer 1 the second.
pub struct Link<C: Clock> {
    /// From peer 0 to peer 1, and back.
    directions: [Transmitter<C>; 2],
}

impl<C: Clock> Link<C> {
    /// A link between two ends; `forward` is the direction from the first to the second.
    pub fn new(core: &Core, component: u32, ends: [End; 2], forward: Setup, backward: Setup) -> Self {
        let mut forward = Transmitter::new(core, ends[1], component, 0, forward);
        let mut backward = Transmitter::new(core, ends[0], component, KEYS, backward);
        forward.hear(&backward);
        backward.hear(&forward);
        Self { directions: [forward, backward] }
    }

    /// From now on the delays of packets are these, forward and back.
    pub fn set_paths(&mut self, paths: [Box<dyn Path>; 2]) {
        for (direction, path) in self.directions.iter_mut().zip(paths) {
            direction.set_path(path);
        }
    }
}

// The code of a link is compiled where it becomes a medium: here, since this crate is optimised more than those that build networks.

impl Link<Exact> {
    /// The link as a medium.
    #[inline(never)]
    pub fn boxed(self) -> Box<dyn Medium> {
        Box::new(self)
    }
}

impl Link<Ns2> {
    /// The link as a medium.
    #[inline(never)]
    pub fn boxed(self) -> Box<dyn Medium> {
        Box::new(self)
    }
}

impl<C: Clock> Medium for Link<C> {
    #[inline]
    fn accept(&mut self, core: &mut Core, from: Peer, _to: &[Peer], packet: Pkt) {
        self.directions[from.0 as usize].accept(core, packet);
    }

    #[inline]
    fn wake(&mut self, core: &mut Core, key: u32) {
        let direction = usize::from(key >= KEYS);
        let [forward, backward] = &mut self.directions;
        let (this, other) = if direction == 0 { (forward, backward) } else { (backward, forward) };
        this.wake(core, key, other);
    }

    fn change(&mut self, core: &mut Core, change: &mut Change) {
        // The first, forward, takes the loss model out of the change.
        for (n, direction) in self.directions.iter_mut().enumerate() {
            let rate = change.rate.map(|rates| rates[n]);
            direction.change(core, change, rate);
        }
    }

    fn order(&mut self, core: &mut Core, at: Peer, command: &Command) -> Answer {
        self.directions[at.0 as usize].order(core, command)
    }

    fn access(&self, peer: Peer) -> Access {
        self.directions[1 - peer.0 as usize].access()
    }

    fn edges(&self, _now: Instant) -> Vec<Edge> {
        let ways = [(Peer(0), Peer(1)), (Peer(1), Peer(0))];
        let up = |(t, _): &(&Transmitter<C>, _)| t.is_up();
        self.directions.iter().zip(ways).filter(up).map(|(t, (from, to))| Edge { from, to, delay: t.delay() }).collect()
    }

    fn holds(&self) -> u64 {
        self.directions.iter().map(Transmitter::holds).sum()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        for direction in &self.directions {
            probe.part(What::Link, core.place_name(direction.place()));
            direction.sample(core, probe);
        }
    }
}
