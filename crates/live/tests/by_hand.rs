//! The loop over a clock and devices that are moved by hand: the network computes from stamps only, whatever the writes cost; packets and
//! their bytes are conserved; and a recorded run repeats to the same tables.

#[path = "common/capture.rs"]
mod capture;
mod common;
#[path = "common/hand.rs"]
mod hand;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use etherparse::PacketBuilder;
use lasthop_core::engine::{Duration, Instant};
use lasthop_core::measure::table::Table;
use lasthop_core::net::simulation::{HandedOut, OUTSIDE_PORT};
use lasthop_core::net::{Address, Ecn, FlowId, Header, NodeId, Packet, Socket};
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::types::Scenario;
use lasthop_live::bridge::{Bridge, Delivery, Host};
use lasthop_live::clock::Clock;
use lasthop_live::device::{Device, Packets, Written};
use lasthop_live::lateness::Lateness;
use lasthop_live::recording::{self, Recorder, RecordingError};
use lasthop_live::results;
use lasthop_live::snapshot::Watch;
use lasthop_live::turn::{Ended, LiveError, Turns};
use proptest::prelude::*;

use capture::{Captured, read_capture};
use common::scenario;
use hand::{Folder, Hand};

/// A slow link with a short queue, beside a simulated flow; a faster way back.
const LINK: &str = r#"
duration = "20 s"
[[link]]
name = "radio"
between = ["a", "b"]
rate = "2 Mbit/s"
delay = "20 ms"
queue.droptail.limit = "10 kB"
reverse.rate = "5 Mbit/s"
[[flow]]
from = "a"
to = "b"
transport.tcp.variant = "newreno"
start = "100 ms"
[record]
series = "100 ms"
state = true
"#;

fn hosts() -> Vec<Host> {
    common::hosts(&["a", "b"])
}

/// A datagram of this host to the other one, which carries its number.
fn datagram(host: usize, number: u32, payload: usize) -> Vec<u8> {
    let ends = [[10, 77, 0, 1], [10, 77, 0, 2]];
    let mut bytes = vec![0; payload.max(4)];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    let mut packet = Vec::new();
    PacketBuilder::ipv4(ends[host], ends[1 - host], 64).udp(5_000, 5_001).write(&mut packet, &bytes).unwrap();
    packet
}

fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[28..32].try_into().unwrap())
}

/// A packet or a cost, by number.
#[derive(Clone, Debug, PartialEq)]
struct Logged {
    at: Instant,
    host: usize,
    packet: Vec<u8>,
}

type Log = Rc<RefCell<Vec<Logged>>>;

/// A device that has packets at given times, and takes time to write.
struct Scripted {
    host: usize,
    clock: Hand,
    packets: VecDeque<(u64, Vec<u8>)>,
    costs: VecDeque<u64>,
    sent: Log,
    written: Log,
}

