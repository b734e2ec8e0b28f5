//! Real packets to groups of a scenario: they are copied where the network copies, membership follows the hosts' kernels, and a recorded run
//! repeats.

mod common;

use etherparse::{IpNumber, PacketBuilder};
use lasthop_core::engine::Instant;
use lasthop_core::measure::table::Table;
use lasthop_core::scenario::types::Scenario;
use lasthop_live::bridge::{Bridge, Delivery, Host};
use lasthop_live::lateness::Lateness;
use lasthop_live::recording::{self, Recorder};
use lasthop_live::results;

use common::scenario;

/// Four terminals of an MBMS cell behind a wired link; two are members from the start. The radio loses nothing.
const MBMS: &str = r#"
duration = "60 s"
[[link]]
name = "iu"
between = ["server", "rnc"]
rate = "10 Mbit/s"
delay = "20 ms"
[[mbms]]
name = "cell"
rnc = "rnc"
ues = 4
[[group]]
name = "tv"
members = ["cell.ue[0]", "cell.ue[1]"]
[[group]]
name = "radio"
join = [{ at = "50 s", members = ["cell.ue[3]"] }]
"#;

/// The same with dedicated channels of UMTS.
const UMTS: &str = r#"
duration = "60 s"
[[link]]
name = "iu"
between = ["server", "rnc"]
rate = "10 Mbit/s"
delay = "20 ms"
[[cell]]
name = "cell"
rnc = "rnc"
ues = 4
[[group]]
name = "tv"
members = ["cell.ue[0:2]"]
[[group]]
name = "radio"
join = [{ at = "50 s", members = ["cell.ue[3]"] }]
"#;

fn hosts() -> Vec<Host> {
    common::hosts(&["server", "cell.ue[0]", "cell.ue[1]", "cell.ue[2]", "cell.ue[3]"])
}

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

fn datagram(host: u8, group: [u8; 4]) -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4([10, 77, 0, host + 1], group, 1).udp(5_000, 5_001).write(&mut packet, &[7; 400]).unwrap();
    packet
}

/// IGMPv3 as Linux sends it (RFC 3376 §4.2): one record, to 224.0.0.22.
fn report(host: u8, kind: u8, group: [u8; 4]) -> Vec<u8> {
    let [a, b, c, d] = group;
    let message = [0x22, 0, 0, 0, 0, 0, 0, 1, kind, 0, 0, 0, a, b, c, d];
    let mut packet = Vec::new();
    PacketBuilder::ipv4([10, 77, 0, host + 1], [224, 0, 0, 22], 1)
        .write(&mut packet, IpNumber::IGMP, &message)
        .unwrap();
    packet
}

const JOIN: u8 = 4;
const LEAVE: u8 = 3;

/// Which hosts get a packet that this host sends to a group at this time.
fn reached(bridge: &mut Bridge, host: usize, group: [u8; 4], at: u64) -> Vec<usize> {
    let packet = datagram(host as u8, group);
    bridge.send(host, &packet, ms(at)).unwrap();
    bridge.advance_to(ms(at + 900)).unwrap();
    let mut deliveries: Vec<Delivery> = Vec::new();
    bridge.take(&mut deliveries);
    assert!(deliveries.iter().all(|delivery| *delivery.bytes == *packet && delivery.at > ms(at + 20)));
    let mut reached: Vec<usize> = deliveries.iter().map(|delivery| delivery.host).collect();
    reached.sort_unstable();
    reached
}

const TV: [u8; 4] = [239, 77, 0, 1];

