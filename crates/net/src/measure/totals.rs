//! Totals of a run: the tables `flows`, `transfers`, `links` and `drops`.

use std::collections::BTreeMap;

use crate::engine::Instant;
use crate::net::{DropCount, FlowId, Simulation, What};

use super::part::{self, Part};
use super::table::{Column, Names, Numbers, Table};

/// What the tables say of a flow beyond what the simulation knows.
#[derive(Clone, Debug)]
pub struct FlowInfo {
    /// Its number in the simulation.
    pub id: FlowId,
    /// Its name.
    pub name: Box<str>,
    /// The name of the sending node.
    pub from: Box<str>,
    /// Its transport in a few words.
    pub transport: Box<str>,
    /// When its source starts.
    pub start: Instant,
    /// Whether it goes to a group.
    pub to_group: bool,
}

/// Packets that a receiver of a group found missing by their numbers from the first one that it got on, and those that it got without
/// being sent again: what a link dropped once may be missing at several receivers.
fn missed_and_got(receiver: &Part) -> Option<(f64, f64)> {
    let count = |name: &str| receiver.value(name);
    let or_none = |name: &str| count(name).unwrap_or(0.0);
    if let (Some(missed), Some(got)) = (count("missing_packets"), count("distinct_packets")) {
        return Some((missed, got));
    }
    let missed = count("lost_packets")? - or_none("missing_at_start");
    Some((missed, count("received_packets")? - or_none("duplicate_packets")))
}

/// The receiver's values that stand in the table `flows` as they are.
const RECEIVER_COUNTS: [&str; 4] = ["received_packets", "received_bytes", "duplicate_packets", "duplicate_bytes"];
/// The sender's values that stand in the table `flows` as they are.
const SENDER_COUNTS: [&str; 14] = [
    "sent_packets",
    "sent_bytes",
    "retransmitted_packets",
    "retransmitted_bytes",
    "acked_bytes",
    "timeouts",
    "idle_timeouts",
    "spurious_timeouts",
    "ack_loss_timeouts",
    "detected_spurious_timeouts",
    "fast_retransmits",
    "spurious_fast_retransmits",
    "window_cuts",
    "nofeedback_expiries",
];

/// The table `flows`: a row for each flow and receiver.
pub fn flows(simulation: &Simulation, flows: &[FlowInfo]) -> Table {
    let end = simulation.now();
    let mut names: [Vec<String>; 4] = Default::default();
    let mut start = Numbers::default();
    let mut goodput = Numbers::default();
    let mut received: [Numbers<i64>; RECEIVER_COUNTS.len()] = Default::default();
    let mut loss = Numbers::default();
    let mut dropped = Numbers::default();
    let mut counts: [Numbers<i64>; SENDER_COUNTS.len()] = Default::default();
    let mut rtt: [Numbers<f64>; 2] = Default::default();
    let (mut rtt_mean, mut rtt_samples) = (Numbers::default(), Numbers::default());
    let mut delay: [Numbers<f64>; 2] = Default::default();
    let counters = simulation.core().counters();
    let losses = by_flow(counters.losses());
    for flow in flows {
        let sender = Part::of_sender(simulation, flow.id);
        let see = |receiver: &Part| {
            let row = [&*flow.name, &flow.from, &receiver.name, &flow.transport];
            for (column, name) in names.iter_mut().zip(row) {
                column.push(name.to_owned());
            }
            let seconds = end.since(flow.start).as_secs_f64();
            let bytes = receiver.value("received_bytes");
            start.push(Some(flow.start.as_secs_f64()));
            goodput.push(bytes.filter(|_| seconds > 0.0).map(|b| b * 8.0 / seconds / 1e3));
            for (column, name) in received.iter_mut().zip(RECEIVER_COUNTS) {
                column.push(receiver.value(name).map(|v| v as i64));
            }
            let drops = losses.get(&flow.id).copied().unwrap_or_default();
            dropped.push((!flow.to_group).then_some(drops.packets as i64));
            let (lost, of) = if flow.to_group {
                missed_and_got(receiver).map_or((0.0, 0.0), |(missed, got)| (missed, missed + got))
            } else {
                let sent = ["sent_packets", "retransmitted_packets"].map(|name| sender.value(name).unwrap_or(0.0));
                (drops.data as f64, sent.iter().sum())
            };
            loss.push((of > 0.0).then(|| 100.0 * lost / of));
            for (column, name) in counts.iter_mut().zip(SENDER_COUNTS) {
                column.push(sender.value(name).map(|v| v as i64));
            }
            let (rtts, delays) = (sender.distribution("rtt_ms"), receiver.distribution("delay_ms"));
            for (columns, quantiles) in [(&mut rtt, rtts.quantiles), (&mut delay, delays.quantiles)] {
                for (column, quantile) in columns.iter_mut().zip(quantiles) {
                    column.push(quantile);
                }
            }
            rtt_mean.push(rtts.mean);
            rtt_samples.push(Some(rtts.samples as i64));
        };
        part::each(|probe| simulation.sample_receivers(flow.id, probe), see);
    }
    let [name, from, to, transport] = names.map(Column::Text);
    let [rtt_median, rtt_high] = rtt.map(Column::Float);
    let [delay_median, delay_high] = delay.map(Column::Float);
    let mut columns = vec![
        ("flow", name),
        ("from", from),
        ("to", to),
        ("transport", transport),
        ("start_s", Column::Float(start)),
        ("goodput_kbps", Column::Float(goodput)),
        ("loss_pct", Column::Float(loss)),
        ("rtt_ms_p50", rtt_median),
        ("rtt_ms_p95", rtt_high),
        ("rtt_ms_mean", Column::Float(rtt_mean)),
        ("rtt_ms_samples", Column::Int(rtt_samples)),
        ("delay_ms_p50", delay_median),
        ("delay_ms_p95", delay_high),
    ];
    columns.extend(RECEIVER_COUNTS.into_iter().zip(received.map(Column::Int)));
    columns.push(("dropped_packets", Column::Int(dropped)));
    columns.extend(SENDER_COUNTS.into_iter().zip(counts.map(Column::Int)));
    Table { columns }
}

