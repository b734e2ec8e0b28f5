use super::*;
use crate::net::bench::{Bench, any_packet};

fn build(bench: &Bench, config: &Config) -> DualPi2 {
    config.check().unwrap();
    DualPi2::new(config.clone(), &bench.site(BitRate::from_mbps(10)))
}

fn of(dialect: Dialect) -> Config {
    Config { dialect, limit: Some(Amount::Packets(1_000_000)), ..Config::default() }
}

const DIALECTS: [Dialect; 2] = [Dialect::Rfc, Dialect::Linux];

fn enter(bench: &mut Bench, queue: &mut DualPi2, ecn: Ecn) {
    let pkt = bench.core.insert(Packet { ecn, size: 1500, ..any_packet() });
    bench.core.note_queued(&pkt);
    queue.enqueue(&mut bench.core, pkt);
}

fn leave(bench: &mut Bench, queue: &mut DualPi2) -> Option<Ecn> {
    let pkt = queue.dequeue(&mut bench.core)?;
    Some(bench.core.deliver(pkt).ecn)
}

/// One whose p′ is what a delay of `ms` gives at once, from nothing.
fn with_delay(bench: &Bench, config: &Config, ms: u64) -> DualPi2 {
    let mut queue = build(bench, config);
    queue.base.update(Duration::from_millis(ms));
    queue
}

#[test]
fn classes_by_code_point() {
    let class = |ecn| class_of(&Packet { ecn, ..any_packet() });
    assert_eq!([Ecn::Ect1, Ecn::Ce].map(class), [Class::L; 2]);
    assert_eq!([Ecn::NotEct, Ecn::Ect0].map(class), [Class::C; 2]);
}

#[test]
fn the_ramp_of_the_l_queue() {
    let us = Duration::from_micros;
    // RFC 9332 Figures 2 and 5: 800 to 1200 us. Linux: a step at 1 ms.
    for (dialect, delay, p) in [
        (Dialect::Rfc, 800, 0.0),
        (Dialect::Rfc, 900, 0.25),
        (Dialect::Rfc, 1000, 0.5),
        (Dialect::Rfc, 1200, 1.0),
        (Dialect::Rfc, 9000, 1.0),
        (Dialect::Linux, 1000, 0.0),
        (Dialect::Linux, 1001, 1.0),
    ] {
        let found = of(dialect).ramp().probability(us(delay));
        assert!((found - p).abs() < 1e-12, "{dialect:?} {delay} us: {found}");
    }
}

#[test]
fn defaults_of_both_dialects() {
    // RFC 9332 Figure 2: 15 ms, 0.15 and 3 Hz, 1/16. Linux: 16 ms, 41/256 and 819/256 Hz, 10 %.
    let [rfc, linux] = DIALECTS.map(of);
    assert_eq!((rfc.update(), linux.update()), (Duration::from_millis(15), Duration::from_millis(16)));
    let (alpha, beta) = rfc.gains();
    assert!((alpha - 0.15).abs() < 1e-12 && (beta - 3.0).abs() < 1e-12, "{alpha} {beta}");
    assert_eq!(linux.gains(), (0.160_156_25, 3.199_218_75));
    assert_eq!((rfc.weight(), linux.weight()), (0.0625, 0.1));
    // A third of the largest round trip, if that is less than the target.
    let short = Config { rtt_max: Duration::from_millis(30), ..of(Dialect::Rfc) };
    assert_eq!(short.update(), Duration::from_millis(10));
}

/// Linux, `dequeue_packet`: the credit changes only while both queues wait, so an L queue that was alone owes nothing.
#[test]
fn a_queue_that_is_served_alone_owes_nothing() {
    for dialect in DIALECTS {
        let mut bench = Bench::new();
        let mut queue = build(&bench, &of(dialect));
        enter(&mut bench, &mut queue, Ecn::Ect1);
        for _ in 0..1000 {
            enter(&mut bench, &mut queue, Ecn::Ect1);
            assert_eq!(leave(&mut bench, &mut queue), Some(Ecn::Ect1));
        }
        enter(&mut bench, &mut queue, Ecn::NotEct);
        assert_eq!(leave(&mut bench, &mut queue), Some(Ecn::Ect1), "{dialect:?}");
        while leave(&mut bench, &mut queue).is_some() {}
    }
}

#[test]
fn p_follows_the_delay_of_the_head_at_each_update() {
    // The sequence of `base.rs`, by packets: heads that have waited 20, 20 and 25 ms when the controller looks.
    let mut bench = Bench::new();
    let config =
        Config { update: Some(Duration::from_millis(100)), alpha: Some(0.15), beta: Some(3.0), ..of(Dialect::Rfc) };
    let mut queue = build(&bench, &config);
    for (came, looked, ecn, p) in
        [(0.080, 0.1, Ecn::NotEct, 0.060_75), (0.180, 0.2, Ecn::Ect1, 0.061_5), (0.275, 0.3, Ecn::Ect0, 0.078)]
    {
        bench.at(came);
        // The one before leaves: the head is the new one. The L queue counts as much as the C queue (Figure 8).
        while leave(&mut bench, &mut queue).is_some() {}
        enter(&mut bench, &mut queue, ecn);
        assert_eq!(queue.next_timeout(), Some(Instant::from_secs_f64(looked)));
        queue.on_timeout(Instant::from_secs_f64(looked));
        assert!((queue.base.probability() - p).abs() < 1e-12, "{}", queue.base.probability());
    }
}

