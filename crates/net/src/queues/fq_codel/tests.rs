use super::*;
use crate::engine::{BitRate, Instant, Streams};
use crate::net::bench::{Bench, any_packet};
use crate::net::packet::{Ecn, FlowId};
use crate::queues::codel::{self, CoDel};

fn fq(config: &Config) -> FqCoDel {
    config.check().unwrap();
    FqCoDel::new(config, Place(0), Streams::new(1).stream("queue", "fq_codel"))
}

/// A packet of a flow, which has a port of its own.
fn of(flow: u32, size: u32) -> Packet {
    let mut packet = Packet { flow: FlowId(flow), size, ..any_packet() };
    packet.from.port = 1000 + flow as u16;
    packet
}

fn enter(bench: &mut Bench, queue: &mut dyn QueueDiscipline, packet: Packet) {
    let pkt = bench.core.insert(packet);
    bench.core.note_queued(&pkt);
    queue.enqueue(&mut bench.core, pkt);
}

/// The flows of all packets that leave, in their order.
fn order(bench: &mut Bench, queue: &mut FqCoDel) -> Vec<u32> {
    bench.empty(queue).into_iter().map(|(flow, ..)| flow).collect()
}

/// All packets, from a queue that is emptied.
fn evict_all(bench: &mut Bench, queue: &mut FqCoDel) -> Vec<Packet> {
    let mut all = Vec::new();
    while let Some(pkt) = queue.evict(&mut bench.core) {
        all.push(*bench.core.deliver(pkt));
    }
    all
}

#[test]
fn a_given_one_of_a_hundred_flows_is_alone_with_the_rfcs_probability() {
    // RFC 8290 §5.3: 0.9078 for 1024 queues. Over 400 salts, the shares of which have a standard deviation of 0.03 at most (100 flows, two
    // at a time): four of their mean are 0.006.
    let mut alone = 0;
    for salt in 0..400 {
        let queue = FqCoDel::new(&Config::default(), Place(0), Streams::new(salt).stream("queue", "fq_codel"));
        let mut count = BTreeMap::new();
        for flow in 0..100 {
            *count.entry(queue.classify(&of(flow, 1000))).or_insert(0) += 1;
        }
        alone += count.values().filter(|flows| **flows == 1).count();
    }
    let share = alone as f64 / 40_000.0;
    assert!((share - 0.9078).abs() < 0.006, "{share}");
}

#[test]
fn both_ways_and_both_ends_tell_flows_apart() {
    let queue = fq(&Config { flows: 65_536, ..Config::default() });
    let packet = of(1, 1000);
    let mut others = vec![packet; 4];
    others[0].from.node.0 += 1;
    others[1].from.port += 1;
    others[2].to = Address::Node(crate::net::NodeId(7));
    others[3].to_port += 1;
    for other in &others {
        assert_ne!(queue.classify(&packet), queue.classify(other), "{other:?}");
    }
    // What is not part of the addresses says nothing.
    let same = Packet { flow: FlowId(9), size: 40, number: 77, dscp: 10, ecn: Ecn::Ce, ..packet };
    assert_eq!(queue.classify(&packet), queue.classify(&same));
}

#[test]
fn three_small_packets_for_a_large_one() {
    // RFC 8290 §3: "if one queue contains packets of, for instance, size quantum/3, and another contains quantum-sized packets, the first queue
    // will dequeue three packets each time it gets a turn, whereas the second only dequeues one".
    let mut bench = Bench::new();
    let mut queue = fq(&Config { quantum: Bytes::new(1500), ..Config::default() });
    for _ in 0..9 {
        enter(&mut bench, &mut queue, of(1, 500));
    }
    for _ in 0..3 {
        enter(&mut bench, &mut queue, of(2, 1500));
    }
    assert_eq!(order(&mut bench, &mut queue), [1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2]);
    assert_eq!((queue.backlog(), queue.new.len(), queue.old.len()), (Backlog::default(), 0, 0));
}

