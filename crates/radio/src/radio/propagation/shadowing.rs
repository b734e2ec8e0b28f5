//! Log-normal shadowing that is alike at places near each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Decibel, Fault, Length, Probability, Stream, normal};

/// Shadowing: normal in decibels. Along a terminal's way its correlation halves over `distance` (Gudmundson,
/// *Electronics Letters* 27, 1991, in the form of ETSI TR 101 112 §B.1.4.1.4); to different sites it is correlated by `sites`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Shadowing {
    /// The standard deviation. 0 dB: no shadowing. 3GPP TR 25.942 §5.1.4.1 takes 10 dB for macro cells.
    pub deviation: Decibel,
    /// Over which way the correlation falls to one half. Default: 50 m.
    pub distance: Length,
    /// The correlation between two sites. Default: 0.5 (TR 25.942 §5.1.4.1).
    pub sites: Probability,
}

impl Default for Shadowing {
    fn default() -> Self {
        Self {
            deviation: Decibel::ZERO,
            distance: Length::from_metres(50.0),
            sites: Probability::new(0.5).unwrap_or_default(),
        }
    }
}

impl Shadowing {
    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        if self.deviation < Decibel::ZERO {
            return Err(Fault::new("deviation", "a standard deviation below 0", "expected 0 dB or more"));
        }
        if self.distance.metres() <= 0.0 {
            return Err(Fault::new("distance", format!("a distance of {}", self.distance), "expected more than 0 m"));
        }
        Ok(())
    }
}

/// The shadowing of one terminal, to all sites.
#[derive(Debug)]
pub struct Shadow {
    config: Shadowing,
    /// What all sites have in common, then what each has for itself: standard normal.
    common: f64,
    own: Vec<f64>,
    stream: Stream,
    drawn: bool,
}

impl Shadow {
    /// Of a terminal that sees this number of sites.
    pub fn new(config: &Shadowing, sites: usize, stream: Stream) -> Self {
        Self { config: config.clone(), common: 0.0, own: vec![0.0; sites], stream, drawn: false }
    }

    /// The terminal has moved so far. At the first time the shadowing is drawn anew.
    pub fn move_by(&mut self, way: Length) {
        if self.config.deviation == Decibel::ZERO || (self.drawn && way.metres() == 0.0) {
            return;
        }
        let kept = if self.drawn { libm::pow(0.5, way.metres() / self.config.distance.metres()) } else { 0.0 };
        let new = (1.0 - kept * kept).sqrt();
        self.drawn = true;
        self.common = kept * self.common + new * normal::quantile(self.stream.inner_unit());
        for own in &mut self.own {
            *own = kept * *own + new * normal::quantile(self.stream.inner_unit());
        }
    }

    /// The shadowing to a site; above 0: a loss.
    #[inline]
    pub fn to(&self, site: usize) -> Decibel {
        let shared = self.config.sites.get();
        self.config.deviation.times(shared.sqrt() * self.common + (1.0 - shared).sqrt() * self.own[site])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;

    /// Mean of the products of two equally long rows.
    fn covariance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / a.len() as f64
    }

    #[test]
    fn deviation_and_correlations_are_those_of_the_definition() {
        let config = Shadowing { deviation: Decibel::new(8.0), ..Default::default() };
        let step = Length::from_metres(25.0);
        let mut shadow = Shadow::new(&config, 2, Streams::new(5).stream("test", "shadow"));
        let n = 200_000;
        let rows: Vec<[f64; 2]> = (0..n)
            .map(|_| {
                shadow.move_by(step);
                [0, 1].map(|site| shadow.to(site).db() / 8.0)
            })
            .collect();
        let column =
            |site: usize, from: usize| rows[from..n - 4 + from].iter().map(|row| row[site]).collect::<Vec<_>>();
        // One step keeps 0.5^(25/50): 0.7071 of the correlation, two one half, four a quarter. The standard error of a
        // covariance of a first-order process with a = 0.7071 is at most √(2 (1 + a²)/(1 − a²)/n) = 0.0055; five of these.
        for (other, lag, expected) in
            [(0, 0, 1.0), (0, 1, 0.5f64.sqrt()), (0, 2, 0.5), (0, 4, 0.25), (1, 0, 0.5), (1, 2, 0.25)]
        {
            let got = covariance(&column(0, 0), &column(other, lag));
            assert!((got - expected).abs() < 0.0275, "site {other}, {lag} steps: {got}, expected {expected}");
        }
    }

    #[test]
    fn who_does_not_move_keeps_his_shadow() {
        let config = Shadowing { deviation: Decibel::new(8.0), ..Default::default() };
        let mut shadow = Shadow::new(&config, 1, Streams::new(5).stream("test", "shadow"));
        shadow.move_by(Length::from_metres(0.0));
        let first = shadow.to(0);
        shadow.move_by(Length::from_metres(0.0));
        assert_eq!(shadow.to(0), first);
        assert_ne!(first, Decibel::ZERO);
    }
}
