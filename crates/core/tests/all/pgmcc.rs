//! PGMCC over networks: its share beside TCP, NAKs and the size of a group, repairs, ends of transfers.
//!
//! `LASTHOP_PGMCC=1` compares it with TCP in every cell of the table in `docs/protocols/pgmcc.md`, which takes minutes, instead of
//! in a few of them.

use std::fmt::Write;

use crate::common::scenario::{column, rows, run, series, state};
use lasthop_core::scenario::session::Results;
use proptest::prelude::*;

/// A cell of the comparison with TCP.
#[derive(Clone, Copy, Debug)]
struct Cell {
    kbps: u64,
    rtt_ms: u64,
    tcps: u64,
    red: bool,
}

/// How long each run is, and from when it counts, in seconds.
const RUN: u64 = 300;
const FROM: u64 = 50;

impl Cell {
    /// Flows from hosts of their own through one bottleneck; the group has three receivers behind it. The queue holds a
    /// bandwidth-delay product, at least 20 packets and at least 2 for each flow.
    fn text(self, seed: u64) -> String {
        let Self { kbps, rtt_ms, tcps, red } = self;
        let limit = (kbps * rtt_ms / 12_000).max(20).max(2 * (tcps + 1));
        let queue = if red {
            // Floyd's rule of thumb: thresholds 1 to 3, the upper at three quarters of what there is.
            let max = limit as f64 * 0.75;
            format!(
                "queue.red = {{ limit = '{limit} packets', min = {:.2}, max = {max:.2}, gentle = true }}",
                max / 3.0
            )
        } else {
            format!("queue.droptail.limit = '{limit} packets'")
        };
        let access = |a: &str, b: &str| {
            format!("[[link]]\nname = '{a}{b}'\nbetween = ['{a}', '{b}']\nrate = '100 Mbit/s'\ndelay = '1 ms'\n")
        };
        // Two access links of 1 ms each way.
        let delay = (rtt_ms * 1000 - 4_000) / 2;
        let mut text = format!(
            "duration = '{RUN} s'
            record = {{ series = '{FROM} s' }}
            [[link]]
            name = 'bottleneck'
            between = ['left', 'right']
            rate = '{kbps} kbit/s'
            delay = '{delay} us'
            {queue}
            [[group]]
            name = 'group'
            members = ['r0', 'r1', 'r2']\n"
        );
        for n in 0..3 {
            text += &access("right", &format!("r{n}"));
        }
        text += &access("m", "left");
        // Starts differ from seed to seed, so that DropTail's phases do.
        let start = |n: u64| (seed * 7_919 + n * 3_571) % 10_000;
        let _ = write!(
            text,
            "[[flow]]\nname = 'pgmcc'\nfrom = 'm'\nto = 'group'\ntransport = 'pgmcc'\nstart = '{} ms'\n",
            start(0)
        );
        for n in 1..=tcps {
            text += &access(&format!("s{n}"), "left");
            text += &access("right", &format!("d{n}"));
            let _ = write!(
                text,
                "[[flow]]\nname = 'tcp{n}'\nfrom = 's{n}'\nto = 'd{n}'\ntransport.tcp.variant = 'newreno'\nstart = '{} ms'\n",
                start(n)
            );
        }
        text
    }

    /// The rate of PGMCC over the mean rate of TCP, both with headers.
    fn ratio(self, seeds: u64) -> f64 {
        let mut sums = [0.0; 2];
        for seed in 1..=seeds {
            let results = run(&self.text(seed), seed);
            let rate = |name: &str| {
                let samples = series(&results, name, "goodput_kbps");
                let late: Vec<f64> =
                    samples.iter().filter(|(at, _)| *at > FROM as f64).map(|(_, rate)| *rate).collect();
                late.iter().sum::<f64>() / late.len() as f64
            };
            sums[0] += rate("pgmcc") * 1500.0 / 1436.0;
            let tcps: f64 = (1..=self.tcps).map(|n| rate(&format!("tcp{n}"))).sum();
            sums[1] += tcps / self.tcps as f64 * 1500.0 / 1460.0;
        }
        sums[0] / sums[1]
    }
}

