//! Intervals between losses, weighted as RFC 5348 §5.4 weights them. Each gap in the numbers begins one (RFC 8698 §4.2).

use std::collections::VecDeque;

/// Packets from loss to loss.
#[derive(Clone, Debug, Default)]
pub struct LossIntervals {
    /// Lengths, the present one first.
    lengths: VecDeque<u64>,
    /// The packet that follows if none is lost; `None` before the first one.
    expected: Option<u64>,
}

impl LossIntervals {
    /// A packet has arrived, later than all before it.
    pub fn on_arrival(&mut self, number: u64) {
        match self.lengths.front_mut() {
            Some(present) if self.expected == Some(number) => *present += 1,
            _ => {
                self.lengths.push_front(1);
                self.lengths.truncate(WEIGHTS.len() + 1);
            }
        }
        self.expected = Some(number + 1);
    }

    /// The weighted mean with or without the present interval, whichever is longer, and the present one, in packets.
    pub fn average_and_current(&self) -> Option<(f64, f64)> {
        let closed = self.lengths.len().checked_sub(1).filter(|closed| *closed > 0)?;
        let total = |skipped: usize| -> f64 {
            let lengths = self.lengths.iter().skip(skipped).take(closed);
            lengths.zip(WEIGHTS).map(|(length, weight)| *length as f64 * weight).sum()
        };
        let weights: f64 = WEIGHTS[..closed].iter().sum();
        Some((total(0).max(total(1)) / weights, self.lengths[0] as f64))
    }
}

/// RFC 5348 §5.4, n = 8.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
