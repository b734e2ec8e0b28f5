//! The media that a scenario can have. Each says the same of itself: which nodes it joins and makes, what does not make sense, how it is
//! built. Names of nodes, checks and the builder go over all of them; nothing else tells one from another.
//!
//! To add one: a file here, a field of its section in [`Scenario`], and its name in the list below. One of another crate is put into
//! [`Scenario::medium`].

pub mod cell;
pub mod changeable;
pub mod constellation;
pub mod hsdpa;
pub mod link;
pub mod mbms;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use crate::engine::Fault;
use crate::net::{NodeId, Place, Simulation};
use crate::profile::Profile;

use super::registry::{LossModel, Queue};
use super::types::{Flow, Scenario};

/// An entry of a section of a scenario, of which a medium is made.
pub trait MediumConfig: Send + Sync {
    /// Its name in results, and in the names of its terminals.
    fn name(&self) -> &str;

    /// What it is one of, such as `links`. No two of a kind have the same name.
    fn kind(&self) -> &'static str;

    /// The nodes of others that it joins. They are the first of its ends.
    fn joins(&self) -> Vec<Joined<'_>>;

    /// How many terminals it has: nodes called `NAME.ue[0]`, `NAME.ue[1]`, …, for all of which `NAME.ue[*]` stands. They are the next
    /// of its ends.
    fn terminals(&self) -> u32 {
        0
    }

    /// The other nodes that it makes. They are the last of its ends.
    fn makes(&self) -> Vec<Made> {
        Vec::new()
    }

    /// Whether the nodes that it makes can be written down. The first question of all: nothing else is asked if they cannot.
    ///
    /// # Errors
    /// If their number is not supported.
    fn countable(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// What does not make sense. Names of nodes and the number of terminals are not its business.
    fn check(&self, around: &Around<'_>, faults: &mut Faults);

    /// Writes down what `profile` says of parameters that were left out.
    fn resolve(&mut self, _profile: Profile) {}

    /// The ends to which ways can be changed. Default: its terminals.
    fn changing(&self) -> Range<u32> {
        let first = self.joins().len() as u32;
        first..first + self.terminals()
    }

    /// The fields of a change that these take. Default: none.
    fn changes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether ns-2's clock can be followed through it.
    fn keeps_ns2_clock(&self) -> bool {
        false
    }

    /// How many rows it adds to the table `series` at each sample.
    fn rows(&self) -> usize {
        2 * self.terminals() as usize
    }

    /// Adds it to a network, between `ends`.
    fn build(&self, simulation: &mut Simulation, ends: &[NodeId], setting: &Setting) -> Built;
}

/// A node that a medium joins.
pub struct Joined<'s> {
    /// Where its name stands: `between[0]`.
    pub field: Cow<'static, str>,
    /// Its name.
    pub name: &'s str,
    /// Whether other media must lead there from the first node: packets for the medium's terminals come to whichever of them serves.
    pub linked: bool,
}

impl<'s> Joined<'s> {
    /// A node that `field` names.
    pub fn new(field: impl Into<Cow<'static, str>>, name: &'s str) -> Self {
        Self { field: field.into(), name, linked: false }
    }
}

/// A node that a medium makes.
pub struct Made {
    /// What names it: `terminal[0].node`.
    pub field: Cow<'static, str>,
    /// Its name.
    pub name: String,
}

impl Made {
    /// A node that `field` names.
    pub fn new(field: impl Into<Cow<'static, str>>, name: String) -> Self {
        Self { field: field.into(), name }
    }
}

/// The surroundings of a medium, for its check.
pub struct Around<'s> {
    /// The scenario.
    pub scenario: &'s Scenario,
    /// The first flow whose headers are not those of its standard, and how they differ.
    pub other_headers: Option<(usize, String)>,
}

