use super::*;
use lasthop_net::net::bench::{Bench, packet};
use lasthop_net::net::dscp::Dscp;

fn feedback(limit: u64, alpha: f64) -> Feedback {
    let config = Config { limit: Amount::Packets(limit), alpha, ..Config::default() };
    config.check().unwrap();
    Feedback::new(&config)
}

#[test]
fn the_window_is_the_logarithm_of_the_free_buffer() {
    for (length, window) in [(0.0, 6.0), (32.0, 5.0), (60.0, 2.0), (63.0, 1.0), (64.0, 1.0)] {
        let given = feedback(64, 1.0).window(length, &mut Operations::default());
        assert!((given - window).abs() < 1e-12, "{length} of 64: {given}");
    }
}

#[test]
fn alpha_rises_by_steps_and_falls_by_a_factor() {
    let mut idle = feedback(64, 1.0);
    (0..10).for_each(|_| _ = idle.compute(0.0));
    assert!((idle.alpha - 2.25).abs() < 1e-12, "{}", idle.alpha);
    let mut overloaded = feedback(64, 4.0);
    // The average is above θB, 12.8, from the start.
    overloaded.average = 64.0;
    (0..10).for_each(|_| _ = overloaded.compute(64.0));
    assert!((overloaded.alpha - 4.0 * libm::pow(31.0 / 32.0, 10.0)).abs() < 1e-12);
    assert!((overloaded.alpha - 2.912).abs() < 5e-4, "{}", overloaded.alpha);
}

#[test]
fn alpha_stays_where_windows_make_sense() {
    let mut f = feedback(64, 1.0);
    (0..1000).for_each(|_| _ = f.compute(0.0));
    assert_eq!(f.alpha, 64.0);
    (0..1000).for_each(|_| _ = f.compute(64.0));
    assert!((f.alpha - 1.0 / 6.0).abs() < 1e-12, "one segment with an empty queue: {}", f.alpha);
}

#[test]
fn the_average_follows_by_its_weight() {
    let mut f = feedback(64, 1.0);
    (0..3).for_each(|_| _ = f.compute(32.0));
    assert!((f.average - 32.0 * (1.0 - libm::pow(31.0 / 32.0, 3.0))).abs() < 1e-12);
}

#[test]
fn a_queue_that_slept_computes_no_more_than_changes() {
    // An hour of intervals of a nanosecond is 3.6 · 10¹² computations, of which 792 change α.
    let config = |interval| Config { interval, ..Config::default() };
    let mut short = Ewa::new(config(Duration::from_nanos(1)), Place(0));
    short.compute(Instant::from_secs_f64(3600.0));
    assert_eq!((short.feedback.alpha, short.computed), (100.0, 3_600_000_000_000));
    // Before it has grown, α is that of the usual number of computations.
    let mut usual = Ewa::new(config(Duration::from_millis(10)), Place(0));
    usual.compute(Instant::from_secs_f64(1.0));
    assert_eq!((usual.feedback.alpha, usual.computed), (1.0 + 100.0 * 0.125, 100));
}

#[test]
fn what_is_held_at_the_transmitter_takes_room() {
    let mut bench = Bench::new();
    let mut ewa = Ewa::new(Config { limit: Amount::Packets(2), ..Config::default() }, Place(0));
    ewa.on_held(Backlog { packets: 1, bytes: 1000 });
    for flow in 0..2 {
        bench.enqueue(&mut ewa, packet(flow, 1000, Dscp::Be));
    }
    assert_eq!(ewa.backlog().packets, 1);
}
