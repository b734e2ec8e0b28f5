//! Queue-phase control (Peng and Sikdar 2003): layers of multicast sessions are blocked and released in front of one link, by the
//! length of its queue.
//!
//! In phase 1 the queue is empty, in phase 3 it is nearly full, in phase 2 all is well. A packet of a blocked layer is dropped before it is
//! queued, without a message. The scheme learns from the addresses of the packets that pass ([`traffic`]), and decides in [`controller`].

pub mod config;
pub mod controller;
pub mod traffic;

use lasthop_net::engine::units::Amount;
use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::Pkt;
use lasthop_net::net::core::Core;
use lasthop_net::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use lasthop_net::net::machine::Timed;
use lasthop_net::net::observe::{Cause, Place, Probe};
use lasthop_net::net::transmitter::Queue;

pub use config::Config;
use controller::Controller;
use traffic::Traffic;

use lasthop_net::queues::fifo::Fifo;

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

    /// The backlog, as a share of the limit, and in packets.
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
