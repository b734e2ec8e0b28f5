//! UDP Prague over a path of its own, with a queue that marks above a wait of 1 ms.
//!
//! The sender paces each packet, an acknowledgement comes back for each that arrives, and the receiver counts; no packet overtakes another
//! where the path becomes shorter. The pacing rate is looked at after each event, and a sample is the state after the first event at its
//! instant or later. So made, runs give every row of the logs of events too. Names of logs say how long the buffer is, whether marks are made, and
//! whether packets are lost, as the index tells.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use lasthop_core::transport::media::control::prague::udp::{Counters, Limits, Mode, UdpPrague};

use super::bottleneck::{Bottleneck, Stretch};
use super::{Columns, Samples, losses};
use crate::report::Outcome;

/// Runs the sender of a log and compares both.
pub fn replay(file: &Path, name: &str) -> Result<Outcome, String> {
    let log = Columns::read(file)?;
    let times = log.numbers("t_s")?;
    let path = Stretch::all(&times, &log.numbers("capacity_bps")?, &log.numbers("base_rtt_s")?);
    let lost = log.numbers("lost")?;
    let theirs = Samples {
        rate: log.numbers("pacing_rate_bps")?,
        queue: log.numbers("queue_ms")?,
        lost: lost.last().copied().unwrap_or_default(),
        states: log.numbers("cca_mode")?,
    };
    let ours = Run::new(path.clone(), name).samples(&times);
    Ok(super::compare(&ours, &theirs, &times, &path, Limits::default().packet as f64))
}

/// What happens next, at a time in µs: events at one instant in the order in which they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    order: u64,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The pacer lets a packet leave.
    Send,
    /// A packet arrives: its number, when it was sent, whether it is marked.
    Arrive(i64, i64, bool),
    /// An acknowledgement comes: when its packet was sent, and the receiver's counters.
    Acknowledge(i64, [i64; 3]),
}

struct Run {
    link: Bottleneck,
    marks: bool,
    /// Every how many packets one is lost.
    loses: Option<u64>,
    prague: UdpPrague,
    /// The pacing rate after the last event, bytes/s.
    pacing: u64,
    events: BinaryHeap<Reverse<Event>>,
    made: u64,
    sent: i64,
    next_send: u64,
    /// The window is full: the next acknowledgement may open it.
    is_blocked: bool,
    receiver: Counters,
    acked: Counters,
    /// When the last packet arrives, and when the last acknowledgement does.
    arrives: u64,
    comes_back: u64,
}

impl Run {
    fn new(path: Vec<Stretch>, name: &str) -> Self {
        let has = |word: &str| name.contains(word);
        let buffer = if has("nomark-shallow") {
            0.020
        } else if has("handover") || has("sat") {
            0.300
        } else if has("step") || has("loss") {
            0.200
        } else {
            0.100
        };
        let prague = UdpPrague::new(Limits::default(), 1);
        let mut run = Self {
            link: Bottleneck::new(path, buffer),
            marks: !has("nomark"),
            loses: has("loss").then(|| losses(name).unwrap_or(LOSS_EVERY)),
            pacing: prague.pacing_rate(1),
            prague,
            events: BinaryHeap::new(),
            made: 0,
            sent: 0,
            next_send: 1,
            is_blocked: false,
            receiver: Counters::default(),
            acked: Counters::default(),
            arrives: 0,
            comes_back: 0,
        };
        run.add(1, What::Send);
        run
    }

    fn add(&mut self, at: u64, what: What) {
        self.events.push(Reverse(Event { at, order: self.made, what }));
        self.made += 1;
    }

    fn samples(mut self, times: &[f64]) -> Samples {
        let mut samples = Samples { rate: Vec::new(), queue: Vec::new(), lost: 0.0, states: Vec::new() };
        let mut times = times.iter().peekable();
        while times.peek().is_some()
            && let Some(Reverse(event)) = self.events.pop()
        {
            self.handle(event);
            self.pacing = self.prague.pacing_rate(event.at as i64);
            let now = seconds(event.at);
            while times.next_if(|time| us(**time) <= event.at).is_some() {
                samples.rate.push(self.prague.rate() as f64 * 8.0);
                samples.queue.push(self.link.wait(now) * 1e3);
                samples.states.push(if self.prague.mode() == Mode::Rate { 1.0 } else { 0.0 });
            }
        }
        samples.lost = self.link.dropped as f64;
        samples
    }

    fn handle(&mut self, Event { at, what, .. }: Event) {
        let now = seconds(at);
        match what {
            What::Send => self.send(at),
            What::Arrive(number, sent_at, marked) => {
                let receiver = &mut self.receiver;
                receiver.received += 1;
                receiver.ce += i64::from(marked);
                let skipped = number - receiver.received - receiver.lost;
                receiver.lost = if skipped >= 0 { receiver.lost + skipped } else { (receiver.lost - 1).max(0) };
                let counters = [receiver.received, receiver.ce, receiver.lost];
                self.comes_back = self.comes_back.max(us(now + self.link.path(now).rtt / 2.0));
                self.add(self.comes_back, What::Acknowledge(sent_at, counters));
            }
            What::Acknowledge(sent_at, [received, ce, lost]) => {
                self.prague.on_rtt(at as i64 - sent_at);
                self.acked = Counters { received, ce, lost };
                self.prague.on_ack(at as i64, self.acked, self.sent);
                if self.is_blocked && !self.is_full() {
                    self.is_blocked = false;
                    self.next_send = self.next_send.max(at);
                    self.add(self.next_send, What::Send);
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.sent - self.acked.received - self.acked.lost >= self.prague.packet_window() as i64
    }

    fn send(&mut self, at: u64) {
        if self.is_full() {
            self.is_blocked = true;
            return;
        }
        self.sent += 1;
        let now = seconds(at);
        let bytes = self.prague.packet() as f64;
        let is_lost = self.loses.is_some_and(|every| (self.sent as u64).is_multiple_of(every));
        if let Some(passage) = self.link.send(now, bytes, is_lost) {
            self.arrives = self.arrives.max(us(passage.leaves + self.link.path(now).rtt / 2.0));
            let is_marked = self.marks && passage.wait >= MARKED_WAIT;
            self.add(self.arrives, What::Arrive(self.sent, at as i64, is_marked));
        }
        self.next_send = self.next_send.max(at) + us(bytes / self.pacing as f64);
        self.add(self.next_send, What::Send);
    }
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

fn us(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

/// Packets that wait this long are marked, s. A nanosecond less, for sums of doubles.
const MARKED_WAIT: f64 = 0.001 - 1e-9;
/// Losses of `prague-ev-2M-30ms-loss`; the index does not say them.
const LOSS_EVERY: u64 = 150;
