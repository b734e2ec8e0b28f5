//! The sets of terminals to which satellites send packets for several.

use std::collections::BTreeMap;

/// Every set that there was, by number. Handoffs, joins and leaves make new ones, and packets under way have their numbers.
#[derive(Default)]
pub struct Audiences {
    sets: Vec<Vec<u32>>,
    numbers: BTreeMap<Vec<u32>, u32>,
    /// The set that is looked for.
    wanted: Vec<u32>,
}

impl Audiences {
    /// The number of a set.
    pub fn number(&mut self, terminals: impl Iterator<Item = u32>) -> u32 {
        self.wanted.clear();
        self.wanted.extend(terminals);
        if let Some(number) = self.numbers.get(&self.wanted) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(self.wanted.clone());
        self.numbers.insert(self.wanted.clone(), number);
        number
    }

    /// The set of this number.
    pub fn of(&self, number: u32) -> &[u32] {
        &self.sets[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_its_number() {
        let mut audiences = Audiences::default();
        let sets: [&[u32]; 3] = [&[1, 2], &[1, 2, 3], &[2, 3]];
        for _ in 0..2 {
            for (number, set) in (0..).zip(sets) {
                assert_eq!(audiences.number(set.iter().copied()), number);
                assert_eq!(audiences.of(number), set);
            }
        }
    }
}
