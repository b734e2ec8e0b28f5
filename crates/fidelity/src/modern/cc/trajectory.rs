//! Runs of a controller over a path, ten samples a second: the same run is made again.
//!
//! Where the arithmetic is the same, each sample is. Elsewhere the mean rate in each stretch of path and application agrees within 10 %, and
//! packets lost within 10 % or one; and the phases of BBR follow one another in the same order. Where the logs of one algorithm over one path
//! lie further apart than that, a run that lies among them has no better figure to aim at: it is listed with theirs.

use super::harness::{Harness, Sample};
use super::implementation::{Implementation, Likeness, Measure};
use super::path::Path;
use super::quic::PACKET;
use super::replay;
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

/// The means of a run: Mbit/s in each stretch, and packets lost.
pub struct Summary {
    rates: Vec<f64>,
    lost: f64,
}

/// Makes the run of a log again. `others` are the logs of other implementations of the algorithm over the same path.
pub fn rerun(log: &Log, path: &Path, implementation: &Implementation, others: &[Summary]) -> Result<Outcome, String> {
    let theirs = read(log)?;
    let times: Vec<u64> = theirs.iter().map(|sample| sample.at).collect();
    if path.packets(times[times.len() - 1]) > MOST_PACKETS {
        return Err(format!("more than {MOST_PACKETS} packets"));
    }
    let ours = Harness::new(path, implementation).samples(&times);
    if implementation.likeness == Likeness::Same {
        return sample_by_sample(&ours, &theirs, path);
    }
    Ok(by_means(&ours, &theirs, path, implementation, others))
}

/// The means of a log.
pub fn summary(log: &Log, path: &Path) -> Result<Summary, String> {
    let samples = read(log)?;
    let rates: Vec<f64> = samples.iter().map(|sample| sample.delivered_bps).collect();
    Ok(Summary::of(&samples, &rates, samples.last().map_or(0, |last| last.lost), path))
}

