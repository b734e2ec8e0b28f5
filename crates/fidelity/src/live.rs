//! The reference of the kernel's TCP: one bulk flow over a drop-tail bottleneck, each cell repeated five times. Profile `linux` makes the same
//! flow; the bytes acknowledged by the end and the packets dropped have to lie where the repeats lay, widened by the rule of the reference.

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
    path: Option<IgnoredAny>,
    hosts: Option<IgnoredAny>,
    files: Option<IgnoredAny>,
    cells: Vec<Value>,
    noise: Option<IgnoredAny>,
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
pub fn compare(_folder: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    let index: Index = index::file(index)?;
    Ok(in_parallel(jobs, &index.cells, |one| match Cell::deserialize(one) {
        Ok(cell) => (cell.name(), judge(&cell).unwrap_or_else(Outcome::Failed)),
        Err(error) => ("a cell".to_owned(), Outcome::Failed(error.to_string())),
    }))
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

    fn scenario(&self) -> Result<String, String> {
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
            r#"duration = "{SECONDS} s"
profile = "linux"
record.state = true
[[link]]
name = "path"
between = ["a", "b"]
rate = "{} Mbit/s"
delay = "{} ms"
queue.droptail.limit = "{} B"
reverse = {{ rate = "{BACK} Mbit/s", queue = "droptail" }}
[[flow]]
name = "bulk"
from = "a"
to = "b"
transport.tcp = {{ {congestion} }}
"#,
            self.rate_mbit,
            self.rtt_ms / 2.0,
            self.buffer_bytes
        ))
    }
}

/// Runs a cell.
fn judge(cell: &Cell) -> Result<Outcome, String> {
    let document = read::toml(&cell.scenario()?, &cell.name()).map_err(|error| error.to_string())?;
    let mut run = Session::new(&document.scenario, 1, None).map_err(|error| error.to_string())?;
    run.complete().map_err(|error| error.to_string())?;
    let results = run.finish();
    let goodput = value(&results, "acked_bytes")? * 8.0 / 1e6 / SECONDS;
    let drops = drops(&results)?;
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

/// How long the recorded runs are.
const SECONDS: f64 = 12.0;
/// The way back has no rate in the reference: acknowledgements take no time in it. Mbit/s.
const BACK: f64 = 1e6;
/// The rule of the reference: goodput within the range widened by 1 %, drops within it widened by 3 or 3 %.
const GOODPUT_SHARE: f64 = 0.01;
/// See above.
const DROPS: f64 = 3.0;
/// See above.
const DROP_SHARE: f64 = 0.03;
