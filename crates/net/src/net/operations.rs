//! Counts the arithmetic that mechanisms do for each packet, so that they can be compared.
//!
//! A mechanism whose work depends on the packet lets [`Operations`] do it, so that the computed operations are counted. One that always
//! does the same says so once, and counts packets. A subtraction is an addition and a division is a multiplication; comparisons, and the
//! operations by which a queue stores a packet, are not counted.

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
    /// The names of the operations for packets that come in, go out, and come back the other way.
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

    /// This multiplied by `n`.
    #[must_use]
    pub const fn times(self, n: u64) -> Self {
        Self { additions: n * self.additions, multiplications: n * self.multiplications }
    }

    /// Shows how many there were.
    pub fn show(self, probe: &mut dyn Probe, [additions, multiplications]: [&'static str; 2]) {
        probe.value(additions, self.additions as f64);
        probe.value(multiplications, self.multiplications as f64);
    }

    /// Shows the mean per packet; nothing if there was no packet.
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
