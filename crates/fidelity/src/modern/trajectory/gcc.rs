//! GCC of the time of REMB over a path of its own: frames thirty times a second, in packets of 1200 bytes or less, and a sender that follows
//! each REMB as soon as it has come back. The queue of a sample is the wait of the last packet.

use std::collections::VecDeque;
use std::path::Path;

use lasthop_core::transport::media::control::gcc::webrtc::Estimator;

use super::bottleneck::{Bottleneck, Stretch};
use super::{Columns, Samples, losses};
use crate::report::Outcome;

/// Runs the sender of a log and compares both.
pub fn replay(file: &Path, name: &str) -> Result<Outcome, String> {
    if name.contains("delay-step") || name.contains("handover") {
        return Ok(Outcome::Unsupported("its delays are not described".to_owned()));
    }
    let one_way = if name.contains("step") { ONE_WAY_OF_STEPS } else { ONE_WAY };
    let loses = losses(name);
    if loses.is_none() && name.contains("loss") {
        return Ok(Outcome::Unsupported("its losses are not described".to_owned()));
    }
    let log = Columns::read(file)?;
    let times = log.numbers("t_s")?;
    if times[0].is_nan() || times[0] <= 0.0 {
        return Err("the first sample is at the start".to_owned());
    }
    let capacity = log.numbers("capacity_bps")?;
    let path = Stretch::all(&times, &capacity, &vec![2.0 * one_way; times.len()]);
    let lost = log.numbers("lost")?;
    let rate = log.numbers("sent_bps")?;
    let start = start(times[0], rate[0]).clamp(LEAST, MOST);
    let theirs = Samples {
        rate,
        queue: log.numbers("queue_ms")?,
        lost: lost.last().copied().unwrap_or_default(),
        states: vec![],
    };
    let ours = Run::new(path.clone(), one_way, start, loses).samples(&times);
    Ok(super::compare(&ours, &theirs, &times, &path, PACKET))
}

/// The rate at the start, bit/s, of the one in the first sample. No REMB has come back by then, and the frame with which the sample ends is in it,
/// as that of the start is.
fn start(first: f64, rate: f64) -> f64 {
    let frames = (first * FRAMES).ceil() + 1.0;
    (first * rate).round() / frames * FRAMES
}

struct Run {
    link: Bottleneck,
    /// s.
    one_way: f64,
    estimator: Estimator,
    /// bit/s.
    rate: f64,
    /// Every how many packets one is lost.
    loses: Option<u64>,
    sent: u64,
    frames: u64,
    /// Packets under way: when they arrive, when they were sent, and their bytes.
    arriving: VecDeque<(f64, f64, f64)>,
    /// REMBs on their way back: when they come, and their rates.
    rembs: VecDeque<(f64, f64)>,
    bits: f64,
    /// How long the last packet waits, s.
    wait: f64,
}

impl Run {
    fn new(path: Vec<Stretch>, one_way: f64, rate: f64, loses: Option<u64>) -> Self {
        Self {
            link: Bottleneck::new(path, BUFFER),
            one_way,
            estimator: Estimator::default(),
            rate,
            loses,
            sent: 0,
            frames: 0,
            arriving: VecDeque::new(),
            rembs: VecDeque::new(),
            bits: 0.0,
            wait: 0.0,
        }
    }

    fn samples(mut self, times: &[f64]) -> Samples {
        let mut samples = Samples { rate: Vec::new(), queue: Vec::new(), lost: 0.0, states: vec![] };
        // The instants of samples are a sum, and one falls on the first frame at it or later.
        let step = times[0];
        let mut due = step;
        while samples.rate.len() < times.len() {
            let now = self.frame();
            if now >= due {
                samples.rate.push(std::mem::take(&mut self.bits) / step);
                samples.queue.push(self.wait * 1e3);
                due += step;
            }
        }
        samples.lost = self.link.dropped as f64;
        samples
    }

    /// The next frame, after all that arrives before it; gives its time.
    fn frame(&mut self) -> f64 {
        let now = self.frames as f64 / FRAMES;
        while self.arriving.front().is_some_and(|packet| packet.0 <= now) {
            self.arrive();
        }
        while let Some((_, rate)) = self.rembs.pop_front_if(|remb| remb.0 <= now) {
            self.rate = rate;
        }
        self.frames += 1;
        let bytes = (self.rate / 8.0 / FRAMES).floor();
        let packets = (bytes / PACKET).ceil().max(1.0);
        for k in 0..packets as u64 {
            self.send(now + k as f64 * SPACING, (bytes / packets).floor());
        }
        now
    }

    fn send(&mut self, now: f64, bytes: f64) {
        self.sent += 1;
        self.bits += bytes * 8.0;
        self.wait = self.link.wait(now);
        let is_lost = self.loses.is_some_and(|every| every > 0 && self.sent.is_multiple_of(every));
        if let Some(passage) = self.link.send(now, bytes, is_lost) {
            self.arriving.push_back((passage.leaves + self.one_way, now, bytes));
        }
    }

    fn arrive(&mut self) {
        let Some((now, sent_at, bytes)) = self.arriving.pop_front() else { return };
        let abs_send_time = (sent_at * f64::from(1 << 18)) as u64 % (1 << 24);
        let now_ms = (now * 1e3).round() as i64;
        if let Some(remb) = self.estimator.on_packet(now_ms, Some(abs_send_time as u32), bytes as u32) {
            self.rembs.push_back((now + self.one_way, (remb as f64).clamp(LEAST, MOST)));
        }
    }
}

const FRAMES: f64 = 30.0;
/// Bytes of a packet at most.
const PACKET: f64 = 1_200.0;
/// Between the packets of a frame, s.
const SPACING: f64 = 0.000_5;
/// Of paths, and of those whose name says a step (index), s.
const ONE_WAY: f64 = 0.050;
const ONE_WAY_OF_STEPS: f64 = 0.030;
/// The bounds of the sender, bit/s.
const LEAST: f64 = 150e3;
const MOST: f64 = 1.5e6;
/// RFC 8867 §4.1: 300 ms.
const BUFFER: f64 = 0.300;
