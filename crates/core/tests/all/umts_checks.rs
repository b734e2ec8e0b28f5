//! Numbers of a UMTS cell that can be worked out by hand, seen through its medium.
//!
//! Rates, thresholds and timers are those of Dubois 2005 (chapters 6 to 8), formats those of TS 25.322.

use crate::common::cell::{Happened, happened};
use crate::common::scenario::{run, state};
use lasthop_core::engine::Instant;
use lasthop_core::net::observe::PduStep;

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

/// EURANE's RLC, whose PDUs carry 40 B.
const EURANE: &str = "rlc = \"eurane\"";

/// A run of `duration_ms` milliseconds with a cell of `ues` terminals, its lines, and flows.
fn cell(duration_ms: u64, ues: u32, lines: &str, flows: &[String]) -> Happened {
    let head =
        format!("duration = \"{duration_ms} ms\"\nprofile = \"ns2\"\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\n");
    happened(&format!("{head}ues = {ues}\n{lines}\n{}", flows.concat()), 1)
}

/// A packet of `bytes` bytes every `interval_ms` milliseconds. In profile `ns2` UDP adds no header.
fn packets(from: &str, to: &str, start_ms: u64, bytes: u64, interval_ms: u64) -> String {
    format!(
        "[[flow]]\nname = \"{to} {start_ms}\"\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"{start_ms} ms\"\n\
         transport = \"udp\"\nsource.cbr = {{ size = \"{bytes} B\", interval = \"{interval_ms} ms\" }}\n"
    )
}

/// One packet down to a terminal.
fn packet(ue: &str, start_ms: u64, bytes: u64) -> String {
    packets("rnc", &format!("cell.ue[{ue}]"), start_ms, bytes, 1_000_000)
}

/// When the terminals came to be served by `service`.
fn served(happened: &Happened, service: &str) -> Vec<(Instant, usize)> {
    let is_it = |(at, ue, name): &(Instant, usize, &str)| (*name == service).then_some((*at, *ue));
    happened.services.iter().filter_map(is_it).collect()
}

#[test]
fn sdus_take_whole_pdus() {
    // EURANE: the last PDU of an SDU needs an indicator unless it is full. Acknowledged mode with its header of
    // 2 B in 40: 38 B, and always an indicator of 1 B, in the next PDU if need be (TS 25.322 §9.2.2.8).
    let eurane = [(1, 1), (40, 1), (576, 15), (1000, 25), (1040, 26), (1500, 38)];
    let am = [(1, 1), (37, 1), (40, 2), (576, 16), (1000, 27), (1040, 28), (1500, 40)];
    let rows = eurane.map(|row| (EURANE, row)).into_iter().chain(am.map(|row| ("rlc.am = {}", row)));
    for (rlc, (bytes, pdus)) in rows {
        let lines = format!("{rlc}\nattachment = \"dedicated\"");
        let happened = cell(1000, 1, &lines, &[packet("0", 0, bytes)]);
        assert_eq!(happened.when(PduStep::Sent, false).len(), pdus, "{bytes} B, {rlc}");
        assert_eq!(happened.arrivals.len(), 1, "{bytes} B, {rlc}");
    }
}

#[test]
fn channels_carry_whole_pdus_in_their_intervals() {
    // (line, direction, interval in ms, PDUs in it): 32 kbit/s, 16 kbit/s, 64 kbit/s and 32 kbit/s of 320 bits. Of 100
    // kbit/s 1000 bits fit in an interval: three PDUs, and the rest is not used.
    for (attachment, up, interval, pdus) in [
        ("\"common\"", false, 10, 1),
        ("\"common\"", true, 20, 1),
        ("\"dedicated\"", false, 10, 2),
        ("\"dedicated\"", true, 10, 1),
        ("\"dedicated\"\ndch.down = { rate = \"100 kbit/s\", tti = \"10 ms\" }", false, 10, 3),
    ] {
        let flow = match up {
            true => packets("cell.ue[0]", "rnc", 0, 1440, 1_000_000),
            false => packet("0", 0, 1440),
        };
        // 36 PDUs of 40 B.
        let happened = cell(2000, 1, &format!("{EURANE}\nattachment = {attachment}"), &[flow]);
        let aired = happened.when(PduStep::Aired, up);
        let expected: Vec<(Instant, usize)> =
            (0..36).map(|n| (aired[0].0 + (ms(interval * (n / pdus)).since(Instant::ZERO)), 0)).collect();
        assert_eq!(aired, expected, "{attachment}");
        assert_eq!(aired[0].0.as_nanos() % (interval * 1_000_000), 0, "{attachment}");
    }
}

