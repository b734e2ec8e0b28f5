//! TFRC's slow start on an empty path: meter and control together, until the path ends it.
//!
//! A report comes once in a round trip R and reports the bytes received in the last one, which were sent in the one before. In
//! round k a sender by the RFCs may send X_k = min(2 X_{k−1}, 2 X_recv,k) (RFC 3448 §4.3, RFC 5348 §4.3), and X_recv,k is
//! the rate sent in round k − 2, so X_k = 2 X_{k−2}: the rate doubles every second round trip. By the reading of Landström, Larzon and
//! Bodin (2004, §II-C) it doubles every round trip as long as the reported receive rate matches the send rate.

use crate::common::scenario::run;
use lasthop_core::scenario::session::Results;

const PACKET_BITS: f64 = 8.0 * 1500.0;
const PAYLOAD_BITS: f64 = 8.0 * 1460.0;

/// One-way delays in ms, and rates in Mbit/s.
const DELAYS_MS: [f64; 6] = [20.0, 40.0, 60.0, 75.0, 100.0, 150.0];
const RATES_MBPS: [f64; 5] = [2.0, 10.0, 20.0, 100.0, 1000.0];

/// Reading, packets in the first round trip, round trips to a doubling.
const READINGS: [(&str, f64, f64); 5] = [
    ("version = 'rfc3448'", 1.0, 2.0),
    ("version = 'rfc5348'", 3.0, 2.0),
    ("version = 'rfc3448', slow_start_limit = 'matched'", 1.0, 1.0),
    ("version = 'rfc3448', slow_start_limit = 'matched', initial_window = 2", 2.0, 1.0),
    ("version = 'rfc5348', slow_start_limit = 'matched'", 3.0, 1.0),
];

fn slow_start(reading: &str, delay_ms: f64, mbps: f64, until_s: f64) -> Results {
    run(
        &format!(
            "duration = '{until_s} s'
            record.series = '{} ms'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '{mbps} Mbit/s', delay = '{delay_ms} ms',
                       queue.droptail.limit = '100 packets' }}]
            flow = [{{ from = 'a', to = 'b', transport.tfrc = {{ {reading} }} }}]",
            delay_ms / 5.0
        ),
        1,
    )
}

/// When the sender's allowed rate had which value, in seconds and bit/s of payload.
fn rates(results: &Results) -> Vec<(f64, f64)> {
    let series = results.table("series").unwrap();
    (0..series.rows())
        .filter(|&row| series.text("quantity", row).is_some_and(|name| name == "rate_bps"))
        .filter(|&row| series.text("kind", row).is_some_and(|kind| kind == "flow"))
        .map(|row| (series.number("time_s", row).unwrap(), series.number("value", row).unwrap()))
        .collect()
}

/// Round trips from the first report until the allowed rate is `packets` packets per round trip.
fn rounds_until(rates: &[(f64, f64)], rtt: f64, packets: f64) -> Option<f64> {
    let begins = rates.iter().find(|(at, _)| *at > 0.9 * rtt)?.0;
    let reached = rates.iter().find(|(at, rate)| *at >= begins && *rate * rtt / PAYLOAD_BITS >= packets * 0.999)?.0;
    Some((reached - begins) / rtt)
}

#[test]
fn the_rate_doubles_as_its_version_says_until_the_path_ends_it() {
    for (reading, first, doubling) in READINGS {
        for delay_ms in DELAYS_MS {
            for mbps in RATES_MBPS {
                let rtt = 2e-3 * delay_ms + PACKET_BITS / (1e6 * mbps);
                // The packets of a round trip that fill the path.
                let full = 1e6 * mbps * rtt / PACKET_BITS;
                let rates = rates(&slow_start(reading, delay_ms, mbps, 20.0));
                let mut packets = 2.0 * first;
                let mut doublings = 1.0;
                let mut before = None;
                while packets <= full {
                    let rounds = rounds_until(&rates, rtt, packets)
                        .unwrap_or_else(|| panic!("{reading}, {delay_ms} ms, {mbps} Mbit/s: never {packets} packets"));
                    // Whole packets: with one or two in a round trip a report may see one less, which costs one doubling. Samples are
                    // a tenth of a round trip apart.
                    let expected = doubling * doublings;
                    assert!(
                        (expected - doubling - 0.1..=expected + doubling + 0.2).contains(&rounds),
                        "{reading}, {delay_ms} ms, {mbps} Mbit/s: {packets} packets after {rounds} round trips, not {expected}"
                    );
                    // From then on one doubling takes as long as the next, but for a packet that falls into the next report.
                    if let Some(before) = before.replace(rounds).filter(|_| doublings > 2.0) {
                        let took: f64 = rounds - before;
                        assert!(
                            (took - doubling).abs() <= 1.2,
                            "{reading}, {delay_ms} ms, {mbps} Mbit/s: {took} round trips to {packets} packets"
                        );
                    }
                    packets *= 2.0;
                    doublings += 1.0;
                }
            }
        }
    }
}
