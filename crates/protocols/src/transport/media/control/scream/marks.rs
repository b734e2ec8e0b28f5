//! The share of packets that come back marked, for L4S.

use super::ticks::Ticks;

/// How often it is averaged: 10 ms, or a round-trip time if that is shorter (ScreamV2Tx.cpp), in ticks.
const INTERVAL: Ticks = 655;
/// kL4sGUp, kL4sGDown: gains upwards and downwards.
const GAIN_UP: f32 = 1.0 / 8.0;
const GAIN_DOWN: f32 = 1.0 / 128.0;

/// l4sAlpha.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    alpha: f32,
    /// The share in the last interval.
    fraction: f32,
    delivered: u32,
    marked: u32,
    updated_at: Ticks,
}

impl Marks {
    pub(super) fn new(now: Ticks) -> Self {
        Self { alpha: 0.1, fraction: 0.0, delivered: 0, marked: 0, updated_at: now }
    }

    /// l4sAlpha: the average share.
    pub(super) fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Whether all packets of the last interval were marked.
    pub(super) fn is_full(&self) -> bool {
        self.fraction == 1.0
    }

    /// A packet has arrived.
    pub(super) fn on_acked(&mut self, ce: bool) {
        self.delivered += 1;
        self.marked += u32::from(ce);
    }

    /// Classic ECN knows no share.
    pub(super) fn ignore(&mut self) {
        self.alpha = 0.0;
    }

    /// At the end of a report.
    pub(super) fn update(&mut self, now: Ticks, srtt: Ticks) {
        if now - self.updated_at <= INTERVAL.min(srtt) {
            return;
        }
        self.updated_at = now;
        self.fraction = 0.0;
        if self.delivered == 0 {
            return;
        }
        self.fraction = self.marked as f32 / self.delivered as f32;
        if self.fraction >= self.alpha {
            self.alpha = (GAIN_UP * self.fraction + (1.0 - GAIN_UP) * self.alpha).min(1.0);
        } else {
            self.alpha *= 1.0 - GAIN_DOWN;
        }
        (self.delivered, self.marked) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_rises_by_an_eighth_and_falls_by_a_128th() {
        // From 0.1: half of the packets marked, then none.
        let mut marks = Marks::new(0);
        for ce in [true, false] {
            marks.on_acked(ce);
        }
        marks.update(656, 3_277);
        assert!((marks.alpha() - 0.15).abs() < 1e-6, "{}", marks.alpha());
        marks.on_acked(false);
        marks.update(1_000, 3_277);
        assert!((marks.alpha() - 0.15).abs() < 1e-6, "10 ms have not passed");
        marks.update(1_312, 3_277);
        assert!((marks.alpha() - 0.148_83).abs() < 5e-6, "{}", marks.alpha());
    }
}
