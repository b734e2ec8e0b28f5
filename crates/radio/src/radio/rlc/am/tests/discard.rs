//! How often SDUs are given up, and what delivery out of sequence and in step with UM looks like.

use super::*;
use crate::radio::arq::{LinkArq, Outcome};
use lasthop_net::engine::Streams;
use lasthop_net::net::Probe;
use lasthop_net::net::observe::{Histogram, What};

/// The share of SDUs of 26 PDUs that are lost, one SDU at a time.
fn lost_share(p: f64, max_dat: u32, sdus: u64) -> f64 {
    let config = Config {
        max_dat,
        maxdat_counts: MaxDatCounts::Transmissions,
        // PDUs under way are not reported missing: every transmission of a PDU has its chance.
        round_trip: Some(Duration::from_millis(70)),
        ..Config::default()
    };
    let mut stream = Streams::new(u64::from(max_dat)).stream("radio", "loss");
    let mut bearer = bearer(&config).losing(move |from, _, pdu| from == 0 && pdu.is_data() && stream.chance(p));
    bearer.keeps_departures = false;
    for _ in 0..sdus {
        assert!(bearer.enqueue(0, 25 * 38 + 37));
        let later = bearer.now + Duration::from_secs(60);
        assert!(bearer.run_until_quiet(later));
    }
    in_order(&bearer.outcomes[0], sdus) as f64 / sdus as f64
}

#[test]
fn an_sdu_is_lost_if_one_of_its_pdus_is_lost_each_time() {
    let sdus = 2000;
    for max_dat in 1..=4 {
        for p in [0.01, 0.05, 0.1, 0.2] {
            let expected = 1.0 - libm::pow(1.0 - libm::pow(p, f64::from(max_dat)), 26.0);
            let error = (expected * (1.0 - expected) / sdus as f64).sqrt();
            let share = lost_share(p, max_dat, sdus);
            assert!((share - expected).abs() <= 4.0 * error, "p = {p}, maxDAT {max_dat}: {share}, not {expected}");
        }
    }
}

#[test]
fn max_dat_of_the_standard_sends_once_less() {
    for (counts, times) in
        [(MaxDatCounts::Gpp, 2), (MaxDatCounts::Transmissions, 3), (MaxDatCounts::Retransmissions, 4)]
    {
        let config = Config { max_dat: 3, maxdat_counts: counts, ..Config::default() };
        let mut bearer = bearer(&config).losing(|from, _, pdu| from == 0 && pdu.is_data() && pdu.sn == 1);
        assert!(bearer.enqueue(0, FIVE_PDUS));
        assert!(bearer.run_until_quiet(ms(60_000)));
        let sent = bearer.departures.iter().filter(|d| d.from == 0 && d.pdu.is_data() && d.pdu.sn == 1).count();
        assert_eq!((sent, in_order(&bearer.outcomes[0], 1)), (times, 1), "{counts:?}");
    }
}

#[test]
fn a_timer_gives_up_what_has_waited_too_long() {
    let config = Config { discard: Discard::Timer, discard_timer: Duration::from_millis(300), ..Config::default() };
    // Nothing comes for 250 ms. The first SDU is on its way, the others are not when they are given up.
    let mut bearer = bearer(&config).losing(|from, number, _| from == 0 && number < 25);
    for bytes in [2 * FIVE_PDUS, 200, 300] {
        assert!(bearer.enqueue(0, bytes));
    }
    bearer.run_until(ms(20));
    assert!(bearer.enqueue(0, 600));
    bearer.run_until(ms(295));
    assert!(bearer.enqueue(0, FIVE_PDUS));
    assert!(bearer.run_until_quiet(ms(60_000)));
    assert_eq!(bearer.outcomes[0].last().map(|(_, outcome)| *outcome), Some(Outcome::Delivered(4)));
    assert_eq!(in_order(&bearer.outcomes[0], 5), 4);
    assert_eq!(bearer.ends[0].sender.discarded, 4);
}

#[test]
fn out_of_sequence_an_sdu_is_delivered_when_it_is_complete() {
    // SDUs of one PDU each; the second is lost at first.
    for (in_sequence, expected) in [(true, [0, 1, 2, 3]), (false, [0, 2, 3, 1])] {
        let config = Config { in_sequence, ..Config::default() };
        let mut bearer = bearer(&config).losing(|from, number, _| from == 0 && number == 1);
        (0..4).for_each(|_| assert!(bearer.enqueue(0, 37)));
        assert!(bearer.run_until_quiet(ms(1000)));
        let order: Vec<_> = bearer.outcomes[0].iter().map(|(_, outcome)| *outcome).collect();
        assert_eq!(order, expected.map(Outcome::Delivered));
    }
}

/// When the SDUs of one end are delivered, of a few hundred sizes and times.
fn delivery_times<A: LinkArq>(bearer: Bearer<A>) -> Vec<f64> {
    let mut bearer = bearer.carrying(3);
    let mut stream = Streams::new(1).stream("test", "sizes");
    for n in 0..300 {
        bearer.run_until(ms(n * 70 + (stream.unit() * 100.0) as u64));
        assert!(bearer.enqueue(0, 1 + (stream.unit() * 1500.0) as u32));
    }
    bearer.run_until(ms(60_000));
    delivered(&bearer.outcomes[0])
}

#[test]
fn without_errors_it_delivers_when_um_does() {
    // PDUs of 40 B, whose headers take nothing, have the same boundaries in both.
    let am = Config { header: Header::Free, ..Config::default() };
    let um = um::Config { header: Header::Free, tells_start: false, ..um::Config::default() };
    let of_um = delivery_times(Bearer::new(pair(&um, || um::Um::new(&um)), Some(128)));
    assert_eq!(of_um.len(), 300);
    assert_eq!(delivery_times(bearer(&am)), of_um);
}

