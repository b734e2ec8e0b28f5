use super::*;
use crate::engine::Streams;
use crate::net::bench::{Bench, any_packet};

/// RED(5, 15, 0.1, gentle) with w = 0.002, counted in packets.
fn classic() -> Config {
    Config {
        limit: Amount::Packets(1000),
        min: Some(5.0),
        max: Some(15.0),
        weight: Probability::new(0.002),
        count: Some(Count::Packets),
        ..Config::default()
    }
}

fn red(config: Config) -> Red {
    let stream = Streams::new(1).stream("link", "red");
    Red::new(config, Place(0), BitRate::from_mbps(10), Duration::from_millis(10), stream)
}

#[test]
fn the_probability_follows_the_gentle_curve() {
    let red = red(classic());
    for (average, expected) in [(0.0, 0.0), (5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (20.0, 0.4), (30.0, 1.0)] {
        let p_b = red.curve.probability(average, 0.1);
        assert!((p_b - expected).abs() < 1e-12, "average {average}: {p_b}, expected {expected}");
    }
    let steep = Curve { gentle: false, ..red.curve };
    assert_eq!(steep.probability(15.0, 0.1), 1.0);
}

#[test]
fn the_average_is_exponentially_weighted_and_decays_in_idle_time() {
    let at = |s: f64| Instant::from_secs_f64(s);
    let mut average = Average { value: 0.0, idle_since: None };
    for _ in 0..20 {
        average.update(at(1.0), 10, 0.002, 1250.0);
    }
    assert!((average.value - 0.39249).abs() < 5e-6, "{}", average.value);
    // 0.1 s in which 125 packets would have met an empty queue, then one that does.
    average.idle_since = Some(at(1.0));
    let before = average.value;
    average.update(at(1.1), 0, 0.002, 1250.0);
    assert!((average.value - before * libm::pow(0.998, 126.0)).abs() < 1e-9);
}

/// Floyd and Jacobson 1993, figure 17: an idle time counts by the packets that could have been sent in it, at the rate that the link had then.
#[test]
fn idle_time_counts_at_the_rate_of_its_time() {
    let mut bench = Bench::new();
    let mut red = red(Config { mean_packet: Some(Bytes::new(1000)), follow_rate: Some(true), ..classic() });
    red.average = Average { value: 100.0, idle_since: Some(Instant::ZERO) };
    // 1250 packets in a second at 10 Mbit/s; one in a second at 8 kbit/s.
    red.on_capacity(Instant::from_secs_f64(1.0), BitRate::from_bps(8_000));
    bench.at(2.0);
    bench.enqueue(&mut red, any_packet());
    let expected = 100.0 * libm::pow(0.998, 1250.0 + 1.0 + 1.0);
    assert!((red.average.value - expected).abs() < 1e-9, "{}, not {expected}", red.average.value);
}

/// ns-2.35 with `use_mark_p_`, `bytes_` and `wait_`, as they are set there: at a probability of 1 too a packet is dropped when 500 B have come since
/// the last one. Of 40 B that is each thirteenth; without sizes all are dropped.
#[test]
fn small_packets_of_ns_2_pass_at_a_probability_of_one() {
    for (ns2, expected) in [(true, 1000 / 13), (false, 1000)] {
        let mut bench = Bench::new();
        let config = Config { by_size: Some(true), mean_packet: Some(Bytes::new(500)), ..classic() };
        let mut red = Red { ns2, above_min: true, ..red(config) };
        for _ in 0..1000 {
            red.average.value = 1000.0;
            while red.backlog().packets < 2 {
                red.fifo.push(bench.core.insert(any_packet()), 1000);
            }
            bench.enqueue(&mut red, crate::net::Packet { size: 40, ..any_packet() });
        }
        let dropped = bench.drops(Cause::Early);
        assert_eq!(dropped, expected, "{ns2}");
    }
}

#[test]
fn drops_are_spaced_as_the_paper_says() {
    // Without waiting: uniform in 1 … 1/p_b, so p_a = p_b / (1 − count · p_b).
    for (count, expected) in [(0.0, 0.1), (5.0, 0.2), (9.0, 1.0), (10.0, 1.0)] {
        assert!((spaced(0.1, count, false) - expected).abs() < 1e-12, "{count}");
    }
    for (count, expected) in [(9.0, 0.0), (10.0, 0.1), (15.0, 0.2), (19.0, 1.0), (20.0, 1.0)] {
        assert!((spaced(0.1, count, true) - expected).abs() < 1e-12, "{count}");
    }
}

#[test]
fn parameters_left_out_are_those_of_ns_2() {
    // 10 Mbit/s and packets of 500 B: 2500 a second, 12.5 in 5 ms.
    let config = Config { mean_packet: Some(Bytes::new(500)), count: Some(Count::Packets), ..Config::default() };
    let red = red(config);
    assert_eq!((red.curve.min, red.curve.max), (6.25, 18.75));
    // The round-trip time is 100 ms, because 3 · (10 ms + 0.4 ms) is less.
    assert!((red.weight + libm::expm1(-1.0 / 2500.0)).abs() < 1e-12, "{}", red.weight);
    assert_eq!(red.bottom, 0.008);
}

#[test]
fn adaptation_keeps_to_its_band_and_bounds() {
    let mut red = red(Config { adaptive: true, ..classic() });
    let mut after = |seconds: f64, average: f64| {
        red.average.value = average;
        red.adapt(Instant::from_secs_f64(seconds));
        red.max_p
    };
    assert_eq!(after(0.5, 12.0), 0.1, "not before the interval is over");
    assert_eq!(after(0.6, 10.0), 0.1, "the band is 9 … 11");
    assert_eq!(after(0.7, 11.1), 0.11);
    assert_eq!(after(1.0, 11.1), 0.11);
    assert!((after(1.3, 8.9) - 0.099).abs() < 1e-12);
    for n in 0..1000 {
        after(2.0 + f64::from(n), 30.0);
    }
    assert!((0.5..0.51).contains(&after(1002.0, 10.0)), "top");
    for n in 0..1000 {
        after(2000.0 + f64::from(n), 0.0);
    }
    assert!((0.9 * 0.008..=0.008).contains(&after(3001.0, 10.0)), "bottom");
}

/// Floyd, Gummadi, Shenker 2001: the target is min + 0.4 (max − min) … min + 0.6 (max − min), and a step is 0.01 or max_p/4.
#[test]
fn adaptation_has_its_target_and_its_steps() {
    let step = |max_p: f64, average: f64| {
        let mut red =
            red(Config { adaptive: true, max_p: Probability::new(max_p).expect("a probability"), ..classic() });
        red.average.value = average;
        red.adapt(Instant::from_secs_f64(0.6));
        red.max_p
    };
    for (max_p, average, expected) in
        [(0.1, 9.1, 0.1), (0.1, 10.9, 0.1), (0.1, 8.9, 0.09), (0.1, 11.1, 0.11), (0.02, 11.1, 0.025)]
    {
        let got = step(max_p, average);
        assert!((got - expected).abs() < 1e-12, "max_p {max_p}, average {average}: {got}");
    }
}

/// Lets packets meet a queue of ten whose average is 10, and gives those that it does not keep.
fn early(red: &mut Red, core: &mut Core, ecn: Ecn, arrivals: u64) -> Vec<u64> {
    early_at(red, core, ecn, arrivals, (10, 10.0))
}

/// The same of a queue of this length and average.
fn early_at(red: &mut Red, core: &mut Core, ecn: Ecn, arrivals: u64, (length, average): (u64, f64)) -> Vec<u64> {
    let dropped = |core: &Core| core.counters().dropped + core.counters().marks.values().sum::<u64>();
    let mut gone = Vec::new();
    for n in 0..arrivals {
        while red.backlog().packets > length {
            let oldest = red.dequeue(core).expect("packets wait");
            core.drop(oldest, Place(1), Cause::Handover);
        }
        red.average.value = average;
        let before = dropped(core);
        let pkt = core.insert(crate::net::Packet { ecn, ..any_packet() });
        red.enqueue(core, pkt);
        gone.extend((dropped(core) > before).then_some(n));
    }
    gone
}

#[test]
fn between_two_early_drops_lie_one_to_two_times_the_inverse_of_the_probability() {
    let mut core = Core::new(1);
    core.place("red");
    core.place("served");
    let mut red = red(Config { weight: Probability::new(0.0), ..classic() });
    let gone = early(&mut red, &mut core, Ecn::NotEct, 20_000);
    // p_b = 0.05: 20 … 40 packets, 30 on average.
    let gaps: Vec<u64> = gone.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.iter().all(|gap| (20..=40).contains(gap)), "{gaps:?}");
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    // Five standard errors of a uniform distribution over 21 values.
    assert!((mean - 30.0).abs() < 5.0 * 6.06 / (gaps.len() as f64).sqrt(), "{mean}");
}

