//! EWA: explicit window adaptation (Kalampoukas, Varma, Ramakrishnan 2002).
//!
//! A DropTail FIFO that tells the senders what its buffer can take: it writes a window into the
//! acknowledgements that come back over its link, if theirs is larger. The window is α·log₂(B − q)
//! segments, with B − q the free buffer. α adapts periodically: additively up while the average
//! queue is short, multiplicatively down while it is long.
//!
//! It keeps no state of flows. It is without effect if acknowledgements come back another way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::units::Amount;
use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Instant};
use lasthop_net::net::Pkt;
use lasthop_net::net::core::Core;
use lasthop_net::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use lasthop_net::net::machine::Timed;
use lasthop_net::net::observe::{Place, Probe};
use lasthop_net::net::operations::Operations;
use lasthop_net::net::packet::{Header, Packet};
use lasthop_net::net::transmitter::Queue;

use lasthop_net::queues::droptail::DropTail;

/// Explicit window adaptation. The constants are those of the later literature on EWA; the paper
/// itself could not be consulted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// B: how much may wait, without the packet in service; further arrivals are dropped. Default: 100 packets, as DropTail.
    pub limit: Amount,
    /// The segment in which windows are counted, and by which a limit in bytes becomes packets: the
    /// payload of the flows' segments. Default: 1460 B.
    pub segment: Bytes,
    /// T: the time between two computations of α and the average queue. Default: 10 ms.
    pub interval: Duration,
    /// g: the weight of the present queue in the average. Default: 1/32.
    pub gain: f64,
    /// θ: the part of the buffer up to which the average queue counts as short. Default: 0.2.
    pub threshold: f64,
    /// What a computation adds to α while the average queue is short. Default: 1/8.
    pub increase: f64,
    /// By what it multiplies α while it is long. Default: 31/32.
    pub decrease: f64,
    /// α at the start. Default: 1.
    pub alpha: f64,
    /// Keep α when the rate of the link changes, instead of beginning anew. Default: off.
    pub keep_alpha: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit: Amount::Packets(100),
            segment: Bytes::new(1460),
            interval: Duration::from_millis(10),
            gain: 1.0 / 32.0,
            threshold: 0.2,
            increase: 0.125,
            decrease: 31.0 / 32.0,
            alpha: 1.0,
            keep_alpha: false,
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Ewa::new(self.clone(), site.place)))
    }

    fn check(&self) -> Result<(), Fault> {
        let fault = |field, message: String, expected: &str| Err(Fault::new(field, message, expected));
        if !(1..=65_495).contains(&self.segment.get()) {
            return fault("segment", format!("a segment of {}", self.segment), "expected from 1 B to 65495 B");
        }
        if self.interval == Duration::ZERO {
            return fault("interval", "computations without time between them".to_owned(), "expected more than 0 s");
        }
        for (field, value) in [("gain", self.gain), ("decrease", self.decrease)] {
            if !(value > 0.0 && value <= 1.0) {
                return fault(field, format!("{field} is {value}"), "expected a number above 0, at most 1");
            }
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            return fault(
                "threshold",
                format!("threshold is {}", self.threshold),
                "expected a part of the buffer, 0 to 1",
            );
        }
        for (field, value, least) in [("increase", self.increase, 0.0), ("alpha", self.alpha, f64::MIN_POSITIVE)] {
            if !(least..=1e6).contains(&value) {
                return fault(field, format!("{field} is {value}"), "expected a positive number");
            }
        }
        let buffer = buffer(&self.limit, self.segment);
        if buffer < 2.0 {
            return fault("limit", "a buffer of less than two segments".to_owned(), "expected room for two at least");
        }
        if self.increase > 0.0 && buffer / self.increase > MOST_STEPS {
            let message = format!("α grows to {buffer} in steps of {}", self.increase);
            return fault("increase", message, "expected 0, or more");
        }
        Ok(())
    }
}

/// The most steps in which α may grow from nothing to B.
const MOST_STEPS: f64 = 1e7;

/// B in segments.
fn buffer(limit: &Amount, segment: Bytes) -> f64 {
    match limit {
        Amount::Packets(most) => *most as f64,
        Amount::Bytes(most) => most.get() as f64 / segment.get() as f64,
    }
}

/// The queue.
pub struct Ewa {
    config: Config,
    feedback: Feedback,
    queue: DropTail,
    /// How many intervals of α are over; the next computation is at the end of the following one.
    computed: u64,
    /// The rate of the link; `None` before the first word.
    rate: Option<BitRate>,
    /// Acknowledgements that came back, those among them that were rewritten, and what each cost.
    seen: u64,
    rewritten: u64,
    work: Operations,
    /// What the window was that was written last, bytes.
    window: Option<u32>,
}

