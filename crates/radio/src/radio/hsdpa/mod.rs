//! HSDPA: cells with a shared channel down, whose slots go to those mobiles that a scheduler chooses.
//!
//! ```text
//! node ── a buffer for each mobile ── scheduler, every 2 ms ── blocks, sent again at once until they come ── mobile
//! ```
//!
//! This is the model of Landström, Larzon and Bodin (*Congestion Control in a High Speed Radio Environment*), made of the five
//! parts of a radio link:
//!
//! | part | here |
//! | --- | --- |
//! | attachment | fixed: mobiles stand still, and one site serves each ([`air::Serving`]) |
//! | channel | [`air`]: distance, shadowing, interference, and fading as an option |
//! | rate map | [`rate_map`](super::rate_map) |
//! | scheduler | [`scheduler`](super::scheduler), one for each cell |
//! | link ARQ | [`buffer`]: a block in error is sent again in the next slot, before all others |
//!
//! All cells have mobiles and traffic. Packets up are delayed, but never lost.

pub mod air;
pub mod buffer;
mod cell;
pub mod layout;
pub mod medium;
mod spikes;

pub use medium::{Hsdpa, Setup, Split, Terminal};
