//! What the medium does when a terminal changes cells.

use crate::radio::Direction;
use crate::radio::alarm::Alarm;
use crate::radio::attachment::Service;
use crate::radio::umts::roaming::{Area, CarryOver, Step};
use lasthop_net::engine::Instant;
use lasthop_net::net::observe::Cause;
use lasthop_net::net::{Core, Pkt};

use super::Umts;
use super::channels::{DCH_DOWN, fach};
use super::landing::TO_RNC;

/// What moves terminals between cells.
pub(super) struct Roaming {
    pub(super) area: Area,
    pub(super) alarm: Alarm,
}

impl Umts {
    /// Where terminals are, if they roam.
    #[inline]
    pub(super) fn area(&self) -> Option<&Area> {
        self.roaming.as_deref().map(|roaming| &roaming.area)
    }

    /// What serves a terminal now: nothing while it is silent.
    #[inline]
    pub(super) fn service(&self, terminal: u32) -> Service {
        match self.area() {
            Some(area) if area.is_silent(terminal) => Service::Nothing,
            _ => self.terminals[terminal as usize].service,
        }
    }

    /// Where a terminal's RLC ends.
    #[inline]
    pub(super) fn serving_rnc(&self, terminal: u32) -> u32 {
        self.area().map_or(0, |area| area.rnc(terminal))
    }

    /// The cell whose common channels a terminal uses.
    #[inline]
    pub(super) fn own_cell(&self, terminal: u32) -> u32 {
        self.area().map_or(0, |area| area.cells(terminal)[0])
    }

    /// The other system that serves a terminal.
    #[inline]
    pub(super) fn away(&self, terminal: u32) -> Option<u32> {
        self.area()?.away(terminal)
    }

    pub(super) fn start_area(&mut self, core: &mut Core) {
        let Some(Roaming { area, .. }) = self.roaming.as_deref_mut() else { return };
        area.start(&mut *self.air, &mut *self.attachment);
        for (terminal, ue) in (0..).zip(&self.terminals) {
            area.on_dedicated(core.now(), terminal, ue.service == Service::Dedicated, &mut *self.attachment);
        }
        self.arm_area(core);
    }

    /// The attachment has given a terminal dedicated channels, or taken them.
    pub(super) fn tell_area(&mut self, now: Instant, terminal: u32, dedicated: bool) {
        if let Some(Roaming { area, .. }) = self.roaming.as_deref_mut() {
            area.on_dedicated(now, terminal, dedicated, &mut *self.attachment);
        }
    }

    pub(super) fn wake_area(&mut self, core: &mut Core) {
        let Some(Roaming { area, alarm }) = self.roaming.as_deref_mut() else { return };
        if !alarm.rings(core) {
            return;
        }
        area.on_timeout(core.now(), &mut *self.air, &mut *self.attachment);
        while let Some(step) = self.roaming.as_mut().and_then(|roaming| roaming.area.poll()) {
            self.follow(core, step);
        }
        self.arm_area(core);
        self.follow_attachment(core);
    }

    fn arm_area(&mut self, core: &mut Core) {
        if let Some(Roaming { area, alarm }) = self.roaming.as_deref_mut() {
            alarm.set(core, Some(area.next_timeout()));
        }
    }

    fn follow(&mut self, core: &mut Core, step: Step) {
        match step {
            Step::Broken(terminal) => {
                self.lose_links(core, terminal);
                self.change_clocks(core, terminal);
            }
            Step::Paused(terminal) | Step::Resumed(terminal) => self.change_clocks(core, terminal),
            Step::Left(terminal, system) => self.leave(core, terminal, system),
            Step::Returned(terminal, system) => self.come_back(core, terminal, system),
            Step::Relocated(_) => core.change_ways(),
        }
    }

    fn change_clocks(&mut self, core: &mut Core, terminal: u32) {
        for direction in Direction::BOTH {
            self.change_clock(core, terminal, direction);
        }
    }

