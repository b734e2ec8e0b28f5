//! Counts the arithmetic that mechanisms do for each packet, so that they can be compared.
//!
//! A mechanism whose work depends on the packet lets [`Operations`] do it, and what is counted is
//! what was computed. One that always does the same says so once, and counts packets. A subtraction
//! is an addition and a division is a multiplication; comparisons, and what a queue does to store a
//! packet, are not counted.

use super::observe::Probe;

/// Additions and multiplications done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Sums and differences.
    pub additions: u64,
    /// Products and quotients.
    pub multiplications: u64,
}

impl Operations {
    /// The names of what is done for packets that come in, go out, and come back the other way.
    pub const IN: [&'static str; 2] = ["additions_in", "multiplications_in"];
    /// See [`Operations::IN`].
    pub const OUT: [&'static str; 2] = ["additions_out", "multiplications_out"];
    /// See [`Operations::IN`].
    pub const BACK: [&'static str; 2] = ["additions_back", "multiplications_back"];

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            additions: self.additions + other.additions,
            multiplications: self.multiplications + other.multiplications,
        }
    }

    /// So many times as much.
    #[must_use]
    pub const fn times(self, n: u64) -> Self {
        Self { additions: n * self.additions, multiplications: n * self.multiplications }
    }

    /// Shows how many there were.
    pub fn show(self, probe: &mut dyn Probe, [additions, multiplications]: [&'static str; 2]) {
        probe.value(additions, self.additions as f64);
        probe.value(multiplications, self.multiplications as f64);
    }

    /// Shows how many there were for each of so many packets; nothing if there was none.
    pub fn show_mean(self, probe: &mut dyn Probe, [additions, multiplications]: [&'static str; 2], packets: u64) {
        if packets > 0 {
            probe.value(additions, self.additions as f64 / packets as f64);
            probe.value(multiplications, self.multiplications as f64 / packets as f64);
        }
    }

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
