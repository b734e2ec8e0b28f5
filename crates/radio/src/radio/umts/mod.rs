//! UMTS: the radio access network from the RNC's interface to its terminals (UEs).
//!
//! ```text
//! RNC: RLC ── Iub ── Node B: one queue for each transport channel ── air ── UE: RLC
//! ```
//!
//! Time goes in intervals. Each sending RLC entity hands down the PDUs that its own channel carries
//! in an interval, one millisecond before the interval begins. Where they share a channel, the
//! RNC gives them turns; in profile `ns2` each hands down whatever others do, and they meet in the
//! Node B's queue. In each interval a channel sends what fits, and all of it arrives at the interval's end.
//!
//! | channel | carries | where terminals meet |
//! | --- | --- | --- |
//! | FACH | down, for all on the common channels | at the RNC, whose turn it is (`medium/turns.rs`); in profile `ns2` in the Node B's queue |
//! | RACH | up, the same | nowhere, as in EURANE; or in access slots ([`rach`]) |
//! | CPCH | up, the same, when much waits | in access slots ([`cpch`]) |
//! | DCH | down and up, for one terminal | nowhere |
//! | DSCH | down, for those on dedicated channels | at the RNC, whose turn it is (`medium/turns.rs`) |
//! | HS-DSCH | down, in slots of 2 ms | at the Node B, whose slot it is ([`hs_dsch`]) |
//!
//! Where terminals move there are several cells, Node Bs and RNCs: [`roaming`] says which of them serve a terminal, [`utran`] which
//! wires its PDUs cross, and [`power`] which blocks come over the air.

pub mod attachment;
mod bearer;
pub mod channel;
pub mod cpch;
pub mod hs_dsch;
pub mod iub;
pub mod mapping;
pub mod medium;
pub mod ovsf;
pub mod power;
pub mod rach;
pub mod roaming;
mod slab;
mod slots;
pub mod timing;
pub mod utran;

pub use medium::{Setup, Umts};
