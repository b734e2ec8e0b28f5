//! What acts at the ends of a network and beside it: transports, sources of traffic, multicast, quality of service. It knows no medium.

pub mod multicast;
pub mod qos;
pub mod traffic;
pub mod transport;
