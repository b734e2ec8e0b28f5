#![doc = include_str!("../README.md")]
//!
//! # Its place
//!
//! This crate makes a network of a scenario; it gives everything of the crates below it, and knows no Python. `ARCHITECTURE.md` in the
//! repository tells how it is divided.

pub mod learning;
pub mod scenario;

pub use lasthop_net::{choice, engine, measure, net, profile, queues};
pub use lasthop_protocols::{multicast, qos, traffic, transport};
pub use lasthop_radio::{radio, satellite};
pub use lasthop_replicas as replicas;
