//! Controllers of media in Python: called with each report, they answer with a rate for the encoder, and perhaps a pacing rate and a window.

use std::sync::Arc;

use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::net::Probe;
use lasthop_core::transport::media::control::{Fate, Feedback, MediaContext, MediaControl, MediaControlConfig};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use super::run::{Failure, Run};
use super::seat::Maker;
use super::{number, pace, positive};

/// What became of a packet.
#[pyclass(module = "lasthop._core", frozen, get_all)]
pub struct MediaPacket {
    /// Its number in the flow, from 0.
    number: u64,
    /// Its bytes, RTP's header included.
    bytes: u32,
    /// When it was sent, in s.
    sent_at: f64,
    /// When it arrived, by the receiver's clock, in s; `None` if it is taken for lost.
    arrival: Option<f64>,
    /// The ECN field with which it arrived: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 marked.
    ecn: u8,
}

/// The argument of `on_feedback`: a report of the receiver. Times in s, amounts in bytes, rates in bit/s.
#[pyclass(module = "lasthop._core", frozen)]
pub struct MediaMeasurement {
    /// The present.
    #[pyo3(get)]
    now: f64,
    /// When the report was made, by the receiver's clock.
    #[pyo3(get)]
    reported_at: f64,
    /// See the getter.
    packets: Vec<Py<MediaPacket>>,
    /// Bytes of them that arrived.
    #[pyo3(get)]
    acked: u64,
    /// Bytes of them that are taken for lost.
    #[pyo3(get)]
    lost: u64,
    /// Bytes of them that arrived marked.
    #[pyo3(get)]
    ce: u64,
    /// The round-trip time of the last of them that arrived, without the time for which the report was held; `None` if none arrived.
    #[pyo3(get)]
    rtt: Option<f64>,
    /// Bytes in flight now.
    #[pyo3(get)]
    in_flight: u64,
    /// Bytes in flight before the report.
    #[pyo3(get)]
    prior_in_flight: u64,
    /// Bytes that wait at the sender.
    #[pyo3(get)]
    queued: u64,
    /// How long the first of them has waited.
    #[pyo3(get)]
    queue_delay: f64,
    /// Whether the terminal said since the last call that its path is another one (`path_hint = "delays"`).
    #[pyo3(get)]
    link_changed: bool,
    /// The bounds of the encoder's rate.
    #[pyo3(get)]
    min_rate: f64,
    /// See `min_rate`.
    #[pyo3(get)]
    max_rate: f64,
    /// What holds now.
    #[pyo3(get)]
    target_bitrate: f64,
}

#[pymethods]
impl MediaMeasurement {
    /// Packets of which nothing was known before, by their numbers.
    #[getter]
    fn packets(&self, py: Python<'_>) -> Vec<Py<MediaPacket>> {
        self.packets.iter().map(|packet| packet.clone_ref(py)).collect()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let values = slf.py().import("lasthop.controller")?.call_method1("values", (slf,))?;
        Ok(format!("MediaMeasurement({values})"))
    }
}

/// A controller whose decisions an object in Python takes.
struct MediaController {
    /// The object and its method `on_feedback`.
    object: Option<(Py<PyAny>, Py<PyAny>)>,
    context: MediaContext,
    target: BitRate,
    pacing: Option<BitRate>,
    window: Option<u64>,
    link_changed: bool,
    flow: String,
    run: Arc<Run>,
}

impl MediaControlConfig for Maker {
    fn build(&self, seat: &MediaContext) -> Box<dyn MediaControl> {
        let mut made = MediaController {
            object: None,
            context: *seat,
            target: seat.start_rate,
            pacing: None,
            window: None,
            link_changed: false,
            flow: self.label.clone(),
            run: Arc::clone(&self.run),
        };
        Python::attach(|py| {
            made.run.enter();
            let started = made.start(py, self);
            made.run.leave();
            if let Err(error) = started {
                made.fail(py, "start", error, Instant::ZERO, None);
            }
        });
        Box::new(made)
    }

    fn is_l4s(&self) -> bool {
        self.l4s
    }
}

impl MediaController {
    fn start(&mut self, py: Python<'_>, maker: &Maker) -> PyResult<()> {
        let [min, max, start] =
            [self.context.min_rate, self.context.max_rate, self.context.start_rate].map(|rate| rate.as_bps() as f64);
        let mut stream = format!("{}/{}", maker.seed, maker.name);
        match self.run.count(&maker.name) {
            0 => {}
            number => stream += &format!("/{number}"),
        }
        let arguments =
            (&maker.class, &maker.options, min, max, start, self.context.packet, maker.seed, &self.flow, stream);
        let object = py.import("lasthop.controller")?.call_method1("make_media", arguments)?;
        self.read(&object)?;
        self.object = Some((object.clone().unbind(), object.getattr("on_feedback")?.unbind()));
        Ok(())
    }

