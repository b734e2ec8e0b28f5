//! The table `slots`: the block and the terminal of each slot of a radio's shared channel.

use crate::engine::Instant;
use crate::net::{Place, SeenBlock};

use super::table::{Column, Names, Table};

/// Collects blocks.
#[derive(Debug, Default)]
pub struct Slots {
    rows: Vec<(Instant, Place, SeenBlock)>,
}

impl Slots {
    /// Takes note of a block.
    pub fn see(&mut self, now: Instant, place: Place, block: &SeenBlock) {
        self.rows.push((now, place, *block));
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The table; `name` names bearers.
    pub fn table(&self, name: &dyn Fn(Place) -> String) -> Table {
        let mut bearer = Names::default();
        for (_, place, _) in &self.rows {
            bearer.push(&name(*place));
        }
        let int = |of: &dyn Fn(&SeenBlock) -> i64| {
            Column::Int(self.rows.iter().map(|(_, _, block)| Some(of(block))).collect())
        };
        let seconds = self.rows.iter().map(|(at, ..)| Some(at.as_secs_f64())).collect();
        Table {
            columns: vec![
                ("time_s", Column::Float(seconds)),
                ("bearer", bearer.column()),
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
