//! A session in slices: the interpreter's lock is released within each, so that other threads work
//! and Ctrl-C is heard between them.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lasthop_core::engine::{Fault, Instant};
use lasthop_core::measure::pcapng::Capture;
use lasthop_core::net::Observer;
use lasthop_core::net::simulation::Progress;
use lasthop_core::scenario::capture;
use lasthop_core::scenario::diagnostic::Diagnostic;
use lasthop_core::scenario::read::{self, Document};
use lasthop_core::scenario::session::Session as CoreSession;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::scenario::Scenario;
use crate::table::Table;
use crate::{controller, errors};

/// A scenario that is under way.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Session {
    /// `None` once it is finished.
    session: Mutex<Option<CoreSession>>,
    /// What controllers in Python share.
    controllers: Option<Arc<controller::Run>>,
}

impl Session {
    /// The session. Another thread that is in it may be inside a call of a controller: it is waited for without the interpreter's lock.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Option<CoreSession>>> {
        if self.controllers.as_ref().is_some_and(|run| run.is_inside()) {
            return Err(PyRuntimeError::new_err("this run is inside a call of its controller"));
        }
        Ok(self.session.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }

    fn with<T>(&self, py: Python<'_>, f: impl FnOnce(&mut CoreSession) -> T) -> PyResult<T> {
        self.lock(py)?.as_mut().map(f).ok_or_else(finished)
    }

    /// Without the interpreter's lock, so that other threads work; but with it if controllers in Python would take it back all the time.
    fn detached<T: Send>(&self, py: Python<'_>, f: impl Send + FnOnce(&mut CoreSession) -> T) -> PyResult<T> {
        if self.controllers.is_some() {
            return self.with(py, f);
        }
        let f = |session: &mut Option<CoreSession>| session.as_mut().map(f).ok_or_else(finished);
        py.detach(|| f(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The error of a controller that failed.
    fn ask_controllers(&self, py: Python<'_>) -> PyResult<()> {
        let Some(error) = self.controllers.as_ref().and_then(|run| run.error(py)) else { return Ok(()) };
        // Nothing of a run that failed is kept.
        self.lock(py)?.take();
        Err(error)
    }
}

#[pymethods]
impl Session {
    /// Builds the scenario with the random streams of `seed`. With `pcap`, the packets at the nodes that send are captured into that file.
    #[new]
    /// A `changeable` one is ready for changes by its caller.
    #[pyo3(signature = (scenario, seed, pcap = None, *, changeable = false))]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64, pcap: Option<PathBuf>, changeable: bool) -> PyResult<Self> {
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
        let seated = controller::seat(py, scenario, origin, seed)?;
        let scenario = seated.as_ref().map_or(scenario, |(seated, _)| seated);
        let session = py
            .detach(|| {
                let begin = if changeable { CoreSession::changeable } else { CoreSession::new };
                begin(scenario, seed, observer)
            })
            .map_err(|error| errors::build(py, origin, &error))?;
        Ok(Self { session: Mutex::new(Some(session)), controllers: seated.map(|(_, run)| run) })
    }

    /// Goes on for about `events` events; whether the end is reached.
    fn advance(&self, py: Python<'_>, events: u64) -> PyResult<bool> {
        let progress = self.detached(py, |session| session.advance(events))?;
        self.ask_controllers(py)?;
        match progress {
            Ok(progress) => Ok(progress == Progress::Reached),
            Err(error) => Err(errors::run(py, &error)),
        }
    }

    /// The same up to an instant, in simulated seconds: whether it is reached.
    fn advance_to(&self, py: Python<'_>, until_s: f64, events: u64) -> PyResult<bool> {
        let until = Instant::from_secs_f64(until_s.max(0.0));
        let progress = self.detached(py, |session| session.advance_to(until, events))?;
        self.ask_controllers(py)?;
        match progress {
            Ok(progress) => Ok(progress == Progress::Reached),
            Err(error) => Err(errors::run(py, &error)),
        }
    }

    /// When something happens next, in simulated seconds; `None` at the end.
    #[getter]
    fn next_event_s(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.with(py, |session| session.next_event().map(Instant::as_secs_f64))
    }

    /// Makes the changes of a scenario in JSON that has nothing else, now.
    fn change(&self, py: Python<'_>, json: &str) -> PyResult<()> {
        let origin = "change";
        let document = read::json(json, origin).map_err(|error| errors::diagnostic(py, &error))?;
        for change in &document.scenario.change {
            self.with(py, |session| session.change(change))?.map_err(|fault| {
                let Fault { field, message, expected: label } = fault;
                let mut shown = Diagnostic::new(message, origin);
                (shown.path, shown.label) = (field.into_owned(), label);
                errors::diagnostic(py, &shown)
            })?;
        }
        Ok(())
    }

    /// What the flow or the part of a medium of this name keeps at present: kind, node, quantity and value, as in the table `state`.
    fn look(&self, py: Python<'_>, name: &str) -> PyResult<Vec<(String, String, String, f64)>> {
        let table = self.with(py, |session| session.look(name))?;
        let text = |column, row| table.text(column, row).unwrap_or_default().to_owned();
        let row = |row| {
            let value = table.number("value", row).unwrap_or(f64::NAN);
            (text("kind", row), text("node", row), text("quantity", row), value)
        };
        Ok((0..table.rows()).map(row).collect())
    }

    /// The names of what can be looked at.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |session| session.names())
    }

    /// The present, in simulated seconds.
    #[getter]
    fn now_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |session| session.now().as_secs_f64())
    }

    /// The end of the run, in simulated seconds.
    #[getter]
    fn end_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |session| session.end().as_secs_f64())
    }

    /// Ends the run, makes its tables and closes its capture.
    fn finish(&self, py: Python<'_>) -> PyResult<Outcome> {
        let session = self.lock(py)?.take().ok_or_else(finished)?;
        py.detach(|| {
            let results = session.finish();
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
