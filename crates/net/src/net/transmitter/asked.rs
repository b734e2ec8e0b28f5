//! Any other discipline: it is asked for the next packet when the serialiser is free.

use crate::net::clock::Clock;
use crate::net::core::Core;
use crate::net::order::{Answer, Command};
use crate::net::schedule::{InService, Occasion};
use crate::net::slab::Pkt;

use super::landing::Landing;
use super::{DISCIPLINE, FREE, Returned, Stage, Transmitter, flown};

impl<C: Clock> Transmitter<C> {
    /// A machine of its own node asks something of the discipline.
    pub fn order(&mut self, core: &mut Core, command: &Command) -> Answer {
        let Stage::Asked { queue, .. } = &mut self.stage else { return Answer::Unknown };
        let answer = queue.discipline.on_order(core.now(), command);
        self.arm_discipline(core);
        answer
    }

    /// Gives the discipline a packet.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, core: &mut Core, pkt: Pkt) {
        let event = Self::event(core);
        self.end_service(core, &event);
        let Stage::Asked { queue, sending, .. } = &mut self.stage else { return };
        core.note_queued(&pkt);
        queue.accept(core, pkt);
        if !*sending {
            self.ask(core);
        }
        self.arm_discipline(core);
    }

    /// Sends the next packet if the serialiser is free on this occasion.
    fn end_service(&mut self, core: &mut Core, occasion: &Occasion<C>) {
        while let Stage::Asked { sending, .. } = &mut self.stage
            && *sending
            && !self.service.occupies(occasion)
        {
            *sending = false;
            self.ask(core);
        }
    }

    /// Sends the next packet, if the discipline gives one.
    pub(super) fn ask(&mut self, core: &mut Core) {
        if !self.up {
            return;
        }
        let Stage::Asked { queue, sending, .. } = &mut self.stage else { return };
        let Some(pkt) = queue.dequeue(core) else { return };
        *sending = true;
        let event = Self::event(core);
        let size = core.packet(&pkt).size;
        let service = C::serve(&mut self.schedule, (event.at, event.time), size);
        self.service = service.sending();
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

    #[inline(never)]
    pub(super) fn wake_free(&mut self, core: &mut Core) {
        if self.is_held() {
            return self.wake_after_interruption(core);
        }
        let InService { start, out, time } = self.service;
        let free = Landing { at: out, since: C::order(start, out, time) };
        if free.is_now(core) {
            C::set_now(core, time, start);
            self.end_service(core, &Occasion { at: out, time, cause: Some(start) });
            self.arm_discipline(core);
        }
    }

    #[inline(never)]
    pub(super) fn wake_discipline(&mut self, core: &mut Core) {
        let now = core.now();
        C::set_now(core, C::at(now), core.since());
        let Stage::Asked { queue, sending, wanted } = &mut self.stage else { return };
        if wanted.is_none_or(|at| at > now) {
            return; // an old wake-up
        }
        *wanted = None;
        if queue.discipline.next_timeout().is_some_and(|at| at <= now) {
            queue.discipline.on_timeout(now);
        }
        if !*sending {
            self.ask(core);
        }
        self.arm_discipline(core);
    }

    pub(super) fn arm_discipline(&mut self, core: &mut Core) {
        debug_assert!(
            self.discipline_keeps_its_contract(),
            "the queue at {} keeps packets back without a time to ask again, or has bytes without packets",
            core.place_name(self.place)
        );
        let Stage::Asked { queue, wanted, .. } = &mut self.stage else { return };
        if let Some(at) = queue.discipline.next_timeout()
            && wanted.is_none_or(|pending| at < pending)
        {
            *wanted = Some(at);
            let now = core.now();
            core.arm(self.target(DISCIPLINE), at, now);
        }
    }

    /// Whether bytes wait only if packets do, which may be empty; and whether a discipline that kept packets back when it was asked says when to ask
    /// again (see [`QueueDiscipline::dequeue`](crate::net::QueueDiscipline::dequeue)).
    fn discipline_keeps_its_contract(&self) -> bool {
        let Stage::Asked { queue, sending, .. } = &self.stage else { return true };
        let waits = queue.backlog().packets > 0;
        let is_asked = *sending || !self.up || !waits || queue.discipline.next_timeout().is_some();
        is_asked && (waits || queue.backlog().bytes == 0)
    }
}

impl<C: Clock> Returned for Transmitter<C> {
    #[inline(never)]
    fn on_return(&mut self, core: &mut Core, pkt: &Pkt) {
        if let Stage::Asked { queue, .. } = &mut self.stage {
            let now = core.now();
            queue.discipline.on_return(now, core.packet_mut(pkt));
        }
    }
}
