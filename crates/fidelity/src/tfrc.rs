//! The family tfrc: deterministic scenarios, and statistical ones.
//!
//! Of the latter, those with random losses are repeated run by run: the bottleneck draws a number for each arrival
//! from the generator that the seed sets, and no other component draws from it. With the same draws the runs are the same.
//!
//! In those with TCP the times at which flows start are not known, so means over seeds are
//! compared: Welch's test for each cell, with Holm's correction over all.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;

use lasthop_core::engine::{Instant, Streams};
use lasthop_core::net::loss::{Loss, LossModel};
use lasthop_core::net::{Change, Header, Observation, Observer, Probe};
use lasthop_core::scenario::builder;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::build::{self, Obstacle};
use crate::compare;
use crate::families::Outcomes;
use crate::in_parallel;
use crate::index::{self, Network};
use crate::means::{Mean, Test, rejected, welch};
use crate::mrg::Mrg32k3a;
use crate::report::Outcome;

/// Compares the deterministic scenarios of an index, and those of its list `statistical`.
pub fn compare(folder: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    let (cases, statistical) = index::tfrc(index)?;
    let mut lines = compare::family(folder, &cases, jobs);
    for item in &statistical {
        let id = item.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        let outcome = match id.as_str() {
            "loss-delay" => read(item).and_then(|item| loss_delay(folder, &item, jobs)),
            "loss-step" => read(item).and_then(|item| loss_step(folder, &item, jobs)),
            "sharing" => read(item).and_then(|item| sharing(&item, jobs)),
            _ => Err(Outcome::Unsupported("another kind of scenario".to_owned())),
        };
        lines.push((id, outcome.unwrap_or_else(|outcome| outcome)));
    }
    Ok(lines)
}

/// A number that the note has between these words: only there is it said since when packets count, and of how many runs.
fn stated(note: &str, before: &str, after: &str) -> Option<f64> {
    let (_, rest) = note.split_once(before)?;
    rest.split_once(after)?.0.trim().parse().ok()
}

fn read<T: DeserializeOwned>(item: &Value) -> Result<T, Outcome> {
    serde_json::from_value(item.clone()).map_err(|e| Outcome::Failed(e.to_string()))
}

/// A scenario with random losses. Its summary follows from the rows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Item {
    id: String,
    files: [String; 1],
    note: String,
    summary: Option<IgnoredAny>,
    scenario: Value,
}

impl Item {
    fn network(&self) -> Result<Network, Outcome> {
        index::part(&self.scenario).map_err(Outcome::Failed)
    }

    fn rows<T: DeserializeOwned>(&self, folder: &Path) -> Result<Vec<T>, Outcome> {
        let file = folder.join(&self.files[0]);
        let wrong = |e: csv::Error| Outcome::Failed(format!("{}: {e}", file.display()));
        let mut reader = csv::Reader::from_path(&file).map_err(wrong)?;
        reader.deserialize().map(|row| row.map_err(wrong)).collect()
    }
}

fn loss_delay(folder: &Path, item: &Item, jobs: usize) -> Result<Outcome, Outcome> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "named so that other columns are refused")]
    struct Row {
        rtt_s: f64,
        loss: f64,
        seed: u32,
        received_packets_per_s: f64,
        true_loss_rate: f64,
    }
    let network = item.network()?;
    let rows: Vec<Row> = item.rows(folder)?;
    let warm = stated(&item.note, "between ", " s and").unwrap_or(WARM_LOSSY);
    let run = |row: &Row, draws: Draws| {
        let mut network = network.clone();
        let ends = network.access[0][0].delay + network.access[0][1].delay;
        network.bottleneck.delay = row.rtt_s / 2.0 - ends;
        network.reverse.delay = network.bottleneck.delay;
        network.loss_schedule = vec![(0.0, row.loss)];
        lossy(&network, draws, warm).map(|run| run.received as f64 / (network.stop - warm))
    };
    let ours = in_parallel(jobs, &rows, |row| run(row, Draws::Ns2(row.seed)));
    let ours = ours.into_iter().collect::<Result<Vec<f64>, _>>()?;
    // Printed with three decimals.
    let differs = |(row, ours): &(&Row, &f64)| (*ours - row.received_packets_per_s).abs() > 0.000_6;
    let Some((row, ours)) = rows.iter().zip(&ours).find(differs) else { return Ok(Outcome::Same(rows.len())) };
    let why = format!(
        "the draws of ns-2's runs are not known (rtt {}, loss {}, seed {}: {}, not {ours:.3} packets/s)",
        row.rtt_s, row.loss, row.seed, row.received_packets_per_s
    );
    let mut cells: Vec<(&Row, Vec<f64>)> = Vec::new();
    for row in &rows {
        match cells.iter_mut().find(|(first, _)| (first.rtt_s, first.loss) == (row.rtt_s, row.loss)) {
            Some((_, values)) => values.push(row.received_packets_per_s),
            None => cells.push((row, vec![row.received_packets_per_s])),
        }
    }
    let mut tests = Vec::new();
    for (place, (row, values)) in cells.iter().enumerate() {
        let seeds: Vec<u64> = (1..=values.len() as u64 * REPETITIONS).collect();
        let runs = in_parallel(jobs, &seeds, |&seed| run(row, Draws::Own(seed)));
        let runs = runs.into_iter().collect::<Result<Vec<f64>, _>>()?;
        let [theirs, ours] = [values, &runs].map(|values| Mean::of(values.iter().copied()));
        let what = format!("rtt {}, loss {}", row.rtt_s, row.loss);
        tests.push((place, test(&what, "packets/s", ours, theirs)));
    }
    Ok(by_means(tests, why))
}

