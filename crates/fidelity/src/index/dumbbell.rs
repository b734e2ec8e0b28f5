//! Scenarios of tcp-scripted and tcp-droptail.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::parts::{DirectionFile, FlowFile, flows, variables};
use super::{Case, Description, Direction, Network, Tcp};

/// A scenario of tcp-scripted or tcp-droptail.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
pub struct Dumbbell {
    id: String,
    file: String,
    note: Option<IgnoredAny>,
    topology: IgnoredAny,
    bottleneck: DirectionFile,
    reverse_bottleneck: DirectionFile,
    access_links: Vec<AccessFile>,
    flows: Vec<FlowFile>,
    ack_bytes_on_wire: IgnoredAny,
    window_: u32,
    #[serde(rename = "windowInit_")]
    window_init: u32,
    syn_: bool,
    delay_growth_: bool,
    initial_ssthresh_packets: u32,
    #[serde(rename = "packetSize_")]
    packet_size: u32,
    #[serde(rename = "tcpTick_s")]
    tick: f64,
    minrto_s: f64,
    maxrto_s: f64,
    rtxcur_init_s: f64,
    delayed_ack: bool,
    delayed_ack_interval_s: Option<f64>,
    maxburst_: u32,
    singledup_: bool,
    overhead_s: f64,
    ecn: bool,
    stop_s: f64,
    rng_seed: IgnoredAny,
    #[serde(default)]
    dropped_data_arrivals: Vec<u64>,
    #[serde(default)]
    dropped_ack_arrivals: Vec<u64>,
    #[serde(default)]
    loss_probability_schedule: Vec<(f64, f64)>,
    /// The same losses in another form.
    dropped_seq_and_transmission: Option<IgnoredAny>,
    requested_but_never_transmitted: Option<IgnoredAny>,
    #[serde(default)]
    non_default_agent_variables: BTreeMap<String, Value>,
    /// Results, which the events contain.
    totals: Option<IgnoredAny>,
}

impl Description for Dumbbell {
    fn describe(self) -> Result<Case, String> {
        for (place, access) in self.access_links.iter().enumerate() {
            if access.flow != place {
                return Err(format!("access_links[{place}].flow: {} is out of order", access.flow));
            }
        }
        let network = Network {
            bottleneck: self.bottleneck.describe()?,
            reverse: self.reverse_bottleneck.describe()?,
            xcp: None,
            access: self.access_links.iter().map(AccessFile::describe).collect(),
            changes: Vec::new(),
            reorder: true,
            data_drops: self.dropped_data_arrivals,
            ack_drops: self.dropped_ack_arrivals,
            loss_schedule: self.loss_probability_schedule,
            tcp: Tcp {
                window: self.window_,
                window_init: self.window_init,
                ssthresh: self.initial_ssthresh_packets,
                syn: self.syn_,
                delay_growth: self.delay_growth_,
                packet_size: self.packet_size,
                tick: self.tick,
                minrto: self.minrto_s,
                maxrto: self.maxrto_s,
                rtxcur_init: self.rtxcur_init_s,
                delayed_ack: self.delayed_ack.then(|| self.delayed_ack_interval_s.unwrap_or(0.1)),
                maxburst: self.maxburst_,
                singledup: self.singledup_,
                overhead: self.overhead_s,
                ecn: self.ecn,
                others: variables(self.non_default_agent_variables)?,
            },
            tfrc: Vec::new(),
            red: None,
            flows: flows(self.flows)?,
            stop: self.stop_s,
        };
        Ok(Case { id: self.id, file: self.file, bins: false, drops: None, network })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessFile {
    flow: usize,
    source_side: Side,
    sink_side: Side,
    queue_limit_setting: u64,
}

impl AccessFile {
    fn describe(&self) -> [Direction; 2] {
        let waiting = self.queue_limit_setting.saturating_sub(1);
        [self.source_side, self.sink_side].map(|s| Direction { rate: s.rate_bps, delay: s.prop_delay_s, waiting })
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    rate_bps: u64,
    prop_delay_s: f64,
}