impl<'s> Around<'s> {
    /// The surroundings of the media of `scenario`.
    pub fn of(scenario: &'s Scenario) -> Self {
        let fault = |flow: &Flow| flow.transport.config().header_fault(scenario.profile);
        let other_headers = scenario.flow.iter().enumerate().find_map(|(n, flow)| Some((n, fault(flow)?)));
        Self { scenario, other_headers }
    }
}

/// The faults of a medium.
#[derive(Default)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// The parameter `field` is wrong.
    pub fn add(
        &mut self,
        field: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.0.push(Fault { field: field.into(), message: message.into(), expected: expected.into() });
    }

    /// What a part's own check found; the part is the parameter `path`.
    pub fn found(&mut self, path: &str, found: Result<(), Fault>) {
        self.0.extend(found.err().map(|fault| fault.below(path)));
    }

    /// The faults of the queue that is the parameter `path`.
    pub fn queue(&mut self, path: &str, queue: Option<&Queue>) {
        if let Some(queue) = queue {
            self.found(&format!("{path}.{}", queue.name()), queue.config().check());
        }
    }

    /// The faults of the loss model that is the parameter `path`.
    pub fn loss(&mut self, path: &str, loss: Option<&LossModel>) {
        if let Some(loss) = loss {
            self.found(&format!("{path}.{}", loss.name()), loss.config().check());
        }
    }
}

/// How a medium is to be built.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The profile of the scenario.
    pub profile: Profile,
    /// Whether ns-2's clock is followed.
    pub ns2_clock: bool,
    /// Whether handovers are to be shown in it: changes of the ways to its ends.
    pub shows_handovers: bool,
}

/// A medium that was built.
#[derive(Clone, Copy, Debug)]
pub struct Built {
    /// Its number.
    pub medium: u32,
    /// Its directions, forward and back, if it has no others.
    pub directions: Option<[Place; 2]>,
}

impl Built {
    /// One whose directions are not two.
    pub fn new(medium: u32) -> Self {
        Self { medium, directions: None }
    }
}

/// Where an entry stands: `cell[0]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The section.
    pub section: &'static str,
    /// The number within it.
    pub number: usize,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.section, self.number)
    }
}

/// Gives a scenario its media, section by section.
macro_rules! sections {
    ($($section:ident),+) => {
        impl Scenario {
            /// Its media, in the order in which they are built.
            pub fn media(&self) -> impl Iterator<Item = (Entry, &dyn MediumConfig)> {
                let media = std::iter::empty();
                $(let media = media.chain((0..).zip(&self.$section).map(|(number, one)| {
                    (Entry { section: stringify!($section), number }, one as &dyn MediumConfig)
                }));)+
                media.chain((0..).zip(&self.medium).map(|(number, one)| (Entry { section: "medium", number }, &*one.config)))
            }

            /// Writes down what the profile says of parameters of media that were left out.
            pub(super) fn resolve_media(&mut self) {
                let profile = self.profile;
                $(self.$section.iter_mut().for_each(|one| one.resolve(profile));)+
            }
        }
    };
}

sections!(link, cell, hsdpa, mbms, constellation);

/// The names of all terminals of a radio of this name.
pub fn terminals_of(radio: &str, count: u32) -> impl Iterator<Item = String> + '_ {
    (0..count).map(move |n| terminal_of(radio, n))
}

fn terminal_of(radio: &str, n: u32) -> String {
    format!("{radio}.ue[{n}]")
}

/// The radio and its terminals for which `name` stands: `NAME.ue[*]` for all, `NAME.ue[A:B]` for those from A to B - 1, `NAME.ue[A:]`
/// and `NAME.ue[:B]` for those from A on and before B. `count` says how many a radio has. None if there are none such.
pub fn several_terminals(name: &str, count: impl Fn(&str) -> Option<u32>) -> Option<(&str, Range<u32>)> {
    let (radio, which) = name.strip_suffix(']')?.rsplit_once(".ue[")?;
    let all = count(radio)?;
    let terminals = match which.split_once(':') {
        None if which == "*" => 0..all,
        None => return None,
        Some((from, to)) => {
            let number = |text: &str, or| if text.is_empty() { Some(or) } else { text.parse::<u32>().ok() };
            number(from, 0)?..number(to, all)?
        }
    };
    (!terminals.is_empty() && terminals.end <= all).then_some((radio, terminals))
}

