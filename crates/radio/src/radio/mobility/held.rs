//! A condition that counts when it has held for a time (TS 25.331 §14.1: time to trigger).

use lasthop_net::engine::{Duration, Instant};

/// Since when a condition holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held(Option<Instant>);

impl Held {
    /// Takes note of whether the condition holds now. Whether it has held for `time`, as far as was looked.
    pub fn note(&mut self, now: Instant, holds: bool, time: Duration) -> bool {
        if !holds {
            self.0 = None;
            return false;
        }
        now.since(*self.0.get_or_insert(now)) >= time
    }

    /// It counts from the next time that it holds.
    pub fn restart(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_from_when_it_held_without_a_break() {
        let mut held = Held::default();
        let time = Duration::from_millis(200);
        let looks = [
            (0, true, false),
            (100, true, false),
            (200, true, true),
            (300, false, false),
            (400, true, false),
            (500, true, false),
            (600, true, true),
        ];
        for (ms, holds, counts) in looks {
            assert_eq!(held.note(Instant::ZERO + Duration::from_millis(ms), holds, time), counts, "{ms} ms");
        }
        held.restart();
        assert!(held.note(Instant::ZERO, true, Duration::ZERO), "no time is over at once");
    }
}
