//! Items with a deadline each, found by key and in the order of their deadlines.

use std::collections::{BTreeMap, BTreeSet};

use lasthop_net::engine::Instant;

/// Values by key, each with the instant at which something is to be done about it.
#[derive(Clone, Debug)]
pub struct Deadlines<K, V> {
    values: BTreeMap<K, (Instant, V)>,
    order: BTreeSet<(Instant, K)>,
}

impl<K, V> Default for Deadlines<K, V> {
    fn default() -> Self {
        Self { values: BTreeMap::new(), order: BTreeSet::new() }
    }
}

impl<K: Ord + Copy, V> Deadlines<K, V> {
    /// Adds a value, or replaces one.
    pub fn insert(&mut self, key: K, due: Instant, value: V) {
        self.remove(key);
        self.values.insert(key, (due, value));
        self.order.insert((due, key));
    }

    /// Takes a value away.
    pub fn remove(&mut self, key: K) -> Option<V> {
        if self.values.is_empty() {
            return None;
        }
        let (due, value) = self.values.remove(&key)?;
        self.order.remove(&(due, key));
        Some(value)
    }

    /// Takes the first of those away that are due.
    pub fn pop_due(&mut self, now: Instant) -> Option<(K, V)> {
        let &(due, key) = self.order.first()?;
        if due > now {
            return None;
        }
        self.remove(key).map(|value| (key, value))
    }

    /// Takes the one with the lowest key away, if that is below `end`.
    pub fn pop_below(&mut self, end: K) -> Option<(K, V)> {
        let key = *self.values.first_key_value()?.0;
        if key >= end {
            return None;
        }
        self.remove(key).map(|value| (key, value))
    }

    /// A value.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.values.get_mut(&key).map(|(_, value)| value)
    }

    /// Whether there is such a value.
    pub fn contains(&self, key: K) -> bool {
        self.values.contains_key(&key)
    }

    /// The earliest instant.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        self.order.first().map(|(due, _)| *due)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.values.clear();
        self.order.clear();
    }
}
