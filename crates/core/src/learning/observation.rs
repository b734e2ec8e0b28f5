//! A step in numbers: the values with their units, and the features without, which a learner observes.

use crate::engine::{BitRate, Duration, Instant};

use super::interval::MonitorInterval;

/// What happened in a step, and the estimates at its end. Times in s, amounts in bytes of payload, rates in bit/s; NaN where nothing is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Simulated time at the end of the step.
    pub time: f64,
    /// The length of the step.
    pub duration: f64,
    /// Bytes sent, delivered (acknowledged or SACKed for the first time), taken for lost, and delivered with a mark.
    pub sent: f64,
    /// See `sent`.
    pub delivered: f64,
    /// See `sent`.
    pub lost: f64,
    /// See `sent`.
    pub ce: f64,
    /// Delivered segments, the last of them perhaps in part.
    pub packets_acked: f64,
    /// Expired retransmission timers.
    pub timeouts: f64,
    /// Mean, least and last round-trip time.
    pub rtt: f64,
    /// See `rtt`.
    pub rtt_min: f64,
    /// See `rtt`.
    pub rtt_last: f64,
    /// By how much it grew in a second, s/s: least squares over the times at which acknowledgements came.
    pub rtt_gradient: f64,
    /// The least round-trip time of 10 s.
    pub min_rtt: f64,
    /// Smoothed, and its variation (RFC 6298).
    pub srtt: f64,
    /// See `srtt`.
    pub rttvar: f64,
    /// Bytes in flight now.
    pub in_flight: f64,
    /// What held in the step.
    pub window: f64,
    /// See `window`.
    pub pacing_rate: f64,
    /// Bytes sent and delivered, over the length of the step.
    pub send_rate: f64,
    /// See `send_rate`.
    pub delivery_rate: f64,
    /// The greatest sample of the delivery rate (draft-ietf-ccwg-bbr §4.1) in 10 s.
    pub max_delivery_rate: f64,
    /// The mean time between acknowledgements.
    pub inter_ack: f64,
    /// 1 if the application had nothing more to send when the segment acknowledged last was sent.
    pub app_limited: f64,
    /// The time since a loss was found.
    pub since_loss: f64,
    /// Payload of a full segment.
    pub segment: f64,
}

/// Names and values of a report, in the order of its fields.
macro_rules! values {
    ($($field:ident),* $(,)?) => {
        /// The names of a report's values.
        pub const VALUES: &[&str] = &[$(stringify!($field)),*];

        impl Report {
            /// Writes the values, in the order of [`VALUES`].
            ///
            /// # Panics
            /// If there is not the room.
            pub fn write(&self, to: &mut [f64]) {
                to.copy_from_slice(&[$(self.$field),*]);
            }
        }
    };
}

values! {
    time, duration, sent, delivered, lost, ce, packets_acked, timeouts, rtt, rtt_min, rtt_last, rtt_gradient, min_rtt, srtt, rttvar, in_flight,
    window, pacing_rate, send_rate, delivery_rate, max_delivery_rate, inter_ack, app_limited, since_loss, segment,
}

