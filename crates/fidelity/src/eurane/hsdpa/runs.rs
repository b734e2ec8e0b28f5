//! Compares what each terminal got from 5 s to 30 s.
//!
//! Where runs are random the reference's are held against ours as means over seeds. Of some there is one run only, which says nothing
//! of the spread.

use std::collections::BTreeMap;
use std::path::Path;

use super::events::{CHANNEL, LEAD};
use super::index::Scenario;
use super::watch::{self, Seen};
use crate::means::{Mean, Test, rejected, welch};
use crate::report::Outcome;

/// What a terminal got, by column.
type Row = BTreeMap<String, f64>;
/// That of each scenario and terminal.
pub type Reference = BTreeMap<(String, u32), Row>;

/// The columns that are compared.
const COLUMNS: [&str; 12] = [
    "goodput_kbps",
    "sdus_per_s",
    "sdu_delay_mean_ms",
    "sdu_delay_median_ms",
    "sdu_delay_p95_ms",
    "rlc_buffer_drops_per_s",
    "slots_per_s",
    "pdus_scheduled_per_s",
    "tx2_per_s",
    "tx3_per_s",
    "harq_failures_per_s",
    "rlc_pdus_sent_per_s",
];

/// From when to when, in nanoseconds, and for how many seconds.
const WINDOW: std::ops::Range<u64> = 5_000_000_000..30_000_000_000;
const SECONDS: f64 = 25.0;

/// How many runs ours are.
const SEEDS: u32 = 10;

/// Reads `runs.csv`.
pub fn read(file: &Path) -> Result<Reference, String> {
    let problem = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let mut reader = csv::Reader::from_path(file).map_err(|e| problem(&e))?;
    let mut reference = Reference::new();
    for record in reader.deserialize::<BTreeMap<String, String>>() {
        let mut record = record.map_err(|e| problem(&e))?;
        let mut take = |name: &str| record.remove(name).ok_or_else(|| problem(&format!("no column {name}")));
        let (scenario, ue) = (take("scenario")?, take("ue")?.parse().map_err(|e| problem(&e))?);
        let row = record.into_iter().filter_map(|(name, text)| Some((name, text.parse().ok()?))).collect();
        reference.insert((scenario, ue), row);
    }
    Ok(reference)
}

/// A deterministic run: all columns, as printed.
pub fn compare_exact(scenario: &Scenario, reference: &Reference, seen: &Seen) -> Result<Outcome, String> {
    let mut differences = Vec::new();
    for ue in 0..scenario.ues {
        let theirs = row(reference, &scenario.id, ue)?;
        let ours = reduce(seen, ue);
        for column in COLUMNS {
            let (a, b) = (cell(theirs, column)?, cell(&ours, column)?);
            // Delays are printed to a microsecond, to which events agree.
            let tolerance = if column.contains("delay") { 0.0015 } else { 0.0005 };
            if (a - b).abs() > tolerance {
                differences.push(format!("terminal {ue}, {column}: {b:.3}, not {a:.3}"));
            }
        }
    }
    let count = COLUMNS.len() * scenario.ues as usize;
    let more = differences.len();
    Ok(match differences.into_iter().next() {
        None => Outcome::Same(count),
        Some(first) => Outcome::Differs(count, format!("{first} ({more} of {count} cells)")),
    })
}

