//! SCReAM v2 (draft-johansson-ccwg-rfc8298bis-screamv2; RFC 8298 for the frame), as Ericsson's implementation has it at commit c8f84c3d.
//!
//! A window over bytes in flight, which grows until packets are lost, come back marked, or stand in a queue; the encoder's rate is the
//! window over the round-trip time. [`Scream`] is the arithmetic in the implementation's units, [`Controller`] puts it behind
//! [`MediaControl`].
//!
//! The arithmetic was written with the source of that commit at hand (github.com/EricssonResearch/scream, `code/ScreamV2Tx.cpp` and
//! `ScreamV2TxStream.cpp`; Copyright (c) 2015, Ericsson AB; BSD 2-Clause). Names such as `kL4sGUp` are its names.
//!
//! A flow is one stream: rates are shared by no priorities. What else is not followed, and why, stands in `docs/protocols/media-scream.md`.

mod core;
mod delay;
mod flight;
mod frames;
mod marks;
mod rates;
mod rtt;
mod ticks;
mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::{Ecn, Probe};

pub use self::core::{Block, Parameters, SILENCE, Scream};
pub use self::frames::NewFrame;
pub use self::ticks::{PER_SECOND, Ticks};

use self::ticks::Clock;
use super::{Feedback, Frame, MediaContext, MediaControl, MediaControlConfig, Sent};

/// SCReAM's parameters. The draft is draft-johansson-ccwg-rfc8298bis-screamv2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Packets are ECT(1), and the window answers to the share of marked ones as L4S asks (RFC 9331). Otherwise a mark is classic ECN's.
    /// Default: off (the draft's IS_L4S).
    pub l4s: bool,
    /// The delay in queues that is aimed at; from half of it on the window is lowered. Default: "60 ms" (the draft's QDELAY_TARGET_LO).
    pub queue_target: Duration,
    /// What a loss multiplies the window by. Default: 0.7 (the draft's BETA_LOSS).
    pub beta_loss: f64,
    /// What a mark of classic ECN multiplies the window by. Default: 0.8 (the draft's BETA_ECN).
    pub beta_ecn: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { l4s: false, queue_target: Duration::from_millis(60), beta_loss: 0.7, beta_ecn: 0.8 }
    }
}

impl MediaControlConfig for Config {
    fn build(&self, seat: &MediaContext) -> Box<dyn MediaControl> {
        Box::new(Controller::new(self, seat))
    }

    /// kMaxRtcpInterval: 40 ms at most (ScreamRx.cpp).
    fn feedback_interval(&self) -> Duration {
        Duration::from_millis(40)
    }

    fn is_l4s(&self) -> bool {
        self.l4s
    }

    /// kMaxRtpQueueDelay (ScreamTx.h).
    fn discards_after(&self) -> Option<Duration> {
        Some(Duration::from_millis(100))
    }

    fn check(&self) -> Result<(), Fault> {
        // Ticks of the clock below, minutes above: neither leaves anything to control.
        if !(Duration::from_millis(1)..=Duration::from_secs(10)).contains(&self.queue_target) {
            let message = format!("queue_target is {}", self.queue_target);
            return Err(Fault::new("queue_target", message, "expected 1 ms to 10 s"));
        }
        for (field, beta) in [("beta_loss", self.beta_loss), ("beta_ecn", self.beta_ecn)] {
            if !(beta > 0.0 && beta < 1.0) {
                return Err(Fault::new(field, format!("{field} is {beta}"), "expected a number between 0 and 1"));
            }
        }
        Ok(())
    }
}

/// [`Scream`] as a controller of lasthop.
#[derive(Clone, Debug)]
pub struct Controller {
    parameters: Parameters,
    /// The most bytes of a packet.
    packet: u32,
    /// Made by the first event, with which its clock begins.
    running: Option<Running>,
}

#[derive(Clone, Debug)]
struct Running {
    clock: Clock,
    scream: Scream,
    /// The encoder's rate, bit/s.
    rate: f32,
    /// Bytes in flight as the sender counts them less those that SCReAM counts: lost packets, and forgotten ones.
    others: i64,
    /// Bytes that wait at the sender.
    queued: u64,
    /// When the first packet of the frame left that is being sent; `None` after its last.
    frame_at: Option<Ticks>,
    /// The packet that arrived last.
    last: Option<Block>,
}

impl Controller {
    /// At the start of a flow.
    pub fn new(config: &Config, seat: &MediaContext) -> Self {
        let start = seat.start_rate.as_bps() as f32;
        let parameters = Parameters {
            l4s: config.l4s,
            queue_target: config.queue_target.as_secs_f64() as f32,
            beta_loss: config.beta_loss as f32,
            beta_ecn: config.beta_ecn as f32,
            // 100 ms of the rate at the start, as scream_sender.cpp has it.
            initial_window: (start / 80.0) as i64,
            min_rate: seat.min_rate.as_bps() as f32,
            start_rate: start,
            max_rate: seat.max_rate.as_bps() as f32,
            // Each later one is followed: the implementation's limit is there to be safe where the numbers wrap.
            longest_leap: u64::MAX / 2,
        };
        Self { parameters, packet: seat.packet, running: None }
    }

