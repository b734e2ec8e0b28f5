//! What acknowledgements said since the last call, as the methods of a controller see it.

use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::transport::congestion::{AckSample, EndpointContext, Flight};
use pyo3::prelude::*;

/// The arguments of a controller's methods. Times in s, amounts in bytes, rates in bit/s; `None` where nothing is known.
#[pyclass(module = "lasthop._core")]
#[derive(Clone)]
pub struct Measurement {
    pub(super) now: Instant,
    /// Since the last `on_ack`.
    pub(super) since: Instant,
    pub(super) acks: u64,
    pub(super) first_ack: Instant,
    pub(super) last_ack: Instant,
    pub(super) acked: u64,
    pub(super) sacked: u64,
    pub(super) packets_acked: u64,
    pub(super) ce: u64,
    pub(super) packets_ce: u64,
    pub(super) sent: u64,
    pub(super) link_changed: bool,
    pub(super) rtt_sum_ns: u64,
    pub(super) rtts: u64,
    pub(super) rtt_last: Duration,
    pub(super) rtt_min: Duration,
    /// The best delivery rate: bytes and nanoseconds.
    pub(super) best: Option<(u64, u64)>,
    pub(super) app_limited: bool,
    pub(super) window_limited: bool,
    pub(super) recovering: bool,
    pub(super) again: bool,
    /// At present.
    pub(super) in_flight: u64,
    pub(super) prior_in_flight: u64,
    pub(super) flight: u64,
    pub(super) min_rtt: Option<Duration>,
    pub(super) srtt: Duration,
    pub(super) rttvar: Duration,
    /// So far in the connection.
    pub(super) delivered: u64,
    pub(super) packets: u64,
    pub(super) lost: u64,
    /// The same at the last `on_ack`.
    pub(super) lost_before: u64,
    pub(super) round: u64,
    pub(super) window: u64,
    pub(super) pacing: Option<BitRate>,
    pub(super) segment: u64,
}

impl Measurement {
    pub(super) fn new(seat: &EndpointContext) -> Self {
        let begun = &seat.begun;
        Self {
            now: Instant::ZERO,
            since: begun.at,
            acks: 0,
            first_ack: Instant::ZERO,
            last_ack: Instant::ZERO,
            acked: 0,
            sacked: 0,
            packets_acked: 0,
            ce: 0,
            packets_ce: 0,
            sent: 0,
            link_changed: false,
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
            delivered: begun.delivered,
            packets: begun.packets,
            lost: begun.lost,
            lost_before: begun.lost,
            round: 0,
            window: seat.initial_window,
            pacing: None,
            segment: u64::from(seat.smss),
        }
    }

    /// Begins to gather anew.
    pub(super) fn begin(&mut self, now: Instant) {
        (self.since, self.acks, self.sent, self.link_changed) = (now, 0, 0, false);
        (self.acked, self.sacked, self.packets_acked, self.ce, self.packets_ce) = (0, 0, 0, 0, 0);
        (self.rtt_sum_ns, self.rtts, self.best) = (0, 0, None);
        (self.app_limited, self.window_limited) = (false, false);
        self.lost_before = self.lost;
    }

    /// Round-trip times of another path are void.
    pub(super) fn forget_delays(&mut self) {
        (self.rtt_sum_ns, self.rtts) = (0, 0);
        (self.srtt, self.rttvar) = (Duration::ZERO, Duration::ZERO);
    }

    pub(super) fn on_flight(&mut self, flight: &Flight) {
        (self.in_flight, self.lost, self.recovering) = (flight.in_flight, flight.lost, flight.recovering);
    }

    pub(super) fn on_ack(&mut self, sample: &AckSample) {
        if self.acks == 0 {
            self.first_ack = sample.now;
        }
        self.last_ack = sample.now;
        self.acks += 1;
        self.acked += sample.acked;
        self.sacked += sample.sacked;
        self.count(sample);
        (self.in_flight, self.prior_in_flight) = (sample.in_flight, sample.prior_in_flight);
        if let Some(rtt) = sample.rtt {
            self.rtt_sum_ns += rtt.as_nanos();
            self.rtt_min = if self.rtts == 0 { rtt } else { self.rtt_min.min(rtt) };
            self.rtts += 1;
            self.rtt_last = rtt;
        }
        (self.srtt, self.rttvar) = (sample.srtt, sample.rttvar);
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

    /// Counts what an acknowledgement delivered, and what of it was marked: as the receiver counted, or all that came with an echo.
    fn count(&mut self, sample: &AckSample) {
        let bytes = sample.delivered.saturating_sub(self.delivered);
        let packets = sample.packets.saturating_sub(self.packets);
        (self.delivered, self.packets) = (sample.delivered, sample.packets);
        self.packets_acked += packets;
        if sample.ce > 0 {
            self.ce += sample.ce;
            // Of packets of their mean size.
            self.packets_ce +=
                if bytes > 0 { (sample.ce * packets).div_ceil(bytes) } else { sample.ce.div_ceil(self.segment) };
        } else if sample.ece > 0 {
            self.ce += bytes;
            self.packets_ce += packets;
        }
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
        self.lost.saturating_sub(self.lost_before)
    }

    /// Bytes in marked packets: as the receiver counts them (AccECN), or all that came with an echo.
    #[getter]
    fn ce(&self) -> u64 {
        self.ce
    }

    /// Packets acknowledged or SACKed, each once.
    #[getter]
    fn packets_acked(&self) -> u64 {
        self.packets_acked
    }

    /// Marked packets, likewise.
    #[getter]
    fn packets_ce(&self) -> u64 {
        self.packets_ce
    }

    /// Whether the terminal said since the last call that its path is another one (`path_hint = "delays"`).
    #[getter]
    fn link_changed(&self) -> bool {
        self.link_changed
    }

    /// Bytes in flight now.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Bytes in flight before the last acknowledgement that `on_ack` counts.
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
