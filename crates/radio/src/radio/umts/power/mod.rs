//! Power control: what makes blocks of dedicated channels come with about the same chance wherever a terminal is.
//!
//! - [`open_loop`]: the power of a first transmission, from what the terminal hears;
//! - [`inner_loop`]: 1500 times a second one step up or down, toward a target of the signal-to-interference ratio (SIR);
//! - [`outer_loop`]: moves that target, by whether blocks are good;
//! - [`block_errors`]: the chance that a block is bad at a SIR;
//! - [`loops`]: all of it together, as a channel.

pub mod block_errors;
pub mod inner_loop;
pub mod loops;
pub mod open_loop;
pub mod outer_loop;

pub use loops::{Loops, LoopsConfig};
