//! Quantiles of Student's distribution, for confidence intervals.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// With more degrees of freedom than these the series of the normal quantile is the better way.
const MANY: f64 = 1e4;

/// The quantile of Student's distribution with `freedom` degrees of freedom at `probability`.
///
/// With many degrees of freedom it is the first three terms of Abramowitz and Stegun, 26.7.5.
#[pyfunction]
#[pyo3(signature = (freedom, probability))]
pub fn student(freedom: f64, probability: f64) -> PyResult<f64> {
    let refused = |_| PyValueError::new_err("freedom must be above 0, probability between 0 and 1");
    if !(probability > 0.0 && probability < 1.0) {
        return Err(refused(()));
    }
    if freedom > MANY {
        let z = Normal::standard().inverse_cdf(probability);
        let (cubed, fifth) = (z * z * z, z * z * z * z * z);
        let second = (5.0 * fifth + 16.0 * cubed + 3.0 * z) / (96.0 * freedom * freedom);
        return Ok(z + (cubed + z) / (4.0 * freedom) + second);
    }
    let distribution = StudentsT::new(0.0, 1.0, freedom).map_err(|_| refused(()))?;
    Ok(distribution.inverse_cdf(probability))
}
