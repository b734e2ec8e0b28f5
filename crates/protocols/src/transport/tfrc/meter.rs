//! The receiving machine without its headers (RFC 5348 §6): losses, the rate of reception, and
//! when a report is due. TFRC's receiver and DCCP's with CCID 3 write the headers.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::Probe;

use super::config::Version;
use super::equation;
use super::loss_history::{LossDetector, LossIntervals};

/// What the receiver needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Which standard.
    pub version: Version,
    /// How many later packets make a missing one lost.
    pub loss_trigger: u32,
    /// The least discount factor; 1 is no discounting.
    pub discount_threshold: f64,
}

/// A packet that has come.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its number.
    pub seq: u64,
    /// When it was sent.
    pub sent_at: Instant,
    /// Payload bytes.
    pub payload: u32,
    /// Whether it experienced congestion.
    pub marked: bool,
    /// The sender's round-trip time, once it has one.
    pub rtt: Option<Duration>,
}

/// What a report is to say.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The highest number received, and when it came.
    pub highest: (u64, Instant),
    /// When the packet was sent that came last, and how long ago it came.
    pub echo: Instant,
    /// See `echo`.
    pub delay: Duration,
    /// The rate of reception, bytes per second; 0 without a round-trip time, when it is not known.
    pub rate: f64,
    /// The loss event rate.
    pub p: f64,
    /// Whether a loss event began since the last report.
    pub new_loss: bool,
}

/// The receiving machine.
#[derive(Debug)]
pub struct Meter {
    parameters: Parameters,
    detector: LossDetector,
    intervals: LossIntervals,
    rtt: Option<Duration>,
    /// Whether it has begun anew on another way.
    anew: bool,
    /// The arrivals within the last round trip: when, and how many bytes.
    recent: VecDeque<(Instant, u32)>,
    recent_bytes: u64,
    /// The largest rate of reception reported.
    most: f64,
    /// The packet that came last: when it was sent, and when it came.
    last: Option<(Instant, Instant)>,
    /// Payload of the last packet.
    payload: u32,
    /// Whether data have come since the last report.
    any_since: bool,
    new_loss: bool,
    due: bool,
    report_at: Option<Instant>,
    /// When the last report was made, and how many bytes have come since.
    reported_at: Instant,
    since_report: u64,
    /// Whether the timer has made the report due, so that it covers the time since the last one.
    on_time: bool,
    received: u64,
    received_bytes: u64,
    duplicates: u64,
    loss_events: u64,
    reports: u64,
    /// Of earlier connections.
    lost_before: u64,
}

