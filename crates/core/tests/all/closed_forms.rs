//! Does a link of fixed rate do what queueing theory and arithmetic say?

use crate::common::{Happened, Log, Script, add_link, add_udp, take_log};
use lasthop_core::engine::{BitRate, Duration, Instant, Streams};
use lasthop_core::net::{Address, Simulation};

/// Runs packets over one link and gives when each arrives.
fn arrivals(rate: BitRate, delay: Duration, writes: Vec<(Instant, u64)>) -> Vec<Instant> {
    let mut simulation = Simulation::new(1);
    let [a, b] = ["a", "b"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, a, b, rate, delay);
    let count = writes.len();
    add_udp(&mut simulation, a, Address::Node(b), Instant::ZERO, Script::boxed(writes));
    simulation.route();
    simulation.set_observer(Box::new(Log::default()));
    simulation.run_until(Instant::MAX, u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    let log = take_log(&mut simulation);
    assert_eq!(log.len(), count);
    log.into_iter()
        .map(|(at, _, _, happened)| match happened {
            Happened::Received(_) => at,
            dropped => panic!("{dropped:?}"),
        })
        .collect()
}

#[test]
fn a_busy_link_never_drifts() {
    // 1 040 B at 3.84 Mbit/s take 2 166 666 2/3 ns; at 7 Mbit/s 1 000 B take 1 142 857 1/7 ns.
    for (bytes, bps) in [(1_040u64, 3_840_000u64), (1_000, 7_000_000)] {
        let delay = Duration::from_millis(20);
        let times = arrivals(BitRate::from_bps(bps), delay, vec![(Instant::ZERO, bytes); 1_000_000]);
        for n in [1, 2, 3, 1_000, 999_999, 1_000_000u64] {
            let exact = u128::from(n * bytes) * 8 * 1_000_000_000 / u128::from(bps);
            let expected = Instant::from_nanos(exact as u64) + delay;
            assert_eq!(times[n as usize - 1], expected, "packet {n} of {bytes} B at {bps} bit/s");
        }
    }
}

#[test]
fn the_mean_wait_is_that_of_the_queue_m_d_1() {
    // 1 000 B at 8 Mbit/s: 1 ms each.
    let service = 1e-3;
    let n = 400_000usize;
    for load in [0.3, 0.6, 0.8] {
        let mut stream = Streams::new(11).stream("flow", "source");
        let mut at = 0.0;
        let writes: Vec<_> = (0..n)
            .map(|_| {
                at += stream.exponential(service / load);
                (Instant::from_secs_f64(at), 1_000)
            })
            .collect();
        let times = arrivals(BitRate::from_mbps(8), Duration::ZERO, writes.clone());
        let waits: Vec<f64> =
            times.iter().zip(&writes).map(|(out, (at, _))| out.since(*at).as_secs_f64() - service).collect();
        let mean = waits.iter().sum::<f64>() / n as f64;
        // Pollaczek–Khinchine.
        let expected = load * service / (2.0 * (1.0 - load));
        // Waits are correlated, so the error is estimated from the means of 100 batches.
        let batches: Vec<f64> = waits.chunks(n / 100).map(|b| b.iter().sum::<f64>() / b.len() as f64).collect();
        let variance = batches.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>() / 99.0;
        let error = 4.0 * (variance / 100.0).sqrt();
        assert!((mean - expected).abs() < error, "load {load}: {mean}, expected {expected} ± {error}");
        assert!(error < 0.1 * expected, "the test is sharp: {error} of {expected}");
    }
}