#[test]
fn the_coupling_law() {
    // RFC 9332 §2.1, equation (1): p_C = (p_CL/k)². Both queues at the same p′, with no delay of their own.
    for dialect in DIALECTS {
        for k in [1.0, 2.0, 4.0] {
            let config = Config { k, ..of(dialect) };
            let mut bench = Bench::new();
            let mut queue = with_delay(&bench, &config, 50);
            let p = queue.base.probability();
            assert!((0.15..0.17).contains(&p), "{p}");
            let mut shares = [0.0; 2];
            const COUNT: u64 = 50_000;
            for (class, ecn) in [(Class::L, Ecn::Ect1), (Class::C, Ecn::NotEct)] {
                // Some stay, so that Linux does not spare it.
                for _ in 0..COUNT + 10 {
                    enter(&mut bench, &mut queue, ecn);
                }
                let (mut marks, mut left) = (0, 0);
                let before = bench.drops(Cause::Early);
                while left + (bench.drops(Cause::Early) - before) < COUNT {
                    marks += u64::from(leave(&mut bench, &mut queue) == Some(Ecn::Ce));
                    left += 1;
                }
                let drops = bench.drops(Cause::Early) - before;
                assert_eq!(
                    if class == Class::L { drops } else { marks },
                    0,
                    "{class:?} is signalled by the other's means"
                );
                shares[class as usize] = (marks + drops) as f64 / COUNT as f64;
                while let Some(pkt) = queue.evict(&mut bench.core) {
                    bench.core.deliver(pkt);
                }
            }
            let [p_cl, p_c] = shares;
            // Without randomness within a packet or two; with it within four standard deviations.
            let wide =
                |p: f64| if dialect == Dialect::Rfc { 5e-5 } else { 4.0 * (p * (1.0 - p) / COUNT as f64).sqrt() };
            assert!((p_cl - k * p).abs() < wide(k * p), "{dialect:?} {k}: {p_cl}, not {}", k * p);
            let law = (p_cl / k) * (p_cl / k);
            assert!((p_c - law).abs() < wide(law) + 2.0 * p / k * wide(p_cl), "{dialect:?} {k}: {p_c}, not {law}");
        }
    }
}

#[test]
fn overload_drops_from_both_queues_whatever_they_carry() {
    // A delay of 250 ms: p′ = 0.15·0.235 + 3·0.25 = 0.785, beyond 1/k. RFC 9332 Figure 7: p_C = p′² = 0.616 for every packet, and the L
    // packets that are left are all marked.
    for dialect in DIALECTS {
        for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct] {
            let mut bench = Bench::new();
            let mut queue = with_delay(&bench, &of(dialect), 250);
            let p = queue.base.probability();
            for _ in 0..20_000 {
                enter(&mut bench, &mut queue, ecn);
            }
            let mut left = Vec::new();
            while queue.backlog().packets > 4 {
                left.extend(leave(&mut bench, &mut queue));
            }
            let share = bench.drops(Cause::Early) as f64 / 20_000.0;
            assert!(
                (share - p * p).abs() < 4.0 * (p * p * (1.0 - p * p) / 20_000.0).sqrt(),
                "{dialect:?} {ecn:?}: {share}"
            );
            let kept = if ecn == Ecn::Ect1 { Ecn::Ce } else { ecn };
            let all = &left[..left.len() - 2];
            assert!(all.iter().all(|ecn| *ecn == kept), "{dialect:?} {ecn:?}");
        }
    }
}

#[test]
fn overload_may_be_left_to_the_queues() {
    // §4.2.3, "Delay on Saturation": p′ stays at 1/k, marks at p_CL = 1 and p_C = 1/k², and nothing that can be marked is dropped.
    for dialect in DIALECTS {
        let mut bench = Bench::new();
        let mut queue = with_delay(&bench, &Config { overload: Overload::Delay, ..of(dialect) }, 250);
        assert!((queue.base.probability() - 0.5).abs() < 1e-9);
        for ecn in [Ecn::Ect1, Ecn::Ect0] {
            for _ in 0..10_000 {
                enter(&mut bench, &mut queue, ecn);
            }
        }
        for _ in 0..19_990 {
            leave(&mut bench, &mut queue);
        }
        assert_eq!(bench.core.counters().dropped, 0, "{dialect:?}");
        let marks = bench.core.counters().marks[&Place(0)];
        assert!((12_300..=12_700).contains(&marks), "{dialect:?}: {marks} of 10000 and a quarter of 10000");
    }
}