#[test]
fn packets_reach_the_members_and_membership_follows_the_hosts() {
    for text in [MBMS, UMTS] {
        let mut bridge = Bridge::new(&scenario(text), 1, hosts()).unwrap();
        assert_eq!(reached(&mut bridge, 0, TV, 1_000), [1, 2], "the members of the scenario");
        // A second host listens; a report for a member says nothing new.
        for host in [1, 4] {
            bridge.send(host, &report(host as u8, JOIN, TV), ms(2_000)).unwrap();
        }
        assert_eq!(reached(&mut bridge, 0, TV, 4_000), [1, 2, 4]);
        bridge.send(1, &report(1, LEAVE, TV), ms(5_000)).unwrap();
        // The last router asks for two seconds (RFC 2236 §8.8) before it stops; the host's own kernel drops packets until then.
        assert_eq!(reached(&mut bridge, 0, TV, 9_000), [2, 4]);
        // A terminal sends: the others get it, and it does not come back.
        assert_eq!(reached(&mut bridge, 4, TV, 10_000), [2]);
        // No host listens to the second group until a host does.
        assert!(reached(&mut bridge, 0, [239, 77, 0, 2], 11_000).is_empty());
        bridge.send(3, &report(3, JOIN, [239, 77, 0, 2]), ms(12_000)).unwrap();
        assert_eq!(reached(&mut bridge, 0, [239, 77, 0, 2], 14_000), [3]);
        // A group that the scenario does not have.
        let before = bridge.not_for_a_host();
        assert!(reached(&mut bridge, 0, [239, 1, 1, 1], 15_000).is_empty());
        bridge.send(3, &report(3, JOIN, [239, 1, 1, 1]), ms(16_000)).unwrap();
        assert_eq!(bridge.not_for_a_host(), before + 2);
        bridge.advance_to(ms(20_000)).unwrap();
        assert_eq!(bridge.kept(), (0, false), "every copy has ended");
        bridge.finish().unwrap();
    }
}

/// A program that listens to one sender (`IP_ADD_SOURCE_MEMBERSHIP`) leaves by blocking it, as Linux reports it (RFC 3376 §5.1): no record says that
/// it listens to none.
#[test]
fn a_host_that_listens_to_one_sender_leaves_with_it() {
    let mut bridge = Bridge::new(&scenario(MBMS), 1, hosts()).unwrap();
    let with_source = |kind: u8| {
        let mut packet = report(4, kind, TV);
        let length = packet.len() + 4;
        (packet[3], packet[20 + 11]) = (length as u8, 1);
        packet.extend([10, 77, 0, 1]);
        packet
    };
    let (allow, block) = (with_source(5), with_source(6));
    bridge.send(4, &allow, ms(1_000)).unwrap();
    assert_eq!(reached(&mut bridge, 0, TV, 3_000), [1, 2, 4]);
    bridge.send(4, &block, ms(4_000)).unwrap();
    assert_eq!(reached(&mut bridge, 0, TV, 8_000), [1, 2]);
}

/// A Node B whose queue holds one packet rejects the rest of a burst, and the RNC sends again what was rejected: its bytes are still there.
#[test]
fn an_rnc_sends_rejected_packets_again() {
    let cell = "ues = 4\nqueue = \"1 packet\"\nretransmission = { after = \"100 ms\", times = 2 }";
    let mut bridge = Bridge::new(&scenario(&MBMS.replace("ues = 4", cell)), 1, hosts()).unwrap();
    for _ in 0..5 {
        bridge.send(0, &datagram(0, TV), ms(1_000)).unwrap();
    }
    bridge.advance_to(ms(2_000)).unwrap();
    let mut deliveries = Vec::new();
    bridge.take(&mut deliveries);
    assert_eq!(deliveries.len(), bridge.traffic(1).delivered as usize + bridge.traffic(2).delivered as usize);
    // Two leave at once, one in service and one that waits; 100 ms later two more at least.
    assert!(bridge.traffic(1).delivered >= 4, "{:?}", bridge.traffic(1));
    assert_eq!(bridge.kept(), (0, false));
    bridge.finish().unwrap();
}

/// The cell, with addresses of groups.
fn addressed(groups: &str) -> Scenario {
    scenario(&format!("{MBMS}\n[live.group]\n{groups}"))
}

