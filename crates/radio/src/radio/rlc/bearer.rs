//! A bearer on which entities are tried without a medium: two ends, a delay each way, and a say in which PDUs are lost. It checks on its
//! own that delivered SDUs have come.

use std::collections::{BTreeMap, VecDeque};

use crate::radio::arq::{ArqConfig, LinkArq, Outcome, Slot};
use lasthop_net::engine::{Duration, Instant};

use super::pdu::{Pdu, Reason};

/// A PDU on its way.
struct Flying {
    at: Instant,
    pdu: Pdu,
    number: Option<u64>,
}

/// What the bearer knows of the SDUs of one end.
#[derive(Default)]
struct Ledger {
    /// Their sizes, how much of each has left in new PDUs, and how much has come.
    sizes: Vec<u32>,
    left: Vec<u32>,
    come: Vec<u32>,
    /// For each new PDU the bytes of SDUs in it, until it has come.
    parts: BTreeMap<u64, Vec<(u64, u32)>>,
    /// The number of the last new PDU, which does not wrap.
    last: Option<u64>,
}

/// A PDU that left.
#[derive(Clone, Debug)]
pub struct Departure {
    pub at: Instant,
    pub from: usize,
    pub lost: bool,
    pub pdu: Pdu,
}

type Loses = Box<dyn FnMut(usize, u64, &Pdu) -> bool>;

/// Two ends and the PDUs between.
pub struct Bearer<A> {
    pub now: Instant,
    pub ends: [A; 2],
    /// What became of the SDUs of each end.
    pub outcomes: [Vec<(Instant, Outcome)>; 2],
    /// What each end sent, if it is kept.
    pub departures: Vec<Departure>,
    pub keeps_departures: bool,
    tti: Duration,
    pdus: u32,
    pdu_bits: u32,
    delay: Duration,
    /// Sequence numbers are taken modulo this; `None`: of no use.
    modulus: Option<u64>,
    loses: Loses,
    sent: [u64; 2],
    flying: [VecDeque<Flying>; 2],
    ledgers: [Ledger; 2],
    next_interval: Instant,
}

pub fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

impl<A: LinkArq> Bearer<A> {
    /// Intervals of 10 ms that carry one PDU, and 25 ms from end to end.
    pub fn new(ends: [A; 2], modulus: Option<u64>) -> Self {
        Self {
            now: Instant::ZERO,
            ends,
            outcomes: Default::default(),
            departures: Vec::new(),
            keeps_departures: false,
            tti: Duration::from_millis(10),
            pdus: 1,
            pdu_bits: 1,
            delay: Duration::from_millis(25),
            modulus,
            loses: Box::new(|_, _, _| false),
            sent: [0; 2],
            flying: Default::default(),
            ledgers: Default::default(),
            next_interval: Instant::ZERO,
        }
    }

    pub fn carrying(self, pdus: u32) -> Self {
        Self { pdus, ..self }
    }

    /// What a PDU takes of an interval.
    pub fn with_pdus_of(self, pdu_bits: u32) -> Self {
        Self { pdu_bits, ..self }
    }

    /// `loses(from, number, pdu)`: whether the `number`-th PDU of this end, counted from 0, is lost.
    pub fn losing(self, loses: impl FnMut(usize, u64, &Pdu) -> bool + 'static) -> Self {
        Self { loses: Box::new(loses), ..self }
    }

    pub fn losing_nothing(&mut self) {
        self.loses = Box::new(|_, _, _| false);
    }

    pub fn keeping_departures(self) -> Self {
        Self { keeps_departures: true, ..self }
    }

    /// Hands an SDU to an end. Whether it was taken.
    pub fn enqueue(&mut self, end: usize, bytes: u32) -> bool {
        let taken = self.ends[end].enqueue(self.now, bytes, false);
        if taken {
            let ledger = &mut self.ledgers[end];
            ledger.sizes.push(bytes);
            ledger.left.push(0);
            ledger.come.push(0);
        }
        taken
    }

    /// How many SDUs an end took.
    pub fn taken(&self, end: usize) -> u64 {
        self.ledgers[end].sizes.len() as u64
    }

    /// Whether nothing happens any more without an input.
    pub fn is_quiet(&self) -> bool {
        let flies = self.flying.iter().any(|flying| !flying.is_empty());
        !flies && self.ends.iter().all(|end| !end.wants_to_send() && end.next_timeout().is_none())
    }

    /// Runs to this instant, what happens at it included.
    pub fn run_until(&mut self, until: Instant) {
        while self.step(until) {}
        self.now = self.now.max(until);
    }

    /// Runs until nothing happens any more. `false`: it still goes on at `until`.
    pub fn run_until_quiet(&mut self, until: Instant) -> bool {
        while !self.is_quiet() && self.step(until) {}
        self.is_quiet()
    }

    /// Handles the next event: timers, then arrivals, then the interval.
    fn step(&mut self, until: Instant) -> bool {
        let timer = self.ends.iter().filter_map(LinkArq::next_timeout).min();
        let arrival = self.flying.iter().filter_map(|flying| flying.front().map(|flying| flying.at)).min();
        while self.next_interval < self.now {
            self.next_interval += self.tti;
        }
        let wants = self.ends.iter().any(LinkArq::wants_to_send);
        let interval = wants.then_some(self.next_interval);
        let Some(next) = [timer, arrival, interval].into_iter().flatten().min().filter(|next| *next <= until) else {
            return false;
        };
        assert!(next >= self.now, "a timer wishes to have been woken");
        self.now = next;
        if timer == Some(next) {
            self.expire();
        } else if arrival == Some(next) {
            self.arrive();
        } else {
            self.transmit();
            self.next_interval += self.tti;
        }
        true
    }

