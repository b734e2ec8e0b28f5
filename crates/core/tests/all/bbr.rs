//! BBRv3 from end to end: the share of the rate that it takes of paths that are clean, shallow or lossy.

use crate::common::scenario::{column, run};

/// The share of the bottleneck that a bulk transfer of 30 s takes, headers counted, and its timeouts. The paths are those of the reference runs:
/// 40 ms, segments of 1200 B.
fn share(mbps: u32, buffer: &str, loss: &str, seed: u64) -> (f64, f64) {
    let results = run(
        &format!(
            "duration = '30 s'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '{mbps} Mbit/s', delay = '20 ms', {loss} queue.droptail.limit = '{buffer}' }}]
            flow = [{{ from = 'a', to = 'b', transport.tcp = {{ variant = 'bbr', recovery = 'rack', segment = '1200 B' }} }}]"
        ),
        seed,
    );
    let goodput = column(&results, "flows", "goodput_kbps")[0];
    (goodput * 1240.0 / 1200.0 / (1e3 * f64::from(mbps)), column(&results, "flows", "timeouts")[0])
}

/// The pacing margin takes 1 % (draft-ietf-ccwg-bbr §5.6.2), ProbeRTT 2 % (§2.16: 0.1 s of 5 s at half the flight), Startup the first rounds.
#[test]
fn clean_and_shallow_paths_are_filled() {
    for (mbps, buffer) in [(10, "100 kB"), (10, "25 kB"), (10, "12500 B"), (50, "500 kB")] {
        let (share, timeouts) = share(mbps, buffer, "", 1);
        assert!((0.95..=0.98).contains(&share) && timeouts == 0.0, "{mbps} Mbit/s, {buffer}: {share}");
    }
}

/// At 1 % of random loss picoquic's BBRv3 takes 91 % of 10 Mbit/s and 83 % of 50, and s2n's and quiche's 87 to 96 %. By the draft one lost segment ends a
/// probe of less than 50 in flight, which they do not follow: 55 % is what is asked for there, and 75 % of 50 Mbit/s.
#[test]
fn random_losses_leave_most_of_the_rate() {
    for (mbps, buffer, least) in [(10, "100 kB", 0.55), (50, "500 kB", 0.75)] {
        let shares: Vec<f64> = (1..=6).map(|seed| share(mbps, buffer, "loss.bernoulli.p = 0.01,", seed).0).collect();
        let mean = shares.iter().sum::<f64>() / 6.0;
        assert!(mean >= least, "{mbps} Mbit/s: {shares:?}");
    }
}
