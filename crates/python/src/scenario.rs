//! Scenarios: read, checked, described.

use std::path::PathBuf;

use lasthop_core::engine::Duration;
use lasthop_core::scenario::diagnostic::Diagnostic;
use lasthop_core::scenario::read::Document;
use lasthop_core::scenario::{check, expand, read as core_read, schema as core_schema};
use pyo3::prelude::*;

use crate::{controller, errors};

/// A scenario that was read and checked.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Scenario {
    pub document: Document,
}

#[pymethods]
impl Scenario {
    /// Its simulated time, in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.document.scenario.duration.as_secs_f64()
    }

    /// The scenario as JSON, every name and default filled in.
    fn json(&self) -> String {
        expand::json(&self.document.scenario)
    }

    /// What was written, in JSON with the texts of files that it names; `None` if it names none.
    #[getter]
    fn whole(&self) -> Option<&str> {
        self.document.whole.as_deref()
    }

    /// The name that it states; empty if none.
    #[getter]
    fn name(&self) -> &str {
        &self.document.scenario.name
    }

    /// The seed that it states.
    #[getter]
    fn seed(&self) -> u64 {
        self.document.scenario.seed
    }

    /// What it holds, in one line.
    fn summary(&self) -> String {
        expand::summary(&self.document.scenario)
    }

    /// The scenario as TOML, every name and default filled in.
    fn toml(&self) -> String {
        expand::toml(&self.document.scenario)
    }
}

/// Reads and checks a scenario from text in the format `toml` or `json`; `origin` names the text
/// in errors.
#[pyfunction]
pub fn read(py: Python<'_>, text: &str, origin: &str, format: &str) -> PyResult<Scenario> {
    let document = match format {
        "json" => core_read::json(text, origin),
        _ => core_read::toml(text, origin),
    };
    checked(py, document)
}

/// What a scenario in TOML says, as JSON in the same order.
#[pyfunction]
pub fn toml_as_json(py: Python<'_>, text: &str) -> PyResult<String> {
    core_read::toml_as_json(text, "<text>").map_err(|error| errors::diagnostic(py, &error))
}

/// Reads and checks a scenario from a file.
#[pyfunction]
pub fn read_file(py: Python<'_>, path: PathBuf) -> PyResult<Scenario> {
    checked(py, core_read::file(path))
}

/// The JSON Schema of a scenario, or of one section of it by its name or its path.
#[pyfunction]
#[pyo3(signature = (section = None))]
pub fn schema(py: Python<'_>, section: Option<&str>) -> PyResult<String> {
    let schema = section.map_or_else(|| Ok(core_schema::schema().clone()), core_schema::schema_of);
    let schema = schema.map_err(|error| errors::diagnostic(py, &error))?;
    Ok(serde_json::to_string_pretty(&schema).expect("a schema is plain data"))
}

/// The reference page of scenarios, in Markdown.
#[pyfunction]
pub fn reference() -> String {
    core_schema::reference()
}

fn checked(py: Python<'_>, document: Result<Document, Diagnostic>) -> PyResult<Scenario> {
    document
        .map(|mut document| {
            controller::find(py, &mut document.scenario, &document.origin);
            document
        })
        .and_then(|document| check::check(&document).map(|()| Scenario { document }))
        .map_err(|error| errors::diagnostic(py, &error))
}

/// A time such as `"10 ms"` in seconds.
#[pyfunction]
pub fn seconds(py: Python<'_>, text: &str) -> PyResult<f64> {
    let wrong = |message: String| errors::diagnostic(py, &Diagnostic::new(message, "time"));
    Duration::parse(text).map(Duration::as_secs_f64).map_err(wrong)
}
