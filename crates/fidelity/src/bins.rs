//! Compares what each sink received in each bin of time, the use of the bottleneck and the length
//! of its queue, as they are printed; and how many packets the bottleneck dropped.
//!
//! The use of the bottleneck is the bytes received by its rate, so it holds the changes of rate to
//! the description. For the length of the queue see [`crate::queue_length`].

use std::any::Any;
use std::path::Path;

use lasthop_core::engine::Instant;
use lasthop_core::net::simulation::Progress;
use lasthop_core::net::{Observation, Observer, TcpFlags};
use lasthop_core::scenario::session::Session;

use crate::build::{self, FORWARD, Obstacle};
use crate::families::Outcomes;
use crate::in_parallel;
use crate::index::{Case, Network};
use crate::queue_length::{self, QueueLength};
use crate::report::Outcome;

/// Compares the scenarios of one family that have bins.
pub fn family(folder: &Path, cases: &[Case], jobs: usize) -> Outcomes {
    in_parallel(jobs, cases, |case| {
        let outcome = compare(&folder.join(&case.file), case).unwrap_or_else(|outcome| outcome);
        (case.id.clone(), outcome)
    })
}

fn compare(file: &Path, case: &Case) -> Result<Outcome, Outcome> {
    let columns = columns(case.network.flows.len());
    let theirs = read(file, &columns).map_err(Outcome::Failed)?;
    let ours = run(&case.network, theirs.len())?;
    // The ends of bins are no result; the number of drops stands in the description.
    let compared = theirs.len() * (columns.len() - 1) + usize::from(case.drops.is_some());
    for (their, our) in theirs.iter().zip(&ours.rows) {
        let mut cells = columns.iter().zip(their).zip(our);
        if let Some(((column, their_cell), our_cell)) = cells.find(|((column, their), our)| !agree(column, their, our))
        {
            let words = format!("{column} until {} s: ns-2 {their_cell}, lasthop {our_cell}", their[0]);
            return Ok(Outcome::Differs(compared, words));
        }
    }
    match case.drops {
        Some(drops) if drops != ours.drops => {
            Ok(Outcome::Differs(compared, format!("drops: ns-2 {drops}, lasthop {}", ours.drops)))
        }
        _ => Ok(Outcome::Same(compared)),
    }
}

/// Whether a cell is as printed. The mean length is a sum of whole packet-microseconds by a whole
/// number of them, so it can lie halfway between two prints. Then either will do: which one it is
/// depends on the order in which the script added its doubles.
fn agree(column: &str, their: &str, our: &str) -> bool {
    if column != MEAN {
        return their == our;
    }
    let distance = their.parse::<f64>().ok().zip(our.parse::<f64>().ok()).map(|(their, our)| (their - our).abs());
    distance.is_some_and(|distance| distance < HALF_A_DIGIT + 1e-9)
}

/// Half of the last digit with which mean lengths are printed, packets. Ours have all their digits.
const HALF_A_DIGIT: f64 = 0.0005;
const MEAN: &str = "queue_mean_packets";

/// A row for each bin, as it is printed.
type Rows = Vec<Vec<String>>;

fn columns(flows: usize) -> Vec<String> {
    let known = ["t_end_s", "utilisation", MEAN, "queue_max_packets"].map(str::to_owned);
    known.into_iter().chain((0..flows).map(|f| format!("rx_bytes_flow{f}"))).collect()
}

fn read(file: &Path, columns: &[String]) -> Result<Rows, String> {
    let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let mut reader = csv::Reader::from_path(file).map_err(|e| wrong(&e))?;
    if reader.headers().map_err(|e| wrong(&e))? != columns {
        return Err(wrong(&format!("its columns are not {}", columns.join(", "))));
    }
    reader.deserialize().map(|row| row.map_err(|e| wrong(&e))).collect()
}

/// What a run gives.
struct Results {
    rows: Rows,
    /// Packets that the bottleneck dropped on the way forward.
    drops: u64,
}

fn run(network: &Network, bins: usize) -> Result<Results, Outcome> {
    let scenario = build::scenario(network).map_err(|obstacle| match obstacle {
        Obstacle::Unsupported(why) => Outcome::Unsupported(why),
        Obstacle::Wrong(why) => Outcome::Failed(why),
    })?;
    let failed = |e: &dyn std::fmt::Display| Outcome::Failed(e.to_string());
    let mut run = Session::new(&scenario, 1, Some(Box::new(Arrivals::default()))).map_err(|e| failed(&e))?;
    let mut queue = QueueLength::default();
    while run.advance(1).map_err(|e| failed(&e))? == Progress::Paused {
        queue.look(run.simulation());
    }
    let core = run.simulation().core();
    let drops = core.counters().drops.iter().filter(|((place, ..), _)| core.place_name(*place) == FORWARD);
    let drops = drops.map(|(_, count)| count.packets).sum();
    let lengths = queue.finish(run.end());
    let arrivals = run.finish().observer.take().and_then(|o| o.downcast::<Arrivals>().ok());
    let arrivals = arrivals.ok_or_else(|| Outcome::Failed("the observer is lost".to_owned()))?;
    Ok(Results { rows: rows(network, &arrivals, &lengths, bins), drops })
}

fn rows(network: &Network, arrivals: &Arrivals, lengths: &[queue_length::Bin], bins: usize) -> Rows {
    let mut arrivals = arrivals.0.iter().peekable();
    // The script that samples adds up its interval in doubles.
    let mut clock = 0.0;
    let row = |bin: usize| {
        let start = clock;
        clock += INTERVAL;
        let mut received = vec![0; network.flows.len()];
        while let Some((_, flow, bytes)) = arrivals.next_if(|(at, ..)| as_traced(*at) < clock) {
            received[*flow as usize] += bytes;
        }
        let bits = 8 * received.iter().sum::<u64>();
        let change = network.changes.iter().rfind(|change| change.at < start + INTERVAL / 2.0);
        let rate = change.map_or(network.bottleneck.rate, |change| change.rate);
        let length = lengths.get(bin).copied().unwrap_or_default();
        let mut row = vec![
            format!("{:.1}", (bin + 1) as f64 * INTERVAL),
            format!("{:.4}", bits as f64 / (rate as f64 * INTERVAL)),
            format!("{:.5}", length.mean()),
            length.most.to_string(),
        ];
        row.extend(received.iter().map(u64::to_string));
        row
    };
    (0..bins).map(row).collect()
}

/// The time as the trace has it, from which the bins were counted: seconds, rounded to whole microseconds.
fn as_traced(at: Instant) -> f64 {
    at.as_nanos().saturating_add(500).div_euclid(1000) as f64 / 1e6
}

/// Seconds of a bin.
const INTERVAL: f64 = 0.1;

/// The arrivals at sinks: when, of which flow, bytes on the wire.
#[derive(Debug, Default)]
struct Arrivals(Vec<(Instant, u32, u64)>);

impl Observer for Arrivals {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Received { packet, .. } = observation
            && packet.tcp().is_some_and(|tcp| !tcp.flags.has(TcpFlags::ACK))
        {
            self.0.push((now, packet.flow.0, packet.size.into()));
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In `n5-late` of `ns2-2` a packet comes 0.27 µs before 13.1 s, which the trace prints as 13.1: a packet of the bin after it.
    #[test]
    fn times_are_those_of_the_trace() {
        for (nanos, seconds) in [(13_099_999_733, 13.1), (13_100_000_499, 13.1), (13_099_999_499, 13.099_999)] {
            assert_eq!(as_traced(Instant::from_nanos(nanos)), seconds);
        }
    }
}
