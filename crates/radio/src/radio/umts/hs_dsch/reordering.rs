//! Reordering at the terminal: blocks are handed up in the order of their numbers, whatever order hybrid ARQ brings them in (3GPP
//! TS 25.321 §11.6.2.3).
//!
//! A block that is missing is waited for, but not for ever: until the timer T1 expires, which starts when a later one comes, or until a
//! later one moves the window past the missing one. Numbers do not wrap here.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

/// The reordering of a terminal.
pub struct Reordering<T> {
    window: u32,
    timer: Duration,
    /// next_expected_TSN: the first that has not come.
    next_expected: u32,
    /// The blocks from `next_expected` on: the first is missing, the last has come, unless there are none.
    later: VecDeque<Option<T>>,
    /// RcvWindow_UpperEdge + 1: the number after the highest that has come.
    edge: u32,
    /// T1: when it expires, and T1_TSN, the block for which it started.
    t1: Option<(Instant, u32)>,
    /// Blocks that were waited for in vain.
    pub missed: u64,
}

impl<T> Reordering<T> {
    /// With a window of this number of blocks (RECEIVE_WINDOW_SIZE), and T1 of this length.
    pub fn new(window: u32, timer: Duration) -> Self {
        Self { window, timer, next_expected: 0, later: VecDeque::new(), edge: 0, t1: None, missed: 0 }
    }

    /// How long T1 runs.
    pub fn timer(&self) -> Duration {
        self.timer
    }

    /// Whether a block of this number would be discarded, as one that has been handed up or was given up.
    pub fn is_too_old(&self, tsn: u32) -> bool {
        tsn < self.next_expected || tsn + self.window < self.edge
    }

    /// A block has come; those that are handed up now are given in order.
    pub fn accept(&mut self, now: Instant, tsn: u32, block: T, mut up: impl FnMut(T)) {
        let Some(place) = tsn.checked_sub(self.next_expected).map(|place| place as usize) else { return };
        if place == 0 && self.later.is_empty() {
            self.next_expected += 1;
            self.edge = self.next_expected;
            return up(block);
        }
        if place >= self.later.len() {
            self.later.resize_with(place + 1, || None);
        }
        if self.later[place].is_none() {
            self.later[place] = Some(block);
        }
        self.edge = self.edge.max(tsn + 1);
        self.pass(self.edge.saturating_sub(self.window), &mut up);
        self.time(now);
    }

    /// T1 expires: blocks before the one for which it started are no longer waited for.
    pub fn on_timeout(&mut self, now: Instant, mut up: impl FnMut(T)) {
        let Some((_, tsn)) = self.t1.take_if(|(expires, _)| *expires <= now) else { return };
        self.pass(tsn, &mut up);
        self.time(now);
    }

