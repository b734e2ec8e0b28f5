//! What RLC AM costs: a PDU made at one end and heard at the other, with its share of reports.
//!
//! ```sh
//! cargo bench -p lasthop-core --bench rlc --profile fast
//! ```

use std::collections::VecDeque;
use std::time::Duration as WallTime;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lasthop_core::engine::{Duration, Instant, Stream, Streams};
use lasthop_core::radio::arq::{LinkArq, Outcome, Slot};
use lasthop_core::radio::rlc::Pdu;
use lasthop_core::radio::rlc::eurane::{Config, Entity};

const TTI: Duration = Duration::from_millis(10);
/// Intervals from one end to the other.
const DELAY: usize = 3;

/// A busy direction and its way back.
struct Bearer {
    ends: [Entity; 2],
    /// What is under way from each.
    under_way: [VecDeque<Option<Pdu>>; 2],
    loss: f64,
    stream: Stream,
    interval: u64,
    outcomes: Vec<Outcome>,
    pdus: u64,
}

impl Bearer {
    fn new(loss: f64) -> Self {
        Self {
            ends: [(); 2].map(|()| Entity::new(&Config::default())),
            under_way: [(); 2].map(|()| VecDeque::from_iter((0..DELAY).map(|_| None))),
            loss,
            stream: Streams::new(1).stream("air", "loss"),
            interval: 0,
            outcomes: Vec::new(),
            pdus: 0,
        }
    }

    fn interval(&mut self) {
        self.interval += 1;
        let now = Instant::ZERO + TTI * self.interval;
        let slot = Slot { now, at: now, tti: TTI, pdus: 1, place: 0 };
        // 26 PDUs for each SDU.
        if self.ends[0].backlog().sdus < 1_040 {
            assert!(self.ends[0].enqueue(now, 1_040));
        }
        for from in [0, 1] {
            let end = &mut self.ends[from];
            if end.next_timeout().is_some_and(|at| at <= now) {
                end.on_timeout(now);
            }
            let pdu = end.wants_to_send().then(|| end.pull(&slot)).flatten();
            self.under_way[from].push_back(pdu);
            let Some(pdu) = self.under_way[from].pop_front().flatten() else { continue };
            self.pdus += 1;
            if from == 1 || self.loss == 0.0 || !self.stream.chance(self.loss) {
                self.ends[1 - from].on_pdu(now, &pdu, &mut self.outcomes);
            }
        }
        self.outcomes.clear();
    }
}

fn rlc_am(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rlc_am_eurane");
    for loss in [0.0, 0.01, 0.1] {
        let mut bearer = Bearer::new(loss);
        let mut run = || {
            let before = bearer.pdus;
            for _ in 0..10_000 {
                bearer.interval();
            }
            bearer.pdus - before
        };
        let pdus = run();
        group.throughput(Throughput::Elements(pdus));
        group.bench_function(format!("loss {loss}"), |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(WallTime::from_millis(500)).measurement_time(WallTime::from_secs(2));
    targets = rlc_am
}
criterion_main!(benches);
