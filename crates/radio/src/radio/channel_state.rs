//! What a radio that adapts its formats knows of the air to its terminals: its quality, asked for again when that has changed, and what
//! changes of the scenario impose on it.

use lasthop_net::engine::{Decibel, Instant};
use lasthop_net::net::{Change, Probe};

use super::Direction;
use super::imposed::Imposed;
use super::quality::{Quality, State};

/// The air to all terminals of a radio. It is asked for times that never go back.
pub struct ChannelState {
    quality: Box<dyn Quality>,
    imposed: Imposed,
    known: Vec<State>,
}

impl ChannelState {
    /// The air to this number of terminals, nothing of which is known yet.
    pub fn new(quality: Box<dyn Quality>, terminals: usize) -> Self {
        let unknown = State { sir: Decibel::ZERO, valid_until: Instant::ZERO };
        Self { quality, imposed: Imposed::default(), known: vec![unknown; terminals] }
    }

    /// The state of the air to a terminal.
    #[inline]
    pub fn at(&mut self, terminal: u32, at: Instant) -> State {
        let known = &mut self.known[terminal as usize];
        if known.valid_until <= at {
            *known = self.imposed.on_state(terminal, self.quality.state(terminal, at));
        }
        *known
    }

    /// Takes what a change says of a terminal.
    pub fn change(&mut self, now: Instant, terminal: u32, change: &mut Change) {
        self.imposed.change(terminal, now, change);
        // The former state is over.
        self.known[terminal as usize].valid_until = Instant::ZERO;
    }

    /// Whether a terminal has coverage.
    #[inline]
    pub fn covers(&self, terminal: u32) -> bool {
        self.imposed.covers(terminal)
    }

    /// Whether a block for a terminal is lost, whatever the quality says of it.
    #[inline]
    pub fn loses(&mut self, terminal: u32, at: Instant) -> bool {
        self.imposed.loses(terminal, Direction::Down, at)
    }

    /// What a terminal's ratio of signal to interference usually is.
    pub fn usual(&self, terminal: u32) -> Decibel {
        self.quality.usual(terminal)
    }

    /// In the slot that begins now, these cells send.
    pub fn on_slot(&mut self, sending: &[bool]) {
        self.quality.on_slot(sending);
    }

    /// The values of a terminal.
    pub fn sample(&self, terminal: u32, probe: &mut dyn Probe) {
        self.quality.sample(terminal, probe);
    }
}
