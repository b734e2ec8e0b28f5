//! When polls, reports and retransmissions leave, worked out by hand from the clauses.
//!
//! Intervals lie at 0, 10, 20 ms, … with one PDU each way; a PDU that leaves at t comes at t + 25 ms. The poll
//! timer has 170 ms, reports 80 ms between them.

use super::*;

/// What left: when, from where, and what: data by number, `!` if it polls, `x` if it was lost; a report by what
/// it acknowledges, what it says is missing, and its bytes.
fn written(bearer: &Bearer<Am>) -> Vec<String> {
    bearer.departures.iter().map(line).collect()
}

fn line(departure: &Departure) -> String {
    let Departure { at, from, lost, pdu } = departure;
    let mut line = format!("{} {}", in_ms(*at), ["->", "<-"][*from]);
    if pdu.is_data() {
        let reason = match pdu.reason {
            Reason::New => "new",
            Reason::Retransmission => "again",
            Reason::Poll => "poll",
            Reason::Control => panic!("a control PDU has no data"),
        };
        line += &format!(" {reason} {}{}", pdu.sn, if pdu.poll { "!" } else { "" });
    }
    match pdu.control.as_deref() {
        None => {}
        Some(Control::Status(status)) => line += &report(status),
        Some(Control::Reset(rsn)) => line += &format!(" reset {rsn}"),
        Some(Control::ResetAck(rsn)) => line += &format!(" reset-ack {rsn}"),
    }
    if *lost {
        line += " x";
    }
    line
}

fn report(status: &Status) -> String {
    let missing = status.received.iter().enumerate().filter(|(_, received)| !**received);
    let missing: Vec<_> = missing.map(|(place, _)| status.first + place as u32).collect();
    let mut line = String::new();
    if let [sn] = status.give_up[..] {
        line += &format!(" mrw {sn}.{}", status.give_up_end);
    }
    if let Some(sn) = status.gave_up {
        line += &format!(" mrw-ack {sn}.{}", status.gave_up_end);
    }
    if let Some(ack) = status.ack {
        line += &format!(" ack {ack}");
    }
    if !missing.is_empty() {
        line += &format!(" not {missing:?}");
    }
    line + &format!(" ({} B)", status.bytes)
}

