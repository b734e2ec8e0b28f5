//! The draft's example test cases, each under its title. More than 500 lines: all of them stand here, one by one.

use super::path::{GREEDY, Path, S, mbps, seat};
use super::*;

/// Mbit/s and milliseconds of the usual path, whose BDP is 41.7 segments; a buffer that takes whatever comes.
fn usual() -> Path {
    Path::new(10.0, 40, 1 << 30)
}

fn near(value: f64, expected: f64, part: f64) -> bool {
    (value / expected - 1.0).abs() <= part
}

/// BBR.bdp of the path as it is.
fn bdp(path: &Path) -> f64 {
    path.rate * path.delay.as_secs_f64()
}

/// Loses one transmission of `n` from now on.
fn lose_one_in(n: u64) -> Box<dyn FnMut(u64) -> bool> {
    Box::new(move |id| id % n == 0)
}

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    let mut path = usual();
    let reached = |path: &Path| path.bbr.full.count >= 3;
    assert!(path.run(3.0, reached));
    assert!(path.bbr.full.now && path.bbr.full.reached);
    assert!(near(path.bbr.max_bw.get(), path.rate, 0.02), "{}", path.bbr.max_bw.get());
    assert_eq!(path.states.iter().map(|(_, state)| *state).collect::<Vec<_>>(), [State::Startup, State::Drain]);
}

#[test]
fn exiting_startup_on_loss_when_application_limited() {
    let mut path = usual();
    path.application(4.0);
    path.run(2.0, |_| false);
    assert_eq!(path.state(), State::Startup);
    // 16 segments in a round: six ranges of them are lost if each second one is.
    path.lose = lose_one_in(2);
    assert!(path.run(1.0, |path| path.state() != State::Startup));
    assert!(path.bbr.full.now && path.bbr.full.reached);
    // With less than a BDP in flight the same acknowledgement ends Drain too (§5.2.3: one check after the other).
    assert!(matches!(path.state(), State::Drain | State::Down), "{:?}", path.state());
    assert!(path.bbr.bounds.inflight_longterm < UNBOUNDED);
}

/// Five ranges are not enough (§5.3.1.3), nor are losses of less than a round.
#[test]
fn startup_goes_on_with_fewer_losses() {
    let mut path = usual();
    path.application(4.0);
    path.run(2.0, |_| false);
    let from = path.sent;
    path.lose = Box::new(move |id| id % 2 == 0 && id < from + 10);
    path.run(1.0, |_| false);
    assert_eq!((path.state(), path.lost), (State::Startup, 5 * S));
}

#[test]
fn exiting_drain_based_on_inflight() {
    let mut path = usual();
    path.enter(State::Drain, 3.0);
    assert_eq!(path.bbr.state.pacing_gain(), 0.5);
    let mut flights = Vec::new();
    path.run(3.0, |path| {
        flights.push((path.bbr.in_flight, path.bbr.inflight(path.bbr.bw, 1.0)));
        path.state() != State::Drain
    });
    let (last, before) = flights.split_last().unwrap();
    assert!(before.iter().all(|(flight, target)| flight > target) && last.0 <= last.1);
    assert!(path.state().is_probe_bw());
}

/// With a path that is slower by a tenth, as the draft proposes, Drain still drains: it sends half as fast. A quarter of the rate it takes.
#[test]
fn exiting_drain_based_on_time() {
    let mut path = usual();
    path.enter(State::Drain, 3.0);
    path.rate /= 4.0;
    let start = path.bbr.drain_start_round;
    assert!(path.run(3.0, |path| path.state() != State::Drain));
    assert_eq!(path.bbr.rounds.count, start + 4);
    assert!(path.bbr.in_flight > path.bbr.inflight(path.bbr.bw, 1.0) && path.state().is_probe_bw());
}

#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    let mut path = usual();
    path.enter(State::Up, 10.0);
    assert!(path.run(3.0, |path| path.state() != State::Up));
    assert_eq!((path.state(), path.bbr.full.count, path.bbr.full.now), (State::Down, 3, true));
    assert_eq!((path.lost, path.bbr.cycle.too_high), (0, false));
}

