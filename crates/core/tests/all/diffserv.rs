//! Does DiffServ keep a voice flow's delay beside greedy TCP, admit up to a class's share, and find its
//! way over a handover?

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::common::scenario::rows;
use lasthop_core::measure::table::Table;
use lasthop_core::scenario::session::Results;
use lasthop_core::scenario::{check, read};

/// Two hosts s and t, an edge e, a mobile m behind 2 Mbit/s, and a broker b beside the edge.
fn network(queue: &str, rest: &str) -> String {
    let mut text = "duration = \"20 s\"\nrecord.state = true\nrecord.packets = true\n".to_owned();
    for (name, ends, delay) in [("s", "\"s\", \"e\"", 1), ("t", "\"t\", \"e\"", 1), ("b", "\"e\", \"b\"", 5)] {
        let _ = write!(
            text,
            "[[link]]\nname = \"{name}\"\nbetween = [{ends}]\nrate = \"100 Mbit/s\"\ndelay = \"{delay} ms\"\n"
        );
    }
    let _ = write!(
        text,
        "[[link]]\nname = \"radio\"\nbetween = [\"e\", \"m\"]\nrate = \"2 Mbit/s\"\ndelay = \"10 ms\"\n{queue}\n"
    );
    text + rest
}

const EDGE: &str = "queue = \"diffserv\"";

/// A voice flow: 172 B of payload, 200 B on the wire, every `interval` ms: 80 kbit/s at 20 ms.
fn voice(name: &str, interval: u32, qos: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\nfrom = \"s\"\nto = \"m\"\ntransport = \"udp\"\n\
         source.cbr = {{ interval = \"{interval} ms\", size = \"172 B\" }}\n{qos}\n"
    )
}

fn four_greedy() -> String {
    (0..4).fold(String::new(), |text, n| {
        text + &format!("[[flow]]\nname = \"tcp{n}\"\nfrom = \"t\"\nto = \"m\"\nstart = \"1 s\"\n")
    })
}

fn run(text: &str) -> Results {
    crate::common::scenario::run(text, 1)
}

/// A value of the table `state`; `name` is a flow, a direction of a link, or an agent's node.
fn state(results: &Results, kind: &str, name: &str, quantity: &str) -> f64 {
    let named = if kind == "agent" { "node" } else { "name" };
    crate::common::scenario::state(results, &[("kind", kind), (named, name)], quantity)
}

/// The times of a flow's packets by number.
fn times(table: &Table, flow: &str, event: &str) -> BTreeMap<u64, f64> {
    let row = |row| Some((table.number("number", row)? as u64, table.number("time_s", row)?));
    rows(table, &[("flow", flow), ("event", event), ("kind", "data")]).into_iter().filter_map(row).collect()
}

/// The longest delay of a flow's packets that were sent in this time, and how many of them were lost. Packets sent in the last second do
/// not count.
fn delays(results: &Results, flow: &str, from: f64, to: f64) -> (f64, usize) {
    let table = results.table("packets").unwrap();
    let (sent, received) = (times(table, flow, "sent"), times(table, flow, "received"));
    let due: Vec<_> = sent.iter().filter(|(_, at)| (from..to.min(19.0)).contains(*at)).collect();
    assert!(!due.is_empty(), "{flow} sends");
    let arrived: Vec<f64> = due.iter().filter_map(|(number, at)| Some(received.get(number)? - *at)).collect();
    (arrived.iter().fold(0.0, |longest, delay| delay.max(longest)), due.len() - arrived.len())
}

/// A flow that asks the broker for expedited forwarding.
fn asks(kbps: u32, more: &str) -> String {
    format!("qos.diffserv = {{ rate = \"{kbps} kbit/s\", burst = \"400 B\", broker = \"b\"{more} }}")
}

/// The longest delay that an admitted voice packet may have: the links' delays, its own transmission, and one
/// packet of 1500 B that the radio link was sending.
const BOUND: f64 = 0.001 + 1_600.0 / 100e6 + 0.010 + (1_600.0 + 12_000.0) / 2e6;

