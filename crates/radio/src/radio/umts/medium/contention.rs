//! Uplink channels for which terminals contend: RACH with access slots, and the common packet channels.

use crate::radio::Direction;
use crate::radio::alarm::Alarm;
use crate::radio::attachment::Service;
use crate::radio::umts::cpch::{Cpch, Uplink};
use crate::radio::umts::rach::{Aloha, Place};
use lasthop_net::engine::{Duration, Instant, Stream};
use lasthop_net::net::Core;

use super::Umts;
use super::channels::{Channels, Kind, RACH, TransportChannel};
use super::clock::at_or_after;
use super::landing::BEYOND_AIR;
use super::terminal::{Bearers, Ue};

/// How messages get onto the random access channels.
pub(super) struct Rach {
    /// Access delays the PDUs of an interval by up to this long, at random.
    pub(super) delay: Duration,
    /// Access is slotted ALOHA instead.
    pub(super) aloha: Option<Aloha>,
    pub(super) stream: Stream,
    /// Messages whose places have been chosen, with their channels; empty between events.
    preambles: Vec<(Place, u32)>,
}

impl Rach {
    pub(super) fn new(delay: Duration, aloha: Option<Aloha>, stream: Stream) -> Self {
        Self { delay, aloha, stream, preambles: Vec::new() }
    }
}

/// The common packet channels.
pub(super) struct PacketAccess {
    pub(super) cpch: Cpch,
    pub(super) alarm: Alarm,
    /// Terminals that might send an interval over such a channel, and whether they did; empty between events.
    pub(super) sent: Vec<(u32, bool)>,
}

impl Umts {
    /// Whether a terminal cannot hand down PDUs for a channel up: it has not sent a former message of RACH.
    #[inline]
    pub(super) fn awaits_access(&self, now: Instant, terminal: u32, channel: u32, kind: Kind) -> bool {
        let TransportChannel { queue, .. } = &self.channels[channel];
        match (kind, &self.rach.aloha) {
            (Kind::Rach, aloha) => aloha.is_some() && !queue.is_empty(),
            _ if !self.in_order => false,
            (_, Some(_)) => rach_ends(now, terminal, &self.terminals, &self.channels) > now,
            // The message is not to come after an interval that may begin now.
            (_, None) => self.terminals[terminal as usize].rach_free > now + queue.rate().tti,
        }
    }

    /// When a message of RACH ends that access has delayed until then. One that would overtake the terminal's former one follows it.
    pub(super) fn end_of_message(&mut self, channel: u32, end: Instant) -> Instant {
        let (tti, terminal) = (self.channels[channel].queue.rate().tti, self.channels.owner(channel));
        let former = &mut self.terminals[terminal as usize].rach_free;
        *former = if self.in_order && end <= *former { *former + tti } else { end };
        *former
    }

    /// A terminal whose RACH has something to send, and that is not sending, chooses its place.
    pub(super) fn choose_place(&mut self, now: Instant, channel: u32) {
        let ue = &self.terminals[self.channels.owner(channel) as usize];
        if let Some(aloha) = self.rach.aloha.as_ref().filter(|_| ue.rach_free <= now) {
            let place = aloha.choose(now, &mut self.rach.stream);
            self.rach.preambles.push((place, channel));
        }
    }

    /// Sends the messages of the terminals that have chosen places in this interval.
    #[inline]
    pub(super) fn send_messages(&mut self, core: &mut Core) {
        if self.rach.preambles.is_empty() {
            return;
        }
        let mut preambles = std::mem::take(&mut self.rach.preambles);
        preambles.sort_unstable();
        for rivals in preambles.chunk_by(|a, b| a.0 == b.0) {
            for &(place, channel) in rivals {
                self.send_message(core, place, channel, rivals.len() > 1);
            }
        }
        preambles.clear();
        self.rach.preambles = preambles;
    }

    fn send_message(&mut self, core: &mut Core, place: Place, channel: u32, collided: bool) {
        let end = place.message() + self.channels[channel].queue.rate().tti;
        let terminal = self.channels.owner(channel);
        self.terminals[terminal as usize].rach_free = end;
        self.send_over_air(core, channel, end + BEYOND_AIR, collided);
    }

