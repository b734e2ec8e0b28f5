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

use crate::engine::units::Amount;
use crate::engine::{BitRate, Duration, EventQueue, Instant, Target};

use super::clock::Clock;
use super::core::Core;
use super::discipline::{Backlog, QueueDiscipline};
use super::loss::Loss;
use super::medium::{Access, Change, End, InFlight, Queued};
use super::observe::{Cause, Histogram, Place, Probe};
use super::order::{Answer, Command};
use super::packet::FlowId;
use super::schedule::{Occasion, Schedule, Service};
use super::slab::{Flight, Flights, Line, NONE, Pkt, behind, flights_from};

/// How a transmitter is set up.
pub struct Setup {
    /// Where its drops are counted; the place's name stands in results.
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
pub struct Transmitter<C: Clock> {
    schedule: Schedule<C>,
    /// Service of the packet that started last, of those known to have started.
    service: Service<C>,
    /// In service or in flight and, if planned, waiting behind these; in the order of starts.
    line: Line,
    /// Packets that packets of `line` may overtake, in the order of arrivals; mostly empty.
    overtaken: Line,
    /// The valid arrival wake-up.
    armed: Landing,
    component: u32,
    first_key: u32,
    up: bool,
    /// Whether a discipline sees what comes in at the far end.
    heard: bool,
    to: End,
    loss: Loss,
    stage: Stage,
    sent: Backlog,
    busy: Duration,
    /// Waiting times of packets that waited.
    waits: Histogram,
    place: Place,
    /// What a change has left to be done.
    handover: Option<Box<Handover>>,
}

/// What a change leaves to be done.
struct Handover {
    /// Nothing starts before `held`, because of a change at `since`.
    held: Instant,
    since: Instant,
    /// On their way from the old access; `arrival` is when they come to the queue.
    forwarded: Line,
}

enum Stage {
    Planned {
        limit: Amount,
        /// The first packet of `line` not known to have started, or [`NONE`].
        first: u32,
        /// It and those behind it.
        waiting: Backlog,
    },
    Asked {
        discipline: Box<dyn QueueDiscipline>,
        sending: bool,
        wanted: Option<Instant>,
    },
}

/// When a packet lands, and since when it has been on its way: the order of wake-ups.
#[derive(Clone, Copy)]
struct Landing {
    at: Instant,
    since: Instant,
}

impl Landing {
    /// None comes.
    const NEVER: Self = Self { at: Instant::MAX, since: Instant::MAX };

    /// Whether it comes before another. One comparison of both halves is shorter than two.
    #[inline]
    fn is_before(self, other: Self) -> bool {
        let key = |l: Self| (u128::from(l.at.as_nanos()) << 64) | u128::from(l.since.as_nanos());
        key(self) < key(other)
    }

    /// Whether the present wake-up is this one. Only an age beyond what the queue remembers
    /// needs a second look.
    #[inline]
    fn is_now(self, core: &Core) -> bool {
        core.now() == self.at
            && (core.since() == self.since || core.since() == EventQueue::remembered(self.at, self.since))
    }
}

/// What a transmitter's wake-up is for; keys count from the transmitter's first.
const ARRIVAL: u32 = 0;
const FREE: u32 = 1;
const DISCIPLINE: u32 = 2;
const FORWARDED: u32 = 3;

/// How many keys of its component a transmitter uses.
pub const KEYS: u32 = 4;

impl<C: Clock> Transmitter<C> {
    /// A transmitter to `to`. Its wake-ups come to `component` with keys from `first_key`.
    pub fn new(core: &Core, to: End, component: u32, first_key: u32, setup: Setup) -> Self {
        let stage = match setup.queue {
            Queue::Planned(limit) => Stage::Planned { limit, first: NONE, waiting: Backlog::default() },
            Queue::Asked(mut discipline) => {
                discipline.on_capacity(core.now(), setup.rate);
                Stage::Asked { discipline, sending: false, wanted: None }
            }
        };
        Self {
            schedule: Schedule::new(setup.rate, setup.delay, setup.reorder),
            service: Service::none(),
            line: Line::EMPTY,
            overtaken: Line::EMPTY,
            armed: Landing::NEVER,
            component,
            first_key,
            up: true,
            heard: false,
            to,
            loss: setup.loss,
            stage,
            sent: Backlog::default(),
            busy: Duration::ZERO,
            waits: Histogram::default(),
            place: setup.place,
            handover: None,
        }
    }

