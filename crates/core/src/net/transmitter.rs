//! One direction of a link: a queue, a serialiser and a flight of packets.
//!
//! With a tail-drop FIFO the transmitter *plans*: start and arrival of a packet are computed
//! when it is accepted, and it makes one event, its arrival. Every other discipline is *asked*
//! when the serialiser is free, which makes two. Both follow the same trajectory; a test holds
//! them to it.
//!
//! Until a planned packet starts its times are a plan: a change of rate or delay plans anew
//! what waits. What has started keeps its arrival, and may be overtaken.
//!
//! A packet may come at the very instant at which the one in service is out. Then the earlier
//! cause decides: the serialiser is free if that one's service began before the cause of the
//! newcomer, or at the same instant (as in ns-2 for a source that writes at the rate of the link,
//! and for links of one rate in a row).

use std::collections::VecDeque;

use crate::engine::units::Amount;
use crate::engine::{BitRate, Duration, EventQueue, FloatTime, Instant, Target};

use super::core::Core;
use super::discipline::{Backlog, QueueDiscipline};
use super::loss::Loss;
use super::medium::{Change, End, InFlight, Queued};
use super::observe::{Cause, Histogram, Place, Probe};
use super::slab::Pkt;

/// How a transmitter is set up.
pub struct Setup {
    /// Its name in results.
    pub name: String,
    /// Where its drops are counted.
    pub place: Place,
    /// Bits per second of the serialiser.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Whether a packet may overtake one that was sent before the delay became shorter.
    pub reorder: bool,
    /// The queue.
    pub queue: Queue,
    /// What is lost in front of the queue.
    pub loss: Loss,
}

/// The queue of a transmitter.
pub enum Queue {
    /// A FIFO that drops what arrives when this much waits already. It is planned.
    Planned(Amount),
    /// Any other discipline. It is asked.
    Asked(Box<dyn QueueDiscipline>),
}

/// One direction of a link.
pub struct Transmitter {
    to: End,
    place: Place,
    name: String,
    component: u32,
    first_key: u32,
    serialiser: Serialiser,
    delay: Duration,
    reorder: bool,
    up: bool,
    loss: Loss,
    stage: Stage,
    /// In service or in flight and, if planned, waiting behind these; in the order of starts.
    line: VecDeque<Flying>,
    /// Packets that packets of `line` may overtake, in the order of arrivals; mostly empty.
    overtaken: VecDeque<Flying>,
    /// The valid arrival wake-up.
    armed: Landing,
    last_arrival: Instant,
    /// The same by ns-2's clock, if that is followed.
    last_arrival_float: FloatTime,
    /// Service of the packet that started last, of those known to have started; `None` before
    /// the first, and after it was taken back.
    service: Option<Service>,
    sent: Backlog,
    busy: Duration,
    waits: Histogram,
}

enum Stage {
    Planned {
        limit: Amount,
        /// How many of `line`, from the front, are known to have started.
        started: usize,
        /// The bytes of the others.
        waiting_bytes: u64,
    },
    Asked {
        discipline: Box<dyn QueueDiscipline>,
        sending: bool,
        wanted: Option<Instant>,
    },
}

/// A packet with its times.
struct Flying {
    pkt: Pkt,
    size: u32,
    accepted: Instant,
    /// Its first bit goes out.
    start: Instant,
    /// Its last bit is out.
    out: Instant,
    /// Its last bit has arrived.
    arrival: Instant,
    /// The end of service and the arrival by ns-2's clock, if that is followed.
    float: Option<[FloatTime; 2]>,
}

impl Flying {
    #[inline]
    fn landing(&self) -> Landing {
        let since = self.float.map_or(self.start, |[_, arrival]| arrival.order_at(self.arrival));
        Landing { at: self.arrival, since }
    }

    fn service(&self) -> Service {
        Service { start: self.start, out: self.out, out_float: self.float.map(|[out, _]| out) }
    }
}

/// When a packet lands, and since when it has been on its way: the order of wake-ups.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Landing {
    at: Instant,
    since: Instant,
}

impl Landing {
    /// None comes.
    const NEVER: Self = Self { at: Instant::MAX, since: Instant::MAX };
}

