//! Compares what happens to PDUs and SDUs, event by event.
//!
//! Files sort events of one instant in the simulator's order of execution, which is not that of
//! causes. So the events of each kind and direction are compared as one sequence: the same number of
//! them, in the same order, each with the same values and within a microsecond of the same time.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;

use lasthop_core::engine::{BitRate, Duration, Instant, Streams};
use lasthop_core::net::loss::{Loss, LossConfig, list};
use lasthop_core::net::observe::{PduStep, SeenPdu};
use lasthop_core::net::{Cause, NodeId, Observation, Observer, Place, Simulation};
use lasthop_core::radio::channel::Losses;
use lasthop_core::radio::umts::attachment::Cell;
use lasthop_core::radio::umts::channel::{Limit, Order};
use lasthop_core::radio::umts::iub::Iub;
use lasthop_core::radio::umts::medium::OtherSystems;
use lasthop_core::radio::umts::utran::Utran;
use lasthop_core::radio::umts::{Setup, Umts};
use lasthop_core::replicas::eurane::rlc::Entity;

use super::index::Case;
use super::script::{PORT, Script, Send};
use crate::families::Outcomes;
use crate::in_parallel;
use crate::report::Outcome;

/// How far apart the times of one event may lie: a microsecond.
const TOLERANCE: u64 = 1_000;
/// EURANE's PDUs.
const PDU_BYTES: i32 = 40;
/// EURANE's Iub.
const IUB_BPS: u64 = 622_000_000;
const IUB_DELAY: Duration = Duration::from_millis(15);

/// An event: its time in nanoseconds, and its values by column.
type Row = (u64, BTreeMap<&'static str, String>);
/// The events of each kind and direction.
type Rows = BTreeMap<(String, String), Vec<Row>>;

/// The columns that are compared, besides time, kind of event and direction.
const COLUMNS: [&str; 16] = [
    "kind",
    "sn",
    "last",
    "poll",
    "li",
    "len1",
    "len2",
    "len3",
    "pad",
    "cause",
    "queue_bytes",
    "fsn",
    "bitmap",
    "sdu",
    "size",
    "dir",
];

/// Compares the scenarios of one family.
pub fn compare(folder: &Path, cases: &[Result<Case, (String, String)>], jobs: usize) -> Outcomes {
    in_parallel(jobs, cases, |case| match case {
        Err((id, message)) => (id.clone(), Outcome::Failed(message.clone())),
        Ok(Case { id, left_out: Some(why), .. }) => (id.clone(), Outcome::LeftOut(why.clone())),
        Ok(case) => (case.id.clone(), outcome(folder, case).unwrap_or_else(Outcome::Failed)),
    })
}

fn outcome(folder: &Path, case: &Case) -> Result<Outcome, String> {
    let mut reference = Reference::read(&folder.join(&case.file))?;
    let mut ours = run(case, &reference);
    // What falls on the end of the run, EURANE's clock may have left out or not; losses are logged before they come.
    let end = Instant::from_secs_f64(case.stop).as_nanos() - TOLERANCE;
    for rows in [&mut reference.rows, &mut ours] {
        rows.values_mut().for_each(|rows| rows.retain(|(at, _)| *at < end));
        if case.common != case.dedicated {
            // PDUs of two channels at one instant: EURANE's sums decide which come first.
            for (_, rows) in rows.iter_mut().filter(|((event, _), _)| ["AIR", "RX"].contains(&event.as_str())) {
                rows.sort_by_key(|(at, values)| (*at, values.get("sn").and_then(|sn| sn.parse::<u32>().ok())));
            }
        }
    }
    let count = reference.rows.values().map(Vec::len).sum();
    Ok(match difference(&reference, &ours) {
        None => Outcome::Same(count),
        Some(first) => Outcome::Differs(count, first),
    })
}

/// What a file records.
struct Reference {
    /// Which columns it has.
    columns: Vec<&'static str>,
    rows: Rows,
    /// The packets that come to RLC, down and up.
    sends: [Vec<Send>; 2],
}

impl Reference {
    fn read(file: &Path) -> Result<Self, String> {
        let problem = |e: String| format!("{}: {e}", file.display());
        let mut reader = csv::Reader::from_path(file).map_err(|e| problem(e.to_string()))?;
        let headers = reader.headers().map_err(|e| problem(e.to_string()))?.clone();
        let columns: Vec<&'static str> = COLUMNS.into_iter().filter(|c| headers.iter().any(|h| h == *c)).collect();
        let mut reference = Self { columns, rows: Rows::new(), sends: Default::default() };
        // Rows of one time stand in the order of execution. So they say whether an SDU that comes at the instant of a tick, or of a look at
        // the backlog, comes before it or after it.
        let mut records = Vec::new();
        for record in reader.records() {
            records.push(record.map_err(|e| problem(e.to_string()))?);
        }
        let column = |name: &str| headers.iter().position(|h| h == name);
        let [time, event, direction] = ["t_us", "event", "dir"].map(column);
        let cell = |row: &csv::StringRecord, at: Option<usize>| at.and_then(|i| row.get(i)).unwrap_or("").to_owned();
        let before_tick = |place: usize, row: &csv::StringRecord| {
            let mut later = records[place + 1..].iter().take_while(|other| cell(other, time) == cell(row, time));
            later.any(|other| match cell(other, event).as_str() {
                "TX" => cell(other, direction) == cell(row, direction),
                "SWITCH_UP" => true,
                _ => false,
            })
        };
        for (place, record) in records.iter().enumerate() {
            let cell = |name: &str| column(name).and_then(|i| record.get(i)).unwrap_or("");
            let row = |what: String| problem(format!("row {}: {what}", place + 1));
            let number = |name: &str| cell(name).parse::<u64>().map_err(|e| row(format!("{name}: {e}")));
            let at = nanoseconds(cell("t_us")).ok_or_else(|| row(format!("no time: {}", cell("t_us"))))?;
            let (event, direction) = (cell("event"), cell("dir"));
            if event == "SDU_IN" {
                let moment = if before_tick(place, record) { at.saturating_sub(1) } else { at + 1 };
                let send = Send {
                    at: Instant::from_nanos(moment),
                    number: number("sdu")?,
                    size: u32::try_from(number("size")?).map_err(|e| problem(e.to_string()))?,
                };
                reference.sends[usize::from(direction == "U")].push(send);
                continue;
            }
            let values = reference.columns.iter().map(|name| (*name, cell(name).to_owned())).collect();
            reference.rows.entry((event.to_owned(), direction.to_owned())).or_default().push((at, values));
        }
        Ok(reference)
    }
}

/// Microseconds with three decimals as nanoseconds.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    Some(whole.parse::<u64>().ok()? * 1_000 + format!("{part:0<3}").get(..3)?.parse::<u64>().ok()?)
}

