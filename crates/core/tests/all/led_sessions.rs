//! A session that is led in steps, looked at and asked gives the results of a run in one go; and changes from outside take effect.

use std::path::Path;

use lasthop_core::engine::{BitRate, Duration, Instant, Streams};
use lasthop_core::net::simulation::{FIRST_OUTSIDE_FLOW, OUTSIDE_PORT, Progress};
use lasthop_core::net::{Address, Ecn, FlowId, Header, NodeId, Packet, Socket, UdpHeader};
use lasthop_core::scenario::change::Change;
use lasthop_core::scenario::session::{Results, Session};
use lasthop_core::scenario::types::Scenario;
use lasthop_core::scenario::{check, read};

const STEPS: usize = 1_000;

fn scenario(path: &Path) -> Scenario {
    let document = read::file(path).unwrap_or_else(|error| panic!("{error}"));
    check(&document).unwrap_or_else(|error| panic!("{error}"));
    let mut scenario = document.scenario;
    // A minute of a cell with thirty users takes its time, in an unoptimised build.
    scenario.duration = scenario.duration.min(Duration::from_secs(20));
    scenario.flow.retain(|flow| flow.start < scenario.duration);
    scenario.change.retain(|change| change.at < scenario.duration);
    scenario.record.variables = true;
    scenario.record.state = true;
    scenario.record.series.get_or_insert(Duration::from_millis(700));
    scenario
}

/// Everything that a run gives.
fn tables(results: &Results) -> String {
    results.tables.iter().map(|(name, table)| format!("{name} {table:?}\n")).collect()
}

#[test]
fn a_thousand_random_steps_give_the_bytes_of_one_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    assert!(files.len() >= 10);
    for path in files {
        let scenario = scenario(&path);
        let mut whole = Session::new(&scenario, scenario.seed, None).unwrap();
        whole.complete().unwrap();
        let mut led = Session::new(&scenario, scenario.seed, None).unwrap();
        let mut dice = Streams::new(7).stream("test", "steps");
        let names: Vec<String> = scenario.flow.iter().map(|flow| flow.label()).collect();
        for step in 0..STEPS {
            let left = led.end().since(led.now()).as_nanos() as f64 / (STEPS - step) as f64;
            let until = match step % 3 {
                // Just before or just at what happens next, or somewhere.
                0 => led.next_event().unwrap_or(led.end()),
                _ => led.now() + Duration::from_nanos((2.0 * left * dice.uniform(0.0, 1.0)) as u64),
            };
            let events = if step % 5 == 0 { 10 } else { u64::MAX };
            match led.advance_to(until, events).unwrap() {
                Progress::Reached => assert_eq!(led.now(), until.min(led.end())),
                Progress::Paused => assert!(led.now() <= until),
            }
            assert!(led.next_event().is_none_or(|next| next >= led.now()));
            led.look(&names[step % names.len()]);
        }
        led.complete().unwrap();
        let (whole, led) = (tables(&whole.finish()), tables(&led.finish()));
        assert!(whole.len() > 1_000 && whole == led, "{}", path.display());
    }
}

const LINK: &str = "
    duration = '10 s'
    nodes = ['a', 'b']
    link = [{ name = 'l', between = ['a', 'b'], rate = '1 Mbit/s', delay = '10 ms' }]
    flow = [{ name = 'f', from = 'a', to = 'b', transport.udp = {}, source.cbr = { interval = '1 ms', size = '472 B' } }]
";

fn session(text: &str) -> Session {
    let document = read::toml(text, "test").unwrap();
    check(&document).unwrap();
    Session::new(&document.scenario, 1, None).unwrap()
}

fn secs(s: f64) -> Instant {
    Instant::from_secs_f64(s)
}

/// A link of 1 Mbit/s carries 250 packets of 500 B a second, and half of them at half the rate.
#[test]
fn a_change_from_outside_is_one_of_the_scenario() {
    let received = |session: &Session| {
        let table = session.look("f");
        let is = |row: &usize| {
            (table.text("kind", *row), table.text("quantity", *row)) == (Some("receiver"), Some("received_packets"))
        };
        let row = (0..table.rows()).find(is).unwrap();
        table.number("value", row).unwrap()
    };
    let mut led = session(LINK);
    led.advance_to(secs(5.0), u64::MAX).unwrap();
    let first = received(&led);
    let change = Change { rate: Some(BitRate::from_kbps(500)), ..Change::new(Duration::ZERO, "l") };
    led.change(&change).unwrap();
    led.complete().unwrap();
    let rest = received(&led) - first;
    assert!((first - 5.0 * 250.0).abs() < 10.0 && (rest - 5.0 * 125.0).abs() < 10.0, "{first}, {rest}");

    let mut run = session(&format!("{LINK}\nchange = [{{ at = '5 s', link = 'l', rate = '500 kbit/s' }}]"));
    run.complete().unwrap();
    assert_eq!(tables(&led.finish()), tables(&run.finish()));
}

