//! UMTS: the radio access network from the RNC's interface to its terminals (UEs).
//!
//! ```text
//! RNC: RLC ── Iub ── Node B: one queue for each transport channel ── air ── UE: RLC
//! ```
//!
//! Time goes in intervals. Each sending RLC entity hands down the PDUs that its own channel carries
//! in an interval, one millisecond before the interval begins, whatever others do; where a
//! channel is shared, the Node B's queue is where they meet. In each interval a channel sends
//! what fits, and all of it arrives at the interval's end.

pub mod attachment;
mod bearer;
pub mod channel;
pub mod iub;
pub mod medium;
pub mod power;
pub mod roaming;
pub mod utran;

pub use medium::{Setup, Umts};