/// Runs the scenario, and gives its events.
fn run(case: &Case, reference: &Reference) -> Rows {
    let mut simulation = Simulation::new(1);
    simulation.set_observer(Box::<Watcher>::default());
    let nodes = ["rnc", "ue"].map(|name| simulation.add_node(name));
    simulation.add_medium(&nodes, |core, component, ends| {
        let places = ["D", "U"].map(|name| core.place(name));
        let loss = |drop: &Vec<u64>| -> Loss {
            list::Config { drop: drop.clone() }.build(Streams::new(1).stream("air", "loss"))
        };
        let cell = Cell { terminals: 1, cells: 1, fach: case.common[0], dch_down: case.dedicated[0], dsch: None };
        let rlc = case.rlc.clone();
        let setup = Setup {
            name: "cell".to_owned(),
            fach: case.common[0],
            rach: case.common[1],
            rach_access: Duration::ZERO,
            rach_aloha: None,
            dch: case.dedicated,
            dsch: None,
            hs_dsch: None,
            cpch: None,
            limit: Limit::MixedUnits,
            order: Order::Fifo,
            utran: Utran::single(|| Iub::new(BitRate::from_bps(IUB_BPS), IUB_DELAY)),
            air: Box::new(Losses::new(vec![[loss(&case.lost[0]), loss(&case.lost[1])]])),
            area: None,
            elsewhere: OtherSystems::default(),
            rlc: Box::new(move |_| Box::new(Entity::new(&rlc))),
            pdcp: Box::new(|| None),
            spacing: Duration::ZERO,
            timing: None,
            in_order: false,
            loss_indication: None,
            pdu_bits: 320,
            attachment: case.attachment.build(&cell),
            terminals: vec![places],
        };
        let mut medium = Umts::new(core, component, ends, setup);
        medium.start(core);
        Box::new(medium)
    });
    let [rnc, ue] = nodes;
    for (node, to, sends) in [(rnc, ue, &reference.sends[0]), (ue, rnc, &reference.sends[1])] {
        simulation.add_agent(node, PORT, |seat| Box::new(Script::new(seat, to, sends.clone())));
    }
    simulation.route();
    let end = Instant::from_secs_f64(case.stop);
    // A scenario of this size never stalls.
    let _ = simulation.run_until(end, u64::MAX);
    let watcher = simulation.take_observer().and_then(|o| o.into_any().downcast::<Watcher>().ok());
    watcher.map(|watcher| watcher.rows).unwrap_or_default()
}

/// Takes down what happens.
#[derive(Default)]
struct Watcher {
    rows: Rows,
}

impl Watcher {
    fn add(&mut self, at: Instant, event: &str, direction: &str, values: BTreeMap<&'static str, String>) {
        let rows = self.rows.entry((event.to_owned(), direction.to_owned())).or_default();
        rows.push((at.as_nanos(), values));
    }
}

/// The directions, by the places under which the medium counts.
fn direction(place: Place) -> &'static str {
    // Place 0 is the network's own.
    if place.0 == 1 { "D" } else { "U" }
}

