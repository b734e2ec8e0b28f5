//! Outer loop power control: the target of the inner loop follows the blocks.
//!
//! A bad block raises the target by Δ, a good one lowers it by Δ · b/(1 − b). Where it stays, a share b of the blocks is
//! bad: b Δ = (1 − b) · Δ b/(1 − b) (Sampath, Kumar, Holtzman, *On Setting Reverse Link Target SIR in a CDMA System*, VTC 1997).

use lasthop_net::engine::Decibel;

/// The target of one direction.
#[derive(Clone, Copy, Debug)]
pub struct OuterLoop {
    target: Decibel,
    up: Decibel,
    down: Decibel,
    range: [Decibel; 2],
}

impl OuterLoop {
    /// A target of `first`, which moves by `step` at a bad block so that a share `bad` of blocks is bad, and stays in a range.
    pub fn new(first: Decibel, step: Decibel, bad: f64, range: [Decibel; 2]) -> Self {
        Self { target: first.within(range[0], range[1]), up: step, down: step.times(bad / (1.0 - bad)), range }
    }

    /// The present target.
    #[inline]
    pub fn target(&self) -> Decibel {
        self.target
    }

    /// By how much a good block lowers it.
    pub fn down_step(&self) -> Decibel {
        self.down
    }

    /// A block has come.
    #[inline]
    pub fn on_block(&mut self, good: bool) {
        let moved = if good { self.target - self.down } else { self.target + self.up };
        self.target = moved.within(self.range[0], self.range[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::umts::power::block_errors::BlockErrors;
    use lasthop_net::engine::Streams;

    const RANGE: [Decibel; 2] = [Decibel::new(-10.0), Decibel::new(20.0)];

    #[test]
    fn a_good_block_lowers_the_target_a_little() {
        // 0.5 dB · 0.01/0.99 = 0.0050505… dB.
        let mut outer = OuterLoop::new(Decibel::new(6.0), Decibel::new(0.5), 0.01, RANGE);
        assert!((outer.down_step().db() - 0.005_050_505_050_505_05).abs() < 1e-15, "{}", outer.down_step());
        outer.on_block(false);
        assert_eq!(outer.target().db(), 6.5);
        for _ in 0..99 {
            outer.on_block(true);
        }
        assert!((outer.target().db() - 6.0).abs() < 1e-12, "one bad block in a hundred leaves it where it was");
    }

    #[test]
    fn it_finds_the_share_of_bad_blocks_whatever_the_curve() {
        // The target moves by at most 30 dB, or 60 bad blocks: of n · b bad ones that is 3 % here at the most.
        for (bad, half) in [(0.01, 4.0), (0.1, 0.0), (0.05, 9.0)] {
            let curve = BlockErrors { half: Decibel::new(half), width: Decibel::new(0.5) };
            let mut outer = OuterLoop::new(Decibel::new(6.0), Decibel::new(0.5), bad, RANGE);
            let mut stream = Streams::new(2).stream("test", "outer loop");
            let blocks = 200_000;
            let mut lost = 0;
            for _ in 0..blocks {
                let good = !stream.chance(curve.chance(outer.target()));
                lost += i32::from(!good);
                outer.on_block(good);
            }
            let share = f64::from(lost) / f64::from(blocks);
            assert!((share / bad - 1.0).abs() < 0.03, "{bad}: {share}");
        }
    }
}
