//! The sender and the link with which the logs were made (`harness_cc` of the index), with a controller of the core.
//!
//! Packets of 1200 bytes without headers, an acknowledgement for each, none of them lost; one queue, drop-tail, in which the packet in
//! service does not count; half a round trip each way, in which no packet overtakes another. A packet leaves when the window has room and
//! the pacer lets it; lost data count as sent again at once. At one instant a packet leaves first, then the link goes on, then
//! acknowledgements come, then timers. The application writes into a bucket. These orders were found from the logs of quinn's NewReno, all of which
//! follow to the last digit.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::implementation::Implementation;
use super::path::Path;
use super::quic::{Acked, PACKET, Quic};
use super::rtt::Rtt;

/// What a log has of an instant, in its units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    pub window: u64,
    /// Bytes a second.
    pub pacing: Option<u64>,
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// ns.
    pub srtt: u64,
    /// Packets since the last sample.
    pub delivered: u64,
    /// Packets, in all.
    pub lost: u64,
    /// Bytes that wait.
    pub queue: u64,
    /// The state of BBR.
    pub state: Option<f64>,
}

/// What happens next, at a time in µs: the link before all else, the rest in the order in which it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    what: What,
    order: u64,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The link has served a packet.
    Served,
    /// A packet is at the receiver, or its acknowledgement at the sender.
    Moved { back: bool },
}

/// What may happen next beside the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Send,
    Served,
    Moved,
    LossTimer,
    ProbeTimer,
}

/// A run under way.
pub struct Harness<'a> {
    path: &'a Path,
    quic: Quic,
    rtt: Rtt,
    now: u64,
    events: BinaryHeap<Reverse<Event>>,
    made: u64,
    /// The link: waiting packets, and whether one is served.
    queue: VecDeque<u64>,
    serving: bool,
    /// When the last packet arrives, and the last acknowledgement.
    arrives: u64,
    comes_back: u64,
    /// Packets in flight, and when each was sent.
    in_flight: BTreeMap<u64, u64>,
    next: u64,
    newest_acked: u64,
    /// When the pacer lets the next packet leave.
    release: u64,
    /// When the probe timer was set: at each packet sent, acknowledgement and timer.
    timer_set: u64,
    probes: u32,
    /// Bytes that the application has written and that have not left, at this time.
    bucket: (f64, u64),
    delivered: u64,
    lost: u64,
}

impl<'a> Harness<'a> {
    pub fn new(path: &'a Path, implementation: &Implementation) -> Self {
        Self {
            path,
            quic: Quic::new(implementation),
            rtt: Rtt::default(),
            now: 0,
            events: BinaryHeap::new(),
            made: 0,
            queue: VecDeque::new(),
            serving: false,
            arrives: 0,
            comes_back: 0,
            in_flight: BTreeMap::new(),
            next: 1,
            newest_acked: 0,
            release: 0,
            timer_set: 0,
            probes: 0,
            bucket: (0.0, 0),
            delivered: 0,
            lost: 0,
        }
    }

    /// Runs up to the last of these times, in order, and looks at each, after all that happens then.
    pub fn samples(mut self, times: &[u64]) -> Vec<Sample> {
        let mut samples = Vec::with_capacity(times.len());
        for time in times {
            while let Some((at, next)) = self.upcoming()
                && at <= *time
            {
                self.now = at;
                self.write(next);
                self.handle(next);
            }
            samples.push(Sample {
                window: self.quic.window(),
                pacing: self.quic.rate(self.rtt.smoothed()),
                ssthresh: self.quic.ssthresh(),
                in_flight: self.in_flight.len() as u64 * PACKET,
                srtt: self.rtt.smoothed().unwrap_or_default(),
                delivered: std::mem::take(&mut self.delivered),
                lost: self.lost,
                queue: self.queue.len() as u64 * PACKET,
                state: self.quic.bbr_state(),
            });
        }
        samples
    }

    /// What happens next, and when.
    fn upcoming(&mut self) -> Option<(u64, Next)> {
        let event = self.events.peek().map(|Reverse(event)| {
            let next = if event.what == What::Served { Next::Served } else { Next::Moved };
            (event.at, next)
        });
        let send = self.sends_at().map(|at| (at, Next::Send));
        let lost = self.loss_timer().map(|at| (at.max(self.now), Next::LossTimer));
        let probe = self.probe_timer().map(|at| (at.max(self.now), Next::ProbeTimer));
        [event, send, lost, probe].into_iter().flatten().min()
    }

    fn handle(&mut self, next: Next) {
        match next {
            Next::Send => {
                if self.is_limited() {
                    self.bucket.0 -= PACKET as f64;
                }
                self.send();
            }
            Next::Served | Next::Moved => {
                let Some(Reverse(event)) = self.events.pop() else { return };
                match event.what {
                    What::Served => {
                        self.arrives = self.arrives.max(self.now + self.half());
                        self.add(self.arrives, What::Moved { back: false }, event.number);
                        self.serve();
                    }
                    What::Moved { back: false } => {
                        self.comes_back = self.comes_back.max(self.now + self.half());
                        self.add(self.comes_back, What::Moved { back: true }, event.number);
                    }
                    What::Moved { back: true } => self.on_ack(event.number),
                }
            }
            Next::LossTimer => {
                self.timer_set = self.now;
                let lost = self.take_lost();
                self.quic.on_timer(self.now, self.next, &lost);
            }
            Next::ProbeTimer => {
                self.probes += 1;
                self.send();
            }
        }
    }