/// Of samples that the application limits §5.5.10.2 takes no bound, though it ends the probe.
#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    let mut path = usual();
    path.enter(State::Refill, 10.0);
    path.application(4.0);
    path.enter(State::Up, 1.0);
    path.run(0.2, |_| false);
    assert_eq!(path.state(), State::Up);
    path.lose = lose_one_in(10);
    assert!(path.run(0.2, |path| path.state() != State::Up));
    // As in Startup: with less than a BDP in flight DOWN is over at once.
    assert!(matches!(path.state(), State::Down | State::Cruise), "{:?}", path.state());
    assert!(path.bbr.cycle.too_high);
    assert_eq!(path.bbr.bounds.inflight_longterm, UNBOUNDED);
}

/// Until ProbeRTT is due.
#[test]
fn never_exiting_probe_up_or_startup_when_application_limited_without_loss() {
    let mut path = usual();
    path.application(4.0);
    path.run(4.9, |_| false);
    assert_eq!(path.states, [(0.0, State::Startup)]);
    path.application(f64::INFINITY);
    path.enter(State::Cruise, 4.0);
    path.enter(State::ProbeRtt, 6.0);
    path.enter(State::Refill, 6.0);
    let probed = path.seconds();
    path.application(4.0);
    path.enter(State::Up, 1.0);
    path.run(1.8, |path| path.state() != State::Up);
    assert_eq!(path.state(), State::Up, "after {}", path.seconds() - probed);
}

#[test]
fn exiting_probe_down_on_inflight() {
    let mut path = usual();
    path.enter(State::Up, 10.0);
    path.enter(State::Down, 3.0);
    path.bbr.bounds.inflight_longterm = 40 * S;
    assert_eq!(path.bbr.state.pacing_gain(), 0.9);
    let mut before = (0, 0, 0);
    path.run(3.0, |path| {
        let bbr = &path.bbr;
        if bbr.state == State::Down {
            before = (bbr.in_flight, bbr.inflight_with_headroom(), bbr.inflight(bbr.max_bw.get(), 1.0));
        }
        bbr.state != State::Down
    });
    assert_eq!(path.state(), State::Cruise);
    assert!(before.0 > before.1.min(before.2), "{before:?}");
    let bbr = &path.bbr;
    assert!(bbr.in_flight <= bbr.inflight_with_headroom() && bbr.in_flight <= bbr.inflight(bbr.max_bw.get(), 1.0));
}

/// On a path of 100 ms, where the wait of 2 to 3 s comes before 63 rounds.
#[test]
fn exiting_probe_down_after_max_time() {
    let mut path = Path::new(10.0, 100, 1 << 30);
    path.enter(State::Refill, 10.0);
    // A lower round-trip time, so that ProbeRTT is not due before the wait is over.
    path.delay = Duration::from_millis(95);
    path.enter(State::Up, 10.0);
    path.enter(State::Down, 3.0);
    path.rate *= 0.9;
    let from = path.seconds();
    assert!(path.run(4.0, |path| path.state() != State::Down));
    assert_eq!(path.state(), State::Refill);
    let wait = path.bbr.cycle.wait().as_secs_f64();
    assert!((path.seconds() - from - wait).abs() < 0.01, "{} s, not {wait}", path.seconds() - from);
}

#[test]
fn entering_and_exiting_probe_rtt() {
    let mut path = usual();
    path.enter(State::Cruise, 5.0);
    path.enter(State::ProbeRtt, 6.0);
    let since = path.seconds();
    assert_eq!(path.bbr.state.cwnd_gain(), 0.5);
    // §5.6.4.5: half of BBR.bdp.
    assert!(near(path.bbr.cwnd as f64, bdp(&path) / 2.0, 0.05), "{}", path.bbr.cwnd);
    assert!(path.run(1.0, |path| path.state() != State::ProbeRtt));
    // 200 ms from when the flight is that small, which takes a round of half the flight or less.
    let took = path.seconds() - since;
    assert!((0.2..0.2 + 0.06).contains(&took), "{took} s");
    assert_eq!(path.state(), State::Cruise);
    assert!(near(path.goodput(1.0), path.rate, 0.05));
    // The next is five seconds after this one.
    let left = path.seconds() - 1.0;
    path.enter(State::ProbeRtt, 6.0);
    assert!((path.seconds() - left - 5.0).abs() < 0.05, "{}", path.seconds() - left);
}

