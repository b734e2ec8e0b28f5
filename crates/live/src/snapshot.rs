//! What a live run shows of itself while it runs: once a second, how much each part of the network carries, holds and drops.

use std::collections::BTreeMap;

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::measure::table::Table;
use lasthop_core::measure::totals;
use lasthop_core::net::What;
use serde::Serialize;

use crate::bridge::Bridge;
use crate::lateness::Lateness;

/// The time between two snapshots.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// A look at a live run. Rates, drops and marks are those since the look before.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// When, in seconds of the run.
    pub at_s: f64,
    /// How far the network is behind the clock, in milliseconds.
    pub behind_ms: f64,
    /// The processor time of the bridge, in percent of a core.
    pub cpu_pct: f64,
    /// The hosts.
    pub hosts: Vec<HostNow>,
    /// Directions of links, and bearers of terminals, that have carried or hold something.
    pub ways: Vec<WayNow>,
    /// What serves each terminal, by bearer.
    pub served: Vec<(String, &'static str)>,
}

/// A host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "they are what they are called")]
pub struct HostNow {
    pub host: String,
    pub sent_kbps: f64,
    pub delivered_kbps: f64,
    /// Of all packets so far.
    pub lateness_ms_p50: Option<f64>,
    /// Of all packets so far.
    pub lateness_ms_p99: Option<f64>,
    pub late_packets: u64,
}

/// One direction of a link, or a bearer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "they are what they are called")]
pub struct WayNow {
    pub way: String,
    pub rate_kbps: f64,
    pub queue_packets: u64,
    pub queue_bytes: u64,
    /// How long the queued bytes take at the rate of the last second; `None` without a rate.
    pub queue_ms: Option<f64>,
    pub marks: u64,
    /// By cause.
    pub drops: BTreeMap<&'static str, u64>,
    /// Of the whole run so far, by cause.
    pub all_drops: BTreeMap<&'static str, u64>,
}

/// Totals of a way at the look before.
#[derive(Clone, Debug, Default)]
struct Totals {
    bytes: u64,
    marks: u64,
    drops: BTreeMap<&'static str, u64>,
}

/// Takes snapshots.
#[derive(Debug)]
pub struct Watch {
    /// Gives the processor time so far, in seconds.
    cpu: fn() -> f64,
    last: Instant,
    cpu_s: f64,
    hosts: Vec<(u64, u64)>,
    ways: BTreeMap<String, Totals>,
}

impl Watch {
    /// Begins at time zero. `cpu` gives the processor time so far, in seconds.
    pub fn new(cpu: fn() -> f64) -> Self {
        Self { cpu, last: Instant::ZERO, cpu_s: cpu(), hosts: Vec::new(), ways: BTreeMap::new() }
    }

    /// Whether a second has passed since the last look.
    pub fn is_due(&self, now: Instant) -> bool {
        now.since(self.last) >= INTERVAL
    }

    /// When it will have.
    pub fn due(&self) -> Instant {
        self.last + INTERVAL
    }

    /// Looks. `behind` is how far the network is behind the clock.
    pub fn look(&mut self, bridge: &Bridge, lateness: &[Lateness], now: Instant, behind: Duration) -> Snapshot {
        let cpu_s = (self.cpu)();
        let seconds = now.since(self.last).as_secs_f64();
        let cpu_pct = if seconds > 0.0 { 100.0 * (cpu_s - self.cpu_s) / seconds } else { 0.0 };
        (self.last, self.cpu_s) = (now, cpu_s);
        Snapshot {
            at_s: now.as_secs_f64(),
            behind_ms: 1e3 * behind.as_secs_f64(),
            cpu_pct,
            hosts: self.hosts(bridge, lateness, seconds),
            ways: self.ways(bridge, seconds),
            served: bridge.served(),
        }
    }

    fn hosts(&mut self, bridge: &Bridge, lateness: &[Lateness], seconds: f64) -> Vec<HostNow> {
        self.hosts.resize(lateness.len(), (0, 0));
        let one = |(number, host): (usize, &crate::bridge::Host)| {
            let (traffic, late) = (bridge.traffic(number), &lateness[number]);
            let before = std::mem::replace(&mut self.hosts[number], (traffic.sent_bytes, traffic.delivered_bytes));
            let ms = |q| late.quantile(q).map(|s| 1e3 * s);
            HostNow {
                host: host.node.clone(),
                sent_kbps: kbps(traffic.sent_bytes - before.0, seconds),
                delivered_kbps: kbps(traffic.delivered_bytes - before.1, seconds),
                lateness_ms_p50: ms(0.5),
                lateness_ms_p99: ms(0.99),
                late_packets: late.late(),
            }
        };
        bridge.hosts().enumerate().map(one).collect()
    }

    fn ways(&mut self, bridge: &Bridge, seconds: f64) -> Vec<WayNow> {
        let simulation = bridge.session().simulation();
        let (core, counters) = (simulation.core(), simulation.core().counters());
        let mut drops: BTreeMap<&str, BTreeMap<&'static str, u64>> = BTreeMap::new();
        for ((place, cause, _), count) in &counters.drops {
            *drops.entry(core.place_name(*place)).or_default().entry(cause.name()).or_default() += count.packets;
        }
        let marks: BTreeMap<&str, u64> = counters.marks.iter().map(|(at, n)| (core.place_name(*at), *n)).collect();
        let mut ways = Vec::new();
        let tables = [Some(totals::links(simulation)), totals::parts(simulation, What::Bearer)];
        for table in tables.iter().flatten() {
            for (name, bytes, [packets, queued]) in (0..table.rows()).filter_map(|row| row_of(table, row)) {
                let now = Totals {
                    bytes,
                    marks: marks.get(name).copied().unwrap_or_default(),
                    drops: drops.get(name).cloned().unwrap_or_default(),
                };
                let before = self.ways.insert(name.to_owned(), now.clone()).unwrap_or_default();
                let rate_kbps = kbps(now.bytes.saturating_sub(before.bytes), seconds);
                let since = |(cause, n): (&&'static str, &u64)| {
                    let more = n - before.drops.get(cause).copied().unwrap_or_default();
                    (more > 0).then_some((*cause, more))
                };
                let way = WayNow {
                    way: name.to_owned(),
                    rate_kbps,
                    queue_packets: packets,
                    queue_bytes: queued,
                    queue_ms: (rate_kbps > 0.0).then(|| 8.0 * queued as f64 / rate_kbps),
                    marks: now.marks - before.marks,
                    drops: now.drops.iter().filter_map(since).collect(),
                    all_drops: now.drops.clone(),
                };
                if now.bytes > 0 || packets > 0 || !way.drops.is_empty() {
                    ways.push(way);
                }
            }
        }
        ways
    }
}

/// Name, bytes carried so far, and packets and bytes that wait. A bearer without a queue of its own has none of them.
fn row_of(table: &Table, row: usize) -> Option<(&str, u64, [u64; 2])> {
    let name = table.columns.first().and_then(|(first, _)| table.text(first, row))?;
    let count = |column| table.number(column, row).map(|n| n as u64);
    Some((name, count("bytes")?, [count("queue_packets").unwrap_or(0), count("queue_bytes").unwrap_or(0)]))
}

fn kbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { 8.0 * bytes as f64 / seconds / 1e3 } else { 0.0 }
}
