//! Whether a scenario makes sense: names that stand for something, flows that have a way,
//! numbers that can be simulated. What a single value must be, [`super::read`] has seen to.
//!
//! Certain mistakes are errors; nothing else is mentioned.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{Duration, Fault, Instant};

use super::diagnostic::{Diagnostic, shown};
use super::media::Radios;
use super::read::{Document, Part};
use super::registry::{LossModel, Transport};
use super::types::{Flow, Scenario};

mod groups;
mod live;
mod media;
mod names;

use groups::groups;
use live::live;
use media::media;
use names::Names;

/// The most nodes, links, groups, flows or changes.
const MOST: usize = 1_000_000;
/// The largest seed: 2⁵³ − 1, which every JSON reader holds exactly.
const MAX_SEED: u64 = (1 << 53) - 1;
/// The longest name.
const NAME_CHARS: usize = 200;
/// Ports of flows at a node: those below 4 belong to machines of the node, and the last one to packets that are handed out.
const PORTS: usize = 65_531;

/// Checks the scenario of `document`.
///
/// # Errors
/// All that is wrong, in the order of the text.
pub fn check(document: &Document) -> Result<(), Diagnostic> {
    let scenario = &document.scenario;
    let mut problems = Problems::default();
    totals(scenario, &mut problems);
    let few = media::are_countable(scenario, &mut problems) && stand_for(scenario, &mut problems);
    if !few {
        // Their names may be too many to write down.
        return document.all(problems.0, |_, _| Default::default()).map_or(Ok(()), Err);
    }
    let names = Names::of(scenario);
    nodes(scenario, &mut problems);
    media(scenario, &names, &mut problems);
    groups(scenario, &names, &mut problems);
    flows(scenario, &names, &mut problems);
    changes(scenario, &names, &mut problems);
    live(scenario, &names, &mut problems);
    record(scenario, &names, &mut problems);
    if problems.0.is_empty() {
        // With wrong names the network is another.
        ways(scenario, &names, &mut problems);
        ports(scenario, &names, &mut problems);
    }
    if problems.0.is_empty() {
        // Now it is known that they are not too many to be written down.
        single_flows(scenario, &mut problems);
    }
    document.all(problems.0, |name, of| names.unknown(name, of)).map_or(Ok(()), Err)
}

/// Something wrong, and its place.
#[derive(Debug)]
pub(super) struct Problem {
    pub path: String,
    pub part: Part,
    pub message: String,
    pub label: String,
    pub note: String,
    /// The name that stands for nothing, and for what it could.
    pub unknown: Option<(String, Of)>,
}

/// What a name can stand for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    Nodes,
    NodesAndGroups,
    Links,
}

/// The problems found so far; only the first of them is ever shown.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    /// Enough to hold the first in the order of the text, whatever that order is.
    const ENOUGH: usize = 100;

    fn add(&mut self, path: impl Into<String>, message: impl Into<String>, label: impl Into<String>) {
        self.note(path, message, label, "");
    }

    fn note(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        label: impl Into<String>,
        note: impl Into<String>,
    ) {
        if self.0.len() < Self::ENOUGH {
            let (path, message, label, note) = (path.into(), message.into(), label.into(), note.into());
            self.0.push(Problem { path, part: Part::Value, message, label, note, unknown: None });
        }
    }

    /// A name that stands for nothing. The nearest valid name is searched when the error is shown.
    fn unknown(&mut self, path: impl Into<String>, message: impl Into<String>, label: &str, name: (&str, Of)) {
        if self.0.len() < Self::ENOUGH {
            let (path, message, label) = (path.into(), message.into(), label.to_owned());
            let unknown = Some((name.0.to_owned(), name.1));
            self.0.push(Problem { path, part: Part::Value, message, label, note: String::new(), unknown });
        }
    }

    /// The fault of a configuration at `path`.
    fn fault(&mut self, path: String, found: Result<(), Fault>) {
        if let Err(Fault { field, message, expected }) = found {
            let path = if field.is_empty() { path } else { format!("{path}.{field}") };
            self.add(path, message, expected);
        }
    }
}

