//! How good the air is to each terminal, for radios that adapt what they send to it.

pub mod trace;

use lasthop_net::engine::{Decibel, Instant};
use lasthop_net::net::Probe;

/// Says how good the air is. Asked for times that never go back.
pub trait Quality: Send {
    /// The state of the air to a terminal when a slot begins.
    fn state(&mut self, terminal: u32, at: Instant) -> State;

    /// The usual ratio of signal to interference of a terminal, for schedulers that compare terminals.
    fn usual(&self, terminal: u32) -> Decibel;

    /// In the slot that begins now, these cells send.
    fn on_slot(&mut self, _sending: &[bool]) {}

    /// What it knows of a terminal.
    fn sample(&self, _terminal: u32, _probe: &mut dyn Probe) {}
}

/// The state of the air to a terminal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The ratio of signal to interference and noise (SIR).
    pub sir: Decibel,
    /// Until when it stays so. If that is no later than when it was asked for, it has to be asked for again.
    pub valid_until: Instant,
}
