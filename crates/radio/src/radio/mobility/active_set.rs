//! The active set: which cells of one carrier serve a terminal together (3GPP TS 25.331 §14.1.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Decibel, Duration, Fault, Instant, Level};

use super::held::Held;

/// When cells come into the active set and leave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SetRules {
    /// Event 1A: a cell is added that is less than this below the best of the set. Default: 3 dB.
    pub add: Decibel,
    /// Event 1B: a cell is dropped that is more than this below the best. Default: 5 dB.
    pub drop: Decibel,
    /// Event 1C: in a full set a cell takes the place of the worst if it is better by more than this.
    /// Default: 1 dB.
    pub replace: Decibel,
    /// How many cells the set holds. Default: 3.
    pub most: u32,
    /// How long each condition must hold. Default: 200 ms.
    pub held: Duration,
}

impl Default for SetRules {
    fn default() -> Self {
        Self {
            add: Decibel::new(3.0),
            drop: Decibel::new(5.0),
            replace: Decibel::new(1.0),
            most: 3,
            held: Duration::from_millis(200),
        }
    }
}

/// The largest set: the first release's terminals hold six cells (TS 25.133 §8.2).
pub const MOST_LEGS: u32 = 6;

impl SetRules {
    /// Whether they make sense together.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        if !(1..=MOST_LEGS).contains(&self.most) {
            let message = format!("an active set of {} cells", self.most);
            return Err(Fault::new("most", message, format!("expected 1 to {MOST_LEGS}")));
        }
        if self.drop < Decibel::ZERO {
            let message = "the best cell of a set is dropped";
            return Err(Fault::new("drop", message, "expected 0 dB or more"));
        }
        if self.drop < self.add {
            let message = "a cell is dropped that was just added";
            return Err(Fault::new("drop", message, "expected at least `add`"));
        }
        Ok(())
    }
}

/// What an event asks of the active set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetChange {
    /// 1A: this cell joins.
    Add(u32),
    /// 1B: this cell leaves.
    Drop(u32),
    /// 1C: the second takes the place of the first.
    Replace(u32, u32),
}

/// A terminal's active set: the cells in it, in the order in which they joined.
#[derive(Clone, Debug)]
pub struct ActiveSet {
    cells: Vec<u32>,
    /// Of each cell: since when its event's condition holds. In the set 1B, else 1A or 1C.
    held: Vec<Held>,
}

impl ActiveSet {
    /// A set of one cell among `cells`.
    pub fn new(cell: u32, cells: usize) -> Self {
        Self { cells: vec![cell], held: vec![Held::default(); cells] }
    }

    /// Its cells.
    #[inline]
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Only this cell is left, and conditions count anew.
    pub fn become_one(&mut self, cell: u32) {
        self.cells.clear();
        self.cells.push(cell);
        self.held.fill(Held::default());
    }

    /// The best cell of the set, by the measurements of all cells.
    pub fn best(&self, measured: &[Level]) -> u32 {
        let better = |a: u32, b: u32| if measured[b as usize] > measured[a as usize] { b } else { a };
        self.cells.iter().copied().reduce(better).unwrap_or_default()
    }

    fn worst(&self, measured: &[Level]) -> u32 {
        let worse = |a: u32, b: u32| if measured[b as usize] < measured[a as usize] { b } else { a };
        self.cells.iter().copied().reduce(worse).unwrap_or_default()
    }

