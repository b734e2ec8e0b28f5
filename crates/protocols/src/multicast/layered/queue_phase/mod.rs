//! Queue-phase control (Peng and Sikdar 2003): layers of multicast sessions are blocked and released in front of one link, by the
//! length of its queue.
//!
//! In phase 1 the queue is empty, in phase 3 it is nearly full, in phase 2 all is well. A packet of a blocked layer is dropped
//! before it is queued; nobody is told. What the scheme knows it reads from the addresses of the packets that pass
//! ([`traffic`]); what it does with that is in [`controller`].

pub mod controller;
pub mod traffic;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::units::{Amount, Probability};
use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::Pkt;
use lasthop_net::net::core::Core;
use lasthop_net::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use lasthop_net::net::machine::Timed;
use lasthop_net::net::observe::{Cause, Place, Probe};
use lasthop_net::net::transmitter::Queue;

use controller::Controller;
use traffic::Traffic;

use lasthop_net::queues::fifo::Fifo;

/// A FIFO before which layers of multicast sessions are blocked and released. The defaults are those of the paper's Table I; what the
/// paper leaves open says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "QueuePhaseConfig")]
pub struct Config {
    /// How much may wait, without the packet in service; what arrives then is dropped. Default: 50 packets, as in ns-2's Iridium
    /// example.
    pub limit: Amount,
    /// The queue is in phase 1 up to this share of its limit, F_QuThresh1. Default: 0: only when it
    /// is empty.
    pub first_threshold: Probability,
    /// It is in phase 3 from this share on, F_QuThresh2. Default: 0.8.
    pub second_threshold: Probability,
    /// How often it looks, I_ChekQu. Default: 20 ms.
    pub check: Duration,
    /// For how long the queue has to be in phase 1 before a layer is released, at first, and for how long after a change none is
    /// released in phase 2 (`hold`): T_observe. Default: 1 s.
    pub observe: Duration,
    /// By what that time grows with each release, F_SlowDown. Default: 1.5; 1 is without this
    /// adaptation.
    pub slow_down: f64,
    /// By what it grows when a layer is blocked right after a release, F_BackOff. Default: 4; 1 is without this
    /// adaptation.
    pub back_off: f64,
    /// By what share the rate of multicast sessions has to exceed TCP's before a layer is blocked, R_Block. Default: 0.2; 0 is
    /// without this adaptation.
    pub block: f64,
    /// Over how long rates are counted, T_rate. Default: 2 s: it has to cover the ups and downs of TCP.
    /// (Left open.)
    pub rate_window: Duration,
    /// For how long after a packet a layer counts as flowing. Default: 1 s: six packets of 1000 B at 50 kbit/s.
    /// (Left open.)
    pub live: Duration,
    /// How long T_observe gets at most. Default: 60 s. (Left open.)
    pub most_observe: Duration,
    /// After how long without a block it begins anew; so it does when sessions come or go, and when the link changes. Default: 60 s.
    /// (Left open.)
    pub quiet: Duration,
    /// For how long after a change no layer is released in phase 2. Default: `observe`.
    pub hold: Hold,
    /// How layers count whose rate has not been seen for the whole window. Default: (Left open.)
    pub counting: Counting,
    /// What a TCP session is.
    pub sessions: Sessions,
    /// How many checks in phase 1 may find one or two packets. Default: 0. (Left open.)
    pub misses: u32,
}

/// For how long after a change no layer is released in phase 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "QueuePhaseHold")]
pub enum Hold {
    /// As long as the queue is observed in phase 1: §II.B.6 of the paper sets T_observe, "the observation time for the next layer
    /// release", against the loop of a release in phase 2 and a block in phase 3.
    #[default]
    Observe,
    /// As long as rates are counted, so that the change is seen.
    Window,
    /// Not at all, as the paper's Algorithm 1 is printed, without the adaptations.
    None,
}

/// How layers count whose rate has not been seen for the whole window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "QueuePhaseCounting")]
pub enum Counting {
    /// As the mean of the session's older layers; and a blocked layer not at all. So a change shows at once.
    #[default]
    Settled,
    /// By what was counted, whatever has changed since; the controller rests for the window after each change.
    Plain,
}

