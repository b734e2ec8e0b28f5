//! Does a Node B of MBMS do what its model says: copies for each link, attempts and their residual, a FIFO that grows as it must,
//! one bearer for many, packets requested again, and the answers to requests?

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::common::scenario::{column, rows, run, scenario, watched};
use lasthop_core::engine::{Duration, Instant};
use lasthop_core::measure::table::Table;
use lasthop_core::net::{
    Action, Answer, Cause, Command, Endpoint, FlowId, NodeId, Notice, Observation, Observer, Order, Packet, Place,
    Port, Probe, Rejections, Timed,
};
use lasthop_core::scenario::builder::build;
use lasthop_core::scenario::session::Results;
use lasthop_core::scenario::{check, read};

/// Datagrams of 1000 bytes on the wire are written with 972, and an IP and a UDP header.
const SIZE: &str = "size = \"972 B\"";

/// A server behind a wire without delay, and a Node B with these lines; then more.
fn node_b(duration: &str, lines: &str, more: &str) -> String {
    format!(
        "duration = \"{duration}\"\n[[link]]\nname = \"wire\"\nbetween = [\"server\", \"rnc\"]\nrate = \"10 Gbit/s\"\n\
         delay = \"0 s\"\nqueue.droptail.limit = \"10000 packets\"\n\
         [[mbms]]\nname = \"cell\"\nrnc = \"rnc\"\n{lines}\n{more}\n"
    )
}

/// A group of the terminals of `cell`, and datagrams for it.
fn to_group(ues: u32, source: &str) -> String {
    let members: Vec<String> = (0..ues).map(|n| format!("\"cell.ue[{n}]\"")).collect();
    format!(
        "[[group]]\nname = \"all\"\nmembers = [{}]\n[[flow]]\nname = \"tv\"\nfrom = \"server\"\nto = \"all\"\n\
         transport = \"udp\"\nsource.{source}\n",
        members.join(", ")
    )
}

/// The sum of a column over the rows whose name begins like this.
fn sum(results: &Results, table: &str, name: &str, of: &str) -> f64 {
    let table = results.table(table).unwrap();
    let named = |row: &usize| table.text(first_column(table), *row).is_some_and(|text| text.starts_with(name));
    (0..table.rows()).filter(named).filter_map(|row| table.number(of, row)).sum()
}

fn first_column(table: &Table) -> &'static str {
    table.columns[0].0
}

fn cell(results: &Results, quantity: &str) -> f64 {
    column(results, "cells", quantity)[0]
}

/// How many packets a place dropped for a cause.
fn dropped(results: &Results, place: &str, cause: &str) -> f64 {
    let table = results.table("drops").unwrap();
    rows(table, &[("place", place), ("cause", cause)]).iter().filter_map(|row| table.number("packets", *row)).sum()
}

/// The network of Alexiou, Bouras and Papazois: 3 SGSNs, 20 RNCs (7, 7 and 6), 80 Node Bs (4 for each RNC), 100 terminals (number k
/// at Node B k modulo 80), and a server that sends 5 packets to each.
fn core_network(lines: &str, unicast: bool) -> String {
    let mut text = "duration = \"6 s\"\n".to_owned();
    let mut link = |name: String, from: String, to: String| {
        let _ = writeln!(
            text,
            "[[link]]\nname = \"{name}\"\nbetween = [\"{from}\", \"{to}\"]\nrate = \"622 Mbit/s\"\ndelay = \"1 ms\""
        );
    };
    for sgsn in 0..3 {
        link(format!("gn {sgsn}"), "ggsn".to_owned(), format!("sgsn {sgsn}"));
    }
    for rnc in 0..20 {
        link(format!("iu {rnc}"), format!("sgsn {}", (rnc / 7).min(2)), format!("rnc {rnc}"));
    }
    let mut terminals = Vec::new();
    for cell in 0..80 {
        let ues = 1 + usize::from(cell < 20);
        let _ = writeln!(text, "[[mbms]]\nname = \"cell {cell}\"\nrnc = \"rnc {}\"\nues = {ues}\n{lines}", cell / 4);
        terminals.extend((0..ues).map(|ue| format!("\"cell {cell}.ue[{ue}]\"")));
    }
    let source = "transport = \"udp\"\nsource.cbr = { interval = \"1 s\", size = \"972 B\" }\nstart = \"500 ms\"";
    if unicast {
        for (n, terminal) in terminals.iter().enumerate() {
            let _ = writeln!(text, "[[flow]]\nname = \"flow {n}\"\nfrom = \"ggsn\"\nto = {terminal}\n{source}");
        }
    } else {
        let members = terminals.join(", ");
        let _ = writeln!(text, "[[group]]\nname = \"all\"\nmembers = [{members}]");
        let _ = writeln!(text, "[[flow]]\nname = \"tv\"\nfrom = \"ggsn\"\nto = \"all\"\n{source}");
    }
    text
}

