//! How often the bridge may wake up: ten times at once, and each 50 µs in the long run.
//!
//! Going to sleep and waking up cost about 5 µs, more than all else that a packet needs. Where packets come each 10 µs, those of 50 µs share a
//! turn. Sparse ones never wait: each takes two turns, one in and one out, and ten turns may coincide. 50 µs is the slack that Linux gives the
//! timers of a program that asks for none (prctl(2), `PR_SET_TIMERSLACK`).

use lasthop_core::engine::{Duration, Instant};

const BETWEEN_TURNS: Duration = Duration::from_micros(50);
const BURST: u64 = 10;

/// A token bucket of turns, as the time at which it is full.
#[derive(Default)]
pub struct Limit(Instant);

impl Limit {
    /// A turn begins at `now`; gives the time from which on the next one may.
    pub fn turn(&mut self, now: Instant) -> Instant {
        self.0 = self.0.max(now) + BETWEEN_TURNS;
        Instant::from_nanos(self.0.as_nanos().saturating_sub((BETWEEN_TURNS * (BURST - 1)).as_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    /// Begins each turn as soon as the limit lets it but not before `wish(k)` µs; gives the turns' times in µs.
    fn turns(count: u64, wish: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut limit = Limit::default();
        let mut earliest = Instant::ZERO;
        (0..count)
            .map(|k| {
                let now = earliest.max(Instant::from_nanos(wish(k) * US));
                earliest = limit.turn(now);
                now.as_nanos() / US
            })
            .collect()
    }

    #[test]
    fn sparse_turns_come_when_they_are_due() {
        let wish = |k| 7 + 60 * k;
        assert_eq!(turns(1_000, wish), (0..1_000).map(wish).collect::<Vec<_>>());
    }

    #[test]
    fn ten_turns_come_at_once_and_then_one_each_50_us() {
        let made = turns(13, |_| 1_000);
        assert_eq!(made, [[1_000; 10].as_slice(), &[1_050, 1_100, 1_150]].concat());
    }

    #[test]
    fn dense_turns_settle_at_one_each_50_us() {
        let made = turns(1_000, |k| 12 * k);
        assert!(made[500..].windows(2).all(|pair| pair[1] - pair[0] == 50), "{made:?}");
    }
}
