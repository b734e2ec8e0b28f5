//! A cell with one terminal, as EURANE has it: an RLC entity at each end, the Iub, a MAC queue before
//! the air in each direction. What EURANE draws at random, the RLC's spacing and the RACH access delay, is
//! zero unless given.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::radio::arq::{LinkArq, Outcome, Slot};
use lasthop_core::radio::rlc::{Control, Pdu, Reason};
use lasthop_core::replicas::eurane::rlc::{Config, Entity};

/// To the terminal, and back. An entity has the number of the direction in which it sends.
pub const DOWN: usize = 0;
pub const UP: usize = 1;

/// Serialisation of a PDU of 320 bits on the Iub, at 622 Mb/s.
const IUB_SERIALISATION_NS: u64 = 514;
const IUB_DELAY: Duration = Duration::from_millis(15);
/// Channel and MAC: 5 us and 10 us.
const AIR_DELAY: Duration = Duration::from_nanos(15_000);
/// By how much RLC ticks precede the frames of the MAC.
const TICK_LEAD: Duration = Duration::from_millis(1);

/// The transport channel of a direction.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    pub rate_bps: u64,
    pub tti: Duration,
}

impl Channel {
    pub const FACH: Self = Self { rate_bps: 32_000, tti: Duration::from_millis(10) };
    pub const RACH: Self = Self { rate_bps: 16_000, tti: Duration::from_millis(20) };
    pub const DCH_64: Self = Self { rate_bps: 64_000, tti: Duration::from_millis(10) };
    pub const DCH_32: Self = Self { rate_bps: 32_000, tti: Duration::from_millis(10) };

    fn bits(&self) -> u64 {
        self.rate_bps * self.tti.as_nanos() / 1_000_000_000
    }

    fn pdus(&self) -> u32 {
        (self.bits() / 320) as u32
    }
}

/// Says of the n-th PDU that comes over the air in a direction, from 0, whether it is lost.
pub type Loss = Box<dyn FnMut(Arrival) -> bool>;

/// A PDU comes over the air.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub at: Instant,
    pub direction: usize,
    pub number: u64,
}

/// An event, as a row of a trace: its time, and the other columns as text.
pub struct Row {
    pub at: Instant,
    pub columns: String,
}

/// Events, in the order of execution at one instant. Timers come before all of them.
enum Event {
    Sdu { bytes: u32, name: u64 },
    AtMac(Pdu),
    Frame,
    OverAir(Pdu),
    AtPeer(Pdu),
    Tick,
}

struct Side {
    channel: Channel,
    entity: Entity,
    ticking: bool,
    iub_free: Instant,
    queue: VecDeque<Pdu>,
    framing: bool,
    over_air: u64,
    /// When the next PDUs leave the entity, if not at their ticks.
    leaves: VecDeque<Instant>,
    /// By how much the next frames come later than they would.
    access_delays: VecDeque<Duration>,
    /// Name and size of the SDUs that its entity took, by their numbers there.
    sdus: Vec<(u64, u32)>,
    /// What became of these, in the order in which the far end said so.
    outcomes: Vec<Outcome>,
    audit: Audit,
}

/// What must hold whatever is lost, seen from outside.
#[derive(Default)]
struct Audit {
    /// How often the PDU of each sequence number was sent, and whether it has come.
    pdus: Vec<(u32, bool)>,
    /// How many bytes of each SDU have come.
    bytes: Vec<u32>,
}

impl Audit {
    fn send(&mut self, pdu: &Pdu) {
        if pdu.data > 0 {
            let sn = pdu.sn as usize;
            self.pdus.resize(self.pdus.len().max(sn + 1), (0, false));
            self.pdus[sn].0 += 1;
        }
    }

    fn receive(&mut self, pdu: &Pdu) {
        if pdu.data == 0 || std::mem::replace(&mut self.pdus[pdu.sn as usize].1, true) {
            return;
        }
        let sdu = pdu.sdu as usize;
        self.bytes.resize(self.bytes.len().max(sdu + 2), 0);
        self.bytes[sdu] += u32::from(pdu.first);
        self.bytes[sdu + 1] += u32::from(pdu.data - pdu.first);
    }
}

