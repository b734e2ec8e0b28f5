//! Environments for learners: actions come in, observations and rewards go out, by the buffers of numpy's arrays. The interpreter's lock is
//! released while the simulations run.

use std::sync::{Arc, Mutex, PoisonError};

use lasthop_core::engine::{Duration, Fault};
use lasthop_core::learning::action::ACTION_SPACES;
use lasthop_core::learning::observation::{FEATURES, VALUES};
use lasthop_core::learning::reward::REWARDS;
use lasthop_core::learning::{Every, Reward, Settings, StepError, Vector};
use lasthop_core::scenario::diagnostic::Diagnostic;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors;
use crate::scenario::Scenario;

/// Several environments of one scenario, whose steps are taken in one call.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Environments {
    vector: Mutex<Vector>,
    arrays: Arrays,
    flow: String,
    origin: String,
    count: usize,
    /// The process in which the threads are, if there are several.
    threads_of: Option<u32>,
}

/// The arrays as Python gives them, in the order of [`Arrays`].
type InPython = (PyBuffer<f64>, PyBuffer<f32>, PyBuffer<f64>, PyBuffer<u8>, PyBuffer<f64>);

/// The arrays that both sides see.
struct Arrays {
    actions: PyBuffer<f64>,
    observations: PyBuffer<f32>,
    rewards: PyBuffer<f64>,
    ends: PyBuffer<u8>,
    values: PyBuffer<f64>,
}

#[pymethods]
impl Environments {
    /// `count` environments in which `flow` is led. Actions are read from an array, and what a step gives is written into the others: observations
    /// (float32), rewards, ends (0, 1 terminated, 2 truncated) and the values of `VALUES`. A `reward` of `None` is the caller's own.
    #[new]
    #[pyo3(signature = (scenario, *, flow, step, action, observation, history, reward, episode_s, count, threads, arrays))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of one Python class")]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        flow: String,
        step: &str,
        action: &str,
        observation: Vec<String>,
        history: usize,
        reward: Option<&str>,
        episode_s: f64,
        count: usize,
        threads: usize,
        arrays: InPython,
    ) -> PyResult<Self> {
        let features: PyResult<Vec<_>> = observation.iter().map(|name| named(&FEATURES, "observation", name)).collect();
        let settings = Arc::new(Settings {
            flow: flow.clone(),
            step: Every::parse(step).map_err(|wrong| PyValueError::new_err(format!("step = {wrong}")))?,
            action: named(&ACTION_SPACES, "action", action)?,
            features: features?,
            history,
            reward: reward.map_or(Ok(Reward::Own), |name| named(&REWARDS, "reward", name))?,
            episode: Duration::from_secs_f64(episode_s),
        });
        let (actions, observations, rewards, ends, values) = arrays;
        let arrays = Arrays { actions, observations, rewards, ends, values };
        let sizes = [
            (arrays.actions.item_count(), settings.action.width()),
            (arrays.observations.item_count(), history * settings.features.len()),
            (arrays.rewards.item_count(), 1),
            (arrays.ends.item_count(), 1),
            (arrays.values.item_count(), VALUES.len()),
        ];
        if history == 0 || settings.features.is_empty() || sizes.iter().any(|(size, each)| *size != count * each) {
            return Err(PyValueError::new_err("the arrays do not fit the environments"));
        }
        let origin = scenario.document.origin.clone();
        let vector = Vector::new(&scenario.document.scenario, &settings, count, threads)
            .map_err(|fault| wrong_flow(py, &origin, fault))?;
        let threads_of = (threads.min(count) > 1).then(std::process::id);
        Ok(Self { vector: Mutex::new(vector), arrays, flow, origin, count, threads_of })
    }

    /// Begins an episode of environment `number`, of another scenario from now on if there is one. The arrays have it after `show` or `step`.
    #[pyo3(signature = (number, seed, scenario = None))]
    fn reset(&self, py: Python<'_>, number: usize, seed: u64, scenario: Option<&Scenario>) -> PyResult<()> {
        if number >= self.count {
            return Err(PyIndexError::new_err(format!("there are {} environments", self.count)));
        }
        if let Some(Scenario { document }) = scenario {
            self.with(|vector| vector.set_scenario(number, &document.scenario))
                .map_err(|fault| wrong_flow(py, &document.origin, fault))?;
        }
        py.detach(|| self.with(|vector| vector.reset(number, seed))).map_err(|error| self.error(py, number, &error))
    }

    /// Checks the actions of the next step, but those of the environments in `skip`.
    fn check(&self, py: Python<'_>, skip: Vec<usize>) -> PyResult<()> {
        let actions = self.arrays.actions.to_vec(py)?;
        self.with(|vector| vector.check(&actions, &skip)).map_err(|(number, error)| self.error(py, number, &error))
    }

    /// Writes what the last calls gave into the arrays.
    fn show(&self, py: Python<'_>) -> PyResult<()> {
        self.with(|vector| {
            self.arrays.observations.copy_from_slice(py, vector.observations())?;
            self.arrays.rewards.copy_from_slice(py, vector.rewards())?;
            self.arrays.ends.copy_from_slice(py, vector.ends())?;
            self.arrays.values.copy_from_slice(py, vector.values())
        })
    }

    /// A step of each environment, but of those in `skip`.
    fn step(&self, py: Python<'_>, skip: Vec<usize>) -> PyResult<()> {
        // A fork has the memory of the threads, and not the threads: it would wait for them for ever.
        if self.threads_of.is_some_and(|process| process != std::process::id()) {
            let message = "these environments were made in another process, where their threads are: make them here, or with threads=1";
            return Err(PyRuntimeError::new_err(message));
        }
        let actions = self.arrays.actions.to_vec(py)?;
        py.detach(|| self.with(|vector| vector.step(&actions, &skip)))
            .map_err(|(number, error)| self.error(py, number, &error))?;
        self.show(py)
    }

    /// A step of the only environment: its reward, how its episode stands, and its values, `None` where nothing is known.
    #[pyo3(signature = () -> "tuple[float, int, tuple[float | None, ...]]")]
    fn step_one<'py>(&self, py: Python<'py>) -> PyResult<(f64, u8, Bound<'py, PyTuple>)> {
        self.step(py, Vec::new())?;
        let (reward, end) = self.with(|vector| (vector.rewards()[0], vector.ends()[0]));
        Ok((reward, end, self.known(py, 0)?))
    }

    /// The values of environment `number`, `None` where nothing is known.
    #[pyo3(signature = (number: "int") -> "tuple[float | None, ...]")]
    fn known<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyTuple>> {
        let mut values = [0.0; VALUES.len()];
        self.with(|vector| values.copy_from_slice(&vector.values()[number * VALUES.len()..][..VALUES.len()]));
        PyTuple::new(py, values.map(|value| (!value.is_nan()).then_some(value)))
    }

    /// The names of the values.
    #[staticmethod]
    fn value_names() -> Vec<&'static str> {
        VALUES.to_vec()
    }

    /// The names of the features.
    #[staticmethod]
    fn feature_names() -> Vec<&'static str> {
        FEATURES.iter().map(|(name, _)| *name).collect()
    }
}

