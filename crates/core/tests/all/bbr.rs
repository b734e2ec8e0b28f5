//! BBRv3 from end to end: the share of the rate that it takes of paths that are clean, shallow or lossy.

use crate::common::scenario::{column, run, scenario};
use lasthop_core::engine::Instant;
use lasthop_core::scenario::session::Session;

/// The share of the bottleneck that a bulk transfer of 30 s takes, headers counted, and its timeouts. The paths are those of the reference runs:
/// 40 ms, segments of 1200 B.
fn share(mbps: u32, buffer: &str, loss: &str, seed: u64) -> (f64, f64) {
    let results = run(
        &format!(
            "duration = '30 s'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '{mbps} Mbit/s', delay = '20 ms', {loss} queue.droptail.limit = '{buffer}' }}]
            flow = [{{ from = 'a', to = 'b', transport.tcp = {{ variant = 'bbr', segment = '1200 B' }} }}]"
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

/// A quantity of the sender of the flow `f` at this instant, if there is one yet.
fn look(run: &mut Session, seconds: f64, quantity: &str) -> Option<f64> {
    run.advance_to(Instant::from_secs_f64(seconds), u64::MAX).unwrap();
    let table = run.look("f");
    (0..table.rows())
        .find(|&row| table.text("quantity", row) == Some(quantity))
        .and_then(|row| table.number("value", row))
}

/// The states of the flow `f`, in numbers, looked at each 5 ms; a state that lasts is one.
fn states(text: &str, seconds: u64) -> Vec<(f64, u8)> {
    let mut run = Session::new(&scenario(text), 1, None).unwrap();
    let mut states: Vec<(f64, u8)> = Vec::new();
    for at in (1..=seconds * 200).map(|step| step as f64 * 0.005) {
        let Some(state) = look(&mut run, at, "bbr_state") else { continue };
        if states.last().is_none_or(|(_, last)| *last != state as u8) {
            states.push((at, state as u8));
        }
    }
    states
}

const STARTUP: u8 = 0;
const DRAIN: u8 = 1;
const DOWN: u8 = 2;
const CRUISE: u8 = 3;
const REFILL: u8 = 4;
const UP: u8 = 5;
const PROBE_RTT: u8 = 6;

/// draft-ietf-ccwg-bbr §5.1.1: the diagram of transitions, and their times.
#[test]
fn states_follow_one_another_as_the_diagram_says() {
    let text = "duration = '30 s'
        link = [{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '20 ms', queue.droptail.limit = '100 kB' }]
        flow = [{ name = 'f', from = 'a', to = 'b', transport.tcp.variant = 'bbr' }]";
    let states = states(text, 30);
    assert_eq!([states[0].1, states[1].1], [STARTUP, DRAIN]);
    for pair in states.windows(2) {
        let next: &[u8] = match pair[0].1 {
            STARTUP => &[DRAIN],
            // DOWN is over at once if nothing is left to drain.
            DRAIN => &[DOWN, CRUISE],
            DOWN => &[CRUISE, REFILL, PROBE_RTT],
            CRUISE => &[REFILL, PROBE_RTT],
            REFILL => &[UP, PROBE_RTT],
            UP => &[DOWN, PROBE_RTT],
            _ => &[CRUISE],
        };
        assert!(next.contains(&pair[1].1), "{pair:?}");
    }
    // §5.3.4: 5 s after the last; 200 ms, and a round trip at most until the flight has fallen and one until the next acknowledgement.
    let probes: Vec<f64> = states.iter().filter(|(_, state)| *state == PROBE_RTT).map(|(at, _)| *at).collect();
    assert!(probes.len() >= 4, "{probes:?}");
    for pair in probes.windows(2) {
        assert!((5.2..5.4).contains(&(pair[1] - pair[0])), "{probes:?}");
    }
    // §5.3.3.5.3: a probe waits for 3 s at most, or for ProbeRTT.
    let waits = |pair: &[(f64, u8)]| pair[0].1 != CRUISE || pair[1].0 - pair[0].0 <= 3.01;
    assert!(states.windows(2).all(waits), "{states:?}");
}

/// Mbit/s of a bulk transfer, without headers, as in the reference runs.
fn goodput(text: &str) -> f64 {
    let flow = "flow = [{ from = 'a', to = 'b', transport.tcp = { variant = 'bbr', segment = '1200 B', header = '0 B', handshake = 'none' } }]";
    column(&run(&format!("{text}\n{flow}"), 1), "flows", "goodput_kbps")[0] / 1e3
}

/// 10 Mbit/s and 30 ms, at 20 s 1 Mbit/s and 150 ms, at 40 s back: within 10 % of picoquic's 6.45 Mbit/s. A geostationary satellite: of
/// s2n's 17.39.
#[test]
fn handovers_and_satellites_as_other_implementations() {
    let change = |at: u32, rate: u32, delay: u32| {
        format!("{{ at = '{at} s', link = 'l', rate = '{rate} Mbit/s', delay = '{delay} ms' }}")
    };
    let handover = format!(
        "duration = '60 s'
        change = [{}, {}]
        link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '15 ms', queue.droptail.limit = '64 kB' }}]",
        change(20, 1, 75),
        change(40, 10, 15)
    );
    let satellite = "duration = '60 s'
        link = [{ name = 'l', between = ['a', 'b'], rate = '20 Mbit/s', delay = '300 ms', queue.droptail.limit = '1500 kB' }]";
    for (text, expected) in [(handover.as_str(), 6.45), (satellite, 17.39)] {
        let rate = goodput(text);
        assert!((rate / expected - 1.0).abs() <= 0.1, "{rate}, not {expected}");
    }
}

