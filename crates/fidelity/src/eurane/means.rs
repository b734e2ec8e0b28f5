//! Compares means over seeds: greedy TCP over FACH, one user and then two.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use lasthop_core::engine::Instant;
use lasthop_core::net::{FlowId, Histogram, Observation, Observer, Probe, RunError, Simulation, Variable, What};
use lasthop_core::scenario::builder::{self, Built};
use lasthop_core::scenario::read;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::RTO_2_29;
use super::common_draws::Draws;
use crate::families::Outcomes;
use crate::in_parallel;
use crate::means::Mean;
use crate::mrg::Mrg32k3a;
use crate::report::Outcome;

/// An index. Fields for readers are ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "for readers of the index")]
struct File {
    family: IgnoredAny,
    simulator: IgnoredAny,
    topology: IgnoredAny,
    rlc: IgnoredAny,
    nodeb_queue: IgnoredAny,
    tcp: IgnoredAny,
    #[serde(rename = "other sets")]
    other_sets: IgnoredAny,
    bler: IgnoredAny,
    parts: IgnoredAny,
    columns: IgnoredAny,
    #[serde(rename = "series.csv")]
    series: Option<IgnoredAny>,
    comparison: IgnoredAny,
    sets: Vec<Set>,
    files: IgnoredAny,
}

/// Variants of TCP at several error rates.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    name: String,
    tcps: Vec<String>,
    dlbler: Vec<f64>,
    #[serde(default)]
    ulbler: f64,
    #[serde(default = "stock_iub")]
    iub: String,
    #[serde(default)]
    overhead: Option<String>,
    /// Payload bytes of a segment (`packetSize_`).
    #[serde(default = "stock_size")]
    size: u32,
    /// `window_`, packets.
    #[serde(default = "stock_window")]
    window: u32,
    /// RLC's status prohibit time.
    #[serde(default = "stock_prohibit")]
    prohibit: String,
    seeds: Vec<u64>,
}

fn stock_iub() -> String {
    "15ms".to_owned()
}

fn stock_size() -> u32 {
    1000
}

fn stock_window() -> u32 {
    20
}

fn stock_prohibit() -> String {
    "150ms".to_owned()
}

/// A time as ns-2 has it, a number with or without a unit.
fn time(what: &str, text: &str) -> Result<String, String> {
    let (number, unit) = text.split_at(text.find(char::is_alphabetic).unwrap_or(text.len()));
    let unit = if unit.is_empty() { "s" } else { unit };
    if number.trim().parse::<f64>().is_err() || !["s", "ms", "us", "ns"].contains(&unit) {
        return Err(format!("{what}: \"{text}\" is no time"));
    }
    Ok(format!("{} {unit}", number.trim()))
}

/// The columns of means that are compared.
const COLUMNS: [&str; 13] = [
    "goodput_kbps",
    "window_pkts",
    "cwnd_pkts",
    "rtt_s",
    "tcp_retransmissions",
    "tcp_timeouts",
    "rlc_kbps",
    "rlc_new_kbps",
    "rlc_rtx_kbps",
    "rlc_poll_kbps",
    "rlc_status_kbps",
    "rlc_ul_kbps",
    "nodeb_drop_kbps",
];

/// Seconds: one flow from the first to the second, two from the third to the fourth.
const PARTS: [(&str, [f64; 2]); 2] = [("one", [100.0, 1500.0]), ("two", [1600.0, 7500.0])];

/// The tick of TCP's clock, in seconds.
const TICK: f64 = 0.01;

/// Samples of windows and estimates.
const SAMPLES_PER_SECOND: u64 = 10;

/// Means must be equal within this share of the reference's, and two standard errors.
const SHARE: f64 = 0.01;
/// The same for Vegas where two users share the channel, and at a block error rate of 0.3.
const VEGAS_SHARE: f64 = 0.04;

/// Compares the means of a folder: a line for each variant, error rate and part.
pub fn compare(folder: &Path, value: Value, jobs: usize) -> Result<Outcomes, String> {
    let file: File = crate::index::file(value)?;
    let reference = read_means(&folder.join("means.csv"))?;
    let mut points = Vec::new();
    for set in &file.sets {
        for tcp in &set.tcps {
            points.extend(set.dlbler.iter().map(|bler| (set, tcp.as_str(), *bler)));
        }
    }
    let outcomes = in_parallel(jobs, &points, |(set, tcp, bler)| {
        let runs = set.seeds.iter().map(|seed| run(set, tcp, *bler, *seed)).collect::<Result<Vec<_>, _>>();
        PARTS.map(|(part, _)| {
            let id = format!("{} {tcp} {bler} {part}", set.name);
            let outcome = match &runs {
                Err(message) => Outcome::Failed(message.clone()),
                Ok(runs) => hold(&reference, (&set.name, tcp, *bler, part), runs),
            };
            (id, outcome)
        })
    });
    Ok(outcomes.into_iter().flatten().collect())
}