#[test]
fn voice_keeps_its_delay_beside_four_greedy_flows() {
    let results = run(&network(EDGE, &(voice("voice", 20, &asks(80, "")) + &four_greedy())));
    let (delay, lost) = delays(&results, "voice", 0.0, 20.0);
    assert!(delay <= BOUND + 1e-9, "{delay}");
    assert_eq!(lost, 0);
    // TCP had the rest of the link: 2 Mbit/s less 80 kbit/s, and headers.
    let flows = results.table("flows").unwrap();
    let goodput: f64 = (0..flows.rows())
        .filter(|&row| flows.text("flow", row).is_some_and(|name| name.starts_with("tcp")))
        .filter_map(|row| flows.number("goodput_kbps", row))
        .sum();
    assert!((1_600.0..1_920.0).contains(&goodput), "{goodput}");

    // The same flows through one FIFO, for comparison.
    let results = run(&network("", &(voice("voice", 20, "") + &four_greedy())));
    let (delay, lost) = delays(&results, "voice", 2.0, 20.0);
    assert!(delay > 0.1 && lost > 0, "{delay}, {lost}");
}

#[test]
fn a_set_up_takes_five_messages_and_their_way() {
    let results = run(&network(EDGE, &voice("voice", 20, &asks(80, ""))));
    // Sender's node to edge, edge to broker and back, edge to the last node, that one to the sender: messages of
    // 100 B, 8 us at 100 Mbit/s and 400 us at 2 Mbit/s.
    let way = 2.0 * (1.0 + 0.008) + 2.0 * (5.0 + 0.008) + 2.0 * (10.0 + 0.4);
    assert!((state(&results, "sender", "voice", "setup_ms") - way).abs() < 1e-6);
    let messages = ["s", "e", "b", "m"].map(|node| state(&results, "agent", node, "diffserv_setup_packets"));
    assert_eq!(messages, [1.0, 2.0, 1.0, 1.0]);
    assert_eq!(state(&results, "agent", "b", "ledger_entries"), 1.0);
    // The first packet came before the answer, and went as best effort.
    assert_eq!(state(&results, "sender", "voice", "unreserved_packets"), 2.0);
    assert_eq!(state(&results, "link", "radio e>m", "flows"), 1.0);
}

#[test]
fn what_exceeds_the_share_of_the_class_is_refused() {
    // 0.3 of 2 Mbit/s: two flows of 250 kbit/s, and not a third.
    for (on_reject, third) in [("best_effort", 1.0), ("block", 0.0)] {
        let asks = asks(250, &format!(", on_reject = \"{on_reject}\""));
        let flows: String = (0..3).map(|n| voice(&format!("f{n}"), 20, &asks)).collect();
        let results = run(&network(EDGE, &flows));
        let admitted = ["f0", "f1", "f2"].map(|flow| state(&results, "sender", flow, "admitted"));
        assert_eq!(admitted, [1.0, 1.0, 0.0]);
        assert_eq!(state(&results, "agent", "b", "ledger_entries"), 2.0);
        assert_eq!(state(&results, "link", "radio e>m", "flows"), 2.0);
        // Nothing else is on the link: as best effort all of it gets through, blocked nothing.
        let sent = state(&results, "sender", "f2", "sent_packets");
        assert_eq!(state(&results, "sender", "f2", "unreserved_packets"), third * sent);
        assert_eq!(state(&results, "sender", "f2", "blocked_packets"), (1.0 - third) * sent);
        let arrived = state(&results, "receiver", "f2", "received_packets");
        assert!((third * (sent - 1.0)..=third * sent).contains(&arrived), "{on_reject}: {arrived} of {sent}");
    }
}

