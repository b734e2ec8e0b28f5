//! The smoothed round-trip time.

use super::ticks::{Ticks, seconds};

/// sRtt before the first sample: 50 ms (ScreamV2Tx.cpp), in ticks.
const INITIAL: Ticks = 3_277;
/// Longer samples are none: 15 s.
const LONGEST: Ticks = 1_000_000;

/// sRtt, and sRttSh, of which it is averaged once a round-trip time.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    smoothed: Ticks,
    short: Ticks,
    short_before: Ticks,
    updated_at: Ticks,
    /// The next sample is the first.
    is_void: bool,
    /// Before the first average it is 0.05 s, and no number of ticks.
    seconds: f32,
}

impl Rtt {
    pub(super) fn new(now: Ticks) -> Self {
        Self {
            smoothed: INITIAL,
            short: INITIAL,
            short_before: INITIAL,
            updated_at: now,
            is_void: false,
            seconds: 0.05,
        }
    }

    /// sRtt.
    pub(super) fn smoothed(&self) -> Ticks {
        self.smoothed
    }

    /// sRtt in seconds.
    pub(super) fn seconds(&self) -> f32 {
        self.seconds
    }

    /// Whether the last sample was below the average: the queue drains.
    pub(super) fn is_falling(&self) -> bool {
        self.short_before > self.short
    }

    /// A sample (markAcked). Where the application limits the sender, a fall is averaged with a weight of 1/1024.
    pub(super) fn on_sample(&mut self, now: Ticks, rtt: Ticks, application_limited: bool) {
        if rtt >= LONGEST {
            return;
        }
        if std::mem::take(&mut self.is_void) {
            (self.smoothed, self.short, self.short_before, self.updated_at) = (rtt, rtt, rtt, now);
            self.seconds = seconds(rtt);
            return;
        }
        self.short_before = self.short;
        self.short = (7 * self.short + rtt) / 8;
        if now - self.updated_at > self.short {
            let weight = if application_limited && self.smoothed > self.short { 1023 } else { 7 };
            self.smoothed = (weight * self.smoothed + self.short) / (weight + 1);
            self.seconds = seconds(self.smoothed);
            self.updated_at = now;
        }
    }

    /// The next sample is one of another path.
    pub(super) fn forget(&mut self) {
        self.is_void = true;
    }
}