/// From when to when the serialiser works on a packet.
#[derive(Clone, Copy)]
struct Service {
    start: Instant,
    out: Instant,
    /// `out` by ns-2's clock, if that is followed.
    out_float: Option<FloatTime>,
}

/// An event, as far as it decides who comes first.
#[derive(Clone, Copy)]
struct Occasion {
    at: Instant,
    /// `at` by ns-2's clock, if that is followed.
    float: Option<FloatTime>,
    /// When its cause began; `None` for what happens before all events of this instant.
    cause: Option<Instant>,
}

impl Occasion {
    /// The present event.
    #[inline]
    fn event(core: &Core) -> Self {
        Self { at: core.now(), float: core.float(), cause: Some(core.since()) }
    }

    /// Before the events of the present instant.
    fn before(core: &Core) -> Self {
        Self { at: core.now(), float: core.float(), cause: None }
    }
}

impl Service {
    /// Whether it occupies the serialiser on this occasion. Of coinciding events the one whose
    /// cause began earlier comes first; ns-2's clock leaves few that coincide.
    #[inline]
    fn occupies(self, occasion: Occasion) -> bool {
        let (later, equal) = match (self.out_float, occasion.float) {
            (Some(out), Some(now)) => (out > now, out == now),
            _ => (self.out > occasion.at, self.out == occasion.at),
        };
        later || (equal && occasion.cause.is_none_or(|cause| self.start > cause))
    }

    /// The order of its end among wake-ups.
    fn order(self) -> Instant {
        self.out_float.map_or(self.start, |out| out.order_at(self.out))
    }
}

/// The serialiser: when it is free, to a fraction of a nanosecond, so that a busy one never drifts.
struct Serialiser {
    /// Bits per second.
    rate: u64,
    free_at: Instant,
    /// What is left of a nanosecond at `free_at`, in units of 1/rate ns.
    rest: u64,
    /// The two sizes sent last with their service times, (size, ns, rest): data and
    /// acknowledgements, mostly.
    known: [(u32, u64, u64); 2],
    /// `free_at` by ns-2's clock, if that is followed.
    free_float: FloatTime,
}

impl Serialiser {
    fn new(rate: BitRate) -> Self {
        let free_float = FloatTime::default();
        let mut new = Self { rate: 1, free_at: Instant::ZERO, rest: 0, known: [(0, 0, 0); 2], free_float };
        new.set_rate(rate);
        new
    }

    fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate.as_bps().max(1);
        self.rest = 0;
        self.known = [(0, 0, 0); 2];
    }

    /// It is free from `at` on.
    fn stop(&mut self, at: Instant, float: Option<FloatTime>) {
        self.free_at = at;
        self.rest = 0;
        self.free_float = float.unwrap_or_default();
    }

    /// Sends `size` bytes from `start` (not before it is free) and gives the end.
    #[inline]
    fn send(&mut self, start: Instant, size: u32) -> Instant {
        if start > self.free_at {
            self.rest = 0;
        }
        let (ns, rest) = if self.known[0].0 == size {
            (self.known[0].1, self.known[0].2)
        } else if self.known[1].0 == size {
            (self.known[1].1, self.known[1].2)
        } else {
            self.learn(size)
        };
        let rest = self.rest + rest;
        let carry = u64::from(rest >= self.rate);
        self.rest = rest - carry * self.rate;
        self.free_at = start + Duration::from_nanos(ns + carry);
        self.free_at
    }

    #[cold]
    fn learn(&mut self, size: u32) -> (u64, u64) {
        // 2³² bytes are 3.4e19 bit·ns/s; u128 leaves no doubt.
        let work = u128::from(size) * 8 * 1_000_000_000;
        let rate = u128::from(self.rate);
        let (ns, rest) = ((work / rate) as u64, (work % rate) as u64);
        self.known = [(size, ns, rest), self.known[0]];
        (ns, rest)
    }
}

/// What a transmitter's wake-up is for; keys count from the transmitter's first.
const ARRIVAL: u32 = 0;
const FREE: u32 = 1;
const DISCIPLINE: u32 = 2;

impl Transmitter {
    /// How many keys of its component a transmitter uses.
    pub const KEYS: u32 = 3;