/// What a TCP session is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "QueuePhaseSessions")]
pub enum Sessions {
    /// A connection: addresses and ports.
    #[default]
    Connections,
    /// All connections between two addresses.
    Addresses,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit: Amount::Packets(50),
            first_threshold: Probability::default(),
            second_threshold: Probability::new(0.8).unwrap_or_default(),
            check: Duration::from_millis(20),
            observe: Duration::from_secs(1),
            slow_down: 1.5,
            back_off: 4.0,
            block: 0.2,
            rate_window: Duration::from_secs(2),
            live: Duration::from_secs(1),
            most_observe: Duration::from_secs(60),
            quiet: Duration::from_secs(60),
            hold: Hold::default(),
            counting: Counting::default(),
            sessions: Sessions::default(),
            misses: 0,
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(QueuePhase::new(self.clone(), site.place)))
    }

    fn check(&self) -> Result<(), Fault> {
        let times =
            [("check", self.check), ("observe", self.observe), ("rate_window", self.rate_window), ("live", self.live)];
        for (field, duration) in times {
            if duration == Duration::ZERO {
                return Err(Fault::new(field, format!("a {field} of zero"), "expected a time, such as \"1 s\""));
            }
        }
        for (field, factor) in [("slow_down", self.slow_down), ("back_off", self.back_off)] {
            if factor < 1.0 {
                return Err(Fault::new(field, format!("{factor} would shorten the time"), "expected 1 or more"));
            }
        }
        if self.block < 0.0 {
            return Err(Fault::new(
                "block",
                format!("a rate that exceeds another by {}", self.block),
                "expected 0 or more",
            ));
        }
        if self.first_threshold >= self.second_threshold {
            let message = "phase 1 would reach into phase 3";
            return Err(Fault::new("first_threshold", message, "expected less than `second_threshold`"));
        }
        Ok(())
    }
}

/// The queue and its controller.
pub struct QueuePhase {
    place: Place,
    fifo: Fifo,
    limit: Amount,
    traffic: Traffic,
    controller: Controller,
    blocked_packets: u64,
    check: Duration,
    next_check: Option<Instant>,
}

impl QueuePhase {
    /// An empty queue whose drops are counted at `place`.
    pub fn new(config: Config, place: Place) -> Self {
        Self {
            place,
            fifo: Fifo::new(config.limit),
            limit: config.limit,
            traffic: Traffic::new(&config),
            blocked_packets: 0,
            check: config.check,
            next_check: None,
            controller: Controller::new(config),
        }
    }

    /// What waits, as a share of the limit, and in packets.
    fn length(&self) -> (f64, u64) {
        let Backlog { packets, bytes } = self.fifo.backlog();
        let share = match self.limit {
            Amount::Packets(most) => packets as f64 / most.max(1) as f64,
            Amount::Bytes(most) => bytes as f64 / most.get().max(1) as f64,
        };
        (share, packets)
    }
}

impl QueueDiscipline for QueuePhase {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let now = core.now();
        if self.next_check.is_none() {
            // Checks are at multiples of their interval.
            let number = now.as_nanos() / self.check.as_nanos() + 1;
            self.next_check = Some(Instant::from_nanos(number * self.check.as_nanos()));
        }
        if self.traffic.arrives(now, core.packet(&packet)) {
            self.blocked_packets += 1;
            return core.drop(packet, self.place, Cause::Blocked);
        }
        let size = core.packet(&packet).size;
        if self.fifo.is_full(size) {
            self.controller.on_overflow();
            return core.drop(packet, self.place, Cause::Overflow);
        }
        self.fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let packet = self.fifo.pop(core)?;
        self.traffic.leaves(core.now(), core.packet(&packet));
        Some(packet)
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.fifo.pop(core)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.fifo.put_back(core, packet);
    }

    fn on_held(&mut self, held: Backlog) {
        self.fifo.hold(held);
    }

    fn on_capacity(&mut self, _now: Instant, _rate: BitRate) {
        self.controller.on_link_changed();
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.controller.sample(probe);
        self.traffic.sample(probe);
        probe.value("blocked_packets", self.blocked_packets as f64);
    }
}

impl Timed for QueuePhase {
    fn on_timeout(&mut self, now: Instant) {
        self.traffic.expire(now);
        let (share, packets) = self.length();
        self.controller.check(now, share, packets, &mut self.traffic);
        // Nothing to look at: the next packet begins anew.
        self.next_check = (packets > 0 || !self.traffic.is_silent()).then(|| now + self.check);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.next_check
    }
}
