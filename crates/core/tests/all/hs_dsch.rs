//! The high-speed shared channel of a UMTS cell through its medium: slots, hybrid ARQ, order, capacity, and refusals.

use std::collections::BTreeMap;

use crate::common::cell::{Happened, happened};
use crate::common::scenario::{rows, run};
use lasthop_core::engine::{Decibel, Instant};
use lasthop_core::net::observe::PduStep;
use lasthop_core::radio::rate_map::{RateMapConfig, cqi};
use lasthop_core::scenario::{check, read};

fn us(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000)
}

/// A scenario with a cell of `ues` terminals, lines of the cell, lines of its channel, and flows.
fn text(head: &str, ues: u32, lines: &str, channel: &str, flows: &str) -> String {
    format!(
        "{head}\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\nues = {ues}\nattachment = \"high_speed\"\n{lines}\n\
         [cell.hs_dsch]\n{channel}\n{flows}"
    )
}

const NS2: &str = "duration = \"10 s\"\nprofile = \"ns2\"";
const GPP: &str = "duration = \"10 s\"\nprofile = \"3gpp\"";

/// PDUs of 40 B of data, and nothing sent again by RLC.
const UM: &str = "rlc.um = { header = \"free\", tells_start = false, buffer = \"10 MB\" }";

/// Datagrams of `bytes` bytes on the wire down to terminals, with a pause in between.
fn datagrams(ue: &str, bytes: u64, interval: &str) -> String {
    let source = format!("source.cbr = {{ size = \"{bytes} B\", interval = \"{interval}\" }}");
    let name = if ue == "*" { "" } else { "name = \"one\"\n" };
    format!(
        "[[flow]]\n{name}from = \"rnc\"\nto = \"cell.ue[{ue}]\"\ntransport.udp = {{ header = \"0 B\" }}\n{source}\n"
    )
}

/// When blocks began to be sent for the first time, with terminal and number of PDUs.
fn blocks(happened: &Happened) -> Vec<(Instant, usize, usize)> {
    let mut blocks: BTreeMap<(Instant, usize), usize> = BTreeMap::new();
    for at in happened.when(PduStep::Aired, false) {
        *blocks.entry(at).or_default() += 1;
    }
    blocks.into_iter().map(|((at, ue), pdus)| (at, ue, pdus)).collect()
}

#[test]
fn a_block_that_fails_is_sent_again_twelve_milliseconds_later() {
    // Asked for at 30 ms, allocated at 45 ms, at the Node B 15 ms and 320 bits of 622 Mbit/s later; the next decision is
    // for the slot at 62 ms. Each failure costs six slots; in profile ns2 a block takes no time but 5 µs on the channel.
    for (gains, arrival) in [("[\"6 dB\"]", 62_005), ("[\"-6 dB\", \"6 dB\"]", 62_005)] {
        let channel =
            format!("cqi = [[[1, 14]]]\nreception.thresholds = {{ gains = {gains}, thresholds = [\"54 dB\"] }}");
        let happened = happened(&text(NS2, 1, "", &channel, &datagrams("0", 40, "1000 s")), 1);
        assert_eq!(happened.when(PduStep::Received, false), [(us(arrival), 0)], "{gains}");
    }
    for (gains, arrival) in [("[\"6 dB\"]", 74_005), ("[\"-6 dB\", \"6 dB\"]", 86_005)] {
        let channel =
            format!("cqi = [[[1, 14]]]\nreception.thresholds = {{ gains = {gains}, thresholds = [\"60 dB\"] }}");
        let happened = happened(&text(NS2, 1, "", &channel, &datagrams("0", 40, "1000 s")), 1);
        assert_eq!(blocks(&happened), [(us(62_000), 0, 1)], "{gains}");
        assert_eq!(happened.when(PduStep::Received, false), [(us(arrival), 0)], "{gains}");
    }
    // In profile 3gpp an allocation takes 30 ms, and a block 2 ms.
    let ideal = "cqi = [[[1, 14]]]\nreception = \"thresholds\"";
    let happened = happened(&text(GPP, 1, UM, ideal, &datagrams("0", 39, "1000 s")), 1);
    assert_eq!(happened.when(PduStep::Received, false), [(us(30_000 + 30_000 + 18_005), 0)]);
}