#[test]
fn a_flow_that_was_idle_leaves_before_those_that_were_not() {
    let mut bench = Bench::new();
    let mut queue = fq(&Config::default());
    for _ in 0..10 {
        enter(&mut bench, &mut queue, of(1, 1500));
        enter(&mut bench, &mut queue, of(2, 1500));
    }
    // Both use up their first quantum and are old from then on.
    for _ in 0..6 {
        bench.take(&mut queue).unwrap();
    }
    enter(&mut bench, &mut queue, of(3, 200));
    assert_eq!(bench.take(&mut queue).unwrap().0, 3);
    // Once more before the round of the old ones is over: it was still active, so there is no second favour.
    let turn = bench.take(&mut queue).unwrap().0;
    enter(&mut bench, &mut queue, of(3, 200));
    let next: Vec<u32> = (0..3).map(|_| bench.take(&mut queue).unwrap().0).collect();
    assert!(next.contains(&(3 - turn)), "the other old one has its turn: {turn}, then {next:?}");
}

#[test]
fn a_flow_that_always_comes_back_starves_none() {
    // RFC 8290 §4.2: without the move of an emptied new queue to the old ones, a flow that sends at just the right time goes on being new.
    let mut bench = Bench::new();
    let mut queue = fq(&Config::default());
    for _ in 0..1_000 {
        enter(&mut bench, &mut queue, of(1, 1000));
    }
    enter(&mut bench, &mut queue, of(2, 1000));
    let mut sent = [0; 3];
    for _ in 0..1_000 {
        let (flow, ..) = bench.take(&mut queue).unwrap();
        sent[flow as usize] += 1;
        if flow == 2 {
            enter(&mut bench, &mut queue, of(2, 1000));
        }
    }
    assert!((450..=550).contains(&sent[2]), "{sent:?}");
}

#[test]
fn the_fattest_queue_loses_half_of_its_packets_but_a_batch_at_most() {
    // RFC 8290 §4.1. Flow 1 has most bytes, flow 2 most packets.
    for (limit, waiting, lost) in [(200, 150, 64), (60, 40, 20), (3, 1, 1)] {
        let mut bench = Bench::new();
        let mut queue = fq(&Config { limit: Amount::Packets(limit), ..Config::default() });
        for number in 0..waiting {
            enter(&mut bench, &mut queue, Packet { number, ..of(1, 1500) });
        }
        for _ in waiting..=limit {
            enter(&mut bench, &mut queue, of(2, 40));
        }
        let drops: Vec<_> =
            bench.core.counters().drops.iter().map(|((_, cause, flow), n)| (*cause, flow.0, n.packets)).collect();
        assert_eq!(drops, [(Cause::Overflow, 1, lost)], "limit {limit}");
        assert_eq!(queue.backlog().packets, limit + 1 - lost);
        // From the head: the oldest are gone.
        let kept = evict_all(&mut bench, &mut queue);
        let first = kept.iter().find(|packet| packet.flow.0 == 1).map(|packet| packet.number);
        assert_eq!(first, (lost < waiting).then_some(lost));
    }
}

#[test]
fn what_is_under_way_takes_room() {
    let mut bench = Bench::new();
    let mut queue = fq(&Config { limit: Amount::Packets(3), ..Config::default() });
    queue.on_held(Backlog { packets: 2, bytes: 2_000 });
    enter(&mut bench, &mut queue, of(1, 1000));
    assert_eq!(bench.drops(Cause::Overflow), 0);
    enter(&mut bench, &mut queue, of(1, 1000));
    assert_eq!((bench.drops(Cause::Overflow), queue.backlog().packets), (1, 1));
}

/// A queue whose packets have all waited long is asked every tenth of a millisecond, from 10 ms to 400 ms: the times of drops and marks.
fn signals(queue: &mut dyn QueueDiscipline, ecn: Ecn) -> Vec<u32> {
    let mut bench = Bench::new();
    for _ in 0..8_000 {
        enter(&mut bench, queue, Packet { ecn, ..of(1, 1000) });
    }
    let mut times = Vec::new();
    for tenth in 100..4_000u32 {
        bench.core.set_present(Instant::from_secs_f64(f64::from(tenth) / 1e4), Instant::ZERO);
        let count = |bench: &Bench| bench.drops(Cause::Early) + bench.core.counters().marks.values().sum::<u64>();
        let before = count(&bench);
        bench.take(queue).unwrap();
        times.extend((before..count(&bench)).map(|_| tenth));
    }
    times
}

