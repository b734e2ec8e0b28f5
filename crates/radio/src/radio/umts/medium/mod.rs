//! The medium: moves PDUs between the RLC entities of one cell, or of several.
//!
//! More than 500 lines: the struct with all its fields and its `Medium` stand together; what it does is in the files beside it.

use std::collections::VecDeque;

use crate::radio;
use crate::radio::Direction;
use crate::radio::arq::{LinkArq, Outcome};
use crate::radio::attachment::{Attachment, Move, Service};
use crate::radio::imposed::Imposed;
use crate::radio::pdcp;
use crate::radio::rlc::Pdu;
use lasthop_net::engine::{Duration, Instant, Stream, Target};
use lasthop_net::net::copies;
use lasthop_net::net::medium::{Access, Change, Edge, End, Medium, Peer};
use lasthop_net::net::observe::{PduStep, Probe, What};
use lasthop_net::net::{Core, Observation, Pkt};

use super::bearer::Sender;
use super::channel::{Channel, Limit, Order, Rate};
use super::cpch::{Cpch, Uplink};
use super::rach::{Aloha, Place};
use super::roaming::Area;
use super::slab::{Flying, Slab};
use super::utran::{Counts, Utran};

mod clock;
mod contention;
mod dsch;
mod hs_dsch;
mod intervals;
mod landing;
mod ns2_clock;
mod other_systems;
mod roaming;
mod setup;
mod terminal;

use clock::{Clock, usual_phase};
use dsch::Dsch;
use hs_dsch::HsDsch;
use intervals::ToNodeB;
use landing::Landing;
use ns2_clock::Ns2Clock;
use terminal::{Bearers, Ue};

pub use other_systems::OtherSystems;
pub use setup::{Setup, Shared};

/// A cell of UMTS, or several. The first peers are the RNCs, the others are the terminals.
pub struct Umts {
    name: String,
    component: u32,
    rncs: Vec<End>,
    terminals: Vec<Ue>,
    attachment: Box<dyn Attachment>,
    /// The forward access channel of each cell and the shared one, if there is one; then for each terminal its
    /// RACH, its DCH down and its DCH up, and what it sends over CPCH if there are such.
    channels: Vec<Channel>,
    /// How many channels belong to all terminals.
    common: u32,
    /// How many belong to each terminal.
    own: u32,
    dsch: Option<Dsch>,
    hs_dsch: Option<Box<HsDsch>>,
    cpch: Option<Cpch>,
    /// The clocks of the transmission time intervals in use.
    clocks: Vec<Clock>,
    /// What each channel is, what it carries, and its clock.
    ways: Vec<Way>,
    utran: Utran,
    /// Its intervals by ns-2's clock, if that is followed.
    ns2_clock: Ns2Clock,
    air: Box<dyn radio::channel::Channel>,
    imposed: Imposed,
    area: Option<Box<Area>>,
    /// The valid wake-up of the area.
    area_armed: Instant,
    elsewhere: OtherSystems,
    rlc: Box<dyn Fn(Direction) -> Box<dyn LinkArq> + Send>,
    /// Where PDUs lie whose handles are in queues and lines.
    under_way: Slab,
    /// Under way from the RNC to the Node B's queues, in the order of arrival.
    to_node_b: VecDeque<ToNodeB>,
    /// On the air down and up, and up from the Node B to the RNC: in the order of arrival.
    landings: [VecDeque<Landing>; 3],
    /// When the valid wake-up of each comes.
    armed: [Instant; 3],
    /// The valid wake-ups of the attachment, and of the contention for common packet channels.
    attachment_armed: Instant,
    contention_armed: Instant,
    spacing: Duration,
    spacings: Stream,
    rach_access: Duration,
    aloha: Option<Aloha>,
    accesses: Stream,
    pdu_bits: u32,
    /// PDUs that leave the RNC in one interval; empty between events.
    leaving: Vec<(Instant, u32, u32, Flying)>,
    /// Messages of RACH whose places have been chosen, with their channels; empty between events.
    preambles: Vec<(Place, u32)>,
    /// Terminals that might send an interval over a common packet channel, and whether they did; empty between
    /// events.
    sent_on_cpch: Vec<(u32, bool)>,
    /// What an entity says; empty between events.
    outcomes: Vec<Outcome>,
}

/// What a wake-up is for, in the three lowest bits of its key.
const CLOCK: u32 = 0;
const LANDING: u32 = 1;
const TERMINAL: u32 = 2;
const ATTACHMENT: u32 = 3;
const CONTENTION: u32 = 4;
const AREA: u32 = 5;
const HIGH_SPEED: u32 = 6;