#[test]
fn what_fails_three_times_is_lost_and_the_terminal_waits_for_it_no_longer_than_t1() {
    // One block in ten is never received. What follows it comes 25 ms after the first later block at the latest.
    let channel = "cqi = [[[1, 14]]]\nreception.thresholds.thresholds = [\"60 dB\", \"0 dB\", \"0 dB\", \"0 dB\", \"0 dB\", \
                   \"0 dB\", \"0 dB\", \"0 dB\", \"0 dB\", \"0 dB\"]";
    let happened = happened(&text(NS2, 1, UM, channel, &datagrams("0", 320, "10 ms")), 1);
    let [sent, received, lost] =
        [PduStep::Sent, PduStep::Received, PduStep::Lost].map(|step| happened.when(step, false).len());
    assert!(lost > 100 && received > 1000, "{received} received, {lost} lost");
    // At the end some are under way.
    assert!((received + lost..=received + lost + 50).contains(&sent), "{sent} sent, {received} received, {lost} lost");
    let failed = happened.value("ue[0] down", "hs_dsch_failed_blocks");
    assert!((failed - 3.0 * happened.value("ue[0] down", "hs_dsch_given_up_blocks")).abs() < 6.0);
    assert_eq!(lost as f64, happened.value("ue[0] down", "air_lost_pdus"));
    let missed = happened.value("ue[0] down", "hs_dsch_missed_blocks");
    assert!((missed - happened.value("ue[0] down", "hs_dsch_given_up_blocks")).abs() <= 2.0);
}

/// A block that comes with its last transmission, which `processes` × (`transmissions` − 1) slots take, is waited for by default. One
/// that comes too late is lost.
#[test]
fn a_terminal_waits_as_long_as_a_block_may_be_sent_again() {
    for (processes, transmissions, gains) in [(6, 3, "0, 30"), (8, 3, "0, 30"), (7, 4, "0, 0, 30")] {
        let gains = gains.split(", ").map(|gain| format!("\"{gain} dB\"")).collect::<Vec<_>>().join(", ");
        let happened = |t1: &str| {
            let channel = format!(
                "cqi = [[[1, 14]]]\nprocesses = {processes}\ntransmissions = {transmissions}\n{t1}\n\
                 reception.thresholds = {{ gains = [{gains}], thresholds = [\"70 dB\", \"0 dB\", \"0 dB\", \"0 dB\"] }}"
            );
            happened(&text(GPP, 1, UM, &channel, &datagrams("0", 320, "10 ms")), 1)
        };
        let usual = happened("");
        assert!(usual.value("ue[0] down", "hs_dsch_failed_blocks") > 100.0);
        assert_eq!(usual.value("ue[0] down", "hs_dsch_missed_blocks"), 0.0, "{processes} × {transmissions}");
        assert_eq!(usual.value("ue[0] down", "air_lost_pdus"), 0.0, "{processes} × {transmissions}");
        let short = happened("t1 = \"10 ms\"");
        let [sent, received, lost] =
            [PduStep::Sent, PduStep::Received, PduStep::Lost].map(|step| short.when(step, false).len());
        assert_eq!(lost as f64, short.value("ue[0] down", "air_lost_pdus"));
        assert!(lost > 100 && (received + lost..=received + lost + 50).contains(&sent), "{sent}, {received}, {lost}");
    }
}

#[test]
fn a_slot_carries_as_many_pdus_as_its_cqi_allows() {
    // ⌊(bits − 21)/320⌋ of tables 7A and 7D, at most 70; a lower CQI carries none. Enough waits, as 250 PDUs every 30 ms may come.
    for (category, cqi, pdus) in
        [(6, 3, 0), (6, 6, 1), (6, 14, 8), (6, 22, 22), (6, 30, 22), (10, 25, 44), (10, 30, 70)]
    {
        let channel = format!(
            "cqi = [[[1, {cqi}]]]\ncategory = {category}\nreception = \"thresholds\"\ncapacity = {{ limit = 5000 }}"
        );
        let happened = happened(&text("duration = \"1 s\"", 1, UM, &channel, &datagrams("0", 40_000, "10 ms")), 1);
        let blocks = blocks(&happened);
        assert!(blocks.iter().all(|(.., of)| *of == pdus), "category {category}, CQI {cqi}");
        // From the slot at 76 ms on all are used, to that at 1 s, which is decided on before.
        assert_eq!(blocks.len(), if pdus == 0 { 0 } else { 463 }, "category {category}, CQI {cqi}");
    }
}

