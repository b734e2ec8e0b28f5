//! The medium: moves PDUs between the RLC entities of one cell.

use std::collections::VecDeque;

use crate::engine::{Duration, Instant, Stream, Target};
use crate::net::medium::{Access, Change, Edge, End, Medium, Peer};
use crate::net::observe::{PduStep, Probe, What};
use crate::net::{Core, Observation, Pkt};
use crate::radio::Direction;
use crate::radio::arq::Outcome;
use crate::radio::attachment::{Attachment, Move, Service};
use crate::radio::rlc::Pdu;

use super::bearer::Sender;
use super::channel::{Channel, Limit, Order, Rate};
use super::iub::Iub;

mod clock;
mod intervals;
mod landing;
mod setup;
mod terminal;

use clock::{Clock, usual_phase};
use intervals::ToNodeB;
use landing::Landing;
use terminal::{Bearers, Ue};

pub use setup::{Setup, Terminal};

/// A cell of UMTS. Peer 0 is the RNC, the others are the terminals.
pub struct Umts {
    name: String,
    component: u32,
    rnc: End,
    terminals: Vec<Ue>,
    attachment: Box<dyn Attachment>,
    /// The forward access channel, then for each terminal its RACH, its DCH down and its DCH up.
    channels: Vec<Channel>,
    /// The clocks of the transmission time intervals in use.
    clocks: Vec<Clock>,
    /// The clock of each channel.
    clock_of: Vec<u8>,
    iub: [Iub; 2],
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

/// The forward access channel.
const FACH: u32 = 0;
/// Channels of a terminal.
const RACH: u32 = 1;
const DCH_DOWN: u32 = 2;
const DCH_UP: u32 = 3;

fn channel_of(terminal: u32, which: u32) -> u32 {
    3 * terminal + which
}

impl Umts {
    /// A cell whose wake-ups come to `component`; `ends` are the RNC and the terminals.
    pub fn new(core: &Core, component: u32, ends: &[End], setup: Setup) -> Self {
        let n = setup.terminals.len();
        let mut umts = Self {
            spacings: core.stream(&setup.name, "spacing"),
            accesses: core.stream(&setup.name, "access"),
            name: setup.name,
            component,
            rnc: ends[0],
            terminals: Vec::with_capacity(n),
            attachment: setup.attachment,
            channels: Vec::with_capacity(1 + 3 * n),
            clocks: Vec::new(),
            clock_of: Vec::with_capacity(1 + 3 * n),
            iub: setup.iub,
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
        for (terminal, end) in setup.terminals.into_iter().zip(&ends[1..]) {
            for rate in [setup.rach, setup.dch[0], setup.dch[1]] {
                umts.add_channel(rate, setup.limit, Order::Fifo);
            }
            let [rnc, ue] = terminal.arq;
            let [down, up] = terminal.places;
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
                senders: [Sender::new(rnc, down, clocks[0]), Sender::new(ue, up, clocks[1])],
                loss: terminal.loss,
                lost: [0; 2],
                dropped: [0; 2],
                service,
                armed: Instant::MAX,
            });
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

    /// To be called once: asks the attachment for its first wish.
    pub fn start(&mut self, core: &mut Core) {
        self.follow_attachment(core);
    }

    /// The channel that carries what a terminal's bearer sends in a direction.
    fn channel(&self, terminal: u32, direction: Direction) -> Option<u32> {
        match (self.terminals[terminal as usize].service, direction) {
            (Service::Nothing, _) => None,
            (Service::Common, Direction::Down) => Some(FACH),
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
            for direction in Direction::BOTH {
                self.change_clock(core, terminal, direction);
            }
        }
        if let Some(at) = self.attachment.next_timeout()
            && at < self.attachment_armed
        {
            self.attachment_armed = at;
            self.arm(core, at, key(ATTACHMENT, 0));
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
        let (direction, peers) = if from.0 == 0 { (Direction::Down, to) } else { (Direction::Up, &[from][..]) };
        let mut packet = Some(packet);
        for (n, peer) in peers.iter().enumerate() {
            let last = n + 1 == peers.len();
            let pkt = if last { packet.take() } else { packet.as_ref().map(|packet| core.copy(packet)) };
            if let Some(pkt) = pkt {
                self.enqueue(core, peer.0 - 1, direction, pkt);
            }
        }
        self.follow_attachment(core);
    }

    fn wake(&mut self, core: &mut Core, key: u32) {
        let index = key >> 2;
        match key & 3 {
            CLOCK => self.wake_clock(core, index as u8),
            LANDING => self.wake_landing(core, index as usize),
            TERMINAL => self.wake_terminal(core, index),
            _ => self.wake_attachment(core),
        }
    }

    fn change(&mut self, _core: &mut Core, _change: &mut Change) {}

    fn access(&self, peer: Peer) -> Access {
        let (terminal, direction) = if peer.0 == 0 { (0, Direction::Up) } else { (peer.0 - 1, Direction::Down) };
        let channel = self.channel(terminal, direction).unwrap_or(FACH);
        let rate = self.channels[channel as usize].rate();
        Access { rate: rate.rate, delay: self.delay(), up: true }
    }

    fn edges(&self, _now: Instant) -> Vec<Edge> {
        let delay = self.delay();
        let both = |terminal: u32| {
            let (rnc, ue) = (Peer(0), Peer(terminal + 1));
            [Edge { from: rnc, to: ue, delay }, Edge { from: ue, to: rnc, delay }]
        };
        (0..self.terminals.len() as u32).flat_map(both).collect()
    }

    fn holds(&self) -> u64 {
        self.terminals.iter().flat_map(|ue| &ue.senders).map(Sender::holds).sum()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        probe.part(What::Cell, &self.name);
        let fach = &self.channels[FACH as usize];
        probe.value("fach_sent_pdus", fach.counts.sent as f64);
        probe.value("fach_dropped_pdus", fach.counts.dropped as f64);
        probe.value("fach_queue_bytes", f64::from(fach.queued_bytes()));
        self.attachment.sample(core.now(), probe);
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
                sender.arq.sample(probe);
                if direction == Direction::Down {
                    probe.value("service", f64::from(ue.service as u8));
                    self.attachment.sample_terminal(core.now(), terminal, probe);
                }
            }
        }
    }
}
