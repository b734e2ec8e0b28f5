//! Random scenarios, and ways to spoil their texts. All of it follows from a number.
//!
//! A network is drawn by hand-written rules, so that it makes sense. Then entries of the schema are written into it, one of which is the
//! next in the list of all of them: so whatever can be chosen is drawn.

mod cell;
mod dice;
mod draw;
pub mod entries;
mod hsdpa;
mod links;
mod mbms;
mod network;
mod scenario;
mod sky;
mod sources;
mod spoil;
mod transports;

pub use dice::Dice;
pub use scenario::scenario;
pub use spoil::{disturb, spoil};
