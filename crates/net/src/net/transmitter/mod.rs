//! One direction of a link: a queue, a serialiser and a flight of packets.
//!
//! With a tail-drop FIFO the transmitter *plans* (`planned.rs`): start and arrival of a packet
//! are computed when it is accepted, and it makes one event, its arrival. Every other discipline
//! is *asked* (`asked.rs`) when the serialiser is free, which makes two. Both follow the same
//! trajectory; a test holds them to it.
//!
//! Until a planned packet starts its times are a plan: a change of rate or delay (`handover.rs`) plans waiting packets anew. A packet that
//! has started keeps its arrival, and may be overtaken (`landing.rs`).
//!
//! A packet may come at the very instant at which the one in service is out. Then the earlier
//! cause decides: the serialiser is free if that one's service began before the cause of the
//! newcomer, or at the same instant (as in ns-2 for a source that writes at the rate of the link,
//! and for links of one rate in a row).

mod asked;
mod handover;
mod landing;
mod planned;
mod unusual;

use crate::engine::units::Amount;
use crate::engine::{BitRate, Duration, Instant, Target};

use super::clock::Clock;
use super::core::Core;
use super::discipline::{Backlog, QueueDiscipline};
use super::loss::Loss;
use super::medium::{Access, End};
use super::observe::{Cause, Histogram, Place, Probe};
use super::schedule::{InService, Occasion, Path, Schedule, Service};
use super::slab::{Flight, Line, NONE, Pkt, flights_from};
use super::sparing::Sparing;

pub use handover::Flying;

use landing::Landing;
use unusual::Unusual;

/// How a transmitter is set up.
pub struct Setup {
    /// Where its drops are counted; the place's name stands in results.
    pub place: Place,
    /// Bits per second of the serialiser.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Whether a packet may overtake one that was sent before the delay became shorter.
    pub reorder: bool,
    /// The queue.
    pub queue: Queue,
    /// The loss model in front of the queue.
    pub loss: Loss,
}

/// The outgoing side of an interface, which sees packets that come in there.
pub trait Returned {
    /// A packet came in.
    fn on_return(&mut self, core: &mut Core, pkt: &Pkt);
}

/// The queue of a transmitter.
pub enum Queue {
    /// A FIFO that drops arriving packets when this much waits already. It is planned.
    Planned(Amount),
    /// Any other discipline. It is asked.
    Asked(Box<dyn QueueDiscipline>),
}

/// One direction of a link. The fields lie in the order in which an accepted packet needs them: with a thousand links each line of the cache that
/// is left alone counts.
#[repr(C)]
pub struct Transmitter<C: Clock> {
    up: bool,
    /// Whether a discipline sees the packets that come in at the far end.
    heard: bool,
    place: Place,
    /// What few have.
    unusual: Option<Box<Unusual>>,
    stage: Stage,
    /// Service of the packet that started last, of those known to have started.
    service: InService<C>,
    schedule: Schedule<C>,
    /// In service or in flight and, if planned, waiting behind these; in the order of starts.
    line: Line,
    component: u32,
    /// The valid arrival wake-up.
    armed: Landing,
    first_key: u32,
    to: End,
    sent: Backlog,
    /// The time that it took to send the packets that have landed, or were taken out of its flight.
    busy: Duration,
    /// Waiting times of packets that waited, if any did.
    waits: Option<Box<Histogram>>,
}

enum Stage {
    Planned {
        limit: Amount,
        /// The first packet of `line` not known to have started, or [`NONE`].
        first: u32,
        /// It and those behind it.
        waiting: Backlog,
    },
    Asked {
        queue: Sparing,
        sending: bool,
        wanted: Option<Instant>,
    },
}

/// What a transmitter's wake-up is for; keys count from the transmitter's first.
const ARRIVAL: u32 = 0;
const FREE: u32 = 1;
const DISCIPLINE: u32 = 2;
const FORWARDED: u32 = 3;

/// How many keys of its component a transmitter uses.
pub const KEYS: u32 = 4;

impl<C: Clock> Transmitter<C> {
    /// A transmitter to `to`. Its wake-ups come to `component` with keys from `first_key`.
    pub fn new(core: &Core, to: End, component: u32, first_key: u32, setup: Setup) -> Self {
        let stage = match setup.queue {
            Queue::Planned(limit) => Stage::Planned { limit, first: NONE, waiting: Backlog::default() },
            Queue::Asked(mut discipline) => {
                discipline.on_capacity(core.now(), setup.rate);
                Stage::Asked { queue: Sparing::new(discipline), sending: false, wanted: None }
            }
        };
        let loss = setup.loss;
        let unusual = loss.0.is_some().then(|| Box::new(Unusual { loss, ..Unusual::default() }));
        Self {
            armed: Landing::NEVER,
            line: Line::EMPTY,
            component,
            first_key,
            to,
            up: true,
            heard: false,
            place: setup.place,
            unusual,
            stage,
            sent: Backlog::default(),
            busy: Duration::ZERO,
            service: InService::none(),
            schedule: Schedule::new(setup.rate, setup.delay, setup.reorder),
            waits: None,
        }
    }

    /// Notes whether the transmitter at its far end, which sends the other way, has a discipline that sees incoming packets.
    pub fn hear(&mut self, reverse: &Self) {
        self.set_heard(reverse.hears());
    }

