//! The laws that a transmitter looks after: each is seen to be broken.

use crate::net::clock::Exact;
use crate::net::core::Port;
use crate::net::machine::Timed;
use crate::net::packet::{NodeId, Packet};
use crate::net::slab::Pkt;

use super::*;

/// Keeps packets back, and does not say until when.
struct Silent(Vec<Pkt>);

impl QueueDiscipline for Silent {
    fn enqueue(&mut self, _core: &mut Core, packet: Pkt) {
        self.0.push(packet);
    }

    fn dequeue(&mut self, _core: &mut Core) -> Option<Pkt> {
        None
    }

    fn put_back(&mut self, _core: &mut Core, packet: Pkt) {
        self.0.push(packet);
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.0.len() as u64, bytes: 100 * self.0.len() as u64 }
    }
}

impl Timed for Silent {}

fn transmitter(core: &mut Core, queue: Queue) -> Transmitter<Exact> {
    let (rate, delay) = (BitRate::from_mbps(1), Duration::ZERO);
    let setup = Setup { place: core.place("queue"), rate, delay, reorder: true, queue, loss: Loss(None) };
    Transmitter::new(core, End { node: NodeId(0), port: Port(0) }, 0, 0, setup)
}

fn packet(core: &mut Core) -> Pkt {
    core.copy_of(&Packet { size: 100, ..Packet::vacant() })
}

#[test]
#[should_panic(expected = "the queue at queue")]
fn a_discipline_that_does_not_say_when_to_ask_again_is_seen() {
    let mut core = Core::new(1);
    let mut transmitter = transmitter(&mut core, Queue::Asked(Box::new(Silent(Vec::new()))));
    let pkt = packet(&mut core);
    transmitter.enqueue(&mut core, pkt);
}

#[test]
#[should_panic(expected = "what counts for the limit is what waits")]
fn a_wrong_count_of_what_waits_is_seen() {
    let mut core = Core::new(1);
    let mut transmitter = transmitter(&mut core, Queue::Planned(Amount::Packets(1)));
    for n in 0..3 {
        if let Stage::Planned { waiting, .. } = &mut transmitter.stage
            && n == 2
        {
            waiting.bytes -= 1;
        }
        let pkt = packet(&mut core);
        transmitter.plan(&mut core, pkt);
    }
}

/// A way that becomes shorter by the speed of light.
struct Shrinking;

impl Path for Shrinking {
    fn delay(&self, start: Instant, _propagation: Duration) -> Duration {
        Duration::from_nanos(1_000) - start.since(Instant::ZERO)
    }
}

struct Unheard;

impl Returned for Unheard {
    fn on_return(&mut self, _core: &mut Core, _pkt: &Pkt) {}
}

/// Packets of 0.4 ns: of the fourth on, start and end fall into one nanosecond, so it would arrive before the third.
#[test]
fn all_packets_arrive_over_a_way_that_becomes_shorter() {
    let mut core = Core::new(1);
    let mut transmitter = transmitter(&mut core, Queue::Planned(Amount::Packets(100)));
    transmitter.schedule.set_rate(BitRate::from_mbps(20_000));
    transmitter.set_path(Box::new(Shrinking));
    for _ in 0..50 {
        let pkt = core.copy_of(&Packet { size: 1, ..Packet::vacant() });
        transmitter.accept(&mut core, pkt);
    }
    while let Some(wake) = core.queue.pop(Instant::MAX) {
        core.set_clock(wake.at, wake.since);
        transmitter.wake(&mut core, wake.target.key, &mut Unheard);
    }
    assert_eq!((core.arrivals.len(), transmitter.holds()), (50, 0));
    assert!(core.now() <= Instant::from_nanos(1_001));
}
