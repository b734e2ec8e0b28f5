//! How the medium uses the high-speed downlink shared channel: from RLC at the RNC to RLC at the terminals.
//!
//! What the Node B sends in a slot is decided a moment before it begins, and the answer to it is known when it has come.

use std::collections::VecDeque;

use crate::engine::{BitRate, Decibel, Duration, Instant, Stream};
use crate::net::medium::Access;
use crate::net::observe::{PduStep, Place, Probe};
use crate::net::{Core, Observation, SeenBlock};
use crate::radio::Direction;
use crate::radio::arq::Slot;
use crate::radio::attachment::Service;
use crate::radio::quality::{Quality, State};
use crate::radio::rate_map::cqi::SLOT;
use crate::radio::rate_map::{Grant, RateMap};
use crate::radio::rlc::Pdu;
use crate::radio::scheduler::{Candidate, Scheduler, Watch};
use crate::radio::umts::hs_dsch::HEADER_BITS;
use crate::radio::umts::hs_dsch::capacity::{Allocation, Capacity};
use crate::radio::umts::hs_dsch::harq::{Block, Conclusion, Harq};
use crate::radio::umts::hs_dsch::queue::Queue;
use crate::radio::umts::hs_dsch::reception::Reception;
use crate::radio::umts::hs_dsch::reordering::Reordering;
use crate::radio::umts::hs_dsch::setup::Setup;

use super::{HIGH_SPEED, ONE_CELL, Umts, key};

/// How long before a slot it is decided what it carries (EURANE).
const LEAD: Duration = Duration::from_micros(200);
/// From the end of a block until it is at the terminal's MAC (EURANE).
const BEYOND_AIR: Duration = Duration::from_micros(5);
/// How many PDUs a block carries at most (TS 25.321 §9.2.2, N).
const MOST_PDUS: u32 = 70;
/// The most codes that a shared channel has (TS 25.211 §5.3.3.13). A category asks for no more than it can receive.
const CODES: u8 = 15;

/// What a wake-up is for: the index of its key.
const REQUEST: u32 = 0;
const ALLOCATION: u32 = 1;
const DECISION: u32 = 2;
const ARRIVAL: u32 = 3;
/// From here on: T1 of a terminal.
const T1: u32 = 4;

/// The channel.
pub(super) struct HsDsch {
    quality: Box<dyn Quality>,
    rate_map: Box<dyn RateMap>,
    scheduler: Box<dyn Scheduler>,
    reception: Box<dyn Reception>,
    harq: Harq,
    capacity: Capacity,
    air_time: Duration,
    /// Slots between the beginnings of two blocks to a terminal.
    interval: u64,
    terminals: Vec<Terminal>,
    /// Those for whom something waits at the Node B, in order.
    waiting: Vec<u32>,
    /// Those among them who may be chosen; empty between events.
    candidates: Vec<Candidate>,
    /// Under way to the Node B, in order.
    coming: VecDeque<(Instant, u32, Pdu)>,
    /// Processes whose blocks are on the air, in order.
    landing: VecDeque<(Instant, usize)>,
    /// The valid wake-ups for requests and allocations.
    armed: [Instant; 2],
    /// The slot that is waited for, and the one that was decided last.
    next_slot: Option<u64>,
    last_slot: u64,
    watch: Watch,
    /// PDUs that reordering hands up; empty between events.
    up: Vec<Vec<Pdu>>,
    /// Lists without PDUs, to be used again.
    spare: Vec<Vec<Pdu>>,
    used_slots: u64,
}

/// What the channel knows of a terminal.
struct Terminal {
    place: Place,
    queue: Queue,
    reordering: Reordering<Vec<Pdu>>,
    /// The valid wake-up of T1.
    armed: Instant,
    state: State,
    draws: Stream,
    counts: Counts,
}

impl Terminal {
    /// The state of the air to it, which has this number.
    fn state(&mut self, quality: &mut dyn Quality, number: u32, at: Instant) -> State {
        if self.state.valid_until <= at {
            self.state = quality.state(number, at);
        }
        self.state
    }
}

/// What was sent to a terminal.
#[derive(Default)]
struct Counts {
    blocks: u64,
    transmissions: u64,
    failed: u64,
    given_up: u64,
    pdus: u64,
}

