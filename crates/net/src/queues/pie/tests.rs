use super::*;
use crate::engine::BitRate;
use crate::net::Packet;
use crate::net::bench::{Bench, any_packet};
use crate::net::packet::Ecn;

fn ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

fn controller(drop_prob: f64, current_ms: f64, old_ms: f64) -> Controller {
    let (current_qdelay, qdelay_old) = (ms(current_ms), ms(old_ms));
    Controller { drop_prob, current_qdelay, qdelay_old, burst_allowance: Duration::ZERO }
}

fn pie(config: Config) -> (Bench, Pie) {
    let bench = Bench::new();
    config.check().unwrap();
    let stream = bench.site(BitRate::from_mbps(10)).streams.stream("queue", "pie");
    (bench, Pie::new(config, Place(0), stream))
}

/// One whose probability is `p` at a standing delay of 100 ms, with a backlog of 100 kB and no burst to be spared.
fn congested(config: Config, p: f64) -> (Bench, Pie) {
    let (mut bench, mut queue) = pie(Config { limit: Amount::Packets(1_000_000), ..config });
    for _ in 0..100 {
        enter(&mut bench, &mut queue, Ecn::NotEct);
    }
    queue.controller = controller(p, 100.0, 100.0);
    (bench, queue)
}

fn enter(bench: &mut Bench, queue: &mut Pie, ecn: Ecn) {
    let pkt = bench.core.insert(Packet { ecn, ..any_packet() });
    bench.core.note_queued(&pkt);
    queue.enqueue(&mut bench.core, pkt);
}

/// It is `at`; the updates until then are made.
fn wait(bench: &mut Bench, queue: &mut Pie, at: f64) {
    bench.at(at);
    while let Some(due) = queue.next_timeout().filter(|due| *due <= Instant::from_secs_f64(at)) {
        queue.on_timeout(due);
    }
}

#[test]
fn the_probability_moves_by_the_rfcs_rules() {
    // RFC 8033 §4.2 by hand: α(q − 15 ms) + β(q − q_old) is 0.000625 at 20, 20 ms, 0.025625 at 20, 0 ms, 1.373125 at 1000, 0 ms and −0.001875
    // at 0, 0 ms; it is divided by 2048, 512, 128, 32, 8, 2 or 1, then capped (§5.5), and without delay what results decays by 2 %.
    for (name, drop_prob, current, old, expected) in [
        ("from nothing", 0.0, 20.0, 0.0, 0.025_625 / 2048.0),
        ("below 10⁻⁶", 0.9e-6, 20.0, 0.0, 0.9e-6 + 0.025_625 / 2048.0),
        ("from 10⁻⁶", 1e-6, 20.0, 0.0, 1e-6 + 0.025_625 / 512.0),
        ("from 10⁻⁵", 1e-5, 20.0, 0.0, 1e-5 + 0.025_625 / 128.0),
        ("from 10⁻⁴", 1e-4, 20.0, 0.0, 1e-4 + 0.025_625 / 32.0),
        ("from 10⁻³", 1e-3, 20.0, 0.0, 1e-3 + 0.025_625 / 8.0),
        ("from 0.01", 0.01, 20.0, 0.0, 0.01 + 0.025_625 / 2.0),
        ("from 0.1", 0.1, 20.0, 20.0, 0.1 + 0.000_625),
        ("capped", 0.1, 20.0, 0.0, 0.12),
        ("not capped below 0.1", 0.05, 1000.0, 0.0, 0.05 + 1.373_125 / 2.0),
        ("at most one", 0.99, 1000.0, 0.0, 1.0),
        ("at least nothing", 0.001, 0.0, 20.0, 0.0),
        ("decay", 0.5, 0.0, 0.0, (0.5 - 0.001_875) * 0.98),
        ("no decay after a delay", 0.5, 0.0, 1.0, 0.5 - 0.001_875 - 0.001_25),
    ] {
        let mut controller = controller(drop_prob, current, old);
        controller.update(&Config::default());
        assert!((controller.drop_prob - expected).abs() < 1e-12, "{name}: {}, not {expected}", controller.drop_prob);
        assert_eq!(controller.qdelay_old, ms(current), "{name}");
    }
}

#[test]
fn the_decay_has_a_time_constant_of_about_fifty_updates() {
    // RFC 8033 §4.2: "The decay parameter of 2% gives us a time constant around 50 * T_UPDATE."
    let mut controller = controller(1.0, 0.0, 0.0);
    let config = Config { alpha: 0.0, ..Config::default() };
    let updates = (1..).find(|_| {
        controller.update(&config);
        controller.drop_prob < libm::exp(-1.0)
    });
    assert!((48..=52).contains(&updates.unwrap()), "{updates:?}");
}

#[test]
fn drops_have_the_probability() {
    for p in [0.02, 0.3] {
        let (mut bench, mut queue) = congested(Config::default(), p);
        for _ in 0..20_000 {
            enter(&mut bench, &mut queue, Ecn::NotEct);
        }
        let share = bench.drops(Cause::Early) as f64 / 20_000.0;
        // Four standard deviations.
        assert!((share - p).abs() < 4.0 * (p * (1.0 - p) / 20_000.0).sqrt(), "{share} of {p}");
    }
}