/// A bearer of 96 to 384 kbit/s carries 240 kbit/s on average; a packet with a shorter drawn delay overtakes nothing.
#[test]
fn rates_and_delays_that_vary() {
    let varying = "varying = { slowest = \"96 kbit/s\", longest = \"1 s\", period = \"200 ms\" }";
    let source = format!("cbr = {{ rate = \"600 kbit/s\", {SIZE} }}");
    let more = format!("{}[record]\npackets = true\n", to_group(2, &source));
    let results = run(&node_b("400 s", &format!("ues = 2\n{varying}"), &more), 1);
    let packets = results.table("packets").unwrap();
    let mut means = Vec::new();
    for ue in ["cell.ue[0]", "cell.ue[1]"] {
        let received = rows(packets, &[("event", "received"), ("place", ue)]);
        let numbers: Vec<f64> = received.iter().filter_map(|row| packets.number("seq", *row)).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{ue}: a packet overtook another");
        means.push(numbers.len() as f64 * 8.0 / 400.0);
    }
    // 2,000 draws with a standard deviation of 83 kbit/s: 1.9 kbit/s, five times that.
    assert!(means.iter().all(|mean| (mean - 240.0).abs() < 9.5), "{means:?}");
    assert_ne!(means[0], means[1], "each terminal has draws of its own");
    let fixed = run(&node_b("400 s", "ues = 2", &to_group(2, &source)), 1);
    assert!((sum(&fixed, "cells", "cell", "packets") / 2.0 * 8.0 / 400.0 - 384.0).abs() < 1.0);
}

#[test]
fn one_copy_crosses_each_link() {
    for (lines, unicast, [gn, iu, iub, radio]) in [
        ("", false, [3.0, 20.0, 80.0, 100.0]),
        ("ptm_threshold = 1", false, [3.0, 20.0, 80.0, 80.0]),
        ("ptm_threshold = 2", false, [3.0, 20.0, 80.0, 80.0]),
        ("ptm_threshold = 3", false, [3.0, 20.0, 80.0, 100.0]),
        ("ptm_threshold = 1", true, [100.0; 4]),
    ] {
        let results = run(&core_network(lines, unicast), 1);
        // A group's flow has a row for each member.
        let packets = column(&results, "flows", "sent_packets")[0];
        assert!((5.0..=6.0).contains(&packets), "{packets}");
        let of = |table, name, of| sum(&results, table, name, of) / packets;
        let got = [
            of("links", "gn", "packets"),
            of("links", "iu ", "packets"),
            of("links", "cell", "packets"),
            of("cells", "cell", "tries"),
        ];
        assert_eq!(got, [gn, iu, iub, radio], "{lines} {unicast}");
        assert_eq!(of("cells", "cell", "packets"), 100.0, "{lines} {unicast}: each terminal has each packet");
    }
}

