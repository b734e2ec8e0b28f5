//! Where terminals are, what they measure of the cells around them, and what follows from that.
//!
//! - [`movement`]: where a terminal is at a time;
//! - [`held`]: a condition counts when it has held for a time;
//! - [`active_set`]: which cells of one carrier serve a terminal together, by events 1A, 1B and 1C.

pub mod active_set;
pub mod held;
pub mod movement;

pub use active_set::{ActiveSet, SetRules};
pub use held::Held;