    /// PDUs on their way to or from a terminal over radio links that end are lost. Those waiting at the terminal itself stay, and so do
    /// those that a Node B has received.
    fn lose_links(&mut self, core: &mut Core, terminal: u32) {
        self.lose_on_way_down(core, terminal, false);
        self.lose_on_air(core, terminal);
    }

    /// Loses PDUs on their way down: on wires, and in the queue of the terminal's own channel. With `all`, also those for common channels,
    /// which would otherwise send them in vain.
    fn lose_on_way_down(&mut self, core: &mut Core, terminal: u32, all: bool) {
        let own = self.channels.own(terminal, DCH_DOWN);
        let mut lost = Vec::new();
        for place in (0..self.flights.to_node_b.len()).rev() {
            let coming = &self.flights.to_node_b[place];
            if coming.terminal == terminal
                && (all || coming.channel == own)
                && let Some(coming) = self.flights.to_node_b.remove(place)
            {
                self.channels.clock_of(coming.channel).coming -= 1;
                lost.push(coming.pdu);
            }
        }
        lost.reverse();
        lost.splice(0..0, self.channels[own].queue.take(terminal));
        if all {
            for cell in 0..self.utran.cells() as u32 {
                lost.extend(self.channels[fach(cell)].queue.take(terminal));
            }
        }
        for pdu in lost {
            let pdu = self.flights.pdus.take(pdu);
            self.lose(core, core.now(), terminal, Direction::Down, &pdu);
        }
    }

    fn lose_on_air(&mut self, core: &mut Core, terminal: u32) {
        for direction in Direction::BOTH {
            for pdu in self.flights.take_landings(direction.index(), terminal) {
                self.lose(core, core.now(), terminal, direction, &pdu);
            }
        }
    }

    /// The bearer ends: nothing of it is under way any more. Gives the packets of each direction that have not come.
    fn end_bearer(&mut self, core: &mut Core, terminal: u32) -> [Vec<Pkt>; 2] {
        self.lose_on_way_down(core, terminal, true);
        self.lose_on_air(core, terminal);
        self.flights.take_landings(TO_RNC, terminal);
        for channel in self.channels.all_own(terminal) {
            for pdu in self.channels[channel].queue.take(terminal) {
                self.flights.pdus.take(pdu);
            }
        }
        let ue = &mut self.terminals[terminal as usize];
        let packets = Direction::BOTH.map(|sends| ue.senders[sends.index()].begin_anew((self.rlc)(sends)));
        self.change_clocks(core, terminal);
        packets
    }

    /// A terminal leaves for another system.
    fn leave(&mut self, core: &mut Core, terminal: u32, number: u32) {
        let packets = self.end_bearer(core, terminal);
        let Some(area) = self.area() else { return };
        let system = &area.systems()[number as usize];
        let (interruption, carry_over) = (system.interruption, system.carry_over);
        let rnc = self.rncs[self.serving_rnc(terminal) as usize];
        self.elsewhere.begin(core, terminal, number, rnc, interruption);
        for (direction, packets) in Direction::BOTH.into_iter().zip(packets) {
            self.carry_over(core, terminal, direction, packets, carry_over);
        }
    }

    /// A terminal comes back from another system.
    fn come_back(&mut self, core: &mut Core, terminal: u32, number: u32) {
        let Some(area) = self.area() else { return };
        let carry_over = area.systems()[number as usize].carry_over;
        for direction in Direction::BOTH {
            let packets = self.elsewhere.end(core, terminal, number, direction);
            self.carry_over(core, terminal, direction, packets, carry_over);
        }
        self.change_clocks(core, terminal);
    }

    /// Packets that waited at the former system go to the present one, or are dropped.
    fn carry_over(&mut self, core: &mut Core, n: u32, direction: Direction, packets: Vec<Pkt>, how: CarryOver) {
        let place = self.terminals[n as usize].senders[direction.index()].place;
        for pkt in packets {
            if how == CarryOver::Keep || core.packet(&pkt).is_exempt() {
                self.enqueue(core, n, direction, pkt);
            } else {
                core.drop(pkt, place, Cause::Handover);
            }
        }
    }
}
