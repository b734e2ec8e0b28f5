//! The arithmetic, in the implementation's units and single precision.
//!
//! [`Scream`] gets frames, packets and reports with their times in ticks, and knows nothing of the rest of lasthop: a recorded run of the
//! implementation can be played into it. To give the same values to the last bit, it keeps the implementation's order of operations.

use super::delay::{BACK_OFF_INTERVAL, QueueDelay};
use super::flight::Flight;
use super::frames::{Frames, NewFrame};
use super::marks::Marks;
use super::rates::Rates;
use super::rtt::Rtt;
use super::ticks::{PER_SECOND, Ticks};
use super::window::{Congestion, Inputs, Window, back_offs_per_rtt};

/// kInitMss: the largest packet before the first, bytes.
const INITIAL_MSS: i64 = 100;
/// kMssUpdateInterval: the largest packet is that of this second or of the last.
const MSS_INTERVAL: Ticks = PER_SECOND;
/// kMinCwndMss, and the window in packets that is restored by each packet.
const LEAST_MSS: [i64; 2] = [3, 2];
/// kSlowUpdateInterval: 50 ms, in ticks.
const SLOW_INTERVAL: Ticks = 3_277;
/// kMaxBytesInFlightHistSize: of this number of slow intervals the most that was in flight.
const IN_FLIGHT_HISTORY: usize = 20;
/// Time after which the most in flight is forgotten every slow interval: 2 s.
const START: Ticks = 2 * PER_SECOND;
/// Near the highest rate, the window is limited by it (95 %), with kPacketPacingHeadRoom.
const NEAR_MAX_RATE: f32 = 0.95;
const PACING_HEADROOM: f32 = 1.5;
/// Pacing: at least 50 kbit/s, and an interval of at least kMinPaceInterval, seconds.
const LEAST_PACING: f32 = 50e3;
const LEAST_INTERVAL: f32 = 10e-6;
/// kRelaxedPacingLimitLow, kMaxRelaxedPacingFactor: from this share of the highest rate on packets leave up to five times as fast.
const RELAXED_FROM: f32 = 0.8;
const RELAXED_FACTOR: f32 = 5.0;
/// kLossRateThreshold: a loss is congestion if more than 1 % of packets are lost, or a quarter of the target's delay stands in the queue.
const LOSS_RATE_LIMIT: f32 = 0.01;
/// kPacketOverhead: RTP's header and UDP's, bytes.
const OVERHEAD: i64 = 20;
/// The rate is the window over the round-trip time, this much longer, and at most this, seconds; and a tenth is kept for large frames.
const RTT_MARGIN: f32 = 0.001;
const LONGEST_RTT: f32 = 0.2;
const FRAME_MARGIN: f32 = 1.1;
/// Time without a packet sent after which nothing is in flight: 0.5 s.
pub const SILENCE: Ticks = 32_768;
/// kBaseDelayResetInterval, kNumRateLimitRtts and 100 ms: where the queue never empties, half of the rate for 5 round-trip times each 60 s, and
/// then another base delay.
const DRAIN_EVERY: Ticks = 60 * PER_SECOND;
const DRAIN_RTTS: Ticks = 5;
const DRAIN_LEAST: Ticks = 6_554;

/// The parameters of the implementation, and the stream's rates.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Whether marks are those of L4S.
    pub l4s: bool,
    /// queueDelayTarget, seconds.
    pub queue_target: f32,
    /// lossBeta.
    pub beta_loss: f32,
    /// ecnCeBeta.
    pub beta_ecn: f32,
    /// The first window, bytes.
    pub initial_window: i64,
    /// The stream's rates, bit/s.
    pub min_rate: f32,
    /// See `min_rate`.
    pub start_rate: f32,
    /// See `min_rate`.
    pub max_rate: f32,
    /// Of frames' timestamps at 90 kHz, one this far ahead of those before is not followed, nor are those after it, and losses are no longer found
    /// by time (markAcked): 50,000.
    pub longest_leap: u64,
}