impl Summary {
    /// Of rates at the times of samples.
    fn of(samples: &[Theirs<'_>], rates: &[f64], lost: u64, path: &Path) -> Self {
        let mean = |(from, until): (u64, u64)| {
            let inside = samples.iter().zip(rates).filter(|(sample, _)| (from..until).contains(&sample.at));
            let rates: Vec<f64> = inside.map(|(_, rate)| *rate / 1e6).collect();
            rates.iter().sum::<f64>() / rates.len().max(1) as f64
        };
        Self { rates: path.constant().into_iter().map(mean).collect(), lost: lost as f64 }
    }

    /// Its figures, each with what it is.
    fn figures(&self) -> impl Iterator<Item = (Measure, f64)> {
        let rates = self.rates.iter().map(|rate| (Measure::Rate, *rate));
        rates.chain([(Measure::Lost, self.lost)])
    }
}

/// Columns t_s, window_bytes, pacing_Bps, inflight_bytes, srtt_ms, delivered_bps, lost_packets_total, queue_ms, state.
fn read(log: &Log) -> Result<Vec<Theirs<'_>>, String> {
    let mut samples: Vec<Theirs<'_>> = Vec::new();
    for row in log.rows().filter(|row| !row.text(0).starts_with(|c: char| c.is_ascii_alphabetic())) {
        let at = row.number(0)?;
        if !(0.0..=86_400.0).contains(&at) {
            return Err(row.fault("its time is before the start, or too late"));
        }
        let at = (at * 1e6).round() as u64;
        if samples.last().is_some_and(|last| last.at >= at) {
            return Err(row.fault("its time is not after the last one"));
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
        replay::pacing(&mut tally, row, 2, ours.pacing)?;
        replay::ssthresh(&mut tally, row, 8, ours.ssthresh)?;
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

fn by_means(
    ours: &[Sample],
    theirs: &[Theirs<'_>],
    path: &Path,
    implementation: &Implementation,
    others: &[Summary],
) -> Outcome {
    let interval = (theirs[1].at - theirs[0].at) as f64 / 1e6;
    let rate = |sample: &Sample| sample.delivered as f64 * PACKET as f64 * 8.0 / interval;
    let our_rates: Vec<f64> = ours.iter().map(rate).collect();
    let their_rates: Vec<f64> = theirs.iter().map(|sample| sample.delivered_bps).collect();
    let of = |rates: &[f64], lost: Option<u64>| Summary::of(theirs, rates, lost.unwrap_or_default(), path);
    let our_run = of(&our_rates, ours.last().map(|sample| sample.lost));
    let their_run = of(&their_rates, theirs.last().map(|sample| sample.lost));
    let mut differences = Vec::new();
    let mut causes: Vec<String> = Vec::new();
    let mut unexplained = false;
    let begins: Vec<(u64, u64)> = path.constant();
    for (at, ((measure, ours), (_, theirs))) in our_run.figures().zip(their_run.figures()).enumerate() {
        if is_near(measure, ours, theirs, theirs) {
            continue;
        }
        let what = begins
            .get(at)
            .map_or("lost packets".to_owned(), |(from, _)| format!("Mbit/s from {} s", *from as f64 / 1e6));
        differences.push(format!("{what}: {theirs:.2}, lasthop {ours:.2}"));
        let figures = others.iter().filter_map(|other| other.figures().nth(at)).map(|(_, figure)| figure);
        let (low, high) = figures.fold((theirs, theirs), |(low, high), figure| (low.min(figure), high.max(figure)));
        if is_near(measure, ours, low, high) {
            causes.push(format!("implementations differ: {low:.2} to {high:.2}"));
        } else if let Some(cause) = implementation.cause(measure, path) {
            causes.push(cause.to_owned());
        } else {
            unexplained = true;
        }
    }
    let our_phases = phases(ours.iter().filter_map(|sample| sample.state));
    let their_phases = phases(theirs.iter().filter_map(|sample| bbr_state(sample.row.text(8))));
    let [shown, expected] = [(&our_phases, &their_phases), (&their_phases, &our_phases)]
        .map(|(of, shared)| of.iter().copied().filter(|phase| shared.contains(phase)).collect::<Vec<_>>());
    if shown != expected {
        differences.push(format!("phases: {expected:?}, lasthop {shown:?}"));
        unexplained = true;
    }
    causes.dedup();
    let count = begins.len() + 2;
    match (differences.is_empty(), unexplained) {
        (true, _) => Outcome::SameMeans(count, "the same algorithm in other arithmetic".to_owned()),
        (false, true) => Outcome::Differs(count, differences.join("; ")),
        (false, false) => Outcome::Explained(count, differences.join("; "), causes.join("; ")),
    }
}

/// Whether a figure lies between two, or near them.
fn is_near(measure: Measure, ours: f64, low: f64, high: f64) -> bool {
    let grain = if measure == Measure::Lost { 1.0 } else { 0.0 };
    let margin = |figure: f64| (SHARE * figure).max(grain);
    (low - margin(low)..=high + margin(high)).contains(&ours)
}

/// A state of BBR by its name, whatever the implementation adds to it or how it divides its words, with the number that it has here.
fn bbr_state(name: &str) -> Option<f64> {
    let letters: String = name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    let name = letters.strip_prefix("bbr").unwrap_or(&letters);
    let names = ["startup", "drain", "probebwdown", "probebwcruise", "probebwrefill", "probebwup", "probertt"];
    names.iter().position(|known| *known == name).map(|at| at as f64)
}

/// A phase of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    ProbeBw,
}

/// The phases in the order in which each begins, an earlier one that comes back included. ProbeRTT interrupts any of them
/// (draft-ietf-ccwg-bbr §5.3.4), and states within ProbeBW may be shorter than the time between two samples.
fn phases(states: impl Iterator<Item = f64>) -> Vec<Phase> {
    let phase = |state: f64| match state as u8 {
        0 => Some(Phase::Startup),
        1 => Some(Phase::Drain),
        2..=5 => Some(Phase::ProbeBw),
        _ => None,
    };
    let mut phases: Vec<Phase> = states.filter_map(phase).collect();
    phases.dedup();
    phases
}

/// How far a summary may be off.
const SHARE: f64 = 0.10;
/// Packets of a run at most.
const MOST_PACKETS: f64 = 1e8;

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
    }

    #[test]
    fn phases_are_seen_through_probes_of_the_round_trip() {
        use Phase::{Drain, ProbeBw, Startup};
        let seen = |states: &[f64]| phases(states.iter().copied());
        assert_eq!(seen(&[0.0, 6.0, 0.0, 1.0, 3.0, 5.0, 2.0, 6.0, 3.0]), [Startup, Drain, ProbeBw]);
        assert_eq!(seen(&[0.0, 3.0, 0.0, 3.0]), [Startup, ProbeBw, Startup, ProbeBw]);
    }

    #[test]
    fn a_figure_among_others_or_near_them() {
        for (measure, ours, expected) in [
            (Measure::Rate, 9.0, true),
            (Measure::Rate, 8.9, false),
            (Measure::Rate, 13.2, true),
            (Measure::Rate, 13.3, false),
            (Measure::Lost, 8.9, false),
        ] {
            assert_eq!(is_near(measure, ours, 10.0, 12.0), expected, "{ours}");
        }
        assert!(is_near(Measure::Lost, 1.0, 0.0, 0.0) && !is_near(Measure::Lost, 2.0, 0.0, 0.0));
    }
}
