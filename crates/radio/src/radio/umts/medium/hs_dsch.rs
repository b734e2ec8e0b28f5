//! How the medium uses the high-speed downlink shared channel: from RLC at the RNC to RLC at the terminals.
//!
//! What the Node B sends in a slot is decided a moment before it begins, and the answer to it is known when it has come.

use crate::radio::Direction;
use crate::radio::arq::Slot;
use crate::radio::attachment::Service;
use crate::radio::rlc::Pdu;
use crate::radio::shared_channel::harq::{Block, Conclusion};
use crate::radio::umts::hs_dsch::capacity::Allocation;
use lasthop_net::net::Core;
use lasthop_net::net::observe::PduStep;

use super::{HIGH_SPEED, ONE_CELL, Umts, key};

mod channel;

pub(super) use channel::{BEYOND_AIR, HsDsch};
use channel::{Terminal, decision};

/// What a wake-up is for: the index of its key.
const REQUEST: u32 = 0;
const ALLOCATION: u32 = 1;
const DECISION: u32 = 2;
const ARRIVAL: u32 = 3;
/// From here on: T1 of a terminal.
const T1: u32 = 4;

impl Umts {
    /// The channel, if it serves this end of a terminal's bearer.
    pub(super) fn high_speed(&self, terminal: u32, direction: Direction) -> Option<&HsDsch> {
        let serves = direction == Direction::Down && self.service(terminal) == Service::HighSpeed;
        self.hs_dsch.as_deref().filter(|_| serves)
    }

    /// An end that no channel in intervals serves has something to send: if the high-speed shared channel does, capacity is
    /// asked for.
    pub(super) fn await_capacity(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        if self.high_speed(terminal, direction).is_none() {
            return;
        }
        if let Some(hs) = &mut self.hs_dsch {
            hs.capacity.want(terminal);
        }
        self.arm_capacity(core);
    }

    /// Wakes flow control when something is asked for next, or an allocation is at the RNC.
    fn arm_capacity(&mut self, core: &mut Core) {
        let Some(hs) = &mut self.hs_dsch else { return };
        let request = hs.capacity.next_request(core.now());
        hs.request_alarm.set(core, request);
        hs.allocation_alarm.set(core, hs.capacity.next_allocation());
    }

    pub(super) fn wake_high_speed(&mut self, core: &mut Core, index: u32) {
        match index {
            REQUEST => self.request_capacity(core),
            ALLOCATION => self.use_capacity(core),
            DECISION => self.decide_slot(core),
            ARRIVAL => self.land_blocks(core),
            _ => self.wake_t1(core, index - T1),
        }
    }

    fn request_capacity(&mut self, core: &mut Core) {
        let Some(hs) = self.hs_dsch.as_deref_mut() else { return };
        if !hs.request_alarm.rings(core) {
            return;
        }
        let (ues, terminals) = (&self.terminals, &hs.terminals);
        let ready = |terminal: u32| {
            let ue = &ues[terminal as usize];
            let arq = &ue.senders[Direction::Down.index()].arq;
            (ue.service == Service::HighSpeed && arq.wants_to_send()).then(|| arq.ready_pdus())
        };
        hs.capacity.request(core.now(), ready, |terminal| terminals[terminal as usize].queue.held());
        self.arm_capacity(core);
    }

    /// PDUs leave for which there is capacity.
    fn use_capacity(&mut self, core: &mut Core) {
        let now = core.now();
        if !self.hs_dsch.as_mut().is_some_and(|hs| hs.allocation_alarm.rings(core)) {
            return;
        }
        while let Some(allocation) = self.hs_dsch.as_mut().and_then(|hs| hs.capacity.take(now)) {
            self.hand_down_allocated(core, allocation);
        }
        self.arm_capacity(core);
        self.arm_decision(core);
        self.follow_attachment(core);
    }

    fn hand_down_allocated(&mut self, core: &mut Core, Allocation { terminal, pdus, .. }: Allocation) {
        let now = core.now();
        let Some(tti) = self.high_speed(terminal, Direction::Down).map(|hs| hs.capacity.interval()) else { return };
        let rnc = self.serving_rnc(terminal);
        let bits = pdus * self.pdu_bits;
        let mut left = bits;
        while left >= self.pdu_bits {
            let arq = &mut self.terminals[terminal as usize].senders[Direction::Down.index()].arq;
            if !arq.wants_to_send() {
                break;
            }
            let Some(pdu) = arq.pull(&Slot { now, at: now, tti, bits, left }) else { break };
            left -= pdu.bits.max(self.pdu_bits);
            self.observe(core, now, PduStep::Sent, terminal, Direction::Down, &pdu, None);
            self.attachment.on_sent(now, terminal, Direction::Down, pdu.bits);
            let at = self.utran.down(now, pdu.bits, rnc, &ONE_CELL);
            if let Some(hs) = &mut self.hs_dsch {
                hs.terminals[terminal as usize].queue.coming += 1;
                hs.coming.push_back((at, terminal, pdu));
            }
        }
        self.arm_entity(core, terminal, Direction::Down.index());
    }

