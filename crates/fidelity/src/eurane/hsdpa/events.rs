//! Compares the events of a run to 1.9 s, each kind and terminal as one sequence.

use std::collections::BTreeMap;
use std::path::Path;

use super::slots;
use super::watch::{EVENTS_END, Seen};
use crate::report::Outcome;

/// How far apart the times of one event may lie: a microsecond, in nanoseconds.
const TOLERANCE: u64 = 1_000;
/// From a decision to the slot, and on to the arrival, in nanoseconds.
pub const LEAD: u64 = 200_000;
pub const CHANNEL: u64 = 5_000;

/// The events of each kind and terminal: time in nanoseconds, and values.
type Rows = BTreeMap<(String, u32), Vec<(u64, Vec<String>)>>;

/// Compares the events of a file.
pub fn compare(file: &Path, seen: &Seen) -> Result<Outcome, String> {
    let theirs = read(file)?;
    let ours = rows(seen);
    let count = theirs.values().map(Vec::len).sum();
    let first = theirs.keys().chain(ours.keys()).filter_map(|key| difference(key, &theirs, &ours)).min();
    Ok(first.map_or(Outcome::Same(count), |(_, words)| Outcome::Differs(count, words)))
}

/// The first difference between the events of a kind and terminal, with its time.
fn difference(key: &(String, u32), theirs: &Rows, ours: &Rows) -> Option<(u64, String)> {
    let none = Vec::new();
    let (theirs, ours) = (theirs.get(key).unwrap_or(&none), ours.get(key).unwrap_or(&none));
    let same = |n: usize| match (theirs.get(n), ours.get(n)) {
        (Some(a), Some(b)) => a.0.abs_diff(b.0) <= TOLERANCE && a.1 == b.1,
        _ => false,
    };
    let n = (0..theirs.len().max(ours.len())).find(|n| !same(*n))?;
    let words = |row: Option<&(u64, Vec<String>)>| match row {
        None => "nothing".to_owned(),
        Some((at, values)) => format!("{} at {} us", values.join(","), *at as f64 / 1e3),
    };
    let at = theirs.get(n).or(ours.get(n)).map_or(0, |row| row.0);
    let (event, ue) = key;
    Some((at, format!("{event} {n} of terminal {ue}: {}, not {}", words(ours.get(n)), words(theirs.get(n)))))
}

/// What we saw, in the words of the file.
fn rows(seen: &Seen) -> Rows {
    let mut rows = Rows::new();
    let mut add = |event: &str, ue: u32, at: u64, mut values: Vec<String>| {
        while values.last().is_some_and(String::is_empty) {
            values.pop();
        }
        if at < EVENTS_END {
            rows.entry((event.to_owned(), ue)).or_default().push((at, values));
        }
    };
    for sdu in &seen.sdus {
        add(sdu.event, sdu.ue, sdu.at, vec![sdu.number.to_string(), sdu.bytes.to_string()]);
    }
    for (at, ue, event, values) in &seen.pdus {
        add(event, *ue, *at, values.to_vec());
    }
    let words = |values: &[u64]| values.iter().map(u64::to_string).collect::<Vec<_>>();
    for (at, ue, block) in &seen.blocks {
        let values = slots::values(*ue, block);
        let sent = [values[1], values[2], u64::from(block.transmission)];
        if block.transmission == 1 {
            add("SCHED", *ue, *at, words(&values[1..]));
        }
        add("HARQ_TX", *ue, at + LEAD, words(&sent));
        let failed = u64::from(!block.received);
        add("HARQ_RX", *ue, at + LEAD + CHANNEL, words(&[sent[0], sent[1], sent[2], failed]));
    }
    rows
}

fn read(file: &Path) -> Result<Rows, String> {
    let problem = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(file).map_err(|e| problem(&e))?;
    let mut rows = Rows::new();
    for record in reader.records() {
        let record = record.map_err(|e| problem(&e))?;
        let cell = |n: usize| record.get(n).unwrap_or("");
        let us: f64 = cell(0).parse().map_err(|e| problem(&e))?;
        let ue = cell(2).parse().map_err(|e| problem(&e))?;
        let mut values: Vec<String> = record.iter().skip(3).map(str::to_owned).collect();
        while values.last().is_some_and(String::is_empty) {
            values.pop();
        }
        rows.entry((cell(1).to_owned(), ue)).or_default().push(((us * 1e3).round() as u64, values));
    }
    Ok(rows)
}