#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    let mut path = usual();
    path.enter(State::Cruise, 5.0);
    path.application(0.0);
    path.run(6.0, |_| false);
    assert_eq!(path.bbr.in_flight, 0);
    let since = path.seconds();
    path.application(f64::INFINITY);
    path.run(1.0, |path| path.bbr.in_flight > 0);
    assert!(path.bbr.idle_restart);
    // §5.4.1: exactly bw, but for the margin.
    assert!(near(path.bbr.pacing_rate, 0.99 * path.bbr.bw, 1e-9));
    path.run(4.9, |_| false);
    assert!(!path.states.iter().any(|(at, state)| *at >= since && *state == State::ProbeRtt), "{:?}", path.states);
}

#[test]
fn achieving_expected_startup_bandwidth_on_a_link_with_aggregation() {
    let mut path = usual();
    path.batch = Some(Duration::from_millis(20));
    let mut windows = Vec::new();
    path.run(3.0, |path| {
        windows.push((path.bbr.aggregation.extra_acked(), path.bbr.cwnd));
        path.state() != State::Startup
    });
    // 20 ms of the path arrive at once.
    let most = windows.iter().map(|(extra, _)| *extra).max().unwrap() as f64;
    assert!((0.5..1.5).contains(&(most / (path.rate * 0.02))), "{most}");
    assert!(windows.iter().any(|(_, cwnd)| *cwnd as f64 > 2.0 * bdp(&path)));
    assert!(near(path.bbr.max_bw.get(), path.rate, 0.05), "{}", path.bbr.max_bw.get());
}

#[test]
fn achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    let mut path = usual();
    path.enter(State::Cruise, 5.0);
    let before = path.bbr.aggregation.extra_acked();
    path.batch = Some(Duration::from_millis(20));
    assert!(path.goodput(1.0) >= 0.95 * path.rate);
    let extra = path.bbr.aggregation.extra_acked();
    assert!(extra > before && near(extra as f64, path.rate * 0.02, 0.5), "{before}, {extra}");
    let bbr = &path.bbr;
    assert_eq!(bbr.max_inflight(), (bbr.bdp_multiple(bbr.bw, 2.0) + extra as f64) as u64);
}

/// 64 kbit/s: a segment takes 150 ms.
#[test]
fn correctly_managing_sub_packet_bdps() {
    let mut path = Path::new(0.064, 10, 1 << 20);
    let mut least = u64::MAX;
    path.run(60.0, |path| {
        least = least.min(path.bbr.cwnd);
        false
    });
    assert!(path.states.iter().any(|(_, state)| state.is_probe_bw()));
    assert_eq!(least, 4 * S);
    assert!(path.goodput(60.0) >= 0.95 * path.rate);
    assert!(near(path.bbr.bw, path.rate, 0.02), "{}", path.bbr.bw);
}

/// The bound rises by 1, 2, 4, ... segments in a round (§5.3.3.6). A probe starts within 3 s; 10 BDP are 417 segments, 2⁹ are 9 rounds.
#[test]
fn increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    let mut path = usual();
    path.enter(State::Cruise, 5.0);
    path.bbr.bounds.inflight_longterm = 50 * S;
    path.rate *= 10.0;
    path.enter(State::Up, 4.0);
    let (mut at_rounds, mut count) = (Vec::new(), 0);
    path.run(3.0, |path| {
        let bbr = &path.bbr;
        if bbr.rounds.start && bbr.rounds.count != count && bbr.state == State::Up {
            count = bbr.rounds.count;
            at_rounds.push(bbr.bounds.inflight_longterm / S);
        }
        bbr.state != State::Up
    });
    let steps: Vec<_> = at_rounds.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0).collect();
    let doubling = steps.windows(2).filter(|pair| (1.5..3.0).contains(&(pair[1] as f64 / pair[0] as f64))).count();
    assert!(doubling >= 4, "{steps:?}");
    path.run(6.0, |path| path.bbr.bw >= 0.95 * path.rate);
    assert!(path.bbr.bw >= 0.95 * path.rate, "{}", path.bbr.bw * 8.0);
}