    /// Whether it has a discipline that sees the packets which come in at its interface.
    pub fn hears(&self) -> bool {
        matches!(self.stage, Stage::Asked { .. })
    }

    /// Whether the transmitter that sends the other way sees incoming packets.
    pub fn set_heard(&mut self, heard: bool) {
        self.heard = heard;
    }

    /// From now on this takes packets on their way, after they were sent.
    pub fn set_errors(&mut self, errors: Loss) {
        if errors.0.is_some() || self.unusual.is_some() {
            self.unusual().errors = errors;
        }
    }

    /// From now on its way has this length, for packets that have not begun to be sent.
    pub fn set_path(&mut self, path: Box<dyn Path>) {
        self.schedule.set_path(path);
    }

    /// Where its drops are counted.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The propagation delay, for routing, of a way whose length does not change.
    pub fn delay(&self) -> Duration {
        self.schedule.delay
    }

    /// Whether it takes packets.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Takes a packet to send.
    #[inline]
    pub fn accept(&mut self, core: &mut Core, pkt: Pkt) {
        if !self.up {
            return core.drop(pkt, self.place, Cause::LinkDown);
        }
        if self.loses(core, &pkt) {
            return core.drop(pkt, self.place, Cause::Loss);
        }
        match &mut self.stage {
            Stage::Planned { .. } => self.plan(core, pkt),
            Stage::Asked { .. } => self.enqueue(core, pkt),
        }
    }

    /// The wake-up with this key has come. `reverse` is the transmitter of the interface at
    /// which packets of this one arrive: its discipline sees them on their way in.
    #[inline]
    pub fn wake(&mut self, core: &mut Core, key: u32, reverse: &mut impl Returned) {
        match key - self.first_key {
            ARRIVAL => self.wake_arrival(core, reverse),
            FREE => self.wake_free(core),
            DISCIPLINE => self.wake_discipline(core),
            _ => self.wake_forwarded(core),
        }
    }

    /// The way that it offers, as the terminal at its far end may know it.
    pub fn access(&self) -> Access {
        Access { rate: BitRate::from_bps(self.schedule.rate), delay: self.schedule.delay, up: self.up }
    }

    /// The packets and bytes waiting, before the events of this instant.
    pub fn backlog(&self, core: &Core) -> Backlog {
        match &self.stage {
            Stage::Planned { first, waiting, .. } => {
                let mut backlog = *waiting;
                for gone in flights_from(core, *first).take_while(|f| f.start < core.now()) {
                    backlog.packets -= 1;
                    backlog.bytes -= u64::from(gone.size);
                }
                backlog
            }
            Stage::Asked { queue, .. } => queue.backlog(),
        }
    }

    /// For how long it has been sending; a part of that may be for packets that are still on their way.
    fn busy(&self, core: &Core) -> Duration {
        let overtaken = self.overtaken().map_or(NONE, Line::head);
        let under_way = [self.line.head(), overtaken].into_iter().flat_map(|first| flights_from(core, first));
        under_way.fold(self.busy, |sum, flight| sum + flight.sent_for(core.now()))
    }

    /// Packets that it holds: waiting, in service and in flight.
    pub fn holds(&self) -> u64 {
        let queued = match &self.stage {
            Stage::Planned { .. } => 0,
            Stage::Asked { queue, .. } => queue.backlog().packets,
        };
        let apart = self.unusual.as_ref().map_or(0, |unusual| unusual.overtaken.len() + unusual.forwarded.len());
        self.line.len() + queued + apart
    }

    /// Whether it has ever had anything to send.
    pub fn was_used(&self) -> bool {
        self.sent.packets > 0 || self.holds() > 0
    }

    /// Shows its state and totals.
    pub fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        let backlog = self.backlog(core);
        probe.value("rate_bps", self.schedule.rate as f64);
        probe.value("delay_s", self.schedule.delay_at(core.now()).as_secs_f64());
        probe.value("queue_packets", backlog.packets as f64);
        probe.value("queue_bytes", backlog.bytes as f64);
        probe.value("packets", self.sent.packets as f64);
        probe.value("bytes", self.sent.bytes as f64);
        probe.value("busy_s", self.busy(core).as_secs_f64());
        if probe.wants("queue_ms") {
            let waits = self.waits.as_deref().cloned().unwrap_or_default().with_zeros(self.sent.packets);
            probe.distribution("queue_ms", 1e-6, &waits);
        }
        if let Stage::Asked { queue, .. } = &self.stage {
            queue.discipline.sample(probe);
        }
    }

    /// The present event.
    #[inline]
    fn event(core: &Core) -> Occasion<C> {
        Occasion { at: core.now(), time: C::now(core), cause: Some(core.since()) }
    }

    #[inline]
    fn target(&self, key: u32) -> Target {
        Target { component: self.component, key: self.first_key + key }
    }
}

/// The flight of a packet with this service.
#[inline]
fn flown<C: Clock>(service: &Service<C>, size: u32, accepted: Instant) -> Flight {
    let Service { start, out, arrival, .. } = *service;
    Flight { size, accepted, start, out, arrival, ..Flight::default() }
}

/// The service of the packet at `place`, which has this flight.
#[inline]
fn service<C: Clock>(core: &Core, place: u32, flight: &Flight) -> InService<C> {
    let [time, _] = C::kept(core, place);
    InService { start: flight.start, out: flight.out, time }
}

#[cfg(all(test, debug_assertions))]
mod tests;
