//! SWAN's part at an interface (Ahn, Campbell, Veres, Sun 2002): best-effort traffic is shaped to a rate that
//! follows the delay of the medium by additive increase and multiplicative decrease; real-time traffic goes
//! straight to the medium. No state but the interface's own.
//!
//! Real time is what carries the code point EF. Both kinds wait in one line for the medium, as before a radio's
//! MAC; best effort enters it through the shaper. Probes that pass learn how much real-time traffic still fits,
//! and real-time packets are marked while there is too much of it.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::units::{Amount, Probability};
use lasthop_net::engine::{BitRate, Duration, Fault, Instant, Stream};
use lasthop_net::net::Pkt;
use lasthop_net::net::core::Core;
use lasthop_net::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use lasthop_net::net::dscp::Dscp;
use lasthop_net::net::machine::Timed;
use lasthop_net::net::observe::{Cause, Place, Probe};
use lasthop_net::net::operations::Operations;
use lasthop_net::net::packet::{Ecn, FlowId, Header, Signal};
use lasthop_net::net::transmitter::Queue;

/// SWAN's classifier, shaper and admission threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much best-effort traffic may wait for the shaper; further arrivals are dropped. The line to the
    /// medium has the same limit. Default: 100 packets.
    pub limit: Amount,
    /// How often the shaping rate is adapted, T. Default: 1 s.
    pub period: Duration,
    /// The delay of the medium that is too long, δ: from the shaper to the end of the transmission.
    /// Default: 10 ms.
    pub delay: Duration,
    /// By which share the shaping rate is cut after a period with too long a delay, r. Default:
    /// 0.5.
    pub decrease: Probability,
    /// By how much it grows after a period without, c; it is never below this. Default: 32 kbit/s.
    pub increase: BitRate,
    /// By which share it may exceed the rate that best effort uses, g. Default: 0.1.
    pub gap: Probability,
    /// The share of the medium's rate that real-time traffic may take, u: the threshold of admission.
    /// Default: 0.6.
    pub utilisation: Probability,
    /// The window of the estimate of the real-time rate. Default: 1 s.
    pub window: Duration,
    /// Which share of the real-time flows is marked while there is too much; another one in each period.
    /// Default: all: 1.
    pub marked: Probability,
}

/// The probability `p`, which lies in [0, 1].
fn share(p: f64) -> Probability {
    Probability::new(p).unwrap_or_default()
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit: Amount::Packets(100),
            period: Duration::from_secs(1),
            delay: Duration::from_millis(10),
            decrease: share(0.5),
            increase: BitRate::from_kbps(32),
            gap: share(0.1),
            utilisation: share(0.6),
            window: Duration::from_secs(1),
            marked: share(1.0),
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        let stream = site.streams.stream(site.name, "swan");
        let mut queue = Swan::new(self.clone(), site.place, stream);
        // Not every medium says it again.
        queue.on_capacity(Instant::ZERO, site.rate);
        Queue::Asked(Box::new(queue))
    }

    fn check(&self) -> Result<(), Fault> {
        for (field, duration) in [("period", self.period), ("window", self.window)] {
            if duration == Duration::ZERO {
                return Err(Fault::new(field, format!("a {field} of zero"), "expected a time, such as \"1 s\""));
            }
        }
        Ok(())
    }
}

/// The interface.
pub struct Swan {
    config: Config,
    place: Place,
    stream: Stream,
    /// The rate of the medium, bit/s.
    capacity: f64,
    /// Best effort before the shaper.
    shaped: Line,
    /// Packets that wait for the medium, and since when best effort has.
    medium: Line,
    shaper: Shaper,
    real_time: RateEstimate,
    /// Which flows are marked in this period.
    salt: u64,
    real_time_packets: u64,
    delayed_packets: u64,
}

/// Packets one behind the other.
#[derive(Default)]
struct Line {
    packets: VecDeque<Waiting>,
    bytes: u64,
}

struct Waiting {
    packet: Pkt,
    size: u32,
    /// When the shaper let it go; `None` for packets that are not shaped.
    released: Option<Instant>,
}

/// The rate at which best effort may enter the line to the medium, s.
#[derive(Debug)]
struct Shaper {
    /// bit/s; infinite until the first period has shown what best effort uses.
    rate: f64,
    /// When the next packet may pass.
    next: Instant,
    /// The end of the present period, and what passed in it.
    ends: Instant,
    bits: f64,
    /// Packets that passed in all.
    passed: u64,
    /// Packets of the period whose delay was too long, n.
    late: u64,
    /// The rate of the last period, a.
    used: f64,
}

