//! The monitor interval (PCC, Dong et al. 2015 §2): what acknowledgements and losses of one step amount to, with the estimates that last.

use crate::engine::{BitRate, Duration, Instant};
use crate::transport::congestion::filter::{Greatest, Least};
use crate::transport::congestion::{AckSample, Sent};

/// How long the least round-trip time and the greatest delivery rate count (MinRTTFilterLen of draft-ietf-ccwg-bbr §2: 10 s).
const FILTER: Duration = Duration::from_secs(10);

/// A window and a pacing rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The congestion window, bytes.
    pub window: u64,
    /// The pacing rate; `None` as fast as the window allows.
    pub pacing: Option<BitRate>,
}

/// Sums over one step; estimates over all of them; and the decision that holds.
#[derive(Clone, Debug, Default)]
pub struct MonitorInterval {
    /// What holds now.
    pub decision: Decision,
    /// When the step began.
    pub began: Instant,
    /// Acknowledgements that told something new; when the first and the last came.
    pub acks: u64,
    /// See `acks`.
    pub first_ack: Instant,
    /// See `acks`.
    pub last_ack: Instant,
    /// Payload bytes sent, delivered, taken for lost, and delivered with a mark.
    pub sent: u64,
    /// See `sent`.
    pub delivered: u64,
    /// See `sent`.
    pub lost: u64,
    /// See `sent`.
    pub marked: u64,
    /// Round-trip times: their number, sum, least and last.
    pub rtts: u64,
    /// See `rtts`.
    pub rtt_sum: u64,
    /// See `rtts`.
    pub rtt_min: Duration,
    /// See `rtts`.
    pub rtt_last: Duration,
    /// Their regression over the time since the step began.
    pub trend: Trend,
    /// Whether the last delivery-rate sample was limited by the application.
    pub app_limited: bool,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// When a loss was found last.
    pub last_loss: Option<Instant>,
    /// Bytes in flight, as the sender estimates them.
    pub in_flight: u64,
    /// RFC 6298; zero before the first sample.
    pub srtt: Duration,
    /// RFC 6298.
    pub rttvar: Duration,
    /// Payload of a full segment, and the initial window, bytes.
    pub segment: u64,
    /// See `segment`.
    pub initial_window: u64,
    /// Bytes that the connection had delivered by the last acknowledgement.
    connection_delivered: u64,
    least_rtt: Least<Instant, Duration>,
    greatest_rate: Greatest<Instant, f64>,
}

impl MonitorInterval {
    /// A connection begins, or goes on that has `delivered` bytes: the first one with its initial window, a later one with what holds, but at
    /// least a segment. Less would send nothing for ever.
    pub fn connect(&mut self, segment: u64, initial_window: u64, delivered: u64) {
        if self.decision.window == 0 {
            self.decision.window = initial_window;
        }
        self.decision.window = self.decision.window.max(segment);
        (self.segment, self.initial_window, self.connection_delivered) = (segment, initial_window, delivered);
    }

    /// The path is another one: round-trip times of the old one are void.
    pub fn forget_delays(&mut self) {
        (self.rtts, self.rtt_sum, self.trend) = (0, 0, Trend::default());
        (self.srtt, self.rttvar) = (Duration::ZERO, Duration::ZERO);
        self.least_rtt.clear();
    }

    /// A step begins.
    pub fn begin(&mut self, now: Instant) {
        (self.began, self.acks, self.timeouts, self.app_limited) = (now, 0, 0, false);
        (self.sent, self.delivered, self.lost, self.marked) = (0, 0, 0, 0);
        (self.rtts, self.rtt_sum, self.trend) = (0, 0, Trend::default());
    }

    /// A segment was sent.
    pub fn on_sent(&mut self, sent: &Sent) {
        self.sent += sent.bytes;
        self.in_flight = sent.in_flight;
    }

    /// Bytes are taken for lost.
    pub fn on_lost(&mut self, now: Instant, bytes: u64) {
        self.lost += bytes;
        self.last_loss = Some(now);
    }

    /// An acknowledgement told something new.
    pub fn on_ack(&mut self, sample: &AckSample) {
        let now = sample.now;
        if self.acks == 0 {
            self.first_ack = now;
        }
        self.acks += 1;
        self.last_ack = now;
        let delivered = sample.delivered.saturating_sub(self.connection_delivered);
        self.connection_delivered = sample.delivered;
        self.delivered += delivered;
        // Where the receiver counts marked bytes, these are counted; an echo of RFC 3168 counts for all that it acknowledges.
        self.marked += if sample.ce > 0 { sample.ce } else { u64::from(sample.ece > 0) * delivered };
        (self.in_flight, self.srtt, self.rttvar) = (sample.in_flight, sample.srtt, sample.rttvar);
        let from = Instant::from_nanos(now.as_nanos().saturating_sub(FILTER.as_nanos()));
        if let Some(rtt) = sample.rtt {
            self.rtt_min = if self.rtts == 0 { rtt } else { self.rtt_min.min(rtt) };
            self.rtts += 1;
            self.rtt_sum += rtt.as_nanos();
            self.rtt_last = rtt;
            self.trend.add(now.since(self.began).as_secs_f64(), rtt.as_secs_f64());
            self.least_rtt.update(now, rtt, from);
        }
        if let Some(rate) = &sample.rate
            && let Some(ns) = rate.interval.map(Duration::as_nanos).filter(|ns| *ns > 0)
        {
            self.app_limited = rate.record.app_limited;
            self.greatest_rate.update(now, 8e9 * rate.delivered as f64 / ns as f64, from);
        }
    }

