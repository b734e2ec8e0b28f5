//! The core's errors as Python's. Their classes live in `lasthop.errors`, where type checkers
//! see their attributes.

use lasthop_core::net::RunError;
use lasthop_core::scenario::builder::BuildError;
use pyo3::prelude::*;

use crate::scenario::Scenario;

/// What made a run end early.
pub fn run(py: Python<'_>, error: &RunError) -> PyErr {
    make(py, "RunError", (error.to_string(),))
}

/// A scenario that cannot be built.
pub fn build(py: Python<'_>, _scenario: &Scenario, error: &BuildError) -> PyErr {
    raise(py, error.to_string())
}

pub fn raise(py: Python<'_>, message: String) -> PyErr {
    make(py, "ScenarioError", (message.clone(), message, "", None::<usize>, None::<usize>, ""))
}

fn make<'py, A>(py: Python<'py>, class: &str, arguments: A) -> PyErr
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let make = || py.import("lasthop.errors")?.getattr(class)?.call1(arguments);
    make().map_or_else(|error| error, PyErr::from_value)
}
