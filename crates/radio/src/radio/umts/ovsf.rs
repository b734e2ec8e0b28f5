//! The tree of orthogonal codes (OVSF) of a cell's downlink, 3GPP TS 25.213 §4.3.1.
//!
//! A code of spreading factor SF carries one symbol in SF chips. Two codes are orthogonal unless one
//! is an ancestor of the other, so a code is free only if neither it nor any ancestor or descendant
//! of it is in use. The tree does not know the users of codes.

use std::collections::BTreeSet;

use lasthop_net::engine::BitRate;

/// A code: C(ch, SF, k) of TS 25.213 §4.3.1.1. Its parent is (SF/2, ⌊k/2⌋).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    /// The spreading factor, a power of two from 4 to 512.
    pub sf: u32,
    /// The number among the codes of this factor, from 0.
    pub k: u32,
}

/// The common pilot channel (TS 25.213 §5.2.1).
pub const CPICH: Code = Code { sf: 256, k: 0 };
/// The primary common control physical channel, which carries BCH (TS 25.213 §5.2.1).
pub const P_CCPCH: Code = Code { sf: 256, k: 1 };
/// The secondary common control physical channel of FACH. The standard leaves its code to the network.
pub const S_CCPCH: Code = Code { sf: 64, k: 1 };

/// The codes of a physical channel: their spreading factor and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The spreading factor.
    pub sf: u32,
    /// How many codes of it.
    pub codes: u32,
}

/// The fastest reference bearer of each spreading factor, in bit/s (TS 34.108 §6.10).
const BEARERS: [(u64, u32); 6] = [(3_400, 256), (16_000, 128), (32_000, 64), (64_000, 32), (144_000, 16), (384_000, 8)];
/// What a code of SF 4 carries: twice as much as one of SF 8.
const SHORTEST: u64 = 768_000;

impl Spread {
    /// The codes of a downlink channel of this rate of RLC's PDUs: one code, as long as a reference bearer's. Above 384 kbit/s it takes
    /// several codes of SF 4, so 2048 kbit/s take three.
    pub fn of(rate: BitRate) -> Self {
        match BEARERS.into_iter().find(|(most, _)| rate.as_bps() <= *most) {
            Some((_, sf)) => Self { sf, codes: 1 },
            None => Self { sf: 4, codes: u32::try_from(rate.as_bps().div_ceil(SHORTEST)).unwrap_or(u32::MAX) },
        }
    }
}

/// Which codes of a cell are free.
///
/// It keeps the roots of the largest subtrees in which nothing is in use.
#[derive(Clone, Debug)]
pub struct Tree {
    /// For each level (SF 1 at level 0, SF 512 at level 9) the numbers of these roots.
    free: [BTreeSet<u32>; LEVELS],
    /// The capacity in use, in codes of SF 512.
    used: u32,
}

/// Spreading factors 1 to 512.
const LEVELS: usize = 10;
/// The codes of the longest spreading factor.
const LEAVES: u32 = 512;

impl Tree {
    /// A tree of which nothing is in use.
    pub fn new() -> Self {
        let mut free = [const { BTreeSet::new() }; LEVELS];
        free[0].insert(0);
        Self { free, used: 0 }
    }

    /// A cell's tree with its common channels: CPICH, BCH and FACH.
    pub fn of_cell() -> Self {
        let mut tree = Self::new();
        for code in [CPICH, P_CCPCH, S_CCPCH] {
            let free = tree.reserve(code);
            debug_assert!(free, "the codes of the common channels are orthogonal");
        }
        tree
    }

    /// Takes the leftmost free code of this spreading factor in the smallest free subtree that has one.
    /// So large subtrees stay whole as long as possible.
    pub fn take(&mut self, sf: u32) -> Option<Code> {
        let level = level(sf);
        let (root, k) = (0..=level).rev().find_map(|root| Some((root, *self.free[root].first()?)))?;
        let code = Code { sf, k: k << (level - root) };
        self.take_from(root, code);
        Some(code)
    }

    /// Takes these codes, or none of them.
    pub fn take_all(&mut self, spread: Spread, codes: &mut Vec<Code>) -> bool {
        if self.free_codes(spread.sf) < spread.codes {
            return false;
        }
        codes.extend((0..spread.codes).filter_map(|_| self.take(spread.sf)));
        true
    }

    /// Takes this very code; `false`: it is not free.
    pub fn reserve(&mut self, code: Code) -> bool {
        let level = level(code.sf);
        let root = (0..=level).rev().find(|root| self.free[*root].contains(&(code.k >> (level - root))));
        root.is_some_and(|root| {
            self.take_from(root, code);
            true
        })
    }

    /// Gives back a code that was taken.
    pub fn release(&mut self, code: Code) {
        let (mut level, mut k) = (level(code.sf), code.k);
        self.used -= LEAVES / code.sf;
        // With a free sibling the parent is free.
        while level > 0 && self.free[level].remove(&(k ^ 1)) {
            level -= 1;
            k /= 2;
        }
        let is_new = self.free[level].insert(k);
        debug_assert!(is_new, "only codes that were taken are given back");
    }

