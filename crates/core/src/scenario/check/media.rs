//! Whether the media of a scenario make sense: each by itself, and together as a network.

use std::collections::{BTreeMap, BTreeSet};

use crate::scenario::diagnostic::shown;
use crate::scenario::media::{Around, Entry, Faults, MediumConfig};
use crate::scenario::types::Scenario;

use super::{MOST, Names, Of, Problems, name, unique};

/// How many media there are, and whether their nodes can be written down.
pub(super) fn are_countable(scenario: &Scenario, problems: &mut Problems) -> bool {
    let (mut all, mut fine) = (0, true);
    let mut sections: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for (entry, medium) in scenario.media() {
        sections.insert(entry.section, (entry.number + 1, medium.kind()));
        if let Err(fault) = medium.countable() {
            problems.fault(entry.to_string(), Err(fault));
            fine = false;
            continue;
        }
        all += medium.terminals() as usize;
        if all > MOST {
            let message = format!("{all} terminals are too many");
            problems.add(format!("{entry}.ues"), message, format!("the most is {MOST}"));
            fine = false;
        }
    }
    for (section, (count, kind)) in sections {
        if count > MOST {
            problems.add(section, format!("{count} {kind} are too many"), format!("the most is {MOST}"));
        }
    }
    fine
}

/// Names, nodes, and what media themselves find wrong.
pub(super) fn media(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut made = BTreeSet::new();
    let around = Around::of(scenario);
    for (entry, medium) in scenario.media() {
        let (kind, path) = (medium.kind(), format!("{entry}.name"));
        name(|| path.clone(), medium.name(), problems);
        unique(seen.entry(kind).or_default(), kind, path, medium.name(), problems);
        joined(scenario, entry, medium, names, problems);
        for one in medium.makes() {
            let path = format!("{entry}.{}", one.field);
            name(|| path.clone(), &one.name, problems);
            if made.contains(&one.name) {
                problems.add(path, format!("two nodes are called {}", shown(&one.name)), "give this one another name");
            }
            made.insert(one.name);
        }
        let mut faults = Faults::default();
        medium.check(&around, &mut faults);
        for fault in faults.0 {
            problems.fault(entry.to_string(), Err(fault));
        }
    }
}

/// The nodes that a medium joins: they are there, and none of its own terminals.
fn joined(scenario: &Scenario, entry: Entry, medium: &dyn MediumConfig, names: &Names<'_>, problems: &mut Problems) {
    for joined in medium.joins() {
        let path = format!("{entry}.{}", joined.field);
        name(|| path.clone(), joined.name, problems);
        let Some(place) = names.node(joined.name) else {
            let place = if scenario.nodes.is_empty() { "" } else { " in \"nodes\"" };
            let message = format!("there is no node {}{place}", shown(joined.name));
            problems.unknown(path, message, "", (joined.name, Of::Nodes));
            continue;
        };
        if names.terminals(medium.name()).contains(&place) {
            let message = format!("{} is a terminal of {} itself", shown(joined.name), shown(medium.name()));
            problems.add(path, message, "expected the node to which the radio is attached");
        }
    }
}

/// The parts of a network between which no ways lead.
pub(super) struct Parts(Vec<usize>);

impl Parts {
    /// The representative of the part in which a node is.
    pub fn root(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// The parts of the network. Whether a radio reaches a terminal is a matter of time, and is taken to be so.
pub(super) fn parts(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) -> Parts {
    let mut parts = Parts((0..names.nodes.len()).collect());
    for (entry, medium) in scenario.media() {
        let joins = medium.joins();
        let made = medium.makes();
        let first = joins.first().map(|joined| joined.name).or_else(|| Some(made.first()?.name.as_str()));
        let Some((first_name, first)) = first.and_then(|name| Some((name, names.node(name)?))) else { continue };
        for joined in &joins {
            let Some(other) = names.node(joined.name) else { continue };
            if !joined.linked {
                parts.unite(first, other);
            } else if parts.root(other) != parts.root(first) {
                let message = format!("no links lead from {} to {}", shown(first_name), shown(joined.name));
                problems.add(format!("{entry}.{}", joined.field), message, "packets could not be sent there");
            }
        }
        let made = made.iter().filter_map(|made| names.node(&made.name));
        for other in made.chain(names.terminals(medium.name()).iter().copied()) {
            parts.unite(first, other);
        }
    }
    parts
}
