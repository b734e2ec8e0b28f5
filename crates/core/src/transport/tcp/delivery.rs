//! How much the path has delivered, how fast (draft-ietf-ccwg-bbr §4.1), and in how many round
//! trips.

use std::collections::VecDeque;

use crate::engine::Instant;

use super::congestion::RateSample;
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

/// Counts what was delivered, and samples how fast if the congestion control wants that.
#[derive(Clone, Debug)]
pub struct Delivery {
    bytes: u64,
    rates: Option<Box<Rates>>,
}

/// For delivery-rate samples (draft-ietf-ccwg-bbr §4.1.2).
#[derive(Clone, Debug, Default)]
struct Rates {
    /// C.delivered_time.
    delivered_at: Instant,
    /// C.first_send_time.
    first_sent_at: Instant,
    /// C.app_limited: samples are application-limited until so much is delivered; 0 if not.
    app_limited_to: u64,
    /// The segments in flight, from this one on.
    first: Id,
    sent: VecDeque<Sent>,
}

/// What was true when a segment was last sent: `P.sent_time`, `P.delivered`,
/// `P.delivered_time`, `P.first_send_time`, `P.is_app_limited`.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_at: Instant,
    app_limited: bool,
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

    /// Whether this one has not had its sample of the round-trip time; from now on it has.
    #[inline]
    pub fn wants_sample(&mut self) -> bool {
        !std::mem::replace(&mut self.sampled, true)
    }
}

impl Delivery {
    /// Nothing is delivered; `rates` says whether samples of the rate are wanted.
    pub fn new(rates: bool) -> Self {
        Self { bytes: 0, rates: rates.then(Box::default) }
    }

    /// The segment `id` is sent, for the first time or another; `idle` says that nothing was in
    /// flight.
    #[inline]
    pub fn on_send(&mut self, now: Instant, id: Id, idle: bool) {
        if let Some(rates) = &mut self.rates {
            rates.on_send(now, id, idle, self.bytes);
        }
    }

    /// The application has nothing more to send, with `in_flight` bytes in flight.
    #[inline]
    pub fn on_app_limited(&mut self, in_flight: u64) {
        if let Some(rates) = &mut self.rates {
            rates.app_limited_to = (self.bytes + in_flight).max(1);
        }
    }

    /// Bytes delivered so far.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `bytes` were newly delivered; of their segments `newest` was sent last. Everything before
    /// `first` has left the flight.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, bytes: u64, newest: Id, first: Id) -> Option<RateSample> {
        self.bytes += bytes;
        let rates = self.rates.as_mut()?;
        let sample = (bytes > 0).then(|| rates.sample(now, newest, self.bytes)).flatten();
        rates.forget_to(first);
        sample
    }
}

impl Rates {
    fn on_send(&mut self, now: Instant, id: Id, idle: bool, delivered: u64) {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let (delivered_at, first_at) = (self.delivered_at, self.first_sent_at);
        let sent = Sent { at: now, delivered, delivered_at, first_at, app_limited: self.app_limited_to > 0 };
        match self.sent.get_mut((id - self.first) as usize) {
            Some(again) => *again = sent,
            None => self.sent.push_back(sent),
        }
    }

    fn sample(&mut self, now: Instant, newest: Id, delivered: u64) -> Option<RateSample> {
        let sent = *self.sent.get(newest.checked_sub(self.first)? as usize)?;
        self.delivered_at = now;
        if delivered > self.app_limited_to {
            self.app_limited_to = 0;
        }
        self.first_sent_at = sent.at;
        let interval = sent.at.since(sent.first_at).max(now.since(sent.delivered_at));
        Some(RateSample { delivered: delivered - sent.delivered, interval, app_limited: sent.app_limited })
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
    use crate::engine::Duration;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// Sends a segment of 1000 bytes each millisecond from `ms(0)` on, each of which is acknowledged
    /// 20 ms later, and gives the last sample.
    fn steady(delivery: &mut Delivery, segments: u64) -> Option<RateSample> {
        let mut last = None;
        for t in 0..segments + 20 {
            if let Some(id) = t.checked_sub(20) {
                last = delivery.on_ack(ms(t), 1000, id, id + 1);
            }
            if t < segments {
                delivery.on_send(ms(t), t, t == 0);
            }
        }
        last
    }

    #[test]
    fn a_steady_flow_is_sampled_at_its_rate() {
        let sample = steady(&mut Delivery::new(true), 100).unwrap();
        // One round trip: 20 segments in 20 ms.
        assert_eq!((sample.delivered, sample.interval), (20_000, Duration::from_millis(20)));
        assert!(!sample.app_limited);
    }

    #[test]
    fn acknowledgements_that_come_at_once_do_not_pass_for_a_fast_path() {
        // Ten segments leave in 10 ms; their acknowledgements are held up and come together. The
        // interval is then the time in which they were sent (draft-ietf-ccwg-bbr §4.1.1).
        let mut delivery = Delivery::new(true);
        steady(&mut delivery, 30);
        for id in 30..40 {
            delivery.on_send(ms(100 + id), id, id == 30);
        }
        let samples: Vec<_> = (30..40).filter_map(|id| delivery.on_ack(ms(160), 1000, id, id + 1)).collect();
        let [first, .., last] = samples.as_slice() else { panic!("{samples:?}") };
        assert_eq!((first.delivered, first.interval), (1_000, Duration::from_millis(30)));
        assert_eq!((last.delivered, last.interval), (10_000, Duration::from_millis(30)));
    }

    #[test]
    fn what_the_application_held_back_is_marked_until_it_is_delivered() {
        let mut delivery = Delivery::new(true);
        delivery.on_send(ms(0), 0, true);
        delivery.on_app_limited(1000);
        delivery.on_send(ms(5), 1, false);
        assert!(!delivery.on_ack(ms(20), 1000, 0, 1).unwrap().app_limited);
        assert!(delivery.on_ack(ms(25), 1000, 1, 2).unwrap().app_limited);
        delivery.on_send(ms(30), 2, true);
        assert!(!delivery.on_ack(ms(50), 1000, 2, 3).unwrap().app_limited);
    }

    #[test]
    fn without_samples_only_bytes_are_counted() {
        let mut delivery = Delivery::new(false);
        assert!(steady(&mut delivery, 10).is_none());
        assert_eq!(delivery.bytes(), 10_000);
    }
}
