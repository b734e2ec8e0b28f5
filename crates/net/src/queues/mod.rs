//! General queue disciplines, one file each. Those that are the router's half of a protocol are with that protocol: XCP, EWA, SWAN,
//! differentiated services, queue-phase.

pub mod codel;
pub mod droptail;
pub mod drr;
pub mod dualpi2;
pub mod ecn;
pub mod fifo;
pub mod fq_codel;
pub mod inner;
pub mod pie;
pub mod priority;
pub mod red;
pub mod rio;
pub mod threshold;
pub mod token_bucket;
mod updates;
pub mod wfq;
