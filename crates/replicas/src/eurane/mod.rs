//! What EURANE, an extension of ns-2 for UMTS, has of its own: its RLC, its attachment, and its fair scheduler.

pub mod attachment;
pub mod fair_channel;
pub mod rlc;
