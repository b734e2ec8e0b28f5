//! One direction of a link: a queue, a serialiser and a flight of packets.
//!
//! With a tail-drop FIFO the transmitter *plans*: start and arrival of a packet are computed
//! when it is accepted, and it makes one event, its arrival. Every other discipline is *asked*
//! when the serialiser is free, which makes two. Both follow the same trajectory; a test holds
//! them to it.
//!
//! Until a planned packet starts its times are a plan: a change of rate or delay plans anew
//! what waits. What has started keeps its arrival, and may be overtaken.

use std::collections::VecDeque;

use crate::engine::units::Amount;
use crate::engine::{BitRate, Duration, Instant, Target};

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
    /// When the valid arrival wake-up comes; `Instant::MAX` if none is pending.
    armed: Instant,
    last_arrival: Instant,
    /// Service of the packet that started last, of those known to have started.
    last_started: Service,
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
}

/// From when to when the serialiser works on a packet.
#[derive(Clone, Copy, Default)]
struct Service {
    start: Instant,
    out: Instant,
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
}

impl Serialiser {
    fn new(rate: BitRate) -> Self {
        let mut new = Self { rate: 1, free_at: Instant::ZERO, rest: 0, known: [(0, 0, 0); 2] };
        new.set_rate(rate);
        new
    }

    fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate.as_bps().max(1);
        self.rest = 0;
        self.known = [(0, 0, 0); 2];
    }

    /// It is free from `at` on.
    fn stop(&mut self, at: Instant) {
        self.free_at = at;
        self.rest = 0;
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
            armed: Instant::MAX,
            last_arrival: Instant::ZERO,
            last_started: Service::default(),
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
            Stage::Asked { discipline, sending, .. } => {
                core.note_queued(&pkt);
                discipline.enqueue(core, pkt);
                if !*sending {
                    self.ask(core);
                }
                self.arm_discipline(core);
            }
        }
    }

    /// The wake-up with this key has come. `reverse` is the transmitter of the interface at
    /// which packets of this one arrive: its discipline sees them on their way in.
    #[inline]
    pub fn wake(&mut self, core: &mut Core, key: u32, reverse: &mut Self) {
        match key - self.first_key {
            ARRIVAL => {
                if core.now() != self.armed {
                    return; // an old wake-up
                }
                self.armed = Instant::MAX;
                self.land(core, reverse);
                self.arm_arrival(core);
            }
            FREE => {
                if let Stage::Asked { sending, .. } = &mut self.stage
                    && *sending
                    && self.serialiser.free_at <= core.now()
                {
                    *sending = false;
                    self.ask(core);
                    self.arm_discipline(core);
                }
            }
            _ => {
                let now = core.now();
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
        self.note_started(core);
        let now = core.now();
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
        if change.rate.is_some() || change.delay.is_some() || change.up.is_some() || change.in_flight == InFlight::Move
        {
            self.plan_anew(core);
        }
        if self.up
            && let Stage::Asked { sending: false, .. } = self.stage
        {
            self.ask(core);
            self.arm_discipline(core);
        }
        self.arm_arrival(core);
    }

    /// What waits at present.
    pub fn backlog(&self, now: Instant) -> Backlog {
        match &self.stage {
            Stage::Planned { started, waiting_bytes, .. } => {
                let mut backlog = Backlog { packets: (self.line.len() - started) as u64, bytes: *waiting_bytes };
                for gone in self.line.iter().skip(*started).take_while(|f| f.start <= now) {
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
        self.note_started(core);
        let busy = self.line_is_busy(core);
        let Stage::Planned { limit, started, waiting_bytes } = &mut self.stage else { return };
        let waiting = self.line.len() - *started;
        let full = match *limit {
            Amount::Packets(most) => waiting as u64 >= most,
            Amount::Bytes(most) => *waiting_bytes + u64::from(size) > most.get(),
        };
        if full {
            return core.drop(pkt, self.place, Cause::Overflow);
        }
        if busy || waiting > 0 {
            *waiting_bytes += u64::from(size);
        } else {
            *started += 1;
        }
        let flying = self.schedule(pkt, size, now, now);
        let (start, arrival) = (flying.start, flying.arrival);
        if !busy && waiting == 0 {
            self.last_started = Service { start, out: flying.out };
        }
        self.line.push_back(flying);
        if arrival < self.armed {
            self.armed = arrival;
            core.arm(self.target(ARRIVAL), arrival, start);
        }
    }

    /// Whether the packet that started last is still being sent. At the very instant at which
    /// it is out the earlier cause decides: the serialiser is free if that packet started
    /// before the cause of the present event began.
    #[inline]
    fn line_is_busy(&self, core: &Core) -> bool {
        let Service { start, out } = self.last_started;
        out > core.now() || (out == core.now() && start >= core.since() && out > start)
    }

    /// Planned: counts as started what has started by now; at the present instant itself by the
    /// rule of [`Self::line_is_busy`].
    #[inline]
    fn note_started(&mut self, core: &Core) {
        let Stage::Planned { started, .. } = &self.stage else { return };
        let mut at = *started;
        while self.line.get(at).is_some_and(|next| next.start <= core.now()) && !self.line_is_busy(core) {
            let next = &self.line[at];
            self.last_started = Service { start: next.start, out: next.out };
            let size = u64::from(next.size);
            at += 1;
            if let Stage::Planned { started, waiting_bytes, .. } = &mut self.stage {
                *waiting_bytes -= size;
                *started = at;
            }
        }
    }

    /// Gives a packet the next place on the serialiser, not before `from`.
    #[inline]
    fn schedule(&mut self, pkt: Pkt, size: u32, accepted: Instant, from: Instant) -> Flying {
        let start = from.max(self.serialiser.free_at);
        let out = self.serialiser.send(start, size);
        let mut arrival = out + self.delay;
        if !self.reorder && arrival < self.last_arrival {
            // ns-2's avoidReordering_: the last arrival given out, plus this transmission time.
            arrival = self.last_arrival + out.since(start);
        }
        self.last_arrival = arrival;
        Flying { pkt, size, accepted, start, out, arrival }
    }

    /// The first packet to arrive leaves the flight.
    #[inline]
    fn land(&mut self, core: &mut Core, reverse: &mut Self) {
        let from_overtaken = match (self.overtaken.front(), self.line.front()) {
            (Some(o), Some(l)) => o.arrival <= l.arrival,
            (o, _) => o.is_some(),
        };
        let landed = if from_overtaken {
            self.overtaken.pop_front()
        } else {
            let landed = self.line.pop_front();
            if let (Stage::Planned { started, waiting_bytes, .. }, Some(landed)) = (&mut self.stage, &landed) {
                match started.checked_sub(1) {
                    Some(n) => *started = n,
                    None => *waiting_bytes -= u64::from(landed.size),
                }
            }
            landed
        };
        let Some(landed) = landed else { return };
        self.sent.packets += 1;
        self.sent.bytes += u64::from(landed.size);
        self.busy = self.busy + landed.out.since(landed.start);
        self.waits.add(landed.start.since(landed.accepted).as_nanos());
        reverse.on_return(core, &landed.pkt);
        core.arrive(self.to.node, self.to.port, landed.pkt);
    }

    /// Arms the arrival of the next packet to land, unless an earlier wake-up is pending.
    #[inline]
    fn arm_arrival(&mut self, core: &mut Core) {
        let next = match (self.overtaken.front(), self.line.front()) {
            (Some(o), Some(l)) if o.arrival <= l.arrival => o,
            (_, Some(l)) => l,
            (Some(o), None) => o,
            (None, None) => return,
        };
        if next.arrival < self.armed {
            self.armed = next.arrival;
            core.arm(self.target(ARRIVAL), next.arrival, next.start);
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
        let now = core.now();
        let size = core.packet(&pkt).size;
        let accepted = core.queued_at(&pkt);
        let flying = self.schedule(pkt, size, accepted, now);
        if self.line.back().is_some_and(|last| last.arrival > flying.arrival) {
            self.let_overtake();
        }
        self.line.push_back(flying);
        self.arm_arrival(core);
        core.arm(self.target(FREE), self.serialiser.free_at, now);
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
        let now = core.now();
        self.last_started = Service { start: now, out: now };
        self.serialiser.stop(now);
        self.last_arrival = Instant::ZERO;
        let mut back: Vec<Flying> = self.overtaken.drain(..).collect();
        match &mut self.stage {
            Stage::Planned { started, waiting_bytes, .. } => {
                for flying in back.iter().chain(self.line.iter().take(*started)) {
                    *waiting_bytes += u64::from(flying.size);
                }
                *started = 0;
                for flying in back.into_iter().rev() {
                    self.line.push_front(flying);
                }
                // Those overtaken started earlier than the rest, so this keeps the order of starts.
            }
            Stage::Asked { discipline, sending, .. } => {
                back.extend(self.line.drain(..));
                for flying in back.into_iter().rev() {
                    discipline.put_back(core, flying.pkt);
                }
                *sending = false;
            }
        }
    }

    /// Planned: plans anew what has not started, with the present rate and delay.
    fn plan_anew(&mut self, core: &mut Core) {
        let Stage::Planned { started, .. } = self.stage else { return };
        let now = core.now();
        let waiting = self.line.split_off(started);
        // The packet in service keeps its end, which is where the plan goes on.
        self.serialiser.stop(self.last_started.out);
        if let Some(last) = self.line.back() {
            self.last_arrival = last.arrival;
        }
        let mut planned = VecDeque::with_capacity(waiting.len());
        for flying in waiting {
            planned.push_back(if self.up {
                self.schedule(flying.pkt, flying.size, flying.accepted, now)
            } else {
                Flying { start: Instant::MAX, out: Instant::MAX, arrival: Instant::MAX, ..flying }
            });
        }
        if self.line.back().is_some_and(|last| self.reorder && now + self.delay < last.arrival) {
            self.let_overtake();
        }
        self.line.append(&mut planned);
    }

    /// Sets aside what has started, so that what follows may arrive earlier.
    fn let_overtake(&mut self) {
        let count = match &mut self.stage {
            Stage::Planned { started, .. } => std::mem::take(started),
            Stage::Asked { .. } => self.line.len(),
        };
        let mut early: Vec<Flying> = self.overtaken.drain(..).chain(self.line.drain(..count)).collect();
        early.sort_by_key(|f| f.arrival);
        self.overtaken.extend(early);
    }
}
