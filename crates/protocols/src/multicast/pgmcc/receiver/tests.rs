use super::*;
use lasthop_net::engine::{Duration, Streams};
use lasthop_net::net::{FlowId, Hears, NodeId};

const HERE: NodeId = NodeId(3);

fn receiver(config: &Config) -> Receiver {
    let local = Socket { node: HERE, port: 4 };
    let remote = Address::Node(NodeId(0));
    let hears = Hears::default();
    let seat = EndpointContext { local, remote, remote_port: 9, flow: FlowId(0), hears, observed: false };
    Receiver::new(config, seat, Streams::new(1).stream("receiver", "naks"))
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// Gives it a packet, sent 20 ms before, and gives back its ACKs.
fn give(receiver: &mut Receiver, now: u64, seq: u64, indicated: bool) -> Vec<PgmAck> {
    let data = PgmData {
        seq,
        acker: Some(HERE),
        sent_at: ms(now - 20),
        loss_indicated: indicated,
        payload: 100,
        ..PgmData::default()
    };
    let packet = Packet { header: Header::Pgm(PgmHeader::Data(data)), ..Packet::vacant() };
    receiver.on_packet(ms(now), &packet, Port(0));
    acks(receiver, now)
}

fn acks(receiver: &mut Receiver, now: u64) -> Vec<PgmAck> {
    let mut packet = Packet::vacant();
    let mut acks = Vec::new();
    while receiver.poll(ms(now), &mut packet).is_some() {
        if let Header::Pgm(PgmHeader::Ack(ack)) = &packet.header {
            acks.push(*ack);
        }
    }
    acks
}

#[test]
fn the_acker_answers_every_packet_at_once() {
    let mut receiver = receiver(&Config::default());
    for seq in 0..5 {
        let acks = give(&mut receiver, 100 + seq, 40 + seq, false);
        let [ack] = acks[..] else { panic!("{acks:?}") };
        assert_eq!((ack.seq, ack.mask, ack.report.last_seq), (40 + seq, u32::MAX, 40 + seq));
        assert_eq!((ack.report.echo, ack.leaving), (ms(80 + seq), false));
    }
}

/// Packets 1 to 3 are lost, and the base station says that it never had them, or says nothing.
#[test]
fn a_loss_of_the_radio_is_none() {
    for (classifier, indicated, loss, mask) in [
        (Classifier::All, false, true, 0b0001),
        (Classifier::All, true, true, 0b0001),
        (Classifier::Indication, true, true, 0b0001),
        (Classifier::Indication, false, false, 0b1111),
    ] {
        let mut receiver = receiver(&Config { classifier, ..Config::default() });
        give(&mut receiver, 100, 0, false);
        let ack = give(&mut receiver, 101, 4, indicated)[0];
        assert_eq!(ack.mask & 0b1111, mask, "{classifier:?}, {indicated}");
        // Three losses are 1488, of which a packet that comes takes 500/65536.
        assert_eq!(ack.report.loss, if loss { 1488 - 12 } else { 0 });
        assert_eq!(receiver.next_timeout().is_some(), loss, "reported or not");
    }
}

#[test]
fn a_reliable_receiver_asks_for_what_the_radio_lost() {
    let config = Config { classifier: Classifier::Indication, reliable: true, ..Config::default() };
    let mut receiver = receiver(&config);
    give(&mut receiver, 100, 0, false);
    give(&mut receiver, 101, 2, false);
    let mut packet = Packet::vacant();
    let due = receiver.next_timeout().unwrap();
    assert_eq!(receiver.poll(due, &mut packet), Some(Action::Send));
    let Header::Pgm(PgmHeader::Nak(nak)) = &packet.header else { panic!("{packet:?}") };
    assert_eq!((nak.missing, nak.report.loss, nak.report.receiver), (Some(1), 0, HERE));
    // The time for which it was held back is not the network's.
    assert_eq!(due.since(nak.report.echo), Duration::from_millis(20));
}

/// A copy that a base station asked for came late: a loss by congestion, counted once, whose data are there.
#[test]
fn a_copy_that_was_rejected_before_is_a_loss() {
    let mut receiver = receiver(&Config { classifier: Classifier::Indication, ..Config::default() });
    give(&mut receiver, 100, 0, false);
    give(&mut receiver, 101, 2, false);
    for _ in 0..2 {
        let ack = give(&mut receiver, 102, 1, true)[0];
        assert_eq!((ack.report.loss, ack.mask & 0b111), (500, 0b101));
    }
    assert_eq!(receiver.reception.bytes(), 300);
    // One that is late by itself fills its bit.
    give(&mut receiver, 103, 5, true);
    assert_eq!(give(&mut receiver, 104, 4, false)[0].mask & 0b11, 0b11);
}

#[test]
fn long_gaps_empty_the_bitmap() {
    for (next, mask) in [(31, 1 | 1 << 31), (32, 1), (33, 1), (40, 1), (1 << 40, 1)] {
        let mut receiver = receiver(&Config::default());
        give(&mut receiver, 100, 0, false);
        let ack = give(&mut receiver, 101, next, false)[0];
        assert_eq!(ack.mask, mask, "{next}");
    }
}

#[test]
fn only_an_acker_says_that_it_leaves() {
    let mut receiver = receiver(&Config::default());
    give(&mut receiver, 100, 0, false);
    receiver.leave();
    let said = acks(&mut receiver, 101);
    assert!(matches!(said[..], [PgmAck { leaving: true, seq: 0, .. }]), "{said:?}");
    assert!(give(&mut receiver, 102, 1, false).is_empty(), "it has left");
}

#[test]
fn who_joins_misses_nothing_of_before() {
    let mut receiver = receiver(&Config { reliable: true, ..Config::default() });
    receiver.join();
    assert_eq!(give(&mut receiver, 100, 1000, false)[0].mask, u32::MAX);
    assert_eq!((receiver.next_timeout(), receiver.reception.bytes()), (None, 100));
}
