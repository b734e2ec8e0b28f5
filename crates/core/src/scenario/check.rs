//! Whether a scenario makes sense: names that stand for something, flows that have a way,
//! numbers that can be simulated. What a single value must be, [`super::read`] has seen to.
//!
//! What is certainly a mistake is an error; nothing else is mentioned.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{Duration, Fault, Instant};
use crate::radio::umts::roaming::Mobility;

use super::diagnostic::{Diagnostic, shown};
use super::read::{Document, Part};
use super::registry::{LossModel, Queue, Transport};
use super::types::{Flow, Link, Scenario};

mod cells;
mod constellations;
mod groups;
mod hsdpa;
mod mbms;
mod names;

use cells::cells;
use constellations::constellations;
use groups::groups;
use hsdpa::hsdpa;
use mbms::mbms;
use names::Names;

/// The most nodes, links, groups, flows or changes.
const MOST: usize = 1_000_000;
/// The most terminals of a radio.
const MOST_TERMINALS: u32 = 100_000;
/// The largest seed: 2⁵³ − 1, which every JSON reader holds exactly.
const MAX_SEED: u64 = (1 << 53) - 1;
/// The longest name.
const NAME_CHARS: usize = 200;
/// Ports at a node.
const PORTS: usize = 65_535;

/// Checks the scenario of `document`.
///
/// # Errors
/// The first thing that is wrong, in the order of the text.
pub fn check(document: &Document) -> Result<(), Diagnostic> {
    let scenario = &document.scenario;
    let mut problems = Problems::default();
    totals(scenario, &mut problems);
    let few = terminals(scenario, &mut problems) && stand_for(scenario, &mut problems);
    if !(few && constellations::orbits(scenario, &mut problems)) {
        // Their names may be too many to write down.
        return document.first(problems.0, |_, _| Default::default()).map_or(Ok(()), Err);
    }
    let names = Names::of(scenario);
    nodes(scenario, &mut problems);
    links(scenario, &names, &mut problems);
    cells(scenario, &names, &mut problems);
    hsdpa(scenario, &names, &mut problems);
    mbms(scenario, &names, &mut problems);
    constellations(scenario, &mut problems);
    groups(scenario, &names, &mut problems);
    flows(scenario, &names, &mut problems);
    changes(scenario, &names, &mut problems);
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
    document.first(problems.0, |name, of| names.unknown(name, of)).map_or(Ok(()), Err)
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

    /// A name that stands for nothing. What was meant is looked for when it is shown.
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
            self.add(format!("{path}.{field}"), message, expected);
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

/// A node that stands before a radio: there is one, and it is none of the radio's own terminals.
fn gateway(path: &str, node: &str, radio: &str, names: &Names<'_>, problems: &mut Problems) {
    name(|| path.to_owned(), node, problems);
    let Some(place) = names.node(node) else {
        return problems.unknown(path, format!("there is no node {}", shown(node)), "", (node, Of::Nodes));
    };
    if names.terminals(radio).contains(&place) {
        let message = format!("{} is a terminal of {} itself", shown(node), shown(radio));
        problems.add(path, message, "expected the node to which the radio is attached");
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
        ("link", "links", scenario.link.len()),
        ("cell", "cells", scenario.cell.len()),
        ("hsdpa", "radios", scenario.hsdpa.len()),
        ("mbms", "radios", scenario.mbms.len()),
        ("group", "groups", scenario.group.len()),
        ("flow", "flows", scenario.flow.len()),
        ("change", "changes", single_changes(scenario)),
    ] {
        if count > MOST {
            problems.add(path, format!("{count} {what} are too many"), format!("the most is {MOST}"));
        }
    }
}

/// How many terminals radios have. Says whether that makes sense.
fn terminals(scenario: &Scenario, problems: &mut Problems) -> bool {
    let cells = scenario.cell.iter().map(|cell| ("cell", "a cell", cell.ues)).enumerate();
    let hsdpa = scenario.hsdpa.iter().map(|hsdpa| ("hsdpa", "a radio", hsdpa.ues)).enumerate();
    let mbms = scenario.mbms.iter().map(|mbms| ("mbms", "a cell", mbms.ues)).enumerate();
    let (mut all, mut fine) = (0, true);
    for (i, (of, what, ues)) in cells.chain(hsdpa).chain(mbms) {
        let path = format!("{of}[{i}].ues");
        if !(1..=MOST_TERMINALS).contains(&ues) {
            let message = format!("{what} of {ues} terminals");
            problems.add(path, message, format!("expected 1 to {MOST_TERMINALS}"));
            fine = false;
            continue;
        }
        all += ues as usize;
        if all > MOST {
            problems.add(path, format!("{all} terminals are too many"), format!("the most is {MOST}"));
            fine = false;
        }
    }
    fine
}

/// How many members groups have, and for how many flows, each with its receivers, those that are written stand. Says whether that
/// makes sense.
fn stand_for(scenario: &Scenario, problems: &mut Problems) -> bool {
    let cells = scenario.cell.iter().map(|cell| (cell.name.as_str(), cell.ues));
    let hsdpa = scenario.hsdpa.iter().map(|hsdpa| (hsdpa.name.as_str(), hsdpa.ues));
    let mbms = scenario.mbms.iter().map(|mbms| (mbms.name.as_str(), mbms.ues));
    let terminals: BTreeMap<&str, u32> = cells.chain(hsdpa).chain(mbms).collect();
    let nodes = |name: &str| {
        name.strip_suffix(".ue[*]").and_then(|radio| terminals.get(radio)).map_or(1, |&ues| u64::from(ues))
    };
    let mut groups: BTreeMap<&str, u64> = BTreeMap::new();
    let mut all = 0;
    for (i, group) in scenario.group.iter().enumerate() {
        let joining = group.join.iter().flat_map(|join| &join.members);
        let members = group.members.iter().chain(joining).map(|name| nodes(name)).sum();
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
        all += nodes(&flow.from) * groups.get(flow.to.as_str()).copied().unwrap_or_else(|| nodes(&flow.to));
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

/// What is recorded beyond totals.
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
    let Some(interval) = scenario.record.series else { return };
    if interval == Duration::ZERO {
        problems.add(
            "record.series",
            "an interval of zero between samples",
            "expected an interval, such as \"100 ms\"",
        );
        return;
    }
    let ues = scenario.cell.iter().map(|cell| cell.ues).chain(scenario.hsdpa.iter().map(|hsdpa| hsdpa.ues));
    let ues = ues.chain(scenario.mbms.iter().map(|mbms| mbms.ues));
    let terminals: usize = ues.map(|ues| ues as usize).sum();
    let flows: usize = scenario.flow.iter().map(|flow| names.flows(flow)).sum();
    let things = (flows + 2 * (scenario.link.len() + terminals)).max(1) as u64;
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

fn links(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for (i, link) in scenario.link.iter().enumerate() {
        name(|| format!("link[{i}].name"), &link.name, problems);
        unique(&mut seen, "links", format!("link[{i}].name"), &link.name, problems);
        for (end, node) in link.between.iter().enumerate() {
            let path = format!("link[{i}].between[{end}]");
            if scenario.nodes.is_empty() {
                name(|| path.clone(), node, problems);
            } else if names.node(node).is_none() {
                let message = format!("there is no node {} in \"nodes\"", shown(node));
                problems.unknown(path, message, "", (node, Of::Nodes));
            }
        }
        if link.between[0] == link.between[1] {
            let message = format!("link {} goes from {} to itself", shown(&link.name), shown(&link.between[0]));
            problems.add(format!("link[{i}].between"), message, "expected two nodes");
        }
        directions(i, link, problems);
    }
}

/// What is set in each direction of a link.
fn directions(i: usize, link: &Link, problems: &mut Problems) {
    let reverse = link.reverse.as_ref();
    for (path, queue) in [("queue", Some(&link.queue)), ("reverse.queue", reverse.and_then(|r| r.queue.as_ref()))] {
        queue_faults(format!("link[{i}].{path}"), queue, problems);
    }
    for (path, loss) in [("loss", link.loss.as_ref()), ("reverse.loss", reverse.and_then(|r| r.loss.as_ref()))] {
        loss_faults(format!("link[{i}].{path}"), loss, problems);
    }
}

fn queue_faults(path: String, queue: Option<&Queue>, problems: &mut Problems) {
    if let Some(queue) = queue {
        problems.fault(format!("{path}.{}", queue.name()), queue.config().check());
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
        if flow.start >= scenario.duration {
            let message = format!("flow {} starts at {}, when the run has ended", shown(label), flow.start);
            problems.add(format!("flow[{i}].start"), message, format!("the run lasts {}", scenario.duration));
        }
        pairing(i, flow, scenario, names, problems);
    }
}

/// The names of the flows for which those to or from all terminals of a radio stand.
fn single_flows(scenario: &Scenario, problems: &mut Problems) {
    let stands_for_many = |flow: &Flow| [&flow.from, &flow.to].iter().any(|end| end.ends_with(".ue[*]"));
    if !scenario.flow.iter().any(stands_for_many) {
        return;
    }
    let mut seen = BTreeSet::new();
    for (i, flow) in scenario.flow.iter().enumerate() {
        for label in flow.each(scenario).iter().map(Flow::label) {
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

fn changes(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    for (i, change) in scenario.change.iter().enumerate() {
        if !names.is_link(&change.link) {
            let message = format!("there is no link {}", shown(&change.link));
            problems.unknown(format!("change[{i}].link"), message, "", (&change.link, Of::Links));
            continue;
        }
        if change.at >= scenario.duration {
            let message = format!("a change at {}, when the run has ended", change.at);
            problems.add(format!("change[{i}].at"), message, format!("the run lasts {}", scenario.duration));
        }
        if change.is_nothing() {
            let message = format!("the change of link {} changes nothing", shown(&change.link));
            let expected = "expected rate, delay, up, loss, in_flight, queue, interruption or overlap";
            problems.add(format!("change[{i}]"), message, expected);
        }
        problems.fault(format!("change[{i}]"), change.check());
        let last = change.instant(change.times().saturating_sub(1));
        if change.times() > MOST as u64 {
            let message = format!("{} changes are too many", change.times());
            problems.add(format!("change[{i}].repeat.times"), message, format!("the most is {MOST}"));
        } else if change.at < scenario.duration && last >= scenario.duration {
            let message = format!("the last of {} changes comes at {last}, when the run has ended", change.times());
            problems.add(format!("change[{i}].repeat"), message, format!("the run lasts {}", scenario.duration));
        }
        loss_faults(format!("change[{i}].loss"), change.loss.as_ref(), problems);
    }
}

/// Whether links lead from each flow's sender to its receivers. Links go both ways, so it is
/// enough that they lie in one part of the network.
fn ways(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut part: Vec<usize> = (0..names.nodes.len()).collect();
    fn root(part: &mut [usize], mut node: usize) -> usize {
        while part[node] != node {
            part[node] = part[part[node]];
            node = part[node];
        }
        node
    }
    for link in &scenario.link {
        if let [Some(a), Some(b)] = [names.node(&link.between[0]), names.node(&link.between[1])] {
            let (a, b) = (root(&mut part, a), root(&mut part, b));
            part[a.max(b)] = a.min(b);
        }
    }
    for (i, cell) in scenario.cell.iter().enumerate() {
        let Some(rnc) = names.node(&cell.rnc) else { continue };
        // A terminal's packets come to whichever RNC serves it.
        for other in cell.rncs() {
            let Some(place) = names.node(other) else { continue };
            if root(&mut part, place) != root(&mut part, rnc) {
                let site = |mobility: &Mobility| mobility.site.iter().position(|s| s.rnc.as_deref() == Some(other));
                let n = cell.mobility.as_ref().and_then(site).unwrap_or_default();
                let message = format!("no links lead from {} to {}", shown(&cell.rnc), shown(other));
                let path = format!("cell[{i}].mobility.site[{n}].rnc");
                problems.add(path, message, "packets could not be sent there");
            }
        }
        for terminal in cell.terminals().filter_map(|name| names.node(&name)) {
            let (a, b) = (root(&mut part, rnc), root(&mut part, terminal));
            part[a.max(b)] = a.min(b);
        }
    }
    let hsdpa = scenario.hsdpa.iter().map(|hsdpa| (&hsdpa.node, hsdpa.terminals().collect::<Vec<_>>()));
    let mbms = scenario.mbms.iter().map(|mbms| (&mbms.rnc, mbms.terminals().collect()));
    for (node, terminals) in hsdpa.chain(mbms) {
        let Some(node) = names.node(node) else { continue };
        for terminal in terminals.iter().filter_map(|name| names.node(name)) {
            let (a, b) = (root(&mut part, node), root(&mut part, terminal));
            part[a.max(b)] = a.min(b);
        }
    }
    for constellation in &scenario.constellation {
        // Whether satellites stand over a terminal is a matter of time.
        let ground = constellation.terminals().map(str::to_owned);
        let mut all = constellation.satellites().chain(ground).filter_map(|name| names.node(&name));
        let Some(first) = all.next() else { continue };
        for other in all {
            let (a, b) = (root(&mut part, first), root(&mut part, other));
            part[a.max(b)] = a.min(b);
        }
    }
    for (i, flow) in scenario.flow.iter().enumerate() {
        let Some(&from) = names.called(&flow.from).first() else { continue };
        let from = root(&mut part, from);
        for &to in names.ends(&flow.to).iter() {
            if root(&mut part, to) != from {
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
    let mut used = vec![1; names.nodes.len()];
    for (i, flow) in scenario.flow.iter().enumerate() {
        let ends = names.ends(&flow.to);
        let senders = names.called(&flow.from);
        let port = ends.iter().map(|&n| used[n]).max().unwrap_or(0);
        ends.iter().for_each(|&n| used[n] = port + 1);
        senders.iter().for_each(|&n| used[n] += ends.len());
        if let Some(&node) = ends.iter().chain(senders.iter()).find(|&&n| used[n] > PORTS) {
            let message = format!("too many flows at node {}", shown(&names.nodes[node]));
            problems.add(format!("flow[{i}]"), message, format!("the most is {}", PORTS - 1));
            return;
        }
    }
}
