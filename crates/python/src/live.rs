//! Live runs: the plan of `lasthop live` in, tables out.

use std::ffi::OsString;
use std::path::PathBuf;

use lasthop_live::plan::Plan;
use lasthop_live::recording;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::scenario::Scenario;
use crate::table::Table;

/// What a live run gave.
#[pyclass(frozen, get_all, module = "lasthop._core")]
pub struct LiveOutcome {
    /// The exit code: that of the run's own program, or 3 for a strict run that was late.
    code: i32,
    /// Whether its figures can be trusted, and why not.
    verdict: String,
    /// The tables with their names.
    tables: Vec<(String, Table)>,
    /// How long it was, in simulated seconds.
    simulated_s: f64,
    /// Transmissions that ended at the far side of a link.
    packet_hops: u64,
}

/// A plan, checked: `options` is JSON.
fn plan(scenario: &Scenario, options: &str) -> PyResult<Plan> {
    let options = serde_json::from_str(options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Plan::new(&scenario.document.scenario, options).map_err(PyValueError::new_err)
}

fn tables_of(tables: Vec<(&'static str, lasthop_core::measure::table::Table)>) -> PyResult<Vec<(String, Table)>> {
    tables.into_iter().map(|(name, table)| Ok((name.to_owned(), Table::new(table)?))).collect()
}

/// Runs a recording again, without clock or network, perhaps with a capture, or with a scenario that records more in the place of its own;
/// the verdict is that of the recorded run.
#[pyfunction]
#[pyo3(signature = (folder, pcap = None, scenario = None))]
pub fn live_replay(
    py: Python<'_>,
    folder: PathBuf,
    pcap: Option<PathBuf>,
    scenario: Option<&Scenario>,
) -> PyResult<LiveOutcome> {
    let scenario = scenario.map(|scenario| &scenario.document.scenario);
    let replayed = py.detach(|| recording::replay(&folder, pcap.as_deref(), scenario));
    let replayed = replayed.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(LiveOutcome {
        code: 0,
        verdict: replayed.verdict.to_string(),
        tables: tables_of(replayed.tables)?,
        simulated_s: replayed.end.as_secs_f64(),
        packet_hops: replayed.packet_hops,
    })
}

/// Whether this process is in the namespaces of a live run.
#[pyfunction]
pub fn live_is_inside() -> bool {
    #[cfg(target_os = "linux")]
    return lasthop_live::linux::outer::is_inner();
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Checks a plan, and runs a program with these arguments in namespaces of its own, where it is to call [`live`]; gives its exit code.
#[pyfunction]
pub fn live_enter(
    py: Python<'_>,
    scenario: &Scenario,
    options: &str,
    program: PathBuf,
    arguments: Vec<OsString>,
) -> PyResult<i32> {
    let plan = plan(scenario, options)?;
    #[cfg(target_os = "linux")]
    return py.detach(|| {
        plan.bridge().map_err(PyValueError::new_err)?;
        lasthop_live::linux::outer::run(&program, arguments).map_err(PyValueError::new_err)
    });
    #[cfg(not(target_os = "linux"))]
    {
        drop((py, plan, program, arguments));
        Err(PyValueError::new_err(lasthop_live::NEEDS_LINUX))
    }
}

/// Runs a plan here, inside namespaces. `show` gets a snapshot each second, as JSON, in a thread of its own.
#[pyfunction]
#[pyo3(signature = (scenario, options, show = None))]
pub fn live(py: Python<'_>, scenario: &Scenario, options: &str, show: Option<Py<PyAny>>) -> PyResult<LiveOutcome> {
    let plan = plan(scenario, options)?;
    #[cfg(target_os = "linux")]
    {
        let shown = show.map(showing);
        let outcome = py.detach(|| lasthop_live::linux::run::run(plan, shown)).map_err(PyValueError::new_err)?;
        Ok(LiveOutcome {
            code: outcome.code,
            verdict: outcome.verdict.to_string(),
            tables: tables_of(outcome.tables)?,
            simulated_s: outcome.virtual_time.as_secs_f64(),
            packet_hops: outcome.packet_hops,
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        drop((py, plan, show));
        Err(PyValueError::new_err(lasthop_live::NEEDS_LINUX))
    }
}

/// Hands snapshots to a thread that calls `show`. One that finds the thread busy is left out: the run does not wait for it.
#[cfg(target_os = "linux")]
fn showing(show: Py<PyAny>) -> lasthop_live::turn::Show {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        for snapshot in receiver {
            let Ok(text) = serde_json::to_string::<lasthop_live::snapshot::Snapshot>(&snapshot) else { continue };
            Python::attach(|py| {
                if let Err(error) = show.call1(py, (text,)) {
                    error.print(py);
                }
            });
        }
    });
    Box::new(move |snapshot| drop(sender.try_send(snapshot)))
}
