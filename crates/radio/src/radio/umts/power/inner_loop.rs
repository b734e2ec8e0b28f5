//! Inner loop power control: one step up or down in each slot (3GPP TS 25.214 §5.1.2.2 and §5.2.1.2).
//!
//! The receiver compares the SIR of a slot with its target, and the sender acts on that in the next slot. A frame's 15 slots
//! are run in one go.

use lasthop_net::engine::{Decibel, Duration, Level};

/// The length of a frame.
pub const FRAME: Duration = Duration::from_millis(10);
/// Slots of a frame: 1500 in a second.
pub const SLOTS: u32 = 15;

/// The power of a sender.
#[derive(Clone, Copy, Debug)]
pub struct InnerLoop {
    power: Level,
    range: [Level; 2],
    step: Decibel,
}

impl InnerLoop {
    /// A power of `first`, which moves in steps and stays in a range.
    pub fn new(first: Level, step: Decibel, range: [Level; 2]) -> Self {
        Self { power: first.within(range[0], range[1]), range, step }
    }

    /// The power of the next slot.
    pub fn power(&self) -> Level {
        self.power
    }

    /// Runs a frame. `quality` is the SIR that a power of 0 dBm would have, at its begin and its end; in between it changes
    /// evenly. Gives the mean power of the slots, on the logarithmic scale.
    pub fn run_frame(&mut self, quality: [Decibel; 2], target: Decibel) -> Level {
        let [begin, end] = quality.map(Decibel::db);
        let slope = (end - begin) / f64::from(SLOTS);
        let mut sum = 0.0;
        for slot in 0..SLOTS {
            // The middle of the slot stands for it.
            let quality = begin + slope * (f64::from(slot) + 0.5);
            sum += self.power.dbm();
            let asked = if self.power.dbm() + quality < target.db() { self.step } else { -self.step };
            self.power = (self.power + asked).within(self.range[0], self.range[1]);
        }
        Level::from_dbm(sum / f64::from(SLOTS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(first: f64) -> InnerLoop {
        InnerLoop::new(Level::from_dbm(first), Decibel::new(1.0), [Level::from_dbm(-50.0), Level::from_dbm(21.0)])
    }

    #[test]
    fn it_climbs_a_decibel_in_each_slot_and_stays_at_the_target() {
        let (quality, target) = ([Decibel::new(-10.5); 2], Decibel::new(6.0));
        let mut inner = inner(6.0);
        // The power needed is 16.5 dBm. From 6 dBm it goes 6, 7, …, 17, then to and fro about it: 16, 17, 16. The mean of 15
        // slots is (6 + … + 17 + 16 + 17 + 16)/15 = 187/15.
        let mean = inner.run_frame(quality, target);
        assert!((mean.dbm() - 187.0 / 15.0).abs() < 1e-12, "{mean}");
        for _ in 0..10 {
            let mean = inner.run_frame(quality, target);
            assert!((mean.dbm() - 16.5).abs() <= 0.5 / 15.0 + 1e-12, "{mean}");
        }
    }

    #[test]
    fn it_follows_a_fade_and_knows_its_limits() {
        let target = Decibel::new(6.0);
        let mut inner = inner(10.0);
        // A fade of 10 dB in a frame is slower than the loop's 15 dB: it is followed, one slot late.
        inner.run_frame([Decibel::new(-4.0); 2], target);
        let mean = inner.run_frame([Decibel::new(-4.0), Decibel::new(-14.0)], target);
        let sir = mean.dbm() - 9.0;
        assert!((sir - 6.0).abs() < 1.5, "{sir}");
        for _ in 0..10 {
            inner.run_frame([Decibel::new(-60.0); 2], target);
        }
        assert_eq!(inner.power(), Level::from_dbm(21.0));
    }
}