/// By default a Node B has as much for a terminal as its best blocks carry until the next PDUs come.
#[test]
fn one_terminal_gets_the_highest_rate_of_its_category() {
    for (category, cqi, pdus, of_slots) in [(6, 22, 22, 1), (10, 30, 70, 1), (1, 22, 22, 3)] {
        let channel = format!("cqi = [[[1, {cqi}]]]\ncategory = {category}\nreception = \"thresholds\"");
        let happened = happened(&text("duration = \"1 s\"", 1, UM, &channel, &datagrams("0", 40_000, "10 ms")), 1);
        let blocks = blocks(&happened);
        assert!(blocks.iter().all(|(.., of)| *of == pdus), "category {category}");
        assert_eq!(blocks.len(), 463_usize.div_ceil(of_slots), "category {category}");
    }
    // EURANE's limit of 250 PDUs lasts for 12 of the 30 slots of two requests.
    let channel = "cqi = [[[1, 22]]]\nreception = \"thresholds\"";
    let head = NS2.replace("10 s", "1 s");
    let happened =
        happened(&text(&head, 1, "rlc.eurane_hs.buffer = 100000", channel, &datagrams("0", 40_000, "10 ms")), 1);
    assert!(blocks(&happened).len() < 250);
}

#[test]
fn terminals_of_low_categories_do_not_get_every_slot() {
    for (category, apart) in [(1, 6_000), (3, 4_000), (5, 2_000), (11, 4_000), (12, 2_000)] {
        let channel = format!("cqi = [[[1, 14]]]\ncategory = {category}\nreception = \"thresholds\"");
        let happened = happened(&text("duration = \"1 s\"", 1, UM, &channel, &datagrams("0", 4_000, "10 ms")), 1);
        let blocks = blocks(&happened);
        let least = blocks.windows(2).map(|pair| pair[1].0.since(pair[0].0).as_nanos() / 1000).min();
        assert_eq!(least, Some(apart), "category {category}");
    }
}

/// TS 25.306 table 5.1a counts blocks that are sent again too. These keep their turn, and new ones leave them room.
#[test]
fn blocks_sent_again_count_for_what_terminals_of_low_categories_receive() {
    for (category, processes, least) in [(1, 6, 3), (1, 7, 3), (1, 8, 3), (3, 7, 2), (11, 7, 2), (5, 7, 1)] {
        let channel = format!(
            "cqi = [[[1, 14]]]\ncategory = {category}\nprocesses = {processes}\n\
             reception.thresholds.thresholds = [\"60 dB\", \"0 dB\", \"0 dB\", \"0 dB\"]"
        );
        let head = "duration = \"5 s\"\nrecord.slots = true";
        let results = run(&text(head, 2, UM, &channel, &datagrams("*", 4_000, "10 ms")), 1);
        let table = results.table("slots").unwrap();
        let slot = |row: &usize| (500.0 * table.number("time_s", *row).unwrap()).round() as u64;
        for ue in 0..2 {
            let rows = rows(table, &[("bearer", &format!("cell.ue[{ue}] down"))]);
            let apart = rows.windows(2).map(|pair| slot(&pair[1]) - slot(&pair[0])).min();
            assert_eq!(apart, Some(least), "category {category}, {processes} processes, ue[{ue}]");
            let mut last = BTreeMap::new();
            for row in &rows {
                let value = |column| table.number(column, *row).unwrap() as u64;
                if let Some(before) = last.insert(value("number"), slot(row)) {
                    assert_eq!(slot(row) - before, processes, "block {} goes again", value("number"));
                }
            }
            let failed = rows.iter().filter(|row| table.number("received", **row) == Some(0.0)).count();
            assert!(failed > 100, "{failed} of {} failed", rows.len());
        }
    }
}

#[test]
fn schedulers_share_slots_as_they_say() {
    // Three busy terminals whose slots carry 3, 8 and 14 PDUs.
    let shares = |scheduler: &str| -> Vec<f64> {
        let channel = format!(
            "cqi = [[[1, 10]], [[1, 14]], [[1, 18]]]\nscheduler = \"{scheduler}\"\nreception = \"thresholds\"\n\
             capacity.limit = 5000"
        );
        let happened = happened(&text(GPP, 3, UM, &channel, &datagrams("*", 4_000, "10 ms")), 1);
        let blocks = blocks(&happened);
        let of = |ue: usize| blocks.iter().filter(|block| block.1 == ue).count() as f64 / blocks.len() as f64;
        (0..3).map(of).collect()
    };
    for scheduler in ["round_robin", "least_recent", "proportional_fair"] {
        for share in shares(scheduler) {
            assert!((share - 1.0 / 3.0).abs() < 0.01, "{scheduler}: {share}");
        }
    }
    // The best has all: 300 PDUs come in 30 ms, and 15 slots carry 210.
    assert_eq!(shares("max_sir")[..2], [0.0, 0.0]);
    // With steady air no terminal is better off than usual, and the first comes first.
    assert_eq!(shares("fair_channel")[1..], [0.0, 0.0]);
}

