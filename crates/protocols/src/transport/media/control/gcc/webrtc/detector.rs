//! Says from the filter's offset whether the path is over-used.

use super::super::Usage;
use super::super::threshold::Threshold;

/// The over-use detector.
#[derive(Clone, Debug)]
pub struct Detector {
    usage: Usage,
    threshold: Threshold,
    previous_offset: f64,
    /// For how long the offset has been above the threshold, ms, and for how many groups; `None` while it is not.
    over_ms: Option<f64>,
    over_groups: u32,
    last_update: Option<i64>,
}

impl Default for Detector {
    fn default() -> Self {
        Self {
            usage: Usage::Normal,
            threshold: Threshold::new(K_UP, K_DOWN),
            previous_offset: 0.0,
            over_ms: None,
            over_groups: 0,
            last_update: None,
        }
    }
}

impl Detector {
    /// The offset after `deltas` differences of groups, the last of them `sent_ms` long at the sender.
    pub fn update(&mut self, offset: f64, sent_ms: f64, deltas: u32, now_ms: i64) {
        if deltas < 2 {
            return;
        }
        let growth = f64::from(deltas.min(MOST_DELTAS)) * offset;
        if growth > self.threshold.get() {
            let over = self.over_ms.map_or(sent_ms / 2.0, |over| over + sent_ms);
            self.over_ms = Some(over);
            self.over_groups += 1;
            if over > OVERUSE_MS && self.over_groups > 1 && offset >= self.previous_offset {
                self.over_ms = Some(0.0);
                self.over_groups = 0;
                self.usage = Usage::Over;
            }
        } else {
            self.over_ms = None;
            self.over_groups = 0;
            self.usage = if growth < -self.threshold.get() { Usage::Under } else { Usage::Normal };
        }
        self.previous_offset = offset;
        let passed = now_ms - self.last_update.unwrap_or(now_ms);
        self.threshold.follow(growth, passed as f64);
        self.last_update = Some(now_ms);
    }

    /// What it says.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The threshold, ms.
    pub fn threshold(&self) -> f64 {
        self.threshold.get()
    }
}

/// The offset is taken for this many groups at most: 60 and not 1 as in the draft.
const MOST_DELTAS: u32 = 60;
/// Over-use that is shorter is none, ms.
const OVERUSE_MS: f64 = 10.0;
/// The threshold's gains, a ms. That for smaller offsets is 217 times the draft's.
const K_UP: f64 = 0.0087;
const K_DOWN: f64 = 0.039;
