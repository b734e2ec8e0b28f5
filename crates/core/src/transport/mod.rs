//! Transport protocols: sans-IO endpoints, and the modules that they share.

pub mod tcp;
pub mod udp;