#[test]
fn a_blocked_flow_asks_again_after_a_refusal() {
    // 0.3 of 384 kbit/s are too little for 250 kbit/s at 5 s; back at 2 Mbit/s from 7 s on it is admitted, 7.5 s after the refusal at the latest.
    let change = |at, rate| format!("[[change]]\nat = \"{at} s\"\nlink = \"radio\"\nrate = \"{rate} kbit/s\"\n");
    let blocks = asks(250, ", on_reject = \"block\"");
    let text = network(EDGE, &(voice("voice", 20, &blocks) + &change(5, 384) + &change(7, 2000)));
    let results = run(&text);
    assert_eq!(state(&results, "sender", "voice", "admitted"), 1.0);
    assert_eq!(state(&results, "agent", "b", "ledger_entries"), 1.0);
    let blocked = state(&results, "sender", "voice", "blocked_packets");
    // Packets of 20 ms: from the refusal some 30 ms after 5 s, for 2 s at least, to 7.5 s after it and as long as a request takes.
    assert!((100.0..=380.0).contains(&blocked), "{blocked}");
    // At a time of one's own choosing.
    let results = run(&text.replace(", on_reject", ", retry = \"100 s\", on_reject"));
    assert_eq!(state(&results, "sender", "voice", "admitted"), 0.0);
    assert_eq!(state(&results, "sender", "voice", "refusals"), 1.0);
}

#[test]
fn what_another_flow_gives_back_a_refused_flow_gets_when_it_asks_again() {
    // The file has 500 of 600 kbit/s for some 3.5 s; the voice, which asks for 250, is refused meanwhile.
    let file = "[[flow]]\nname = \"file\"\nfrom = \"t\"\nto = \"m\"\nsource.file.size = \"200 kB\"\n\
                transport.tcp.segment = \"500 B\"\nqos.diffserv = { rate = \"500 kbit/s\", burst = \"20 kB\", broker = \"b\" }\n";
    for (more, admitted) in [("", 0.0), (", retry = \"2 s\"", 1.0)] {
        let later = voice("voice", 20, &asks(250, more)) + "start = \"500 ms\"\n";
        let results = run(&network(EDGE, &(file.to_owned() + &later)));
        assert_eq!(state(&results, "link", "radio e>m", "flows"), admitted, "the file has ended");
        assert_eq!(state(&results, "sender", "voice", "admitted"), admitted);
        assert!(state(&results, "sender", "voice", "refusals") >= 1.0);
    }
}

#[test]
fn a_refused_flow_that_has_ended_asks_no_more() {
    // 0.3 of 2 Mbit/s hold no 700 kbit/s. The file's two packets are blocked in the first seconds.
    let file =
        "[[flow]]\nname = \"file\"\nfrom = \"s\"\nto = \"m\"\ntransport = \"tfrc\"\nsource.file.size = \"2 kB\"\n";
    let qos = asks(700, ", retry = \"1 s\", on_reject = \"block\"");
    let results = run(&network(EDGE, &format!("{file}{qos}\n")));
    assert_eq!(state(&results, "sender", "file", "blocked_packets"), 2.0);
    let refusals = state(&results, "sender", "file", "refusals");
    assert!((1.0..=8.0).contains(&refusals), "{refusals}");
}

#[test]
fn a_flow_above_its_promise_is_policed() {
    // 160 kbit/s sent, 80 promised with a bucket of two packets.
    let results = run(&network(EDGE, &voice("voice", 10, &asks(80, ""))));
    let dropped = state(&results, "link", "radio e>m", "exceeded_packets");
    // From the grant on every second packet: sent at 10 ms for 20 s, conditioned from some 11 ms on.
    let conditioned = 20_000.0 / 10.0 - 2.0;
    assert!((dropped - conditioned / 2.0).abs() <= 2.0, "{dropped}");
}

