//! Log-normal distributions, whole or truncated.

use super::normal;
use super::random::Stream;

/// A log-normal distribution: the logarithm of its values is normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lognormal {
    /// Mean and standard deviation of the logarithm.
    mu: f64,
    sigma: f64,
    /// The interval in which values lie, and the probabilities of the whole distribution below
    /// its ends.
    range: [f64; 2],
    below: [f64; 2],
}

impl Lognormal {
    /// The distribution with this mean, above 0, and this standard deviation:
    /// σ² = ln(1 + s²/m²), μ = ln m − σ²/2.
    pub fn from_moments(mean: f64, deviation: f64) -> Self {
        let ratio = deviation / mean;
        let variance = libm::log1p(ratio * ratio);
        Self {
            mu: libm::log(mean) - variance / 2.0,
            sigma: variance.sqrt(),
            range: [0.0, f64::INFINITY],
            below: [0.0, 1.0],
        }
    }

    /// The same distribution without the values outside `[least, most]`: each of them is drawn
    /// again until it lies inside (rejection). Without a deviation, the value nearest to the mean.
    pub fn within(self, least: f64, most: f64) -> Self {
        let below = |x: f64| normal::cdf((libm::log(x) - self.mu) / self.sigma);
        let below = if self.sigma > 0.0 { [below(least), below(most)] } else { self.below };
        Self { range: [least, most], below, ..self }
    }

    /// Which share of the whole distribution lies in the interval.
    pub fn share(&self) -> f64 {
        self.below[1] - self.below[0]
    }

    /// The value below which the probability is `p`, between 0 and 1.
    pub fn quantile(&self, p: f64) -> f64 {
        let z = normal::quantile(self.below[0] + self.share() * p);
        libm::exp(self.mu + self.sigma * z).clamp(self.range[0], self.range[1])
    }

    /// A value, by inversion: one number of the stream for each, however many a rejection would
    /// take.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.quantile(stream.inner_unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    /// μ, σ.
    fn parameters(d: &Lognormal) -> [f64; 2] {
        [d.mu, d.sigma]
    }

    /// Mean and standard deviation, as the integrals of quantiles over the unit interval.
    fn moments(d: &Lognormal) -> [f64; 2] {
        let n = 1_000_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for i in 0..n {
            let x = d.quantile((f64::from(i) + 0.5) / f64::from(n));
            sum += x;
            squares += x * x;
        }
        let mean = sum / f64::from(n);
        [mean, (squares / f64::from(n) - mean * mean).sqrt()]
    }

    fn close(got: [f64; 2], expected: [f64; 2], within: f64) {
        for (got, expected) in got.into_iter().zip(expected) {
            assert!((got / expected - 1.0).abs() < within, "{got}, expected {expected}");
        }
    }

    #[test]
    fn parameters_and_truncated_moments_are_those_of_the_closed_form() {
        // Objects of web pages and files (3GPP TR 25.876). Moments after truncation: scipy 1.17.1,
        // from e^{kμ + k²σ²/2} [Φ((ln b − μ)/σ − kσ) − Φ((ln a − μ)/σ − kσ)] / [Φ(b) − Φ(a)].
        let main = Lognormal::from_moments(10_710.0, 25_032.0);
        close(parameters(&main), [8.345904890991408, 1.366036802176564], 1e-14);
        let main = main.within(100.0, 2e6);
        close(main.below, [0.0030870873671698697, 1.0 - 3.219896918205123e-06], 1e-12);
        close(moments(&main), [10734.071933797437, 24503.65365348226], 2e-4);

        let embedded = Lognormal::from_moments(7_758.0, 126_168.0);
        close(parameters(&embedded), [6.165703153969503, 2.3625311401251032], 1e-14);
        let embedded = embedded.within(50.0, 2e6);
        close(embedded.below, [0.17006052203568062, 1.0 - 0.00020671213622414086], 1e-12);
        close(moments(&embedded), [8212.182441830246, 46606.44117167039], 2e-4);

        let file = Lognormal::from_moments(2e6, 0.722e6);
        close(parameters(&file), [14.447406906934098, 0.35000237596370704], 1e-14);
        let file = file.within(0.0, 5e6);
        assert!((1.0 - file.share() - 0.002611432230017585).abs() < 1e-15);
        close(moments(&file), [1990630.8261451076, 698651.2753509034], 2e-4);
    }

    #[test]
    fn draws_follow_the_distribution() {
        let whole = Lognormal::from_moments(10_710.0, 25_032.0);
        let some = whole.within(1_000.0, 20_000.0);
        let mut stream = Streams::new(3).stream("test", "lognormal");
        let n = 100_000;
        for distribution in [whole, some] {
            let mut values: Vec<f64> = (0..n).map(|_| distribution.draw(&mut stream)).collect();
            values.sort_by(f64::total_cmp);
            // The largest distance between the empirical and the true distribution, which is
            // known by itself, exceeds 1.95/√n with a chance of one in a thousand (Kolmogorov).
            let below = |x: f64| normal::cdf((libm::log(x) - whole.mu) / whole.sigma);
            let [low, high] = distribution.range.map(|x| if x == f64::INFINITY { 1.0 } else { below(x) });
            let distance = (0..n).map(|i| {
                let expected = (below(values[i]) - low) / (high - low);
                (expected - i as f64 / n as f64).abs().max((expected - (i + 1) as f64 / n as f64).abs())
            });
            let distance = distance.fold(0.0, f64::max);
            assert!(distance < 1.95 / (n as f64).sqrt(), "{distance}");
        }
    }

    #[test]
    fn without_a_deviation_all_values_are_the_mean() {
        let constant = Lognormal::from_moments(2_920.0, 0.0).within(100.0, 1e6);
        for p in [1e-16, 0.5, 1.0 - 1e-16] {
            assert!((constant.quantile(p) - 2_920.0).abs() < 1e-9);
        }
    }
}
