//! What a change can be made to, by name: a link, a radio or a constellation with all its terminals, or one of these.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::engine::Fault;
use crate::engine::fault::shown;
use crate::scenario::change::Change;
use crate::scenario::diagnostic::listed;
use crate::scenario::types::Scenario;

use super::several_terminals;

/// Something that a change can be made to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changeable {
    /// Its medium, by its number in the order in which media are built.
    pub medium: u32,
    /// The ends of the medium to which ways change. A link stands for one.
    pub ends: Range<u32>,
    /// The fields of a change that it takes.
    pub takes: &'static [&'static str],
}

impl Changeable {
    /// Whether it takes what a change changes, and whether that makes sense.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self, change: &Change) -> Result<(), Fault> {
        let Self { takes, .. } = self;
        if takes.is_empty() {
            return Err(Fault::new("link", format!("nothing of {} can be changed", shown(&change.link)), ""));
        }
        let expected = || format!("expected {}", listed(takes.iter().copied()));
        let changed = change.changed();
        if changed.is_empty() {
            let message = format!("the change of {} changes nothing", shown(&change.link));
            return Err(Fault::new("", message, expected()));
        }
        if let Some(other) = changed.into_iter().find(|field| !takes.contains(field)) {
            return Err(Fault::new(other, format!("{} has no {other} to change", shown(&change.link)), expected()));
        }
        change.check()
    }
}

/// All that can be changed in a scenario.
pub struct Changeables {
    /// In the order of names.
    all: Box<[(Box<str>, Changeable)]>,
    /// Those whose ends are terminals called `NAME.ue[0]`, `NAME.ue[1]`, …. A link may have the same name.
    radios: BTreeMap<Box<str>, Changeable>,
}

impl Changeables {
    /// Those of `scenario`.
    pub fn of(scenario: &Scenario) -> Self {
        let (mut all, mut named, mut radios) = (Vec::<(Box<str>, _)>::new(), Vec::new(), BTreeMap::new());
        for ((_, config), medium) in scenario.media().zip(0..) {
            let (takes, ends) = (config.changes(), config.changing());
            let one = Changeable { medium, ends: ends.clone(), takes };
            if config.terminals() > 0 {
                radios.entry(config.name().into()).or_insert_with(|| one.clone());
            }
            all.push((config.name().into(), one));
            let made_from = config.joins().len() as u32 + config.terminals();
            if ends.start >= made_from {
                let names = config.makes().into_iter().skip((ends.start - made_from) as usize).map(|made| made.name);
                let one = |end| Changeable { medium, ends: end..end + 1, takes };
                named.extend(ends.zip(names).map(|(end, name)| (name.into(), one(end))));
            }
        }
        // Of one name the medium comes first, then what it makes.
        all.append(&mut named);
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all.dedup_by(|(later, _), (first, _)| later == first);
        Self { all: all.into(), radios }
    }

    /// What this name stands for.
    pub fn get(&self, name: &str) -> Option<Changeable> {
        if let Ok(place) = self.all.binary_search_by(|(other, _)| (**other).cmp(name)) {
            return Some(self.all[place].1.clone());
        }
        let count = |radio: &str| self.radios.get(radio).map(|radio| radio.ends.len() as u32);
        if let Some((radio, some)) = several_terminals(name, count) {
            let all = &self.radios[radio];
            return Some(Changeable { ends: all.ends.start + some.start..all.ends.start + some.end, ..all.clone() });
        }
        let (radio, number) = name.strip_suffix(']')?.rsplit_once(".ue[")?;
        let all = self.radios.get(radio)?;
        let number: u32 = number.parse().ok().filter(|n: &u32| n.to_string() == number)?;
        let end = all.ends.start.checked_add(number).filter(|end| all.ends.contains(end))?;
        Some(Changeable { ends: end..end + 1, ..all.clone() })
    }

    /// The names, without those of numbered terminals.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(name, _)| &**name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::read;

    fn ends(scenario: &Scenario, name: &str) -> Option<(u32, Range<u32>)> {
        Changeables::of(scenario).get(name).map(|one| (one.medium, one.ends))
    }

    #[test]
    fn a_name_stands_for_a_link_a_radio_or_one_terminal() {
        let text = r#"
            duration = "1 s"
            [[link]]
            name = "wire"
            between = ["server", "rnc"]
            rate = "1 Mbit/s"
            [[hsdpa]]
            name = "cell"
            node = "rnc"
            ues = 11
            [[constellation]]
            name = "sky"
            terminal = [
                { node = "berlin", latitude = "52.5 deg", longitude = "13.4 deg" },
                { node = "wire", latitude = "0 deg", longitude = "0 deg" },
            ]
            "#;
        let scenario = read::toml(text, "text").unwrap().scenario;
        assert_eq!(ends(&scenario, "wire"), Some((0, 0..1)), "and not the node of this name");
        for all in ["cell", "cell.ue[*]", "cell.ue[0:11]"] {
            assert_eq!(ends(&scenario, all), Some((1, 1..12)));
        }
        assert_eq!(ends(&scenario, "cell.ue[2:4]"), Some((1, 3..5)));
        assert_eq!(ends(&scenario, "cell.ue[10]"), Some((1, 11..12)));
        assert_eq!(ends(&scenario, "sky"), Some((2, 66..68)));
        assert_eq!(ends(&scenario, "berlin"), Some((2, 66..67)));
        for nothing in [
            "cell.ue[11]",
            "cell.ue[01]",
            "cell.ue[4294967295]",
            "cell.ue[9:12]",
            "wire.ue[0]",
            "sky.sat[0]",
            "server",
            "",
        ] {
            assert_eq!(ends(&scenario, nothing), None, "{nothing}");
        }
    }

    /// The cell's terminals had no names where a link was called as the cell.
    #[test]
    fn terminals_are_found_beside_a_link_of_the_same_name() {
        let text = r#"
            link = [{ name = "cell", between = ["server", "rnc"], rate = "1 Mbit/s" }]
            cell = [{ name = "cell", rnc = "rnc", ues = 2 }]
            "#;
        let scenario = read::toml(text, "text").unwrap().scenario;
        assert_eq!(ends(&scenario, "cell"), Some((0, 0..1)), "the link");
        assert_eq!(ends(&scenario, "cell.ue[1]"), Some((1, 2..3)));
        assert_eq!(ends(&scenario, "cell.ue[*]"), Some((1, 1..3)));
    }
}
