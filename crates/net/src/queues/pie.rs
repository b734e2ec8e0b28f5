//! PIE: proportional integral controller enhanced (RFC 8033).
//!
//! Packets are dropped at random when they arrive. Every `update` a controller moves the probability by how far the queueing delay is from
//! `target` and by how much it has grown. Its gains follow the probability, and a queue that was not congested may hold a burst for a while.
//!
//! The delay is that of the packet which left last, by its time stamp (§4.3 and Appendix A), as in Linux and ns-3. The other way, by the rate
//! of departures (§5.2), needs 16 kB that wait for one measurement, which at the rates of radio bearers is a queue of seconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{Bytes, Duration, Fault, Instant, Probability, Stream};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::transmitter::Queue;

use super::ecn::mark_if_capable;
use super::fifo::Fifo;
use super::updates::Updates;

/// Proportional integral controller enhanced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait, without the packet in service; further arrivals are dropped. Default: 1000 packets (Linux).
    pub limit: Amount,
    /// The queueing delay that the controller aims at, `QDELAY_REF`. Default: 15 ms (RFC 8033 §4.2).
    pub target: Duration,
    /// The time between two updates of the probability, `T_UPDATE`. Default: 15 ms (RFC 8033 §4.2).
    pub update: Duration,
    /// By how much an update moves the probability for each second of delay above the target, in Hz. Default: 0.125 (RFC 8033 Appendix A).
    pub alpha: f64,
    /// By how much an update moves the probability for each second by which the delay has grown, in Hz. Default: 1.25 (RFC 8033 Appendix A).
    pub beta: f64,
    /// How long a burst into a queue that was not congested is spared, `MAX_BURST`. Default: 150 ms (RFC 8033 §4.4).
    pub burst: Duration,
    /// The size of a typical packet, `MEAN_PKTSIZE`: nothing is dropped while no more than two of them wait. Default: 1500 B (Linux: the MTU).
    pub mean_packet: Bytes,
    /// Spread drops evenly: none comes until the probabilities of the packets since the last one add up to 0.85 (RFC 8033 §5.4). Default: off.
    pub derandomize: bool,
    /// Mark packets of ECN-capable transports instead of dropping them. Default: off.
    pub ecn: bool,
    /// The probability from which ECN-capable packets are dropped all the same, `mark_ecnth`. Default: 0.1 (RFC 8033 §5.1).
    pub mark_p: Probability,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit: Amount::Packets(1000),
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            burst: Duration::from_millis(150),
            mean_packet: Bytes::new(1500),
            derandomize: false,
            ecn: false,
            mark_p: Probability::new(0.1).expect("a constant between 0 and 1"),
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Pie::new(self.clone(), site.place, site.streams.stream(site.name, "pie"))))
    }

    fn check(&self) -> Result<(), Fault> {
        for (field, value) in [("target", self.target), ("update", self.update)] {
            if value == Duration::ZERO {
                return Err(Fault::new(field, format!("{field} is zero"), "expected a time, such as \"15 ms\""));
            }
        }
        for (field, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(0.0..=MOST_GAIN).contains(&value) {
                return Err(Fault::new(field, format!("{field} is {value}"), "expected a number of Hz from 0 to 1e6"));
            }
        }
        Ok(())
    }
}

/// The largest gain: a nanosecond of delay moves the probability by a thousandth.
pub(super) const MOST_GAIN: f64 = 1e6;

/// The queue.
pub struct Pie {
    config: Config,
    place: Place,
    stream: Stream,
    fifo: Fifo,
    controller: Controller,
    updates: Updates,
    /// The probabilities of the packets since the last drop or mark, added up.
    accu_prob: f64,
}

impl Pie {
    /// An empty queue whose drops are counted at `place`.
    pub fn new(config: Config, place: Place, stream: Stream) -> Self {
        Self {
            place,
            stream,
            fifo: Fifo::new(config.limit),
            controller: Controller { burst_allowance: config.burst, ..Controller::default() },
            updates: Updates::new(config.update),
            accu_prob: 0.0,
            config,
        }
    }

    /// Whether the arriving packet is one to drop (RFC 8033 Appendix A, `drop_early`, and Appendix B where it is derandomized).
    fn drop_early(&mut self) -> bool {
        let p = self.controller.drop_prob;
        // It stays work-conserving.
        let is_short = self.fifo.backlog().bytes <= 2 * self.config.mean_packet.get();
        if is_short || (p < 0.2 && is_below_half(self.controller.qdelay_old, self.config.target)) {
            return false;
        }
        if !self.config.derandomize {
            return self.stream.unit() < p;
        }
        self.accu_prob = if p == 0.0 { 0.0 } else { self.accu_prob + p };
        self.accu_prob >= ACCUMULATED_MOST || (self.accu_prob >= ACCUMULATED_LEAST && self.stream.unit() < p)
    }
}

