//! RED: random early detection (Floyd, Jacobson 1993), with the gentle option, adaptive max_p
//! (Floyd, Gummadi, Shenker 2001) and ECN marks (RFC 3168 §7).
//!
//! An average of the queue's length, updated at each arrival, decides: below `min` nothing is
//! dropped; from `min` to `max` the probability p_b grows from 0 to `max_p`; with `gentle` it
//! grows on to 1 at twice `max`. Drops are spread evenly: p_a grows with the number of packets
//! since the last drop. Parameters left out are chosen from the link's rate and delay, as ns-2.35
//! does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{BitRate, Bytes, Duration, Fault, Instant, Probability, Stream};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::packet::Ecn;
use crate::net::transmitter::Queue;

use super::fifo::Fifo;

/// Random early detection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait, without the packet in service; further arrivals are dropped. Default: 100 packets, as DropTail.
    pub limit: Amount,
    /// The average below which nothing is dropped, in packets of `mean_packet`. Left out: half of
    /// what the link sends in `target_delay`, and at least 5 (ns-2.35).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The average at which the probability reaches `max_p`, in packets of `mean_packet`. Default:
    /// three times `min` (ns-2.35).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The probability at an average of `max`. Default: 0.1 (ns-2.35; Floyd 1997).
    pub max_p: Probability,
    /// The weight of the present length in the average. Left out: the average follows within ten
    /// round-trip times of three times the link's delay, and of at least 100 ms (ns-2.35).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<Probability>,
    /// Above `max` the probability grows on, up to 1 at twice `max`, instead of jumping to 1.
    /// Default: on.
    pub gentle: bool,
    /// Wait between two drops for at least 1 / p_b packets. Default: on (ns-2.35).
    pub wait: bool,
    /// What the average counts: `bytes` or `packets`. Default: `rfc`: bytes, because a link is busy
    /// with bytes (RFC 7141 §2.1). `ns2`: bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Count>,
    /// Whether a large packet is dropped with a larger probability than a small one. Default:
    /// `rfc`: no (RFC 7141 §2.2). `ns2`: yes (`bytes_`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_size: Option<bool>,
    /// The size of a typical packet, by which lengths in packets are converted. Default: `rfc`:
    /// 1500 B. `ns2`: 500 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// The average queueing delay that `min` is chosen for. Default: 5 ms (ns-2.35).
    pub target_delay: Duration,
    /// Adapt `max_p`, so that the average stays in the middle of `min` and `max`. Default: off.
    pub adaptive: bool,
    /// The time between two adaptations. Default: 500 ms (Floyd, Gummadi, Shenker 2001).
    pub interval: Duration,
    /// What an adaptation adds to `max_p`, but at most a quarter of it. Default: 0.01 (the same).
    pub increase: Probability,
    /// By what an adaptation multiplies `max_p`. Default: 0.9 (the same).
    pub decrease: Probability,
    /// The highest `max_p` that adaptation gives. Default: 0.5 (the same).
    pub top: Probability,
    /// The lowest. Left out: 0.01, or one packet of 1000 B in 100 ms at the link's rate if that is
    /// less (ns-2.35).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottom: Option<Probability>,
    /// Mark packets of ECN-capable transports instead of dropping them early. Default: off.
    pub ecn: bool,
    /// The probability p_b above which ECN-capable packets are dropped all the same (RFC 3168 §7).
    /// Default: `rfc`: `max_p`. `ns2`: 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_p: Option<Probability>,
    /// Choose the parameters left out anew when the link's rate changes. Default: `rfc`: yes.
    /// `ns2`: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow_rate: Option<bool>,
}

/// What a length is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Count {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