/// A = 2, e = 0.4472: residual 0.200, 1.447 attempts on average, and the rate divided by that.
#[test]
fn attempts_leave_a_residual_and_take_time() {
    let lines = "attempts = 2\nloss.bernoulli.p = 0.4472";
    let source = format!("cbr = {{ interval = \"10 ms\", {SIZE} }}");
    let flow = format!("[[flow]]\nfrom = \"server\"\nto = \"cell.ue[0]\"\ntransport = \"udp\"\nsource.{source}");
    let results = run(&node_b("3000 s", lines, &flow), 1);
    let (came, lost) = (cell(&results, "packets"), dropped(&results, "cell.ue[0] down", "radio"));
    let n = came + lost;
    let e: f64 = 0.4472;
    let (residual, tries) = (e * e, 1.0 + e);
    let got = lost / n;
    assert!((got - residual).abs() < 5.0 * (residual * (1.0 - residual) / n).sqrt(), "residual {got}");
    assert!((residual - 0.2).abs() < 1e-4 && (tries - 1.447_f64).abs() < 1e-3);
    // The second attempt is made or not: a Bernoulli variable. One packet may still be under way.
    let got = cell(&results, "tries") / n;
    assert!((got - tries).abs() < 5.0 * (e * (1.0 - e) / n).sqrt() + 1.0 / n, "{got} attempts");
    let failed = cell(&results, "failed_tries");
    assert!((cell(&results, "tries") - came - failed).abs() < 0.5, "an attempt brings its packet or not");
    // 48 packets of 1000 bytes are 384 kbit in a second.
    let (rate, error) = (48.0 / tries, 5.0 * (e * (1.0 - e) / n).sqrt() / tries);
    let got = n / 3000.0;
    assert!((got / rate - 1.0).abs() < error + 1e-4, "{got} packets in a second, not {rate}");
    // The packets that found no room: the rest.
    assert_eq!(cell(&results, "rejected_packets"), dropped(&results, "cell.ue[0] down", "overflow"));
}

/// When each place rejected its first packet.
#[derive(Default)]
struct FirstRejections(BTreeMap<Place, Instant>);

