//! The reference of the kernel's TCP: one bulk flow over a drop-tail bottleneck, each cell repeated five times. Profile `linux` makes the same
//! flow; the bytes acknowledged by the end and the packets dropped have to lie where the repeats lay, widened by the rule of the reference. BBR
//! draws, and so do the hosts' own times: the medians of five runs are taken.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use lasthop_core::scenario::read;
use lasthop_core::scenario::session::{Results, Session};

use crate::families::Outcomes;
use crate::report::Outcome;
use crate::{in_parallel, index};

/// The index. Fields for readers are ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Index {
    what: Option<IgnoredAny>,
    kernel: IgnoredAny,
    cpu: Option<IgnoredAny>,
    path: Option<Way>,
    hosts: Option<Hosts>,
    files: Option<IgnoredAny>,
    cells: Vec<Value>,
    noise: Option<IgnoredAny>,
}

/// The path, in words but for the size of packets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Way {
    topology: Option<IgnoredAny>,
    forward: Option<IgnoredAny>,
    back: Option<IgnoredAny>,
    clock: Option<IgnoredAny>,
    mtu: Option<u32>,
    offloads: Option<IgnoredAny>,
    segment: Option<IgnoredAny>,
    note: Option<IgnoredAny>,
}

/// The hosts, in words but for their settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Hosts {
    #[serde(default)]
    sysctl: BTreeMap<String, Value>,
    others: Option<IgnoredAny>,
    sender: Option<IgnoredAny>,
    hystart: Option<IgnoredAny>,
    initial_ssthresh: Option<String>,
}

/// A line of `runs.jsonl`, as far as it says how long the runs of a cell are.
#[derive(Deserialize)]
struct Run {
    cc: String,
    hystart: Option<u8>,
    rate_mbit: f64,
    rtt_ms: f64,
    buffer_bytes: u64,
    seconds: f64,
}

/// A cell: a controller on a path, and what five runs gave.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Cell {
    cc: String,
    hystart: Option<u8>,
    rate_mbit: f64,
    rtt_ms: f64,
    buffer_bdp: f64,
    buffer_bytes: u64,
    repeats: Option<IgnoredAny>,
    goodput_mbit: Range,
    drops: Range,
    first_drop_s: Option<IgnoredAny>,
    queue_p50_ms: Option<IgnoredAny>,
    data_per_ack: Option<IgnoredAny>,
    late_p99_us: Option<IgnoredAny>,
    late_max_us: Option<IgnoredAny>,
}

/// Where the values of the repeats lie.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Range {
    median: f64,
    min: f64,
    max: f64,
    sd: Option<IgnoredAny>,
}

/// Compares the cells of an index.
pub fn compare(folder: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    let index: Index = index::file(index)?;
    index.is_simulated()?;
    let runs = runs(folder)?;
    Ok(in_parallel(jobs, &index.cells, |one| match Cell::deserialize(one) {
        Ok(cell) => (cell.name(), judge(&cell, &runs).unwrap_or_else(Outcome::Failed)),
        Err(error) => ("a cell".to_owned(), Outcome::Failed(error.to_string())),
    }))
}

impl Index {
    /// Whether profile `linux` has hosts like these.
    fn is_simulated(&self) -> Result<(), String> {
        let mtu = self.path.as_ref().and_then(|path| path.mtu).unwrap_or(MTU);
        if mtu != MTU {
            return Err(format!("path.mtu: packets of {MTU} B are simulated, not of {mtu}"));
        }
        let Some(hosts) = &self.hosts else { return Ok(()) };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if let Some((name, value)) =
            hosts.sysctl.iter().find(|(name, value)| !SYSCTL.contains(&(name.as_str(), text(value).as_str())))
        {
            return Err(format!("hosts.sysctl: {name} = {value} is not simulated"));
        }
        match hosts.initial_ssthresh.as_deref() {
            None | Some("unset") => Ok(()),
            Some(other) => Err(format!("hosts.initial_ssthresh: {other} is not simulated")),
        }
    }
}

/// The lines of `runs.jsonl`, if there is one.
fn runs(folder: &Path) -> Result<Vec<Run>, String> {
    let Ok(text) = std::fs::read_to_string(folder.join("runs.jsonl")) else { return Ok(Vec::new()) };
    text.lines().map(|line| serde_json::from_str(line).map_err(|e| format!("runs.jsonl: {e}"))).collect()
}

impl Cell {
    /// As its files are named.
    fn name(&self) -> String {
        let hystart = match self.hystart {
            Some(0) => "-nohystart",
            Some(_) => "-hystart",
            None => "",
        };
        format!("{}{hystart}_{}mbit_{}ms_{}bdp", self.cc, self.rate_mbit, self.rtt_ms, self.buffer_bdp)
    }

    /// How long its runs are, s.
    fn seconds(&self, runs: &[Run]) -> Result<f64, String> {
        let same = |run: &&Run| {
            (&run.cc, run.hystart, run.buffer_bytes) == (&self.cc, self.hystart, self.buffer_bytes)
                && (run.rate_mbit, run.rtt_ms) == (self.rate_mbit, self.rtt_ms)
        };
        let mut all = runs.iter().filter(same).map(|run| run.seconds);
        let seconds = all.next().unwrap_or(SECONDS);
        let sane = (0.1..=1e3).contains(&seconds) && all.all(|other| other == seconds);
        if sane { Ok(seconds) } else { Err("runs.jsonl: the cell's runs are not all of one length".to_owned()) }
    }

