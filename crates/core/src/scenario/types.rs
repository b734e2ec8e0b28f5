//! The scenario as data. Field docs are the reference page's text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Duration};
use crate::profile::Profile;

use super::cell::Cell;
pub use super::change::{Change, Repeat};
use super::constellation::Constellation;
pub use super::group::{Group, Switch};
use super::hsdpa::Hsdpa;
use super::mbms::Mbms;
use super::registry::{LossModel, Qos, Queue, Source, Transport};

/// A network, what it carries, what changes, and what to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// A name for tables and files. The file's name by default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it is about, for readers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Which rules fill in what is left out: `rfc`, `ns2` or `3gpp`.
    pub profile: Profile,
    /// Simulated time. 60 s.
    pub duration: Duration,
    /// The seed of all random streams, from 0 to 2⁵³ − 1.
    pub seed: u64,
    /// Nodes by name. If left out, the nodes are those that links name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Point-to-point links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<Link>,
    /// Cells of UMTS.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cell: Vec<Cell>,
    /// Cells of HSDPA.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hsdpa: Vec<Hsdpa>,
    /// Node Bs of MBMS.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mbms: Vec<Mbms>,
    /// Constellations of satellites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constellation: Vec<Constellation>,
    /// Multicast groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<Group>,
    /// Flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<Flow>,
    /// What changes during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<Change>,
    /// What is recorded beyond totals.
    pub record: Record,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            name: String::new(),
            description: String::new(),
            profile: Profile::default(),
            duration: Duration::from_secs(60),
            seed: 1,
            nodes: Vec::new(),
            link: Vec::new(),
            cell: Vec::new(),
            hsdpa: Vec::new(),
            mbms: Vec::new(),
            constellation: Vec::new(),
            group: Vec::new(),
            flow: Vec::new(),
            change: Vec::new(),
            record: Record::default(),
        }
    }
}

impl Scenario {
    /// The names of all nodes, sorted: those that are declared, or else those that links and cells
    /// name, and the terminals of cells; satellites and their terminals.
    pub fn node_names(&self) -> Vec<String> {
        let linked = self.link.iter().flat_map(|link| &link.between).map(String::as_str);
        let radios = self.cell.iter().flat_map(Cell::rncs).chain(self.hsdpa.iter().map(|hsdpa| hsdpa.node.as_str()));
        let radios = radios.chain(self.mbms.iter().map(|mbms| mbms.rnc.as_str()));
        let named = || linked.chain(radios).map(str::to_owned).collect();
        let mut names: Vec<String> = if self.nodes.is_empty() { named() } else { self.nodes.clone() };
        names.extend(self.cell.iter().flat_map(Cell::terminals));
        names.extend(self.hsdpa.iter().flat_map(Hsdpa::terminals));
        names.extend(self.mbms.iter().flat_map(Mbms::terminals));
        names.extend(self.constellation.iter().flat_map(Constellation::satellites));
        names.extend(self.constellation.iter().flat_map(Constellation::terminals).map(str::to_owned));
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Flow {
    /// Its name, or else `from>to`.
    pub fn label(&self) -> String {
        if self.name.is_empty() { format!("{}>{}", self.from, self.to) } else { self.name.clone() }
    }
}

/// A point-to-point link between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// A name for results and changes.
    pub name: String,
    /// The two nodes. Forward is from the first to the second.
    pub between: [String; 2],
    /// The rate, in both directions.
    pub rate: BitRate,
    /// The propagation delay, in both directions. 10 ms.
    #[serde(default = "default_delay")]
    pub delay: Duration,
    /// The queue in front of the link, in both directions. DropTail of 100 packets.
    #[serde(default = "default_queue")]
    pub queue: Queue,
    /// What the link loses of what is sent forward. Nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Whether a packet may overtake one that was sent before the delay became shorter, as it
    /// would on a real path. (ns-2: not `avoidReordering_`.)
    #[serde(default = "yes")]
    pub reorder: bool,
    /// What differs on the way back, from the second node to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Reverse>,
}

/// What differs on the way back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reverse {
    /// The rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// The propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// What the link loses of what is sent back. Nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
}

/// A source, and the transport that carries its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// A name for results. `from>to` by default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The sending node.
    pub from: String,
    /// The receiving node, or a group.
    pub to: String,
    /// How the data are carried. TCP.
    #[serde(default = "default_transport")]
    pub transport: Transport,
    /// What is sent. As much as possible.
    #[serde(default = "default_source")]
    pub source: Source,
    /// When the source starts. At once.
    #[serde(default)]
    pub start: Duration,
    /// What it asks of the network. Nothing: best effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<Qos>,
}

/// What is recorded beyond totals. Recording does not alter a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// Keep every transfer that a source has begun, for the table `transfers`. Yes. In a long run
    /// with many sources of pages, memory does not grow without it.
    pub transfers: bool,
    /// Sample links and flows at this interval, into the table `series`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Duration>,
    /// What else stands in the table `series`, wherever it is shown: names of values in the table
    /// `state`, such as `timeouts`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quantities: Vec<String>,
    /// By how much these values in the table `state` of a flow's ends grow during each transfer, in the table
    /// `transfer_state`; and `dropped_packets`, those that the network drops of the flow. A transfer counts until the next one of its
    /// flow begins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transfer_quantities: Vec<String>,
    /// Record every packet sent, received, dropped and marked, into the table `packets`.
    pub packets: bool,
    /// Show every value that links, endpoints and signalling machines keep at the end, into the
    /// table `state`.
    pub state: bool,
    /// Record what each change of a link did, into the table `handovers`.
    pub handovers: bool,
    /// Record what each slot of a radio's shared channel carries, into the table `slots`.
    pub slots: bool,
    /// Record every change of `cwnd`, `ssthresh`, `srtt` and the like, into the table `changes`.
    pub variables: bool,
    /// A run ends with an error when one of these tables has more rows, so that it does not use up memory: a row takes about
    /// 400 B while the tables are made. 5 million.
    pub most_rows: u64,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            transfers: true,
            series: None,
            quantities: Vec::new(),
            transfer_quantities: Vec::new(),
            packets: false,
            state: false,
            variables: false,
            handovers: false,
            slots: false,
            most_rows: 5_000_000,
        }
    }
}

fn default_delay() -> Duration {
    Duration::from_millis(10)
}

fn default_queue() -> Queue {
    Queue::DropTail(Default::default())
}

fn default_transport() -> Transport {
    Transport::Tcp(Default::default())
}

fn default_source() -> Source {
    Source::Greedy(Default::default())
}

fn yes() -> bool {
    true
}