impl Default for Config {
    fn default() -> Self {
        let probability = |p| Probability::new(p).expect("a constant between 0 and 1");
        Self {
            limit: Amount::Packets(100),
            min: None,
            max: None,
            max_p: probability(0.1),
            weight: None,
            gentle: true,
            wait: true,
            count: None,
            by_size: None,
            mean_packet: None,
            target_delay: Duration::from_millis(5),
            adaptive: false,
            interval: Duration::from_millis(500),
            increase: probability(0.01),
            decrease: probability(0.9),
            top: probability(0.5),
            bottom: None,
            ecn: false,
            mark_p: None,
            follow_rate: None,
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        let ns2 = site.profile.is_ns2();
        let config = Self {
            count: self.count.or(Some(Count::Bytes)),
            by_size: self.by_size.or(Some(ns2)),
            mean_packet: self.mean_packet.or(Some(Bytes::new(if ns2 { 500 } else { 1500 }))),
            follow_rate: self.follow_rate.or(Some(!ns2)),
            mark_p: self.mark_p.or_else(|| ns2.then(|| Self::default().max_p)),
            ..self.clone()
        };
        let stream = site.streams.stream(site.name, "red");
        let red = Red::new(config, site.place, site.rate, site.delay, stream);
        Queue::Asked(Box::new(Red { ns2, ..red }))
    }

    fn check(&self) -> Result<(), Fault> {
        let fault = |field, message: String, expected: &str| Err(Fault::new(field, message, expected));
        for (field, value) in [("min", self.min), ("max", self.max)] {
            if let Some(value) = value.filter(|v| !(0.0..=1e12).contains(v)) {
                return fault(field, format!("{field} is {value}"), "expected a number of packets");
            }
        }
        // Left out, the maximum is three times the minimum, which a maximum alone may undercut.
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min >= max
        {
            return fault("min", format!("min ({min}) is not below max ({max})"), "");
        }
        if self.mean_packet == Some(Bytes::new(0)) {
            return fault(
                "mean_packet",
                "a typical packet of no bytes".to_owned(),
                "expected a size, such as \"1500 B\"",
            );
        }
        if self.adaptive && self.interval == Duration::ZERO {
            return fault("interval", "adaptations without time between them".to_owned(), "expected more than 0 s");
        }
        if let Some(bottom) = self.bottom.filter(|bottom| *bottom > self.top) {
            let message = format!("bottom ({}) is above top ({})", bottom.get(), self.top.get());
            return fault("bottom", message, "");
        }
        Ok(())
    }
}

/// The queue.
pub struct Red {
    config: Config,
    place: Place,
    stream: Stream,
    delay: Duration,
    curve: Curve,
    weight: f64,
    bottom: f64,
    /// Packets of the mean size that the link sends in a second.
    capacity: f64,
    max_p: f64,
    adapted_at: Instant,
    average: Average,
    /// Packets and bytes since the last drop or mark.
    spacing: Spacing,
    /// The average was above `min` at the last arrival.
    above_min: bool,
    fifo: Fifo,
    /// Spacing and sizes count at a probability of 1 too, so that small packets may pass (ns-2.35, `use_mark_p_`).
    ns2: bool,
}

impl Red {
    /// An empty queue in front of a link of this rate and delay.
    pub fn new(config: Config, place: Place, rate: BitRate, delay: Duration, stream: Stream) -> Self {
        let mut red = Self {
            place,
            stream,
            delay,
            curve: Curve { min: 0.0, max: 0.0, gentle: config.gentle },
            weight: 0.0,
            bottom: 0.0,
            capacity: 0.0,
            max_p: config.max_p.get(),
            adapted_at: Instant::ZERO,
            average: Average { value: 0.0, idle_since: Some(Instant::ZERO) },
            spacing: Spacing::default(),
            above_min: false,
            fifo: Fifo::new(config.limit),
            ns2: false,
            config,
        };
        red.choose_parameters(rate);
        red
    }

