//! Whole runs over the paths of the reference trajectories, with the sender and the link of their harness: 1200 B packets, an
//! acknowledgement for each, lost packets sent again at once. The figures of other implementations are from there too: picoquic
//! d199d45b, s2n-quic-core 0.91.0, quiche 0.30.0.

use super::path::{GREEDY, Path, S, mbps};
use super::*;

/// Mbit/s, and segments lost, over these seconds; each `every`-th packet is lost.
fn run(config: Config, (rate, rtt_ms, buffer): (f64, u64, u64), every: u64, seconds: f64) -> (f64, u64) {
    let mut path = Path::with(config, &path::seat(true), rate, rtt_ms, buffer);
    path.lose = Box::new(move |id| every > 0 && (id + 1) % every == 0);
    (path.goodput(seconds) * 8e-6, path.lost / S)
}

/// Clean and shallow paths are filled to 95 %. Rates within 10 % of picoquic's: 9.84, and 41.33 with 1 % loss; of s2n's over the
/// satellite, 17.39.
#[test]
fn rates_are_those_of_other_implementations() {
    let draft = Config::default();
    let (clean, lost) = run(draft, (10.0, 40, 100_000), 0, 30.0);
    assert!(clean >= 9.5 && (clean / 9.84 - 1.0).abs() <= 0.1 && lost == 0, "{clean}, {lost}");
    let (shallow, _) = run(draft, (10.0, 40, 25_000), 0, 30.0);
    assert!(shallow >= 9.5, "{shallow}");
    let (big, lost) = run(draft, (50.0, 40, 500_000), 100, 12.0);
    assert!(big >= 37.5 && (big / 41.33 - 1.0).abs() <= 0.1, "{big}");
    assert!((lost as f64 / 521.0 - 1.0).abs() <= 0.1, "{lost}");
    let (satellite, _) = run(draft, (20.0, 600, 1_500_000), 0, 60.0);
    assert!((satellite / 17.39 - 1.0).abs() <= 0.1, "{satellite}");
}

/// A small BDP with random loss: by the draft a single loss ends a probe, and 55 % are left. With two bursts asked for, as quiche
/// does, the rate comes within 10 % of picoquic's 9.08.
#[test]
fn one_loss_in_a_hundred_on_a_small_bdp() {
    let (draft, _) = run(Config::default(), (10.0, 40, 100_000), 100, 30.0);
    assert!(draft >= 5.5, "{draft}");
    let (two, lost) = run(Config { loss_bursts: 2 }, (10.0, 40, 100_000), 100, 30.0);
    assert!((two / 9.08 - 1.0).abs() <= 0.1, "{two}");
    assert!((lost as f64 / 286.0 - 1.0).abs() <= 0.1, "{lost}");
}

/// 10 Mbit/s and 30 ms, at 20 s 1 Mbit/s and 150 ms, at 40 s back: picoquic 6.45 Mbit/s.
#[test]
fn a_handover_and_back() {
    let mut path = Path::new(10.0, 30, 64_000);
    let mut delivered = Vec::new();
    for (rate, rtt_ms) in [(10.0, 30), (1.0, 150), (10.0, 30)] {
        (path.rate, path.delay) = (mbps(rate), Duration::from_millis(rtt_ms));
        let before = path.delivered;
        path.run(20.0, |_| false);
        delivered.push((path.delivered - before) as f64 * 8e-6 / 20.0);
    }
    let mean = delivered.iter().sum::<f64>() / 3.0;
    assert!((mean / 6.45 - 1.0).abs() <= 0.1, "{mean} of {delivered:?}");
}

/// 2 Mbit/s of the application for 15 s, then all that the path takes: picoquic 5.90 Mbit/s.
#[test]
fn an_application_that_wakes_up() {
    let mut path = Path::new(10.0, 40, 100_000);
    path.application(2.0);
    path.run(15.0, |_| false);
    path.application(GREEDY);
    path.run(15.0, |_| false);
    let mean = path.delivered as f64 * 8e-6 / 30.0;
    assert!((mean / 5.90 - 1.0).abs() <= 0.1 && path.lost == 0, "{mean}, {}", path.lost);
}

/// Startup, Drain, then cycles of DOWN, CRUISE, REFILL, UP, with ProbeRTT in between: as in picoquic's run, all in this order.
#[test]
fn states_follow_one_another_as_the_diagram_says() {
    let mut path = Path::new(10.0, 40, 100_000);
    path.run(30.0, |_| false);
    let states: Vec<_> = path.states.iter().map(|(_, state)| *state).collect();
    assert_eq!(states[..2], [State::Startup, State::Drain]);
    let allowed = |pair: &[State]| match (pair[0], pair[1]) {
        (State::Startup, next) => next == State::Drain,
        (State::Drain, next) => next == State::Down || next == State::Cruise,
        (State::Down, next) => next == State::Cruise || next == State::ProbeRtt,
        (State::Cruise, next) => next == State::Refill || next == State::ProbeRtt,
        (State::Refill, next) => next == State::Up,
        (State::Up, next) => next == State::Down,
        (State::ProbeRtt, next) => next == State::Cruise,
    };
    assert!(states.windows(2).all(allowed), "{states:?}");
    let count = |state| states.iter().filter(|one| **one == state).count();
    // In 30 s: ProbeRTT each 5.25 s; a probe after 2 to 3 s of waiting, which ProbeRTT begins anew, and half a second of probing.
    assert_eq!(count(State::ProbeRtt), 5);
    assert!((6..=12).contains(&count(State::Up)), "{}", count(State::Up));
}

/// §5.3.4.1: half the BDP for 200 ms of 5 s cost 2 %. A cycle of five seconds with ProbeRTT against one without; what of it is lost is
/// that, and the round in which the flight falls and rises.
#[test]
fn probe_rtt_costs_two_percent() {
    let mut path = Path::new(10.0, 40, 1 << 30);
    path.enter(State::ProbeRtt, 8.0);
    let mut cost = 0.0;
    for _ in 0..4 {
        // Just in ProbeRTT: what does not arrive while it goes on and in the three rounds behind it.
        let whole = path.goodput(0.2 + 4.0 * 0.04) / (0.99 * path.rate);
        cost += (1.0 - whole) * (0.2 + 4.0 * 0.04) / 5.0 / 4.0;
        path.enter(State::ProbeRtt, 8.0);
    }
    assert!((0.015..=0.03).contains(&cost), "{cost}");
}