#[test]
fn capable_packets_are_marked_instead() {
    let mut core = Core::new(1);
    core.place("red");
    core.place("served");
    let config = Config { weight: Probability::new(0.0), ecn: true, ..classic() };
    let mut red = red(config);
    early(&mut red, &mut core, Ecn::Ect0, 1000);
    let marks = core.counters().marks[&Place(0)];
    assert!(core.counters().drops.keys().all(|(_, cause, _)| *cause != Cause::Early));
    early(&mut red, &mut core, Ecn::NotEct, 1000);
    assert_eq!(core.counters().marks[&Place(0)], marks);
    assert!(core.counters().drops.keys().any(|(_, cause, _)| *cause == Cause::Early));
}

/// RFC 3168 §7: above a threshold of the drop probability packets are dropped whether they can be marked or not.
#[test]
fn capable_packets_are_dropped_above_the_threshold() {
    let mut core = Core::new(1);
    core.place("red");
    core.place("served");
    let mut red = red(Config { weight: Probability::new(0.0), ecn: true, ..classic() });
    // p_b = 0.4 at an average of 20, above max_p.
    assert!(early_at(&mut red, &mut core, Ecn::Ect0, 100, (10, 20.0)).len() > 20);
    assert!(core.counters().marks.is_empty());
}

/// ns-2.35, `REDQueue::enque`: nothing is dropped early from a queue of a packet, whatever the average.
#[test]
fn a_queue_of_a_packet_is_short() {
    let mut core = Core::new(1);
    core.place("red");
    core.place("served");
    let mut red = red(Config { weight: Probability::new(0.0), ..classic() });
    assert!(early_at(&mut red, &mut core, Ecn::NotEct, 1000, (1, 10.0)).is_empty());
    assert!(!early_at(&mut red, &mut core, Ecn::NotEct, 1000, (2, 10.0)).is_empty());
}

/// ns-2.35, `REDQueue::enque`: packets are counted from when the average crosses min.
#[test]
fn the_distance_of_the_first_drop_counts_from_the_crossing() {
    let mut core = Core::new(1);
    core.place("red");
    core.place("served");
    let mut red = red(Config { weight: Probability::new(0.0), ..classic() });
    assert!(early_at(&mut red, &mut core, Ecn::NotEct, 1000, (10, 0.0)).is_empty());
    // p_b = 0.05: not within 20 packets.
    assert!(early(&mut red, &mut core, Ecn::NotEct, 100)[0] >= 19);
}
