//! DualPI2: two queues, one for low-latency (L4S) and one for classic traffic, whose AQMs are coupled, so that flows of both kinds share a link
//! although their congestion controls answer marks differently (RFC 9332).
//!
//! One controller has a base probability p′ for both. A classic packet is dropped or marked with p′², an L4S packet marked with k·p′, or by the
//! delay of its own queue if that asks for more. Above k·p′ = 1 both lose packets with p′².
//!
//! Two dialects: the pseudocode of RFC 9332 Appendix A (with A.2's edge cases), which marks without randomness, and Linux's `sch_dualpi2` of 2025,
//! with its integers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{BitRate, Bytes, Duration, Fault, Instant, Probability};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::packet::{Ecn, Packet};
use crate::net::transmitter::Queue;

use super::ecn::mark_if_capable;
use super::fifo::Fifo;
use super::pie::MOST_GAIN;
use super::updates::Updates;

mod base;
mod likelihood;
mod scheduler;

pub use base::Dialect;
pub use scheduler::Scheduler;

use base::Base;
use likelihood::Likelihood;
use scheduler::{Class, MTU, Schedule};

/// Two coupled queues, for low-latency (L4S) and for classic traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Whose arithmetic and defaults. Default: `rfc`.
    pub dialect: Dialect,
    /// How much may wait in both queues together; further arrivals are dropped. Default: `rfc`: what the link sends in 250 ms at the highest
    /// rate that it has had, and at least 15 kB. `linux`: 10000 packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Amount>,
    /// The queueing delay that the controller aims at. Default: 15 ms (RFC 9332 Figure 2; Linux).
    pub target: Duration,
    /// The time between two updates of the base probability, Tupdate. Default: `rfc`: the least of `target` and a third of `rtt_max`. `linux`:
    /// 16 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Duration>,
    /// The longest round-trip time for which the controller of `rfc` is to be stable. Default: 100 ms (RFC 9332 Figure 2).
    pub rtt_max: Duration,
    /// By how much an update moves p′ for each second of delay above the target, in Hz. Default: `rfc`: 0.1·update/rtt_max². `linux`: 41/256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// By how much an update moves p′ for each second by which the delay has grown, in Hz. Default: `rfc`: 0.3/rtt_max. `linux`: 819/256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The coupling factor: an L4S packet is marked with `k` times p′. Default: 2 (RFC 9332 Figure 2; Linux).
    pub k: f64,
    /// The delay in the L queue up to which its own AQM marks nothing, minTh. Default: `rfc`: 800 us (RFC 9332 Figure 2). `linux`: 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_th: Option<Duration>,
    /// The delay over which the marking of that AQM grows from nothing to all; zero is a step. Default: `rfc`: 400 us (RFC 9332 Figure 2).
    /// `linux`: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Duration>,
    /// Which of the two queues is served. Default: `wrr` (RFC 9332 Appendix A.2; Linux).
    pub scheduler: Scheduler,
    /// The weight of the C queue under `wrr`. Default: `rfc`: 1/16 (RFC 9332 §4.2.2). `linux`: 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c_weight: Option<Probability>,
    /// By how much longer than an L packet a C packet waits under `time-shifted`, tshift. Default: 50 ms (RFC 9332 Appendix A.2).
    pub shift: Duration,
    /// What happens when all L4S packets are marked and that is not enough. Default: `drop` (RFC 9332 §4.2.3; Linux).
    pub overload: Overload,
}

/// What happens when the marking of L4S packets saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DualPi2Overload")]
#[serde(rename_all = "lowercase")]
pub enum Overload {
    /// Packets of both queues are dropped with p′², whether they can be marked or not.
    #[default]
    Drop,
    /// p′ grows no further, so that the queues do until they overflow.
    Delay,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dialect: Dialect::Rfc,
            limit: None,
            target: Duration::from_millis(15),
            update: None,
            rtt_max: Duration::from_millis(100),
            alpha: None,
            beta: None,
            k: 2.0,
            min_th: None,
            range: None,
            scheduler: Scheduler::Wrr,
            c_weight: None,
            shift: Duration::from_millis(50),
            overload: Overload::Drop,
        }
    }
}

impl Config {
    fn is_linux(&self) -> bool {
        self.dialect == Dialect::Linux
    }

    /// Tupdate.
    fn update(&self) -> Duration {
        self.update.unwrap_or_else(|| {
            let third = Duration::from_nanos(self.rtt_max.as_nanos().div_ceil(3));
            if self.is_linux() { Duration::from_millis(16) } else { self.target.min(third) }
        })
    }

    /// α and β, in Hz.
    fn gains(&self) -> (f64, f64) {
        let rtt_max = self.rtt_max.as_secs_f64();
        let (alpha, beta) = match self.dialect {
            Dialect::Rfc => (0.1 * self.update().as_secs_f64() / (rtt_max * rtt_max), 0.3 / rtt_max),
            Dialect::Linux => (41.0 / 256.0, 819.0 / 256.0),
        };
        (self.alpha.unwrap_or(alpha), self.beta.unwrap_or(beta))
    }