/// The values that an entity shows.
#[derive(Default)]
struct Values(std::collections::BTreeMap<&'static str, f64>);

impl Probe for Values {
    fn part(&mut self, _: What, name: &str) {
        panic!("an entity has no part {name}");
    }
    fn value(&mut self, name: &'static str, value: f64) {
        assert!(self.0.insert(name, value).is_none(), "{name} is there twice");
    }
    fn distribution(&mut self, name: &'static str, _: f64, _: &Histogram) {
        panic!("{name} is no distribution of an entity");
    }
}

/// Of both ends: these values, those left out being 0.
fn check_totals(bearer: &Bearer<Am>, expected: [&[(&'static str, f64)]; 2]) {
    for (end, expected) in bearer.ends.iter().zip(expected) {
        let mut values = Values::default();
        end.sample(&mut values);
        values.0.retain(|_, value| *value != 0.0);
        assert_eq!(values.0, expected.iter().copied().collect());
    }
}

#[test]
fn totals_tell_what_happened() {
    // PDU 1 is lost at 10, and again at 80, the eighth to leave. The report of 130 that misses it is lost too. So
    // Timer_Poll, which expires at 250, asks for another.
    let config = Config { max_dat: 2, ..Config::default() };
    let mut bearer = bearer(&config).losing(|from, number, _| [[1, 7].as_slice(), &[1]][from].contains(&number));
    assert!(bearer.enqueue(0, FIVE_PDUS) && bearer.enqueue(0, 60));
    bearer.run_until(ms(30));
    // 249 B, of which three PDUs carry 114; they are kept, 40 B each.
    check_totals(&bearer, [&[("new_pdus", 4.0), ("backlog_bytes", 97.0), ("unacknowledged_bytes", 160.0)], &[]]);
    assert!(bearer.run_until_quiet(ms(10_000)));
    assert_eq!(in_order(&bearer.outcomes[0], 2), 1);
    // The far end reports at 50 and 280 too, and at 340 that it gave PDU 1 up.
    check_totals(
        &bearer,
        [
            &[
                ("new_pdus", 7.0),
                ("retransmitted_pdus", 1.0),
                ("poll_pdus", 1.0),
                ("status_pdus", 1.0),
                ("discarded_sdus", 1.0),
                ("mrw_sent", 1.0),
            ],
            &[("status_pdus", 4.0), ("duplicate_pdus", 1.0), ("delivered_sdus", 1.0), ("lost_sdus", 1.0)],
        ],
    );
}

#[test]
fn each_pdu_sent_is_counted_once() {
    // Both ends send, so that reports find padding; every fifth PDU is lost, so that PDUs are sent again, and too often.
    let config = Config { discard: Discard::Reset, max_dat: 3, ..Config::default() };
    let mut bearer = bearer(&config).losing(|_, number, _| number % 5 == 1);
    for _ in 0..40 {
        for end in 0..2 {
            assert!(bearer.enqueue(end, 60));
        }
        bearer.run_until(bearer.now + Duration::from_millis(70));
    }
    assert!(bearer.run_until_quiet(ms(60_000)));
    let mut all = Values::default();
    for (end, entity) in bearer.ends.iter().enumerate() {
        let mut values = Values::default();
        entity.sample(&mut values);
        let sent =
            ["new_pdus", "retransmitted_pdus", "poll_pdus", "status_pdus", "reset_pdus"].map(|name| values.0[name]);
        let left = bearer.departures.iter().filter(|departure| departure.from == end).count();
        assert_eq!(sent.iter().sum::<f64>(), left as f64, "end {end}: {sent:?}");
        for (name, value) in values.0 {
            *all.0.entry(name).or_default() += value;
        }
    }
    let every =
        ["retransmitted_pdus", "status_pdus", "piggybacked_status", "reset_pdus", "resets"].map(|name| all.0[name]);
    assert!(every.iter().all(|count| *count > 0.0), "{every:?}");
    // A reset is asked for and acknowledged.
    assert!(all.0["reset_pdus"] >= 2.0 * all.0["resets"]);
}

#[test]
fn a_reset_that_is_not_answered_goes_on_and_is_counted() {
    let config = Config { discard: Discard::Reset, max_dat: 1, max_rst: 3, ..Config::default() };
    let asks = |pdu: &Pdu| matches!(pdu.control.as_deref(), Some(Control::Reset(_)));
    let mut bearer = bearer(&config).losing(move |_, number, pdu| number == 1 || (asks(pdu) && number < 9));
    assert!(bearer.enqueue(0, FIVE_PDUS));
    bearer.run_until(ms(100));
    assert!(bearer.enqueue(0, 37));
    assert!(bearer.run_until_quiet(ms(10_000)));
    // At 80, 580, and, MaxRST being reached, at 1080; at 1580, and at 2080, when it is reached once more.
    let asked = bearer.departures.iter().filter(|departure| asks(&departure.pdu)).map(|d| in_ms(d.at));
    assert_eq!(asked.collect::<Vec<_>>(), [80, 580, 1080, 1580, 2080]);
    let reset = &bearer.ends[0].reset;
    assert_eq!((reset.resets, reset.unrecoverable), (1, 2));
    let fates: Vec<_> = bearer.outcomes[0].iter().map(|(_, outcome)| *outcome).collect();
    assert_eq!(fates, [Outcome::Lost(0), Outcome::Delivered(1)]);
}
