//! Multicast congestion control: the protocols, and the modules that they share.

pub mod expulsion;
pub mod feedback_timer;
pub mod gaps;
pub mod layered;
pub mod membership;
pub mod pgmcc;
pub mod tfmcc;