#[test]
fn a_handover_costs_the_profile_until_the_broker_answers() {
    // The radio link goes from 2 Mbit/s to 1 Mbit/s: 0.3 of that still hold 80 kbit/s.
    let change = "[[change]]\nat = \"10 s\"\nlink = \"radio\"\nrate = \"1 Mbit/s\"\n";
    let results = run(&network(EDGE, &(voice("voice", 20, &asks(80, "")) + &four_greedy() + change)));
    // To the broker and back, 8 us and 5 ms each; the release goes first, which takes another 8 us.
    let interruption = state(&results, "agent", "e", "diffserv_interruption_ms");
    assert!((interruption - (2.0 * 5.008 + 0.008)).abs() < 1e-6, "{interruption}");
    assert_eq!(state(&results, "agent", "e", "diffserv_handovers"), 1.0);
    // Release and request of the edge, and the flow's request that it passes on; the broker's answer; the last node's to the sender.
    let messages = ["s", "e", "b", "m"].map(|node| state(&results, "agent", node, "diffserv_handover_packets"));
    assert_eq!(messages, [0.0, 3.0, 1.0, 1.0]);
    assert_eq!(state(&results, "agent", "b", "ledger_entries"), 1.0);
    // Packets of that time wait with best effort; afterwards all is as before, at the new rate.
    let (delay, lost) = delays(&results, "voice", 10.02, 20.0);
    assert!(delay <= BOUND + (1_600.0 + 12_000.0) / 2e6 + 1e-9, "{delay}");
    assert_eq!(lost, 0);
}

#[test]
fn after_a_handover_only_what_fits_is_admitted_again() {
    // 0.3 of 384 kbit/s: 115.2 kbit/s hold the first flow of 80 kbit/s and not the second; back at 2 Mbit/s both.
    let change = |at, rate| format!("[[change]]\nat = \"{at} s\"\nlink = \"radio\"\nrate = \"{rate} kbit/s\"\n");
    let flows: String = (0..2).map(|n| voice(&format!("f{n}"), 20, &asks(80, ""))).collect();
    let down = run(&network(EDGE, &(flows.clone() + &change(10, 384))));
    assert_eq!(["f0", "f1"].map(|flow| state(&down, "sender", flow, "admitted")), [1.0, 0.0]);
    assert_eq!(state(&down, "agent", "b", "ledger_entries"), 1.0);
    let back = run(&network(EDGE, &(flows + &change(10, 384) + &change(15, 2000))));
    assert_eq!(["f0", "f1"].map(|flow| state(&back, "sender", flow, "admitted")), [1.0, 1.0]);
    assert_eq!(state(&back, "agent", "b", "ledger_entries"), 2.0);
    // f0 lost its profile twice, f1 had none the second time.
    assert_eq!(state(&back, "agent", "e", "diffserv_handovers"), 3.0);
}

/// A voice flow from s over c to a mobile m that is behind one of two access routers, which are edges. The broker is at c. At 10 s the
/// mobile goes from the first to the second, whose radio has this rate in kbit/s.
fn two_access_routers(second: u32) -> String {
    let mut text = "duration = \"20 s\"\nrecord.state = true\nrecord.packets = true\n".to_owned();
    for (name, ends, delay, rate, queue) in [
        ("wire", "\"s\", \"c\"", 1, 100_000, ""),
        ("c1", "\"c\", \"ar1\"", 1, 100_000, ""),
        ("c2", "\"c\", \"ar2\"", 1, 100_000, ""),
        ("desk", "\"c\", \"b\"", 5, 100_000, ""),
        ("radio1", "\"ar1\", \"m\"", 10, 2_000, EDGE),
        ("radio2", "\"ar2\", \"m\"", 10, second, EDGE),
    ] {
        let _ = write!(
            text,
            "[[link]]\nname = \"{name}\"\nbetween = [{ends}]\nrate = \"{rate} kbit/s\"\ndelay = \"{delay} ms\"\n{queue}\n"
        );
    }
    for (at, link, up) in [(0, "radio2", false), (10, "radio1", false), (10, "radio2", true)] {
        let _ = write!(text, "[[change]]\nat = \"{at} s\"\nlink = \"{link}\"\nup = {up}\n");
    }
    text + &voice("voice", 20, &asks(80, ""))
}