#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let mut path = Path::new(100.0, 40, 250_000);
    path.enter(State::Cruise, 5.0);
    path.rate /= 10.0;
    assert!(path.run(2.0, |path| path.bbr.bounds.bw_shortterm < f64::INFINITY));
    // Until REFILL lifts the bound, 2 s later at the earliest, four loss rounds fit, each of at most 300 kB at 10 Mbit/s, and as much again until
    // the next loss: 0.7⁴ is 0.24.
    assert!(path.run(3.0, |path| path.bbr.bw <= 2.4 * path.rate), "{}", path.bbr.bw * 8.0);
    // Two cycles, each of at most 3 s and eight rounds of 0.24 s from REFILL to CRUISE, and ProbeRTT of 0.2 s and two rounds.
    assert!(
        path.run(2.0 * (3.0 + 8.0 * 0.24) + 0.2 + 2.0 * 0.24, |path| near(path.bbr.max_bw.get(), path.rate, 0.05)),
        "{} {:?}",
        path.bbr.max_bw.get() * 8.0,
        path.states
    );
}

/// 5 Mbit/s with a burst of 30 kB, and nothing behind.
#[test]
fn handling_token_bucket_policers() {
    let mut path = Path::new(100.0, 40, 1 << 30);
    let (rate, depth) = (mbps(5.0), 30_000.0_f64);
    let (mut tokens, mut last, clock) = (depth, 0.0, std::rc::Rc::new(std::cell::Cell::new(0.0)));
    let time = clock.clone();
    path.lose = Box::new(move |_| {
        tokens = depth.min(tokens + rate * (time.get() - last));
        last = time.get();
        let lost = tokens < S as f64;
        tokens -= if lost { 0.0 } else { S as f64 };
        lost
    });
    let tick = |path: &Path| {
        clock.set(path.seconds());
        false
    };
    let mut reacted = false;
    path.run(15.0, |path| {
        let bounds = &path.bbr.bounds;
        reacted |= bounds.bw_shortterm < f64::INFINITY && bounds.inflight_shortterm < UNBOUNDED;
        tick(path)
    });
    assert!(reacted);
    let (delivered, sent) = (path.delivered, path.sent);
    path.run(30.0, tick);
    let (goodput, sent) = ((path.delivered - delivered) as f64 / 30.0, (path.sent - sent) as f64 * S as f64 / 30.0);
    let lost = 1.0 - goodput / sent;
    assert!(goodput >= 0.8 * rate && goodput <= 1.01 * rate, "{}", goodput * 8.0);
    assert!(lost <= 0.1, "{lost}");
}

/// Of a fast recovery and of a timeout the sender gives back the state before, the undo state of §5.5.11.1; what of it is to be
/// changed says §5.5.11.2.
#[test]
fn handling_spurious_recovery() {
    for (from, to) in [(State::Startup, State::Startup), (State::Cruise, State::Cruise), (State::Up, State::Refill)] {
        for timeout in [false, true] {
            let mut path = usual();
            path.run(10.0, |path| path.state() == from && path.bbr.rounds.count > 3);
            assert_eq!(path.state(), from);
            let before = path.bbr.clone();
            let (now, sent) = (path.now, path.sent);
            path.lose = Box::new(move |id| id < sent + 20 && id % 2 == 0);
            if timeout {
                path.bbr.on_timeout(now, before.in_flight, false);
                assert_eq!(path.bbr.cwnd, before.in_flight + S);
            }
            path.run(0.3, |_| false);
            let mut restored = before.clone();
            restored.on_undo(&Undo { now: Instant::ZERO, flight: 0, window: 0 });
            assert_eq!((restored.state, restored.cwnd), (to, before.cwnd));
            let of = |bbr: &Bbr| {
                let bounds = &bbr.bounds;
                (bounds.bw_shortterm, bounds.inflight_shortterm, bounds.inflight_longterm)
            };
            assert_eq!(of(&restored), of(&before));
            assert_eq!((restored.full.count, restored.full.now, restored.signals.loss_in_round), (0, false, false));
        }
    }
}

