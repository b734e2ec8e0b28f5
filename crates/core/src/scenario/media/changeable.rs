//! What a change can be made to, by name: a link, a radio or a constellation with all its terminals, or one of these.

use std::ops::Range;

use crate::engine::Fault;
use crate::engine::fault::shown;
use crate::scenario::change::Change;
use crate::scenario::diagnostic::listed;
use crate::scenario::types::Scenario;

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

/// All that can be changed in a scenario, in the order of names.
pub struct Changeables(Box<[(Box<str>, Changeable, Numbered)]>);

/// Whether the ends are terminals called `NAME.ue[0]`, `NAME.ue[1]`, ….
#[derive(Clone, Copy, PartialEq, Eq)]
struct Numbered(bool);

impl Changeables {
    /// Those of `scenario`.
    pub fn of(scenario: &Scenario) -> Self {
        let (mut all, mut named) = (Vec::<(Box<str>, _, _)>::new(), Vec::new());
        for ((_, config), medium) in scenario.media().zip(0..) {
            let (takes, ends) = (config.changes(), config.changing());
            let numbered = Numbered(config.terminals() > 0);
            all.push((config.name().into(), Changeable { medium, ends: ends.clone(), takes }, numbered));
            let made_from = config.joins().len() as u32 + config.terminals();
            if ends.start >= made_from {
                let names = config.makes().into_iter().skip((ends.start - made_from) as usize).map(|made| made.name);
                let one = |end| Changeable { medium, ends: end..end + 1, takes };
                named.extend(ends.zip(names).map(|(end, name)| (name.into(), one(end), Numbered(false))));
            }
        }
        // Of one name the medium comes first, then what it makes.
        all.append(&mut named);
        all.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        all.dedup_by(|(later, ..), (first, ..)| later == first);
        Self(all.into())
    }

    fn find(&self, name: &str) -> Option<&(Box<str>, Changeable, Numbered)> {
        let place = self.0.binary_search_by(|(other, ..)| (**other).cmp(name)).ok()?;
        Some(&self.0[place])
    }

    /// What this name stands for.
    pub fn get(&self, name: &str) -> Option<Changeable> {
        if let Some((_, one, _)) = self.find(name) {
            return Some(one.clone());
        }
        let (radio, number) = name.strip_suffix(']')?.rsplit_once(".ue[")?;
        let (_, all, _) = self.find(radio).filter(|(.., numbered)| *numbered == Numbered(true))?;
        if number == "*" {
            return Some(all.clone());
        }
        let number: u32 = number.parse().ok().filter(|n: &u32| n.to_string() == number)?;
        let end = all.ends.start.checked_add(number).filter(|end| all.ends.contains(end))?;
        Some(Changeable { ends: end..end + 1, ..all.clone() })
    }

    /// The names, without those of numbered terminals.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, ..)| &**name)
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
        for all in ["cell", "cell.ue[*]"] {
            assert_eq!(ends(&scenario, all), Some((1, 1..12)));
        }
        assert_eq!(ends(&scenario, "cell.ue[10]"), Some((1, 11..12)));
        assert_eq!(ends(&scenario, "sky"), Some((2, 66..68)));
        assert_eq!(ends(&scenario, "berlin"), Some((2, 66..67)));
        for nothing in ["cell.ue[11]", "cell.ue[01]", "cell.ue[4294967295]", "wire.ue[0]", "sky.sat[0]", "server", ""] {
            assert_eq!(ends(&scenario, nothing), None, "{nothing}");
        }
    }
}