    fn at(&mut self, now: Instant) -> (Ticks, &mut Running) {
        let parameters = self.parameters;
        let running = self.running.get_or_insert_with(|| {
            let clock = Clock(now);
            let scream = Scream::new(clock.ticks(now), parameters);
            Running { clock, rate: scream.target(), scream, others: 0, queued: 0, frame_at: None, last: None }
        });
        (running.clock.ticks(now), running)
    }
}

impl Running {
    /// After a call: the sender has this in flight.
    fn settle(&mut self, now: Ticks, in_flight: u64) {
        self.scream.poll(now);
        self.rate = self.scream.encoder_rate(now);
        self.others = in_flight as i64 - self.scream.in_flight();
    }
}

impl MediaControl for Controller {
    fn on_frame(&mut self, frame: &Frame) {
        let packet = self.packet;
        let (now, running) = self.at(frame.now);
        let waited = (frame.queue_delay.as_secs_f64() * PER_SECOND as f64) as Ticks;
        running.queued = frame.queued;
        // The first packet of a frame is full, or all of it.
        let new = NewFrame { bytes: frame.bytes, queued: frame.queued, waited, next: Some(frame.bytes.min(packet)) };
        running.scream.on_frame(now, &new);
        running.settle(now, frame.in_flight);
    }

    fn on_sent(&mut self, sent: &Sent) {
        let (now, running) = self.at(sent.now);
        // Nothing waited: the silence was the encoder's, and what was in flight is forgotten only now.
        if now > running.scream.sent_at() + SILENCE {
            running.scream.forget_flight();
        }
        running.scream.poll(now);
        let frame_at = *running.frame_at.get_or_insert(now);
        if sent.marker {
            running.frame_at = None;
        }
        running.queued = sent.queued;
        running.scream.on_sent(now, sent.number, sent.bytes, frame_at, sent.marker);
        running.settle(now, sent.in_flight);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let (now, running) = self.at(feedback.now);
        let clock = running.clock;
        let arrived = feedback.packets.iter().filter_map(|fate| {
            let arrival = fate.arrival?;
            Some(Block { number: fate.number, at: clock.ticks(arrival.at), ce: arrival.ecn == Ecn::Ce })
        });
        // SCReAM's receiver says the last 32 packets in each report: here one of them, before what is new.
        let mut blocks: Vec<Block> = running.last.into_iter().chain(arrived).collect();
        blocks.sort_by_key(|block| block.number);
        if blocks.len() > usize::from(running.last.is_some()) {
            running.scream.on_report(now, &blocks);
            running.last = blocks.pop();
        }
        running.queued = feedback.queued;
        running.settle(now, feedback.in_flight);
    }

    fn on_timeout(&mut self, now: Instant) {
        let (now, running) = self.at(now);
        if running.queued > 0 && now > running.scream.sent_at() + SILENCE {
            running.others += running.scream.in_flight();
            running.scream.forget_flight();
        }
    }

    /// Half a second after the last packet, if others wait behind it.
    fn next_timeout(&self) -> Option<Instant> {
        let running = self.running.as_ref().filter(|running| running.queued > 0 && running.scream.in_flight() > 0)?;
        Some(running.clock.instant(running.scream.sent_at() + SILENCE + 1))
    }

    fn on_path_change(&mut self, now: Instant) {
        let (now, running) = self.at(now);
        running.scream.on_path_change(now);
    }

    fn target(&self) -> BitRate {
        let rate = self.running.as_ref().map_or(self.parameters.start_rate, |running| running.rate);
        // The rate is lowered further while frames wait; the encoder has its bounds.
        let (least, most) = (self.parameters.min_rate, self.parameters.max_rate);
        BitRate::from_bps(rate.clamp(least, most) as u64)
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.running.as_ref()?.scream.pacing_rate().map(|rate| BitRate::from_bps(rate as u64))
    }

    fn window(&self) -> Option<u64> {
        let running = self.running.as_ref()?;
        Some((running.scream.limit() as i64).saturating_add(running.others).max(0) as u64)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let Some(Running { scream, .. }) = &self.running else { return };
        probe.value("cwnd_bytes", scream.window() as f64);
        probe.value("srtt_ms", 1e3 * f64::from(scream.srtt()));
        probe.value("queue_delay_ms", 1e3 * f64::from(scream.queue_delay()));
        probe.value("l4s_alpha", f64::from(scream.alpha()));
    }
}

#[cfg(test)]
mod tests;