/// RFC 8033 §5.4: from which accumulated probability on a packet may be dropped.
const ACCUMULATED_LEAST: f64 = 0.85;

/// RFC 8033 §5.4: from which accumulated probability on a packet is dropped in any case.
const ACCUMULATED_MOST: f64 = 8.5;

/// Whether a delay is less than half of `target`.
fn is_below_half(delay: Duration, target: Duration) -> bool {
    delay * 2 < target
}

/// The controller (RFC 8033 §4.2 and §4.4). Names are those of Appendix A.
#[derive(Default)]
struct Controller {
    drop_prob: f64,
    /// The delay of the packet that left last; zero if nothing waits.
    current_qdelay: Duration,
    qdelay_old: Duration,
    burst_allowance: Duration,
}

impl Controller {
    /// Nothing is dropped, and the present delay and the one before are below half of the target.
    fn is_uncongested(&self, target: Duration) -> bool {
        self.drop_prob == 0.0 && is_below_half(self.current_qdelay, target) && is_below_half(self.qdelay_old, target)
    }

    /// Another update without packets would change nothing that matters: a packet that comes renews the burst allowance.
    fn rests(&self) -> bool {
        self.drop_prob == 0.0 && self.current_qdelay == Duration::ZERO && self.qdelay_old == Duration::ZERO
    }

    /// Moves the probability (`calculate_drop_prob`, with the cap of §5.5).
    fn update(&mut self, config: &Config) {
        let (current, old) = (self.current_qdelay.as_secs_f64(), self.qdelay_old.as_secs_f64());
        let p = config.alpha * (current - config.target.as_secs_f64()) + config.beta * (current - old);
        let p = p / divisor(self.drop_prob);
        // §5.5: slow start fills a queue in no time, and is not to be answered with more than that.
        let p = if self.drop_prob >= 0.1 { p.min(0.02) } else { p };
        let mut drop_prob = self.drop_prob + p;
        if self.current_qdelay == Duration::ZERO && self.qdelay_old == Duration::ZERO {
            drop_prob *= 0.98;
        }
        self.drop_prob = drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        self.burst_allowance = self.burst_allowance - config.update;
    }
}

/// By how much the gains are smaller at this probability (RFC 8033 §4.2).
fn divisor(drop_prob: f64) -> f64 {
    match drop_prob {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

impl QueueDiscipline for Pie {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        if self.fifo.is_full(size) {
            self.accu_prob = 0.0;
            return core.drop(packet, self.place, Cause::Overflow);
        }
        self.updates.begin(core.now());
        if self.controller.is_uncongested(self.config.target) {
            self.controller.burst_allowance = self.config.burst;
        }
        if self.controller.burst_allowance == Duration::ZERO && self.drop_early() {
            self.accu_prob = 0.0;
            let may_mark = self.config.ecn && self.controller.drop_prob < self.config.mark_p.get();
            if !(may_mark && mark_if_capable(core, &packet, self.place)) {
                return core.drop(packet, self.place, Cause::Early);
            }
        }
        self.fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let packet = self.fifo.pop(core)?;
        // With nothing behind it, nothing is delayed: a controller that went on with this packet's delay would never come to rest.
        let delay = if self.fifo.is_empty() { Duration::ZERO } else { core.now().since(core.queued_at(&packet)) };
        self.controller.current_qdelay = delay;
        Some(packet)
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        let packet = self.fifo.pop(core)?;
        if self.fifo.is_empty() {
            self.controller.current_qdelay = Duration::ZERO;
        }
        Some(packet)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.updates.begin(core.now());
        self.fifo.put_back(core, packet);
    }

    fn on_held(&mut self, held: Backlog) {
        self.fifo.hold(held);
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("drop_p", self.controller.drop_prob);
        probe.value("queueing_delay_ms", self.controller.current_qdelay.as_secs_f64() * 1e3);
        probe.value("burst_allowance_ms", self.controller.burst_allowance.as_secs_f64() * 1e3);
    }
}

impl Timed for Pie {
    fn on_timeout(&mut self, now: Instant) {
        self.controller.update(&self.config);
        let rests = self.fifo.is_empty() && self.controller.rests();
        self.updates.on_update(now, rests);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.updates.next()
    }
}

#[cfg(test)]
mod tests;
