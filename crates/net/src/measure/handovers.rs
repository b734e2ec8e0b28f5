//! The table `handovers`: what each change of a link did to the packets over it.
//!
//! A row is about one direction of the link, and about the time from its change to the next change
//! of the link, or to the end of the run. It is made of the packets that arrive at the far side meanwhile, and of those dropped here.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::{Duration, Instant};
use crate::net::sequence::{Came, Sequence};
use crate::net::{Access, Cause, FlowId, Header, NodeId, Observation, Packet, Place};

use super::table::{Column, Names, Table};

/// The handovers of a run.
#[derive(Default)]
pub struct Handovers {
    rows: Vec<Row>,
    ways: BTreeMap<Place, Way>,
}

/// One direction of a link.
#[derive(Default)]
struct Way {
    /// Its present row, if it has changed.
    row: Option<usize>,
    last_arrival: Option<Instant>,
    /// The packets of each flow's end that have come, by their running numbers.
    order: BTreeMap<(FlowId, NodeId, u16), Sequence>,
    /// Arrivals that may begin the period at the new rate, and the bytes behind the first of them.
    period: VecDeque<(Instant, u64)>,
    bytes: u64,
}

/// A change and its effect.
struct Row {
    at: Instant,
    place: Place,
    before: Access,
    after: Access,
    packets: u64,
    drops: [u64; DROPS.len()],
    outage: Option<Duration>,
    longest_gap: Option<Duration>,
    at_new_rate: Option<Duration>,
    reordered: u64,
}

/// The causes for which a link drops packets, and their columns.
const DROPS: [(Cause, &str); 6] = [
    (Cause::Overflow, "drops_overflow"),
    (Cause::Early, "drops_early"),
    (Cause::Policed, "drops_policed"),
    (Cause::Loss, "drops_loss"),
    (Cause::Handover, "drops_handover"),
    (Cause::LinkDown, "drops_link_down"),
];

/// The share of the new rate that has to be reached, as a ratio of integers.
const SHARE: (u64, u64) = (9, 10);
/// The time over which a rate is measured, 0.2 s …
const PERIOD: Duration = Duration::from_millis(200);
/// … or that of ten large packets at the new rate, if that is longer.
const PERIOD_BYTES: u64 = 15_000;

impl Handovers {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Takes note of an observation.
    pub fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Handover { place, before, after } => self.begin(now, place, before, after),
            Observation::Arrived { place, start, packet } => self.arrive(now, place, start, packet),
            Observation::Dropped { place, cause, .. } => self.drop(place, cause),
            _ => {}
        }
    }

    fn begin(&mut self, at: Instant, place: Place, before: Access, after: Access) {
        let way = self.ways.entry(place).or_default();
        way.row = Some(self.rows.len());
        way.period.clear();
        way.bytes = 0;
        self.rows.push(Row {
            at,
            place,
            before,
            after,
            packets: 0,
            drops: [0; DROPS.len()],
            outage: None,
            longest_gap: None,
            at_new_rate: None,
            reordered: 0,
        });
    }

    fn drop(&mut self, place: Place, cause: Cause) {
        let row = self.ways.get(&place).and_then(|way| self.rows.get_mut(way.row?));
        let column = DROPS.iter().position(|(known, _)| *known == cause);
        if let (Some(row), Some(column)) = (row, column) {
            row.drops[column] += 1;
        }
    }

    fn arrive(&mut self, now: Instant, place: Place, start: Instant, packet: &Packet) {
        let way = self.ways.entry(place).or_default();
        let last = way.last_arrival.replace(now);
        let late = way.is_late(packet);
        let Some(row) = way.row.and_then(|row| self.rows.get_mut(row)) else { return };
        row.packets += 1;
        row.reordered += u64::from(late);
        row.longest_gap = row.longest_gap.max(last.map(|last| now.since(last)));
        if start < row.at {
            return; // It was sent before the change.
        }
        row.outage.get_or_insert_with(|| now.since(last.unwrap_or(row.at).max(row.at)));
        if row.at_new_rate.is_none() {
            row.at_new_rate = way.at_rate(now, packet.size, row.after).map(|began| began.since(row.at));
        }
    }

    /// The table.
    pub fn table(&self, place_name: &dyn Fn(Place) -> String) -> Table {
        let mut link = Names::default();
        for row in &self.rows {
            link.push(&place_name(row.place));
        }
        let float = |of: &dyn Fn(&Row) -> Option<f64>| Column::Float(self.rows.iter().map(of).collect());
        let int = |of: &dyn Fn(&Row) -> u64| Column::Int(self.rows.iter().map(|row| Some(of(row) as i64)).collect());
        let ms = |of: &dyn Fn(&Row) -> Option<Duration>| float(&|row| Some(of(row)?.as_secs_f64() * 1e3));
        let mut columns = vec![
            ("time_s", float(&|row| Some(row.at.as_secs_f64()))),
            ("link", link.column()),
            ("old_rate_kbps", float(&|row| Some(kbps(row.before)))),
            ("new_rate_kbps", float(&|row| Some(kbps(row.after)))),
            ("old_delay_ms", ms(&|row| Some(row.before.delay))),
            ("new_delay_ms", ms(&|row| Some(row.after.delay))),
            ("outage_ms", ms(&|row| row.outage)),
            ("longest_gap_ms", ms(&|row| row.longest_gap)),
            ("time_to_90pct_s", float(&|row| Some(row.at_new_rate?.as_secs_f64()))),
            ("packets", int(&|row| row.packets)),
            ("reordered_packets", int(&|row| row.reordered)),
            ("drops", int(&|row| row.drops.iter().sum())),
        ];
        columns.extend(DROPS.iter().enumerate().map(|(n, (_, name))| (*name, int(&|row| row.drops[n]))));
        Table { columns }
    }
}

/// The rate that a way offers: none if it is down.
fn kbps(access: Access) -> f64 {
    if access.up { access.rate.as_bps() as f64 / 1e3 } else { 0.0 }
}

impl Way {
    /// Whether a packet comes for the first time, after one that its end sent later. Messages of
    /// signalling have numbers of their own, and are left out.
    fn is_late(&mut self, packet: &Packet) -> bool {
        if let Header::Signal(_) = packet.header {
            return false;
        }
        let end = (packet.flow, packet.from.node, packet.from.port);
        self.order.entry(end).or_default().take(packet.number) == Came::Late
    }

    /// The arrival since which the new rate is reached: the bytes received within a period after it amount to that rate.
    fn at_rate(&mut self, now: Instant, size: u32, new: Access) -> Option<Instant> {
        let rate = new.rate.as_bps();
        if !new.up || rate == 0 {
            return None;
        }
        let ns = |bytes: u64| u128::from(bytes) * 8_000_000_000;
        let length = PERIOD.max(Duration::from_nanos((ns(PERIOD_BYTES) / u128::from(rate)) as u64));
        // The first arrival begins the period, so its own bytes came before it.
        while self.period.front().is_some_and(|(began, _)| now.since(*began) > length) {
            self.period.pop_front();
            self.bytes -= self.period.front().map_or(0, |(_, bytes)| *bytes);
        }
        if !self.period.is_empty() {
            self.bytes += u64::from(size);
        }
        self.period.push_back((now, u64::from(size)));
        let due = u128::from(rate) * u128::from(length.as_nanos()) * u128::from(SHARE.0);
        let enough = ns(self.bytes) * u128::from(SHARE.1) >= due;
        self.period.front().filter(|_| enough).map(|(began, _)| *began)
    }
}
