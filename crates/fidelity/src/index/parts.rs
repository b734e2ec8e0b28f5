//! What descriptions of different forms have in common.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Direction, Flow};

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectionFile {
    pub rate_bps: u64,
    pub prop_delay_s: f64,
    pub queue_limit_setting: u64,
    pub max_waiting_packets: Option<u64>,
    pub packet_in_transmission_counts: Option<bool>,
}

impl DirectionFile {
    pub fn describe(self) -> Result<Direction, String> {
        if self.packet_in_transmission_counts == Some(true) {
            return Err("packet_in_transmission_counts: true is not known".to_owned());
        }
        // ns-2 drops an arrival that would make the queue as long as the limit.
        let waiting = self.max_waiting_packets.unwrap_or(self.queue_limit_setting.saturating_sub(1));
        Ok(Direction { rate: self.rate_bps, delay: self.prop_delay_s, waiting })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowFile {
    flow: usize,
    variant: Option<String>,
    kind: Option<String>,
    agent: Option<String>,
    sink: Option<String>,
    start_s: f64,
    data_packets: Option<Packets>,
    boot_time_s: Option<f64>,
    data_packet_bytes_on_wire: u32,
    seqno_0_bytes_on_wire: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Packets {
    Number(u64),
    Word(String),
}

impl FlowFile {
    fn describe(self, place: usize) -> Result<Flow, String> {
        if self.flow != place {
            return Err(format!("flows[{place}].flow: {} is out of order", self.flow));
        }
        let packets = match self.data_packets {
            Some(Packets::Number(n)) => Some(n),
            None => None,
            Some(Packets::Word(word)) if word == "unlimited" => None,
            Some(Packets::Word(word)) => return Err(format!("flows[{place}].data_packets: \"{word}\" is not known")),
        };
        Ok(Flow {
            variant: self.variant.or(self.kind).unwrap_or_default(),
            agent: self.agent,
            sink: self.sink,
            start: self.start_s,
            packets,
            boot_time: self.boot_time_s,
            data_bytes: self.data_packet_bytes_on_wire,
            first_bytes: self.seqno_0_bytes_on_wire,
        })
    }
}

pub fn flows(files: Vec<FlowFile>) -> Result<Vec<Flow>, String> {
    files.into_iter().enumerate().map(|(place, flow)| flow.describe(place)).collect()
}

/// Variables by name, or in lists of names and values by the agent that they belong to.
pub fn variables(file: BTreeMap<String, Value>) -> Result<Vec<(String, Value)>, String> {
    let mut variables = Vec::new();
    for (key, value) in file {
        match value {
            Value::Array(list) => {
                for pair in list.chunks(2) {
                    match pair {
                        [Value::String(name), value] => variables.push((name.clone(), value.clone())),
                        _ => return Err(format!("non_default_agent_variables.{key}: not names and values")),
                    }
                }
            }
            Value::Object(map) => variables.extend(map),
            value => variables.push((key, value)),
        }
    }
    Ok(variables)
}

/// A word that stands for a rule, such as the name of a queue.
pub fn expect(what: &str, got: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&got) { Ok(()) } else { Err(format!("{what}: \"{got}\" is not known")) }
}