const fn key(kind: u32, index: u32) -> u32 {
    index << 3 | kind
}

/// The cells of a terminal where there is one only.
const ONE_CELL: [u32; 1] = [0];

/// The forward access channel of a cell.
const fn fach(cell: u32) -> u32 {
    cell
}

/// The downlink shared channel, if there is one; then there is one cell.
const DSCH: u32 = 1;
/// The place of each among a terminal's channels.
const RACH: u32 = 0;
const DCH_DOWN: u32 = 1;
const DCH_UP: u32 = 2;
const CPCH: u32 = 3;

/// A transport channel as the medium uses it.
#[derive(Clone, Copy)]
struct Way {
    kind: Kind,
    clock: u8,
    /// How many PDUs an interval carries.
    pdus: u32,
    tti: Duration,
}

/// The transport channels of TS 25.301 §5.3.1 that carry user data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fach,
    Dsch,
    Rach,
    DchDown,
    DchUp,
    Cpch,
}

impl Kind {
    fn direction(self) -> Direction {
        match self {
            Self::Fach | Self::Dsch | Self::DchDown => Direction::Down,
            Self::Rach | Self::DchUp | Self::Cpch => Direction::Up,
        }
    }
}

impl Umts {
    /// A cell whose wake-ups come to `component`; `ends` are the RNCs and the terminals.
    pub fn new(core: &Core, component: u32, ends: &[End], setup: Setup) -> Self {
        let n = setup.terminals.len();
        let common = setup.utran.cells() as u32 + u32::from(setup.dsch.is_some());
        let own = 3 + u32::from(setup.cpch.is_some());
        let channels = common as usize + own as usize * n;
        let mut umts = Self {
            spacings: core.stream(&setup.name, "spacing"),
            accesses: core.stream(&setup.name, "access"),
            name: setup.name,
            component,
            rncs: ends[..setup.utran.rncs()].to_vec(),
            terminals: Vec::with_capacity(n),
            attachment: setup.attachment,
            channels: Vec::with_capacity(channels),
            common,
            own,
            dsch: None,
            hs_dsch: setup.hs_dsch.map(|hs_dsch| Box::new(HsDsch::new(core, &setup.terminals, hs_dsch))),
            cpch: None,
            clocks: Vec::new(),
            ways: Vec::with_capacity(channels),
            utran: setup.utran,
            ns2_clock: Ns2Clock::default(),
            air: setup.air,
            imposed: Imposed::default(),
            area: setup.area.map(Box::new),
            area_armed: Instant::MAX,
            elsewhere: setup.elsewhere,
            rlc: setup.rlc,
            under_way: Slab::default(),
            to_node_b: VecDeque::new(),
            landings: Default::default(),
            armed: [Instant::MAX; 3],
            attachment_armed: Instant::MAX,
            contention_armed: Instant::MAX,
            spacing: setup.spacing,
            rach_access: setup.rach_access,
            aloha: setup.rach_aloha,
            pdu_bits: setup.pdu_bits,
            leaving: Vec::new(),
            preambles: Vec::new(),
            sent_on_cpch: Vec::new(),
            outcomes: Vec::new(),
        };
        let clock = umts.clock(setup.fach.tti, usual_phase(setup.fach.tti));
        for _ in 0..umts.utran.cells() {
            umts.add_channel(Kind::Fach, clock, setup.fach, setup.limit, setup.order);
        }
        if let Some(Shared { rate, order }) = setup.dsch {
            let clock = umts.add_clock(Clock::new(rate.tti, usual_phase(rate.tti), true));
            umts.add_channel(Kind::Dsch, clock, rate, setup.limit, Order::Fifo);
            umts.dsch = Some(Dsch { order, last: u32::MAX, asked: Vec::new() });
        }
        let [dch_down, dch_up] = setup.dch;
        for (places, end) in setup.terminals.into_iter().zip(&ends[umts.rncs.len()..]) {
            let own = [(Kind::Rach, setup.rach), (Kind::DchDown, dch_down), (Kind::DchUp, dch_up)];
            let cpch = setup.cpch.as_ref().map(|cpch| (Kind::Cpch, cpch.channel()));
            for (kind, rate) in own.into_iter().chain(cpch) {
                let clock = umts.clock(rate.tti, usual_phase(rate.tti));
                umts.add_channel(kind, clock, rate, setup.limit, Order::Fifo);
            }
            let [down, up] = places;
            let number = umts.terminals.len() as u32;
            let service = umts.attachment.service(number);
            // A terminal without service begins with the clocks of the common channels.
            let usual = |direction| umts.carrier(Service::Common, number, direction);
            let channel = |direction| umts.carrier(service, number, direction).or_else(|| usual(direction));
            let clock = |direction| channel(direction).map_or(0, |n| umts.ways[n as usize].clock);
            let clocks = Direction::BOTH.map(clock);
            umts.terminals.push(Ue {
                end: *end,
                senders: [
                    Sender::new((umts.rlc)(Direction::Down), (setup.pdcp)(), down, clocks[0])
                        .marking(setup.loss_indication.as_ref()),
                    Sender::new((umts.rlc)(Direction::Up), (setup.pdcp)(), up, clocks[1]),
                ],
                lost: [0; 2],
                dropped: [0; 2],
                service,
                last: [Instant::ZERO; 2],
                uplink: Uplink::Rach,
                rach_free: Instant::ZERO,
                armed: Instant::MAX,
            });
        }
        let contention = core.stream(&umts.name, "contention");
        umts.cpch = setup.cpch.map(|cpch| Cpch::new(cpch, n as u32, contention));
        umts
    }