/// Sends SDUs at 0 ms, loses these PDUs of each end, by number, and compares the PDUs that leave.
fn check(config: &Config, sdus: &[u32], losses: [&'static [u64]; 2], expected: &[&str], ends_at: &[u64]) {
    let mut bearer = bearer(config).losing(move |from, number, _| losses[from].contains(&number));
    sdus.iter().for_each(|bytes| assert!(bearer.enqueue(0, *bytes)));
    assert!(bearer.run_until_quiet(ms(10_000)), "{:#?}", written(&bearer));
    assert_eq!(written(&bearer), expected);
    let ended: Vec<_> = bearer.outcomes[0].iter().map(|(at, _)| in_ms(*at)).collect();
    assert_eq!(ended, ends_at, "{:?}", bearer.outcomes[0]);
}

#[test]
fn a_gap_is_reported_and_the_poll_waits_for_the_prohibition() {
    let expected = [
        "0 -> new 0",
        "10 -> new 1 x",
        "20 -> new 2",
        "30 -> new 3",
        // The last PDU in the buffer polls (§9.7.1 1); Timer_Poll to 210.
        "40 -> new 4!",
        // 2 came at 45 and opened a gap. Header 4, ACK 16, LIST of one pair 24: 44 bits. Prohibited to 130.
        "50 <- ack 3 not [1] (6 B)",
        // That came at 75. The last retransmission polls (§9.7.1 2); Timer_Poll to 250.
        "80 -> again 1!",
        // The polls of 4, at 65, and of 1, at 105, wait until 130 (§9.5 f). Header and ACK: 20 bits.
        "130 <- ack 5 (3 B)",
    ];
    // 155: Timer_Poll stops. The SDU is complete when 1 comes again, at 105.
    check(&Config::default(), &[FIVE_PDUS], [&[1], &[]], &expected, &[105]);
}

#[test]
fn a_lost_poll_is_repeated_by_its_timer() {
    let expected = [
        "0 -> new 0",
        "10 -> new 1",
        "20 -> new 2",
        "30 -> new 3",
        "40 -> new 4! x",
        // Timer_Poll expires at 210, before that interval: VT(S) - 1 once more (§9.5 a, §11.3.2).
        "210 -> poll 4!",
        "240 <- ack 5 (3 B)",
    ];
    check(&Config::default(), &[FIVE_PDUS], [&[4], &[]], &expected, &[235]);
}

#[test]
fn a_lost_report_is_asked_for_again() {
    let expected = [
        "0 -> new 0",
        "10 -> new 1",
        "20 -> new 2",
        "30 -> new 3",
        "40 -> new 4!",
        "70 <- ack 5 (3 B) x",
        "210 -> poll 4!",
        "240 <- ack 5 (3 B)",
    ];
    // All had come at 65.
    check(&Config::default(), &[FIVE_PDUS], [&[], &[0]], &expected, &[65]);
}

#[test]
fn a_discard_is_told_until_it_is_acknowledged() {
    let config = Config { max_dat: 1, ..Config::default() };
    let expected = [
        "0 -> new 0",
        "10 -> new 1 x",
        "20 -> new 2",
        "30 -> new 3",
        "40 -> new 4!",
        "50 <- ack 3 not [1] (6 B)",
        // At 75 PDU 1 would be sent a second time: its SDU, which ends with 4, is given up (§11.6.2). Header
        // 4, MRW 24, NO_MORE 4: 32 bits. Timer_MRW to 580.
        "80 -> mrw 5.0 (4 B) x",
        // The poll of 4; that 1 is missing is no news.
        "130 <- ack 5 not [1] (6 B)",
        "580 -> mrw 5.0 (4 B)",
        // Header 4, MRW_ACK 20, NO_MORE 4: 28 bits. It is not prohibited (§9.5 f).
        "610 <- mrw-ack 5.0 (4 B)",
    ];
    check(&config, &[FIVE_PDUS], [&[1, 5], &[]], &expected, &[605]);
}

#[test]
fn a_lost_acknowledgement_of_a_discard_is_given_again() {
    let config = Config { max_dat: 1, ..Config::default() };
    let expected = [
        "0 -> new 0",
        "10 -> new 1 x",
        "20 -> new 2",
        "30 -> new 3",
        "40 -> new 4!",
        "50 <- ack 3 not [1] (6 B)",
        "80 -> mrw 5.0 (4 B)",
        "110 <- mrw-ack 5.0 (4 B) x",
        // The poll of 4 is answered when the prohibition ends, and shows that the window was moved: the third
        // way in which the procedure ends (§11.6.4).
        "130 <- ack 5 (3 B)",
    ];
    check(&config, &[FIVE_PDUS], [&[1], &[1]], &expected, &[105]);
}

#[test]
fn a_pdu_that_is_shared_is_kept_for_the_next_sdu() {
    // The first SDU ends in PDU 1 with 2 B, in which the second begins with 35 B.
    let config = Config { max_dat: 1, ..Config::default() };
    let expected = [
        "0 -> new 0 x",
        "10 -> new 1",
        "20 -> new 2!",
        "40 <- ack 2 not [0] (6 B)",
        // The window goes on with PDU 1, behind its first indicator (§11.6.2.2).
        "70 -> mrw 1.1 (4 B)",
        // It had come, so VR(R) lies beyond, and N is 0 (§11.6.3.1).
        "100 <- mrw-ack 3.0 (4 B)",
        "120 <- ack 3 (3 B)",
    ];
    // Lost, and delivered, at 95: until then the second SDU waited for its turn.
    check(&config, &[40, 72], [&[0], &[]], &expected, &[95, 95]);
}

#[test]
fn the_window_stops_at_a_shared_pdu_that_is_missing() {
    // The first SDU ends with 2 B in PDU 5, in which the second begins with 35 B; it ends with PDU 6.
    let config = Config { max_dat: 2, ..Config::default() };
    let expected = [
        "0 -> new 0 x",
        "10 -> new 1",
        "20 -> new 2",
        "30 -> new 3",
        // 1 came at 35. Prohibited to 120.
        "40 -> new 4",
        "40 <- ack 2 not [0] (6 B)",
        "50 -> new 5 x",
        "60 -> new 6!",
        "70 -> again 0! x",
        // The poll and the gap of 85. Two pairs take 40 bits, a BITMAP of one octet 28: 48 bits in all.
        "120 <- ack 7 not [0, 5] (6 B)",
        // At 145 PDU 0 would be sent a third time. PDU 5 carries an SDU that goes on, and has no padding.
        "150 -> mrw 5.1 (4 B)",
        "160 -> again 5!",
        // VR(R) is the PDU asked for, which is missing, so N is the one asked for (§11.6.3.1).
        "180 <- mrw-ack 5.1 (4 B)",
        "200 <- ack 7 (3 B)",
    ];
    check(&config, &[192, 72], [&[0, 5, 7], &[]], &expected, &[175, 185]);
}

#[test]
fn sdus_not_wholly_sent_are_given_up_one_order_after_the_other() {
    // A window of one PDU, in which the first SDU is stuck. Timers expire at 300 and at 350.
    let config = Config {
        window: 1,
        discard: Discard::Timer,
        discard_timer: Duration::from_millis(300),
        poll_timer: Duration::from_secs(2),
        status_periodic: Some(Duration::from_millis(200)),
        ..Config::default()
    };
    let lost = |from: usize, number: u64, _: &Pdu| from == 0 && [0, 3].contains(&number);
    let mut bearer = bearer(&config).losing(lost);
    assert!(bearer.enqueue(0, 60));
    bearer.run_until(ms(50));
    assert!(bearer.enqueue(0, 37));
    bearer.run_until(ms(999));
    let lines = written(&bearer).into_iter().filter(|line| line.contains("->") || line.contains("mrw"));
    let expected = [
        "0 -> new 0! x",
        "200 -> ack 0 (3 B)",
        // The end of the first SDU is in no PDU. It gets a number of its own, 1, so that a receiver cannot have everything before 2 without
        // the order (§11.6.2: VT(S) becomes SN_MRW).
        "300 -> mrw 2.0 (4 B)",
        "330 <- mrw-ack 2.0 (4 B)",
        // The second SDU is given up at 350, while that is not acknowledged; at 355 it is. Its end is 2.
        "360 -> mrw 3.0 (4 B) x",
        "400 -> ack 0 (3 B)",
        "600 -> ack 0 (3 B)",
        "800 -> ack 0 (3 B)",
        // The reports that came meanwhile acknowledge 2, and not 3. Timer_MRW.
        "860 -> mrw 3.0 (4 B)",
        "890 <- mrw-ack 3.0 (4 B)",
    ];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    assert_eq!(in_order(&bearer.outcomes[0], 2), 2);
}

#[test]
fn a_reset_is_asked_for_until_it_is_acknowledged() {
    let config = Config { discard: Discard::Reset, max_dat: 1, ..Config::default() };
    let expected = [
        "0 -> new 0",
        "10 -> new 1 x",
        "20 -> new 2",
        "30 -> new 3",
        "40 -> new 4!",
        "50 <- ack 3 not [1] (6 B)",
        // §11.4.2 1. Timer_RST to 580. The far end starts anew at 105.
        "80 -> reset 0",
        "110 <- reset-ack 0 x",
        "580 -> reset 0",
        // The same number: it is only acknowledged again (§11.4.3).
        "610 <- reset-ack 0",
    ];
    check(&config, &[FIVE_PDUS], [&[1], &[1]], &expected, &[105]);
    // PDUs sent afterwards are numbered from 0, and the next reset has the number 1.
    let mut bearer = bearer(&config).losing(|from, number, _| from == 0 && [1, 7].contains(&number));
    assert!(bearer.enqueue(0, FIVE_PDUS));
    bearer.run_until(ms(500));
    assert!(bearer.enqueue(0, FIVE_PDUS));
    bearer.run_until(ms(2000));
    let lines = written(&bearer);
    let later = lines.iter().filter(|line| !line.contains("<-")).skip(5).map(|line| line.split_once(' ').unwrap().1);
    let expected = ["-> reset 0", "-> new 0", "-> new 1 x", "-> new 2", "-> new 3", "-> new 4!", "-> reset 1"];
    assert_eq!(later.collect::<Vec<_>>(), expected);
}

#[test]
fn a_report_rides_in_padding_if_it_fits() {
    // At 30 the far end has something to send. SDUs of 20 B leave 38 - 20 - 2 = 16 B, of 33 B 3 B, of 34 B 2.
    for (bytes, expected) in [(33, "30 <- new 0! ack 1 (3 B)"), (34, "30 <- ack 1 (3 B)")] {
        let mut bearer = bearer(&Config::default());
        assert!(bearer.enqueue(0, 20));
        bearer.run_until(ms(25));
        assert!(bearer.enqueue(1, bytes));
        bearer.run_until(ms(1000));
        let first = written(&bearer).into_iter().find(|line| line.contains("<-"));
        assert_eq!(first.as_deref(), Some(expected), "{bytes} B");
        let riding = bearer.departures.iter().find(|d| d.from == 1).unwrap();
        let size = |pdu: &Pdu| pdu.data + u16::from(pdu.indicators) + pdu.padding + status(riding).bytes;
        assert_eq!(size(&riding.pdu), if bytes == 33 { 38 } else { 40 });
        assert_eq!(delivered(&bearer.outcomes[1]).len(), 1);
    }
}

#[test]
fn triggers_poll_where_they_should() {
    let polls = |config: &Config, sdus: &[u32]| {
        let mut bearer = bearer(config);
        sdus.iter().for_each(|bytes| assert!(bearer.enqueue(0, *bytes)));
        bearer.run_until(ms(20_000));
        let sent = bearer.departures.iter().filter(|d| d.from == 0 && d.pdu.poll && d.pdu.reason == Reason::New);
        sent.map(|departure| departure.pdu.sn).collect::<Vec<_>>()
    };
    let usual = Config::default();
    // 37 B are a PDU each.
    assert_eq!(polls(&usual, &[37; 10]), [9]);
    assert_eq!(polls(&Config { poll_every: 4, ..usual.clone() }, &[37; 10]), [3, 7, 9]);
    assert_eq!(polls(&Config { poll_every_sdus: 1, ..usual.clone() }, &[100, 100]), [2, 5]);
    assert_eq!(polls(&Config { poll_every_sdus: 3, ..usual.clone() }, &[75; 8]), [5, 11, 15]);
    // The fourth PDU finds three under way: (3 + 1 - 0) / 8 is half. Acknowledgements come from 90 on.
    let window = Config { window: 8, poll_window: 50, ..usual.clone() };
    assert_eq!(polls(&window, &[37; 8]), [3, 4, 5, 6, 7]);
    // The window closes after the third PDU: the last that is allowed to be sent.
    assert_eq!(polls(&Config { window: 3, ..usual.clone() }, &[37; 6]), [2, 5]);
}

#[test]
fn a_periodic_poll_comes_with_the_clock_while_something_waits() {
    let config = Config {
        poll: Poll::Periodic,
        poll_timer: Duration::from_millis(100),
        poll_last: false,
        poll_last_retransmission: false,
        poll_every: 0,
        ..Config::default()
    };
    let expected = [
        "0 -> new 0",
        "10 -> new 1",
        "20 -> new 2",
        "30 -> new 3",
        "40 -> new 4 x",
        "100 -> poll 4!",
        "130 <- ack 5 (3 B)",
    ];
    check(&config, &[FIVE_PDUS], [&[4], &[]], &expected, &[125]);
}

#[test]
fn reports_come_with_the_clock_too() {
    let config = Config { status_periodic: Some(Duration::from_millis(100)), ..Config::default() };
    let mut bearer = bearer(&config);
    bearer.run_until(ms(350));
    // Nothing has come; each end says so (§9.5 g).
    let from = |end| bearer.departures.iter().filter(move |d| d.from == end).map(|d| in_ms(d.at)).collect::<Vec<_>>();
    assert_eq!([from(0), from(1)], [vec![100, 200, 300], vec![100, 200, 300]]);
}

#[test]
fn what_was_just_sent_is_not_sent_again_within_a_round_trip() {
    // Polls on every PDU make a report every 20 ms, so that each gap is reported twice before the
    // retransmission can have come.
    let config =
        Config { poll_every: 1, status_prohibit: Duration::from_millis(20), round_trip: None, ..Config::default() };
    let again = |config: &Config| {
        let mut bearer = bearer(config).losing(|from, number, _| from == 0 && number == 1);
        assert!(bearer.enqueue(0, 4 * FIVE_PDUS));
        assert!(bearer.run_until_quiet(ms(10_000)));
        assert_eq!(in_order(&bearer.outcomes[0], 1), 0);
        bearer.departures.iter().filter(|d| d.pdu.reason == Reason::Retransmission).count()
    };
    assert!(again(&config) > 1, "{} retransmissions of one PDU", again(&config));
    assert_eq!(again(&Config { round_trip: Some(Duration::from_millis(70)), ..config }), 1);
}

#[test]
fn a_report_that_does_not_fit_is_spread() {
    // Every second of 600 PDUs is lost: 300 pairs, or 600 bits of BITMAPs, for which a PDU has 300 bits.
    let round_trip = Some(Duration::from_millis(70));
    let config = Config { window: 2047, poll_every: 0, status_on_gap: false, round_trip, ..Config::default() };
    let mut bearer = bearer(&config).losing(|from, number, _| from == 0 && number < 600 && number % 2 == 0);
    assert!(bearer.enqueue(0, 601 * 38));
    bearer.run_until(ms(6100));
    // 602 PDUs. PDU 601, which has the last indicator, polled.
    let reports: Vec<_> = bearer.departures.iter().filter(|d| d.from == 1).collect();
    let told: Vec<_> = reports.iter().map(|d| (status(d).ack, status(d).first, status(d).received.len())).collect();
    // The BITMAPs end at 602 - 0 = 75.25 octets, so the first begins 6 before 0: 76 octets, 32 in a PDU.
    assert_eq!(told, [(Some(0), 0, 250), (Some(0), 250, 256), (Some(0), 506, 96)]);
    assert!(reports.iter().all(|departure| status(departure).bytes <= 40));
    let twice = reports.windows(2).all(|pair| pair[1].at.since(pair[0].at) == Duration::from_millis(10));
    assert!(twice, "the parts follow one another");
    assert!(bearer.run_until_quiet(ms(60_000)));
    assert_eq!(in_order(&bearer.outcomes[0], 1), 0);
    let again = bearer.departures.iter().filter(|d| d.pdu.reason == Reason::Retransmission).count();
    assert_eq!(again, 300);
}

#[test]
fn a_poll_between_the_parts_of_a_report_is_answered() {
    // As before, the parts leave at 6040, 6050 and 6060 ms. PDU 602 leaves at 6020 ms and polls; it comes at 6045 ms, beyond the VR(H) at
    // which the report was begun. Another is due when Timer_Status_Prohibit is over (§9.7.2, §11.5.2), and tells of it.
    let config = Config { window: 2047, poll_every: 0, status_on_gap: false, ..Config::default() };
    let mut bearer = bearer(&config).losing(|from, number, _| from == 0 && number < 600 && number % 2 == 0);
    assert!(bearer.enqueue(0, 601 * 38));
    bearer.run_until(ms(6015));
    assert!(bearer.enqueue(0, 20));
    bearer.run_until(ms(6145));
    let reports: Vec<_> = bearer.departures.iter().filter(|d| d.from == 1).collect();
    let left: Vec<_> = reports.iter().map(|d| in_ms(d.at)).collect();
    assert_eq!(left, [6040, 6050, 6060, 6140]);
    let polled = bearer.departures.iter().filter(|d| d.from == 0 && d.pdu.poll).map(|d| (in_ms(d.at), d.pdu.sn));
    assert_eq!(polled.collect::<Vec<_>>(), [(6010, 601), (6020, 602)]);
}
