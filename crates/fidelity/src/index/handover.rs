//! Scenarios of handover, xcp and tfrc.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::parts::{DirectionFile, FlowFile, expect, flows, variables};
use super::{Case, Change, Description, Direction, Network, Tcp, XcpRouter};
use crate::mrg::Mrg32k3a;

/// A scenario of handover or xcp.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
pub struct Handover {
    id: String,
    file: String,
    note: Option<IgnoredAny>,
    topology: IgnoredAny,
    bottleneck: HandoverBottleneck,
    access_links: HandoverAccess,
    one_way_propagation_of_flow_0_s: IgnoredAny,
    changes_of_bottleneck_both_directions: Vec<Change>,
    a_change_applies_to: IgnoredAny,
    #[serde(rename = "avoidReordering_")]
    avoid_reordering: bool,
    loss_probability_schedule: Vec<LossStep>,
    dropped_data_arrivals: Vec<u64>,
    dropped_ack_arrivals: Vec<u64>,
    flows: Vec<FlowFile>,
    #[serde(rename = "useHeaders_")]
    use_headers: bool,
    #[serde(rename = "packetSize_")]
    packet_size: u32,
    ack_bytes_on_wire: u32,
    tcp: HandoverTcp,
    non_default_agent_variables: BTreeMap<String, Value>,
    stop_s: f64,
    rng_seed: u32,
    xcp_first_queue_timer_s: Option<f64>,
    xcp_first_control_timer_s: Option<f64>,
    /// Results, which the events or bins contain, all but the number of drops in `summary`.
    totals: Option<IgnoredAny>,
    summary: Option<Value>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct LossStep {
    t_s: f64,
    p: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandoverBottleneck {
    rate_bps: u64,
    prop_delay_s: f64,
    queue: String,
    queue_limit_setting: u64,
    max_waiting_packets: Option<u64>,
    packet_in_transmission_counts: Option<bool>,
    reverse: Option<Box<HandoverBottleneck>>,
}

impl HandoverBottleneck {
    fn describe(&self) -> Result<Direction, String> {
        DirectionFile {
            rate_bps: self.rate_bps,
            prop_delay_s: self.prop_delay_s,
            queue_limit_setting: self.queue_limit_setting,
            max_waiting_packets: self.max_waiting_packets,
            packet_in_transmission_counts: self.packet_in_transmission_counts,
        }
        .describe()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandoverAccess {
    rate_bps: u64,
    sink_side_prop_delay_s: f64,
    source_side_prop_delay_s: Vec<f64>,
    queue: String,
    queue_limit_setting: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandoverTcp {
    window_: u32,
    #[serde(rename = "windowInit_")]
    window_init: u32,
    syn_: bool,
    #[serde(rename = "tcpTick_s")]
    tick: f64,
    minrto_s: f64,
    initial_ssthresh_packets: u32,
    overhead_s: f64,
}

/// A router of XCP. The description has six digits of its first timers, which ns-2 draws with mean 0.05 s and deviation
/// 0.01 s (`xcp/xcpq.cc`), the queue's first. If the seed gives these numbers, all their digits are known. They matter: what the
/// router does in the microsecond of an arrival comes before or after it.
fn router(seed: u32, queue: f64, control: f64) -> XcpRouter {
    let [first_queue, first_control] = Mrg32k3a::new(seed).normal_pair().map(|draw| 0.05 + 0.01 * draw);
    if (first_queue - queue).abs() < 6e-8 && (first_control - control).abs() < 6e-8 {
        return XcpRouter { first_control, first_queue };
    }
    XcpRouter { first_control: control, first_queue: queue }
}

impl Description for Handover {
    fn describe(self) -> Result<Case, String> {
        expect("access_links.queue", &self.access_links.queue, &["DropTail"])?;
        if self.ack_bytes_on_wire != 40 {
            return Err(format!("ack_bytes_on_wire: {} is not known", self.ack_bytes_on_wire));
        }
        let flows = flows(self.flows)?;
        let header = if self.use_headers { 40 } else { 0 };
        let stamps = if self.use_headers { 10 } else { 0 };
        for (place, flow) in flows.iter().enumerate() {
            let expected = match flow.variant.as_str() {
                "Tahoe" | "Reno" | "Newreno" | "Sack1" | "Fack" => header,
                "XCP" => header + stamps,
                _ => continue,
            };
            if flow.data_bytes != self.packet_size + expected {
                return Err(format!("flows[{place}].data_packet_bytes_on_wire does not fit useHeaders_"));
            }
        }
        let side = |delay: f64| Direction {
            rate: self.access_links.rate_bps,
            delay,
            waiting: self.access_links.queue_limit_setting.saturating_sub(1),
        };
        let delays = &self.access_links.source_side_prop_delay_s;
        let sink_side = side(self.access_links.sink_side_prop_delay_s);
        let access = (0..flows.len())
            .map(|i| delays.get(i).or(delays.last()).map(|&delay| [side(delay), sink_side]))
            .collect::<Option<_>>()
            .ok_or("access_links.source_side_prop_delay_s is empty")?;
        let bottleneck = self.bottleneck.describe()?;
        let reverse = self.bottleneck.reverse.as_deref().map_or(Ok(bottleneck), HandoverBottleneck::describe)?;
        let reverse_queue = self.bottleneck.reverse.as_ref().map_or("DropTail", |r| &r.queue);
        expect("bottleneck.reverse.queue", reverse_queue, &["DropTail"])?;
        let mut others = self.non_default_agent_variables;
        let tfrc = others.remove_entry("tfrc").into_iter().collect();
        let red_variables: BTreeMap<_, _> = others.remove_entry("Queue/RED").into_iter().collect();
        let (mut red, mut xcp) = (None, None);
        match self.bottleneck.queue.as_str() {
            "DropTail" => {}
            "RED" => red = Some(variables(red_variables)?),
            "XCP" => {
                let timers = [self.xcp_first_queue_timer_s, self.xcp_first_control_timer_s];
                let [Some(queue), Some(control)] = timers else {
                    return Err("bottleneck.queue: XCP without its timers".to_owned());
                };
                xcp = Some(router(self.rng_seed, queue, control));
            }
            queue => return Err(format!("bottleneck.queue: \"{queue}\" is not known")),
        }
        let network = Network {
            bottleneck,
            reverse,
            xcp,
            access,
            changes: self.changes_of_bottleneck_both_directions,
            reorder: !self.avoid_reordering,
            data_drops: self.dropped_data_arrivals,
            ack_drops: self.dropped_ack_arrivals,
            loss_schedule: self.loss_probability_schedule.iter().map(|step| (step.t_s, step.p)).collect(),
            tcp: Tcp {
                window: self.tcp.window_,
                window_init: self.tcp.window_init,
                ssthresh: self.tcp.initial_ssthresh_packets,
                syn: self.tcp.syn_,
                delay_growth: self.tcp.syn_,
                packet_size: self.packet_size,
                tick: self.tcp.tick,
                minrto: self.tcp.minrto_s,
                maxrto: 60.0,
                rtxcur_init: 3.0,
                delayed_ack: None,
                maxburst: 0,
                singledup: true,
                overhead: self.tcp.overhead_s,
                ecn: false,
                others: variables(others)?,
            },
            tfrc: variables(tfrc)?,
            red,
            flows,
            stop: self.stop_s,
        };
        let drops = self.summary.and_then(|summary| summary.get("drops")?.as_u64());
        Ok(Case { id: self.id, file: self.file, bins: false, drops, network })
    }
}