/// The drops of each flow, summed.
fn by_flow(counts: impl Iterator<Item = (FlowId, DropCount)>) -> BTreeMap<FlowId, DropCount> {
    let mut sums = BTreeMap::<_, DropCount>::new();
    for (flow, count) in counts {
        *sums.entry(flow).or_default() += count;
    }
    sums
}

/// The table `transfers`: a row for each transfer of a finite amount of data.
pub fn transfers(simulation: &Simulation, flows: &[FlowInfo]) -> Table {
    let mut name = Names::default();
    let mut number = Numbers::default();
    let (mut bytes, mut objects, mut packet) = (Numbers::default(), Numbers::default(), Numbers::default());
    let (mut start, mut sent, mut received, mut acked) =
        (Numbers::default(), Numbers::default(), Numbers::default(), Numbers::default());
    let (mut duration, mut goodput) = (Numbers::default(), Numbers::default());
    for flow in flows {
        for (n, transfer) in (0..).zip(simulation.transfers(flow.id)) {
            let seconds = transfer.received.map(|at| at.since(transfer.start).as_secs_f64());
            name.push(&flow.name);
            number.push(Some(n));
            bytes.push(Some(transfer.bytes as i64));
            objects.push(Some(i64::from(transfer.objects)));
            packet.push(transfer.packet.map(i64::from));
            start.push(Some(transfer.start.as_secs_f64()));
            sent.push(transfer.sent.map(Instant::as_secs_f64));
            received.push(transfer.received.map(Instant::as_secs_f64));
            acked.push(transfer.acked.map(Instant::as_secs_f64));
            duration.push(seconds);
            goodput.push(seconds.filter(|s| *s > 0.0).map(|s| transfer.bytes as f64 * 8.0 / s / 1e3));
        }
    }
    Table {
        columns: vec![
            ("flow", name.column()),
            ("transfer", Column::Int(number)),
            ("bytes", Column::Int(bytes)),
            ("objects", Column::Int(objects)),
            ("packet_bytes", Column::Int(packet)),
            ("start_s", Column::Float(start)),
            ("sent_s", Column::Float(sent)),
            ("received_s", Column::Float(received)),
            ("acked_s", Column::Float(acked)),
            ("duration_s", Column::Float(duration)),
            ("goodput_kbps", Column::Float(goodput)),
        ],
    }
}

/// The table `transfer_state`: a row for each value that was noted of each transfer; `None` if there is no such.
pub fn transfer_state(simulation: &Simulation, flows: &[FlowInfo]) -> Option<Table> {
    let (mut name, mut quantity) = (Names::default(), Names::default());
    let (mut number, mut value) = (Numbers::default(), Numbers::default());
    for flow in flows {
        simulation.sample_transfers(flow.id, |transfer, of, growth| {
            name.push(&flow.name);
            number.push(Some(transfer as i64));
            quantity.push(of);
            value.push(Some(growth));
        });
    }
    (!value.is_empty()).then(|| Table {
        columns: vec![
            ("flow", name.column()),
            ("transfer", Column::Int(number)),
            ("quantity", quantity.column()),
            ("value", Column::Float(value)),
        ],
    })
}

