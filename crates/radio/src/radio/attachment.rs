//! Attachment: what serves each terminal, and when that changes.
//!
//! It is one machine for all terminals of a medium, since they compete for the channels that it hands out. It sees the data waiting and
//! sent, and decides changes; the medium carries them out.

use lasthop_net::engine::Instant;
use lasthop_net::net::Probe;

use super::Direction;
use super::arq::Unsent;

/// Decides what serves each terminal.
pub trait Attachment: Send {
    /// What serves a terminal at the start.
    fn service(&self, terminal: u32) -> Service;

    /// Data were added to the backlog for or at a terminal.
    fn on_backlog(&mut self, now: Instant, terminal: u32, direction: Direction, waiting: &dyn Waiting);

    /// A PDU of this size came to the queue of its channel.
    fn on_sent(&mut self, now: Instant, terminal: u32, direction: Direction, bits: u32);

    /// The dedicated channels of a terminal are to come from this cell too. `false`: there is no room, and they do not.
    fn add_leg(&mut self, _now: Instant, _terminal: u32, _cell: u32) -> bool {
        true
    }

    /// The dedicated channels of a terminal come from this cell no longer.
    fn drop_leg(&mut self, _now: Instant, _terminal: u32, _cell: u32) {}

    /// A terminal without dedicated channels is to be at this cell, as at the start of the run. `false`: it cannot change now,
    /// and does not.
    fn on_cell(&mut self, _now: Instant, _terminal: u32, _cell: u32) -> bool {
        true
    }

    /// Another system serves a terminal, which gives back what it had.
    fn on_leave(&mut self, _now: Instant, _terminal: u32) {}

    /// Whether a terminal's channel down is chosen at the Node B, when a PDU comes there (EURANE). Otherwise it is chosen at the RNC, when
    /// the PDU leaves.
    fn chooses_at_node_b(&self) -> bool {
        false
    }

    /// The instant that [`Attachment::next_timeout`] named has come.
    fn on_timeout(&mut self, now: Instant, waiting: &dyn Waiting);

    /// When it wants to be woken next. Read after every input, and once for all that is sent at one instant.
    fn next_timeout(&self) -> Option<Instant>;

    /// What it has decided; asked then, too, until there is no more.
    fn poll(&mut self) -> Option<Move>;

    /// What it knows of a cell.
    fn sample_cell(&self, _now: Instant, _cell: u32, _probe: &mut dyn Probe) {}

    /// What it knows of the whole.
    fn sample(&self, now: Instant, probe: &mut dyn Probe);

    /// What it knows of a terminal.
    fn sample_terminal(&self, now: Instant, terminal: u32, probe: &mut dyn Probe);
}

/// The backlogs at both ends of the terminals' bearers.
pub trait Waiting {
    /// The backlog of a terminal in a direction.
    fn unsent(&self, terminal: u32, direction: Direction) -> Unsent;
}

/// What serves a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    /// Nothing: data to be sent wait.
    #[default]
    Nothing,
    /// The common channels of its cell.
    Common,
    /// Channels of its own.
    Dedicated,
    /// The shared channel down, and a channel of its own up.
    Shared,
    /// The high-speed shared channel down, and a channel of its own up.
    HighSpeed,
}

impl Service {
    /// The service as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Common => "common",
            Self::Dedicated => "dedicated",
            Self::Shared => "shared",
            Self::HighSpeed => "high-speed",
        }
    }
}

/// From now on another service serves a terminal. PDUs handed down before go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The terminal.
    pub terminal: u32,
    /// What serves it.
    pub service: Service,
}