impl HsDsch {
    /// A channel for terminals whose bearers are these.
    pub(super) fn new(core: &Core, places: &[[Place; 2]], setup: Setup) -> Self {
        let unknown = State { sir: Decibel::ZERO, valid_until: Instant::ZERO };
        let terminal = |[down, _]: &[Place; 2]| Terminal {
            place: *down,
            queue: Queue::default(),
            reordering: Reordering::new(setup.window, setup.t1),
            armed: Instant::MAX,
            state: unknown,
            draws: core.stream(core.place_name(*down), "blocks"),
            counts: Counts::default(),
        };
        Self {
            terminals: places.iter().map(terminal).collect(),
            quality: setup.quality,
            rate_map: setup.rate_map,
            scheduler: setup.scheduler,
            reception: setup.reception,
            harq: Harq::new(setup.processes, setup.transmissions),
            capacity: Capacity::new(setup.capacity, places.len()),
            air_time: setup.air_time,
            interval: setup.interval,
            waiting: Vec::new(),
            candidates: Vec::new(),
            coming: VecDeque::new(),
            landing: VecDeque::new(),
            armed: [Instant::MAX; 2],
            next_slot: None,
            last_slot: 0,
            watch: Watch::new(1),
            up: Vec::new(),
            spare: Vec::new(),
            used_slots: 0,
        }
    }

    /// How good the air to a terminal is taken to be.
    fn sir(&mut self, terminal: u32, at: Instant) -> Decibel {
        self.terminals[terminal as usize].state(&mut *self.quality, terminal, at).sir
    }

    /// The format of a block at this ratio, and how many PDUs of so many bits fit into it.
    fn format(&self, sir: Decibel, pdu_bits: u32) -> Option<(Grant, u32)> {
        let grant = self.rate_map.grant(sir, u64::MAX, CODES)?;
        let pdus = (grant.bits.saturating_sub(HEADER_BITS) / pdu_bits).min(MOST_PDUS);
        (pdus > 0).then_some((grant, pdus))
    }

    /// What has come to the Node B by now waits there.
    fn take_arrivals(&mut self, now: Instant) {
        while let Some((at, terminal, pdu)) = self.coming.pop_front_if(|(at, ..)| *at <= now) {
            self.terminals[terminal as usize].queue.push(at, pdu);
            if let Err(place) = self.waiting.binary_search(&terminal) {
                self.waiting.insert(place, terminal);
            }
        }
    }

    /// Tells the scheduler, if it wants to know, how good the air was up to this slot, as decisions would have taken it.
    fn tell_scheduler(&mut self, slot: u64) {
        let Self { watch, scheduler, quality, terminals, .. } = self;
        watch.tell(&mut **scheduler, slot, 0..terminals.len() as u32, |terminal, slot| {
            let State { sir, valid_until } =
                terminals[terminal as usize].state(&mut **quality, terminal, decision(slot));
            (sir, if valid_until == Instant::MAX { u64::MAX } else { first_decided(valid_until) - 1 })
        });
    }

    /// Whose block a slot carries, its format, and how many PDUs fit into it.
    fn choose(&mut self, now: Instant, slot: u64, pdu_bits: u32) -> Option<(u32, Grant, u32)> {
        self.candidates.clear();
        for place in 0..self.waiting.len() {
            let terminal = self.waiting[place];
            let sir = self.sir(terminal, now);
            let queue = &self.terminals[terminal as usize].queue;
            if queue.next_slot <= slot
                && let Some((_, pdus)) = self.format(sir, pdu_bits)
            {
                self.candidates.push(Candidate { terminal, sir, bits: pdus * pdu_bits, since: queue.since });
            }
        }
        if self.candidates.len() > 1 {
            self.scheduler.order(slot, &mut self.candidates);
        }
        let Candidate { terminal, sir, bits, .. } = *self.candidates.first()?;
        let (grant, pdus) = self.format(sir, pdu_bits)?;
        self.scheduler.on_served(slot, terminal, bits);
        Some((terminal, grant, pdus))
    }

    /// A new block for a process that is free, if there is one to send.
    fn start(&mut self, now: Instant, slot: u64, process: usize, pdu_bits: u32) {
        let Some((terminal, grant, most)) = self.choose(now, slot, pdu_bits) else { return };
        let Terminal { queue, draws, counts, .. } = &mut self.terminals[terminal as usize];
        let mut pdus = self.spare.pop().unwrap_or_default();
        let tsn = queue.fill(now, most as usize, &mut pdus);
        queue.next_slot = slot + self.interval;
        if queue.is_empty()
            && let Ok(place) = self.waiting.binary_search(&terminal)
        {
            self.waiting.remove(place);
        }
        counts.blocks += 1;
        counts.pdus += pdus.len() as u64;
        let draw = draws.unit();
        let block = Block { terminal, tsn, grant, pdus, transmission: 0, draw, combined: 0.0, received: false };
        self.harq.start(process, block);
    }

