//! RLC, the link ARQ of UMTS (3GPP TS 25.322).

pub mod eurane;
pub mod pdu;
pub mod tm;

pub use pdu::{Control, Pdu, Reason, Status};
