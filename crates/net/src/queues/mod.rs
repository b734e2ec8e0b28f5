//! General queue disciplines, one file each. Those that are the router's half of a protocol are with that protocol: XCP, EWA, SWAN,
//! differentiated services, queue-phase.

pub mod codel;
pub mod droptail;
pub mod drr;
pub mod fifo;
pub mod inner;
pub mod priority;
pub mod red;
pub mod rio;
pub mod token_bucket;
pub mod wfq;
