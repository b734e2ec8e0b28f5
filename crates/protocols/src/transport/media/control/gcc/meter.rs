//! The rate at which bytes arrive, over the last second (R_hat; draft §5.5, T = 1 s).

use std::collections::VecDeque;

/// Bytes by whole milliseconds.
#[derive(Clone, Debug, Default)]
pub struct RateMeter {
    /// Arrivals in the window, as they came.
    arrivals: VecDeque<(i64, u64)>,
    bytes: u64,
    /// Where the window begins; `None` before the first arrival.
    origin: Option<i64>,
}

impl RateMeter {
    /// Bytes have arrived.
    pub fn add(&mut self, now_ms: i64, bytes: u32) {
        self.origin.get_or_insert(now_ms);
        self.forget_old(now_ms);
        self.arrivals.push_back((now_ms, u64::from(bytes)));
        self.bytes += u64::from(bytes);
    }

    /// The rate, bit/s; `None` if the window is empty or a single millisecond.
    pub fn rate(&mut self, now_ms: i64) -> Option<u64> {
        self.forget_old(now_ms);
        let length = self.length(now_ms);
        let is_known = length > 1 && !self.arrivals.is_empty();
        is_known.then(|| libm::rint(8_000.0 * self.bytes as f64 / length as f64) as u64)
    }

    /// The length of the window, ms.
    pub fn length(&self, now_ms: i64) -> i64 {
        self.origin.map_or(0, |origin| now_ms - origin + 1)
    }

    fn forget_old(&mut self, now_ms: i64) {
        let Some(origin) = &mut self.origin else { return };
        *origin = (*origin).max(now_ms - WINDOW_MS + 1);
        while let Some(&(at, bytes)) = self.arrivals.front()
            && at < *origin
        {
            self.bytes -= bytes;
            self.arrivals.pop_front();
        }
    }
}

const WINDOW_MS: i64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let mut meter = RateMeter::default();
        meter.add(0, 1000);
        assert_eq!(meter.rate(0), None);
        // 1000 bytes in 10 ms.
        assert_eq!(meter.rate(9), Some(800_000));
        for ms in 1..3000 {
            meter.add(ms, 125);
        }
        assert_eq!(meter.rate(2999), Some(1_000_000));
        assert_eq!(meter.rate(4500), None);
    }
}
