//! The agents of ns-2.35.

pub mod tcp;
pub mod tfrc;
