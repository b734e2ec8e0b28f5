//! Sources: what a flow has to send, one file each.

pub mod greedy;
