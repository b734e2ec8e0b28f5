//! From one-way delays to the delay in queues, and what the window reads from that.

use super::ticks::{PER_SECOND, Ticks, seconds};

/// kBaseOwdHistSize intervals of kBaseDelayUpdateInterval: the base delay is the least of 50 times 10 s.
const HISTORY: usize = 50;
const HISTORY_INTERVAL: Ticks = 10 * PER_SECOND;
/// kMinCongestionBackOffInterval: 30 ms, in ticks.
pub(super) const BACK_OFF_INTERVAL: Ticks = 1_966;
/// kQueueDelayAvgAlpha: the average rises slowly and falls at once.
const AVERAGE_GAIN: f32 = 1.0 / 4.0;
/// kQueueDelayMinMaxAlpha: how fast the highest and the lowest are forgotten.
const EXTREMES_GAIN: f32 = 1.0 / 16.0;
/// kLatencyDiffAlpha, kLatencyDiffThreshold: the average of their difference, and that at which growth is slowest, seconds.
const DIFFERENCE_GAIN: f32 = 1.0 / 32.0;
const DIFFERENCE_LIMIT: f32 = 0.01;
/// kQueueDelayMinSlowAvgUpdateRtts, kQueueDelayMinSlowAvgAlpha: the average of the least delays, one in 100 round-trip times.
const LEAST_ROUNDS: Ticks = 100;
const LEAST_GAIN: f32 = 1.0 / 8.0;
/// The queue was not empty for so long that the base delay may have been forgotten: 490 s (estimateOwd), in ticks; below which delay it is empty,
/// seconds (markAcked).
const REFRESH_AFTER: Ticks = HISTORY_INTERVAL * (HISTORY as Ticks - 1);
const EMPTY: f32 = 0.001;
/// A delay that was never measured, seconds.
const NONE: f32 = 1000.0;

/// The least one-way delay of the last 500 s.
#[derive(Clone, Debug)]
struct Base {
    history: [i64; HISTORY],
    place: usize,
    least: i64,
    /// Of the interval that runs.
    current: i64,
    since: Ticks,
}

impl Base {
    fn new(now: Ticks) -> Self {
        Self { history: [i64::MAX; HISTORY], place: 0, least: i64::MAX, current: i64::MAX, since: now }
    }

    /// Gives whether the next interval begins.
    fn on_sample(&mut self, now: Ticks, delay: i64) -> bool {
        self.current = self.current.min(delay);
        let next = now - self.since >= HISTORY_INTERVAL;
        if next {
            self.place = (self.place + 1) % HISTORY;
            self.history[self.place] = self.current;
            self.since = now;
            self.current = i64::MAX;
            self.least = self.history.iter().copied().min().unwrap_or(i64::MAX);
        }
        next
    }

    fn forget(&mut self) {
        (self.history, self.least, self.current) = ([i64::MAX; HISTORY], i64::MAX, i64::MAX);
    }
}

/// The delay in queues, seconds.
#[derive(Clone, Debug)]
pub(super) struct QueueDelay {
    target: f32,
    base: Base,
    /// That of the packet that arrived last.
    current: f32,
    /// queueDelayAvg, without what always stands in the queue.
    average: f32,
    /// The highest and the lowest, drawn to each other.
    high: f32,
    low: f32,
    /// latencyDiffAvg.
    difference: f32,
    /// The least since the last average of them, and that average (queueDelayMinSlowAvg).
    least: f32,
    standing: f32,
    updated_at: Ticks,
    standing_at: Ticks,
    /// lastBaseDelayRefreshT: when the sender's queue was to be cleared last, so that the base delay is found again; before that, when the queue
    /// was empty last, less three round-trip times.
    refreshed_at: i64,
}

impl QueueDelay {
    pub(super) fn new(now: Ticks, target: f32) -> Self {
        Self {
            target,
            base: Base::new(now),
            current: 0.0,
            average: 0.0,
            high: 0.0,
            low: NONE,
            difference: 0.0,
            least: NONE,
            standing: 0.0,
            updated_at: now,
            standing_at: now,
            refreshed_at: now as i64 - 1,
        }
    }

    /// The delay of the packet that arrived last.
    pub(super) fn current(&self) -> f32 {
        self.current
    }

    /// queueDelayTarget.
    pub(super) fn target(&self) -> f32 {
        self.target
    }

    /// queueDelayAvg.
    pub(super) fn average(&self) -> f32 {
        self.average
    }

    /// latencyDiffCwndScale: 1 for a delay that is always the same, 0 for one that varies by 10 ms.
    pub(super) fn steadiness(&self) -> f32 {
        (1.0 - self.difference / DIFFERENCE_LIMIT).clamp(0.0, 1.0)
    }

    /// Whether an eighth of the target always stands in the queue, or the clocks drift.
    pub(super) fn is_standing(&self) -> bool {
        self.standing > self.target / 8.0
    }

    /// A packet has arrived with this one-way delay in ticks, by two clocks.
    pub(super) fn on_sample(&mut self, now: Ticks, delay: i64, srtt: Ticks) {
        let next = self.base.on_sample(now, delay);
        if next && now as i64 - self.refreshed_at > REFRESH_AFTER as i64 {
            self.refreshed_at = now as i64;
        }
        let base = self.base.least.min(self.base.current);
        self.current = seconds(delay.saturating_sub(base) as Ticks);
        if self.current < EMPTY {
            self.refreshed_at = now as i64 - 3 * srtt as i64;
        }
    }

    /// Whether the sender's queue is to be cleared, which lasts two round-trip times.
    pub(super) fn refreshes(&self, now: Ticks, srtt: Ticks) -> bool {
        now as i64 - self.refreshed_at < 2 * srtt as i64 && now > 2 * srtt
    }

    /// A report speaks of a packet, once more or for the first time.
    pub(super) fn on_reported(&mut self) {
        self.low = self.low.min(self.current);
        self.high = self.high.max(self.current).min(self.target);
    }

    /// The window is computed.
    pub(super) fn on_window(&mut self) {
        self.least = self.least.min(self.current);
    }

    /// At the end of a report.
    pub(super) fn update(&mut self, now: Ticks, srtt: Ticks) {
        if now - self.updated_at <= BACK_OFF_INTERVAL.min(srtt) {
            return;
        }
        self.updated_at = now;
        if now - self.standing_at > srtt * LEAST_ROUNDS {
            // Without a sample in all that time there is nothing to learn.
            if self.least < self.standing {
                self.standing = self.least;
            } else if self.least < NONE {
                self.standing = LEAST_GAIN * self.least + (1.0 - LEAST_GAIN) * self.standing;
            }
            self.least = NONE;
            self.standing_at = now;
        }
        let delay = self.current - self.standing;
        self.average =
            if delay < self.average { delay } else { (1.0 - AVERAGE_GAIN) * self.average + AVERAGE_GAIN * delay };
        let difference = (self.high - self.low).clamp(0.0, 2.0 * DIFFERENCE_LIMIT);
        self.difference = (1.0 - DIFFERENCE_GAIN) * self.difference + DIFFERENCE_GAIN * difference;
        self.high *= 1.0 - EXTREMES_GAIN;
        self.low = (1.0 - EXTREMES_GAIN) * self.low + EXTREMES_GAIN * self.high;
    }

    /// The base delay is void, and so is what was measured from it.
    pub(super) fn forget_base(&mut self) {
        self.base.forget();
        (self.current, self.standing) = (0.0, 0.0);
    }
}
