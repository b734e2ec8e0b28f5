//! The medium: moves PDUs between the RLC entities of one cell.

use std::collections::VecDeque;

use crate::engine::{Duration, Instant, Stream, Target};
use crate::net::loss::Loss;
use crate::net::medium::{Access, Change, Edge, End, Medium, Peer};
use crate::net::observe::{Cause, PduStep, Place, Probe, What};
use crate::net::{Core, Observation, Pkt};
use crate::radio::Direction;
use crate::radio::arq::{LinkArq, Outcome, Slot, Unsent};
use crate::radio::attachment::{Attachment, Move, Service, Waiting};
use crate::radio::rlc::Pdu;

use super::bearer::Sender;
use super::channel::{Channel, Limit, Order, Rate};
use super::iub::Iub;

/// How long before an interval the RLC entities hand down what it is to carry (EURANE).
const LEAD: Duration = Duration::from_millis(1);
/// From the end of an interval to the RLC entity at the other side: channel and MAC (EURANE).
const BEYOND_AIR: Duration = Duration::from_micros(15);

/// How a cell is set up.
pub struct Setup {
    /// Its name in results.
    pub name: String,
    /// The forward access channel, down.
    pub fach: Rate,
    /// The random access channel, up: each terminal has it for itself.
    pub rach: Rate,
    /// Access to it delays an interval's PDUs by up to this long, at random.
    pub rach_access: Duration,
    /// Dedicated channels, down and up.
    pub dch: [Rate; 2],
    /// What queues in front of the air take.
    pub limit: Limit,
    /// Whose turn it is on the forward access channel.
    pub order: Order,
    /// Between Node B and RNC, down and up.
    pub iub: [Iub; 2],
    /// PDUs of one interval leave their entity one after the other, each up to this long after the one
    /// before, at random.
    pub spacing: Duration,
    /// PDU size, in bits.
    pub pdu_bits: u32,
    /// What serves the terminals, and when that changes.
    pub attachment: Box<dyn Attachment>,
    /// For each terminal: its RLC entities (at the RNC, at the terminal) and what the air loses (down, up).
    pub terminals: Vec<Terminal>,
}

/// How a terminal is set up.
pub struct Terminal {
    /// RLC at the RNC, which sends down, and at the terminal.
    pub arq: [Box<dyn LinkArq>; 2],
    /// What the air loses, down and up.
    pub loss: [Loss; 2],
    /// Where packets end that are not delivered, down and up.
    pub places: [Place; 2],
}

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

/// A terminal.
struct Ue {
    end: End,
    /// At the RNC, which sends down, and at the terminal, which sends up.
    senders: [Sender; 2],
    loss: [Loss; 2],
    /// PDUs that the air lost, down and up.
    lost: [u64; 2],
    /// PDUs that found no room in the queue in front of the air, down and up.
    dropped: [u64; 2],
    service: Service,
    /// When the valid wake-up of its RLC entities comes.
    armed: Instant,
}

/// The intervals of one length.
struct Clock {
    tti: Duration,
    /// PDUs are handed down so long after multiples of `tti`.
    phase: Duration,
    /// When PDUs were handed down last.
    ticked: Instant,
    /// When the next are handed down, if anybody waits for that.
    tick: Instant,
    /// When the next interval begins, if anything waits for it.
    frame: Instant,
    /// Those that have something to send: terminal × 2 + direction, in order.
    senders: Vec<u32>,
    /// Channels with something to send, in order.
    channels: Vec<u32>,
    /// How many PDUs are on their way to its channels.
    coming: u32,
}

impl Clock {
    fn new(tti: Duration, phase: Duration) -> Self {
        let never = Instant::MAX;
        let (senders, channels) = (Vec::new(), Vec::new());
        Self { tti, phase, ticked: never, tick: never, frame: never, senders, channels, coming: 0 }
    }

    /// The first instant at `from` or later at which PDUs are handed down.
    fn tick_from(&self, from: Instant) -> Instant {
        let (from, phase, tti) = (from.as_nanos(), self.phase.as_nanos(), self.tti.as_nanos());
        Instant::from_nanos(from.saturating_sub(phase).div_ceil(tti) * tti + phase)
    }