    /// A transmitter to `to`. Its wake-ups come to `component` with keys from `first_key`.
    pub fn new(core: &Core, to: End, component: u32, first_key: u32, setup: Setup) -> Self {
        let stage = match setup.queue {
            Queue::Planned(limit) => Stage::Planned { limit, started: 0, waiting_bytes: 0 },
            Queue::Asked(mut discipline) => {
                discipline.on_capacity(core.now(), setup.rate);
                Stage::Asked { discipline, sending: false, wanted: None }
            }
        };
        Self {
            to,
            place: setup.place,
            name: setup.name,
            component,
            first_key,
            serialiser: Serialiser::new(setup.rate),
            delay: setup.delay,
            reorder: setup.reorder,
            up: true,
            loss: setup.loss,
            stage,
            line: VecDeque::new(),
            overtaken: VecDeque::new(),
            armed: Landing::NEVER,
            last_arrival: Instant::ZERO,
            last_arrival_float: FloatTime::default(),
            service: None,
            sent: Backlog::default(),
            busy: Duration::ZERO,
            waits: Histogram::default(),
        }
    }

    /// The name in results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The place by which its drops are counted.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The propagation delay, for routing.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Whether it takes packets.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Takes a packet to send.
    #[inline]
    pub fn accept(&mut self, core: &mut Core, pkt: Pkt) {
        if !self.up {
            return core.drop(pkt, self.place, Cause::LinkDown);
        }
        if let Some(model) = &mut self.loss.0
            && model.loses(core.now(), core.packet(&pkt))
        {
            return core.drop(pkt, self.place, Cause::Loss);
        }
        match &mut self.stage {
            Stage::Planned { .. } => self.plan(core, pkt),
            Stage::Asked { .. } => self.enqueue(core, pkt),
        }
    }

    /// The wake-up with this key has come. `reverse` is the transmitter of the interface at
    /// which packets of this one arrive: its discipline sees them on their way in.
    #[inline]
    pub fn wake(&mut self, core: &mut Core, key: u32, reverse: &mut Self) {
        match key - self.first_key {
            ARRIVAL => {
                let fired = self.armed;
                if core.now() != fired.at || core.since() != EventQueue::remembered(fired.at, fired.since) {
                    return; // an old wake-up
                }
                self.armed = Landing::NEVER;
                if self.first_to_land().is_some_and(|first| first.landing() <= fired) {
                    self.land(core, reverse);
                }
                self.arm_arrival(core);
            }
            FREE => {
                let Some(service) = self.service else { return };
                let Service { start, out, out_float } = service;
                if core.now() == out && core.since() == EventQueue::remembered(out, service.order()) {
                    if let Some(time) = out_float {
                        core.set_float(time, start);
                    }
                    self.end_service(core, Occasion { at: out, float: out_float, cause: Some(start) });
                    self.arm_discipline(core);
                }
            }
            _ => {
                let now = core.now();
                core.set_float(FloatTime::new(now), core.since());
                if let Stage::Asked { discipline, sending, wanted } = &mut self.stage
                    && wanted.is_some_and(|at| at <= now)
                {
                    *wanted = None;
                    if discipline.next_timeout().is_some_and(|at| at <= now) {
                        discipline.on_timeout(now);
                    }
                    if !*sending {
                        self.ask(core);
                    }
                    self.arm_discipline(core);
                }
            }
        }
    }

    /// A packet came in over the interface whose outgoing side this is.
    #[inline]
    fn on_return(&mut self, core: &mut Core, pkt: &Pkt) {
        if let Stage::Asked { discipline, .. } = &mut self.stage {
            let now = core.now();
            discipline.on_return(now, core.packet_mut(pkt));
        }
    }

    /// Changes rate, delay, state or loss, and does with the packets as the change says.
    pub fn change(&mut self, core: &mut Core, change: &mut Change) {
        let now = core.now();
        self.note_started(Occasion::before(core));
        if let Some(rate) = change.rate {
            self.serialiser.set_rate(rate);
            if let Stage::Asked { discipline, .. } = &mut self.stage {
                discipline.on_capacity(now, rate);
            }
        }
        self.delay = change.delay.unwrap_or(self.delay);
        self.up = change.up.unwrap_or(self.up);
        if let Some(loss) = change.loss.take() {
            self.loss = loss;
        }
        if change.queue == Queued::Empty {
            self.empty_queue(core);
        }
        if change.in_flight == InFlight::Move {
            self.move_flight(core);
        }
        // What is in service keeps its end; a fraction of a nanosecond is forgotten.
        let (free_at, float) = self.service.map_or((now, core.float()), |s| (s.out, s.out_float));
        self.serialiser.stop(free_at, float);
        self.plan_anew(Occasion::before(core));
        if let Stage::Asked { sending: false, .. } = self.stage {
            self.ask(core);
            self.arm_discipline(core);
        }
        self.arm_arrival(core);
    }

