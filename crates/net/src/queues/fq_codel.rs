//! FQ-CoDel: flow queue CoDel (RFC 8290). Each flow has a queue, and each queue a CoDel of its own. Queues that have just become busy leave
//! before those that are busy for longer; within each of the two lists they take turns, by a deficit in bytes.
//!
//! Flows are distinguished as in Linux, by a salted hash of their addresses and ports into a fixed number of queues (§4.1), so that two of them
//! may share one: the RFC's discipline does, and the share of flows that are alone is known (§5.3: 0.9078 of a hundred in 1024 queues). One queue
//! for each flow of a scenario would be another discipline, and no router could have it. More queues make collisions as rare as one likes.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{Bytes, Duration, Fault, Stream};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::packet::{Address, Packet};
use crate::net::transmitter::Queue;

use super::codel::Resume;
use super::codel::control::{Control, Law};
use super::ecn::mark_if_capable;
use super::fifo::Fifo;

/// Flow queue CoDel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait, all queues together. Beyond it the queue with the most bytes loses packets from its head. Default: 10240 packets
    /// (RFC 8290 §5.2.3).
    pub limit: Amount,
    /// Into how many queues flows are hashed, up to 65536. Default: 1024 (RFC 8290 §5.2.5).
    pub flows: u32,
    /// What a queue may send in its turn. Default: 1514 B (RFC 8290 §5.2.4).
    pub quantum: Bytes,
    /// CoDel's target. Default: 5 ms (RFC 8290 §5.2.2).
    pub target: Duration,
    /// CoDel's interval. Default: 100 ms (RFC 8290 §5.2.1).
    pub interval: Duration,
    /// Mark packets of ECN-capable transports instead of dropping them. Default: on (RFC 8290 §5.2.6).
    pub ecn: bool,
    /// Mark, besides, packets that leave after more than this time in the queue. Default: never (RFC 8290 §5.2.7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit: Amount::Packets(10_240),
            flows: 1024,
            quantum: Bytes::new(1514),
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: true,
            ce_threshold: None,
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(FqCoDel::new(self, site.place, site.streams.stream(site.name, "fq_codel"))))
    }

    fn check(&self) -> Result<(), Fault> {
        if !(1..=MOST_FLOWS).contains(&self.flows) {
            return Err(Fault::new("flows", format!("{} queues", self.flows), "expected 1 to 65536"));
        }
        if self.quantum.get() == 0 {
            return Err(Fault::new("quantum", "a quantum of no bytes", "expected a size, such as \"1514 B\""));
        }
        if self.interval == Duration::ZERO {
            let expected = "expected a round-trip time, such as \"100 ms\"";
            return Err(Fault::new("interval", "an interval of zero", expected));
        }
        Ok(())
    }
}

/// The most queues (Linux, `sch_fq_codel`).
const MOST_FLOWS: u32 = 65_536;

/// RFC 8290 §4.1: the most packets that the fattest queue loses at once.
const DROP_BATCH: u64 = 64;

/// The queue.
pub struct FqCoDel {
    law: Law,
    ce_threshold: Option<Duration>,
    limit: Amount,
    flows: u64,
    quantum: i64,
    /// Salts the hash. Nothing is drawn from it.
    salt: Stream,
    place: Place,
    /// The queues of flows seen so far: a queue keeps its CoDel when it is empty (RFC 8290 §1.3).
    queues: BTreeMap<u64, FlowQueue>,
    /// Queues that have not used up their first quantum, in the order of turns.
    new: VecDeque<u64>,
    /// The other active ones.
    old: VecDeque<u64>,
    backlog: Backlog,
    held: Backlog,
}

/// The queue of the flows with one hash.
struct FlowQueue {
    fifo: Fifo,
    control: Control,
    /// What it may still send; a packet may overdraw it.
    credits: i64,
    /// Whether it is in one of the lists.
    active: bool,
}

impl FqCoDel {
    /// An empty queue whose drops are counted at `place`.
    pub fn new(config: &Config, place: Place, salt: Stream) -> Self {
        let Config { limit, flows, quantum, target, interval, ecn, ce_threshold } = *config;
        Self {
            law: Law { target, interval, ecn, resume: Resume::Difference },
            ce_threshold,
            limit,
            flows: u64::from(flows),
            // More than a run can send.
            quantum: quantum.get().min(1 << 40) as i64,
            salt,
            place,
            queues: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            held: Backlog::default(),
        }
    }

    /// The queue of a packet. A port belongs to one endpoint, so that the protocol says nothing more.
    fn classify(&self, packet: &Packet) -> u64 {
        let to = match packet.to {
            Address::Node(node) => u64::from(node.0),
            Address::Group(group) => u64::from(group.0) | 1 << 32,
        };
        let ports = u64::from(packet.from.port) << 16 | u64::from(packet.to_port);
        self.salt.numbered(u64::from(packet.from.node.0)).numbered(to).numbered(ports).seed() % self.flows
    }

    fn queue(&mut self, number: u64) -> &mut FlowQueue {
        self.queues.entry(number).or_insert_with(|| FlowQueue {
            fifo: Fifo::unlimited(),
            control: Control::default(),
            credits: 0,
            active: false,
        })
    }

