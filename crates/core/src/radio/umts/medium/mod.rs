//! The medium: moves PDUs between the RLC entities of one cell, or of several.

use std::collections::VecDeque;

use crate::engine::{Duration, Instant, Stream, Target};
use crate::net::medium::{Access, Change, Edge, End, Medium, Peer};
use crate::net::observe::{PduStep, Probe, What};
use crate::net::{Core, Observation, Pkt};
use crate::radio;
use crate::radio::Direction;
use crate::radio::arq::{LinkArq, Outcome};
use crate::radio::attachment::{Attachment, Move, Service};
use crate::radio::rlc::Pdu;

use super::bearer::Sender;
use super::channel::{Channel, Limit, Order, Rate};
use super::roaming::Area;
use super::utran::{Counts, Utran};

mod clock;
mod elsewhere;
mod intervals;
mod landing;
mod roaming;
mod setup;
mod terminal;

use clock::{Clock, usual_phase};
use intervals::ToNodeB;
use landing::Landing;
use terminal::{Bearers, Ue};

pub use elsewhere::Elsewhere;
pub use setup::Setup;

/// A cell of UMTS, or several. The first peers are the RNCs, the others are the terminals.
pub struct Umts {
    name: String,
    component: u32,
    rncs: Vec<End>,
    terminals: Vec<Ue>,
    attachment: Box<dyn Attachment>,
    /// The forward access channel of the first cell, then for each terminal its RACH, its DCH down and its DCH up, then the
    /// forward access channels of the other cells.
    channels: Vec<Channel>,
    /// The clocks of the transmission time intervals in use.
    clocks: Vec<Clock>,
    /// The clock of each channel.
    clock_of: Vec<u8>,
    utran: Utran,
    air: Box<dyn radio::channel::Channel>,
    area: Option<Box<Area>>,
    /// The valid wake-up of the area.
    area_armed: Instant,
    elsewhere: Elsewhere,
    rlc: Box<dyn Fn() -> Box<dyn LinkArq> + Send>,
    /// Under way from the RNC to the Node B's queues, in the order of arrival.
    to_node_b: VecDeque<ToNodeB>,
    /// On the air down and up, and up from the Node B to the RNC: in the order of arrival.
    landings: [VecDeque<Landing>; 3],
    /// When the valid wake-up of each comes.
    armed: [Instant; 3],
    /// The valid wake-up of the attachment.
    attachment_armed: Instant,
    spacing: Duration,
    spacings: Stream,
    rach_access: Duration,
    accesses: Stream,
    pdu_bits: u32,
    /// PDUs that leave the RNC in one interval; empty between events.
    leaving: Vec<(Instant, u32, u32, Pdu)>,
    /// What an entity says; empty between events.
    outcomes: Vec<Outcome>,
}

/// What a wake-up is for, in the two lowest bits of its key.
const CLOCK: u32 = 0;
const LANDING: u32 = 1;
const TERMINAL: u32 = 2;
const ATTACHMENT: u32 = 3;

const fn key(kind: u32, index: u32) -> u32 {
    index << 2 | kind
}

/// Of an attachment, or of an area.
const ATTACHMENT_KEY: u32 = key(ATTACHMENT, 0);
const AREA_KEY: u32 = key(ATTACHMENT, 1);

/// The cells of a terminal where there is one only.
const ONE_CELL: [u32; 1] = [0];

/// The forward access channel of the first cell.
const FACH: u32 = 0;
/// Channels of a terminal.
const RACH: u32 = 1;
const DCH_DOWN: u32 = 2;
const DCH_UP: u32 = 3;

fn channel_of(terminal: u32, which: u32) -> u32 {
    3 * terminal + which
}