/// Set, variant, error rate in thousandths, part and flow.
type Cell = (String, String, u64, String, String);
/// Means and standard errors by column.
type Means = BTreeMap<Cell, BTreeMap<String, f64>>;

fn thousandths(bler: f64) -> u64 {
    (bler * 1000.0).round() as u64
}

fn read_means(file: &Path) -> Result<Means, String> {
    let problem = |e: String| format!("{}: {e}", file.display());
    let mut reader = csv::Reader::from_path(file).map_err(|e| problem(e.to_string()))?;
    let mut means = Means::new();
    for record in reader.deserialize::<BTreeMap<String, String>>() {
        let mut record = record.map_err(|e| problem(e.to_string()))?;
        let mut take = |name: &str| record.remove(name).ok_or_else(|| problem(format!("no column {name}")));
        let (set, tcp, bler, part, flow) = (take("set")?, take("tcp")?, take("bler")?, take("part")?, take("flow")?);
        let bler: f64 = bler.parse().map_err(|e| problem(format!("{e}")))?;
        let numbers = record.into_iter().filter_map(|(name, text)| Some((name, text.parse().ok()?))).collect();
        means.insert((set, tcp, thousandths(bler), part, flow), numbers);
    }
    Ok(means)
}

/// Holds the runs of one part against the means of the reference.
fn hold(reference: &Means, (set, tcp, bler, part): (&str, &str, f64, &str), runs: &[Run]) -> Outcome {
    let mut cells = 0;
    let mut worst: Option<(f64, String)> = None;
    for flow in ["0", "1", "all"] {
        let cell = (set.to_owned(), tcp.to_owned(), thousandths(bler), part.to_owned(), flow.to_owned());
        let Some(theirs) = reference.get(&cell) else { continue };
        for column in COLUMNS {
            let error = format!("{column}_se");
            let (Some(mean), Some(error)) = (theirs.get(column), theirs.get(&error)) else { continue };
            let key = (part, flow, column);
            let ours = Mean::of(runs.iter().map(|run| run.get(&key).copied().unwrap_or(f64::NAN)));
            let share = if tcp == "Vegas" && (part == "two" || bler >= 0.3) { VEGAS_SHARE } else { SHARE };
            let bound = share * mean.abs() + 2.0 * (error * error + ours.error * ours.error).sqrt();
            let distance = (ours.mean - mean).abs();
            cells += 1;
            if distance.is_nan() || distance > bound {
                let ratio = distance / bound.max(1e-12);
                let words = format!("flow {flow}, {column}: {:.4}, not {mean:.4} ± {bound:.4}", ours.mean);
                if worst.as_ref().is_none_or(|(other, _)| ratio > *other) {
                    worst = Some((ratio, words));
                }
            }
        }
    }
    match worst {
        None => Outcome::Same(cells),
        Some((_, words)) => Outcome::Differs(cells, words),
    }
}

