//! RLC, the link ARQ of UMTS (3GPP TS 25.322).

pub mod pdu;

pub use pdu::{Control, Pdu, Reason, Status};
