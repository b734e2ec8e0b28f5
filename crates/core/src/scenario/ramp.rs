//! A rate on its way to a new value, step by step.

use crate::engine::{BitRate, Duration, Instant};

/// The rate of a link, in each direction, goes to a new value in [`STEPS`] equal steps.
#[derive(Debug)]
pub struct Ramp {
    /// The medium whose rate it is.
    pub medium: u32,
    begin: Instant,
    length: Duration,
    from: [BitRate; 2],
    to: BitRate,
    /// The next step, from 1 on. Time and rate are computed from it, so that neither drifts.
    step: u64,
}

/// How many steps a ramp has.
pub const STEPS: u64 = 10;

impl Ramp {
    /// A ramp of this length from the present on.
    pub fn new(medium: u32, begin: Instant, length: Duration, from: [BitRate; 2], to: BitRate) -> Self {
        Self { medium, begin, length, from, to, step: 1 }
    }

    /// The rate to which it goes.
    pub fn goal(&self) -> BitRate {
        self.to
    }

    /// When the next step is due.
    pub fn due(&self) -> Instant {
        self.begin + Duration::from_nanos(self.length.as_nanos() * self.step / STEPS)
    }

    /// Takes the next step: the rates from now on.
    pub fn take(&mut self) -> [BitRate; 2] {
        let (done, left) = (u128::from(self.step), u128::from(STEPS - self.step));
        self.step += 1;
        let share = |from: BitRate| {
            (u128::from(from.as_bps()) * left + u128::from(self.to.as_bps()) * done) / u128::from(STEPS)
        };
        // A mean of two rates is no larger than they.
        self.from.map(|from| BitRate::from_bps(share(from) as u64))
    }

    /// Whether all steps are taken.
    pub fn is_over(&self) -> bool {
        self.step > STEPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_tenths_and_do_not_drift() {
        // A tenth of 1 s + 1 ns is no whole number of nanoseconds.
        let begin = Instant::from_secs_f64(10.0);
        let from = [BitRate::from_bps(3_840_000), BitRate::from_bps(7)];
        let mut ramp = Ramp::new(0, begin, Duration::from_nanos(1_000_000_001), from, BitRate::from_bps(384_000));
        let mut steps = Vec::new();
        while !ramp.is_over() {
            steps.push((ramp.due().since(begin).as_nanos(), ramp.take().map(BitRate::as_bps)));
        }
        assert_eq!(steps.len(), 10);
        assert_eq!(steps[0], (100_000_000, [3_494_400, 38_406]));
        assert_eq!(steps[4], (500_000_000, [2_112_000, 192_003]));
        assert_eq!(steps[9], (1_000_000_001, [384_000, 384_000]));
    }
}
