//! Differentiated services at one interface (RFC 2475): at an edge the conditioner, and behind it,
//! as in the core, a queue for each class.
//!
//! The conditioner knows flows by their profile, which comes by [`Command::Condition`]: it meters,
//! and marks, demotes or drops. Packets without a profile leave as best effort, whatever their code
//! point said. The queues know classes only: expedited forwarding (RFC 3246) leaves first, within
//! its share of the rate; the four classes of assured forwarding (RFC 2597), with RIO each, and best
//! effort share the rest by start-time fair queueing (Goyal, Vin, Cheng 1997). Network control, by
//! which hosts and routers agree on all this, leaves before everything.

use std::collections::BTreeMap;
use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::units::Amount;
use lasthop_net::engine::{BitRate, Bytes, Fault, Instant, Probability, Streams};
use lasthop_net::net::Pkt;
use lasthop_net::net::core::{Core, Port};
use lasthop_net::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use lasthop_net::net::dscp::{Class, Dscp, assured};
use lasthop_net::net::machine::Timed;
use lasthop_net::net::meter::{Colour, Gauge, Meter, Promise, srtcm};
use lasthop_net::net::observe::{Cause, Place, Probe};
use lasthop_net::net::operations::Operations;
use lasthop_net::net::order::{Answer, Command, Offer};
use lasthop_net::net::packet::FlowId;
use lasthop_net::net::token_bucket::TokenBucket;
use lasthop_net::net::transmitter::Queue;

use lasthop_net::queues::droptail::DropTail;
use lasthop_net::queues::rio::{self, Rio};

/// Differentiated services: an edge's conditioner and the queues of the classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Whether this is an edge of the domain, which conditions flows and takes their marks for
    /// nothing; in the core marks are believed. Default: yes.
    pub edge: bool,
    /// The share of the rate that expedited forwarding may have; the excess is dropped.
    /// Default: 0.3.
    pub ef: Probability,
    /// The burst that expedited forwarding may have, all flows together. Default: 15 kB, ten
    /// packets of 1500 B.
    pub ef_burst: Bytes,
    /// How much of expedited forwarding may wait. Default: 100 packets.
    pub ef_limit: Amount,
    /// The shares of the rate that assured forwarding classes 1 to 4 have at least. Default: 0.1
    /// each.
    pub af: [Probability; 4],
    /// The queue of each class of assured forwarding.
    pub rio: rio::Config,
    /// How much of best effort, whose share is what the others leave, may wait. Default: 100
    /// packets.
    pub limit: Amount,
    /// How assured forwarding is metered at an edge: green, yellow and red become drop precedence
    /// 1, 2 and 3. Expedited forwarding is metered by a token bucket, and the excess dropped
    /// (RFC 3246 §2.2). Default: the single-rate three-colour marker.
    pub meter: Meter,
}

impl Default for Config {
    fn default() -> Self {
        let share = |p| Probability::new(p).expect("a constant between 0 and 1");
        Self {
            edge: true,
            ef: share(0.3),
            ef_burst: Bytes::new(15_000),
            ef_limit: Amount::Packets(100),
            af: [share(0.1); 4],
            rio: rio::Config::default(),
            limit: Amount::Packets(100),
            meter: Meter::SrTcm(srtcm::Config::default()),
        }
    }
}

impl Config {
    /// The share that a class may have.
    fn share(&self, class: Class) -> f64 {
        match class {
            Class::Expedited => self.ef.get(),
            Class::Assured(n) => self.af[usize::from(n) - 1].get(),
            Class::BestEffort => 1.0 - self.ef.get() - self.af.iter().map(|share| share.get()).sum::<f64>(),
            Class::Control => 0.0,
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(DiffServ::new(self.clone(), site)))
    }

