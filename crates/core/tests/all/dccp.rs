//! CCID 2 over networks, against closed forms and beside TCP, and what CCID 3's sender computes.

use lasthop_core::measure::table::Table;
use lasthop_core::scenario::session::{Results, Session};
use lasthop_core::scenario::{check::check, read};
use lasthop_core::transport::tfrc::equation;

fn run(text: &str) -> Results {
    let document = read::toml(text, "test").unwrap_or_else(|e| panic!("{e}\n{text}"));
    check(&document).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut run = Session::new(&document.scenario, 1, None).unwrap();
    run.complete().unwrap();
    run.finish()
}

/// A greedy flow of CCID 2 from `a` to `b`.
const FLOW: &str = "flow = [{ from = 'a', to = 'b', transport.dccp.ccid = 2 }]";

/// A link from `a` to `b` of 50 ms one way, and more that is said of it.
fn over(rate: &str, duration: u64, more: &str, flow: &str) -> Results {
    run(&format!(
        "duration = '{duration} s'
        record = {{ state = true, packets = {} }}
        link = [{{ name = 'l', between = ['a', 'b'], rate = '{rate}', delay = '50 ms'{more} }}]
        {flow}",
        duration <= 100
    ))
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
        .unwrap_or_else(|| panic!("no {quantity} at the {kind}"))
}

/// The rows of the packets that an end sent, at `place`.
fn sent<'a>(table: &'a Table, place: &'a str) -> impl Iterator<Item = usize> + 'a {
    (0..table.rows())
        .filter(move |&row| table.text("event", row) == Some("sent") && table.text("place", row) == Some(place))
}

/// With independent losses CCID 2 has TCP's throughput. RFC 5348's equation holds within a fifth, as it
/// does for TCP itself: it knows no whole packets. Without timeouts a window W that meets losses with
/// probability p has W · √p = 1.31 in the mean over time (Ott, Kemperman, Mathis 1996, "The stationary
/// behavior of ideal TCP congestion avoidance"). Halves that are rounded down, and a round trip without growth
/// after each, cost a packet or two of W: a twentieth of the 41 packets at 0.1 %.
#[test]
fn independent_losses_give_the_rate_of_tcp() {
    for loss in [0.001, 0.003, 0.01, 0.03] {
        let results = over("1 Gbit/s", 400, &format!(", loss.bernoulli.p = {loss}"), FLOW);
        let rate = flow(&results, "received_bytes") / 400.0 / (1.0 - loss);
        let expected = equation::throughput(1448.0, 0.1, loss, 0.4);
        assert!((rate / expected - 1.0).abs() < 0.2, "at {loss}: {rate} B/s, not {expected}");
        let constant = rate * 0.1 / 1448.0 * libm::sqrt(loss);
        let least = if loss <= 0.001 { 0.9 * 1.31 } else { 0.0 };
        assert!((least..1.31).contains(&constant), "at {loss}: W · √p is {constant}");
    }
}

/// Beside TCP with SACK on a full queue, flows of CCID 2 get about the same (RFC 4341 §3.1). TCP
/// acknowledges each second segment, as CCID 2 with its usual Ack Ratio does (§6). Flows start at
/// times of their own in each run.
#[test]
fn flows_share_with_tcp() {
    for pairs in [1, 4] {
        let runs = 6;
        let mean = (0..runs).map(|n| share(pairs, n)).sum::<f64>() / f64::from(runs);
        assert!((0.7..1.4).contains(&mean), "{pairs} pairs: CCID 2 has {mean} times TCP's goodput");
    }
}

/// What the flows of CCID 2 receive over what those of TCP do.
fn share(pairs: u32, run_number: u32) -> f64 {
    let mut text = "duration = '300 s'
        link = [{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '30 ms', queue.droptail.limit = '50 packets' }]\n"
        .to_owned();
    let sack = "{ tcp = { variant = 'sack', segment = '1448 B', ack.every = 2 } }";
    for n in 0..pairs {
        for (kind, transport, prime) in [("dccp", "{ dccp.ccid = 2 }", 1_709), ("tcp", sack, 2_741)] {
            let start = (run_number * 977 + n * 613) * prime % 5_000;
            text += &format!(
                "[[flow]]\nname = '{kind} {n}'\nfrom = 'a'\nto = 'b'\ntransport = {transport}\nstart = '{start} ms'\n"
            );
        }
    }
    let results = run(&text);
    let flows = results.table("flows").unwrap();
    let received = |kind: &str| -> f64 {
        (0..flows.rows())
            .filter(|&row| flows.text("flow", row).is_some_and(|name| name.starts_with(kind)))
            .map(|row| flows.number("received_bytes", row).unwrap())
            .sum()
    };
    received("dccp") / received("tcp")
}

