//! XCP and EWA from end to end: do routers that say what to send keep the queue short and the
//! link full, is the link shared equally, and what if they do not know what they should?

use crate::common::scenario::{column, series, watched};
use crate::common::{Event, Log};
use lasthop_core::scenario::session::Results;

const BOTTLENECK: &str = "bottleneck left>right";

/// Runs a scenario; gives its tables, and every packet that arrived or was dropped.
fn run(text: &str) -> (Results, Vec<Event>) {
    let (results, log) = watched(text, Log::default());
    (results, log.0)
}

/// A value of the table `state` of the bottleneck's forward direction.
fn state(results: &Results, quantity: &str) -> f64 {
    link_state(results, BOTTLENECK, quantity)
}

/// A value of the table `state` of a direction of a link.
fn link_state(results: &Results, name: &str, quantity: &str) -> f64 {
    crate::common::scenario::state(results, &[("name", name)], quantity)
}

/// A column of the table `flows`.
fn flows(results: &Results, name: &str) -> Vec<f64> {
    column(results, "flows", name)
}

/// The mean and the largest of the samples of the bottleneck's queue after `from` seconds, in packets.
fn queue(results: &Results, from: f64) -> (f64, f64) {
    let samples = series(results, BOTTLENECK, "queue_packets").into_iter();
    let values: Vec<f64> = samples.filter(|(at, _)| *at >= from).map(|(_, value)| value).collect();
    (values.iter().sum::<f64>() / values.len() as f64, values.iter().copied().fold(0.0, f64::max))
}

fn drops(results: &Results) -> f64 {
    column(results, "drops", "packets").into_iter().sum()
}

/// Two flows, the second 5 s later and over a path twice as long, share 4 Mbit/s.
fn dumbbell(queue: &str, tcp: &str, change: &str) -> String {
    format!(
        r#"
        duration = "40 s"
        record = {{ state = true, series = "10 ms" }}
        [[link]]
        name = "bottleneck"
        between = ["left", "right"]
        rate = "4 Mbit/s"
        delay = "40 ms"
        {queue}
        reverse.queue = "droptail"
        [[link]]
        name = "a"
        between = ["one", "left"]
        rate = "100 Mbit/s"
        delay = "5 ms"
        [[link]]
        name = "b"
        between = ["two", "left"]
        rate = "100 Mbit/s"
        delay = "50 ms"
        [[flow]]
        from = "one"
        to = "right"
        transport.tcp = {{ {tcp} }}
        [[flow]]
        from = "two"
        to = "right"
        start = "5 s"
        transport.tcp = {{ {tcp} }}
        {change}
        "#
    )
}

/// The payload received by each flow between two times, from the series.
fn received(results: &Results, from: f64, to: f64) -> Vec<f64> {
    let sum = |name: &str| {
        let samples = series(results, name, "goodput_kbps").into_iter();
        samples.filter(|(at, _)| *at > from && *at <= to).map(|(_, kbps)| kbps * 1e3 * 0.01 / 8.0).sum::<f64>()
    };
    ["one>right", "two>right"].map(sum).to_vec()
}

/// Jain's index.
fn fairness(shares: &[f64]) -> f64 {
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|s| s * s).sum::<f64>());
    sum * sum / (shares.len() as f64 * squares)
}

const XCP: &str = r#"variant = "xcp", segment = "1000 B""#;
const XCP_RATE: &str = r#"variant = "xcp", segment = "1000 B", congestion.xcp.rate_based = true"#;

/// Payload of the segments' bytes on the wire: 1000 of 1060.
const PAYLOAD_SHARE: f64 = 1000.0 / 1060.0;

#[test]
fn xcp_fills_the_link_shares_it_equally_and_keeps_the_queue_short() {
    for tcp in [XCP, XCP_RATE] {
        let (results, _) = run(&dumbbell("queue.xcp.limit = \"50 packets\"", tcp, ""));
        assert_eq!(drops(&results), 0.0, "{tcp}");
        let shares = received(&results, 20.0, 40.0);
        let used = shares.iter().sum::<f64>() / (20.0 * 500_000.0 * PAYLOAD_SHARE);
        // Katabi, Handley, Rohrs 2002 §5: close to full use, queues of a few packets, and equal
        // shares whatever the round-trip times.
        assert!(used > 0.95, "{tcp}: {used}");
        assert!(fairness(&shares) > 0.98, "{tcp}: {shares:?}");
        let (mean, _) = queue(&results, 10.0);
        assert!(mean < 5.0, "{tcp}: {mean}");
        assert_eq!(flows(&results, "timeouts"), [0.0, 0.0], "{tcp}");
    }
}