    fn add_channel(&mut self, kind: Kind, clock: u8, rate: Rate, limit: Limit, order: Order) {
        self.channels.push(Channel::new(rate, limit, order));
        self.ways.push(Way { kind, clock, pdus: rate.bits() / self.pdu_bits, tti: rate.tti });
    }

    /// The clock of these intervals, whose PDUs are handed down at multiples of `tti` and `phase`.
    fn clock(&mut self, tti: Duration, phase: Duration) -> u8 {
        let is_it = |clock: &Clock| clock.tti == tti && clock.phase == phase && !clock.alone;
        match self.clocks.iter().position(is_it) {
            Some(place) => place as u8,
            None => self.add_clock(Clock::new(tti, phase, false)),
        }
    }

    fn add_clock(&mut self, clock: Clock) -> u8 {
        self.clocks.push(clock);
        (self.clocks.len() - 1) as u8
    }

    /// To be called once: the first measurement, and the first wish of the attachment.
    pub fn start(&mut self, core: &mut Core) {
        self.start_area(core);
        self.follow_attachment(core);
    }

    /// The channel in intervals that carries what a terminal's bearer sends in a direction.
    fn channel(&self, terminal: u32, direction: Direction) -> Option<u32> {
        self.carrier(self.service(terminal), terminal, direction)
    }

    /// The channel that carries it if this serves the terminal.
    fn carrier(&self, service: Service, terminal: u32, direction: Direction) -> Option<u32> {
        let own = |which| Some(self.own_channel(terminal, which));
        match (service, direction) {
            (Service::Nothing, _) | (Service::HighSpeed, Direction::Down) => None,
            (Service::Common, Direction::Down) => Some(fach(self.own_cell(terminal))),
            (Service::Common, Direction::Up) => match self.terminals.get(terminal as usize).map(|ue| ue.uplink) {
                None | Some(Uplink::Rach) => own(RACH),
                Some(Uplink::Nothing) => None,
                Some(Uplink::Cpch) => own(CPCH),
            },
            (Service::Shared, Direction::Down) => Some(DSCH),
            (Service::Dedicated, Direction::Down) => own(DCH_DOWN),
            (Service::Shared | Service::Dedicated | Service::HighSpeed, Direction::Up) => own(DCH_UP),
        }
    }

    /// By which paths are compared: the Iub and an interval.
    fn delay(&self) -> Duration {
        self.channels[fach(0) as usize].rate().tti
    }

    /// A channel of a terminal's own.
    fn own_channel(&self, terminal: u32, which: u32) -> u32 {
        self.common + self.own * terminal + which
    }