/// RFC 4341 §5: losses of one window halve it once, later ones again; and nothing is sent twice.
#[test]
fn a_window_is_halved_once_and_nothing_is_sent_again() {
    for (drops, cuts) in [
        ("[100]", 1.0),
        ("[100, 101, 102]", 1.0),
        ("[100, 110, 130]", 1.0),
        ("[100, 400]", 2.0),
        ("[100, 400, 401, 900]", 3.0),
    ] {
        let results = over("1 Gbit/s", 10, &format!(", loss.list.drop = {drops}"), FLOW);
        let lost = drops.split(',').count() as f64;
        assert_eq!(flow(&results, "window_cuts"), cuts, "{drops}");
        assert_eq!(flow(&results, "timeouts"), 0.0, "{drops}");
        for end in ["sender", "receiver"] {
            assert_eq!(state(&results, end, "lost_packets"), lost, "{drops} at the {end}");
        }
        let packets = results.table("packets").unwrap();
        let numbers: Vec<f64> = sent(packets, "a").map(|row| packets.number("seq", row).unwrap()).collect();
        assert!((0..).zip(&numbers).all(|(n, seq)| f64::from(n) == *seq), "each number once, in order");
        // Losses are not repaired: the receiver has gaps.
        let received = flow(&results, "received_packets");
        let under_way = flow(&results, "sent_packets") - received - lost;
        assert!(under_way <= state(&results, "sender", "in_flight_packets"), "{drops}");
    }
}

/// RFC 6298 §5.5: without acknowledgements a packet leaves after each timeout, and the time doubles up to
/// 60 s.
#[test]
fn timeouts_double() {
    let change = "change = [{ at = '5 s', link = 'l', up = false }]";
    let results = over("10 Mbit/s", 100, "", &format!("{FLOW}\n{change}"));
    let packets = results.table("packets").unwrap();
    let times: Vec<f64> = sent(packets, "a").map(|row| packets.number("time_s", row).unwrap()).collect();
    let after: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.2).collect();
    // The first counts from the last acknowledgement, which let the last packet leave.
    assert!(after.len() >= 7, "{after:?}");
    for pair in after[..7].windows(2) {
        assert!((pair[1] / pair[0] - 2.0).abs() < 1e-3, "{after:?}");
    }
    assert!(after.iter().all(|gap| *gap <= 60.0 + 1e-9), "{after:?}");
    assert_eq!(state(&results, "sender", "cwnd_packets"), 1.0);
}

/// RFC 4341 §7: marks cut the window, at most once each, and nothing is lost.
#[test]
fn marks_are_answered_without_losses() {
    let results = over("10 Mbit/s", 200, ", queue.codel = { ecn = true, limit = '500 packets' }", FLOW);
    let marks = results.table("links").unwrap().number("marks", 0).unwrap();
    let cuts = flow(&results, "window_cuts");
    assert!((10.0..=marks).contains(&cuts), "{marks} marks, {cuts} cuts");
    assert_eq!((flow(&results, "dropped_packets"), flow(&results, "timeouts")), (0.0, 0.0));
    assert_eq!(state(&results, "sender", "lost_packets"), 0.0);
    assert!(flow(&results, "goodput_kbps") > 0.75 * 1448.0 / 1484.0 * 10e3, "{}", flow(&results, "goodput_kbps"));
}

/// RFC 4341 §6.1 and Appendix A: acknowledgements that are lost make the Ack Ratio rise until the number
/// per round trip is the one that TCP would send there, √(3/2) / √q. "Roughly", the RFC says: the ratio is
/// whole, changes by feature negotiation, and falls by rounds of R² - R; here, by a factor of 2.
#[test]
fn lost_acknowledgements_raise_the_ack_ratio() {
    let queue = ", queue.droptail.limit = '50 packets'";
    let results = over("10 Mbit/s", 200, queue, FLOW);
    let usual = flow(&results, "received_packets") / state(&results, "receiver", "acks");
    assert_eq!(state(&results, "sender", "ack_ratio"), 2.0);
    assert!((1.95..=2.0).contains(&usual), "{usual} packets for each acknowledgement");
    for loss in [0.01, 0.03, 0.05] {
        let results = over("10 Mbit/s", 200, &format!("{queue}, reverse.loss.bernoulli.p = {loss}"), FLOW);
        let rounds = 200.0 / (flow(&results, "rtt_ms_p50") / 1e3);
        let acks = state(&results, "receiver", "acks") / rounds;
        let friendly = libm::sqrt(1.5 / loss);
        assert!((0.5..2.0).contains(&(acks / friendly)), "at {loss}: {acks} in a round trip, not {friendly}");
        let lost = state(&results, "sender", "lost_acks") / state(&results, "receiver", "acks");
        assert!((lost / loss - 1.0).abs() < 0.3, "at {loss}: {lost} of them lost");
        // Data still use most of the link.
        assert!(flow(&results, "goodput_kbps") > 8_000.0, "at {loss}");
    }
}