/// A sender's packets to two groups are one flow, the session whose layers they are for queues that tell layers apart.
#[test]
fn what_a_socket_sends_to_several_groups_is_one_flow() {
    let mut bridge = Bridge::new(&scenario(MBMS), 1, hosts()).unwrap();
    for (host, group) in [(0, TV), (0, [239, 77, 0, 2]), (1, TV)] {
        bridge.send(host, &datagram(host as u8, group), ms(1_000)).unwrap();
    }
    let sent: Vec<u64> = bridge.flows().iter().map(|flow| flow.counts.sent).collect();
    assert_eq!(sent, [2, 1]);
}

#[test]
fn groups_have_the_addresses_that_are_given() {
    let mut other = Bridge::new(&addressed("tv = \"239.9.9.9\""), 1, hosts()).unwrap();
    assert_eq!(reached(&mut other, 0, [239, 9, 9, 9], 1_000), [1, 2]);
    let twice = Bridge::new(&addressed("radio = \"239.77.0.1\""), 1, hosts()).err();
    let says = "groups \"tv\" and \"radio\" both have 239.77.0.1";
    assert_eq!(twice.map(|error| error.to_string()).as_deref(), Some(says));
}

#[test]
fn a_recorded_run_repeats_with_its_joins() {
    let folder = std::env::temp_dir().join(format!("lasthop-multicast-{}", std::process::id()));
    let scenario = addressed("tv = \"239.9.9.9\"");
    let mut recorder = Recorder::new(&folder, recording::about_run(&scenario, hosts())).unwrap();
    let mut bridge = Bridge::new(&scenario, scenario.seed, hosts()).unwrap();
    let group = [239, 9, 9, 9];
    for tick in 0..200u64 {
        let (host, packet) = match tick {
            50 => (4, report(4, JOIN, group)),
            90 => (1, report(1, LEAVE, group)),
            _ => (0, datagram(0, group)),
        };
        let at = ms(50 * tick);
        recorder.sent(host, at, &packet);
        bridge.send(host, &packet, at).unwrap();
        let mut deliveries = Vec::new();
        bridge.take(&mut deliveries);
        for Delivery { host, bytes, .. } in deliveries {
            recorder.delivered(host, at, &bytes);
        }
    }
    let end = ms(10_000);
    bridge.advance_to(end).unwrap();
    let mut deliveries = Vec::new();
    bridge.take(&mut deliveries);
    for Delivery { host, bytes, .. } in deliveries {
        recorder.delivered(host, end, &bytes);
    }
    recorder.finish(end).unwrap();
    let counts: Vec<u64> = (1..5).map(|host| bridge.traffic(host).delivered).collect();
    assert!(counts[0] < counts[1] && counts[3] > 100 && counts[2] == 0, "{counts:?}");
    let replayed = recording::replay(&folder, None, None).unwrap();
    let written = |tables: &[(&'static str, Table)]| -> Vec<(&'static str, String)> {
        tables.iter().map(|(name, table)| (*name, results::csv(table))).collect()
    };
    let first = results::tables(bridge, &vec![Lateness::default(); hosts().len()]).unwrap();
    let is_alike = |(name, _): &&(&'static str, Table)| *name != "hosts";
    let alike =
        |tables: &[(&'static str, Table)]| written(&tables.iter().filter(is_alike).cloned().collect::<Vec<_>>());
    assert_eq!(alike(&first), alike(&replayed.tables));
    // The recorded lateness is another; the packets are the same.
    let delivered = |tables: &[(&'static str, Table)]| -> Vec<u64> {
        let (_, table) = tables.iter().find(|(name, _)| *name == "hosts").unwrap();
        (1..5).map(|row| table.number("delivered_packets", row).unwrap() as u64).collect()
    };
    assert_eq!((delivered(&first), delivered(&replayed.tables)), (counts.clone(), counts));
    std::fs::remove_dir_all(&folder).unwrap();
}
