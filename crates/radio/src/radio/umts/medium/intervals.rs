//! What happens in each interval: entities hand down PDUs, which cross the Iub to the Node B's queues
//! or stand in the terminal's own, and each channel sends what fits.

use crate::radio::Direction;
use crate::radio::arq::Slot;
use crate::radio::umts::slab::Flying;
use crate::radio::umts::timing::Wake;
use lasthop_net::engine::{Duration, Instant, Target};
use lasthop_net::net::Core;
use lasthop_net::net::observe::PduStep;

use super::channels::{Kind, TransportChannel};
use super::clock::{at_or_after, insert, remove, usual_phase};
use super::landing::{BEYOND_AIR, Landing};
use super::roaming::Roaming;
use super::{CLOCK, ONE_CELL, Umts, key, line};

/// A PDU under way from the RNC to a channel's queue.
pub(super) struct ToNodeB {
    pub(super) at: Instant,
    pub(super) channel: u32,
    pub(super) terminal: u32,
    pub(super) pdu: Flying,
}

impl Umts {
    /// Lets an entity take part in the intervals of its channel, if it has something to send.
    #[inline]
    pub(super) fn activate(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        let sender = &self.terminals[terminal as usize].senders[direction.index()];
        if !sender.ticking && sender.arq.wants_to_send() {
            self.join(core, terminal, direction);
        }
    }

    fn join(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        if self.channel(terminal, direction).is_none() {
            return self.await_capacity(core, terminal, direction);
        }
        let sender = &mut self.terminals[terminal as usize].senders[direction.index()];
        sender.ticking = true;
        let number = sender.clock;
        insert(&mut self.channels.clocks[usize::from(number)].senders, 2 * terminal + direction.index() as u32);
        self.arm_tick(core, number);
    }

    /// Wakes a clock one lead before the next interval that begins after now.
    fn arm_tick(&mut self, core: &mut Core, number: u16) {
        let clock = &mut self.channels.clocks[usize::from(number)];
        if clock.tick != Instant::MAX {
            return; // it is awake, and no tick lies before the one it waits for
        }
        clock.tick = clock.next_tick(core.now());
        let (tick, tti) = (clock.tick, clock.tti);
        self.arm_clock(core, number, tick, Wake::HandDown, tti);
    }

    /// Wakes a clock at the first interval that begins at `at` or later.
    fn arm_frame(&mut self, core: &mut Core, number: u16, at: Instant) {
        let clock = &mut self.channels.clocks[usize::from(number)];
        if !clock.is_too_late(at) {
            return;
        }
        let frame = at_or_after(at, clock.tti);
        if frame < clock.frame {
            clock.frame = frame;
            let tti = clock.tti;
            self.arm_clock(core, number, frame, Wake::Interval, tti);
        }
    }

    fn arm_clock(&mut self, core: &mut Core, number: u16, at: Instant, wake: Wake, tti: Duration) {
        let since = self.times.order(core.now(), at, wake, tti);
        core.arm(Target { component: self.component, key: key(CLOCK, u32::from(number)) }, at, since);
    }

    pub(super) fn wake_clock(&mut self, core: &mut Core, number: u16) {
        let clock = &mut self.channels.clocks[usize::from(number)];
        if clock.tick == core.now() {
            clock.tick = Instant::MAX;
            clock.ticked = core.now();
            self.tick(core, number);
        } else if clock.frame == core.now() {
            clock.frame = Instant::MAX;
            self.frame(core, number);
        }
    }

    /// The entities of a clock hand down what the next interval is to carry.
    fn tick(&mut self, core: &mut Core, number: u16) {
        let clock = &mut self.channels.clocks[usize::from(number)];
        let mut senders = std::mem::take(&mut clock.senders);
        if clock.turns.is_some() {
            self.share_interval(core, number, &senders);
            senders.retain(|sender| self.goes_on(sender / 2, (sender % 2) as usize));
        } else {
            senders.retain(|sender| {
                let (terminal, direction) = (sender / 2, Direction::BOTH[(sender % 2) as usize]);
                self.hand_down(core, terminal, direction, u32::MAX);
                self.arm_entity(core, terminal, direction.index());
                self.goes_on(terminal, direction.index())
            });
            self.leave_rnc(core, None);
        }
        // Sending wakes no sender here, so none has joined meanwhile.
        let remain = !senders.is_empty();
        self.channels.clocks[usize::from(number)].senders = senders;
        if remain {
            self.arm_tick(core, number);
        }
        self.count_intervals(core);
        self.follow_attachment(core);
    }