/// What a run gives, by part, flow and column.
type Run = BTreeMap<(&'static str, &'static str, &'static str), f64>;

/// The scenario, as the index describes it.
fn scenario(set: &Set, tcp: &str, phases: [f64; 2]) -> Result<String, String> {
    let variant = super::tcp(tcp).ok_or_else(|| format!("tcps: {tcp} is not known"))?;
    let spacing = time("overhead", set.overhead.as_deref().unwrap_or("20us"))?;
    let iub = time("iub", &set.iub)?;
    let prohibit = time("prohibit", &set.prohibit)?;
    let (window, size) = (set.window, set.size);
    let flow = |n: usize, start: &str| {
        format!(
            r#"
            [[flow]]
            name = "{n}"
            from = "host"
            to = "cell.ue[{n}]"
            start = "{start}"
            transport.tcp = {{ variant = "{variant}", window = {window}, segment = "{size} B", exact_half = false, rto = {{ {RTO_2_29}, granularity = "{TICK} s" }}, boot_time = {:e} }}
            "#,
            phases[n] * TICK
        )
    };
    Ok(format!(
        r#"
        profile = "ns2"
        duration = "7500 s"
        [[link]]
        name = "internet"
        between = ["host", "ggsn"]
        rate = "10 Mbit/s"
        delay = "15 ms"
        [[link]]
        name = "core"
        between = ["ggsn", "rnc"]
        rate = "622 Mbit/s"
        delay = "10.4 ms"
        [[cell]]
        name = "cell"
        rnc = "rnc"
        ues = 2
        attachment = "common"
        rlc.eurane.status_prohibit = "{prohibit}"
        spacing = "{spacing}"
        iub.delay = "{iub}"
        {}{}"#,
        flow(0, "1 s"),
        flow(1, "1500 s"),
    ))
}

fn run(set: &Set, tcp: &str, bler: f64, seed: u64) -> Result<Run, String> {
    let mut generator = Mrg32k3a::new(seed as u32);
    // A sender draws the phase of its clock when it is made, Vegas twice, and again as the run begins.
    for _ in 0..if tcp == "Vegas" { 4 } else { 2 } {
        generator.uniform();
    }
    let phases = [(); 2].map(|()| generator.uniform());
    let text = scenario(set, tcp, phases)?;
    let mut document = read::toml(&text, "scenario").map_err(|e| e.to_string())?;
    let draws = Draws::new(generator);
    draws.decide(&mut document.scenario, [bler, set.ulbler]);
    let rtts = Rtts::default();
    let watcher = Box::new(Watcher { rtts: rtts.clone(), draws: draws.clone() });
    let mut built = builder::build(&document.scenario, seed, Some(watcher)).map_err(|e| e.to_string())?;
    draws.begin(&mut built.simulation);
    let mut run = Run::new();
    for (part, [from, to]) in PARTS {
        // How often samples were taken, and their sums for each flow: windows and congestion windows.
        let mut windows = [[0.0; 2]; 2];
        advance(&mut built.simulation, from).map_err(|e| e.to_string())?;
        let before = [0, 1].map(|flow| Totals::of(&built, flow));
        let mut acked = before.map(|totals| totals.acked_bytes);
        let mut estimates = [Estimates::default(); 2];
        let samples = ((to - from) * SAMPLES_PER_SECOND as f64) as u64;
        for n in 1..=samples {
            advance(&mut built.simulation, from + n as f64 / SAMPLES_PER_SECOND as f64).map_err(|e| e.to_string())?;
            for (flow, sums) in windows.iter_mut().enumerate() {
                let mut sender = Sender::default();
                built.simulation.sample_sender(built.flows[flow].id, &mut sender);
                sums[0] += sender.in_flight / samples as f64;
                sums[1] += sender.cwnd.min(f64::from(set.window)) / samples as f64;
                if std::mem::replace(&mut acked[flow], sender.acked_bytes) != sender.acked_bytes {
                    estimates[flow].add(rtts.present(flow));
                }
            }
        }
        let flows: &[usize] = if part == "one" { &[0] } else { &[0, 1] };
        let mut all: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
        for &flow in flows {
            let name = ["0", "1"][flow];
            let change = Totals::of(&built, flow).since(&before[flow]);
            let mut values = change.columns(to - from);
            values.insert("window_pkts", windows[flow][0]);
            values.insert("cwnd_pkts", windows[flow][1]);
            values.insert("rtt_s", estimates[flow].mean());
            for (column, value) in values {
                run.insert((part, name, column), value);
                all.entry(column).or_default().push(value);
            }
        }
        if flows.len() > 1 {
            for (column, values) in all {
                let sum: f64 = values.iter().sum();
                let is_mean = matches!(column, "window_pkts" | "cwnd_pkts" | "rtt_s");
                run.insert((part, "all", column), if is_mean { sum / values.len() as f64 } else { sum });
            }
        }
    }
    Ok(run)
}

fn advance(simulation: &mut Simulation, to: f64) -> Result<(), RunError> {
    simulation.run_until(Instant::from_secs_f64(to), u64::MAX).map(|_| ())
}

/// Counters of a flow and of its terminal's bearer.
#[derive(Clone, Copy, Default)]
struct Totals {
    acked_bytes: f64,
    retransmissions: f64,
    timeouts: f64,
    /// New, again, for a poll, and without data, down.
    pdus: [f64; 4],
    up: f64,
    dropped: f64,
}

impl Totals {
    fn of(built: &Built, flow: usize) -> Self {
        let mut sender = Values::default();
        built.simulation.sample_sender(built.flows[flow].id, &mut sender);
        let mut media = Values::default();
        built.simulation.sample_media(&mut media);
        let down = |name: &str| media.at(&format!("cell.ue[{flow}] down"), name);
        let up = |name: &str| media.at(&format!("cell.ue[{flow}] up"), name);
        let kinds = ["new_pdus", "retransmitted_pdus", "poll_pdus", "control_pdus"];
        Self {
            acked_bytes: sender.get("acked_bytes"),
            retransmissions: sender.get("retransmitted_packets"),
            timeouts: sender.get("timeouts"),
            pdus: kinds.map(down),
            up: kinds.map(up).iter().sum(),
            dropped: down("queue_dropped_pdus"),
        }
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            acked_bytes: self.acked_bytes - before.acked_bytes,
            retransmissions: self.retransmissions - before.retransmissions,
            timeouts: self.timeouts - before.timeouts,
            pdus: std::array::from_fn(|i| self.pdus[i] - before.pdus[i]),
            up: self.up - before.up,
            dropped: self.dropped - before.dropped,
        }
    }

    fn columns(&self, seconds: f64) -> BTreeMap<&'static str, f64> {
        let kbps = |pdus: f64| pdus * 320.0 / seconds / 1e3;
        let [new, again, polls, control] = self.pdus.map(kbps);
        BTreeMap::from([
            ("goodput_kbps", self.acked_bytes * 8.0 / seconds / 1e3),
            ("tcp_retransmissions", self.retransmissions),
            ("tcp_timeouts", self.timeouts),
            ("rlc_kbps", new + again + polls + control),
            ("rlc_new_kbps", new),
            ("rlc_rtx_kbps", again),
            ("rlc_poll_kbps", polls),
            ("rlc_status_kbps", control),
            ("rlc_ul_kbps", kbps(self.up)),
            ("nodeb_drop_kbps", kbps(self.dropped)),
        ])
    }
}