/// A name that is empty, too long, or cannot be shown.
fn name(path: impl Fn() -> String, name: &str, problems: &mut Problems) {
    if name.trim().is_empty() {
        problems.add(path(), "a name is empty", "expected a name");
    } else if name.chars().any(char::is_control) {
        problems.add(path(), format!("{} holds control characters", shown(name)), "expected a plain name");
    } else if name.chars().count() > NAME_CHARS {
        problems.add(path(), format!("{} is too long a name", shown(name)), format!("the most is {NAME_CHARS}"));
    }
}

/// A name that an earlier one of its kind has already.
fn unique<'s>(seen: &mut BTreeSet<&'s str>, what: &str, path: String, name: &'s str, problems: &mut Problems) {
    if !seen.insert(name) {
        problems.add(path, format!("two {what} are called {}", shown(name)), "give this one another name");
    }
}

fn totals(scenario: &Scenario, problems: &mut Problems) {
    if scenario.name.chars().count() > NAME_CHARS || scenario.name.chars().any(char::is_control) {
        let expected = format!("expected one line of at most {NAME_CHARS} characters");
        problems.add("name", format!("{} is no name for tables and files", shown(&scenario.name)), expected);
    }
    if scenario.duration == Duration::ZERO {
        problems.add("duration", "a run of no duration", "expected a duration, such as \"60 s\"");
    } else if Instant::ZERO + scenario.duration >= Instant::MAX {
        problems.add("duration", "a run of more than 52 days", "the clock ends there");
    }
    if scenario.seed > MAX_SEED {
        problems.add("seed", format!("the seed {} is too large", scenario.seed), "the most is 9007199254740991");
    }
    for (path, what, count) in [
        ("nodes", "nodes", scenario.nodes.len()),
        ("group", "groups", scenario.group.len()),
        ("flow", "flows", scenario.flow.len()),
        ("change", "changes", single_changes(scenario)),
    ] {
        if count > MOST {
            problems.add(path, format!("{count} {what} are too many"), format!("the most is {MOST}"));
        }
    }
}

/// How many members groups have, and for how many flows, each with its receivers, those that are written stand. Says whether that
/// makes sense.
fn stand_for(scenario: &Scenario, problems: &mut Problems) -> bool {
    let radios = Radios::of(scenario);
    let mut groups: BTreeMap<&str, u64> = BTreeMap::new();
    let mut all = 0;
    for (i, group) in scenario.group.iter().enumerate() {
        let joining = group.join.iter().flat_map(|join| &join.members);
        let members = group.members.iter().chain(joining).map(|name| radios.count(name)).sum();
        groups.insert(&group.name, members);
        all += members;
        if all > MOST as u64 {
            problems.add(
                format!("group[{i}].members"),
                format!("{all} members are too many"),
                format!("the most is {MOST}"),
            );
            return false;
        }
    }
    all = 0;
    for (i, flow) in scenario.flow.iter().enumerate() {
        all +=
            radios.count(&flow.from) * groups.get(flow.to.as_str()).copied().unwrap_or_else(|| radios.count(&flow.to));
        if all > MOST as u64 {
            problems.add(format!("flow[{i}]"), format!("{all} flows are too many"), format!("the most is {MOST}"));
            return false;
        }
    }
    true
}

/// How many changes there are, each repetition counted. Of one with too many of them [`changes`]
/// speaks.
fn single_changes(scenario: &Scenario) -> usize {
    let times = scenario.change.iter().map(|change| change.times() as usize);
    times.filter(|times| *times <= MOST).sum()
}