#[test]
fn xcp_fills_the_link_beside_a_flow_of_small_packets() {
    // The second flow sends 300 kbit/s in packets of 100 B, with headers of 60 B: 480 kbit/s on the wire. The first gets the rest, as beside
    // the same data in full segments (Katabi, Handley, Rohrs 2002 §5: close to full use).
    let of = |size: u32| {
        let text = dumbbell("queue.xcp.limit = \"50 packets\"", XCP, "");
        let second = text.rfind("transport.tcp").unwrap();
        let source = format!("source.cbr = {{ rate = \"300 kbit/s\", size = \"{size} B\" }}\n");
        let (results, _) = run(&format!("{}{source}{}", &text[..second], &text[second..]));
        let wire = 300e3 / 8.0 * f64::from(size + 60) / f64::from(size);
        (wire, received(&results, 20.0, 40.0)[0] / (20.0 * (500_000.0 - wire) * PAYLOAD_SHARE))
    };
    for size in [1000, 100] {
        let (wire, used) = of(size);
        assert!(used > 0.97, "packets of {size} B, {wire} B/s of them: {used} of the rest");
    }
}

#[test]
fn xcp_fills_a_shared_channel() {
    // Such a medium never says its rate anew. A lone mobile has the channel for itself; TCP shows how much that is.
    let text = |queue: &str, variant: &str| {
        format!(
            "duration = \"20 s\"\n[[hsdpa]]\nname = \"cell\"\nnode = \"rnc\"\nues = 1\nqueue = {queue}\n\
             [[link]]\nname = \"wire\"\nbetween = [\"server\", \"rnc\"]\nrate = \"100 Mbit/s\"\ndelay = \"10 ms\"\n\
             [[flow]]\nfrom = \"server\"\nto = \"cell.ue[0]\"\ntransport.tcp.variant = \"{variant}\"\n"
        )
    };
    let full = flows(&run(&text("\"droptail\"", "sack")).0, "goodput_kbps")[0];
    for capacity in ["oracle", "measured"] {
        let goodput =
            flows(&run(&text(&format!("{{ xcp = {{ capacity = \"{capacity}\" }} }}"), "xcp")).0, "goodput_kbps")[0];
        assert!(goodput > 0.8 * full, "{capacity}: {goodput} of {full} kbit/s");
    }
}

/// Runs a flow over one link of 100 kB/s with a router of XCP.
fn one_link(queue: &str, flow: &str, changes: &str) -> Results {
    let (results, _) = run(&format!(
        "duration = '10 s'
        record.state = true
        link = [{{
            name = 'l', between = ['a', 'b'], rate = '800 kbit/s', delay = '10 ms', queue.xcp = {{ {queue} }},
            reverse.queue = 'droptail',
        }}]
        flow = [{{ from = 'a', to = 'b', {flow} }}]
        change = [{changes}]"
    ));
    results
}

/// The link is full. A change that leaves its rate as it is interrupts a packet a few microseconds after it has begun: the measured
/// capacity stays what it is.
#[test]
fn an_interrupted_packet_measures_nothing() {
    for how in ["", ", queue = 'empty'", ", queue = 'forward'", ", in_flight = 'lose'", ", overlap = '30 ms'"] {
        let results = one_link(
            "limit = '50 packets', capacity = 'measured'",
            "transport = 'udp', source.cbr = { rate = '1600 kbit/s', size = '972 B' }",
            &format!("{{ at = '9.00001 s', link = 'l', rate = '800 kbit/s'{how} }}"),
        );
        let capacity = link_state(&results, "l a>b", "capacity_bytes_per_s");
        assert!((capacity - 100e3).abs() < 1e3, "{how}: {capacity} B/s");
    }
}

/// What a handover drops gets no feedback.
#[test]
fn packets_of_an_emptied_queue_are_not_decided() {
    let results = one_link(
        "limit = '64 packets'",
        "transport.tcp.variant = 'xcp'",
        "{ at = '5 s', link = 'l', rate = '80 kbit/s' }, { at = '5.3 s', link = 'l', rate = '80 kbit/s', queue = 'empty' }",
    );
    assert!(column(&results, "drops", "packets").iter().sum::<f64>() > 0.0);
    // Packets of the handshake have no header, and all others were sent.
    let [decided, sent] = ["decided_packets", "packets"].map(|quantity| link_state(&results, "l a>b", quantity));
    assert!(decided > 100.0 && decided < sent, "{decided} decided, {sent} sent");
}

