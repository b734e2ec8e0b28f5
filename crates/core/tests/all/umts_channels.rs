//! The shared transport channels of a UMTS cell through its medium: the order of terminals, and collisions.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::cell::{Happened, happened};
use lasthop_core::engine::Instant;
use lasthop_core::net::observe::PduStep;
use lasthop_core::scenario::{check, read};

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

/// A cell with RLC in unacknowledged mode and PDUs of 40 B of data, whose terminals get DSCH for any packet.
fn dsch(ues: u32, order: &str, budget: &str, flows: &str) -> Happened {
    let text = format!(
        r#"
        duration = "10 s"
        profile = "3gpp"
        [[cell]]
        name = "cell"
        rnc = "rnc"
        ues = {ues}
        rlc.um = {{ header = "free", tells_start = false }}
        dsch = {{ rate = "256 kbit/s", order = "{order}" }}
        attachment.rrc = {{ threshold = "0 B", budget = "{budget}" }}
        {flows}
        "#
    );
    happened(&text, 1)
}

/// A flow of datagrams of 1472 B down, which with their headers are 38 PDUs, from `start` on.
fn downloads(ue: &str, start: &str, interval: &str) -> String {
    let source = format!("source.cbr = {{ size = \"1472 B\", interval = \"{interval}\" }}");
    format!("[[flow]]\nfrom = \"rnc\"\nto = \"cell.ue[{ue}]\"\nstart = \"{start}\"\ntransport = \"udp\"\n{source}\n")
}

/// The terminals of the intervals in which anything was sent down, in order, each with the number of its PDUs.
fn intervals(happened: &Happened) -> Vec<(Instant, usize, usize)> {
    let mut intervals: Vec<(Instant, usize, usize)> = Vec::new();
    for (at, ue) in happened.when(PduStep::Aired, false) {
        match intervals.last_mut() {
            Some((last, same, pdus)) if *last == at && *same == ue => *pdus += 1,
            _ => intervals.push((at, ue, 1)),
        }
    }
    intervals
}

#[test]
fn the_shared_channel_serves_one_terminal_in_an_interval_and_loses_nothing() {
    for order in ["fifo", "round_robin"] {
        // Three times 120 kbit/s towards 256 kbit/s: it is never idle once they are on it.
        let happened = dsch(3, order, "800 kbit/s", &downloads("*", "0 s", "100 ms"));
        let intervals = intervals(&happened);
        assert!(happened.when(PduStep::Dropped, false).is_empty(), "{order}");
        // Set up at 0.9 s, handed down at 0.909 s; 15 ms of Iub later the next interval begins at 0.93 s.
        assert_eq!(intervals[0].0, ms(930), "{order}");
        for pair in intervals.windows(2) {
            assert_eq!(pair[1].0.since(pair[0].0).as_nanos(), 10_000_000, "{order}: one terminal in each interval");
        }
        let full = intervals.iter().filter(|(.., pdus)| *pdus == 8).count() as f64;
        // 256 kbit/s in 10 ms are 8 PDUs; a packet's end may leave an interval partly empty.
        assert!(full > 0.75 * intervals.len() as f64, "{order}: {full} of {}", intervals.len());
        let shares: Vec<usize> =
            (0..3).map(|n| intervals.iter().filter(|(_, ue, _)| *ue == n).map(|(.., pdus)| pdus).sum()).collect();
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        assert!(most - least <= 2 * 38, "{order}: {shares:?}");
    }
}