pub struct Cell {
    now: Instant,
    sides: [Side; 2],
    events: BinaryHeap<Reverse<(Instant, bool, u64, usize)>>,
    payloads: Vec<Option<Event>>,
    vacant: Vec<usize>,
    number: u64,
    loss: Loss,
    log: Option<Vec<Row>>,
}

impl Cell {
    pub fn new(config: &Config, channels: [Channel; 2], loss: Loss) -> Self {
        let side = |channel| Side {
            channel,
            entity: Entity::new(config),
            ticking: false,
            iub_free: Instant::ZERO,
            queue: VecDeque::new(),
            framing: false,
            over_air: 0,
            leaves: VecDeque::new(),
            access_delays: VecDeque::new(),
            sdus: Vec::new(),
            outcomes: Vec::new(),
            audit: Audit::default(),
        };
        Self {
            now: Instant::ZERO,
            sides: channels.map(side),
            events: BinaryHeap::new(),
            payloads: Vec::new(),
            vacant: Vec::new(),
            number: 0,
            loss,
            log: None,
        }
    }

    /// Writes down what happens.
    pub fn log(&mut self) {
        self.log = Some(Vec::new());
    }

    pub fn take_log(&mut self) -> Vec<Row> {
        self.log.take().expect("it was asked to log")
    }

    /// Sets the random draws: when PDUs leave the entity, and by how much frames are late.
    pub fn draw(&mut self, direction: usize, leaves: Vec<Instant>, access_delays: Vec<Duration>) {
        self.sides[direction].leaves = leaves.into();
        self.sides[direction].access_delays = access_delays.into();
    }

    /// An SDU that enters at `at`.
    pub fn send(&mut self, direction: usize, at: Instant, bytes: u32, name: u64) {
        self.enter(at, direction, Event::Sdu { bytes, name });
    }

    pub fn entity(&self, direction: usize) -> &Entity {
        &self.sides[direction].entity
    }

    /// How many SDUs were taken.
    pub fn taken(&self, direction: usize) -> usize {
        self.sides[direction].sdus.len()
    }

    /// What became of SDUs, in the order in which the far end said so.
    pub fn outcomes(&self, direction: usize) -> &[Outcome] {
        &self.sides[direction].outcomes
    }

    /// How often the PDU was sent that was sent most often.
    pub fn most_transmissions(&self, direction: usize) -> u32 {
        self.sides[direction].audit.pdus.iter().map(|(sent, _)| *sent).max().unwrap_or(0)
    }

    /// Runs what happens before `until`.
    pub fn run_until(&mut self, until: Instant) {
        loop {
            let event = self.events.peek().map(|Reverse(key)| key.0);
            let timer = (0..2).filter_map(|side| Some((self.sides[side].entity.next_timeout()?, side))).min();
            match (timer, event) {
                (Some((at, side)), event) if at < until && event.is_none_or(|event| at <= event) => {
                    assert!(at >= self.now, "a timer in the past");
                    self.now = at;
                    self.sides[side].entity.on_timeout(at);
                    self.count_intervals(side);
                }
                (_, Some(at)) if at < until => {
                    let Reverse((_, _, _, key)) = self.events.pop().expect("it was seen");
                    self.now = at;
                    let event = self.payloads[key >> 1].take().expect("an event is entered once");
                    self.vacant.push(key >> 1);
                    self.happen(key & 1, event);
                }
                _ => break,
            }
        }
        self.now = until;
    }

