//! From the names in a scenario to classes in Python, and to what makes their controllers.

use std::sync::Arc;

use lasthop_core::scenario::registry::Transport;
use lasthop_core::scenario::types::Scenario;
use lasthop_core::transport::congestion::{Congestion, CongestionConfig, CongestionControl, EndpointContext, python};
use lasthop_core::transport::media::control::MediaCongestion;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Controller;
use super::run::Run;

/// What a class has to be derived from.
#[derive(Clone, Copy)]
enum Kind {
    Window,
    Media,
}

impl Kind {
    fn base(self) -> &'static str {
        match self {
            Self::Window => "Controller",
            Self::Media => "MediaController",
        }
    }
}

/// Says of each flow of `scenario` whether the controller that it names is there. Modules are looked for beside `origin` first.
pub fn find(py: Python<'_>, scenario: &mut Scenario, origin: &str) {
    for flow in &mut scenario.flow {
        if let Some((kind, config)) = named(&mut flow.transport) {
            let found = resolve(py, &config.class, origin, kind).map(|_| ());
            config.found = Some(found.map_err(|error| one_line(py, &error)));
        }
    }
}

/// The scenario with controllers that call Python, and what they share; `None` if it names none.
pub fn seat(py: Python<'_>, scenario: &Scenario, origin: &str, seed: u64) -> PyResult<Option<(Scenario, Arc<Run>)>> {
    let mut seated = scenario.clone();
    let run = Arc::new(Run::default());
    let mut any = false;
    for flow in &mut seated.flow {
        let (name, label) = (flow.name.clone(), flow.label());
        let Some((kind, config)) = named(&mut flow.transport) else { continue };
        let class = resolve(py, &config.class, origin, kind)?;
        let options =
            py.import("json")?.call_method1("loads", (serde_json::to_string(&config.options).map_err(wrong)?,))?;
        let shown: String = class.getattr("__name__")?.extract()?;
        let l4s = class.getattr("l4s")?.is_truthy()?;
        let maker = Arc::new(Maker {
            class: class.unbind(),
            options: options.unbind(),
            name,
            label,
            seed,
            l4s,
            run: Arc::clone(&run),
        });
        match &mut flow.transport {
            Transport::Tcp(tcp) => tcp.congestion = Some(Congestion::custom(shown, maker)),
            Transport::Media(media) => media.congestion = MediaCongestion::custom(shown, maker),
            _ => {}
        }
        any = true;
    }
    if any {
        Run::watch(Arc::downgrade(&run));
    }
    Ok(any.then_some((seated, run)))
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn named(transport: &mut Transport) -> Option<(Kind, &mut python::Config)> {
    match transport {
        Transport::Tcp(tcp) => match &mut tcp.congestion {
            Some(Congestion::Python(config)) => Some((Kind::Window, config)),
            _ => None,
        },
        Transport::Media(media) => match &mut media.congestion {
            MediaCongestion::Python(config) => Some((Kind::Media, config)),
            _ => None,
        },
        _ => None,
    }
}

fn resolve<'py>(py: Python<'py>, class: &str, origin: &str, kind: Kind) -> PyResult<Bound<'py, PyAny>> {
    py.import("lasthop.controller")?.call_method1("resolve", (class, origin, kind.base()))
}

fn one_line(py: Python<'_>, error: &PyErr) -> String {
    let text = error.value(py).to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes the controllers of a flow.
pub struct Maker {
    pub class: Py<PyAny>,
    pub options: Py<PyAny>,
    pub name: String,
    /// What results call the flow: its name, or its ends.
    pub label: String,
    pub seed: u64,
    /// Whether it answers to marks as L4S asks.
    pub l4s: bool,
    pub run: Arc<Run>,
}

impl CongestionConfig for Maker {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Python::attach(|py| Box::new(Controller::new(py, self, seat)) as Box<dyn CongestionControl>)
    }

    fn is_l4s(&self) -> bool {
        self.l4s
    }
}