impl Observer for Watcher {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        let sdu = |packet: &lasthop_core::net::Packet| {
            BTreeMap::from([("sdu", packet.number.to_string()), ("size", packet.size.to_string())])
        };
        match *observation {
            Observation::Received { node, packet } => {
                let direction = if node == NodeId(1) { "D" } else { "U" };
                self.add(now, "SDU_OUT", direction, sdu(packet));
            }
            Observation::Dropped { place, cause: Cause::Overflow, packet } => {
                self.add(now, "SDU_DROP", direction(place), sdu(packet));
            }
            Observation::Served { service, .. } => {
                let event = if service == "dedicated" { "SWITCH_UP" } else { "SWITCH_DOWN" };
                self.add(now, event, "", BTreeMap::new());
            }
            Observation::Pdu { at, place, step, pdu, queued } => {
                let event = match step {
                    PduStep::Sent => "TX",
                    PduStep::Dropped => "QDROP",
                    PduStep::Aired => "AIR",
                    PduStep::Lost => "LOST",
                    PduStep::Received => "RX",
                };
                self.add(at, event, direction(place), values(step, pdu, queued));
            }
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A PDU in EURANE's words.
fn values(step: PduStep, pdu: &SeenPdu<'_>, queued: Option<u32>) -> BTreeMap<&'static str, String> {
    let kind = match (pdu.sn.is_some(), pdu.report.is_some()) {
        (true, false) => "DATA",
        (false, _) => "STATUS",
        (true, true) => "DATA+STATUS",
    };
    let cause = match pdu.reason {
        "new" => "new",
        "retransmission" => "rtx",
        "poll" => "poll",
        _ => "status",
    };
    let sn = pdu.sn.map_or_else(String::new, |sn| sn.to_string());
    let parts = [pdu.first, pdu.data - pdu.first, pdu.report.map_or(0, |(_, _, bytes)| bytes)];
    let mut lengths = parts.into_iter().filter(|part| *part > 0);
    let mut length = || lengths.next().unwrap_or(0).to_string();
    // Of a report that is larger than its PDU EURANE shows less than no padding.
    let alone = pdu.report.filter(|_| pdu.sn.is_none());
    let padding = alone.map_or(i32::from(pdu.padding), |(_, _, bytes)| PDU_BYTES - i32::from(bytes));
    let mut values = BTreeMap::from([
        ("kind", kind.to_owned()),
        ("last", if pdu.ends > 0 { sn.clone() } else { String::new() }),
        ("poll", u8::from(pdu.poll).to_string()),
        ("sn", sn),
        ("li", pdu.indicators.to_string()),
        ("len1", length()),
        ("len2", length()),
        ("len3", length()),
        ("pad", padding.to_string()),
    ]);
    if step == PduStep::Sent {
        values.insert("cause", cause.to_owned());
    }
    if let Some(bytes) = queued {
        values.insert("queue_bytes", bytes.to_string());
    }
    if let Some((first, received, _)) = pdu.report {
        values.insert("fsn", first.to_string());
        values.insert("bitmap", received.iter().map(|came| if *came { '1' } else { '0' }).collect());
    }
    values
}

/// The first difference, in words.
fn difference(reference: &Reference, ours: &Rows) -> Option<String> {
    let kinds = reference.rows.keys().chain(ours.keys());
    // What a family does not record is not compared.
    let recorded = |event: &str| reference.rows.keys().any(|(e, _)| e == event);
    let first = |key: &(String, String)| -> Option<(u64, String)> {
        let none = Vec::new();
        let theirs = reference.rows.get(key).unwrap_or(&none);
        let ours = ours.get(key).unwrap_or(&none);
        let name = format!("{} {}", key.0, key.1);
        for (n, (a, b)) in theirs.iter().zip(ours).enumerate() {
            let differs = reference.columns.iter().filter(|column| **column != "dir").find_map(|column| {
                let (a, b) = (a.1.get(column).map_or("", String::as_str), b.1.get(column).map_or("", String::as_str));
                // The family `switch` gives reports no cause.
                let same = a == b || (*column == "cause" && (a, b) == ("", "status"));
                (!same).then(|| format!("{column} \"{b}\", not \"{a}\""))
            });
            if differs.is_some() || a.0.abs_diff(b.0) > TOLERANCE {
                let when = format!("at {} us, not {} us", b.0 as f64 / 1e3, a.0 as f64 / 1e3);
                return Some((a.0, format!("{name} {n} {when}: {}", differs.unwrap_or_default())));
            }
        }
        let at = theirs.get(ours.len()).or(ours.get(theirs.len())).map(|row| row.0)?;
        Some((at, format!("{name}: {} events, not {}", ours.len(), theirs.len())))
    };
    kinds.filter(|(event, _)| recorded(event)).filter_map(first).min().map(|(_, words)| words)
}
