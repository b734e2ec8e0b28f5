//! How much the path has delivered, how fast (draft-ietf-ccwg-bbr §4.1), and in how many round
//! trips.

use std::collections::VecDeque;

use crate::transport::congestion::{RateSample, Record};
use lasthop_net::engine::{Duration, Instant};

use super::scoreboard::Id;

/// Counts round trips: one has passed when data sent after the last one began are acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    count: u64,
    /// SND.NXT when it began.
    end: u64,
    /// Whether the RTO estimator has had its sample.
    sampled: bool,
}

/// Counts delivered data, and notes each segment if the congestion control asks for that.
#[derive(Clone, Debug)]
pub struct Delivery {
    bytes: u64,
    records: Option<Box<Records>>,
}

/// The state for samples of the delivery rate (draft-ietf-ccwg-bbr §4.1.2).
#[derive(Clone, Debug, Default)]
struct Records {
    /// C.delivered_time.
    delivered_at: Instant,
    /// C.first_send_time.
    first_sent_at: Instant,
    /// C.app_limited: samples are application-limited until this amount is delivered; 0 if not.
    app_limited_to: u64,
    /// The least round-trip time so far.
    min_rtt: Option<Duration>,
    /// How many round trips have passed, and what will have been delivered when this one has (§5.5.1).
    round: u64,
    round_to: u64,
    /// The segments in flight, from this one on.
    first: Id,
    sent: VecDeque<Record>,
}

impl Round {
    /// Everything below `ack` has arrived, and `nxt` is SND.NXT.
    #[inline]
    pub fn on_ack(&mut self, ack: u64, nxt: u64) {
        if ack > self.end {
            *self = Self { count: self.count + 1, end: nxt, sampled: false };
        }
    }

    /// How many have passed.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The RTO estimator needs a sample before this one is over.
    pub fn sample_again(&mut self) {
        self.sampled = false;
    }

    /// Whether this one has not had its sample of the round-trip time; from now on it has.
    #[inline]
    pub fn wants_sample(&mut self) -> bool {
        !std::mem::replace(&mut self.sampled, true)
    }
}

impl Delivery {
    /// Nothing is delivered; `records` says whether segments are noted.
    pub fn new(records: bool) -> Self {
        Self { bytes: 0, records: records.then(Box::default) }
    }

    /// The segment `id` is sent, for the first time or another; `idle` says that nothing was in
    /// flight. Now `in_flight` bytes are, and `lost` were lost so far.
    #[inline]
    pub fn on_send(&mut self, now: Instant, id: Id, idle: bool, in_flight: u64, lost: u64) {
        if let Some(records) = &mut self.records {
            records.on_send(now, id, idle, self.bytes, in_flight, lost);
        }
    }

    /// The application has nothing more to send, or the congestion control holds data back, with `in_flight` bytes in flight.
    #[inline]
    pub fn on_app_limited(&mut self, in_flight: u64) {
        if let Some(records) = &mut self.records {
            records.app_limited_to = (self.bytes + in_flight).max(1);
        }
    }

    /// The least round-trip time is of another path.
    pub fn forget_delays(&mut self) {
        if let Some(records) = &mut self.records {
            records.min_rtt = None;
        }
    }

    /// Whether samples of segments sent now are application-limited.
    pub fn is_app_limited(&self) -> bool {
        self.records.as_ref().is_some_and(|records| records.app_limited_to > 0)
    }

    /// Bytes delivered so far.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many round trips have passed, counted by delivered data, if segments are noted.
    #[inline]
    pub fn round(&self) -> Option<u64> {
        self.records.as_ref().map(|records| records.round)
    }

    /// The record of a segment in flight.
    pub fn record(&self, id: Id) -> Option<Record> {
        let records = self.records.as_ref()?;
        records.sent.get(id.checked_sub(records.first)? as usize).copied()
    }