impl Meter {
    /// A machine to which nothing has come.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            detector: LossDetector::new(parameters.loss_trigger),
            intervals: LossIntervals::new(parameters.discount_threshold),
            rtt: None,
            anew: false,
            recent: VecDeque::new(),
            recent_bytes: 0,
            most: 0.0,
            last: None,
            payload: 0,
            any_since: false,
            new_loss: false,
            due: false,
            report_at: None,
            reported_at: Instant::ZERO,
            since_report: 0,
            on_time: false,
            received: 0,
            received_bytes: 0,
            duplicates: 0,
            loss_events: 0,
            reports: 0,
            lost_before: 0,
            parameters,
        }
    }

    /// Forgets the connection; totals stay.
    pub fn reset(&mut self) {
        *self = Self {
            received: self.received,
            received_bytes: self.received_bytes,
            duplicates: self.duplicates,
            loss_events: self.loss_events,
            reports: self.reports,
            lost_before: self.lost(),
            ..Self::new(self.parameters)
        };
    }

    /// The network has changed: losses and the rate of reception count no more. Losses
    /// before a packet that [`Meter::forgive_before`] names are no events. A report is due.
    pub fn start_anew(&mut self) {
        self.intervals = LossIntervals::new(self.parameters.discount_threshold);
        self.detector.forgive_before(u64::MAX);
        self.recent.clear();
        self.recent_bytes = 0;
        // Until the sender has a new estimate, each packet is reported.
        self.rtt = None;
        self.anew = true;
        self.report_at = None;
        self.most = 0.0;
        self.new_loss = false;
        self.due = self.last.is_some();
    }

    /// Losses before this packet are no loss events.
    pub fn forgive_before(&mut self, seq: u64) {
        self.detector.forgive_before(seq);
    }

    /// A packet has come.
    #[inline]
    pub fn on_packet(&mut self, now: Instant, arrival: &Arrival) {
        self.rtt = arrival.rtt.or(self.rtt);
        let rtt = self.rtt.unwrap_or(Duration::ZERO);
        let is_first = self.last.is_none();
        self.payload = arrival.payload;
        let mut events = 0;
        let lossless = self.intervals.is_empty();
        let intervals = &mut self.intervals;
        let duplicate = self.detector.on_packet(now, arrival.seq, arrival.marked, rtt, |seq, begins| {
            if !begins {
                intervals.on_loss(seq);
                return;
            }
            events += 1;
            if intervals.is_empty() {
                // Its length follows below, from the rate of reception.
                intervals.begin(seq, 1.0);
            } else {
                intervals.event(seq);
            }
        });
        self.received += 1;
        if duplicate {
            self.duplicates += 1;
            return;
        }
        self.received_bytes += u64::from(arrival.payload);
        self.last = Some((arrival.sent_at, now));
        self.any_since = true;
        self.recent.push_back((now, arrival.payload));
        self.recent_bytes += u64::from(arrival.payload);
        self.since_report += u64::from(arrival.payload);
        // On a new way all are kept until there is a round-trip time, which says how many of them count.
        if self.rtt.is_some() || !self.anew {
            self.trim(now, rtt);
        }
        if events > 0 {
            self.loss_events += events;
            self.new_loss = true;
            if lossless {
                let length = self.first_interval(now);
                self.intervals.scale_first(length);
            }
        }
        if let Some(highest) = self.detector.highest() {
            self.intervals.extend(highest);
        }
        // §6.1: at once on a new loss event, and on the first packet.
        self.due |= is_first || events > 0 || self.report_at.is_none();
    }

    /// Forgets arrivals of more than a round trip ago.
    #[inline]
    fn trim(&mut self, now: Instant, rtt: Duration) {
        while let Some(&(at, bytes)) = self.recent.front() {
            if now.since(at) < rtt || self.recent.len() == 1 {
                break;
            }
            self.recent.pop_front();
            self.recent_bytes -= u64::from(bytes);
        }
    }

    /// The rate of reception over the last round trip (§6.2 step 2), for a report that comes early. One that comes with the timer,
    /// a round trip after the last, counts all that has come since.
    fn rate(&mut self, now: Instant) -> f64 {
        let Some(rtt) = self.rtt else { return 0.0 };
        self.trim(now, rtt);
        let bytes = match self.recent.front() {
            Some((at, _)) if now.since(*at) < rtt => self.recent_bytes,
            _ => 0,
        };
        bytes as f64 / rtt.as_secs_f64().max(1e-6)
    }

    /// The interval before the first loss event: that of the loss event rate at which the
    /// equation gives the rate so far (§6.3.1).
    fn first_interval(&mut self, now: Instant) -> f64 {
        let rate = self.rate(now);
        let target = match self.parameters.version {
            Version::Rfc5348 => rate.max(self.most),
            Version::Rfc3448 => rate,
        };
        let Some(rtt) = self.rtt.map(Duration::as_secs_f64).filter(|_| target > 0.0) else { return 1.0 };
        1.0 / equation::loss_rate(target, f64::from(self.payload), rtt, 4.0 * rtt)
    }

    /// The timer has expired.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.report_at.is_some_and(|at| at <= now) {
            if self.any_since {
                self.due = true;
                self.on_time = true;
            } else {
                // The next packet is reported at once.
                self.report_at = None;
            }
        }
    }

    /// When it wants to be woken.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.report_at
    }

    /// The report that is due now.
    pub fn take(&mut self, now: Instant) -> Option<Measured> {
        if !std::mem::take(&mut self.due) {
            return None;
        }
        let (echo, came) = self.last?;
        // A packet that comes with the timer belongs to one report, to the next.
        let rate = match std::mem::take(&mut self.on_time) {
            true => self.since_report as f64 / now.since(self.reported_at).as_secs_f64().max(1e-6),
            false => self.rate(now),
        };
        (self.reported_at, self.since_report) = (now, 0);
        self.most = self.most.max(rate);
        self.any_since = false;
        self.reports += 1;
        self.report_at = self.rtt.map(|rtt| now + rtt);
        Some(Measured {
            highest: self.detector.highest_with_time().unwrap_or((0, now)),
            echo,
            delay: now.since(came),
            rate,
            p: self.intervals.loss_rate(),
            new_loss: std::mem::take(&mut self.new_loss),
        })
    }

    /// The loss intervals.
    pub fn intervals(&self) -> &LossIntervals {
        &self.intervals
    }

    /// How many packets up to the highest received belong to no loss interval yet, because one
    /// that is missing may still come.
    pub fn unsettled(&self) -> u64 {
        self.detector.unsettled()
    }

    fn lost(&self) -> u64 {
        self.lost_before + self.detector.lost()
    }

    /// Its totals.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("received_packets", self.received as f64);
        probe.value("received_bytes", self.received_bytes as f64);
        probe.value("duplicate_packets", self.duplicates as f64);
        let lost = self.lost() as f64;
        probe.value("lost_packets", lost);
        if self.received > 0 {
            probe.value("lost_share", lost / ((self.received - self.duplicates) as f64 + lost));
        }
        probe.value("loss_events", self.loss_events as f64);
        probe.value("reports", self.reports as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter() -> Meter {
        Meter::new(Parameters { version: Version::Rfc5348, loss_trigger: 3, discount_threshold: 0.25 })
    }

    /// The packet `seq` comes, of one every 16 ms, with a round trip of 100 ms. Reports leave when they are due.
    fn arrive(meter: &mut Meter, seq: u64) {
        let (sent_at, rtt) = (Instant::ZERO + Duration::from_millis(16 * seq), Some(Duration::from_millis(100)));
        let now = sent_at + Duration::from_millis(50);
        meter.on_timeout(now);
        meter.on_packet(now, &Arrival { seq, sent_at, payload: 1000, marked: false, rtt });
        meter.take(now);
    }

    /// RFC 5348 §5.2: a loss more than a round trip after the start of an event begins another. Of the 62 packets lost in a row every seventh
    /// is such, 112 ms after the one before: nine events, and eight intervals of seven packets between them (§5.3). The last event began nine
    /// packets ago, so of the eight newest (§5.4) the mean is (9 + 5 · 7) / 6. The first interval, which has no such length, is too old to count.
    #[test]
    fn a_first_loss_of_many_round_trips_is_many_loss_events() {
        let mut meter = meter();
        (0..30).chain(92..95).for_each(|seq| arrive(&mut meter, seq));
        assert_eq!((meter.lost(), meter.loss_events), (62, 9));
        let p = meter.intervals.loss_rate();
        assert!((p - 6.0 / 44.0).abs() < 1e-9, "{p}");
    }

    /// A copy is no packet of the history (§5.1), marked or not: it would begin an event at a number that has gone by.
    #[test]
    fn a_copy_that_comes_marked_is_no_loss_event() {
        let mut meter = meter();
        (0..30).for_each(|seq| arrive(&mut meter, seq));
        let now = Instant::ZERO + Duration::from_secs(1);
        for seq in [20, 29] {
            let arrival = Arrival { seq, sent_at: now, payload: 1000, marked: true, rtt: None };
            meter.on_packet(now, &arrival);
        }
        assert_eq!((meter.duplicates, meter.loss_events, meter.intervals.is_empty()), (2, 0, true));
    }

    /// §6.3.1: of a single event the interval before it is that of the rate so far, whatever was lost behind it in its round trip.
    #[test]
    fn the_interval_before_the_first_event_comes_from_the_rate() {
        let mut one = meter();
        (0..30).chain(31..34).for_each(|seq| arrive(&mut one, seq));
        let mut more = meter();
        (0..30).chain(34..37).for_each(|seq| arrive(&mut more, seq));
        for (meter, lost) in [(&mut one, 1), (&mut more, 4)] {
            assert_eq!((meter.lost(), meter.loss_events), (lost, 1));
            // 1000 bytes every 16 ms: 62,500 bytes/s, or seven packets in a round trip of 100 ms.
            let p = meter.intervals.loss_rate();
            let rate = equation::throughput(1000.0, 0.1, p, 0.4);
            assert!((rate / 62_500.0 - 1.0).abs() < 0.2, "{rate} bytes/s");
        }
    }
}