impl Observer for FirstRejections {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Dropped { place, cause: Cause::Overflow, .. } = observation {
            self.0.entry(*place).or_insert(now);
        }
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// 48 packets in a second for a bearer of 48 attempts in a second, which needs 1.447 for each packet, or 1.224.
fn filling(residual: f64, queue: u32, duration: &str) -> String {
    let lines = format!(
        "ues = 60\nqueue = \"{queue} packets\"\nattempts = 2\nloss.schedule = {{ steps = [[\"0 s\", {residual}]], attempts = 2 }}"
    );
    let source = format!("cbr = {{ rate = \"{} bit/s\", {SIZE} }}", 48 * 8 * 972);
    node_b(duration, &lines, &to_group(60, &source))
}

#[test]
fn a_fifo_grows_by_what_its_radio_cannot_carry() {
    for residual in [0.2, 0.05] {
        let e = f64::sqrt(residual);
        let tries = 1.0 + e;
        let growth = 48.0 - 48.0 / tries;
        let results = run(&filling(residual, 1000, "5.015 s"), 1);
        let queue = sum(&results, "bearers", "cell", "queue_packets") / 60.0;
        // The packets served in 5 s are a renewal process: the variance is the number times that of the attempts, over their mean squared.
        let served = 240.0 / tries;
        let deviation = (served * e * (1.0 - e)).sqrt() / tries;
        let error = 5.0 * deviation / 60f64.sqrt() + 1.0;
        assert!(
            (queue - 5.0 * growth).abs() < error,
            "{residual}: {queue} packets wait, not {} ± {error}",
            5.0 * growth
        );
    }
}

/// A FIFO of 50 packets is full after 3.4 s with a residual loss of 20 %. With 5 % it is not in 5 s, except where luck is bad: 44
/// packets wait then on average, with a standard deviation of 4.8.
#[test]
fn a_fifo_of_50_packets_fills_in_seconds() {
    let first = |residual| {
        let (_, seen) = watched(&filling(residual, 50, "12 s"), FirstRejections::default());
        let mut times: Vec<f64> = seen.0.values().map(|at| at.as_secs_f64() - 0.015).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let times = first(0.2);
    assert_eq!(times.len(), 60);
    let mean = times.iter().sum::<f64>() / 60.0;
    // 51 more than were served have come, one of which is being sent; five standard errors (see above).
    let expected = 51.0 / (48.0 - 48.0 / (1.0 + f64::sqrt(0.2)));
    assert!((mean - expected).abs() < 5.0 * 0.25 / 60f64.sqrt(), "{mean} s, not {expected}");
    assert!((mean - 3.4).abs() < 0.2, "{mean} s");
    let early = first(0.05).iter().filter(|at| **at < 5.0).count();
    // Beyond 51: 1.5 standard deviations, a share of 0.07; three standard errors above.
    assert!(early <= 10, "{early} of 60 are full after 5 s");
}

/// How many terminals got each packet, by its number.
#[derive(Default)]
struct Receptions(BTreeMap<u64, u32>);

impl Observer for Receptions {
    fn see(&mut self, _now: Instant, observation: &Observation<'_>) {
        match observation {
            Observation::Sent { packet, .. } => {
                self.0.insert(packet.number, 0);
            }
            Observation::Received { packet, .. } => *self.0.entry(packet.number).or_default() += 1,
            _ => {}
        }
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[test]
fn over_a_shared_bearer_each_terminal_loses_by_itself() {
    let lines = "ues = 3\nptm_threshold = 3\nattempts = 2\nloss.bernoulli.p = 0.3";
    let source = format!("cbr = {{ interval = \"25 ms\", {SIZE} }}");
    let (results, seen) = watched(&node_b("1000.01 s", lines, &to_group(3, &source)), Receptions::default());
    let n = column(&results, "flows", "sent_packets")[0];
    // One attempt for all, however many a bearer of one terminal has.
    assert!(n - cell(&results, "tries") <= 2.0);
    for (heard, share) in [(0, 0.027), (1, 0.189), (2, 0.441), (3, 0.343)] {
        let got = seen.0.values().filter(|ues| **ues == heard).count() as f64 / n;
        let error = 5.0 * f64::sqrt(share * (1.0 - share) / n) + 3.0 / n;
        assert!((got - share).abs() < error, "{heard} terminals: {got}, not {share}");
    }
    let lost: f64 = (0..3).map(|ue| dropped(&results, &format!("cell.ue[{ue}] down"), "radio")).sum();
    assert_eq!(lost, cell(&results, "failed_tries"));
    let names = results.table("bearers").unwrap();
    assert_eq!(names.text("bearer", 0), Some("cell ptm flow[0]"));
}

#[test]
fn flows_of_a_terminal_share_a_bearer_or_not() {
    for (per, packets) in [("flow", 96.0), ("terminal", 48.0)] {
        let mut flows = String::new();
        for n in 0..2 {
            let _ = writeln!(
                flows,
                "[[flow]]\nname = \"{n}\"\nfrom = \"server\"\nto = \"cell.ue[0]\"\ntransport = \"udp\"\n\
                 source.cbr = {{ interval = \"10 ms\", {SIZE} }}"
            );
        }
        let results = run(&node_b("10 s", &format!("bearers = \"{per}\""), &flows), 1);
        let got = cell(&results, "packets") / 10.0;
        assert!((got - packets).abs() < 1.0, "{per}: {got} packets in a second");
    }
}

/// Arrivals of packets, in ns, by their flow.
#[derive(Default)]
struct Arrivals(Vec<(u32, u64)>);

impl Observer for Arrivals {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Received { packet, .. } = observation {
            self.0.push((packet.flow.0, now.as_nanos()));
        }
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A packet of 1000 bytes takes 800 ns on the wire, 8000 bit / 622 Mbit/s = 12 861.7 ns and 15 ms on the Iub, 50 ms for an attempt
/// at 160 kbit/s, and 20 ms over the air.
#[test]
fn what_is_rejected_is_sent_again_over_the_iub() {
    let (wire, iub, attempt, air) = (800, 12_861 + 15_000_000, 50_000_000, 20_000_000);
    for (retransmission, after) in [("", None), ("retransmission = {}", Some(100_000_000))] {
        // Two packets for one bearer: the second comes while the first is sent, and nothing may wait.
        let lines = format!(
            "rate = \"160 kbit/s\"\nqueue = \"0 packets\"\nattempts = 1\nbearers = \"terminal\"\n{retransmission}"
        );
        let source = format!("cbr = {{ interval = \"10 s\", {SIZE} }}");
        let second =
            "[[flow]]\nname = \"second\"\nfrom = \"server\"\nto = \"all\"\ntransport = \"udp\"\nstart = \"20 ms\"";
        let flows = format!("{}{second}\nsource.{source}\n", to_group(1, &source));
        let (results, seen) = watched(&node_b("1 s", &lines, &flows), Arrivals::default());
        let mut expected = vec![(0, wire + iub + attempt + air)];
        expected.extend(after.map(|after| (1, 20_000_000 + wire + iub + after + iub + attempt + air)));
        assert_eq!(seen.0, expected);
        let asked = f64::from(u8::from(after.is_some()));
        assert_eq!((cell(&results, "requests"), cell(&results, "resent_packets")), (asked, asked));
        assert_eq!(sum(&results, "links", "cell iub down", "packets"), 2.0 + asked);
        assert_eq!(dropped(&results, "cell.ue[0] down", "overflow"), 1.0);
    }
}

/// Up: 1000 bytes at 64 kbit/s are 125 ms, then 20 ms over the air, the Iub, and the wire.
#[test]
fn the_way_up_has_a_queue_a_rate_and_losses() {
    let flow = |n: u32| {
        format!(
            "[[flow]]\nname = \"{n}\"\nfrom = \"cell.ue[{n}]\"\nto = \"server\"\ntransport = \"udp\"\n\
             source.cbr = {{ interval = \"250 ms\", {SIZE} }}"
        )
    };
    let lines = "ues = 2\nuplink_loss.bernoulli.p = 1.0\nterminal = [{ ue = 0, uplink_loss = \"none\" }]";
    let (results, seen) = watched(&node_b("10 s", lines, &(flow(0) + "\n" + &flow(1))), Arrivals::default());
    assert_eq!(seen.0[0].1, 125_000_000 + 20_000_000 + 12_861 + 15_000_000 + 800);
    assert!(seen.0.len() > 35);
    assert_eq!(dropped(&results, "cell.ue[0] up", "radio"), 0.0);
    assert!(dropped(&results, "cell.ue[1] up", "radio") > 35.0);
    assert_eq!(sum(&results, "bearers", "cell.ue[1] up", "failed_tries"), dropped(&results, "cell.ue[1] up", "radio"));
}

#[test]
fn one_terminal_may_lose_what_others_do_not() {
    let lines = "ues = 3\nattempts = 1\nterminal = [{ ue = 1, loss.schedule.steps = [[\"5 s\", 1.0]] }]";
    let source = format!("cbr = {{ interval = \"100 ms\", {SIZE} }}");
    let results = run(&node_b("10 s", lines, &to_group(3, &source)), 1);
    let lost = [0, 1, 2].map(|ue| dropped(&results, &format!("cell.ue[{ue}] down"), "radio"));
    assert_eq!([lost[0], lost[2]], [0.0; 2]);
    assert!((49.0..=50.0).contains(&lost[1]), "{}", lost[1]);
}

/// Asks at an instant how many packets were rejected.
struct Asker {
    at: Option<Instant>,
    orders: Vec<Order>,
    answers: Vec<Answer>,
}

impl Timed for Asker {
    fn on_timeout(&mut self, _now: Instant) {
        self.at = None;
    }
    fn next_timeout(&self) -> Option<Instant> {
        self.at
    }
}

impl Endpoint for Asker {
    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _via: Port) {}
    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        if let Notice::Answer(answer) = notice {
            self.answers.push(answer);
        }
    }
    fn poll(&mut self, _now: Instant, _packet: &mut Packet) -> Option<Action> {
        if self.at.is_some() { None } else { self.orders.pop().map(Action::Order) }
    }
    fn sample(&self, probe: &mut dyn Probe) {
        for answer in &self.answers {
            if let Answer::Rejected(Rejections { count, last }) = answer {
                probe.value("rejected", *count as f64);
                probe.value("last", last.as_secs_f64());
            }
        }
    }
}

/// The answers that agents show.
#[derive(Default)]
struct Values(Vec<f64>);

impl Probe for Values {
    fn part(&mut self, _what: lasthop_core::net::What, _name: &str) {}
    fn value(&mut self, name: &'static str, value: f64) {
        self.0.extend(["rejected", "last"].contains(&name).then_some(value));
    }
    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &lasthop_core::net::Histogram) {}
}

#[test]
fn machines_at_the_rnc_hear_how_many_packets_were_rejected() {
    for lines in ["ues = 2", "ues = 2\nbearers = \"terminal\"", "ues = 2\nptm_threshold = 2"] {
        let source = format!("cbr = {{ interval = \"10 ms\", {SIZE} }}");
        let scenario = scenario(&node_b("10 s", lines, &to_group(2, &source)));
        let names = scenario.node_names();
        let mut simulation = build(&scenario, 1, None).unwrap().simulation;
        let node = |name: &str| NodeId(names.iter().position(|known| known == name).unwrap() as u32);
        let ask =
            |flow, ue| Order { toward: node(ue), over: None, command: Command::Rejections(FlowId(flow), node(ue)) };
        // The last is asked first: a flow that there is not, then the flow of two terminals.
        let orders = vec![ask(0, "cell.ue[1]"), ask(0, "cell.ue[0]"), ask(7, "cell.ue[0]")];
        let at = Some(Instant::from_secs_f64(9.0));
        simulation.add_agent(node("rnc"), 1, |_| Box::new(Asker { at, orders, answers: Vec::new() }));
        simulation.run_until(Instant::from_secs_f64(9.0) + Duration::from_nanos(1), u64::MAX).unwrap();
        simulation.check_conservation().unwrap();
        let drops = simulation.core().counters().drops.iter();
        let overflow: u64 = drops.filter(|((_, cause, _), _)| *cause == Cause::Overflow).map(|(_, d)| d.packets).sum();
        let each = if lines.contains("ptm") { overflow } else { overflow / 2 } as f64;
        let mut values = Values::default();
        simulation.sample_agents(&mut values);
        assert!(each > 400.0, "{lines}: {each}");
        let [none, never, first, last_first, second, last_second] = values.0[..] else { panic!("three answers") };
        assert_eq!([none, never, first, second], [0.0, 0.0, each, each], "{lines}");
        // Packets come every 10 ms, twice as fast as they leave.
        assert!([last_first, last_second].iter().all(|last| (8.97..=9.0).contains(last)), "{lines}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let flow = to_group(1, "cbr.rate = \"64 kbit/s\"");
    let reading = |lines: &str| read::toml(&node_b("1 s", lines, &flow), "test").and_then(|document| check(&document));
    assert_eq!(reading("retransmission = {}\nloss_indication.edge.hold = 2\niub.queue = \"64 kB\""), Ok(()));
    for (lines, field, message) in [
        ("rate = \"0 bit/s\"", "rate", "0 bit/s"),
        ("rate = \"1e99 bit/s\"", "rate", "1e99"),
        ("iub.rate = \"0 bit/s\"", "iub.rate", "0 bit/s"),
        ("uplink.rate = \"0 bit/s\"", "uplink.rate", "0 bit/s"),
        ("ues = 0", "ues", "a cell of 0 terminals"),
        ("ues = 4000000000", "ues", "a cell of 4000000000 terminals"),
        ("[[cell]]\nname = \"umts\"\nrnc = \"rnc\"\nues = 4000000000", "ues", "a cell of 4000000000 terminals"),
        ("[[hsdpa]]\nname = \"radio\"\nnode = \"rnc\"\nues = 4000000000", "ues", "a radio of 4000000000 terminals"),
        ("attempts = 0", "attempts", "0 attempts for each packet"),
        ("attempts = 4000000000", "attempts", "4000000000 attempts"),
        ("ptm_threshold = 0", "ptm_threshold", "a bearer for nobody"),
        ("loss_indication.edge.hold = 0", "hold", "that no packet carries"),
        ("loss_indication = \"never\"", "loss_indication", "unknown packet-loss indication"),
        ("retransmission.times = 0", "times", "0 requests"),
        ("retransmission.after = \"1 h\"", "after", "sent again after"),
        ("terminal = [{ ue = 1 }]", "ue", "there is no terminal 1 of 1"),
        ("terminal = [{ ue = 0 }, { ue = 0 }]", "ue", "named twice"),
        ("loss.redrawn = { high = 0.1, period = \"0 s\" }", "period", "draws that hold for no time"),
        ("loss.schedule = { steps = [], attempts = 0 }", "attempts", "never attempted"),
        ("terminal = [{ ue = 0, loss.redrawn = { low = 1, high = 0, period = \"1 s\" } }]", "low", "above the highest"),
    ] {
        let error = reading(lines).expect_err(lines).to_string();
        assert!(error.contains(message) && error.contains(field), "{lines}: {error}");
    }
    let twice = node_b("1 s", "", "[[mbms]]\nname = \"cell\"\nrnc = \"rnc\"") + &flow;
    let error = read::toml(&twice, "test").and_then(|document| check(&document)).unwrap_err().to_string();
    assert!(error.contains("two radios are called \"cell\""), "{error}");
    let nowhere = node_b("1 s", "", "").replace("rnc = \"rnc\"", "rnc = \"nobody\"") + &flow;
    let error = read::toml(&nowhere, "test").and_then(|document| check(&document)).unwrap_err().to_string();
    assert!(error.contains("no links lead from"), "{error}");
}
