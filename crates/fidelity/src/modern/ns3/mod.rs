//! Runs of ns-3.37's TCP: the same scenario in the engine, compared by the goodput of each flow, which agrees within 20 %.
//!
//! The index describes paths in a sentence ([`path`]); the algorithms are in the name of the scenario. Reno and CUBIC have ns-3's rules, which
//! are not those of the RFCs ([`linux_reno`], [`cubic`]). Flows of Reno are compared by the mean queue too. Of what one run of ns-3 drew nothing is
//! known: with random losses ten runs are made.

mod counting;
mod cubic;
mod linux_reno;
mod path;

use std::fmt::Write;
use std::path::Path as FilePath;
use std::sync::Arc;

use serde_json::Value;

use lasthop_core::scenario::read;
use lasthop_core::scenario::registry::Transport;
use lasthop_core::scenario::session::{Results, Session};
use lasthop_core::transport::congestion::{Congestion, CongestionConfig};

use super::trajectory::Columns;
use super::{Entry, Kind};
use crate::report::Outcome;
use path::{Discipline, Path};

/// Compares a log.
pub fn compare(folder: &FilePath, entry: &Entry, _entries: &[Value]) -> Result<Outcome, String> {
    if entry.kind != Kind::Statistical {
        return Ok(Outcome::Unsupported("another kind of log".to_owned()));
    }
    let name = entry.scenario.as_deref().unwrap_or_default();
    let (algorithms, words) = name
        .strip_prefix("ns3-")
        .and_then(|rest| rest.split_once('-'))
        .ok_or_else(|| format!("scenario \"{name}\" names no algorithm and path"))?;
    let algorithms: Vec<&str> = algorithms.split('+').collect();
    if let Some(unknown) = algorithms.iter().find(|name| transport(name).is_none()) {
        return Ok(Outcome::Unsupported(format!("an algorithm that is not here: {unknown}")));
    }
    let path = match Path::read(entry.path.as_ref().and_then(Value::as_str).unwrap_or_default(), words) {
        Ok(path) => path,
        Err(why) => return Ok(Outcome::Unsupported(why)),
    };
    if let Some(why) = no_target(&algorithms, &path) {
        return Ok(Outcome::LeftOut(why.to_owned()));
    }
    let file = folder.join(&entry.file);
    let log = Columns::read(&file)?;
    let times = log.numbers("t_s")?;
    let is_even = times.windows(2).all(|pair| pair[1] > pair[0]) && times[0] > 0.0;
    if !is_even || times.len() < 2 || times[times.len() - 1] > MOST_SECONDS {
        return Err(format!("{}: its times", file.display()));
    }
    let most = path.steps.iter().map(|(_, rate, _)| *rate).fold(0.0, f64::max) * times[times.len() - 1];
    if most > MOST_MEGABITS {
        return Err(format!("{}: more than {MOST_MEGABITS} Mbit", file.display()));
    }
    let starts = (0..algorithms.len()).map(|flow| start(&log, &times, flow)).collect::<Result<Vec<f64>, _>>()?;
    let document = document(name, &path, &algorithms, &starts, &times)?;
    let seeds = if path.loss.is_some() { SEEDS } else { 1 };
    let mut runs = Vec::new();
    for seed in 1..=seeds {
        let mut run = Session::new(&document.scenario, seed, None).map_err(|error| error.to_string())?;
        run.complete().map_err(|error| error.to_string())?;
        runs.push(run.finish());
    }
    let ours = |kind: &str, name: &str, quantity: &str| {
        let means = runs.iter().map(|run| mean(run, [kind, name, quantity], times.len()));
        let sum: Result<f64, String> = means.sum();
        sum.map(|sum| sum / runs.len() as f64)
    };
    let theirs = |column: &str| log.numbers(column).map(|values| values.iter().sum::<f64>() / values.len() as f64);
    let mut cells = Vec::new();
    for flow in 0..algorithms.len() {
        let goodput = theirs(&format!("goodput{flow}_bps"))? / 1e6;
        cells.push((
            format!("flow {flow}, Mbit/s"),
            ours("flow", &format!("flow {flow}"), "goodput_kbps")? / 1e3,
            goodput,
            0.0,
        ));
    }
    if algorithms.iter().all(|name| *name == RENO) {
        cells.push((
            "packets that wait".to_owned(),
            ours("link", "way a>b", "queue_packets")?,
            theirs("queue_packets")?,
            1.0,
        ));
    }
    let count = cells.len();
    let differs: Vec<String> = cells
        .iter()
        .filter(|(_, ours, theirs, grain)| (ours - theirs).abs() > (SHARE * theirs).max(*grain))
        .map(|(what, ours, theirs, _)| format!("{what}: {theirs:.2}, lasthop {ours:.2}"))
        .collect();
    if differs.is_empty() {
        Ok(Outcome::SameMeans(count, "another simulator".to_owned()))
    } else {
        Ok(Outcome::Differs(count, differs.join("; ")))
    }
}

