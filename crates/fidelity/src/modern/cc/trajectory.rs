//! Runs of a controller over a path, ten samples a second: the same run is made again.
//!
//! Where the arithmetic is the same, each sample is. Elsewhere the mean rate in each stretch of path and application agrees within 10 %, and
//! packets lost within 10 % or one; and the states of BBR that both runs show appear in the same order.

use super::harness::{Harness, Sample};
use super::implementation::{Implementation, Likeness};
use super::path::Path;
use super::quic::PACKET;
use crate::modern::log::{Log, Row, Tally};
use crate::report::Outcome;

/// A sample of a log.
struct Theirs<'a> {
    row: Row<'a>,
    /// µs.
    at: u64,
    window: u64,
    in_flight: u64,
    srtt_ms: f64,
    delivered_bps: f64,
    lost: u64,
    queue_ms: f64,
}

/// Makes the run of a log again.
pub fn rerun(log: &Log, path: &Path, implementation: &Implementation) -> Result<Outcome, String> {
    let theirs = read(log)?;
    let times: Vec<u64> = theirs.iter().map(|sample| sample.at).collect();
    let ours = Harness::new(path, implementation).samples(&times);
    if implementation.likeness == Likeness::Same {
        return sample_by_sample(&ours, &theirs, path);
    }
    Ok(by_means(&ours, &theirs, path))
}

/// Columns t_s, window_bytes, pacing_Bps, inflight_bytes, srtt_ms, delivered_bps, lost_packets_total, queue_ms, state.
fn read(log: &Log) -> Result<Vec<Theirs<'_>>, String> {
    let mut samples: Vec<Theirs<'_>> = Vec::new();
    for row in log.rows().filter(|row| !row.text(0).starts_with(|c: char| c.is_ascii_alphabetic())) {
        let at = row.number(0)?;
        if !(0.0..=86_400.0).contains(&at) {
            return Err(row.wrong("its time"));
        }
        let at = (at * 1e6).round() as u64;
        if samples.last().is_some_and(|last| last.at >= at) {
            return Err(row.wrong("its time"));
        }
        samples.push(Theirs {
            at,
            window: row.value(1)?,
            in_flight: row.value(3)?,
            srtt_ms: row.number(4)?,
            delivered_bps: row.number(5)?,
            lost: row.value(6)?,
            queue_ms: row.number(7)?,
            row,
        });
    }
    if samples.len() < 2 { Err("fewer than two samples".to_owned()) } else { Ok(samples) }
}

fn sample_by_sample(ours: &[Sample], theirs: &[Theirs<'_>], path: &Path) -> Result<Outcome, String> {
    let mut tally = Tally::default();
    let mut since = theirs[0].at;
    for (ours, theirs) in ours.iter().zip(theirs) {
        let row = &theirs.row;
        tally.equal(row, "window", ours.window, theirs.window);
        tally.equal(row, "bytes in flight", ours.in_flight, theirs.in_flight);
        tally.equal(row, "lost packets", ours.lost, theirs.lost);
        // As printed: to 1 µs, and to 10 µs.
        tally.within(row, "srtt, ms", ours.srtt as f64 / 1e6, theirs.srtt_ms, 0.000_51);
        let queue = ours.queue as f64 * 8e3 / path.at(theirs.at).rate;
        tally.within(row, "queue, ms", queue, theirs.queue_ms, 0.005_1);
        if theirs.at > since {
            let delivered = ours.delivered as f64 * PACKET as f64 * 8e6 / (theirs.at - since) as f64;
            tally.within(row, "delivered, bit/s", delivered, theirs.delivered_bps, 1.0);
        }
        since = theirs.at;
    }
    tally.outcome()
}

fn by_means(ours: &[Sample], theirs: &[Theirs<'_>], path: &Path) -> Outcome {
    let interval = (theirs[1].at - theirs[0].at) as f64 / 1e6;
    let our_rate: Vec<f64> =
        ours.iter().map(|sample| sample.delivered as f64 * PACKET as f64 * 8.0 / interval).collect();
    let their_rate: Vec<f64> = theirs.iter().map(|sample| sample.delivered_bps).collect();
    let mut cells = Vec::new();
    for (from, until) in path.constant() {
        let within = |rates: &[f64]| {
            let inside = theirs.iter().zip(rates).filter(|(sample, _)| (from..until).contains(&sample.at));
            let rates: Vec<f64> = inside.map(|(_, rate)| *rate / 1e6).collect();
            rates.iter().sum::<f64>() / rates.len().max(1) as f64
        };
        let from = format!("Mbit/s from {} s", from as f64 / 1e6);
        cells.push((from, within(&our_rate), within(&their_rate), 0.0));
    }
    let [our_lost, their_lost] =
        [ours.last().map(|s| s.lost), theirs.last().map(|s| s.lost)].map(Option::unwrap_or_default);
    cells.push(("lost packets".to_owned(), our_lost as f64, their_lost as f64, 1.0));
    let mut differences: Vec<String> = cells
        .iter()
        .filter(|(_, ours, theirs, grain)| (ours - theirs).abs() > (SHARE * theirs).max(*grain))
        .map(|(what, ours, theirs, _)| format!("{what}: {theirs:.2}, lasthop {ours:.2}"))
        .collect();
    let count = cells.len() + 1;
    let our_states: Vec<f64> = ours.iter().filter_map(|sample| sample.state).collect();
    let their_states: Vec<f64> = theirs.iter().filter_map(|sample| bbr_state(sample.row.text(8))).collect();
    let [our_order, their_order] =
        [(&our_states, &their_states), (&their_states, &our_states)].map(|(of, shared)| order(of, shared));
    if our_order != their_order {
        differences.push(format!("states: {their_order:?}, lasthop {our_order:?}"));
    }
    if differences.is_empty() {
        Outcome::SameMeans(count, "another sender's arithmetic".to_owned())
    } else {
        Outcome::Differs(count, differences.join("; "))
    }
}

/// A state of BBR by its name, whatever the implementation adds to it or how it divides its words, with the number that it has here.
fn bbr_state(name: &str) -> Option<f64> {
    let letters: String = name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    let name = letters.strip_prefix("bbr").unwrap_or(&letters);
    let names = ["startup", "drain", "probebwdown", "probebwcruise", "probebwrefill", "probebwup", "probertt"];
    names.iter().position(|known| *known == name).map(|at| at as f64)
}

/// The states in the order in which they are first seen, of those that are in `shared` too.
fn order(states: &[f64], shared: &[f64]) -> Vec<f64> {
    let mut order = Vec::new();
    for state in states.iter().filter(|state| shared.contains(state)) {
        if !order.contains(state) {
            order.push(*state);
        }
    }
    order
}

/// How far a summary may be off.
const SHARE: f64 = 0.10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_known_by_any_spelling() {
        for (name, state) in [
            ("startup", Some(0.0)),
            ("Startup", Some(0.0)),
            ("bbr_probe_bw_refill", Some(4.0)),
            ("ProbeBwUp", Some(5.0)),
            ("probe_rtt", Some(6.0)),
            ("ssthresh=none", None),
        ] {
            assert_eq!(bbr_state(name), state, "{name}");
        }
        assert_eq!(order(&[0.0, 1.0, 3.0, 1.0, 5.0], &[5.0, 3.0, 1.0]), [1.0, 3.0, 5.0]);
    }
}
