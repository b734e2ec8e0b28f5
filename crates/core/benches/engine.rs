//! What the engine and a link cost: the queue of wake-ups at two sizes, and a packet-hop over
//! planned and asked links.
//!
//! ```sh
//! cargo bench -p lasthop-core --profile fast
//! ```

use std::hint::black_box;
use std::time::Duration as WallTime;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lasthop_core::engine::units::Amount;
use lasthop_core::engine::{BitRate, Duration, EventQueue, Instant, Target};
use lasthop_core::net::disciplines::droptail;
use lasthop_core::net::link::Link;
use lasthop_core::net::loss::Loss;
use lasthop_core::net::transmitter::{Queue, Setup};
use lasthop_core::net::{Address, Simulation};
use lasthop_core::traffic::{SourceConfig, cbr};
use lasthop_core::transport::udp;

/// Takes the earliest wake-up and enters a later one, at a constant length of the queue.
fn event_queue(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event_queue");
    for entries in [10u64, 1_000] {
        let mut queue = EventQueue::new();
        // Steps without a common factor, so that wake-ups overtake one another.
        for n in 0..entries {
            queue.push(Instant::from_nanos(n * 7_919 % 10_007), Instant::ZERO, Target { component: n as u32, key: 0 });
        }
        group.bench_function(BenchmarkId::new("pop_push", entries), |bencher| {
            bencher.iter(|| {
                let wake = queue.pop(Instant::MAX).expect("the queue keeps its length");
                let step = 1 + wake.at.as_nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15) % 20_011;
                queue.push(wake.at + Duration::from_nanos(step), wake.at, black_box(wake.target));
            });
        });
    }
    group.finish();
}

/// Ten links in a row, over which a CBR flow fills half of the rate.
fn chain(planned: bool) -> Simulation {
    const LINKS: u32 = 10;
    let mut simulation = Simulation::new(1);
    let nodes: Vec<_> = (0..=LINKS).map(|n| simulation.add_node(&format!("n{n}"))).collect();
    for pair in nodes.windows(2) {
        simulation.add_medium(pair, |core, component, ends| {
            let mut setup = |name: &str| {
                let place = core.place(name.to_owned());
                let limit = Amount::Packets(100);
                let config = droptail::Config { limit, drop_front: false };
                let queue = if planned {
                    Queue::Planned(limit)
                } else {
                    Queue::Asked(Box::new(droptail::DropTail::new(config, place)))
                };
                let (rate, delay) = (BitRate::from_mbps(100), Duration::from_millis(1));
                Setup { name: name.to_owned(), place, rate, delay, reorder: true, queue, loss: Loss(None) }
            };
            let (forward, backward) = (setup("forward"), setup("backward"));
            Link::new(core, component, [ends[0], ends[1]], forward, backward)
        });
    }
    let config: cbr::Config = serde_json::from_str(r#"{ "rate": "50 Mbit/s" }"#).expect("a source");
    let stream = simulation.core().stream("flow", "source");
    simulation.add_flow(
        nodes[0],
        Address::Node(nodes[LINKS as usize]),
        Instant::ZERO,
        config.build(Instant::ZERO, stream),
        |seat| Box::new(udp::Sender::new(28, seat)),
        |seat| Box::new(udp::Receiver::new(28, seat)),
    );
    simulation.route();
    simulation
}

fn hop(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hop");
    for (name, planned) in [("planned", true), ("asked", false)] {
        let mut simulation = chain(planned);
        let mut until = Duration::from_secs(1);
        let mut run = |simulation: &mut Simulation| {
            until = until + Duration::from_millis(160);
            let before = simulation.core().counters().hops;
            simulation.run_until(Instant::ZERO + until, u64::MAX).expect("it runs");
            simulation.core().counters().hops - before
        };
        run(&mut simulation);
        // 1 000 B at 50 Mbit/s every 160 us: 1 000 packets in 160 ms.
        let hops = run(&mut simulation);
        group.throughput(Throughput::Elements(hops));
        group.bench_function(name, |bencher| bencher.iter(|| run(&mut simulation)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(WallTime::from_millis(500)).measurement_time(WallTime::from_secs(2));
    targets = event_queue, hop
}
criterion_main!(benches);
