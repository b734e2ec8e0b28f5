//! The Node B of a high-speed downlink shared channel, and the MAC of its terminals: the blocks of slots, and those under way.

use std::collections::VecDeque;

use crate::radio::alarm::Alarm;
use crate::radio::channel_state::ChannelState;
use crate::radio::rate_map::{Grant, RateMap};
use crate::radio::rlc::Pdu;
use crate::radio::scheduler::Candidate;
use crate::radio::shared_channel::harq::{Attempts, Block, Harq};
use crate::radio::shared_channel::reception::Reception;
use crate::radio::shared_channel::{Room, SLOT, SharedChannel, usual_rate};
use crate::radio::umts::hs_dsch::capacity::Capacity;
use crate::radio::umts::hs_dsch::pdus_of;
use crate::radio::umts::hs_dsch::queue::Queue;
use crate::radio::umts::hs_dsch::reordering::Reordering;
use crate::radio::umts::hs_dsch::setup::Setup;
use lasthop_net::engine::{Decibel, Duration, FloatTime, Instant, Stream, Target};
use lasthop_net::net::medium::Access;
use lasthop_net::net::observe::{PduStep, Place, Probe};
use lasthop_net::net::{Change, Core, Observation, SeenBlock};

use super::{ALLOCATION, HIGH_SPEED, REQUEST, T1, key};

/// How long before a slot it is decided what it carries (EURANE).
const LEAD: Duration = Duration::from_micros(200);
/// From the end of a block until it is at the terminal's MAC (EURANE).
pub const BEYOND_AIR: Duration = Duration::from_micros(5);
/// The most codes that a shared channel has (TS 25.211 §5.3.3.13). A category asks for no more than it can receive.
const CODES: u8 = 15;

/// The channel.
pub struct HsDsch {
    air: ChannelState,
    pub(super) rate_map: Box<dyn RateMap>,
    pub(super) reception: Box<dyn Reception>,
    pub(super) shared: SharedChannel,
    pub(super) harq: Harq<Vec<Pdu>>,
    pub(super) capacity: Capacity,
    pub(super) air_time: Duration,
    /// Slots between the beginnings of two blocks to a terminal.
    pub(super) interval: u64,
    pub(super) terminals: Vec<Terminal>,
    /// Under way to the Node B, in order.
    pub(super) coming: VecDeque<(Instant, u32, Pdu)>,
    /// Processes whose blocks are on the air, in order.
    pub(super) landing: VecDeque<(Instant, usize)>,
    pub(super) request_alarm: Alarm,
    pub(super) allocation_alarm: Alarm,
    /// The slot that is waited for, and the one that was decided last.
    pub(super) next_slot: Option<u64>,
    pub(super) last_slot: u64,
    /// PDUs that reordering hands up; empty between events.
    pub(super) up: Vec<Vec<Pdu>>,
    /// Lists without PDUs, to be used again.
    pub(super) spare: Vec<Vec<Pdu>>,
    pub(super) used_slots: u64,
}

/// What the channel knows of a terminal.
pub(super) struct Terminal {
    pub(super) place: Place,
    pub(super) queue: Queue,
    pub(super) reordering: Reordering<Vec<Pdu>>,
    pub(super) t1_alarm: Alarm,
    /// When T1 expires, and that by ns-2's clock if it is followed.
    pub(super) t1: Option<(Instant, FloatTime)>,
    pub(super) draws: Stream,
    pub(super) counts: Counts,
}

/// Counts of the blocks sent to a terminal.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) blocks: u64,
    pub(super) transmissions: u64,
    pub(super) failed: u64,
    pub(super) given_up: u64,
    pub(super) pdus: u64,
}