    /// Wakes the Node B to decide on a slot, if there is, or will be, anything to send.
    fn arm_decision(&mut self, core: &mut Core) {
        let Some(hs) = self.hs_dsch.as_deref_mut().filter(|hs| hs.next_slot.is_none()) else { return };
        hs.next_slot = hs.upcoming(core.now());
        if let Some(slot) = hs.next_slot {
            self.arm(core, decision(slot), key(HIGH_SPEED, DECISION));
        }
    }

    /// What the next slot carries.
    fn decide_slot(&mut self, core: &mut Core) {
        let (now, pdu_bits) = (core.now(), self.pdu_bits);
        let Some(hs) = self.hs_dsch.as_deref_mut() else { return };
        let Some(slot) = hs.next_slot.take() else { return };
        hs.last_slot = slot;
        hs.take_arrivals(now);
        hs.tell_scheduler(slot);
        let process = hs.harq.turn(slot);
        if hs.harq.block(process).is_none() {
            hs.start(now, slot, process, pdu_bits);
        }
        let lands = hs.landing.is_empty();
        hs.send(slot, process);
        hs.show(core, slot, process, pdu_bits);
        if let Some((at, _)) = hs.landing.front().copied().filter(|_| lands) {
            self.arm(core, at, key(HIGH_SPEED, ARRIVAL));
        }
        self.arm_decision(core);
    }

    /// Blocks are at their terminals, or not.
    fn land_blocks(&mut self, core: &mut Core) {
        let now = core.now();
        if core.float().is_some() {
            let time = self.ns2_clock.at_terminal(now);
            self.tell_time(core, time);
        }
        while let Some(hs) = self.hs_dsch.as_deref_mut()
            && let Some((_, process)) = hs.landing.pop_front_if(|(at, _)| *at <= now)
        {
            let terminals = &hs.terminals;
            let too_old = |terminal: u32, tsn: u32| terminals[terminal as usize].reordering.is_too_old(tsn);
            match hs.harq.conclude(process, too_old) {
                Conclusion::Again => {}
                // It has come, and its terminal no longer waits for it.
                Conclusion::Received(block) if too_old(block.terminal, block.number) => self.lose_block(core, block),
                Conclusion::Received(block) => {
                    let (up, terminal) = (&mut hs.up, block.terminal);
                    let reordering = &mut hs.terminals[terminal as usize].reordering;
                    reordering.accept(now, block.number, block.data, |pdus| up.push(pdus));
                    self.hand_up(core, terminal);
                }
                Conclusion::GivenUp(block) => {
                    hs.terminals[block.terminal as usize].counts.given_up += 1;
                    self.lose_block(core, block);
                }
            }
        }
        if let Some((at, _)) = self.hs_dsch.as_ref().and_then(|hs| hs.landing.front()) {
            self.arm(core, *at, key(HIGH_SPEED, ARRIVAL));
        }
    }

    fn lose_block(&mut self, core: &mut Core, mut block: Block<Vec<Pdu>>) {
        for pdu in block.data.drain(..) {
            self.lose(core, core.now(), block.terminal, Direction::Down, &pdu);
        }
        if let Some(hs) = &mut self.hs_dsch {
            hs.spare.push(block.data);
        }
    }

    /// PDUs of a terminal are in order, and go to its RLC.
    fn hand_up(&mut self, core: &mut Core, terminal: u32) {
        let mut blocks = self.hs_dsch.as_mut().map_or_else(Vec::new, |hs| std::mem::take(&mut hs.up));
        for block in &mut blocks {
            for pdu in block.drain(..) {
                self.hear(core, terminal, Direction::Down, &pdu);
            }
        }
        if !blocks.is_empty() {
            self.act(core, terminal, Direction::Down);
        }
        if let Some(hs) = &mut self.hs_dsch {
            hs.spare.append(&mut blocks);
            hs.up = blocks;
        }
        self.arm_t1(core, terminal);
    }

    fn arm_t1(&mut self, core: &mut Core, terminal: u32) {
        let Some(hs) = &mut self.hs_dsch else { return };
        let Terminal { reordering, t1_alarm, t1, .. } = &mut hs.terminals[terminal as usize];
        let expires = reordering.next_timeout();
        if t1.map(|(at, _)| at) != expires {
            *t1 = expires.zip(core.float()).map(|(at, now)| (at, now.after_duration(reordering.timer())));
        }
        t1_alarm.set(core, expires);
    }

    fn wake_t1(&mut self, core: &mut Core, terminal: u32) {
        let now = core.now();
        let Some(hs) = &mut self.hs_dsch else { return };
        let lands = hs.landing.front().is_some_and(|(at, _)| *at == now);
        let Terminal { reordering, t1_alarm, t1, .. } = &mut hs.terminals[terminal as usize];
        if !t1_alarm.rings(core) {
            return;
        }
        let time = t1.map(|(_, time)| time);
        // By ns-2's clock a block that comes at this instant may come first.
        if lands && time.is_some_and(|time| self.ns2_clock.at_terminal(now).is_some_and(|block| block < time)) {
            return t1_alarm.set(core, Some(now));
        }
        let up = &mut hs.up;
        reordering.on_timeout(now, |pdus| up.push(pdus));
        self.tell_time(core, time);
        self.hand_up(core, terminal);
    }
}
