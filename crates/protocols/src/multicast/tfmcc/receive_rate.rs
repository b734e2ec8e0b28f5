//! How fast data come to a receiver (RFC 4654 §4.2, X_recv).

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

/// The arrivals of the last round trips.
#[derive(Clone, Debug, Default)]
pub struct ReceiveRate {
    /// When packets came, and how many bytes. The first only marks the beginning of the window.
    arrivals: VecDeque<(Instant, u32)>,
    /// Bytes of all but the first.
    bytes: u64,
}

impl ReceiveRate {
    /// `bytes` bytes have come. The window reaches back to the last arrival before it; if nothing came in it, the sender paused, and the
    /// time before the window does not count.
    #[inline]
    pub fn on_packet(&mut self, now: Instant, bytes: u32, window: Duration) {
        if !self.arrivals.is_empty() {
            self.bytes += u64::from(bytes);
        }
        self.arrivals.push_back((now, bytes));
        while let Some(&(at, next)) = self.arrivals.get(1).filter(|(at, _)| now.since(*at) >= window) {
            debug_assert!(at <= now);
            self.arrivals.pop_front();
            self.bytes -= u64::from(next);
        }
        if self.arrivals.len() == 2
            && let Some((since, _)) = self.arrivals.front_mut()
        {
            *since = Instant::from_nanos(since.as_nanos().max(now.as_nanos().saturating_sub(window.as_nanos())));
        }
    }

    /// Bytes per second; `None` before a second packet.
    pub fn rate(&self, now: Instant) -> Option<f64> {
        let (since, _) = self.arrivals.front().filter(|_| self.bytes > 0)?;
        let seconds = now.since(*since).as_secs_f64();
        (seconds > 0.0).then(|| self.bytes as f64 / seconds)
    }

    /// Bytes of memory that arrivals take.
    pub fn memory(&self) -> usize {
        self.arrivals.capacity() * size_of::<(Instant, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn the_rate_is_that_of_the_window() {
        let window = Duration::from_millis(300);
        let mut rate = ReceiveRate::default();
        rate.on_packet(ms(0), 1000, window);
        assert_eq!(rate.rate(ms(0)), None);
        for n in 1..=20 {
            rate.on_packet(ms(100 * n), 1000, window);
            assert_eq!(rate.rate(ms(100 * n)), Some(10_000.0));
        }
        assert_eq!(rate.arrivals.len(), 4);
        // Ten times as fast.
        for n in 1..=30 {
            rate.on_packet(ms(2000 + 10 * n), 1000, window);
        }
        assert_eq!(rate.rate(ms(2300)), Some(100_000.0));
    }

    /// One packet in the window, and then again ten: the rate before the pause, and the pause, do not count.
    #[test]
    fn a_pause_does_not_count() {
        let window = Duration::from_millis(300);
        let mut rate = ReceiveRate::default();
        (0..10).for_each(|n| rate.on_packet(ms(30 * n), 1000, window));
        rate.on_packet(ms(5000), 600, window);
        assert_eq!(rate.rate(ms(5000)), Some(2_000.0));
        rate.on_packet(ms(5100), 600, window);
        assert_eq!(rate.rate(ms(5100)), Some(3_000.0));
        (4..=14).for_each(|n| rate.on_packet(ms(5000 + 30 * n), 600, window));
        assert_eq!(rate.rate(ms(5420)), Some(20_000.0));
        // Shorter gaps than the window are measured as they are.
        (1..9).for_each(|n| rate.on_packet(ms(6000 + 200 * n), 600, window));
        assert_eq!(rate.rate(ms(7600)), Some(3_000.0));
    }
}
