//! The chance that a block is bad, by the ratio of signal to interference.

use lasthop_net::engine::Decibel;

/// A logistic curve: 1 / (1 + exp((SIR − `half`) / `width`)).
#[derive(Clone, Copy, Debug)]
pub struct BlockErrors {
    /// Where every second block is bad.
    pub half: Decibel,
    /// How wide the fall is.
    pub width: Decibel,
}

impl BlockErrors {
    /// The chance at a SIR.
    #[inline]
    pub fn chance(&self, sir: Decibel) -> f64 {
        1.0 / (1.0 + libm::exp((sir - self.half).db() / self.width.db()))
    }

    /// The SIR of a chance between 0 and 1.
    pub fn sir(&self, chance: f64) -> Decibel {
        self.half + self.width.times(libm::log((1.0 - chance) / chance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_the_logistic_one() {
        let curve = BlockErrors { half: Decibel::new(4.0), width: Decibel::new(0.5) };
        assert_eq!(curve.chance(Decibel::new(4.0)), 0.5);
        // ln 99 · 0.5 dB = 2.2976 dB above the half there is one bad block in a hundred, and as far below one good one.
        for (sir, chance) in [(4.0 + 2.297_559_925_067_295, 0.01), (4.0 - 2.297_559_925_067_295, 0.99), (60.0, 0.0)] {
            let got = curve.chance(Decibel::new(sir));
            assert!((got - chance).abs() < 1e-12, "{sir}: {got}");
        }
        assert!((curve.sir(0.01).db() - 6.297_559_925_067_295).abs() < 1e-12);
    }
}