    /// The terminal to which a channel belongs that is not common to all.
    fn owner(&self, channel: u32) -> u32 {
        (channel - self.common) / self.own
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
            if service != Service::Common {
                self.leave_cpch(core, terminal);
            }
            self.terminals[terminal as usize].service = service;
            let place = self.terminals[terminal as usize].senders[Direction::Down.index()].place;
            core.observe(&Observation::Served { place, service: service.name() });
            self.tell_area(core.now(), terminal, service == Service::Dedicated);
            for direction in Direction::BOTH {
                self.change_clock(core, terminal, direction);
            }
            self.consider_cpch(core, terminal);
        }
        if let Some(at) = self.attachment.next_timeout()
            && at < self.attachment_armed
        {
            self.attachment_armed = at;
            self.arm(core, at, key(ATTACHMENT, 0));
        }
    }

    /// Shows a step of a PDU, if there is an observer.
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
        copies::each(core, packet, peers, |core, peer, pkt| self.enqueue(core, peer.0 - rncs, direction, pkt));
        self.follow_attachment(core);
    }

    fn wake(&mut self, core: &mut Core, key: u32) {
        self.tell_time(core, None);
        if key >= other_systems::FIRST_KEY {
            return self.elsewhere.wake(core, key);
        }
        let index = key >> 3;
        match key & 7 {
            CLOCK => self.wake_clock(core, index as u8),
            LANDING => self.wake_landing(core, index as usize),
            TERMINAL => self.wake_terminal(core, index),
            ATTACHMENT => self.wake_attachment(core),
            CONTENTION => self.wake_contention(core),
            HIGH_SPEED => self.wake_high_speed(core, index),
            _ => self.wake_area(core),
        }
    }

    fn change(&mut self, core: &mut Core, change: &mut Change) {
        let Some(terminal) = change.peer.0.checked_sub(self.rncs.len() as u32) else { return };
        // Changes of a high-speed channel's downlink are imposed there.
        if let Some(hs_dsch) = &mut self.hs_dsch {
            hs_dsch.change(core.now(), terminal, change);
        }
        self.imposed.change(terminal, core.now(), change);
    }

    fn access(&self, peer: Peer) -> Access {
        let rncs = self.rncs.len() as u32;
        let (terminal, direction) = match peer.0.checked_sub(rncs) {
            None => (0, Direction::Up),
            Some(terminal) => (terminal, Direction::Down),
        };
        if let Some(system) = self.away(terminal) {
            return self.elsewhere.access(terminal, system, direction);
        }
        if let Some(hs_dsch) = self.high_speed(terminal, direction) {
            return hs_dsch.access(terminal, self.delay());
        }
        let channel = self.channel(terminal, direction).unwrap_or(fach(0));
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
        let waiting: usize = self.channels.iter().map(Channel::len).sum();
        let flying: usize = self.to_node_b.len() + self.landings.iter().map(VecDeque::len).sum::<usize>();
        debug_assert_eq!(self.under_way.len(), waiting + flying, "PDUs whose handles are lost");
        let bearers: u64 = self.terminals.iter().flat_map(|ue| &ue.senders).map(Sender::holds).sum();
        bearers + self.elsewhere.holds()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        probe.part(What::Cell, &self.name);
        let cells = self.utran.cells() as u32;
        let sum = |of: fn(&Channel) -> u64| (0..cells).map(|cell| of(&self.channels[fach(cell) as usize])).sum::<u64>();
        probe.value("fach_sent_pdus", sum(|fach| fach.counts.sent) as f64);
        probe.value("fach_dropped_pdus", sum(|fach| fach.counts.dropped) as f64);
        probe.value("fach_queue_bytes", sum(|fach| fach.queued_bytes().into()) as f64);
        if self.dsch.is_some() {
            let dsch = &self.channels[DSCH as usize];
            probe.value("dsch_sent_pdus", dsch.counts.sent as f64);
            probe.value("dsch_queue_bytes", f64::from(dsch.queued_bytes()));
        }
        if let Some(hs_dsch) = &self.hs_dsch {
            hs_dsch.sample(core.now(), probe);
        }
        if let Some(cpch) = &self.cpch {
            cpch.sample(probe);
        }
        if cells == 1 {
            self.attachment.sample_cell(core.now(), 0, probe);
        }
        self.attachment.sample(core.now(), probe);
        if self.area.is_some() {
            let Counts { iub, copies, iur } = self.utran.counts;
            probe.value("iub_pdus", iub as f64);
            probe.value("iub_copies", copies as f64);
            probe.value("iur_pdus", iur as f64);
        }
        for cell in (0..cells).filter(|_| cells > 1) {
            probe.part(What::Cell, &format!("{}.cell[{cell}]", self.name));
            let fach = &self.channels[fach(cell) as usize];
            probe.value("fach_sent_pdus", fach.counts.sent as f64);
            probe.value("fach_dropped_pdus", fach.counts.dropped as f64);
            probe.value("fach_queue_bytes", f64::from(fach.queued_bytes()));
            self.attachment.sample_cell(core.now(), cell, probe);
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
                if let Some(markers) = &sender.markers {
                    probe.value("indicated_packets", markers.set() as f64);
                }
                if let [Some(sending), Some(receiving)] =
                    [direction, direction.reverse()].map(|end| ue.senders[end.index()].pdcp.as_deref())
                {
                    pdcp::Entity::sample(sending, receiving, probe);
                }
                if direction == Direction::Down {
                    probe.value("service", f64::from(ue.service as u8));
                    if let Some(hs_dsch) = &self.hs_dsch {
                        hs_dsch.sample_terminal(terminal, probe);
                    }
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
