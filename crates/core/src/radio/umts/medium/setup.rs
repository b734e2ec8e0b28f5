//! What a cell is made of.

use crate::engine::Duration;
use crate::net::loss::Loss;
use crate::net::observe::Place;
use crate::radio::arq::LinkArq;
use crate::radio::attachment::Attachment;
use crate::radio::umts::channel::{Limit, Order, Rate};
use crate::radio::umts::iub::Iub;

/// How a cell is set up.
pub struct Setup {
    /// Its name in results.
    pub name: String,
    /// The forward access channel, down.
    pub fach: Rate,
    /// The random access channel, up: each terminal has it for itself.
    pub rach: Rate,
    /// Access to it delays an interval's PDUs by up to this long, at random.
    pub rach_access: Duration,
    /// Dedicated channels, down and up.
    pub dch: [Rate; 2],
    /// What queues in front of the air take.
    pub limit: Limit,
    /// Whose turn it is on the forward access channel.
    pub order: Order,
    /// Between Node B and RNC, down and up.
    pub iub: [Iub; 2],
    /// PDUs of one interval leave their entity one after the other, each up to this long after the one
    /// before, at random.
    pub spacing: Duration,
    /// PDU size, in bits.
    pub pdu_bits: u32,
    /// What serves the terminals, and when that changes.
    pub attachment: Box<dyn Attachment>,
    /// For each terminal: its RLC entities (at the RNC, at the terminal) and what the air loses (down, up).
    pub terminals: Vec<Terminal>,
}

/// How a terminal is set up.
pub struct Terminal {
    /// RLC at the RNC, which sends down, and at the terminal.
    pub arq: [Box<dyn LinkArq>; 2],
    /// What the air loses, down and up.
    pub loss: [Loss; 2],
    /// Where packets end that are not delivered, down and up.
    pub places: [Place; 2],
}