    /// Tells it whether the transmitter at its far end, which sends the other way, has a
    /// discipline that sees what comes in.
    pub fn hear(&mut self, reverse: &Self) {
        self.heard = matches!(reverse.stage, Stage::Asked { .. });
    }

    /// Where its drops are counted.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The propagation delay, for routing.
    pub fn delay(&self) -> Duration {
        self.schedule.delay
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
            && model.loses(core.now())
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
                if !fired.is_now(core) {
                    return; // an old wake-up
                }
                self.armed = Landing::NEVER;
                if self.overtaken.is_empty() {
                    if let Some(first) = self.line.front(core)
                        && !fired.is_before(self.landing(core, self.line.head(), first))
                    {
                        self.land(core, reverse, false);
                    }
                } else if self.next_landing(core).is_some_and(|next| !fired.is_before(next)) {
                    let overtaken = self.overtaken_lands_first(core);
                    self.land(core, reverse, overtaken);
                }
                self.arm_arrival(core);
            }
            FREE => self.wake_free(core),
            DISCIPLINE => self.wake_discipline(core),
            _ => self.wake_forwarded(core),
        }
    }

    #[inline(never)]
    fn wake_free(&mut self, core: &mut Core) {
        if self.is_held() {
            return self.wake_after_interruption(core);
        }
        let Service { start, out, times: [time, _], .. } = self.service;
        let free = Landing { at: out, since: C::order(start, out, time) };
        if free.is_now(core) {
            C::set_now(core, time, start);
            self.end_service(core, &Occasion { at: out, time, cause: Some(start) });
            self.arm_discipline(core);
        }
    }

    /// The interruption is over: what waits is sent.
    #[cold]
    fn wake_after_interruption(&mut self, core: &mut Core) {
        let Some(Handover { held, since, .. }) = self.handover.as_deref() else { return };
        let (held, since, time) = (*held, *since, C::at(*held));
        if !(Landing { at: held, since: C::order(since, held, time) }).is_now(core) {
            return; // an old wake-up
        }
        C::set_now(core, time, since);
        self.let_go();
        self.schedule.resume_after(&self.service);
        if let Stage::Asked { .. } = self.stage {
            self.ask(core);
            self.arm_discipline(core);
        } else {
            let (flight, waiting) = self.take_line(core);
            self.restore(core, flight, waiting, &Occasion { at: held, time, cause: Some(since) });
            self.arm_arrival(core);
        }
    }

    #[inline(never)]
    fn wake_discipline(&mut self, core: &mut Core) {
        let now = core.now();
        C::set_now(core, C::at(now), core.since());
        let Stage::Asked { discipline, sending, wanted } = &mut self.stage else { return };
        if wanted.is_none_or(|at| at > now) {
            return; // an old wake-up
        }
        *wanted = None;
        if discipline.next_timeout().is_some_and(|at| at <= now) {
            discipline.on_timeout(now);
        }
        if !*sending {
            self.ask(core);
        }
        self.arm_discipline(core);
    }

    /// Packets forwarded from the old access have come.
    #[inline(never)]
    fn wake_forwarded(&mut self, core: &mut Core) {
        let now = core.now();
        C::set_now(core, C::at(now), core.since());
        while let Some(handover) = &mut self.handover
            && handover.forwarded.front(core).is_some_and(|flight| flight.arrival <= now)
            && let Some((pkt, _)) = handover.forwarded.pop(core)
        {
            self.accept(core, pkt);
        }
    }

    /// A packet came in over the interface whose outgoing side this is.
    #[inline(never)]
    fn on_return(&mut self, core: &mut Core, pkt: &Pkt) {
        if let Stage::Asked { discipline, .. } = &mut self.stage {
            let now = core.now();
            discipline.on_return(now, core.packet_mut(pkt));
        }
    }

    /// A machine of its own node asks something of the discipline.
    pub fn order(&mut self, core: &mut Core, command: &Command) -> Answer {
        let Stage::Asked { discipline, .. } = &mut self.stage else { return Answer::Unknown };
        let answer = discipline.on_order(core.now(), command);
        self.arm_discipline(core);
        answer
    }

    /// The way that it offers, as the terminal at its far end may know it.
    pub fn access(&self) -> Access {
        Access { rate: BitRate::from_bps(self.schedule.rate), delay: self.schedule.delay, up: self.up }
    }

    /// Changes rate, delay, state or loss, and does with the packets as the change says. `rate`
    /// is the one of this direction.
    pub fn change(&mut self, core: &mut Core, change: &mut Change, rate: Option<BitRate>) {
        let before = Occasion { cause: None, ..Self::event(core) };
        self.start_what_is_due(core, &before);
        let (mut flight, mut waiting) = self.take_line(core);
        if change.overlap > Duration::ZERO && self.up && !self.is_held() {
            self.send_by_old_access(core, &mut flight, &mut waiting, &before, before.at + change.overlap);
            self.let_go();
        }
        if let Some(rate) = rate {
            self.schedule.set_rate(rate);
            if let Stage::Asked { discipline, .. } = &mut self.stage {
                discipline.on_capacity(core.now(), rate);
            }
        }
        self.schedule.delay = change.delay.unwrap_or(self.schedule.delay);
        self.up = change.up.unwrap_or(self.up);
        if let Some(loss) = change.loss.take() {
            self.loss.replace(loss, change.loss_for.map(|time| before.at + time));
        }
        let mut forwarded = match change.queue {
            Queued::Keep => Vec::new(),
            Queued::Empty => {
                for pkt in self.take_queue(core, &mut waiting) {
                    core.drop(pkt, self.place, Cause::Handover);
                }
                Vec::new()
            }
            Queued::Forward => self.take_queue(core, &mut waiting),
        };
        match change.in_flight {
            InFlight::Finish => {}
            InFlight::Move => {
                let taken = self.take_flight(core, &mut flight);
                self.put_ahead(core, taken, &mut waiting);
            }
            InFlight::Copy => {
                let copies = self.copy_flight(core, &flight);
                self.put_ahead(core, copies, &mut waiting);
            }
            InFlight::Lose => {
                for (pkt, _) in self.take_flight(core, &mut flight) {
                    core.drop(pkt, self.place, Cause::Handover);
                }
            }
            InFlight::Forward => {
                let taken = self.take_flight(core, &mut flight).into_iter().map(|(pkt, _)| pkt);
                forwarded.splice(0..0, taken);
            }
        }
        self.hold(core, before.at, change.interruption);
        // What is in service keeps its end.
        self.schedule.resume_after(&self.service);
        self.restore(core, flight, waiting, &before);
        self.forward(core, forwarded, before.at + change.forwarding);
        if let Stage::Asked { sending: false, .. } = self.stage {
            self.ask(core);
            self.arm_discipline(core);
        }
        self.arm_arrival(core);
    }

    /// What waits, before the events of this instant.
    pub fn backlog(&self, core: &Core) -> Backlog {
        match &self.stage {
            Stage::Planned { first, waiting, .. } => {
                let mut backlog = *waiting;
                for gone in flights_from(core, *first).take_while(|f| f.start < core.now()) {
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
        let forwarded = self.handover.as_ref().map_or(0, |handover| handover.forwarded.len());
        self.line.len() + self.overtaken.len() + queued + forwarded
    }

    /// Shows its state and totals.
    pub fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        let backlog = self.backlog(core);
        let waits = self.waits.with_zeros(self.sent.packets);
        probe.value("rate_bps", self.schedule.rate as f64);
        probe.value("delay_s", self.schedule.delay.as_secs_f64());
        probe.value("queue_packets", backlog.packets as f64);
        probe.value("queue_bytes", backlog.bytes as f64);
        probe.value("packets", self.sent.packets as f64);
        probe.value("bytes", self.sent.bytes as f64);
        probe.value("busy_s", self.busy.as_secs_f64());
        probe.distribution("queue_ms", 1e-6, &waits);
        if let Stage::Asked { discipline, .. } = &self.stage {
            discipline.sample(probe);
        }
    }

    /// The present event.
    #[inline]
    fn event(core: &Core) -> Occasion<C> {
        Occasion { at: core.now(), time: C::now(core), cause: Some(core.since()) }
    }

    /// Planned: computes the packet's start and arrival, unless the queue is full.
    #[inline]
    fn plan(&mut self, core: &mut Core, pkt: Pkt) {
        let event = Self::event(core);
        let busy = self.start_what_is_due(core, &event);
        let size = core.packet(&pkt).size;
        let Stage::Planned { limit, first, waiting } = &mut self.stage else { return };
        let full = match *limit {
            Amount::Packets(most) => waiting.packets >= most,
            Amount::Bytes(most) => waiting.bytes + u64::from(size) > most.get(),
        };
        if full {
            return core.drop(pkt, self.place, Cause::Overflow);
        }
        let service = C::serve(&mut self.schedule, (event.at, event.time), size);
        C::keep(core, &pkt, service.times);
        let place = self.line.push(core, pkt, flown(&service, size, event.at));
        if busy {
            waiting.packets += 1;
            waiting.bytes += u64::from(size);
            if *first == NONE {
                *first = place;
            }
        } else {
            // Nothing waits at a free serialiser.
            self.service = service;
        }
        let landing =
            Landing { at: service.arrival, since: C::order(service.start, service.arrival, service.times[1]) };
        if landing.is_before(self.armed) {
            self.arm(core, landing);
        }
    }

    /// Planned: counts as started what has started on this occasion. Says whether the serialiser
    /// is busy.
    #[inline]
    fn start_what_is_due(&mut self, core: &Core, occasion: &Occasion<C>) -> bool {
        loop {
            if self.service.occupies(occasion) {
                return true;
            }
            let Stage::Planned { first, waiting, .. } = &mut self.stage else { return false };
            if *first == NONE {
                return false;
            }
            let next = core.slab().flight(*first);
            if next.start > occasion.at {
                return false;
            }
            self.service = service(core, *first, next);
            waiting.packets -= 1;
            waiting.bytes -= u64::from(next.size);
            *first = behind(core, *first);
        }
    }

    /// Whether the packet that arrives next is one of those overtaken.
    #[inline]
    fn overtaken_lands_first(&self, core: &Core) -> bool {
        // Almost always there are none.
        !self.overtaken.is_empty()
            && match (self.overtaken.front(core), self.line.front(core)) {
                (Some(o), Some(l)) => o.arrival <= l.arrival,
                (o, _) => o.is_some(),
            }
    }

    /// The next landing.
    #[inline]
    fn next_landing(&self, core: &Core) -> Option<Landing> {
        let place = if self.overtaken_lands_first(core) { self.overtaken.head() } else { self.line.head() };
        (place != NONE).then(|| self.landing(core, place, core.slab().flight(place)))
    }

    /// The landing of the packet at `place`, which has this flight.
    #[inline(always)]
    fn landing(&self, core: &Core, place: u32, flight: &Flight) -> Landing {
        let [_, time] = C::kept(core, place);
        Landing { at: flight.arrival, since: C::order(flight.start, flight.arrival, time) }
    }

    /// The first packet of the line, or of those overtaken, leaves the flight.
    #[inline(always)]
    fn land(&mut self, core: &mut Core, reverse: &mut Self, overtaken: bool) {
        let line = if overtaken { &mut self.overtaken } else { &mut self.line };
        let Some((pkt, landed)) = line.pop(core) else { return };
        if let Stage::Planned { first, waiting, .. } = &mut self.stage
            && *first == pkt.0
        {
            // It started and was out without another event in between.
            waiting.packets -= 1;
            waiting.bytes -= u64::from(landed.size);
            *first = self.line.head();
            self.service = service(core, pkt.0, &landed);
        }
        let [_, time] = C::kept(core, pkt.0);
        C::set_now(core, time, landed.start);
        self.sent.packets += 1;
        self.sent.bytes += u64::from(landed.size);
        self.busy = self.busy + landed.out.since(landed.start);
        if landed.start != landed.accepted {
            self.waits.add(landed.start.since(landed.accepted).as_nanos());
        }
        if self.heard {
            reverse.on_return(core, &pkt);
        }
        core.arrive(self.to.node, self.to.port, pkt);
    }

    /// Arms the next arrival, unless an earlier wake-up is pending, which will do it.
    #[inline(always)]
    fn arm_arrival(&mut self, core: &mut Core) {
        if let Some(next) = self.next_landing(core)
            && next.is_before(self.armed)
            && next.at < Instant::MAX
        {
            self.arm(core, next);
        }
    }

    #[inline(always)]
    fn arm(&mut self, core: &mut Core, next: Landing) {
        self.armed = next;
        core.arm(self.target(ARRIVAL), next.at, next.since);
    }

    /// Asked: gives the discipline a packet.
    #[inline(never)]
    fn enqueue(&mut self, core: &mut Core, pkt: Pkt) {
        let event = Self::event(core);
        self.end_service(core, &event);
        let Stage::Asked { discipline, sending, .. } = &mut self.stage else { return };
        core.note_queued(&pkt);
        discipline.enqueue(core, pkt);
        if !*sending {
            self.ask(core);
        }
        self.arm_discipline(core);
    }

    /// Asked: sends the next packet if the serialiser is free on this occasion.
    fn end_service(&mut self, core: &mut Core, occasion: &Occasion<C>) {
        while let Stage::Asked { sending, .. } = &mut self.stage
            && *sending
            && !self.service.occupies(occasion)
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
        let event = Self::event(core);
        let size = core.packet(&pkt).size;
        let service = C::serve(&mut self.schedule, (event.at, event.time), size);
        self.service = service;
        if self.line.back(core).is_some_and(|last| last.arrival > service.arrival) {
            let (flight, _) = self.take_line(core);
            self.let_overtake(core, flight);
        }
        C::keep(core, &pkt, service.times);
        let accepted = core.queued_at(&pkt);
        self.line.push(core, pkt, flown(&service, size, accepted));
        self.arm_arrival(core);
        let since = C::order(service.start, service.out, service.times[0]);
        core.arm(self.target(FREE), service.out, since);
    }

    fn arm_discipline(&mut self, core: &mut Core) {
        let Stage::Asked { discipline, wanted, .. } = &mut self.stage else { return };
        if let Some(at) = discipline.next_timeout()
            && wanted.is_none_or(|pending| at < pending)
        {
            *wanted = Some(at);
            let now = core.now();
            core.arm(self.target(DISCIPLINE), at, now);
        }
    }

    #[inline]
    fn target(&self, key: u32) -> Target {
        Target { component: self.component, key: self.first_key + key }
    }

    /// Takes all packets out of the line: those that have started, and those that wait.
    fn take_line(&mut self, core: &Core) -> (Flights, Flights) {
        let mut flight = self.line.drain(core);
        let Stage::Planned { first, waiting, .. } = &mut self.stage else { return (flight, Vec::new()) };
        let started = flight.len() - waiting.packets as usize;
        *first = NONE;
        *waiting = Backlog::default();
        let waiting = flight.split_off(started);
        (flight, waiting)
    }

    /// The old access sends by its own rate and delay what it can of what waits until `until`;
    /// that is in flight from now on.
    fn send_by_old_access(
        &mut self,
        core: &mut Core,
        flight: &mut Flights,
        waiting: &mut Flights,
        before: &Occasion<C>,
        until: Instant,
    ) {
        // Of planned packets it is known already.
        let sent = waiting.iter().take_while(|(_, f)| f.out <= until).count();
        flight.extend(waiting.drain(..sent));
        while let Stage::Asked { discipline, .. } = &mut self.stage
            && let Some(pkt) = discipline.dequeue(core)
        {
            let size = core.packet(&pkt).size;
            let last = (self.schedule.last_arrival, self.schedule.last_arrival_time);
            let service = C::serve(&mut self.schedule, (before.at, before.time), size);
            if service.out > until {
                (self.schedule.last_arrival, self.schedule.last_arrival_time) = last;
                return discipline.put_back(core, pkt);
            }
            if flight.last().is_some_and(|(_, last)| last.arrival > service.arrival) {
                let overtaken = std::mem::take(flight);
                self.let_overtake(core, overtaken);
            }
            C::keep(core, &pkt, service.times);
            let accepted = core.queued_at(&pkt);
            flight.push((pkt, flown(&service, size, accepted)));
        }
    }

    /// Takes what waits.
    fn take_queue(&mut self, core: &mut Core, waiting: &mut Flights) -> Vec<Pkt> {
        let mut taken: Vec<Pkt> = waiting.drain(..).map(|(pkt, _)| pkt).collect();
        if let Stage::Asked { discipline, .. } = &mut self.stage {
            taken.extend(std::iter::from_fn(|| discipline.evict(core)));
        }
        taken
    }

    /// The serialiser is free of what keeps it busy.
    fn let_go(&mut self) {
        self.service = Service::none();
        if let Stage::Asked { sending, .. } = &mut self.stage {
            *sending = false;
        }
    }

    /// Takes packets out of service and flight, in the order in which they were sent.
    fn take_flight(&mut self, core: &mut Core, flight: &mut Flights) -> Flights {
        self.let_go();
        self.schedule.last_arrival = Instant::ZERO;
        self.schedule.last_arrival_time = C::at(Instant::ZERO);
        let mut taken = std::mem::take(flight);
        taken.extend(self.overtaken.drain(core));
        taken.sort_by_key(|sent| order_sent(core, sent));
        taken
    }

    /// Copies packets in service and in flight, in the order in which they were sent.
    fn copy_flight(&mut self, core: &mut Core, flight: &Flights) -> Flights {
        let overtaken = self.overtaken.drain(core);
        let mut all: Vec<&(Pkt, Flight)> = flight.iter().chain(&overtaken).collect();
        all.sort_by_key(|sent| order_sent(core, sent));
        let mut copy = |(pkt, f): &(Pkt, Flight)| {
            let copy = core.copy(pkt);
            core.note_queued(&copy);
            (copy, Flight { accepted: core.now(), ..*f })
        };
        let copies = all.into_iter().map(&mut copy).collect();
        for (pkt, kept) in overtaken {
            self.overtaken.push(core, pkt, kept);
        }
        copies
    }

    /// Puts packets ahead of what waits.
    fn put_ahead(&mut self, core: &mut Core, ahead: Flights, waiting: &mut Flights) {
        match &mut self.stage {
            Stage::Planned { .. } => {
                waiting.splice(0..0, ahead);
            }
            Stage::Asked { discipline, .. } => {
                for (pkt, _) in ahead.into_iter().rev() {
                    discipline.put_back(core, pkt);
                }
            }
        }
    }

    /// Keeps the serialiser busy with nothing as long as this or an earlier interruption lasts.
    fn hold(&mut self, core: &mut Core, now: Instant, interruption: Duration) {
        let mut longer = false;
        if interruption > Duration::ZERO {
            let handover = self.handover();
            longer = now + interruption > handover.held;
            if longer {
                (handover.held, handover.since) = (now + interruption, now);
            }
        }
        let Some(Handover { held, since, .. }) = self.handover.as_deref() else { return };
        let (held, since) = (*held, *since);
        if held > now && (if self.is_held() { longer } else { held > self.service.out }) {
            self.service = Service::endless();
            if let Stage::Asked { sending, .. } = &mut self.stage {
                *sending = true;
            }
            core.arm(self.target(FREE), held, C::order(since, held, C::at(held)));
        }
    }

    /// Whether an interruption keeps the serialiser busy.
    #[inline]
    fn is_held(&self) -> bool {
        self.service.out == Instant::MAX
    }

    /// Packets are on their way from the old access, and come at `at`.
    fn forward(&mut self, core: &mut Core, packets: Vec<Pkt>, at: Instant) {
        if packets.is_empty() {
            return;
        }
        let forwarded = &mut self.handover().forwarded;
        let mut all = forwarded.drain(core);
        all.extend(packets.into_iter().map(|pkt| (pkt, Flight { arrival: at, ..Flight::default() })));
        all.sort_by_key(|(_, f)| f.arrival);
        for (pkt, flight) in all {
            forwarded.push(core, pkt, flight);
        }
        let now = core.now();
        core.arm(self.target(FORWARDED), at, now);
    }

    fn handover(&mut self) -> &mut Handover {
        let none = || Handover { held: Instant::ZERO, since: Instant::ZERO, forwarded: Line::EMPTY };
        self.handover.get_or_insert_with(|| Box::new(none()))
    }

    /// Puts packets into the line again; what waits is planned anew, with the present rate and
    /// delay.
    fn restore(&mut self, core: &mut Core, flight: Flights, waiting: Flights, before: &Occasion<C>) {
        let last = flight.last().map(|(pkt, f)| (f.arrival, C::kept(core, pkt.0)[1]));
        if let Stage::Planned { .. } = self.stage {
            // Later arrivals were plans.
            let (arrival, time) = last.unwrap_or((Instant::ZERO, C::at(Instant::ZERO)));
            self.schedule.last_arrival = arrival;
            self.schedule.last_arrival_time = time;
        }
        let overtakes = last.is_some_and(|(arrival, _)| before.at + self.schedule.delay < arrival);
        if self.schedule.reorder && overtakes && matches!(self.stage, Stage::Planned { .. }) {
            self.let_overtake(core, flight);
        } else {
            for (pkt, kept) in flight {
                self.line.push(core, pkt, kept);
            }
        }
        for (pkt, Flight { size, accepted, .. }) in waiting {
            let service =
                if self.up { C::serve(&mut self.schedule, (before.at, before.time), size) } else { Service::endless() };
            C::keep(core, &pkt, service.times);
            let place = self.line.push(core, pkt, flown(&service, size, accepted));
            if let Stage::Planned { first, waiting, .. } = &mut self.stage {
                waiting.packets += 1;
                waiting.bytes += u64::from(size);
                if *first == NONE {
                    *first = place;
                }
            }
        }
        self.start_what_is_due(core, before);
    }

    /// Sets aside what has started, so that what follows may arrive earlier.
    fn let_overtake(&mut self, core: &mut Core, flight: Flights) {
        let mut early = self.overtaken.drain(core);
        early.extend(flight);
        early.sort_by_key(|(_, f)| f.arrival);
        for (pkt, kept) in early {
            self.overtaken.push(core, pkt, kept);
        }
    }
}

/// The order in which packets were sent. Two accesses may start one each at the same instant; then
/// the one that was accepted first comes first.
fn order_sent(core: &Core, (pkt, flight): &(Pkt, Flight)) -> (Instant, Instant, FlowId, u64) {
    let packet = core.packet(pkt);
    (flight.start, flight.accepted, packet.flow, packet.number)
}

/// The flight of a packet with this service.
#[inline]
fn flown<C: Clock>(service: &Service<C>, size: u32, accepted: Instant) -> Flight {
    let Service { start, out, arrival, .. } = *service;
    Flight { size, accepted, start, out, arrival, ..Flight::default() }
}

/// The service of the packet at `place`, which has this flight.
#[inline]
fn service<C: Clock>(core: &Core, place: u32, flight: &Flight) -> Service<C> {
    let Flight { start, out, arrival, .. } = *flight;
    Service { start, out, arrival, times: C::kept(core, place) }
}