    /// A terminal on the common channels asks for a common packet channel, if much waits there.
    #[inline]
    pub(super) fn consider_cpch(&mut self, core: &mut Core, terminal: u32) {
        let Some(PacketAccess { cpch, .. }) = &mut self.cpch else { return };
        let ue = &self.terminals[terminal as usize];
        let waits = ue.senders[Direction::Up.index()].arq.backlog().sdus;
        if ue.service == Service::Common && cpch.is_much(waits) {
            cpch.ask(core.now(), terminal);
            self.arm_contention(core);
        }
    }

    /// The terminals that have sent an interval over common packet channels keep them, or give them back.
    pub(super) fn count_intervals(&mut self, core: &mut Core) {
        while let Some((terminal, sent)) = self.cpch.as_mut().and_then(|access| access.sent.pop()) {
            self.count_interval(core, terminal, sent);
        }
    }

    /// A message ends when nothing follows; then it asks anew only if it sent something, or it would ask for ever
    /// while its window is closed.
    fn count_interval(&mut self, core: &mut Core, terminal: u32, sent: bool) {
        let Some(PacketAccess { cpch, .. }) = &mut self.cpch else { return };
        let sender = &self.terminals[terminal as usize].senders[Direction::Up.index()];
        let tti = self.channels.clocks[usize::from(sender.clock)].tti;
        let end = at_or_after(core.now(), tti) + tti;
        if cpch.on_interval(terminal, end, sent && sender.arq.wants_to_send()) {
            self.set_uplink(core, terminal);
            if sent {
                self.consider_cpch(core, terminal);
            }
        }
    }

    /// A terminal leaves the common channels: it gives back its common packet channel.
    pub(super) fn leave_cpch(&mut self, core: &mut Core, terminal: u32) {
        let Some(PacketAccess { cpch, .. }) = &mut self.cpch else { return };
        let sender = &self.terminals[terminal as usize].senders[Direction::Up.index()];
        let tti = self.channels.clocks[usize::from(sender.clock)].tti;
        cpch.leave(terminal, at_or_after(core.now(), tti) + tti);
        self.terminals[terminal as usize].uplink = Uplink::Rach;
    }

    pub(super) fn wake_contention(&mut self, core: &mut Core) {
        let Some(PacketAccess { cpch, alarm, .. }) = &mut self.cpch else { return };
        if !alarm.rings(core) {
            return;
        }
        let (now, in_order) = (core.now(), self.in_order && self.rach.aloha.is_some());
        let (terminals, channels) = (&self.terminals, &self.channels);
        let ends = |n| if in_order { rach_ends(now, n, terminals, channels) } else { now };
        cpch.on_timeout(now, &Bearers(terminals), &ends);
        while let Some(terminal) = self.cpch.as_mut().and_then(|access| access.cpch.poll()) {
            self.set_uplink(core, terminal);
            let ue = &self.terminals[terminal as usize];
            if ue.uplink == Uplink::Cpch && !ue.senders[Direction::Up.index()].arq.wants_to_send() {
                self.count_interval(core, terminal, false); // RACH has carried all meanwhile
            }
        }
        self.arm_contention(core);
    }

    /// Carries out a decision on a terminal's uplink.
    fn set_uplink(&mut self, core: &mut Core, terminal: u32) {
        if let Some(PacketAccess { cpch, .. }) = &self.cpch {
            self.terminals[terminal as usize].uplink = cpch.uplink(terminal);
            self.change_clock(core, terminal, Direction::Up);
        }
    }

    fn arm_contention(&mut self, core: &mut Core) {
        if let Some(PacketAccess { cpch, alarm, .. }) = &mut self.cpch {
            alarm.set(core, cpch.next_timeout());
        }
    }
}

/// When a terminal has sent what it has handed down for RACH with access slots: at `now` or before if it has, and else the earliest
/// instant at which it may have.
fn rach_ends(now: Instant, terminal: u32, terminals: &[Ue], channels: &Channels) -> Instant {
    let ue = &terminals[terminal as usize];
    let queue = &channels[channels.own(terminal, RACH)].queue;
    if queue.is_empty() {
        return ue.rach_free;
    }
    // Its place is chosen when an interval begins, perhaps later at this very instant.
    ue.rach_free.max(at_or_after(now + Duration::from_nanos(1), queue.rate().tti))
}