#[test]
fn the_router_counts_its_work() {
    let (results, _) = run(&dumbbell("queue = \"xcp\"", XCP, ""));
    assert_eq!(state(&results, "additions_in"), 3.0);
    assert_eq!(state(&results, "multiplications_in"), 1.0);
    assert_eq!(state(&results, "additions_out"), 3.0);
    assert_eq!(state(&results, "multiplications_out"), 2.0);
    // With the paper's header the router has to compute x itself, from round-trip time, size and window.
    assert_eq!(state(&results, "window_header_additions_in"), 3.0);
    assert_eq!(state(&results, "window_header_multiplications_in"), 3.0);
    assert_eq!(state(&results, "window_header_additions_out"), 3.0);
    assert_eq!(state(&results, "window_header_multiplications_out"), 4.0);
    assert!(state(&results, "state_bytes") < 512.0, "nothing of it grows with the flows");
}

#[test]
fn a_router_that_does_not_know_its_link_became_slower_fills_its_queue() {
    // 4 Mbit/s become 400 kbit/s. In equilibrium a router that still believes in the old rate
    // keeps Q = α(C − y)·d/β waiting: with d of at least 0.09 s, 71 kB, more than 50 packets.
    let change = "[[change]]\nat = \"15 s\"\nlink = \"bottleneck\"\nrate = \"400 kbit/s\"";
    let of = |capacity: &str| {
        let queue = format!("queue.xcp = {{ limit = \"50 packets\", capacity = {capacity} }}");
        let (results, _) = run(&dumbbell(&queue, XCP, change));
        let (mean, _) = self::queue(&results, 30.0);
        (drops(&results), mean, state(&results, "capacity_bytes_per_s"))
    };
    let [oracle, late, measured, stale] =
        [r#""oracle""#, r#"{ delayed = "1 s" }"#, r#""measured""#, r#""stale""#].map(of);
    assert_eq!([oracle.2, late.2, stale.2], [50_000.0, 50_000.0, 500_000.0]);
    assert!((measured.2 / 50_000.0 - 1.0).abs() < 0.01, "{measured:?}");
    for (name, settled) in [("oracle", oracle), ("late", late), ("measured", measured)] {
        assert!(settled.1 < 10.0, "{name}: {settled:?}");
    }
    assert!(stale.0 > 100.0 && stale.1 > 20.0, "{stale:?}");
    assert!(oracle.0 <= late.0 && late.0 < stale.0, "{oracle:?} {late:?} {stale:?}");
}

#[test]
fn xcp_and_tcp_in_queues_of_their_own_have_half_the_link_each() {
    let text = dumbbell("queue.xcp = { share = true, limit = \"50 packets\" }", XCP, "");
    let second = text.rfind(XCP).unwrap();
    let text = format!(
        "{}variant = \"newreno\", segment = \"1000 B\", header = \"60 B\"{}",
        &text[..second],
        &text[second + XCP.len()..]
    );
    let (results, _) = run(&text);
    let shares = received(&results, 20.0, 40.0);
    let half = 20.0 * 250_000.0 * PAYLOAD_SHARE;
    for share in &shares {
        assert!((share / half - 1.0).abs() < 0.05, "{shares:?} of {half}");
    }
    assert!(drops(&results) > 0.0, "TCP probes for more");
}

#[test]
fn a_window_that_ewa_writes_is_obeyed_by_every_sender() {
    // A buffer of 64 allows α·6 segments in flight when it is empty, and less the fuller it is.
    // α is held at 1 by steps of nothing and a factor of one.
    let queue = r#"queue.ewa = { limit = "64 packets", segment = "1000 B", increase = 0.0, decrease = 1.0 }"#;
    let variants = ["tahoe", "reno", "newreno", "sack", "fack", "vegas", "cubic"];
    let rfc = variants.map(|v| format!("variant = \"{v}\", segment = \"1000 B\""));
    let ns2 = ["tahoe", "reno", "newreno", "sack", "fack", "vegas"]
        .map(|v| format!("variant = \"{v}\", profile = \"ns2\", window = 1000"));
    for tcp in rfc.iter().chain(&ns2) {
        let (results, _) = run(&dumbbell(queue, tcp, ""));
        assert_eq!(drops(&results), 0.0, "{tcp}");
        assert!(state(&results, "acks_rewritten") > 1000.0, "{tcp}");
        let (_, most) = self::queue(&results, 1.0);
        assert!(most <= 12.0, "{tcp}: two windows of 6, but {most} wait");
        for (share, rtt) in received(&results, 20.0, 40.0).iter().zip([0.09, 0.18]) {
            // 6 segments in each round trip of at least the path's.
            let bound = 6.0 * 1000.0 * 20.0 / rtt;
            assert!(*share <= bound * 1.001 && *share >= bound * 0.9, "{tcp}: {share} of {bound}");
        }
    }
}

#[test]
fn ewa_loses_less_than_droptail_and_its_window_follows_the_buffer() {
    let sack = r#"variant = "sack", segment = "1000 B""#;
    let ewa = r#"queue.ewa = { limit = "64 packets", segment = "1000 B" }"#;
    let (with, _) = run(&dumbbell(ewa, sack, ""));
    let (without, _) = run(&dumbbell("queue.droptail.limit = \"64 packets\"", sack, ""));
    assert!(drops(&with) < drops(&without), "{} and {}", drops(&with), drops(&without));
    let used = received(&with, 20.0, 40.0).iter().sum::<f64>() / (20.0 * 500_000.0 * 1000.0 / 1040.0);
    assert!(used > 0.9, "{used}");
    let (alpha, window) = (state(&with, "alpha"), state(&with, "window_bytes"));
    assert!((1.0 / 6.0..=64.0).contains(&alpha), "{alpha}");
    assert!(window >= 1000.0 && window <= alpha * 6.0 * 1000.0 * 1.2, "{window} at {alpha}");
}

/// Two flows of the same window have the same share whichever began first and however long their
/// paths are in this respect: the window is the link's, not the flow's.
#[test]
fn ewa_gives_all_flows_the_same_window() {
    let sack = r#"variant = "sack", segment = "1000 B""#;
    let ewa = r#"queue.ewa = { limit = "64 packets", segment = "1000 B" }"#;
    let text = dumbbell(ewa, sack, "").replace("delay = \"50 ms\"", "delay = \"5 ms\"");
    let (results, _) = run(&text);
    let shares = received(&results, 20.0, 40.0);
    assert!(fairness(&shares) > 0.99, "{shares:?}");
}

#[test]
fn ewa_begins_anew_at_a_handover_or_keeps_its_factor() {
    let sack = r#"variant = "sack", segment = "1000 B""#;
    // Just before the end the rate changes; no computation follows.
    let change = "[[change]]\nat = \"39.999 s\"\nlink = \"bottleneck\"\nrate = \"3 Mbit/s\"";
    let alpha = |keep: bool| {
        let ewa = format!(r#"queue.ewa = {{ limit = "64 packets", segment = "1000 B", keep_alpha = {keep} }}"#);
        state(&run(&dumbbell(&ewa, sack, change)).0, "alpha")
    };
    assert_eq!(alpha(false), 1.0);
    assert!((alpha(true) - 1.0).abs() > 0.125, "{}", alpha(true));
}

#[test]
fn ewa_is_without_effect_if_acknowledgements_come_back_another_way() {
    // Out over the bottleneck, 10 ms instead of 200; back by `x`, 10 ms instead of 100.
    let text = |queue: &str| {
        format!(
            r#"
            duration = "30 s"
            record.state = true
            [[link]]
            name = "source"
            between = ["s", "left"]
            rate = "100 Mbit/s"
            delay = "1 ms"
            [[link]]
            name = "bottleneck"
            between = ["left", "right"]
            rate = "4 Mbit/s"
            delay = "10 ms"
            {queue}
            reverse = {{ delay = "100 ms", queue = "droptail" }}
            [[link]]
            name = "back 1"
            between = ["right", "x"]
            rate = "4 Mbit/s"
            delay = "5 ms"
            reverse.delay = "100 ms"
            [[link]]
            name = "back 2"
            between = ["x", "left"]
            rate = "4 Mbit/s"
            delay = "5 ms"
            reverse.delay = "100 ms"
            [[flow]]
            from = "s"
            to = "right"
            transport.tcp.variant = "sack"
            "#
        )
    };
    let (results, with) = run(&text(r#"queue.ewa.limit = "20 packets""#));
    let (_, without) = run(&text(r#"queue.droptail.limit = "20 packets""#));
    assert_eq!(state(&results, "acks_seen"), 0.0);
    assert!(drops(&results) > 10.0, "TCP fills the queue");
    assert!(with.len() > 5000);
    assert!(with == without, "the same packets arrive, and are dropped, at the same times");
}
