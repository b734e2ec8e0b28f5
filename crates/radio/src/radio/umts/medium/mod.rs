//! The medium: moves PDUs between the RLC entities of one cell, or of several.
//!
//! More than 500 lines: the struct with all its fields and its `Medium` stand together; what it does is in the files beside it.

use crate::radio;
use crate::radio::Direction;
use crate::radio::alarm::Alarm;
use crate::radio::arq::{LinkArq, Outcome};
use crate::radio::attachment::{Attachment, Move, Service};
use crate::radio::imposed::Imposed;
use crate::radio::pdcp;
use crate::radio::rlc::Pdu;
use lasthop_net::engine::{Duration, Instant, Target};
use lasthop_net::net::copies;
use lasthop_net::net::medium::{Access, Change, Edge, End, Medium, Peer};
use lasthop_net::net::observe::{PduStep, Probe, What};
use lasthop_net::net::{Core, Observation, Pkt};

use super::bearer::Sender;
use super::channel::{Channel, Order};
use super::cpch::{Cpch, Uplink};
use super::timing::Times;
use super::utran::{Counts, Utran};

mod channels;
mod clock;
mod contention;
mod hs_dsch;
mod intervals;
mod landing;
mod line;
mod ns2_clock;
mod other_systems;
mod roaming;
mod setup;
mod terminal;
mod turns;

use channels::{CPCH, Channels, DCH_DOWN, DCH_UP, DSCH, Kind, RACH, fach};
use contention::{PacketAccess, Rach};
use hs_dsch::HsDsch;
use landing::Flights;
use ns2_clock::Ns2Clock;
use roaming::Roaming;
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
    attachment_alarm: Alarm,
    channels: Channels,
    hs_dsch: Option<Box<HsDsch>>,
    rach: Rach,
    cpch: Option<PacketAccess>,
    utran: Utran,
    /// Its intervals by ns-2's clock, if that is followed.
    ns2_clock: Ns2Clock,
    /// The same, when PDUs are put on the air: of those that will come at one instant.
    air_clock: Ns2Clock,
    air: Box<dyn radio::channel::Channel>,
    imposed: Imposed,
    roaming: Option<Box<Roaming>>,
    elsewhere: OtherSystems,
    rlc: Box<dyn Fn(Direction) -> Box<dyn LinkArq> + Send>,
    flights: Flights,
    /// PDUs of one interval leave their entity one after the other, each up to this long after the one before.
    spacing: Duration,
    times: Times,
    in_order: bool,
    pdu_bits: u32,
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

