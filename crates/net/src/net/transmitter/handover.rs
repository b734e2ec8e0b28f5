//! A change of the link: what becomes of the packets that wait, are in service and in flight.

use crate::engine::{BitRate, Duration, Instant};
use crate::net::clock::Clock;
use crate::net::core::Core;
use crate::net::discipline::Backlog;
use crate::net::medium::{Change, End, InFlight, Queued};
use crate::net::observe::Cause;
use crate::net::packet::FlowId;
use crate::net::schedule::{InService, Occasion, Service};
use crate::net::slab::{Flight, Flights, NONE, Pkt};

use super::landing::Landing;
use super::unusual::Unusual;
use super::{FORWARDED, FREE, Stage, Transmitter, flown};

/// A packet on its way that no transmitter keeps any longer.
pub struct Flying {
    /// The packet.
    pub pkt: Pkt,
    /// It began to be sent.
    pub start: Instant,
    /// It arrives.
    pub arrival: Instant,
}

impl<C: Clock> Transmitter<C> {
    /// Changes rate, delay, state or loss, and does with the packets as the change says. `rate`
    /// is the one of this direction.
    pub fn change(&mut self, core: &mut Core, change: &mut Change, rate: Option<BitRate>) {
        let before = Occasion { cause: None, ..Self::event(core) };
        self.start_what_is_due(core, &before);
        let (mut flight, mut waiting) = self.take_line(core);
        if change.overlap > Duration::ZERO && self.up && !self.is_held() {
            self.let_go();
            self.send_by_old_access(core, &mut flight, &mut waiting, &before, before.at + change.overlap);
        }
        if let Some(rate) = rate {
            self.schedule.set_rate(rate);
            if let Stage::Asked { queue, .. } = &mut self.stage {
                queue.discipline.on_capacity(core.now(), rate);
            }
        }
        self.schedule.delay = change.delay.unwrap_or(self.schedule.delay);
        self.up = change.up.unwrap_or(self.up);
        if let Some(loss) = change.loss.take() {
            self.unusual().loss.replace(loss, change.loss_for.map(|time| before.at + time));
        }
        let mut forwarded = match change.queue {
            Queued::Keep => Vec::new(),
            Queued::Empty => {
                let taken = self.take_queue(core, &mut waiting).into_iter().map(|pkt| {
                    let flight =
                        Flight { size: core.packet(&pkt).size, accepted: core.queued_at(&pkt), ..Flight::default() };
                    (pkt, flight)
                });
                let taken = taken.collect();
                self.lose(core, taken, &mut waiting);
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
                let taken = self.take_flight(core, &mut flight);
                self.lose(core, taken, &mut waiting);
            }
            InFlight::Forward => {
                let taken = self.take_flight(core, &mut flight).into_iter().map(|(pkt, _)| pkt);
                forwarded.splice(0..0, taken);
            }
        }
        self.hold(core, before.at, change.interruption);
        // The packet in service keeps its end.
        self.schedule.resume_after(&self.service);
        self.restore(core, flight, waiting, &before);
        self.forward(core, forwarded, before.at + change.forwarding);
        if let Stage::Asked { sending: false, .. } = self.stage {
            self.ask(core);
            self.arm_discipline(core);
        }
        self.arm_arrival(core);
    }

    /// Takes out all that it holds, in the order in which it was sent or waits to be, and is free.
    pub fn take_all(&mut self, core: &mut Core) -> Vec<Pkt> {
        let before = Occasion { cause: None, ..Self::event(core) };
        self.start_what_is_due(core, &before);
        let (mut flight, mut waiting) = self.take_line(core);
        let mut taken: Vec<Pkt> = self.take_flight(core, &mut flight).into_iter().map(|(pkt, _)| pkt).collect();
        taken.extend(self.take_queue(core, &mut waiting));
        self.schedule.resume_after(&self.service);
        self.restore(core, flight, waiting, &before);
        taken
    }

    /// From now on what it sends comes here.
    pub fn redirect(&mut self, to: End) {
        self.to = to;
    }