    fn add(&mut self, at: u64, what: What, number: u64) {
        self.events.push(Reverse(Event { at, what, order: self.made, number }));
        self.made += 1;
    }

    /// Half a round trip.
    fn half(&self) -> u64 {
        (self.path.at(self.now).rtt / 2.0).round() as u64
    }

    /// When the next packet leaves, if nothing else happens before.
    fn sends_at(&mut self) -> Option<u64> {
        let in_flight = self.in_flight.len() as u64;
        if (in_flight + 1) * PACKET > self.quic.window() {
            self.quic.on_full(self.next);
            return None;
        }
        let release = self.release.max(self.now);
        let (Some(rate), changes) = self.path.writing(release) else { return Some(release) };
        let missing = PACKET as f64 - self.bucket.0;
        let takes = if missing <= 0.0 { 0.0 } else { (missing * 8e6 / rate - 1e-9).ceil() };
        let written = (self.bucket.1 as f64 + takes).min(changes as f64) as u64;
        if written > self.now {
            self.quic.on_app_limited(in_flight);
        }
        Some(release.max(written))
    }

    /// Whether the application has a rate.
    fn is_limited(&self) -> bool {
        self.path.writing(self.now).0.is_some()
    }

    /// The application writes up to now. The bucket overflows when something else happens than that a packet leaves.
    fn write(&mut self, next: Next) {
        let (mut bytes, since) = self.bucket;
        if let (Some(rate), _) = self.path.writing(self.now) {
            bytes += (self.now - since) as f64 * rate / 8e6;
            if next != Next::Send {
                bytes = bytes.min(BUCKET);
            }
        }
        self.bucket = (bytes, self.now);
    }

    fn send(&mut self) {
        let number = self.next;
        self.next += 1;
        self.in_flight.insert(number, self.now);
        self.timer_set = self.now;
        let smoothed = self.rtt.smoothed();
        let more = !self.is_limited();
        self.quic.on_sent(self.now, number, self.in_flight.len() as u64, smoothed, more);
        let gap = self.quic.rate(smoothed).map_or(0.0, |rate| PACKET as f64 * 1e6 / rate as f64);
        self.release = self.release.max(self.now) + gap.min(MOST_GAP).round() as u64;
        let is_lost = self.path.loses.is_some_and(|every| number.is_multiple_of(every));
        if is_lost || (self.queue.len() as u64 + 1) * PACKET > self.path.buffer {
            return;
        }
        self.queue.push_back(number);
        if !self.serving {
            self.serve();
        }
    }

    /// The link takes the next packet.
    fn serve(&mut self) {
        let next = self.queue.pop_front();
        self.serving = next.is_some();
        if let Some(number) = next {
            let takes = (PACKET as f64 * 8e6 / self.path.at(self.now).rate).round() as u64;
            self.add(self.now + takes.max(1), What::Served, number);
        }
    }

    fn on_ack(&mut self, number: u64) {
        // One that was taken for lost too early tells nothing.
        let Some(sent_at) = self.in_flight.remove(&number) else { return };
        self.probes = 0;
        self.timer_set = self.now;
        self.newest_acked = self.newest_acked.max(number);
        self.rtt.update(self.now - sent_at);
        self.delivered += 1;
        let in_flight = self.in_flight.len() as u64;
        let lost = self.take_lost();
        let acked = Acked {
            now: self.now,
            number,
            sent_at,
            srtt: self.rtt.smoothed().unwrap_or_default(),
            rttvar: self.rtt.variation(),
            in_flight,
            first: self.in_flight.keys().next().copied().unwrap_or(self.next),
            next: self.next,
            app_limited: self.is_limited(),
        };
        self.quic.on_ack(&acked, &lost);
    }

    /// Takes packets out of the flight that are lost: three later ones have arrived (RFC 9002 §6.1.1), or their time is over.
    fn take_lost(&mut self) -> Vec<(u64, u64)> {
        let delay = self.rtt.loss_delay();
        let older = self.in_flight.range(..self.newest_acked);
        let is_lost =
            |(number, sent_at): &(&u64, &u64)| **number + 3 <= self.newest_acked || **sent_at + delay <= self.now;
        let lost: Vec<(u64, u64)> = older.filter(is_lost).map(|(number, sent_at)| (*number, *sent_at)).collect();
        for (number, _) in &lost {
            self.in_flight.remove(number);
        }
        self.lost += lost.len() as u64;
        lost
    }

    fn loss_timer(&self) -> Option<u64> {
        let (_, oldest) = self.in_flight.range(..self.newest_acked).next()?;
        Some(oldest + self.rtt.loss_delay())
    }

    fn probe_timer(&self) -> Option<u64> {
        if self.in_flight.is_empty() {
            return None;
        }
        Some(self.timer_set + (self.rtt.probe_timeout() << self.probes.min(MOST_DOUBLINGS)))
    }
}

/// How much the application has written at most, bytes. It is not in the index: the logs of quinn's and quiche's controllers follow for
/// 2993 to 3005.
const BUCKET: f64 = 3_000.0;
/// The pacer's longest pause, µs.
const MOST_GAP: f64 = 60e6;
/// How often the probe timeout doubles at most.
const MOST_DOUBLINGS: u32 = 16;