impl Umts {
    /// A cell whose wake-ups come to `component`; `ends` are the RNCs and the terminals.
    pub fn new(core: &Core, component: u32, ends: &[End], setup: Setup) -> Self {
        let n = setup.terminals.len();
        let common = setup.utran.cells() as u32 + u32::from(setup.dsch.is_some());
        let alarm = |kind, index| Alarm::new(Target { component, key: key(kind, index) });
        let mut umts = Self {
            spacing: setup.spacing,
            times: match setup.timing {
                Some(timing) => Times::Custom(timing),
                None => Times::Own {
                    spacing: core.stream(&setup.name, "spacing"),
                    access: core.stream(&setup.name, "access"),
                },
            },
            // Its stream has the name of that of the delay: of the two there is one.
            rach: Rach::new(setup.rach_access, setup.rach_aloha, core.stream(&setup.name, "access")),
            cpch: None,
            name: setup.name,
            component,
            rncs: ends[..setup.utran.rncs()].to_vec(),
            terminals: Vec::with_capacity(n),
            attachment: setup.attachment,
            attachment_alarm: alarm(ATTACHMENT, 0),
            channels: Channels::new(common, 3 + u32::from(setup.cpch.is_some())),
            hs_dsch: setup.hs_dsch.map(|hs_dsch| Box::new(HsDsch::new(core, component, &setup.terminals, hs_dsch))),
            utran: setup.utran,
            ns2_clock: Ns2Clock::default(),
            air_clock: Ns2Clock::default(),
            air: setup.air,
            imposed: Imposed::default(),
            roaming: setup.area.map(|area| Box::new(Roaming { area, alarm: alarm(AREA, 0) })),
            elsewhere: setup.elsewhere,
            rlc: setup.rlc,
            flights: Flights::new(|lane| alarm(LANDING, lane)),
            in_order: setup.in_order,
            pdu_bits: setup.pdu_bits,
            outcomes: Vec::new(),
        };
        for _ in 0..umts.utran.cells() {
            match umts.is_shared_out(Kind::Fach) {
                true => umts.channels.add_shared(Kind::Fach, setup.fach, setup.limit, setup.order),
                false => umts.channels.add(Kind::Fach, setup.fach, setup.limit, setup.order),
            }
        }
        if let Some(Shared { rate, order }) = setup.dsch {
            umts.channels.add_shared(Kind::Dsch, rate, setup.limit, order);
        }
        let [dch_down, dch_up] = setup.dch;
        for (places, end) in setup.terminals.into_iter().zip(&ends[umts.rncs.len()..]) {
            let own = [(Kind::Rach, setup.rach), (Kind::DchDown, dch_down), (Kind::DchUp, dch_up)];
            let cpch = setup.cpch.as_ref().map(|cpch| (Kind::Cpch, cpch.channel()));
            for (kind, rate) in own.into_iter().chain(cpch) {
                umts.channels.add(kind, rate, setup.limit, Order::Fifo);
            }
            let [down, up] = places;
            let number = umts.terminals.len() as u32;
            let service = umts.attachment.service(number);
            // A terminal without service begins with the clocks of the common channels.
            let usual = |direction| umts.carrier(Service::Common, number, direction);
            let channel = |direction| umts.carrier(service, number, direction).or_else(|| usual(direction));
            let clock = |direction| channel(direction).map_or(0, |n| umts.channels[n].clock);
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
                alarm: alarm(TERMINAL, number),
            });
        }
        let contention = core.stream(&umts.name, "contention");
        umts.cpch = setup.cpch.map(|cpch| PacketAccess {
            cpch: Cpch::new(cpch, n as u32, contention),
            alarm: alarm(CONTENTION, 0),
            sent: Vec::new(),
        });
        umts
    }

    /// To be called once: the first measurement, and the first wish of the attachment.
    pub fn start(&mut self, core: &mut Core) {
        self.start_area(core);
        self.follow_attachment(core);
    }

    /// The channel in intervals that carries what a terminal's bearer sends in a direction.
    #[inline]
    fn channel(&self, terminal: u32, direction: Direction) -> Option<u32> {
        self.carrier(self.service(terminal), terminal, direction)
    }

    /// The channel that carries it if this serves the terminal.
    #[inline]
    fn carrier(&self, service: Service, terminal: u32, direction: Direction) -> Option<u32> {
        let own = |which| Some(self.channels.own(terminal, which));
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
        self.utran.delay() + self.channels[fach(0)].queue.rate().tti
    }

    fn arm(&self, core: &mut Core, at: Instant, key: u32) {
        let since = core.now();
        core.arm(Target { component: self.component, key }, at, since);
    }

    fn wake_attachment(&mut self, core: &mut Core) {
        if !self.attachment_alarm.rings(core) {
            return;
        }
        if self.attachment.chooses_at_node_b() {
            self.arrive_at_node_b(core);
        }
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
            if self.attachment.chooses_at_node_b() {
                self.redirect(core, terminal);
            }
            for direction in Direction::BOTH {
                self.change_clock(core, terminal, direction);
            }
            self.consider_cpch(core, terminal);
        }
        self.attachment_alarm.set(core, self.attachment.next_timeout());
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
            self.show(core, at, step, terminal, direction, pdu, queued);
        }
    }

    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "what happened, when, to what")]
    fn show(
        &self,
        core: &mut Core,
        at: Instant,
        step: PduStep,
        terminal: u32,
        direction: Direction,
        pdu: &Pdu,
        queued: Option<u32>,
    ) {
        let place = self.terminals[terminal as usize].senders[direction.index()].place;
        core.observe(&Observation::Pdu { at, place, step, pdu: &pdu.seen(), queued });
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
            CLOCK => self.wake_clock(core, index as u16),
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
        let rate = self.channels[channel].queue.rate();
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
        debug_assert_eq!(
            self.flights.pdus.len(),
            self.channels.waiting() + self.flights.len(),
            "PDUs whose handles are lost"
        );
        let bearers: u64 = self.terminals.iter().flat_map(|ue| &ue.senders).map(Sender::holds).sum();
        bearers + self.elsewhere.holds()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        probe.part(What::Cell, &self.name);
        let cells = self.utran.cells() as u32;
        let sum = |of: fn(&Channel) -> u64| (0..cells).map(|cell| of(&self.channels[fach(cell)].queue)).sum::<u64>();
        probe.value("fach_sent_pdus", sum(|fach| fach.counts.sent) as f64);
        probe.value("fach_dropped_pdus", sum(|fach| fach.counts.dropped) as f64);
        probe.value("fach_queue_bytes", sum(|fach| fach.queued_bytes().into()) as f64);
        if let Some(dsch) = self.channels.dsch() {
            probe.value("dsch_sent_pdus", dsch.counts.sent as f64);
            probe.value("dsch_queue_bytes", f64::from(dsch.queued_bytes()));
        }
        if let Some(hs_dsch) = &self.hs_dsch {
            hs_dsch.sample(core.now(), probe);
        }
        if let Some(PacketAccess { cpch, .. }) = &self.cpch {
            cpch.sample(probe);
        }
        if cells == 1 {
            self.attachment.sample_cell(core.now(), 0, probe);
        }
        self.attachment.sample(core.now(), probe);
        if self.roaming.is_some() {
            let Counts { iub, copies, iur } = self.utran.counts;
            probe.value("iub_pdus", iub as f64);
            probe.value("iub_copies", copies as f64);
            probe.value("iur_pdus", iur as f64);
        }
        for cell in (0..cells).filter(|_| cells > 1) {
            probe.part(What::Cell, &format!("{}.cell[{cell}]", self.name));
            let fach = &self.channels[fach(cell)].queue;
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
                    if let Some(Roaming { area, .. }) = self.roaming.as_deref() {
                        area.sample(core.now(), terminal, probe);
                    }
                }
                self.air.sample(terminal, direction, probe);
            }
        }
        self.elsewhere.sample(core, probe);
    }
}
