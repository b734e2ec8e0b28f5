//! The queue of wake-ups, ordered by (time, since, number).
//!
//! `since` is the instant at which the cause of a wake-up began: an arrival's transmission
//! started, a timer was set. Among wake-ups of one instant the one whose cause began earlier
//! comes first, then the one that was entered first. This is the order in which ns-2 runs
//! events, and unlike (time, number) it does not depend on how late a wake-up enters the queue.
//!
//! Time − since has 40 bits (inverted, so that the lower is the earlier cause; it saturates at 18
//! minutes), the number 24 bits (renumbered before it wraps): together 64. Times lie in an array
//! of their own, since almost all comparisons are decided by them: the four children of a heap
//! node are 32 bytes. Only a tie looks at the rest.
//!
//! Wake-ups that are entered one behind the other, for one time and of causes that began at one instant, stay in that order whatever else is
//! entered, so they are one entry of the heap, a *chain*. Copies of a multicast packet make such; in a tree with 500 receivers, a third of all
//! instructions went into their order.

use std::hint::select_unpredictable;

use super::time::Instant;

/// The addressee of a wake-up: a component, and a key whose meaning only the component knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The component's number.
    pub component: u32,
    /// What the wake-up is for; the component's own numbering.
    pub key: u32,
}

pub(super) const AGE_BITS: u32 = 40;
const NUMBER_BITS: u32 = 24;
const AGE_MAX: u64 = (1 << AGE_BITS) - 1;
const NUMBER_END: u64 = (1 << NUMBER_BITS) - 1;
const _: () = assert!(AGE_BITS + NUMBER_BITS == 64, "age and number share a word");
/// Children of a heap node.
const ARITY: usize = 4;

/// A wake-up taken from the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// When it happens.
    pub at: Instant,
    /// When its cause began.
    pub since: Instant,
    /// The component to be woken.
    pub target: Target,
}

impl Wake {
    #[inline]
    fn new(time: u64, order: u64, target: Target) -> Self {
        let at = Instant::from_nanos(time);
        let age = AGE_MAX - (order >> NUMBER_BITS);
        Self { at, since: at.wrapping_back(age), target }
    }
}

/// What the queue knows of a wake-up beyond its time.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// Inverted age and number: among wake-ups of one time the lower comes first.
    order: u64,
    target: Target,
}

/// A 4-ary heap of wake-ups.
#[derive(Debug)]
pub struct EventQueue {
    /// The heap, filled up with places not taken so that a node with a child has all four.
    times: Vec<u64>,
    rests: Vec<Rest>,
    /// How many places of the heap are taken.
    len: usize,
    next_number: u64,
    /// The root has been taken, and its place is free for the next push.
    hole: bool,
    /// The time of the entry that was entered last, if nothing has moved since, or else [`MOVED`], and its place.
    last_time: u64,
    last_place: usize,
    chains: Vec<Chain>,
    /// The chains that no entry has.
    free: Vec<u32>,
    /// How many wake-ups wait in chains, without the first of each.
    chained: usize,
}

/// Stands for the time of an entry whose place is not known any more. A wake-up at this time begins no chain.
const MOVED: u64 = u64::MAX;

/// Wake-ups of one entry.
#[derive(Debug, Default)]
struct Chain {
    targets: Vec<Target>,
    /// How many of them have been taken.
    taken: usize,
}

/// The component of an entry that is a chain; its key is the chain's number.
const CHAIN: u32 = u32::MAX;

/// The time of a place that is not taken: later than any wake-up, and different from those of its
/// siblings, so that it ties with nothing.
fn vacant(place: usize) -> u64 {
    u64::MAX - (place % ARITY) as u64
}

const NOBODY: Rest = Rest { order: u64::MAX, target: Target { component: u32::MAX, key: u32::MAX } };