#[test]
fn behind_an_edge_of_another_node_the_flow_is_asked_for_along_the_new_way() {
    let results = run(&two_access_routers(2_000));
    assert_eq!(["ar1", "ar2"].map(|node| state(&results, "agent", node, "diffserv_flows")), [0.0, 1.0]);
    assert_eq!(state(&results, "link", "radio1 ar1>m", "flows"), 0.0);
    assert_eq!(state(&results, "link", "radio2 ar2>m", "flows"), 1.0);
    assert_eq!(state(&results, "agent", "b", "ledger_entries"), 1.0);
    assert_eq!(state(&results, "sender", "voice", "admitted"), 1.0);
    // The first edge's release over c to the broker, and its word over c to the sender. The sender's request over c to the second edge,
    // that one's to the broker over c and back, and on to m, which answers the sender.
    let messages =
        ["s", "c", "ar1", "ar2", "b", "m"].map(|node| state(&results, "agent", node, "diffserv_handover_packets"));
    assert_eq!(messages, [1.0, 1.0, 2.0, 2.0, 1.0, 1.0]);
    // Word to s and request from there, four links of 1 ms; edge to broker and back, twice 6 ms; all other packets are expedited.
    let best_effort = state(&results, "link", "radio2 ar2>m", "be_packets");
    assert!((0.0..=1.0).contains(&best_effort), "{best_effort}");

    // An edge that has not enough refuses: 0.3 of 200 kbit/s.
    let results = run(&two_access_routers(200));
    assert_eq!(state(&results, "sender", "voice", "admitted"), 0.0);
    assert_eq!(state(&results, "sender", "voice", "refusals"), 1.0);
    assert_eq!(state(&results, "agent", "b", "ledger_entries"), 0.0);
}

#[test]
fn a_sender_without_a_way_hears_of_a_handover_when_there_is_one() {
    // From 10 to 13 s no message comes to the sender. The edge's link goes down and up: the sender has to ask anew. Or it becomes slow: 30 %
    // of 200 kbit/s have no room for 80, and the flow is refused.
    for broker in ["", ", broker = \"b\""] {
        for (what, admitted, profiles) in [("up = false", 1.0, 1.0), ("rate = \"200 kbit/s\"", 0.0, 0.0)] {
            let changes = [
                ("10 s", "s", "up = false"),
                ("11 s", "radio", what),
                ("12 s", "radio", "up = true"),
                ("13 s", "s", "up = true"),
            ];
            let changes = changes.iter().fold(String::new(), |text, (at, link, what)| {
                text + &format!("[[change]]\nat = \"{at}\"\nlink = \"{link}\"\n{what}\n")
            });
            let qos = format!("qos.diffserv = {{ class = \"ef\", rate = \"80 kbit/s\"{broker} }}");
            let results = run(&network(EDGE, &(voice("v", 20, &qos) + &changes)));
            let got = (state(&results, "sender", "v", "admitted"), state(&results, "link", "radio e>m", "flows"));
            assert_eq!(got, (admitted, profiles), "{broker} {what}");
        }
    }
}

#[test]
fn a_profile_is_withdrawn_where_it_was_put() {
    // A second link from the edge to the mobile takes over while the first is down. When the voice has moved back, another flow that
    // fills the share is refused, and the second link knows no flow.
    let second = "[[link]]\nname = \"second\"\nbetween = [\"e\", \"m\"]\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"diffserv\"\n";
    let change = |at, up| format!("[[change]]\nat = \"{at} s\"\nlink = \"radio\"\nup = {up}\n");
    let there = second.to_owned() + &voice("voice", 20, &asks(80, "")) + &change(5, false);
    let flows = |text: &str| {
        let results = run(&network(EDGE, text));
        assert_eq!(state(&results, "agent", "b", "ledger_entries"), 1.0);
        ["radio e>m", "second e>m"].map(|link| state(&results, "link", link, "flows"))
    };
    assert_eq!(flows(&there), [0.0, 1.0]);
    assert_eq!(flows(&(there + &change(10, true))), [1.0, 0.0]);
}

