//! The family trace-link: links that follow a trace of opportunities, as mahimahi's. Packets come as the scenario says; when each is
//! delivered and which are dropped on arrival is compared, in whole milliseconds.

use std::any::Any;
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use lasthop_core::engine::units::{Amount, Bytes};
use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::net::discipline::{QueueConfig, Site};
use lasthop_core::net::loss::Loss;
use lasthop_core::net::trace::{Trace, TraceLink, TracedSetup, WaySetup};
use lasthop_core::net::transmitter::{Queue, Setup};
use lasthop_core::net::{
    Address, Cause, End, FlowId, Header, NodeId, Observation, Observer, Packet, Place, Simulation, Socket,
};
use lasthop_core::profile::Profile;
use lasthop_core::queues::{codel, droptail, inner};

use crate::families::Outcomes;
use crate::report::Outcome;
use crate::{compare, in_parallel, index};

/// The index. Fields for readers are ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Index {
    family: IgnoredAny,
    source: Option<IgnoredAny>,
    order: Option<IgnoredAny>,
    columns: Option<IgnoredAny>,
    comparison: Option<IgnoredAny>,
    traces: Option<IgnoredAny>,
    scenarios: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    #[expect(dead_code, reason = "read before the rest")]
    id: String,
    trace: String,
    arrivals: String,
    queue: String,
    #[serde(default)]
    queue_args: String,
    events: String,
    /// How many packets came out, and how many were dropped on arrival.
    out: Option<u64>,
    dropped_on_arrival: Option<u64>,
    /// When the reference ended, if something still waited then.
    end_ms: Option<u64>,
}

/// A packet that comes.
#[derive(Deserialize)]
struct Arrival {
    ms: u64,
    bytes: u32,
}

/// What became of packets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Event {
    ms: u64,
    bytes: u64,
    /// Of a packet that came out, how long it took, ms; of drops, how many packets.
    n: u64,
    what: String,
}

/// Compares the scenarios of an index.
pub fn compare(folder: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    let index: Index = index::file(index)?;
    Ok(in_parallel(jobs, &index.scenarios, |one| {
        let id = one.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        let outcome = Scenario::deserialize(one).map_err(|e| e.to_string()).and_then(|one| scenario(folder, &one));
        (id, outcome.unwrap_or_else(Outcome::Failed))
    }))
}

fn scenario(folder: &Path, scenario: &Scenario) -> Result<Outcome, String> {
    let text = compare::text(&folder.join(&scenario.trace))?;
    let trace = Trace::try_from(text).map_err(|e| format!("{}: {e}", scenario.trace))?;
    let arrivals: Vec<Arrival> = rows(folder, &scenario.arrivals)?;
    let theirs: Vec<Event> = rows(folder, &scenario.events)?;
    let Some(queue) = queue(&scenario.queue, &scenario.queue_args)? else {
        return Ok(Outcome::Unsupported(format!("the queue {} with {}", scenario.queue, scenario.queue_args)));
    };
    let count = |what: &str, of: fn(&Event) -> u64| theirs.iter().filter(|e| e.what == what).map(of).sum::<u64>();
    let counts = [
        ("out", scenario.out, count("out", |_| 1)),
        ("dropped_on_arrival", scenario.dropped_on_arrival, count("drop", |e| e.n)),
    ];
    for (field, says, are) in counts {
        if says.is_some_and(|says| says != are) {
            return Err(format!("{field}: not the {are} of {}", scenario.events));
        }
    }
    let ours = run(trace, queue, &arrivals, scenario.end_ms)?;
    let of = |events: &[Event], what: &str| events.iter().filter(|e| e.what == what).cloned().collect::<Vec<_>>();
    for what in ["out", "drop"] {
        let (ours, theirs) = (of(&ours, what), of(&theirs, what));
        let different = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
        if let Some(n) = different.or((ours.len() != theirs.len()).then(|| ours.len().min(theirs.len()))) {
            let show =
                |event: Option<&Event>| event.map_or("none".to_owned(), |e| format!("{} B at {} ms", e.bytes, e.ms));
            let first = format!("{what} {n}: there {}, here {}", show(theirs.get(n)), show(ours.get(n)));
            return Ok(Outcome::Differs(theirs.len(), first));
        }
    }
    Ok(Outcome::Same(theirs.len()))
}

fn rows<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<Vec<T>, String> {
    let text = compare::text(&folder.join(file))?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().map_err(|e| format!("{file}: {e}"))
}