impl Ewa {
    /// An empty queue whose drops are counted at `place`.
    pub fn new(config: Config, place: Place) -> Self {
        Self {
            feedback: Feedback::new(&config),
            queue: DropTail::new(config.limit.into(), place),
            config,
            computed: 0,
            rate: None,
            seen: 0,
            rewritten: 0,
            work: Operations::default(),
            window: None,
        }
    }

    /// q, in segments.
    fn length(&self) -> f64 {
        match self.config.limit {
            Amount::Packets(_) => self.queue.backlog().packets as f64,
            Amount::Bytes(_) => self.queue.backlog().bytes as f64 / self.config.segment.get() as f64,
        }
    }

    fn next_computation(&self) -> Instant {
        Instant::ZERO + self.config.interval * (self.computed + 1)
    }

    /// Makes the computations that are due. The queue is not woken before its first packet: until then the average is zero, and α grows
    /// until another computation would change nothing.
    fn compute(&mut self, now: Instant) {
        let due = now.as_nanos() / self.config.interval.as_nanos();
        let length = self.length();
        while self.computed < due {
            let changes = self.feedback.compute(length);
            self.computed = if changes { self.computed + 1 } else { due };
        }
    }
}

impl QueueDiscipline for Ewa {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        self.compute(core.now());
        self.queue.enqueue(core, packet);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        self.queue.dequeue(core)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.queue.put_back(core, packet);
    }

    fn on_held(&mut self, held: Backlog) {
        self.queue.on_held(held);
    }

    fn on_return(&mut self, now: Instant, packet: &mut Packet) {
        if !packet.is_pure_ack() {
            return;
        }
        let Header::Tcp(header) = &mut packet.header else { return };
        self.compute(now);
        self.seen += 1;
        let length = self.length();
        let window = self.feedback.window(length, &mut self.work);
        let bytes = self.work.multiply(window, self.config.segment.get() as f64) as u32;
        self.window = Some(bytes);
        if bytes < header.window {
            header.window = bytes;
            self.rewritten += 1;
        }
    }

    fn on_capacity(&mut self, now: Instant, rate: BitRate) {
        self.compute(now);
        if self.rate.replace(rate).is_some_and(|before| before != rate) && !self.config.keep_alpha {
            self.feedback.begin(self.config.alpha);
        }
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("alpha", self.feedback.alpha);
        probe.value("average_queue_packets", self.feedback.average);
        if let Some(window) = self.window {
            probe.value("window_bytes", f64::from(window));
        }
        probe.value("acks_seen", self.seen as f64);
        probe.value("acks_rewritten", self.rewritten as f64);
        // Packets forward cost nothing; an acknowledgement also costs a logarithm.
        self.work.show_mean(probe, Operations::BACK, self.seen);
        probe.value("state_bytes", size_of::<Feedback>() as f64);
    }
}

impl Timed for Ewa {
    fn on_timeout(&mut self, now: Instant) {
        self.compute(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        Some(self.next_computation())
    }
}

/// The computation of windows. Lengths and windows are in segments.
struct Feedback {
    /// B.
    buffer: f64,
    /// θB.
    threshold: f64,
    gain: f64,
    increase: f64,
    decrease: f64,
    /// α, between what gives one segment with an empty queue and B.
    alpha: f64,
    /// q̄.
    average: f64,
}

impl Feedback {
    fn new(config: &Config) -> Self {
        let buffer = buffer(&config.limit, config.segment);
        let mut feedback = Self {
            buffer,
            threshold: config.threshold * buffer,
            gain: config.gain,
            increase: config.increase,
            decrease: config.decrease,
            alpha: 0.0,
            average: 0.0,
        };
        feedback.begin(config.alpha);
        feedback
    }

    /// α begins anew.
    fn begin(&mut self, alpha: f64) {
        self.alpha = alpha.clamp(1.0 / libm::log2(self.buffer), self.buffer);
    }

    /// An interval is over, with this much waiting. Whether anything is other than before.
    fn compute(&mut self, length: f64) -> bool {
        let before = (self.average, self.alpha);
        self.average += self.gain * (length - self.average);
        let alpha =
            if self.average <= self.threshold { self.alpha + self.increase } else { self.alpha * self.decrease };
        self.begin(alpha);
        before != (self.average, self.alpha)
    }

    /// The window that goes back, at least one segment.
    fn window(&self, length: f64, work: &mut Operations) -> f64 {
        let free = work.subtract(self.buffer, length);
        if free < 2.0 { 1.0 } else { work.multiply(self.alpha, libm::log2(free)).max(1.0) }
    }
}

#[cfg(test)]
mod tests;