#[test]
fn after_a_handover_all_edges_must_still_grant() {
    // Two edges, and the radio's share is too small: 0.3 of 200 kbit/s. A change of the other edge's link alters nothing.
    let text = network(EDGE, &voice("voice", 20, &asks(80, ""))).replace("2 Mbit/s", "200 kbit/s");
    let edge = "name = \"s\"\nbetween = [\"s\", \"e\"]\n";
    let text = text.replace(edge, &format!("{edge}queue = \"diffserv\"\n"));
    let change = |at, link, rate| format!("[[change]]\nat = \"{at} s\"\nlink = \"{link}\"\nrate = \"{rate} Mbit/s\"\n");
    let results = run(&(text.clone() + &change(10, "s", 90)));
    assert_eq!(state(&results, "agent", "s", "diffserv_handovers"), 1.0);
    assert_eq!(state(&results, "sender", "voice", "admitted"), 0.0);
    // The radio's edge was asked and refused twice.
    assert_eq!(state(&results, "sender", "voice", "refusals"), 2.0);
    // With a radio that has enough it is admitted.
    let results = run(&(text + &change(10, "radio", 2)));
    assert_eq!(state(&results, "sender", "voice", "admitted"), 1.0);
}

#[test]
fn an_edge_that_has_refused_counts_after_the_handover_of_another() {
    // At 5 s the first edge, with 0.3 of 200 kbit/s, refuses 80 kbit/s. At 10 s the radio's edge is asked again, and grants. From 15 s on the
    // first has enough.
    let edge = "name = \"s\"\nbetween = [\"s\", \"e\"]\n";
    let text =
        network(EDGE, &voice("voice", 20, &asks(80, ""))).replace(edge, &format!("{edge}queue = \"diffserv\"\n"));
    let change = |at, link, rate| format!("[[change]]\nat = \"{at} s\"\nlink = \"{link}\"\nrate = \"{rate} kbit/s\"\n");
    let admitted = |text: &str| state(&run(text), "sender", "voice", "admitted");
    let text = text + &change(5, "s", 200);
    assert_eq!(admitted(&text), 0.0);
    let text = text + &change(10, "radio", 1_000);
    let results = run(&text);
    assert_eq!(state(&results, "sender", "voice", "admitted"), 0.0);
    assert_eq!(["s s>e", "radio e>m"].map(|link| state(&results, "link", link, "flows")), [0.0, 1.0]);
    assert_eq!(admitted(&(text + &change(15, "s", 100_000))), 1.0);
}

/// A burst raises the average of its class; 22 s later, on an empty link, it is forgotten, though the class was not asked meanwhile.
#[test]
fn an_idle_class_forgets_its_burst() {
    let qos = "qos.diffserv = { class = \"af11\", rate = \"50 kbit/s\", burst = \"4 kB\", broker = \"b\" }";
    let flow = |name: &str, rest: &str| {
        format!("[[flow]]\nname = \"{name}\"\nfrom = \"s\"\nto = \"m\"\ntransport = \"udp\"\n{rest}\n{qos}\n")
    };
    let burst = "source.onoff = { rate = \"2200 kbit/s\", size = \"972 B\", on = \"8 s\", off = \"1000 s\", distribution = \"constant\" }";
    let later = "start = \"30 s\"\nsource.cbr = { rate = \"400 kbit/s\", size = \"972 B\" }";
    let text = network(EDGE, &(flow("burst", burst) + &flow("later", later)));
    let results = run(&text.replace("duration = \"20 s\"", "duration = \"40 s\""));
    let drops = results.table("drops").unwrap();
    assert!(!rows(drops, &[("flow", "burst"), ("cause", "early")]).is_empty());
    assert!(rows(drops, &[("flow", "later")]).is_empty());
}

#[test]
fn the_core_keeps_no_flow_and_still_prefers_the_class() {
    // The hosts' links are the edges, the radio link is core.
    let core = "queue.diffserv.edge = false";
    let text = network(core, &(voice("voice", 20, &asks(80, "")) + &four_greedy()));
    let edge = "name = \"s\"\nbetween = [\"s\", \"e\"]\n";
    let results = run(&text.replace(edge, &format!("{edge}queue = \"diffserv\"\n")));
    assert_eq!(state(&results, "link", "radio e>m", "flows"), 0.0);
    assert_eq!(state(&results, "link", "s s>e", "flows"), 1.0);
    let (delay, lost) = delays(&results, "voice", 0.0, 20.0);
    assert!(delay <= BOUND + 1e-9, "{delay}");
    assert_eq!(lost, 0);
}