impl Report {
    /// The report of an interval that ends now.
    pub fn new(interval: &MonitorInterval, now: Instant) -> Self {
        let known = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let duration = now.since(interval.began).as_secs_f64();
        let rate = |bytes: u64| if duration > 0.0 { 8.0 * bytes as f64 / duration } else { f64::NAN };
        let measured = interval.srtt > Duration::ZERO;
        let if_rtts = |value: f64| if interval.rtts > 0 { value } else { f64::NAN };
        let between_acks = || interval.last_ack.since(interval.first_ack).as_secs_f64() / (interval.acks - 1) as f64;
        Self {
            time: now.as_secs_f64(),
            duration,
            sent: interval.sent as f64,
            delivered: interval.delivered as f64,
            lost: interval.lost as f64,
            ce: interval.marked as f64,
            packets_acked: interval.delivered.div_ceil(interval.segment.max(1)) as f64,
            timeouts: interval.timeouts as f64,
            rtt: if_rtts(1e-9 * interval.rtt_sum as f64 / interval.rtts as f64),
            rtt_min: if_rtts(interval.rtt_min.as_secs_f64()),
            rtt_last: if_rtts(interval.rtt_last.as_secs_f64()),
            rtt_gradient: known(interval.trend.slope()),
            min_rtt: known(interval.min_rtt().map(Duration::as_secs_f64)),
            srtt: known(measured.then(|| interval.srtt.as_secs_f64())),
            rttvar: known(measured.then(|| interval.rttvar.as_secs_f64())),
            in_flight: interval.in_flight as f64,
            window: interval.decision.window as f64,
            pacing_rate: known(interval.decision.pacing.map(BitRate::as_bps).map(|rate| rate as f64)),
            send_rate: rate(interval.sent),
            delivery_rate: rate(interval.delivered),
            max_delivery_rate: known(interval.max_rate()),
            inter_ack: known((interval.acks > 1).then(between_acks)),
            app_limited: f64::from(u8::from(interval.app_limited)),
            since_loss: known(interval.last_loss.map(|then| now.since(then).as_secs_f64())),
            segment: interval.segment as f64,
        }
    }

    /// Delivered segments a second.
    pub fn throughput(&self) -> f64 {
        if self.duration > 0.0 { self.delivered / self.segment / self.duration } else { 0.0 }
    }

    /// The mean round-trip time; the smoothed one if none was measured; before the first the length of the step, and if that is zero the 1 s
    /// that a sender assumes (RFC 6298 §2.1).
    pub fn latency(&self) -> f64 {
        let step = if self.duration > 0.0 { self.duration } else { 1.0 };
        [self.rtt, self.srtt].into_iter().find(|value| !value.is_nan()).unwrap_or(step)
    }

    /// The share of lost bytes in those lost or delivered.
    pub fn loss(&self) -> f64 {
        share(self.lost, self.lost + self.delivered)
    }

    /// The bandwidth-delay product of the path, as far as it is known, bytes.
    fn bdp(&self) -> f64 {
        self.max_delivery_rate / 8.0 * self.min_rtt
    }
}

/// A feature of a report: a number without unit, zero where nothing is known.
pub type Feature = fn(&Report) -> f64;

/// The features that a learner can observe, by their names.
pub const FEATURES: [(&str, Feature); 12] = [
    ("send_ratio", send_ratio),
    ("latency_gradient", |r| or_zero(r.rtt_gradient)),
    ("latency_ratio", |r| or_zero(r.rtt / r.min_rtt - 1.0)),
    ("srtt_ratio", |r| or_zero(r.srtt / r.min_rtt - 1.0)),
    ("loss", Report::loss),
    ("ce", |r| share(r.ce, r.delivered)),
    ("in_flight", |r| or_zero(r.in_flight / r.bdp())),
    ("window", |r| or_zero(r.window / r.bdp())),
    ("delivery_rate", |r| or_zero(r.delivery_rate / r.max_delivery_rate)),
    ("inter_ack", inter_ack),
    ("app_limited", |r| r.app_limited),
    ("since_loss", |r| if r.since_loss.is_nan() { MOST } else { or_zero(r.since_loss / r.srtt).min(MOST) }),
];

/// What was sent over what was delivered; 1 if neither.
fn send_ratio(report: &Report) -> f64 {
    match (report.sent > 0.0, report.delivered > 0.0) {
        (_, true) => (report.sent / report.delivered).min(MOST),
        (true, false) => MOST,
        (false, false) => 1.0,
    }
}

/// The mean time between acknowledgements in smoothed round-trip times. If fewer than two came it is at least the length of the step.
fn inter_ack(report: &Report) -> f64 {
    let time = if report.inter_ack.is_nan() { report.duration } else { report.inter_ack };
    or_zero(time / report.srtt).min(MOST)
}

/// The most that a feature is whose divisor may be nothing: ten times what was delivered, ten smoothed round-trip times.
const MOST: f64 = 10.0;

fn or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
