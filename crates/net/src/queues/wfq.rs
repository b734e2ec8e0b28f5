//! Weighted fair queueing (Demers, Keshav, Shenker 1989; Parekh, Gallager 1993): packets leave in
//! the order in which a fluid system with the flows' weights would finish them.
//!
//! A flow gets a queue and a weight by [`Command::Reserve`]; the weight is the reserved rate. All
//! other packets share the queue of best effort, whose weight is what no flow has reserved. So do
//! those that their flow's policer has demoted (code point CS1). Signalling, which belongs to no flow
//! and makes reservations, goes ahead of all data, whatever code point these carry. A
//! packet of length L gets the finish tag F = max(V, F of the one before it) + L / w. The virtual
//! time V is that of the fluid system, or, much cheaper, the tag of the packet in service
//! (self-clocked fair queueing, Golestani 1994).
//!
//! The fluid system does the work that the link does for packets from here, no more: it stands still while the link is down or idle. Another
//! weight holds for waiting packets, too: the part of them that the fluid system has still to serve takes that much longer or shorter.
//! Signalling counts as best effort that has overtaken everything: it is paid for by the rate that no flow has reserved.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{BitRate, Fault, Instant, Probability};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::dscp::Dscp;
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::operations::Operations;
use crate::net::order::{Answer, Command};
use crate::net::packet::{FlowId, Packet};
use crate::net::transmitter::Queue;

/// Weighted fair queueing between reservations and best effort.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait of each flow that has a reservation, and of best effort. Default: 100
    /// packets, as DropTail.
    pub limit: Amount,
    /// The share of the link's rate that can be reserved. Default: 0.9 (ns-2.35, `param-adc.cc`).
    pub utilisation: Probability,
    /// Where the virtual time comes from.
    pub clock: Clock,
}

/// Where the virtual time of weighted fair queueing comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The finish tag of the packet in service (Golestani 1994).
    #[default]
    SelfClocked,
    /// The fluid system that is approximated, followed exactly (Parekh, Gallager 1993).
    Gps,
}

impl Default for Config {
    fn default() -> Self {
        let utilisation = Probability::new(0.9).expect("a constant between 0 and 1");
        Self { limit: Amount::Packets(100), utilisation, clock: Clock::default() }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Wfq::new(self.clone(), site.rate, site.place)))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.utilisation.get() >= 1.0 {
            let message = "everything could be reserved, and nothing be left to best effort";
            return Err(Fault::new("utilisation", message, "expected less than 1"));
        }
        Ok(())
    }
}

/// The queue.
pub struct Wfq {
    config: Config,
    place: Place,
    rate: u64,
    /// Best effort, as [`FlowId::NONE`], and behind it the flows that have a reservation, in the
    /// order of admission; and the queue of each.
    flows: Vec<FlowId>,
    queues: Vec<Share>,
    /// The queue of each flow, by its number. Flows are numbered from 0, and those behind the last
    /// that has ever had a reservation are left out.
    places: Vec<u32>,
    /// Signalling.
    control: VecDeque<Pkt>,
    /// The first packet of each queue, by finish tag. An entry may be an old one, for a packet that
    /// is not, or no longer, the first.
    heads: BinaryHeap<Reverse<Head>>,
    /// Numbers of packets, which settle ties: of the last that arrived, and, below zero, of the last
    /// that was put back.
    arrived_number: i64,
    returned_number: i64,
    virtual_time: f64,
    /// When the fluid system was followed to.
    followed: Instant,
    /// Bits of the packet in service that the fluid system has not served; below zero where packets that it had served were put back.
    in_service: f64,
    backlog: Backlog,
    arrived: u64,
}

/// A queue with its weight.
struct Share {
    /// In bit/s.
    weight: f64,
    fifo: VecDeque<Waiting>,
    bytes: u64,
    /// The finish tag of the packet that came last.
    last: f64,
}

struct Waiting {
    pkt: Pkt,
    size: u32,
    number: i64,
    finish: f64,
}

