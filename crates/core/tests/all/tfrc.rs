//! TFRC and CCID 3 over networks: closed forms of what they reach, and what a notified handover
//! does to the queue of the new link.

use crate::common::scenario::{column, run, series};
use lasthop_core::scenario::session::Results;
use lasthop_core::transport::tfrc::equation;

fn flow(results: &Results, name: &str) -> f64 {
    column(results, "flows", name)[0]
}

/// A value that an end of the flow shows at the end of the run.
fn state(results: &Results, kind: &str, quantity: &str) -> f64 {
    crate::common::scenario::state(results, &[("kind", kind)], quantity)
}

/// With independent losses TFRC keeps to the equation. One event takes all losses of a round
/// trip, and the mean interval is not the inverse of the mean rate; both effects stay within a
/// fifth at these rates of loss.
#[test]
fn independent_losses_give_the_rate_of_the_equation() {
    for (transport, payload) in [("'tfrc'", 1460.0), ("{ tfrc = { version = 'rfc3448' } }", 1460.0), ("'dccp'", 1464.0)]
    {
        for loss in [0.003, 0.01, 0.03] {
            let text = format!(
                "duration = '400 s'
                link = [{{ name = 'l', between = ['a', 'b'], rate = '1 Gbit/s', delay = '50 ms', loss.bernoulli.p = {loss} }}]
                flow = [{{ from = 'a', to = 'b', transport = {transport} }}]"
            );
            let rate = flow(&run(&text, 1), "received_bytes") / 400.0 / (1.0 - loss);
            let expected = equation::throughput(payload, 0.1, loss, 0.4);
            assert!((rate / expected - 1.0).abs() < 0.2, "{transport} at {loss}: {rate}, not {expected}");
        }
    }
}

/// A link from 3.84 Mbit/s to a tenth at 10 s and back at 15 s, with a queue of 64 packets of 1000 B.
/// A source just slower than the fast link leaves no queue before the handover.
fn handovers(mode: &str, until: &str) -> Results {
    let back = "[[change]]
        at = '15 s'
        link = 'last'
        rate = '3.84 Mbit/s'";
    let back = if until == "20 s" { back } else { "" };
    let text = format!(
        "duration = '{until}'
        record = {{ series = '5 ms', state = true }}
        [[link]]
        name = 'last'
        between = ['server', 'mobile']
        rate = '3.84 Mbit/s'
        delay = '50 ms'
        queue.droptail.limit = '64 packets'
        [[flow]]
        from = 'server'
        to = 'mobile'
        transport.tfrc = {{ segment = '1000 B', header = '0 B', buffer = 1, handover = '{mode}' }}
        source.cbr = {{ rate = '3.8399 Mbit/s', size = '1000 B' }}
        [[change]]
        at = '10 s'
        link = 'last'
        rate = '384 kbit/s'
        {back}"
    );
    run(&text, 1)
}

/// Data go on at 480 kB/s for the 50 ms that the notification takes, and 48 kB/s leave: the queue
/// rises by 21.6 kB. Without it the rate falls only with reports of a slower reception, and the
/// queue of 64 kB is full after 0.148 s.
#[test]
fn a_notified_handover_to_a_slower_link_drops_nothing() {
    for mode in ["restart", "hint"] {
        // Slow start on the new link fills the queue later, as on any link.
        let results = handovers(mode, "10.5 s");
        let queue = series(&results, "last server>mobile", "queue_bytes");
        let most = queue.iter().filter(|(at, _)| *at > 10.0).map(|(_, bytes)| *bytes).fold(0.0, f64::max);
        assert!((most - 21_600.0).abs() <= 1_000.0, "{mode}: the queue rose to {most} B");
        assert_eq!(flow(&results, "dropped_packets"), 0.0, "{mode}");
        assert_eq!(state(&results, "sender", "handover_restarts"), 1.0);
    }
    let results = handovers("off", "10.5 s");
    assert!(flow(&results, "dropped_packets") > 30.0, "{}", flow(&results, "dropped_packets"));
}

