//! Links that follow a recorded trace of opportunities to deliver, as mahimahi's do: a text file, one whole number a line, the milliseconds
//! since the start at which up to 1,504 bytes are delivered.

mod format;
mod link;
mod opportunities;
mod transmitter;

pub use format::{BYTES, Trace};
pub use link::{TraceLink, WaySetup};
pub use transmitter::TracedSetup;