#[test]
fn its_share_beside_tcp_is_a_fair_one() {
    let whole = std::env::var("LASTHOP_PGMCC").is_ok();
    let mut cells = Vec::new();
    for kbps in [500, 2_000, 10_000] {
        for rtt_ms in [20, 100, 200] {
            for tcps in [1, 4, 16] {
                for red in [false, true] {
                    cells.push(Cell { kbps, rtt_ms, tcps, red });
                }
            }
        }
    }
    if !whole {
        cells.retain(|cell| cell.kbps == 2_000 && cell.rtt_ms == 100 && cell.tcps < 16);
    }
    let mut ratios = Vec::new();
    for cell in cells {
        let ratio = cell.ratio(if whole { 3 } else { 1 });
        println!("{cell:?}: {ratio:.2}");
        ratios.push((ratio, cell));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = ratios[ratios.len() / 2].0;
    println!("median {median:.2}");
    if whole {
        assert!((0.7..=1.4).contains(&median), "{median}");
    }
    let outside: Vec<_> = ratios.iter().filter(|(ratio, _)| !(0.5..=2.0).contains(ratio)).collect();
    println!("outside: {outside:?}");
    assert!(whole || outside.is_empty(), "{outside:?}");
}

/// A group of `n` behind a router, each on a link of its own. The first link, of `kbps`, loses `shared`, each receiver's `own` of the
/// packets.
fn star(n: usize, kbps: u64, [shared, own]: [f64; 2], seconds: u64, transport: &str) -> String {
    let mut text = format!(
        "duration = '{seconds} s'
        record.state = true
        [[link]]
        name = 'first'
        between = ['sender', 'router']
        rate = '{kbps} kbit/s'
        delay = '20 ms'
        queue.droptail.limit = '20 packets'
        loss.bernoulli.p = {shared}
        reverse.rate = '10 Mbit/s'
        reverse.queue.droptail.limit = '2000 packets'\n"
    );
    let mut members = Vec::new();
    for r in 0..n {
        let _ = write!(
            text,
            "[[link]]\nname = 'to {r}'\nbetween = ['router', 'r{r}']\nrate = '10 Mbit/s'\ndelay = '10 ms'\nloss.bernoulli.p = {own}\n"
        );
        members.push(format!("'r{r}'"));
    }
    let _ = write!(
        text,
        "[[group]]\nname = 'group'\nmembers = [{}]\n[[flow]]\nname = 'f'\nfrom = 'sender'\nto = 'group'\ntransport.pgmcc = {transport}\n",
        members.join(", ")
    );
    text
}

fn sender(results: &Results, quantity: &str) -> f64 {
    state(results, &[("kind", "sender")], quantity)
}

/// A quantity summed over all receivers.
fn receivers(results: &Results, quantity: &str) -> f64 {
    let table = results.table("state").unwrap();
    let rows = rows(table, &[("kind", "receiver"), ("quantity", quantity)]);
    rows.into_iter().map(|row| table.number("value", row).unwrap()).sum()
}

/// Of losses that all share, network elements let one NAK through for each packet. Without them every receiver sends one before it
/// hears a confirmation: the round trip of at least 60 ms is longer than any back-off. So NAKs are bounded by one for each receiver
/// and packet, and those repeated because a confirmation was lost, 2 % of them.
#[test]
fn naks_at_the_sender_are_bounded() {
    for n in [1, 10, 100, 1000] {
        for elements in [false, true] {
            let transport = format!("{{ network_elements = {elements} }}");
            let results = run(&star(n, 400, [0.02, 0.0], 30, &transport), 1);
            let lost = receivers(&results, "missing_by_congestion") / n as f64;
            // And one before there is an acker.
            let expected = (lost + 1.0) * if elements { 1.0 } else { n as f64 };
            let naks = sender(&results, "naks");
            println!("{n} receivers, elements {elements}: {lost} packets lost, {naks} NAKs at the sender");
            assert!(lost > 5.0);
            assert!((0.9..=1.1).contains(&(naks / expected)), "{n}, {elements}: {naks} NAKs of {lost} losses");
        }
    }
}

/// draft-ietf-rmt-bb-pgmcc-03 §2.2: "If the incoming ACK reports an unacknowledged data packet which is followed by at least 3
/// acknowledged data packets, then the packet is assumed to be lost and PGMCC reacts by halving the window". The near receiver is the
/// acker and gets everything; packet 40 is lost on the way to the far one, and elects it. The far one's first ACK reports it, so the
/// window is halved; the near one's ACK for the same packet does not hide it. A packet that both miss is reported by the near
/// one, and elects the far one by its round-trip time: it "was reported in previous ACKs", and halves the window once.
#[test]
fn the_loss_that_elects_an_acker_halves_the_window() {
    for (shared, own, cuts) in [("[]", "[]", 0.0), ("[]", "[40]", 1.0), ("[40]", "[]", 1.0)] {
        let text = format!(
            "duration = '3 s'
            record = {{ state = true, series = '10 ms' }}
            group = [{{ name = 'g', members = ['near', 'far'] }}]
            flow = [{{ name = 'f', from = 's', to = 'g', transport.pgmcc.nak_bo = '0 s' }}]
            link = [
                {{ name = 'first', between = ['s', 'r'], rate = '10 Mbit/s', delay = '20 ms', loss.list.drop = {shared} }},
                {{ name = 'to near', between = ['r', 'near'], rate = '10 Mbit/s', delay = '5 ms' }},
                {{ name = 'to far', between = ['r', 'far'], rate = '10 Mbit/s', delay = '40 ms', loss.list.drop = {own} }},
            ]"
        );
        let results = run(&text, 1);
        let changes = if cuts > 0.0 { 2.0 } else { 1.0 };
        assert_eq!(sender(&results, "acker_changes"), changes, "{shared}, {own}");
        assert_eq!(sender(&results, "window_cuts"), cuts, "{shared}, {own}");
        // Halved, and before that and after it opened by at most one packet for each ACK.
        let window: Vec<f64> = series(&results, "f", "cwnd_packets").into_iter().map(|(_, w)| w).collect();
        let falls = window.windows(2).filter(|pair| pair[1] < pair[0]).map(|pair| pair[1] / pair[0]);
        assert!(
            falls.clone().count() as f64 == cuts && falls.clone().all(|to| (0.45..=0.55).contains(&to)),
            "{window:?}"
        );
    }
}

/// The draft's increments do not return the token of a lost packet. Tokens that follow the packets in flight never run out.
#[test]
fn literal_tokens_stall() {
    let stalls = |mode: &str| {
        let results = run(&star(1, 2_000, [0.0, 0.02], 60, &format!("{{ token_mode = '{mode}' }}")), 1);
        (sender(&results, "stalls"), column(&results, "flows", "goodput_kbps")[0])
    };
    let ((none, fast), (some, slow)) = (stalls("in_flight"), stalls("literal"));
    assert_eq!(none, 0.0);
    assert!(some > 0.0 && slow < fast, "{some} stalls, {slow} of {fast} kbit/s");
}

/// Losses that receivers do not share: more of them miss something, and each misses something else.
#[test]
fn repairs_go_where_they_were_asked_for() {
    let packets = |elements: bool| {
        let transport = format!("{{ reliable = true, network_elements = {elements} }}");
        let results = run(&star(20, 2_000, [0.0, 0.02], 30, &transport), 1);
        let bytes = receivers(&results, "received_bytes") / 20.0;
        assert!(bytes > 0.8 * sender(&results, "sent_bytes"), "{bytes}");
        [sender(&results, "retransmitted_packets"), receivers(&results, "repairs"), sender(&results, "sent_packets")]
    };
    let [sent, came, _] = packets(false);
    assert!(came >= 0.9 * 20.0 * sent, "{came} of {sent} to each of 20");
    let [sent, came, data] = packets(true);
    // 1 − 0.98²⁰ = 33 % of the packets are missed by some receiver, each by 1.2 receivers.
    assert!((0.25..0.40).contains(&(sent / data)), "{sent} of {data}");
    assert!(came <= 1.5 * sent, "{came} of {sent}");
}

/// Losses of the radio are neither counted nor reported: with a legacy receiver they are both.
#[test]
fn an_all_knowing_classifier_is_not_slowed_by_radio_losses() {
    let kbps = |classifier: &str| {
        let transport = format!("{{ classifier = '{classifier}' }}");
        let results = run(&star(2, 4_000, [0.0, 0.05], 60, &transport), 1);
        let loss_rate = receivers(&results, "loss_rate") / 2.0;
        (column(&results, "flows", "goodput_kbps")[0], loss_rate, sender(&results, "window_cuts"), results)
    };
    // No base station marks anything here, so all losses look like those of a radio.
    let (modified, rate, cuts, results) = kbps("indication");
    assert_eq!((rate, receivers(&results, "naks_sent")), (0.0, 2.0), "one report each, before there is an acker");
    // The queue of the first link overflows without an indication.
    assert!(modified > 0.9 * 4_000.0 * 0.95 * 1436.0 / 1500.0, "{modified} kbit/s, {cuts} cuts");
    // At most √(3/2)/√p packets for each round trip of 60 ms (Mathis and others 1997), if it waits for no timeout.
    let (legacy, rate, ..) = kbps("all");
    let most = libm::sqrt(1.5 / 0.05) / 0.06 * 1436.0 * 8.0 / 1e3;
    assert!(rate > 0.02 && legacy < most && legacy > most / 3.0, "{legacy} of {most} kbit/s at {rate}");
    // Claim M22: one comparison more for each packet, and the same arithmetic.
    let (.., legacy) = kbps("all");
    let cost = |results: &Results, quantity| state(results, &[("kind", "receiver")], quantity);
    assert_eq!(cost(&results, "comparisons_in") - cost(&legacy, "comparisons_in"), 1.0);
    for results in [&legacy, &results] {
        assert_eq!(["additions_in", "multiplications_in"].map(|quantity| cost(results, quantity)), [2.0, 1.0]);
    }
}

/// RFC 3208 §5.1.5: SPMs after the last data, IHB_MIN later and then each time twice as long.
#[test]
fn heartbeats_are_twice_as_far_apart_each_time() {
    let text = "duration = '10 s'
        record.packets = true
        link = [{ name = 'l', between = ['s', 'r'], rate = '10 Mbit/s', delay = '10 ms' }]
        group = [{ name = 'g', members = ['r'] }]
        flow = [{ from = 's', to = 'g', transport.pgmcc.reliable = true, source.file.size = '20 kB' }]";
    let results = run(text, 1);
    let packets = results.table("packets").unwrap();
    let sent = |kind| -> Vec<f64> {
        let rows = rows(packets, &[("event", "sent"), ("place", "s"), ("kind", kind)]);
        rows.into_iter().map(|row| packets.number("time_s", row).unwrap()).collect()
    };
    let times: Vec<f64> = sent("data").last().copied().into_iter().chain(sent("spm")).collect();
    let gaps: Vec<f64> = times.windows(2).map(|pair| ((pair[1] - pair[0]) * 1e3).round()).collect();
    assert_eq!(gaps, [100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0]);
}

/// A file whose last packets are lost: reliable receivers miss them when the sender announces its last packet, and others have the packets
/// that came.
#[test]
fn a_file_ends() {
    for (reliable, drop) in [(true, "[]"), (true, "[67, 68, 69, 70]"), (false, "[]"), (false, "[68, 69]")] {
        let text = format!(
            "duration = '100 s'
            record.state = true
            link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '20 ms', loss.list.drop = {drop} }}]
            flow = [{{ from = 'a', to = 'b', transport.pgmcc.reliable = {reliable}, source.file.size = '100 kB' }}]"
        );
        let results = run(&text, 1);
        let transfers = results.table("transfers").unwrap();
        assert!(transfers.number("duration_s", 0).is_some(), "{reliable}, {drop}");
        assert!(transfers.number("acked_s", 0).is_some(), "{reliable}, {drop}");
        // 69 full packets and one of 916 B.
        assert_eq!(column(&results, "flows", "sent_packets")[0], 70.0);
        let received = column(&results, "flows", "received_bytes")[0];
        assert!(received == 100_000.0 || (!reliable && drop != "[]"), "{received}");
    }
}

