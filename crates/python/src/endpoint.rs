//! Ends of sessions over UDP sockets.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs `lasthop endpoint` with these words, and gives its exit code.
#[pyfunction]
pub fn endpoint(py: Python<'_>, words: Vec<OsString>) -> i32 {
    py.detach(|| lasthop_endpoint::command(words))
}