    /// Reads its answer from the object.
    fn read(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let target = positive(&object.getattr(intern!(py, "target_bitrate"))?, "target_bitrate", "")?;
        let bounds = (self.context.min_rate, self.context.max_rate);
        self.target = BitRate::from_bps(target as u64).clamp(bounds.0, bounds.1);
        let rate = object.getattr(intern!(py, "pacing_rate"))?;
        self.pacing = match rate.is_none() {
            true => None,
            false => Some(pace(&rate)?),
        };
        let window = object.getattr(intern!(py, "window"))?;
        self.window = if window.is_none() {
            None
        } else {
            let bytes = number(&window, "window")?;
            if !bytes.is_finite() {
                return Err(PyValueError::new_err(format!(
                    "window is {bytes}: it must be a finite number of bytes, or None"
                )));
            }
            // A negative one becomes 0; the sender takes one packet in any case.
            Some(bytes as u64)
        };
        Ok(())
    }

    fn fail(
        &mut self,
        py: Python<'_>,
        hook: &'static str,
        error: PyErr,
        now: Instant,
        told: Option<Py<MediaMeasurement>>,
    ) {
        self.object = None;
        let measurement = told.map(|told| told.into_any().clone_ref(py));
        self.run.fail(Failure { error, flow: self.flow.clone(), hook, at_s: now.as_secs_f64(), measurement });
    }

    fn measurement(&mut self, py: Python<'_>, feedback: &Feedback<'_>) -> PyResult<Py<MediaMeasurement>> {
        let seconds = Instant::as_secs_f64;
        let packet = |fate: &Fate| {
            let Fate { number, bytes, sent_at, arrival } = *fate;
            let (at, ecn) = arrival.map_or((None, 0), |arrival| (Some(seconds(arrival.at)), arrival.ecn as u8));
            Py::new(py, MediaPacket { number, bytes, sent_at: seconds(sent_at), arrival: at, ecn })
        };
        let packets = feedback.packets.iter().map(packet).collect::<PyResult<Vec<_>>>()?;
        let sum = |wanted: &dyn Fn(&Fate) -> bool| -> u64 {
            feedback.packets.iter().filter(|fate| wanted(fate)).map(|fate| u64::from(fate.bytes)).sum()
        };
        let marked = |fate: &Fate| fate.arrival.is_some_and(|arrival| arrival.ecn == lasthop_core::net::Ecn::Ce);
        let rtt = feedback.packets.iter().rev().find_map(|fate| {
            let held = feedback.reported_at.since(fate.arrival?.at);
            Some(feedback.now.since(fate.sent_at).saturating_sub(held))
        });
        let made = MediaMeasurement {
            now: seconds(feedback.now),
            reported_at: seconds(feedback.reported_at),
            packets,
            acked: sum(&|fate| fate.arrival.is_some()),
            lost: sum(&|fate| fate.arrival.is_none()),
            ce: sum(&marked),
            rtt: rtt.map(Duration::as_secs_f64),
            in_flight: feedback.in_flight,
            prior_in_flight: feedback.prior_in_flight,
            queued: feedback.queued,
            queue_delay: feedback.queue_delay.as_secs_f64(),
            link_changed: std::mem::take(&mut self.link_changed),
            min_rate: self.context.min_rate.as_bps() as f64,
            max_rate: self.context.max_rate.as_bps() as f64,
            target_bitrate: self.target.as_bps() as f64,
        };
        Py::new(py, made)
    }
}

impl MediaControl for MediaController {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if self.object.is_none() || self.run.has_failed() {
            return;
        }
        Python::attach(|py| {
            let Some((object, hook)) = self.object.as_ref().map(|(o, h)| (o.bind(py).clone(), h.bind(py).clone()))
            else {
                return;
            };
            let told = match self.measurement(py, feedback) {
                Ok(told) => told,
                Err(error) => return self.fail(py, "on_feedback", error, feedback.now, None),
            };
            self.run.enter();
            let read = hook.call1((&told,)).and_then(|answer| {
                if !answer.is_none() {
                    object.setattr(intern!(py, "target_bitrate"), answer)?;
                }
                self.read(&object)
            });
            self.run.leave();
            if let Err(error) = read {
                self.fail(py, "on_feedback", error, feedback.now, Some(told));
            }
        });
    }

    fn on_path_change(&mut self, _now: Instant) {
        self.link_changed = true;
    }

    fn target(&self) -> BitRate {
        self.target
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing
    }

    fn window(&self) -> Option<u64> {
        self.window
    }

    fn sample(&self, _probe: &mut dyn Probe) {}
}