    /// Whether an entity that has handed down its PDUs of an interval takes part in the next one.
    #[inline]
    fn goes_on(&mut self, terminal: u32, entity: usize) -> bool {
        let sender = &mut self.terminals[terminal as usize].senders[entity];
        sender.ticking = sender.arq.wants_to_send();
        sender.ticking
    }

    /// An entity hands down what the next interval is to carry, of which it has this many bits at most; says how many it has used.
    pub(super) fn hand_down(&mut self, core: &mut Core, terminal: u32, direction: Direction, most: u32) -> u32 {
        let Some(channel) = self.channel(terminal, direction) else { return 0 };
        let now = core.now();
        if now < self.terminals[terminal as usize].senders[direction.index()].not_before {
            return 0;
        }
        let TransportChannel { queue, kind, .. } = &self.channels[channel];
        let (kind, tti, bits) = (*kind, queue.rate().tti, queue.interval_bits());
        if direction == Direction::Up && self.awaits_access(now, terminal, channel, kind) {
            return 0;
        }
        let is_spaced = !self.is_shared_out(kind) && self.spacing > Duration::ZERO;
        let most = bits.min(most);
        let mut slot = Slot { now, at: now, tti, bits, left: most };
        while slot.left >= self.pdu_bits {
            let arq = &mut self.terminals[terminal as usize].senders[direction.index()].arq;
            if !arq.wants_to_send() {
                break;
            }
            if is_spaced {
                slot.at += self.times.spacing(now, tti, self.spacing);
            }
            let Some(pdu) = arq.pull(&slot) else { break };
            slot.left -= pdu.bits.max(self.pdu_bits);
            let at = slot.at;
            self.observe(core, at, PduStep::Sent, terminal, direction, &pdu, None);
            let pdu = self.flights.pdus.keep(pdu);
            match direction {
                Direction::Down => self.flights.leaving.push((at, channel, terminal, pdu)),
                Direction::Up => self.offer(core, at, channel, terminal, direction, pdu),
            }
        }
        if slot.left < most {
            self.terminals[terminal as usize].senders[direction.index()].busy_until = now + tti;
        }
        if let Some(access) = self.cpch.as_mut().filter(|_| kind == Kind::Cpch) {
            access.sent.push((terminal, !self.channels[channel].queue.is_empty()));
        }
        most - slot.left
    }

    /// Sends what left the entities at the RNC on its way to the Node B, in order. All of it is there at
    /// `arrival`, if that is given.
    pub(super) fn leave_rnc(&mut self, core: &mut Core, arrival: Option<Instant>) {
        if self.flights.leaving.is_empty() {
            return;
        }
        let mut leaving = std::mem::take(&mut self.flights.leaving);
        if self.spacing > Duration::ZERO {
            leaving.sort_by_key(|(at, ..)| *at);
        }
        for (at, channel, terminal, pdu) in leaving.drain(..) {
            let at = arrival.unwrap_or_else(|| match self.roaming.as_deref() {
                None => self.utran.down(at, pdu.bits, 0, &ONE_CELL),
                Some(Roaming { area, .. }) => self.utran.down(at, pdu.bits, area.rnc(terminal), area.cells(terminal)),
            });
            let last = &mut self.terminals[terminal as usize].last[Direction::Down.index()];
            let at = at.max(*last);
            *last = at;
            let (TransportChannel { clock: number, .. }, clock) = self.channels.with_clock(channel);
            let number = *number;
            clock.coming += 1;
            if clock.is_too_late(at) {
                self.arm_frame(core, number, at);
            }
            // Some ways are longer, over an Iur.
            let to_node_b = &mut self.flights.to_node_b;
            let behind = line::behind(to_node_b, |other| other.at > at);
            line::enter(to_node_b, ToNodeB { at, channel, terminal, pdu }, behind);
        }
        self.flights.leaving = leaving;
    }

