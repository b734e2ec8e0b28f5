//! What distributions have got since they were looked at last.

use std::collections::BTreeMap;

use crate::net::{Histogram, What};

use super::part::{Distribution, Part, Reading};

/// Distributions as they were when they were looked at last.
#[derive(Debug, Default)]
pub(super) struct Recent {
    before: BTreeMap<(Whose, String, &'static str), Histogram>,
}

/// Whose a part is, besides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    /// Of a medium: the kind of part.
    Medium(&'static str),
    /// Of the flow at this place: which of its ends, or its source.
    Flow(u32, &'static str),
}

impl Recent {
    /// Reads those distributions of media of which `wanted` names a statistic.
    pub fn of_media<'a>(&'a mut self, wanted: &'a [String]) -> impl Reading + 'a {
        Look { recent: self, wanted, flow: None }
    }

    /// The same for an end of the flow at this place, or its source.
    pub fn of_flow<'a>(&'a mut self, wanted: &'a [String], place: u32, end: &'static str) -> impl Reading + 'a {
        Look { recent: self, wanted, flow: Some(Whose::Flow(place, end)) }
    }
}

/// Looks at the parts of one owner.
struct Look<'a> {
    recent: &'a mut Recent,
    wanted: &'a [String],
    flow: Option<Whose>,
}

impl Reading for Look<'_> {
    fn wants(&self, name: &'static str) -> bool {
        self.wanted.iter().any(|quantity| quantity.starts_with(name))
    }

    fn read(&mut self, part: &Part, name: &'static str, histogram: &Histogram, scale: f64) -> Distribution {
        let whose = self.flow.unwrap_or(Whose::Medium(part.what.map_or("", What::name)));
        let before = self.recent.before.entry((whose, part.name.clone(), name)).or_default();
        let before = std::mem::replace(before, histogram.clone());
        Distribution::of(&histogram.since(&before), scale)
    }
}