    /// What waits, before the events of this instant.
    pub fn backlog(&self, now: Instant) -> Backlog {
        match &self.stage {
            Stage::Planned { started, waiting_bytes, .. } => {
                let mut backlog = Backlog { packets: (self.line.len() - started) as u64, bytes: *waiting_bytes };
                for gone in self.line.iter().skip(*started).take_while(|f| f.start < now) {
                    backlog.packets -= 1;
                    backlog.bytes -= u64::from(gone.size);
                }
                backlog
            }
            Stage::Asked { discipline, .. } => discipline.backlog(),
        }
    }

    /// Packets that it holds: waiting, in service and in flight.
    pub fn holds(&self) -> u64 {
        let queued = match &self.stage {
            Stage::Planned { .. } => 0,
            Stage::Asked { discipline, .. } => discipline.backlog().packets,
        };
        (self.line.len() + self.overtaken.len()) as u64 + queued
    }

    /// Shows its state and totals.
    pub fn sample(&self, now: Instant, probe: &mut dyn Probe) {
        let backlog = self.backlog(now);
        probe.value("rate_bps", self.serialiser.rate as f64);
        probe.value("delay_s", self.delay.as_secs_f64());
        probe.value("queue_packets", backlog.packets as f64);
        probe.value("queue_bytes", backlog.bytes as f64);
        probe.value("packets", self.sent.packets as f64);
        probe.value("bytes", self.sent.bytes as f64);
        probe.value("busy_s", self.busy.as_secs_f64());
        probe.distribution("queue_ms", 1e-6, &self.waits);
        if let Stage::Asked { discipline, .. } = &self.stage {
            discipline.sample(probe);
        }
    }

    /// Planned: computes the packet's start and arrival, unless the queue is full.
    #[inline]
    fn plan(&mut self, core: &mut Core, pkt: Pkt) {
        let now = core.now();
        let size = core.packet(&pkt).size;
        let occasion = Occasion::event(core);
        self.note_started(occasion);
        let busy = self.service.is_some_and(|s| s.occupies(occasion));
        let Stage::Planned { limit, started, waiting_bytes } = &mut self.stage else { return };
        let full = match *limit {
            Amount::Packets(most) => (self.line.len() - *started) as u64 >= most,
            Amount::Bytes(most) => *waiting_bytes + u64::from(size) > most.get(),
        };
        if full {
            return core.drop(pkt, self.place, Cause::Overflow);
        }
        if busy {
            *waiting_bytes += u64::from(size);
        } else {
            // Nothing waits at a free serialiser.
            *started += 1;
        }
        let flying = self.schedule(pkt, size, now, occasion);
        if !busy {
            self.service = Some(flying.service());
        }
        self.line.push_back(flying);
        self.arm_arrival(core);
    }

    /// Planned: counts as started what has started on this occasion.
    #[inline]
    fn note_started(&mut self, occasion: Occasion) {
        let Stage::Planned { started, waiting_bytes, .. } = &mut self.stage else { return };
        while let Some(next) = self.line.get(*started)
            && next.start <= occasion.at
            && !self.service.is_some_and(|s| s.occupies(occasion))
        {
            self.service = Some(next.service());
            *waiting_bytes -= u64::from(next.size);
            *started += 1;
        }
    }

    /// Gives a packet the next place on the serialiser, not before this occasion.
    #[inline]
    fn schedule(&mut self, pkt: Pkt, size: u32, accepted: Instant, from: Occasion) -> Flying {
        if let Some(now) = from.float {
            return self.schedule_float(pkt, size, accepted, now);
        }
        let start = from.at.max(self.serialiser.free_at);
        let out = self.serialiser.send(start, size);
        let mut arrival = out + self.delay;
        if !self.reorder && arrival < self.last_arrival {
            // ns-2's avoidReordering_: the last arrival given out, plus this transmission time.
            arrival = self.last_arrival + out.since(start);
        }
        self.last_arrival = arrival;
        Flying { pkt, size, accepted, start, out, arrival, float: None }
    }