    /// A PDU comes to the queue of a channel. Inlined, as all steps of each PDU are: calls of them take 3 % of the instructions of a cell.
    #[inline(always)]
    fn offer(&mut self, core: &mut Core, at: Instant, channel: u32, terminal: u32, direction: Direction, pdu: Flying) {
        self.attachment.on_sent(core.now(), terminal, direction, pdu.bits);
        let (TransportChannel { queue, clock: number, .. }, clock) = self.channels.with_clock(channel);
        // What is on its way to the Node B is counted.
        clock.coming -= u32::from(direction == Direction::Down);
        let was_empty = queue.is_empty();
        match queue.offer(terminal, pdu) {
            Ok(()) => {
                if was_empty {
                    insert(&mut clock.channels, channel);
                }
                // A PDU down was waited for when it left the RNC, and stands in the queue only once the
                // interval has begun: that one would begin again.
                if direction == Direction::Up && clock.is_too_late(at) {
                    let number = *number;
                    self.arm_frame(core, number, at);
                }
            }
            Err(pdu) => self.refuse(core, at, channel, terminal, direction, pdu),
        }
    }

    /// A PDU finds no room in the queue of a channel.
    #[inline(never)]
    fn refuse(&mut self, core: &mut Core, at: Instant, channel: u32, terminal: u32, direction: Direction, pdu: Flying) {
        self.terminals[terminal as usize].dropped[direction.index()] += 1;
        let bytes = self.channels[channel].queue.queued_bytes();
        let pdu = self.flights.pdus.take(pdu);
        self.observe(core, at, PduStep::Dropped, terminal, direction, &pdu, Some(bytes));
    }

    /// PDUs on their way to the Node B go on over the channel that serves their terminal now.
    pub(super) fn redirect(&mut self, core: &mut Core, terminal: u32) {
        let Some(channel) = self.channel(terminal, Direction::Down) else { return };
        let mut first = None;
        let coming = self.flights.to_node_b.iter_mut();
        for pdu in coming.filter(|pdu| pdu.terminal == terminal && pdu.channel != channel) {
            self.channels.clock_of(pdu.channel).coming -= 1;
            self.channels.clock_of(channel).coming += 1;
            pdu.channel = channel;
            first = first.or(Some(pdu.at));
        }
        if let Some(at) = first {
            self.arm_frame(core, self.channels[channel].clock, at);
        }
    }

    /// PDUs that have come to the Node B by now stand in its queues.
    pub(super) fn arrive_at_node_b(&mut self, core: &mut Core) {
        while let Some(coming) = self.flights.to_node_b.pop_front_if(|first| first.at <= core.now()) {
            let ToNodeB { at, channel, terminal, pdu } = coming;
            self.offer(core, at, channel, terminal, Direction::Down, pdu);
        }
    }

    /// An interval begins: each channel of the clock sends what fits.
    fn frame(&mut self, core: &mut Core, number: u16) {
        self.arrive_at_node_b(core);
        let now = core.now();
        let mut channels = std::mem::take(&mut self.channels.clocks[usize::from(number)].channels);
        for &channel in &channels {
            self.send_interval(core, channel);
        }
        self.send_messages(core);
        channels.retain(|channel| !self.channels[*channel].queue.is_empty());
        let clock = &mut self.channels.clocks[usize::from(number)];
        clock.channels = channels;
        if !clock.channels.is_empty() || clock.coming > 0 {
            let next = now + clock.tti;
            self.arm_frame(core, number, next);
        }
        self.arm_lane(core, Direction::Down.index());
        self.arm_lane(core, Direction::Up.index());
        self.follow_attachment(core);
    }