    /// Packets in service or in flight go on outside the transmitter: returns them in the order of arrivals. Waiting packets are sent by
    /// the present path, after the packet in service.
    pub fn detach_in_flight(&mut self, core: &mut Core) -> Vec<Flying> {
        let before = Occasion { cause: None, ..Self::event(core) };
        self.start_what_is_due(core, &before);
        let (flight, waiting) = self.take_line(core);
        self.let_overtake(core, flight);
        let flying = self.take_overtaken(core).into_iter();
        let flying = flying.map(|(pkt, Flight { start, arrival, .. })| Flying { pkt, start, arrival }).collect();
        self.schedule.arrive_after(None);
        self.schedule.resume_after(&self.service);
        self.restore(core, Vec::new(), waiting, &before);
        self.arm_arrival(core);
        if let Stage::Asked { queue, .. } = &mut self.stage {
            queue.discipline.on_capacity(core.now(), BitRate::from_bps(self.schedule.rate));
        }
        flying
    }

    /// Takes out the waiting packets that are not to be kept.
    pub fn take_waiting(&mut self, core: &mut Core, keep: impl Fn(&Core, &Pkt) -> bool) -> Vec<Pkt> {
        let before = Occasion { cause: None, ..Self::event(core) };
        self.start_what_is_due(core, &before);
        let (flight, waiting) = self.take_line(core);
        let (waiting, mut taken): (Flights, Flights) = waiting.into_iter().partition(|(pkt, _)| keep(core, pkt));
        if let Stage::Asked { queue, .. } = &mut self.stage {
            let all: Vec<Pkt> = std::iter::from_fn(|| queue.evict(core)).collect();
            for pkt in all.into_iter().rev() {
                if keep(core, &pkt) {
                    queue.put_back(core, pkt);
                } else {
                    taken.insert(0, (pkt, Flight::default()));
                }
            }
        }
        self.schedule.resume_after(&self.service);
        self.restore(core, flight, waiting, &before);
        self.arm_arrival(core);
        taken.into_iter().map(|(pkt, _)| pkt).collect()
    }

    /// Takes all packets out of the line: those that have started, and those that wait.
    pub(super) fn take_line(&mut self, core: &Core) -> (Flights, Flights) {
        let mut flight = self.line.drain(core);
        let Stage::Planned { first, waiting, .. } = &mut self.stage else { return (flight, Vec::new()) };
        let started = flight.len() - waiting.packets as usize;
        *first = NONE;
        *waiting = Backlog::default();
        let waiting = flight.split_off(started);
        (flight, waiting)
    }

