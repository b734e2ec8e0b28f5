//! The draft's numbers, and its test cases (draft-ietf-ccwg-bbr, appendix "BBR Example Test Cases").

mod cases;
mod path;
mod trajectories;

use super::loss::inflight_at_loss;
use super::*;
use path::{S, seat};

/// The lost prefix of §5.5.10.2, solved by hand: prev + (0.02 prev − lost_prev) / 0.98.
#[test]
fn the_flight_at_which_losses_pass_the_threshold() {
    for (tx_in_flight, lost, size, expected) in [(100_000, 3_000, 1_000, 98_979.6), (100_000, 2_500, 1_500, 99_489.8)] {
        let at = inflight_at_loss(tx_in_flight, lost, size);
        assert!((at - expected).abs() < 0.05, "{at}, not {expected}");
    }
}

/// §5.6.3 with segments of 1500 B: two of them at 10 Mbit/s, 64 KBytes at 1 Gbit/s, a millisecond's worth between.
#[test]
fn the_quantum_is_a_millisecond_within_bounds() {
    let mut bbr = Bbr::new(Config::default(), &EndpointContext { smss: 1_500, ..seat(true) });
    for (mbps, quantum) in [(10.0, 3_000), (100.0, 12_500), (1_000.0, 64_000)] {
        bbr.pacing_rate = path::mbps(mbps);
        assert_eq!(bbr.send_quantum(), quantum, "{mbps} Mbit/s");
    }
}

/// §5.3.3.6: 15 % of headroom, at least a segment, but no less than four segments remain. §5.6.4.7: that is CRUISE's cap; the other states of
/// ProbeBW have the whole bound.
#[test]
fn cruise_leaves_headroom() {
    let mut bbr = Bbr::new(Config::default(), &seat(true));
    assert_eq!(bbr.inflight_with_headroom(), UNBOUNDED);
    for (longterm, rest) in [(100_000, 85_000), (6 * S, 5 * S), (4 * S, 4 * S)] {
        bbr.bounds.inflight_longterm = longterm;
        assert_eq!(bbr.inflight_with_headroom(), rest);
    }
    bbr.full.reached = true;
    bbr.max_bw.update(1e9, false);
    bbr.bound_bw();
    bbr.bounds.inflight_longterm = 100_000;
    for (state, cap) in [
        (State::Cruise, 85_000),
        (State::ProbeRtt, 85_000),
        (State::Down, 100_000),
        (State::Refill, 100_000),
        (State::Up, 100_000),
        (State::Drain, 200_000),
    ] {
        (bbr.state, bbr.cwnd) = (state, 200_000);
        bbr.delay.min_rtt = Some(Duration::from_millis(100));
        bbr.set_cwnd(&Ack::default());
        assert_eq!(bbr.cwnd, cap, "{state:?}");
    }
}

/// The table of §5.6.1.
#[test]
fn gains_are_those_of_the_table() {
    for (state, pacing, cwnd) in [
        (State::Startup, 2.77, 2.0),
        (State::Drain, 0.5, 2.0),
        (State::Down, 0.9, 2.0),
        (State::Cruise, 1.0, 2.0),
        (State::Refill, 1.0, 2.0),
        (State::Up, 1.25, 2.25),
        (State::ProbeRtt, 1.0, 0.5),
    ] {
        assert_eq!((state.pacing_gain(), state.cwnd_gain()), (pacing, cwnd), "{state:?}");
    }
}

/// §5.6.2: 2.77 initial windows in a round trip, of a millisecond if none is known; what is paced counts headers.
#[test]
fn the_first_rate_is_of_the_initial_window() {
    let bits = |bbr: &Bbr| bbr.pacing_rate().unwrap().as_bps();
    let mut bbr = Bbr::new(Config::default(), &EndpointContext { header: 40, ..seat(true) });
    // 2.77 · 12 000 B / 1 ms · 1240/1200 · 8.
    assert_eq!(bits(&bbr), 274_784_000);
    bbr.on_sent(&Sent { bytes: S, in_flight: S, srtt: Duration::from_millis(100), ..Sent::default() });
    assert_eq!(bits(&bbr), 2_747_840);
    assert_eq!(bbr.delay.min_rtt, Some(Duration::from_millis(100)));
}

