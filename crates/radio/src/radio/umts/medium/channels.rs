//! The transport channels of the medium by number, and the clocks of their intervals.

use std::ops::{Index, IndexMut};

use crate::radio::Direction;
use crate::radio::umts::channel::{Channel, Limit, Order, Rate};
use lasthop_net::engine::Duration;

use super::clock::{Clock, usual_phase};
use super::turns::Turns;

/// The forward access channel of each cell and the shared one, if there is one; then for each terminal its RACH, its DCH down and its
/// DCH up, and what it sends over CPCH if there are such channels.
pub(super) struct Channels {
    list: Vec<TransportChannel>,
    /// The clocks of the transmission time intervals in use.
    pub(super) clocks: Vec<Clock>,
    /// How many channels belong to all terminals.
    common: u32,
    /// How many belong to each terminal.
    own: u32,
}

/// A transport channel as the medium uses it.
pub(super) struct TransportChannel {
    pub(super) queue: Channel,
    pub(super) kind: Kind,
    /// The number of its clock.
    pub(super) clock: u16,
}

/// The transport channels of TS 25.301 §5.3.1 that carry user data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Fach,
    Dsch,
    Rach,
    DchDown,
    DchUp,
    Cpch,
}

impl Kind {
    pub(super) fn direction(self) -> Direction {
        match self {
            Self::Fach | Self::Dsch | Self::DchDown => Direction::Down,
            Self::Rach | Self::DchUp | Self::Cpch => Direction::Up,
        }
    }
}

/// The forward access channel of a cell.
pub(super) const fn fach(cell: u32) -> u32 {
    cell
}

/// The downlink shared channel, if there is one; then there is one cell.
pub(super) const DSCH: u32 = 1;
/// The place of each among a terminal's channels.
pub(super) const RACH: u32 = 0;
pub(super) const DCH_DOWN: u32 = 1;
pub(super) const DCH_UP: u32 = 2;
pub(super) const CPCH: u32 = 3;

impl Channels {
    /// None yet, of which this number will belong to all terminals, and this number to each.
    pub(super) fn new(common: u32, own: u32) -> Self {
        Self { list: Vec::new(), clocks: Vec::new(), common, own }
    }

    /// Adds a channel, with the order of service of its queue.
    pub(super) fn add(&mut self, kind: Kind, rate: Rate, limit: Limit, order: Order) {
        let clock = self.clock(rate.tti, usual_phase(rate.tti));
        self.list.push(TransportChannel { queue: Channel::new(rate, limit, order), kind, clock });
    }

    /// Adds a channel whose intervals MAC-c/sh shares out in an order. It has a clock of its own.
    pub(super) fn add_shared(&mut self, kind: Kind, rate: Rate, limit: Limit, order: Order) {
        let turns = Turns::new(self.list.len() as u32, order);
        let clock = self.add_clock(Clock::new(rate.tti, usual_phase(rate.tti), Some(turns)));
        self.list.push(TransportChannel { queue: Channel::new(rate, limit, Order::Fifo), kind, clock });
    }

    /// The clock of these intervals, whose PDUs are handed down at multiples of `tti` and `phase`.
    pub(super) fn clock(&mut self, tti: Duration, phase: Duration) -> u16 {
        let is_it = |clock: &Clock| clock.tti == tti && clock.phase == phase && clock.turns.is_none();
        match self.clocks.iter().position(is_it) {
            Some(place) => place as u16,
            None => self.add_clock(Clock::new(tti, phase, None)),
        }
    }

    fn add_clock(&mut self, clock: Clock) -> u16 {
        self.clocks.push(clock);
        (self.clocks.len() - 1) as u16
    }

    /// The queue of the downlink shared channel, if there is one.
    pub(super) fn dsch(&self) -> Option<&Channel> {
        self.list.get(DSCH as usize).filter(|channel| channel.kind == Kind::Dsch).map(|channel| &channel.queue)
    }

    /// The clock of a channel.
    #[inline]
    pub(super) fn clock_of(&mut self, channel: u32) -> &mut Clock {
        self.with_clock(channel).1
    }

    /// A channel, and its clock.
    #[inline]
    pub(super) fn with_clock(&mut self, channel: u32) -> (&mut TransportChannel, &mut Clock) {
        let channel = &mut self.list[channel as usize];
        let clock = &mut self.clocks[usize::from(channel.clock)];
        (channel, clock)
    }

    /// A channel of a terminal's own.
    #[inline]
    pub(super) fn own(&self, terminal: u32, which: u32) -> u32 {
        self.common + self.own * terminal + which
    }

    /// All channels of a terminal's own.
    pub(super) fn all_own(&self, terminal: u32) -> std::ops::Range<u32> {
        self.own(terminal, 0)..self.own(terminal, self.own)
    }

    /// The terminal to which a channel belongs that is not common to all.
    #[inline]
    pub(super) fn owner(&self, channel: u32) -> u32 {
        (channel - self.common) / self.own
    }

    /// How many PDUs wait in their queues.
    pub(super) fn waiting(&self) -> usize {
        self.list.iter().map(|channel| channel.queue.len()).sum()
    }
}

impl Index<u32> for Channels {
    type Output = TransportChannel;

    #[inline]
    fn index(&self, channel: u32) -> &TransportChannel {
        &self.list[channel as usize]
    }
}

impl IndexMut<u32> for Channels {
    #[inline]
    fn index_mut(&mut self, channel: u32) -> &mut TransportChannel {
        &mut self.list[channel as usize]
    }
}
