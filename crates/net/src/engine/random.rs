//! Random streams, one for each (run seed, component name, purpose).
//!
//! A stream does not depend on which other streams exist or how much they have drawn, so a
//! variant of a scenario meets the same randomness wherever the two agree: common random
//! numbers need no further care.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// The source of a run's random streams.
#[derive(Clone, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams of the run with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The stream of `component` for `purpose`. Its generator is made at the first draw.
    pub fn stream(&self, component: &str, purpose: &str) -> Stream {
        let mut hash = splitmix(self.seed);
        // The zero byte keeps ("ab", "c") and ("a", "bc") apart.
        for byte in component.bytes().chain([0]).chain(purpose.bytes()) {
            hash = splitmix(hash ^ u64::from(byte));
        }
        Stream { key: hash, rng: None }
    }
}

/// One random stream: ChaCha with 8 rounds.
#[derive(Debug)]
pub struct Stream {
    key: u64,
    rng: Option<Box<ChaCha8Rng>>,
}

impl Stream {
    /// A stream beneath this one, by its number. It does not depend on what this one has drawn.
    #[must_use]
    pub fn numbered(&self, number: u64) -> Self {
        Self { key: splitmix(splitmix(self.key).wrapping_add(number)), rng: None }
    }

    /// A number that names it: streams of [`Streams::new`] with this seed are beneath it. Nothing is drawn.
    pub fn seed(&self) -> u64 {
        self.key
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.generator().next_u64()
    }

    /// Skips this number of draws of 64 bits, in a time that does not depend on the number.
    pub fn skip(&mut self, draws: u64) {
        let generator = self.generator();
        // In words of 32 bits.
        let place = generator.get_word_pos() + 2 * u128::from(draws);
        generator.set_word_pos(place);
    }

    #[inline]
    fn generator(&mut self) -> &mut ChaCha8Rng {
        match &mut self.rng {
            Some(rng) => rng,
            begins => begins.insert(begin(self.key)),
        }
    }

    /// Uniform in [0, 1), with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in (0, 1), without its ends: the middle of one of 2⁵² intervals.
    #[inline]
    pub fn inner_unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Exponential with the given mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 − u lies in (0, 1], so the logarithm is finite.
        -mean * libm::log(1.0 - self.unit())
    }

    /// Pareto with the given shape and scale (its least value), by inversion.
    pub fn pareto(&mut self, shape: f64, scale: f64) -> f64 {
        scale / libm::pow(1.0 - self.unit(), 1.0 / shape)
    }

    /// Pareto without the values above `most`, each of which is drawn again (rejection); by
    /// inversion, so that one draw is enough.
    pub fn pareto_within(&mut self, shape: f64, scale: f64, most: f64) -> f64 {
        let share = 1.0 - libm::pow(scale / most, shape);
        scale / libm::pow(1.0 - share * self.unit(), 1.0 / shape)
    }
}

/// The generator of a stream.
#[cold]
fn begin(key: u64) -> Box<ChaCha8Rng> {
    let mut seed = [0; 32];
    let mut state = key;
    for word in seed.chunks_exact_mut(8) {
        state = splitmix(state);
        word.copy_from_slice(&state.to_le_bytes());
    }
    Box::new(ChaCha8Rng::from_seed(seed))
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection that mixes all bits.
fn splitmix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_component_and_purpose_only() {
        let first = |seed, component, purpose| Streams::new(seed).stream(component, purpose).bits();
        let draw = first(1, "radio", "loss");
        assert_eq!(draw, first(1, "radio", "loss"));
        for other in [first(2, "radio", "loss"), first(1, "radi", "oloss"), first(1, "radio", "red")] {
            assert_ne!(draw, other);
        }
    }

    #[test]
    fn draws_that_are_skipped_are_those_that_would_have_come() {
        for before in [0, 1, 7, 31, 32, 33] {
            for skipped in [0, 1, 2, 7, 8, 31, 32, 33, 1000] {
                let mut all = Streams::new(7).stream("test", "skip");
                let mut some = Streams::new(7).stream("test", "skip");
                (0..before).for_each(|_| assert_eq!(all.bits(), some.bits()));
                for _ in 0..skipped {
                    all.bits();
                }
                some.skip(skipped);
                (0..40).for_each(|_| assert_eq!(all.bits(), some.bits(), "{before}, {skipped}"));
            }
        }
    }

    #[test]
    fn moments_match_the_closed_forms() {
        let mut stream = Streams::new(7).stream("test", "moments");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        // Standard errors: uniform 0.29/√n, exponential 2/√n, Pareto(3, 1) 0.87/√n; 5 of them each.
        assert!((mean(&mut || stream.unit()) - 0.5).abs() < 0.0033);
        assert!((mean(&mut || stream.exponential(2.0)) - 2.0).abs() < 0.023);
        assert!((mean(&mut || stream.pareto(3.0, 1.0)) - 1.5).abs() < 0.01);
        // ∫ x f(x) dx / F(m) with F(m) = 1 − m⁻³ is [1.5 − 1.5 m⁻²] / (1 − m⁻³): 9/7 up to 2.
        // E x² is [3 − 3/m] / F(m) = 12/7, so the standard error is 0.25/√n.
        assert!((mean(&mut || stream.pareto_within(3.0, 1.0, 2.0)) - 9.0 / 7.0).abs() < 0.0028);
        assert!((mean(&mut || stream.inner_unit()) - 0.5).abs() < 0.0033);
    }
}