#[test]
fn blocks_fail_as_often_as_the_fit_says() {
    // One PDU in a block: CQI 6 in the middle of its range, and the ratio that two transmissions come to.
    let map = cqi::Config::default().build();
    let sir = cqi::to_sir(6);
    let [once, twice] = [0.0, 3.010_299_957].map(|more| map.error(6, Decibel::new(sir.db() + more)));
    let long = "duration = \"300 s\"\nprofile = \"3gpp\"";
    let happened = happened(&text(long, 1, UM, "cqi = [[[1, 6]]]", &datagrams("0", 4_000, "100 ms")), 1);
    let value = |quantity: &str| happened.value("ue[0] down", quantity);
    let (blocks, failed) = (value("hs_dsch_blocks"), value("hs_dsch_failed_blocks"));
    assert!(blocks > 100_000.0);
    let expected = once + twice;
    let five = 5.0 * (once * (1.0 - once) / blocks).sqrt();
    assert!((failed / blocks - expected).abs() < five, "{failed} of {blocks}, expected {expected}");
}

#[test]
fn acknowledged_mode_delivers_when_unacknowledged_mode_does_if_nothing_is_lost() {
    // The same PDUs, if headers take nothing: reports go up, and polls cost nothing.
    let am = "rlc.am = { header = \"free\", buffer = \"10 MB\" }";
    let flows = datagrams("*", 1_033, "37 ms") + &datagrams("0", 77, "13 ms");
    let ideal = "cqi = [[[40, 14], [60, 9]]]\nreception = \"thresholds\"";
    let [um, am] = [UM, am].map(|rlc| happened(&text(GPP, 2, rlc, ideal, &flows), 1).arrivals);
    assert!(um.len() > 1000);
    assert_eq!(um, am);
    let dedicated = |rlc: &str| {
        let dch =
            "attachment = \"dedicated\"\ndch.down = { rate = \"384 kbit/s\", tti = \"10 ms\" }\nspacing = \"0 s\"";
        happened(&format!("{GPP}\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\nues = 2\n{rlc}\n{dch}\n{flows}"), 1)
            .arrivals
    };
    assert_eq!(dedicated(UM), dedicated("rlc.am = { header = \"free\", buffer = \"10 MB\" }"));
}

