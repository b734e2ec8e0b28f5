//! What a flow's ends had counted when each of its transfers began.

use super::Simulation;
use crate::net::observe::{Histogram, Probe, What};
use crate::net::packet::FlowId;

/// The value that the network counts of each flow: packets dropped anywhere.
pub const DROPPED_PACKETS: &str = "dropped_packets";

/// Which values are noted, and what they were.
#[derive(Debug, Default)]
pub(super) struct Marks {
    wanted: Vec<String>,
    /// For each flow and each of its transfers, the values in the order of `wanted`.
    of_flows: Vec<Vec<Vec<Option<f64>>>>,
}

impl Marks {
    /// How many values there are of each transfer.
    pub fn quantities(&self) -> u64 {
        self.wanted.len() as u64
    }
}

impl Simulation {
    /// From now on, notes these values of a flow's ends when a transfer of it begins.
    pub fn mark_transfers(&mut self, wanted: &[String]) {
        self.marks = Some(Marks { wanted: wanted.to_vec(), of_flows: vec![Vec::new(); self.flows.len()] });
    }

    /// A transfer of a flow begins now.
    pub(super) fn mark(&mut self, flow: u32) {
        let Some(marks) = &self.marks else { return };
        let values = self.marked_values(&marks.wanted, FlowId(flow));
        if let Some(of_flow) = self.marks.as_mut().and_then(|marks| marks.of_flows.get_mut(flow as usize)) {
            of_flow.push(values);
        }
    }

    /// By how much each value grew from the beginning of each transfer of a flow to that of the next one, or until now. `see` gets the
    /// number of the transfer, the name and the growth.
    pub fn sample_transfers(&self, flow: FlowId, mut see: impl FnMut(usize, &str, f64)) {
        let Some(marks) = &self.marks else { return };
        let Some(of_flow) = marks.of_flows.get(flow.0 as usize) else { return };
        let now = self.marked_values(&marks.wanted, flow);
        let ends = of_flow.iter().skip(1).chain([&now]);
        for (number, (begin, end)) in of_flow.iter().zip(ends).enumerate() {
            for (name, values) in marks.wanted.iter().zip(begin.iter().zip(end)) {
                if let (Some(before), Some(after)) = values {
                    see(number, name, after - before);
                }
            }
        }
    }

    /// The values of a flow's sender, or else the sum over its receivers.
    fn marked_values(&self, wanted: &[String], flow: FlowId) -> Vec<Option<f64>> {
        let mut sender = Wanted { names: wanted, values: vec![None; wanted.len()] };
        self.sample_sender(flow, &mut sender);
        let mut receivers = Wanted { names: wanted, values: vec![None; wanted.len()] };
        self.sample_receivers(flow, &mut receivers);
        let mut values: Vec<_> = sender.values.into_iter().zip(receivers.values).map(|(s, r)| s.or(r)).collect();
        for (name, value) in wanted.iter().zip(&mut values) {
            if name == DROPPED_PACKETS {
                let of_flow = self.core.counters().losses().filter(|(of, _)| *of == flow);
                *value = Some(of_flow.map(|(_, count)| count.packets).sum::<u64>() as f64);
            }
        }
        values
    }
}

/// Takes those values that are wanted.
struct Wanted<'a> {
    names: &'a [String],
    values: Vec<Option<f64>>,
}

impl Probe for Wanted<'_> {
    fn part(&mut self, _what: What, _name: &str) {}

    fn value(&mut self, name: &'static str, value: f64) {
        for (wanted, sum) in self.names.iter().zip(&mut self.values) {
            if wanted == name {
                *sum = Some(sum.unwrap_or(0.0) + value);
            }
        }
    }

    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}
