//! The table `series`: links and flows sampled at a fixed interval.

use std::collections::BTreeMap;

use crate::net::{Simulation, What};

use super::part::{self, Part};
use super::recent::Recent;
use super::table::{Column, Names, Table};
use super::totals::FlowInfo;

/// The state of links, cells and bearers that is sampled.
const MEDIUM_STATE: [&str; 7] =
    ["rate_bps", "delay_s", "queue_packets", "queue_bytes", "unacknowledged_bytes", "dedicated", "service"];
/// The state of senders that is sampled.
const SENDER_STATE: [&str; 7] =
    ["cwnd_packets", "ssthresh_packets", "in_flight_packets", "srtt_ms", "rto_ms", "rate_bps", "loss_event_rate"];

/// Collects samples.
#[derive(Debug, Default)]
pub struct Series {
    /// Further values that are sampled wherever they are shown.
    more: Vec<String>,
    time: Vec<f64>,
    kind: Names,
    name: Names,
    quantity: Names,
    value: Vec<f64>,
    last_s: f64,
    /// Bytes that each part had carried at the last sample, by kind and name: parts may appear in the course of a run.
    parts: BTreeMap<&'static str, BTreeMap<String, f64>>,
    /// Bytes that the receivers of each flow had, in order and in any order.
    flows: Vec<[f64; 2]>,
    /// The distributions of `more`, of which each sample has the values since the one before.
    recent: Recent,
}

impl Series {
    /// Samples that take the values called `more` too, wherever they are shown.
    pub fn new(more: &[String]) -> Self {
        Self { more: more.to_vec(), ..Self::default() }
    }

    /// Takes a sample of everything, and says how many rows that were.
    pub fn sample(&mut self, simulation: &Simulation, flows: &[FlowInfo]) -> u64 {
        let before = self.time.len();
        let now = simulation.now().as_secs_f64();
        let more = std::mem::take(&mut self.more);
        let mut recent = std::mem::take(&mut self.recent);
        let see = |part: &Part| {
            let kind = part.what.map_or("", What::name);
            self.state(now, (kind, &part.name), part, &MEDIUM_STATE, &more);
            if let Some(bytes) = part.value("bytes") {
                let before = self.carried_before(kind, &part.name, bytes);
                self.rate(now, (kind, &part.name, "throughput_kbps"), bytes - before);
            }
        };
        part::each_with(recent.of_media(&more), |probe| simulation.sample_media(probe), see);
        self.flows.resize(flows.len(), [0.0; 2]);
        for (flow, place) in flows.iter().zip(0..) {
            let see = |sender: &Part| self.state(now, ("flow", &flow.name), sender, &SENDER_STATE, &more);
            let reading = recent.of_flow(&more, place as u32, "sender");
            part::each_with(reading, |probe| simulation.sample_sender(flow.id, probe), see);
            let (mut receivers, mut in_order, mut waiting) = (0, 0.0, 0.0);
            let see = |receiver: &Part| {
                receivers += 1;
                in_order += receiver.value("received_bytes").unwrap_or(0.0);
                waiting += receiver.value("waiting_bytes").unwrap_or(0.0);
                if !more.is_empty() {
                    let name = format!("{} at {}", flow.name, receiver.name);
                    self.state(now, ("receiver", &name), receiver, &[], &more);
                }
            };
            let reading = recent.of_flow(&more, place as u32, "receivers");
            part::each_with(reading, |probe| simulation.sample_receivers(flow.id, probe), see);
            if !more.is_empty() {
                let see = |source: &Part| self.state(now, ("source", &flow.name), source, &[], &more);
                let reading = recent.of_flow(&more, place as u32, "source");
                part::each_with(reading, |probe| simulation.sample_source(flow.id, probe), see);
            }
            let each = [in_order, in_order + waiting].map(|bytes| bytes / f64::from(receivers.max(1)));
            let before = std::mem::replace(&mut self.flows[place], each);
            self.rate(now, ("flow", &flow.name, "goodput_kbps"), each[0] - before[0]);
            // What waited for bytes of a connection that has ended is not taken back.
            self.rate(now, ("flow", &flow.name, "arrival_kbps"), (each[1] - before[1]).max(0.0));
        }
        (self.last_s, self.more, self.recent) = (now, more, recent);
        (self.time.len() - before) as u64
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.time.len() as u64
    }

    /// Adds the rows of a part, called `of`, for these quantities and for those of `more` that it has.
    fn state(&mut self, now: f64, of: (&str, &str), part: &Part, quantities: &[&'static str], more: &[String]) {
        let (kind, name) = of;
        for quantity in quantities {
            if let Some(value) = part.value(quantity) {
                self.push(now, (kind, name, quantity), value);
            }
        }
        for quantity in more.iter().filter(|quantity| !quantities.contains(&quantity.as_str())) {
            if let Some(value) = part.any(quantity) {
                self.push(now, (kind, name, quantity), value);
            }
        }
    }

    /// What a part had carried at the last sample; nothing if it was not there.
    fn carried_before(&mut self, kind: &'static str, name: &str, bytes: f64) -> f64 {
        let known = self.parts.entry(kind).or_default();
        match known.get_mut(name) {
            Some(carried) => std::mem::replace(carried, bytes),
            None => known.insert(name.to_owned(), bytes).unwrap_or(0.0),
        }
    }

    /// The rate, from the bytes carried since the last sample.
    fn rate(&mut self, now: f64, of: (&str, &str, &str), bytes: f64) {
        if now > self.last_s {
            self.push(now, of, bytes * 8.0 / (now - self.last_s) / 1e3);
        }
    }

    fn push(&mut self, now: f64, (kind, name, quantity): (&str, &str, &str), value: f64) {
        self.time.push(now);
        self.kind.push(kind);
        self.name.push(name);
        self.quantity.push(quantity);
        self.value.push(value);
    }

    /// The table.
    pub fn table(self) -> Table {
        Table {
            columns: vec![
                ("time_s", Column::Float(self.time.into())),
                ("kind", self.kind.column()),
                ("name", self.name.column()),
                ("quantity", self.quantity.column()),
                ("value", Column::Float(self.value.into())),
            ],
        }
    }
}