#[test]
fn a_packet_of_1500_bytes_takes_380_ms_on_fach_and_190_ms_on_a_dch() {
    for (attachment, expected) in [("common", 380), ("dedicated", 190)] {
        let happened = cell(2000, 1, &format!("{EURANE}\nattachment = \"{attachment}\""), &[packet("0", 0, 1500)]);
        let aired = happened.when(PduStep::Aired, false);
        let (first, last) = (aired[0].0, aired[aired.len() - 1].0);
        // The last interval takes 10 ms itself.
        assert_eq!(last.since(first).as_nanos() / 1_000_000 + 10, expected, "{attachment}");
        // Handed down at 9 ms, over the Iub by 24 ms; delivered when the last interval ends, and 15 µs later.
        assert_eq!(first, ms(30), "{attachment}");
        assert_eq!(happened.arrivals[0].as_nanos(), (30 + expected) * 1_000_000 + 15_000, "{attachment}");
    }
}

#[test]
fn a_packet_above_the_threshold_asks_for_dedicated_channels() {
    for bytes in [576, 1500] {
        for threshold in [500, 750, 1000, 1250, 1500] {
            let lines = format!("{EURANE}\nattachment.rrc.threshold = \"{threshold} B\"");
            let happened = cell(2000, 1, &lines, &[packet("0", 0, bytes)]);
            // Strictly more than the threshold; 900 ms from the packet to the channels.
            let expected = if bytes > threshold { vec![(ms(900), 0)] } else { Vec::new() };
            assert_eq!(served(&happened, "dedicated"), expected, "{bytes} B, threshold {threshold} B");
            assert_eq!(happened.value("", "allocations"), expected.len() as f64);
        }
    }
}

#[test]
fn the_thirteenth_of_those_who_ask_at_once_is_refused() {
    // ⌊(800 − 32)/64⌋ = 12.
    let happened = cell(2000, 13, &format!("{EURANE}\nattachment.rrc.threshold = \"500 B\""), &[packet("*", 0, 1500)]);
    assert_eq!(served(&happened, "dedicated"), (0..12).map(|ue| (ms(900), ue)).collect::<Vec<_>>());
    assert_eq!((happened.value("", "dedicated"), happened.value("", "refusals")), (12.0, 1.0));
    // FACH for the whole time, and 12 DCH, reserved from the beginning of the allocation.
    assert_eq!(happened.value("", "occupancy_kbps"), 32.0 + 12.0 * 64.0);
    assert_eq!(happened.value("", "full_s"), 2.0);
    // Of the codes: CPICH and P-CCPCH 1/256 each, FACH 1/64, and 12 of SF 32.
    assert_eq!(happened.value("", "code_occupancy"), 2.0 / 256.0 + 1.0 / 64.0 + 12.0 / 32.0);
    // The thirteenth is served on FACH.
    assert_eq!(happened.value("ue[12] down", "packets"), 1.0);
}

#[test]
fn codes_limit_what_the_budget_does_not() {
    let lines = format!("{EURANE}\nattachment.rrc = {{ threshold = \"500 B\", budget = \"100 Mbit/s\" }}");
    let happened = cell(1000, 40, &lines, &[packet("*", 0, 1500)]);
    assert_eq!((happened.value("", "dedicated"), happened.value("", "refusals")), (31.0, 9.0));
}

