//! The medium: slot by slot, the queues at the base stations are sent to the mobiles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::alarm::Alarm;
use crate::radio::channel_state::ChannelState;
use crate::radio::delay_line::DelayLine;
use crate::radio::quality::Quality;
use crate::radio::rate_map::RateMap;
use crate::radio::scheduler::{Candidate, Scheduler};
use crate::radio::shared_channel::harq::{Attempts, Block, Conclusion, Harq};
use crate::radio::shared_channel::{Room, SLOT, usual_rate};
use lasthop_net::engine::{Decibel, Duration, Instant, Stream, Target};
use lasthop_net::net::copies;
use lasthop_net::net::discipline::QueueDiscipline;
use lasthop_net::net::medium::{Access, Change, Edge, End, Medium, Peer};
use lasthop_net::net::observe::{Cause, Place, Probe, What};
use lasthop_net::net::{Core, Observation, Pkt, SeenBlock};

use super::buffer::Buffer;
use super::cell::Cell;
use super::spikes::Spikes;

/// How the codes of a slot are shared by the terminals served in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// The first terminal in the scheduler's order gets the codes that it needs, the next one of the rest.
    #[default]
    Need,
    /// All terminals that can be served in the slot get at most the same number.
    Equal,
}

/// What a medium is made of.
pub struct Setup {
    /// Its name.
    pub name: String,
    /// How good the air is.
    pub air: Box<dyn Quality>,
    /// What that buys.
    pub rate_map: Box<dyn RateMap>,
    /// The scheduler of each cell.
    pub schedulers: Vec<Box<dyn Scheduler>>,
    /// How many codes the shared channel has.
    pub codes: u8,
    /// How many mobiles are served in a slot, at most.
    pub users: u8,
    /// How they share the codes.
    pub split: Split,
    /// How often a block is sent, at most.
    pub attempts: Option<u32>,
    /// The delay of packets up.
    pub uplink_delay: Duration,
    /// The mobiles.
    pub terminals: Vec<Terminal>,
}

/// What a mobile's part of the medium is made of.
pub struct Terminal {
    /// The cell that serves it.
    pub cell: u32,
    /// Where its packets end that are dropped, on their way down and up.
    pub places: [Place; 2],
    /// The queue discipline.
    pub queue: Box<dyn QueueDiscipline>,
    /// Says which of its blocks are in error.
    pub errors: Stream,
}

/// Cells of HSDPA. The first peer is the wired side, the others are the mobiles.
pub struct Hsdpa {
    name: String,
    component: u32,
    wired: End,
    air: ChannelState,
    rate_map: Box<dyn RateMap>,
    /// Slots between the beginnings of two blocks to a mobile.
    interval: u64,
    cells: Vec<Cell>,
    mobiles: Vec<Mobile>,
    codes: u8,
    users: u8,
    split: Split,
    /// A process for each mobile, with the bytes of its block.
    harq: Harq<u32>,
    /// Packets on their way up.
    uplink: DelayLine,
    /// The slot that is waited for, and the one that was looked at last.
    next_slot: Option<u64>,
    last_slot: Option<u64>,
    /// The terminals that are sent to in the present slot; the blocks come when it ends.
    sent: Vec<u32>,
    /// Those of a cell whose blocks are to be sent again, with when they were sent last; empty between slots.
    again: Vec<(Instant, u32)>,
    /// Whether each cell sends in the present slot.
    sending: Vec<bool>,
}

/// A mobile.
struct Mobile {
    end: End,
    cell: u32,
    place: Place,
    /// Where what it sends is dropped.
    up: Place,
    buffer: Buffer,
    errors: Stream,
    /// How many blocks it was sent, each counted once however often it was sent.
    begun: u32,
    /// What a slot of its own would carry, in bits, at the ratio of signal to interference for which that was asked last.
    whole_slot: Option<(Decibel, u32)>,
    /// When it was served last, or something began to wait.
    since: Instant,
    /// The first slot in which it can receive another block.
    next_slot: u64,
    /// Wakes its queue.
    alarm: Alarm,
    spikes: Spikes,
    counts: Counts,
}

impl Mobile {
    /// Counts the packets that its queue dropped when it was asked for the next one.
    fn count_dropped(&mut self, core: &Core) {
        let dropped = self.buffer.take_dropped();
        if dropped > 0 {
            let now = core.now();
            let oldest = self.buffer.oldest(core).map(|came| now.since(came));
            self.spikes.on_dropped(dropped, self.spikes.lasts(now, oldest));
        }
    }
}

/// The counts of a mobile.
#[derive(Clone, Copy, Default)]
struct Counts {
    packets: u64,
    bytes: u64,
    slots: u64,
    blocks: u64,
    failed: u64,
}

