//! The core's errors as Python's. Their classes live in `lasthop.errors`, where type checkers
//! see their attributes.

use lasthop_core::net::RunError;
use lasthop_core::scenario::builder::BuildError;
use lasthop_core::scenario::diagnostic::Diagnostic;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// What made a run end early.
pub fn run(py: Python<'_>, error: &RunError) -> PyErr {
    make(py, "RunError", (error.to_string(),))
}

/// The error of a scenario.
pub fn diagnostic(py: Python<'_>, error: &Diagnostic) -> PyErr {
    let arguments = (
        error.render(false),
        error.message.as_str(),
        error.origin.as_str(),
        error.line,
        error.column,
        error.path.as_str(),
        error.render(true),
        error.also.iter().map(|also| diagnostic(py, also)).collect::<Vec<_>>(),
    );
    make(py, "ScenarioError", arguments)
}

/// A scenario that passed the checks and yet cannot be built.
pub fn build(py: Python<'_>, origin: &str, error: &BuildError) -> PyErr {
    let mut shown = Diagnostic::new(error.message.as_str(), origin);
    shown.path = error.path.clone();
    diagnostic(py, &shown)
}

/// What went wrong in a call of a controller, or in an answer: in which flow, where, at which simulated second, and what was known.
pub fn controller<'py>(
    py: Python<'py>,
    cause: &PyErr,
    flow: &str,
    place: &str,
    at_s: f64,
    known: impl IntoPyObject<'py>,
) -> PyErr {
    let arguments = (cause.value(py), flow, place, at_s, known);
    let made = py.import("lasthop.errors").and_then(|errors| errors.getattr("controller_error")?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

fn make<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let made = py.import("lasthop.errors").and_then(|errors| errors.getattr(class)?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}