impl HsDsch {
    /// A channel for terminals whose bearers are these.
    pub fn new(core: &Core, component: u32, places: &[[Place; 2]], setup: Setup) -> Self {
        let alarm = |index| Alarm::new(Target { component, key: key(HIGH_SPEED, index) });
        let terminal = |(number, [down, _]): (u32, &[Place; 2])| Terminal {
            place: *down,
            queue: Queue::default(),
            reordering: Reordering::new(setup.window, setup.t1),
            t1_alarm: alarm(T1 + number),
            t1: None,
            draws: core.stream(core.place_name(*down), "blocks"),
            counts: Counts::default(),
        };
        Self {
            terminals: (0..).zip(places).map(terminal).collect(),
            air: ChannelState::new(setup.quality, places.len()),
            rate_map: setup.rate_map,
            shared: SharedChannel::new(setup.scheduler, 1),
            reception: setup.reception,
            harq: Harq::new(setup.processes.into(), setup.transmissions),
            capacity: Capacity::new(setup.capacity, places.len()),
            air_time: setup.air_time,
            interval: setup.interval,
            coming: VecDeque::new(),
            landing: VecDeque::new(),
            request_alarm: alarm(REQUEST),
            allocation_alarm: alarm(ALLOCATION),
            next_slot: None,
            last_slot: 0,
            up: Vec::new(),
            spare: Vec::new(),
            used_slots: 0,
        }
    }

    /// The air to a terminal changes.
    pub fn change(&mut self, now: Instant, terminal: u32, change: &mut Change) {
        self.air.change(now, terminal, change);
    }

    /// PDUs that have come to the Node B by now wait there.
    pub fn take_arrivals(&mut self, now: Instant) {
        while let Some((at, terminal, pdu)) = self.coming.pop_front_if(|(at, ..)| *at <= now) {
            self.terminals[terminal as usize].queue.push(at, pdu);
            self.shared.join(terminal);
        }
    }

    /// Tells the scheduler, if it wants to know, how good the air was up to this slot, as decisions would have taken it.
    pub fn tell_scheduler(&mut self, slot: u64) {
        let last = |until: Instant| if until == Instant::MAX { u64::MAX } else { first_decided(until) - 1 };
        self.shared.watch(slot, 0..self.terminals.len() as u32, &mut self.air, decision, last);
    }

    /// A new block for a process that is free, if there is one to send.
    pub fn start(&mut self, now: Instant, slot: u64, process: usize, pdu_bits: u32) {
        let Self { shared, air, rate_map, terminals, harq, .. } = self;
        // The terminal has received none too short a time ago, and none is to be sent again to it too soon.
        let soon = slot + 1..slot + self.interval;
        let receives = |queue: &Queue, terminal| queue.next_slot <= slot && !harq.has_turn(terminal, soon.clone());
        shared.gather(|terminal| {
            let sir = air.at(terminal, now).sir;
            let queue = &terminals[terminal as usize].queue;
            let (_, pdus) = format(&**rate_map, sir, pdu_bits).filter(|_| receives(queue, terminal))?;
            Some(Candidate { terminal, sir, bits: pdus * pdu_bits, since: queue.since })
        });
        let mut chosen = None;
        let room = Room { resources: CODES, users: 1 };
        shared.serve(
            slot,
            room,
            |_, _| CODES,
            |candidate, _| {
                let (grant, pdus) = format(&**rate_map, candidate.sir, pdu_bits)?;
                chosen = Some((candidate.terminal, candidate.sir, grant, pdus));
                let waiting = terminals[candidate.terminal as usize].queue.len() as u32;
                Some((grant, pdus.min(waiting) * pdu_bits))
            },
        );
        let Some((terminal, sir, grant, most)) = chosen else { return };
        let Terminal { queue, draws, counts, .. } = &mut terminals[terminal as usize];
        let mut data = self.spare.pop().unwrap_or_default();
        let number = queue.fill(now, most as usize, &mut data);
        if queue.is_empty() {
            shared.leave(terminal);
        }
        counts.blocks += 1;
        counts.pdus += data.len() as u64;
        let attempts = Attempts::new(grant, sir, draws.unit());
        self.harq.start(process, Block { terminal, number, data, attempts, received: false });
    }