    fn send_interval(&mut self, core: &mut Core, channel: u32) {
        let now = core.now();
        let mut end = now + self.channels[channel].queue.rate().tti;
        let mut collided = false;
        match self.channels[channel].kind {
            Kind::Rach if self.rach.aloha.is_some() => return self.choose_place(now, channel),
            Kind::Rach if self.rach.delay > Duration::ZERO => {
                let delay = self.times.access(now, self.rach.delay);
                end = self.end_of_message(channel, end + delay);
            }
            Kind::Cpch => {
                let terminal = self.channels.owner(channel);
                collided = self.cpch.as_ref().is_some_and(|access| access.cpch.collides(terminal));
            }
            _ => {}
        }
        self.send_over_air(core, channel, end + BEYOND_AIR, collided);
    }

    /// A channel sends what fits in an interval.
    #[inline(always)]
    pub(super) fn send_over_air(&mut self, core: &mut Core, channel: u32, arrival: Instant, collided: bool) {
        let now = core.now();
        let kind = self.channels[channel].kind;
        let direction = kind.direction();
        let mut left = self.channels[channel].queue.interval_bits();
        if kind == Kind::Dsch {
            // The frames of two terminals may have come in one interval, if theirs took differently long.
            left = left.min(self.channels[channel].queue.bits_of_first());
        }
        let (in_order, channels, clock) = (self.in_order, &self.channels, &mut self.air_clock);
        // In EURANE the sums of doubles decide.
        let mut time = |channel: u32| clock.at_node_b(channels[channel].queue.rate().tti, arrival);
        let behind = self.flights.lanes[direction.index()].behind(arrival, now, |longer| {
            in_order || time(channel).zip(time(longer.channel)).is_none_or(|(shorter, longer)| shorter < longer)
        });
        while let Some((terminal, pdu)) = self.channels[channel].queue.next(&mut left) {
            let bytes = self.channels[channel].queue.queued_bytes();
            self.observe(core, now, PduStep::Aired, terminal, direction, self.flights.pdus.at(&pdu), Some(bytes));
            let landing = Landing { at: arrival, sent: now, channel, terminal, collided, pdu, time: None };
            line::enter(&mut self.flights.lanes[direction.index()].landings, landing, behind);
        }
    }

    /// An entity follows the intervals of its present channel, when that of the former one under way has ended. In EURANE its timer goes on:
    /// from when it would have handed down PDUs for the former channel it does so in steps of the new length.
    pub(super) fn change_clock(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        let channel = self.channel(terminal, direction);
        let tti = channel.map(|channel| self.channels[channel].queue.rate().tti);
        let shared = channel.filter(|channel| self.is_shared_out(self.channels[*channel].kind));
        let shared = shared.map(|channel| self.channels[channel].clock);
        let sender = &self.terminals[terminal as usize].senders[direction.index()];
        let (former, ticking) = (sender.clock, sender.ticking);
        let clock = &self.channels.clocks[usize::from(former)];
        if shared.map_or(tti == Some(clock.tti) && clock.turns.is_none(), |shared| shared == former) {
            return self.activate(core, terminal, direction);
        }
        if ticking {
            remove(&mut self.channels.clocks[usize::from(former)].senders, 2 * terminal + direction.index() as u32);
        }
        let next = self.channels.clocks[usize::from(former)].next_tick(core.now());
        let former_tti = self.channels.clocks[usize::from(former)].tti;
        let present = match (shared, tti) {
            (Some(shared), _) => shared,
            (None, Some(tti)) if self.in_order => self.channels.clock(tti, usual_phase(tti)),
            (None, Some(tti)) => self.channels.clock(tti, Duration::from_nanos(next.as_nanos() % tti.as_nanos())),
            (None, None) => former,
        };
        let sender = &mut self.terminals[terminal as usize].senders[direction.index()];
        sender.ticking = false;
        sender.clock = present;
        sender.not_before = if self.in_order { sender.busy_until } else { next };
        if let Some(tti) = tti {
            sender.arq.on_channel_change(next, former_tti, tti);
        }
        self.activate(core, terminal, direction);
    }
}
