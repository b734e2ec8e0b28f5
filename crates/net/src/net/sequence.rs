//! Which numbers of a sequence have come.

use std::collections::BTreeMap;

use super::observe::Probe;

/// The numbers of a sequence that have come, from 0 on: all up to the highest, without gaps.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// One more than the highest number that has come.
    next: u64,
    /// The gaps below it: first number missing, and one more than the last.
    gaps: BTreeMap<u64, u64>,
    missing: u64,
    /// How many numbers have come.
    came: u64,
}

/// How a number comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It is higher than all before.
    Ahead,
    /// It is lower, and comes for the first time: reordered, as RFC 4737 §3.3 defines it.
    Late,
    /// It has come before.
    Again,
}

/// The most gaps that are remembered, 1.5 MB of them. Of numbers in an older gap, but not in one at the start, it is not known
/// any more that they are missing: they count as duplicates.
const GAPS: usize = 1 << 16;

impl Sequence {
    /// Takes a number.
    #[inline]
    pub fn take(&mut self, number: u64) -> Came {
        if number == self.next {
            self.next += 1;
            self.came += 1;
            return Came::Ahead;
        }
        self.take_out_of_order(number)
    }

    /// Numbers below this one that have not come are not missed: they were not sent here.
    pub fn begin_at(&mut self, number: u64) {
        self.next = self.next.max(number);
    }

    /// The numbers begin anew; the counts go on.
    pub fn restart(&mut self) {
        *self = Self { missing: self.missing, came: self.came, ..Self::default() };
    }

    #[cold]
    fn take_out_of_order(&mut self, number: u64) -> Came {
        if number > self.next {
            self.missing += number - self.next;
            self.gaps.insert(self.next, number);
            if self.gaps.len() > GAPS {
                // The gap at the start is counted apart, so it stays.
                let oldest = self.gaps.keys().copied().find(|&first| first > 0);
                oldest.and_then(|first| self.gaps.remove(&first));
            }
            self.next = number + 1;
            self.came += 1;
            return Came::Ahead;
        }
        let gap = self.gaps.range(..=number).next_back().map(|(&first, &end)| (first, end));
        let Some((first, end)) = gap.filter(|(_, end)| number < *end) else { return Came::Again };
        self.missing -= 1;
        self.came += 1;
        self.gaps.remove(&first);
        if first < number {
            self.gaps.insert(first, number);
        }
        if number + 1 < end {
            self.gaps.insert(number + 1, end);
        }
        Came::Late
    }

    /// How many numbers below the highest have not come.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// How many have come and have not, as the table `flows` reads it.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("distinct_packets", self.came as f64);
        probe.value("missing_packets", self.missing as f64);
    }

    /// How many numbers below the first one that came have not come.
    pub fn missing_at_start(&self) -> u64 {
        self.gaps.get(&0).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gaps_are_filled_once() {
        let mut sequence = Sequence::default();
        let came: Vec<Came> = [2, 3, 7, 2, 5, 5, 0, 8, 1, 4, 6, 6].map(|n| sequence.take(n)).to_vec();
        use Came::{Again, Ahead, Late};
        assert_eq!(came, [Ahead, Ahead, Ahead, Again, Late, Again, Late, Ahead, Late, Late, Late, Again]);
        assert_eq!(sequence.missing(), 0);
        assert!(sequence.gaps.is_empty());
    }

    #[test]
    fn what_is_missing_at_the_start_is_told_apart() {
        let mut sequence = Sequence::default();
        assert_eq!([10, 11, 14].map(|n| sequence.take(n)), [Came::Ahead; 3]);
        assert_eq!((sequence.missing(), sequence.missing_at_start()), (12, 10));
    }

    #[test]
    fn what_was_not_sent_here_is_not_missed() {
        let mut sequence = Sequence::default();
        sequence.begin_at(10);
        assert_eq!([10, 12].map(|n| sequence.take(n)), [Came::Ahead; 2]);
        sequence.begin_at(20);
        sequence.begin_at(5);
        assert_eq!([20, 11, 15].map(|n| sequence.take(n)), [Came::Ahead, Came::Late, Came::Again]);
        assert_eq!((sequence.missing(), sequence.came), (0, 4));
        sequence.take(23);
        sequence.restart();
        sequence.begin_at(1);
        assert_eq!([1, 3, 22].map(|n| sequence.take(n)), [Came::Ahead; 3]);
        assert_eq!((sequence.missing(), sequence.came), (2 + 1 + 18, 8));
    }

    #[test]
    fn gaps_of_long_ago_are_forgotten() {
        let mut sequence = Sequence::default();
        for n in 0..=GAPS as u64 {
            sequence.take(2 * n + 1);
        }
        assert_eq!((sequence.take(2), sequence.take(4)), (Came::Again, Came::Late));
        // Forgotten numbers stay missing.
        assert_eq!(sequence.missing(), GAPS as u64);
    }

    #[test]
    fn what_is_missing_at_the_start_is_not_forgotten() {
        let mut sequence = Sequence::default();
        for n in 0..=GAPS as u64 + 5 {
            sequence.take(10 + 2 * n);
        }
        assert_eq!((sequence.missing_at_start(), sequence.gaps.len()), (10, GAPS));
    }

    proptest! {
        #[test]
        fn it_knows_what_a_set_knows(numbers in prop::collection::vec(0u64..60, 0..120)) {
            let mut sequence = Sequence::default();
            let mut set = BTreeSet::new();
            for n in numbers {
                let expected = match set.last() {
                    _ if set.contains(&n) => Came::Again,
                    Some(&highest) if n < highest => Came::Late,
                    _ => Came::Ahead,
                };
                prop_assert_eq!(sequence.take(n), expected);
                set.insert(n);
                prop_assert_eq!(sequence.missing(), set.last().unwrap() + 1 - set.len() as u64);
                prop_assert_eq!(sequence.came, set.len() as u64);
            }
        }
    }
}