#[test]
fn every_mode_delivers_whatever_hybrid_arq_loses() {
    // A tenth of the blocks fails once, a tenth for ever. Acknowledged modes send the rest again.
    let channel = "cqi = [[[1, 14]]]\nreception.thresholds = { gains = [\"0 dB\"], thresholds = [\"60 dB\", \"0 dB\", \"0 dB\", \
                   \"0 dB\", \"0 dB\", \"0 dB\", \"0 dB\", \"0 dB\", \"0 dB\", \"0 dB\"] }";
    for rlc in ["rlc = \"am\"", "rlc = \"eurane\"", "rlc = \"eurane_hs\""] {
        let flow = "[[flow]]\nfrom = \"rnc\"\nto = \"cell.ue[*]\"\nsource.file = { size = \"200 kB\" }\n";
        let happened = happened(&text("duration = \"60 s\"", 2, rlc, channel, flow), 1);
        for ue in ["ue[0] down", "ue[1] down"] {
            assert!(happened.value(ue, "air_lost_pdus") > 50.0, "{rlc}");
            assert!(happened.value(ue, "retransmitted_pdus") > 50.0, "{rlc}");
            assert_eq!(happened.value(ue, "lost_sdus"), 0.0, "{rlc}");
            assert!(happened.value(ue, "bytes") >= 200_000.0, "{rlc}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_where_it_is() {
    let fine = "cqi = [[[1, 14]]]";
    let refused = |lines: &str, channel: &str| {
        let text = text("duration = \"1 s\"", 2, lines, channel, "");
        read::toml(&text, "text").and_then(|document| check(&document)).map_err(|e| e.to_string())
    };
    assert_eq!(refused("", fine), Ok(()));
    // Channels in intervals that carry such PDUs.
    let wide = "rlc.um.pdu = \"1000 B\"\nfach = { rate = \"1 Mbit/s\", tti = \"10 ms\" }\nrach = { rate = \"1 Mbit/s\", tti = \
                \"10 ms\" }\ndch.down = { rate = \"1 Mbit/s\", tti = \"10 ms\" }\ndch.up = { rate = \"1 Mbit/s\", tti = \"10 ms\" }";
    for (lines, channel, expected) in [
        ("", "cqi = []", "0 traces for 2 terminals"),
        ("", "cqi = [[[1, 14]], [[1, 14]], [[1, 14]]]", "3 traces for 2 terminals"),
        ("", "cqi = [[]]", "the trace of terminal 0 is empty"),
        ("", "cqi = [[[0, 14]]]", "0 slots with CQI 14"),
        ("", "cqi = [[[5, 31]]]", "5 slots with CQI 31"),
        ("", "cqi = [[[1, 14]]]\ncategory = 13", "terminals of category 13"),
        ("", "cqi = [[[1, 14]]]\nprocesses = 5", "5 processes"),
        ("", "cqi = [[[1, 14]]]\ntransmissions = 0", "a block that is never sent"),
        ("", "cqi = [[[1, 14]]]\nwindow = 33", "a window of 33 blocks"),
        ("", "cqi = [[[1, 14]]]\nt1 = \"0 s\"", "a terminal that waits for nothing"),
        ("", "cqi = [[[1, 14]]]\nair_time = \"3 ms\"", "a block is on the air for 3 ms"),
        ("", "cqi = [[[1, 14]]]\ncapacity.interval = \"0 s\"", "requests without end"),
        ("", "cqi = [[[1, 14]]]\ncapacity.limit = 0", "a Node B that takes nothing"),
        ("", "cqi = [[[1, 14]]]\nreception.thresholds.thresholds = []", "a list of none"),
        ("", "cqi = [[[1, 14]]]\nscheduler.fair_channel.window = \"0 s\"", "an average over no time"),
        (wide, fine, "a block of 7168 bits, the largest, carries no PDU of 8000 bits"),
        ("rlc = \"tm\"", fine, "an HS-DSCH carries PDUs of unacknowledged and acknowledged mode"),
        ("loss.bernoulli.p = 0.1", fine, "\"loss\" says what the air loses down"),
        ("rlc.eurane_hs.am.max_dat = 3", fine, "the RNC's entity gives nothing up"),
    ] {
        let message = refused(lines, channel).unwrap_err();
        assert!(message.contains(expected), "{lines} {channel}: {message}");
    }
    for (cell, expected) in [
        ("attachment = \"high_speed\"", "needs an HS-DSCH"),
        ("attachment = \"dedicated\"\nhs_dsch = { cqi = [[[1, 14]]] }", "maps nothing to HS-DSCH"),
        ("attachment = \"dedicated\"\nrlc = \"eurane_hs\"", "sends what a Node B gives capacity for"),
    ] {
        let text = format!("duration = \"1 s\"\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\n{cell}\n");
        let message = read::toml(&text, "text").and_then(|document| check(&document)).unwrap_err().to_string();
        assert!(message.contains(expected), "{cell}: {message}");
    }
}

/// Proportional fair goes by what terminals got (Jalali et al. 2000). One that has little to send is far below its share, so its PDUs leave as soon
/// as they come: every 30 ms, with an allocation. If blocks counted as full it would be served in turn with the others: every 62 ms.
#[test]
fn proportional_fair_counts_what_a_block_carries() {
    let flow = |ue: u32, bytes: u32, interval: &str| {
        format!(
            "[[flow]]\nname = \"f{ue}\"\nfrom = \"rnc\"\nto = \"cell.ue[{ue}]\"\ntransport.udp = {{ header = \"0 B\" }}\n\
             source.cbr = {{ size = \"{bytes} B\", interval = \"{interval}\" }}\n"
        )
    };
    let flows: String = (0..30).map(|ue| flow(ue, 400, "10 ms")).chain([flow(30, 39, "10 ms")]).collect();
    let channel = "cqi = [[[1, 14]]]\nreception = \"thresholds\"\nscheduler = \"proportional_fair\"";
    let all = blocks(&happened(&text(GPP, 31, UM, channel, &flows), 1));
    let thin = all.iter().filter(|(at, ue, _)| *at > us(5_000_000) && *ue == 30).count();
    assert!(thin > 140, "{thin} blocks in 5 s");
}