/// The recordings beyond totals.
fn record(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let most = scenario.record.most_rows;
    // A datagram of a constant rate is sent whatever the network does.
    let datagrams =
        scenario.flow.iter().filter(|flow| matches!(flow.transport, Transport::Udp(_)) && flow.qos.is_none());
    let sent = datagrams
        .map(|flow| flow.source.config().writes(scenario.duration.saturating_sub(flow.start)))
        .fold(0, u64::saturating_add);
    if scenario.record.packets && sent > most {
        let message = format!("record.packets would take {sent} rows for what is sent alone");
        problems.add("record.packets", message, format!("expected a shorter run: record.most_rows is {most}"));
    }
    if !scenario.record.transfers && !scenario.record.transfer_quantities.is_empty() {
        let message = "record.transfer_quantities of transfers that are not kept";
        problems.add("record.transfer_quantities", message, "expected record.transfers = true");
    }
    let Some(interval) = scenario.record.series else { return };
    if interval == Duration::ZERO {
        problems.add(
            "record.series",
            "an interval of zero between samples",
            "expected an interval, such as \"100 ms\"",
        );
        return;
    }
    let rows: usize = scenario.media().map(|(_, medium)| medium.rows()).sum();
    let flows: usize = scenario.flow.iter().map(|flow| names.flows(flow)).sum();
    let things = (flows + rows).max(1) as u64;
    let samples = (scenario.duration.as_nanos() / interval.as_nanos()).saturating_mul(things);
    if samples > most {
        let message = format!("record.series would take {samples} samples of links and flows");
        problems.add("record.series", message, format!("expected a longer interval: record.most_rows is {most}"));
    }
}

fn nodes(scenario: &Scenario, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for (i, node) in scenario.nodes.iter().enumerate() {
        name(|| format!("nodes[{i}]"), node, problems);
        unique(&mut seen, "nodes", format!("nodes[{i}]"), node, problems);
    }
}

fn loss_faults(path: String, loss: Option<&LossModel>, problems: &mut Problems) {
    if let Some(loss) = loss {
        problems.fault(format!("{path}.{}", loss.name()), loss.config().check());
    }
}

fn flows(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let labels: Vec<String> = scenario.flow.iter().map(Flow::label).collect();
    let mut seen = BTreeSet::new();
    for (i, (flow, label)) in scenario.flow.iter().zip(&labels).enumerate() {
        if flow.name.is_empty() {
            if !seen.insert(label.as_str()) {
                let message = format!("two flows are called {}", shown(label));
                problems.add(format!("flow[{i}]"), message, "give this one a name, such as name = \"second\"");
            }
        } else {
            name(|| format!("flow[{i}].name"), &flow.name, problems);
            unique(&mut seen, "flows", format!("flow[{i}].name"), label, problems);
        }
        for (field, end, of) in [("from", &flow.from, Of::Nodes), ("to", &flow.to, Of::NodesAndGroups)] {
            let groups = matches!(of, Of::NodesAndGroups);
            let is_group = names.groups.contains_key(end.as_str());
            if !names.called(end).is_empty() || (groups && is_group) {
                continue;
            }
            if is_group {
                let message = format!("{} is a group, and only a node can send", shown(end));
                problems.unknown(format!("flow[{i}].{field}"), message, "expected a node", (end, of));
            } else {
                let or_group = if groups && !names.groups.is_empty() { " or group" } else { "" };
                let message = format!("there is no node{or_group} {}", shown(end));
                problems.unknown(format!("flow[{i}].{field}"), message, "", (end, of));
            }
        }
        to_itself(i, flow, names, problems);
        if has_ended(scenario, flow.start) {
            let message = format!("flow {} starts at {}, when the run has ended", shown(label), flow.start);
            problems.add(format!("flow[{i}].start"), message, format!("the run lasts {}", scenario.duration));
        }
        pairing(i, flow, scenario, names, problems);
    }
}

