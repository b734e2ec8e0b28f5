//! A run in slices: the interpreter's lock is released within each, so that other threads work
//! and Ctrl-C is heard between them.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use lasthop_core::measure::pcapng::Capture;
use lasthop_core::net::Observer;
use lasthop_core::net::simulation::Progress;
use lasthop_core::scenario::capture;
use lasthop_core::scenario::read::Document;
use lasthop_core::scenario::session::Session as CoreSession;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors;
use crate::scenario::Scenario;
use crate::table::Table;

/// A run that is under way.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Run {
    /// `None` once it is finished.
    run: Mutex<Option<CoreRun>>,
}

impl Run {
    fn with<T>(&self, f: impl FnOnce(&mut CoreRun) -> T) -> PyResult<T> {
        match &mut *self.run.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(run) => Ok(f(run)),
            None => Err(finished()),
        }
    }
}

#[pymethods]
impl Run {
    /// Builds the scenario with the random streams of `seed`. With `pcap`, what passes the nodes
    /// that send is captured into that file.
    #[new]
    #[pyo3(signature = (scenario, seed, pcap = None))]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64, pcap: Option<PathBuf>) -> PyResult<Self> {
        let Document { scenario, origin, .. } = &scenario.document;
        let observer = match pcap {
            Some(path) => {
                let senders: Vec<String> = scenario.flow.iter().map(|flow| flow.from.clone()).collect();
                let nodes = capture::nodes(scenario, &senders).map_err(|error| errors::diagnostic(py, &error))?;
                let capture = capture::capture(scenario, &nodes, File::create(path)?)?;
                Some(Box::new(capture) as Box<dyn Observer>)
            }
            None => None,
        };
        let run =
            py.detach(|| CoreRun::new(scenario, seed, observer)).map_err(|error| errors::build(py, origin, &error))?;
        Ok(Self { run: Mutex::new(Some(run)) })
    }

    /// Goes on for about `events` events; whether the end is reached.
    fn advance(&self, py: Python<'_>, events: u64) -> PyResult<bool> {
        match py.detach(|| self.with(|run| run.advance(events)))? {
            Ok(progress) => Ok(progress == Progress::Reached),
            Err(error) => Err(errors::run(py, &error)),
        }
    }

    /// The present, in simulated seconds.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        self.with(|run| run.now().as_secs_f64())
    }

    /// The end of the run, in simulated seconds.
    #[getter]
    fn end_s(&self) -> PyResult<f64> {
        self.with(|run| run.end().as_secs_f64())
    }

    /// Ends the run, makes its tables and closes its capture.
    fn finish(&self, py: Python<'_>) -> PyResult<Outcome> {
        py.detach(|| {
            let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).take();
            let results = run.ok_or_else(finished)?.finish();
            let mut tables = Vec::with_capacity(results.tables.len());
            for (name, table) in results.tables {
                tables.push((name.to_owned(), Table::new(table)?));
            }
            if let Some(Ok(capture)) = results.observer.map(|observer| observer.downcast::<Capture<File>>()) {
                capture.finish()?;
            }
            Ok(Outcome { tables, packet_hops: results.packet_hops })
        })
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("this run is finished")
}

/// What a run gave.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Outcome {
    tables: Vec<(String, Table)>,
    /// Transmissions that ended at the far side of a link.
    #[pyo3(get)]
    packet_hops: u64,
}

#[pymethods]
impl Outcome {
    /// The tables with their names.
    #[getter]
    fn tables(&self) -> Vec<(String, Table)> {
        self.tables.clone()
    }
}