#[test]
fn derandomized_drops_are_neither_close_nor_far() {
    // RFC 8033 §5.4: another drop follows 0.85/p packets after one at the earliest, and 8.5/p at the latest.
    let p = 0.02;
    let (mut bench, mut queue) = congested(Config { derandomize: true, ..Config::default() }, p);
    let mut drops = Vec::new();
    for n in 0..20_000 {
        let before = bench.drops(Cause::Early);
        enter(&mut bench, &mut queue, Ecn::NotEct);
        if bench.drops(Cause::Early) > before {
            drops.push(n);
        }
    }
    let gaps: Vec<i32> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
    assert!(*least >= 42 && *most <= 426, "{least} to {most}");
    // From the 43rd on each is dropped with p: on average after 42 + 1/p.
    let mean = f64::from(drops[drops.len() - 1] - drops[0]) / gaps.len() as f64;
    assert!((mean - (42.0 + 50.0)).abs() < 4.0 * 50.0 / (gaps.len() as f64).sqrt(), "{mean}");
}

#[test]
fn a_short_queue_and_a_short_delay_are_spared() {
    let dropped = |p: f64, old: f64, packets: usize| {
        let (mut bench, mut queue) = pie(Config::default());
        for _ in 0..packets {
            enter(&mut bench, &mut queue, Ecn::NotEct);
        }
        queue.controller = controller(p, 100.0, old);
        for _ in 0..200 {
            enter(&mut bench, &mut queue, Ecn::NotEct);
            if let Some(pkt) = queue.evict(&mut bench.core) {
                bench.core.deliver(pkt);
            }
        }
        bench.drops(Cause::Early) > 0
    };
    // §4.1: below half of 15 ms, unless the probability is 0.2; and up to two packets of 1500 B.
    assert!(!dropped(0.199, 7.4, 10));
    assert!(dropped(0.2, 7.4, 10));
    assert!(dropped(0.199, 7.5, 10));
    assert!(!dropped(0.9, 100.0, 3));
    assert!(dropped(0.9, 100.0, 4));
}

#[test]
fn a_burst_is_spared_for_its_time() {
    let (mut bench, mut queue) = pie(Config::default());
    // The first packet finds the queue uncongested: 150 ms of ten updates from now.
    enter(&mut bench, &mut queue, Ecn::NotEct);
    for n in 0..10 {
        queue.controller =
            Controller { burst_allowance: queue.controller.burst_allowance, ..controller(1.0, 90.0, 90.0) };
        for _ in 0..10 {
            enter(&mut bench, &mut queue, Ecn::NotEct);
        }
        assert_eq!(bench.drops(Cause::Early), 0, "after {n} updates");
        wait(&mut bench, &mut queue, 0.015 * f64::from(n + 1));
    }
    enter(&mut bench, &mut queue, Ecn::NotEct);
    assert_eq!(bench.drops(Cause::Early), 1);
    // Below half of the target twice and with nothing to drop, it is allowed anew.
    queue.controller = controller(0.0, 7.0, 7.0);
    enter(&mut bench, &mut queue, Ecn::NotEct);
    assert_eq!(queue.controller.burst_allowance, ms(150.0));
}

#[test]
fn marks_instead_of_drops_up_to_a_probability() {
    for (p, ecn, marks, drops) in
        [(0.099, Ecn::Ect0, true, false), (0.1, Ecn::Ect0, false, true), (0.099, Ecn::NotEct, false, true)]
    {
        let (mut bench, mut queue) = congested(Config { ecn: true, ..Config::default() }, p);
        for _ in 0..1_000 {
            enter(&mut bench, &mut queue, ecn);
        }
        let marked = bench.core.counters().marks.values().sum::<u64>() > 0;
        assert_eq!((marked, bench.drops(Cause::Early) > 0), (marks, drops), "{p} {ecn:?}");
    }
}

#[test]
fn the_delay_is_that_of_the_packet_that_left_and_nothing_if_none_waits() {
    let (mut bench, mut queue) = pie(Config::default());
    enter(&mut bench, &mut queue, Ecn::NotEct);
    bench.at(0.010);
    enter(&mut bench, &mut queue, Ecn::NotEct);
    bench.at(0.020);
    let first = queue.dequeue(&mut bench.core).unwrap();
    assert_eq!(queue.controller.current_qdelay, ms(20.0));
    bench.core.deliver(first);
    let second = queue.dequeue(&mut bench.core).unwrap();
    assert_eq!(queue.controller.current_qdelay, Duration::ZERO);
    bench.core.deliver(second);
}

#[test]
fn an_empty_queue_comes_to_rest() {
    let (mut bench, mut queue) = congested(Config::default(), 1.0);
    while let Some(pkt) = queue.dequeue(&mut bench.core) {
        bench.core.deliver(pkt);
    }
    assert_eq!(queue.next_timeout(), Some(Instant::ZERO + ms(15.0)));
    let mut updates = 0;
    while let Some(due) = queue.next_timeout() {
        queue.on_timeout(due);
        updates += 1;
    }
    // By 2 % and 0.0019 each time from 1 to 0.1, then by smaller steps.
    assert!((100..2_000).contains(&updates), "{updates}");
    assert_eq!(queue.controller.drop_prob, 0.0);
}
