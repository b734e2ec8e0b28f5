//! What names of a scenario stand for: nodes by their places, groups and radios by theirs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::scenario::diagnostic::{listed, nearest};
use crate::scenario::media::changeable::Changeables;
use crate::scenario::media::{several_terminals, terminals_of};
use crate::scenario::types::{Flow, Scenario};

use super::Of;

/// The meaning of names. Nodes are given by their places among all of them.
pub(super) struct Names<'s> {
    /// Nodes, sorted.
    pub nodes: Vec<String>,
    /// Groups, with their places.
    pub groups: BTreeMap<&'s str, usize>,
    /// The terminals of each radio.
    radios: BTreeMap<&'s str, Vec<usize>>,
    /// The nodes that listen to each group at some time.
    members: Vec<Vec<usize>>,
    /// Links, and what else changes.
    pub changeables: Changeables,
}

impl<'s> Names<'s> {
    pub fn of(scenario: &'s Scenario) -> Self {
        let groups = scenario.group.iter().enumerate().map(|(i, group)| (group.name.as_str(), i)).collect();
        let changeables = Changeables::of(scenario);
        let (radios, members) = (BTreeMap::new(), Vec::new());
        let mut names = Self { nodes: scenario.node_names(), groups, radios, members, changeables };
        for (_, radio) in scenario.media().filter(|(_, medium)| medium.terminals() > 0) {
            let terminals = terminals_of(radio.name(), radio.terminals());
            let places = terminals.filter_map(|name| names.node(&name)).collect();
            names.radios.insert(radio.name(), places);
        }
        for group in &scenario.group {
            let joining = group.join.iter().flat_map(|join| &join.members);
            let mut seen = BTreeSet::new();
            let all = group.members.iter().chain(joining).flat_map(|name| names.called(name).into_owned());
            let members = all.filter(|place| seen.insert(*place)).collect();
            names.members.push(members);
        }
        names
    }

    /// The place of a node.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.as_str().cmp(name)).ok()
    }

    /// The nodes that a name stands for as the end of a flow, or the member of a group; none if it is not known.
    pub fn called(&self, name: &str) -> Cow<'_, [usize]> {
        match several_terminals(name, |radio| Some(self.radios.get(radio)?.len() as u32)) {
            Some((radio, which)) => Cow::Borrowed(&self.radios[radio][which.start as usize..which.end as usize]),
            None => self.node(name).into_iter().collect::<Vec<_>>().into(),
        }
    }

    /// The terminals of a radio.
    pub fn terminals(&self, radio: &str) -> &[usize] {
        self.radios.get(radio).map_or(&[], Vec::as_slice)
    }

    /// The nodes that listen to a group at some time, each once.
    pub fn members(&self, group: usize) -> &[usize] {
        &self.members[group]
    }

    /// The nodes that a flow to this name reaches.
    pub fn ends(&self, to: &str) -> Cow<'_, [usize]> {
        match self.groups.get(to) {
            Some(&group) => Cow::Borrowed(self.members(group)),
            None => self.called(to),
        }
    }

    /// How many flows one stands for.
    pub fn flows(&self, flow: &Flow) -> usize {
        let receivers = if self.groups.contains_key(flow.to.as_str()) { 1 } else { self.called(&flow.to).len() };
        self.called(&flow.from).len() * receivers
    }

    /// The label and the note for a name that stands for nothing.
    pub fn unknown(&self, name: &str, of: Of) -> (String, String) {
        let (nodes, groups) = (self.nodes.iter().map(String::as_str), self.groups.keys().copied());
        let (known, none): (Vec<&str>, &str) = match of {
            Of::Nodes => (nodes.collect(), "there are no nodes: links name them with between = [\"a\", \"b\"]"),
            Of::NodesAndGroups => {
                (nodes.chain(groups).collect(), "there are no nodes: links name them with between = [\"a\", \"b\"]")
            }
            Of::Links => (self.changeables.names().collect(), "there are no links"),
        };
        let near = nearest(name, known.iter().copied());
        let label = near.map_or_else(|| "not known".to_owned(), |near| format!("did you mean \"{near}\"?"));
        let note = if known.is_empty() { none.to_owned() } else { format!("known: {}", listed(known)) };
        (label, note)
    }
}