    /// Chooses what the scenario leaves out, as ns-2.35 does (`REDQueue::initialize_params`).
    fn choose_parameters(&mut self, rate: BitRate) {
        let mean = self.mean_packet();
        let capacity = rate.as_bytes_per_s() / mean;
        self.capacity = capacity;
        self.weight = self.config.weight.map_or_else(
            || {
                let round_trip = (3.0 * (self.delay.as_secs_f64() + 1.0 / capacity)).max(0.1);
                1.0 - libm::exp(-1.0 / (10.0 * round_trip * capacity))
            },
            Probability::get,
        );
        let min = self.config.min.unwrap_or((capacity * self.config.target_delay.as_secs_f64() / 2.0).max(5.0));
        let max = self.config.max.unwrap_or(3.0 * min);
        let unit = if self.counts_bytes() { mean } else { 1.0 };
        self.curve = Curve { min: min * unit, max: max * unit, gentle: self.config.gentle };
        self.bottom = self.config.bottom.map_or((80_000.0 / rate.as_bps() as f64).min(0.01), Probability::get);
    }

    fn counts_bytes(&self) -> bool {
        self.config.count == Some(Count::Bytes)
    }

    /// The size of a typical packet, in bytes.
    fn mean_packet(&self) -> f64 {
        self.config.mean_packet.map_or(1500.0, |b| b.get().max(1) as f64)
    }

    /// The backlog, in the unit of the average.
    fn length(&self) -> u64 {
        let Backlog { packets, bytes } = self.fifo.backlog();
        if self.counts_bytes() { bytes } else { packets }
    }

    /// Adaptive RED: keeps the average between 0.4 and 0.6 of the way from `min` to `max`.
    fn adapt(&mut self, now: Instant) {
        if now <= self.adapted_at + self.config.interval {
            return;
        }
        let Curve { min, max, .. } = self.curve;
        let part = 0.4 * (max - min);
        if self.average.value < min + part && self.max_p > self.bottom {
            self.max_p *= self.config.decrease.get();
            self.adapted_at = now;
        } else if self.average.value > max - part && self.max_p < self.config.top.get() {
            self.max_p += self.config.increase.get().min(self.max_p / 4.0);
            self.adapted_at = now;
        }
    }

    /// What becomes of an arriving packet of this size.
    fn judge(&mut self, size: u32) -> Verdict {
        let length = self.length();
        self.spacing.packets += 1;
        self.spacing.bytes += u64::from(size);
        let mut verdict = Verdict::Keep;
        if self.average.value >= self.curve.min && length > 1 {
            let p_b = self.curve.probability(self.average.value, self.max_p);
            if p_b >= 1.0 && !self.ns2 {
                verdict = Verdict::Drop(Cause::Early);
            } else if !self.above_min {
                // The average has just crossed `min`: spacing counts from here.
                self.spacing = Spacing { packets: 1, bytes: u64::from(size) };
                self.above_min = true;
            } else if self.stream.unit() < self.spaced(p_b, size) {
                let may_mark = p_b <= self.config.mark_p.unwrap_or(self.config.max_p).get();
                verdict = if self.config.ecn && may_mark { Verdict::MarkOrDrop } else { Verdict::Drop(Cause::Early) };
            }
        } else {
            self.above_min = false;
        }
        if self.fifo.is_full(size) { Verdict::Drop(Cause::Overflow) } else { verdict }
    }