    fn check(&self) -> Result<(), Fault> {
        let rest = self.share(Class::BestEffort);
        if rest <= 1e-9 {
            let message = "the shares leave nothing to best effort";
            return Err(Fault::new("ef", message, "expected ef and af to make less than 1 together"));
        }
        if self.af.iter().any(|share| share.get() == 0.0) {
            let message = "a class of assured forwarding has no share";
            return Err(Fault::new("af", message, "expected four numbers above 0"));
        }
        self.rio.check().map_err(|fault| fault.inside("rio"))?;
        self.meter.check()
    }
}

/// The interface's queue.
pub struct DiffServ {
    config: Config,
    place: Place,
    rate: BitRate,
    /// Random streams of the meters are named for the interface and the flow.
    streams: Streams,
    name: String,
    /// The flows that are conditioned here.
    profiles: BTreeMap<FlowId, Profile>,
    control: DropTail,
    expedited: DropTail,
    /// Polices expedited forwarding, all flows together.
    policer: TokenBucket,
    /// Assured forwarding classes 1 to 4.
    assured: [Rio; 4],
    best_effort: DropTail,
    shares: Shares,
    counts: Counts,
}

/// A flow that is conditioned.
struct Profile {
    class: Class,
    gauge: Gauge,
}

/// What arrived, and what it cost.
#[derive(Default)]
struct Counts {
    packets: u64,
    operations: Operations,
    /// Dropped or demoted for exceeding a profile.
    exceeded: u64,
    /// Packets of flows that came without a profile and with a mark.
    unmarked: u64,
    /// Sent, of each class. What a handover puts back counts again, since a copy of it may have gone on.
    control: u64,
    expedited: u64,
    assured: u64,
    best_effort: u64,
}

/// How many packets of network control may wait: more than any node will send at once.
const CONTROL_PACKETS: u64 = 1_000;

/// The queue of best effort among those that share; the classes of assured forwarding are before it.
const BEST_EFFORT: usize = 4;

impl DiffServ {
    /// An empty queue at `site`.
    pub fn new(config: Config, site: &Site<'_>) -> Self {
        let fifo = |limit: Amount| DropTail::new(limit.into(), site.place);
        let assured = std::array::from_fn(|n| {
            let name = format!("{} af{}", site.name, n + 1);
            Rio::new(config.rio.clone(), &Site { name: &name, ..*site })
        });
        let classes = [1, 2, 3, 4].map(Class::Assured).into_iter().chain([Class::BestEffort]);
        let weights: Vec<f64> = classes.map(|class| config.share(class)).collect();
        let mut queue = Self {
            place: site.place,
            rate: site.rate,
            streams: site.streams.clone(),
            name: site.name.to_owned(),
            profiles: BTreeMap::new(),
            control: fifo(Amount::Packets(CONTROL_PACKETS)),
            expedited: fifo(config.ef_limit),
            policer: TokenBucket::new(BitRate::from_bps(0), config.ef_burst, Instant::ZERO),
            assured,
            best_effort: fifo(config.limit),
            shares: Shares::new(weights),
            counts: Counts::default(),
            config,
        };
        queue.on_capacity(Instant::ZERO, site.rate);
        queue
    }

    /// The rate that a class may have.
    fn offer(&self, class: Class) -> BitRate {
        BitRate::from_bps((self.config.share(class) * self.rate.as_bps() as f64) as u64)
    }

    /// The edge: meters and marks a flow's packet. `None` is to be dropped.
    fn condition(&mut self, now: Instant, flow: FlowId, dscp: u8, size: u32) -> Option<u8> {
        let Some(Profile { class, gauge }) = self.profiles.get_mut(&flow) else {
            self.counts.unmarked += u64::from(dscp != Dscp::Be.value());
            return Some(Dscp::Be.value());
        };
        self.counts.operations = self.counts.operations.and(gauge.operations());
        let colour = gauge.colour(now, size);
        self.counts.exceeded += u64::from(colour != Colour::Green);
        match (*class, colour) {
            (Class::Assured(n), Colour::Green) => Some(assured(n, 1)),
            (Class::Assured(n), Colour::Yellow) => Some(assured(n, 2)),
            (Class::Assured(n), Colour::Red) => Some(assured(n, 3)),
            (class, Colour::Green) => Some(class.dscp()),
            (_, Colour::Yellow | Colour::Red) => None,
        }
    }