#[test]
fn one_queue_is_codel() {
    // RFC 8290 §1.3: "with only one queue, FQ-CoDel behaves essentially the same as CoDel by itself". And that is RFC 8289's law from when
    // waiting times pass the target: 100, 200, 270.7, 328.4, 378.4 ms.
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        let limit = Amount::Packets(100_000);
        let mut one = fq(&Config { flows: 1, limit, ..Config::default() });
        let mut codel = CoDel::new(&codel::Config { limit, ecn: true, ..codel::Config::default() }, Place(0));
        let times = signals(&mut one, ecn);
        assert_eq!(times, signals(&mut codel, ecn));
        for (time, expected) in times.iter().zip([110.0, 210.0, 280.7, 338.4, 388.4]) {
            assert!((0.0..=0.11).contains(&(f64::from(*time) / 10.0 - expected)), "{times:?}");
        }
        assert_eq!(times.len(), 5);
    }
}

#[test]
fn a_ce_threshold_marks_below_codels_target() {
    let mut bench = Bench::new();
    let mut queue = fq(&Config { ce_threshold: Some(Duration::from_millis(1)), ..Config::default() });
    for _ in 0..2 {
        enter(&mut bench, &mut queue, Packet { ecn: Ecn::Ect1, ..of(1, 1000) });
    }
    bench.at(0.001);
    let first = queue.dequeue(&mut bench.core).unwrap();
    assert_eq!(bench.core.deliver(first).ecn, Ecn::Ect1);
    bench.at(0.0011);
    let second = queue.dequeue(&mut bench.core).unwrap();
    assert_eq!(bench.core.deliver(second).ecn, Ecn::Ce);
}

#[test]
fn a_small_quantum_gives_the_order_of_rounds_one_by_one() {
    // Packets that take thousands of rounds of 3 B, by the rule written plainly: a turn without credits brings a quantum.
    let sizes: [&[u32]; 3] = [&[40, 65_000, 7], &[1500, 1499, 65_535], &[1500, 1499, 65_535]];
    let mut bench = Bench::new();
    let mut queue = fq(&Config { quantum: Bytes::new(3), ..Config::default() });
    for (flow, sizes) in (0..).zip(sizes) {
        for &size in sizes {
            enter(&mut bench, &mut queue, of(flow, size));
        }
    }
    let mut waiting = sizes.map(|sizes| sizes.to_vec());
    let (mut credits, mut expected) = ([3i64; 3], Vec::new());
    while waiting.iter().any(|sizes| !sizes.is_empty()) {
        for flow in 0..3 {
            while credits[flow] > 0 && !waiting[flow].is_empty() {
                let size = waiting[flow].remove(0);
                credits[flow] -= i64::from(size);
                expected.push((flow as u32, size));
            }
            if credits[flow] <= 0 {
                credits[flow] += 3;
            }
        }
    }
    let order: Vec<_> = bench.empty(&mut queue).into_iter().map(|(flow, size, _)| (flow, size)).collect();
    assert_eq!(order, expected);
}

#[test]
fn a_packet_put_back_leaves_first() {
    let mut bench = Bench::new();
    let mut queue = fq(&Config::default());
    for size in [1000, 999] {
        enter(&mut bench, &mut queue, of(1, size));
    }
    enter(&mut bench, &mut queue, of(2, 500));
    let first = queue.dequeue(&mut bench.core).unwrap();
    queue.put_back(&mut bench.core, first);
    let order: Vec<_> = bench.empty(&mut queue).into_iter().map(|(flow, size, _)| (flow, size)).collect();
    assert_eq!(order, [(1, 1000), (1, 999), (2, 500)]);
    assert_eq!(queue.backlog(), Backlog::default());
}

#[test]
fn a_queue_that_is_emptied_gives_all_and_controls_nothing() {
    let mut bench = Bench::new();
    let mut queue = fq(&Config::default());
    for n in 0..300 {
        enter(&mut bench, &mut queue, of(n % 3, 1000));
    }
    bench.at(10.0);
    let all = evict_all(&mut bench, &mut queue);
    assert_eq!((all.len(), bench.core.counters().dropped, queue.backlog()), (300, 0, Backlog::default()));
    let site = bench.site(BitRate::from_mbps(1));
    assert!(matches!(Config::default().build(&site), Queue::Asked(_)));
}

#[test]
fn nonsense_is_refused() {
    for (field, config) in [
        ("flows", Config { flows: 0, ..Config::default() }),
        ("flows", Config { flows: 65_537, ..Config::default() }),
        ("quantum", Config { quantum: Bytes::new(0), ..Config::default() }),
        ("interval", Config { interval: Duration::ZERO, ..Config::default() }),
    ] {
        assert_eq!(config.check().unwrap_err().field, field);
    }
}