/// A rate estimated over a sliding window (Clark and Fang 1998).
#[derive(Debug)]
pub(super) struct RateEstimate {
    window: f64,
    rate: f64,
    counted: Instant,
}

impl Swan {
    /// An empty queue whose drops and marks are counted at `place`.
    pub fn new(config: Config, place: Place, stream: Stream) -> Self {
        let real_time = RateEstimate::new(config.window);
        let shaper = Shaper {
            rate: f64::INFINITY,
            next: Instant::ZERO,
            ends: Instant::ZERO + config.period,
            bits: 0.0,
            passed: 0,
            late: 0,
            used: 0.0,
        };
        Self {
            config,
            place,
            stream,
            capacity: 0.0,
            shaped: Line::default(),
            medium: Line::default(),
            shaper,
            real_time,
            salt: 0,
            real_time_packets: 0,
            delayed_packets: 0,
        }
    }

    /// The rate that real-time traffic may take, C_th.
    fn threshold(&self) -> f64 {
        self.config.utilisation.get() * self.capacity
    }

    /// Ends the periods that have passed.
    fn end_periods(&mut self, now: Instant) {
        if now < self.shaper.ends {
            return;
        }
        self.shaper.adapt(&self.config);
        self.salt = self.stream.bits();
        let period = self.config.period.as_nanos();
        let over = now.since(self.shaper.ends).as_nanos() / period;
        if over > 0 {
            // Nothing passed in the others.
            self.shaper.adapt(&self.config);
        }
        self.shaper.ends += self.config.period * (over + 1);
    }

    /// Whether best effort waits that finds room in the line to the medium.
    fn finds_room(&self) -> bool {
        let first = self.shaped.packets.front();
        first.is_some_and(|first| !self.medium.backlog().is_full(self.config.limit, first.size))
    }

    /// Best effort whose time has come enters the line to the medium, as long as there is room.
    fn release(&mut self, now: Instant) {
        self.end_periods(now);
        while self.shaper.next <= now
            && self.finds_room()
            && let Some(waiting) = self.shaped.pop()
        {
            self.shaper.pass(now, waiting.size);
            self.medium.push(Waiting { released: Some(now), ..waiting });
        }
    }

    fn real_time(&mut self, core: &mut Core, packet: &Pkt, size: u32) {
        let now = core.now();
        self.real_time_packets += 1;
        self.real_time.add(now, size);
        let too_much = self.real_time.rate > self.threshold();
        let (flow, ecn) = (core.packet(packet).flow, core.packet(packet).ecn);
        if too_much && ecn != Ecn::NotEct && self.is_marked(flow) {
            core.mark(packet, self.place);
        }
    }