#[test]
fn without_a_time_to_itself_a_silent_terminal_can_be_preempted_at_once() {
    // Room for one. NP = 0: the first loses its channels when another asks, 1 s before that has its own.
    let rrc = |keep| {
        format!(
            "{EURANE}\nattachment.rrc = {{ threshold = \"500 B\", budget = \"96 kbit/s\", keep = \"{keep} s\", \
             preemptible = \"4 s\" }}"
        )
    };
    let flows = [packet("0", 0, 1500), packet("1", 2000, 1500)];
    let happened = cell(4000, 2, &rrc(0), &flows);
    assert_eq!(served(&happened, "dedicated"), [(ms(900), 0), (ms(3000), 1)]);
    assert!(served(&happened, "common").contains(&(ms(2000), 0)));
    assert_eq!(happened.value("", "preemptions"), 1.0);
    // NP = 8 s: it keeps them.
    let happened = cell(4000, 2, &rrc(8), &flows);
    assert_eq!(served(&happened, "dedicated"), [(ms(900), 0)]);
    assert_eq!(happened.value("", "refusals"), 1.0);
}

#[test]
fn a_pdu_after_1999_ms_of_silence_keeps_dedicated_channels_of_2_s() {
    let lines = "rlc.um = { header = \"free\" }\nattachment.rrc = { threshold = \"500 B\", keep = \"2 s\" }";
    // On the channels at 900 ms: 19 intervals of two PDUs, handed down from 909 to 1089 ms. The last stand in the
    // Node B's queue with the interval at 1110 ms.
    let download = packet("0", 0, 1500);
    let happened = cell(8000, 1, lines, std::slice::from_ref(&download));
    assert_eq!(happened.when(PduStep::Aired, false).last(), Some(&(ms(1110), 0)));
    assert_eq!(served(&happened, "common"), [(ms(3110), 0)]);
    // A PDU of the terminal, handed down at 3109 ms: then it is 5109 ms.
    let upload = packets("cell.ue[0]", "rnc", 3105, 30, 1_000_000);
    let happened = cell(8000, 1, lines, &[download, upload]);
    assert_eq!(served(&happened, "common"), [(ms(5109), 0)]);
}

#[test]
fn losses_in_bursts_are_those_of_their_chain() {
    // P(bad|good) = 0.0087, P(good|bad) = 0.1491 for each PDU sent: a share of 0.0087/0.1578 is lost, in runs of
    // 1/0.1491 between runs of 1/0.0087, correlated by 1 − 0.1578 from PDU to PDU.
    let (g, b) = (0.0087_f64, 0.1491_f64);
    let lines = format!(
        "rlc.um = {{ header = \"free\", buffer = \"1 MB\" }}\nattachment = \"dedicated\"\n\
         dch.down = {{ rate = \"3.2 Mbit/s\", tti = \"10 ms\" }}\n\
         loss.gilbert = {{ good_to_bad = {g}, bad_to_good = {b} }}"
    );
    let happened = cell(60_000, 1, &lines, &[packets("rnc", "cell.ue[0]", 0, 3900, 10)]);
    let outcome = |step: &crate::common::cell::Step| match step.step {
        PduStep::Lost => Some(1.0),
        PduStep::Received => Some(0.0),
        _ => None,
    };
    let lost: Vec<f64> = happened.pdus.iter().filter(|step| !step.up).filter_map(outcome).collect();
    let n = lost.len() as f64;
    assert!(n > 500_000.0, "{n}");
    let share = g / (g + b);
    let correlation = 1.0 - g - b;
    let mean = lost.iter().sum::<f64>() / n;
    let mut runs = [Vec::new(), Vec::new()];
    for run in lost.chunk_by(|a, b| a == b) {
        runs[run[0] as usize].push(run.len() as f64);
    }
    let mean_run = |runs: &[f64]| runs.iter().sum::<f64>() / runs.len() as f64;
    let covariance: f64 = lost.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / n;
    // Four standard errors each: of a correlated mean, of geometric runs, and of 1 − ĝ − b̂ with the number of
    // changes each way given.
    let changes = runs[1].len() as f64;
    let of_share = (share * (1.0 - share) * (1.0 + correlation) / (1.0 - correlation) / n).sqrt();
    for (what, value, expected, error) in [
        ("share", mean, 0.0551, of_share),
        ("bad run", mean_run(&runs[1]), 6.71, (1.0 - b).sqrt() / b / changes.sqrt()),
        ("good run", mean_run(&runs[0]), 114.9, (1.0 - g).sqrt() / g / changes.sqrt()),
        (
            "correlation",
            covariance / (mean * (1.0 - mean)),
            0.8422,
            ((g * g * (1.0 - g) + b * b * (1.0 - b)) / changes).sqrt(),
        ),
    ] {
        assert!((value - expected).abs() < 4.0 * error, "{what}: {value}, not {expected} ± {error}");
    }
}