/// The names of the flows for which those to or from all terminals of a radio stand.
fn single_flows(scenario: &Scenario, problems: &mut Problems) {
    let radios = Radios::of(scenario);
    if scenario.flow.iter().all(|flow| !radios.is_several(&flow.from) && !radios.is_several(&flow.to)) {
        return;
    }
    let mut seen = BTreeSet::new();
    for (i, flow) in scenario.flow.iter().enumerate() {
        for label in radios.flows(flow).iter().map(Flow::label) {
            name(|| format!("flow[{i}]"), &label, problems);
            if seen.contains(&label) {
                let message = format!("two flows are called {}", shown(&label));
                problems.add(format!("flow[{i}]"), message, "give this one another name");
            }
            seen.insert(label);
        }
    }
}

/// A flow, or one of those that it stands for, from a node to itself.
fn to_itself(i: usize, flow: &Flow, names: &Names<'_>, problems: &mut Problems) {
    let senders: BTreeSet<usize> = names.called(&flow.from).iter().copied().collect();
    let Some(&both) = names.ends(&flow.to).iter().find(|end| senders.contains(end)) else { return };
    let node = shown(&names.nodes[both]);
    if names.groups.contains_key(flow.to.as_str()) {
        let message = format!("{node} sends to a group of which it is a member");
        problems.add(format!("flow[{i}].from"), message, format!("take it out of group {}", shown(&flow.to)));
    } else if flow.from == flow.to && senders.len() == 1 {
        problems.add(format!("flow[{i}].to"), format!("a flow from {node} to itself"), "expected another node");
    } else {
        let message =
            format!("from {} to {} there is a flow from {node} to itself", shown(&flow.from), shown(&flow.to));
        problems.add(format!("flow[{i}].to"), message, "expected other nodes: name them one by one");
    }
}

/// Whether a flow's transport, source and destination fit each other.
fn pairing(i: usize, flow: &Flow, scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let (transport, source) = (flow.transport.config(), flow.source.config());
    let (transport_name, source_name) = (flow.transport.name(), flow.source.name());
    problems.fault(format!("flow[{i}].transport.{transport_name}"), transport.check(scenario.profile));
    problems.fault(format!("flow[{i}].source.{source_name}"), source.check());
    if let Some(qos) = &flow.qos {
        problems.fault(format!("flow[{i}].qos.{}", qos.name()), qos.config().check());
        if let Some((field, node)) = qos.config().served_by().filter(|(_, node)| names.node(node).is_none()) {
            let path = format!("flow[{i}].qos.{}.{field}", qos.name());
            problems.unknown(path, format!("there is no node {}", shown(node)), "", (node, Of::Nodes));
        }
    }
    if source.follows_rate() && !transport.tells_rate(scenario.profile) {
        let message = format!("the source \"{source_name}\" follows a rate, and \"{transport_name}\" tells it none");
        problems.add(
            format!("flow[{i}].source"),
            message,
            "choose media, tcp or tfrc in profile \"rfc\", or the source cbr".to_owned(),
        );
    }
    if source.reconnects() && !transport.can_reconnect() {
        let message = format!(
            "the source \"{source_name}\" opens one connection after another, which \"{transport_name}\" cannot"
        );
        problems.add(format!("flow[{i}].source"), message, "expected the transport \"tcp\"");
    } else if source.repeats() && !transport.can_repeat() {
        let message =
            format!("the source \"{source_name}\" waits for what it has sent, and \"{transport_name}\" does not tell");
        problems.add(format!("flow[{i}].source"), message, "expected another transport");
    } else if transport.sends_datagrams() && !source.suits_datagrams() {
        let message =
            format!("the source \"{source_name}\" does not write datagrams, which \"{transport_name}\" sends");
        problems.add(format!("flow[{i}].source"), message, "expected a source of packets");
    }
    if !names.groups.contains_key(flow.to.as_str()) {
        if transport.layers() > 0 {
            let message = format!("\"{transport_name}\" sends its layers to those of a group who subscribe to them");
            problems.add(format!("flow[{i}].to"), message, format!("{} is no group", shown(&flow.to)));
        }
        return;
    }
    if !transport.can_multicast() {
        let message = format!("\"{transport_name}\" cannot send to a group");
        problems.add(format!("flow[{i}].to"), message, format!("{} is a group", shown(&flow.to)));
    }
    if let Some(qos) = flow.qos.as_ref().filter(|qos| !qos.config().can_multicast()) {
        let message = format!("\"{}\" cannot be had for a group", qos.name());
        problems.add(format!("flow[{i}].qos"), message, format!("{} is a group", shown(&flow.to)));
    }
}

