//! Controllers in Python. What acknowledgements say is gathered here; a class of the user is called at the pace that it asks for, and at
//! once for losses, marks and timeouts. Between its calls its last window and rate hold.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use lasthop_core::engine::choice::Custom;
use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::net::Probe;
use lasthop_core::scenario::registry::Transport;
use lasthop_core::scenario::types::Scenario;
use lasthop_core::transport::congestion::filter::Least;
use lasthop_core::transport::congestion::{
    AckSample, Congestion, CongestionConfig, CongestionControl, CongestionEvent, CongestionKind, EndpointContext,
    LostSegment, Sent, Undo, Wants, WindowRule, python,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// How long the least round-trip time counts.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// How many seconds a call may take before its name is printed.
const PATIENCE_S: u32 = 10;

thread_local! {
    /// Whether this thread is inside a call of a controller.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a call of a controller.
pub fn is_inside() -> bool {
    INSIDE.get()
}

/// What all controllers of a run share: the first failure, and signs of life.
#[derive(Default)]
pub struct Run {
    failure: Mutex<Option<Failure>>,
    failed: AtomicBool,
    calls: AtomicU64,
    inside: AtomicBool,
}

/// A call that failed.
struct Failure {
    error: PyErr,
    flow: String,
    hook: &'static str,
    at_s: f64,
    measurement: Option<Py<Measurement>>,
}

impl Run {
    fn fail(&self, failure: Failure) {
        self.failed.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }

    /// The error of the first call that failed.
    pub fn error(&self, py: Python<'_>) -> Option<PyErr> {
        if !self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        if failure.error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
            return Some(failure.error);
        }
        let arguments = (failure.error.value(py), failure.flow, failure.hook, failure.at_s, failure.measurement);
        let made = py.import("lasthop.errors").and_then(|errors| errors.getattr("controller_error")?.call1(arguments));
        Some(made.map_or_else(|error| error, PyErr::from_value))
    }

    /// Prints the name of a controller that is in one call for long.
    fn watch(run: Weak<Self>) {
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

/// Says of each flow of `scenario` whether the controller that it names is there. Modules are looked for beside `origin` first.
pub fn find(py: Python<'_>, scenario: &mut Scenario, origin: &str) {
    for config in named(scenario) {
        let found = resolve(py, &config.class, origin).map(|_| ());
        config.found = Some(found.map_err(|error| one_line(py, &error)));
    }
}

/// The scenario with controllers that call Python, and what they share; `None` if it names none.
pub fn seat(py: Python<'_>, scenario: &Scenario, origin: &str, seed: u64) -> PyResult<Option<(Scenario, Arc<Run>)>> {
    let mut seated = scenario.clone();
    let run = Arc::new(Run::default());
    let mut any = false;
    for flow in &mut seated.flow {
        let name = flow.name.clone();
        let Transport::Tcp(tcp) = &mut flow.transport else { continue };
        let Some(Congestion::Python(config)) = &tcp.congestion else { continue };
        let class = resolve(py, &config.class, origin)?;
        let options =
            py.import("json")?.call_method1("loads", (serde_json::to_string(&config.options).map_err(wrong)?,))?;
        let shown: String = class.getattr("__name__")?.extract()?;
        let maker = Maker { class: class.unbind(), options: options.unbind(), name, seed, run: Arc::clone(&run) };
        tcp.congestion = Some(Congestion::Custom(Custom::new(shown, Arc::new(maker))));
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

fn named(scenario: &mut Scenario) -> impl Iterator<Item = &mut python::Config> {
    scenario.flow.iter_mut().filter_map(|flow| match &mut flow.transport {
        Transport::Tcp(tcp) => match &mut tcp.congestion {
            Some(Congestion::Python(config)) => Some(config),
            _ => None,
        },
        _ => None,
    })
}

fn resolve<'py>(py: Python<'py>, class: &str, origin: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("lasthop.controller")?.call_method1("resolve", (class, origin))
}

fn one_line(py: Python<'_>, error: &PyErr) -> String {
    let text = error.value(py).to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes the controllers of a flow.
struct Maker {
    class: Py<PyAny>,
    options: Py<PyAny>,
    name: String,
    seed: u64,
    run: Arc<Run>,
}

impl CongestionConfig for Maker {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Python::attach(|py| Box::new(Controller::new(py, self, seat)) as Box<dyn CongestionControl>)
    }
}

/// What a controller is told. Times in s, amounts in bytes, rates in bit/s; `None` where nothing is known.
#[pyclass(module = "lasthop._core")]
#[derive(Clone)]
pub struct Measurement {
    now: Instant,
    /// Since the last `on_ack`.
    since: Instant,
    acks: u64,
    first_ack: Instant,
    last_ack: Instant,
    acked: u64,
    sacked: u64,
    lost: u64,
    marks: u64,
    sent: u64,
    rtt_sum_ns: u64,
    rtts: u64,
    rtt_last: Duration,
    rtt_min: Duration,
    /// The best delivery rate: bytes and nanoseconds.
    best: Option<(u64, u64)>,
    app_limited: bool,
    window_limited: bool,
    recovering: bool,
    again: bool,
    /// At present.
    in_flight: u64,
    prior_in_flight: u64,
    flight: u64,
    min_rtt: Option<Duration>,
    srtt: Duration,
    rttvar: Duration,
    delivered: u64,
    round: u64,
    window: u64,
    pacing: Option<BitRate>,
    segment: u64,
}

impl Measurement {
    fn new(segment: u64, window: u64) -> Self {
        Self {
            now: Instant::ZERO,
            since: Instant::ZERO,
            acks: 0,
            first_ack: Instant::ZERO,
            last_ack: Instant::ZERO,
            acked: 0,
            sacked: 0,
            lost: 0,
            marks: 0,
            sent: 0,
            rtt_sum_ns: 0,
            rtts: 0,
            rtt_last: Duration::ZERO,
            rtt_min: Duration::ZERO,
            best: None,
            app_limited: false,
            window_limited: false,
            recovering: false,
            again: false,
            in_flight: 0,
            prior_in_flight: 0,
            flight: 0,
            min_rtt: None,
            srtt: Duration::ZERO,
            rttvar: Duration::ZERO,
            delivered: 0,
            round: 0,
            window,
            pacing: None,
            segment,
        }
    }

    /// Begins to gather anew.
    fn begin(&mut self, now: Instant) {
        (self.since, self.acks, self.sent) = (now, 0, 0);
        (self.acked, self.sacked, self.lost, self.marks) = (0, 0, 0, 0);
        (self.rtt_sum_ns, self.rtts, self.best) = (0, 0, None);
        (self.app_limited, self.window_limited) = (false, false);
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if self.acks == 0 {
            self.first_ack = sample.now;
        }
        self.last_ack = sample.now;
        self.acks += 1;
        self.acked += sample.acked;
        self.sacked += sample.sacked;
        self.marks += u64::from(sample.ece);
        (self.in_flight, self.prior_in_flight) = (sample.in_flight, sample.prior_in_flight);
        if let Some(rtt) = sample.rtt {
            self.rtt_sum_ns += rtt.as_nanos();
            self.rtt_min = if self.rtts == 0 { rtt } else { self.rtt_min.min(rtt) };
            self.rtts += 1;
            self.rtt_last = rtt;
        }
        (self.srtt, self.rttvar, self.delivered) = (sample.srtt, sample.rttvar, sample.delivered);
        if let Some(rate) = &sample.rate
            && let Some(ns) = rate.interval.map(Duration::as_nanos).filter(|ns| *ns > 0)
        {
            let faster = |(bytes, than): (u64, u64)| {
                u128::from(rate.delivered) * u128::from(than) > u128::from(bytes) * u128::from(ns)
            };
            if self.best.is_none_or(faster) {
                self.best = Some((rate.delivered, ns));
                self.app_limited = rate.record.app_limited;
            }
        }
        self.window_limited |= sample.window_limited;
        (self.round, self.recovering) = (sample.round, sample.recovering);
    }
}

#[pymethods]
impl Measurement {
    /// The present.
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_f64()
    }

    /// Bytes acknowledged cumulatively since the last `on_ack`, SACKed before or not.
    #[getter]
    fn acked(&self) -> u64 {
        self.acked
    }

    /// Bytes newly SACKed.
    #[getter]
    fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Bytes newly taken for lost.
    #[getter]
    fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes in marked packets, as far as echoes tell.
    #[getter]
    fn ce(&self) -> u64 {
        self.marks * self.segment
    }

    /// Packets acknowledged or SACKed.
    #[getter]
    fn packets_acked(&self) -> u64 {
        (self.acked + self.sacked).div_ceil(self.segment)
    }

    /// Marks that were echoed.
    #[getter]
    fn packets_ce(&self) -> u64 {
        self.marks
    }

    /// Bytes in flight now.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Bytes in flight before the last acknowledgement.
    #[getter]
    fn prior_in_flight(&self) -> u64 {
        self.prior_in_flight
    }

    /// In `on_loss` and the like: bytes sent and not acknowledged, from which standards take a new threshold.
    #[getter]
    fn flight(&self) -> u64 {
        self.flight
    }

    /// The mean of the round-trip times measured since the last `on_ack`.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        (self.rtts > 0).then(|| self.rtt_sum_ns as f64 / self.rtts as f64 * 1e-9)
    }

    /// The last of them.
    #[getter]
    fn rtt_last(&self) -> Option<f64> {
        (self.rtts > 0).then(|| self.rtt_last.as_secs_f64())
    }

    /// The least of them.
    #[getter]
    fn rtt_min(&self) -> Option<f64> {
        (self.rtts > 0).then(|| self.rtt_min.as_secs_f64())
    }

    /// The least round-trip time of 10 s.
    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        self.min_rtt.map(Duration::as_secs_f64)
    }

    /// The smoothed round-trip time (RFC 6298).
    #[getter]
    fn srtt(&self) -> Option<f64> {
        (self.srtt > Duration::ZERO).then(|| self.srtt.as_secs_f64())
    }

    /// Its variation.
    #[getter]
    fn rttvar(&self) -> Option<f64> {
        (self.srtt > Duration::ZERO).then(|| self.rttvar.as_secs_f64())
    }

    /// Bytes delivered so far.
    #[getter]
    fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The greatest valid sample of the delivery rate (draft-ietf-ccwg-bbr §4.1).
    #[getter]
    fn delivery_rate(&self) -> Option<f64> {
        self.best.map(|(bytes, ns)| 8e9 * bytes as f64 / ns as f64)
    }

    /// Whether that sample was taken while the application had nothing more to send.
    #[getter]
    fn app_limited(&self) -> bool {
        self.app_limited
    }

    /// Whether the window was full when the acknowledged data left.
    #[getter]
    fn window_limited(&self) -> bool {
        self.window_limited
    }

    /// How many round trips have passed.
    #[getter]
    fn round(&self) -> u64 {
        self.round
    }

    /// Whether losses are being repaired.
    #[getter]
    fn recovering(&self) -> bool {
        self.recovering
    }

    /// The rate at which segments left.
    #[getter]
    fn send_rate(&self) -> Option<f64> {
        {
            let seconds = self.now.since(self.since).as_secs_f64();
            (seconds > 0.0).then(|| 8.0 * self.sent as f64 / seconds)
        }
    }

    /// The mean time between acknowledgements.
    #[getter]
    fn inter_ack(&self) -> Option<f64> {
        (self.acks > 1).then(|| self.last_ack.since(self.first_ack).as_secs_f64() / (self.acks - 1) as f64)
    }

    /// The congestion window.
    #[getter]
    fn window(&self) -> u64 {
        self.window
    }

    /// The pacing rate.
    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        self.pacing.map(|rate| rate.as_bps() as f64)
    }

    /// Payload bytes of a full segment.
    #[getter]
    fn segment(&self) -> u64 {
        self.segment
    }

    /// In `on_timeout`: whether the timer had expired for the same segment before.
    #[getter]
    fn again(&self) -> bool {
        self.again
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let values = slf.py().import("lasthop.controller")?.call_method1("values", (slf,))?;
        Ok(format!("Measurement({values})"))
    }
}