#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let mut path = usual();
    path.application(4.0);
    path.enter(State::ProbeRtt, 6.0);
    assert!(path.run(1.0, |path| path.state() != State::ProbeRtt));
    assert_eq!((path.state(), path.bbr.full.reached), (State::Startup, false));
    path.application(GREEDY);
    path.enter(State::Drain, 2.0);
    assert!(near(path.bbr.max_bw.get(), path.rate, 0.02));
}

#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let mut path = usual();
    path.enter(State::Refill, 10.0);
    path.bbr.bounds.inflight_longterm = 60 * S;
    path.enter(State::Up, 1.0);
    path.run(0.1, |_| false);
    let from = path.sent;
    path.lose = Box::new(move |id| (from..from + 3).contains(&id));
    let mut before = 0.0;
    path.run(1.0, |path| {
        before = if path.state() == State::Up { path.bbr.target_inflight() } else { before };
        path.state() != State::Up
    });
    assert_eq!((path.state(), path.bbr.cycle.too_high), (State::Down, true));
    let longterm = path.bbr.bounds.inflight_longterm;
    // One of three is more than 2 % of fewer than 50 in flight; above, two are needed.
    assert!((0.7 * before) as u64 <= longterm && longterm < 62 * S, "{} segments", longterm / S);
}

/// §5.3.3.4.2: after a probe that went too high the next one ends as the flight reaches the bound; without loss the one after it follows
/// at once, and goes on.
#[test]
fn precautionary_probing() {
    let mut path = usual();
    path.enter(State::Up, 10.0);
    let from = path.sent;
    path.lose = Box::new(move |id| (from + 10..from + 13).contains(&id));
    path.enter(State::Down, 1.0);
    assert!(path.bbr.cycle.too_high);
    path.enter(State::Up, 4.0);
    let longterm = path.bbr.bounds.inflight_longterm;
    path.enter(State::Down, 1.0);
    assert!(!path.bbr.cycle.too_high && path.bbr.bounds.inflight_longterm <= longterm + S);
    let from = path.seconds();
    assert!(path.run(0.2, |path| path.state() == State::Refill), "{:?}", path.states);
    assert!(path.seconds() - from < 0.1, "within a round or two");
    path.enter(State::Up, 0.2);
    path.run(0.3, |path| path.state() != State::Up);
    assert!(path.bbr.bounds.inflight_longterm > longterm + S, "it rises again");
}

#[test]
fn handling_application_limited_sending_during_probe_refill() {
    let mut path = usual();
    path.enter(State::Refill, 10.0);
    let before = path.bbr.max_bw.get();
    path.application(1.0);
    path.enter(State::Up, 1.0);
    path.run(0.2, |_| false);
    assert_eq!(path.bbr.max_bw.get(), before);
    path.application(GREEDY);
    path.enter(State::Down, 3.0);
    path.enter(State::Cruise, 3.0);
    assert!(near(path.bbr.max_bw.get(), path.rate, 0.02));
}

/// Without selective acknowledgements any loss in recovery ends Startup, and any loss a probe (§5.3.1.3, §5.5.10.2).
#[test]
fn without_selective_acknowledgements_one_loss_is_enough() {
    for sack in [true, false] {
        let mut path = Path::with(Config::default(), &seat(sack), 10.0, 40, 1 << 30);
        path.application(4.0);
        path.run(1.0, |_| false);
        let from = path.sent;
        path.lose = Box::new(move |id| id == from);
        path.run(0.1, |path| path.state() != State::Startup);
        assert_eq!(path.state() == State::Startup, sack);
    }
}