/// The table `links`: a row for each direction of each link.
pub fn links(simulation: &Simulation) -> Table {
    let counters = simulation.core().counters();
    let mut drops: BTreeMap<&str, i64> = BTreeMap::new();
    for ((place, _, _), count) in &counters.drops {
        *drops.entry(simulation.core().place_name(*place)).or_default() += count.packets as i64;
    }
    let mut marks: BTreeMap<&str, i64> = BTreeMap::new();
    for (place, count) in &counters.marks {
        *marks.entry(simulation.core().place_name(*place)).or_default() += *count as i64;
    }
    let seconds = simulation.now().as_secs_f64();
    let mut names = Vec::new();
    let mut utilisation = Numbers::default();
    let mut ints: [Numbers<i64>; 6] = Default::default();
    let mut queue: [Numbers<f64>; 2] = Default::default();
    let see = |link: &Part| {
        if link.what != Some(What::Link) {
            return;
        }
        let int = |name: &str| link.value(name).map(|v| v as i64);
        let count = |of: &BTreeMap<&str, i64>| Some(of.get(link.name.as_str()).copied().unwrap_or(0));
        names.push(link.name.clone());
        utilisation.push(busy_s(link, seconds).filter(|_| seconds > 0.0).map(|busy| 100.0 * busy / seconds));
        let row =
            [int("packets"), int("bytes"), count(&drops), count(&marks), int("queue_packets"), int("queue_bytes")];
        for (column, value) in ints.iter_mut().zip(row) {
            column.push(value);
        }
        for (column, quantile) in queue.iter_mut().zip(link.distribution("queue_ms").quantiles) {
            column.push(quantile);
        }
    };
    part::each(|probe| simulation.sample_media(probe), see);
    let [packets, bytes, drops, marks, queue_packets, queue_bytes] = ints.map(Column::Int);
    let [queue_median, queue_high] = queue.map(Column::Float);
    Table {
        columns: vec![
            ("link", Column::Text(names)),
            ("utilisation_pct", Column::Float(utilisation)),
            ("packets", packets),
            ("bytes", bytes),
            ("drops", drops),
            ("marks", marks),
            ("queue_ms_p50", queue_median),
            ("queue_ms_p95", queue_high),
            ("queue_packets", queue_packets),
            ("queue_bytes", queue_bytes),
        ],
    }
}

/// For how long a link has been busy. One that follows a trace: for the share of the time so far that was used of its opportunities' bytes.
fn busy_s(link: &Part, seconds: f64) -> Option<f64> {
    link.value("busy_s").or_else(|| {
        let (carried, could) = (link.value("carried_bytes")?, link.value("opportunity_bytes")?);
        Some(if could > 0.0 { seconds * carried / could } else { 0.0 })
    })
}

/// The tables `cells` and `bearers`: a row for each part of this kind that media show, with a column for
/// each value that any of them shows. `None` if there is no such part.
pub fn parts(simulation: &Simulation, what: What) -> Option<Table> {
    let mut rows = Rows::default();
    let see = |part: &Part| {
        if part.what == Some(what) {
            rows.add(part.name.clone(), part.values());
        }
    };
    part::each(|probe| simulation.sample_media(probe), see);
    rows.table(what.name())
}

/// The table `media`: a row for each flow whose source knows what became of its frames. `None` if there is none.
pub fn media(simulation: &Simulation, flows: &[FlowInfo]) -> Option<Table> {
    const DELAY: &str = "frame_delay_ms";
    let mut rows = Rows::default();
    for flow in flows {
        part::each(
            |probe| simulation.sample_source(flow.id, probe),
            |source| {
                let delay = source.distribution(DELAY);
                let [median, high] = delay.quantiles;
                let delays =
                    [("frame_delay_ms_p50", median), ("frame_delay_ms_p95", high), ("frame_delay_ms_mean", delay.mean)];
                rows.add(
                    flow.name.to_string(),
                    source.values().chain(delays.into_iter().filter_map(|(n, v)| Some((n, v?)))),
                );
            },
        );
    }
    rows.table("flow")
}

/// Rows with a name, and with a column for each value that any of them has.
#[derive(Default)]
struct Rows {
    names: Vec<String>,
    columns: Vec<(&'static str, Vec<Option<f64>>)>,
}

impl Rows {
    fn add(&mut self, row: String, values: impl Iterator<Item = (&'static str, f64)>) {
        for (name, value) in values {
            let place = self.columns.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
                self.columns.push((name, Vec::new()));
                self.columns.len() - 1
            });
            // Rows before this one may not have it.
            self.columns[place].1.resize(self.names.len(), None);
            self.columns[place].1.push(Some(value));
        }
        self.names.push(row);
    }

