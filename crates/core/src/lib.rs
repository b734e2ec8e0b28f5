//! lasthop simulates, packet by packet, how congestion control behaves over a radio last hop.
//!
//! This crate is the engine and its models; it knows no Python. `ARCHITECTURE.md` in the
//! repository tells how it is divided.

pub mod engine;
pub mod measure;
pub mod multicast;
pub mod net;
pub mod profile;
pub mod qos;
pub mod queues;
pub mod radio;
pub mod satellite;
pub mod scenario;
pub mod traffic;
pub mod transport;