impl Umts {
    /// A cell whose wake-ups come to `component`; `ends` are the RNCs and the terminals.
    pub fn new(core: &Core, component: u32, ends: &[End], setup: Setup) -> Self {
        let n = setup.terminals.len();
        let mut umts = Self {
            spacings: core.stream(&setup.name, "spacing"),
            accesses: core.stream(&setup.name, "access"),
            name: setup.name,
            component,
            rncs: ends[..setup.utran.rncs()].to_vec(),
            terminals: Vec::with_capacity(n),
            attachment: setup.attachment,
            channels: Vec::with_capacity(1 + 3 * n),
            clocks: Vec::new(),
            clock_of: Vec::with_capacity(1 + 3 * n),
            utran: setup.utran,
            air: setup.air,
            area: setup.area.map(Box::new),
            area_armed: Instant::MAX,
            elsewhere: setup.elsewhere,
            rlc: setup.rlc,
            to_node_b: VecDeque::new(),
            landings: Default::default(),
            armed: [Instant::MAX; 3],
            attachment_armed: Instant::MAX,
            spacing: setup.spacing,
            rach_access: setup.rach_access,
            pdu_bits: setup.pdu_bits,
            leaving: Vec::new(),
            outcomes: Vec::new(),
        };
        umts.add_channel(setup.fach, setup.limit, setup.order);
        for (places, end) in setup.terminals.into_iter().zip(&ends[umts.rncs.len()..]) {
            for rate in [setup.rach, setup.dch[0], setup.dch[1]] {
                umts.add_channel(rate, setup.limit, Order::Fifo);
            }
            let [down, up] = places;
            let number = umts.terminals.len() as u32;
            let service = umts.attachment.service(number);
            let clock = |which| umts.clock_of[channel_of(number, which) as usize];
            let clocks = if service == Service::Dedicated {
                [clock(DCH_DOWN), clock(DCH_UP)]
            } else {
                [umts.clock_of[FACH as usize], clock(RACH)]
            };
            umts.terminals.push(Ue {
                end: *end,
                senders: [Sender::new((umts.rlc)(), down, clocks[0]), Sender::new((umts.rlc)(), up, clocks[1])],
                lost: [0; 2],
                dropped: [0; 2],
                service,
                last: [Instant::ZERO; 2],
                armed: Instant::MAX,
            });
        }
        for _ in 1..umts.utran.cells() {
            umts.add_channel(setup.fach, setup.limit, setup.order);
        }
        umts
    }

    fn add_channel(&mut self, rate: Rate, limit: Limit, order: Order) {
        let clock = self.clock(rate.tti, usual_phase(rate.tti));
        self.channels.push(Channel::new(rate, limit, order));
        self.clock_of.push(clock);
    }

    /// The clock of these intervals, whose PDUs are handed down at multiples of `tti` and `phase`.
    fn clock(&mut self, tti: Duration, phase: Duration) -> u8 {
        let place = self.clocks.iter().position(|clock| clock.tti == tti && clock.phase == phase);
        let place = place.unwrap_or_else(|| {
            self.clocks.push(Clock::new(tti, phase));
            self.clocks.len() - 1
        });
        place as u8
    }

    /// To be called once: the first measurement, and the first wish of the attachment.
    pub fn start(&mut self, core: &mut Core) {
        self.start_area(core);
        self.follow_attachment(core);
    }

    /// The forward access channel of a cell.
    #[inline]
    fn fach(&self, cell: u32) -> u32 {
        if cell == 0 { FACH } else { channel_of(self.terminals.len() as u32, 0) + cell }
    }

    /// Which kind of channel this is: FACH, RACH, DCH_DOWN or DCH_UP.
    #[inline]
    fn kind_of(&self, channel: u32) -> u32 {
        if channel == FACH || channel > channel_of(self.terminals.len() as u32, 0) {
            FACH
        } else {
            (channel - 1) % 3 + 1
        }
    }

    /// The channel that carries what a terminal's bearer sends in a direction.
    fn channel(&self, terminal: u32, direction: Direction) -> Option<u32> {
        match (self.service(terminal), direction) {
            (Service::Nothing, _) => None,
            (Service::Common, Direction::Down) => Some(self.fach(self.own_cell(terminal))),
            (Service::Common, Direction::Up) => Some(channel_of(terminal, RACH)),
            (Service::Dedicated, Direction::Down) => Some(channel_of(terminal, DCH_DOWN)),
            (Service::Dedicated, Direction::Up) => Some(channel_of(terminal, DCH_UP)),
        }
    }

    /// By which paths are compared: the Iub and an interval.
    fn delay(&self) -> Duration {
        self.channels[FACH as usize].rate().tti
    }

    fn arm(&self, core: &mut Core, at: Instant, key: u32) {
        let since = core.now();
        core.arm(Target { component: self.component, key }, at, since);
    }

    fn wake_attachment(&mut self, core: &mut Core) {
        if self.attachment_armed != core.now() {
            return; // an old wake-up
        }
        self.attachment_armed = Instant::MAX;
        self.attachment.on_timeout(core.now(), &Bearers(&self.terminals));
        self.follow_attachment(core);
    }

    /// Does what the attachment has decided, and wakes it when it wishes.
    fn follow_attachment(&mut self, core: &mut Core) {
        while let Some(Move { terminal, service }) = self.attachment.poll() {
            self.terminals[terminal as usize].service = service;
            let place = self.terminals[terminal as usize].senders[Direction::Down.index()].place;
            core.observe(&Observation::Served { place, service: service.name() });
            self.tell_area(core.now(), terminal, service == Service::Dedicated);
            for direction in Direction::BOTH {
                self.change_clock(core, terminal, direction);
            }
        }
        if let Some(at) = self.attachment.next_timeout()
            && at < self.attachment_armed
        {
            self.attachment_armed = at;
            self.arm(core, at, ATTACHMENT_KEY);
        }
    }