/// A packet of which a report says that it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its number.
    pub number: u64,
    /// When it came, by the receiver's clock.
    pub at: Ticks,
    /// Whether it was marked.
    pub ce: bool,
}

/// A controller of one stream.
#[derive(Clone, Debug)]
pub struct Scream {
    p: Parameters,
    started_at: Ticks,
    flight: Flight,
    window: Window,
    rtt: Rtt,
    delay: QueueDelay,
    marks: Marks,
    rates: Rates,
    frames: Frames,
    /// Of the frames in the last slow interval.
    frame_high: f32,
    /// The largest packet of this second and of the last.
    mss: i64,
    previous_mss: i64,
    mss_since: Ticks,
    /// The most in flight in this slow interval and in the last, and a history.
    most_in_flight: [i64; 2],
    in_flight_history: [i64; IN_FLIGHT_HISTORY],
    place: usize,
    slow_at: Ticks,
    loss_rate: f32,
    losses: u64,
    lost: bool,
    /// isCeThisFeedback: a mark was said since the last computation.
    marked: bool,
    /// lastLossEventT: any congestion event.
    event_at: Ticks,
    updated_at: Option<Ticks>,
    new_frame: bool,
    /// rateShare, and targetBitrate.
    share: f32,
    target: f32,
    /// Seconds between packets.
    pace_interval: f32,
    pacing_rate: Option<f32>,
    sent_at: Ticks,
    next_at: Ticks,
    drain_at: Ticks,
    drained: bool,
    /// What was sent before this says nothing of the path.
    path_since: Ticks,
}

impl Scream {
    /// At the start of a stream.
    pub fn new(now: Ticks, p: Parameters) -> Self {
        Self {
            p,
            started_at: now,
            flight: Flight::new(p.longest_leap),
            window: Window::new(p.initial_window, p.beta_loss, p.beta_ecn),
            rtt: Rtt::new(now),
            delay: QueueDelay::new(now, p.queue_target),
            marks: Marks::new(now),
            rates: Rates::new(now),
            frames: Frames::default(),
            frame_high: 1.0,
            mss: INITIAL_MSS,
            previous_mss: INITIAL_MSS,
            mss_since: now,
            most_in_flight: [0; 2],
            in_flight_history: [0; IN_FLIGHT_HISTORY],
            place: 0,
            slow_at: now,
            loss_rate: 0.0,
            losses: 0,
            lost: false,
            marked: false,
            event_at: now,
            updated_at: None,
            new_frame: false,
            share: p.min_rate,
            target: p.start_rate.max(p.min_rate).min(p.max_rate),
            pace_interval: 0.0,
            pacing_rate: None,
            sent_at: now,
            next_at: now,
            drain_at: now,
            drained: false,
            path_since: 0,
        }
    }

    /// cwnd, bytes.
    pub fn window(&self) -> i64 {
        self.window.bytes
    }

    /// Bytes that may be in flight: the window with its headroom, and one packet.
    pub fn limit(&self) -> f32 {
        self.window.limit(self.largest_packet())
    }

    /// Bytes after the highest packet that arrived.
    pub fn in_flight(&self) -> i64 {
        self.flight.bytes()
    }

    /// targetBitrate, bit/s.
    pub fn target(&self) -> f32 {
        self.target
    }

    /// Seconds between packets.
    pub fn pace_interval(&self) -> f32 {
        self.pace_interval
    }

    /// The rate at which packets leave, bit/s, once there was a report.
    pub fn pacing_rate(&self) -> Option<f32> {
        self.pacing_rate
    }

    /// The queue's delay that the packet had which arrived last, seconds.
    pub fn queue_delay(&self) -> f32 {
        self.delay.current()
    }

    /// The smoothed round-trip time, seconds.
    pub fn srtt(&self) -> f32 {
        self.rtt.seconds()
    }

    /// The average share of marked packets.
    pub fn alpha(&self) -> f32 {
        self.marks.alpha()
    }