    /// The table, whose first column is called `first`; `None` if it has no row.
    fn table(self, first: &'static str) -> Option<Table> {
        const UNITS: [&str; 11] =
            ["_s", "_m", "_kbps", "_pct", "_db", "_dbm", "_mean", "_ms", "_p50", "_p95", "_occupancy"];
        // Of queue disciplines: probabilities, averages of backlogs, factors, and the work for each packet.
        const FRACTIONS: [&str; 13] = [
            "_p",
            "average_packets",
            "average_in_packets",
            "average_queue_packets",
            "alpha",
            "xi_positive",
            "xi_negative",
            "additions_in",
            "additions_out",
            "additions_back",
            "multiplications_in",
            "multiplications_out",
            "multiplications_back",
        ];
        let rows = self.names.len();
        let column = |(name, mut values): (&'static str, Vec<Option<f64>>)| {
            values.resize(rows, None);
            let is_count = !UNITS.iter().chain(&FRACTIONS).any(|end| name.ends_with(end));
            let whole = |values: Vec<Option<f64>>| values.into_iter().map(|v| v.map(|v| v as i64)).collect();
            (name, if is_count { Column::Int(whole(values)) } else { Column::Float(values.into_iter().collect()) })
        };
        let first = std::iter::once((first, Column::Text(self.names)));
        (rows > 0).then(|| Table { columns: first.chain(self.columns.into_iter().map(column)).collect() })
    }
}

/// The table `drops`: a row for each place, cause and flow.
pub fn drops(simulation: &Simulation, name: &dyn Fn(FlowId) -> String) -> Table {
    let counters = simulation.core().counters();
    let (mut place, mut cause, mut flow) = (Names::default(), Names::default(), Names::default());
    let (mut packets, mut bytes) = (Numbers::default(), Numbers::default());
    for ((at, why, whose), count) in &counters.drops {
        place.push(simulation.core().place_name(*at));
        cause.push(why.name());
        flow.push(&name(*whose));
        packets.push(Some(count.packets as i64));
        bytes.push(Some(count.bytes as i64));
    }
    Table {
        columns: vec![
            ("place", place.column()),
            ("cause", cause.column()),
            ("flow", flow.column()),
            ("packets", Column::Int(packets)),
            ("bytes", Column::Int(bytes)),
        ],
    }
}

/// The table `state`: a row for each value that links, endpoints and signalling machines keep.
pub fn state(simulation: &Simulation, flows: &[FlowInfo]) -> Table {
    let mut rows = State::default();
    rows.add_media(simulation, |_| true);
    for flow in flows {
        rows.add_flow(simulation, flow);
    }
    part::each(|probe| simulation.sample_agents(probe), |agent| rows.add("agent", "", &agent.name, agent));
    rows.table()
}

/// The rows of the table `state` that concern the flow, or the part of a medium, with this name.
pub fn state_of(simulation: &Simulation, flows: &[FlowInfo], name: &str) -> Table {
    let mut rows = State::default();
    rows.add_media(simulation, |part| part == name);
    for flow in flows.iter().filter(|flow| &*flow.name == name) {
        rows.add_flow(simulation, flow);
    }
    rows.table()
}

/// The names of all parts of media.
pub fn part_names(simulation: &Simulation) -> Vec<String> {
    let mut names = Vec::new();
    part::each(|probe| simulation.sample_media(probe), |part| names.push(part.name.clone()));
    names
}

/// The rows of the table `state`.
#[derive(Default)]
struct State {
    kind: Names,
    name: Names,
    node: Names,
    quantity: Names,
    value: Numbers<f64>,
}

impl State {
    fn add_media(&mut self, simulation: &Simulation, wanted: impl Fn(&str) -> bool) {
        let see = |part: &Part| {
            if wanted(&part.name) {
                self.add(part.what.map_or("", What::name), &part.name, "", part);
            }
        };
        part::each(|probe| simulation.sample_media(probe), see);
    }

    fn add_flow(&mut self, simulation: &Simulation, flow: &FlowInfo) {
        let sender = Part::of_sender(simulation, flow.id);
        self.add("sender", &flow.name, &flow.from, &sender);
        let see = |receiver: &Part| self.add("receiver", &flow.name, &receiver.name, receiver);
        part::each(|probe| simulation.sample_receivers(flow.id, probe), see);
    }

    fn table(self) -> Table {
        Table {
            columns: vec![
                ("kind", self.kind.column()),
                ("name", self.name.column()),
                ("node", self.node.column()),
                ("quantity", self.quantity.column()),
                ("value", Column::Float(self.value)),
            ],
        }
    }

    fn add(&mut self, kind: &str, name: &str, node: &str, part: &Part) {
        for (quantity, value) in part.all() {
            self.kind.push(kind);
            self.name.push(name);
            self.node.push(node);
            self.quantity.push(&quantity);
            self.value.push(Some(value));
        }
    }
}