    /// Whether a flow is among those marked in this period: another random subset each time, without a list.
    fn is_marked(&self, flow: FlowId) -> bool {
        let mut bits = (u64::from(flow.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.salt;
        bits = (bits ^ (bits >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        bits ^= bits >> 32;
        ((bits >> 11) as f64) < self.config.marked.get() * (1u64 << 53) as f64
    }

    /// Writes the remaining bandwidth into a probe. What the flow itself sends as real time is added.
    fn answer(&mut self, core: &mut Core, packet: &Pkt) {
        let now = core.now();
        let used = self.real_time.at(now);
        let left = self.threshold() - used;
        if let Header::Signal(header) = &mut core.packet_mut(packet).header
            && header.kind == Signal::Probe
        {
            let own = (header.floor.as_bps() as f64).min(used);
            let left = BitRate::from_bps((left + own).max(0.0) as u64);
            header.rate = header.rate.min(left);
        }
    }
}

impl Line {
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }

    fn push(&mut self, waiting: Waiting) {
        self.bytes += u64::from(waiting.size);
        self.packets.push_back(waiting);
    }

    fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.packets.pop_front()?;
        self.bytes -= u64::from(waiting.size);
        Some(waiting)
    }
}

impl Shaper {
    /// What a packet costs: bits and time summed up, bits over the rate.
    const OPERATIONS: Operations = Operations { additions: 2, multiplications: 1 };

    /// A packet passes; the next one may after its time at the shaping rate.
    fn pass(&mut self, now: Instant, size: u32) {
        let bits = 8.0 * f64::from(size);
        self.bits += bits;
        self.passed += 1;
        self.next = self.next.max(now) + Duration::from_secs_f64(bits / self.rate);
    }

    /// Adapts the rate at the end of a period (Ahn et al. 2002, figure 3).
    fn adapt(&mut self, config: &Config) {
        let increase = config.increase.as_bps() as f64;
        self.used = self.bits / config.period.as_secs_f64();
        if self.late > 0 {
            // Before the first cut the rate is the one used.
            let rate = if self.rate.is_finite() { self.rate } else { self.used };
            self.rate = rate * (1.0 - config.decrease.get());
        } else {
            self.rate += increase;
        }
        let gap = config.gap.get() * self.used;
        if self.rate - self.used > gap {
            self.rate = self.used + gap;
        }
        self.rate = self.rate.max(increase);
        self.late = 0;
        self.bits = 0.0;
    }
}

impl RateEstimate {
    /// Of nothing yet.
    pub(super) fn new(window: Duration) -> Self {
        Self { window: window.as_secs_f64(), rate: 0.0, counted: Instant::ZERO }
    }

    /// What a packet costs: the time gone by, bits and time summed up; a product and a quotient.
    pub(super) const OPERATIONS: Operations = Operations { additions: 3, multiplications: 2 };

    /// A packet comes.
    pub(super) fn add(&mut self, now: Instant, size: u32) {
        let gone = now.since(self.counted).as_secs_f64();
        self.rate = (self.rate * self.window + 8.0 * f64::from(size)) / (self.window + gone);
        self.counted = now;
    }

    /// The rate at present.
    pub(super) fn at(&self, now: Instant) -> f64 {
        self.rate * self.window / (self.window + now.since(self.counted).as_secs_f64())
    }
}

/// Real time.
const EF: u8 = Dscp::Ef.value();
/// Network control, which is not shaped either.
const CS6: u8 = Dscp::Cs6.value();

impl QueueDiscipline for Swan {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let now = core.now();
        let (size, dscp) = (core.packet(&packet).size, core.packet(&packet).dscp);
        let direct = dscp == EF || dscp == CS6;
        let line = if direct { &self.medium } else { &self.shaped };
        if line.backlog().is_full(self.config.limit, size) {
            return core.drop(packet, self.place, Cause::Overflow);
        }
        match dscp {
            EF => self.real_time(core, &packet, size),
            CS6 => self.answer(core, &packet),
            _ => {}
        }
        let waiting = Waiting { packet, size, released: None };
        if direct {
            self.medium.push(waiting);
        } else {
            self.shaped.push(waiting);
        }
        self.release(now);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let now = core.now();
        self.release(now);
        let Waiting { packet, size, released } = self.medium.pop()?;
        if let Some(released) = released {
            let service = Duration::from_secs_f64(8.0 * f64::from(size) / self.capacity);
            if now.since(released) + service > self.config.delay {
                self.shaper.late += 1;
                self.delayed_packets += 1;
            }
        }
        // There is room again.
        self.release(now);
        Some(packet)
    }

    fn evict(&mut self, _core: &mut Core) -> Option<Pkt> {
        self.medium.pop().or_else(|| self.shaped.pop()).map(|waiting| waiting.packet)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        self.medium.bytes += u64::from(size);
        self.medium.packets.push_front(Waiting { packet, size, released: None });
    }

    fn on_capacity(&mut self, _now: Instant, rate: BitRate) {
        self.capacity = rate.as_bps() as f64;
    }

    fn backlog(&self) -> Backlog {
        self.shaped.backlog() + self.medium.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("shaping_bps", self.shaper.rate);
        probe.value("best_effort_bps", self.shaper.used);
        probe.value("real_time_bps", self.real_time.rate);
        probe.value("threshold_bps", self.threshold());
        probe.value("real_time_packets", self.real_time_packets as f64);
        probe.value("delayed_packets", self.delayed_packets as f64);
        probe.value("state_bytes", (size_of::<Shaper>() + size_of::<RateEstimate>()) as f64);
        let estimate = RateEstimate::OPERATIONS.times(self.real_time_packets);
        let shaper = Shaper::OPERATIONS.times(self.shaper.passed);
        probe.value("packets_in", (self.real_time_packets + self.shaper.passed) as f64);
        estimate.and(shaper).show(probe, Operations::IN);
    }
}

impl Timed for Swan {
    fn on_timeout(&mut self, now: Instant) {
        self.release(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        // A slow rate may grow at the end of the period, but what passed last keeps its distance. A full line is asked for a packet first.
        self.finds_room().then_some(self.shaper.next)
    }
}

#[cfg(test)]
mod tests;