    fn expire(&mut self) {
        for end in &mut self.ends {
            if end.next_timeout().is_some_and(|at| at <= self.now) {
                end.on_timeout(self.now);
            }
        }
    }

    fn arrive(&mut self) {
        let mut outcomes = Vec::new();
        for to in 0..2 {
            while self.flying[to].front().is_some_and(|flying| flying.at <= self.now) {
                let Some(flying) = self.flying[to].pop_front() else { break };
                let ledger = &mut self.ledgers[1 - to];
                let parts = flying.number.and_then(|number| ledger.parts.remove(&number));
                for (sdu, bytes) in parts.into_iter().flatten() {
                    ledger.come[sdu as usize] += bytes;
                }
                self.ends[to].on_pdu(self.now, &flying.pdu, &mut outcomes);
                for outcome in outcomes.drain(..) {
                    if let Outcome::Delivered(sdu) = outcome {
                        let (come, size) = (ledger.come[sdu as usize], ledger.sizes[sdu as usize]);
                        assert_eq!(come, size, "SDU {sdu} of end {} is delivered", 1 - to);
                    }
                    self.outcomes[1 - to].push((self.now, outcome));
                }
            }
        }
    }

    fn transmit(&mut self) {
        for from in 0..2 {
            for place in 0..self.pdus {
                if !self.ends[from].wants_to_send() {
                    break;
                }
                let [bits, left] = [self.pdus, self.pdus - place].map(|pdus| pdus * self.pdu_bits);
                let slot = Slot { now: self.now, at: self.now, tti: self.tti, bits, left };
                let Some(pdu) = self.ends[from].pull(&slot) else { break };
                let number = self.ledgers[from].number(&pdu, self.modulus);
                let lost = (self.loses)(from, self.sent[from], &pdu);
                self.sent[from] += 1;
                if self.keeps_departures {
                    self.departures.push(Departure { at: self.now, from, lost, pdu: pdu.clone() });
                }
                if !lost {
                    let at = self.now + self.delay;
                    self.flying[1 - from].push_back(Flying { at, pdu, number });
                }
            }
        }
    }
}

impl Ledger {
    /// The number of a PDU with data. Of a new one it notes what it carries.
    fn number(&mut self, pdu: &Pdu, modulus: Option<u64>) -> Option<u64> {
        if !pdu.is_data() {
            return None;
        }
        let Some(modulus) = modulus else {
            let number = self.last.map_or(0, |last| last + 1);
            self.last = Some(number);
            self.note(number, pdu);
            return Some(number);
        };
        let sn = u64::from(pdu.sn);
        assert!(sn < modulus, "sequence numbers wrap");
        if pdu.reason == Reason::New {
            let number = match self.last {
                None => sn,
                Some(last) => last + 1 + sn.wrapping_sub(last + 1) % modulus,
            };
            self.last = Some(number);
            self.note(number, pdu);
            return Some(number);
        }
        let last = self.last.expect("what is sent again was sent");
        Some(last - last.wrapping_sub(sn) % modulus)
    }

    fn note(&mut self, number: u64, pdu: &Pdu) {
        let mut rest = u32::from(pdu.data);
        let mut parts = Vec::new();
        let ended = pdu.sdu + u64::from(pdu.ends);
        assert!(ended + u64::from(pdu.goes_on) > pdu.sdu, "a PDU with data carries a part of an SDU");
        for sdu in pdu.sdu..ended + u64::from(pdu.goes_on) {
            let place = sdu as usize;
            let open = self.sizes[place] - self.left[place];
            let bytes = open.min(rest);
            if sdu == pdu.sdu {
                assert_eq!(bytes, u32::from(pdu.first), "the first part of {pdu:?}");
                assert!(self.left[place] == 0 || !pdu.starts, "{pdu:?} starts in the middle");
                assert!(self.left[place] > 0 || pdu.starts, "{pdu:?} does not start at the start");
            }
            assert!(sdu >= ended || bytes == open, "{pdu:?} tells an end that is not there");
            self.left[place] += bytes;
            rest -= bytes;
            parts.push((sdu, bytes));
        }
        assert_eq!(rest, 0, "{pdu:?} carries more than its SDUs have");
        self.parts.insert(number, parts);
    }
}

/// Two ends with the same parameters.
pub fn pair<A>(config: &impl ArqConfig, build: impl Fn() -> A) -> [A; 2] {
    assert_eq!(config.check(), Ok(()));
    [build(), build()]
}

/// All SDUs of an end were delivered, in order: their times in milliseconds.
pub fn delivered(outcomes: &[(Instant, Outcome)]) -> Vec<f64> {
    let time = |(number, (at, outcome)): (usize, &(Instant, Outcome))| {
        assert_eq!(*outcome, Outcome::Delivered(number as u64));
        at.as_secs_f64() * 1000.0
    };
    outcomes.iter().enumerate().map(time).collect()
}

/// Every SDU of an end came to an end, in order. How many were lost.
pub fn in_order(outcomes: &[(Instant, Outcome)], taken: u64) -> u64 {
    assert_eq!(outcomes.len() as u64, taken, "every SDU comes to an end: {outcomes:?}");
    let mut lost = 0;
    for (number, (_, outcome)) in outcomes.iter().enumerate() {
        match outcome {
            Outcome::Delivered(sdu) => assert_eq!(*sdu, number as u64),
            Outcome::Lost(sdu) => {
                assert_eq!(*sdu, number as u64);
                lost += 1;
            }
        }
    }
    lost
}
