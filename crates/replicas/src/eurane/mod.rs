//! What EURANE, an extension of ns-2 for UMTS, has of its own: its RLC, and its attachment.

pub mod attachment;
pub mod rlc;
