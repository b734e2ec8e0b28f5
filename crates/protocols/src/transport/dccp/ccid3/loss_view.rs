//! The loss event rate as the sender computes it from the Loss Intervals options that come
//! (RFC 4342 §6.1.1, §8.6). The rules are those of the receiver's history; what it needs beyond
//! lengths, the discount of each interval, follows from the order of events.

use crate::transport::tfrc::loss_history::LossIntervals;
use lasthop_net::net::{ListedInterval, ListedIntervals};

/// The intervals that the receiver is known to have.
#[derive(Debug)]
pub struct LossView {
    intervals: LossIntervals,
    threshold: f64,
}

impl LossView {
    /// Without any loss. `threshold` is the least discount factor.
    pub fn new(threshold: f64) -> Self {
        Self { intervals: LossIntervals::new(threshold), threshold }
    }

    /// Forgets the connection.
    pub fn reset(&mut self) {
        *self = Self::new(self.threshold);
    }

    /// A report that acknowledges `ack` lists these intervals. Says whether one is new.
    pub fn on_report(&mut self, ack: u64, listed: &ListedIntervals) -> bool {
        // Where the intervals begin, the newest first, but for the oldest.
        let mut starts = [0; ListedIntervals::MAX];
        let mut count = 0;
        let end = (ack + 1).saturating_sub(listed.skip().into());
        let mut start = end;
        let mut rows = listed.iter();
        let oldest = rows.next_back();
        for row in rows {
            // A length beyond 24 bits hides where the interval begins, and all before it.
            if row.length == ListedInterval::LONGEST {
                return false;
            }
            start = start.saturating_sub(row.length.into());
            starts[count] = start;
            count += 1;
        }
        let Some((&first, _)) = starts[..count].split_last() else { return false };
        let known = self.intervals.start();
        let new = starts[..count].partition_point(|start| known.is_none_or(|known| *start > known));
        let mut events = &starts[..new];
        if new == count {
            // Nothing before them is known, or more than is listed has passed.
            self.intervals.begin(first, oldest.map_or(1.0, |row| row.length.into()));
            events = &starts[..count - 1];
        }
        for start in events.iter().rev() {
            self.intervals.event(*start);
        }
        self.intervals.extend(end - 1);
        new > 0
    }

    /// The loss event rate (RFC 5348 §5.4, §5.5).
    pub fn rate(&mut self) -> f64 {
        self.intervals.loss_rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of lengths, the newest first, after `skip` packets.
    fn list(skip: u8, lengths: &[u32]) -> ListedIntervals {
        let mut listed = ListedIntervals::new(skip);
        lengths.iter().for_each(|&length| listed.push(ListedInterval { length, lossy: 1 }));
        listed
    }

    /// RFC 5348 §5.4 by hand: eight intervals of 100 packets and an open one of 50 give 0.01, and the
    /// same if only some of the reports come.
    #[test]
    fn the_rate_follows_from_the_lengths() {
        for step in [1, 3, 7, 20] {
            let mut view = LossView::new(0.25);
            assert!(!view.on_report(40, &list(0, &[0])), "no loss yet");
            assert_eq!(view.rate(), 0.0);
            let mut rate = 0.0;
            for event in (1..=21u64).step_by(step) {
                // Losses at 100, 200 …; the first interval counts as 100 too.
                let lengths: Vec<u32> = std::iter::once(50).chain(vec![100; event.min(8) as usize]).collect();
                let ack = event * 100 + 49;
                assert!(view.on_report(ack, &list(0, &lengths)));
                rate = view.rate();
                assert!(!view.on_report(ack, &list(0, &lengths)), "nothing new");
            }
            assert!((rate - 0.01).abs() < 1e-12, "each {step}: {rate}");
        }
    }

    /// The sequence of RFC 4342 §8.6.2 without its non-data packets: losses at 10, 19, 32, and 43 not
    /// settled; the first interval counts as 15. Mean interval by §5.4: max((11 + 13 + 9 + 15) / 4, (13 + 9 + 15) / 3).
    #[test]
    fn the_example_of_the_rfc() {
        let mut view = LossView::new(1.0);
        assert!(view.on_report(44, &list(2, &[11, 13, 9, 15])));
        assert_eq!(view.intervals.start(), Some(32));
        assert!((view.rate() - 3.0 / 37.0).abs() < 1e-12, "{}", view.rate());
    }

    #[test]
    fn a_length_beyond_24_bits_tells_of_no_event() {
        let mut view = LossView::new(0.25);
        assert!(view.on_report(299, &list(0, &[200, 100])));
        assert!(!view.on_report(40_000_000, &list(0, &[ListedInterval::LONGEST, 100])));
        assert_eq!(view.intervals.start(), Some(100));
    }
}
