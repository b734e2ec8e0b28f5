//! Runs a deterministic scenario and compares its events with a reference file.
//!
//! Files sort events of one microsecond by letter, not by cause. So the events of each flow and
//! letter are compared as one sequence: the same number of them, in the same order, each with the
//! same values and within a microsecond of the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::net::simulation::Progress;
use lasthop_core::net::{FlowId, Histogram, Place, Probe, Simulation, What};
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::types::Scenario;

use crate::build::{self, BOTTLENECK, Obstacle};
use crate::families::Outcomes;
use crate::in_parallel;
use crate::index::{Case, Flow, Network, ReadCase};
use crate::report::Outcome;
use crate::watch::{Event, Events, SAMPLE, Watcher};

/// Compares the scenarios of one family. If any of its files with the same number of flows records a quantity, it is compared in all of
/// them: a file can lack events of a kind because none occurred.
pub fn family(folder: &Path, cases: &[ReadCase], jobs: usize) -> Outcomes {
    let prepared = in_parallel(jobs, cases, |case| match case {
        Ok(case) => (case.id.clone(), prepare(folder, case)),
        Err((id, message)) => (id.clone(), Err(Outcome::Failed(message.clone()))),
    });
    let mut letters: BTreeMap<usize, BTreeSet<char>> = BTreeMap::new();
    for Prepared { case, reference, .. } in prepared.iter().filter_map(|(_, p)| p.as_ref().ok()) {
        let recorded = letters.entry(case.network.flows.len()).or_default();
        recorded.extend(reference.rows.keys().map(|(_, letter)| *letter));
    }
    in_parallel(jobs, &prepared, |(id, prepared)| {
        let outcome = match prepared {
            Err(outcome) => outcome.clone(),
            Ok(Prepared { case, scenario, reference }) => {
                let letters = &letters[&case.network.flows.len()];
                match run(&case.network, scenario, reference, letters) {
                    Err(message) => Outcome::Failed(message),
                    Ok(events) => match difference(reference, &events) {
                        None => Outcome::Same(reference.count),
                        Some(first) => Outcome::Differs(reference.count, first),
                    },
                }
            }
        };
        (id.clone(), outcome)
    })
}

/// A scenario that is ready to run, and what to hold it against.
struct Prepared<'a> {
    case: &'a Case,
    scenario: Scenario,
    reference: Reference,
}

fn prepare<'a>(folder: &Path, case: &'a Case) -> Result<Prepared<'a>, Outcome> {
    let scenario = build::scenario(&case.network).map_err(|obstacle| match obstacle {
        Obstacle::Unsupported(why) => Outcome::Unsupported(why),
        Obstacle::Wrong(why) => Outcome::Failed(why),
    })?;
    let reference = Reference::read(&folder.join(&case.file)).map_err(Outcome::Failed)?;
    Ok(Prepared { case, scenario, reference })
}

/// A row of a reference file.
#[derive(Clone, Debug)]
struct Row {
    /// Microseconds.
    at: u64,
    a: f64,
    b: Option<f64>,
}

/// The text of a file, which may be compressed.
pub(crate) fn text(file: &Path) -> Result<String, String> {
    let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let bytes = std::fs::read(file).map_err(|e| wrong(&e))?;
    if file.extension().is_some_and(|e| e == "gz") {
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).map_err(|e| wrong(&e))?;
        return Ok(text);
    }
    String::from_utf8(bytes).map_err(|e| wrong(&e))
}

/// A reference file.
struct Reference {
    rows: BTreeMap<(u32, char), Vec<Row>>,
    count: usize,
    /// Whether it has changes of variables; then `R` is a round-trip-time sample.
    has_variables: bool,
    /// When the last packet or acknowledgement was seen, microseconds.
    last: u64,
}

impl Reference {
    fn read(file: &Path) -> Result<Self, String> {
        let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
        let text = text(file)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headings = reader.headers().map_err(|e| wrong(&e))?;
        if headings != vec!["t_us", "flow", "event", "a", "b"] {
            return Err(wrong(&"its columns are not t_us, flow, event, a, b"));
        }
        let mut read = Vec::new();
        for record in reader.deserialize::<(u64, u32, char, f64, Option<f64>)>() {
            read.push(record.map_err(|e| wrong(&e))?);
        }
        let has_variables = read.iter().any(|(_, _, letter, ..)| matches!(letter, 'W' | 'H' | 'T' | 'V'));
        let mut reference = Self { rows: BTreeMap::new(), count: read.len(), has_variables, last: 0 };
        for (at, flow, letter, a, b) in read {
            if !"SARDKXWHTVBO".contains(letter) {
                return Err(wrong(&format!("event {letter} is not known")));
            }
            if matches!(letter, 'S' | 'A' | 'R') {
                reference.last = reference.last.max(at);
            }
            let key = if letter == 'R' && has_variables { SAMPLE } else { letter };
            reference.rows.entry((flow, key)).or_default().push(Row { at, a, b });
        }
        Ok(reference)
    }
}