/// A mean of ns-2's and one of ours.
fn test(what: &str, unit: &str, ours: Mean, theirs: Mean) -> Test {
    let words = format!(
        "{what}: ns-2 {:.3} ± {:.3} {unit}, lasthop {:.3} ± {:.3}",
        theirs.mean, theirs.error, ours.mean, ours.error
    );
    Test { words, p: welch(ours, theirs) }
}

/// The outcome of means that are compared since runs cannot be.
fn by_means(tests: Vec<(usize, Test)>, why: String) -> Outcome {
    let count = tests.len();
    let words: Vec<String> = rejected(tests).into_iter().map(|(_, words)| words).collect();
    if words.is_empty() { Outcome::SameMeans(count, why) } else { Outcome::Differs(count, words.join("; ")) }
}

fn loss_step(folder: &Path, item: &Item, jobs: usize) -> Result<Outcome, Outcome> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        t_us: u64,
        rate_bytes_per_s_mean: f64,
        stderr: f64,
    }
    let network = item.network()?;
    let rows: Vec<Row> = item.rows(folder)?;
    let seeds = stated(&item.note, "over ", " seeds").map_or(STEP_SEEDS, |seeds| seeds as u32);
    let samples = (network.stop * 2.0) as u64;
    if let Some(row) = rows.iter().find(|row| row.t_us % 500_000 != 0 || !(1..=samples).contains(&(row.t_us / 500_000)))
    {
        return Err(Outcome::Failed(format!("{}: nothing is sampled at {} us", item.files[0], row.t_us)));
    }
    let runs = |draws: Vec<Draws>| {
        let runs = in_parallel(jobs, &draws, |&draws| lossy(&network, draws, 0.0));
        runs.into_iter().collect::<Result<Vec<_>, _>>()
    };
    let of = |runs: &[LossyRun], row: &Row| {
        let place = (row.t_us / 500_000) as usize - 1;
        Mean::of(runs.iter().map(|run| run.rates[place]))
    };
    let replayed = runs((1..=seeds).map(Draws::Ns2).collect())?;
    // ns-2 prints rates with six digits.
    let differs = |row: &&Row| (of(&replayed, row).mean / row.rate_bytes_per_s_mean - 1.0).abs() > 1e-5;
    let Some(row) = rows.iter().find(differs) else { return Ok(Outcome::Same(rows.len())) };
    let why = format!(
        "the draws of ns-2's runs are not known (rate at {} us: {}, not {:.3} B/s)",
        row.t_us,
        row.rate_bytes_per_s_mean,
        of(&replayed, row).mean
    );
    let own = runs((1..=u64::from(seeds) * REPETITIONS).map(Draws::Own).collect())?;
    let test = |(place, row): (usize, &Row)| {
        let theirs = Mean { mean: row.rate_bytes_per_s_mean, error: row.stderr, n: f64::from(seeds) };
        let ours = of(&own, row);
        let test = test(&format!("rate at {} us", row.t_us), "B/s", ours, theirs);
        // Before the first loss all runs are the same, and equal as printed.
        let same = (ours.mean / theirs.mean - 1.0).abs() <= 1e-5;
        (place, Test { p: if same { 1.0 } else { test.p }, ..test })
    };
    Ok(by_means(rows.iter().enumerate().map(test).collect(), why))
}

