//! The harness whole: encoder, sender, bottleneck, receiver and the way back, tick by tick.

use std::collections::VecDeque;

use lasthop_core::net::Ecn;
use lasthop_core::transport::media::control::scream::{PER_SECOND, Ticks};

use super::link::Link;
use super::receiver::{Receiver, parts};
use super::sender::{Encoder, Sender};

/// A run.
pub struct Setup {
    pub l4s: bool,
    pub encoder: Encoder,
    /// From which second on: capacity in bit/s, and the delay of each way in seconds.
    pub steps: Vec<(f64, f64, f64)>,
    /// The longest queue, seconds at the capacity.
    pub longest: f64,
}

/// What the harness writes down each 0.1 s.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub capacity: f64,
    pub target: f32,
    pub window: i64,
    pub in_flight: i64,
    pub queue_delay: f32,
    pub srtt: f32,
    pub alpha: f32,
    pub queue: f64,
    /// bit/s in the last 0.1 s.
    pub sent: u64,
    pub received: u64,
    /// Packets since the start.
    pub lost: u64,
    pub marked: u64,
}

/// The samples of a run, this number of them.
///
/// Events of one tick have the harness's order: frame, arrival, report made, report come, packets sent. At most one packet arrives in a tick,
/// and none overtakes another.
pub fn run(setup: &Setup, count: usize) -> Result<Vec<Sample>, String> {
    let (_, capacity, delay) = setup.steps[0];
    let mut link = Link::new(capacity, delay, setup.longest, if setup.l4s { Ecn::Ect1 } else { Ecn::Ect0 });
    let mut sender = Sender::new(1, setup.encoder, setup.l4s);
    let mut receiver = Receiver::default();
    let (mut forth, mut back) = (VecDeque::new(), VecDeque::new());
    let (mut frame_at, mut step, mut latest) = (0.0, 0, 0);
    let (mut samples, mut sample) = (Vec::with_capacity(count), Sample::default());
    for now in 1.. {
        let seconds = now as f64 / PER_SECOND as f64;
        while setup.steps.get(step + 1).is_some_and(|next| next.0 <= seconds) {
            step += 1;
            (link.capacity, link.delay) = (setup.steps[step].1, setup.steps[step].2);
        }
        let mut event = sender.call_at().is_some_and(|at| at <= now);
        if seconds >= frame_at {
            // Added up, as there: some frames of a whole second come a tick later.
            frame_at += 1.0 / f64::from(setup.encoder.frames_per_second);
            let bytes = sender.encode(now);
            sender.on_frame(now, bytes);
            event = true;
        }
        if let Some((packet, ecn)) = arrived(&mut forth, now) {
            receiver.on_packet(now, &packet, ecn);
            sample.received += u64::from(packet.bytes) * 80;
        }
        if let Some(report) = receiver.poll(now) {
            back.push_back(((now as f64 + link.delay * PER_SECOND as f64).ceil() as Ticks, report));
        }
        if let Some(report) = arrived(&mut back, now) {
            sender.on_report(now, &parts(&report, latest)?);
            event = true;
        }
        if event {
            sender.send(now, |packet| {
                latest = packet.number;
                sample.sent += u64::from(packet.bytes) * 80;
                match link.send(now, packet.bytes) {
                    Some((at, ecn)) => {
                        sample.marked += u64::from(ecn == Ecn::Ce);
                        forth.push_back((at, (packet, ecn)));
                    }
                    None => sample.lost += 1,
                }
            });
        }
        if seconds >= samples.len() as f64 / 10.0 {
            let scream = &sender.scream;
            samples.push(Sample {
                capacity: link.capacity,
                target: scream.target(),
                window: scream.window(),
                in_flight: scream.in_flight(),
                queue_delay: scream.queue_delay(),
                srtt: scream.srtt(),
                alpha: scream.alpha(),
                queue: link.queue(now),
                ..sample
            });
            (sample.sent, sample.received) = (0, 0);
            if samples.len() >= count {
                break;
            }
        }
    }
    Ok(samples)
}

/// The first of a line, if its time has come.
fn arrived<T>(line: &mut VecDeque<(Ticks, T)>, now: Ticks) -> Option<T> {
    line.pop_front_if(|first| first.0 <= now).map(|(_, what)| what)
}
