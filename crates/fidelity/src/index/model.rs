//! The description of a scenario, whatever its form in the index.

use serde::Deserialize;
use serde_json::Value;

/// A deterministic scenario, whatever the form of its description.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub id: String,
    /// The CSV file with its events, or with bytes received in bins of time.
    pub file: String,
    /// Whether it is bins.
    pub bins: bool,
    /// Packets that the bottleneck dropped, if the description says so.
    pub drops: Option<u64>,
    /// The network, flows and changes.
    pub network: Network,
}

/// The network between the sources and the sinks of flows, and what it carries.
#[derive(Clone, Debug)]
pub struct Network {
    /// From the sources' router to the sinks'.
    pub bottleneck: Direction,
    /// Back.
    pub reverse: Direction,
    /// The router of XCP in front of the bottleneck, if there is one.
    pub xcp: Option<XcpRouter>,
    /// For each flow, its source's link and its sink's.
    pub access: Vec<[Direction; 2]>,
    /// Changes of the bottleneck, in both directions.
    pub changes: Vec<Change>,
    /// Whether packets may overtake others when the delay becomes shorter.
    pub reorder: bool,
    /// Arrivals of data at the bottleneck that are lost.
    pub data_drops: Vec<u64>,
    /// Arrivals of acknowledgements at the bottleneck that are lost.
    pub ack_drops: Vec<u64>,
    /// From when on which probability of loss holds at the bottleneck.
    pub loss_schedule: Vec<(f64, f64)>,
    /// What they all have in common.
    pub tcp: Tcp,
    /// Variables of TFRC's agents that differ from ns-2's defaults, by name.
    pub tfrc: Vec<(String, Value)>,
    /// Variables of the bottleneck's RED forward, if it is not DropTail.
    pub red: Option<Vec<(String, Value)>>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// Seconds.
    pub stop: f64,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Bits per second.
    pub rate: u64,
    /// Seconds.
    pub delay: f64,
    /// Packets that may wait.
    pub waiting: u64,
}

/// ns-2 draws when a router's timers expire first.
#[derive(Clone, Copy, Debug)]
pub struct XcpRouter {
    /// Seconds.
    pub first_control: f64,
    /// Seconds.
    pub first_queue: f64,
}

/// The parameters of TCP that flows have in common.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// `window_`, packets.
    pub window: u32,
    /// `windowInit_`, packets.
    pub window_init: u32,
    /// `ssthresh_` at the start, packets.
    pub ssthresh: u32,
    /// `syn_`.
    pub syn: bool,
    /// `delay_growth_`.
    pub delay_growth: bool,
    /// `packetSize_`, bytes.
    pub packet_size: u32,
    /// `tcpTick_`, seconds.
    pub tick: f64,
    /// `minrto_`, seconds.
    pub minrto: f64,
    /// `maxrto_`, seconds.
    pub maxrto: f64,
    /// `rtxcur_init_`, seconds.
    pub rtxcur_init: f64,
    /// `interval_` of sinks that delay acknowledgements, seconds.
    pub delayed_ack: Option<f64>,
    /// `maxburst_`, packets.
    pub maxburst: u32,
    /// `singledup_`.
    pub singledup: bool,
    /// `overhead_`, seconds.
    pub overhead: f64,
    /// `ecn_`.
    pub ecn: bool,
    /// Other variables of the agents, by name.
    pub others: Vec<(String, Value)>,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The variant by ns-2's name, or another kind of transport.
    pub variant: String,
    /// The class of the sending agent.
    pub agent: Option<String>,
    /// The class of the receiving agent.
    pub sink: Option<String>,
    /// Seconds.
    pub start: f64,
    /// Packets; `None` is without end.
    pub packets: Option<u64>,
    /// Seconds.
    pub boot_time: Option<f64>,
    /// Bytes on the wire of a data packet.
    pub data_bytes: u32,
    /// Bytes on the wire of packet 0.
    pub first_bytes: Option<u32>,
}

/// A change of the bottleneck.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Seconds.
    #[serde(rename = "t_s")]
    pub at: f64,
    /// Bits per second.
    #[serde(rename = "rate_bps")]
    pub rate: u64,
    /// Seconds.
    #[serde(rename = "prop_delay_s")]
    pub delay: f64,
}