    /// Sends the block of a process in a slot.
    fn send(&mut self, slot: u64, process: usize) {
        let Some(terminal) = self.harq.block(process).map(|block| block.terminal) else { return };
        let start = begin(slot);
        let sir = self.sir(terminal, start);
        let Some(block) = self.harq.block(process) else { return };
        block.transmission += 1;
        block.combined += sir.ratio();
        block.received = self.reception.receives(block, &*self.rate_map);
        let counts = &mut self.terminals[terminal as usize].counts;
        counts.transmissions += 1;
        counts.failed += u64::from(!block.received);
        self.used_slots += 1;
        self.landing.push_back((start + self.air_time + BEYOND_AIR, process));
    }

    /// Shows what a slot carries.
    fn show(&mut self, core: &mut Core, slot: u64, process: usize, pdu_bits: u32) {
        let Some(block) = self.harq.block(process).filter(|_| core.is_observed()) else { return };
        let Terminal { place, queue, .. } = &self.terminals[block.terminal as usize];
        let data = block.pdus.len() as u32 * pdu_bits;
        let waits = queue.len() as u64 * u64::from(pdu_bits);
        let seen = SeenBlock {
            cell: 0,
            process: process as u8,
            number: block.tsn,
            transmission: block.transmission,
            format: block.grant.format,
            codes: block.grant.codes,
            bits: block.grant.bits,
            data,
            waiting: waits + u64::from(data),
            received: block.received,
        };
        core.observe(&Observation::Slot { place: *place, block: &seen });
        for pdu in block.pdus.iter().filter(|_| block.transmission == 1) {
            let queued = Some((waits / 8) as u32);
            let (at, step) = (begin(slot), PduStep::Aired);
            core.observe(&Observation::Pdu { at, place: *place, step, pdu: &pdu.seen(), queued });
        }
    }

    /// The next slot to be decided; the one that is waited for, if any, is no later.
    fn upcoming(&self, now: Instant) -> Option<u64> {
        let from = match self.coming.front() {
            _ if !self.waiting.is_empty() || !self.harq.is_idle() => now,
            Some((at, ..)) => *at,
            None => return None,
        };
        Some(first_decided(from).max(self.last_slot + 1))
    }

    /// For a terminal that has the whole channel.
    pub(super) fn access(&self, terminal: u32, delay: Duration) -> Access {
        let bits = self.rate_map.grant(self.quality.usual(terminal), u64::MAX, CODES).map_or(0, |grant| grant.bits);
        Access { rate: BitRate::from_bps(u64::from(bits) * 1_000_000_000 / SLOT.as_nanos()), delay, up: true }
    }

    pub(super) fn sample(&self, now: Instant, probe: &mut dyn Probe) {
        let sum = |of: fn(&Terminal) -> u64| self.terminals.iter().map(of).sum::<u64>() as f64;
        probe.value("hs_dsch_slots", (now.as_nanos() / SLOT.as_nanos()) as f64);
        probe.value("hs_dsch_used_slots", self.used_slots as f64);
        probe.value("hs_dsch_blocks", sum(|terminal| terminal.counts.blocks));
        probe.value("hs_dsch_failed_blocks", sum(|terminal| terminal.counts.failed));
        probe.value("hs_dsch_given_up_blocks", sum(|terminal| terminal.counts.given_up));
        probe.value("hs_dsch_sent_pdus", sum(|terminal| terminal.counts.pdus));
        probe.value("hs_dsch_queue_pdus", sum(|terminal| terminal.queue.len() as u64));
    }