#[test]
fn without_an_edge_on_the_way_nobody_can_promise_anything() {
    let results = run(&network("", &voice("voice", 20, &asks(80, ""))));
    assert_eq!(state(&results, "sender", "voice", "admitted"), 0.0);
    assert_eq!(state(&results, "sender", "voice", "refusals"), 1.0);
}

#[test]
fn a_flow_that_ends_gives_back_what_it_was_granted() {
    let file = "[[flow]]\nname = \"file\"\nfrom = \"s\"\nto = \"m\"\nsource.file.size = \"100 kB\"\n\
                qos.diffserv = { class = \"af21\", rate = \"200 kbit/s\", broker = \"b\" }\n";
    let results = run(&network(EDGE, file));
    assert!(state(&results, "link", "radio e>m", "af_packets") > 60.0);
    assert_eq!(state(&results, "agent", "b", "diffserv_granted"), 0.0, "the broker is not an edge");
    assert_eq!(state(&results, "agent", "e", "diffserv_granted"), 1.0);
    assert_eq!(state(&results, "agent", "b", "ledger_entries"), 0.0);
    assert_eq!(state(&results, "link", "radio e>m", "flows"), 0.0);
}

#[test]
fn a_lost_message_is_repeated() {
    // The link to the broker loses its first packet.
    let text = network(EDGE, &voice("voice", 20, &asks(80, "")));
    let link = "name = \"b\"\nbetween = [\"e\", \"b\"]\n";
    let results = run(&text.replace(link, &format!("{link}loss.list.drop = [0]\n")));
    let setup = state(&results, "sender", "voice", "setup_ms");
    // The edge asks again a second after it had asked; the sender repeats its request after a second too, when
    // the edge is still asking. What else is on the way takes a voice packet's time at most.
    assert!((1_032.831..1_034.0).contains(&setup), "{setup}");
}

#[test]
fn an_answer_that_takes_longer_than_a_second_counts() {
    // The broker is 550 ms away; the request is repeated at 1 s, and the answer to the first comes after 1.1 s.
    let text = network(EDGE, &voice("voice", 20, &asks(80, ""))).replace("\"5 ms\"", "\"550 ms\"");
    let results = run(&text);
    let way = 2.0 * (1.0 + 0.008) + 2.0 * (550.0 + 0.008) + 2.0 * (10.0 + 0.4);
    let setup = state(&results, "sender", "voice", "setup_ms");
    // A voice packet on the radio link may be in the way, 0.8 ms.
    assert!((way - 1e-6..way + 0.8).contains(&setup), "{setup}");
    assert_eq!(state(&results, "agent", "e", "diffserv_granted"), 1.0);
    assert_eq!(state(&results, "agent", "b", "ledger_entries"), 1.0);
}

#[test]
fn mistakes_are_named() {
    for (qos, part) in [
        ("qos.diffserv = { rate = \"80 kbit/s\", broker = \"x\" }", "there is no node \"x\""),
        ("qos.diffserv = { rate = \"80 kbit/s\", burst = \"0 B\" }", "a burst of 0 B"),
        ("qos.diffserv = { rate = \"80 kbit/s\", retry = \"1 ms\" }", "a retry of 1 ms"),
        ("qos.diffserv = { rate = \"80 kbit/s\", class = \"af12\" }", "af12"),
        ("qos = \"diffserv\"", "rate"),
    ] {
        let text = network(EDGE, &voice("voice", 20, qos));
        let error = read::toml(&text, "network.toml").and_then(|document| check(&document)).unwrap_err();
        assert!(error.to_string().contains(part), "{qos}: {error}");
    }
}
