//! The encoder's frames: their period, how far they exceed the average, and whether they wait too long at the sender.

use super::ticks::{Ticks, seconds};

/// kMaxAdaptivePacingRateScale: large frames leave faster by this factor at most (ScreamTx.h).
const FASTEST: f32 = 1.5;
/// Frames below this size are paced like the average, bytes (ScreamV2TxStream.cpp).
const SMALL_FRAME: f32 = 500.0;
/// kRateAdjustGain1, kRateAdjustGain2, and the most that a waiting queue lowers the rate.
const WAIT_GAINS: [f32; 2] = [0.2, 1.0 / 8.0];
const MOST_LOWERED: f32 = 0.5;
/// kRelFrameSizeHistBins, kRelFrameSizeHistRange, kRelFrameSizeHistDecay, kRelFrameSizeHighPercentile, kRelFrameSizeHistPreamble.
const BINS: usize = 50;
const RANGE: f32 = 3.0;
const DECAY: f32 = 1.0 / 1024.0;
const PERCENTILE: f32 = 0.8;
const PREAMBLE: u64 = 50;

/// A frame as it reaches the sender.
#[derive(Clone, Copy, Debug)]
pub struct NewFrame {
    /// Its bytes, headers of RTP included.
    pub bytes: u32,
    /// Bytes that wait at the sender, it included.
    pub queued: u64,
    /// How long the first of them has waited, in ticks.
    pub waited: Ticks,
    /// The size of the packet that leaves next.
    pub next: Option<u32>,
}

/// The state kept of frames.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    last_at: Option<Ticks>,
    /// framePeriod, seconds.
    period: f32,
    /// rateAdjustFactor: the rate is divided by one more than this.
    pub(super) lowered: f32,
    /// adaptivePacingRateScale: how much faster than the average this frame leaves.
    pub(super) pacing: f32,
    /// relFrameSizeHigh: the 80th percentile of a frame's size, of the average.
    pub(super) high: f32,
    histogram: [f32; BINS],
    previous: u32,
    count: u64,
}

impl Default for Frames {
    fn default() -> Self {
        let mut histogram = [0.0; BINS];
        histogram[0] = 1.0;
        Self { last_at: None, period: 0.02, lowered: 0.0, pacing: 1.0, high: 1.0, histogram, previous: 0, count: 0 }
    }
}

impl Frames {
    /// A frame, when the encoder was to produce `target` bit/s.
    pub(super) fn on_frame(&mut self, now: Ticks, frame: &NewFrame, target: f32) {
        self.count += 1;
        if let Some(last) = self.last_at.replace(now) {
            self.period = seconds(now - last) * (1.0 - 0.1) + self.period * 0.1;
        }
        // Frames of one tick have no period.
        if self.period <= 0.0 {
            return;
        }
        let average = target * self.period / 8.0;
        let error = WAIT_GAINS[0] * (seconds(frame.waited) - self.period / 2.0) / self.period;
        self.lowered = (self.lowered + error * WAIT_GAINS[1]).clamp(0.0, MOST_LOWERED);
        self.on_size(frame.bytes, average);
        let waiting = frame.queued.max(u64::from(frame.bytes)) as f32;
        self.pacing = if average > SMALL_FRAME { (waiting / average).clamp(1.0, FASTEST) } else { 1.0 };
    }

    /// The histogram of excesses, and its percentile.
    fn on_size(&mut self, bytes: u32, average: f32) {
        if bytes as f32 <= average {
            return;
        }
        // newMediaFrame: no more than it exceeds the last one that was counted.
        let grown = bytes as f32 - self.previous as f32;
        let excess = (bytes as f32 - average).min(grown).max(0.0);
        self.previous = bytes;
        // In double precision there, as the literal is.
        let bin = f64::from(excess) / (f64::from(average) * (f64::from(RANGE) - 1.0)) * BINS as f64;
        self.histogram[(bin as usize).min(BINS - 1)] += 1.0;
        self.histogram.iter_mut().for_each(|bin| *bin *= 1.0 - DECAY);
        if self.count <= PREAMBLE {
            return;
        }
        let enough = self.histogram.iter().sum::<f32>() * PERCENTILE;
        let mut sum = 0.0;
        let bin = self.histogram.iter().position(|bin| {
            sum += bin;
            sum >= enough
        });
        self.high = 1.0 + bin.unwrap_or(BINS - 1) as f32 * (RANGE - 1.0) / BINS as f32;
    }
}