    /// The least round-trip time of the last 10 s.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.least_rtt.get()
    }

    /// The greatest sample of the delivery rate (draft-ietf-ccwg-bbr §4.1) in the last 10 s, bit/s.
    pub fn max_rate(&self) -> Option<f64> {
        self.greatest_rate.get()
    }
}

/// A least-squares line through points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trend {
    points: f64,
    /// The means.
    x: f64,
    /// See `x`.
    y: f64,
    /// The sums of products of the deviations from them (Welford 1962): sums of the squares themselves would leave what is rounded where all
    /// points lie above one another.
    xx: f64,
    /// See `xx`.
    xy: f64,
}

impl Trend {
    /// Adds a point.
    pub fn add(&mut self, x: f64, y: f64) {
        self.points += 1.0;
        let before = x - self.x;
        self.x += before / self.points;
        self.y += (y - self.y) / self.points;
        self.xx += before * (x - self.x);
        self.xy += before * (y - self.y);
    }

    /// Its slope, if there are two points that do not lie above one another.
    pub fn slope(&self) -> Option<f64> {
        (self.points >= 2.0 && self.xx > 0.0).then(|| self.xy / self.xx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_line_through_the_points() {
        let mut trend = Trend::default();
        assert_eq!(trend.slope(), None);
        trend.add(1.0, 5.0);
        assert_eq!(trend.slope(), None);
        // Four points whose line is 3.5 + 1.4 x (the example of https://en.wikipedia.org/wiki/Linear_least_squares).
        let mut trend = Trend::default();
        for (x, y) in [(1.0, 6.0), (2.0, 5.0), (3.0, 7.0), (4.0, 10.0)] {
            trend.add(x, y);
        }
        assert_eq!(trend.slope(), Some(1.4));
    }

    #[test]
    fn points_above_one_another_have_no_slope() {
        for x in [0.1, 0.3, 0.7, 1.1, 12.345] {
            let mut trend = Trend::default();
            for n in 0..20 {
                trend.add(x, f64::from(n));
                assert_eq!(trend.slope(), None, "{n} at {x}");
            }
        }
        // A nanosecond apart: the slope is that of the points, not of rounded squares.
        let mut trend = Trend::default();
        trend.add(0.1, 0.030);
        trend.add(0.100_000_001, 0.031);
        assert!((trend.slope().unwrap() / 1e6 - 1.0).abs() < 1e-3, "{:?}", trend.slope());
    }

    #[test]
    fn marked_bytes_are_those_that_the_receiver_counted_or_that_echoes_came_with() {
        let mut interval = MonitorInterval::default();
        let ack = |delivered, ece, ce| AckSample { delivered, ece, ce, ..AckSample::default() };
        // AccECN: 1000 of 3000 bytes. RFC 3168: an echo with 2000 bytes, none with the next 1000.
        interval.on_ack(&ack(3000, 1, 1000));
        assert_eq!(interval.marked, 1000);
        interval.on_ack(&ack(5000, 1, 0));
        interval.on_ack(&ack(6000, 0, 0));
        assert_eq!((interval.marked, interval.delivered), (3000, 6000));
    }

    #[test]
    fn what_is_delivered_counts_once_though_it_was_selectively_acknowledged_before() {
        let mut interval = MonitorInterval::default();
        interval.connect(1000, 10_000, 0);
        assert_eq!(interval.decision.window, 10_000);
        let ack = |acked, sacked, delivered| AckSample { acked, sacked, delivered, ..AckSample::default() };
        interval.on_ack(&ack(1000, 0, 1000));
        interval.on_ack(&ack(0, 2000, 3000));
        interval.on_ack(&ack(3000, 0, 4000));
        assert_eq!((interval.delivered, interval.acks), (4000, 3));
        interval.begin(Instant::from_nanos(7));
        assert_eq!((interval.delivered, interval.acks), (0, 0));
        // A new connection counts from zero, and the decision stays.
        interval.decision.window = 5_000;
        interval.connect(1000, 10_000, 0);
        interval.on_ack(&ack(1000, 0, 1000));
        assert_eq!((interval.delivered, interval.decision.window), (1000, 5_000));
        // One that goes on counts from there, and a window is at least a segment.
        interval.connect(6000, 60_000, 1000);
        interval.on_ack(&ack(500, 0, 1500));
        assert_eq!((interval.delivered, interval.decision.window), (1500, 6_000));
    }
}