    /// The packets waiting in a queue that shares.
    fn waiting(&self, queue: usize) -> u64 {
        match self.assured.get(queue) {
            Some(rio) => rio.backlog().packets,
            None => self.best_effort.backlog().packets,
        }
    }

    /// Gives a packet to a queue that shares.
    fn enqueue_shared(&mut self, core: &mut Core, queue: usize, packet: Pkt) {
        let before = self.waiting(queue);
        match self.assured.get_mut(queue) {
            Some(rio) => rio.enqueue(core, packet),
            None => self.best_effort.enqueue(core, packet),
        }
        if before == 0 && self.waiting(queue) > 0 {
            self.shares.begin(queue);
        }
    }

    fn queues(&self) -> impl Iterator<Item = &dyn QueueDiscipline> {
        let fifos: [&dyn QueueDiscipline; 3] = [&self.control, &self.expedited, &self.best_effort];
        fifos.into_iter().chain(self.assured.iter().map(|rio| rio as &dyn QueueDiscipline))
    }
}

impl QueueDiscipline for DiffServ {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let now = core.now();
        let (flow, size, dscp) = {
            let packet = core.packet(&packet);
            (packet.flow, packet.size, packet.dscp)
        };
        self.counts.packets += 1;
        // What nodes say to each other belongs to no flow, and is believed.
        let dscp = if self.config.edge && flow != FlowId::NONE {
            let Some(marked) = self.condition(now, flow, dscp, size) else {
                return core.drop(packet, self.place, Cause::Policed);
            };
            core.packet_mut(&packet).dscp = marked;
            marked
        } else {
            dscp
        };
        match Class::of(dscp) {
            Class::Control => self.control.enqueue(core, packet),
            Class::Expedited => {
                self.counts.operations = self.counts.operations.and(TokenBucket::OPERATIONS);
                if !self.policer.take(now, size) {
                    self.counts.exceeded += 1;
                    return core.drop(packet, self.place, Cause::Policed);
                }
                self.expedited.enqueue(core, packet);
            }
            Class::Assured(n) => {
                self.counts.operations = self.counts.operations.and(Rio::OPERATIONS);
                self.enqueue_shared(core, usize::from(n) - 1, packet);
            }
            Class::BestEffort => self.enqueue_shared(core, BEST_EFFORT, packet),
        }
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        if let Some(packet) = self.control.dequeue(core) {
            self.counts.control += 1;
            return Some(packet);
        }
        if let Some(packet) = self.expedited.dequeue(core) {
            self.counts.expedited += 1;
            return Some(packet);
        }
        let Some(queue) = self.shares.next(|queue| self.waiting(queue) > 0) else {
            self.shares.rest();
            return None;
        };
        let packet = match self.assured.get_mut(queue) {
            Some(rio) => {
                self.counts.assured += 1;
                let packet = rio.dequeue(core);
                if rio.backlog().packets == 0 {
                    // It sees that it is empty when it is asked, and is not asked while it is.
                    rio.dequeue(core);
                }
                packet
            }
            None => {
                self.counts.best_effort += 1;
                self.best_effort.dequeue(core)
            }
        }?;
        self.shares.served(queue, core.packet(&packet).size);
        Some(packet)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        match Class::of(core.packet(&packet).dscp) {
            Class::Control => self.control.put_back(core, packet),
            Class::Expedited => self.expedited.put_back(core, packet),
            class => {
                let size = core.packet(&packet).size;
                let queue = if let Class::Assured(n) = class {
                    self.assured[usize::from(n) - 1].put_back(core, packet);
                    usize::from(n) - 1
                } else {
                    self.best_effort.put_back(core, packet);
                    BEST_EFFORT
                };
                self.shares.unserved(queue, size);
            }
        }
    }

    fn on_capacity(&mut self, now: Instant, rate: BitRate) {
        self.rate = rate;
        self.policer.set_rate(now, self.offer(Class::Expedited));
        self.assured.iter_mut().for_each(|rio| rio.on_capacity(now, rate));
    }

    fn on_order(&mut self, now: Instant, command: &Command) -> Answer {
        if !self.config.edge {
            return Answer::Unknown;
        }
        match *command {
            Command::Offer(class @ (Class::Expedited | Class::Assured(_))) => {
                Answer::Offered(Offer { port: Port::LOCAL, place: self.place, rate: self.offer(class) })
            }
            Command::Condition(flow, class @ (Class::Expedited | Class::Assured(_)), promise) => {
                self.profiles.insert(flow, self.profile(now, flow, class, promise));
                Answer::Done
            }
            Command::Release(flow) => {
                self.profiles.remove(&flow);
                Answer::Done
            }
            _ => Answer::Unknown,
        }
    }

    fn backlog(&self) -> Backlog {
        let all = self.queues().map(QueueDiscipline::backlog);
        all.fold(Backlog::default(), Add::add)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let Counts { packets, operations, exceeded, unmarked, control, expedited, assured, best_effort } = self.counts;
        probe.value("control_packets", control as f64);
        probe.value("ef_packets", expedited as f64);
        probe.value("af_packets", assured as f64);
        probe.value("be_packets", best_effort as f64);
        probe.value("exceeded_packets", exceeded as f64);
        probe.value("unmarked_packets", unmarked as f64);
        probe.value("flows", self.profiles.len() as f64);
        probe.value("state_bytes", (self.profiles.len() * size_of::<(FlowId, Profile)>()) as f64);
        probe.value("class_state_bytes", size_of::<Self>() as f64);
        probe.value("packets_in", packets as f64);
        operations.show(probe, Operations::IN);
    }
}