/// After `nak_retries` NAKs too many a packet is given up, and holds nothing back any more.
#[test]
fn what_cannot_be_had_is_given_up() {
    // From 5 s on nothing comes back, for a tenth of a second nothing comes through. Data go on by timeouts.
    let text = "duration = '60 s'
        record.state = true
        [[link]]
        name = 'l'
        between = ['a', 'b']
        rate = '1 Mbit/s'
        delay = '20 ms'
        loss.schedule.steps = [['5 s', 1.0], ['5.1 s', 0.0]]
        reverse.loss.schedule.steps = [['5 s', 1.0], ['40 s', 0.0]]
        [[flow]]
        from = 'a'
        to = 'b'
        transport.pgmcc = { reliable = true, nak_retries = 3 }";
    let results = run(text, 1);
    let cell = |quantity| state(&results, &[("kind", "receiver")], quantity);
    let given_up = cell("given_up_packets");
    assert!(given_up >= 1.0 && given_up <= cell("missing_by_congestion"), "{given_up}");
    // Packets under way at the end wait in the queue, or are asked for.
    let missing = (sender(&results, "sent_bytes") - cell("received_bytes")) / 1436.0 - given_up;
    assert!((0.0..=150.0).contains(&missing), "{missing} packets beside those");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is lost, on whatever link and in whatever direction: every receiver has everything once, and T + F = W.
    #[test]
    fn reliable_receivers_get_everything_once(
        drops in prop::collection::vec(prop::collection::btree_set(0u64..160, 0..50), 8),
        elements in any::<bool>(),
        seed in 0u64..1000,
    ) {
        let mut text = format!(
            "duration = '4000 s'
            record = {{ state = true, series = '1.37 s', quantities = ['tokens'] }}
            group = [{{ name = 'g', members = ['a', 'b', 'c'] }}]
            flow = [{{ name = 'f', from = 's', to = 'g', source.file.size = '100 kB',
                transport.pgmcc = {{ reliable = true, network_elements = {elements}, nak_retries = 1000 }} }}]\n"
        );
        for (n, (ends, delay)) in [("['s', 'r']", 10), ("['r', 'a']", 5), ("['r', 'b']", 40), ("['b', 'c']", 5)].into_iter().enumerate() {
            let _ = write!(
                text,
                "[[link]]\nname = 'l{n}'\nbetween = {ends}\nrate = '2 Mbit/s'\ndelay = '{delay} ms'\nqueue.droptail.limit = '9 packets'\n\
                 loss.list.drop = {:?}\nreverse.loss.list.drop = {:?}\n",
                drops[2 * n].iter().collect::<Vec<_>>(),
                drops[2 * n + 1].iter().collect::<Vec<_>>()
            );
        }
        let results = run(&text, seed);
        for (receiver, bytes) in column(&results, "flows", "received_bytes").into_iter().enumerate() {
            prop_assert_eq!(bytes, 100_000.0, "receiver {}: {}", receiver, text);
        }
        prop_assert_eq!(receivers(&results, "given_up_packets"), 0.0);
        let [w, f, t] = ["cwnd_packets", "in_flight_packets", "tokens"].map(|quantity| series(&results, "f", quantity));
        prop_assert!(!w.is_empty());
        for ((w, f), t) in w.iter().zip(&f).zip(&t) {
            prop_assert!((t.1 + f.1 - w.1).abs() < 1e-9, "at {} s", w.0);
        }
    }
}
