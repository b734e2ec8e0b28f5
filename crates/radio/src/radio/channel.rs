//! The channel: whether a block sent over the air is received.
//!
//! A medium asks it of each block, in the order of time. The simplest are the loss models of links, one for each
//! terminal and direction; see `umts/power/` for one that follows from where terminals are.

use lasthop_net::engine::{Decibel, Instant};
use lasthop_net::net::Probe;
use lasthop_net::net::loss::Loss;

use super::Direction;

/// Says which blocks come over the air.
pub trait Channel: Send {
    /// A block comes now: its receivers.
    fn receive(&mut self, block: &Block<'_>) -> Receivers;

    /// The gain between a terminal and each cell will be this at `at`, and changes evenly until then. Said at each
    /// measurement for the time until the next, and twice at the first.
    fn on_gains(&mut self, _at: Instant, _terminal: u32, _gains: &[Decibel]) {}

    /// A terminal's dedicated channels begin anew, with powers that nothing has corrected.
    fn on_new_link(&mut self, _now: Instant, _terminal: u32) {}

    /// What it knows of a terminal.
    fn sample(&self, _terminal: u32, _direction: Direction, _probe: &mut dyn Probe) {}
}

/// A block sent over the air in one piece, with a checksum of its own.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// For or from which terminal.
    pub terminal: u32,
    /// Which way.
    pub direction: Direction,
    /// Whether on a channel of the terminal's own, and not on a common one.
    pub dedicated: bool,
    /// When the interval began in which it was sent.
    pub sent: Instant,
    /// When it comes.
    pub at: Instant,
    /// The cells that send it, or hear it.
    pub cells: &'a [u32],
}

/// The receivers of a block: down the terminal, up the site of each of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receivers(u8);

impl Receivers {
    /// No receiver.
    pub const NOBODY: Self = Self(0);
    /// All did.
    pub const ALL: Self = Self(u8::MAX);

    /// The site of the cell at this place of the block's list did, too.
    #[must_use]
    pub fn and(self, place: usize) -> Self {
        Self(self.0 | 1 << place)
    }

    /// Whether there is a receiver.
    #[inline]
    pub fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether the site of the cell at this place did.
    #[inline]
    pub fn at(self, place: usize) -> bool {
        self.0 & 1 << place != 0
    }
}

/// Loss models, one for each terminal and direction: a block is lost for all its receivers or for none.
pub struct Losses(Vec<[Loss; 2]>);

impl Losses {
    /// With the models of each terminal, down and up.
    pub fn new(models: Vec<[Loss; 2]>) -> Self {
        Self(models)
    }
}

impl Channel for Losses {
    #[inline]
    fn receive(&mut self, block: &Block<'_>) -> Receivers {
        let model = &mut self.0[block.terminal as usize][block.direction.index()].0;
        if model.as_mut().is_some_and(|model| model.loses(block.at)) { Receivers::NOBODY } else { Receivers::ALL }
    }
}
