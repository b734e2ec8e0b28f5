//! WebRTC's receiver-side estimator in the time of REMB, as aiortc 1.16.0 has it: times in whole milliseconds, send times in the 24 bits of
//! abs-send-time. It has no part for losses.

mod aimd;
mod detector;
mod filter;
mod groups;

use lasthop_net::engine::{BitRate, Instant};
use lasthop_net::net::Probe;

use super::super::{Feedback, MediaContext, MediaControl};
use super::meter::RateMeter;
use super::{Arrived, State, Usage, in_order_of_arrival, whole_ms};
use aimd::Aimd;
use detector::Detector;
use filter::Filter;
use groups::Groups;

/// The estimator, in the seat of a flow.
pub struct Webrtc {
    estimator: Estimator,
    /// The last REMB, or the rate at the start, bit/s.
    rate: u64,
    bounds: (u64, u64),
    /// Packets that were sent before took another path: they say nothing of delay.
    path_since: Instant,
    arrived: Vec<Arrived>,
}

impl Webrtc {
    /// At the start of a flow.
    pub fn new(seat: &MediaContext) -> Self {
        Self {
            estimator: Estimator::default(),
            rate: seat.start_rate.as_bps(),
            bounds: (seat.min_rate.as_bps(), seat.max_rate.as_bps()),
            path_since: Instant::ZERO,
            arrived: Vec::new(),
        }
    }
}

impl MediaControl for Webrtc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        in_order_of_arrival(feedback, &mut self.arrived);
        for packet in &self.arrived {
            let (now, bytes) = (whole_ms(packet.at), packet.bytes);
            let sent = (packet.sent_at >= self.path_since).then(|| abs_send_time(packet.sent_at));
            if let Some(remb) = self.estimator.on_packet(now, sent, bytes) {
                self.rate = remb;
            }
        }
    }

    fn on_path_change(&mut self, now: Instant) {
        self.path_since = now;
        self.estimator.forget_path();
    }

    fn target(&self) -> BitRate {
        BitRate::from_bps(self.rate.min(self.bounds.1).max(self.bounds.0))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("gcc.offset_ms", self.estimator.offset());
        probe.value("gcc.threshold_ms", self.estimator.threshold());
        probe.value("gcc.usage", f64::from(self.estimator.usage() as u8));
        probe.value("gcc.remb_bps", self.rate as f64);
    }
}

/// abs-send-time: seconds in 6.18 bits, modulo 64 s.
fn abs_send_time(at: Instant) -> u32 {
    ((u128::from(at.as_nanos()) << 18) / 1_000_000_000 % (1 << 24)) as u32
}

/// What a receiver estimates of the rate of its path.
#[derive(Clone, Debug, Default)]
pub struct Estimator {
    groups: Groups,
    filter: Filter,
    detector: Detector,
    meter: RateMeter,
    /// Whether the meter has had a value since it was empty.
    metered: bool,
    aimd: Aimd,
    last_remb: Option<i64>,
}

impl Estimator {
    /// A packet has arrived at `now_ms`. Without its abs-send-time only its bytes count. Gives the estimate that goes into a REMB, bit/s.
    pub fn on_packet(&mut self, now_ms: i64, abs_send_time: Option<u32>, bytes: u32) -> Option<u64> {
        if self.meter.rate(now_ms).is_some() {
            self.metered = true;
        } else if self.metered {
            self.meter = RateMeter::default();
            self.metered = false;
        }
        self.meter.add(now_ms, bytes);
        if let Some(sent) = abs_send_time
            && let Some(deltas) = self.groups.add(sent << 8, now_ms, bytes)
        {
            self.filter.update(&deltas, self.detector.usage());
            self.detector.update(self.filter.offset(), deltas.sent_ms, self.filter.deltas(), now_ms);
        }
        let is_due = self.last_remb.is_none_or(|last| now_ms - last > REMB_INTERVAL_MS);
        if !is_due && self.detector.usage() != Usage::Over {
            return None;
        }
        let rate = self.meter.rate(now_ms);
        let estimate = self.aimd.update(self.detector.usage(), rate, now_ms)?;
        self.last_remb = Some(now_ms);
        Some(estimate)
    }

