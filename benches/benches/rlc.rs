//! What a PDU costs in RLC: made at one end, taken at the other, and its share of the reports.
//!
//! ```sh
//! cargo bench -p lasthop-bench --bench rlc --profile fast
//! ```

use std::hint::black_box;
use std::time::Duration as WallTime;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lasthop_core::engine::{Duration, Instant};
use lasthop_core::radio::Direction;
use lasthop_core::radio::arq::{ArqConfig, LinkArq, Outcome, Slot};
use lasthop_core::radio::rlc::{am, um};
use lasthop_core::replicas::eurane::rlc as eurane;

/// Two ends with nothing between, and intervals of 10 ms with two PDUs each.
struct Bearer {
    ends: [Box<dyn LinkArq>; 2],
    interval: u64,
    outcomes: Vec<Outcome>,
}

const PDUS: u32 = 2;

impl Bearer {
    fn new(config: &dyn ArqConfig) -> Self {
        Self { ends: Direction::BOTH.map(|sends| config.build(sends)), interval: 0, outcomes: Vec::new() }
    }

    /// An interval in which every `drop`-th PDU of the first end is lost. There are always SDUs to send.
    fn interval(&mut self, drop: u64) {
        let tti = Duration::from_millis(10);
        let now = Instant::ZERO + tti * self.interval;
        self.interval += 1;
        if self.ends[0].backlog().sdus < 3000 {
            self.ends[0].enqueue(now, 1500, false);
        }
        for from in 0..2 {
            if self.ends[from].next_timeout().is_some_and(|at| at <= now) {
                self.ends[from].on_timeout(now);
            }
            for place in 0..PDUS {
                if !self.ends[from].wants_to_send() {
                    break;
                }
                let Some(pdu) = self.ends[from].pull(&Slot { now, at: now, tti, bits: PDUS, left: PDUS - place })
                else {
                    break;
                };
                let lost = from == 0 && (self.interval * u64::from(PDUS) + u64::from(place)) % drop == drop - 1;
                if !lost {
                    self.ends[1 - from].on_pdu(now, black_box(&pdu), &mut self.outcomes);
                }
            }
        }
        self.outcomes.clear();
    }
}

fn pdus(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pdu");
    group.throughput(Throughput::Elements(u64::from(PDUS)));
    let (am, eurane, um) = (am::Config::default(), eurane::Config::default(), um::Config::default());
    let configs: [(&str, &dyn ArqConfig, u64); 5] = [
        ("um", &um, u64::MAX),
        ("am", &am, u64::MAX),
        ("am_one_in_20_lost", &am, 20),
        ("eurane", &eurane, u64::MAX),
        ("eurane_one_in_20_lost", &eurane, 20),
    ];
    for (name, config, drop) in configs {
        let mut bearer = Bearer::new(config);
        group.bench_function(name, |bencher| bencher.iter(|| bearer.interval(drop)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(WallTime::from_millis(500)).measurement_time(WallTime::from_secs(2));
    targets = pdus
}
criterion_main!(benches);
