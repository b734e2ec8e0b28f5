//! MBMS: a Node B behind its Iub, which divides what several terminals listen to (3GPP TS 23.246, TS 25.346).
//!
//! ```text
//! RNC ── Iub ── Node B ─┬─ a FIFO for each terminal and flow ── attempts ── terminal
//!                       └─ a FIFO for each flow of the cell ── one attempt ── all that listen
//! ```
//!
//! A packet for several terminals crosses the Iub once. This is the model of Alexiou, Bouras and Papazois (2009), whose radio is
//! no more than a rate, a buffer and losses, made of the five parts of a radio link:
//!
//! | part | here |
//! | --- | --- |
//! | attachment | fixed: one cell |
//! | channel | [`Channel`](super::channel::Channel), asked of each attempt; loss models of each terminal |
//! | rate map | a fixed rate; [`varying`] draws it anew from time to time |
//! | scheduler | none: each bearer has its own rate |
//! | link ARQ | [`bearer`]: a lost packet is sent again at once, up to a limit |

mod audiences;
pub mod bearer;
pub mod medium;
pub mod retransmission;
pub mod varying;

pub use medium::{Mbms, PerWhat, Setup, Terminal};