/// §5.5.10.3 in numbers: the first loss round outside of a probe starts from max_bw and cwnd and takes 0.7 of them, but not less than the
/// last round delivered.
#[test]
fn a_loss_round_lowers_the_short_term_bounds() {
    let mut bounds = Bounds::default();
    let signals = Signals { bw_latest: 800.0, inflight_latest: 50_000, ..Signals::default() };
    bounds.lower(&signals, 1_000.0, 100_000);
    assert_eq!((bounds.bw_shortterm, bounds.inflight_shortterm), (800.0, 70_000));
    let signals = Signals { bw_latest: 100.0, inflight_latest: 1_000, ..Signals::default() };
    bounds.lower(&signals, 1_000.0, 100_000);
    assert_eq!((bounds.bw_shortterm, bounds.inflight_shortterm), (560.0, 49_000));
    bounds.inflight_longterm = 90_000;
    bounds.reset_short_term();
    assert_eq!((bounds.bw_shortterm, bounds.inflight_shortterm), (f64::INFINITY, UNBOUNDED));
    assert_eq!(bounds.inflight_longterm, 90_000);
}

/// §5.3.3.5.3: 0 or 1 rounds and 2 to 3 s, drawn for each cycle, the same again for the same connection.
#[test]
fn waits_are_drawn_from_the_connections_stream() {
    let draw = |seed| {
        let mut bbr = Bbr::new(Config::default(), &EndpointContext { seed, ..seat(true) });
        let mut one = || {
            bbr.start_down(Instant::ZERO);
            (bbr.cycle.rounds_since_up, bbr.cycle.wait().as_secs_f64())
        };
        (0..200).map(|_| one()).collect::<Vec<_>>()
    };
    let waits = draw(1);
    assert_eq!(waits, draw(1));
    assert_ne!(waits, draw(2));
    assert!(waits.iter().all(|(rounds, wait)| *rounds <= 1 && (2.0..3.0).contains(wait)));
    // Means of 1/2 and of 2.5, with standard errors of 0.5/√200 and 0.29/√200: four of them.
    let mean = |of: &dyn Fn(&(u64, f64)) -> f64| waits.iter().map(of).sum::<f64>() / 200.0;
    assert!((mean(&|wait| wait.0 as f64) - 0.5).abs() < 0.142);
    assert!((mean(&|wait| wait.1) - 2.5).abs() < 0.082);
}

/// §5.6.4.4: a timeout leaves the flight and a segment; the window of before comes back when everything in flight then has arrived.
/// §5.4.1, §5.6.4.4: rules for windows of loss-based algorithms change nothing, but for a lost SYN.
#[test]
fn timeouts_and_rules() {
    let mut bbr = Bbr::new(Config::default(), &seat(true));
    bbr.on_rule(Instant::ZERO, WindowRule::Start(S));
    assert_eq!((bbr.cwnd, bbr.initial_window), (S, S), "a SYN was lost");
    let mut bbr = Bbr::new(Config::default(), &seat(true));
    bbr.on_sent(&Sent { bytes: S, in_flight: S, ..Sent::default() });
    bbr.cwnd = 50 * S;
    for rule in [WindowRule::Start(S), WindowRule::Recovery(2 * S), WindowRule::Genuine(3 * S)] {
        bbr.on_rule(Instant::ZERO, rule);
        assert_eq!(bbr.cwnd, 50 * S, "{rule:?}");
    }
    bbr.in_flight = 3 * S;
    bbr.on_timeout(Instant::ZERO, 50 * S, false);
    assert_eq!((bbr.cwnd, bbr.prior_cwnd), (4 * S, 50 * S));
    bbr.on_timeout(Instant::ZERO, 50 * S, true);
    assert_eq!(bbr.prior_cwnd, 50 * S, "the last known good one");
    bbr.on_ack(&AckSample { after_timeout: true, ..AckSample::default() });
    assert!(bbr.cwnd < 10 * S);
    bbr.on_ack(&AckSample::default());
    assert_eq!(bbr.cwnd, 50 * S);
}

#[test]
fn nonsense_is_refused() {
    let fault = Config { loss_bursts: 0 }.check().unwrap_err();
    assert_eq!(fault.field, "loss_bursts");
}