    /// p_a: the probability that spaces drops evenly, given how long the last one is ago.
    fn spaced(&self, p_b: f64, size: u32) -> f64 {
        let by_size = self.config.by_size == Some(true);
        let mean = self.mean_packet();
        let count = if by_size { libm::trunc(self.spacing.bytes as f64 / mean) } else { self.spacing.packets as f64 };
        let p_a = spaced(p_b, count, self.config.wait);
        if by_size && p_a < 1.0 { p_a * f64::from(size) / mean } else { p_a }
    }
}

/// Floyd and Jacobson's method 2: intervals between drops are uniform in 1 … 1/p_b − 1 packets (the count includes the packet that comes), or, with
/// `wait`, in 1/p_b … 2/p_b − 1.
pub(super) fn spaced(p_b: f64, count: f64, wait: bool) -> f64 {
    let progress = count * p_b;
    let (from, to) = if wait { (1.0, 2.0) } else { (0.0, 1.0) };
    if progress < from {
        0.0
    } else if progress < to {
        (p_b / (to - progress)).min(1.0)
    } else {
        1.0
    }
}

/// What becomes of an arriving packet.
enum Verdict {
    Keep,
    /// Marked if its transport understands marks, dropped if not.
    MarkOrDrop,
    Drop(Cause),
}

/// How much arrived since the last drop or mark.
#[derive(Clone, Copy, Default)]
struct Spacing {
    packets: u64,
    bytes: u64,
}

/// The probability of dropping by the average length.
#[derive(Clone, Copy)]
pub(super) struct Curve {
    pub min: f64,
    pub max: f64,
    pub gentle: bool,
}

impl Curve {
    /// p_b at this average. (ns-2.35 keeps the gentle part's slope at the first `max_p` when that
    /// adapts; here the slope follows, so that the curve has no step.)
    pub fn probability(&self, average: f64, max_p: f64) -> f64 {
        let p = if average < self.max {
            max_p * (average - self.min) / (self.max - self.min)
        } else if self.gentle {
            max_p + (1.0 - max_p) * (average - self.max) / self.max
        } else {
            1.0
        };
        p.clamp(0.0, 1.0)
    }
}

/// The average length of the queue.
pub(super) struct Average {
    pub value: f64,
    /// Since when the queue has been empty and the link free.
    pub idle_since: Option<Instant>,
}

impl Average {
    /// The idle time up to now counts with this weight and capacity, which may change.
    pub fn age(&mut self, now: Instant, weight: f64, capacity: f64) {
        if let Some(since) = &mut self.idle_since {
            let missed = libm::trunc(capacity * now.since(*since).as_secs_f64());
            self.value *= libm::pow(1.0 - weight, missed);
            *since = now;
        }
    }

    /// An arrival meets this length. An idle time counts as if packets of the mean size, of which
    /// the link sends `capacity` in a second, had met an empty queue.
    pub fn update(&mut self, now: Instant, length: u64, weight: f64, capacity: f64) {
        self.age(now, weight, capacity);
        self.idle_since = None;
        self.value = (1.0 - weight) * self.value + weight * length as f64;
    }
}

impl QueueDiscipline for Red {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let now = core.now();
        self.average.update(now, self.length(), self.weight, self.capacity);
        if self.config.adaptive {
            self.adapt(now);
        }
        let size = core.packet(&packet).size;
        let cause = match self.judge(size) {
            Verdict::Keep => None,
            Verdict::MarkOrDrop if core.packet(&packet).ecn != Ecn::NotEct => {
                core.mark(&packet, self.place);
                self.spacing = Spacing::default();
                None
            }
            Verdict::MarkOrDrop => Some(Cause::Early),
            Verdict::Drop(cause) => Some(cause),
        };
        if let Some(cause) = cause {
            self.spacing = Spacing::default();
            return core.drop(packet, self.place, cause);
        }
        self.fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let Some(packet) = self.fifo.pop(core) else {
            self.average.idle_since.get_or_insert(core.now());
            return None;
        };
        self.average.idle_since = None;
        Some(packet)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.fifo.put_back(core, packet);
    }

    fn on_capacity(&mut self, now: Instant, rate: BitRate) {
        if self.config.follow_rate != Some(false) {
            self.average.age(now, self.weight, self.capacity);
            self.choose_parameters(rate);
        }
    }

    fn on_held(&mut self, held: Backlog) {
        self.fifo.hold(held);
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let unit = if self.counts_bytes() { self.mean_packet() } else { 1.0 };
        probe.value("average_packets", self.average.value / unit);
        probe.value("max_p", self.max_p);
    }
}

impl Timed for Red {}

#[cfg(test)]
mod tests;