    /// Sends the block of a process in a slot.
    pub fn send(&mut self, slot: u64, process: usize) {
        let Some(terminal) = self.harq.block(process).map(|block| block.terminal) else { return };
        let start = begin(slot);
        let sir = self.air.at(terminal, start).sir;
        let Some(block) = self.harq.block(process) else { return };
        block.attempts.transmission += 1;
        let comes = self.reception.receives(&mut block.attempts, sir, &*self.rate_map);
        block.received = comes && !self.air.loses(terminal, start);
        let Terminal { queue, counts, .. } = &mut self.terminals[terminal as usize];
        queue.next_slot = slot + self.interval;
        counts.transmissions += 1;
        counts.failed += u64::from(!block.received);
        self.used_slots += 1;
        self.landing.push_back((start + self.air_time + BEYOND_AIR, process));
    }

    /// Shows what a slot carries.
    pub fn show(&mut self, core: &mut Core, slot: u64, process: usize, pdu_bits: u32) {
        let Some(block) = self.harq.block(process).filter(|_| core.is_observed()) else { return };
        let Terminal { place, queue, .. } = &self.terminals[block.terminal as usize];
        let data = block.data.len() as u32 * pdu_bits;
        let waits = queue.len() as u64 * u64::from(pdu_bits);
        let seen = SeenBlock {
            cell: 0,
            process: process as u8,
            number: block.number,
            transmission: block.attempts.transmission,
            format: block.attempts.grant.format,
            codes: block.attempts.grant.resources,
            bits: block.attempts.grant.bits,
            data,
            waiting: waits + u64::from(data),
            received: block.received,
        };
        core.observe(&Observation::Slot { place: *place, block: &seen });
        for pdu in block.data.iter().filter(|_| block.attempts.transmission == 1) {
            let queued = Some((waits / 8) as u32);
            let (at, step) = (begin(slot), PduStep::Aired);
            core.observe(&Observation::Pdu { at, place: *place, step, pdu: &pdu.seen(), queued });
        }
    }

    /// The next slot to be decided; the one that is waited for, if any, is no later.
    pub fn upcoming(&self, now: Instant) -> Option<u64> {
        let from = match self.coming.front() {
            _ if self.shared.waiting() > 0 || !self.harq.is_idle() => now,
            Some((at, ..)) => *at,
            None => return None,
        };
        Some(first_decided(from).max(self.last_slot + 1))
    }

    /// For a terminal that has the whole channel.
    pub fn access(&self, terminal: u32, delay: Duration) -> Access {
        let rate = usual_rate(&*self.rate_map, &self.air, terminal, CODES);
        Access { rate, delay, up: true }
    }

    pub fn sample(&self, now: Instant, probe: &mut dyn Probe) {
        let sum = |of: fn(&Terminal) -> u64| self.terminals.iter().map(of).sum::<u64>() as f64;
        probe.value("hs_dsch_slots", (now.as_nanos() / SLOT.as_nanos()) as f64);
        probe.value("hs_dsch_used_slots", self.used_slots as f64);
        probe.value("hs_dsch_blocks", sum(|terminal| terminal.counts.blocks));
        probe.value("hs_dsch_failed_blocks", sum(|terminal| terminal.counts.failed));
        probe.value("hs_dsch_given_up_blocks", sum(|terminal| terminal.counts.given_up));
        probe.value("hs_dsch_sent_pdus", sum(|terminal| terminal.counts.pdus));
        probe.value("hs_dsch_queue_pdus", sum(|terminal| terminal.queue.len() as u64));
    }

    pub fn sample_terminal(&self, terminal: u32, probe: &mut dyn Probe) {
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

/// The format of a block at this ratio, and how many PDUs of `pdu_bits` bits fit into it.
fn format(map: &dyn RateMap, sir: Decibel, pdu_bits: u32) -> Option<(Grant, u32)> {
    let grant = map.grant(sir, u64::MAX, CODES)?;
    let pdus = pdus_of(grant.bits, pdu_bits);
    (pdus > 0).then_some((grant, pdus))
}

/// When a slot begins.
fn begin(slot: u64) -> Instant {
    Instant::ZERO + SLOT * slot
}

/// When it is decided what a slot carries.
pub fn decision(slot: u64) -> Instant {
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