    /// Packets found to be lost.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// The earliest tick at which the pacer lets a packet leave.
    pub fn next_at(&self) -> Ticks {
        self.next_at
    }

    /// When a packet was sent last.
    pub fn sent_at(&self) -> Ticks {
        self.sent_at
    }

    /// Time passes: rates are measured, and the largest packet is forgotten. Called whenever a packet could leave.
    pub fn poll(&mut self, now: Ticks) {
        self.rates.update(now);
        if now - self.mss_since > MSS_INTERVAL {
            self.previous_mss = std::mem::replace(&mut self.mss, INITIAL_MSS);
            self.window.set_least(LEAST_MSS[0] * self.largest_packet());
            self.mss_since = now;
        }
    }

    /// The rate that the encoder is to produce: half of the target while the queue is drained. Called before each frame.
    pub fn encoder_rate(&mut self, now: Ticks) -> f32 {
        if self.delay.is_standing() {
            if now - self.drain_at > DRAIN_EVERY {
                self.drain_at = now;
            }
            if now - self.drain_at < DRAIN_LEAST.max(DRAIN_RTTS * self.rtt.smoothed()) {
                self.drained = true;
                return self.target * 0.5;
            }
            if std::mem::take(&mut self.drained) {
                self.delay.forget_base();
            }
        }
        self.target
    }

    /// A frame has reached the sender.
    pub fn on_frame(&mut self, now: Ticks, frame: &NewFrame) {
        self.on_cleared_frame(now, frame);
        self.rates.on_encoded(frame.bytes);
        self.on_packet(frame.next.unwrap_or(0));
    }

    /// A frame has reached the sender, whose queue is then cleared.
    pub fn on_cleared_frame(&mut self, now: Ticks, frame: &NewFrame) {
        self.new_frame = true;
        self.frames.on_frame(now, frame, self.target);
        self.set_target();
    }

    /// Whether the implementation clears the queue of packets with each frame now (newMediaFrame). Where the first round-trip time is much longer
    /// than the 50 ms that it assumes, it does so for a moment at the start, too.
    pub fn refreshes(&self, now: Ticks) -> bool {
        self.delay.refreshes(now, self.rtt.smoothed())
    }

    /// A packet has left; `frame_at` is the time of its frame.
    pub fn on_sent(&mut self, now: Ticks, number: u64, bytes: u32, frame_at: Ticks, marker: bool) {
        self.flight.on_sent(now, number, bytes, frame_at, marker);
        self.on_packet(bytes);
        self.sent_at = now;
        self.next_at = now + (self.pace_interval * PER_SECOND as f32) as Ticks;
    }

    /// Packets have waited for half a second: nothing is in flight any more.
    pub fn forget_flight(&mut self) {
        self.flight.forget();
    }

    /// A report, with the packets of its range that have arrived, in their order. Those that earlier ones have said tell only that the queue's
    /// delay is still the last one known. Gives whether window and rate were computed anew.
    pub fn on_report(&mut self, now: Ticks, blocks: &[Block]) -> bool {
        self.on_part(now, blocks, true)
    }

    /// A part of a report. Window and rate are computed anew if its range `ends` with a packet that has arrived.
    pub fn on_part(&mut self, now: Ticks, blocks: &[Block], ends: bool) -> bool {
        for (place, block) in blocks.iter().enumerate() {
            let last = ends && place + 1 == blocks.len();
            self.most_in_flight[0] = self.most_in_flight[0].max(self.flight.bytes());
            let marker = self.on_block(now, block, last);
            self.marked |= marker.is_some() && block.ce;
            if last || marker == Some(true) {
                self.advance(now, block.number);
            }
            self.delay.on_reported();
        }
        if blocks.is_empty() || !ends {
            return false;
        }
        let ce = std::mem::take(&mut self.marked);
        self.on_report_end(now, ce)
    }

    /// The path is another one: base delay and round-trip time are void, and what was sent on the old one tells nothing of the new one.
    pub fn on_path_change(&mut self, now: Ticks) {
        self.delay = QueueDelay::new(now, self.p.queue_target);
        self.rtt.forget();
        self.path_since = now;
    }

