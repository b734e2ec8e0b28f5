//! Terminals that move between cells: what each measures, which cells serve it, and what breaks meanwhile.
//!
//! - [`config`]: sites, movement and rules as data;
//! - [`area`]: the machine for all terminals of a medium;
//! - [`terminal`]: the state of one, and its history.

pub mod area;
pub mod config;
pub mod terminal;

pub use area::{Area, Step};
pub use config::{CarryOver, Mobility, Power};
