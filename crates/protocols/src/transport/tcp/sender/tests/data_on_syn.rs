//! `data_on_syn`: the first data segment is the SYN too.

use super::*;
use lasthop_net::engine::Bytes;

fn config() -> Config {
    Config {
        variant: Some(Variant::NewReno),
        segment: Some(Bytes::new(1000)),
        handshake: Some(Handshake::DataOnSyn),
        initial_window: Some(2),
        limited_transmit: Some(false),
        ..Config::default()
    }
}

/// What the path carried: when it left, in milliseconds, sequence number, payload, and whether it
/// is a SYN and an acknowledgement.
fn seen(packets: &[(Instant, Packet)]) -> Vec<(u64, u64, u16, bool, bool)> {
    let row = |(at, packet): &(Instant, Packet)| {
        let header = packet.tcp().unwrap();
        let has = |flag| header.flags.has(flag);
        (at.as_nanos() / 1_000_000, header.seq, header.payload, has(TcpFlags::SYN), has(TcpFlags::ACK))
    };
    packets.iter().map(row).collect()
}

/// Nothing waits for the answer, so the flights are 2, 4, 8, … from the start. The second segment
/// of a flight arrives a millisecond after the first, and so is acknowledged.
#[test]
fn the_initial_window_leaves_at_once_and_doubles_each_round_trip() {
    let mut path = Path::new(&config());
    path.transfer(100_000);
    path.run(10.0);
    let sent = seen(&path.sent);
    assert_eq!(sent[..2], [(0, 0, 1000, true, false), (0, 1001, 1000, false, true)]);
    assert!(sent[2..].iter().all(|s| !s.3 && s.4), "one SYN");
    for (round, flight) in [2, 4, 8, 16].into_iter().enumerate() {
        let from = 101 * round as u64;
        assert_eq!(sent.iter().filter(|s| (from..from + 101).contains(&s.0)).count(), flight, "round trip {round}");
    }
    // The SYN+ACK acknowledges the data.
    assert_eq!(seen(&path.acked)[..2], [(51, 0, 0, true, true), (52, 1, 0, false, true)]);
    assert_eq!(path.acked[0].1.tcp().unwrap().ack, 1001);
    assert_eq!((path.sent.len(), path.sender.totals.packets, path.sender.totals.acked_bytes), (100, 100, 100_000));
    assert_eq!((path.told_received, path.told_acked), (100_000, 100_000));
}

/// The second segment arrives without a connection to belong to, and waits for the first. That
/// comes again after the initial RTO, as a SYN, and fills the gap.
#[test]
fn the_loss_of_the_first_segment_is_a_loss_of_data() {
    for seconds in [1, 3] {
        let rto = Rto { initial: Some(Duration::from_secs(seconds)), ..Rto::default() };
        let mut path = Path::new(&Config { rto, ..config() });
        path.lose = lose(|segment, before| segment == 1 && before == 0);
        path.transfer(10_000);
        path.run(20.0);
        let sent = seen(&path.sent);
        let again = sent.iter().filter(|s| s.1 == 0).copied().collect::<Vec<_>>();
        assert_eq!(again, [(0, 0, 1000, true, false), (seconds * 1000, 0, 1000, true, false)]);
        let acks: Vec<_> = path.acked.iter().map(|(_, p)| p.tcp().unwrap().ack).collect();
        assert_eq!(acks[..2], [0, 2001], "the SYN is missing; then SYN and both segments are there");
        assert_eq!((path.sender.totals.timeouts, path.sender.totals.resent_packets), (1, 1));
        assert_eq!((path.told_received, path.told_acked), (10_000, 10_000));
    }
}

/// RFC 3168 §6.1.1: ECE on SYN and SYN+ACK speaks of what the ends can do, not of congestion.
#[test]
fn a_syn_with_data_sets_ecn_up() {
    let mut path = Path::new(&Config { ecn: true, ..config() });
    path.transfer(10_000);
    path.run(5.0);
    let flags = |packets: &[(Instant, Packet)]| packets[0].1.tcp().unwrap().flags;
    assert!(flags(&path.sent).has(TcpFlags::ECE.with(TcpFlags::CWR)));
    assert!(flags(&path.acked).has(TcpFlags::ECE));
    assert_eq!((path.sent[0].1.ecn, path.sent[1].1.ecn), (Ecn::NotEct, Ecn::Ect0));
    assert_eq!(path.sender.totals.cuts, 0);
}

/// Not delayed, unlike the next ones; and the time stamp is that of the SYN, whenever the connection
/// opens.
#[test]
fn the_syn_is_acknowledged_at_once_and_its_time_stamp_echoed() {
    let ack = AckPolicy { every: Some(2), delay: None };
    let mut path = Path::new(&Config { ack, timestamps: Some(true), ..config() });
    path.run(5.0);
    path.transfer(1_000);
    path.run(10.0);
    let acks = seen(&path.acked);
    assert_eq!(acks, [(5051, 0, 0, true, true)]);
    assert_eq!(path.sender.c.last_rtt, Duration::from_millis(101));
}
