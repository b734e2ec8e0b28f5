//! Packets over a link that follows a trace, by mahimahi's rules.

use std::any::Any;

use lasthop_core::engine::units::{Amount, Bytes};
use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::net::loss::Loss;
use lasthop_core::net::transmitter::{Queue, Setup};
use lasthop_core::net::{
    Address, Cause, Change, FlowId, Header, NodeId, Observation, Observer, Packet, Simulation, Socket,
};
use lasthop_core::queues::droptail::{self, DropTail};

use lasthop_core::net::trace::{Trace, TraceLink, TracedSetup, WaySetup};

/// Packets that came out at the far end, at which µs, and how large; and what was dropped, and why.
#[derive(Default)]
struct Seen {
    out: Vec<(u64, u32)>,
    dropped: Vec<Cause>,
}

impl Observer for Seen {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match observation {
            // No endpoint listens: there packets end.
            Observation::Dropped { cause: Cause::NoEndpoint, packet, .. } => {
                self.out.push((now.as_nanos() / 1_000, packet.size));
            }
            Observation::Dropped { cause, .. } => self.dropped.push(*cause),
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A link that follows `trace` from node 0 to node 1, `delay_ms` long, whose queue takes two packets.
fn link(trace: &str, delay_ms: u64) -> Simulation {
    limited(trace, delay_ms, Amount::Packets(2).into())
}

/// The same with another queue.
fn limited(trace: &str, delay_ms: u64, queue: droptail::Config) -> Simulation {
    let mut simulation = Simulation::new(1);
    let ends = ["a", "b"].map(|name| simulation.add_node(name));
    let places = ["there", "back"].map(|name| simulation.core_mut().place(name));
    let traced = TracedSetup {
        place: places[0],
        trace: Trace::try_from(trace.to_owned()).unwrap(),
        start: Duration::ZERO,
        repeats: true,
        delay: Duration::from_millis(delay_ms),
        queue: Box::new(DropTail::new(queue, places[0])),
        loss: Loss::default(),
    };
    let back = Setup {
        place: places[1],
        rate: BitRate::from_bps(1_000_000),
        delay: Duration::ZERO,
        reorder: false,
        queue: Queue::Planned(Amount::Packets(1)),
        loss: Loss::default(),
    };
    simulation.add_medium(&ends, |core, component, ends| {
        let (there, back) = (WaySetup::Traced(traced), WaySetup::Rated(back));
        Box::new(TraceLink::new(core, component, [ends[0], ends[1]], there, back))
    });
    simulation.make_destination(ends[1]);
    simulation.route();
    simulation.set_observer(Box::<Seen>::default());
    simulation
}

fn at(ms: f64) -> Instant {
    Instant::from_nanos((1e6 * ms) as u64)
}

fn send(simulation: &mut Simulation, ms: f64, size: u32) {
    simulation.run_until(at(ms), u64::MAX).unwrap();
    let packet = Packet {
        from: Socket { node: NodeId(0), port: 9 },
        to: Address::Node(NodeId(1)),
        to_port: 9,
        size,
        flow: FlowId::NONE,
        header: Header::Udp(Default::default()),
        ..Packet::vacant()
    };
    simulation.inject(NodeId(0), packet).unwrap();
}

fn seen(mut simulation: Simulation) -> Seen {
    simulation.run_until(at(10_000.0), u64::MAX).unwrap();
    *simulation.take_observer().unwrap().into_any().downcast().unwrap()
}

#[test]
fn a_packet_that_comes_at_an_opportunity_waits_for_the_next() {
    let mut simulation = link("1", 0);
    send(&mut simulation, 3.0, 1504);
    send(&mut simulation, 7.25, 40);
    assert_eq!(seen(simulation).out, [(4_000, 1504), (8_000, 40)]);
}

#[test]
fn a_packet_begins_in_one_opportunity_and_ends_in_another() {
    let mut simulation = link("100", 0);
    send(&mut simulation, 0.0, 40);
    send(&mut simulation, 0.0, 1504);
    assert_eq!(seen(simulation).out, [(100_000, 40), (200_000, 1504)]);
}

#[test]
fn a_larger_packet_takes_several() {
    let mut simulation = link("10", 0);
    send(&mut simulation, 0.0, 3_009);
    assert_eq!(seen(simulation).out, [(30_000, 3_009)]);
}

#[test]
fn the_delay_comes_on_top() {
    let mut simulation = link("10", 25);
    send(&mut simulation, 0.0, 100);
    assert_eq!(seen(simulation).out, [(35_000, 100)]);
}

/// 1,504 bytes of the first are half carried at 10 ms: it is in transit then, and two more may wait.
#[test]
fn the_packet_in_transit_is_in_no_queue() {
    let mut simulation = link("10", 0);
    send(&mut simulation, 0.0, 2_000);
    send(&mut simulation, 1.0, 100);
    send(&mut simulation, 2.0, 101);
    send(&mut simulation, 11.0, 102);
    send(&mut simulation, 12.0, 103);
    let seen = seen(simulation);
    assert_eq!(seen.out, [(20_000, 2_000), (20_000, 100), (20_000, 102)]);
    assert_eq!(seen.dropped, [Cause::Overflow; 2]);
}

#[test]
fn a_link_that_is_down_drops_what_comes_and_keeps_what_waits() {
    let mut simulation = link("10", 0);
    send(&mut simulation, 1.0, 100);
    simulation.change(0, Change { up: Some(false), ..Change::default() });
    send(&mut simulation, 2.0, 101);
    simulation.run_until(at(45.0), u64::MAX).unwrap();
    simulation.change(0, Change { up: Some(true), ..Change::default() });
    let seen = seen(simulation);
    assert_eq!(seen.out, [(50_000, 100)]);
    assert_eq!(seen.dropped.len(), 1);
}

/// Mahimahi's droptail and drophead have limits in packets, in bytes, or both.
#[test]
fn either_of_two_limits_holds() {
    let both = |drop_front| droptail::Config {
        limit: Amount::Packets(2),
        also: Some(Amount::Bytes(Bytes::new(250))),
        drop_front,
    };
    for (drop_front, out) in [(false, [100, 150]), (true, [150, 40])] {
        let mut simulation = limited("10", 0, both(drop_front));
        send(&mut simulation, 0.0, 100);
        send(&mut simulation, 1.0, 150);
        send(&mut simulation, 2.0, 40);
        let seen = seen(simulation);
        assert_eq!(seen.out, out.map(|size| (10_000, size)));
        assert_eq!(seen.dropped, [Cause::Overflow]);
    }
    let mut simulation = limited("10", 0, both(false));
    send(&mut simulation, 0.0, 200);
    send(&mut simulation, 1.0, 60);
    send(&mut simulation, 2.0, 50);
    assert_eq!(seen(simulation).out, [(10_000, 200), (10_000, 50)]);
}