    fn happen(&mut self, direction: usize, event: Event) {
        let (now, peer) = (self.now, 1 - direction);
        let side = &mut self.sides[direction];
        match event {
            Event::Sdu { bytes, name } => {
                let taken = side.entity.enqueue(now, bytes, false);
                if taken {
                    side.sdus.push((name, bytes));
                }
                self.write(if taken { "SDU_IN" } else { "SDU_DROP" }, direction, || {
                    format!(",,,,,,,,,,,,,{name},{bytes}")
                });
                self.count_intervals(direction);
            }
            Event::Tick => self.tick(direction),
            Event::AtMac(pdu) => {
                // EURANE adds bits to the bytes that are queued.
                let queued: u64 = side.queue.iter().map(|pdu| u64::from(pdu.bits / 8)).sum();
                if queued + u64::from(pdu.bits) > 2 * side.channel.bits() {
                    self.write("QDROP", direction, || columns(&pdu, false, Some(queued)));
                    return;
                }
                side.queue.push_back(pdu);
                if !std::mem::replace(&mut side.framing, true) {
                    let tti = side.channel.tti.as_nanos();
                    let frame = Instant::from_nanos(now.as_nanos().div_ceil(tti) * tti);
                    self.enter(frame, direction, Event::Frame);
                }
            }
            Event::Frame => self.frame(direction),
            Event::OverAir(pdu) => {
                let number = side.over_air;
                side.over_air += 1;
                if (self.loss)(Arrival { at: now, direction, number }) {
                    self.write("LOST", direction, || columns(&pdu, false, None));
                } else if direction == DOWN {
                    self.arrive(direction, &pdu);
                } else {
                    let at = self.over_iub(direction, now);
                    self.enter(at, direction, Event::AtPeer(pdu));
                }
            }
            Event::AtPeer(pdu) => self.arrive(direction, &pdu),
        }
        self.count_intervals(peer);
    }

    fn tick(&mut self, direction: usize) {
        let side = &mut self.sides[direction];
        let (now, channel) = (self.now, side.channel);
        side.ticking = false;
        for place in 0..channel.pdus() {
            let side = &mut self.sides[direction];
            let at = side.leaves.front().copied().unwrap_or(now);
            let [bits, left] = [channel.pdus(), channel.pdus() - place].map(|pdus| 320 * pdus);
            let slot = Slot { now, at, tti: channel.tti, bits, left };
            let Some(pdu) = side.entity.wants_to_send().then(|| side.entity.pull(&slot)).flatten() else { break };
            side.leaves.pop_front();
            assert_eq!(pdu.bits, 320);
            side.audit.send(&pdu);
            self.write_at(at, "TX", direction, || columns(&pdu, true, None));
            let at = if direction == DOWN { self.over_iub(direction, at) } else { at };
            self.enter(at, direction, Event::AtMac(pdu));
        }
        let side = &mut self.sides[direction];
        if side.entity.wants_to_send() {
            side.ticking = true;
            self.enter(now + channel.tti, direction, Event::Tick);
        }
    }

    /// When what enters the Iub at `at` leaves it.
    fn over_iub(&mut self, direction: usize, at: Instant) -> Instant {
        let free = &mut self.sides[direction].iub_free;
        *free = (*free).max(at) + Duration::from_nanos(IUB_SERIALISATION_NS);
        *free + IUB_DELAY
    }

    fn frame(&mut self, direction: usize) {
        let channel = self.sides[direction].channel;
        let mut budget = channel.bits();
        let late = self.sides[direction].access_delays.pop_front().unwrap_or_default();
        while let Some(pdu) = self.sides[direction].queue.pop_front_if(|pdu| u64::from(pdu.bits) <= budget) {
            budget -= u64::from(pdu.bits);
            let left = self.sides[direction].queue.iter().map(|pdu| u64::from(pdu.bits / 8)).sum();
            self.write("AIR", direction, || columns(&pdu, false, Some(left)));
            self.enter(self.now + AIR_DELAY + channel.tti + late, direction, Event::OverAir(pdu));
        }
        let side = &mut self.sides[direction];
        side.framing = !side.queue.is_empty();
        if side.framing {
            self.enter(self.now + channel.tti, direction, Event::Frame);
        }
    }

