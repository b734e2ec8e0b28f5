//! The queue of wake-ups, ordered by (time, since, number).
//!
//! `since` is the instant at which the cause of a wake-up began: an arrival's transmission
//! started, a timer was set. Among wake-ups of one instant the one whose cause began earlier
//! comes first, then the one that was entered first. This is the order in which ns-2 runs
//! events, and unlike (time, number) it does not depend on how late a wake-up enters the queue.
//!
//! A key takes 16 bytes: time 64 bits, time − since 40 bits (inverted, so that a smaller key
//! is an earlier cause; saturates at 18 minutes), number 24 bits (renumbered before it wraps).
//! Keys and targets lie in two arrays: a comparison touches keys only.

use std::hint::select_unpredictable;

use super::time::{Duration, Instant};

/// Who is to be woken: a component, and a key whose meaning only the component knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The component's number.
    pub component: u32,
    /// What the wake-up is for; the component's own numbering.
    pub key: u32,
}

const AGE_BITS: u32 = 40;
const NUMBER_BITS: u32 = 24;
const AGE_MAX: u64 = (1 << AGE_BITS) - 1;
const NUMBER_END: u64 = (1 << NUMBER_BITS) - 1;
const _: () = assert!(AGE_BITS + NUMBER_BITS == 64, "time has the upper half of a key");
/// Children of a heap node. Four keys are one cache line.
const ARITY: usize = 4;

/// A wake-up taken from the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// When it happens.
    pub at: Instant,
    /// When its cause began.
    pub since: Instant,
    /// For whom it is.
    pub target: Target,
}

/// A 4-ary heap of wake-ups.
#[derive(Debug, Default)]
pub struct EventQueue {
    /// The heap, filled up with [`VACANT`] so that a node with a child has all four.
    keys: Vec<u128>,
    targets: Vec<Target>,
    /// How many places of the heap are taken.
    len: usize,
    next_number: u64,
    /// The root has been taken, and its place is free for the next push.
    hole: bool,
}

/// A place of the heap that is not taken. No wake-up has this key: the last number is never given.
const VACANT: u128 = u128::MAX;
const NOBODY: Target = Target { component: u32::MAX, key: u32::MAX };

impl EventQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters a wake-up of `target` at `at`, whose cause began at `since` (not after `at`).
    #[inline(always)]
    pub fn push(&mut self, at: Instant, since: Instant, target: Target) {
        if self.next_number == NUMBER_END {
            self.renumber();
        }
        let key = pack(at, since, self.next_number);
        self.next_number += 1;
        if self.hole {
            self.hole = false;
            self.sift_down(key, target);
        } else {
            if self.len == self.keys.len() {
                self.grow();
            }
            self.len += 1;
            self.sift_up(key, target);
        }
    }

    /// Adds a place, and those of its siblings.
    #[cold]
    fn grow(&mut self) {
        let places = if self.len == 0 { 1 } else { self.len + ARITY };
        self.keys.resize(places, VACANT);
        self.targets.resize(places, NOBODY);
    }

    /// Takes the earliest wake-up, if it happens at or before `until`.
    ///
    /// Its place stays free until the next call, so that a machine which arms its next wake-up
    /// while it handles this one replaces the entry instead of removing and inserting.
    #[inline]
    pub fn pop(&mut self, until: Instant) -> Option<Wake> {
        self.close_hole();
        if self.len == 0 {
            return None;
        }
        let wake = unpack(self.keys[0], self.targets[0]);
        if wake.at > until {
            return None;
        }
        self.hole = true;
        Some(wake)
    }

    /// The `since` with which a wake-up at `at` is taken from the queue.
    #[inline]
    pub fn remembered(at: Instant, since: Instant) -> Instant {
        let age = at.since(since).as_nanos().min(AGE_MAX);
        Instant::from_nanos(at.as_nanos() - age)
    }

    /// The earliest wake-up, which stays in the queue.
    pub fn peek(&mut self) -> Option<Wake> {
        self.close_hole();
        (self.len > 0).then(|| unpack(self.keys[0], self.targets[0]))
    }

    /// How many wake-ups wait.
    pub fn len(&self) -> usize {
        self.len - usize::from(self.hole)
    }

    /// Whether no wake-up waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn close_hole(&mut self) {
        if !self.hole {
            return;
        }
        self.hole = false;
        self.len -= 1;
        let key = std::mem::replace(&mut self.keys[self.len], VACANT);
        if self.len > 0 {
            self.sift_down(key, self.targets[self.len]);
        }
    }

    /// Moves the hole at the end up until `key` fits into it.
    #[inline]
    fn sift_up(&mut self, key: u128, target: Target) {
        let mut hole = self.len - 1;
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[hole] = self.keys[parent];
            self.targets[hole] = self.targets[parent];
            hole = parent;
        }
        self.keys[hole] = key;
        self.targets[hole] = target;
    }

    /// Moves the hole at the root down until `key` fits into it.
    #[inline]
    fn sift_down(&mut self, key: u128, target: Target) {
        let keys = self.keys.as_mut_slice();
        let targets = &mut self.targets.as_mut_slice()[..keys.len()];
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            let Some(four) = keys.get(first..first + ARITY) else { break };
            // Two rounds without a branch, which nobody could predict; the values go along, so
            // that no load waits for a comparison.
            let (left, right) = (four[1] < four[0], four[3] < four[2]);
            let left_key = select_unpredictable(left, four[1], four[0]);
            let right_key = select_unpredictable(right, four[3], four[2]);
            let c = select_unpredictable(right_key < left_key, 2 + usize::from(right), usize::from(left));
            let least_key = select_unpredictable(right_key < left_key, right_key, left_key);
            if key <= least_key {
                break;
            }
            keys[hole] = least_key;
            targets[hole] = targets[first + c];
            hole = first + c;
        }
        keys[hole] = key;
        targets[hole] = target;
    }

    /// Gives the waiting entries the numbers 0, 1, … in their present order.
    fn renumber(&mut self) {
        self.close_hole();
        let mut order: Vec<usize> = (0..self.len).collect();
        order.sort_unstable_by_key(|&i| self.keys[i]);
        let mask = u128::from(NUMBER_END);
        // A sorted array is a heap.
        let keys: Vec<u128> = order.iter().zip(0u128..).map(|(&i, n)| (self.keys[i] & !mask) | n).collect();
        let targets: Vec<Target> = order.iter().map(|&i| self.targets[i]).collect();
        self.keys[..self.len].copy_from_slice(&keys);
        self.targets[..self.len].copy_from_slice(&targets);
        self.next_number = self.len as u64;
    }
}