impl Waiting {
    /// It as the first of its queue.
    fn head(&self, queue: u32) -> Head {
        Head { finish: self.finish.to_bits(), number: self.number, queue }
    }
}

/// The first packet of a queue. Tags are not negative, so their bits are in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    finish: u64,
    number: i64,
    queue: u32,
}

const BEST_EFFORT: usize = 0;

/// Whether it is one of the messages that make reservations, which are few and small: they belong to no flow.
fn is_signalling(packet: &Packet) -> bool {
    packet.flow == FlowId::NONE
}

impl Wfq {
    /// What an arrival costs with a clock of its own: the length over the weight, and a sum. The
    /// exact clock adds an amount that grows with the flows that the fluid system serves.
    pub const OPERATIONS: Operations = Operations { additions: 1, multiplications: 1 };

    /// An empty queue in front of a link of this rate.
    pub fn new(config: Config, rate: BitRate, place: Place) -> Self {
        let share = Share::new(rate.as_bps() as f64);
        Self {
            config,
            place,
            rate: rate.as_bps(),
            flows: vec![FlowId::NONE],
            queues: vec![share],
            places: Vec::new(),
            control: VecDeque::new(),
            heads: BinaryHeap::new(),
            arrived_number: 0,
            returned_number: 0,
            virtual_time: 0.0,
            followed: Instant::ZERO,
            in_service: 0.0,
            backlog: Backlog::default(),
            arrived: 0,
        }
    }

    /// What can be reserved in all, in bit/s.
    fn reservable(&self) -> f64 {
        self.config.utilisation.get() * self.rate as f64
    }

    /// What flows have reserved, in bit/s.
    fn reserved(&self) -> f64 {
        // Not `sum`, which is −0 of nothing.
        self.queues[BEST_EFFORT + 1..].iter().fold(0.0, |sum, share| sum + share.weight)
    }

    fn queue_of(&self, flow: FlowId) -> usize {
        self.places.get(flow.0 as usize).map_or(BEST_EFFORT, |&queue| queue as usize)
    }

    /// The queue of a packet: of its flow, unless it was demoted.
    fn queue_for(&self, packet: &Packet) -> usize {
        if packet.dscp == Dscp::Cs1.value() { BEST_EFFORT } else { self.queue_of(packet.flow) }
    }

    /// Best effort has the unreserved rate.
    fn give_rest_to_best_effort(&mut self) {
        self.set_weight(BEST_EFFORT, (self.rate as f64 - self.reserved()).max(1.0));
    }

    /// From now on a queue has this weight, and so have the packets that wait in it.
    fn set_weight(&mut self, queue: usize, weight: f64) {
        let share = &mut self.queues[queue];
        if share.weight.to_bits() == weight.to_bits() {
            return;
        }
        let (now, longer) = (self.virtual_time, share.weight / weight);
        let tags = share.fifo.iter_mut().map(|waiting| &mut waiting.finish).chain([&mut share.last]);
        for tag in tags.filter(|tag| **tag > now) {
            *tag = now + (*tag - now) * longer;
        }
        share.weight = weight;
        self.announce(queue);
    }

    /// The sum of reservations may reach the reservable share of the rate (ns-2.35, `param-adc.cc`). A flow is sure of its rate as long as
    /// the rates of all are no more than the link's (Parekh, Gallager 1993).
    fn reserve(&mut self, now: Instant, flow: FlowId, rate: BitRate) -> Answer {
        self.follow(now);
        let queue = self.queue_of(flow);
        let own = if queue == BEST_EFFORT { 0.0 } else { self.queues[queue].weight };
        let free = self.reservable() - (self.reserved() - own);
        let wanted = rate.as_bps() as f64;
        // A millionth of a bit/s is rounding.
        if wanted > free + 1e-6 {
            return Answer::Refused(BitRate::from_bps(free.max(0.0) as u64));
        }
        if queue == BEST_EFFORT {
            // Its packets that wait as best effort stay there, and may be overtaken.
            let number = flow.0 as usize;
            if self.places.len() <= number {
                self.places.resize(number + 1, BEST_EFFORT as u32);
            }
            self.places[number] = self.queues.len() as u32;
            self.flows.push(flow);
            self.queues.push(Share::new(wanted));
        } else {
            self.set_weight(queue, wanted);
        }
        self.give_rest_to_best_effort();
        Answer::Done
    }

