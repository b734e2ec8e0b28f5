//! TFRC and CCID 3 over networks: closed forms of what they reach, and what a notified handover
//! does to the queue of the new link.

use lasthop_core::scenario::run::{Results, Run};
use lasthop_core::scenario::{check::check, read};
use lasthop_core::transport::tfrc::equation;

fn run(text: &str, seed: u64) -> Results {
    let document = read::toml(text, "test").unwrap_or_else(|e| panic!("{e}"));
    check(&document).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Run::new(&document.scenario, seed, None).unwrap();
    run.complete().unwrap();
    run.finish()
}

fn flow(results: &Results, column: &str) -> f64 {
    results.table("flows").unwrap().number(column, 0).unwrap()
}

/// A value that an end of the flow shows at the end of the run.
fn state(results: &Results, kind: &str, quantity: &str) -> f64 {
    let table = results.table("state").unwrap();
    (0..table.rows())
        .find(|&row| table.text("kind", row) == Some(kind) && table.text("quantity", row) == Some(quantity))
        .and_then(|row| table.number("value", row))
        .unwrap()
}

/// Samples of a quantity of a link or flow: time and value.
fn series(results: &Results, name: &str, quantity: &str) -> Vec<(f64, f64)> {
    let table = results.table("series").unwrap();
    (0..table.rows())
        .filter(|&row| table.text("name", row) == Some(name) && table.text("quantity", row) == Some(quantity))
        .map(|row| (table.number("time_s", row).unwrap(), table.number("value", row).unwrap()))
        .collect()
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

/// A link from 3.84 Mbit/s to a tenth and back, a queue of 64 packets of 1000 B, and a flow that
/// fills it, without a queue before the handover: a source of its own rate, just below.
fn handover(handover: &str, at: &str, rates: [&str; 2]) -> Results {
    let [before, after] = rates;
    let text = format!(
        "duration = '20 s'
        record = {{ series = '5 ms', state = true }}
        link = [{{ name = 'last', between = ['server', 'mobile'], rate = '{before}', delay = '50 ms', queue.droptail.limit = '64 packets' }}]
        flow = [{{ from = 'server', to = 'mobile', transport.tfrc = {{ segment = '1000 B', header = '0 B', buffer = 1, handover = '{handover}' }}, source.cbr = {{ rate = '3.8399 Mbit/s', size = '1000 B' }} }}]
        change = [{{ at = '{at}', link = 'last', rate = '{after}' }}]"
    );
    run(&text, 1)
}

/// Data go on at 480 kB/s for the 50 ms that the notification takes, and 48 kB/s leave: the
/// queue rises by 21.6 kB. Without it the rate falls only with reports of a slower reception.
#[test]
fn a_notified_handover_to_a_slower_link_drops_nothing() {
    for mode in ["restart", "hint"] {
        let results = handover(mode, "10 s", ["3.84 Mbit/s", "384 kbit/s"]);
        let queue = series(&results, "last server>mobile", "queue_bytes");
        let most = queue.iter().filter(|(at, _)| *at > 10.0).map(|(_, bytes)| *bytes).fold(0.0, f64::max);
        assert!((most - 21_600.0).abs() <= 1_500.0, "{mode}: the queue rose to {most} B");
        assert_eq!(flow(&results, "dropped_packets"), 0.0, "{mode}");
        assert_eq!(state(&results, "sender", "handover_restarts"), 1.0);
    }
    let results = handover("off", "10 s", ["3.84 Mbit/s", "384 kbit/s"]);
    assert!(flow(&results, "dropped_packets") > 30.0, "{}", flow(&results, "dropped_packets"));
}

/// From 48 to 480 kB/s are 3.3 doublings, one for each round trip: with the way of the
/// notification, the first sample and the last report it takes six. Before them the queue drains,
/// which holds 64 kB.
#[test]
fn a_notified_handover_to_a_faster_link_is_used_after_six_round_trips() {
    let results = handover("restart", "10 s", ["384 kbit/s", "3.84 Mbit/s"]);
    let rates = series(&results, "server>mobile", "rate_bps");
    let reached = rates.iter().find(|(at, rate)| *at > 10.0 && *rate >= 0.99 * 3.84e6).unwrap().0;
    assert!(reached <= 10.0 + 6.0 * 0.1 + 64_000.0 / 480_000.0, "after {} s", reached - 10.0);
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