/// The radios of a scenario by name, for what `NAME.ue[*]` and `NAME.ue[A:B]` stand for.
pub struct Radios<'s>(BTreeMap<&'s str, u32>);

impl<'s> Radios<'s> {
    /// Those of `scenario`.
    pub fn of(scenario: &'s Scenario) -> Self {
        let mut radios = BTreeMap::new();
        for (_, medium) in scenario.media().filter(|(_, medium)| medium.terminals() > 0) {
            radios.entry(medium.name()).or_insert(medium.terminals());
        }
        Self(radios)
    }

    /// How many nodes `name` stands for, as the end of a flow.
    pub fn count(&self, name: &str) -> u64 {
        self.several(name).map_or(1, |(_, terminals)| terminals.len() as u64)
    }

    /// The nodes that `name` stands for, as the end of a flow.
    pub fn called(&self, name: &str) -> Vec<String> {
        match self.several(name) {
            Some((radio, terminals)) => terminals.map(|n| terminal_of(radio, n)).collect(),
            None => vec![name.to_owned()],
        }
    }

    /// Whether `name` stands for terminals of a radio, and not for the one node of this name.
    pub fn is_several(&self, name: &str) -> bool {
        self.several(name).is_some()
    }

    fn several<'n>(&self, name: &'n str) -> Option<(&'n str, Range<u32>)> {
        several_terminals(name, |radio| self.0.get(radio).copied())
    }

    /// The flows for which one stands: one for each terminal if one of its ends is all terminals of a radio. These are numbered, be it one.
    pub fn flows(&self, flow: &Flow) -> Vec<Flow> {
        if !self.is_several(&flow.from) && !self.is_several(&flow.to) {
            return vec![flow.clone()];
        }
        let (from, to) = (self.called(&flow.from), self.called(&flow.to));
        let pairs = from.iter().flat_map(|from| to.iter().map(move |to| (from.clone(), to.clone())));
        let named = |(n, (from, to)): (usize, (String, String))| {
            let name = if flow.name.is_empty() { String::new() } else { format!("{}[{n}]", flow.name) };
            Flow { name, from, to, ..flow.clone() }
        };
        pairs.enumerate().map(named).collect()
    }
}

/// The most terminals of a radio.
const MOST_TERMINALS: u32 = 100_000;

/// Whether a radio, which is `what`, can have this number of terminals.
fn countable(what: &str, ues: u32) -> Result<(), Fault> {
    if (1..=MOST_TERMINALS).contains(&ues) {
        return Ok(());
    }
    Err(Fault::new("ues", format!("{what} of {ues} terminals"), format!("expected 1 to {MOST_TERMINALS}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_terminals_that_there_are() {
        let of = |name| several_terminals(name, |radio| (radio == "cell").then_some(30));
        for (name, terminals) in [
            ("cell.ue[*]", 0..30),
            ("cell.ue[0:15]", 0..15),
            ("cell.ue[15:]", 15..30),
            ("cell.ue[:2]", 0..2),
            ("cell.ue[29:30]", 29..30),
        ] {
            assert_eq!(of(name), Some(("cell", terminals)), "{name}");
        }
        for name in [
            "cell.ue[3]",
            "cell.ue[0:31]",
            "cell.ue[5:5]",
            "cell.ue[6:5]",
            "cell.ue[-1:2]",
            "cell.ue[1:2:3]",
            "sell.ue[*]",
            "cell",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(of("cell.ue[*"), None);
        assert_eq!(of("cell.ue[0:99999999999]"), None);
    }
}