    /// The next packet begins a path of its own: groups, the filter with its noise, the detector and its threshold start anew. The rate, the
    /// meter and the rate at which the path was full stay.
    pub fn forget_path(&mut self) {
        self.groups = Groups::default();
        self.filter = Filter::default();
        self.detector = Detector::default();
    }

    /// The filter's offset: by how much the delay grows from group to group, ms.
    pub fn offset(&self) -> f64 {
        self.filter.offset()
    }

    /// The variance of the noise, ms².
    pub fn noise(&self) -> f64 {
        self.filter.noise()
    }

    /// How many differences of groups the filter has had, 1000 at most.
    pub fn deltas(&self) -> u32 {
        self.filter.deltas()
    }

    /// The detector's threshold, ms.
    pub fn threshold(&self) -> f64 {
        self.detector.threshold()
    }

    /// What the detector says.
    pub fn usage(&self) -> Usage {
        self.detector.usage()
    }

    /// The state of the rate control.
    pub fn state(&self) -> State {
        self.aimd.state()
    }

    /// Whether the rate is close to that at which the path was full.
    pub fn is_near(&self) -> bool {
        self.aimd.is_near()
    }
}

/// The shortest time between REMBs without over-use, ms.
const REMB_INTERVAL_MS: i64 = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Duration;

    /// 6.18 bits: a second is 2¹⁸, and it comes again after 64 s.
    #[test]
    fn abs_send_time_is_a_fixed_point_number() {
        let at = |ms| abs_send_time(Instant::ZERO + Duration::from_millis(ms));
        assert_eq!((at(1_000), at(500), at(64_000), at(65_000)), (1 << 18, 1 << 17, 0, 1 << 18));
    }

    /// Packets of 1250 bytes every 10 ms; what is offered beyond `kbps` waits.
    fn rates(kbps: f64, seconds: i64) -> Vec<u64> {
        let mut estimator = Estimator::default();
        let (mut free, mut rembs) = (0.0_f64, Vec::new());
        for k in 0..seconds * 100 {
            let sent = 10.0 * k as f64;
            free = free.max(sent) + 10_000.0 / kbps;
            let abs = ((sent * 262.144) as u64 % (1 << 24)) as u32;
            rembs.extend(estimator.on_packet(free as i64 + 20, Some(abs), 1250));
        }
        rembs
    }

    /// Nothing is estimated for 3 s; then the estimate is the rate of arrival, and grows by 8 % a second to 1.5 times that and 10 kbit/s.
    #[test]
    fn a_free_path_lets_the_estimate_grow_to_its_bound() {
        let rembs = rates(100_000.0, 20);
        assert!((rembs[0] as f64 - 1e6).abs() < 60e3, "{}", rembs[0]);
        assert_eq!(rembs.last(), Some(&1_510_000));
    }

    /// 1 Mbit/s over 800 kbit/s: the delay grows by a quarter of the time, and the estimate falls below the rate of arrival.
    #[test]
    fn a_growing_queue_brings_the_estimate_below_the_rate() {
        let rembs = rates(800.0, 6);
        let last = *rembs.last().unwrap();
        assert!((last as f64 - 0.85 * 800e3).abs() < 8e3, "{last}");
    }

    /// A step of 100 ms between two groups counts as a queue that grows, unless the path was said to be another.
    #[test]
    fn a_longer_path_is_a_growing_queue_without_a_hint_only() {
        let growth = |hint: bool| {
            let mut estimator = Estimator::default();
            for k in 0..62_i64 {
                let path = if k < 60 { 20 } else { 120 };
                if k == 60 && hint {
                    estimator.forget_path();
                }
                estimator.on_packet(32 * k + path, Some(((32 * k) << 18) as u32 / 1_000), 1250);
            }
            60.0 * estimator.offset()
        };
        assert!(growth(false) > 12.5 && growth(true).abs() < 0.1, "{} {}", growth(false), growth(true));
    }
}
