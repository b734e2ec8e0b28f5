//! The scenario as data. Field docs are the reference page's text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Duration;
use crate::engine::choice::Custom;
use crate::profile::Profile;

pub use super::change::{Change, Repeat};
pub use super::group::{Group, Switch};
pub use super::live::{Live, LiveHost};
use super::media::cell::Cell;
use super::media::constellation::Constellation;
use super::media::hsdpa::Hsdpa;
pub use super::media::link::{Link, Reverse};
use super::media::mbms::Mbms;
use super::media::{MediumConfig, terminals_of};
use super::registry::{Qos, Source, Transport};

/// A network, what it carries, what changes, and what to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// A name for tables and files. Default: the file's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it is about, for readers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The rules for parameters left out: `rfc`, `ns2`, `linux` or `3gpp`.
    pub profile: Profile,
    /// Simulated time. Default: 60 s.
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
    /// Media that no scenario file can name, of other crates. They are built behind the others.
    #[serde(skip)]
    pub medium: Vec<Custom<dyn MediumConfig>>,
    /// Multicast groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<Group>,
    /// Flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<Flow>,
    /// What changes during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<Change>,
    /// Real programs at its nodes, for `lasthop live`.
    #[serde(skip_serializing_if = "is_left_out")]
    pub live: Live,
    /// Recordings beyond totals.
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
            medium: Vec::new(),
            group: Vec::new(),
            flow: Vec::new(),
            change: Vec::new(),
            live: Live::default(),
            record: Record::default(),
        }
    }
}

fn is_left_out(live: &Live) -> bool {
    *live == Live::default()
}

impl Scenario {
    /// The names of all nodes, sorted: those that are declared, or else those that media join; and those that media make.
    pub fn node_names(&self) -> Vec<String> {
        let mut names = self.nodes.clone();
        for (_, medium) in self.media() {
            if self.nodes.is_empty() {
                names.extend(medium.joins().into_iter().map(|joined| joined.name.to_owned()));
            }
            names.extend(terminals_of(medium.name(), medium.terminals()));
            names.extend(medium.makes().into_iter().map(|made| made.name));
        }
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

/// A source, and the transport that carries its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// A name for results. Default: `from>to`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The sending node.
    pub from: String,
    /// The receiving node, or a group.
    pub to: String,
    /// How the data are carried. Default: TCP.
    #[serde(default = "default_transport")]
    pub transport: Transport,
    /// The source of data. Default: as much as possible.
    #[serde(default = "default_source")]
    pub source: Source,
    /// When the source starts. Default: at once.
    #[serde(default)]
    pub start: Duration,
    /// What it asks of the network. Default: nothing: best effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<Qos>,
}

/// Recordings beyond totals. Recording does not alter a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// Keep every transfer that a source has begun, for the table `transfers`. Yes. In a long run
    /// with many sources of pages, memory does not grow without it.
    pub transfers: bool,
    /// Sample links and flows at this interval, into the table `series`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Duration>,
    /// What else stands in the table `series`, wherever it is shown: names of values in the tables
    /// `state` and `media`, such as `timeouts` and `frames_late`. A distribution, such as `rtt_ms_p95`, has the values since the last sample.
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
    /// Record each node that a packet goes on from too, into the table `packets`.
    pub hops: bool,
    /// Record what each change of a link did, into the table `handovers`.
    pub handovers: bool,
    /// Record what each slot of a radio's shared channel carries, into the table `slots`.
    pub slots: bool,
    /// Record every change of `cwnd`, `ssthresh`, `srtt` and the like, into the table `changes`.
    pub variables: bool,
    /// A run ends with an error when one of these tables has more rows, so that it does not use up memory: a row of `packets` takes
    /// about 100 B. Default: 5 million.
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
            hops: false,
            state: false,
            variables: false,
            handovers: false,
            slots: false,
            most_rows: 5_000_000,
        }
    }
}

fn default_transport() -> Transport {
    Transport::Tcp(Default::default())
}

fn default_source() -> Source {
    Source::Greedy(Default::default())
}
