//! A network and the loop that runs it.
//!
//! The world changes between events only: [`Simulation::run_until`] stops the clock, the caller
//! changes or looks, and goes on.
//!
//! This file has the loop. Beside it: how a network is built, how ways are found through it, how packets are forwarded, how machines are
//! woken, what ends a run early, and what can be seen and done from outside.

mod building;
mod ends;
mod error;
mod forwarding;
mod groups;
mod guards;
mod looking;
mod machines;
mod marks;
mod outside;
mod routing;
mod sockets;
mod timer;

pub use error::RunError;
pub use groups::{Group, Part, Trees};
pub use outside::{FIRST_OUTSIDE_FLOW, HandedOut, OUTSIDE_PORT};

use std::collections::VecDeque;

use crate::engine::{FloatTime, Instant, Target};

use super::core::{Arrival, Core};
use super::machine::{Endpoint, Source};
use super::medium::Medium;
use super::names::Names;
use super::node::Node;
use super::observe::{Observer, Place};
use super::packet::{Address, FlowId, NodeId};
use super::routes::Ways;

use ends::Ends;
use marks::Marks;
use sockets::Sockets;
use timer::Timer;

/// A network: nodes, media, endpoints and sources, and the clock that moves them.
pub struct Simulation {
    core: Core,
    nodes: Vec<Node>,
    node_names: Names,
    media: Vec<Box<dyn Medium>>,
    /// The ways through the network.
    ways: Ways,
    /// The nodes behind each medium's peers.
    ends: Ends,
    endpoints: Vec<Seated>,
    sockets: Sockets,
    flows: Vec<Flow>,
    groups: Vec<Group>,
    /// Whether trees have been built.
    has_trees: bool,
    /// Whether ways change all the time, so that each packet at each node finds its own.
    routes_by_packet: bool,
    /// The endpoints that serve their node and belong to no flow.
    agents: Vec<u32>,
    /// Where packets end that no medium dropped.
    nowhere: Place,
    /// Packets made at a node for an endpoint there that come in an event of their own, since too many were on their way
    /// already.
    home: VecDeque<Arrival>,
    /// Packets for the caller, since it last took them.
    handed_out: Vec<HandedOut>,
    /// How many deliveries at one node are under way, each brought about by the one before.
    nested: u32,
    /// The most rows of a table that is recorded.
    most_rows: u64,
    /// Whether sources keep their transfers for a table, and how many events there are to be before these are counted.
    keeps_transfers: bool,
    count_transfers_at: u64,
    /// Events so far, with the actions of machines beyond the usual number per event.
    events: u64,
    /// Events until the run is looked after.
    until_look: u64,
    /// Events since its size was looked at.
    unlooked: u64,
    /// Events since time last went on, as far as they were looked after.
    standing: u64,
    /// The flows' counters when their transfers began, if transfers are recorded.
    marks: Option<Marks>,
}

/// An endpoint at its node.
struct Seated {
    endpoint: Box<dyn Endpoint>,
    node: NodeId,
    flow: FlowId,
    timer: Timer,
}

/// A flow: its source and its endpoints.
struct Flow {
    to: Address,
    source: Box<dyn Source>,
    timer: Timer,
    sender: u32,
    receivers: Box<[u32]>,
}

/// How far a call of [`Simulation::run_until`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The instant asked for is reached.
    Reached,
    /// The events allowed were used up first.
    Paused,
}

/// The kinds of components, in the two highest bits of a target.
const KIND: u32 = 30;
const MEDIUM: u32 = 0;
const ENDPOINT: u32 = 1;
const SOURCE: u32 = 2;
/// Not a component: the network itself, for what the key says.
const NETWORK: u32 = 3;
/// Packets were dropped whose sources subscribe to losses.
const LOSSES: Target = Target { component: NETWORK << KIND, key: 0 };
/// A packet that was made at a node is for an endpoint there.
const HOME: Target = Target { component: NETWORK << KIND, key: 1 };

/// After how many events the run is looked after.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;

impl Simulation {
    /// The core, for building: streams and places.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// The core, for building: streams and places.
    pub fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    /// Limits the rows of each recorded table; if sources keep their transfers, of the table of transfers too.
    pub fn set_most_rows(&mut self, rows: u64, keeps_transfers: bool) {
        (self.most_rows, self.keeps_transfers) = (rows, keeps_transfers);
    }

    /// Sets the observer of the run, from now on. Endpoints made before do not report their variables.
    pub fn set_observer(&mut self, observer: Box<dyn Observer>) {
        self.core.observer = Some(observer);
    }

    /// Takes the observer back.
    pub fn take_observer(&mut self) -> Option<Box<dyn Observer>> {
        self.core.observer.take()
    }

    /// The present.
    pub fn now(&self) -> Instant {
        self.core.now()
    }

    /// How many events there were so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Runs all events before `until`, but at most `events` of them; then the clock stands at
    /// `until`. Events at `until` itself belong to the next call, so a change or a look comes
    /// before them.
    ///
    /// # Errors
    /// [`RunError::Stalled`] and [`RunError::TooManyPackets`].
    pub fn run_until(&mut self, until: Instant, events: u64) -> Result<Progress, RunError> {
        let Some(last) = until.as_nanos().checked_sub(1).map(Instant::from_nanos) else {
            return Ok(Progress::Reached);
        };
        let mut left = events;
        while left > 0 {
            let began = self.core.now();
            let some = left.min(EVENTS_BETWEEN_LOOKS);
            self.until_look = some;
            while self.until_look > 0 {
                let Some(wake) = self.core.queue.pop(last) else {
                    // What happens at `until` is caused by it.
                    self.core.set_clock(until, Instant::ZERO);
                    self.core.set_float(FloatTime::new(until), Instant::ZERO);
                    self.events += some - self.until_look;
                    debug_assert_eq!(self.check_conservation(), Ok(()));
                    self.unlooked += some - self.until_look;
                    // Many short stretches are as one long one.
                    if self.unlooked >= EVENTS_BETWEEN_LOOKS {
                        self.look_at_size()?;
                    }
                    return Ok(Progress::Reached);
                };
                self.until_look -= 1;
                self.core.set_clock(wake.at, wake.since);
                self.dispatch(wake.target);
            }
            left -= some;
            self.events += some;
            self.look_after(began, some)?;
        }
        Ok(Progress::Paused)
    }

    #[inline]
    fn dispatch(&mut self, target: Target) {
        let index = target.component & ((1 << KIND) - 1);
        match target.component >> KIND {
            MEDIUM => {
                self.media[index as usize].wake(&mut self.core, target.key);
                if self.core.take_ways_changed() {
                    self.route();
                }
                self.forward_arrivals();
            }
            ENDPOINT => self.wake_endpoint(index),
            SOURCE => self.wake_source(index),
            _ => self.wake_network(target),
        }
    }

    #[inline(never)]
    fn wake_network(&mut self, target: Target) {
        if target == LOSSES {
            self.tell_losses();
        } else if let Some(Arrival { node, via, pkt }) = self.home.pop_front() {
            self.deliver(node, via, pkt);
        }
    }
}
