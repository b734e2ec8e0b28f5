//! From observations to tables. Nothing here can alter a run.

pub mod handovers;
mod part;
pub mod pcapng;
pub mod recorder;
pub mod segments;
pub mod series;
pub mod slots;
pub mod table;
pub mod totals;