/// After ten seconds of silence the flow goes on at its rate, and not with an initial window (§5.4.1): 0.2 s later all has arrived that the
/// path delivers in them but for the round trip, less 1 % of margin. From ten segments on, doubled in each round trip, it would be 144 kB.
#[test]
fn a_flow_goes_on_after_an_idle_time() {
    // Five megabytes, written in a second, take four.
    let text = "duration = '30 s'
        link = [{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '20 ms', queue.droptail.limit = '100 kB' }]
        [[flow]]
        name = 'f'
        from = 'a'
        to = 'b'
        transport.tcp.variant = 'bbr'
        source.onoff = { rate = '40 Mbit/s', size = '1460 B', on = '1 s', off = '14 s', distribution = 'constant' }";
    let mut run = Session::new(&scenario(text), 1, None).unwrap();
    let before = look(&mut run, 14.9, "acked_bytes").unwrap();
    assert_eq!(look(&mut run, 14.9, "in_flight_packets"), Some(0.0));
    let after = look(&mut run, 15.2, "acked_bytes").unwrap();
    let expected = (0.2 - 0.0412) * 10e6 / 8.0 * 1460.0 / 1500.0 * 0.99;
    assert!((after - before) / expected > 0.97, "{} of {expected}", after - before);
}

/// 10 Mbit/s and 30 ms, at 20 s 1 Mbit/s and 150 ms, at 40 s back. Without a hint the old bandwidth is believed for two cycles of more than 2 s each,
/// and twice the old BDP, 62 segments, is kept in flight, or the most that the buffer takes. With a hint, of either kind, the new one is known after
/// the rounds of a Startup; three of them see a plateau, of half a second each with the buffer full.
#[test]
fn a_hint_of_the_path_tells_the_new_bandwidth() {
    for (hint, believed) in [("off", 10e6), ("delays", 1e6), ("restart", 1e6)] {
        let text = format!(
            "duration = '60 s'
            change = [
                {{ at = '20 s', link = 'l', rate = '1 Mbit/s', delay = '75 ms' }},
                {{ at = '40 s', link = 'l', rate = '10 Mbit/s', delay = '15 ms' }},
            ]
            link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '15 ms', queue.droptail.limit = '64 kB' }}]
            flow = [{{ name = 'f', from = 'a', to = 'b', transport.tcp = {{ variant = 'bbr', path_hint = '{hint}' }} }}]"
        );
        let mut run = Session::new(&scenario(&text), 1, None).unwrap();
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() <= 0.05;
        // Of payload: 1460 B of 1500 B.
        let bw = look(&mut run, 24.0, "max_bw_bps").unwrap() * 1500.0 / 1460.0;
        assert!(near(bw, believed), "{hint}: {bw}");
        let (min_rtt, flight) =
            (look(&mut run, 25.0, "min_rtt_ms").unwrap(), look(&mut run, 25.0, "in_flight_packets").unwrap());
        // Two BDP are 27 segments.
        assert_eq!((min_rtt < 40.0, flight > 27.0), (hint == "off", hint == "off"), "{hint}: {min_rtt} ms, {flight}");
        let bw = look(&mut run, 42.0, "max_bw_bps").unwrap() * 1500.0 / 1460.0;
        assert!(near(bw, 10e6), "{hint}: {bw}");
    }
}