/// The runs of which `loss-step` gives means, if its note does not say.
const STEP_SEEDS: u32 = 24;
/// From when on packets count with random losses, seconds, if the note does not say.
const WARM_LOSSY: f64 = 30.0;

/// Whose draws lose packets.
#[derive(Clone, Copy)]
enum Draws {
    /// ns-2's generator with this seed.
    Ns2(u32),
    /// Our own, of a run with this seed.
    Own(u64),
}

/// The counts of a run with random losses.
struct LossyRun {
    /// Packets received from some time on.
    received: u64,
    /// The sender's rate each half second, from 0.5 s on, bytes per second.
    rates: Vec<f64>,
}

/// A run of one flow with random losses.
fn lossy(network: &Network, draws: Draws, from: f64) -> Result<LossyRun, Outcome> {
    let (seed, replayed) = match draws {
        Draws::Own(seed) => (seed, None),
        Draws::Ns2(seed) => (1, Some(seed)),
    };
    let loss_schedule = network.loss_schedule.clone().into_iter().filter(|_| replayed.is_none()).collect();
    let scenario = build::scenario(&Network { loss_schedule, ..network.clone() }).map_err(outcome)?;
    let counter = Counter { from: Instant::from_secs_f64(from), received: 0 };
    let failed = |e: &dyn std::fmt::Display| Outcome::Failed(e.to_string());
    let mut built = builder::build(&scenario, seed, Some(Box::new(counter))).map_err(|e| failed(&e))?;
    if let Some(seed) = replayed {
        let schedule = network.loss_schedule.iter().map(|&(at, p)| (Instant::from_secs_f64(at), p)).collect();
        let model = Loss(Some(Box::new(DrawnLoss { draws: Mrg32k3a::new(seed), schedule })));
        // The bottleneck is the first link.
        built.simulation.change(0, Change { loss: Some(model), ..Change::default() });
    }
    let mut rates = Vec::new();
    for half in 1..=(network.stop * 2.0) as u64 {
        built.simulation.run_until(Instant::from_nanos(half * 500_000_000), u64::MAX).map_err(|e| failed(&e))?;
        let mut rate = Rate(f64::NAN);
        built.simulation.sample_sender(built.flows[0].id, &mut rate);
        rates.push(rate.0);
    }
    let counter = built.simulation.take_observer().and_then(|o| o.into_any().downcast::<Counter>().ok());
    let received = counter.ok_or_else(|| failed(&"the observer is lost"))?.received;
    Ok(LossyRun { received, rates })
}

fn outcome(obstacle: Obstacle) -> Outcome {
    match obstacle {
        Obstacle::Unsupported(why) => Outcome::Unsupported(why),
        Obstacle::Wrong(why) => Outcome::Failed(why),
    }
}

/// Counts received packets.
struct Counter {
    from: Instant,
    received: u64,
}