impl Default for EventQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl EventQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            times: Vec::new(),
            rests: Vec::new(),
            len: 0,
            next_number: 0,
            hole: false,
            last_time: MOVED,
            last_place: 0,
            chains: Vec::new(),
            free: Vec::new(),
            chained: 0,
        }
    }

    /// Enters a wake-up of `target` at `at`, whose cause began at `since` (not after `at`). An order by ns-2's clock may lie before the start
    /// of the run ([`FloatTime::order_at`](super::FloatTime::order_at)).
    #[inline(always)]
    pub fn push(&mut self, at: Instant, since: Instant, target: Target) {
        debug_assert!(target.component != CHAIN, "the number of no component");
        if self.next_number >= NUMBER_END {
            self.renumber();
            debug_assert!(self.next_number < NUMBER_END, "more wake-ups wait than numbers tell apart");
        }
        let order = ((AGE_MAX - at.age(since, AGE_MAX)) << NUMBER_BITS) | self.next_number;
        let (time, rest) = (at.as_nanos(), Rest { order, target });
        if time == self.last_time && self.chain(time, rest) {
            return;
        }
        self.next_number += 1;
        let place = if self.hole {
            self.hole = false;
            self.sift_down(time, rest)
        } else {
            if self.len == self.times.len() {
                self.grow();
            }
            self.len += 1;
            self.sift_up(time, rest)
        };
        (self.last_time, self.last_place) = (time, place);
    }

    /// Adds a wake-up at the time of the entry that was entered last to that entry, if their causes began at one instant.
    #[inline(never)]
    fn chain(&mut self, time: u64, Rest { order, target }: Rest) -> bool {
        let Rest { order: first, target: entry } = &mut self.rests[self.last_place];
        if time == MOVED || (*first ^ order) >> NUMBER_BITS != 0 {
            return false;
        }
        if entry.component != CHAIN {
            let key = self.free.pop().unwrap_or_else(|| {
                self.chains.push(Chain::default());
                self.chains.len() as u32 - 1
            });
            self.chains[key as usize].targets.push(*entry);
            *entry = Target { component: CHAIN, key };
        }
        self.chains[entry.key as usize].targets.push(target);
        self.chained += 1;
        true
    }

    /// Takes the first wake-up of a chain, which is at the root.
    #[inline(never)]
    fn unchain(&mut self, key: u32) -> Target {
        let chain = &mut self.chains[key as usize];
        let target = chain.targets[chain.taken];
        chain.taken += 1;
        if chain.taken < chain.targets.len() {
            self.chained -= 1;
        } else {
            chain.targets.clear();
            chain.taken = 0;
            self.free.push(key);
            self.hole = true;
        }
        target
    }

    /// Adds a place, and those of its siblings.
    #[cold]
    fn grow(&mut self) {
        let places = if self.len == 0 { 1 } else { self.len + ARITY };
        self.times.extend((self.len..places).map(vacant));
        self.rests.resize(places, NOBODY);
    }

    /// Takes the earliest wake-up, if it happens at or before `until`.
    ///
    /// Its place stays free until the next call, so that a machine which arms its next wake-up
    /// while it handles this one replaces the entry instead of removing and inserting.
    #[inline]
    pub fn pop(&mut self, until: Instant) -> Option<Wake> {
        self.close_hole();
        if self.len == 0 || self.times[0] > until.as_nanos() {
            return None;
        }
        self.last_time = MOVED;
        let Rest { order, mut target } = self.rests[0];
        if target.component == CHAIN {
            target = self.unchain(target.key);
        } else {
            self.hole = true;
        }
        Some(Wake::new(self.times[0], order, target))
    }

    /// The `since` with which a wake-up at `at` is taken from the queue.
    #[inline]
    pub fn remembered(at: Instant, since: Instant) -> Instant {
        at.wrapping_back(at.age(since, AGE_MAX))
    }

    /// The earliest wake-up, which stays in the queue.
    #[inline]
    pub fn peek(&mut self) -> Option<Wake> {
        self.close_hole();
        if self.len == 0 {
            return None;
        }
        let Rest { order, mut target } = self.rests[0];
        if target.component == CHAIN {
            let chain = &self.chains[target.key as usize];
            target = chain.targets[chain.taken];
        }
        Some(Wake::new(self.times[0], order, target))
    }

    /// How many wake-ups wait.
    pub fn len(&self) -> usize {
        self.len - usize::from(self.hole) + self.chained
    }

    /// Whether no wake-up waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn close_hole(&mut self) {
        // A machine that arms its next wake-up has filled it.
        if self.hole {
            self.fill_from_end();
        }
    }

    /// The last entry takes the free place at the root.
    #[inline(never)]
    fn fill_from_end(&mut self) {
        self.hole = false;
        self.last_time = MOVED;
        self.len -= 1;
        let time = std::mem::replace(&mut self.times[self.len], vacant(self.len));
        if self.len > 0 {
            self.sift_down(time, self.rests[self.len]);
        }
    }

    /// Moves the hole at the end up until the wake-up fits into it, and gives its place.
    #[inline]
    fn sift_up(&mut self, time: u64, rest: Rest) -> usize {
        let mut hole = self.len - 1;
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if (self.times[parent], self.rests[parent].order) <= (time, rest.order) {
                break;
            }
            self.times[hole] = self.times[parent];
            self.rests[hole] = self.rests[parent];
            hole = parent;
        }
        self.times[hole] = time;
        self.rests[hole] = rest;
        hole
    }

    /// Moves the hole at the root down until the wake-up fits into it, and gives its place.
    #[inline(always)]
    fn sift_down(&mut self, time: u64, rest: Rest) -> usize {
        let times = self.times.as_mut_slice();
        let rests = &mut self.rests.as_mut_slice()[..times.len()];
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            let Some(&[a, b, c, d]) = times.get(first..).and_then(<[u64]>::first_chunk) else { break };
            // Two rounds without a branch, because the branches are unpredictable.
            let (left, right) = (b < a, d < c);
            let (left_time, right_time) = (a.min(b), c.min(d));
            let least = left_time.min(right_time);
            if time < least {
                break;
            }
            // A tie, or two equal times that are not the least; both are rare.
            let child = if a == b || c == d || left_time == right_time || time == least {
                let child = first_of_siblings(rests, first, [a, b, c, d]);
                if (time, rest.order) < (least, rests[child].order) {
                    break;
                }
                child
            } else {
                let right_wins = right_time < left_time;
                first + select_unpredictable(right_wins, 2 + usize::from(right), usize::from(left))
            };
            times[hole] = least;
            rests[hole] = rests[child];
            hole = child;
        }
        times[hole] = time;
        rests[hole] = rest;
        hole
    }

    /// Gives the waiting entries the numbers 0, 1, … in their present order.
    #[cold]
    fn renumber(&mut self) {
        self.close_hole();
        self.last_time = MOVED;
        let mut order: Vec<usize> = (0..self.len).collect();
        order.sort_unstable_by_key(|&i| (self.times[i], self.rests[i].order));
        // A sorted array is a heap.
        let times: Vec<u64> = order.iter().map(|&i| self.times[i]).collect();
        let renumbered = |(&i, n): (&usize, u64)| {
            let Rest { order, target } = self.rests[i];
            Rest { order: (order & !NUMBER_END) | n, target }
        };
        let rests: Vec<Rest> = order.iter().zip(0..).map(renumbered).collect();
        self.times[..self.len].copy_from_slice(&times);
        self.rests[..self.len].copy_from_slice(&rests);
        self.next_number = self.len as u64;
    }
}