impl Device for Scripted {
    fn read(&mut self, packets: &mut Packets) -> io::Result<bool> {
        packets.clear();
        match self.packets.front() {
            Some((at, _)) if *at <= self.clock.0.get() => {
                let (_, packet) = self.packets.pop_front().unwrap();
                packets.add(packet.len()).copy_from_slice(&packet);
                self.sent.borrow_mut().push(Logged { at: self.clock.now(), host: self.host, packet });
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn write(&mut self, packets: &[Delivery]) -> io::Result<Written> {
        let cost = self.costs.pop_front().unwrap_or_default();
        self.clock.0.set(self.clock.0.get() + cost);
        let packet = packets[0].bytes.to_vec();
        self.written.borrow_mut().push(Logged { at: self.clock.now(), host: self.host, packet });
        Ok(Written { packets: 1, taken: true })
    }
}

/// One packet: whether host `b` sends it, how long after the one before, its payload, and what a write costs.
type Step = (bool, u64, usize, u64);

struct Run {
    ended: Ended<Scripted>,
    sent: Vec<Logged>,
    written: Vec<Logged>,
    end: Instant,
}

/// Runs the loop until everything has come, 5 s after the last packet; the sleep ends up to `oversleep` after each due instant.
fn run(
    scenario: &Scenario,
    steps: &[Step],
    oversleep: u64,
    strict: bool,
    recorder: Option<Recorder>,
) -> Result<Run, LiveError> {
    run_for(scenario, steps, oversleep, strict, recorder, false)
}

/// The same; ended `early`, it ends 50 ms after the last packet was read, with packets that have come but are not written, and others under way.
fn run_for(
    scenario: &Scenario,
    steps: &[Step],
    oversleep: u64,
    strict: bool,
    recorder: Option<Recorder>,
    early: bool,
) -> Result<Run, LiveError> {
    let clock = Hand::default();
    let (sent, written) = (Log::default(), Log::default());
    let mut devices: Vec<Scripted> = (0..2)
        .map(|host| Scripted {
            host,
            clock: clock.clone(),
            packets: VecDeque::new(),
            costs: VecDeque::new(),
            sent: Rc::clone(&sent),
            written: Rc::clone(&written),
        })
        .collect();
    let mut at = 0;
    for (number, &(back, gap, payload, cost)) in steps.iter().enumerate() {
        at += gap;
        let host = usize::from(back);
        devices[host].packets.push_back((at, datagram(host, number as u32, payload)));
        devices[1 - host].costs.push_back(cost);
    }
    let bridge = Bridge::new(scenario, 1, hosts()).unwrap();
    let mut turns = Turns::new(clock.clone(), devices, bridge, Duration::from_millis(1), strict, recorder);
    let stop = at + 5_000_000_000;
    while clock.0.get() < stop {
        turns.turn()?;
        if early && turns.devices().iter().all(|device| device.packets.is_empty()) {
            clock.0.set(clock.0.get() + 50_000_000);
            break;
        }
        let due = turns.due().map(Instant::as_nanos);
        let arrives = turns.devices().iter().filter_map(|device| device.packets.front()).map(|(at, _)| *at);
        let due = arrives.chain(due).chain([stop]).min().unwrap();
        clock.0.set(clock.0.get().max(due) + 1 + due % (oversleep + 1));
    }
    let ended = turns.end()?;
    let end = ended.bridge.now();
    let (sent, written) = (sent.take(), written.take());
    Ok(Run { ended, sent, written, end })
}

/// What the network gives when the same packets are injected at the same stamps, with nothing between.
fn injected(scenario: &Scenario, sent: &[Logged], end: Instant) -> Vec<(Instant, usize, u32)> {
    let mut session = Session::new(scenario, 1, None).unwrap();
    session.hand_out_at(&[NodeId(0), NodeId(1)]);
    for Logged { at, host, packet } in sent {
        session.advance_to(*at, u64::MAX).unwrap();
        let [from, to] = if *host == 0 { [0, 1] } else { [1, 0] };
        let injected = Packet {
            from: Socket { node: NodeId(from), port: 9 },
            to: Address::Node(NodeId(to)),
            to_port: OUTSIDE_PORT,
            dscp: 0,
            ecn: Ecn::NotEct,
            size: packet.len() as u32,
            flow: FlowId::NONE,
            connection: 0,
            number: number(packet).into(),
            header: Header::Opaque,
        };
        session.inject(NodeId(from), injected).unwrap();
    }
    session.advance_to(end, u64::MAX).unwrap();
    let mut out: Vec<HandedOut> = Vec::new();
    session.take_handed_out(&mut out);
    out.into_iter().map(|out| (out.at, out.node.0 as usize, out.packet.number as u32)).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Gaps up to 8 ms of up to 1,400 B: more and less than the link carries. Writes take up to 80 ms, most of them nothing.
    let cost = prop_oneof![4 => Just(0), 1 => 0..80_000_000u64];
    proptest::collection::vec((any::<bool>(), 0..8_000_000u64, 4..1_400usize, cost), 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn lateness_never_moves_another_packet(steps in steps(), oversleep in 0..3_000_000u64) {
        let scenario = scenario(LINK);
        let Run { ended, sent, written, end } = run(&scenario, &steps, oversleep, false, None).unwrap();
        prop_assert_eq!(sent.len(), steps.len());
        let expected = injected(&scenario, &sent, end);
        let seen: Vec<(usize, u32)> = written.iter().map(|w| (w.host, number(&w.packet))).collect();
        prop_assert_eq!(&seen, &expected.iter().map(|&(_, host, number)| (host, number)).collect::<Vec<_>>());
        // The lateness that was counted is that of writes against the instants of the network without a loop around it.
        for host in 0..2 {
            let late = written.iter().zip(&expected).filter(|(w, _)| w.host == host).map(|(w, (at, ..))| w.at.since(*at));
            let late: Vec<Duration> = late.collect();
            prop_assert_eq!(ended.lateness[host].packets(), late.len() as u64);
            prop_assert_eq!(ended.lateness[host].largest(), late.iter().copied().max().unwrap_or(Duration::ZERO));
            let over = late.iter().filter(|late| **late > Duration::from_millis(1)).count();
            prop_assert_eq!(ended.lateness[host].late(), over as u64);
        }
        // Bytes come out as they went in.
        for w in &written {
            let original = &sent.iter().find(|s| number(&s.packet) == number(&w.packet)).unwrap().packet;
            prop_assert_eq!(&w.packet, original);
        }
    }

    #[test]
    fn a_recorded_run_repeats_to_the_same_tables(steps in steps(), oversleep in 0..3_000_000u64, early: bool) {
        let folder = Folder::new();
        let scenario = scenario(LINK);
        let about = recording::about_run(&scenario, hosts());
        let recorder = Recorder::new(&folder.0, about).unwrap();
        let Run { ended, end, .. } = run_for(&scenario, &steps, oversleep, false, Some(recorder), early).unwrap();
        ended.recorder.unwrap().finish(end).unwrap();
        let again = recording::replay(&folder.0, None, None).unwrap();
        let written = |tables: &[(&'static str, Table)]| -> Vec<(&'static str, String)> {
            tables.iter().map(|(name, table)| (*name, results::csv(table))).collect()
        };
        let first = results::tables(ended.bridge, &ended.lateness).unwrap();
        prop_assert_eq!(written(&first), written(&again.tables));
    }
}

/// 300 packets of 1,000 B, 2 ms apart, from host `a`.
fn stream() -> Vec<Step> {
    vec![(false, 2_000_000, 972, 0); 300]
}

#[test]
fn a_replay_that_differs_is_seen() {
    let folder = Folder::new();
    let about = recording::about_run(&scenario(LINK), hosts());
    let recorder = Recorder::new(&folder.0, about).unwrap();
    assert!(matches!(recording::replay(&folder.0, None, None), Err(RecordingError::Unfinished)));
    let Run { ended, end, .. } = run(&scenario(LINK), &stream(), 0, false, Some(recorder)).unwrap();
    ended.recorder.unwrap().finish(end).unwrap();
    recording::replay(&folder.0, None, None).unwrap();
    // Another seed changes nothing here; another rate does.
    let file = folder.0.join("live.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let other = text.replacen("2 Mbit/s", "3 Mbit/s", 1);
    assert_ne!(text, other);
    std::fs::write(&file, other).unwrap();
    assert!(matches!(recording::replay(&folder.0, None, None), Err(RecordingError::Differs { .. })));
    // So does a capture that is cut off.
    std::fs::write(&file, text).unwrap();
    let packets = folder.0.join("packets.pcapng");
    let bytes = std::fs::read(&packets).unwrap();
    std::fs::write(&packets, &bytes[..bytes.len() / 2]).unwrap();
    assert!(recording::replay(&folder.0, None, None).is_err());
}

/// The link alone.
fn alone() -> Scenario {
    let mut scenario = scenario(LINK);
    scenario.flow.clear();
    scenario
}

#[test]
fn snapshots_say_what_a_link_carries_and_drops() {
    let mut bridge = Bridge::new(&alone(), 1, hosts()).unwrap();
    let mut watch = Watch::new(|| 0.0);
    let mut deliveries = Vec::new();
    let mut looks = Vec::new();
    // 4 Mbit/s into 2 Mbit/s.
    for n in 0..=1_000 {
        let at = Instant::ZERO + Duration::from_millis(2) * u64::from(n);
        bridge.send(0, &datagram(0, n, 972), at).unwrap();
        if watch.is_due(at) {
            looks.push(watch.look(&bridge, &[Lateness::default(), Lateness::default()], at, Duration::ZERO));
        }
    }
    bridge.take(&mut deliveries);
    let [first, look] = &looks[..] else { panic!("{looks:?}") };
    let [way] = &look.ways[..] else { panic!("{look:?}") };
    assert_eq!((first.at_s, look.at_s, way.way.as_str()), (1.0, 2.0, "radio a>b"));
    // In a second the link sends 250 packets of 8 kbit, and its queue holds ten.
    assert!((way.rate_kbps - 2_000.0).abs() <= 8.0, "{way:?}");
    assert_eq!((way.queue_packets, way.queue_bytes), (10, 10_000));
    assert!((way.queue_ms.unwrap() - 40.0).abs() < 0.2, "{way:?}");
    let dropped = way.drops["overflow"];
    assert!((249..=251).contains(&dropped), "{dropped} of 500 packets");
    assert_eq!(way.all_drops["overflow"], dropped + first.ways[0].drops["overflow"]);
    assert!((look.hosts[0].sent_kbps - 4_000.0).abs() <= 8.0);
    assert!((look.hosts[1].delivered_kbps - 2_000.0).abs() <= 8.0, "{:?}", look.hosts[1]);
}

#[test]
fn a_capture_has_drops_where_they_happened_and_a_replay_gives_the_same() {
    let folder = Folder::new();
    let recorder = Recorder::new(&folder.0, recording::about_run(&alone(), hosts())).unwrap();
    let Run { ended, end, .. } = run(&alone(), &stream(), 0, false, Some(recorder)).unwrap();
    ended.recorder.unwrap().finish(end).unwrap();
    let files = ["one.pcapng", "two.pcapng"].map(|name| folder.0.join(name));
    for file in &files {
        recording::replay(&folder.0, Some(file), None).unwrap();
    }
    assert!(std::fs::read(&files[0]).unwrap() == std::fs::read(&files[1]).unwrap());
    let (interfaces, packets) = read_capture(&files[0]);
    assert_eq!(interfaces, ["a", "b", "radio a>b"]);
    assert!(packets.is_sorted_by_key(|(_, at, ..)| *at));
    let count = |wanted: &dyn Fn(&Captured) -> bool| packets.iter().filter(|p| wanted(p)).count();
    let sent = count(&|(interface, _, inbound, _)| *interface == 0 && !inbound);
    let come = count(&|(interface, _, inbound, _)| *interface == 1 && *inbound);
    let dropped = count(&|(interface, .., comment)| *interface == 2 && comment == "dropped: overflow at radio a>b");
    assert_eq!((sent, come + dropped), (300, 300));
    assert!(dropped > 100, "{dropped}");
}

#[test]
fn packets_and_their_bytes_are_conserved_over_handovers() {
    for (in_flight, copies) in [("copy", true), ("move", false), ("forward", false), ("finish", false)] {
        let text = format!(
            r#"{LINK}
            [[change]]
            at = "300 ms"
            link = "radio"
            rate = "500 kbit/s"
            delay = "60 ms"
            in_flight = "{in_flight}"
            queue = "keep"
            [[change]]
            at = "450 ms"
            link = "radio"
            rate = "3 Mbit/s"
            delay = "10 ms"
            in_flight = "{in_flight}"
            queue = "empty"
            "#
        );
        let text = text.replace("[record]\nseries = \"100 ms\"\nstate = true\n", "");
        let Run { ended, sent, written, .. } = run(&scenario(&text), &stream(), 0, false, None).unwrap();
        let bridge = &ended.bridge;
        // The simulated flow goes on for ever: count the real packets alone.
        let flow = bridge.flows().iter().next().unwrap();
        let counts = flow.counts;
        let twice = counts.delivered + counts.dropped - counts.sent;
        assert_eq!(counts.sent, sent.len() as u64);
        assert_eq!(counts.delivered, written.len() as u64);
        assert_eq!(twice > 0, copies, "{in_flight}: {counts:?}");
        assert!(counts.dropped > 0, "{in_flight}: the queue is too short for the stream");
        assert_eq!(bridge.kept(), (0, false), "{in_flight}: all real packets have ended");
        bridge.session().simulation().check_conservation().unwrap();
    }
}

#[test]
fn a_marked_packet_leaves_with_ce_and_a_right_checksum() {
    let text = LINK.replace("queue.droptail.limit = \"10 kB\"", "queue.codel.ecn = true");
    let clock = Hand::default();
    let (sent, written) = (Log::default(), Log::default());
    let device = |host| Scripted {
        host,
        clock: clock.clone(),
        packets: VecDeque::new(),
        costs: VecDeque::new(),
        sent: Rc::clone(&sent),
        written: Rc::clone(&written),
    };
    let mut devices = vec![device(0), device(1)];
    for n in 0..600 {
        let mut packet = datagram(0, n, 972);
        lasthop_live::rewrite::write_class(&mut packet, 0, Ecn::Ect0);
        devices[0].packets.push_back((u64::from(n) * 2_000_000, packet));
    }
    let bridge = Bridge::new(&scenario(&text), 1, hosts()).unwrap();
    let mut turns = Turns::new(clock.clone(), devices, bridge, Duration::from_millis(1), false, None);
    while clock.0.get() < 3_000_000_000 {
        turns.turn().unwrap();
        clock.0.set(clock.0.get() + 100_000);
    }
    let marked: Vec<_> = written.borrow().iter().filter(|w| w.packet[1] & 0b11 == 0b11).cloned().collect();
    assert!(!marked.is_empty());
    for Logged { packet, .. } in marked {
        let header = etherparse::Ipv4Slice::from_slice(&packet).unwrap().header().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
    }
}

#[test]
fn a_strict_run_ends_at_the_first_late_packet() {
    let mut steps = stream();
    assert!(run(&scenario(LINK), &steps, 0, true, None).is_ok());
    steps[40].3 = 50_000_000;
    assert!(matches!(run(&scenario(LINK), &steps, 0, true, None), Err(LiveError::Late(..))));
    let late = run(&scenario(LINK), &steps, 0, false, None).unwrap();
    assert!(late.ended.lateness[1].late() > 0);
    assert!(!late.ended.pace.fell_behind(), "50 ms are late, not far behind");
    steps[40].3 = 500_000_000;
    assert!(run(&scenario(LINK), &steps, 0, false, None).unwrap().ended.pace.fell_behind());
}

/// A bridge that did not run reads late, and a packet's stamp does not say it.
#[test]
fn packets_that_may_have_waited_to_be_read_are_counted() {
    for (overslept, waited, strict) in [(300, 1, false), (300, 1, true), (1, 0, true)] {
        let clock = Hand::default();
        let device = |host, packets| {
            let (clock, costs, log) = (clock.clone(), VecDeque::new(), Log::default);
            Scripted { host, clock, packets, costs, sent: log(), written: log() }
        };
        let devices = vec![device(0, [(400_000_000, datagram(0, 1, 10))].into()), device(1, VecDeque::new())];
        let bridge = Bridge::new(&scenario(LINK), 1, hosts()).unwrap();
        let mut turns = Turns::new(clock.clone(), devices, bridge, Duration::from_millis(1), strict, None);
        for (at, by) in [(10, 300), (410, overslept)] {
            clock.0.set(at * 1_000_000);
            turns.overslept(Duration::from_millis(by));
            assert_eq!(turns.turn().is_err(), strict && at == 410 && waited > 0, "{at} ms");
        }
        let pace = turns.end().unwrap().pace;
        assert_eq!((pace.waited, pace.longest_wait), (waited, Duration::from_millis(300 * waited)));
    }
}

#[test]
fn packets_for_no_host_and_damaged_ones_are_counted() {
    let mut bridge = Bridge::new(&scenario(LINK), 1, hosts()).unwrap();
    let mut solicitation = Vec::new();
    let all_routers = [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
    PacketBuilder::ipv6([0; 16], all_routers, 255)
        .icmpv6(etherparse::Icmpv6Type::EchoRequest(etherparse::IcmpEchoHeader { id: 1, seq: 1 }))
        .write(&mut solicitation, &[])
        .unwrap();
    let good = datagram(0, 1, 10);
    for packet in [&solicitation[..], &good[..12], &[]] {
        bridge.send(0, packet, Instant::from_nanos(5)).unwrap();
    }
    assert_eq!((bridge.not_for_a_host(), bridge.traffic(0).sent), (3, 0));
    bridge.send(0, &good, Instant::from_nanos(5)).unwrap();
    assert_eq!((bridge.not_for_a_host(), bridge.traffic(0).sent), (3, 1));
}

#[test]
fn scenarios_that_cannot_run_live_are_refused_in_a_sentence() {
    let refused = |text: &str, hosts: Vec<Host>| match Bridge::new(&scenario(text), 1, hosts) {
        Err(refused) => refused.to_string(),
        Ok(_) => panic!("not refused"),
    };
    let mut twice = hosts();
    twice[1].addresses = twice[0].addresses.clone();
    assert_eq!(refused(LINK, twice), "hosts \"a\" and \"b\" both have 10.77.0.1");
    let mut unknown = hosts();
    unknown[1].node = "bb".to_owned();
    assert_eq!(refused(LINK, unknown), "there is no node \"bb\"; did you mean \"b\"?; the nodes are a, b");
    let ns2 = LINK.replacen("duration", "profile = \"ns2\"\nduration", 1).replace("state = true", "");
    assert_eq!(
        refused(&ns2, hosts()),
        "a live run follows the real clock; profile \"ns2\" counts packets and cannot carry real ones"
    );
    let ewa = LINK.replace("queue.droptail.limit = \"10 kB\"", "queue = \"ewa\"");
    assert_eq!(refused(&ewa, hosts()), "`ewa` changes TCP windows, which the bridge does not write into real packets");
}