/// Whether the run is over at `at`. One of no duration is wrong by itself, and nothing else is by that.
fn has_ended(scenario: &Scenario, at: Duration) -> bool {
    scenario.duration > Duration::ZERO && at >= scenario.duration
}

fn changes(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    for (i, change) in scenario.change.iter().enumerate() {
        let Some(changeable) = names.changeables.get(&change.link) else {
            let message = format!("there is no link or terminal {}", shown(&change.link));
            problems.unknown(format!("change[{i}].link"), message, "", (&change.link, Of::Links));
            continue;
        };
        if has_ended(scenario, change.at) {
            let message = format!("a change at {}, when the run has ended", change.at);
            problems.add(format!("change[{i}].at"), message, format!("the run lasts {}", scenario.duration));
        }
        problems.fault(format!("change[{i}]"), changeable.check(change));
        let last = change.instant(change.times().saturating_sub(1));
        if change.times().saturating_mul(changeable.ends.len() as u64) > MOST as u64 {
            let message = format!("{} changes are too many", change.times());
            problems.add(format!("change[{i}].repeat.times"), message, format!("the most is {MOST}"));
        } else if change.at < scenario.duration && last >= scenario.duration {
            let message = format!("the last of {} changes comes at {last}, when the run has ended", change.times());
            problems.add(format!("change[{i}].repeat"), message, format!("the run lasts {}", scenario.duration));
        }
        loss_faults(format!("change[{i}].loss"), change.loss.as_ref(), problems);
    }
}

/// Whether media lead from each flow's sender to its receivers. They lead both ways, so it is enough that both lie in one part of the
/// network.
fn ways(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut parts = media::parts(scenario, names, problems);
    for (i, flow) in scenario.flow.iter().enumerate() {
        let Some(&from) = names.called(&flow.from).first() else { continue };
        let from = parts.root(from);
        for &to in names.ends(&flow.to).iter() {
            if parts.root(to) != from {
                let message = format!("no links lead from {} to {}", shown(&flow.from), shown(&names.nodes[to]));
                problems.add(format!("flow[{i}].to"), message, "it cannot be reached");
                break;
            }
        }
    }
}

/// Whether each node has enough ports for the flows that end there. A flow to a group takes the
/// same port at all members.
fn ports(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut used = vec![0; names.nodes.len()];
    for (i, flow) in scenario.flow.iter().enumerate() {
        let ends = names.ends(&flow.to);
        let senders = names.called(&flow.from);
        if names.groups.contains_key(flow.to.as_str()) {
            let port = ends.iter().map(|&n| used[n]).max().unwrap_or(0);
            ends.iter().for_each(|&n| used[n] = port + senders.len());
            senders.iter().for_each(|&n| used[n] += 1);
        } else {
            ends.iter().for_each(|&n| used[n] += senders.len());
            senders.iter().for_each(|&n| used[n] += ends.len());
        }
        if let Some(&node) = ends.iter().chain(senders.iter()).find(|&&n| used[n] > PORTS) {
            let message = format!("too many flows at node {}", shown(&names.nodes[node]));
            problems.add(format!("flow[{i}]"), message, format!("the most is {PORTS}"));
            return;
        }
    }
}
