//! The base probability p′, moved by a proportional integral controller (RFC 9332 Figure 8; Linux, `calculate_probability`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Duration;

/// Whose arithmetic and defaults DualPI2 follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DualPi2Dialect")]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// RFC 9332 Appendix A: a ramp for the L queue, marks without randomness.
    #[default]
    Rfc,
    /// Linux's `sch_dualpi2`: a step for the L queue, random marks, of which the coupling makes none while less than two packets wait.
    Linux,
}

/// p′, and the controller that moves it.
pub enum Base {
    /// In real numbers, as the RFC's pseudocode.
    Real(Real),
    /// In integers, as Linux.
    Integer(Integer),
}

impl Base {
    /// Zero. Gains are in Hz; p′ grows to `most` at most.
    pub fn new(dialect: Dialect, (alpha, beta): (f64, f64), target: Duration, most: f64) -> Self {
        match dialect {
            Dialect::Rfc => Self::Real(Real { p: 0.0, prevq: 0.0, target: target.as_secs_f64(), alpha, beta, most }),
            Dialect::Linux => Self::Integer(Integer {
                prob: 0,
                last_qdelay: 0,
                target: i128::from(target.as_nanos()),
                alpha: scaled(alpha),
                beta: scaled(beta),
                most: (f64::from(u32::MAX) * most) as u32,
            }),
        }
    }

    /// p′.
    #[inline]
    pub fn probability(&self) -> f64 {
        match self {
            Self::Real(base) => base.p,
            Self::Integer(base) => f64::from(base.prob) / f64::from(u32::MAX),
        }
    }

    /// The queueing delay, the larger one of the two queues, is this.
    pub fn update(&mut self, delay: Duration) {
        match self {
            Self::Real(base) => base.update(delay.as_secs_f64()),
            Self::Integer(base) => base.update(i128::from(delay.as_nanos())),
        }
    }

    /// Whether another update with no delay would change nothing.
    pub fn rests(&self) -> bool {
        match self {
            Self::Real(base) => base.p == 0.0 && base.prevq == 0.0,
            Self::Integer(base) => base.prob == 0 && base.last_qdelay == 0,
        }
    }
}

/// p′ as a real number; times in seconds.
pub struct Real {
    p: f64,
    prevq: f64,
    target: f64,
    alpha: f64,
    beta: f64,
    most: f64,
}

impl Real {
    fn update(&mut self, curq: f64) {
        let p = self.p + self.alpha * (curq - self.target) + self.beta * (curq - self.prevq);
        self.p = p.clamp(0.0, self.most);
        self.prevq = curq;
    }
}

/// p′ in units of 2⁻³²; times in nanoseconds.
pub struct Integer {
    prob: u32,
    last_qdelay: i128,
    target: i128,
    /// Gains in units of probability for 64 ns.
    alpha: i128,
    beta: i128,
    most: u32,
}

impl Integer {
    fn update(&mut self, qdelay: i128) {
        let delta = (qdelay - self.target) * self.alpha + (qdelay - self.last_qdelay) * self.beta;
        // Division truncates towards zero, as Linux's of the magnitude. Linux lets the sum wrap for delays of seconds; here it saturates.
        let prob = i128::from(self.prob) + delta / (1 << GRANULARITY);
        self.prob = prob.clamp(0, i128::from(self.most)) as u32;
        self.last_qdelay = qdelay;
    }
}

/// `ALPHA_BETA_SHIFT`: a gain is set in units of 1/256 Hz.
const SHIFT: u32 = 8;

/// `ALPHA_BETA_GRANULARITY`: a gain is kept for 64 ns.
const GRANULARITY: u32 = 6;

/// A gain in Hz as Linux keeps it (`dualpi2_scale_alpha_beta`).
fn scaled(hz: f64) -> i128 {
    let parameter = libm::round(hz * f64::from(1u32 << SHIFT)) as i128;
    ((parameter * i128::from(u32::MAX)) >> (SHIFT - GRANULARITY)) / 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::dualpi2::Config;

    fn base(config: &Config) -> Base {
        Base::new(config.dialect, config.gains(), config.target, 1.0)
    }

    fn update(base: &mut Base, ms: u64) -> f64 {
        base.update(Duration::from_millis(ms));
        base.probability()
    }

    #[test]
    fn p_by_the_rfcs_constants() {
        // Figure 2: Tupdate 15 ms, α = 0.1·0.015/0.1² = 0.15 Hz, β = 3 Hz. From p′ = 0 with 20, 20, 25 ms:
        // 0.15·0.005 + 3·0.02 = 0.06075; + 0.15·0.005 = 0.0615; + 0.15·0.01 + 3·0.005 = 0.078.
        let mut base = base(&Config::default());
        for (ms, p, p_cl, p_c) in
            [(20, 0.060_75, 0.121_5, 0.003_691), (20, 0.061_5, 0.123, 0.003_782), (25, 0.078, 0.156, 0.006_084)]
        {
            let found = update(&mut base, ms);
            assert!((found - p).abs() < 1e-12, "{found}, not {p}");
            assert!((2.0 * found - p_cl).abs() < 1e-12);
            assert!((found * found - p_c).abs() < 5e-7);
        }
        // It stays within its bounds, and comes to rest.
        assert_eq!(update(&mut base, 10_000), 1.0);
        assert_eq!(update(&mut base, 0), 0.0);
        assert!(base.rests());
    }

    #[test]
    fn gains_as_linux_keeps_them() {
        // 41 and 819 in units of 1/256 Hz, of 2³² − 1 for 64 ns: 44 and 879.
        let config = Config { dialect: Dialect::Linux, ..Config::default() };
        let Base::Integer(Integer { alpha, beta, target, .. }) = base(&config) else { panic!("Linux has integers") };
        assert_eq!((alpha, beta, target), (44, 879, 15_000_000));
        assert_eq!((scaled(0.16), scaled(3.2)), (44, 879));
    }

    #[test]
    fn p_by_linux_integers() {
        // 20 ms: (5e6·44 + 20e6·879) / 64 = 278 125 000; again 20 ms: + 5e6·44/64 = 3 437 500; then 0: (−15e6·44 − 20e6·879) / 64 = −285 000 000.
        let config = Config { dialect: Dialect::Linux, ..Config::default() };
        let mut base = base(&config);
        for (ms, prob) in [(20, 278_125_000), (20, 281_562_500), (0, 0)] {
            update(&mut base, ms);
            let Base::Integer(Integer { prob: found, .. }) = base else { panic!("Linux has integers") };
            assert_eq!(found, prob);
        }
        assert_eq!(update(&mut base, 3_000_000), 1.0);
    }

    #[test]
    fn it_grows_no_further_than_it_may() {
        for dialect in [Dialect::Rfc, Dialect::Linux] {
            let config = Config { dialect, ..Config::default() };
            let mut base = Base::new(dialect, config.gains(), config.target, 0.5);
            assert!((update(&mut base, 10_000) - 0.5).abs() < 1e-9, "{dialect:?}");
        }
    }
}
