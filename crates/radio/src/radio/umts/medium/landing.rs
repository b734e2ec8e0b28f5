//! From the air to the RLC entities: sent PDUs arrive, unless the air loses them.

use std::collections::VecDeque;

use crate::radio::Direction;
use crate::radio::alarm::Alarm;
use crate::radio::arq::{LinkArq, Outcome};
use crate::radio::attachment::Service;
use crate::radio::channel::{Block, Receivers};
use crate::radio::pdcp::rfc2507::ContextLost;
use crate::radio::rlc::Pdu;
use crate::radio::umts::bearer::Sdu;
use crate::radio::umts::slab::{Flying, Slab};
use lasthop_net::engine::{Duration, FloatTime, Instant};
use lasthop_net::net::Core;
use lasthop_net::net::clock::{Clock, Ns2};
use lasthop_net::net::observe::{Cause, PduStep};

use super::channels::{Kind, fach};
use super::intervals::ToNodeB;
use super::roaming::Roaming;
use super::{ONE_CELL, Umts, line};

/// From the end of an interval to the RLC entity at the other side: channel and MAC (EURANE).
pub(super) const BEYOND_AIR: Duration = Duration::from_micros(15);

/// A PDU under way to an RLC entity.
pub(super) struct Landing {
    pub(super) at: Instant,
    /// When the interval began in which it was sent.
    pub(super) sent: Instant,
    /// The channel that it came by.
    pub(super) channel: u32,
    pub(super) terminal: u32,
    /// Another was sent over the same channel at the same time: neither is received.
    pub(super) collided: bool,
    pub(super) pdu: Flying,
    /// When it is at the RNC by ns-2's clock, if that is followed.
    pub(super) time: Option<FloatTime>,
}

/// The lanes of the air are in the places of its two directions; then comes the Iub up to the RNC.
pub(super) const TO_RNC: usize = 2;

/// The PDUs under way between RLC entities.
pub(super) struct Flights {
    /// Where those lie whose handles are in queues and lanes.
    pub(super) pdus: Slab,
    /// Those that leave the RNC in one interval, with when, their channels and their terminals; empty between events.
    pub(super) leaving: Vec<(Instant, u32, u32, Flying)>,
    /// From the RNC to the Node B's queues, in the order of arrival.
    pub(super) to_node_b: VecDeque<ToNodeB>,
    /// On the air down and up, and up from the Node B to the RNC.
    pub(super) lanes: [Lane; 3],
}

/// PDUs in the order of arrival.
pub(super) struct Lane {
    pub(super) landings: VecDeque<Landing>,
    alarm: Alarm,
}

impl Lane {
    /// How many of its PDUs come after those of an interval that began at `sent`, if these come at `at`. Of what ends at one instant that of
    /// the shorter interval comes first, if it `overtakes` the other, which began before.
    #[inline]
    pub(super) fn behind(&self, at: Instant, sent: Instant, mut overtakes: impl FnMut(&Landing) -> bool) -> usize {
        line::behind(&self.landings, |other| other.at > at || (other.at == at && other.sent < sent && overtakes(other)))
    }
}

impl Flights {
    /// None, with the alarm of each lane.
    pub(super) fn new(alarm: impl Fn(u32) -> Alarm) -> Self {
        let lane = |place| Lane { landings: VecDeque::new(), alarm: alarm(place) };
        Self {
            pdus: Slab::default(),
            leaving: Vec::new(),
            to_node_b: VecDeque::new(),
            lanes: [lane(0), lane(1), lane(2)],
        }
    }

    /// How many are under way to a Node B, on the air, or under way to an RNC.
    pub(super) fn len(&self) -> usize {
        self.to_node_b.len() + self.lanes.iter().map(|lane| lane.landings.len()).sum::<usize>()
    }

    /// Takes out the PDUs in a lane to or from a terminal.
    pub(super) fn take_landings(&mut self, lane: usize, terminal: u32) -> Vec<Pdu> {
        let landings = std::mem::take(&mut self.lanes[lane].landings);
        let (taken, kept): (VecDeque<_>, VecDeque<_>) =
            landings.into_iter().partition(|landing| landing.terminal == terminal);
        self.lanes[lane].landings = kept;
        taken.into_iter().map(|landing| self.pdus.take(landing.pdu)).collect()
    }
}