/// A queue of mahimahi's by its name and arguments; `None` if it is not known.
fn queue(name: &str, arguments: &str) -> Result<Option<Box<dyn QueueConfig>>, String> {
    let mut limits = Vec::new();
    let mut law = codel::Config { variant: codel::Variant::Mahimahi, ..Default::default() };
    for argument in arguments.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        let (key, value) = argument.split_once('=').ok_or(format!("`{argument}` is no argument of a queue"))?;
        let value: u64 = value.parse().map_err(|_| format!("`{argument}` has no whole number"))?;
        match key {
            // No limit, as if it were left out.
            "packets" | "bytes" if value == 0 => {}
            "packets" => limits.push(Amount::Packets(value)),
            "bytes" => limits.push(Amount::Bytes(Bytes::new(value))),
            "target" => law.target = Duration::from_millis(value),
            "interval" => law.interval = Duration::from_millis(value),
            _ => return Ok(None),
        }
    }
    let fifo = |limit, also, drop_front| -> Option<Box<dyn QueueConfig>> {
        Some(Box::new(droptail::Config { limit, also, drop_front }))
    };
    Ok(match (name, &limits[..]) {
        ("infinite", []) => fifo(Amount::Packets(u64::MAX), None, false),
        ("droptail", &[limit]) => fifo(limit, None, false),
        ("droptail", &[limit, also]) => fifo(limit, Some(also), false),
        ("drophead", &[limit]) => fifo(limit, None, true),
        ("drophead", &[limit, also]) => fifo(limit, Some(also), true),
        ("codel", &[limit]) => Some(Box::new(codel::Config { limit, ..law })),
        ("codel", &[limit, also]) => Some(Box::new(codel::Config { limit, also: Some(also), ..law })),
        _ => None,
    })
}

/// Runs the packets over a link that follows the trace.
fn run(
    trace: Trace,
    queue: Box<dyn QueueConfig>,
    arrivals: &[Arrival],
    end_ms: Option<u64>,
) -> Result<Vec<Event>, String> {
    let mut simulation = Simulation::new(1);
    let [from, to] = ["a", "b"].map(|name| simulation.add_node(name));
    let core = simulation.core_mut();
    let [there, back] = ["there", "back"].map(|name| core.place(name));
    let site = Site {
        name: "there",
        place: there,
        rate: trace.mean_rate(),
        delay: Duration::ZERO,
        profile: Profile::default(),
        streams: core.streams(),
    };
    let queue = inner::asked(queue.build(&site), &site);
    let traced = TracedSetup {
        place: there,
        trace,
        start: Duration::ZERO,
        repeats: true,
        delay: Duration::ZERO,
        queue,
        loss: Loss::default(),
    };
    let unused = Setup {
        place: back,
        rate: BitRate::from_bps(1_000_000),
        delay: Duration::ZERO,
        reorder: false,
        queue: Queue::Planned(Amount::Packets(1)),
        loss: Loss::default(),
    };
    simulation.add_medium(&[from, to], |core, component, ends: &[End]| {
        let ways = (WaySetup::Traced(traced), WaySetup::Rated(unused));
        Box::new(TraceLink::new(core, component, [ends[0], ends[1]], ways.0, ways.1))
    });
    simulation.make_destination(to);
    simulation.route();
    simulation.set_observer(Box::new(Watch {
        link: there,
        came: arrivals.iter().map(|arrival| arrival.ms).collect(),
        events: Vec::new(),
        dropped_by: None,
        arrived: 0,
    }));
    for (arrival, number) in arrivals.iter().zip(0..) {
        advance(&mut simulation, arrival.ms)?;
        let packet = Packet {
            from: Socket { node: from, port: 9 },
            to: Address::Node(to),
            to_port: 9,
            size: arrival.bytes,
            flow: FlowId::NONE,
            header: Header::Udp(Default::default()),
            number,
            ..Packet::vacant()
        };
        simulation.inject(from, packet).map_err(|fault| fault.message)?;
    }
    let last = end_ms.unwrap_or_else(|| arrivals.last().map_or(0, |arrival| arrival.ms) + LONGEST_MS);
    while let Some(next) = simulation.next_event().map(|at| at.as_nanos() / MS).filter(|next| *next <= last) {
        advance(&mut simulation, next + 1)?;
    }
    let watch = simulation.take_observer().and_then(|observer| observer.into_any().downcast::<Watch>().ok());
    Ok(watch.map_or_else(Vec::new, |watch| watch.events))
}

const MS: u64 = 1_000_000;

/// How long a queue may take to drain where the reference does not say when it ended.
const LONGEST_MS: u64 = 10_000_000;

fn advance(simulation: &mut Simulation, ms: u64) -> Result<(), String> {
    simulation.run_until(Instant::from_nanos(ms * MS), u64::MAX).map(drop).map_err(|e| e.to_string())
}

/// Sees the packets that leave the link: with no endpoint at its far end, packets end there.
struct Watch {
    link: Place,
    /// When each packet came, ms, by its number.
    came: Vec<u64>,
    events: Vec<Event>,
    /// The arrival for which the last drops were made.
    dropped_by: Option<usize>,
    arrived: usize,
}

impl Observer for Watch {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        let ms = now.as_nanos() / MS;
        match observation {
            Observation::Forwarded { node: NodeId(0), .. } => self.arrived += 1,
            Observation::Dropped { place, cause: Cause::Overflow, packet } if *place == self.link => {
                let bytes = u64::from(packet.size);
                // What one arrival drops is one event.
                if self.dropped_by == Some(self.arrived)
                    && let Some(last) = self.events.last_mut()
                {
                    (last.bytes, last.n) = (last.bytes + bytes, last.n + 1);
                    return;
                }
                self.dropped_by = Some(self.arrived);
                self.events.push(Event { ms, bytes, n: 1, what: "drop".to_owned() });
            }
            Observation::Dropped { cause: Cause::NoEndpoint, packet, .. } => {
                let n = ms - self.came[packet.number as usize];
                self.events.push(Event { ms, bytes: u64::from(packet.size), n, what: "out".to_owned() });
            }
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