    /// When PDUs that there are now are handed down. One that comes at the very instant, but before
    /// those of others are handed down, goes with them.
    fn next_tick(&self, now: Instant) -> Instant {
        let moment = Duration::from_nanos(u64::from(self.ticked == now));
        self.tick_from(now + moment)
    }
}

/// PDUs are handed down one lead before an interval begins.
fn usual_phase(tti: Duration) -> Duration {
    tti.saturating_sub(LEAD)
}

/// A PDU under way from the RNC to a channel's queue.
struct ToNodeB {
    at: Instant,
    channel: u32,
    terminal: u32,
    pdu: Pdu,
}

/// A PDU under way to an RLC entity.
struct Landing {
    at: Instant,
    /// When the interval began in which it was sent.
    sent: Instant,
    terminal: u32,
    pdu: Pdu,
}

/// Where PDUs fly: the air, in the places of its two directions, and the Iub up to the RNC.
const TO_RNC: usize = 2;

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

    fn arm(&self, core: &mut Core, at: Instant, key: u32) {
        let since = core.now();
        core.arm(Target { component: self.component, key }, at, since);
    }

    /// Lets an entity take part in the intervals of its channel, if it has something to send.
    fn activate(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        let sender = &self.terminals[terminal as usize].senders[direction.index()];
        if sender.ticking || !sender.arq.wants_to_send() {
            return;
        }
        if self.terminals[terminal as usize].service == Service::Nothing {
            return;
        }
        let number = sender.clock;
        self.terminals[terminal as usize].senders[direction.index()].ticking = true;
        insert(&mut self.clocks[usize::from(number)].senders, 2 * terminal + direction.index() as u32);
        self.arm_tick(core, number);
    }

    /// Wakes a clock one lead before the next interval that begins after now.
    fn arm_tick(&mut self, core: &mut Core, number: u8) {
        let clock = &mut self.clocks[usize::from(number)];
        if clock.tick != Instant::MAX {
            return; // it is awake, and no tick lies before the one it waits for
        }
        clock.tick = clock.next_tick(core.now());
        let tick = clock.tick;
        self.arm(core, tick, key(CLOCK, u32::from(number)));
    }

    /// Wakes a clock at the first interval that begins at `at` or later.
    fn arm_frame(&mut self, core: &mut Core, number: u8, at: Instant) {
        let clock = &mut self.clocks[usize::from(number)];
        if clock.frame < at + clock.tti {
            return; // it waits for that one, or an earlier one
        }
        let frame = at_or_after(at, clock.tti);
        if frame < clock.frame {
            clock.frame = frame;
            self.arm(core, frame, key(CLOCK, u32::from(number)));
        }
    }

    fn wake_clock(&mut self, core: &mut Core, number: u8) {
        let clock = &mut self.clocks[usize::from(number)];
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
    fn tick(&mut self, core: &mut Core, number: u8) {
        let senders = std::mem::take(&mut self.clocks[usize::from(number)].senders);
        for &sender in &senders {
            let (terminal, direction) = (sender / 2, Direction::BOTH[sender as usize % 2]);
            self.hand_down(core, terminal, direction);
            self.arm_entity(core, terminal, direction.index());
        }
        self.leave_rnc(core);
        let mut senders = senders;
        senders.retain(|sender| {
            let sender = &mut self.terminals[*sender as usize / 2].senders[*sender as usize % 2];
            sender.ticking = sender.arq.wants_to_send();
            sender.ticking
        });
        // What is sent wakes nobody here, so nobody has joined meanwhile.
        self.clocks[usize::from(number)].senders = senders;
        if !self.clocks[usize::from(number)].senders.is_empty() {
            self.arm_tick(core, number);
        }
        self.follow_attachment(core);
    }

    fn hand_down(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        let Some(channel) = self.channel(terminal, direction) else { return };
        let now = core.now();
        if now < self.terminals[terminal as usize].senders[direction.index()].not_before {
            return;
        }
        let rate = self.channels[channel as usize].rate();
        let pdus = self.channels[channel as usize].pdus(self.pdu_bits);
        let mut at = now;
        for place in 0..pdus {
            let arq = &mut self.terminals[terminal as usize].senders[direction.index()].arq;
            if !arq.wants_to_send() {
                break;
            }
            if self.spacing > Duration::ZERO {
                at += Duration::from_nanos((self.spacing.as_nanos() as f64 * self.spacings.unit()) as u64);
            }
            let Some(pdu) = arq.pull(&Slot { now, at, tti: rate.tti, pdus, place }) else { break };
            self.observe(core, at, PduStep::Sent, terminal, direction, &pdu, None);
            match direction {
                Direction::Down => self.leaving.push((at, channel, terminal, pdu)),
                Direction::Up => self.offer(core, at, channel, terminal, direction, pdu),
            }
        }
    }

    /// Sends what left the entities at the RNC on its way to the Node B, in order.
    fn leave_rnc(&mut self, core: &mut Core) {
        if self.leaving.is_empty() {
            return;
        }
        let mut leaving = std::mem::take(&mut self.leaving);
        if self.spacing > Duration::ZERO {
            leaving.sort_by_key(|(at, ..)| *at);
        }
        for (at, channel, terminal, pdu) in leaving.drain(..) {
            let at = self.iub[Direction::Down.index()].arrival(at, pdu.bits);
            let number = self.clock_of[channel as usize];
            self.clocks[usize::from(number)].coming += 1;
            self.arm_frame(core, number, at);
            self.to_node_b.push_back(ToNodeB { at, channel, terminal, pdu });
        }
        self.leaving = leaving;
    }

    /// A PDU comes to the queue of a channel.
    fn offer(&mut self, core: &mut Core, at: Instant, channel: u32, terminal: u32, direction: Direction, pdu: Pdu) {
        let number = self.clock_of[channel as usize];
        self.attachment.on_sent(core.now(), terminal, direction, pdu.bits);
        match self.channels[channel as usize].offer(terminal, pdu) {
            Ok(()) => {
                insert(&mut self.clocks[usize::from(number)].channels, channel);
                // What goes down was waited for when it left the RNC, and stands in the queue only once the
                // interval has begun: that one would begin again.
                if direction == Direction::Up {
                    self.arm_frame(core, number, at);
                }
            }
            Err(pdu) => {
                self.terminals[terminal as usize].dropped[direction.index()] += 1;
                let bytes = self.channels[channel as usize].queued_bytes();
                self.observe(core, at, PduStep::Dropped, terminal, direction, &pdu, Some(bytes));
            }
        }
    }

    /// What has come to the Node B by now stands in its queues.
    fn arrive_at_node_b(&mut self, core: &mut Core) {
        while self.to_node_b.front().is_some_and(|first| first.at <= core.now())
            && let Some(ToNodeB { at, channel, terminal, pdu }) = self.to_node_b.pop_front()
        {
            self.clocks[usize::from(self.clock_of[channel as usize])].coming -= 1;
            self.offer(core, at, channel, terminal, Direction::Down, pdu);
        }
    }

    /// An interval begins: each channel of the clock sends what fits.
    fn frame(&mut self, core: &mut Core, number: u8) {
        self.arrive_at_node_b(core);
        let now = core.now();
        let mut channels = std::mem::take(&mut self.clocks[usize::from(number)].channels);
        for &channel in &channels {
            self.send_interval(core, channel);
        }
        channels.retain(|channel| !self.channels[*channel as usize].is_empty());
        let clock = &mut self.clocks[usize::from(number)];
        clock.channels = channels;
        if !clock.channels.is_empty() || clock.coming > 0 {
            let next = now + clock.tti;
            self.arm_frame(core, number, next);
        }
        self.arm_landings(core);
        self.follow_attachment(core);
    }

    fn send_interval(&mut self, core: &mut Core, channel: u32) {
        let now = core.now();
        let which = if channel == FACH { FACH } else { (channel - 1) % 3 + 1 };
        let direction = if matches!(which, RACH | DCH_UP) { Direction::Up } else { Direction::Down };
        let mut arrival = now + self.channels[channel as usize].rate().tti + BEYOND_AIR;
        if which == RACH && self.rach_access > Duration::ZERO {
            let nanos = self.rach_access.as_nanos() as f64 * self.accesses.unit();
            arrival += Duration::from_nanos(nanos as u64);
        }
        let mut left = self.channels[channel as usize].interval_bits();
        while let Some((terminal, pdu)) = self.channels[channel as usize].next(&mut left) {
            let bytes = self.channels[channel as usize].queued_bytes();
            self.observe(core, now, PduStep::Aired, terminal, direction, &pdu, Some(bytes));
            let landing = Landing { at: arrival, sent: now, terminal, pdu };
            land(&mut self.landings[direction.index()], landing);
        }
    }

    fn arm_landings(&mut self, core: &mut Core) {
        for place in 0..self.landings.len() {
            if let Some(first) = self.landings[place].front()
                && first.at < self.armed[place]
            {
                self.armed[place] = first.at;
                self.arm(core, first.at, key(LANDING, place as u32));
            }
        }
    }

    /// PDUs have come over the air, or to the RNC.
    fn wake_landing(&mut self, core: &mut Core, place: usize) {
        if self.armed[place] != core.now() {
            return; // an old wake-up
        }
        self.armed[place] = Instant::MAX;
        while self.landings[place].front().is_some_and(|first| first.at <= core.now())
            && let Some(landing) = self.landings[place].pop_front()
        {
            match place {
                TO_RNC => self.receive(core, landing.terminal, Direction::Up, &landing.pdu),
                _ => self.come_over_air(core, Direction::BOTH[place], landing),
            }
        }
        self.arm_landings(core);
    }

    /// A PDU has come over the air, if that does not lose it.
    fn come_over_air(&mut self, core: &mut Core, direction: Direction, landing: Landing) {
        let Landing { at, terminal, pdu, .. } = landing;
        let ue = &mut self.terminals[terminal as usize];
        if ue.loss[direction.index()].0.as_mut().is_some_and(|model| model.loses(at)) {
            ue.lost[direction.index()] += 1;
            return self.observe(core, at, PduStep::Lost, terminal, direction, &pdu, None);
        }
        match direction {
            Direction::Down => self.receive(core, terminal, direction, &pdu),
            Direction::Up => {
                let arrival = self.iub[Direction::Up.index()].arrival(at, pdu.bits);
                self.landings[TO_RNC].push_back(Landing { at: arrival, sent: at, terminal, pdu });
            }
        }
    }

    fn receive(&mut self, core: &mut Core, terminal: u32, direction: Direction, pdu: &Pdu) {
        let now = core.now();
        self.observe(core, now, PduStep::Received, terminal, direction, pdu, None);
        let ue = &mut self.terminals[terminal as usize];
        let receiver = 1 - direction.index();
        ue.senders[receiver].arq.on_pdu(now, pdu, &mut self.outcomes);
        if !self.outcomes.is_empty() {
            self.end_sdus(core, terminal, direction);
        }
        self.activate(core, terminal, Direction::BOTH[receiver]);
        self.arm_entity(core, terminal, receiver);
    }

    /// What an entity has said of SDUs: their packets arrive, or are lost.
    fn end_sdus(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        let ue = &mut self.terminals[terminal as usize];
        let to = if direction == Direction::Down { ue.end } else { self.rnc };
        let from = &mut ue.senders[direction.index()];
        for outcome in self.outcomes.drain(..) {
            match outcome {
                Outcome::Delivered(sdu) => {
                    if let Some(pkt) = from.take(sdu) {
                        from.count(core, &pkt);
                        core.arrive(to.node, to.port, pkt);
                    }
                }
                Outcome::Lost(sdu) => {
                    if let Some(pkt) = from.take(sdu) {
                        core.drop(pkt, from.place, Cause::Radio);
                    }
                }
            }
        }
    }

    /// Wakes an RLC entity of a terminal when it wishes.
    #[inline]
    fn arm_entity(&mut self, core: &mut Core, terminal: u32, entity: usize) {
        let ue = &mut self.terminals[terminal as usize];
        if let Some(at) = ue.senders[entity].arq.next_timeout().filter(|at| *at < ue.armed) {
            ue.armed = at;
            // Timers expire before anything else happens at their instant.
            let target = Target { component: self.component, key: key(TERMINAL, terminal) };
            core.arm(target, at, Instant::ZERO);
        }
    }

    fn wake_terminal(&mut self, core: &mut Core, terminal: u32) {
        let now = core.now();
        let ue = &mut self.terminals[terminal as usize];
        if ue.armed != now {
            return; // an old wake-up
        }
        ue.armed = Instant::MAX;
        for direction in Direction::BOTH {
            let arq = &mut self.terminals[terminal as usize].senders[direction.index()].arq;
            if arq.next_timeout().is_some_and(|at| at <= now) {
                arq.on_timeout(now);
                self.activate(core, terminal, direction);
            }
        }
        for direction in Direction::BOTH {
            self.arm_entity(core, terminal, direction.index());
        }
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

    /// An entity follows the intervals of its present channel, from when it would have handed down
    /// PDUs for the former one.
    fn change_clock(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        let tti = self.channel(terminal, direction).map(|channel| self.channels[channel as usize].rate().tti);
        let sender = &self.terminals[terminal as usize].senders[direction.index()];
        let (former, ticking) = (sender.clock, sender.ticking);
        let clock = &self.clocks[usize::from(former)];
        if tti == Some(clock.tti) {
            return self.activate(core, terminal, direction);
        }
        if ticking {
            remove(&mut self.clocks[usize::from(former)].senders, 2 * terminal + direction.index() as u32);
        }
        let next = self.clocks[usize::from(former)].next_tick(core.now());
        let present = tti.map_or(former, |tti| {
            let phase = Duration::from_nanos(next.as_nanos() % tti.as_nanos());
            self.clock(tti, phase)
        });
        let sender = &mut self.terminals[terminal as usize].senders[direction.index()];
        sender.ticking = false;
        sender.clock = present;
        sender.not_before = next;
        self.activate(core, terminal, direction);
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

impl Umts {
    /// By which paths are compared: the Iub and an interval.
    fn delay(&self) -> Duration {
        self.channels[FACH as usize].rate().tti
    }

    fn enqueue(&mut self, core: &mut Core, terminal: u32, direction: Direction, pkt: Pkt) {
        let now = core.now();
        let bytes = core.packet(&pkt).size;
        let sender = &mut self.terminals[terminal as usize].senders[direction.index()];
        match sender.enqueue(now, pkt, bytes) {
            Ok(()) => {
                self.activate(core, terminal, direction);
                self.arm_entity(core, terminal, direction.index());
                self.attachment.on_backlog(now, terminal, direction, &Bearers(&self.terminals));
            }
            Err(pkt) => core.drop(pkt, sender.place, Cause::Overflow),
        }
    }
}

/// What waits at the terminals' bearers.
struct Bearers<'a>(&'a [Ue]);

impl Waiting for Bearers<'_> {
    fn unsent(&self, terminal: u32, direction: Direction) -> Unsent {
        self.0[terminal as usize].senders[direction.index()].arq.backlog()
    }
}

/// Enters a number into a sorted list, once.
fn insert(list: &mut Vec<u32>, number: u32) {
    if let Err(place) = list.binary_search(&number) {
        list.insert(place, number);
    }
}

/// Takes a number out of a sorted list.
fn remove(list: &mut Vec<u32>, number: u32) {
    if let Ok(place) = list.binary_search(&number) {
        list.remove(place);
    }
}

/// Enters a landing in the order of arrival; of those that end at one instant the shorter interval
/// comes first (as in EURANE). Most come in order.
fn land(landings: &mut VecDeque<Landing>, landing: Landing) {
    let is_later = |other: &Landing| other.at > landing.at || (other.at == landing.at && other.sent < landing.sent);
    if !landings.back().is_some_and(is_later) {
        return landings.push_back(landing);
    }
    let behind = landings.iter().rev().take_while(|other| is_later(other)).count();
    landings.insert(landings.len() - behind, landing);
}

/// The first multiple of `tti` at `at` or later.
fn at_or_after(at: Instant, tti: Duration) -> Instant {
    Instant::from_nanos(at.as_nanos().div_ceil(tti.as_nanos()) * tti.as_nanos())
}
