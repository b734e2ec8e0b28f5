//! Sets of sequence numbers.

/// Sequence numbers of AM are taken modulo this (TS 25.322 §9.4).
pub const MODULUS: u64 = 4096;

/// A set of sequence numbers that lie less than [`MODULUS`] apart: a bit for each, and a bit for each word
/// of 64 in which there is one.
#[derive(Clone, Debug)]
pub struct SnSet {
    words: [u64; 64],
    used: u64,
    len: u32,
}

impl SnSet {
    pub fn new() -> Self {
        Self { words: [0; 64], used: 0, len: 0 }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many numbers it holds.
    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn clear(&mut self) {
        *self = Self::new();
    }

    #[inline]
    pub fn contains(&self, sn: u64) -> bool {
        let (word, bit) = place(sn);
        self.words[word] & bit != 0
    }

    pub fn insert(&mut self, sn: u64) {
        let (word, bit) = place(sn);
        self.len += u32::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
        self.used |= 1 << word;
    }

    /// Takes a number out. Whether it was there.
    #[inline]
    pub fn remove(&mut self, sn: u64) -> bool {
        let (word, bit) = place(sn);
        let was = self.words[word] & bit != 0;
        if was {
            self.words[word] &= !bit;
            self.len -= 1;
            if self.words[word] == 0 {
                self.used &= !(1 << word);
            }
        }
        was
    }

    /// The lowest number from `base` on. All lie in the [`MODULUS`] from there.
    #[inline]
    pub fn first_from(&self, base: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let (word, offset) = ((base / 64 % 64) as u32, base % 64);
        let here = self.words[word as usize] >> offset;
        if here != 0 {
            return Some(base + u64::from(here.trailing_zeros()));
        }
        // The other words in order, and last what of this one lies before `base`.
        let ahead = self.used.rotate_right((word + 1) % 64).trailing_zeros() + 1;
        let found = self.words[((word + ahead) % 64) as usize];
        Some(base - offset + 64 * u64::from(ahead) + u64::from(found.trailing_zeros()))
    }
}

/// The word of a number, and its bit there.
#[inline]
fn place(sn: u64) -> (usize, u64) {
    ((sn / 64 % 64) as usize, 1 << (sn % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set_in_a_moving_window(
            start in 0u64..10_000,
            steps in proptest::collection::vec((0u64..4096, 0u64..40, any::<bool>()), 1..400),
        ) {
            let (mut set, mut model, mut base) = (SnSet::new(), BTreeSet::new(), start);
            for (offset, advance, insert) in steps {
                let sn = base + offset;
                if insert {
                    set.insert(sn);
                    model.insert(sn);
                } else {
                    prop_assert_eq!(set.remove(sn), model.remove(&sn));
                }
                for gone in base..base + advance {
                    set.remove(gone);
                    model.remove(&gone);
                }
                base += advance;
                prop_assert_eq!(set.is_empty(), model.is_empty());
                prop_assert_eq!(set.first_from(base), model.first().copied());
                prop_assert_eq!(set.contains(sn), model.contains(&sn));
            }
        }
    }
}