impl Observer for Counter {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match observation {
            Observation::Received { packet, .. } if matches!(packet.header, Header::Tfrc(_)) && now >= self.from => {
                self.received += 1;
            }
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Independent losses by ns-2's generator.
struct DrawnLoss {
    draws: Mrg32k3a,
    schedule: Vec<(Instant, f64)>,
}

impl LossModel for DrawnLoss {
    fn loses(&mut self, now: Instant) -> bool {
        let p = self.schedule.iter().rev().find(|(at, _)| *at <= now).map_or(0.0, |(_, p)| *p);
        self.draws.uniform() < p
    }
}

/// The sender's rate, bytes per second.
struct Rate(f64);

impl Probe for Rate {
    fn part(&mut self, _what: lasthop_core::net::What, _name: &str) {}
    fn value(&mut self, name: &'static str, value: f64) {
        if name == "rate_bps" {
            self.0 = value / 8.0;
        }
    }
    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &lasthop_core::net::Histogram) {}
}

/// Flows of TFRC and TCP in equal numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Sharing {
    id: String,
    /// The runs, whose means the summary has.
    files: IgnoredAny,
    note: String,
    summary: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Cell {
    queue: String,
    flows_of_each_kind: usize,
    tcp: String,
    rate_bps: u64,
    queue_limit_setting: u64,
    n: u64,
    tfrc_goodput_bps_mean: f64,
    tfrc_stderr: f64,
    tcp_goodput_bps_mean: f64,
    tcp_stderr: f64,
    /// They follow from the goodputs.
    ratio_tfrc_to_tcp_mean: IgnoredAny,
    ratio_stderr: IgnoredAny,
    scenario: Value,
}

/// Our runs for each of ns-2's.
const REPETITIONS: u64 = 4;
/// From when on goodput counts, and until when flows start, seconds, if the note does not say.
const WARM: f64 = 40.0;
const STARTS: f64 = 5.0;

fn sharing(item: &Sharing, jobs: usize) -> Result<Outcome, Outcome> {
    let mut tests = Vec::new();
    let warm = stated(&item.note, "between ", " s and").unwrap_or(WARM);
    let starts = stated(&item.note, "uniform in 0..", " s").unwrap_or(STARTS);
    for (place, cell) in item.summary.iter().enumerate() {
        let network = index::part(&cell.scenario).map_err(Outcome::Failed)?;
        let seeds: Vec<u64> = (1..=cell.n * REPETITIONS).collect();
        let runs = in_parallel(jobs, &seeds, |&seed| shared(&network, cell.flows_of_each_kind, [starts, warm], seed));
        let runs = runs.into_iter().collect::<Result<Vec<_>, _>>()?;
        let references = [
            ("TFRC", cell.tfrc_goodput_bps_mean, cell.tfrc_stderr),
            (cell.tcp.as_str(), cell.tcp_goodput_bps_mean, cell.tcp_stderr),
        ];
        for (kind, (name, mean, error)) in references.into_iter().enumerate() {
            let theirs = Mean { mean, error, n: cell.n as f64 };
            let ours = Mean::of(runs.iter().map(|run| run[kind]));
            let words = format!(
                "{} {}+{} {} at {}: goodput of {name}: ns-2 {mean:.0} ± {error:.0} bit/s, lasthop {:.0} ± {:.0}",
                cell.queue,
                cell.flows_of_each_kind,
                cell.flows_of_each_kind,
                cell.tcp,
                cell.rate_bps,
                ours.mean,
                ours.error
            );
            tests.push((place, Test { words, p: welch(ours, theirs) }));
        }
    }
    let count = tests.len();
    let rejected = rejected(tests);
    if rejected.is_empty() {
        return Ok(Outcome::Same(count));
    }
    Ok(Outcome::Differs(count, rejected.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("; ")))
}

/// The mean goodput of TFRC's and of TCP's flows, bits per second of payload: of flows that start until `latest`, from `warm` on.
fn shared(network: &Network, of_each: usize, [latest, warm]: [f64; 2], seed: u64) -> Result<[f64; 2], Outcome> {
    let mut network = network.clone();
    let mut starts = Streams::new(seed).stream("fidelity", "starts");
    for flow in &mut network.flows {
        flow.start = starts.uniform(0.0, latest);
    }
    let scenario = build::scenario(&network).map_err(outcome)?;
    let failed = |e: &dyn std::fmt::Display| Outcome::Failed(e.to_string());
    let segment = u64::from(network.tcp.packet_size);
    let goodput =
        Goodput { from: Instant::from_secs_f64(warm), bytes: [0; 2], of_each, segment, seen: BTreeMap::new() };
    let mut built = builder::build(&scenario, seed, Some(Box::new(goodput))).map_err(|e| failed(&e))?;
    built.simulation.run_until(Instant::from_secs_f64(network.stop), u64::MAX).map_err(|e| failed(&e))?;
    let goodput = built.simulation.take_observer().and_then(|o| o.into_any().downcast::<Goodput>().ok());
    let bytes = goodput.ok_or_else(|| failed(&"the observer is lost"))?.bytes;
    Ok(bytes.map(|b| b as f64 * 8.0 / (network.stop - warm) / of_each as f64))
}

/// Counts the payload that sinks receive, TCP's in order.
struct Goodput {
    from: Instant,
    bytes: [u64; 2],
    /// The first flows are TFRC's.
    of_each: usize,
    /// Payload of a packet of TCP, bytes.
    segment: u64,
    /// For each flow of TCP the next packet in order and those beyond.
    seen: BTreeMap<u32, (u64, std::collections::BTreeSet<u64>)>,
}

impl Observer for Goodput {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        let Observation::Received { packet, .. } = observation else { return };
        match &packet.header {
            Header::Tfrc(header) if now >= self.from => self.bytes[0] += u64::from(header.payload),
            Header::Tcp(header) if packet.flow.0 as usize >= self.of_each && !packet.is_pure_ack() => {
                let (next, beyond) = self.seen.entry(packet.flow.0).or_default();
                if header.seq >= *next {
                    beyond.insert(header.seq);
                }
                while beyond.remove(next) {
                    *next += 1;
                    if now >= self.from {
                        self.bytes[1] += self.segment;
                    }
                }
            }
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