    /// minTh and the width of the ramp.
    fn ramp(&self) -> Ramp {
        let (min_th, range) = if self.is_linux() { (1_000, 0) } else { (800, 400) };
        let [min_th, range] = [min_th, range].map(Duration::from_micros);
        Ramp { min_th: self.min_th.unwrap_or(min_th), range: self.range.unwrap_or(range) }
    }

    /// The weight of the C queue.
    fn weight(&self) -> f64 {
        self.c_weight.map_or(if self.is_linux() { 0.1 } else { 1.0 / 16.0 }, Probability::get)
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(DualPi2::new(self.clone(), site)))
    }

    fn check(&self) -> Result<(), Fault> {
        for (field, value) in [("target", self.target), ("update", self.update()), ("rtt_max", self.rtt_max)] {
            if value == Duration::ZERO {
                return Err(Fault::new(field, format!("{field} is zero"), "expected a time, such as \"15 ms\""));
            }
        }
        let (alpha, beta) = self.gains();
        for (field, value) in [("alpha", alpha), ("beta", beta)] {
            if !(0.0..=MOST_GAIN).contains(&value) {
                return Err(Fault::new(field, format!("{field} is {value}"), "expected a number of Hz from 0 to 1e6"));
            }
        }
        if !(1.0..=MOST_COUPLING).contains(&self.k) {
            return Err(Fault::new("k", format!("k is {}", self.k), "expected a number from 1 to 255"));
        }
        if !(self.weight() > 0.0 && self.weight() < 1.0) {
            let message = format!("the C queue has a weight of {}", self.weight());
            return Err(Fault::new("c_weight", message, "expected a number above 0 and below 1: neither is to starve"));
        }
        Ok(())
    }
}

/// The largest coupling factor (Linux: 8 bits).
const MOST_COUPLING: f64 = 255.0;

/// The least common limit of `rfc`: ten full packets, an initial window (RFC 6928). At 64 kbit/s 250 ms would be one.
const LEAST_LIMIT: u64 = 10 * MTU;

/// RFC 9332 Figure 2: the L queue's own AQM marks nothing unless more than this many packets are left in it, Th_len.
const TH_LEN: u64 = 1;

/// The two queues.
pub struct DualPi2 {
    ramp: Ramp,
    /// Whether packets are dropped when marks are not enough.
    drops_on_overload: bool,
    k: f64,
    linux: bool,
    /// Whether the limit is what the link sends in 250 ms.
    follows_rate: bool,
    limit: Amount,
    place: Place,
    base: Base,
    updates: Updates,
    likelihood: [Likelihood; 2],
    schedule: Schedule,
    queues: [Fifo; 2],
    /// When the packets at their heads came.
    heads: [Option<Instant>; 2],
    held: Backlog,
}

/// The queue of a packet (RFC 9331 §5.1): ECT(1) and CE are L4S. A CE that was ECT(0) before another queue marked it looks like one that was
/// ECT(1).
fn class_of(packet: &Packet) -> Class {
    match packet.ecn {
        Ecn::Ect1 | Ecn::Ce => Class::L,
        Ecn::NotEct | Ecn::Ect0 => Class::C,
    }
}

/// What becomes of a packet whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// Marked.
    Mark,
    Drop,
}

/// The native AQM of the L queue (RFC 9332 Figure 5).
#[derive(Clone, Copy, Debug)]
struct Ramp {
    min_th: Duration,
    range: Duration,
}

impl Ramp {
    /// p′_L at this delay.
    fn probability(self, delay: Duration) -> f64 {
        if delay <= self.min_th {
            0.0
        } else if delay >= self.min_th + self.range {
            1.0
        } else {
            (delay - self.min_th).as_secs_f64() / self.range.as_secs_f64()
        }
    }
}

impl DualPi2 {
    /// Empty queues at `site`.
    pub fn new(config: Config, site: &Site<'_>) -> Self {
        let most = match config.overload {
            Overload::Drop => 1.0,
            Overload::Delay => 1.0 / config.k,
        };
        let stream = || site.streams.stream(site.name, "dualpi2");
        let likelihood = match config.dialect {
            Dialect::Rfc => [Likelihood::default(), Likelihood::default()],
            // Each queue draws from a stream of its own, so that packets of one do not change the luck of the other.
            Dialect::Linux => [0, 1].map(|class| Likelihood::random(stream().numbered(class))),
        };
        let mut queue = Self {
            ramp: config.ramp(),
            drops_on_overload: config.overload == Overload::Drop,
            k: config.k,
            linux: config.is_linux(),
            follows_rate: config.limit.is_none() && !config.is_linux(),
            limit: config.limit.unwrap_or(if config.is_linux() {
                Amount::Packets(10_000)
            } else {
                Amount::Bytes(Bytes::new(LEAST_LIMIT))
            }),
            place: site.place,
            base: Base::new(config.dialect, config.gains(), config.target, most),
            updates: Updates::new(config.update()),
            likelihood,
            schedule: Schedule::new(config.scheduler, config.weight(), config.shift),
            queues: [Fifo::unlimited(), Fifo::unlimited()],
            heads: [None; 2],
            held: Backlog::default(),
        };
        queue.follow(site.rate);
        queue
    }

