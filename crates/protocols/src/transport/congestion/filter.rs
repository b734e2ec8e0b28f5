//! The least or the greatest of recent values.

use std::collections::VecDeque;

/// Extremes over a window of times, which may be instants or counted rounds.
#[derive(Clone, Debug, Default)]
struct Window<K, V> {
    /// From the best value on, each later one the best of those that came after it.
    kept: VecDeque<(K, V)>,
}

impl<K: Copy + PartialOrd, V: Copy> Window<K, V> {
    fn update(&mut self, at: K, value: V, from: K, better: impl Fn(&V, &V) -> bool) -> V {
        while self.kept.back().is_some_and(|(_, last)| !better(last, &value)) {
            self.kept.pop_back();
        }
        self.kept.push_back((at, value));
        while self.kept.front().is_some_and(|(then, _)| *then < from) && self.kept.len() > 1 {
            self.kept.pop_front();
        }
        self.kept.front().map_or(value, |(_, best)| *best)
    }

    fn best(&self) -> Option<V> {
        self.kept.front().map(|(_, best)| *best)
    }
}

/// The least of recent values.
#[derive(Clone, Debug, Default)]
pub struct Least<K, V>(Window<K, V>);

impl<K: Copy + PartialOrd, V: Copy + PartialOrd> Least<K, V> {
    /// A value of the time `at`; the least since `from`. The newest value always counts.
    pub fn update(&mut self, at: K, value: V, from: K) -> V {
        self.0.update(at, value, from, |kept, new| kept < new)
    }

    /// The least at the last update.
    pub fn get(&self) -> Option<V> {
        self.0.best()
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.0.kept.clear();
    }
}

/// The greatest of recent values.
#[derive(Clone, Debug, Default)]
pub struct Greatest<K, V>(Window<K, V>);

impl<K: Copy + PartialOrd, V: Copy + PartialOrd> Greatest<K, V> {
    /// A value of the time `at`; the greatest since `from`. The newest value always counts.
    pub fn update(&mut self, at: K, value: V, from: K) -> V {
        self.0.update(at, value, from, |kept, new| kept > new)
    }

    /// The greatest at the last update.
    pub fn get(&self) -> Option<V> {
        self.0.best()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_those_of_the_window() {
        let values = [5, 3, 8, 8, 2, 9, 7, 7, 1, 6, 4];
        let (mut least, mut greatest) = (Least::default(), Greatest::default());
        for (at, value) in values.into_iter().enumerate() {
            let from = at.saturating_sub(2);
            let recent = &values[from..=at];
            assert_eq!(least.update(at, value, from), *recent.iter().min().unwrap());
            assert_eq!(greatest.update(at, value, from), *recent.iter().max().unwrap());
            assert_eq!((least.get(), greatest.get()), (recent.iter().min().copied(), recent.iter().max().copied()));
        }
        least.clear();
        assert_eq!(least.get(), None);
    }
}
