//! What all controllers of a run share: the first failure, and signs of life.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, Weak};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::errors;

/// How many seconds a call may take before its name is printed.
const PATIENCE_S: u32 = 10;

thread_local! {
    /// The runs whose controllers this thread is inside a call of: one may make a run of its own.
    static INSIDE: RefCell<Vec<*const Run>> = const { RefCell::new(Vec::new()) };
}

/// What all controllers of a run share: the first failure, and signs of life.
#[derive(Default)]
pub struct Run {
    failure: Mutex<Option<Failure>>,
    failed: AtomicBool,
    calls: AtomicU64,
    inside: AtomicBool,
    /// How many controllers of media there are by the names of their flows.
    made: Mutex<BTreeMap<String, u32>>,
    /// The flows that share a name, by their numbers, in the order in which their first controllers were made.
    flows: Mutex<BTreeMap<String, Vec<u32>>>,
}

/// A call that failed.
pub struct Failure {
    pub error: PyErr,
    pub flow: String,
    pub hook: &'static str,
    pub at_s: f64,
    pub measurement: Option<Py<PyAny>>,
}

impl Run {
    /// A call of a method begins.
    pub fn enter(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.inside.store(true, Ordering::Relaxed);
        INSIDE.with_borrow_mut(|runs| runs.push(self));
    }

    /// It has ended.
    pub fn leave(&self) {
        INSIDE.with_borrow_mut(Vec::pop);
        self.inside.store(false, Ordering::Relaxed);
    }

    /// Whether this thread is inside a call of one of its controllers.
    pub fn is_inside(&self) -> bool {
        INSIDE.with_borrow(|runs| runs.contains(&std::ptr::from_ref(self)))
    }

    /// How many controllers of media were made before for a flow of this name.
    pub fn count(&self, name: &str) -> u32 {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let count = made.entry(name.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// The place of a flow among those of its name.
    pub fn place(&self, name: &str, flow: u32) -> usize {
        let mut flows = self.flows.lock().unwrap_or_else(PoisonError::into_inner);
        let flows = flows.entry(name.to_owned()).or_default();
        flows.iter().position(|one| *one == flow).unwrap_or_else(|| {
            flows.push(flow);
            flows.len() - 1
        })
    }

    /// Whether a call has failed.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// A call failed; only the first counts.
    pub fn fail(&self, failure: Failure) {
        self.failed.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }

    /// The error of the first call that failed.
    pub fn error(&self, py: Python<'_>) -> Option<PyErr> {
        if !self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        // Ctrl-C and the like are no errors of the author.
        if !failure.error.is_instance_of::<PyException>(py) {
            return Some(failure.error);
        }
        let Failure { error, flow, hook, at_s, measurement } = failure;
        Some(errors::controller(py, &error, &flow, hook, at_s, measurement))
    }

    /// Prints the name of a controller that is in one call for long.
    pub fn watch(run: Weak<Self>) {
        std::thread::spawn(move || {
            let (mut calls, mut seconds) = (0, 0);
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
                let Some(run) = run.upgrade() else { return };
                let now = run.calls.load(Ordering::Relaxed);
                seconds = if run.inside.load(Ordering::Relaxed) && now == calls { seconds + 1 } else { 0 };
                calls = now;
                if seconds == PATIENCE_S {
                    eprintln!("note: a controller has been in one call for {PATIENCE_S} s; Ctrl-C ends the run");
                }
            }
        });
    }
}
