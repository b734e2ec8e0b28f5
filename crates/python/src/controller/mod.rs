//! Controllers in Python. What acknowledgements say is gathered here; a class of the user is called at the pace that it asks for, and at
//! once for losses, marks and timeouts. Between its calls its last window and rate hold.

mod measurement;
mod media;
mod run;
mod seat;

use std::sync::Arc;

use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::learning::Every;
use lasthop_core::net::Probe;
use lasthop_core::transport::congestion::filter::Least;
use lasthop_core::transport::congestion::{
    AckSample, CongestionControl, CongestionEvent, CongestionKind, EndpointContext, Flight, LostSegment, Sent, Undo,
    Wants, WindowRule,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub use measurement::Measurement;
pub use media::{MediaMeasurement, MediaPacket};
use run::Failure;
pub use run::Run;
use seat::Maker;
pub use seat::{find, seat};

/// How long the least round-trip time counts.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// The methods of a class.
#[derive(Clone, Copy, PartialEq)]
enum Hook {
    Ack,
    Loss,
    Timeout,
    Ecn,
    Idle,
    Limit,
    Undo,
}

const HOOKS: [(Hook, &str); 7] = [
    (Hook::Ack, "on_ack"),
    (Hook::Loss, "on_loss"),
    (Hook::Timeout, "on_timeout"),
    (Hook::Ecn, "on_ecn"),
    (Hook::Idle, "on_idle"),
    (Hook::Limit, "on_limit"),
    (Hook::Undo, "on_undo"),
];

/// A controller whose decisions an object in Python takes.
struct Controller {
    object: Option<Py<PyAny>>,
    /// Its methods, where the class has its own.
    hooks: [Option<Py<PyAny>>; HOOKS.len()],
    told: Py<Measurement>,
    /// The arguments of all calls: it, alone.
    arguments: Py<PyTuple>,
    next: Measurement,
    every: Every,
    last_call: Instant,
    /// When the next call of `on_ack` is due, unless acknowledgements are counted.
    due_at: Instant,
    /// Whether a mark of this batch has been answered.
    marked: bool,
    min_rtt: Least<Instant, Duration>,
    window: u64,
    pacing: Option<BitRate>,
    segment: u64,
    raised: u64,
    flow: String,
    run: Arc<Run>,
}

impl Controller {
    fn new(py: Python<'_>, maker: &Maker, seat: &EndpointContext) -> Self {
        let next = Measurement::new(seat);
        let told = Py::new(py, next.clone()).expect("the interpreter has memory for one object");
        let arguments =
            PyTuple::new(py, [told.clone_ref(py)]).expect("the interpreter has memory for one tuple").unbind();
        let mut made = Self {
            object: None,
            hooks: Default::default(),
            told,
            arguments,
            next,
            every: Every::Acks(1),
            last_call: Instant::ZERO,
            due_at: Instant::ZERO,
            marked: false,
            min_rtt: Least::default(),
            window: seat.initial_window,
            pacing: None,
            segment: u64::from(seat.smss),
            raised: 0,
            flow: maker.label.clone(),
            run: Arc::clone(&maker.run),
        };
        made.run.enter();
        let started = made.start(py, maker, seat);
        made.run.leave();
        if let Err(error) = started {
            made.fail("start", error, seat.begun.at);
        }
        made
    }

    fn start(&mut self, py: Python<'_>, maker: &Maker, seat: &EndpointContext) -> PyResult<()> {
        // Flows to all terminals of a cell share a name.
        let place = self.run.place(&maker.label, seat.flow);
        let stream = format!("{}/{}/{place}/{}", maker.seed, maker.label, seat.begun.connection);
        let arguments = (&maker.class, &maker.options, seat.smss, seat.initial_window, maker.seed, &self.flow, stream);
        let object = py.import("lasthop.controller")?.call_method1("make", arguments)?;
        let every = object.getattr("every")?;
        // Whatever it is, it is shown as what it was and refused.
        let every = every.extract::<String>().or_else(|_| every.repr().map(|shown| shown.to_string()))?;
        self.every = Every::parse(&every).map_err(|wrong| PyValueError::new_err(format!("every = {wrong}")))?;
        self.bind(&object)?;
        self.read(&object)
    }

    /// Takes the methods of an object.
    fn bind(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let base = object.py().import("lasthop.controller")?.getattr("Controller")?;
        let class = object.get_type();
        for (bound, (_, name)) in self.hooks.iter_mut().zip(HOOKS) {
            let (of_class, of_base, method) = (class.getattr(name)?, base.getattr(name)?, object.getattr(name)?);
            // What does nothing need not be called. The object may have a method that its class has not; its `__dict__` would say so too, and
            // attributes of an object that was asked for it are slower.
            let of_object = || !method.getattr("__func__").is_ok_and(|function| function.is(&of_class));
            let own = !of_class.is(&of_base) || of_base.hasattr("acts")? || of_object();
            *bound = own.then(|| method.unbind());
        }
        self.object = Some(object.clone().unbind());
        Ok(())
    }

    /// Reads its answer from the object.
    fn read(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let window = number(&object.getattr(intern!(py, "window"))?, "window")?;
        if !window.is_finite() {
            return Err(PyValueError::new_err(format!("window is {window}: it must be a finite number of bytes")));
        }
        let rate = object.getattr(intern!(py, "pacing_rate"))?;
        self.pacing = if rate.is_none() { None } else { Some(pace(&rate)?) };
        // A negative one becomes 0.
        let bytes = window as u64;
        self.raised += u64::from(bytes < self.segment);
        self.window = bytes.max(self.segment);
        Ok(())
    }

    fn fail(&mut self, hook: &'static str, error: PyErr, now: Instant) {
        self.object = None;
        self.hooks = Default::default();
        let measurement = Python::attach(|py| self.told.clone_ref(py).into_any());
        self.run.fail(Failure {
            error,
            flow: self.flow.clone(),
            hook,
            at_s: now.as_secs_f64(),
            measurement: Some(measurement),
        });
    }

    /// Calls a method, if the class has its own, and reads the answer.
    fn call(&mut self, hook: Hook, now: Instant) {
        if self.hooks[hook as usize].is_none() || self.run.has_failed() {
            return;
        }
        Python::attach(|py| {
            let Some((bound, object)) = self.hooks[hook as usize].as_ref().zip(self.object.as_ref()) else { return };
            let (bound, object) = (bound.bind(py).clone(), object.bind(py).clone());
            let told = self.tell(py, now);
            self.run.enter();
            let read = told.and_then(|()| bound.call1(self.arguments.bind(py))).and_then(|answer| {
                if !answer.is_none() {
                    set(&object, &answer)?;
                }
                self.read(&object)
            });
            self.run.leave();
            if let Err(error) = read {
                self.fail(HOOKS[hook as usize].1, error, now);
            }
        });
    }

    /// Writes down the measurement for the author.
    fn tell(&mut self, py: Python<'_>, now: Instant) -> PyResult<()> {
        let next = &mut self.next;
        if next.rtts > 0 {
            let from = Instant::from_nanos(now.as_nanos().saturating_sub(MIN_RTT_WINDOW.as_nanos()));
            self.min_rtt.update(now, next.rtt_min, from);
        }
        (next.now, next.min_rtt) = (now, self.min_rtt.get());
        (next.window, next.pacing) = (self.window, self.pacing);
        *self.told.try_borrow_mut(py).map_err(|_| PyTypeError::new_err("the measurement is in use"))? = next.clone();
        Ok(())
    }

    /// Begins to gather anew.
    fn begin(&mut self, now: Instant) {
        self.next.begin(now);
        self.last_call = now;
        self.marked = false;
        self.due_at = match self.every {
            Every::Acks(_) => Instant::MAX,
            Every::Time(time) => now + time,
            Every::RoundTrips(share) => now + self.next.srtt.mul_f64(share),
        };
    }

    fn is_due(&self, now: Instant) -> bool {
        match self.every {
            Every::Acks(count) => self.next.acks >= count,
            Every::Time(_) | Every::RoundTrips(_) => now >= self.due_at,
        }
    }
}

/// A number of the author's.
fn number(value: &Bound<'_, PyAny>, name: &str) -> PyResult<f64> {
    value.extract().map_err(|_| {
        let shown = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
        PyTypeError::new_err(format!("{name} is {shown}: it must be a number"))
    })
}

/// A rate of the author's; `or` says in an error which answers there are beside it.
fn positive(value: &Bound<'_, PyAny>, name: &str, or: &str) -> PyResult<f64> {
    let rate = number(value, name)?;
    if rate > 0.0 && rate.is_finite() {
        return Ok(rate);
    }
    Err(PyValueError::new_err(format!("{name} is {rate}: it must be a finite number of bit/s above 0{or}")))
}

/// A pacing rate of the author's that is not `None`: at least 1 bit/s.
fn pace(value: &Bound<'_, PyAny>) -> PyResult<BitRate> {
    Ok(BitRate::from_bps((positive(value, "pacing_rate", ", or None for no pacing")? as u64).max(1)))
}

/// Sets what a call returned: a window, or a window and a rate.
fn set(object: &Bound<'_, PyAny>, answer: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    match answer.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => {
            object.setattr(intern!(py, "window"), pair.get_item(0)?)?;
            object.setattr(intern!(py, "pacing_rate"), pair.get_item(1)?)
        }
        Ok(pair) => {
            Err(PyTypeError::new_err(format!("{} values were returned: a window, or a window and a rate", pair.len())))
        }
        Err(_) => object.setattr(intern!(py, "window"), answer),
    }
}