#[test]
fn terminals_come_by_the_age_of_their_packets_or_in_turn() {
    // Two packets of 38 PDUs at the terminals 2, 0 and 1, which come in this order while they wait for channels.
    let flows = [("2", "1 ms"), ("0", "2 ms"), ("1", "3 ms")].map(|(ue, start)| downloads(ue, start, "20 s")).concat();
    let terminals = |order| -> Vec<usize> {
        intervals(&dsch(3, order, "800 kbit/s", &flows)).into_iter().map(|(_, ue, _)| ue).collect()
    };
    // Set-up takes equally long for all, so terminal 2 is alone for less than an interval. 38 PDUs are 5 intervals.
    assert_eq!(terminals("round_robin"), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    assert_eq!(terminals("fifo"), [2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
}

#[test]
fn a_terminal_whose_window_is_closed_passes_its_turn() {
    // A window of 8 PDUs, one interval's, and a report that takes several intervals: alone a terminal leaves most of
    // the channel idle, which a second one may use, regardless of the age of its packets.
    let delivered = |ues: u32, order: &str| -> Vec<f64> {
        let text = format!(
            r#"
            duration = "10 s"
            [[cell]]
            name = "cell"
            rnc = "rnc"
            ues = {ues}
            rlc.am = {{ window = 8, poll_every = 8 }}
            dsch = {{ rate = "256 kbit/s", order = "{order}" }}
            attachment.rrc.threshold = "0 B"
            {}
            "#,
            downloads("*", "0 s", "50 ms")
        );
        let happened = happened(&text, 1);
        (0..ues).map(|n| happened.value(&format!("ue[{n}] down"), "packets")).collect()
    };
    for order in ["fifo", "round_robin"] {
        let alone = delivered(1, order)[0];
        assert!(alone > 10.0, "{order}: {alone}");
        for packets in delivered(2, order) {
            assert!(packets > 0.8 * alone, "{order}: {packets} of {alone}");
        }
    }
}

/// RLC's timers wait for reports and answers: behind the bursts of other terminals they expire, and RLC begins anew though nothing is lost.
#[test]
fn control_information_goes_before_the_packets_of_others() {
    let flow = "[[flow]]\nfrom = \"rnc\"\nto = \"cell.ue[*]\"\n";
    let text = format!("duration = \"60 s\"\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\nues = 3\ndsch = {{}}\n{flow}");
    let happened = happened(&text, 1);
    for n in 0..3 {
        for end in ["down", "up"] {
            assert_eq!(happened.value(&format!("ue[{n}] {end}"), "resets"), 0.0, "ue[{n}] {end}");
        }
    }
}

#[test]
fn a_terminal_on_the_shared_channel_takes_little_of_the_cell() {
    // (800 − 32 − 256)/3.4 kbit/s are 150. With a large budget the codes decide: of 256 codes of SF 256, two are
    // those of CPICH and P-CCPCH, FACH's (SF 64) is an ancestor of 4, DSCH's (SF 8) of 32.
    for (budget, most) in [("800 kbit/s", 150.0), ("5 Mbit/s", 256.0 - 2.0 - 4.0 - 32.0)] {
        let happened = dsch(230, "fifo", budget, &downloads("*", "0 s", "2 s"));
        assert_eq!(happened.value("", "dedicated"), most, "{budget}");
        assert!(happened.services.iter().any(|(.., service)| *service == "shared"));
    }
}

/// TS 25.322 §9.5 g: Timer_Status_Periodic starts when the bearer is set up, and again whenever it expires.
#[test]
fn periodic_reports_come_in_every_period_after_a_late_start() {
    for start in ["0 s", "950 ms"] {
        let flow = downloads("0", start, "1000 s");
        let text = format!(
            "duration = \"10 s\"\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\nattachment = \"dedicated\"\n\
             rlc.am.status_periodic = \"200 ms\"\n{flow}"
        );
        let reports = happened(&text, 1).when(PduStep::Sent, true);
        for period in 5..49 {
            let within = |at: &Instant| (200 * period..200 * (period + 1)).contains(&(at.as_nanos() / 1_000_000));
            assert!(reports.iter().any(|(at, _)| within(at)), "from {start}: none in period {period}");
        }
    }
}

#[test]
fn tcp_gets_its_data_over_the_shared_channel_and_its_acknowledgements_over_a_dedicated_one() {
    let flow = "[[flow]]\nfrom = \"rnc\"\nto = \"cell.ue[*]\"\ntransport = \"tcp\"\nsource.file.size = \"60 kB\"\n";
    let happened = dsch(4, "round_robin", "800 kbit/s", flow);
    for n in 0..4 {
        assert!(happened.value(&format!("ue[{n}] down"), "bytes") > 60_000.0);
        assert_eq!(happened.value(&format!("ue[{n}] up"), "queue_dropped_pdus"), 0.0);
    }
    // 4 × 60 kB take 7.5 s at 256 kbit/s; with headers and the set-up all is done before 10 s.
    assert!(happened.value("", "dsch_sent_pdus") >= 4.0 * 60_000.0 / 40.0);
}

/// Terminals that send packets of 1472 B up on the common channels, with common packet channels.
fn uploads(ues: u32, interval: &str, cpch: &str, seed: u64) -> Happened {
    let text = format!(
        r#"
        duration = "4 s"
        profile = "3gpp"
        [[cell]]
        name = "cell"
        rnc = "rnc"
        ues = {ues}
        rlc.um = {{ header = "free", tells_start = false }}
        attachment = "common"
        {cpch}
        [[flow]]
        from = "cell.ue[*]"
        to = "rnc"
        transport = "udp"
        source.cbr = {{ size = "1472 B", interval = "{interval}" }}
        "#
    );
    happened(&text, seed)
}

/// When each interval began in which terminals sent up, and which they were.
fn frames(happened: &Happened) -> BTreeMap<Instant, BTreeSet<usize>> {
    let mut frames: BTreeMap<Instant, BTreeSet<usize>> = BTreeMap::new();
    for (at, ue) in happened.when(PduStep::Aired, true) {
        frames.entry(at).or_default().insert(ue);
    }
    frames
}

#[test]
fn a_message_follows_its_access_and_ends_after_so_many_frames() {
    // The access preamble goes at once, in the slot that begins at 0. The message may begin 10 access slots or
    // 13.3 ms later: with the interval at 20 ms, in 19 intervals of two PDUs each.
    let happened = uploads(1, "10 s", "cpch = { max_frames = 64 }", 1);
    let sent = happened.when(PduStep::Aired, true);
    let expected: Vec<(Instant, usize)> = (0..38).map(|n| (ms(20 + 10 * (n / 2)), 0)).collect();
    assert_eq!(sent, expected);
    assert_eq!(happened.value("", "cpch_accesses"), 1.0);
    assert_eq!(happened.arrivals.len(), 1);

    // With 8 frames the message is over at 100 ms, and 22 PDUs (880 B) remain: it tries again, and no message is
    // longer than 8 frames. Odd multiples of 10 ms are no intervals of RACH.
    let happened = uploads(1, "10 s", "cpch = { max_frames = 8, threshold = '500 B' }", 1);
    let sent = happened.when(PduStep::Aired, true);
    assert_eq!(sent.iter().filter(|(at, _)| *at < ms(100)).count(), 16);
    assert_eq!(happened.value("", "cpch_accesses"), 2.0);
    assert_eq!(happened.arrivals.len(), 1);
}

#[test]
fn one_terminal_at_a_time_has_a_common_packet_channel_unless_messages_collide() {
    let (mut collisions, mut alone) = (0.0, 0);
    for seed in 1..=10 {
        let happened = uploads(12, "1 s", "cpch = { channels = 1, max_frames = 8 }", seed);
        let lost = happened.when(PduStep::Lost, true).len();
        let mut together = 0;
        for (at, ues) in frames(&happened) {
            if at.as_nanos() % 20_000_000 == 0 {
                continue; // RACH sends then, too
            }
            if ues.len() == 1 {
                alone += 1;
            } else {
                together += 2 * ues.len();
            }
        }
        // Nothing of messages that collide is received, and nothing else is lost.
        assert!(lost >= together, "{lost} lost, {together} sent together in every other frame");
        let collided = happened.value("", "cpch_collisions");
        assert_eq!(lost > 0, collided > 0.0);
        collisions += collided;
        assert!(happened.value("", "cpch_lost") > 0.0, "12 terminals that begin at once meet");
    }
    assert!(alone > 500, "{alone} intervals with one terminal");
    assert!(collisions > 0.0, "12 contend for one channel at once, and share one of 16 preambles now and then");
}

#[test]
fn a_terminal_waits_for_channels_of_its_own_without_a_common_packet_channel() {
    let text = |switch: &str| {
        format!(
            r#"
            duration = "4 s"
            [[cell]]
            name = "cell"
            rnc = "rnc"
            ues = 2
            rlc.um = {{}}
            cpch = {{ max_frames = 16 }}
            attachment.rrc = {{ {switch} }}
            [[flow]]
            from = "cell.ue[*]"
            to = "rnc"
            transport = "udp"
            source.cbr = {{ size = "1000 B", interval = "400 ms" }}
            "#
        )
    };
    // Both carry the same in the end; packets under way over one when the other took over are not lost.
    for switch in ["", "uplink_threshold = '2000 B', keep = '200 ms'"] {
        let happened = happened(&text(switch), 3);
        assert!(happened.value("", "cpch_accesses") > 0.0, "{switch}");
        assert!(happened.arrivals.len() >= 16, "{switch}: {}", happened.arrivals.len());
    }
}

#[test]
fn random_access_is_slotted_aloha_if_asked_for() {
    // Ten terminals send one PDU each in the first interval, which begins at 20 ms. The access slots of its first frame are
    // the next full set, 0 to 7 (TS 25.214 §6.1). With M = 8 slots × S signatures a message is alone with probability (1 − 1/M)⁹, and two given ones both with
    // (1 − 1/M)(1 − 2/M)⁸.
    const RUNS: u32 = 150;
    for signatures in [1, 4] {
        let (k, m) = (10.0_f64, 8.0 * f64::from(signatures));
        let one = k * libm::pow(1.0 - 1.0 / m, 9.0);
        let pairs = k * (k - 1.0) * (1.0 - 1.0 / m) * libm::pow(1.0 - 2.0 / m, 8.0);
        let sigma = ((pairs + one - one * one) / f64::from(RUNS)).sqrt();
        let mut received = 0;
        for seed in 0..RUNS {
            let text = format!(
                r#"
                duration = "200 ms"
                [[cell]]
                name = "cell"
                rnc = "rnc"
                ues = 10
                rlc.um = {{ header = "free", tells_start = false }}
                rach_aloha = {{ signatures = {signatures} }}
                iub.delay = "0 s"
                attachment = "common"
                [[flow]]
                from = "cell.ue[*]"
                to = "rnc"
                transport = "udp"
                source.cbr = {{ size = "10 B", interval = "1 s" }}
                "#
            );
            let happened = happened(&text, u64::from(seed));
            received += happened.arrivals.len();
            let came = happened.when(PduStep::Received, true);
            assert_eq!(came.len() + happened.when(PduStep::Lost, true).len(), 10);
            for (at, _) in came {
                // Slot n of 4/3 ms, three slots to the message, 20 ms for it, 15 µs of MAC, 514 ns of Iub.
                let slot = (at.since(ms(20 + 4 + 20)).as_nanos() - 15_000) * 3 / 4_000_000;
                assert!(slot < 8, "{at:?}");
                let expected = 44_015_000 + slot * 4_000_000 / 3;
                assert!(at.as_nanos() - expected < 10 * 515, "{at:?}");
            }
        }
        let mean = received as f64 / f64::from(RUNS);
        assert!((mean - one).abs() < 4.0 * sigma, "{signatures} signatures: {mean} of {one} ± {sigma}");
    }
}

#[test]
fn terminals_share_the_forward_access_channel_and_nothing_is_sent_in_vain() {
    // FACH carries 100 PDUs a second, of 39 B each in unacknowledged mode: of a packet of 328 B and an indicator 30.2 bytes in 32.9, so terminals
    // that always have something to send get 28.4 kbit/s in all, whatever their number; in acknowledged mode, of 38 B, 27.7. Below that
    // nothing is lost. In profile `ns2` each RLC fills all intervals, as in EURANE, and the Node B drops half of what two send.
    let text = |ues: u32, rate: f64, lines: &str| {
        format!(
            r#"
            duration = "100 s"
            record.state = true
            [[cell]]
            name = "cell"
            rnc = "rnc"
            ues = {ues}
            attachment = "common"
            {lines}
            "#
        ) + &(0..ues)
            .map(|ue| {
                format!(
                    "[[flow]]\nfrom = 'rnc'\nto = 'cell.ue[{ue}]'\ntransport = 'udp'\nstart = '{} ms'\n\
                     source.cbr = {{ size = '300 B', rate = '{rate} kbit/s' }}\n",
                    37 * ue
                )
            })
            .collect::<String>()
    };
    for (rlc, payload) in [("um", 39.0), ("am", 38.0)] {
        for order in ["fifo", "round_robin"] {
            let lines = format!(
                "rlc = '{rlc}'
fach_order = '{order}'
rach = {{ rate = '32 kbit/s', tti = '20 ms' }}"
            );
            for ues in [1, 2, 4] {
                let happened = happened(&text(ues, 40.0, &lines), 1);
                let (bytes, most) = (300.0 * happened.arrivals.len() as f64, 100.0 * 100.0 * payload / 329.0 * 300.0);
                assert!((0.985..=1.0).contains(&(bytes / most)), "{rlc}, {order}, {ues}: {bytes} of {most}");
                assert_eq!(happened.value("", "fach_dropped_pdus"), 0.0, "{rlc}, {order}, {ues}");
            }
            // Seven tenths of the channel.
            let happened = happened(&text(4, 5.0, &lines), 1);
            for ue in 0..4 {
                assert_eq!(happened.value(&format!("ue[{ue}] down"), "lost_sdus"), 0.0, "{rlc}, {order}");
            }
            assert!(happened.arrivals.len() > 750, "{rlc}, {order}");
        }
    }
    let eurane = happened(
        &format!(
            "profile = 'ns2'
{}",
            text(2, 40.0, "")
        ),
        1,
    );
    assert!(eurane.value("", "fach_dropped_pdus") > 0.8 * eurane.value("", "fach_sent_pdus"));
}

#[test]
fn whose_sdu_did_not_fit_into_the_rest_of_an_interval_has_the_next_one() {
    // An interval carries two PDUs. Each SDU of the first takes both (TS 25.322 §9.2.2.9), each of the second one. They take turns: an
    // SDU of the second leaves a place in which the first's does not fit.
    let text = "duration = '8 s'\n[[cell]]\nname = 'cell'\nrnc = 'rnc'\nues = 2\nattachment = 'common'\nfach_order = 'round_robin'\n\
         rlc.tm.segmentation = true\nfach = { rate = '64 kbit/s', tti = '10 ms' }\n\
         [[flow]]\nfrom = 'rnc'\nto = 'cell.ue[0]'\ntransport = 'udp'\nsource.cbr = { size = '40 B', interval = '15 ms' }\n\
         [[flow]]\nfrom = 'rnc'\nto = 'cell.ue[1]'\ntransport = 'udp'\nsource.cbr = { size = '8 B', interval = '9 ms' }\n";
    let aired = happened(text, 1).when(PduStep::Aired, false);
    // Both always have something to send, so the first has every second interval: 100 PDUs a second.
    let first = aired.iter().filter(|(_, ue)| *ue == 0).count();
    assert!(first >= 8 * 98, "{first} PDUs of the first terminal");
}

#[test]
fn who_came_first_on_the_forward_access_channel_is_sent_first() {
    // A packet of one PDU comes to each of four terminals in each 50 ms, at one instant, and the channel sends one in 10 ms: each round goes 0, 1, 2, 3,
    // though some of the round before have not reached their terminals when the next begins.
    for rlc in ["tm", "um"] {
        let text = format!(
            "duration = '2 s'\n[[cell]]\nname = 'cell'\nrnc = 'rnc'\nues = 4\nattachment = 'common'\nrlc = '{rlc}'\n[[flow]]\nfrom = 'rnc'\n\
             to = 'cell.ue[*]'\ntransport = 'udp'\nsource.cbr = {{ size = '5 B', interval = '50 ms' }}\n"
        );
        let sent: Vec<usize> = happened(&text, 1).when(PduStep::Aired, false).into_iter().map(|(_, ue)| ue).collect();
        assert!(sent.len() >= 150, "{rlc}: {}", sent.len());
        assert!(sent.iter().enumerate().all(|(n, ue)| *ue == n % 4), "{rlc}: {sent:?}");
    }
}

#[test]
fn a_terminal_sends_its_next_message_when_the_last_has_ended() {
    // 399 B and an indicator are 10 PDUs. Preamble, three slots and a message of 20 ms take 24 to 33.3 ms, so the next
    // interval that may follow is the second.
    let text = r#"
        duration = "2 s"
        [[cell]]
        name = "cell"
        rnc = "rnc"
        rlc.um = { header = "free", tells_start = false }
        rach_aloha = {}
        attachment = "common"
        [[flow]]
        from = "cell.ue[*]"
        to = "rnc"
        transport = "udp"
        source.cbr = { size = "371 B", interval = "10 s" }
        "#;
    for seed in 0..20 {
        let happened = happened(text, seed);
        let sent = happened.when(PduStep::Aired, true);
        assert_eq!(sent.len(), 10);
        for pair in sent.windows(2) {
            let gap = pair[1].0.since(pair[0].0).as_nanos() / 1_000_000;
            assert_eq!(gap, 40, "ms");
        }
        assert!(happened.when(PduStep::Dropped, true).is_empty() && happened.arrivals.len() == 1);
    }
}

/// A cell of one terminal with access slots, which sends up so that it leaves RACH for another channel again and again.
fn leaves_rach(lines: &str, size: u32, interval: &str) -> Happened {
    let text = format!(
        r#"
        duration = "60 s"
        [[cell]]
        name = "cell"
        rnc = "rnc"
        rach_aloha = {{}}
        {lines}
        [[flow]]
        from = "cell.ue[*]"
        to = "rnc"
        transport = "udp"
        source.cbr = {{ size = "{size} B", interval = "{interval}" }}
        "#
    );
    happened(&text, 1)
}

#[test]
fn a_terminal_that_leaves_rach_sends_its_last_message_first() {
    // A message ends up to 33.3 ms after the beginning of its interval, when CPCH or DCH may have begun: 13.3 ms after its access, and 9 ms
    // after the set-up. The air loses nothing, so neither may RLC, which in unacknowledged mode has no use for a PDU that is late.
    let dch = "attachment.rrc = { uplink_threshold = '500 B', serve_during_switch = true, keep = '1 s' }";
    let cpch = "attachment = 'common'\ncpch = {}";
    for (channel, size, interval, changes) in
        [(cpch, 300, "150 ms", "cpch_accesses"), (dch, 3000, "3300 ms", "allocations")]
    {
        for rlc in ["um", "am"] {
            let happened = leaves_rach(&format!("rlc = '{rlc}'\n{channel}"), size, interval);
            assert!(happened.value("", changes) >= 15.0, "{channel}: it changes channels");
            assert_eq!(happened.value("ue[0] down", "lost_sdus"), 0.0, "{rlc}, {channel}");
            if rlc == "am" {
                assert_eq!(happened.value("ue[0] up", "retransmitted_pdus"), 0.0, "{channel}");
            }
        }
    }
}

#[test]
fn messages_on_rach_that_wait_for_access_longer_than_an_interval_keep_their_order() {
    // 300 B and headers are 9 PDUs, in as many intervals of 20 ms; each waits up to 60 ms by itself. A DCH begins before the last has come.
    let text = |line: &str, bytes: u32, interval: &str| {
        format!(
            r#"
            duration = "60 s"
            [[cell]]
            name = "cell"
            rnc = "rnc"
            rlc = "um"
            rach_access = "60 ms"
            {line}
            [[flow]]
            from = "cell.ue[*]"
            to = "rnc"
            transport = "udp"
            source.cbr = {{ size = "{bytes} B", interval = "{interval}" }}
            "#
        )
    };
    let dch = "attachment.rrc = { uplink_threshold = '500 B', serve_during_switch = true, keep = '1 s' }";
    for text in [text("attachment = 'common'", 300, "500 ms"), text(dch, 3000, "3300 ms")] {
        let happened = happened(&text, 1);
        assert!(happened.arrivals.len() >= 18, "{}", happened.arrivals.len());
        assert_eq!(happened.value("ue[0] down", "lost_sdus"), 0.0);
    }
}

#[test]
fn a_terminal_on_dedicated_channels_gets_nothing_over_fach() {
    // Served during the set-up, whose end finds PDUs in FACH's queue and on the air: an interval takes 80 ms, and one over DCH 10 ms. Over FACH
    // they would come after later ones over DCH, reports after later reports, and RLC would reset.
    let text = |profile: &str, setup: u32| {
        format!(
            r#"
            duration = "20 s"
            profile = "{profile}"
            [[cell]]
            name = "cell"
            rnc = "rnc"
            fach = {{ rate = "32 kbit/s", tti = "80 ms" }}
            rlc.am = {{ poll_every = 8, status_prohibit = "20 ms" }}
            attachment.rrc = {{ threshold = "1000 B", uplink_threshold = "1000 B", serve_during_switch = true, setup = "{setup} ms" }}
            [[flow]]
            from = "cell.ue[*]"
            to = "rnc"
            source.file.size = "30 kB"
            [[flow]]
            from = "rnc"
            to = "cell.ue[*]"
            source.file.size = "30 kB"
            "#
        )
    };
    let mut lost = 0;
    for setup in (840..940).step_by(10) {
        let happened = happened(&text("3gpp", setup), 1);
        let dedicated = happened.services.iter().find(|(.., service)| *service == "dedicated").unwrap().0;
        let late = happened.when(PduStep::Lost, false);
        assert!(
            late.iter().all(|(at, _)| *at >= dedicated && *at < dedicated + ms(260).since(Instant::ZERO)),
            "{late:?}"
        );
        assert_eq!(happened.value("ue[0] down", "air_lost_pdus"), late.len() as f64);
        lost += late.len();
        for bearer in ["ue[0] down", "ue[0] up"] {
            assert_eq!(
                (happened.value(bearer, "resets"), happened.value(bearer, "lost_sdus")),
                (0.0, 0.0),
                "{setup} ms"
            );
        }
    }
    assert!(lost > 0);
    // In EURANE they are received.
    assert_eq!(happened(&text("ns2", 900), 1).value("ue[0] down", "air_lost_pdus"), 0.0);
}

#[test]
fn pdus_are_handed_down_before_intervals_whatever_the_channel_before() {
    // Intervals begin at multiples of their length (TS 25.402 §8: frame numbers), and RLC hands down 1 ms before one. The terminal goes
    // from RACH (20 ms) and FACH (10 ms) to DCH (10 ms up, 80 ms down) and back, at instants of each kind.
    for start in (1_000..1_080).step_by(5) {
        let text = format!(
            r#"
            duration = "8 s"
            profile = "3gpp"
            [[cell]]
            name = "cell"
            rnc = "rnc"
            rlc.um = {{}}
            spacing = "0 s"
            dch.down = {{ rate = "64 kbit/s", tti = "80 ms" }}
            attachment.rrc.keep = "250 ms"
            {}
            [[flow]]
            from = "cell.ue[0]"
            to = "rnc"
            transport = "udp"
            source.cbr = {{ size = "4 B", interval = "307 ms" }}
            "#,
            downloads("0", &format!("{start} ms"), "100 s"),
        );
        let happened = happened(&text, 1);
        let served = |by| happened.services.iter().find(|(.., service)| *service == by).unwrap().0;
        let (dedicated, common) = (served("dedicated"), served("common"));
        let phases = |up, from, to, tti: u64| -> BTreeSet<u64> {
            let sent = happened.when(PduStep::Sent, up).into_iter().filter(|(at, _)| (from..to).contains(at));
            sent.map(|(at, _)| at.as_nanos() % (tti * 1_000_000) / 1_000).collect()
        };
        let begin = Instant::ZERO;
        assert_eq!(phases(true, begin, dedicated, 20), [19_000].into(), "RACH, {start} ms");
        assert_eq!(phases(true, dedicated, common, 10), [9_000].into(), "DCH up, {start} ms");
        assert_eq!(phases(false, dedicated, common, 80), [79_000].into(), "DCH down, {start} ms");
        assert_eq!(phases(true, common, Instant::MAX, 20), [19_000].into(), "RACH again, {start} ms");
    }
}

#[test]
fn a_channel_that_nothing_is_mapped_to_is_refused() {
    let scenario = |cell: &str| {
        let text = format!("duration = \"1 s\"\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\n{cell}\n");
        read::toml(&text, "test.toml").and_then(|document| check(&document)).map_err(|error| error.to_string())
    };
    for (cell, message) in [
        ("attachment = \"common\"\ndsch = {}", "the attachment \"common\" maps nothing to DSCH"),
        ("attachment = \"dedicated\"\ncpch = {}", "the attachment \"dedicated\" maps nothing to CPCH"),
        ("dsch.tti = \"2 ms\"", "a transmission time interval of 2 ms"),
        ("dch.down = { rate = \"384 kbit/s\", tti = \"2 ms\" }", "a transmission time interval of 2 ms"),
        ("dsch.rate = \"3 Mbit/s\"", "take 4 codes of spreading factor 4"),
        ("cpch.channels = 17", "17 common packet channels"),
        ("rach_aloha.signatures = 0", "0 signatures"),
        ("fach = { rate = \"32 kbit/s\", tti = \"15 ms\" }", "a transmission time interval of 15 ms"),
    ] {
        let error = scenario(cell).unwrap_err();
        assert!(error.contains(message), "{cell}: {error}");
    }
    for cell in ["dsch = {}\ncpch = {}\nrach_aloha = {}", "attachment = \"common\"\ncpch = {}"] {
        scenario(cell).unwrap();
    }
}

/// The wire to a terminal takes 22 ms, the cell 1 + 15 + 10: a millisecond to the RNC, the Iub, and an interval of FACH.
#[test]
fn the_iub_counts_where_ways_are_compared() {
    for (iub, over_the_wire) in [("15 ms", 1.0), ("5 ms", 0.0)] {
        let text = format!(
            "duration = '5 s'
            link = [
                {{ name = 'core', between = ['s', 'rnc'], rate = '10 Mbit/s', delay = '1 ms' }},
                {{ name = 'wire', between = ['s', 'c.ue[0]'], rate = '10 Mbit/s', delay = '22 ms' }},
            ]
            cell = [{{ name = 'c', rnc = 'rnc', ues = 1, iub.delay = '{iub}' }}]
            flow = [{{ from = 's', to = 'c.ue[0]', transport = 'udp', source.cbr = {{ interval = '10 s', size = '12 B' }} }}]"
        );
        let results = crate::common::scenario::run(&text, 1);
        let links = results.table("links").unwrap();
        let row = crate::common::scenario::rows(links, &[("link", "wire s>c.ue[0]")])[0];
        assert_eq!(links.number("packets", row), Some(over_the_wire), "{iub}");
    }
}
