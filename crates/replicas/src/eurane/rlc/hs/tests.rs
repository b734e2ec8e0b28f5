//! Polls of the entity at the RNC, PDU by PDU.

use super::*;

const TTI: Duration = Duration::from_millis(30);

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// An entity with an SDU of 100 PDUs.
fn entity(window: u32) -> Entity {
    let mut entity = Entity::new(&Config { window, ..Config::default() });
    assert!(entity.enqueue(ms(0), 4_000, false));
    entity
}

/// The PDUs of a grant: sequence number, and whether it polls.
fn grant(entity: &mut Entity, at: u64, pdus: u32) -> Vec<(u32, bool)> {
    let bits = pdus * 320;
    let slot = |sent: u32| Slot { now: ms(at), at: ms(at), tti: TTI, bits, left: bits - 320 * sent };
    (0..pdus).map_while(|sent| entity.pull(&slot(sent))).map(|pdu| (pdu.sn, pdu.poll)).collect()
}

/// A report comes: the PDUs received from `first` on.
fn report(entity: &mut Entity, at: u64, first: u32, received: &[bool]) {
    let status = Status { first, received: received.to_vec(), bytes: 1, ..Status::default() };
    let pdu = Pdu { control: Some(Box::new(Control::Status(status))), ..Pdu::default() };
    entity.on_pdu(ms(at), &pdu, &mut Vec::new());
}

/// `AM_HS::timeout`: nothing follows if `maxseq_ == FSN_`, and both are -1 until a report has come.
#[test]
fn a_poll_is_missed_only_after_the_first_report() {
    let mut entity = entity(4095);
    assert_eq!(grant(&mut entity, 45, 3), [(0, false), (1, false), (2, true)]);
    assert_eq!(entity.next_timeout(), Some(ms(215)));
    entity.on_timeout(ms(215));
    assert_eq!(entity.next_timeout(), None);
    assert_eq!(grant(&mut entity, 225, 2), [(3, false), (4, true)]);
    report(&mut entity, 300, 4, &[true]);
    assert_eq!(grant(&mut entity, 315, 2), [(5, false), (6, true)]);
    entity.on_timeout(ms(485));
    assert_eq!(grant(&mut entity, 495, 3), [(7, true), (8, false), (9, true)]);
}

/// `completePDU` sets the bit before the copy is kept.
#[test]
fn what_polled_polls_when_it_is_sent_again() {
    let mut entity = entity(4095);
    grant(&mut entity, 45, 3);
    grant(&mut entity, 75, 2);
    report(&mut entity, 140, 1, &[true, false, true, true]);
    assert_eq!(grant(&mut entity, 165, 3), [(2, true), (5, false), (6, true)]);
}

/// `FSN_ + win_ < seqno_`, with -1 before the first report.
#[test]
fn the_window_counts_from_the_first_number_of_the_last_report() {
    let mut entity = entity(4);
    assert_eq!(grant(&mut entity, 45, 9).len(), 4);
    report(&mut entity, 100, 3, &[true]);
    assert_eq!(grant(&mut entity, 105, 9).len(), 4);
}
