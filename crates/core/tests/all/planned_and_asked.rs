//! A tail-drop FIFO that is planned and the same FIFO as a discipline that is asked: do packets
//! arrive at the same instants in the same order, and are the same ones dropped, whatever comes
//! and whatever changes?

use crate::common::{Event, Log, Script, add_link, add_udp, asked, setup, take_log, us};
use lasthop_core::engine::units::Amount;
use lasthop_core::engine::{BitRate, Bytes, Duration, Instant};
use lasthop_core::net::clock::Exact;
use lasthop_core::net::link::Link;
use lasthop_core::net::transmitter::Queue;
use lasthop_core::net::{Address, Change, InFlight, Queued, Simulation};
use proptest::prelude::*;

/// What one run meets. Times are in microseconds, so that many coincide: the transmitter of
/// 8 Mbit/s takes one for each byte.
#[derive(Clone, Debug)]
struct Case {
    limit: Amount,
    rate: BitRate,
    delay: u64,
    reorder: bool,
    /// Writes at the transmitter's node: time since the one before, bytes.
    near: Vec<(u64, u64)>,
    /// Writes at a node before it, behind a link of this rate and delay.
    far: Vec<(u64, u64)>,
    far_rate: BitRate,
    far_delay: u64,
    changes: Vec<(u64, Step)>,
}

#[derive(Clone, Debug)]
struct Step {
    rate: Option<BitRate>,
    delay: Option<u64>,
    up: Option<bool>,
    in_flight: InFlight,
    queue: Queued,
    forwarding: u64,
    interruption: u64,
    overlap: u64,
}

fn writes(gaps: &[(u64, u64)]) -> Vec<(Instant, u64)> {
    gaps.iter()
        .scan(0, |at, &(gap, bytes)| {
            *at += gap;
            Some((us(*at), bytes))
        })
        .collect()
}

/// The events, and at each change the backlog before it.
fn run(case: &Case, planned: bool) -> (Vec<Event>, Vec<Sampled>) {
    let mut simulation = Simulation::new(1);
    let [far, near, end] = ["far", "near", "end"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, far, near, case.far_rate, Duration::from_nanos(case.far_delay * 1_000));
    let link = simulation.add_medium(&[near, end], |core, component, ends| {
        let delay = Duration::from_nanos(case.delay * 1_000);
        let mut forward = setup(core, "tested", case.rate, delay);
        forward.reorder = case.reorder;
        forward.queue = if planned { Queue::Planned(case.limit) } else { asked(case.limit, forward.place) };
        let backward = setup(core, "back", case.rate, delay);
        Link::<Exact>::new(core, component, [ends[0], ends[1]], forward, backward).boxed()
    });
    add_udp(&mut simulation, near, Address::Node(end), Instant::ZERO, Script::boxed(writes(&case.near)));
    add_udp(&mut simulation, far, Address::Node(end), Instant::ZERO, Script::boxed(writes(&case.far)));
    simulation.route();
    simulation.set_observer(Box::new(Log::default()));
    let mut sampled = Vec::new();
    let mut at = 0;
    for (gap, step) in &case.changes {
        at += gap;
        simulation.run_until(us(at), u64::MAX).unwrap();
        sampled.push(sample(&simulation));
        simulation.change(
            link,
            Change {
                rate: step.rate.map(|rate| [rate; 2]),
                delay: step.delay.map(|us| Duration::from_nanos(us * 1_000)),
                up: step.up,
                in_flight: step.in_flight,
                queue: step.queue,
                forwarding: Duration::from_nanos(step.forwarding * 1_000),
                interruption: Duration::from_nanos(step.interruption * 1_000),
                overlap: Duration::from_nanos(step.overlap * 1_000),
                ..Change::default()
            },
        );
        simulation.check_conservation().unwrap();
    }
    simulation.run_until(Instant::from_secs_f64(10.0), u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    sampled.push(sample(&simulation));
    (take_log(&mut simulation), sampled)
}

/// The values that the tested transmitter shows, and how its waiting times are distributed.
type Sampled = Vec<(&'static str, String)>;

fn sample(simulation: &Simulation) -> Sampled {
    struct Tested {
        in_part: bool,
        values: Sampled,
    }
    impl lasthop_core::net::Probe for Tested {
        fn part(&mut self, _what: lasthop_core::net::What, name: &str) {
            self.in_part = name == "tested";
        }
        fn value(&mut self, name: &'static str, value: f64) {
            if self.in_part {
                self.values.push((name, value.to_string()));
            }
        }
        fn distribution(&mut self, name: &'static str, _: f64, histogram: &lasthop_core::net::Histogram) {
            if self.in_part {
                self.values.push((name, format!("{histogram:?}")));
            }
        }
    }
    let mut tested = Tested { in_part: false, values: Vec::new() };
    simulation.sample_media(&mut tested);
    tested.values
}

fn rate() -> impl Strategy<Value = BitRate> {
    // 7 and 9.6 Mbit/s leave fractions of nanoseconds.
    prop_oneof![4 => Just(8_000_000), 2 => Just(4_000_000), 1 => Just(7_000_000), 1 => Just(9_600_000)]
        .prop_map(BitRate::from_bps)
}

fn limit() -> impl Strategy<Value = Amount> {
    prop_oneof![
        (0u64..8).prop_map(Amount::Packets),
        (0u64..20).prop_map(|n| Amount::Bytes(Bytes::new(n))),
        Just(Amount::Packets(1_000)),
    ]
}

fn gaps(most: usize) -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((prop_oneof![Just(0u64), 0..6u64, Just(30)], 1u64..6), 1..most)
}

prop_compose! {
    fn step()(
        rate in prop::option::of(rate()),
        delay in prop::option::of(0u64..20),
        up in prop::option::weighted(0.3, any::<bool>()),
        in_flight in in_flight(),
        queue in prop_oneof![3 => Just(Queued::Keep), 1 => Just(Queued::Empty), 1 => Just(Queued::Forward)],
        forwarding in 0u64..20,
        interruption in prop_oneof![2 => Just(0u64), 1 => 0..40u64],
        overlap in prop_oneof![2 => Just(0u64), 1 => 0..40u64],
    ) -> Step {
        Step { rate, delay, up, in_flight, queue, forwarding, interruption, overlap }
    }
}

fn in_flight() -> impl Strategy<Value = InFlight> {
    prop_oneof![
        3 => Just(InFlight::Finish),
        2 => Just(InFlight::Move),
        1 => Just(InFlight::Copy),
        1 => Just(InFlight::Lose),
        1 => Just(InFlight::Forward),
    ]
}

prop_compose! {
    fn case()(
        limit in limit(),
        (rate, far_rate) in (rate(), rate()),
        (delay, far_delay) in (0u64..20, 0u64..5),
        reorder in any::<bool>(),
        near in gaps(40),
        far in gaps(40),
        changes in prop::collection::vec((0u64..25, step()), 0..8),
    ) -> Case {
        Case { limit, rate, delay, reorder, near, far, far_rate, far_delay, changes }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn both_follow_the_same_trajectory(case in case()) {
        let (planned, sampled) = run(&case, true);
        let (asked, sampled_asked) = run(&case, false);
        prop_assert_eq!(planned, asked);
        prop_assert_eq!(sampled, sampled_asked);
    }
}
