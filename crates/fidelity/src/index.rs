//! The description of a family, as its `index.json` has it. Every level refuses keys that it
//! does not know.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A family of scenarios.
pub enum Family {
    /// Deterministic scenarios; those that cannot be read, with the reason.
    Exact(Vec<Result<Case, (String, String)>>),
    /// One network, several variants and loss rates, many seeds.
    RandomLoss(Box<RandomLoss>),
    /// Deterministic scenarios of TFRC, and statistical ones.
    Tfrc(Vec<Result<Case, (String, String)>>, Vec<Value>),
    /// Another kind: the names of its scenarios.
    Unsupported(Vec<String>),
}

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
    /// What is known of the router of XCP in front of the bottleneck, if there is one.
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

/// A statistical family.
#[derive(Debug)]
pub struct RandomLoss {
    /// Seconds at the start that are left out of means.
    pub warm: f64,
    /// The network; its flow's variant is to be filled in.
    pub network: Network,
    /// What ns-2 gave.
    pub summary: Vec<Summary>,
    /// The seeds of ns-2's runs, for each row of `summary`.
    pub seeds: Vec<Vec<u32>>,
}

/// Means and standard errors of one variant at one loss rate.
#[derive(Clone, Debug, Deserialize)]
pub struct Summary {
    /// The variant.
    pub variant: String,
    /// The probability of loss.
    pub loss: f64,
    /// How many seeds.
    pub n: u64,
    /// `goodput_bps_mean`, `goodput_bps_stderr`, and so on.
    #[serde(flatten)]
    pub values: BTreeMap<String, f64>,
}

impl Family {
    /// Reads the index of a folder.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join("index.json");
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| format!("index.json: {e}"))?;
        let family = value.get("family").and_then(Value::as_str).unwrap_or_default();
        // A family may come in several folders: tcp-scripted, tcp-scripted-more.
        let is = |name: &str| family.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        if is("tcp-scripted") || is("tcp-droptail") {
            exact::<Dumbbell>(value)
        } else if is("handover") || is("xcp") {
            exact::<Handover>(value)
        } else if is("tfrc") {
            let file: TfrcFile = serde_json::from_value(value).map_err(|e| format!("index.json: {e}"))?;
            Ok(Self::Tfrc(cases::<Handover>(file.exact_scenarios), file.statistical))
        } else if is("tcp-random-loss") {
            let family: RandomLossFile = serde_json::from_value(value).map_err(|e| format!("index.json: {e}"))?;
            family.describe(folder).map(|f| Self::RandomLoss(Box::new(f)))
        } else {
            Ok(Self::Unsupported(ids(&value)))
        }
    }
}

/// The names of all scenarios in an index of whatever form.
fn ids(value: &Value) -> Vec<String> {
    let lists = value.as_object().into_iter().flat_map(|o| o.values()).filter_map(Value::as_array);
    let mut ids: Vec<String> = lists.flatten().filter_map(|s| s.get("id")?.as_str()).map(str::to_owned).collect();
    if ids.is_empty() {
        ids.push(String::new());
    }
    ids
}

/// The network of a scenario that is part of a larger description.
///
/// # Errors
/// What is not understood of it.
pub fn part(scenario: &Value) -> Result<Network, String> {
    let mut scenario = scenario.clone();
    if let Some(scenario) = scenario.as_object_mut() {
        scenario.insert("id".to_owned(), "scenario".into());
        scenario.insert("file".to_owned(), "".into());
    }
    let scenario: Handover = serde_json::from_value(scenario).map_err(|e| format!("scenario: {e}"))?;
    Ok(scenario.describe()?.network)
}

trait Description: for<'de> Deserialize<'de> {
    fn describe(self) -> Result<Case, String>;
}

fn exact<D: Description>(value: Value) -> Result<Family, String> {
    let file: ExactFile = serde_json::from_value(value).map_err(|e| format!("index.json: {e}"))?;
    let exact = file.scenarios.into_iter().chain(file.exact_scenarios).collect();
    let (mut all, bins) = (cases::<D>(exact), cases::<D>(file.dumbbells));
    all.extend(bins.into_iter().map(|case| case.map(|case| Case { bins: true, ..case })));
    Ok(Family::Exact(all))
}

fn cases<D: Description>(scenarios: Vec<Value>) -> Vec<Result<Case, (String, String)>> {
    let cases = scenarios.into_iter().map(|scenario| {
        let id = scenario.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        let read = serde_json::from_value::<D>(scenario).map_err(|e| e.to_string());
        read.and_then(D::describe).map_err(|e| (id, e))
    });
    cases.collect()
}

/// An index of deterministic scenarios. What is for readers is not looked at.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct ExactFile {
    family: String,
    simulator: IgnoredAny,
    columns: IgnoredAny,
    quirks: IgnoredAny,
    comparison: Option<IgnoredAny>,
    tfrc_sensitivity: Option<IgnoredAny>,
    choices: Option<IgnoredAny>,
    #[serde(default)]
    scenarios: Vec<Value>,
    #[serde(default)]
    exact_scenarios: Vec<Value>,
    #[serde(default)]
    dumbbells: Vec<Value>,
}

/// The index of tfrc.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct TfrcFile {
    family: String,
    simulator: IgnoredAny,
    columns: IgnoredAny,
    quirks: IgnoredAny,
    exact_scenarios: Vec<Value>,
    statistical: Vec<Value>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct DirectionFile {
    rate_bps: u64,
    prop_delay_s: f64,
    queue_limit_setting: u64,
    max_waiting_packets: Option<u64>,
    packet_in_transmission_counts: Option<bool>,
}

