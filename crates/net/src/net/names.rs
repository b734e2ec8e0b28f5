//! Names by number.

use std::ops::Index;

/// Names, one behind the other in one text: a network of a thousand flows has six thousand short ones.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Names {
    /// Adds a name, and gives its number.
    pub fn push(&mut self, name: &str) -> u32 {
        self.text.push_str(name);
        self.ends.push(self.text.len());
        self.ends.len() as u32 - 1
    }
}

impl Index<u32> for Names {
    type Output = str;

    fn index(&self, number: u32) -> &str {
        let number = number as usize;
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[number]]
    }
}
