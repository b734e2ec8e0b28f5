//! From observations to tables.

pub mod table;
