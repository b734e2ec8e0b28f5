//! The high-speed downlink shared channel (HS-DSCH): in each slot of 2 ms the Node B sends one block to one terminal.
//!
//! ```text
//! RNC: RLC ── capacity, Iub ── Node B: a queue for each terminal ── scheduler ── HARQ process ── air ── UE: reordering ── RLC
//! ```
//!
//! It is made of the parts that other radios have, and of MAC-hs (3GPP TS 25.321 §4.2.4.3 and §11.6):
//!
//! | part | here |
//! | --- | --- |
//! | attachment | [`attachment::fixed::HighSpeed`](super::attachment::fixed::HighSpeed): HS-DSCH down and a DCH up |
//! | channel | a [`Quality`](crate::radio::quality::Quality): a trace of CQIs |
//! | rate map | [`rate_map::cqi`](crate::radio::rate_map::cqi) |
//! | scheduler | [`scheduler`](crate::radio::scheduler) |
//! | link ARQ | [`harq`](crate::radio::shared_channel::harq), [`reception`](crate::radio::shared_channel::reception), [`reordering`], and RLC above, which learns of received PDUs only |
//!
//! [`capacity`] keeps the queues at the Node B short (TS 25.435 §5.9, §5.10). One terminal is served in a slot; several at once by
//! different codes are not here. What a terminal says of a block, and of the air, costs nothing and is never lost.

pub mod capacity;
pub mod queue;
pub mod reordering;
pub mod setup;

pub use setup::Setup;

/// The header of a block with PDUs of one size: VF, queue, TSN, SID, N and F (TS 25.321 §9.2.2).
pub const HEADER_BITS: u32 = 21;
/// How many PDUs a block carries at most (TS 25.321 §9.2.2, N).
const MOST_PDUS: u32 = 70;

/// How many PDUs of `pdu` bits, not 0, a block of `block` bits carries.
pub fn pdus_of(block: u32, pdu: u32) -> u32 {
    (block.saturating_sub(HEADER_BITS) / pdu).min(MOST_PDUS)
}