    /// When T1 expires.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.t1.map(|(expires, _)| expires)
    }

    /// Hands up the blocks received before `from`, and those that follow without a gap.
    fn pass(&mut self, from: u32, up: &mut impl FnMut(T)) {
        while self.next_expected < from || self.later.front().is_some_and(Option::is_some) {
            self.next_expected += 1;
            match self.later.pop_front().flatten() {
                Some(block) => up(block),
                None => self.missed += 1,
            }
        }
    }

    /// T1 runs while something waits: it stops when the block for which it started is handed up, and then starts for the
    /// highest that waits.
    fn time(&mut self, now: Instant) {
        if self.t1.is_some_and(|(_, tsn)| tsn < self.next_expected) {
            self.t1 = None;
        }
        if self.t1.is_none() && !self.later.is_empty() {
            self.t1 = Some((now + self.timer, self.edge - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    struct Terminal {
        reordering: Reordering<u32>,
        up: Vec<u32>,
    }

    impl Terminal {
        fn new(window: u32) -> Self {
            Self { reordering: Reordering::new(window, Duration::from_millis(25)), up: Vec::new() }
        }

        fn accept(&mut self, at: u64, tsn: u32) -> Vec<u32> {
            self.reordering.accept(ms(at), tsn, tsn, |tsn| self.up.push(tsn));
            std::mem::take(&mut self.up)
        }

        fn expire(&mut self) -> (Instant, Vec<u32>) {
            let at = self.reordering.next_timeout().expect("T1 runs");
            self.reordering.on_timeout(at, |tsn| self.up.push(tsn));
            (at, std::mem::take(&mut self.up))
        }
    }

    #[test]
    fn what_comes_late_is_waited_for() {
        let mut terminal = Terminal::new(32);
        assert_eq!(terminal.accept(0, 0), [0]);
        assert_eq!(terminal.accept(4, 2), [0u32; 0]);
        assert_eq!(terminal.accept(6, 3), [0u32; 0]);
        assert_eq!(terminal.reordering.next_timeout(), Some(ms(29)));
        assert_eq!(terminal.accept(14, 1), [1, 2, 3]);
        assert_eq!(terminal.reordering.next_timeout(), None);
        assert_eq!(terminal.accept(16, 2), [0u32; 0], "a second copy");
    }

    #[test]
    fn t1_starts_again_for_the_highest_that_waits() {
        // 1 and 5 are lost. T1 starts with 2, and at its end again with 7, the highest then.
        let mut terminal = Terminal::new(32);
        let up: Vec<_> = [0, 2, 3, 4, 6, 7].iter().flat_map(|tsn| terminal.accept(2 * u64::from(*tsn), *tsn)).collect();
        assert_eq!(up, [0]);
        assert_eq!(terminal.expire(), (ms(29), vec![2, 3, 4]));
        assert_eq!(terminal.expire(), (ms(54), vec![6, 7]));
        assert_eq!((terminal.reordering.next_timeout(), terminal.reordering.missed), (None, 2));
        // If 1 comes after all while 5 is waited for, T1 stops with 2 and starts for 7 at once.
        let mut terminal = Terminal::new(32);
        [0, 2, 3, 4, 6, 7].iter().for_each(|tsn| _ = terminal.accept(2 * u64::from(*tsn), *tsn));
        assert_eq!(terminal.accept(20, 1), [1, 2, 3, 4]);
        assert_eq!(terminal.reordering.next_timeout(), Some(ms(45)));
    }

    #[test]
    fn the_window_leaves_behind_what_is_too_old() {
        // A window of 4: with 5 it holds 2 to 5. So 0 is given up, 1 handed up, and 2 is waited for.
        let mut terminal = Terminal::new(4);
        assert_eq!(terminal.accept(2, 1), [0u32; 0]);
        assert!(!terminal.reordering.is_too_old(0));
        assert_eq!(terminal.accept(10, 5), [1]);
        assert!(terminal.reordering.is_too_old(1) && !terminal.reordering.is_too_old(2));
        assert_eq!(terminal.accept(11, 0), [0u32; 0]);
        assert_eq!(terminal.accept(12, 2), [2]);
        assert_eq!(terminal.accept(13, 4), [0u32; 0]);
        assert_eq!(terminal.accept(14, 3), [3, 4, 5]);
    }

    proptest! {
        /// Blocks are sent until they come, up to three times with 12 ms between, as six processes do it: for any failures, the blocks
        /// passed up are in order and complete but for blocks given up, and nothing waits longer than T1.
        #[test]
        fn any_failures_leave_the_order(failures in proptest::collection::vec(0u32..4, 1..200)) {
            let mut arrivals = Vec::new();
            let (mut busy, mut slot) = ([0u64; 6], 0usize);
            for (tsn, failed) in failures.iter().enumerate() {
                while busy[slot % 6] > slot as u64 {
                    slot += 1;
                }
                let sent = (failed + 1).min(3) as usize;
                busy[slot % 6] = (slot + 6 * sent) as u64;
                if *failed < 3 {
                    arrivals.push((2 * (slot + 6 * *failed as usize) as u64, tsn as u32));
                }
                slot += 1;
            }
            arrivals.sort_unstable();
            let mut terminal = Terminal::new(32);
            let mut up = Vec::new();
            let come: std::collections::BTreeMap<u32, u64> = arrivals.iter().map(|(at, tsn)| (*tsn, *at)).collect();
            for (at, tsn) in arrivals {
                while let Some(expires) = terminal.reordering.next_timeout().filter(|expires| *expires <= ms(at)) {
                    up.extend(terminal.expire().1.into_iter().map(|tsn| (tsn, expires)));
                }
                up.extend(terminal.accept(at, tsn).into_iter().map(|tsn| (tsn, ms(at))));
            }
            while terminal.reordering.next_timeout().is_some() {
                let (expires, more) = terminal.expire();
                up.extend(more.into_iter().map(|tsn| (tsn, expires)));
            }
            prop_assert!(up.windows(2).all(|pair| pair[0].0 < pair[1].0), "{up:?}");
            let expected: Vec<u32> = come.keys().copied().collect();
            prop_assert_eq!(up.iter().map(|(tsn, _)| *tsn).collect::<Vec<_>>(), expected);
            for (tsn, at) in up {
                // T1 starts with it or runs already, and may start once more for it.
                prop_assert!(at <= ms(come[&tsn] + 50), "{tsn} waits from {} to {at:?}", come[&tsn]);
            }
        }
    }
}
