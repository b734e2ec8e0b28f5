//! A FIFO that marks packets above a threshold, as DCTCP and other scalable congestion controls want it (RFC 8257 §3.1; Linux's
//! `ce_threshold`). It drops when it is full, and for no other reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{Duration, Fault};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::transmitter::Queue;

use super::ecn::mark_if_capable;
use super::fifo::Fifo;

/// Marks above a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait, without the packet in service; further arrivals are dropped. Default: 1000 packets (Linux: `txqueuelen`).
    pub limit: Amount,
    /// Packets that leave after more than this time in the queue are marked. Default: 1 ms (the step of Linux's `dualpi2`); none if `backlog` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Packets that arrive while more than this waits are marked: DCTCP's K (Alizadeh et al. 2010 §3.1). Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<Amount>,
}

impl Default for Config {
    fn default() -> Self {
        Self { limit: Amount::Packets(1000), delay: None, backlog: None }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Threshold::new(self, site.place)))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.delay.is_some() && self.backlog.is_some() {
            return Err(Fault::new("backlog", "two thresholds, a delay and a backlog", "keep one"));
        }
        Ok(())
    }
}

/// The queue.
pub struct Threshold {
    above: Above,
    place: Place,
    fifo: Fifo,
    marked: u64,
}

/// Where marking begins.
#[derive(Clone, Copy)]
enum Above {
    Delay(Duration),
    Backlog(Amount),
}

impl Threshold {
    /// An empty queue whose drops are counted at `place`.
    pub fn new(config: &Config, place: Place) -> Self {
        let above = match config.backlog {
            Some(backlog) => Above::Backlog(backlog),
            None => Above::Delay(config.delay.unwrap_or(Duration::from_millis(1))),
        };
        Self { above, place, fifo: Fifo::new(config.limit), marked: 0 }
    }

    fn mark(&mut self, core: &mut Core, packet: &Pkt) {
        self.marked += u64::from(mark_if_capable(core, packet, self.place));
    }
}

/// Whether more than `threshold` waits.
fn is_above(Backlog { packets, bytes }: Backlog, threshold: Amount) -> bool {
    match threshold {
        Amount::Packets(most) => packets > most,
        Amount::Bytes(most) => bytes > most.get(),
    }
}

impl QueueDiscipline for Threshold {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        if self.fifo.is_full(size) {
            return core.drop(packet, self.place, Cause::Overflow);
        }
        if let Above::Backlog(threshold) = self.above
            && is_above(self.fifo.backlog(), threshold)
        {
            self.mark(core, &packet);
        }
        self.fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let packet = self.fifo.pop(core)?;
        if let Above::Delay(threshold) = self.above
            && core.now().since(core.queued_at(&packet)) > threshold
        {
            self.mark(core, &packet);
        }
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

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("threshold_marks", self.marked as f64);
    }
}

impl Timed for Threshold {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{BitRate, Bytes};
    use crate::net::Packet;
    use crate::net::bench::{Bench, any_packet};
    use crate::net::packet::Ecn;

    fn build(bench: &Bench, config: &Config) -> Box<dyn QueueDiscipline> {
        config.check().unwrap();
        match config.build(&bench.site(BitRate::from_mbps(10))) {
            Queue::Asked(queue) => queue,
            Queue::Planned(_) => unreachable!("it is asked"),
        }
    }

    fn enter(bench: &mut Bench, queue: &mut dyn QueueDiscipline, ecn: Ecn) {
        let pkt = bench.core.insert(Packet { ecn, ..any_packet() });
        bench.core.note_queued(&pkt);
        queue.enqueue(&mut bench.core, pkt);
    }

    fn leave(bench: &mut Bench, queue: &mut dyn QueueDiscipline) -> Ecn {
        let pkt = queue.dequeue(&mut bench.core).unwrap();
        bench.core.deliver(pkt).ecn
    }

    #[test]
    fn what_waited_longer_than_the_threshold_is_marked() {
        let mut bench = Bench::new();
        let mut queue = build(&bench, &Config::default());
        for ecn in [Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct] {
            enter(&mut bench, &mut *queue, ecn);
        }
        bench.at(0.001);
        assert_eq!(leave(&mut bench, &mut *queue), Ecn::Ect0);
        bench.at(0.001_000_001);
        assert_eq!(leave(&mut bench, &mut *queue), Ecn::Ce);
        assert_eq!(leave(&mut bench, &mut *queue), Ecn::Ce);
        // A transport that cannot be marked is not dropped either.
        assert_eq!(leave(&mut bench, &mut *queue), Ecn::NotEct);
        assert_eq!(bench.core.counters().dropped, 0);
    }

    #[test]
    fn arrivals_at_more_than_k_are_marked() {
        // "An arriving packet is marked with the CE codepoint if the queue occupancy is greater than K upon its arrival": packets are
        // of 1000 B, and K is 2 of them.
        for k in [Amount::Packets(2), Amount::Bytes(Bytes::new(2_000))] {
            let mut bench = Bench::new();
            let config = Config { limit: Amount::Packets(5), backlog: Some(k), ..Config::default() };
            let mut queue = build(&bench, &config);
            for _ in 0..6 {
                enter(&mut bench, &mut *queue, Ecn::Ect0);
            }
            let marks: Vec<bool> = (0..5).map(|_| leave(&mut bench, &mut *queue) == Ecn::Ce).collect();
            assert_eq!(marks, [false, false, false, true, true], "{k:?}");
            assert_eq!(bench.drops(Cause::Overflow), 1);
        }
    }

    #[test]
    fn one_threshold_is_enough() {
        let both = Config { delay: Some(Duration::ZERO), backlog: Some(Amount::Packets(1)), ..Config::default() };
        assert_eq!(both.check().unwrap_err().field, "backlog");
    }
}