/// What a wake-up is for, in the two lowest bits of its key.
const SLOT_BEGINS: u32 = 0;
const UPLINK: u32 = 1;
const QUEUE: u32 = 2;

impl Hsdpa {
    /// Cells whose wake-ups come to `component`; `ends` are the wired side and the mobiles.
    pub fn new(component: u32, ends: &[End], setup: Setup) -> Self {
        let mut cells: Vec<Cell> = setup.schedulers.into_iter().map(Cell::new).collect();
        let mobile = |(number, (terminal, end)): (u32, (Terminal, &End))| {
            cells[terminal.cell as usize].mobiles += 1;
            Mobile {
                end: *end,
                cell: terminal.cell,
                place: terminal.places[0],
                up: terminal.places[1],
                buffer: Buffer::new(terminal.queue),
                errors: terminal.errors,
                begun: 0,
                whole_slot: None,
                since: Instant::ZERO,
                next_slot: 0,
                alarm: Alarm::new(Target { component, key: number << 2 | QUEUE }),
                spikes: Spikes::default(),
                counts: Counts::default(),
            }
        };
        let mobiles: Vec<Mobile> = (0..).zip(setup.terminals.into_iter().zip(&ends[1..])).map(mobile).collect();
        Self {
            name: setup.name,
            component,
            wired: ends[0],
            air: ChannelState::new(setup.air, mobiles.len()),
            interval: setup.rate_map.interval(),
            rate_map: setup.rate_map,
            sending: vec![false; cells.len()],
            cells,
            harq: Harq::new(mobiles.len(), setup.attempts.unwrap_or(u32::MAX)),
            mobiles,
            codes: setup.codes,
            users: setup.users,
            split: setup.split,
            uplink: DelayLine::new(setup.uplink_delay, Target { component, key: UPLINK }),
            next_slot: None,
            last_slot: None,
            sent: Vec::new(),
            again: Vec::new(),
        }
    }

    fn arm(&self, core: &mut Core, at: Instant, key: u32) {
        let since = core.now();
        core.arm(Target { component: self.component, key }, at, since);
    }

    /// Wakes the medium at the next slot, if it does not wait for one.
    fn await_slot(&mut self, core: &mut Core) {
        if self.next_slot.is_some() {
            return;
        }
        let begun = core.now().as_nanos().div_ceil(SLOT.as_nanos());
        let slot = self.last_slot.map_or(begun, |last| begun.max(last + 1));
        self.next_slot = Some(slot);
        self.arm(core, Instant::ZERO + SLOT * slot, SLOT_BEGINS);
    }

    /// A packet for a mobile has come to its base station.
    fn enqueue(&mut self, core: &mut Core, number: u32, pkt: Pkt) {
        let now = core.now();
        let mobile = &mut self.mobiles[number as usize];
        let oldest = mobile.buffer.oldest(core).map(|came| now.since(came));
        let within = mobile.spikes.lasts(now, oldest);
        mobile.spikes.on_offered(within);
        mobile.buffer.accept(core, pkt);
        mobile.spikes.on_dropped(mobile.buffer.take_dropped(), within);
        if oldest.is_none() {
            mobile.since = now;
        }
        self.consider(core, number);
    }

    /// Wakes a mobile's queue when that wishes.
    fn arm_queue(&mut self, core: &mut Core, number: u32) {
        let Mobile { buffer, alarm, .. } = &mut self.mobiles[number as usize];
        alarm.set(core, buffer.queue().next_timeout());
    }

    /// Lets a mobile take part in slots if something waits for it.
    fn consider(&mut self, core: &mut Core, number: u32) {
        self.arm_queue(core, number);
        let mobile = &self.mobiles[number as usize];
        if mobile.buffer.waiting() > 0 {
            self.cells[mobile.cell as usize].shared.join(number);
            self.await_slot(core);
        }
    }

    fn wake_queue(&mut self, core: &mut Core, number: u32) {
        let now = core.now();
        let mobile = &mut self.mobiles[number as usize];
        if !mobile.alarm.rings(core) {
            return;
        }
        if mobile.buffer.queue().next_timeout().is_some_and(|at| at <= now) {
            mobile.buffer.queue().on_timeout(now);
        }
        mobile.buffer.take_first(core);
        mobile.count_dropped(core);
        self.consider(core, number);
    }

    fn wake_uplink(&mut self, core: &mut Core) {
        while let Some((number, pkt)) = self.uplink.take(core) {
            let queue = self.mobiles[number as usize].buffer.queue();
            queue.on_return(core.now(), core.packet_mut(&pkt));
            core.arrive(self.wired.node, self.wired.port, pkt);
        }
    }