impl Environments {
    fn with<T>(&self, f: impl FnOnce(&mut Vector) -> T) -> T {
        f(&mut self.vector.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn error(&self, py: Python<'_>, number: usize, error: &StepError) -> PyErr {
        match error {
            StepError::Run(error) => errors::run(py, error),
            StepError::Build(error) => errors::build(py, &self.origin, error),
            StepError::NoEpisode => PyRuntimeError::new_err(error.to_string()),
            StepError::Action(message, at) => {
                let place = if self.count > 1 { format!("environment {number}: {message}") } else { message.clone() };
                errors::controller(
                    py,
                    &PyValueError::new_err(place),
                    &self.flow,
                    "action",
                    at.as_secs_f64(),
                    self.with(|vector| shown(&vector.values()[number * VALUES.len()..])),
                )
            }
        }
    }
}

/// The known values of an environment, for reading.
fn shown(values: &[f64]) -> String {
    let known = VALUES.iter().zip(values).filter(|(_, value)| !value.is_nan());
    known.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

/// What a name stands for.
fn named<T: Copy>(known: &[(&str, T)], what: &str, name: &str) -> PyResult<T> {
    known.iter().find(|(one, _)| *one == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(one, _)| *one).collect();
        PyValueError::new_err(format!("{what} = {name:?}: choose {}", names.join(", ")))
    })
}

/// A flow that cannot be led.
fn wrong_flow(py: Python<'_>, origin: &str, fault: Fault) -> PyErr {
    let Fault { field, message, expected } = fault;
    let mut shown = Diagnostic::new(message, origin);
    (shown.path, shown.label) = (field.into_owned(), expected);
    errors::diagnostic(py, &shown)
}