/// How often a controller is called.
#[derive(Clone, Copy, Debug)]
enum Every {
    Acks(u64),
    Time(Duration),
    /// A share of the smoothed round-trip time.
    RoundTrips(f64),
}

impl Every {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("every = {text:?}: write \"ack\", \"8 acks\", \"10 ms\", \"rtt\" or \"rtt/4\"");
        if text == "ack" {
            return Ok(Self::Acks(1));
        }
        if let Some(count) = text.strip_suffix(" acks") {
            return count.parse().ok().filter(|n| *n > 0).map(Self::Acks).ok_or_else(wrong);
        }
        if text == "rtt" {
            return Ok(Self::RoundTrips(1.0));
        }
        if let Some(parts) = text.strip_prefix("rtt/") {
            return parts
                .parse()
                .ok()
                .filter(|n| (1.0..=1000.0).contains(n))
                .map(|n: f64| Self::RoundTrips(1.0 / n))
                .ok_or_else(wrong);
        }
        Duration::parse(text).ok().filter(|time| *time > Duration::ZERO).map(Self::Time).ok_or_else(wrong)
    }
}

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
    next: Measurement,
    every: Every,
    last_call: Instant,
    /// When the next call of `on_ack` is due, unless acknowledgements are counted.
    due_at: Instant,
    last_mark: Option<Instant>,
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
        let segment = u64::from(seat.smss);
        let next = Measurement::new(segment, seat.initial_window);
        let told = Py::new(py, next.clone()).expect("the interpreter has memory for one object");
        let flow = if maker.name.is_empty() { seat.flow.to_string() } else { maker.name.clone() };
        let mut made = Self {
            object: None,
            hooks: Default::default(),
            told,
            next,
            every: Every::Acks(1),
            last_call: Instant::ZERO,
            due_at: Instant::ZERO,
            last_mark: None,
            min_rtt: Least::default(),
            window: seat.initial_window,
            pacing: None,
            segment,
            raised: 0,
            flow,
            run: Arc::clone(&maker.run),
        };
        if let Err(error) = made.start(py, maker, seat) {
            made.fail("start", error, Instant::ZERO);
        }
        made
    }

    fn start(&mut self, py: Python<'_>, maker: &Maker, seat: &EndpointContext) -> PyResult<()> {
        let arguments =
            (&maker.class, &maker.options, seat.smss, seat.initial_window, maker.seed, &self.flow, seat.flow);
        let object = py.import("lasthop.controller")?.call_method1("make", arguments)?;
        let every: String = object.getattr("every")?.extract()?;
        self.every = Every::parse(&every).map_err(PyValueError::new_err)?;
        self.bind(&object)?;
        self.read(&object)
    }

    /// Takes the methods of an object.
    fn bind(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let base = object.py().import("lasthop.controller")?.getattr("Controller")?;
        let class = object.get_type();
        for (bound, (_, name)) in self.hooks.iter_mut().zip(HOOKS) {
            // What does nothing need not be called.
            let own = !class.getattr(name)?.is(&base.getattr(name)?) || base.getattr(name)?.hasattr("acts")?;
            *bound = if own { Some(object.getattr(name)?.unbind()) } else { None };
        }
        self.object = Some(object.clone().unbind());
        Ok(())
    }

    /// Reads its answer from the object.
    fn read(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let window = number(&object.getattr(intern!(py, "window"))?, "window")?;
        if !(window >= 0.0 && window.is_finite()) {
            return Err(PyValueError::new_err(format!("window is {window}: it must be a finite number of bytes")));
        }
        let rate = object.getattr(intern!(py, "pacing_rate"))?;
        self.pacing = if rate.is_none() {
            None
        } else {
            let rate = number(&rate, "pacing_rate")?;
            if !(rate > 0.0 && rate.is_finite()) {
                let message = format!("pacing_rate is {rate}: it must be a positive number of bit/s, or None");
                return Err(PyValueError::new_err(message));
            }
            Some(BitRate::from_bps((rate as u64).max(1)))
        };
        let bytes = window as u64;
        self.raised += u64::from(bytes < self.segment);
        self.window = bytes.max(self.segment);
        Ok(())
    }

    fn fail(&mut self, hook: &'static str, error: PyErr, now: Instant) {
        self.object = None;
        self.hooks = Default::default();
        let measurement = Python::attach(|py| self.told.clone_ref(py));
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
        if self.hooks[hook as usize].is_none() || self.run.failed.load(Ordering::Relaxed) {
            return;
        }
        Python::attach(|py| {
            let Some((bound, object)) = self.hooks[hook as usize].as_ref().zip(self.object.as_ref()) else { return };
            let (bound, object) = (bound.bind(py).clone(), object.bind(py).clone());
            let answer = match self.tell(py, now) {
                Ok(()) => {
                    self.run.calls.fetch_add(1, Ordering::Relaxed);
                    self.run.inside.store(true, Ordering::Relaxed);
                    INSIDE.set(true);
                    let answer = bound.call1((self.told.bind(py),));
                    INSIDE.set(false);
                    self.run.inside.store(false, Ordering::Relaxed);
                    answer
                }
                Err(error) => Err(error),
            };
            let read = answer.and_then(|answer| {
                if !answer.is_none() {
                    set(&object, &answer)?;
                }
                self.read(&object)
            });
            if let Err(error) = read {
                self.fail(HOOKS[hook as usize].1, error, now);
            }
        });
    }

    /// Writes down what the author is told.
    fn tell(&mut self, py: Python<'_>, now: Instant) -> PyResult<()> {
        let next = &mut self.next;
        (next.now, next.min_rtt) = (now, self.min_rtt.get());
        (next.window, next.pacing) = (self.window, self.pacing);
        *self.told.try_borrow_mut(py).map_err(|_| PyTypeError::new_err("the measurement is in use"))? = next.clone();
        Ok(())
    }

    /// Begins to gather anew.
    fn begin(&mut self, now: Instant) {
        self.next.begin(now);
        self.last_call = now;
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
        self.next.lost += lost.bytes;
    }

    fn on_ack(&mut self, sample: &AckSample) {
        let now = sample.now;
        self.next.on_ack(sample);
        if let Some(rtt) = sample.rtt {
            let since = now.since(Instant::ZERO);
            let from = if since > MIN_RTT_WINDOW { Instant::ZERO + (since - MIN_RTT_WINDOW) } else { Instant::ZERO };
            self.min_rtt.update(now, rtt, from);
        }
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
                if self.last_mark.is_none_or(|last| last < self.last_call || last == Instant::ZERO) {
                    self.last_mark = Some(event.now);
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

    fn on_rule(&mut self, rule: WindowRule) {
        if let WindowRule::Start(most) | WindowRule::Recovery(most) = rule
            && most < self.window
            && self.hooks[Hook::Limit as usize].is_some()
        {
            self.next.flight = most;
            self.call(Hook::Limit, self.last_call);
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Python::attach(|py| {
            let mut saved = Self {
                object: None,
                hooks: Default::default(),
                told: self.told.clone_ref(py),
                next: self.next.clone(),
                min_rtt: self.min_rtt.clone(),
                flow: self.flow.clone(),
                run: Arc::clone(&self.run),
                every: self.every,
                last_call: self.last_call,
                due_at: self.due_at,
                last_mark: self.last_mark,
                window: self.window,
                pacing: self.pacing,
                segment: self.segment,
                raised: self.raised,
            };
            if let Some(object) = &self.object {
                let copied = py.import("lasthop.controller").and_then(|m| m.call_method1("copied", (object,)));
                if let Err(error) = copied.and_then(|copied| saved.bind(&copied)) {
                    saved.fail("snapshot", error, self.last_call);
                }
            }
            Box::new(saved)
        })
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.next.flight = undo.flight;
        self.call(Hook::Undo, self.last_call);
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