/// What a sender shows in each sample: windows in packets, and what is acknowledged.
#[derive(Default)]
struct Sender {
    in_flight: f64,
    cwnd: f64,
    acked_bytes: f64,
}

impl Probe for Sender {
    fn part(&mut self, _what: What, _name: &str) {}

    fn value(&mut self, name: &'static str, value: f64) {
        match name {
            "in_flight_packets" => self.in_flight = value,
            "cwnd_packets" => self.cwnd = value,
            "acked_bytes" => self.acked_bytes = value,
            _ => {}
        }
    }

    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}

/// Values that parts show.
#[derive(Default)]
struct Values {
    part: String,
    values: BTreeMap<(String, &'static str), f64>,
}

impl Values {
    fn get(&self, name: &'static str) -> f64 {
        self.values.get(&(String::new(), name)).copied().unwrap_or(f64::NAN)
    }

    fn at(&self, part: &str, name: &str) -> f64 {
        let found = self.values.iter().find(|((p, n), _)| p == part && *n == name);
        found.map_or(f64::NAN, |(_, value)| *value)
    }
}

impl Probe for Values {
    fn part(&mut self, _what: What, name: &str) {
        name.clone_into(&mut self.part);
    }

    fn value(&mut self, name: &'static str, value: f64) {
        self.values.insert((self.part.clone(), name), value);
    }

    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}

/// Estimates of the round-trip time. The reference adds up those in use at the samples before which an acknowledgement of new data has
/// come since the last: several that come within one interval count once.
#[derive(Clone, Copy, Default)]
struct Estimates {
    /// In ticks of 10 ms.
    sum: f64,
    count: f64,
}

impl Estimates {
    fn add(&mut self, ticks: f64) {
        self.sum += ticks;
        self.count += 1.0;
    }

    /// In seconds; 0 if no acknowledgement came, as in the reference.
    fn mean(&self) -> f64 {
        if self.count > 0.0 { 0.01 * self.sum / self.count } else { 0.0 }
    }
}

/// The present estimate of each flow, in ticks.
#[derive(Clone, Default)]
struct Rtts(Arc<Mutex<[f64; 2]>>);

impl Rtts {
    fn present(&self, flow: usize) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[flow]
    }
}

/// What a run is watched for.
struct Watcher {
    rtts: Rtts,
    draws: Draws,
}

impl Observer for Watcher {
    fn see(&mut self, _now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Changed { flow: FlowId(flow), variable: Variable::Rtt, value, .. } => {
                self.rtts.0.lock().unwrap_or_else(PoisonError::into_inner)[flow as usize] = value;
            }
            Observation::Pdu { place, step, .. } => self.draws.see(place, step),
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests;