/// What stands for an algorithm of ns-3, and whether there is something. ns-3 has PRR and, with SACK, RFC 6675; but at each partial acknowledgement
/// it sends the first segment again, whether that was sent again before or not. So a lost retransmission costs no timeout, as with RACK.
fn transport(algorithm: &str) -> Option<&'static str> {
    Some(match algorithm {
        RENO | CUBIC => r#"recovery = "rack""#,
        "TcpDctcp" => r#"recovery.sack.prr = true, congestion = "dctcp""#,
        "TcpLedbat" => "recovery.sack.prr = true, congestion.ledbat.slow_start = true",
        "TcpBbr" => r#"variant = "bbr""#,
        _ => return None,
    })
}

/// The rule of an algorithm that in ns-3 is not what its name says.
fn own_rule(algorithm: &str) -> Option<Arc<dyn CongestionConfig>> {
    match algorithm {
        RENO => Some(Arc::new(linux_reno::Config)),
        CUBIC => Some(Arc::new(cubic::Config)),
        _ => None,
    }
}

/// Why ns-3's figures of these flows over this path are none to aim at.
fn no_target(algorithms: &[&str], path: &Path) -> Option<&'static str> {
    let has = |name: &str| algorithms.contains(&name);
    if has("TcpLedbat") {
        return Some(LEDBAT);
    }
    let delay_drops = matches!(path.queue, Discipline::CoDel | Discipline::FqCoDel) && !path.ecn;
    let falls = path.loss.is_some() || delay_drops || algorithms.len() > 1 || path.steps.len() > 1;
    (has("TcpBbr") && falls).then_some(BBR)
}

/// When a flow begins, from its first sample with a window: that has come a round trip after it.
fn start(log: &Columns, times: &[f64], flow: usize) -> Result<f64, String> {
    let window = log.numbers(&format!("cwnd{flow}_bytes"))?;
    let rtt = log.numbers(&format!("rtt{flow}_ms"))?;
    let at = window.iter().position(|bytes| *bytes > 0.0).ok_or_else(|| format!("flow {flow} has no window"))?;
    let start = times[at] - rtt[at] / 1e3 - (times[1] - times[0]) / 2.0;
    if start.is_nan() { Err(format!("rtt{flow}_ms is no number")) } else { Ok(start.max(0.0)) }
}

/// The scenario, with ns-3's own rules in their places.
fn document(
    name: &str,
    path: &Path,
    algorithms: &[&str],
    starts: &[f64],
    times: &[f64],
) -> Result<read::Document, String> {
    let text = scenario(path, algorithms, starts, times)?;
    let mut document = read::toml(&text, name).map_err(|error| error.to_string())?;
    for (flow, algorithm) in document.scenario.flow.iter_mut().zip(algorithms) {
        if let (Transport::Tcp(tcp), Some(own)) = (&mut flow.transport, own_rule(algorithm)) {
            tcp.congestion = Some(Congestion::custom(*algorithm, own));
        }
    }
    Ok(document)
}