/// Two bursts asked for: a single lost segment of about 40 in flight, 2.5 %, ends no probe.
#[test]
fn loss_bursts_are_counted_in_the_round() {
    for (loss_bursts, lost, ends) in
        [(1, [10, 10], true), (2, [10, 10], false), (2, [10, 11], false), (2, [10, 12], true)]
    {
        let mut path = Path::with(Config { loss_bursts }, &seat(true), 10.0, 40, 1 << 30);
        path.enter(State::Up, 10.0);
        let from = path.sent;
        path.lose = Box::new(move |id| lost.contains(&(id - from.min(id))));
        path.run(0.12, |path| path.state() != State::Up);
        assert_eq!(path.state() == State::Down, ends, "{loss_bursts} {lost:?}");
    }
}

/// §3.7: marks are congestion. The receiver's count is taken for lost bytes; a mark that is not counted is one segment.
#[test]
fn marks_end_a_probe_as_losses_do() {
    for (ce, echo, ends) in [(0, false, false), (2 * S, false, true), (0, true, true)] {
        let mut path = usual();
        path.enter(State::Up, 10.0);
        path.run(0.02, |_| false);
        let record = super::super::super::Record {
            sent_at: path.now,
            delivered: 0,
            delivered_at: path.now,
            first_sent_at: path.now,
            tx_in_flight: 45 * S,
            lost: 0,
            app_limited: false,
        };
        let rate = Some(super::super::super::RateSample { delivered: S, lost: 0, interval: None, record });
        if echo {
            let now = path.now;
            path.bbr.on_congestion(&CongestionEvent {
                now,
                kind: CongestionKind::Ecn,
                flight: 0,
                lost: 0,
                resent: false,
            });
        }
        let (now, in_flight, delivered) = (path.now, path.bbr.in_flight, path.bbr.delivered + S);
        path.bbr.on_ack(&AckSample { now, ce, rate, in_flight, delivered, ..AckSample::default() });
        assert_eq!(path.state() == State::Down, ends, "{ce} {echo}");
        assert_eq!(path.bbr.bounds.inflight_longterm == 45 * S, ends);
    }
}

/// A controller that takes the place of another one in mid-connection takes no old segment for its own, nor what was delivered before for newly
/// acknowledged, and no ProbeRTT for due.
#[test]
fn a_controller_put_in_place_midway_begins_anew() {
    for sends_first in [false, true] {
        let mut path = usual();
        path.enter(State::Cruise, 5.0);
        path.run(1.0, |_| false);
        path.bbr = Bbr::new(Config::default(), &seat(true));
        if sends_first {
            // All but a few are acknowledged before it is put in place.
            path.application(0.0);
            path.run(0.035, |_| false);
            path.bbr = Bbr::new(Config::default(), &seat(true));
            path.application(GREEDY);
        }
        path.run(0.04, |_| false);
        assert_eq!((path.state(), path.bbr.max_bw.get()), (State::Startup, 0.0), "{sends_first}");
        assert!(path.bbr.cwnd <= 20 * S, "{sends_first}: {}", path.bbr.cwnd / S);
        path.enter(State::Cruise, 2.0);
        assert!(near(path.bbr.max_bw.get(), path.rate, 0.02), "{}", path.bbr.max_bw.get());
    }
}

/// The path is another one: all that was learnt of the old one is void, and segments that left before tell nothing.
#[test]
fn a_new_path_is_learnt_from_the_start() {
    let mut path = usual();
    path.enter(State::Cruise, 5.0);
    path.bbr.on_path_change(path.now);
    let bbr = &path.bbr;
    assert_eq!((bbr.state, bbr.max_bw.get(), bbr.delay.min_rtt, bbr.cwnd), (State::Startup, 0.0, None, 10 * S));
    (path.rate, path.delay) = (mbps(1.0), Duration::from_millis(150));
    path.run(0.03, |_| false);
    assert_eq!((path.bbr.max_bw.get(), path.bbr.delay.min_rtt), (0.0, None), "acknowledgements of the old path");
    path.enter(State::Cruise, 6.0);
    assert!(near(path.bbr.max_bw.get(), path.rate, 0.02), "{} {:?}", path.bbr.max_bw.get() * 8.0, path.states);
    assert!(near(path.bbr.delay.min_rtt.unwrap().as_secs_f64(), 0.16, 0.1), "{:?}", path.bbr.delay.min_rtt);
}