    fn wake_slot(&mut self, core: &mut Core) {
        let Some(slot) = self.next_slot.take() else { return };
        self.end_slot(core);
        if self.cells.iter().all(|cell| cell.shared.waiting() == 0) {
            return;
        }
        if self.last_slot.is_none_or(|last| last + 1 < slot) {
            // In the slot before no cell sent.
            self.sending.fill(false);
            self.air.on_slot(&self.sending);
        }
        self.last_slot = Some(slot);
        for cell in 0..self.cells.len() {
            self.schedule(core, slot, cell);
        }
        self.air.on_slot(&self.sending);
        self.send(core, slot);
        self.await_slot(core);
    }

    /// Blocks have come, or not.
    fn end_slot(&mut self, core: &mut Core) {
        let mut sent = std::mem::take(&mut self.sent);
        for number in sent.drain(..) {
            let mobile = &mut self.mobiles[number as usize];
            let cell = &mut self.cells[mobile.cell as usize];
            match self.harq.conclude(number as usize, |_, _| false) {
                Conclusion::Again => {}
                Conclusion::Received(block) => {
                    cell.counts.bytes += u64::from(block.data);
                    let (end, counts, spikes, now) = (mobile.end, &mut mobile.counts, &mut mobile.spikes, core.now());
                    mobile.buffer.on_received(core, block.data, |core, pkt| {
                        counts.packets += 1;
                        counts.bytes += u64::from(core.packet(&pkt).size);
                        spikes.on_delivered(now, now.since(core.queued_at(&pkt)));
                        core.arrive(end.node, end.port, pkt);
                    });
                }
                Conclusion::GivenUp(block) => {
                    let (end, place) = (mobile.end, mobile.place);
                    mobile.buffer.on_given_up(core, block.data, |core, pkt| match core.packet(&pkt).is_exempt() {
                        true => core.arrive(end.node, end.port, pkt),
                        false => core.drop(pkt, place, Cause::Radio),
                    });
                }
            }
            mobile.count_dropped(core);
            if mobile.buffer.waiting() == 0 {
                cell.shared.leave(number);
            }
            self.arm_queue(core, number);
        }
        self.sent = sent;
    }

    /// Gives the slot of a cell to mobiles.
    fn schedule(&mut self, core: &mut Core, slot: u64, number: usize) {
        let now = core.now();
        let Self { cells, mobiles, air, rate_map, harq, sent, again, split, .. } = self;
        let (cell, codes) = (&mut cells[number], self.codes);
        let before = sent.len();
        self.sending[number] = false;
        if cell.shared.waiting() == 0 {
            return;
        }
        let of_cell = (0..).zip(&*mobiles).filter(|(_, m)| m.cell as usize == number).map(|(n, _)| n);
        let last = |until: Instant| until.as_nanos().saturating_sub(1) / SLOT.as_nanos();
        cell.shared.watch(slot, of_cell, air, |slot| Instant::ZERO + SLOT * slot, last);
        cell.count_receivers();
        cell.shared.gather(|terminal| {
            if !air.covers(terminal) {
                return None;
            }
            let mobile = &mut mobiles[terminal as usize];
            if slot < mobile.next_slot {
                return None;
            }
            if harq.block(terminal as usize).is_some() {
                again.push((mobile.since, terminal));
                return None;
            }
            let sir = air.at(terminal, now).sir;
            let bits = match mobile.whole_slot {
                Some((of, bits)) if of == sir => bits,
                _ => rate_map.grant(sir, u64::MAX, codes).map_or(0, |grant| grant.bits),
            };
            mobile.whole_slot = Some((sir, bits));
            Some(Candidate { terminal, sir, bits, since: mobile.since })
        });
        // Blocks in error are sent first, the one that has waited longest before the others. All fit if they were sent in the slot
        // before. After an outage, or sent in several slots by terminals that do not receive in each, they may not, and the rest waits.
        let mut room = Room { resources: codes, users: self.users };
        if again.len() > 1 {
            again.sort_by_key(|(since, _)| *since);
        }
        for &(_, terminal) in &*again {
            if let Some(block) = harq.block(terminal as usize)
                && room.fits(block.attempts.grant)
            {
                room.take(block.attempts.grant);
                sent.push(terminal);
            }
        }
        again.clear();
        let share = |room: Room, present: usize| match split {
            Split::Need => codes,
            Split::Equal => (room.resources / room.users.min(u8::try_from(present).unwrap_or(u8::MAX)).max(1)).max(1),
        };
        cell.shared.serve(slot, room, share, |&Candidate { terminal, sir, .. }, codes| {
            let mobile = &mut mobiles[terminal as usize];
            let grant = rate_map.grant(sir, 8 * mobile.buffer.waiting(), codes)?;
            let data = mobile.buffer.fill(core, grant.bits / 8);
            mobile.count_dropped(core);
            mobile.begun += 1;
            let (number, attempts) = (mobile.begun, Attempts::new(grant, sir, 0.0));
            harq.start(terminal as usize, Block { terminal, number, data, attempts, received: false });
            sent.push(terminal);
            Some((grant, grant.bits))
        });
        // Something may wait and nothing be sent: without coverage, or where no format is low enough.
        self.sending[number] = sent.len() > before;
        cell.counts.used += u64::from(self.sending[number]);
    }

