//! Logs of SCReAM v2, by Ericsson's code at commit c8f84c3d in a harness of the reference's own.
//!
//! The index says how the harness is made but not all of it; the rest was found by running it anew until each number agreed: its encoders'
//! rates, its paths' delays and queues, and the order of its events.

mod closed_loop;
mod events;
mod link;
mod receiver;
mod sender;

use std::path::Path;

use crate::report::Outcome;
use closed_loop::{Sample, Setup};
use sender::Encoder;

pub use events::replay;

/// The harness's encoders: of RFC 8867's case, of the step in capacity, and of the handover and the log of events.
const ENCODERS: [Encoder; 3] = [
    Encoder { frames_per_second: 25, min_rate: 150e3, start_rate: 150e3, max_rate: 1.5e6 },
    Encoder { frames_per_second: 50, min_rate: 100e3, start_rate: 1e6, max_rate: 20e6 },
    Encoder { frames_per_second: 30, min_rate: 200e3, start_rate: 1e6, max_rate: 10e6 },
];

/// A scenario by its name: its encoder, the longest queue in seconds, and the delay one way, also in seconds, at each of its capacities.
const SCENARIOS: [(&str, usize, f64, &[f64]); 3] = [
    ("rfc8867-5.1", 0, 0.3, &[0.05]),
    ("step-10-5-10", 1, 0.3, &[0.0125]),
    ("handover", 2, 0.5, &[0.015, 0.06, 0.015]),
];

/// How far a summary may be off, where rows differ.
const SHARE: f64 = 0.1;

/// What is summed up then, by its column, and how far it may be off in any case.
const SUMMARIES: [(usize, &str, f64); 11] = [
    (2, "mean target", 0.0),
    (3, "mean window", 0.0),
    (4, "mean flight", 0.0),
    (5, "mean estimate of the queue", 1e-3),
    (6, "mean srtt", 0.0),
    (7, "mean alpha", 1e-2),
    (8, "mean queue", 1e-3),
    (9, "mean rate sent", 0.0),
    (10, "mean rate received", 0.0),
    (11, "lost packets", 1.0),
    (12, "marked packets", 1.0),
];

/// Columns from this one on count from the start.
const COUNTS: usize = 11;

/// Makes the run of a log again, and compares each cell of each row. Where one differs, a summary of each column may still agree.
pub fn rerun(file: &Path, name: &str) -> Result<Outcome, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let scenario = SCENARIOS.iter().find(|(scenario, ..)| name.contains(scenario));
    let Some((_, encoder, longest, delays)) = scenario else {
        return Ok(Outcome::Unsupported("another path of SCReAM's harness".to_owned()));
    };
    let mut steps: Vec<(f64, f64, f64)> = Vec::new();
    for row in &rows {
        let capacity = cell(row, 1)?;
        if steps.last().is_none_or(|step| step.1 != capacity) {
            steps.push((cell(row, 0)?, capacity, *delays.get(steps.len()).unwrap_or(&delays[delays.len() - 1])));
        }
    }
    if steps.is_empty() {
        return Err("no rows".to_owned());
    }
    let setup = Setup { l4s: !name.contains("nol4s"), encoder: ENCODERS[*encoder], steps, longest: *longest };
    let samples = closed_loop::run(&setup, rows.len())?;
    let ours: Vec<String> = samples.iter().enumerate().map(|(place, sample)| written(place, sample)).collect();
    let cells = rows.len() * 13;
    let different = rows.iter().zip(&ours).enumerate().find(|(_, (theirs, ours))| *theirs != *ours);
    let Some((place, (theirs, our_row))) = different else { return Ok(Outcome::Same(cells)) };
    let first = format!("line {}: {theirs}, lasthop {our_row}", place + 2);
    for (column, what, grain) in SUMMARIES {
        let theirs = summary(rows.iter().copied(), column)?;
        let ours = summary(ours.iter().map(String::as_str), column)?;
        if (ours - theirs).abs() > (SHARE * theirs.abs()).max(grain) {
            return Ok(Outcome::Differs(cells, format!("{what}: {theirs}, lasthop {ours}; {first}")));
        }
    }
    Ok(Outcome::SameMeans(SUMMARIES.len(), first))
}