    /// Ends a reservation, and gives its waiting packets.
    fn end(&mut self, queue: usize) -> VecDeque<Waiting> {
        let flow = self.flows.remove(queue);
        self.places[flow.0 as usize] = BEST_EFFORT as u32;
        for (place, flow) in self.flows.iter().enumerate().skip(queue) {
            self.places[flow.0 as usize] = place as u32;
        }
        self.queues.remove(queue).fifo
    }

    /// Reservations have ended: their waiting packets go to the end of best effort.
    fn demote(&mut self, waiting: VecDeque<Waiting>) {
        self.give_rest_to_best_effort();
        for packet in waiting {
            self.queues[BEST_EFFORT].push(self.virtual_time, packet);
        }
        // Queues have moved.
        self.heads.clear();
        for queue in 0..self.queues.len() {
            self.announce(queue);
        }
    }

    /// The first packet of this queue is another than before.
    fn announce(&mut self, queue: usize) {
        if let Some(first) = self.queues[queue].fifo.front() {
            self.heads.push(Reverse(first.head(queue as u32)));
        }
    }

    /// Follows the fluid system up to now.
    fn follow(&mut self, now: Instant) {
        if self.config.clock == Clock::Gps {
            let sent = now.since(self.followed).as_secs_f64() * self.rate as f64;
            self.followed = now;
            self.serve(sent.min(self.in_service));
        }
    }

    /// The link is free, and begins to send a packet of this size that waited here.
    fn follow_to_next(&mut self, now: Instant, size: u32) {
        if self.config.clock == Clock::Gps {
            self.followed = now;
            self.serve(self.in_service);
            self.in_service += 8.0 * f64::from(size);
        }
    }

    /// The link is free, and no packet waits: the shares that queues had of the busy period are forgotten.
    fn rest(&mut self) {
        self.virtual_time = self.queues.iter().fold(self.virtual_time, |latest, share| latest.max(share.last));
        self.in_service = 0.0;
    }

    /// The fluid system serves bits: of every flow whose last tag is ahead of the virtual time, which advances by bits / sum of their weights.
    fn serve(&mut self, bits: f64) {
        let mut left = bits.max(0.0);
        self.in_service -= left;
        loop {
            let served = self.queues.iter().filter(|share| share.last > self.virtual_time);
            let (weights, next) = served
                .fold((0.0, f64::INFINITY), |(weights, next), share| (weights + share.weight, share.last.min(next)));
            if weights == 0.0 {
                return;
            }
            let needed = (next - self.virtual_time) * weights;
            if needed > left {
                self.virtual_time += left / weights;
                return;
            }
            left -= needed;
            self.virtual_time = next;
        }
    }

    fn is_full(&self, queue: usize, size: u32) -> bool {
        let share = &self.queues[queue];
        let waiting = Backlog { packets: share.fifo.len() as u64, bytes: share.bytes };
        waiting.is_full(self.config.limit, size)
    }
}

impl Share {
    fn new(weight: f64) -> Self {
        Self { weight, fifo: VecDeque::new(), bytes: 0, last: 0.0 }
    }

    /// Another packet, of this size, has overtaken all that waits here.
    fn pay(&mut self, virtual_time: f64, size: u32) {
        let later = 8.0 * f64::from(size) / self.weight;
        // What was put back stays ahead.
        for waiting in self.fifo.iter_mut().filter(|waiting| waiting.number > 0) {
            waiting.finish += later;
        }
        self.last = self.last.max(virtual_time) + later;
    }

    /// Puts a packet at its end, with the tag that it gets there.
    fn push(&mut self, virtual_time: f64, waiting: Waiting) {
        let finish = self.last.max(virtual_time) + 8.0 * f64::from(waiting.size) / self.weight;
        self.last = finish;
        self.bytes += u64::from(waiting.size);
        self.fifo.push_back(Waiting { finish, ..waiting });
    }
}