    /// The same by ns-2's clock, with the sums of its `DelayLink`.
    fn schedule_float(&mut self, pkt: Pkt, size: u32, accepted: Instant, now: FloatTime) -> Flying {
        let free = self.serialiser.free_float;
        let begin = if free > now { free } else { now };
        let sending = 8.0 * f64::from(size) / self.serialiser.rate as f64;
        let delay = self.delay.as_secs_f64();
        let out = begin.after(sending);
        let last = self.last_arrival_float;
        let arrival = if !self.reorder && sending + delay < last.seconds_since(begin) {
            self.last_arrival_float = last.after(sending);
            begin.after(self.last_arrival_float.seconds_since(begin))
        } else {
            self.last_arrival_float = out.after(delay);
            begin.after(sending + delay)
        };
        self.serialiser.free_float = out;
        self.serialiser.free_at = out.instant();
        self.last_arrival = arrival.instant();
        Flying {
            pkt,
            size,
            accepted,
            start: begin.instant(),
            out: self.serialiser.free_at,
            arrival: self.last_arrival,
            float: Some([out, arrival]),
        }
    }

    /// The packet that arrives next.
    #[inline]
    fn first_to_land(&self) -> Option<&Flying> {
        match (self.overtaken.front(), self.line.front()) {
            (Some(o), Some(l)) if l.arrival < o.arrival => Some(l),
            (Some(o), _) => Some(o),
            (None, first) => first,
        }
    }

    /// The packet that arrives next leaves the flight.
    #[inline]
    fn land(&mut self, core: &mut Core, reverse: &mut Self) {
        let overtaken = match (self.overtaken.front(), self.line.front()) {
            (Some(o), Some(l)) => o.arrival <= l.arrival,
            (o, _) => o.is_some(),
        };
        let landed = if overtaken { self.overtaken.pop_front() } else { self.line.pop_front() };
        let Some(landed) = landed else { return };
        if let Stage::Planned { started, waiting_bytes, .. } = &mut self.stage
            && !overtaken
        {
            if *started > 0 {
                *started -= 1;
            } else {
                *waiting_bytes -= u64::from(landed.size);
                self.service = Some(landed.service());
            }
        }
        if let Some([_, arrival]) = landed.float {
            core.set_float(arrival, landed.start);
        }
        self.sent.packets += 1;
        self.sent.bytes += u64::from(landed.size);
        self.busy = self.busy + landed.out.since(landed.start);
        self.waits.add(landed.start.since(landed.accepted).as_nanos());
        reverse.on_return(core, &landed.pkt);
        core.arrive(self.to.node, self.to.port, landed.pkt);
    }

    /// Arms the next arrival, unless an earlier wake-up is pending, which will do it.
    #[inline]
    fn arm_arrival(&mut self, core: &mut Core) {
        if let Some(next) = self.first_to_land().map(Flying::landing)
            && next < self.armed
            && next.at < Instant::MAX
        {
            self.armed = next;
            core.arm(self.target(ARRIVAL), next.at, next.since);
        }
    }

    /// Asked: gives the discipline a packet.
    fn enqueue(&mut self, core: &mut Core, pkt: Pkt) {
        self.end_service(core, Occasion::event(core));
        let Stage::Asked { discipline, sending, .. } = &mut self.stage else { return };
        core.note_queued(&pkt);
        discipline.enqueue(core, pkt);
        if !*sending {
            self.ask(core);
        }
        self.arm_discipline(core);
    }

    /// Asked: sends the next packet if the serialiser is free on this occasion.
    fn end_service(&mut self, core: &mut Core, occasion: Occasion) {
        while let Stage::Asked { sending, .. } = &mut self.stage
            && *sending
            && !self.service.is_some_and(|s| s.occupies(occasion))
        {
            *sending = false;
            self.ask(core);
        }
    }