    /// Sends the blocks of the slot: which of them will come depends on the cells that send in it.
    fn send(&mut self, core: &mut Core, slot: u64) {
        let now = core.now();
        for &number in &self.sent {
            let mobile = &mut self.mobiles[number as usize];
            let Some(block) = self.harq.block(number as usize) else { continue };
            let (sir, Attempts { grant, .. }) = (self.air.at(number, now).sir, block.attempts);
            block.attempts.transmission += 1;
            let comes = !mobile.errors.chance(self.rate_map.error(grant.format, sir));
            block.received = comes && !self.air.loses(number, now);
            mobile.since = now;
            mobile.next_slot = slot + self.interval;
            mobile.counts.slots += 1;
            mobile.counts.blocks += 1;
            mobile.counts.failed += u64::from(!block.received);
            let counts = &mut self.cells[mobile.cell as usize].counts;
            counts.blocks += 1;
            counts.failed += u64::from(!block.received);
            counts.codes += u64::from(grant.resources);
            if core.is_observed() {
                let seen = SeenBlock {
                    cell: mobile.cell,
                    process: 0,
                    number: block.number,
                    transmission: block.attempts.transmission,
                    format: grant.format,
                    codes: grant.resources,
                    bits: grant.bits,
                    data: 8 * block.data,
                    waiting: 8 * mobile.buffer.waiting(),
                    received: block.received,
                };
                core.observe(&Observation::Slot { place: mobile.place, block: &seen });
            }
        }
    }
}

impl Medium for Hsdpa {
    fn accept(&mut self, core: &mut Core, from: Peer, to: &[Peer], packet: Pkt) {
        if let Some(number) = from.0.checked_sub(1) {
            if self.air.covers(number) || core.packet(&packet).is_exempt() {
                return self.uplink.send(core, number, packet);
            }
            return core.drop(packet, self.mobiles[number as usize].up, Cause::Radio);
        }
        copies::each(core, packet, to, |core, peer, pkt| self.enqueue(core, peer.0 - 1, pkt));
    }

    fn wake(&mut self, core: &mut Core, key: u32) {
        match key & 3 {
            SLOT_BEGINS => self.wake_slot(core),
            UPLINK => self.wake_uplink(core),
            _ => self.wake_queue(core, key >> 2),
        }
    }

    fn change(&mut self, core: &mut Core, change: &mut Change) {
        let Some(number) = change.peer.0.checked_sub(1) else { return };
        self.air.change(core.now(), number, change);
    }

    fn access(&self, peer: Peer) -> Access {
        let delay = if peer.0 == 0 { self.uplink.delay() } else { SLOT };
        let number = peer.0.saturating_sub(1);
        Access { rate: usual_rate(&*self.rate_map, &self.air, number, self.codes), delay, up: true }
    }

    fn edges(&self, _now: Instant) -> Vec<Edge> {
        let wired = Peer(0);
        let both = |number: u32| {
            let mobile = Peer(number + 1);
            [
                Edge { from: wired, to: mobile, delay: SLOT },
                Edge { from: mobile, to: wired, delay: self.uplink.delay() },
            ]
        };
        (0..self.mobiles.len() as u32).flat_map(both).collect()
    }

    fn holds(&self) -> u64 {
        self.mobiles.iter().map(|mobile| mobile.buffer.backlog().packets).sum::<u64>() + self.uplink.len()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        let slots = core.now().as_nanos() / SLOT.as_nanos();
        for (number, cell) in self.cells.iter().enumerate() {
            probe.part(What::Cell, &format!("{}.cell[{number}]", self.name));
            cell.sample(slots, probe);
        }
        for (number, mobile) in (0..).zip(&self.mobiles) {
            probe.part(What::Bearer, core.place_name(mobile.place));
            probe.value("packets", mobile.counts.packets as f64);
            probe.value("bytes", mobile.counts.bytes as f64);
            let backlog = mobile.buffer.backlog();
            probe.value("queue_packets", backlog.packets as f64);
            probe.value("queue_bytes", backlog.bytes as f64);
            probe.value("cell", f64::from(mobile.cell));
            self.air.sample(number, probe);
            probe.value("slots", mobile.counts.slots as f64);
            probe.value("blocks", mobile.counts.blocks as f64);
            probe.value("failed_blocks", mobile.counts.failed as f64);
            if let Some(marks) = core.counters().marks.get(&mobile.place) {
                probe.value("marks", *marks as f64);
            }
            mobile.buffer.sample(probe);
            mobile.spikes.sample(probe);
        }
    }
}
