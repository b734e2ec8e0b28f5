//! Counts the arithmetic that a discipline does for each packet.
//!
//! Whoever wants its work counted lets [`Operations`] do it: what is counted is what was
//! computed, not what somebody said of it. A subtraction is an addition and a division is a
//! multiplication; comparisons, and what a queue does to store a packet, are not counted.

/// Additions and multiplications done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Sums and differences.
    pub additions: u64,
    /// Products and quotients.
    pub multiplications: u64,
}

impl Operations {
    /// a + b.
    #[inline]
    pub fn add(&mut self, a: f64, b: f64) -> f64 {
        self.additions += 1;
        a + b
    }

    /// a − b.
    #[inline]
    pub fn subtract(&mut self, a: f64, b: f64) -> f64 {
        self.additions += 1;
        a - b
    }

    /// a·b.
    #[inline]
    pub fn multiply(&mut self, a: f64, b: f64) -> f64 {
        self.multiplications += 1;
        a * b
    }

    /// a/b.
    #[inline]
    pub fn divide(&mut self, a: f64, b: f64) -> f64 {
        self.multiplications += 1;
        a / b
    }
}