impl DiffServ {
    /// The profile of a flow, which begins now.
    fn profile(&self, now: Instant, flow: FlowId, class: Class, promise: Promise) -> Profile {
        let gauge = match class {
            Class::Assured(_) => {
                let stream = self.streams.stream(&self.name, &format!("meter {}", flow.0));
                self.config.meter.start(promise, now, stream)
            }
            _ => Gauge::Bucket(TokenBucket::new(promise.rate, promise.burst, now)),
        };
        Profile { class, gauge }
    }
}

impl Timed for DiffServ {}

/// Start-time fair queueing between a few queues (Goyal, Vin, Cheng 1997): the queue whose first packet has the lowest start tag is next,
/// and the virtual time is that tag. It needs no packet's length before the packet leaves, so the order inside a queue is that queue's own.
struct Shares {
    weights: Vec<f64>,
    /// The start tag of each queue's first packet; of an empty one the finish tag of its last.
    tags: Vec<f64>,
    virtual_time: f64,
}

impl Shares {
    fn new(weights: Vec<f64>) -> Self {
        Self { tags: vec![0.0; weights.len()], weights, virtual_time: 0.0 }
    }

    /// A queue that was empty holds something.
    fn begin(&mut self, queue: usize) {
        self.tags[queue] = self.tags[queue].max(self.virtual_time);
    }

    /// Which of the queues that hold something is next.
    fn next(&self, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let waiting = (0..self.tags.len()).filter(|&queue| holds(queue));
        waiting.min_by(|&a, &b| self.tags[a].total_cmp(&self.tags[b]))
    }

    /// The link is free, and nothing waits: a busy period has ended (Goyal, Vin, Cheng 1997, §2, rule 2).
    fn rest(&mut self) {
        self.virtual_time = self.tags.iter().copied().fold(self.virtual_time, f64::max);
    }

    /// A packet of this size leaves a queue.
    fn served(&mut self, queue: usize, size: u32) {
        self.virtual_time = self.tags[queue];
        self.tags[queue] += f64::from(size) / self.weights[queue];
    }

    /// The last packet that left a queue is back.
    fn unserved(&mut self, queue: usize, size: u32) {
        self.tags[queue] = (self.tags[queue] - f64::from(size) / self.weights[queue]).max(0.0);
    }
}

#[cfg(test)]
mod tests;
