//! Multicast groups as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Duration, Instant};
use crate::multicast::expulsion;
use crate::net::simulation::Trees;

use super::media::Radios;
use super::types::Scenario;

/// A multicast group. Each of its senders has a tree of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// A name, to which flows send.
    pub name: String,
    /// The nodes that listen from the start; `NAME.ue[*]` stands for all terminals of a cell,
    /// `NAME.ue[0:15]` for the first 15.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// Later joins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub join: Vec<Switch>,
    /// Leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave: Vec<Switch>,
    /// How its trees follow members and network: `signalled`, by messages that take their time, along the ways back to the sender;
    /// or `instant`, at once, along the ways from the sender (as in ns-2). Default: signalled.
    #[serde(default)]
    pub trees: Trees,
    /// How long the last router goes on after a member has left, since it asks first whether others are there. Default: 2 s
    /// (IGMPv2: two queries a second apart, RFC 2236 §8.8 and §8.9).
    #[serde(default = "default_leave_latency")]
    pub leave_latency: Duration,
    /// Broadcast: nodes to which packets always go, independent of membership, such as `NAME.ue[*]`, all terminals of a cell. Default:
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub area: Vec<String>,
    /// Takes out a receiver whose radio stays bad, and lets it in again later. Default: all receivers stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expulsion: Option<expulsion::Config>,
}

/// Nodes that join or leave a group at some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// When.
    pub at: Duration,
    /// The nodes.
    pub members: Vec<String>,
}

/// A node that joins or leaves a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Switched {
    /// When.
    pub at: Instant,
    /// The number of the group in the scenario.
    pub group: usize,
    /// The node.
    pub node: String,
    /// Whether it joins.
    pub joins: bool,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            name: String::new(),
            members: Vec::new(),
            join: Vec::new(),
            leave: Vec::new(),
            trees: Trees::default(),
            leave_latency: default_leave_latency(),
            area: Vec::new(),
            expulsion: None,
        }
    }
}

impl Group {
    /// The nodes that listen from the start.
    pub(super) fn listening(&self, radios: &Radios<'_>) -> Vec<String> {
        self.members.iter().flat_map(|name| radios.called(name)).collect()
    }

    /// The nodes that listen at some time, each once.
    pub(super) fn everybody(&self, radios: &Radios<'_>) -> Vec<String> {
        let mut all = self.listening(radios);
        for name in self.join.iter().flat_map(|join| &join.members) {
            all.extend(radios.called(name));
        }
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|name| seen.insert(name.clone()));
        all
    }
}

/// How many layers the session has that is sent to each group; 0 for other flows.
pub(super) fn layers(scenario: &Scenario) -> Vec<u32> {
    let mut most: BTreeMap<&str, u32> = BTreeMap::new();
    for flow in &scenario.flow {
        let most = most.entry(&flow.to).or_default();
        *most = flow.transport.config().layers().max(*most);
    }
    scenario.group.iter().map(|group| most.get(group.name.as_str()).copied().unwrap_or_default()).collect()
}

/// Whether the nodes need machines for the membership of groups.
pub(super) fn are_served(scenario: &Scenario) -> bool {
    scenario.group.iter().any(|group| group.trees == Trees::Signalled)
}

/// Joins and leaves, in the order of time.
pub(super) fn switches(scenario: &Scenario, radios: &Radios<'_>) -> Vec<Switched> {
    let mut all = Vec::new();
    for (group, (written, layers)) in scenario.group.iter().zip(layers(scenario)).enumerate() {
        if layers > 0 {
            let begin = |node| Switched { at: Instant::ZERO, group, node, joins: true };
            all.extend(written.listening(radios).into_iter().map(begin));
        }
        for (switches, joins) in [(&written.join, true), (&written.leave, false)] {
            for switch in switches {
                for node in switch.members.iter().flat_map(|name| radios.called(name)) {
                    all.push(Switched { at: Instant::ZERO + switch.at, group, node, joins });
                }
            }
        }
    }
    all.sort_by_key(|switch| switch.at);
    all
}

fn default_leave_latency() -> Duration {
    Duration::from_secs(2)
}