/// Runs the scenario and gives the events that the reference records.
fn run(
    network: &Network,
    scenario: &Scenario,
    reference: &Reference,
    letters: &BTreeSet<char>,
) -> Result<Events, String> {
    let failed = |e: &dyn std::fmt::Display| e.to_string();
    let mut run = Session::new(scenario, 1, Some(Box::new(Watcher::default()))).map_err(|e| failed(&e))?;
    let mut samples = Samples::new(network);
    if letters.contains(&'X') {
        samples.look(run.simulation());
        while run.advance(1).map_err(|e| failed(&e))? == Progress::Paused {
            samples.look(run.simulation());
        }
    } else {
        run.complete().map_err(|e| failed(&e))?;
    }
    let place_name = |place: Place| run.simulation().core().place_name(place).to_owned();
    let places: BTreeMap<u32, String> =
        (0..=2 * scenario.link.len() as u32).map(|p| (p, place_name(Place(p)))).collect();
    let watcher =
        run.finish().observer.take().and_then(|o| o.downcast::<Watcher>().ok()).ok_or("the watcher is lost")?;
    let mut events = watcher.events.clone();
    for (place, flow, letter, event) in &watcher.drops {
        // ns-2's traces show drops at the bottleneck only.
        if places.get(&place.0).is_some_and(|name| name.starts_with(BOTTLENECK)) {
            // Only scripted losses are marked as such; these come before a schedule begins.
            let scripted = network.loss_schedule.first().is_none_or(|(at, _)| event.at.as_secs_f64() < *at);
            let event = Event { b: event.b.filter(|_| scripted || *letter != 'D').or(Some(0.0)), ..*event };
            events.entry((*flow, *letter)).or_default().push(event);
        }
    }
    for sample in samples.finish() {
        sample.enter(reference, &watcher, &mut events);
    }
    if reference.has_variables {
        start_values(network, &mut events);
    }
    events.retain(|(_, letter), _| letters.contains(letter));
    // Files of finite transfers end with the last packet or acknowledgement; what follows from
    // it, and what an idle timer does, is left out.
    if network.flows.iter().all(|flow| flow.packets.is_some()) {
        let end = Instant::from_nanos(reference.last * 1000) + TOLERANCE;
        for ((_, letter), list) in &mut events {
            if !"SARX".contains(*letter) {
                list.retain(|event| event.at <= end);
            }
        }
    }
    Ok(events)
}

/// The interval of `X` rows.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// How far times may be apart.
const TOLERANCE: Duration = Duration::from_nanos(1000);

/// The precision of a trace's times: events no farther apart may have happened in either order.
const ROUNDING: Duration = Duration::from_nanos(500);

/// `X` of all flows at one time: the window, or TFRC's rate in bytes per second, and the bytes that the sink has.
struct Sample {
    /// Seconds. The script that samples adds up its interval in doubles.
    clock: f64,
    /// The flows' values before what happens within the trace's precision, and after it.
    values: [Vec<f64>; 2],
}

/// The samples of a run.
struct Samples<'a> {
    network: &'a Network,
    taken: Vec<Sample>,
    /// The time of the next one, and whether the state before its window is known.
    clock: f64,
    begun: bool,
    /// What the flows show at present.
    present: Vec<f64>,
}

impl<'a> Samples<'a> {
    fn new(network: &'a Network) -> Self {
        let present = vec![f64::NAN; network.flows.len()];
        Self { network, taken: Vec::new(), clock: SAMPLE_INTERVAL.as_secs_f64(), begun: false, present }
    }

    /// After an event.
    fn look(&mut self, simulation: &Simulation) {
        self.advance(simulation.now());
        for (flow, present) in self.present.iter_mut().enumerate() {
            let mut seen = Window(f64::NAN);
            simulation.sample_sender(FlowId(flow as u32), &mut seen);
            *present = seen.0;
        }
    }

    /// What the flows show has not changed until `now`.
    fn advance(&mut self, now: Instant) {
        while self.clock < self.network.stop {
            let at = Instant::from_secs_f64(self.clock);
            let from = Instant::from_nanos(at.as_nanos() - ROUNDING.as_nanos());
            if !self.begun && now > from {
                self.taken.push(Sample { clock: self.clock, values: [self.values(from), Vec::new()] });
                self.begun = true;
            }
            if now <= at + ROUNDING {
                return;
            }
            let values = self.values(at + ROUNDING);
            if let Some(sample) = self.taken.last_mut() {
                sample.values[1] = values;
            }
            self.clock += SAMPLE_INTERVAL.as_secs_f64();
            self.begun = false;
        }
    }