#[test]
fn short_queues_are_left_alone() {
    let marks = |config: &Config, count: usize| {
        let mut bench = Bench::new();
        let mut queue = build(&bench, config);
        for _ in 0..count {
            enter(&mut bench, &mut queue, Ecn::Ect1);
        }
        // All have waited longer than any threshold.
        bench.at(0.005);
        while leave(&mut bench, &mut queue).is_some() {}
        bench.core.counters().marks.values().sum::<u64>()
    };
    // RFC 9332 Figure 7, lines 5a to 5d: not while at most one packet is left behind. A sum of likelihoods has to exceed one besides.
    assert_eq!(marks(&of(Dialect::Rfc), 2), 0);
    assert_eq!(marks(&of(Dialect::Rfc), 12), 9);
    // Linux's step has no such bound by default (`min_qlen_step` 0).
    assert_eq!(marks(&of(Dialect::Linux), 2), 2);
    // Linux does not couple below two packets of 1500 B behind the one that leaves.
    let mut bench = Bench::new();
    let mut queue = with_delay(&bench, &of(Dialect::Linux), 1_000);
    assert_eq!(queue.base.probability(), 1.0);
    for _ in 0..3 {
        enter(&mut bench, &mut queue, Ecn::NotEct);
    }
    // Two are behind the first: it is dropped. One is behind the second, and it leaves.
    assert_eq!(leave(&mut bench, &mut queue), Some(Ecn::NotEct));
    assert_eq!((bench.drops(Cause::Early), queue.backlog().packets), (1, 1));
}

#[test]
fn the_limit_is_common_and_follows_the_highest_rate() {
    let mut bench = Bench::new();
    let mut queue = build(&bench, &Config::default());
    // 10 Mbit/s for 250 ms.
    assert_eq!(queue.limit, Amount::Bytes(Bytes::new(312_500)));
    queue.on_capacity(Instant::ZERO, BitRate::from_mbps(100));
    queue.on_capacity(Instant::ZERO, BitRate::from_kbps(64));
    assert_eq!(queue.limit, Amount::Bytes(Bytes::new(3_125_000)));
    let slow = DualPi2::new(Config::default(), &bench.site(BitRate::from_kbps(64)));
    assert_eq!(slow.limit, Amount::Bytes(Bytes::new(15_000)));
    let mut queue = build(&bench, &Config { limit: Some(Amount::Packets(5)), ..Config::default() });
    queue.on_held(Backlog { packets: 1, bytes: 1500 });
    for ecn in [Ecn::Ect1, Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct] {
        enter(&mut bench, &mut queue, ecn);
    }
    assert_eq!((queue.backlog().packets, bench.drops(Cause::Overflow)), (4, 2));
}

#[test]
fn low_latency_leaves_first_and_what_is_put_back_before_it() {
    let mut bench = Bench::new();
    let mut queue = build(&bench, &of(Dialect::Rfc));
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
        enter(&mut bench, &mut queue, ecn);
    }
    let first = queue.dequeue(&mut bench.core).unwrap();
    assert_eq!(bench.core.packet(&first).ecn, Ecn::Ect1);
    queue.put_back(&mut bench.core, first);
    let order: Vec<Ecn> = std::iter::from_fn(|| leave(&mut bench, &mut queue)).collect();
    assert_eq!(order, [Ecn::Ect1, Ecn::NotEct, Ecn::Ect0]);
    assert_eq!(queue.backlog(), Backlog::default());
}

#[test]
fn without_packets_it_comes_to_rest() {
    for dialect in DIALECTS {
        let mut bench = Bench::new();
        let mut queue = with_delay(&bench, &of(dialect), 1_000);
        assert_eq!(queue.next_timeout(), None);
        enter(&mut bench, &mut queue, Ecn::Ect1);
        while leave(&mut bench, &mut queue).is_some() {}
        let mut updates = 0;
        while let Some(due) = queue.next_timeout() {
            queue.on_timeout(due);
            updates += 1;
        }
        // The first one takes 3 Hz · 1 s away.
        assert_eq!(updates, 1, "{dialect:?}");
        assert_eq!(queue.base.probability(), 0.0);
    }
}

#[test]
fn nonsense_is_refused() {
    for (field, config) in [
        ("target", Config { target: Duration::ZERO, ..Config::default() }),
        ("update", Config { update: Some(Duration::ZERO), ..Config::default() }),
        ("rtt_max", Config { rtt_max: Duration::ZERO, update: Some(Duration::from_millis(1)), ..Config::default() }),
        ("alpha", Config { alpha: Some(-1.0), ..Config::default() }),
        ("beta", Config { beta: Some(f64::NAN), ..Config::default() }),
        ("k", Config { k: 0.5, ..Config::default() }),
        ("k", Config { k: f64::INFINITY, ..Config::default() }),
        ("c_weight", Config { c_weight: Probability::new(0.0), ..Config::default() }),
        ("c_weight", Config { c_weight: Probability::new(1.0), ..Config::default() }),
    ] {
        assert_eq!(config.check().unwrap_err().field, field);
    }
}