    /// The measurements of all cells, of which `eligible` may join. Each event whose condition has held long enough is
    /// offered to `allow`, and happens if that says so; else it is offered again at the next measurement.
    pub fn measure(
        &mut self,
        now: Instant,
        rules: &SetRules,
        measured: &[Level],
        eligible: impl Fn(u32) -> bool,
        mut allow: impl FnMut(SetChange) -> bool,
    ) {
        let best = measured[self.best(measured) as usize];
        for place in (0..self.cells.len()).rev() {
            let cell = self.cells[place];
            let weak = measured[cell as usize] < best - rules.drop;
            if self.held[cell as usize].note(now, weak, rules.held) && allow(SetChange::Drop(cell)) {
                self.cells.remove(place);
                self.held[cell as usize].restart();
            }
        }
        let mut candidates: Vec<u32> = (0..measured.len() as u32).filter(|cell| !self.cells.contains(cell)).collect();
        // The best first, if there is not room for all.
        candidates.sort_by(|a, b| measured[*b as usize].dbm().total_cmp(&measured[*a as usize].dbm()));
        for cell in candidates {
            let level = measured[cell as usize];
            let full = self.cells.len() >= rules.most as usize;
            let worst = self.worst(measured);
            let wanted = if full { level > measured[worst as usize] + rules.replace } else { level > best - rules.add };
            if !self.held[cell as usize].note(now, wanted && eligible(cell), rules.held) {
                continue;
            }
            let change = if full { SetChange::Replace(worst, cell) } else { SetChange::Add(cell) };
            if allow(change) {
                self.held[cell as usize].restart();
                if full {
                    self.cells.retain(|other| *other != worst);
                    self.held[worst as usize].restart();
                }
                self.cells.push(cell);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Measures the same levels every 100 ms from `from`, and gives the events with their times.
    fn measure(set: &mut ActiveSet, from: u64, times: u64, levels: &[f64], room: bool) -> Vec<(u64, SetChange)> {
        let measured: Vec<Level> = levels.iter().map(|dbm| Level::from_dbm(*dbm)).collect();
        let mut happened = Vec::new();
        for n in 0..times {
            let at = from + 100 * n;
            set.measure(
                ms(at),
                &SetRules::default(),
                &measured,
                |_| true,
                |change| {
                    if room {
                        happened.push((at, change));
                    }
                    room
                },
            );
        }
        happened
    }

    #[test]
    fn a_cell_joins_within_3_db_of_the_best_for_200_ms() {
        for (level, joins) in [(-83.1, false), (-83.0, false), (-82.9, true), (-70.0, true)] {
            let mut set = ActiveSet::new(0, 2);
            let happened = measure(&mut set, 0, 4, &[-80.0, level], true);
            assert_eq!(happened, if joins { vec![(200, SetChange::Add(1))] } else { vec![] }, "{level}");
        }
    }

    #[test]
    fn a_cell_leaves_5_db_below_the_best_for_200_ms() {
        for (level, leaves) in [(-84.9, false), (-85.0, false), (-85.1, true)] {
            let mut set = ActiveSet::new(0, 2);
            measure(&mut set, 0, 3, &[-80.0, -80.0], true);
            let happened = measure(&mut set, 1000, 4, &[-80.0, level], true);
            assert_eq!(happened, if leaves { vec![(1200, SetChange::Drop(1))] } else { vec![] }, "{level}");
        }
        let mut set = ActiveSet::new(0, 2);
        measure(&mut set, 0, 3, &[-80.0, -80.0], true);
        assert_eq!(
            measure(&mut set, 1000, 4, &[-90.0, -80.0], true),
            [(1200, SetChange::Drop(0))],
            "the first may leave too"
        );
        assert_eq!(set.cells(), [1]);
    }

    #[test]
    fn in_a_full_set_a_cell_replaces_the_worst_if_1_db_better() {
        for (level, replaces) in [(-81.0, false), (-80.9, true)] {
            let mut set = ActiveSet::new(0, 4);
            measure(&mut set, 0, 3, &[-80.0, -81.0, -82.0, -120.0], true);
            assert_eq!(set.cells(), [0, 1, 2]);
            let happened = measure(&mut set, 1000, 4, &[-80.0, -81.0, -82.0, level], true);
            assert_eq!(happened, if replaces { vec![(1200, SetChange::Replace(2, 3))] } else { vec![] }, "{level}");
        }
    }

    /// By a negative `drop` the best cell would leave, and with it the last one.
    #[test]
    fn rules_by_which_the_best_cell_leaves_are_refused() {
        let fault = |add: f64, drop: f64| {
            let rules = SetRules { add: Decibel::new(add), drop: Decibel::new(drop), ..SetRules::default() };
            rules.check().err().map(|fault| (fault.field.into_owned(), fault.message))
        };
        let refused = |message: &str| Some(("drop".to_owned(), message.to_owned()));
        assert_eq!(fault(-1.0, -1.0), refused("the best cell of a set is dropped"));
        assert_eq!(fault(-3.0, -0.5), refused("the best cell of a set is dropped"));
        assert_eq!(fault(1.0, 0.5), refused("a cell is dropped that was just added"));
        assert_eq!([fault(0.0, 0.0), fault(-1.0, 0.0), fault(3.0, 5.0)], [None, None, None]);
    }

    #[test]
    fn a_break_begins_the_time_anew() {
        let mut set = ActiveSet::new(0, 2);
        assert!(measure(&mut set, 0, 2, &[-80.0, -80.0], true).is_empty());
        assert!(measure(&mut set, 200, 1, &[-80.0, -90.0], true).is_empty());
        assert_eq!(measure(&mut set, 300, 3, &[-80.0, -80.0], true), [(500, SetChange::Add(1))]);
    }

    #[test]
    fn without_room_a_cell_is_asked_for_again() {
        let mut set = ActiveSet::new(0, 2);
        assert!(measure(&mut set, 0, 5, &[-80.0, -80.0], false).is_empty());
        assert_eq!(set.cells(), [0]);
        assert_eq!(measure(&mut set, 500, 1, &[-80.0, -80.0], true), [(500, SetChange::Add(1))]);
    }

    #[test]
    fn of_several_the_best_comes_first() {
        let mut set = ActiveSet::new(0, 5);
        let happened = measure(&mut set, 0, 3, &[-80.0, -82.0, -79.0, -81.0, -90.0], true);
        assert_eq!(happened, [(200, SetChange::Add(2)), (200, SetChange::Add(3))]);
    }
}