/// Random runs, one or several.
pub fn compare_random(scenarios: &[Scenario], reference: &Reference) -> Result<Outcome, String> {
    let [first, _, ..] = scenarios else {
        return Ok(Outcome::LeftOut(
            "one run that rounding and draws decide: there is no spread to hold it against".to_owned(),
        ));
    };
    let ours = (1..=SEEDS).map(|seed| watch::run(first, seed, false)).collect::<Result<Vec<_>, _>>()?;
    let mut tests = Vec::new();
    for ue in 0..first.ues {
        let theirs = scenarios.iter().map(|s| row(reference, &s.id, ue)).collect::<Result<Vec<_>, _>>()?;
        let ours: Vec<Row> = ours.iter().map(|seen| reduce(seen, ue)).collect();
        for column in COLUMNS {
            let a = theirs.iter().map(|row| cell(row, column)).collect::<Result<Vec<_>, _>>()?;
            let b = ours.iter().map(|row| cell(row, column)).collect::<Result<Vec<_>, _>>()?;
            tests.push((tests.len(), test(ue, column, &a, &b)));
        }
    }
    let count = tests.len();
    Ok(match rejected(tests).into_iter().next() {
        None => Outcome::Same(count),
        Some((_, words)) => Outcome::Differs(count, words),
    })
}

fn test(ue: u32, column: &str, theirs: &[f64], ours: &[f64]) -> Test {
    let [theirs, ours] = [theirs, ours].map(|values| Mean::of(values.iter().copied()));
    let words = format!("terminal {ue}, {column}: {:.3} ± {:.3}, not {:.3}", ours.mean, ours.error, theirs.mean);
    Test { words, p: welch(ours, theirs) }
}

/// What a terminal got, in the columns of the file.
fn reduce(seen: &Seen, ue: u32) -> Row {
    let came: BTreeMap<usize, u64> =
        seen.sdus.iter().filter(|sdu| sdu.event == "SDU_IN").map(|sdu| (sdu.number, sdu.at)).collect();
    let sdus = |event: &'static str| {
        seen.sdus.iter().filter(move |sdu| sdu.ue == ue && sdu.event == event && WINDOW.contains(&sdu.at))
    };
    let mut delays: Vec<f64> =
        sdus("SDU_OUT").filter_map(|sdu| Some((sdu.at - came.get(&sdu.number)?) as f64 / 1e6)).collect();
    delays.sort_by(f64::total_cmp);
    let mean = delays.iter().sum::<f64>() / delays.len().max(1) as f64;
    let quantile = |share: f64| delays.get((delays.len() as f64 * share) as usize).copied().unwrap_or(0.0);
    let bytes: u64 = sdus("SDU_OUT").map(|sdu| u64::from(sdu.bytes)).sum();
    // Decisions count when they are made, transmissions when they are sent, failures when they come.
    let blocks = move |later: u64| {
        let of_ue = seen.blocks.iter().filter(move |(at, of, _)| *of == ue && WINDOW.contains(&(at + later)));
        of_ue.map(|(.., block)| block)
    };
    let first = || blocks(0).filter(|block| block.transmission == 1);
    let sent_as = |number: u32| blocks(LEAD).filter(move |block| block.transmission == number).count();
    let pdus: u64 = first().map(|block| u64::from(block.data / 320)).sum();
    let sent = seen.sent_pdus.iter().filter(|(at, of)| *of == ue && WINDOW.contains(at)).count();
    let count = |n: usize| n as f64 / SECONDS;
    let values = [
        bytes as f64 * 8.0 / 1e3 / SECONDS,
        count(sdus("SDU_OUT").count()),
        mean,
        quantile(0.5),
        quantile(0.95),
        count(sdus("SDU_DROP").count()),
        count(first().count()),
        count(pdus as usize),
        count(sent_as(2)),
        count(sent_as(3)),
        count(blocks(LEAD + CHANNEL).filter(|block| !block.received).count()),
        count(sent),
    ];
    COLUMNS.into_iter().map(str::to_owned).zip(values).collect()
}

fn row<'a>(reference: &'a Reference, scenario: &str, ue: u32) -> Result<&'a Row, String> {
    reference.get(&(scenario.to_owned(), ue)).ok_or_else(|| format!("runs.csv: no {scenario}, {ue}"))
}

fn cell(row: &Row, column: &str) -> Result<f64, String> {
    row.get(column).copied().ok_or_else(|| format!("runs.csv: no column {column}"))
}