/// From 48 to 480 kB/s are 3.3 doublings, so four round trips; the notification takes half of one,
/// the first sample one: six at most. Meanwhile the queue drains, which holds what the first
/// handover left.
#[test]
fn a_notified_handover_to_a_faster_link_is_used_within_six_round_trips() {
    let results = handovers("hint", "20 s");
    let rates = series(&results, "server>mobile", "rate_bps");
    let slow = rates.iter().rfind(|(at, _)| *at < 15.0).unwrap().1;
    assert!((slow / 384e3 - 1.0).abs() < 0.01, "{slow} bit/s before");
    let reached = rates.iter().find(|(at, rate)| *at > 15.0 && *rate >= 0.99 * 3.84e6).unwrap().0;
    assert!(reached <= 15.0 + 6.0 * 0.1 + 21_600.0 / 480_000.0, "after {} s", reached - 15.0);
    assert_eq!(flow(&results, "dropped_packets"), 0.0);
}

/// A file ends when its last packet is received, whatever was lost before; and without it when
/// the no-feedback timer says so.
#[test]
fn a_file_ends_with_its_last_packet() {
    for (loss, lost) in [("", 0.0), (", loss.list.drop = [3, 20]", 2.0), (", loss.list.drop = [68]", 0.0)] {
        let text = format!(
            "duration = '100 s'
            record.state = true
            link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '20 ms'{loss} }}]
            flow = [{{ from = 'a', to = 'b', transport = 'tfrc', source.file.size = '100 kB' }}]"
        );
        let results = run(&text, 1);
        let transfers = results.table("transfers").unwrap();
        assert!(transfers.number("duration_s", 0).is_some(), "{loss}");
        assert!(transfers.number("acked_s", 0).is_some(), "{loss}");
        assert_eq!(state(&results, "receiver", "lost_packets"), lost, "{loss}");
        // 68 full packets and one of 720 B.
        assert_eq!(flow(&results, "sent_packets"), 69.0);
    }
}

/// A source slower than the network is not slowed down, and one that is faster loses its oldest
/// datagrams in front of the network.
#[test]
fn datagrams_keep_to_the_allowed_rate() {
    let text = |rate: &str| {
        format!(
            "duration = '60 s'
            record.state = true
            link = [{{ name = 'l', between = ['a', 'b'], rate = '1 Mbit/s', delay = '20 ms', queue.droptail.limit = '20 packets' }}]
            flow = [{{ from = 'a', to = 'b', transport = 'tfrc', source.cbr = {{ rate = '{rate}', size = '960 B' }} }}]"
        )
    };
    let slow = run(&text("200 kbit/s"), 1);
    assert!(flow(&slow, "goodput_kbps") > 0.95 * 200.0);
    assert_eq!(flow(&slow, "dropped_packets"), 0.0);
    let fast = run(&text("5 Mbit/s"), 1);
    assert!(state(&fast, "sender", "dropped_writes") > 10_000.0);
    assert!(flow(&fast, "goodput_kbps") < 1000.0 && flow(&fast, "loss_pct") < 5.0);
}

/// The rate of a way is what may be sent on a faster one (RFC 5348 §4.3: the rate doubles in a round trip): a receiver that has no round-trip
/// time of the new way knows of no rate, which is no reason to slow down.
#[test]
fn a_handover_to_a_faster_link_keeps_the_rate() {
    let greedy = "version = 'rfc3448', handover = 'restart' }\nsource = 'greedy'";
    let steady = "handover = 'restart' }\nsource.cbr = { rate = '500 kbit/s', size = '1000 B' }";
    for flow in [greedy, steady] {
        let text = format!(
            "duration = '12 s'
            record.series = '5 ms'
            link = [{{ name = 'l', between = ['server', 'mobile'], rate = '1 Mbit/s', delay = '50 ms' }}]
            change = [{{ at = '10 s', link = 'l', rate = '10 Mbit/s' }}]
            [[flow]]
            from = 'server'
            to = 'mobile'
            transport.tfrc = {{ {flow}"
        );
        let rates = series(&run(&text, 1), "server>mobile", "rate_bps");
        let before = rates.iter().rfind(|(at, _)| *at < 10.0).unwrap().1;
        let after = rates.iter().filter(|(at, _)| (10.0..11.0).contains(at)).map(|(_, rate)| *rate);
        let low = after.fold(f64::INFINITY, f64::min);
        assert!(low >= 0.99 * before.min(0.5e6), "{flow}: {low} after {before} bit/s");
    }
}