/// RFC 4341 §6.2: acknowledgements of acknowledgements keep the vectors short. The oldest packet in one was
/// sent before the last acknowledgement that was acknowledged, once for each window, with a round trip
/// until that is known: three windows at most. Of 1.31 / √p packets each, a share p is lost, and
/// a gap costs 2 B.
#[test]
fn ack_vectors_stay_short() {
    let results = over("1 Gbit/s", 400, ", loss.bernoulli.p = 0.01", FLOW);
    let mean = state(&results, "receiver", "ack_vector_bytes") / state(&results, "receiver", "acks");
    assert!((3.0..3.0 + 2.0 * 3.0 * 1.31 * 0.1).contains(&mean), "{mean} B");
    assert_eq!(state(&results, "receiver", "cut_ack_vectors"), 0.0);
    // Sizes: IPv4 20 B, DCCP 24 B, the option and padding.
    let results = over("10 Mbit/s", 1, "", FLOW);
    let packets = results.table("packets").unwrap();
    let acks = sent(packets, "b").map(|row| packets.number("size_bytes", row).unwrap());
    assert!(acks.into_iter().all(|size| size == 48.0));
}

/// A file ends when its last packet is received, whatever was lost before; and without it when the
/// timer says so.
#[test]
fn a_file_ends_with_its_last_packet() {
    // 69 full packets and one of 88 B.
    for (loss, lost) in [("", 0.0), (", loss.list.drop = [3, 20]", 2.0), (", loss.list.drop = [69]", 0.0)] {
        let source = FLOW.replace(" }]", ", source.file.size = '100 kB' }]");
        let results = over("10 Mbit/s", 100, loss, &source);
        let transfers = results.table("transfers").unwrap();
        assert!(transfers.number("duration_s", 0).is_some_and(|s| s < 5.0), "{loss}");
        assert!(transfers.number("acked_s", 0).is_some(), "{loss}");
        assert_eq!(state(&results, "receiver", "lost_packets"), lost, "{loss}");
        assert_eq!(flow(&results, "sent_packets"), 70.0);
        assert_eq!(state(&results, "sender", "in_flight_packets"), 0.0, "{loss}");
    }
}

/// A source slower than the network is not slowed down, and one that is faster loses its oldest
/// datagrams in front of the network.
#[test]
fn datagrams_keep_to_the_window() {
    let with = |rate: &str| {
        let source = FLOW.replace(" }]", &format!(", source.cbr = {{ rate = '{rate}', size = '960 B' }} }}]"));
        over("1 Mbit/s", 60, ", queue.droptail.limit = '20 packets'", &source)
    };
    let slow = with("200 kbit/s");
    assert!(flow(&slow, "goodput_kbps") > 0.99 * 200.0);
    assert_eq!((flow(&slow, "dropped_packets"), flow(&slow, "timeouts")), (0.0, 0.0));
    // 2.6 packets for each round trip: the window does not grow beyond its use.
    assert!(state(&slow, "sender", "cwnd_packets") <= 6.0);
    let fast = with("5 Mbit/s");
    assert!(state(&fast, "sender", "dropped_writes") > 10_000.0);
    assert!(flow(&fast, "goodput_kbps") < 1000.0 && flow(&fast, "loss_pct") < 5.0);
}

/// RFC 4342 §8.6: with a loss after each 100 packets the intervals reported to CCID 3's sender are
/// of 100 packets, and its loss event rate is 0.01, also if reports are lost.
#[test]
fn the_sender_of_ccid_3_computes_the_loss_event_rate() {
    let drops: Vec<String> = (1..400).map(|n| (n * 100).to_string()).collect();
    for reverse in [0.0, 0.3] {
        let loss = format!(", loss.list.drop = [{}], reverse.loss.bernoulli.p = {reverse}", drops.join(", "));
        let results = over("1 Gbit/s", 120, &loss, "flow = [{ from = 'a', to = 'b', transport = 'dccp' }]");
        assert!(state(&results, "receiver", "loss_events") > 50.0);
        let rate = state(&results, "sender", "loss_event_rate");
        assert!((rate - 0.01).abs() < 1e-9, "{rate} with {reverse} of the reports lost");
    }
}