    /// `bytes` were newly delivered; of their segments `newest` was sent last. Everything before
    /// `first` has left the flight, `lost` bytes were lost so far, and a segment took `rtt`.
    #[inline]
    pub fn on_ack(
        &mut self,
        now: Instant,
        bytes: u64,
        newest: Id,
        first: Id,
        lost: u64,
        rtt: Option<Duration>,
    ) -> Option<RateSample> {
        self.bytes += bytes;
        let records = self.records.as_mut()?;
        if let Some(rtt) = rtt {
            records.min_rtt = Some(records.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let sample = (bytes > 0).then(|| records.sample(now, newest, self.bytes, lost)).flatten();
        records.forget_to(first);
        sample
    }
}

impl Records {
    fn on_send(&mut self, now: Instant, id: Id, idle: bool, delivered: u64, tx_in_flight: u64, lost: u64) {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let (delivered_at, first_sent_at) = (self.delivered_at, self.first_sent_at);
        let app_limited = self.app_limited_to > 0;
        let record = Record { sent_at: now, delivered, delivered_at, first_sent_at, tx_in_flight, lost, app_limited };
        match self.sent.get_mut((id - self.first) as usize) {
            Some(again) => *again = record,
            None => self.sent.push_back(record),
        }
    }

    fn sample(&mut self, now: Instant, newest: Id, delivered: u64, lost: u64) -> Option<RateSample> {
        let record = *self.sent.get(newest.checked_sub(self.first)? as usize)?;
        self.delivered_at = now;
        if delivered > self.app_limited_to {
            self.app_limited_to = 0;
        }
        self.first_sent_at = record.sent_at;
        if record.delivered >= self.round_to {
            self.round += 1;
            self.round_to = delivered;
        }
        let interval = record.sent_at.since(record.first_sent_at).max(now.since(record.delivered_at));
        // §4.1.2.3: a shorter one comes of reordering or of a segment that was sent again.
        let interval = Some(interval).filter(|interval| self.min_rtt.is_none_or(|least| *interval >= least));
        Some(RateSample { delivered: delivered - record.delivered, lost: lost - record.lost, interval, record })
    }

    fn forget_to(&mut self, first: Id) {
        let gone = (first.saturating_sub(self.first) as usize).min(self.sent.len());
        self.sent.drain(..gone);
        self.first += gone as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// Sends a segment of 1000 bytes each millisecond from `ms(0)` on, each of which is acknowledged
    /// 20 ms later, and gives the last sample.
    fn steady(delivery: &mut Delivery, segments: u64) -> Option<RateSample> {
        let mut last = None;
        for t in 0..segments + 20 {
            if let Some(id) = t.checked_sub(20) {
                last = delivery.on_ack(ms(t), 1000, id, id + 1, 0, None);
            }
            if t < segments {
                delivery.on_send(ms(t), t, t == 0, 1000 * (t.min(19) + 1), 0);
            }
        }
        last
    }

    #[test]
    fn a_steady_flow_is_sampled_at_its_rate() {
        let sample = steady(&mut Delivery::new(true), 100).unwrap();
        // One round trip: 20 segments in 20 ms.
        assert_eq!((sample.delivered, sample.interval), (20_000, Some(Duration::from_millis(20))));
        assert!(!sample.record.app_limited);
    }

    #[test]
    fn acknowledgements_that_come_at_once_do_not_pass_for_a_fast_path() {
        // Ten segments leave in 10 ms; their acknowledgements are held up and come together. The
        // interval is then the time in which they were sent (draft-ietf-ccwg-bbr §4.1.1).
        let mut delivery = Delivery::new(true);
        steady(&mut delivery, 30);
        for id in 30..40 {
            delivery.on_send(ms(100 + id), id, id == 30, 1000 * (id - 29), 0);
        }
        let samples: Vec<_> = (30..40).filter_map(|id| delivery.on_ack(ms(160), 1000, id, id + 1, 0, None)).collect();
        let [first, .., last] = samples.as_slice() else { panic!("{samples:?}") };
        assert_eq!((first.delivered, first.interval), (1_000, Some(Duration::from_millis(30))));
        assert_eq!((last.delivered, last.interval), (10_000, Some(Duration::from_millis(30))));
    }

    #[test]
    fn what_the_application_held_back_is_marked_until_it_is_delivered() {
        let mut delivery = Delivery::new(true);
        let limited = |sample: Option<RateSample>| sample.unwrap().record.app_limited;
        delivery.on_send(ms(0), 0, true, 1000, 0);
        delivery.on_app_limited(1000);
        delivery.on_send(ms(5), 1, false, 2000, 0);
        assert!(!limited(delivery.on_ack(ms(20), 1000, 0, 1, 0, None)));
        assert!(limited(delivery.on_ack(ms(25), 1000, 1, 2, 0, None)));
        delivery.on_send(ms(30), 2, true, 1000, 0);
        assert!(!limited(delivery.on_ack(ms(50), 1000, 2, 3, 0, None)));
    }

    #[test]
    fn without_samples_only_bytes_are_counted() {
        let mut delivery = Delivery::new(false);
        assert!(steady(&mut delivery, 10).is_none());
        assert_eq!(delivery.bytes(), 10_000);
    }

    /// draft-ietf-ccwg-bbr §4.1.2.3: an interval that is shorter than the least round-trip time gives no rate. Here a segment was
    /// sent again when nothing else was in flight, and the acknowledgement that comes at once is of the first time.
    #[test]
    fn an_interval_below_the_least_round_trip_time_gives_no_rate() {
        let mut delivery = Delivery::new(true);
        delivery.on_send(ms(0), 0, true, 1000, 0);
        delivery.on_send(ms(1), 1, false, 2000, 0);
        let sample = delivery.on_ack(ms(20), 1000, 0, 1, 0, Some(Duration::from_millis(20))).unwrap();
        assert_eq!(sample.interval, Some(Duration::from_millis(20)));
        delivery.on_send(ms(21), 1, true, 1000, 1000);
        let sample = delivery.on_ack(ms(22), 1000, 1, 2, 1000, None).unwrap();
        assert_eq!((sample.interval, sample.delivered, sample.lost), (None, 1000, 0));
    }

    /// §4.1.2.2: bytes in flight when a segment leaves, itself included, and bytes lost by then; §5.5.1: a round has passed when a segment
    /// is acknowledged that left after the last one began, however many ACKs that takes.
    #[test]
    fn segments_are_noted_and_rounds_counted_by_what_was_delivered() {
        let mut delivery = Delivery::new(true);
        for id in 0..4 {
            delivery.on_send(ms(id), id, id == 0, 1000 * (id + 1), 0);
        }
        let record = delivery.record(2).unwrap();
        assert_eq!((record.sent_at, record.tx_in_flight, record.lost), (ms(2), 3000, 0));
        assert_eq!(delivery.round(), Some(0));
        delivery.on_ack(ms(20), 1000, 0, 1, 0, None);
        assert_eq!(delivery.round(), Some(1), "the first segment that is acknowledged ends the first round");
        // Segment 1 is lost; 2 and 3 are SACKed, and the cumulative acknowledgement stands still.
        for id in 2..4 {
            delivery.on_send(ms(20 + id), id + 2, false, 3000, 1000);
            delivery.on_ack(ms(20 + id), 1000, id, 1, 1000, None);
        }
        assert_eq!(delivery.round(), Some(1));
        let sample = delivery.on_ack(ms(42), 1000, 4, 1, 1000, None).unwrap();
        assert_eq!(delivery.round(), Some(2), "segment 4 left after the first round ended");
        assert_eq!((sample.lost, sample.record.tx_in_flight, sample.record.delivered), (0, 3000, 1000));
        assert_eq!(delivery.record(0), None, "it has left the flight");
    }
}