#[test]
fn an_sdu_of_26_pdus_is_lost_as_often_as_one_of_them_in_all_its_transmissions() {
    // In TM and UM one transmission; in AM maxDAT of them: 1 − (1 − p^m)²⁶. SDUs of 25 ½ PDUs: TM has 40 B in a
    // PDU, UM 39, AM 38.
    const SDUS: u64 = 400;
    let am = |m| format!("rlc.am = {{ max_dat = {m}, round_trip = \"100 ms\" }}");
    let tm = "rlc.tm = { segmentation = true }".to_owned();
    let um = "rlc.um = {}".to_owned();
    let rows = [0.01, 0.05, 0.1].into_iter().flat_map(|p| [(tm.clone(), 1020, p, 1), (um.clone(), 994, p, 1)]);
    let repeated = [(0.05, 2), (0.1, 2), (0.2, 2), (0.1, 3), (0.2, 3), (0.2, 4)];
    for (rlc, bytes, p, m) in rows.chain(repeated.into_iter().map(|(p, m)| (am(m), 969, p, m))) {
        // An interval of the channel carries a whole SDU, as TM wants.
        let lines = format!(
            "{rlc}\nattachment = \"dedicated\"\ndch.down = {{ rate = \"832 kbit/s\", tti = \"10 ms\" }}\n\
             loss.bernoulli.p = {p}"
        );
        let duration = 2000 * (SDUS + 1);
        let happened = cell(duration, 1, &lines, &[packets("rnc", "cell.ue[0]", 0, bytes, 2000)]);
        if m == 1 {
            assert_eq!(happened.when(PduStep::Sent, false).len() as u64, 26 * (SDUS + 1), "{rlc}");
        }
        // What becomes of the last may be open at the end.
        let lost = (SDUS + 1) as f64 - happened.arrivals.len() as f64;
        let expected = 1.0 - libm::pow(1.0 - libm::pow(p, f64::from(m)), 26.0);
        let error = (SDUS as f64 * expected * (1.0 - expected)).sqrt();
        assert!(
            (lost - SDUS as f64 * expected).abs() < 4.0 * error + 1.0,
            "{rlc} at {p}: {lost} of {SDUS} × {expected}"
        );
    }
}

#[test]
fn tables_have_what_state_has() {
    let flow = packets("rnc", "cell.ue[*]", 0, 1500, 100);
    let results = run(
        &format!(
            "duration = \"10 s\"\nrecord.state = true\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\nues = 3\n\
             attachment.rrc.threshold = \"500 B\"\n{flow}"
        ),
        1,
    );
    let mut fractions = 0;
    for (kind, columns) in [("cell", results.table("cells").unwrap()), ("bearer", results.table("bearers").unwrap())] {
        for (row, (quantity, _)) in
            (0..columns.rows()).flat_map(|row| columns.columns[1..].iter().map(move |c| (row, c)))
        {
            let name = columns.text(kind, row).unwrap();
            let Some(shown) = columns.number(quantity, row) else { continue };
            let kept = state(&results, &[("kind", kind), ("name", name)], quantity);
            assert_eq!(shown, kept, "{quantity} of {name}");
            fractions += u32::from(kept.fract() != 0.0);
        }
    }
    assert!(fractions > 3, "{fractions}");
}
