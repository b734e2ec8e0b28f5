//! How much the path has delivered, how fast (draft-ietf-ccwg-bbr §4.1), and in how many round
//! trips.

use crate::engine::Instant;

use super::congestion::RateSample;
use super::scoreboard::{Acked, Sent};

/// Counts round trips: one has passed when data sent after the last one began are acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    count: u64,
    /// SND.NXT when it began.
    end: u64,
    /// Whether the RTO estimator has had its sample.
    sampled: bool,
}

/// For delivery-rate samples (draft-ietf-ccwg-bbr §4.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// C.delivered, C.delivered_time.
    bytes: u64,
    at: Instant,
    /// C.first_send_time.
    first_sent_at: Instant,
    /// C.app_limited: samples are application-limited until so much is delivered; 0 if not.
    app_limited_to: u64,
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
    /// What is true of a segment that is sent now; `idle` says that nothing is in flight.
    #[inline]
    pub fn on_send(&mut self, now: Instant, idle: bool) -> Sent {
        if idle {
            self.first_sent_at = now;
            self.at = now;
        }
        Sent { at: now, delivered: self.bytes, delivered_at: self.at, first_at: self.first_sent_at }
    }

    /// The application has nothing more to send, with `in_flight` bytes in flight.
    #[inline]
    pub fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited_to = (self.bytes + in_flight).max(1);
    }

    /// Bytes delivered so far.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether what is sent now is limited by the application.
    #[inline]
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_to > 0
    }

    /// `bytes` were newly delivered, as `acked` says.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, bytes: u64, acked: &Acked) -> Option<RateSample> {
        if bytes == 0 {
            return None;
        }
        let newest = &acked.newest;
        self.bytes += bytes;
        self.at = now;
        if self.bytes > self.app_limited_to {
            self.app_limited_to = 0;
        }
        self.first_sent_at = newest.at;
        let interval = newest.at.since(newest.first_at).max(now.since(newest.delivered_at));
        Some(RateSample { delivered: self.bytes - newest.delivered, interval, app_limited: acked.app_limited })
    }
}
