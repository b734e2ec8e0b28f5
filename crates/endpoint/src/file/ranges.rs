//! A set of bytes of a file, as ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges that neither overlap nor touch: from the first byte to the byte after the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range. Says whether any of it is new.
    pub fn add(&mut self, range: Range<u64>) -> bool {
        let Range { mut start, mut end } = range;
        if start >= end {
            return false;
        }
        if self.0.range(..=start).next_back().is_some_and(|(_, &known)| known >= end) {
            return false;
        }
        while let Some((&first, &last)) = self.0.range(..=end).next_back().filter(|(_, last)| **last >= start) {
            self.0.remove(&first);
            (start, end) = (start.min(first), end.max(last));
        }
        self.0.insert(start, end);
        true
    }

    /// How many ranges.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|(&start, &end)| start..end)
    }

    /// The ranges below `length` that are not in the set, in their order.
    pub fn missing(&self, length: u64) -> impl Iterator<Item = Range<u64>> {
        let ends = self.0.iter().map(|(&start, &end)| (start, end)).chain([(length, length)]);
        let mut from = 0;
        ends.filter_map(move |(start, end)| {
            let gap = from..start.min(length);
            from = end;
            (!gap.is_empty()).then_some(gap)
        })
    }

    /// Whether all bytes below `length` are in it.
    pub fn has_all(&self, length: u64) -> bool {
        self.missing(length).next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set of single bytes.
        #[test]
        fn it_is_the_set_of_its_bytes(ranges in proptest::collection::vec((0u64..60, 0u64..12), 0..30)) {
            let (mut set, mut bytes) = (Ranges::default(), [false; 80]);
            for (start, length) in ranges {
                let new = (start..start + length).any(|byte| !bytes[byte as usize]);
                prop_assert_eq!(set.add(start..start + length), new);
                bytes[start as usize..(start + length) as usize].fill(true);
            }
            for byte in 0..72u64 {
                let missing = set.missing(72).any(|range| range.contains(&byte));
                prop_assert_eq!(missing, !bytes[byte as usize]);
                prop_assert_eq!(set.iter().any(|range| range.contains(&byte)), bytes[byte as usize]);
            }
            let ends: Vec<_> = set.iter().collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0].end < pair[1].start));
            prop_assert_eq!(set.has_all(5), bytes[..5].iter().all(|byte| *byte));
        }
    }
}
