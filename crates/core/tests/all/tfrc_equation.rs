//! TFRC against the throughput equation, over a link that drops every k-th packet.

use std::fmt::Write;

use crate::common::scenario::{column, run};
use lasthop_core::transport::tfrc::equation;

const PAYLOAD: f64 = 1460.0;

/// Bytes per second sent between two instants over a link that never queues, with this round-trip time
/// and losses; `share` of the packets arrive.
fn rate(loss: &str, rtt: f64, share: f64, from: f64, until: f64) -> f64 {
    let received = |until: f64| {
        let text = format!(
            "duration = '{until} s'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Gbit/s', delay = '{} ms', {loss} }}]
            flow = [{{ from = 'a', to = 'b', transport = 'tfrc' }}]",
            500.0 * rtt
        );
        column(&run(&text, 1), "flows", "received_bytes")[0]
    };
    (received(until) - received(from)) / (until - from) / share
}

/// With one loss in every k packets all intervals are k, and the rate is the equation's.
#[test]
fn every_kth_packet_lost_gives_the_equations_rate() {
    let rtt = 0.1;
    for k in [10u64, 30, 100, 300, 1000] {
        let expected = equation::throughput(PAYLOAD, rtt, 1.0 / k as f64, 4.0 * rtt);
        // Until eight intervals are there, and then as long again as makes the ends small.
        let interval = k as f64 * PAYLOAD / expected;
        let (from, until) = ((20.0 * interval).max(60.0), (20.0 * interval).max(60.0) + 60.0 * interval);
        let packets = (3.0 * until * expected / PAYLOAD) as u64 + 100_000;
        let mut list = String::new();
        for packet in (k - 1..packets).step_by(k as usize) {
            let _ = write!(list, "{packet},");
        }
        let share = 1.0 - 1.0 / k as f64;
        let got = rate(&format!("loss.list.drop = [{list}]"), rtt, share, from.round(), until.round());
        assert!((got / expected - 1.0).abs() < 0.03, "k = {k}: {got} B/s, not {expected}");
    }
}