    /// How many codes of this spreading factor are free, if only such are taken.
    pub fn free_codes(&self, sf: u32) -> u32 {
        let level = level(sf);
        (0..=level).map(|root| (self.free[root].len() as u32) << (level - root)).sum()
    }

    /// The share of the tree that is in use, 0 to 1.
    pub fn used(&self) -> f64 {
        f64::from(self.used) / f64::from(LEAVES)
    }

    /// Takes a code below the root of a free subtree; the siblings on the way to it stay free.
    fn take_from(&mut self, root: usize, code: Code) {
        let level = level(code.sf);
        self.free[root].remove(&(code.k >> (level - root)));
        for below in root + 1..=level {
            self.free[below].insert((code.k >> (level - below)) ^ 1);
        }
        self.used += LEAVES / code.sf;
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

fn level(sf: u32) -> usize {
    debug_assert!(sf.is_power_of_two() && (4..=LEAVES).contains(&sf), "a spreading factor of {sf}");
    sf.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether two codes are not orthogonal: one is the other, or an ancestor of it.
    fn clash(a: Code, b: Code) -> bool {
        let (short, long) = if a.sf <= b.sf { (a, b) } else { (b, a) };
        long.k / (long.sf / short.sf) == short.k
    }

    #[test]
    fn beside_the_common_channels_31_codes_of_sf_32_remain() {
        // Those three lie below (32, 0) of 32 codes.
        let mut tree = Tree::of_cell();
        assert_eq!(tree.free_codes(32), 31);
        // HS-PDSCH has SF 16 (TS 25.211 §5.3.3.13): 12 of 15 free ones leave three, and (32, 1).
        for _ in 0..12 {
            assert!(tree.take(16).is_some());
        }
        assert_eq!(tree.free_codes(32), 7);
        assert_eq!((0..20).filter(|_| tree.take(32).is_some()).count(), 7);
    }

    #[test]
    fn the_leftmost_code_of_the_smallest_free_subtree_is_taken() {
        let mut tree = Tree::of_cell();
        // Beside CPICH and P-CCPCH the smallest free subtree is (128, 1).
        assert_eq!(tree.take(256), Some(Code { sf: 256, k: 2 }));
        assert_eq!(tree.take(512), Some(Code { sf: 512, k: 6 }));
        assert_eq!(tree.take(512), Some(Code { sf: 512, k: 7 }));
        // Then the smallest free subtree is (32, 1).
        assert_eq!(tree.take(128), Some(Code { sf: 128, k: 4 }));
        assert_eq!(tree.take(64), Some(Code { sf: 64, k: 3 }));
        assert_eq!(tree.take(32), Some(Code { sf: 32, k: 2 }));
        assert_eq!(tree.take(4), Some(Code { sf: 4, k: 1 }));
    }

    #[test]
    fn rates_take_the_spreading_factors_of_the_reference_bearers() {
        // TS 34.108 §6.10.2.4: the rate of the bearer, its spreading factor and number of codes.
        for (kbps, sf, codes) in [(8, 128, 1), (32, 64, 1), (64, 32, 1), (128, 16, 1), (384, 8, 1), (2048, 4, 3)] {
            assert_eq!(Spread::of(BitRate::from_bps(kbps * 1000)), Spread { sf, codes }, "{kbps} kbit/s");
        }
    }

    proptest! {
        /// Against the rule as TS 25.213 words it: codes in use are orthogonal, and a code is refused
        /// only if each of its factor has an ancestor or descendant in use.
        #[test]
        fn codes_in_use_are_orthogonal(steps in prop::collection::vec((0u32..8, 0usize..20, 0u32..512), 1..200)) {
            let mut tree = Tree::new();
            let mut used: Vec<Code> = Vec::new();
            for (kind, which, k) in steps {
                let sf = 4 << kind;
                let is_free = |code: Code| used.iter().all(|other| !clash(code, *other));
                let free: Vec<Code> = (0..sf).map(|k| Code { sf, k }).filter(|code| is_free(*code)).collect();
                prop_assert_eq!(tree.free_codes(sf), free.len() as u32);
                if which < used.len() && which % 3 == 0 {
                    tree.release(used.swap_remove(which));
                } else if which % 3 == 1 {
                    let code = Code { sf, k: k % sf };
                    let taken = tree.reserve(code);
                    prop_assert_eq!(taken, is_free(code));
                    used.extend(taken.then_some(code));
                } else {
                    let code = tree.take(sf);
                    prop_assert_eq!(code.is_some(), !free.is_empty());
                    prop_assert!(code.is_none_or(|code| free.contains(&code)));
                    used.extend(code);
                }
                let share: f64 = used.iter().map(|code| 1.0 / f64::from(code.sf)).sum();
                prop_assert_eq!(tree.used(), share);
            }
        }
    }
}
