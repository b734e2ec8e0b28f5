//! The controller that a learner leads: it holds the last decision, and gathers a monitor interval for the next one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::{BitRate, Instant};
use crate::transport::congestion::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, LostSegment, Sent, Undo, Wants,
};

use super::interval::{Decision, MonitorInterval};

/// The interval that an agent and its environment share. Only one of them is at work at a time.
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Mutex<MonitorInterval>>);

impl Shared {
    /// The interval.
    pub fn get(&self) -> MutexGuard<'_, MonitorInterval> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CongestionConfig for Shared {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        let mut interval = self.get();
        interval.connect(u64::from(seat.smss), seat.initial_window, seat.begun.delivered);
        if seat.begun.delivered > 0 {
            interval.forget_delays();
        }
        Box::new(Agent { decision: interval.decision, shared: self.clone() })
    }
}

/// The controller. A decision takes effect at the next acknowledgement or the next segment that is sent.
#[derive(Clone, Debug)]
struct Agent {
    shared: Shared,
    decision: Decision,
}

impl CongestionControl for Agent {
    fn wants(&self) -> Wants {
        Wants { sends: true, records: true }
    }

    fn on_sent(&mut self, sent: &Sent) {
        let mut interval = self.shared.get();
        interval.on_sent(sent);
        self.decision = interval.decision;
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.shared.get().on_lost(lost.now, lost.bytes);
    }

    fn on_ack(&mut self, sample: &AckSample) {
        let mut interval = self.shared.get();
        interval.on_ack(sample);
        self.decision = interval.decision;
    }

    // The answer to congestion is the learner's: it observes losses and marks.
    fn on_congestion(&mut self, _event: &CongestionEvent) {}

    fn on_timeout(&mut self, _now: Instant, _flight: u64, _again: bool) {
        let mut interval = self.shared.get();
        interval.timeouts += 1;
        self.decision = interval.decision;
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, _undo: &Undo) {
        self.decision = self.shared.get().decision;
    }

    fn on_path_change(&mut self, _now: Instant) {
        self.shared.get().forget_delays();
    }

    fn window(&self) -> u64 {
        self.decision.window
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.decision.pacing
    }
}
