//! The sending machine without its headers: the allowed rate, and the two timers. TFRC's sender
//! and DCCP's with CCID 3 write the headers.

use crate::transport::half_connection::{NominalTime, Outbox};
use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::{Histogram, Probe};

use super::control::{Control, Notification, Parameters, Report};

/// The sending machine.
#[derive(Debug)]
pub struct Pacer {
    control: Control,
    outbox: Outbox,
    parameters: Parameters,
    nominal: NominalTime,
    /// Whether no answer is waited for.
    over: bool,
    rtts: Histogram,
    /// Of earlier connections.
    expiries: u64,
    restarts: u64,
}

impl Pacer {
    /// A machine that sends packets as `parameters` say, with a backlog of `buffer` writes.
    pub fn new(parameters: Parameters, buffer: usize) -> Self {
        Self {
            control: Control::new(parameters),
            outbox: Outbox::new(parameters.segment as u32, buffer),
            parameters,
            nominal: NominalTime::default(),
            over: false,
            rtts: Histogram::default(),
            expiries: 0,
            restarts: 0,
        }
    }

    /// The backlog, and the totals sent.
    pub fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Payload bytes of the connection that were sent, or dropped before.
    pub fn end(&self) -> u64 {
        self.outbox.end()
    }

    /// Forgets the connection, but for the outbox; totals stay.
    pub fn reset(&mut self) {
        self.expiries += self.control.expiries;
        self.restarts += self.control.restarts;
        self.control = Control::new(self.parameters);
        (self.nominal, self.over) = (NominalTime::default(), false);
    }

    /// The receiver has everything that will ever come: no answer is waited for.
    pub fn over(&mut self) {
        self.over = true;
    }

    /// The payload of a packet that may leave now. It has left.
    #[inline]
    pub fn take(&mut self, now: Instant) -> Option<u32> {
        let payload = self.outbox.peek()?;
        if !self.nominal.has_come(now) {
            return None;
        }
        self.outbox.send(payload);
        self.control.on_sent(now, self.nominal.was_waited_for(now));
        let (interval, more) = (self.control.interval(payload), !self.outbox.is_empty());
        let control = &self.control;
        self.nominal
            .pass(now, payload, interval, more, || control.rtt().map(Duration::from_secs_f64).unwrap_or_default());
        Some(payload)
    }

    /// A report has come, for `acked` bytes of the connection.
    pub fn on_report(&mut self, now: Instant, report: &Report, acked: u64) {
        self.outbox.on_acked(acked);
        if let Some(sample) = self.control.on_report(now, report) {
            self.rtts.add(sample.as_nanos());
        }
        self.rate_changed(now);
    }

    /// The receiver tells of a handover.
    pub fn on_handover(&mut self, now: Instant, notification: Notification) {
        if self.control.on_handover(now, notification) {
            self.rate_changed(now);
        }
    }

    /// The time to the next packet counts by the rate of now.
    fn rate_changed(&mut self, now: Instant) {
        self.nominal.change(now, |payload| self.control.interval(payload));
    }

    /// A timer has expired.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.no_feedback_at().is_some_and(|at| at <= now) {
            self.control.on_no_feedback(now);
            self.rate_changed(now);
            if self.outbox.give_up() {
                self.control.no_feedback_at = None;
            }
        }
    }

    /// When the no-feedback timer expires, if it runs.
    #[inline]
    fn no_feedback_at(&self) -> Option<Instant> {
        self.control.no_feedback_at.filter(|_| !self.over)
    }

    /// When it wants to be woken.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        let send = (!self.outbox.is_empty()).then_some(self.nominal.at());
        match (send, self.no_feedback_at()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The allowed sending rate X.
    pub fn rate(&self) -> BitRate {
        BitRate::from_bps((8.0 * self.control.rate()) as u64)
    }

    /// The round-trip time, once there is a sample.
    #[inline]
    pub fn rtt(&self) -> Option<Duration> {
        self.control.rtt().map(Duration::from_secs_f64)
    }

    /// Its state and totals.
    pub fn sample(&self, probe: &mut dyn Probe) {
        let control = &self.control;
        self.outbox.sample(probe);
        probe.value("nofeedback_expiries", (self.expiries + control.expiries) as f64);
        probe.value("handover_restarts", (self.restarts + control.restarts) as f64);
        probe.value("rate_bps", control.rate() * 8.0);
        probe.value("loss_event_rate", control.loss_rate());
        if let Some(rtt) = control.rtt() {
            probe.value("srtt_ms", rtt * 1e3);
        }
        probe.distribution("rtt_ms", 1e-6, &self.rtts);
    }
}