    fn largest_packet(&self) -> i64 {
        self.mss.max(self.previous_mss)
    }

    fn on_packet(&mut self, bytes: u32) {
        self.mss = self.mss.max(i64::from(bytes));
        self.window.set_least(LEAST_MSS[1] * self.largest_packet());
    }

    /// A packet that arrived; whether it ends its frame, if it was in flight.
    fn on_block(&mut self, now: Ticks, block: &Block, last: bool) -> Option<bool> {
        let packet = self.flight.on_arrived(block.number)?;
        self.marks.on_acked(block.ce);
        if block.ce {
            self.window.acked_ce += i64::from(packet.bytes);
        }
        if packet.sent_at >= self.path_since {
            self.delay.on_sample(now, block.at as i64 - packet.sent_at as i64, self.rtt.smoothed());
            if last {
                self.rtt.on_sample(now, now - packet.sent_at, self.window.application_limited);
            }
        }
        Some(packet.marker)
    }

    /// Packets up to this one are in flight no more; some may be lost.
    fn advance(&mut self, now: Ticks, highest: u64) {
        let gain = (LOSS_RATE_LIMIT / 4.0).min(self.mss as f32 / self.window.bytes as f32 / 2.0);
        let may_react = now - self.event_at > self.rtt.smoothed() && self.p.beta_loss < 1.0;
        let queue_stands = self.delay.average() > self.delay.target() / 4.0;
        let (rate, losses, lost_event) = (&mut self.loss_rate, &mut self.losses, &mut self.lost);
        let passed = self.flight.advance(highest, |lost| {
            *losses += u64::from(lost);
            if lost && may_react && (*rate > LOSS_RATE_LIMIT || queue_stands) {
                *lost_event = true;
            }
            *rate = (1.0 - gain) * *rate + gain * f32::from(u8::from(lost));
        });
        self.window.acked += passed as i64;
        self.rates.on_acked(passed);
    }

    fn on_report_end(&mut self, now: Ticks, ce: bool) -> bool {
        let srtt = self.rtt.smoothed();
        let interval = BACK_OFF_INTERVAL.min(srtt);
        let mut ecn_event = ce && now - self.event_at > interval;
        if ecn_event {
            self.event_at = now;
        }
        if self.p.l4s {
            self.marks.update(now, srtt);
        } else {
            self.marks.ignore();
        }
        self.delay.update(now, srtt);

        // Marks that are missing: the delay is read as a share of them.
        let half = self.delay.target() / 2.0;
        let virtual_alpha = (self.delay.average() > half && now - self.event_at > interval)
            .then(|| ((self.delay.average() - half) / half).clamp(0.0, 1.0) / back_offs_per_rtt(srtt));
        // incomingStandardizedFeedback: no answer where every packet is marked and the round-trip time falls.
        if self.rtt.is_falling() && self.marks.is_full() {
            ecn_event = false;
        }
        let event = self.lost || ecn_event || virtual_alpha.is_some();
        if event {
            self.event_at = now;
        }
        let since = now - *self.updated_at.get_or_insert(now);
        if !(since > interval || event || self.new_frame) {
            return false;
        }
        let congestion = if std::mem::take(&mut self.lost) {
            Some(Congestion::Loss)
        } else if ecn_event && self.p.l4s {
            let low_delay = self.delay.current() < self.delay.target() * 0.25;
            Some(Congestion::L4sCe { alpha: self.marks.alpha(), low_delay })
        } else if ecn_event {
            Some(Congestion::ClassicCe)
        } else {
            virtual_alpha.map(|alpha| Congestion::Delay { alpha })
        };
        self.update(now, congestion);
        self.set_target();
        self.updated_at = Some(now);
        self.new_frame = false;
        true
    }

