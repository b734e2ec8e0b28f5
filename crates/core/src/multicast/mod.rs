//! Multicast congestion control: the protocols, and the modules that they share.

pub mod gaps;
pub mod pgmcc;