impl DirectionFile {
    fn describe(self) -> Result<Direction, String> {
        if self.packet_in_transmission_counts == Some(true) {
            return Err("packet_in_transmission_counts: true is not known".to_owned());
        }
        // ns-2 drops an arrival that would make the queue as long as the limit.
        let waiting = self.max_waiting_packets.unwrap_or(self.queue_limit_setting.saturating_sub(1));
        Ok(Direction { rate: self.rate_bps, delay: self.prop_delay_s, waiting })
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    rate_bps: u64,
    prop_delay_s: f64,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowFile {
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

/// What is known of `topology` and the like: a text that stands for a rule.
fn expect(what: &str, got: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&got) { Ok(()) } else { Err(format!("{what}: \"{got}\" is not known")) }
}

const DUMBBELL: [&str; 2] = [
    "s_i -- r1 -- r2 -- d_i; every link duplex and DropTail; acknowledgements return over the same links",
    "s_i -- r1 -- r2 -- d_i, all links duplex; bottleneck r1->r2",
];

/// A scenario of tcp-scripted or tcp-droptail.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Dumbbell {
    id: String,
    file: String,
    note: Option<IgnoredAny>,
    topology: String,
    bottleneck: DirectionFile,
    reverse_bottleneck: DirectionFile,
    access_links: Vec<AccessFile>,
    flows: Vec<FlowFile>,
    ack_bytes_on_wire: String,
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
        expect("topology", &self.topology, &DUMBBELL)?;
        expect(
            "ack_bytes_on_wire",
            &self.ack_bytes_on_wire,
            &["40 plus 8 per SACK block (at most 3 blocks; Sack1 and Fack only)"],
        )?;
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

fn flows(files: Vec<FlowFile>) -> Result<Vec<Flow>, String> {
    files.into_iter().enumerate().map(|(place, flow)| flow.describe(place)).collect()
}

/// Variables by name, or in lists of names and values by the agent that they belong to.
fn variables(file: BTreeMap<String, Value>) -> Result<Vec<(String, Value)>, String> {
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

/// A scenario of handover or xcp.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct Handover {
    id: String,
    file: String,
    note: Option<IgnoredAny>,
    topology: String,
    bottleneck: HandoverBottleneck,
    access_links: HandoverAccess,
    one_way_propagation_of_flow_0_s: IgnoredAny,
    changes_of_bottleneck_both_directions: Vec<Change>,
    a_change_applies_to: String,
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
    rng_seed: IgnoredAny,
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

impl Description for Handover {
    fn describe(self) -> Result<Case, String> {
        expect("topology", &self.topology, &DUMBBELL)?;
        expect(
            "a_change_applies_to",
            &self.a_change_applies_to,
            &[
                "packets whose transmission starts after it; a packet already being transmitted or propagating keeps its old times",
            ],
        )?;
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
                let first = |timer: Option<f64>| timer.ok_or("bottleneck.queue: XCP without its timers");
                xcp = Some(XcpRouter {
                    first_control: first(self.xcp_first_control_timer_s)?,
                    first_queue: first(self.xcp_first_queue_timer_s)?,
                });
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

/// The index of tcp-random-loss.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named so that other keys are refused")]
struct RandomLossFile {
    family: String,
    simulator: IgnoredAny,
    files: IgnoredAny,
    comparison: IgnoredAny,
    loss_model: String,
    columns: IgnoredAny,
    warm_s: f64,
    scenario: Value,
    quirks: Option<IgnoredAny>,
    summary: Vec<Summary>,
}

impl RandomLossFile {
    fn describe(self, folder: &Path) -> Result<RandomLoss, String> {
        expect(
            "loss_model",
            &self.loss_model,
            &[
                "independent loss with the stated probability of every data-direction packet (SYN included) in front of the bottleneck queue; acknowledgements are never lost",
            ],
        )?;
        let mut scenario = self.scenario;
        if let Some(scenario) = scenario.as_object_mut() {
            scenario.insert("id".to_owned(), "scenario".into());
            scenario.insert("file".to_owned(), "".into());
        }
        let scenario: Dumbbell = serde_json::from_value(scenario).map_err(|e| format!("scenario: {e}"))?;
        let runs = seeds(&folder.join("runs.csv"))?;
        let of = |s: &Summary| runs.iter().filter(|r| r.0 == s.variant && r.1 == s.loss).map(|r| r.2).collect();
        let seeds: Vec<Vec<u32>> = self.summary.iter().map(of).collect();
        if let Some(at) = self.summary.iter().zip(&seeds).position(|(s, seeds)| s.n != seeds.len() as u64) {
            return Err(format!("summary[{at}].n is not the number of rows in runs.csv"));
        }
        Ok(RandomLoss { warm: self.warm_s, network: scenario.describe()?.network, summary: self.summary, seeds })
    }
}

/// Variant, probability of loss and seed of each run.
fn seeds(file: &Path) -> Result<Vec<(String, f64, u32)>, String> {
    #[derive(Deserialize)]
    struct Run {
        variant: String,
        loss: f64,
        seed: u32,
    }
    let wrong = |e: csv::Error| format!("{}: {e}", file.display());
    let mut reader = csv::Reader::from_path(file).map_err(wrong)?;
    reader.deserialize::<Run>().map(|run| run.map(|r| (r.variant, r.loss, r.seed)).map_err(wrong)).collect()
}
