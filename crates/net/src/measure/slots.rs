//! The table `slots`: the block and the terminal of each slot of a radio's shared channel.

use crate::engine::Instant;
use crate::net::{Place, SeenBlock};

use super::table::{Column, Keys, Table};

/// Collects blocks.
#[derive(Debug, Default)]
pub struct Slots {
    time: Vec<f64>,
    bearer: Keys<Place>,
    blocks: Vec<SeenBlock>,
}

impl Slots {
    /// Takes note of a block.
    pub fn see(&mut self, now: Instant, place: Place, block: &SeenBlock) {
        self.time.push(now.as_secs_f64());
        self.bearer.push(place);
        self.blocks.push(*block);
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.blocks.len()
    }

    /// The table; `name` names bearers.
    pub fn table(self, name: &dyn Fn(Place) -> String) -> Table {
        let int = |of: &dyn Fn(&SeenBlock) -> i64| Column::Int(self.blocks.iter().map(of).collect::<Vec<_>>().into());
        Table {
            columns: vec![
                ("time_s", Column::Float(self.time.into())),
                ("bearer", self.bearer.column(name)),
                ("cell", int(&|block| block.cell.into())),
                ("process", int(&|block| block.process.into())),
                ("number", int(&|block| block.number.into())),
                ("transmission", int(&|block| block.transmission.into())),
                ("format", int(&|block| block.format.into())),
                ("codes", int(&|block| block.codes.into())),
                ("bits", int(&|block| block.bits.into())),
                ("data_bits", int(&|block| block.data.into())),
                ("waiting_bits", int(&|block| block.waiting as i64)),
                ("received", int(&|block| block.received.into())),
            ],
        }
    }
}
