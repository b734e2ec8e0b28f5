//! The family satellite: the delay and the path of each packet over constellations, and when terminals change their satellite.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;

use lasthop_core::engine::Instant;
use lasthop_core::net::{Address, NodeId, Observation, Observer};
use lasthop_core::satellite::body::period;
use lasthop_core::scenario::session::{Results, Session};
use lasthop_core::scenario::types::Scenario;
use lasthop_core::scenario::{check, read};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::compare::text;
use crate::families::Outcomes;
use crate::report::Outcome;
use crate::{in_parallel, index};

/// How far a delay may be off, in microseconds.
const DELAY_US: f64 = 0.1;
/// The share of packets that have to take the same path. ns-2 was seen to send a few another way when routes change under them.
const SAME_PATH: f64 = 0.999;

/// The index. Fields for readers are ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Index {
    family: String,
    simulator: IgnoredAny,
    quirks: IgnoredAny,
    constants: IgnoredAny,
    columns: IgnoredAny,
    comparison: IgnoredAny,
    scenarios: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Described {
    id: String,
    note: IgnoredAny,
    files: Files,
    altitude_km: f64,
    inclination_deg: f64,
    planes: usize,
    satellites_per_plane: usize,
    orbit_period_s: f64,
    ascending_node_longitude_deg: Vec<f64>,
    initial_angle_from_ascending_node_deg: Vec<Vec<String>>,
    node_numbers: IgnoredAny,
    terminals: Vec<Terminal>,
    pairs: Vec<Pair>,
    elevation_mask_deg: f64,
    isl_latitude_threshold_deg: f64,
    isls: IgnoredAny,
    terminal_handoff_interval_s: f64,
    satellite_handoff_interval_s: f64,
    #[serde(rename = "handoff_randomization_")]
    randomised: bool,
    next_satellite: IgnoredAny,
    routing: IgnoredAny,
    link_rates_bps: Rates,
    packet_bytes_on_wire: u32,
    packet_bytes_on_wire_include: IgnoredAny,
    sending: IgnoredAny,
    stop_s: f64,
    summary: IgnoredAny,
    handoffs: usize,
    /// Which satellite terminals are linked to before their first look: a number, or a sentence that names one.
    initially_linked: Option<Linked>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Linked {
    Satellite(u32),
    Sentence(String),
}

impl Linked {
    fn satellite(&self) -> u32 {
        match self {
            Self::Satellite(number) => *number,
            Self::Sentence(words) => {
                let number = words.split_once("satellite ").map(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()));
                number.and_then(|mut numbers| numbers.next()?.parse().ok()).unwrap_or_default()
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Files {
    delay: String,
    handoffs: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Terminal {
    node: u32,
    name: IgnoredAny,
    latitude_deg: f64,
    longitude_deg: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    pair: u32,
    direction_0: [u32; 2],
    direction_1: [u32; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rates {
    up: u64,
    down: u64,
    isl: u64,
}

/// Compares the folder of this family.
pub fn compare(folder: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    let index: Index = index::file(index)?;
    Ok(in_parallel(jobs, &index.scenarios, |scenario| {
        let id = scenario.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        let described = Described::deserialize(scenario).map_err(|error| error.to_string());
        let outcome = described.and_then(|described| one(folder, &described));
        (id, outcome.unwrap_or_else(Outcome::Failed))
    }))
}

/// A packet's journey: microseconds, links, and the nodes on its path. Without a delay it was lost.
struct Journey {
    delay_us: Option<f64>,
    path: String,
}

fn one(folder: &Path, described: &Described) -> Result<Outcome, String> {
    let theirs = journeys(&folder.join(&described.files.delay))?;
    let handoffs = handoffs(&folder.join(&described.files.handoffs))?;
    if handoffs.len() != described.handoffs {
        return Err("the number of handoffs is not that of the description".to_owned());
    }
    let scenario = scenario(described, &theirs)?;
    let mut run = Session::new(&scenario, 1, Some(Box::<Paths>::default())).map_err(|error| error.to_string())?;
    run.complete().map_err(|error| error.to_string())?;
    let mut results = run.finish();
    let observer = results.observer.take().ok_or("nobody has looked")?;
    let paths = observer.downcast::<Paths>().map_err(|_| "somebody else has looked")?;
    let names: Vec<String> = scenario.node_names().iter().map(|name| number(name)).collect();
    let compared = theirs.len() + handoffs.len();
    let mut other_paths = 0;
    for ((pair, direction, sent_us), their) in &theirs {
        let at = Instant::from_nanos(sent_us * 1_000);
        let what = format!("pair {pair}, direction {direction}, sent at {} s", *sent_us as f64 / 1e6);
        let our = paths.journeys.get(&(2 * pair + direction, at));
        let our_path = our.map(|seen| seen.path(&names)).unwrap_or_default();
        if our_path != their.path {
            other_paths += 1;
            continue;
        }
        let our_delay = our.and_then(|seen| Some(seen.arrived?.since(at).as_nanos() as f64 / 1e3));
        let agree = match (our_delay, their.delay_us) {
            (Some(our), Some(their)) => (our - their).abs() <= DELAY_US,
            (our, their) => our.is_none() && their.is_none(),
        };
        if !agree {
            return Ok(Outcome::Differs(
                compared,
                format!("{what}: ns-2 {:?} us, lasthop {our_delay:?} us", their.delay_us),
            ));
        }
    }
    if f64::from(other_paths) > (1.0 - SAME_PATH) * theirs.len() as f64 {
        return Ok(Outcome::Differs(compared, format!("{other_paths} of {} packets take another path", theirs.len())));
    }
    for handoff in &handoffs {
        let found = satellites(&results, handoff.terminal, handoff.seen, described.terminal_handoff_interval_s);
        if found != [Some(handoff.before), Some(handoff.after)] {
            let words = format!(
                "terminal {} at {} s: ns-2 from {} to {}, lasthop {found:?}",
                handoff.terminal, handoff.at, handoff.before, handoff.after
            );
            return Ok(Outcome::Differs(compared, words));
        }
    }
    Ok(Outcome::Same(compared))
}

/// ns-2's orbit parameters are 32-bit floats.
fn degrees(value: f64) -> String {
    format!("{} deg", f64::from(value as f32))
}

fn scenario(described: &Described, sent: &Journeys) -> Result<Scenario, String> {
    let planes: Vec<Value> = described
        .ascending_node_longitude_deg
        .iter()
        .zip(&described.initial_angle_from_ascending_node_deg)
        .map(|(node, angles)| {
            let places =
                angles.iter().map(|angle| angle.parse().map(degrees).map_err(|_| format!("{angle} is no angle")));
            Ok(json!({"node": degrees(*node), "places": places.collect::<Result<Vec<_>, String>>()?}))
        })
        .collect::<Result<_, String>>()?;
    if described.randomised || planes.len() != described.planes {
        return Err("handoffs at random times, or planes without satellites".to_owned());
    }
    let angles = &described.initial_angle_from_ascending_node_deg;
    if let Some(plane) = angles.iter().position(|plane| plane.len() != described.satellites_per_plane) {
        let (found, expected) = (angles[plane].len(), described.satellites_per_plane);
        return Err(format!("initial_angle_from_ascending_node_deg[{plane}]: {found} satellites, not {expected}"));
    }
    let period = period(described.altitude_km);
    if (period - described.orbit_period_s).abs() > 1.0 {
        return Err(format!("orbit_period_s: at this altitude an orbit takes {period:.3} s"));
    }
    let satellites = described.planes * described.satellites_per_plane;
    if described.initially_linked.as_ref().is_some_and(|linked| linked.satellite() as usize >= satellites) {
        return Err(format!("initially_linked: there are {satellites} satellites"));
    }
    let node = |number: u32| format!("{number}");
    let terminals: Vec<Value> = described
        .terminals
        .iter()
        .map(|terminal| {
            let (latitude, longitude) = (terminal.latitude_deg, terminal.longitude_deg);
            json!({"node": node(terminal.node), "latitude": format!("{latitude} deg"), "longitude": format!("{longitude} deg")})
        })
        .collect();
    let mut flows = Vec::new();
    for Pair { pair, direction_0, direction_1 } in &described.pairs {
        for (direction, [from, to]) in [direction_0, direction_1].into_iter().enumerate() {
            let [start, interval] = sending(sent, *pair, direction as u32)?.map(|us| format!("{us} us"));
            flows.push(json!({
                "from": node(*from), "to": node(*to), "start": start, "transport": "udp",
                "source": {"cbr": {"size": format!("{} B", described.packet_bytes_on_wire), "interval": interval}},
            }));
        }
    }
    let rate = |bps: u64| format!("{bps} bit/s");
    let looks = |seconds: f64| format!("{seconds} s");
    let value = json!({
        "profile": "ns2",
        "duration": looks(described.stop_s),
        "constellation": [{
            "name": "sky",
            "orbits": {"planes": {
                "altitude": format!("{} km", described.altitude_km),
                "inclination": degrees(described.inclination_deg),
                "plane": planes,
            }},
            "terminal": terminals,
            "isl": {
                "rate": rate(described.link_rates_bps.isl),
                "latitude_limit": format!("{} deg", described.isl_latitude_threshold_deg),
                "interval": looks(described.satellite_handoff_interval_s),
                "jitter": "0 s",
            },
            "up": {"rate": rate(described.link_rates_bps.up)},
            "down": {"rate": rate(described.link_rates_bps.down)},
            "handoff": {
                "interval": looks(described.terminal_handoff_interval_s),
                "jitter": "0 s",
                "mask": format!("{} deg", described.elevation_mask_deg),
                "initial": described.initially_linked.as_ref().map(Linked::satellite),
            },
            "routes": "packets",
        }],
        "flow": flows,
        "record": {"series": looks(described.terminal_handoff_interval_s), "quantities": ["satellite"]},
    });
    let document = read::json(&value.to_string(), "scenario").map_err(|error| error.to_string())?;
    check(&document).map_err(|error| error.to_string())?;
    Ok(document.scenario)
}

/// When the packets of a pair and direction are sent: the first, and the time between two, in microseconds.
fn sending(sent: &Journeys, pair: u32, direction: u32) -> Result<[u64; 2], String> {
    let times: Vec<u64> =
        sent.range((pair, direction, 0)..=(pair, direction, u64::MAX)).map(|((.., at), _)| *at).collect();
    let [first, second, ..] = times[..] else {
        return Err(format!("pair {pair}, direction {direction}: fewer than two packets"));
    };
    let interval = second - first;
    match times.iter().zip(0..).find(|(at, n)| **at != first + n * interval) {
        None => Ok([first, interval]),
        Some((at, _)) => Err(format!("pair {pair}, direction {direction}: not at equal intervals at {at} us")),
    }
}

type Journeys = BTreeMap<(u32, u32, u64), Journey>;

fn journeys(file: &Path) -> Result<Journeys, String> {
    #[derive(Deserialize)]
    struct Row {
        t_us: u64,
        pair: u32,
        direction: u32,
        delay_us: Option<f64>,
        links: Option<usize>,
        path: String,
    }
    let text = text(file)?;
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Row>();
    rows.map(|row| {
        let row = row.map_err(|error| format!("{}: {error}", file.display()))?;
        if row.links.is_some_and(|links| links + 1 != row.path.split('-').count()) {
            return Err(format!("{}: at {} us the path has not so many links", file.display(), row.t_us));
        }
        Ok(((row.pair, row.direction, row.t_us), Journey { delay_us: row.delay_us, path: row.path }))
    })
    .collect()
}

/// A terminal's change of its satellite.
struct Handoff {
    at: f64,
    terminal: u32,
    before: u32,
    after: u32,
    /// When a packet last went over the one and first over the other, seconds. In between it may have had others, or none.
    seen: [f64; 2],
}

fn handoffs(file: &Path) -> Result<Vec<Handoff>, String> {
    #[derive(Deserialize)]
    struct Row {
        handoff_s: f64,
        terminal: u32,
        old_satellite: u32,
        new_satellite: u32,
        last_seen_old_us: u64,
        first_seen_new_us: u64,
    }
    let text = text(file)?;
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Row>();
    rows.map(|row| {
        let row = row.map_err(|error| format!("{}: {error}", file.display()))?;
        let Row { handoff_s: at, terminal, old_satellite: before, new_satellite: after, .. } = row;
        let seen = [row.last_seen_old_us, row.first_seen_new_us].map(|us| us as f64 / 1e6);
        Ok(Handoff { at, terminal, before, after, seen })
    })
    .collect()
}

/// The satellites that a terminal has at two times: at the first before a look of that instant, at the second after it. The series
/// shows those before its looks.
fn satellites(results: &Results, terminal: u32, times: [f64; 2], interval: f64) -> [Option<u32>; 2] {
    let Some(series) = results.table("series") else { return [None; 2] };
    let name = format!("{terminal} down");
    let looks = [(times[0] / interval).ceil(), (times[1] / interval).floor() + 1.0];
    looks.map(|look| {
        let look = look * interval;
        let row = (0..series.rows()).find(|&row| {
            series.text("quantity", row) == Some("satellite")
                && series.number("time_s", row).is_some_and(|at| (at - look).abs() < 1e-6)
                && series.text("name", row) == Some(name.as_str())
        })?;
        series.number("value", row).filter(|satellite| *satellite >= 0.0).map(|satellite| satellite as u32)
    })
}

/// A node as the reference writes it.
fn number(name: &str) -> String {
    name.strip_prefix("sky.sat[").and_then(|rest| rest.strip_suffix(']')).unwrap_or(name).to_owned()
}

/// Looks where packets go.
#[derive(Default)]
struct Paths {
    /// By flow and when it was sent.
    journeys: BTreeMap<(u32, Instant), Seen>,
    /// When packets were sent, by flow and number.
    sent: BTreeMap<(u32, u64), Instant>,
}

#[derive(Default)]
struct Seen {
    nodes: Vec<NodeId>,
    arrived: Option<Instant>,
}

impl Seen {
    /// The path as the reference writes it.
    fn path(&self, names: &[String]) -> String {
        self.nodes.iter().map(|node| names[node.0 as usize].as_str()).collect::<Vec<_>>().join("-")
    }
}

impl Observer for Paths {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        let (node, packet) = match *observation {
            Observation::Sent { packet, .. } => {
                self.sent.insert((packet.flow.0, packet.number), now);
                return;
            }
            Observation::Forwarded { node, packet } | Observation::Received { node, packet } => (node, packet),
            _ => return,
        };
        let Some(&sent) = self.sent.get(&(packet.flow.0, packet.number)) else { return };
        let seen = self.journeys.entry((packet.flow.0, sent)).or_default();
        seen.nodes.push(node);
        if packet.to == Address::Node(node) {
            seen.arrived = Some(now);
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