/// Which of the siblings from `first` on comes first, with ties decided.
#[inline]
fn first_of_siblings(rests: &[Rest], first: usize, times: [u64; ARITY]) -> usize {
    let key = |n: usize| (u128::from(times[n]) << 64) | u128::from(rests[first + n].order);
    let [a, b, c, d] = [key(0), key(1), key(2), key(3)];
    let (left, right) = (usize::from(b < a), usize::from(d < c));
    let right_wins = c.min(d) < a.min(b);
    first + select_unpredictable(right_wins, 2 + right, left)
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

    /// Runs of wake-ups for one time and cause, of which others are entered between and taken, in the order of a sorted list.
    #[test]
    fn chains_agree_with_a_sorted_list() {
        let mut state = 7u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut queue = EventQueue::new();
        let mut model: Vec<(u64, u64, u32)> = Vec::new();
        let (mut now, mut number) = (0, 0);
        for round in 0..4_000 {
            if round % 500 == 499 {
                queue.renumber();
            }
            let time = now + draw(4);
            let since = time - draw(time.min(2) + 1);
            for _ in 0..=draw(6) {
                queue.push(at(time), at(since), target(number));
                model.push((time, since, number));
                number += 1;
            }
            assert_eq!(queue.len(), model.len());
            for _ in 0..draw(8).min(model.len() as u64) {
                model.sort_unstable();
                let expected = model.remove(0);
                assert_eq!(queue.peek().map(|wake| wake.target), Some(target(expected.2)));
                let wake = queue.pop(Instant::MAX).unwrap();
                assert_eq!(
                    (wake.at.as_nanos(), wake.since.as_nanos(), wake.target),
                    (expected.0, expected.1, target(expected.2))
                );
                now = expected.0;
                assert_eq!(queue.len(), model.len());
            }
        }
        assert!(queue.chains.len() > 1, "there were chains");
        model.sort_unstable();
        assert_eq!(drain(&mut queue), model.iter().map(|(.., number)| *number).collect::<Vec<_>>());
        assert_eq!((queue.chained, queue.free.len()), (0, queue.chains.len()));
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

    /// As after renumbering more wake-ups than numbers tell apart, when the next number lies beyond the last.
    #[test]
    fn a_wake_keeps_its_since_beyond_the_last_number() {
        let mut queue = EventQueue::new();
        queue.next_number = NUMBER_END + 5;
        for n in 0..5 {
            queue.push(at(1_000), at(900 - u64::from(n)), target(n));
        }
        for n in (0..5).rev() {
            let wake = queue.pop(Instant::MAX).unwrap();
            assert_eq!((wake.since, wake.target), (at(900 - u64::from(n)), target(n)));
        }
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
