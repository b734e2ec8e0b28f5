//! The family rlm: layered multicast with and without TCP, by means over seeds.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;

use lasthop_core::engine::Instant;
use lasthop_core::net::{Header, LayeredHeader, Observation, Observer, Variable};
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::types::Scenario;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::build::variant;
use crate::families::Outcomes;
use crate::means::{Mean, Test, rejected, welch};
use crate::report::Outcome;
use crate::watch::Watcher;
use crate::{in_parallel, index};

/// Our seeds for each of ns-2's.
const SEEDS_FOR_EACH: u64 = 4;
/// The compared quantities: means of a session, or of a TCP flow.
const COLUMNS: [&str; 4] = [
    "mean_layers_per_session",
    "subscription_changes_per_session_per_100s",
    "rlm_session_throughput_bps",
    "tcp_flow_throughput_bps",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Index {
    family: String,
    simulator: IgnoredAny,
    quirks: IgnoredAny,
    comparison: IgnoredAny,
    scenarios: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Described {
    id: String,
    files: IgnoredAny,
    seeds: [u64; 2],
    topology: IgnoredAny,
    bottleneck: Bottleneck,
    access_links: Access,
    layers_bps: Vec<u64>,
    layer_traffic: String,
    rlm_sessions: usize,
    rlm_source_start_s: Vec<f64>,
    rlm_receiver_start_s: Vec<f64>,
    tcp: Tcp,
    multicast_routing: IgnoredAny,
    stop_s: f64,
    columns: IgnoredAny,
    /// What ns-2 gave.
    summary: BTreeMap<String, f64>,
    /// Seconds at the start that means leave out. The index has them in the name of `summary`.
    warm: f64,
}

/// Reads a scenario. Its summary is called `summary_after_100s`, or after another time.
fn read(mut scenario: Value) -> Result<Described, String> {
    if let Some(keys) = scenario.as_object_mut() {
        let warm = |key: &str| key.strip_prefix("summary_after_")?.strip_suffix('s')?.parse::<f64>().ok();
        let found = keys.keys().find_map(|key| Some((key.clone(), warm(key)?)));
        let (key, seconds) = found.ok_or("summary_after_…s is missing")?;
        if let Some(summary) = keys.remove(&key) {
            keys.insert("summary".to_owned(), summary);
        }
        keys.insert("warm".to_owned(), json!(seconds));
    }
    serde_json::from_value(scenario).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bottleneck {
    rate_bps: u64,
    prop_delay_s: f64,
    queue_limit_setting: u64,
    max_waiting_packets: Option<u64>,
    packet_in_transmission_counts: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Access {
    rate_bps: u64,
    prop_delay_s: f64,
    queue_limit_setting: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Tcp {
    flows: usize,
    variant: String,
    start_s: Vec<f64>,
    #[serde(rename = "packetSize_")]
    packet_size: u64,
    data_packet_bytes_on_wire: u64,
    #[serde(rename = "window_")]
    window: u64,
    other: IgnoredAny,
}

/// Compares the folder of this family. All is in its index.
pub fn compare(_: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    let index: Index = index::file(index)?;
    let (mut lines, mut tests) = (Vec::new(), Vec::new());
    for scenario in index.scenarios {
        let id = scenario.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        match read(scenario).and_then(|described| means(&described, jobs)) {
            Err(why) => lines.push((id, Outcome::Failed(why))),
            Ok(found) => {
                lines.push((id, Outcome::Same(found.len())));
                let cell = lines.len() - 1;
                tests.extend(found.into_iter().map(|test| (cell, test)));
            }
        }
    }
    for (cell, words) in rejected(tests) {
        lines[cell].1 = match std::mem::replace(&mut lines[cell].1, Outcome::Same(0)) {
            Outcome::Same(count) => Outcome::Differs(count, words),
            Outcome::Differs(count, before) => Outcome::Differs(count, format!("{before}; {words}")),
            other => other,
        };
    }
    Ok(lines)
}

fn means(described: &Described, jobs: usize) -> Result<Vec<Test>, String> {
    let scenario = scenario(described)?;
    let [first, last] = described.seeds;
    let seeds: Vec<u64> = (first..first + SEEDS_FOR_EACH * (last - first + 1)).collect();
    let runs = in_parallel(jobs, &seeds, |&seed| run(described, &scenario, seed));
    let runs = runs.into_iter().collect::<Result<Vec<_>, String>>()?;
    let mut tests = Vec::new();
    for (n, column) in COLUMNS.into_iter().enumerate() {
        if column.starts_with("tcp") && described.tcp.flows == 0 {
            continue;
        }
        let known = |what: &str| {
            let key = format!("{column}_{what}");
            described.summary.get(&key).copied().ok_or_else(|| format!("summary: {key} is missing"))
        };
        let theirs = Mean { mean: known("mean")?, error: known("stderr")?, n: (last - first + 1) as f64 };
        let ours = Mean::of(runs.iter().map(|run| run[n]));
        let words = format!(
            "{column}: ns-2 {:.4} ± {:.4}, lasthop {:.4} ± {:.4}",
            theirs.mean, theirs.error, ours.mean, ours.error
        );
        tests.push(Test { words, p: welch(ours, theirs) });
    }
    Ok(tests)
}

fn scenario(described: &Described) -> Result<Scenario, String> {
    let Described { bottleneck, access_links, tcp, .. } = described;
    let is_missing = |what: &str, starts: &[f64], count: usize| {
        if starts.len() < count { Err(format!("{what}: not one for each")) } else { Ok(()) }
    };
    is_missing("rlm_source_start_s", &described.rlm_source_start_s, described.rlm_sessions)?;
    is_missing("rlm_receiver_start_s", &described.rlm_receiver_start_s, described.rlm_sessions)?;
    is_missing("tcp.start_s", &tcp.start_s, tcp.flows)?;
    let variant = variant(&tcp.variant).ok_or_else(|| format!("tcp.variant: {} is not known", tcp.variant))?;
    let header = tcp.data_packet_bytes_on_wire.checked_sub(tcp.packet_size);
    let header = header.ok_or("tcp.data_packet_bytes_on_wire is less than packetSize_")?;
    // ns-2 drops an arrival that would make the queue, with or without the packet that is being sent, as long as the limit.
    let own = u64::from(bottleneck.packet_in_transmission_counts);
    let set = bottleneck.queue_limit_setting.saturating_sub(1 + own);
    let link = |name: String, between: [&str; 2], rate: u64, delay: f64, waiting: u64| {
        json!({
            "name": name, "between": between, "rate": format!("{rate} bit/s"), "delay": format!("{delay} s"),
            "queue": {"droptail": {"limit": format!("{waiting} packets")}},
        })
    };
    let Bottleneck { rate_bps, prop_delay_s, max_waiting_packets, .. } = *bottleneck;
    let waiting = max_waiting_packets.unwrap_or(set);
    let mut links = vec![link("bottleneck".to_owned(), ["r1", "r2"], rate_bps, prop_delay_s, waiting)];
    let (mut groups, mut flows) = (Vec::new(), Vec::new());
    // "constant bit rate of 1000-byte packets"
    let size =
        described.layer_traffic.split_once("-byte").and_then(|(words, _)| words.rsplit(' ').next()?.parse().ok());
    let packet = format!("{} B", size.unwrap_or(1000_u64));
    let layers: Vec<String> = described.layers_bps.iter().map(|rate| format!("{rate} bit/s")).collect();
    for n in 0..described.rlm_sessions + tcp.flows {
        let (from, to) = (format!("s{n}"), format!("d{n}"));
        // A setting of ns-2 is one more than the number of packets that may wait.
        let wire = |name: String, between| {
            link(
                name,
                between,
                access_links.rate_bps,
                access_links.prop_delay_s,
                access_links.queue_limit_setting.saturating_sub(1),
            )
        };
        links.push(wire(format!("source {n}"), [&from, "r1"]));
        links.push(wire(format!("sink {n}"), ["r2", &to]));
        if n < described.rlm_sessions {
            let name = format!("session {n}");
            groups.push(json!({
                "name": name, "leave_latency": "0 s",
                "join": [{"at": format!("{} s", described.rlm_receiver_start_s[n]), "members": [to]}],
            }));
            flows.push(json!({
                "name": format!("rlm {n}"), "from": from, "to": name,
                "start": format!("{} s", described.rlm_source_start_s[n]),
                "transport": {"layered": {
                    "layers": layers, "packet": packet, "jitter": 0.5, "stagger": false, "control": "rlm",
                }},
            }));
        } else {
            let k = n - described.rlm_sessions;
            flows.push(json!({
                "name": format!("tcp {k}"), "from": from, "to": to, "start": format!("{} s", tcp.start_s[k]),
                "transport": {"tcp": {
                    "variant": variant, "window": tcp.window, "segment": format!("{} B", tcp.packet_size),
                    "header": format!("{header} B"),
                }},
            }));
        }
    }
    let value = json!({
        "profile": "ns2", "duration": format!("{} s", described.stop_s), "link": links, "group": groups, "flow": flows,
    });
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// One run: the values of the columns.
fn run(described: &Described, scenario: &Scenario, seed: u64) -> Result<[f64; COLUMNS.len()], String> {
    let mut run = Session::new(scenario, seed, Some(Box::new(Looker { warm: described.warm, ..Looker::default() })))
        .map_err(|error| error.to_string())?;
    run.complete().map_err(|error| error.to_string())?;
    let observer = run.finish().observer.ok_or("nobody has looked")?;
    let looker = observer.downcast::<Looker>().map_err(|_| "somebody else has looked")?;
    let warm = described.warm;
    let time = described.stop_s - warm;
    let sessions = described.rlm_sessions as u32;
    let of_sessions = |value: &dyn Fn(u32) -> f64| (0..sessions).map(value).sum::<f64>() / f64::from(sessions);
    let changes = |session: u32| looker.levels.get(&session).map_or(&[][..], Vec::as_slice);
    let layers = of_sessions(&|session| {
        let ends = changes(session).iter().skip(1).map(|(at, _)| *at).chain([described.stop_s]);
        changes(session).iter().zip(ends).map(|((at, level), end)| level * (end.max(warm) - at.max(warm))).sum::<f64>()
            / time
    });
    let late = of_sessions(&|session| changes(session).iter().filter(|(at, _)| *at >= warm).count() as f64);
    let throughput = of_sessions(&|session| *looker.bytes.get(&session).unwrap_or(&0) as f64 * 8.0 / time);
    let tcp = (0..described.tcp.flows as u32).map(|k| {
        let of = |seconds| looker.watcher.bytes_before(sessions + k, seconds);
        (of(described.stop_s) - of(warm)) as f64 * 8.0 / time
    });
    Ok([layers, 100.0 * late / time, throughput, tcp.sum::<f64>() / described.tcp.flows.max(1) as f64])
}

/// Looks at levels and at arrivals.
#[derive(Default)]
struct Looker {
    /// Seconds of the warm-up.
    warm: f64,
    /// When a session's level changed, in seconds, and to what.
    levels: BTreeMap<u32, Vec<(f64, f64)>>,
    /// Wire bytes of layers since the warm-up.
    bytes: BTreeMap<u32, u64>,
    watcher: Watcher,
}

impl Observer for Looker {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Changed { flow, variable: Variable::Layers, value, .. } => {
                self.levels.entry(flow.0).or_default().push((now.as_secs_f64(), value));
            }
            Observation::Received { packet, .. } => match packet.header {
                Header::Layered(LayeredHeader::Data { .. }) if now.as_secs_f64() >= self.warm => {
                    *self.bytes.entry(packet.flow.0).or_default() += u64::from(packet.size);
                }
                _ => self.watcher.see(now, observation),
            },
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