    /// What the flows show at a time. ns-2's `rate_` is 0 until the agent of TFRC starts.
    fn values(&self, at: Instant) -> Vec<f64> {
        let waits = |flow: &Flow| flow.variant == "TFRC" && at < Instant::from_secs_f64(flow.start);
        let flows = self.network.flows.iter().zip(&self.present);
        flows.map(|(flow, value)| if waits(flow) { 0.0 } else { *value }).collect()
    }

    fn finish(mut self) -> Vec<Sample> {
        self.advance(Instant::MAX);
        self.taken
    }
}

impl Sample {
    /// Enters what the flows show. If an event coincides, the values before and after it are both right: then those that the
    /// reference has are entered.
    fn enter(&self, reference: &Reference, watcher: &Watcher, events: &mut Events) {
        let at = Instant::from_secs_f64(self.clock);
        let rounding = ROUNDING.as_secs_f64();
        for (flow, (&before, &after)) in self.values[0].iter().zip(&self.values[1]).enumerate() {
            let flow = flow as u32;
            let bytes = [0.0, -rounding, rounding].map(|by| watcher.bytes_before(flow, self.clock + by) as f64);
            let list = events.entry((flow, 'X')).or_default();
            let theirs = reference.rows.get(&(flow, 'X')).and_then(|rows| rows.get(list.len()));
            let (a, b) = (theirs.map(|row| row.a), theirs.and_then(|row| row.b));
            let is_theirs = |value: &f64| Some(six_digits(*value)) == a;
            let value = [before, after].into_iter().find(is_theirs).unwrap_or(after);
            let bytes = bytes.into_iter().find(|bytes| Some(*bytes) == b).unwrap_or(bytes[0]);
            list.push(Event { at, a: value, b: Some(bytes) });
        }
    }
}

/// A sender's window in packets, or its rate in bytes per second.
struct Window(f64);

impl Probe for Window {
    fn part(&mut self, _what: What, _name: &str) {}

    fn value(&mut self, name: &'static str, value: f64) {
        match name {
            "cwnd_packets" => self.0 = value,
            "rate_bps" => self.0 = value / 8.0,
            _ => {}
        }
    }

    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}

/// The script sets `ssthresh_` while it makes an agent: ns-2's default, then `window_`, then
/// what the scenario states; changes are traced at time 0.
fn start_values(network: &Network, events: &mut Events) {
    for flow in 0..network.flows.len() as u32 {
        let mut values = vec![20.0, f64::from(network.tcp.window), f64::from(network.tcp.ssthresh)];
        values.dedup();
        let start = values.into_iter().map(|a| Event { at: Instant::ZERO, a, b: None });
        events.entry((flow, 'H')).or_default().splice(0..0, start);
    }
}

/// The difference that occurs first, in words.
fn difference(reference: &Reference, events: &Events) -> Option<String> {
    let empty_rows = Vec::new();
    let empty_events = Vec::new();
    let mut keys: Vec<(u32, char)> = reference.rows.keys().chain(events.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    let first = keys.into_iter().filter_map(|key| {
        let theirs = reference.rows.get(&key).unwrap_or(&empty_rows);
        let ours = events.get(&key).unwrap_or(&empty_events);
        let differs = |i: &usize| match (theirs.get(*i), ours.get(*i)) {
            (Some(row), Some(event)) => !agrees(key.1, row, event),
            _ => true,
        };
        let place = (0..theirs.len().max(ours.len())).find(differs)?;
        let (row, event) = (theirs.get(place), ours.get(place));
        let at = row.map_or(u64::MAX, |r| r.at * 1000).min(event.map_or(u64::MAX, |e| e.at.as_nanos()));
        Some((at, key, row.cloned(), event.copied()))
    });
    let (_, (flow, letter), row, event) = first.min_by_key(|(at, key, ..)| (*at, *key))?;
    let values = |a: f64, b: Option<f64>| b.map_or(format!("{a}"), |b| format!("{a},{b}"));
    let theirs = row.map_or("nothing".to_owned(), |r| format!("{} at {} us", values(r.a, r.b), r.at));
    let ours =
        event.map_or("nothing".to_owned(), |e| format!("{} at {} us", values(e.a, e.b), e.at.as_nanos() as f64 / 1e3));
    let letter = if letter == SAMPLE { 'R' } else { letter };
    Some(format!("flow {flow} {letter}: ns-2 {theirs}, lasthop {ours}"))
}

fn agrees(letter: char, row: &Row, event: &Event) -> bool {
    let at = Instant::from_nanos(row.at * 1000);
    // Windows are printed with six significant digits.
    let printed = if matches!(letter, 'W' | 'X') { six_digits(event.a) } else { event.a };
    let apart = at.since(event.at).max(event.at.since(at));
    apart <= TOLERANCE && printed == row.a && row.b == event.b
}

/// The value as C's `%g` prints it.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_significant_digits() {
        assert_eq!(six_digits(34.060_64), 34.0606);
        assert_eq!(six_digits(1_234_567.0), 1_234_570.0);
        assert_eq!(six_digits(0.0), 0.0);
    }
}