#[test]
fn the_clock_never_goes_back() {
    let mut led = session(LINK);
    led.advance_to(secs(5.0), u64::MAX).unwrap();
    led.advance_to(secs(3.0), u64::MAX).unwrap();
    assert_eq!(led.now(), secs(5.0));
    let mut run = session(LINK);
    led.complete().unwrap();
    run.complete().unwrap();
    assert_eq!(tables(&led.finish()), tables(&run.finish()));
}

#[test]
fn a_change_that_makes_no_sense_is_refused_and_changes_nothing() {
    let mut led = session(LINK);
    let refused = |led: &mut Session, change: &Change| led.change(change).unwrap_err();
    let nowhere = refused(&mut led, &Change { up: Some(false), ..Change::new(Duration::ZERO, "m") });
    assert_eq!(
        (nowhere.message.as_str(), nowhere.expected.as_str()),
        ("there is no link or terminal \"m\"", "known: l")
    );
    let nothing = refused(&mut led, &Change::new(Duration::ZERO, "l"));
    assert_eq!(nothing.message, "the change of \"l\" changes nothing");
    let ramp = Change { ramp: Duration::from_secs(1), up: Some(true), ..Change::new(Duration::ZERO, "l") };
    assert_eq!(refused(&mut led, &ramp).field, "ramp");
    let mut run = session(LINK);
    led.complete().unwrap();
    run.complete().unwrap();
    assert_eq!(tables(&led.finish()), tables(&run.finish()));
}

#[test]
fn a_packet_to_a_node_that_hands_out_comes_back_when_it_arrives() {
    let mut led = session(&LINK.replace("1 ms", "9 s"));
    let [a, b] = [NodeId(0), NodeId(1)];
    led.hand_out_at(&[b]);
    led.advance_to(secs(1.0), u64::MAX).unwrap();
    let packet = |from: NodeId, to: NodeId| Packet {
        from: Socket { node: from, port: 77 },
        to: Address::Node(to),
        to_port: OUTSIDE_PORT,
        size: 1_000,
        flow: FIRST_OUTSIDE_FLOW,
        number: 5,
        header: Header::Opaque,
        ..Packet::vacant()
    };
    led.inject(a, packet(a, b)).unwrap();
    let counts = |led: &Session| {
        let counters = led.simulation().core().counters();
        (counters.delivered, counters.dropped)
    };
    let mut out = Vec::new();
    led.advance_to(secs(2.0), u64::MAX).unwrap();
    led.take_handed_out(&mut out);
    // 8 ms of transmission and 10 ms of propagation.
    let come: Vec<_> = out.iter().map(|out| (out.at, out.node, out.packet.number)).collect();
    assert_eq!(come, [(secs(1.018), b, 5)]);
    // The flow's first packet came to its endpoint.
    assert_eq!(counts(&led), (2, 0));
    led.simulation().check_conservation().unwrap();
    // The other node hands nothing out.
    led.inject(b, packet(b, a)).unwrap();
    led.advance_to(secs(3.0), u64::MAX).unwrap();
    led.take_handed_out(&mut out);
    assert_eq!((out.len(), counts(&led)), (1, (2, 1)));
}

#[test]
fn a_packet_from_outside_crosses_the_network_like_any_other() {
    let mut led = session(&LINK.replace("1 ms", "9 s"));
    led.advance_to(secs(1.0), u64::MAX).unwrap();
    let [a, b] = [NodeId(0), NodeId(1)];
    let packet = |to: NodeId, flow: FlowId| Packet {
        from: Socket { node: a, port: 77 },
        to: Address::Node(to),
        to_port: 78,
        dscp: 0,
        ecn: Ecn::NotEct,
        size: 1_000,
        flow,
        connection: 0,
        number: 0,
        header: Header::Udp(UdpHeader::default()),
    };
    led.inject(a, packet(b, FlowId::NONE)).unwrap();
    // 8 ms of transmission and 10 ms of propagation: then it is at a port without a listener.
    led.advance_to(secs(1.018), u64::MAX).unwrap();
    let dropped = |led: &Session| led.simulation().core().counters().dropped;
    assert_eq!(dropped(&led), 0);
    led.advance_to(secs(1.0181), u64::MAX).unwrap();
    assert_eq!(dropped(&led), 1);
    for (packet, field) in [(packet(NodeId(2), FlowId::NONE), "to"), (packet(b, FlowId(9)), "flow")] {
        assert_eq!(led.inject(a, packet).unwrap_err().field, field);
    }
    assert_eq!(led.inject(NodeId(9), packet(b, FlowId::NONE)).unwrap_err().field, "from");
    led.complete().unwrap();
}