/// The scenario, as text.
fn scenario(path: &Path, algorithms: &[&str], starts: &[f64], times: &[f64]) -> Result<String, String> {
    let interval = times[1] - times[0];
    let (_, rate, delay) = path.steps[0];
    let limit = path.limit;
    let queue = match path.queue {
        Discipline::DropTail => format!(r#"droptail = {{ limit = "{limit} packets" }}"#),
        Discipline::CoDel => format!(r#"codel = {{ limit = "{limit} packets", ecn = {} }}"#, path.ecn),
        Discipline::FqCoDel => format!(r#"fq_codel = {{ limit = "{limit} packets", ecn = {} }}"#, path.ecn),
        Discipline::Step(bytes) => format!(r#"threshold = {{ limit = "{limit} packets", backlog = "{bytes} B" }}"#),
        Discipline::Pie => format!(r#"pie = {{ limit = "{limit} packets", ecn = {} }}"#, path.ecn),
    };
    let mut text = format!(
        r#"duration = "{} s"
record.series = "{interval} s"
[[link]]
name = "way"
between = ["a", "b"]
rate = "{rate} Mbit/s"
delay = "{delay} ms"
queue.{queue}
"#,
        times[times.len() - 1] + interval
    );
    let mut add = |line: String| writeln!(text, "{line}").map_err(|error| error.to_string());
    if let Some(p) = path.loss {
        add(format!("loss.bernoulli.p = {p}"))?;
    }
    for (flow, (algorithm, start)) in algorithms.iter().zip(starts).enumerate() {
        let tcp = transport(algorithm).unwrap_or_default();
        add(format!(
            r#"[[flow]]
name = "flow {flow}"
from = "a"
to = "b"
start = "{start} s"
transport.tcp = {{ segment = "1400 B", timestamps = true, rto.min = "200 ms", ecn = {}, {tcp} }}"#,
            path.ecn
        ))?;
    }
    for (at, rate, delay) in &path.steps[1..] {
        add(format!(
            r#"[[change]]
at = "{at} s"
link = "way"
rate = "{rate} Mbit/s"
delay = "{delay} ms""#
        ))?;
    }
    Ok(text)
}

/// The mean of a quantity's first samples.
fn mean(run: &Results, [kind, name, quantity]: [&str; 3], samples: usize) -> Result<f64, String> {
    let series = run.table("series").ok_or("there is no table of series")?;
    let is = |row: usize, column: &str, value: &str| series.text(column, row) == Some(value);
    let rows = (0..series.rows())
        .filter(|&row| is(row, "kind", kind) && is(row, "name", name) && is(row, "quantity", quantity));
    let values: Vec<f64> = rows.take(samples).filter_map(|row| series.number("value", row)).collect();
    if values.len() < samples {
        return Err(format!("{} samples of {quantity}, not {samples}", values.len()));
    }
    Ok(values.iter().sum::<f64>() / samples as f64)
}

/// How far a mean may be off: another simulator, one run.
const SHARE: f64 = 0.20;
/// Runs with random losses.
const SEEDS: u64 = 10;
/// The longest run, s, and the largest.
const MOST_SECONDS: f64 = 3600.0;
const MOST_MEGABITS: f64 = 1e5;
const RENO: &str = "TcpLinuxReno";
const CUBIC: &str = "TcpCubic";

const LEDBAT: &str = "ns-3.37's LEDBAT bounds its window by the flight after the acknowledgement (RFC 6817 §2.4.2: by that before it, and a segment), \
    so it stays where a recovery left it";
const BBR: &str = "ns-3.37's BBRv1 falls to a tenth of the rate with random losses, to 0.4 Mbit/s where CoDel drops, to 0.2 beside CUBIC, and to 0.02 \
    after a handover: a defect";
