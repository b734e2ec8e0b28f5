//! Small networks for tests: a source that writes at given instants, and a log of events.

pub mod cell;
pub mod scenario;

use std::any::Any;

use lasthop_core::engine::units::Amount;
use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::net::clock::Exact;
use lasthop_core::net::link::Link;
use lasthop_core::net::loss::Loss;
use lasthop_core::net::transmitter::{Queue, Setup};
use lasthop_core::net::{
    Address, Cause, Core, FlowId, NodeId, Notice, Observation, Observer, Place, Simulation, Source, Timed,
};
use lasthop_core::queues::droptail;
use lasthop_core::transport::udp;

/// The instant `n` microseconds after the start.
pub fn us(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000)
}

/// Writes a number of bytes at each of the given instants, which do not decrease.
pub struct Script {
    writes: Vec<(Instant, u64)>,
    asked: usize,
    due: usize,
}

impl Script {
    pub fn boxed(writes: Vec<(Instant, u64)>) -> Box<dyn Source> {
        Box::new(Self { writes, asked: 0, due: 0 })
    }
}

impl Timed for Script {
    fn on_timeout(&mut self, now: Instant) {
        self.due += self.writes[self.due..].iter().take_while(|(at, _)| *at <= now).count();
    }
    fn next_timeout(&self) -> Option<Instant> {
        self.writes.get(self.due).map(|(at, _)| *at)
    }
}

impl Source for Script {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}
    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        let (_, bytes) = *self.writes[..self.due].get(self.asked)?;
        self.asked += 1;
        Some(Notice::Write(bytes))
    }
}

/// One line of a log: when, the packet's flow and number, and the event.
pub type Event = (Instant, FlowId, u64, Happened);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    Received(NodeId),
    Dropped(Place, Cause),
}

/// Writes down events, in order.
#[derive(Default)]
pub struct Log(pub Vec<Event>);

impl Observer for Log {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        let (packet, happened) = match *observation {
            Observation::Received { node, packet } => (packet, Happened::Received(node)),
            Observation::Dropped { place, cause, packet } => (packet, Happened::Dropped(place, cause)),
            _ => return,
        };
        self.0.push((now, packet.flow, packet.number, happened));
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Takes the log of a simulation that [`Log`] observes.
pub fn take_log(simulation: &mut Simulation) -> Vec<Event> {
    let observer = simulation.take_observer().expect("it is observed");
    observer.into_any().downcast::<Log>().expect("by a log").0
}

/// A transmitter of this rate and delay with a large queue.
pub fn setup(core: &mut Core, name: &str, rate: BitRate, delay: Duration) -> Setup {
    let place = core.place(name);
    let queue = Queue::Planned(Amount::Packets(1_000_000));
    Setup { place, rate, delay, reorder: true, queue, loss: Loss(None) }
}

/// The queue of `limit` as a discipline that is asked.
pub fn asked(limit: Amount, place: Place) -> Queue {
    Queue::Asked(Box::new(droptail::DropTail::new(droptail::Config { limit, ..Default::default() }, place)))
}

/// Adds a link of this rate and delay, with large queues.
pub fn add_link(simulation: &mut Simulation, a: NodeId, b: NodeId, rate: BitRate, delay: Duration) -> u32 {
    simulation.add_medium(&[a, b], |core, component, ends| {
        let forward = setup(core, "forward", rate, delay);
        let backward = setup(core, "backward", rate, delay);
        Link::<Exact>::new(core, component, [ends[0], ends[1]], forward, backward).boxed()
    })
}

/// Adds a UDP flow without header bytes.
pub fn add_udp(
    simulation: &mut Simulation,
    from: NodeId,
    to: Address,
    start: Instant,
    source: Box<dyn Source>,
) -> FlowId {
    simulation.add_flow(
        from,
        to,
        start,
        source,
        |seat| Box::new(udp::Sender::new(0, seat)),
        |seat| Box::new(udp::Receiver::new(0, seat)),
    )
}
