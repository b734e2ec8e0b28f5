//! What the engine and a link cost: the queue of wake-ups at two sizes, and a packet-hop over
//! planned and asked links.
//!
//! ```sh
//! cargo bench -p lasthop-bench --profile fast
//! ```

mod chain;

use std::hint::black_box;
use std::time::Duration as WallTime;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lasthop_core::engine::{Duration, EventQueue, Instant, Target};
use lasthop_core::net::Simulation;

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

fn hop(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hop");
    for (name, planned) in [("planned", true), ("asked", false)] {
        let mut simulation = chain::chain(planned);
        let mut until = Duration::from_secs(1);
        let mut run = |simulation: &mut Simulation| {
            until += Duration::from_millis(160);
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
