//! The engine: the clock, the queue of wake-ups, units and random streams.
//!
//! It knows no packet, no node and no protocol. Read [`queue`] first: it fixes the order in
//! which equal instants happen, on which every comparison with another simulator rests.

pub mod choice;
pub mod decibel;
pub mod fault;
pub mod float_time;
pub mod lognormal;
pub mod normal;
pub mod power;
pub mod queue;
pub mod random;
pub mod redraw;
pub mod space;
pub mod time;
pub mod units;

pub use decibel::{Decibel, Level};
pub use fault::Fault;
pub use float_time::FloatTime;
pub use lognormal::Lognormal;
pub use power::Power;
pub use queue::{EventQueue, Target};
pub use random::{Stream, Streams};
pub use redraw::Redraw;
pub use space::{Angle, Length, Point, Speed};
pub use time::{Duration, Instant};
pub use units::{BitRate, Bytes, Probability};