    /// Shows what becomes of a PDU, if anybody looks.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "what happened, when, to what")]
    fn observe(
        &self,
        core: &mut Core,
        at: Instant,
        step: PduStep,
        terminal: u32,
        direction: Direction,
        pdu: &Pdu,
        queued: Option<u32>,
    ) {
        if core.is_observed() {
            let place = self.terminals[terminal as usize].senders[direction.index()].place;
            core.observe(&Observation::Pdu { at, place, step, pdu: &pdu.seen(), queued });
        }
    }
}

impl Medium for Umts {
    fn accept(&mut self, core: &mut Core, from: Peer, to: &[Peer], packet: Pkt) {
        let rncs = self.rncs.len() as u32;
        let (direction, peers) = if from.0 < rncs { (Direction::Down, to) } else { (Direction::Up, &[from][..]) };
        let mut packet = Some(packet);
        for (n, peer) in peers.iter().enumerate() {
            let last = n + 1 == peers.len();
            let pkt = if last { packet.take() } else { packet.as_ref().map(|packet| core.copy(packet)) };
            if let Some(pkt) = pkt {
                self.enqueue(core, peer.0 - rncs, direction, pkt);
            }
        }
        self.follow_attachment(core);
    }

    fn wake(&mut self, core: &mut Core, key: u32) {
        if key >= elsewhere::FIRST_KEY {
            return self.elsewhere.wake(core, key);
        }
        let index = key >> 2;
        match key & 3 {
            CLOCK => self.wake_clock(core, index as u8),
            LANDING => self.wake_landing(core, index as usize),
            TERMINAL => self.wake_terminal(core, index),
            _ if key == AREA_KEY => self.wake_area(core),
            _ => self.wake_attachment(core),
        }
    }

    fn change(&mut self, _core: &mut Core, _change: &mut Change) {}

    fn access(&self, peer: Peer) -> Access {
        let rncs = self.rncs.len() as u32;
        let (terminal, direction) = match peer.0.checked_sub(rncs) {
            None => (0, Direction::Up),
            Some(terminal) => (terminal, Direction::Down),
        };
        if let Some(system) = self.away(terminal) {
            return self.elsewhere.access(terminal, system, direction);
        }
        let channel = self.channel(terminal, direction).unwrap_or(FACH);
        let rate = self.channels[channel as usize].rate();
        Access { rate: rate.rate, delay: self.delay(), up: true }
    }

    fn edges(&self, _now: Instant) -> Vec<Edge> {
        let delay = self.delay();
        let both = |terminal: u32| {
            let (rnc, ue) = (Peer(self.serving_rnc(terminal)), Peer(terminal + self.rncs.len() as u32));
            [Edge { from: rnc, to: ue, delay }, Edge { from: ue, to: rnc, delay }]
        };
        (0..self.terminals.len() as u32).flat_map(both).collect()
    }

    fn holds(&self) -> u64 {
        let bearers: u64 = self.terminals.iter().flat_map(|ue| &ue.senders).map(Sender::holds).sum();
        bearers + self.elsewhere.holds()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        probe.part(What::Cell, &self.name);
        let fachs = || (0..self.utran.cells() as u32).map(|cell| &self.channels[self.fach(cell) as usize]);
        let sum = |of: fn(&Channel) -> u64| fachs().map(of).sum::<u64>() as f64;
        probe.value("fach_sent_pdus", sum(|fach| fach.counts.sent));
        probe.value("fach_dropped_pdus", sum(|fach| fach.counts.dropped));
        probe.value("fach_queue_bytes", sum(|fach| fach.queued_bytes().into()));
        self.attachment.sample(core.now(), probe);
        if self.area.is_some() {
            let Counts { iub, copies, iur } = self.utran.counts;
            probe.value("iub_pdus", iub as f64);
            probe.value("iub_copies", copies as f64);
            probe.value("iur_pdus", iur as f64);
        }
        for (terminal, ue) in (0..).zip(&self.terminals) {
            for direction in Direction::BOTH {
                let sender = &ue.senders[direction.index()];
                probe.part(What::Bearer, core.place_name(sender.place));
                probe.value("packets", sender.delivered[0] as f64);
                probe.value("bytes", sender.delivered[1] as f64);
                let unsent = sender.arq.backlog();
                probe.value("queue_packets", sender.holds() as f64);
                probe.value("queue_bytes", unsent.sdus as f64);
                probe.value("unacknowledged_bytes", unsent.unacknowledged as f64);
                probe.value("air_lost_pdus", ue.lost[direction.index()] as f64);
                probe.value("queue_dropped_pdus", ue.dropped[direction.index()] as f64);
                sender.sample(probe);
                if direction == Direction::Down {
                    probe.value("service", f64::from(ue.service as u8));
                    self.attachment.sample_terminal(core.now(), terminal, probe);
                    if let Some(area) = &self.area {
                        area.sample(core.now(), terminal, probe);
                    }
                }
                self.air.sample(terminal, direction, probe);
            }
        }
        self.elsewhere.sample(core, probe);
    }
}