    fn is_over(&self) -> bool {
        let Backlog { packets, bytes } = self.backlog + self.held;
        match self.limit {
            Amount::Packets(most) => packets > most,
            Amount::Bytes(most) => bytes > most.get(),
        }
    }

    /// Drops half of the packets of the queue with the most bytes, but no more than a batch (RFC 8290 §4.1).
    fn drop_from_fattest(&mut self, core: &mut Core) {
        let bytes = |number: &&u64| self.queues.get(number).map(|queue| queue.fifo.backlog().bytes);
        let Some(&fattest) = self.new.iter().chain(&self.old).max_by_key(bytes) else { return };
        let Some(queue) = self.queues.get_mut(&fattest) else { return };
        let before = queue.fifo.backlog();
        for _ in 0..(before.packets / 2).clamp(1, DROP_BATCH) {
            if let Some(packet) = queue.fifo.pop(core) {
                core.drop(packet, self.place, Cause::Overflow);
            }
        }
        self.backlog = without(self.backlog, before, queue.fifo.backlog());
    }

    /// The packet that leaves next: `take` takes it from the queue whose turn it is, if that has one (RFC 8290 §4.2).
    fn next(
        &mut self,
        core: &mut Core,
        take: impl Fn(&mut FlowQueue, &Law, Place, &mut Core) -> Option<Pkt>,
    ) -> Option<Pkt> {
        // Turns in a row in which a queue had no credits.
        let mut fruitless = 0;
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let queue = self.queues.get_mut(&number).expect("an active queue is one of the queues");
            if queue.credits <= 0 {
                queue.credits += self.quantum;
                list.pop_front();
                self.old.push_back(number);
                fruitless += 1;
                if fruitless == self.new.len() + self.old.len() {
                    self.skip_rounds();
                    fruitless = 0;
                }
                continue;
            }
            let before = queue.fifo.backlog();
            let packet = take(queue, &self.law, self.place, core);
            self.backlog = without(self.backlog, before, queue.fifo.backlog());
            if let Some(packet) = packet {
                queue.credits -= i64::from(core.packet(&packet).size);
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                // It has to wait for a round of the old ones, or it could come back as a new one before they have had a turn.
                self.old.push_back(number);
            } else {
                queue.active = false;
            }
            fruitless = 0;
        }
    }

    /// A whole round has found no credits: gives the quanta of all rounds that would find none either.
    fn skip_rounds(&mut self) {
        let quantum = self.quantum;
        let active = || self.new.iter().chain(&self.old);
        let missing = active().filter_map(|number| Some((-self.queues.get(number)?.credits).max(-1)));
        let rounds = missing.map(|missing| missing.div_euclid(quantum) + 1).min().unwrap_or(0);
        for number in self.new.iter().chain(&self.old) {
            if let Some(queue) = self.queues.get_mut(number) {
                queue.credits += rounds * quantum;
            }
        }
    }
}

/// `all`, of which a part was `before` and is `after`.
fn without(all: Backlog, before: Backlog, after: Backlog) -> Backlog {
    let packets = all.packets - (before.packets - after.packets);
    Backlog { packets, bytes: all.bytes - (before.bytes - after.bytes) }
}

impl QueueDiscipline for FqCoDel {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        let number = self.classify(core.packet(&packet));
        let quantum = self.quantum;
        let queue = self.queue(number);
        queue.control.on_arrival(size);
        queue.fifo.push(packet, size);
        if !std::mem::replace(&mut queue.active, true) {
            queue.credits = quantum;
            self.new.push_back(number);
        }
        self.backlog = self.backlog + Backlog { packets: 1, bytes: u64::from(size) };
        while self.is_over() && self.backlog.packets > 0 {
            self.drop_from_fattest(core);
        }
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let packet = self
            .next(core, |FlowQueue { fifo, control, .. }, law, place, core| control.dequeue(law, core, place, fifo))?;
        if let Some(threshold) = self.ce_threshold
            && core.now().since(core.queued_at(&packet)) > threshold
        {
            mark_if_capable(core, &packet, self.place);
        }
        Some(packet)
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.next(core, |FlowQueue { fifo, control, .. }, _, _, core| control.evict(core, fifo))
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        let number = self.classify(core.packet(&packet));
        let quantum = self.quantum;
        let queue = self.queue(number);
        queue.fifo.put_back(core, packet);
        if std::mem::replace(&mut queue.active, true) {
            // It had been paid for.
            queue.credits = (queue.credits + i64::from(size)).min(quantum);
        } else {
            queue.credits = quantum;
            self.new.push_front(number);
        }
        self.backlog = self.backlog + Backlog { packets: 1, bytes: u64::from(size) };
    }

    fn on_held(&mut self, held: Backlog) {
        self.held = held;
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("new_queues", self.new.len() as f64);
        probe.value("old_queues", self.old.len() as f64);
        probe.value("state_bytes", (self.queues.len() * size_of::<(u64, FlowQueue)>()) as f64);
    }
}

impl Timed for FqCoDel {}

#[cfg(test)]
mod tests;
