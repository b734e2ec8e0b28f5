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

/// How far a mean rate or the loss may be off, where rows differ.
const SHARE: f64 = 0.1;

/// Makes the run of a log again, and compares each cell of each row. Where one differs, the mean rates and losses may still agree.
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
    let cells = rows.len() * 13;
    let different =
        rows.iter().zip(&samples).enumerate().find(|(place, (row, sample))| **row != written(*place, sample));
    let Some((place, (row, sample))) = different else { return Ok(Outcome::Same(cells)) };
    let first = format!("line {}: {row}, lasthop {}", place + 2, written(place, sample));
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let theirs = [10, 11].map(|column| rows.iter().map(|row| cell(row, column)).collect::<Result<Vec<f64>, _>>());
    let [their_rates, their_losses] = theirs;
    let (their_rate, their_loss) = (mean(their_rates?), their_losses?.pop().unwrap_or_default());
    let our_rate = mean(samples.iter().map(|sample| sample.received as f64).collect());
    let our_loss = samples.last().map_or(0.0, |sample| sample.lost as f64);
    let near = |ours: f64, theirs: f64| (ours - theirs).abs() <= SHARE * theirs;
    Ok(if near(our_rate, their_rate) && near(our_loss, their_loss) {
        Outcome::SameMeans(2, first)
    } else {
        Outcome::Differs(cells, first)
    })
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
        // 91 frames, 863 packets with four cells each, 89 reports and 89 states of seven values, and two counts.
        assert_eq!(outcome, Outcome::Same(91 + 4 * 863 + 89 + 7 * 89 + 2));
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
}
