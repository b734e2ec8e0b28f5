//! Scenarios: read, checked, described.

use lasthop_core::scenario::types::Scenario as CoreScenario;
use pyo3::prelude::*;

use crate::errors;

/// A scenario as the core holds it.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Scenario {
    pub inner: CoreScenario,
}

#[pymethods]
impl Scenario {
    /// The scenario as JSON.
    fn json(&self) -> String {
        serde_json::to_string(&self.inner).expect("a scenario is plain data")
    }
}

/// Reads and checks a scenario from text in the format `toml` or `json`.
#[pyfunction]
pub fn read(py: Python<'_>, text: &str, origin: &str, format: &str) -> PyResult<Scenario> {
    let _ = origin;
    let inner = match format {
        "json" => serde_json::from_str(text).map_err(|e| errors::raise(py, e.to_string()))?,
        _ => toml::from_str(text).map_err(|e| errors::raise(py, e.to_string()))?,
    };
    Ok(Scenario { inner })
}

/// Reads and checks a scenario from a file.
#[pyfunction]
pub fn read_file(py: Python<'_>, path: &str) -> PyResult<Scenario> {
    let text = std::fs::read_to_string(path).map_err(|e| errors::raise(py, e.to_string()))?;
    read(py, &text, path, "toml")
}
