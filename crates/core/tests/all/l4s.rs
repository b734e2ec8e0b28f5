//! Low latency, low loss (RFC 9330) from end to end: Prague over the coupled queues of RFC 9332, alone and beside Reno.

use crate::common::scenario::{column, run, series};
use lasthop_core::scenario::session::Results;

fn path(mbps: u32, rtt_ms: u32, dialect: &str, flows: &[&str]) -> Results {
    let flows: Vec<String> = (0..)
        .zip(flows)
        .map(|(n, tcp)| format!("{{ name = 'f{n}', from = 'a', to = 'b', transport.tcp = {{ {tcp} }} }}"))
        .collect();
    run(
        &format!(
            "duration = '60 s'
            record.series = '50 ms'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '{mbps} Mbit/s', delay = '{} us', queue.dualpi2.dialect = '{dialect}' }}]
            flow = [{}]",
            500 * rtt_ms,
            flows.join(", ")
        ),
        1,
    )
}

/// The mean after 20 s.
fn settled(results: &Results, name: &str, quantity: &str) -> f64 {
    let values: Vec<f64> =
        series(results, name, quantity).into_iter().filter(|(t, _)| *t > 20.0).map(|(_, value)| value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// RFC 9332 §1: a queue of a millisecond or less, and the whole rate.
#[test]
fn prague_alone_fills_a_link_with_a_millisecond_of_queue() {
    for dialect in ["rfc", "linux"] {
        for (mbps, rtt) in [(40, 20), (100, 25), (20, 50)] {
            let results = path(mbps, rtt, dialect, &["variant = 'prague'"]);
            let share = settled(&results, "f0", "goodput_kbps") * 1500.0 / 1460.0 / (1e3 * f64::from(mbps));
            assert!(share > 0.95, "{dialect} {mbps} Mbit/s {rtt} ms: {share}");
            let queue_ms = settled(&results, "l a>b", "queue_bytes") * 8.0 / (1e3 * f64::from(mbps));
            assert!(queue_ms < 1.5, "{dialect} {mbps} Mbit/s {rtt} ms: {queue_ms} ms");
            assert_eq!(column(&results, "flows", "dropped_packets")[0], 0.0);
        }
    }
}

/// RFC 9332 §2.1: neither starves the other, though their round-trip times differ by the classic queue's 15 ms.
#[test]
fn prague_and_reno_share() {
    for dialect in ["rfc", "linux"] {
        for (mbps, rtt) in [(40, 20), (100, 25), (20, 50)] {
            let results = path(mbps, rtt, dialect, &["variant = 'prague'", "variant = 'sack', ecn = true"]);
            let [prague, reno] = ["f0", "f1"].map(|flow| settled(&results, flow, "goodput_kbps"));
            assert!(
                (0.33..3.0).contains(&(prague / reno)),
                "{dialect} {mbps} Mbit/s {rtt} ms: {prague} and {reno} kbit/s"
            );
            assert!(prague + reno > 0.9 * 1e3 * f64::from(mbps) * 1460.0 / 1500.0);
        }
    }
}