    /// A PDU reaches the entity at the other end.
    fn arrive(&mut self, direction: usize, pdu: &Pdu) {
        self.write("RX", direction, || columns(pdu, false, None));
        self.sides[direction].audit.receive(pdu);
        let mut outcomes = Vec::new();
        self.sides[1 - direction].entity.on_pdu(self.now, pdu, &mut outcomes);
        for outcome in outcomes {
            let side = &mut self.sides[direction];
            let (Outcome::Delivered(sdu) | Outcome::Lost(sdu)) = outcome;
            assert_eq!(sdu, side.outcomes.len() as u64, "in order, and each once");
            side.outcomes.push(outcome);
            let (name, bytes) = side.sdus[sdu as usize];
            let come = side.audit.bytes.get(sdu as usize).copied().unwrap_or(0);
            assert_eq!(outcome == Outcome::Delivered(sdu), come == bytes, "{outcome:?} with {come} of {bytes} B");
            if outcome == Outcome::Delivered(sdu) {
                self.write("SDU_OUT", direction, || format!(",,,,,,,,,,,,,{name},{bytes}"));
            }
        }
        self.count_intervals(direction);
    }

    /// Counts intervals for an entity from now on, if it wants to send.
    fn count_intervals(&mut self, direction: usize) {
        let side = &mut self.sides[direction];
        if side.ticking || !side.entity.wants_to_send() {
            return;
        }
        side.ticking = true;
        let tti = side.channel.tti.as_nanos();
        let n = (self.now + TICK_LEAD).as_nanos().div_ceil(tti).max(1);
        self.enter(Instant::from_nanos(n * tti - TICK_LEAD.as_nanos()), direction, Event::Tick);
    }

    fn enter(&mut self, at: Instant, direction: usize, event: Event) {
        let tick = matches!(event, Event::Tick);
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.payloads.push(None);
            self.payloads.len() - 1
        });
        self.payloads[place] = Some(event);
        self.number += 1;
        self.events.push(Reverse((at, tick, self.number, place << 1 | direction)));
    }

    fn write(&mut self, event: &str, direction: usize, columns: impl FnOnce() -> String) {
        self.write_at(self.now, event, direction, columns);
    }

    fn write_at(&mut self, at: Instant, event: &str, direction: usize, columns: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            let direction = if direction == DOWN { "D" } else { "U" };
            log.push(Row { at, columns: format!("{event},{direction},{}", columns()) });
        }
    }
}

/// A PDU in the columns of a trace.
fn columns(pdu: &Pdu, cause: bool, queue: Option<u64>) -> String {
    let status = pdu.control.as_deref().map(|control| match control {
        Control::Status(status) => status,
        other => panic!("EURANE knows no {other:?}"),
    });
    let data = pdu.data > 0;
    let kind = match (data, status) {
        (true, None) => "DATA",
        (true, Some(_)) => "DATA+STATUS",
        (false, _) => "STATUS",
    };
    let numbered = |shown: bool| if shown { pdu.sn.to_string() } else { String::new() };
    let parts = [pdu.first, pdu.data - pdu.first, status.map_or(0, |status| status.bytes)];
    let mut parts: Vec<u16> = parts.into_iter().filter(|part| *part > 0).collect();
    parts.resize(3, 0);
    let cause = match (cause, pdu.reason) {
        (false, _) => "",
        (true, Reason::New) => "new",
        (true, Reason::Retransmission) => "rtx",
        (true, Reason::Poll) => "poll",
        (true, Reason::Control) => "status",
    };
    let bitmap: String =
        status.iter().flat_map(|status| &status.received).map(|bit| if *bit { '1' } else { '0' }).collect();
    format!(
        "{kind},{},{},{},{},{},{},{},{},{cause},{},{},{bitmap},,",
        numbered(data),
        numbered(pdu.ends > 0),
        u8::from(pdu.poll),
        pdu.indicators,
        parts[0],
        parts[1],
        parts[2],
        pdu.padding,
        queue.map_or(String::new(), |bytes| bytes.to_string()),
        status.map_or(String::new(), |status| status.first.to_string()),
    )
}