/// A column's mean; of one that counts from the start, its last value.
fn summary<'a>(rows: impl Iterator<Item = &'a str>, column: usize) -> Result<f64, String> {
    let values = rows.map(|row| cell(row, column)).collect::<Result<Vec<f64>, _>>()?;
    let last = values.last().copied().unwrap_or_default();
    Ok(if column >= COUNTS { last } else { values.iter().sum::<f64>() / values.len().max(1) as f64 })
}

/// A sample in the words of the log.
fn written(place: usize, s: &Sample) -> String {
    format!(
        "{:.1},{:.0},{:.0},{},{},{:.5},{:.5},{:.5},{:.5},{},{},{},{}",
        place as f64 / 10.0,
        s.capacity,
        s.target,
        s.window,
        s.in_flight,
        s.queue_delay,
        s.srtt,
        s.alpha,
        s.queue,
        s.sent,
        s.received,
        s.lost,
        s.marked
    )
}

fn cell(row: &str, column: usize) -> Result<f64, String> {
    let text = row.split(',').nth(column).unwrap_or_default();
    text.parse().map_err(|_| format!("\"{text}\" is no number"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn file(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/modern/scream").join(name)
    }

    #[test]
    fn each_event_is_that_of_the_implementation() {
        let outcome = replay(&file("scream-events-l4s-3s.csv")).unwrap();
        // 91 frames, 863 packets with four cells each, of which 856 arrive, 89 reports and 89 states of seven values, and two counts.
        assert_eq!(outcome, Outcome::Same(91 + 4 * 863 + 856 + 89 + 7 * 89 + 2));
    }

    #[test]
    fn each_run_is_that_of_the_implementation() {
        for (name, rows) in [
            ("scream-l4s-rfc8867-5.1", 1001),
            ("scream-l4s-step-10-5-10", 201),
            ("scream-nol4s-handover", 401),
            ("scream-nol4s-rfc8867-5.1", 1001),
        ] {
            let outcome = rerun(&file(&format!("{name}.csv")), name).unwrap();
            assert_eq!(outcome, Outcome::Same(rows * 13), "{name}");
        }
    }

    #[test]
    fn a_changed_log_differs() {
        let text = std::fs::read_to_string(file("scream-events-l4s-3s.csv")).unwrap();
        let copy = std::env::temp_dir().join(format!("lasthop-scream-{}-l4s.csv", std::process::id()));
        for (from, to) in [
            ("O,3360,10494,", "O,3360,10495,"),
            ("X,6355,1200,6,0", "X,6356,1200,6,0"),
            ("a008a004a001a000", "a008a004a001a001"),
            ("R,1522,1200,0,1", "R,1522,1200,0,3"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            std::fs::write(&copy, changed).unwrap();
            let outcome = replay(&copy);
            assert!(matches!(outcome, Ok(Outcome::Differs(..))), "{from}: {outcome:?}");
        }
        std::fs::remove_file(&copy).unwrap();
    }

    /// Where rows differ, each column's summary counts.
    #[test]
    fn a_run_with_another_column_differs() {
        let name = "scream-l4s-step-10-5-10.csv";
        let text = std::fs::read_to_string(file(name)).unwrap();
        let copy = std::env::temp_dir().join(format!("lasthop-scream-run-{}.csv", std::process::id()));
        for column in 2..13 {
            let changed = text.lines().enumerate().map(|(line, row)| {
                let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
                if let (1.., Ok(value)) = (line, cells[column].parse::<f64>()) {
                    cells[column] = (1.3 * value + 2.0).to_string();
                }
                cells.join(",") + "\n"
            });
            std::fs::write(&copy, changed.collect::<String>()).unwrap();
            let outcome = rerun(&copy, name);
            assert!(matches!(outcome, Ok(Outcome::Differs(..))), "column {column}: {outcome:?}");
        }
        std::fs::remove_file(&copy).unwrap();
    }
}