#[inline]
fn pack(at: Instant, since: Instant, number: u64) -> u128 {
    let age = at.since(since).as_nanos().min(AGE_MAX);
    let low = ((AGE_MAX - age) << NUMBER_BITS) | number;
    (u128::from(at.as_nanos()) << 64) | u128::from(low)
}

#[inline]
fn unpack(key: u128, target: Target) -> Wake {
    let at = Instant::from_nanos((key >> 64) as u64);
    let age = AGE_MAX - (key as u64 >> NUMBER_BITS);
    let since = Instant::from_nanos(at.since(Instant::ZERO + Duration::from_nanos(age)).as_nanos());
    Wake { at, since, target }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    fn target(n: u32) -> Target {
        Target { component: n, key: n ^ 7 }
    }

    fn drain(queue: &mut EventQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop(Instant::MAX)).map(|wake| wake.target.component).collect()
    }

    #[test]
    fn equal_instants_run_by_cause_then_by_insertion() {
        let mut queue = EventQueue::new();
        queue.push(at(10), at(9), target(3));
        queue.push(at(10), at(9), target(4));
        queue.push(at(10), at(2), target(2));
        queue.push(at(5), at(5), target(1));
        assert_eq!(drain(&mut queue), [1, 2, 3, 4]);
    }

    #[test]
    fn a_wake_keeps_its_since_up_to_18_minutes() {
        let mut queue = EventQueue::new();
        queue.push(at(5_000), at(1_234), target(1));
        let wake = queue.pop(Instant::MAX).unwrap();
        assert_eq!((wake.at, wake.since), (at(5_000), at(1_234)));
        queue.push(at(1 << 50), at(0), target(1));
        let wake = queue.pop(Instant::MAX).unwrap();
        assert_eq!(wake.at.since(wake.since).as_nanos(), AGE_MAX);
    }

    #[test]
    fn agrees_with_a_sorted_list_under_interleaved_use() {
        // A linear congruential generator is random enough to shuffle times.
        let mut state = 1u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut queue = EventQueue::new();
        let mut model: Vec<(u64, u64, u32)> = Vec::new();
        let mut now = 0;
        for n in 0..20_000u32 {
            let time = now + draw(50);
            let since = time - draw(time.min(20) + 1);
            queue.push(at(time), at(since), target(n));
            model.push((time, since, n));
            if draw(3) > 0 {
                model.sort_unstable();
                let expected = model.remove(0);
                let wake = queue.pop(Instant::MAX).unwrap();
                assert_eq!((wake.at.as_nanos(), wake.since.as_nanos(), wake.target.component), expected);
                now = expected.0;
            }
        }
        assert_eq!(queue.len(), model.len());
    }

    #[test]
    fn renumbering_keeps_the_order() {
        let mut queue = EventQueue::new();
        queue.next_number = NUMBER_END - 2;
        for n in 0..5 {
            queue.push(at(10), at(10), target(n));
        }
        assert_eq!(drain(&mut queue), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn pop_stops_at_the_bound() {
        let mut queue = EventQueue::new();
        queue.push(at(10), at(0), target(0));
        assert_eq!(queue.pop(at(9)), None);
        assert!(queue.pop(at(10)).is_some());
        assert!(queue.is_empty());
    }
}