    /// Whether its numbers go together.
    fn check(&self) -> Result<(), String> {
        let bytes = self.rate_mbit * 1e6 / 8.0 * self.rtt_ms / 1e3 * self.buffer_bdp;
        if (bytes - self.buffer_bytes as f64).abs() > 1.0 {
            return Err(format!("buffer_bytes: {} is not {} BDP", self.buffer_bytes, self.buffer_bdp));
        }
        for (field, range) in [("goodput_mbit", self.goodput_mbit), ("drops", self.drops)] {
            if !(range.min..=range.max).contains(&range.median) {
                return Err(format!("{field}: the median is not in its range"));
            }
        }
        Ok(())
    }

    fn scenario(&self, seconds: f64) -> Result<String, String> {
        let congestion = match (self.cc.as_str(), self.hystart) {
            ("reno", None) => r#"variant = "reno""#.to_owned(),
            ("cubic", Some(on)) => format!("congestion.cubic.hystart = {}", on != 0),
            ("bbr", None) => r#"variant = "bbr""#.to_owned(),
            _ => return Err(format!("there is no \"{}\" in profile linux", self.cc)),
        };
        let sane = (0.01..=1e4).contains(&self.rate_mbit) && (0.0..=1e4).contains(&self.rtt_ms);
        if !sane || self.buffer_bytes > 1 << 30 {
            return Err("rate, delay or buffer make no sense".to_owned());
        }
        Ok(format!(
            r#"duration = "{seconds} s"
profile = "linux"
record.state = true
[[link]]
name = "path"
between = ["a", "b"]
rate = "{} Mbit/s"
delay = "{} ms"
jitter.std = "{HOST_SPREAD_US} us"
queue.droptail.limit = "{} B"
reverse = {{ rate = "{BACK} Mbit/s", queue = "droptail" }}
[[flow]]
name = "bulk"
from = "a"
to = "b"
transport.tcp = {{ {congestion} }}
"#,
            self.rate_mbit,
            self.rtt_ms / 2.0 + HOST_LEAST_US / 1e3,
            self.buffer_bytes
        ))
    }
}

/// Runs a cell.
fn judge(cell: &Cell, runs: &[Run]) -> Result<Outcome, String> {
    cell.check()?;
    let seconds = cell.seconds(runs)?;
    let document = read::toml(&cell.scenario(seconds)?, &cell.name()).map_err(|error| error.to_string())?;
    let (mut goodputs, mut lost) = (Vec::new(), Vec::new());
    for seed in 1..=SEEDS {
        let mut run = Session::new(&document.scenario, seed, None).map_err(|error| error.to_string())?;
        run.complete().map_err(|error| error.to_string())?;
        let results = run.finish();
        goodputs.push(value(&results, "acked_bytes")? * 8.0 / 1e6 / seconds);
        lost.push(drops(&results)?);
    }
    let (goodput, drops) = (median(goodputs), median(lost));
    let (good, lost) = (cell.goodput_mbit, cell.drops);
    let more = |drops: f64| DROPS.max(drops * DROP_SHARE);
    let goodput_agrees = (good.min * (1.0 - GOODPUT_SHARE)..=good.max * (1.0 + GOODPUT_SHARE)).contains(&goodput);
    let drops_agree = (lost.min - more(lost.min)..=lost.max + more(lost.max)).contains(&drops);
    if goodput_agrees && drops_agree {
        return Ok(Outcome::Same(2));
    }
    let there = |range: Range| format!("{}..{}", range.min, range.max);
    let differs = format!("there {} Mbit/s and {} drops, here {goodput:.4} and {drops}", there(good), there(lost));
    Ok(Outcome::Differs(2, differs))
}

/// Of an odd number of values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A value of the sender at the end.
fn value(results: &Results, quantity: &str) -> Result<f64, String> {
    let table = results.table("state").ok_or("there is no table of states")?;
    let found = (0..table.rows())
        .find(|&row| table.text("kind", row) == Some("sender") && table.text("quantity", row) == Some(quantity));
    found.and_then(|row| table.number("value", row)).ok_or_else(|| format!("there is no {quantity}"))
}

/// Packets that the bottleneck dropped.
fn drops(results: &Results) -> Result<f64, String> {
    let table = results.table("drops").ok_or("there is no table of drops")?;
    Ok((0..table.rows()).filter_map(|row| table.number("packets", row)).sum())
}

/// The settings of the reference's hosts: profile `linux` has such a receive buffer, and no memory of earlier connections.
const SYSCTL: [(&str, &str); 3] =
    [("tcp_no_metrics_save", "1"), ("tcp_rmem", "4096 33554432 67108864"), ("tcp_wmem", "4096 33554432 67108864")];
/// The packets of profile `linux`.
const MTU: u32 = 1_500;
/// Runs of which the medians are taken, as many as of the reference.
const SEEDS: u64 = 5;
/// How long a host takes to answer a packet, as in the captures of the reference: 27 us at least, and beyond that as the amount of a normal number, by which
/// the quartiles are 33, 40 and 50 us. Without it an acknowledgement comes, and what it lets go, at the very instant at which the bottleneck ends a packet.
const HOST_LEAST_US: f64 = 27.0;
/// See above.
const HOST_SPREAD_US: u32 = 20;
/// How long the recorded runs are, where no `runs.jsonl` says it.
const SECONDS: f64 = 12.0;
/// The way back has no rate in the reference: acknowledgements take no time in it. Mbit/s.
const BACK: f64 = 1e6;
/// The rule of the reference: goodput within the range widened by 1 %, drops within it widened by 3 or 3 %.
const GOODPUT_SHARE: f64 = 0.01;
/// See above.
const DROPS: f64 = 3.0;
/// See above.
const DROP_SHARE: f64 = 0.03;
