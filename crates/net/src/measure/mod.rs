//! From observations to tables. Nothing here can alter a run.

mod changes;
pub mod handovers;
pub mod labels;
mod packets;
mod part;
pub mod pcapng;
mod recent;
pub mod recorder;
pub mod segments;
pub mod series;
pub mod slots;
pub mod table;
pub mod totals;
