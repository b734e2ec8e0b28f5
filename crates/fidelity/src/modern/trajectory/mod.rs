//! Logs of a sender over a simulated path, compared by their summaries: the same sender over the same path here.
//!
//! Capacity and round trip are columns of the log. A summary agrees within 10 %; delays also within the time that a full packet takes, since
//! a queue that is looked at ten times a second has no finer grain.

mod bottleneck;
pub mod gcc;
pub mod prague;

use std::path::Path;

use csv::StringRecord;

use crate::report::Outcome;
use bottleneck::Stretch;

/// The columns of a log by their names.
pub struct Columns {
    headings: StringRecord,
    rows: Vec<StringRecord>,
}

impl Columns {
    pub fn read(file: &Path) -> Result<Self, String> {
        let wrong = |error: csv::Error| format!("{}: {error}", file.display());
        let mut reader = csv::Reader::from_path(file).map_err(wrong)?;
        let headings = reader.headers().map_err(wrong)?.clone();
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        if rows.is_empty() { Err("no rows".to_owned()) } else { Ok(Self { headings, rows }) }
    }

    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let at = self.headings.iter().position(|heading| heading == name).ok_or_else(|| format!("no column {name}"))?;
        let parse = |row: &StringRecord| {
            let text = row.get(at).unwrap_or_default();
            let line = row.position().map_or(0, csv::Position::line);
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("line {line}: {name} is \"{text}\""))
        };
        let values = self.rows.iter().map(parse);
        values.collect()
    }
}

/// A run, sampled as the log is.
struct Samples {
    /// bit/s.
    rate: Vec<f64>,
    /// ms.
    queue: Vec<f64>,
    /// Packets lost up to the end.
    lost: f64,
    /// What the controller is doing, each state once while it lasts.
    states: Vec<f64>,
}

/// Compares a run with a log of the same instants, stretch by stretch of the path; `packet` is a full one, in bytes.
fn compare(ours: &Samples, theirs: &Samples, times: &[f64], path: &[Stretch], packet: f64) -> Outcome {
    let mut cells = Vec::new();
    for (at, stretch) in path.iter().enumerate() {
        let until = path.get(at + 1).map_or(f64::INFINITY, |next| next.from);
        let within = |values: &[f64]| -> Vec<f64> {
            let inside = times.iter().zip(values).filter(|(time, _)| (stretch.from..until).contains(*time));
            inside.map(|(_, value)| *value).collect()
        };
        let grain = packet * 8e3 / stretch.capacity;
        let [our_rate, their_rate] = [ours, theirs].map(|run| within(&run.rate));
        let [our_queue, their_queue] = [ours, theirs].map(|run| within(&run.queue));
        let from = format!("from {} s", stretch.from);
        cells.push((format!("mean rate {from}"), mean(&our_rate), mean(&their_rate), 0.0));
        cells.push((format!("mean queue {from}"), mean(&our_queue), mean(&their_queue), grain));
        cells.push((format!("95 % queue {from}"), high(our_queue), high(their_queue), grain));
    }
    cells.push(("lost packets".to_owned(), ours.lost, theirs.lost, 1.0));
    let differs = cells.iter().find(|(_, ours, theirs, grain)| (ours - theirs).abs() > (SHARE * theirs).max(*grain));
    let count = cells.len() + 1;
    if let Some((what, ours, theirs, _)) = differs {
        return Outcome::Differs(count, format!("{what}: {theirs:.2}, lasthop {ours:.2}"));
    }
    let [our_states, their_states] = [ours, theirs].map(|run| changes(&run.states));
    if our_states != their_states {
        return Outcome::Differs(count, format!("states: {their_states:?}, lasthop {our_states:?}"));
    }
    Outcome::SameMeans(count, "a path of its own".to_owned())
}

/// Every how many packets one is lost, if a name says it: "loss-1-in-20".
fn losses(name: &str) -> Option<u64> {
    let (_, every) = name.split_once("loss-1-in-")?;
    let digits = every.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|every| *every > 0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The value above which 5 % lie.
fn high(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() * 95 / 100).copied().unwrap_or_default()
}

/// Each state once, where it begins.
fn changes(states: &[f64]) -> Vec<f64> {
    let mut changes = states.to_vec();
    changes.dedup();
    changes
}

/// How far a summary may be off.
const SHARE: f64 = 0.10;

#[cfg(test)]
mod tests {
    use super::losses;

    #[test]
    fn names_say_losses() {
        for (name, every) in [
            ("gcc/gcc-tr-loss-1-in-20.csv", Some(20)),
            ("prague/prague-tr-loss-1-in-50-10M-20ms.csv", Some(50)),
            ("prague/prague-tr-2M-30ms-loss.csv", None),
            ("a-loss-1-in-0.csv", None),
        ] {
            assert_eq!(losses(name), every, "{name}");
        }
    }
}
