//! The traces of EURANE's RLC AM: every PDU, poll, report and delivery, to a microsecond.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::replicas::eurane::rlc::Config;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::cell::{Cell, Channel, DOWN, Row, UP};

/// The description of the family.
#[derive(Deserialize)]
struct Family {
    scenarios: Vec<Scenario>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    id: String,
    file: String,
    #[serde(rename = "note")]
    _note: IgnoredAny,
    #[serde(rename = "comparison")]
    _comparison: IgnoredAny,
    #[serde(rename = "channel")]
    _channel: IgnoredAny,
    dl_rate_bps: f64,
    dl_tti_ms: f64,
    ul_rate_bps: f64,
    ul_tti_ms: f64,
    #[serde(rename = "dl_pdus_per_tti")]
    _dl_pdus_per_tti: IgnoredAny,
    #[serde(rename = "ul_pdus_per_tti")]
    _ul_pdus_per_tti: IgnoredAny,
    rlc_window_pdus: u32,
    poll_every_pdus: u32,
    poll_timer_ms: f64,
    status_prohibit_ms: f64,
    rlc_spacing_us: u32,
    #[serde(rename = "rach_access_delay_ms")]
    _rach_access_delay_ms: IgnoredAny,
    integer_clock_exact: bool,
    #[serde(rename = "dl_error_rate")]
    _dl_error_rate: IgnoredAny,
    #[serde(rename = "ul_error_rate")]
    _ul_error_rate: IgnoredAny,
    #[serde(rename = "sdus_dl")]
    _sdus_dl: IgnoredAny,
    #[serde(rename = "sdus_ul")]
    _sdus_ul: IgnoredAny,
    lost_dl_arrivals: Vec<u64>,
    lost_ul_arrivals: Vec<u64>,
    stop_s: f64,
    #[serde(rename = "totals")]
    _totals: IgnoredAny,
}

#[test]
fn every_event_is_eurane_s() {
    // Without randomness.
    all_agree(45, |scenario| scenario.rlc_spacing_us == 0 && scenario.integer_clock_exact);
}

#[test]
fn every_event_is_eurane_s_with_its_random_spacing() {
    // When PDUs left, and how late RACH frames were, is taken from the trace; the rest follows.
    all_agree(4, |scenario| scenario.rlc_spacing_us > 0);
}

fn all_agree(count: usize, which: impl Fn(&&Scenario) -> bool) {
    let text = std::fs::read_to_string(folder().join("index.json")).expect("the family has an index");
    let family: Family = serde_json::from_str(&text).expect("a known form");
    let scenarios: Vec<&Scenario> = family.scenarios.iter().filter(which).collect();
    let difference = |scenario: &&Scenario| compare(scenario).err().map(|text| format!("{}: {text}", scenario.id));
    let differences: Vec<String> = scenarios.iter().filter_map(difference).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(scenarios.len(), count, "scenarios in the index");
}

/// Runs a scenario. The first difference from its trace, if there is any.
fn compare(scenario: &Scenario) -> Result<(), String> {
    let trace = read_trace(&folder().join(&scenario.file));
    let ours = by_kind(run(scenario, &trace));
    let theirs = by_kind(trace);
    if !ours.keys().eq(theirs.keys()) {
        return Err(format!("other kinds of events: {:?}, {:?}", ours.keys(), theirs.keys()));
    }
    for (kind, theirs) in &theirs {
        let ours = &ours[kind];
        for (n, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let apart = ours.at.since(theirs.at).max(theirs.at.since(ours.at));
            if ours.columns != theirs.columns || apart > TOLERANCE {
                let row = |row: &Row| format!("{} {}", row.at, row.columns);
                return Err(format!("{kind} {n}:\n{}, EURANE\n{}", row(ours), row(theirs)));
            }
        }
        if ours.len() != theirs.len() {
            return Err(format!("{} times {kind}, EURANE {}", ours.len(), theirs.len()));
        }
    }
    Ok(())
}

fn run(scenario: &Scenario, trace: &[Row]) -> Vec<Row> {
    let ms = |ms: f64| Duration::from_secs_f64(ms * 1e-3);
    let config = Config {
        window: scenario.rlc_window_pdus,
        poll_every: scenario.poll_every_pdus,
        poll_timer: ms(scenario.poll_timer_ms),
        status_prohibit: ms(scenario.status_prohibit_ms),
        ..Config::default()
    };
    let channels = [(scenario.dl_rate_bps, scenario.dl_tti_ms), (scenario.ul_rate_bps, scenario.ul_tti_ms)]
        .map(|(rate, tti)| Channel { rate_bps: rate as u64, tti: ms(tti) });
    let lost = [scenario.lost_dl_arrivals.clone(), scenario.lost_ul_arrivals.clone()];
    let mut cell =
        Cell::new(&config, channels, Box::new(move |arrival| lost[arrival.direction].contains(&arrival.number)));
    cell.log();
    if scenario.rlc_spacing_us > 0 {
        let times = |event: &str| -> Vec<Instant> {
            let of_event = trace.iter().filter(|row| row.columns.starts_with(event));
            of_event.map(|row| row.at).collect()
        };
        cell.draw(DOWN, times("TX,D"), Vec::new());
        // Nothing is lost on the way up, and a frame there has one PDU.
        assert!(scenario.lost_ul_arrivals.is_empty());
        let usual = channels[UP].tti + IUB_AND_AIR;
        let late = times("RX,U").into_iter().zip(times("AIR,U")).map(|(rx, air)| rx.since(air + usual));
        cell.draw(UP, times("TX,U"), late.collect());
    }
    for row in trace {
        let columns: Vec<&str> = row.columns.split(',').collect();
        if ["SDU_IN", "SDU_DROP"].contains(&columns[0]) {
            let direction = if columns[1] == "D" { DOWN } else { UP };
            let number = |column: usize| columns[column].parse().expect("a number");
            cell.send(direction, row.at, number(16), u64::from(number(15)));
        }
    }
    cell.run_until(Instant::from_secs_f64(scenario.stop_s));
    cell.take_log()
}

/// The rows of each kind of event and direction, in order. Between kinds the order at one instant
/// means nothing.
fn by_kind(rows: Vec<Row>) -> BTreeMap<String, Vec<Row>> {
    let mut kinds = BTreeMap::<String, Vec<Row>>::new();
    for row in rows {
        let kind = row.columns.splitn(3, ',').take(2).collect::<Vec<_>>().join(" ");
        kinds.entry(kind).or_default().push(row);
    }
    kinds
}

fn read_trace(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = text.lines().skip(1).map(|line| {
        let (at, columns) = line.split_once(',').expect("columns");
        let us: f64 = at.parse().expect("a time");
        Row { at: Instant::from_secs_f64(us * 1e-6), columns: columns.to_owned() }
    });
    rows.collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/eurane/rlc-am")
}

/// From a frame to the far end, without the time that the frame takes.
const IUB_AND_AIR: Duration = Duration::from_nanos(15_000 + 15_000_514);

/// The traces print nanoseconds; ours are rounded to them at each step.
const TOLERANCE: Duration = Duration::from_nanos(1_000);
