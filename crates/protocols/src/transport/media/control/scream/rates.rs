//! What was encoded and what arrived in the last 100 ms.

use super::ticks::{Ticks, seconds};

/// kRateUpdateInterval: 100 ms, in ticks.
const INTERVAL: Ticks = 6_553;
/// kRateUpDateSize: intervals over which the encoder's rate is averaged.
const AVERAGED: usize = 4;

/// Rates in bit/s.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    checked_at: Ticks,
    /// The beginning of the interval that runs.
    since: Option<Ticks>,
    encoded_bytes: u64,
    acked_bytes: u64,
    encoded: [f32; AVERAGED],
    place: usize,
    /// rateRtpAvg.
    pub(super) media: f32,
    /// rateAcked, lost packets that later ones have passed included.
    pub(super) acked: f32,
}

impl Rates {
    pub(super) fn new(now: Ticks) -> Self {
        Self {
            checked_at: now,
            since: None,
            encoded_bytes: 0,
            acked_bytes: 0,
            encoded: [0.0; AVERAGED],
            place: 0,
            media: 0.0,
            acked: 0.0,
        }
    }

    /// The encoder made this.
    pub(super) fn on_encoded(&mut self, bytes: u32) {
        self.encoded_bytes += u64::from(bytes);
    }

    /// Packets are in flight no more.
    pub(super) fn on_acked(&mut self, bytes: u64) {
        self.acked_bytes += bytes;
    }

    /// If an interval has ended, its rates.
    pub(super) fn update(&mut self, now: Ticks) {
        if now - self.checked_at <= INTERVAL {
            return;
        }
        self.checked_at = now;
        // The first interval is not measured.
        if let Some(since) = self.since.replace(now) {
            let span = seconds(now - since);
            self.acked = self.acked_bytes as f32 * 8.0 / span;
            self.encoded[self.place] = self.encoded_bytes as f32 * 8.0 / span;
            self.place = (self.place + 1) % AVERAGED;
            self.media = self.encoded.iter().sum::<f32>() / AVERAGED as f32;
        }
        (self.encoded_bytes, self.acked_bytes) = (0, 0);
    }
}