    /// Asked: sends the next packet, if the discipline gives one.
    fn ask(&mut self, core: &mut Core) {
        if !self.up {
            return;
        }
        let Stage::Asked { discipline, sending, .. } = &mut self.stage else { return };
        let Some(pkt) = discipline.dequeue(core) else { return };
        *sending = true;
        let size = core.packet(&pkt).size;
        let accepted = core.queued_at(&pkt);
        let flying = self.schedule(pkt, size, accepted, Occasion::event(core));
        let service = flying.service();
        self.service = Some(service);
        if self.line.back().is_some_and(|last| last.arrival > flying.arrival) {
            self.let_overtake();
        }
        self.line.push_back(flying);
        self.arm_arrival(core);
        core.arm(self.target(FREE), service.out, service.order());
    }

    fn arm_discipline(&mut self, core: &mut Core) {
        let Stage::Asked { discipline, wanted, .. } = &mut self.stage else { return };
        if let Some(at) = discipline.next_timeout()
            && wanted.is_none_or(|pending| at < pending)
        {
            *wanted = Some(at);
            let target = Target { component: self.component, key: self.first_key + DISCIPLINE };
            let now = core.now();
            core.arm(target, at, now);
        }
    }

    #[inline]
    fn target(&self, key: u32) -> Target {
        Target { component: self.component, key: self.first_key + key }
    }

    /// Drops what waits.
    fn empty_queue(&mut self, core: &mut Core) {
        match &mut self.stage {
            Stage::Planned { started, waiting_bytes, .. } => {
                *waiting_bytes = 0;
                for waiting in self.line.split_off(*started) {
                    core.drop(waiting.pkt, self.place, Cause::Handover);
                }
            }
            Stage::Asked { discipline, .. } => {
                while let Some(pkt) = discipline.dequeue(core) {
                    core.drop(pkt, self.place, Cause::Handover);
                }
            }
        }
    }

    /// Takes packets back from service and flight, to be sent again ahead of what waits.
    fn move_flight(&mut self, core: &mut Core) {
        self.service = None;
        self.last_arrival = Instant::ZERO;
        self.last_arrival_float = FloatTime::default();
        let flight = self.take_flight();
        let mut back: Vec<Flying> = self.overtaken.drain(..).chain(flight).collect();
        back.sort_by_key(|f| f.start);
        match &mut self.stage {
            Stage::Planned { waiting_bytes, .. } => {
                for flying in back.into_iter().rev() {
                    *waiting_bytes += u64::from(flying.size);
                    self.line.push_front(flying);
                }
            }
            Stage::Asked { discipline, sending, .. } => {
                for flying in back.into_iter().rev() {
                    discipline.put_back(core, flying.pkt);
                }
                *sending = false;
            }
        }
    }

    /// Planned: plans anew what has not started, with the present rate and delay.
    fn plan_anew(&mut self, occasion: Occasion) {
        let Stage::Planned { started, .. } = self.stage else { return };
        let waiting = self.line.split_off(started);
        if let Some(last) = self.line.back() {
            self.last_arrival = last.arrival;
            self.last_arrival_float = last.float.map_or(self.last_arrival_float, |[_, arrival]| arrival);
            if self.reorder && occasion.at + self.delay < last.arrival {
                self.let_overtake();
            }
        }
        for flying in waiting {
            let planned = if self.up {
                self.schedule(flying.pkt, flying.size, flying.accepted, occasion)
            } else {
                Flying { start: Instant::MAX, out: Instant::MAX, arrival: Instant::MAX, ..flying }
            };
            self.line.push_back(planned);
        }
        self.note_started(occasion);
    }

    /// Sets aside what has started, so that what follows may arrive earlier.
    fn let_overtake(&mut self) {
        let flight = self.take_flight();
        let mut early: Vec<Flying> = self.overtaken.drain(..).chain(flight).collect();
        early.sort_by_key(|f| f.arrival);
        self.overtaken.extend(early);
    }

    /// Takes what has started, but was not overtaken, out of the line.
    fn take_flight(&mut self) -> Vec<Flying> {
        let count = match &mut self.stage {
            Stage::Planned { started, .. } => std::mem::take(started),
            Stage::Asked { .. } => self.line.len(),
        };
        self.line.drain(..count).collect()
    }
}