    /// The link has this rate: its share of `limit` (RFC 9332 Figure 2, line 5).
    fn follow(&mut self, rate: BitRate) {
        if let Amount::Bytes(limit) = self.limit
            && self.follows_rate
        {
            let quarter = (rate.as_bps() / 32).max(limit.get());
            self.limit = Amount::Bytes(Bytes::new(quarter));
        }
    }

    /// How long the packets at the heads have waited, where one waits.
    fn delays(&self, now: Instant) -> [Option<Duration>; 2] {
        self.heads.map(|came| came.map(|came| now.since(came)))
    }

    /// The head of a queue may be another one.
    fn note_head(&mut self, core: &Core, class: Class) {
        self.heads[class as usize] = self.queues[class as usize].front().map(|head| core.queued_at(head));
    }

    /// What becomes of the packet, which has just left the queue of this class after `delay` (RFC 9332 Figure 7).
    fn judge(&mut self, class: Class, ecn: Ecn, delay: Duration) -> Verdict {
        // Linux lets a queue be that is shorter than two packets.
        let spared = self.linux && self.backlog().bytes < 2 * MTU;
        let p = if spared { 0.0 } else { self.base.probability() };
        let coupled = self.k * p;
        // p_C ≥ p_Cmax = 1/k² is the same as p_CL ≥ p_Lmax = 1.
        let saturated = self.drops_on_overload && coupled >= 1.0;
        let likelihood = &mut self.likelihood[class as usize];
        match class {
            Class::L if saturated => match likelihood.squared(p) {
                true => Verdict::Drop,
                false => Verdict::Mark,
            },
            Class::L => {
                let suppressed = !self.linux && self.queues[Class::L as usize].backlog().packets <= TH_LEN;
                let native = if suppressed { 0.0 } else { self.ramp.probability(delay) };
                if likelihood.linear(native.max(coupled)) { Verdict::Mark } else { Verdict::Pass }
            }
            Class::C if !likelihood.squared(p) => Verdict::Pass,
            Class::C if saturated || ecn == Ecn::NotEct => Verdict::Drop,
            Class::C => Verdict::Mark,
        }
    }
}

impl QueueDiscipline for DualPi2 {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        if (self.backlog() + self.held).is_full(self.limit, size) {
            return core.drop(packet, self.place, Cause::Overflow);
        }
        self.updates.begin(core.now());
        let class = class_of(core.packet(&packet));
        self.queues[class as usize].push(packet, size);
        self.note_head(core, class);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        loop {
            let delays = self.delays(core.now());
            let Some(class) = self.schedule.choose(delays) else {
                self.schedule.reset();
                return None;
            };
            let packet = self.queues[class as usize].pop(core)?;
            self.note_head(core, class);
            let Packet { ecn, size, .. } = *core.packet(&packet);
            match self.judge(class, ecn, delays[class as usize].unwrap_or_default()) {
                Verdict::Drop => {
                    core.drop(packet, self.place, Cause::Early);
                    continue;
                }
                Verdict::Mark => {
                    mark_if_capable(core, &packet, self.place);
                }
                Verdict::Pass => {}
            }
            if delays.iter().all(Option::is_some) {
                self.schedule.on_sent(class, size);
            }
            return Some(packet);
        }
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        let class = self.schedule.choose(self.delays(core.now()))?;
        let packet = self.queues[class as usize].pop(core);
        self.note_head(core, class);
        packet
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.updates.begin(core.now());
        let class = class_of(core.packet(&packet));
        self.queues[class as usize].put_back(core, packet);
        self.note_head(core, class);
    }

    fn on_held(&mut self, held: Backlog) {
        self.held = held;
    }

    fn on_capacity(&mut self, _now: Instant, rate: BitRate) {
        self.follow(rate);
    }

    fn backlog(&self) -> Backlog {
        self.queues[0].backlog() + self.queues[1].backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let p = self.base.probability();
        probe.value("base_p", p);
        probe.value("coupled_p", (self.k * p).min(1.0));
        probe.value("classic_p", p * p);
        probe.value("l_packets", self.queues[Class::L as usize].backlog().packets as f64);
        probe.value("c_packets", self.queues[Class::C as usize].backlog().packets as f64);
    }
}

impl Timed for DualPi2 {
    fn on_timeout(&mut self, now: Instant) {
        let delay = self.delays(now).into_iter().flatten().max().unwrap_or_default();
        self.base.update(delay);
        let rests = self.heads == [None; 2] && self.base.rests();
        self.updates.on_update(now, rests);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.updates.next()
    }
}

#[cfg(test)]
mod tests;
