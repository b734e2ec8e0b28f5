//! draft-ietf-rmcat-gcc-02: groups of packets (§5.2), a filter (§5.3), a detector (§5.4), a rate by delay (§5.5) and one by loss (§6); the
//! lower of both holds, and packets are paced at it (§4).

mod detector;
mod filter;
mod groups;
mod loss;
mod rate;

use lasthop_net::engine::{BitRate, Instant};
use lasthop_net::net::Probe;

use super::super::{Feedback, MediaContext, MediaControl};
use super::meter::RateMeter;
use super::{Arrived, in_order_of_arrival, whole_ms};
use detector::Detector;
use filter::Filter;
use groups::{BURST_TIME, Groups};
use loss::LossControl;
use rate::RateControl;

/// The algorithm in the seat of a flow.
pub struct Draft {
    groups: Groups,
    filter: Filter,
    detector: Detector,
    meter: RateMeter,
    by_delay: RateControl,
    by_loss: LossControl,
    bounds: (f64, f64),
    /// Packets that were sent before took another path: they say nothing of delay.
    path_since: Instant,
    arrived: Vec<Arrived>,
}

impl Draft {
    /// At the start of a flow.
    pub fn new(seat: &MediaContext) -> Self {
        let [min, max, start] = [seat.min_rate, seat.max_rate, seat.start_rate].map(|rate| rate.as_bps() as f64);
        Self {
            groups: Groups::default(),
            filter: Filter::default(),
            detector: Detector::default(),
            meter: RateMeter::default(),
            by_delay: RateControl::new(start),
            by_loss: LossControl::new(start),
            bounds: (min, max),
            path_since: Instant::ZERO,
            arrived: Vec::new(),
        }
    }

    /// The rate that is measured in the last second, once there is half of one (T, §5.5).
    fn measured(&mut self, now_ms: i64) -> Option<f64> {
        if self.meter.length(now_ms) < LEAST_WINDOW_MS {
            return None;
        }
        self.meter.rate(now_ms).map(|rate| rate as f64)
    }

    fn rate(&self) -> f64 {
        self.by_delay.rate().min(self.by_loss.rate())
    }
}

impl MediaControl for Draft {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        in_order_of_arrival(feedback, &mut self.arrived);
        for packet in &self.arrived {
            self.meter.add(whole_ms(packet.at), packet.bytes);
            if packet.sent_at < self.path_since {
                continue;
            }
            if let Some(deltas) = self.groups.add(packet.sent_at, packet.at) {
                let growth = self.filter.update(&deltas);
                self.detector.update(growth, deltas.arrived_at, deltas.arrived_ms);
            }
        }
        if let Some(newest) = self.arrived.last() {
            let held = feedback.reported_at.since(newest.at);
            let rtt = feedback.now.since(newest.sent_at).saturating_sub(held);
            let measured = self.measured(whole_ms(newest.at));
            self.by_delay.update(self.detector.usage(), measured, feedback.now, rtt, self.bounds);
        }
        let lost = feedback.packets.len() - self.arrived.len();
        self.by_loss.update(lost, feedback.packets.len(), self.bounds);
    }

    fn on_path_change(&mut self, now: Instant) {
        self.path_since = now;
        self.groups = Groups::default();
        self.filter = Filter::default();
        self.detector = Detector::default();
    }

    fn target(&self) -> BitRate {
        BitRate::from_bps(libm::round(self.rate()) as u64)
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(self.target())
    }

    /// A group: what the rate gives in burst_time (§4).
    fn burst(&self) -> u64 {
        (self.rate() / 8.0 * BURST_TIME.as_secs_f64()) as u64
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("gcc.offset_ms", self.filter.growth());
        probe.value("gcc.threshold_ms", self.detector.threshold());
        probe.value("gcc.usage", f64::from(self.detector.usage() as u8));
        probe.value("gcc.by_delay_bps", self.by_delay.rate());
        probe.value("gcc.by_loss_bps", self.by_loss.rate());
    }
}

/// The shorter end of T (§5.6).
const LEAST_WINDOW_MS: i64 = 500;

#[cfg(test)]
mod tests;
