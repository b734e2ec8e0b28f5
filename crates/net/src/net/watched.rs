//! A medium whose arrivals are observed. Other media pay nothing for it.

use crate::engine::Instant;

use super::core::Core;
use super::medium::{Access, Change, Edge, End, Medium, Peer};
use super::observe::{Observation, Place, Probe};
use super::order::{Answer, Command};
use super::slab::Pkt;

/// A medium whose arrivals are observed ([`Observation::Arrived`]).
pub struct Watched {
    medium: Box<dyn Medium>,
    /// The way that leads to each end.
    ways: Vec<(End, Place)>,
}

impl Watched {
    /// This medium, watched at these ends of its ways.
    pub fn new(medium: Box<dyn Medium>, ways: Vec<(End, Place)>) -> Self {
        Self { medium, ways }
    }

    /// Shows the arrivals from number `from` on, which are still to be forwarded.
    fn show(&self, core: &mut Core, from: usize) {
        let Some(mut observer) = core.observer.take() else { return };
        for arrival in &core.arrivals[from..] {
            let end = End { node: arrival.node, port: arrival.via };
            if let Some(&(_, place)) = self.ways.iter().find(|(to, _)| *to == end) {
                // Its flight has ended, and stands written as long as the packet lies there.
                let start = core.slab().flight(arrival.pkt.0).start;
                let packet = core.packet(&arrival.pkt);
                observer.see(core.now(), &Observation::Arrived { place, start, packet });
            }
        }
        core.observer = Some(observer);
    }
}

impl Medium for Watched {
    fn accept(&mut self, core: &mut Core, from: Peer, to: &[Peer], packet: Pkt) {
        self.medium.accept(core, from, to, packet);
    }

    fn wake(&mut self, core: &mut Core, key: u32) {
        let from = core.arrivals.len();
        self.medium.wake(core, key);
        self.show(core, from);
    }

    fn change(&mut self, core: &mut Core, change: &mut Change) {
        self.medium.change(core, change);
    }

    fn order(&mut self, core: &mut Core, at: Peer, command: &Command) -> Answer {
        self.medium.order(core, at, command)
    }

    fn takes_orders(&self, from: Peer, to: Peer) -> bool {
        self.medium.takes_orders(from, to)
    }

    fn access(&self, peer: Peer) -> Access {
        self.medium.access(peer)
    }

    fn edges(&self, now: Instant) -> Vec<Edge> {
        self.medium.edges(now)
    }

    fn holds(&self) -> u64 {
        self.medium.holds()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        self.medium.sample(core, probe);
    }
}
