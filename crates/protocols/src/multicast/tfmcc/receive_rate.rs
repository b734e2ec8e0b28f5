//! How fast data come to a receiver (RFC 4654 §4.2, X_recv).

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

/// The arrivals of the last round trips.
#[derive(Clone, Debug, Default)]
pub struct ReceiveRate {
    /// When packets came, and how many bytes. The oldest only marks the beginning of the window.
    arrivals: VecDeque<(Instant, u32)>,
    /// Bytes of all but the oldest.
    bytes: u64,
}

impl ReceiveRate {
    /// `bytes` bytes have come. The window reaches back at least to the arrival before, so that a rate of less than one packet for each
    /// window is measured too.
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

    #[test]
    fn the_rate_is_that_of_the_window() {
        let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
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
        // One packet in each second.
        rate.on_packet(ms(3300), 1000, window);
        assert_eq!(rate.rate(ms(3300)), Some(1_000.0));
        assert_eq!(rate.rate(ms(4300)), Some(500.0));
    }
}