    pub(super) fn sample_terminal(&self, terminal: u32, probe: &mut dyn Probe) {
        let Terminal { queue, reordering, counts, .. } = &self.terminals[terminal as usize];
        probe.value("hs_dsch_blocks", counts.blocks as f64);
        probe.value("hs_dsch_transmissions", counts.transmissions as f64);
        probe.value("hs_dsch_failed_blocks", counts.failed as f64);
        probe.value("hs_dsch_given_up_blocks", counts.given_up as f64);
        probe.value("hs_dsch_missed_blocks", reordering.missed as f64);
        probe.value("hs_dsch_sent_pdus", counts.pdus as f64);
        probe.value("hs_dsch_queue_pdus", queue.len() as f64);
    }
}

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
        let wishes = [hs.capacity.next_request(core.now()), hs.capacity.next_allocation()];
        let mut arm = [None; 2];
        for (which, wish) in wishes.into_iter().enumerate() {
            arm[which] = wish.filter(|at| *at < hs.armed[which]);
            hs.armed[which] = arm[which].unwrap_or(hs.armed[which]);
        }
        for (index, at) in [REQUEST, ALLOCATION].into_iter().zip(arm) {
            if let Some(at) = at {
                self.arm(core, at, key(HIGH_SPEED, index));
            }
        }
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
        let Some(hs) = self.hs_dsch.as_deref_mut().filter(|hs| hs.armed[0] == core.now()) else {
            return; // an old wake-up
        };
        hs.armed[0] = Instant::MAX;
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
        let Some(hs) = self.hs_dsch.as_deref_mut().filter(|hs| hs.armed[1] == now) else {
            return; // an old wake-up
        };
        hs.armed[1] = Instant::MAX;
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
        for place in 0..pdus {
            let arq = &mut self.terminals[terminal as usize].senders[Direction::Down.index()].arq;
            if !arq.wants_to_send() {
                break;
            }
            let Some(pdu) = arq.pull(&Slot { now, at: now, tti, pdus, place }) else { break };
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
        while let Some(hs) = self.hs_dsch.as_deref_mut()
            && let Some((_, process)) = hs.landing.pop_front_if(|(at, _)| *at <= now)
        {
            let terminals = &hs.terminals;
            let too_old = |terminal: u32, tsn: u32| terminals[terminal as usize].reordering.is_too_old(tsn);
            match hs.harq.conclude(process, too_old) {
                Conclusion::Again => {}
                Conclusion::Received(block) => {
                    let (up, terminal) = (&mut hs.up, block.terminal);
                    let reordering = &mut hs.terminals[terminal as usize].reordering;
                    reordering.accept(now, block.tsn, block.pdus, |pdus| up.push(pdus));
                    self.hand_up(core, terminal);
                }
                Conclusion::GivenUp(block) => {
                    hs.terminals[block.terminal as usize].counts.given_up += 1;
                    self.give_up(core, block);
                }
            }
        }
        if let Some((at, _)) = self.hs_dsch.as_ref().and_then(|hs| hs.landing.front()) {
            self.arm(core, *at, key(HIGH_SPEED, ARRIVAL));
        }
    }

    fn give_up(&mut self, core: &mut Core, mut block: Block) {
        self.terminals[block.terminal as usize].lost[Direction::Down.index()] += block.pdus.len() as u64;
        for pdu in block.pdus.drain(..) {
            self.observe(core, core.now(), PduStep::Lost, block.terminal, Direction::Down, &pdu, None);
        }
        if let Some(hs) = &mut self.hs_dsch {
            hs.spare.push(block.pdus);
        }
    }

    /// PDUs of a terminal are in order, and go to its RLC.
    fn hand_up(&mut self, core: &mut Core, terminal: u32) {
        let mut blocks = self.hs_dsch.as_mut().map_or_else(Vec::new, |hs| std::mem::take(&mut hs.up));
        for block in &mut blocks {
            for pdu in block.drain(..) {
                self.receive(core, terminal, Direction::Down, &pdu);
            }
        }
        if let Some(hs) = &mut self.hs_dsch {
            hs.spare.append(&mut blocks);
            hs.up = blocks;
        }
        self.arm_t1(core, terminal);
    }

    fn arm_t1(&mut self, core: &mut Core, terminal: u32) {
        let Some(hs) = &mut self.hs_dsch else { return };
        let Terminal { reordering, armed, .. } = &mut hs.terminals[terminal as usize];
        if let Some(at) = reordering.next_timeout().filter(|at| *at < *armed) {
            *armed = at;
            self.arm(core, at, key(HIGH_SPEED, T1 + terminal));
        }
    }

    fn wake_t1(&mut self, core: &mut Core, terminal: u32) {
        let now = core.now();
        let Some(hs) = &mut self.hs_dsch else { return };
        let Terminal { reordering, armed, .. } = &mut hs.terminals[terminal as usize];
        if *armed != now {
            return; // an old wake-up
        }
        *armed = Instant::MAX;
        let up = &mut hs.up;
        reordering.on_timeout(now, |pdus| up.push(pdus));
        self.hand_up(core, terminal);
    }
}

/// When a slot begins.
fn begin(slot: u64) -> Instant {
    Instant::ZERO + SLOT * slot
}

/// When it is decided what a slot carries.
fn decision(slot: u64) -> Instant {
    Instant::from_nanos(begin(slot).as_nanos() - LEAD.as_nanos())
}

/// The first slot on which it is decided at `at` or later.
fn first_decided(at: Instant) -> u64 {
    (at + LEAD).as_nanos().div_ceil(SLOT.as_nanos()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_decided_before_a_slot_begins() {
        let us = |us: u64| Instant::ZERO + Duration::from_micros(us);
        for (at, slot) in [(0, 1), (1_800, 1), (1_801, 2), (3_800, 2), (1_080_001, 541), (1_081_800, 541)] {
            assert_eq!(first_decided(us(at)), slot, "at {at} us");
            assert!(decision(slot) >= us(at));
        }
        assert_eq!((decision(541), begin(541)), (us(1_081_800), us(1_082_000)));
    }
}
