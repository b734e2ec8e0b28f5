//! Whether the groups of a scenario make sense.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Fault;
use crate::net::simulation::Trees;
use crate::scenario::diagnostic::shown;
use crate::scenario::group::{self, Switch};
use crate::scenario::registry::Transport;
use crate::scenario::types::{Flow, Group, Scenario};

use super::{Names, Of, Problems, has_ended, name, unique};

/// Names and members of groups.
pub(super) fn groups(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    let mut flows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (n, flow) in scenario.flow.iter().enumerate() {
        flows.entry(&flow.to).or_default().push(n);
    }
    for (i, (group, layers)) in scenario.group.iter().zip(group::layers(scenario)).enumerate() {
        let flows = flows.get(group.name.as_str()).map_or(&[][..], Vec::as_slice);
        name(|| format!("group[{i}].name"), &group.name, problems);
        unique(&mut seen, "groups", format!("group[{i}].name"), &group.name, problems);
        if names.node(&group.name).is_some() {
            let message = format!("a group and a node are called {}", shown(&group.name));
            problems.add(format!("group[{i}].name"), message, "give the group another name");
        }
        if let Some(expulsion) = &group.expulsion {
            if let Err(Fault { field, message, expected }) = expulsion.check() {
                problems.add(format!("group[{i}].expulsion.{field}"), message, expected);
            }
            if group.trees == Trees::Instant {
                let message = format!("nobody can be taken out of group {}", shown(&group.name));
                problems.add(format!("group[{i}].expulsion"), message, "it needs trees = \"signalled\"");
            }
            for (n, flow) in flows.iter().map(|n| (n, &scenario.flow[*n])) {
                if !matches!(flow.transport, Transport::Tfmcc(_) | Transport::Pgmcc(_)) {
                    let message = format!(
                        "group {} expels, but nobody reports over {}",
                        shown(&group.name),
                        flow.transport.name()
                    );
                    problems.add(format!("flow[{n}].transport"), message, "expected tfmcc or pgmcc");
                }
            }
        }
        if layers > 0 {
            layered(i, group, flows, problems);
        }
        for n in flows {
            exceptions(*n, &scenario.flow[*n], names, problems);
        }
        let everybody: BTreeSet<usize> = names.members(i).iter().copied().collect();
        if everybody.is_empty() {
            let message = format!("group {} has no members", shown(&group.name));
            problems.add(format!("group[{i}].members"), message, "expected the names of nodes");
        }
        known(group, names, &group.members, &format!("group[{i}].members"), problems);
        known(group, names, &group.area, &format!("group[{i}].area"), problems);
        for (field, switches) in [("join", &group.join), ("leave", &group.leave)] {
            for (n, switch) in switches.iter().enumerate() {
                known(group, names, &switch.members, &format!("group[{i}].{field}[{n}].members"), problems);
                if has_ended(scenario, switch.at) {
                    let message = format!("a {field} at {}, when the run has ended", switch.at);
                    let path = format!("group[{i}].{field}[{n}].at");
                    problems.add(path, message, format!("the run lasts {}", scenario.duration));
                }
            }
        }
        for (n, switch) in group.leave.iter().enumerate() {
            let nodes = |switch: &Switch| {
                switch.members.iter().flat_map(|name| names.called(name).into_owned()).collect::<BTreeSet<_>>()
            };
            let joining = group.join.iter().filter(|join| join.at == switch.at);
            if joining.clone().any(|join| !nodes(join).is_disjoint(&nodes(switch))) {
                let message = format!("a leave at {}, when the same node joins", switch.at);
                problems.add(format!("group[{i}].leave[{n}].at"), message, "which of them comes first?");
            }
            for (m, member) in switch.members.iter().enumerate() {
                if names.called(member).iter().any(|node| !everybody.contains(node)) {
                    let message = format!("{} never listens to group {}", shown(member), shown(&group.name));
                    problems.add(format!("group[{i}].leave[{n}].members[{m}]"), message, "it cannot leave");
                }
            }
        }
    }
}

/// Whether a group to which a layered session is sent has nothing else.
fn layered(i: usize, group: &Group, flows: &[usize], problems: &mut Problems) {
    if let Some(n) = flows.get(1) {
        let message = format!("group {} has a layered session", shown(&group.name));
        problems.add(format!("flow[{n}].to"), message, "nothing else can be sent to it");
    }
    if !group.area.is_empty() {
        problems.add(format!("group[{i}].area"), "layers go to those who subscribe", "leave it out");
    }
    if group.expulsion.is_some() {
        problems.add(format!("group[{i}].expulsion"), "layers go to those who subscribe", "leave it out");
    }
}

/// Whether there are nodes for the receivers with a control of their own, each once. Several sessions may have one list.
fn exceptions(n: usize, flow: &Flow, names: &Names<'_>, problems: &mut Problems) {
    let Transport::Layered(session) = &flow.transport else { return };
    let mut seen = BTreeSet::new();
    for (m, exception) in session.exceptions.iter().enumerate() {
        let path = format!("flow[{n}].transport.layered.exceptions[{m}].node");
        let Some(node) = names.node(&exception.node) else {
            let message = format!("there is no node {}", shown(&exception.node));
            problems.unknown(path, message, "", (&exception.node, Of::Nodes));
            continue;
        };
        if !seen.insert(node) {
            problems.add(path, format!("{} is there twice", shown(&exception.node)), "keep one");
        }
    }
}

/// Whether there are nodes of these names, each once.
fn known(group: &Group, names: &Names<'_>, listed: &[String], path: &str, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for (m, member) in listed.iter().enumerate() {
        let nodes = names.called(member);
        if nodes.is_empty() {
            let message = format!("there is no node {}", shown(member));
            problems.unknown(format!("{path}[{m}]"), message, "", (member, Of::Nodes));
        }
        if nodes.iter().filter(|node| !seen.insert(**node)).count() > 0 {
            let message = format!("{} is twice a member of group {}", shown(member), shown(&group.name));
            problems.add(format!("{path}[{m}]"), message, "keep one");
        }
    }
}
