//! The queueing delay as LEDBAT estimates it (RFC 6817 §2.4.2): the least of the last few samples, above the least of the last minutes.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

/// `base_delays` and `current_delays`.
#[derive(Clone, Debug)]
pub struct QueueingDelay {
    /// Least delays of the last minutes, the present one last.
    base: VecDeque<Duration>,
    /// How many minutes (BASE_HISTORY).
    history: usize,
    /// The minute of the last sample.
    minute: u64,
    /// The last samples.
    current: VecDeque<Duration>,
    /// How many (CURRENT_FILTER).
    filter: usize,
}

impl QueueingDelay {
    /// Nothing is known. At least one minute and one sample are kept.
    pub fn new(history: u32, filter: u32) -> Self {
        Self {
            base: VecDeque::new(),
            history: history.max(1) as usize,
            minute: 0,
            current: VecDeque::new(),
            filter: filter.max(1) as usize,
        }
    }

    /// A sample of the delay.
    pub fn update(&mut self, now: Instant, delay: Duration) {
        let minute = now.as_nanos() / MINUTE.as_nanos();
        match self.base.back_mut() {
            Some(least) if minute == self.minute => *least = delay.min(*least),
            _ => {
                if self.base.len() == self.history {
                    self.base.pop_front();
                }
                self.base.push_back(delay);
            }
        }
        self.minute = minute;
        if self.current.len() == self.filter {
            self.current.pop_front();
        }
        self.current.push_back(delay);
    }

    /// The base delay.
    pub fn base(&self) -> Option<Duration> {
        self.base.iter().min().copied()
    }

    /// The queueing delay.
    pub fn get(&self) -> Option<Duration> {
        Some(self.current.iter().min()?.saturating_sub(self.base()?))
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.base.clear();
        self.current.clear();
    }
}

const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_least_of_the_last_samples_counts_above_the_least_of_the_last_minutes() {
        let mut delay = QueueingDelay::new(10, 4);
        assert_eq!((delay.base(), delay.get()), (None, None));
        for (sample, queueing) in [(50, 0), (80, 0), (70, 0), (90, 0), (95, 20), (60, 10), (40, 0), (45, 0)] {
            delay.update(at(1), ms(sample));
            assert_eq!(delay.get(), Some(ms(queueing)), "{sample}");
        }
        assert_eq!(delay.base(), Some(ms(40)));
        delay.clear();
        assert_eq!((delay.base(), delay.get()), (None, None));
    }

    /// RFC 6817 §2.4.2: BASE_HISTORY minima, each of a minute; the base delay can rise once the last low one has left the list.
    #[test]
    fn a_low_delay_is_forgotten_after_the_history() {
        let mut delay = QueueingDelay::new(3, 1);
        delay.update(at(59), ms(20));
        for (second, base) in [(60, 20), (119, 20), (120, 20), (179, 20), (180, 100), (240, 100)] {
            delay.update(at(second), ms(100));
            assert_eq!(delay.base(), Some(ms(base)), "{second} s");
        }
    }
}
