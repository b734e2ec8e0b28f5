//! What can decide how the terminals of a UMTS cell are served, one file each.

pub mod fixed;
pub mod rrc;

use crate::radio::attachment::Attachment;
use lasthop_net::engine::Fault;

use super::channel::Rate;
use super::mapping::Transport;

/// The parameters of an attachment.
pub trait AttachmentConfig: Send + Sync {
    /// The attachment of a cell with these channels and terminals.
    fn build(&self, cell: &Cell) -> Box<dyn Attachment>;

    /// To which transport channels it maps a terminal's data, of those that the cell has.
    fn maps_to(&self) -> &'static [Transport];

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// What an attachment knows of its cell.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// How many terminals there are.
    pub terminals: u32,
    /// How many radio cells there are, all alike.
    pub cells: u32,
    /// The forward access channel.
    pub fach: Rate,
    /// Dedicated channels, down.
    pub dch_down: Rate,
    /// The downlink shared channel, if there is one.
    pub dsch: Option<Rate>,
}
