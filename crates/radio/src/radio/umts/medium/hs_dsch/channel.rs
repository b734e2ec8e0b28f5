//! The Node B of a high-speed downlink shared channel, and the MAC of its terminals: the blocks of slots, and those under way.

use std::collections::VecDeque;

use crate::radio::channel_state::ChannelState;
use crate::radio::quality::State;
use crate::radio::rate_map::cqi::SLOT;
use crate::radio::rate_map::{Grant, RateMap};
use crate::radio::rlc::Pdu;
use crate::radio::scheduler::{Candidate, Scheduler, Watch};
use crate::radio::umts::hs_dsch::HEADER_BITS;
use crate::radio::umts::hs_dsch::capacity::Capacity;
use crate::radio::umts::hs_dsch::harq::{Block, Harq};
use crate::radio::umts::hs_dsch::queue::Queue;
use crate::radio::umts::hs_dsch::reception::Reception;
use crate::radio::umts::hs_dsch::reordering::Reordering;
use crate::radio::umts::hs_dsch::setup::Setup;
use lasthop_net::engine::{BitRate, Decibel, Duration, Instant, Stream};
use lasthop_net::net::medium::Access;
use lasthop_net::net::observe::{PduStep, Place, Probe};
use lasthop_net::net::{Change, Core, Observation, SeenBlock};

/// How long before a slot it is decided what it carries (EURANE).
const LEAD: Duration = Duration::from_micros(200);
/// From the end of a block until it is at the terminal's MAC (EURANE).
pub const BEYOND_AIR: Duration = Duration::from_micros(5);
/// How many PDUs a block carries at most (TS 25.321 §9.2.2, N).
const MOST_PDUS: u32 = 70;
/// The most codes that a shared channel has (TS 25.211 §5.3.3.13). A category asks for no more than it can receive.
const CODES: u8 = 15;

/// The channel.
pub struct HsDsch {
    air: ChannelState,
    pub(super) rate_map: Box<dyn RateMap>,
    pub(super) scheduler: Box<dyn Scheduler>,
    pub(super) reception: Box<dyn Reception>,
    pub(super) harq: Harq,
    pub(super) capacity: Capacity,
    pub(super) air_time: Duration,
    /// Slots between the beginnings of two blocks to a terminal.
    pub(super) interval: u64,
    pub(super) terminals: Vec<Terminal>,
    /// The terminals with data waiting at the Node B, in order.
    pub(super) waiting: Vec<u32>,
    /// Those among them that may be chosen; empty between events.
    pub(super) candidates: Vec<Candidate>,
    /// Under way to the Node B, in order.
    pub(super) coming: VecDeque<(Instant, u32, Pdu)>,
    /// Processes whose blocks are on the air, in order.
    pub(super) landing: VecDeque<(Instant, usize)>,
    /// The valid wake-ups for requests and allocations.
    pub(super) armed: [Instant; 2],
    /// The slot that is waited for, and the one that was decided last.
    pub(super) next_slot: Option<u64>,
    pub(super) last_slot: u64,
    pub(super) watch: Watch,
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
    /// The valid wake-up of T1.
    pub(super) armed: Instant,
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
    pub fn new(core: &Core, places: &[[Place; 2]], setup: Setup) -> Self {
        let terminal = |[down, _]: &[Place; 2]| Terminal {
            place: *down,
            queue: Queue::default(),
            reordering: Reordering::new(setup.window, setup.t1),
            armed: Instant::MAX,
            draws: core.stream(core.place_name(*down), "blocks"),
            counts: Counts::default(),
        };
        Self {
            terminals: places.iter().map(terminal).collect(),
            air: ChannelState::new(setup.quality, places.len()),
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

    /// The air to a terminal changes.
    pub fn change(&mut self, now: Instant, terminal: u32, change: &mut Change) {
        self.air.change(now, terminal, change);
    }

    /// The format of a block at this ratio, and how many PDUs of `pdu_bits` bits fit into it.
    fn format(&self, sir: Decibel, pdu_bits: u32) -> Option<(Grant, u32)> {
        let grant = self.rate_map.grant(sir, u64::MAX, CODES)?;
        let pdus = (grant.bits.saturating_sub(HEADER_BITS) / pdu_bits).min(MOST_PDUS);
        (pdus > 0).then_some((grant, pdus))
    }

    /// PDUs that have come to the Node B by now wait there.
    pub fn take_arrivals(&mut self, now: Instant) {
        while let Some((at, terminal, pdu)) = self.coming.pop_front_if(|(at, ..)| *at <= now) {
            self.terminals[terminal as usize].queue.push(at, pdu);
            if let Err(place) = self.waiting.binary_search(&terminal) {
                self.waiting.insert(place, terminal);
            }
        }
    }

    /// Tells the scheduler, if it wants to know, how good the air was up to this slot, as decisions would have taken it.
    pub fn tell_scheduler(&mut self, slot: u64) {
        let Self { watch, scheduler, air, terminals, .. } = self;
        watch.tell(&mut **scheduler, slot, 0..terminals.len() as u32, |terminal, slot| {
            let State { sir, valid_until } = air.at(terminal, decision(slot));
            (sir, if valid_until == Instant::MAX { u64::MAX } else { first_decided(valid_until) - 1 })
        });
    }

    /// Whose block a slot carries, its format, and how many PDUs fit into it.
    fn choose(&mut self, now: Instant, slot: u64, pdu_bits: u32) -> Option<(u32, Grant, u32)> {
        self.candidates.clear();
        for place in 0..self.waiting.len() {
            let terminal = self.waiting[place];
            let sir = self.air.at(terminal, now).sir;
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
    pub fn start(&mut self, now: Instant, slot: u64, process: usize, pdu_bits: u32) {
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
    pub fn send(&mut self, slot: u64, process: usize) {
        let Some(terminal) = self.harq.block(process).map(|block| block.terminal) else { return };
        let start = begin(slot);
        let sir = self.air.at(terminal, start).sir;
        let Some(block) = self.harq.block(process) else { return };
        block.transmission += 1;
        block.combined += sir.ratio();
        let comes = self.reception.receives(block, &*self.rate_map);
        block.received = comes && !self.air.loses(terminal, start);
        let counts = &mut self.terminals[terminal as usize].counts;
        counts.transmissions += 1;
        counts.failed += u64::from(!block.received);
        self.used_slots += 1;
        self.landing.push_back((start + self.air_time + BEYOND_AIR, process));
    }

    /// Shows what a slot carries.
    pub fn show(&mut self, core: &mut Core, slot: u64, process: usize, pdu_bits: u32) {
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
    pub fn upcoming(&self, now: Instant) -> Option<u64> {
        let from = match self.coming.front() {
            _ if !self.waiting.is_empty() || !self.harq.is_idle() => now,
            Some((at, ..)) => *at,
            None => return None,
        };
        Some(first_decided(from).max(self.last_slot + 1))
    }

    /// For a terminal that has the whole channel.
    pub fn access(&self, terminal: u32, delay: Duration) -> Access {
        let bits = self.rate_map.grant(self.air.usual(terminal), u64::MAX, CODES).map_or(0, |grant| grant.bits);
        Access { rate: BitRate::from_bps(u64::from(bits) * 1_000_000_000 / SLOT.as_nanos()), delay, up: true }
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
