//! The playout buffer of a receiver of video, and what its user sees.
//!
//! Frames are shown a fixed time after they were captured. One that is not whole by then is not shown, and a gap is a freeze.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{Histogram, Probe};

/// The most frames that are awaited. Of more the oldest counts as lost.
const MOST: usize = 1 << 16;

/// What becomes of the frames of one connection. Bytes are counted from its start.
#[derive(Debug)]
pub struct Playout {
    /// How long after its capture a frame is shown.
    delay: Duration,
    /// The usual time between two frames.
    interval: Duration,
    awaited: VecDeque<Frame>,
    written: u64,
    frames: u64,
    received: u64,
    late: u64,
    lost: u64,
    skipped: u64,
    /// Whether the next frame is the first after a pause.
    resumes: bool,
    /// When the frame shown last was captured.
    shown: Option<Instant>,
    freezes: u64,
    frozen: Duration,
    delays: Histogram,
}

/// A frame that has not arrived.
#[derive(Clone, Copy, Debug)]
struct Frame {
    captured: Instant,
    /// Bytes of the connection up to its end.
    end: u64,
    /// Whether it is the first after a pause.
    resumes: bool,
    /// Whether a part of it is lost.
    damaged: bool,
}

impl Playout {
    /// Before the first frame.
    pub fn new(delay: Duration, interval: Duration) -> Self {
        Self {
            delay,
            interval,
            awaited: VecDeque::new(),
            written: 0,
            frames: 0,
            received: 0,
            late: 0,
            lost: 0,
            skipped: 0,
            resumes: false,
            shown: None,
            freezes: 0,
            frozen: Duration::ZERO,
            delays: Histogram::default(),
        }
    }

    /// A frame of `bytes` was captured and written.
    pub fn on_write(&mut self, now: Instant, bytes: u64) {
        self.written += bytes;
        self.frames += 1;
        let resumes = std::mem::take(&mut self.resumes);
        self.awaited.push_back(Frame { captured: now, end: self.written, resumes, damaged: false });
        if self.awaited.len() > MOST {
            self.awaited.pop_front();
            self.lost += 1;
        }
    }

    /// A frame was captured and not written.
    pub fn on_skip(&mut self) {
        self.frames += 1;
        self.skipped += 1;
    }

    /// No frame is captured for a while: the gap is no freeze.
    pub fn on_pause(&mut self) {
        self.resumes = true;
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// `payload` bytes up to `end` will not arrive.
    pub fn on_lost(&mut self, payload: u32, end: u64) {
        let begin = end.saturating_sub(payload.into());
        let from = self.awaited.partition_point(|frame| frame.end <= begin);
        for frame in self.awaited.range_mut(from..) {
            frame.damaged = true;
            if frame.end >= end {
                break;
            }
        }
    }

    /// Everything up to `end` has arrived, or will not.
    pub fn on_received(&mut self, now: Instant, end: u64) {
        while let Some(frame) = self.awaited.front().copied().filter(|frame| frame.end <= end) {
            self.awaited.pop_front();
            if frame.resumes {
                self.shown = None;
            }
            if frame.damaged {
                self.lost += 1;
                continue;
            }
            self.received += 1;
            let delay = now.since(frame.captured);
            self.delays.add(delay.as_nanos());
            if delay > self.delay {
                self.late += 1;
            } else {
                self.show(frame.captured);
            }
        }
    }

    /// A freeze is an interval between two frames shown of more than three usual ones, and of more than a usual one and 150 ms (W3C,
    /// *Identifiers for WebRTC's Statistics API*, `freezeCount`).
    fn show(&mut self, captured: Instant) {
        if let Some(before) = self.shown.replace(captured) {
            let gap = captured.since(before);
            if gap > (self.interval * 3).max(self.interval + Duration::from_millis(150)) {
                self.freezes += 1;
                self.frozen += gap;
            }
        }
    }

    /// Its totals. Frames that are under way count in `frames` alone.
    pub fn sample(&self, probe: &mut dyn Probe) {
        let ended = self.received + self.lost;
        probe.value("frames", self.frames as f64);
        probe.value("frames_received", self.received as f64);
        probe.value("frames_late", self.late as f64);
        probe.value("frames_lost", self.lost as f64);
        probe.value("frames_skipped", self.skipped as f64);
        if ended > 0 {
            probe.value("late_or_lost_pct", 100.0 * (self.late + self.lost) as f64 / ended as f64);
        }
        if ended + self.skipped > 0 {
            let hidden = self.late + self.lost + self.skipped;
            probe.value("not_shown_pct", 100.0 * hidden as f64 / (ended + self.skipped) as f64);
        }
        probe.value("freezes", self.freezes as f64);
        probe.value("frozen_s", self.frozen.as_secs_f64());
        probe.distribution("frame_delay_ms", 1e-6, &self.delays);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn frames_are_shown_if_they_are_whole_in_time() {
        let mut playout = Playout::new(Duration::from_millis(200), Duration::from_millis(40));
        (0..10).for_each(|n| playout.on_write(ms(40 * n), 1_000));
        playout.on_received(ms(100), 1_999);
        assert_eq!((playout.received, playout.late), (1, 0), "the second frame is not whole");
        playout.on_received(ms(230), 2_000);
        // Bytes 2,500 to 3,500 and a part of the seventh frame are lost.
        playout.on_lost(1_000, 3_500);
        playout.on_lost(10, 7_000);
        playout.on_received(ms(280), 6_000);
        // The third and fourth are damaged, the fifth (captured at 160 ms) and sixth are in time.
        assert_eq!((playout.received, playout.lost, playout.late), (4, 2, 0));
        // From the second, captured at 40 ms, to the fifth at 160 ms there are 120 ms: below 190 ms, no freeze.
        assert_eq!((playout.freezes, playout.shown), (0, Some(ms(200))));
        playout.on_received(ms(600), 10_000);
        assert_eq!((playout.received, playout.lost, playout.late), (7, 3, 3), "280, 320 and 360 ms are late at 600 ms");
        (10..14).for_each(|n| playout.on_write(ms(40 * n), 1_000));
        playout.on_received(ms(601), 14_000);
        // Of 400 ms it is late by 1 ms; the next frame shown was captured at 440 ms, 240 ms after the one of 200 ms.
        assert_eq!((playout.freezes, playout.frozen), (1, Duration::from_millis(240)));
        playout.on_pause();
        for at in [5_000, 5_040, 5_280] {
            playout.on_write(ms(at), 1_000);
        }
        playout.on_lost(1_000, 15_000);
        playout.on_received(ms(5_100), 16_000);
        playout.on_received(ms(5_300), 17_000);
        // The pause is no freeze, even with its first frame lost; the gap of 240 ms is one.
        assert_eq!((playout.freezes, playout.frozen), (2, Duration::from_millis(480)));
    }
}