    /// Until `until` the old access sends waiting packets by its own rate and delay; these are in flight from now on.
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
        while let Stage::Asked { queue, .. } = &mut self.stage
            && let Some(pkt) = queue.dequeue(core)
        {
            let size = core.packet(&pkt).size;
            let last = self.schedule.last_arrival().copied();
            let service = C::serve(&mut self.schedule, (before.at, before.time), size);
            if service.out > until {
                self.schedule.arrive_after(last);
                return queue.put_back(core, pkt);
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

    /// Takes the waiting packets.
    fn take_queue(&mut self, core: &mut Core, waiting: &mut Flights) -> Vec<Pkt> {
        let mut taken: Vec<Pkt> = waiting.drain(..).map(|(pkt, _)| pkt).collect();
        if let Stage::Asked { queue, .. } = &mut self.stage {
            taken.extend(std::iter::from_fn(|| queue.evict(core)));
        }
        taken
    }

    /// The serialiser becomes free.
    fn let_go(&mut self) {
        self.service = InService::none();
        if let Stage::Asked { sending, queue, .. } = &mut self.stage {
            *sending = false;
            queue.discipline.on_interrupted();
        }
    }

    /// Takes packets out of service and flight, in the order in which they were sent.
    fn take_flight(&mut self, core: &mut Core, flight: &mut Flights) -> Flights {
        self.let_go();
        self.schedule.arrive_after(None);
        let mut taken = std::mem::take(flight);
        taken.extend(self.take_overtaken(core));
        taken.sort_by_key(|sent| order_sent(core, sent));
        self.busy = taken.iter().fold(self.busy, |sum, (_, flight)| sum + flight.sent_for(core.now()));
        taken
    }

    /// Copies packets in service and in flight, in the order in which they were sent.
    fn copy_flight(&mut self, core: &mut Core, flight: &Flights) -> Flights {
        let overtaken = self.take_overtaken(core);
        let mut all: Vec<&(Pkt, Flight)> = flight.iter().chain(&overtaken).collect();
        all.sort_by_key(|sent| order_sent(core, sent));
        let copies = all.into_iter().map(|(pkt, flight)| (core.copy(pkt), *flight)).collect();
        for (pkt, kept) in overtaken {
            self.unusual().overtaken.push(core, pkt, kept);
        }
        copies
    }

    /// Drops packets; messages that must not be lost are put ahead of the waiting ones.
    fn lose(&mut self, core: &mut Core, packets: Flights, waiting: &mut Flights) {
        let (kept, lost): (Flights, Flights) = packets.into_iter().partition(|(pkt, _)| core.packet(pkt).is_exempt());
        for (pkt, _) in lost {
            core.drop(pkt, self.place, Cause::Handover);
        }
        self.put_ahead(core, kept, waiting);
    }

    /// Puts packets ahead of the waiting ones. They wait from now on: the time of their flight is none of the queue's.
    fn put_ahead(&mut self, core: &mut Core, mut ahead: Flights, waiting: &mut Flights) {
        for (pkt, flight) in &mut ahead {
            core.note_queued(pkt);
            flight.accepted = core.now();
        }
        match &mut self.stage {
            Stage::Planned { .. } => {
                waiting.splice(0..0, ahead);
            }
            Stage::Asked { queue, .. } => {
                for (pkt, _) in ahead.into_iter().rev() {
                    queue.put_back(core, pkt);
                }
            }
        }
    }

    /// Keeps the serialiser busy with nothing as long as this or an earlier interruption lasts.
    fn hold(&mut self, core: &mut Core, now: Instant, interruption: Duration) {
        let mut longer = false;
        if interruption > Duration::ZERO {
            let unusual = self.unusual();
            longer = now + interruption > unusual.held;
            if longer {
                (unusual.held, unusual.held_since) = (now + interruption, now);
            }
        }
        let Some((held, since)) = self.interruption() else { return };
        if held > now && (if self.is_held() { longer } else { held > self.service.out }) {
            self.service = Service::endless().sending();
            if let Stage::Asked { sending, .. } = &mut self.stage {
                *sending = true;
            }
            core.arm(self.target(FREE), held, C::order(since, held, C::at(held)));
        }
    }

    /// Whether an interruption keeps the serialiser busy.
    #[inline]
    pub(super) fn is_held(&self) -> bool {
        self.service.out == Instant::MAX
    }

    /// The interruption is over: the waiting packets are sent.
    #[cold]
    pub(super) fn wake_after_interruption(&mut self, core: &mut Core) {
        let Some((held, since)) = self.interruption() else { return };
        let time = C::at(held);
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

    /// Packets are on their way from the old access, and come at `at`.
    fn forward(&mut self, core: &mut Core, packets: Vec<Pkt>, at: Instant) {
        if packets.is_empty() {
            return;
        }
        let forwarded = &mut self.unusual().forwarded;
        let mut all = forwarded.drain(core);
        all.extend(packets.into_iter().map(|pkt| (pkt, Flight { arrival: at, ..Flight::default() })));
        all.sort_by_key(|(_, f)| f.arrival);
        for (pkt, flight) in all {
            forwarded.push(core, pkt, flight);
        }
        let now = core.now();
        core.arm(self.target(FORWARDED), at, now);
    }

    /// Packets forwarded from the old access have come.
    #[inline(never)]
    pub(super) fn wake_forwarded(&mut self, core: &mut Core) {
        let now = core.now();
        C::set_now(core, C::at(now), core.since());
        while let Some(Unusual { forwarded, .. }) = self.unusual.as_deref_mut()
            && forwarded.front(core).is_some_and(|flight| flight.arrival <= now)
            && let Some((pkt, _)) = forwarded.pop(core)
        {
            self.accept(core, pkt);
        }
    }

    /// Puts packets into the line again; waiting packets are planned anew, with the present rate and delay.
    fn restore(&mut self, core: &mut Core, flight: Flights, waiting: Flights, before: &Occasion<C>) {
        let last = flight.last().map(|(pkt, f)| (f.arrival, C::kept(core, pkt.0)[1]));
        if let Stage::Planned { .. } = self.stage {
            // Later arrivals were plans.
            self.schedule.arrive_after(last);
        }
        let overtakes = last.is_some_and(|(arrival, _)| before.at + self.schedule.delay_at(before.at) < arrival);
        if self.schedule.last_arrival().is_none() && overtakes && matches!(self.stage, Stage::Planned { .. }) {
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
}

/// The order in which packets were sent. Two accesses may start one each at the same instant; then
/// the one that was accepted first comes first.
fn order_sent(core: &Core, (pkt, flight): &(Pkt, Flight)) -> (Instant, Instant, FlowId, u64) {
    let packet = core.packet(pkt);
    (flight.start, flight.accepted, packet.flow, packet.number)
}