impl Umts {
    /// Wakes a lane when its first PDU comes.
    #[inline]
    pub(super) fn arm_lane(&mut self, core: &mut Core, place: usize) {
        let Lane { landings, alarm } = &mut self.flights.lanes[place];
        if let Some(first) = landings.front() {
            alarm.set_as(core, Some(first.at), |core| {
                first.time.map_or(core.now(), |time| time.order_at(time.instant(), core.now()))
            });
        }
    }

    /// PDUs have come over the air, or to the RNC.
    pub(super) fn wake_landing(&mut self, core: &mut Core, place: usize) {
        if !self.flights.lanes[place].alarm.rings(core) {
            return;
        }
        let direction = if place == TO_RNC { Direction::Up } else { Direction::BOTH[place] };
        // Whose entity has heard something, and has not acted on it.
        let mut heard = None;
        while let Some(landing) = self.flights.lanes[place].landings.pop_front_if(|first| first.at <= core.now()) {
            let terminal = landing.terminal;
            self.tell_time(core, landing.time);
            if let Some(other) = heard.take_if(|other| *other != terminal) {
                self.act(core, other, direction);
            }
            let comes = if place == TO_RNC { Some(landing.pdu) } else { self.come_over_air(core, direction, landing) };
            if let Some(pdu) = comes {
                // Read where it lies: to copy it would take 1 % of the instructions of a cell.
                let content = self.flights.pdus.at(&pdu);
                self.observe(core, core.now(), PduStep::Received, terminal, direction, content, None);
                let receiver = &mut self.terminals[terminal as usize].senders[direction.reverse().index()];
                receive(core, &mut *receiver.arq, content, &mut self.outcomes);
                self.flights.pdus.free(pdu);
                if !self.outcomes.is_empty() {
                    self.end_sdus(core, terminal, direction);
                }
                heard = Some(terminal);
            }
        }
        if let Some(terminal) = heard {
            self.act(core, terminal, direction);
        }
        self.arm_lane(core, place);
        if place == Direction::Up.index() {
            self.arm_lane(core, TO_RNC);
        }
    }

    /// The present by ns-2's clock is `time`, or the nearest double, if that clock is followed.
    #[inline]
    pub(super) fn tell_time(&self, core: &mut Core, time: Option<FloatTime>) {
        if core.float().is_some() {
            let (now, since) = (core.now(), core.since());
            Ns2::set_now(core, time.unwrap_or_else(|| FloatTime::new(now)), since);
        }
    }

    /// A PDU has come over the air, unless the air loses it and may. Gives the PDU if it is at its RLC entity then.
    fn come_over_air(&mut self, core: &mut Core, direction: Direction, landing: Landing) -> Option<Flying> {
        let Landing { at, sent, channel, terminal, collided, pdu, .. } = landing;
        let kind = self.channels[channel].kind;
        let dedicated = matches!(kind, Kind::DchDown | Kind::DchUp);
        let cells = match self.roaming.as_deref() {
            Some(Roaming { area, .. }) if dedicated => area.cells(terminal),
            Some(Roaming { area, .. }) => &area.cells(terminal)[..1],
            None => &ONE_CELL,
        };
        let got = match collided || (kind == Kind::Fach && !self.listens_to(channel, terminal, cells[0])) {
            true => Receivers::NOBODY,
            false => {
                let block = Block { terminal, direction, dedicated, sent, at, cells };
                self.imposed.receive(&mut *self.air, &block)
            }
        };
        let got = match got.any() {
            true => got,
            false if self.is_exempt(core, terminal, direction, &pdu) => Receivers::ALL,
            false => {
                let pdu = self.flights.pdus.take(pdu);
                self.count_lost(core, at, terminal, direction, &pdu);
                return None;
            }
        };
        match direction {
            Direction::Down => Some(pdu),
            Direction::Up => {
                let rnc = self.serving_rnc(terminal);
                let last = &mut self.terminals[terminal as usize].last[Direction::Up.index()];
                let arrival = self.utran.up(at, pdu.bits, rnc, cells, got).max(*last);
                *last = arrival;
                let time =
                    core.float().and_then(|_| self.ns2_clock.at_node_b(self.channels[channel].queue.rate().tti, at));
                let time = time.map(|at| self.utran.up_by_ns2(at, pdu.bits));
                let lane = &mut self.flights.lanes[TO_RNC];
                let behind = lane.behind(arrival, at, |_| true);
                let landing = Landing { at: arrival, sent: at, channel, terminal, collided, pdu, time };
                line::enter(&mut lane.landings, landing, behind);
                None
            }
        }
    }