impl CongestionControl for Controller {
    fn wants(&self) -> Wants {
        Wants { sends: true, records: true }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.next.sent += sent.bytes;
        self.next.in_flight = sent.in_flight;
        if sent.in_flight == sent.bytes && self.next.delivered > 0 {
            self.call(Hook::Idle, sent.now);
        }
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.next.lost = lost.lost;
    }

    fn on_flight(&mut self, flight: &Flight) {
        self.next.on_flight(flight);
    }

    fn on_ack(&mut self, sample: &AckSample) {
        let now = sample.now;
        self.next.on_ack(sample);
        if self.is_due(now) {
            self.call(Hook::Ack, now);
            self.begin(now);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.next.flight = event.flight;
        match event.kind {
            CongestionKind::Loss => self.call(Hook::Loss, event.now),
            CongestionKind::Ecn => {
                // At most once in a batch.
                if !std::mem::replace(&mut self.marked, true) {
                    self.call(Hook::Ecn, event.now);
                }
            }
        }
    }

    fn on_timeout(&mut self, now: Instant, flight: u64, again: bool) {
        (self.next.flight, self.next.again) = (flight, again);
        self.call(Hook::Timeout, now);
        self.next.again = false;
    }

    fn on_rule(&mut self, now: Instant, rule: WindowRule) {
        if let WindowRule::Start(most) | WindowRule::Recovery(most) = rule
            && most < self.window
            && self.hooks[Hook::Limit as usize].is_some()
        {
            self.next.flight = most;
            self.call(Hook::Limit, now);
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Python::attach(|py| {
            let mut saved = Self {
                object: None,
                hooks: Default::default(),
                told: self.told.clone_ref(py),
                arguments: self.arguments.clone_ref(py),
                next: self.next.clone(),
                min_rtt: self.min_rtt.clone(),
                flow: self.flow.clone(),
                run: Arc::clone(&self.run),
                every: self.every,
                last_call: self.last_call,
                due_at: self.due_at,
                marked: self.marked,
                window: self.window,
                pacing: self.pacing,
                segment: self.segment,
                raised: self.raised,
            };
            if let Some(object) = &self.object {
                self.run.enter();
                let copied = py.import("copy").and_then(|copy| copy.call_method1("deepcopy", (object,)));
                self.run.leave();
                if let Err(error) = copied.and_then(|copied| saved.bind(&copied)) {
                    saved.fail("snapshot", error, self.last_call);
                }
            }
            Box::new(saved)
        })
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.next.flight = undo.flight;
        // What was taken for lost was not.
        self.next.lost_before = self.next.lost;
        self.call(Hook::Undo, undo.now);
    }

    fn on_path_change(&mut self, now: Instant) {
        self.min_rtt.clear();
        self.next.forget_delays();
        self.next.link_changed = true;
        self.call(Hook::Ack, now);
        self.begin(now);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("window_raised", self.raised as f64);
    }
}
