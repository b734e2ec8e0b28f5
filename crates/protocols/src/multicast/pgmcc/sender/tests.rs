use super::*;
use crate::multicast::pgmcc::config::TokenMode;
use lasthop_net::net::{FlowId, Hears};

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// A sender that has these packets to send.
fn sender(reliable: bool, token_mode: TokenMode, packets: u64) -> Sender {
    let local = Socket { node: NodeId(0), port: 4 };
    let remote = Address::Node(NodeId(1));
    let seat =
        EndpointContext { local, remote, remote_port: 4, flow: FlowId(0), hears: Hears::default(), observed: false };
    let config = Config { reliable, token_mode, ..Config::default() };
    let mut sender = Sender::new(&config, seat);
    sender.on_notice(ms(0), Notice::Write(packets * config.segment.get()));
    sender
}

/// The numbers of data and repairs that it sends now.
fn sends(sender: &mut Sender, now: u64) -> Vec<u64> {
    let mut packet = Packet::vacant();
    let mut sent = Vec::new();
    sender.on_timeout(ms(now));
    while sender.poll(ms(now), &mut packet).is_some() {
        if let Header::Pgm(PgmHeader::Data(data) | PgmHeader::Repair(data)) = &packet.header {
            sent.push(data.seq);
        }
    }
    sent
}

fn report(receiver: u32, last_seq: u64, now: u64) -> PgmReport {
    PgmReport { receiver: NodeId(receiver), last_seq, echo: ms(now - 50), ..PgmReport::default() }
}

fn hear(sender: &mut Sender, now: u64, header: PgmHeader) {
    sender.on_packet(ms(now), &Packet { header: Header::Pgm(header), ..Packet::vacant() }, Port(0));
}

/// Receiver 1 has everything up to `seq`.
fn acknowledge(sender: &mut Sender, now: u64, seq: u64, leaving: bool) {
    hear(sender, now, PgmHeader::Ack(PgmAck { report: report(1, seq, now), seq, mask: u32::MAX, leaving }));
}

/// Receiver 2 misses a packet.
fn miss(sender: &mut Sender, now: u64, missing: u64) {
    hear(
        sender,
        now,
        PgmHeader::Nak(PgmNak { report: report(2, missing, now), missing: Some(missing), ..PgmNak::default() }),
    );
}

/// A packet elects the next one, at once and without a timeout.
#[test]
fn an_acker_that_leaves_is_replaced_in_a_round_trip() {
    for mode in [TokenMode::InFlight, TokenMode::Literal] {
        let mut sender = sender(false, mode, 1000);
        assert_eq!(sends(&mut sender, 0), [0]);
        acknowledge(&mut sender, 50, 0, false);
        let first = sends(&mut sender, 50);
        first.iter().for_each(|seq| acknowledge(&mut sender, 100, *seq, false));
        let second = sends(&mut sender, 100);
        assert!(second.len() >= 2, "{second:?}");
        acknowledge(&mut sender, 110, first[first.len() - 1], true);
        let last = second[second.len() - 1];
        assert_eq!(sends(&mut sender, 110), [last + 1], "{mode:?}");
        assert!(sends(&mut sender, 120).is_empty());
        hear(&mut sender, 160, PgmHeader::Nak(PgmNak { report: report(2, last + 1, 160), ..PgmNak::default() }));
        assert_eq!((sender.election.acker(), sender.counts.timeouts), (Some(NodeId(2)), 0));
        assert!(!sends(&mut sender, 160).is_empty(), "{mode:?}");
    }
}

/// The printed increments never give back the token of a repair. It lands, and nothing is in flight.
#[test]
fn literal_tokens_wait_for_a_timeout_and_no_longer() {
    let mut sender = sender(true, TokenMode::Literal, 1);
    assert_eq!(sends(&mut sender, 0), [0]);
    acknowledge(&mut sender, 50, 0, false);
    miss(&mut sender, 50, 0);
    assert_eq!(sends(&mut sender, 50), [0]);
    assert_eq!((sender.flight.count(), sender.deadline), (1, None), "the repair");
    assert!(sends(&mut sender, 200).is_empty());
    assert_eq!(sender.deadline, None, "no data wait");
    miss(&mut sender, 210, 0);
    let deadline = sender.deadline.unwrap();
    assert_eq!(sends(&mut sender, deadline.as_nanos() / 1_000_000 + 1), [0]);
    assert_eq!(sender.counts.stalls, 1);
}

/// Repairs are not acknowledged: were they alone in flight with a window of one packet, each would take a round-trip time, and no data would open it.
#[test]
fn data_go_before_repairs_while_none_is_in_flight() {
    let mut sender = sender(true, TokenMode::default(), 1000);
    assert_eq!(sends(&mut sender, 0), [0]);
    for seq in 0..8 {
        acknowledge(&mut sender, 50 * (seq + 1), seq, false);
        sends(&mut sender, 50 * (seq + 1));
    }
    sender.on_expiry();
    (0..8).for_each(|seq| miss(&mut sender, 500, seq));
    let next = sender.next;
    assert_eq!(sends(&mut sender, 500), [next], "W is 1");
    acknowledge(&mut sender, 550, next, false);
    assert_eq!(sends(&mut sender, 550), [next + 1, 0], "W is 2");
    acknowledge(&mut sender, 600, next + 1, false);
    assert_eq!(sends(&mut sender, 600), [next + 2, 1, 2], "W is 3, and the first repair has landed");
}

/// RFC 6298 §2.2: the acknowledgement that elects is one sample, of 50 ms, so RTTVAR is 25 ms and the timer has 150 ms.
#[test]
fn an_acknowledgement_that_elects_is_one_sample() {
    let local = Socket { node: NodeId(0), port: 4 };
    let remote = Address::Node(NodeId(1));
    let seat =
        EndpointContext { local, remote, remote_port: 4, flow: FlowId(0), hears: Hears::default(), observed: false };
    let config = Config { rto_min: Duration::from_millis(1), ..Config::default() };
    let mut sender = Sender::new(&config, seat);
    sender.on_notice(ms(0), Notice::Write(100 * config.segment.get()));
    assert_eq!(sends(&mut sender, 0), [0]);
    acknowledge(&mut sender, 50, 0, false);
    sends(&mut sender, 50);
    assert_eq!(sender.deadline, Some(ms(50 + 150)));
}