    /// Pacing, window and rate anew.
    fn update(&mut self, now: Ticks, congestion: Option<Congestion>) {
        self.delay.on_window();
        self.pace();
        if now - self.slow_at > SLOW_INTERVAL {
            self.update_slowly(now);
        }
        let mss = self.largest_packet();
        self.window.update(
            congestion,
            &Inputs {
                now,
                srtt: self.rtt.smoothed(),
                srtt_s: self.rtt.seconds(),
                mss,
                steadiness: self.delay.steadiness(),
                most_in_flight: self.most_in_flight,
                target: self.target,
                acked: self.rates.acked,
                max_rate: self.p.max_rate,
            },
        );
        let rate = window_rate(self.window.bytes, self.rtt.seconds(), mss, self.window.mss_share);
        self.share = rate.min(self.p.max_rate);
    }

    /// The target within the encoder's bounds, less for frames that wait.
    fn set_target(&mut self) {
        self.target = (self.share / (1.0 + self.frames.lowered)).max(self.p.min_rate).min(self.p.max_rate);
    }

    fn pace(&mut self) {
        let scale = if self.frames.pacing > 1.0 { self.frames.pacing * self.target / self.target } else { 1.0 };
        let mut rate = (PACING_HEADROOM * scale * self.target.max(self.rates.media)).max(LEAST_PACING);
        if self.target > RELAXED_FROM * self.p.max_rate {
            let relaxed = ((self.target / self.p.max_rate - RELAXED_FROM) / (1.0 - RELAXED_FROM)).min(1.0);
            rate /= (1.0 - relaxed).clamp(1.0 / RELAXED_FACTOR, 1.0);
        }
        self.pacing_rate = Some(rate);
        self.pace_interval = (self.largest_packet() as f32 * 8.0 / rate).max(LEAST_INTERVAL);
    }

    /// What was in flight, and the window near the highest rate.
    fn update_slowly(&mut self, now: Ticks) {
        self.slow_at = now;
        self.in_flight_history[self.place] = self.most_in_flight[0];
        self.place = (self.place + 1) % IN_FLIGHT_HISTORY;
        if self.target > self.p.max_rate * NEAR_MAX_RATE {
            let most = self.in_flight_history.iter().copied().fold(self.most_in_flight[0], i64::max);
            let enough = PACING_HEADROOM * self.frame_high * self.p.max_rate / 8.0 * (self.rtt.seconds() + RTT_MARGIN);
            self.window.bytes = self.window.bytes.min(most.max(enough as i64));
        }
        if now - self.started_at > START {
            self.most_in_flight = [0, self.most_in_flight[0]];
        }
        self.frame_high = self.frames.high;
    }
}

/// The rate that a window gives, bit/s; `mss_share` is that of a packet in the window.
fn window_rate(window: i64, srtt: f32, mss: i64, mss_share: f32) -> f32 {
    let mut rate = window.saturating_mul(8) as f32 / (srtt + RTT_MARGIN).clamp(0.001, LONGEST_RTT);
    // updateCwnd: below ten packets up to a fifth less.
    rate *= 1.0 - (mss_share - 0.1).clamp(0.0, 0.2);
    rate /= FRAME_MARGIN;
    rate * (mss as f32 / (mss + OVERHEAD) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_over_a_round_trip_time_is_a_rate() {
        // (window, srtt, rate in Mbit/s): 8·50000/31 ms/1.1·1200/1220; and where 1200 bytes are 0.4 of the window, 0.8 of it.
        for (window, srtt, mbps) in [(50_000, 0.030, 11.538), (3_000, 0.099, 0.240 / 1.1 * 0.8 * 1200.0 / 1220.0)] {
            let rate = window_rate(window, srtt, 1_200, 1_200.0 / window as f32);
            assert!((f64::from(rate) / 1e6 - mbps).abs() < 5e-4, "{window} {srtt}: {rate}");
        }
        // A round-trip time above 200 ms counts as 200 ms.
        assert_eq!(window_rate(50_000, 0.6, 1_200, 0.024), window_rate(50_000, 0.25, 1_200, 0.024));
    }
}
