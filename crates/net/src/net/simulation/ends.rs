//! The nodes behind the peers of each medium.

use std::ops::Index;

use crate::net::medium::End;

/// The ends of all media, one medium behind the other: most have two, for which a list of its own would be large.
#[derive(Default)]
pub(super) struct Ends {
    /// Where those of each medium end.
    stops: Vec<u32>,
    all: Vec<End>,
}

impl Ends {
    /// Adds those of the next medium.
    pub fn push(&mut self, ends: &[End]) {
        self.all.extend_from_slice(ends);
        self.stops.push(self.all.len() as u32);
    }

    /// Those of each medium.
    pub fn iter(&self) -> impl Iterator<Item = &[End]> {
        (0..self.stops.len() as u32).map(|medium| &self[medium])
    }
}

impl Index<u32> for Ends {
    type Output = [End];

    fn index(&self, medium: u32) -> &[End] {
        let begin = medium.checked_sub(1).map_or(0, |before| self.stops[before as usize]);
        &self.all[begin as usize..self.stops[medium as usize] as usize]
    }
}
