//! Means with standard errors, and whether they differ: Welch's test for each cell, with Holm's
//! correction over all.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The probability that any cell is called different when none is.
const LEVEL: f64 = 0.01;

/// A comparison of two means.
pub struct Test {
    /// The compared quantity, with both means.
    pub words: String,
    /// The probability of means so far apart if they were equal.
    pub p: f64,
}

/// The tests that fail by Holm's procedure, in the order of their cells.
pub fn rejected(mut tests: Vec<(usize, Test)>) -> Vec<(usize, String)> {
    tests.sort_by(|a, b| a.1.p.total_cmp(&b.1.p));
    let count = tests.len();
    let failing = tests.iter().enumerate().take_while(|(k, (_, test))| test.p <= LEVEL / (count - k) as f64).count();
    tests.truncate(failing);
    tests.sort_by_key(|(cell, _)| *cell);
    tests.into_iter().map(|(cell, test)| (cell, format!("{}, p = {:.1e}", test.words, test.p))).collect()
}

/// A mean with its standard error.
#[derive(Clone, Copy)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// The number of values.
    pub n: f64,
}

impl Mean {
    /// Of these values.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let n = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / n;
        let variance = values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
        Self { mean, error: (variance / n).sqrt(), n }
    }
}

/// The two-sided probability of means so far apart if they were equal (Welch 1947).
pub fn welch(a: Mean, b: Mean) -> f64 {
    let (va, vb) = (a.error * a.error, b.error * b.error);
    if va + vb == 0.0 {
        return f64::from(u8::from(a.mean == b.mean));
    }
    let t = (a.mean - b.mean) / (va + vb).sqrt();
    let freedom = (va + vb) * (va + vb) / (va * va / (a.n - 1.0) + vb * vb / (b.n - 1.0));
    StudentsT::new(0.0, 1.0, freedom).map_or(0.0, |d| 2.0 * d.cdf(-t.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook §1.3.5.3, miles per gallon of 249 US and 79 Japanese cars:
    /// T = -12.94620 with 136.8750 degrees of freedom.
    #[test]
    fn welch_against_a_published_value() {
        let us = Mean { mean: 20.144_58, error: 6.414_70 / 249f64.sqrt(), n: 249.0 };
        let japan = Mean { mean: 30.481_01, error: 6.107_71 / 79f64.sqrt(), n: 79.0 };
        let expected = 2.0 * StudentsT::new(0.0, 1.0, 136.875).unwrap().cdf(-12.946_20);
        assert!((welch(us, japan) / expected - 1.0).abs() < 1e-3);
    }
}
