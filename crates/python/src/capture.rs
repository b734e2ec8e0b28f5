//! Captures, read back.

use std::fs::File;
use std::path::PathBuf;

use lasthop_core::measure::segments as core_segments;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Table;

/// The TCP segments of a capture (pcapng or pcap): one row for each packet that passed an interface.
#[pyfunction]
pub fn segments(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    let file = File::open(&path)?;
    let table = py.detach(|| core_segments::segments(file));
    Table::new(table.map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))?)
}