    /// Whether the air may not lose this PDU.
    #[inline(never)]
    fn is_exempt(&self, core: &Core, terminal: u32, direction: Direction, pdu: &Flying) -> bool {
        self.terminals[terminal as usize].senders[direction.index()].is_exempt(core, self.flights.pdus.at(pdu))
    }

    /// Whether a terminal whose own cell is `cell` listens to this forward access channel: to that of its cell, and not on CELL_DCH (TS 25.331
    /// §7.2.2), though there it may still be sent PDUs that were handed down before.
    #[inline]
    fn listens_to(&self, channel: u32, terminal: u32, cell: u32) -> bool {
        let is_common = || matches!(self.terminals[terminal as usize].service, Service::Common | Service::Nothing);
        fach(cell) == channel && (!self.in_order || is_common())
    }

    /// An RLC entity receives a PDU. [`Umts::act`] is called after the last of those that come together.
    #[inline]
    pub(super) fn hear(&mut self, core: &mut Core, terminal: u32, direction: Direction, pdu: &Pdu) {
        self.observe(core, core.now(), PduStep::Received, terminal, direction, pdu, None);
        let receiver = &mut self.terminals[terminal as usize].senders[direction.reverse().index()];
        receive(core, &mut *receiver.arq, pdu, &mut self.outcomes);
        if !self.outcomes.is_empty() {
            self.end_sdus(core, terminal, direction);
        }
    }

    /// Lets the entity that has received something in a direction take its actions.
    pub(super) fn act(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        let receiver = direction.reverse();
        self.activate(core, terminal, receiver);
        if direction == Direction::Down {
            self.consider_cpch(core, terminal); // a report may have opened its window
        }
        self.arm_entity(core, terminal, receiver.index());
    }

    /// What an entity has said of SDUs: their packets arrive, or are lost.
    #[inline(never)]
    fn end_sdus(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        let rnc = self.serving_rnc(terminal);
        let ue = &mut self.terminals[terminal as usize];
        let to = if direction == Direction::Down { ue.end } else { self.rncs[rnc as usize] };
        let [down, up] = &mut ue.senders;
        let (from, receiver) = if direction == Direction::Down { (down, up) } else { (up, down) };
        let (mut requests, mut again) = (Vec::new(), Vec::new());
        for outcome in self.outcomes.drain(..) {
            let (sdu, delivered) = match outcome {
                Outcome::Delivered(sdu) => (sdu, true),
                Outcome::Lost(sdu) => (sdu, false),
            };
            match from.take(sdu) {
                Some(Sdu::Packet(pkt, _)) if !delivered && core.packet(&pkt).is_exempt() => again.push(pkt),
                Some(Sdu::Packet(pkt, _)) if !delivered => core.drop(pkt, from.place, Cause::Radio),
                Some(Sdu::Packet(pkt, coded)) => {
                    if let (Some(pdcp), Some(coded)) = (&mut receiver.pdcp, coded)
                        && let Err(ContextLost { request }) = pdcp.receive(core.now(), &coded)
                    {
                        core.drop(pkt, from.place, Cause::ContextLost);
                        requests.extend(request);
                        continue;
                    }
                    from.count(core, &pkt);
                    core.arrive(to.node, to.port, pkt);
                }
                Some(Sdu::Request(cid)) => {
                    if let Some(pdcp) = receiver.pdcp.as_mut().filter(|_| delivered) {
                        pdcp.on_request(cid);
                    }
                }
                None => {}
            }
        }
        for pkt in again {
            self.enqueue(core, terminal, direction, pkt);
        }
        for cid in requests {
            self.request_header(core, terminal, direction.reverse(), cid);
        }
    }
}

/// An RLC entity receives a PDU: what follows for SDUs is added to `outcomes`.
#[inline]
fn receive(core: &Core, arq: &mut dyn LinkArq, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
    if let Some(now) = core.float() {
        arq.set_float(now);
    }
    arq.on_pdu(core.now(), pdu, outcomes);
}