impl QueueDiscipline for Wfq {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        self.follow(core.now());
        self.arrived += 1;
        if is_signalling(core.packet(&packet)) {
            self.backlog.packets += 1;
            self.backlog.bytes += u64::from(size);
            self.queues[BEST_EFFORT].pay(self.virtual_time, size);
            self.announce(BEST_EFFORT);
            return self.control.push_back(packet);
        }
        let queue = self.queue_for(core.packet(&packet));
        if self.is_full(queue, size) {
            return core.drop(packet, self.place, Cause::Overflow);
        }
        self.arrived_number += 1;
        let waiting = Waiting { pkt: packet, size, number: self.arrived_number, finish: 0.0 };
        self.queues[queue].push(self.virtual_time, waiting);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(size);
        if self.queues[queue].fifo.len() == 1 {
            self.announce(queue);
        }
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        if let Some(packet) = self.control.pop_front() {
            let size = core.packet(&packet).size;
            self.follow_to_next(core.now(), size);
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(size);
            return Some(packet);
        }
        loop {
            let Some(Reverse(head)) = self.heads.pop() else {
                self.rest();
                return None;
            };
            let queue = head.queue as usize;
            let share = &mut self.queues[queue];
            if share.fifo.front().is_none_or(|first| first.head(head.queue) != head) {
                continue; // an old entry
            }
            let Waiting { pkt, size, finish, .. } = share.fifo.pop_front()?;
            share.bytes -= u64::from(size);
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(size);
            self.announce(queue);
            match self.config.clock {
                Clock::SelfClocked => self.virtual_time = self.virtual_time.max(finish),
                Clock::Gps => self.follow_to_next(core.now(), size),
            }
            return Some(pkt);
        }
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        self.follow(core.now());
        self.in_service -= 8.0 * f64::from(size);
        if is_signalling(core.packet(&packet)) {
            self.backlog.packets += 1;
            self.backlog.bytes += u64::from(size);
            return self.control.push_front(packet);
        }
        let queue = self.queue_for(core.packet(&packet));
        // Its turn had come: it is ahead of whatever waits. Of several the last put back is first.
        self.returned_number -= 1;
        let waiting = Waiting { pkt: packet, size, number: self.returned_number, finish: 0.0 };
        self.queues[queue].fifo.push_front(waiting);
        self.queues[queue].bytes += u64::from(size);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(size);
        self.announce(queue);
    }

    /// Reservations that no longer fit lapse, the latest first.
    fn on_capacity(&mut self, now: Instant, rate: BitRate) {
        self.follow(now);
        self.rate = rate.as_bps();
        let mut waiting = VecDeque::new();
        while self.queues.len() > BEST_EFFORT + 1 && self.reserved() > self.reservable() + 1e-6 {
            waiting.append(&mut self.end(self.queues.len() - 1));
        }
        self.demote(waiting);
    }

    fn on_order(&mut self, now: Instant, command: &Command) -> Answer {
        match *command {
            Command::Reserve(flow, rate) if flow != FlowId::NONE => self.reserve(now, flow, rate),
            Command::Release(flow) => {
                let queue = self.queue_of(flow);
                if queue != BEST_EFFORT {
                    self.follow(now);
                    let waiting = self.end(queue);
                    self.demote(waiting);
                }
                Answer::Done
            }
            _ => Answer::Unknown,
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let flows = self.queues.len() - 1;
        probe.value("flows", flows as f64);
        probe.value("reserved_bps", self.reserved());
        let each = size_of::<FlowId>() + size_of::<u32>() + size_of::<Share>() + size_of::<Head>();
        probe.value("state_bytes", (flows * each) as f64);
        probe.value("packets_in", self.arrived as f64);
        Self::OPERATIONS.times(self.arrived).show(probe, Operations::IN);
    }
}

impl Timed for Wfq {}

#[cfg(test)]
mod tests;
