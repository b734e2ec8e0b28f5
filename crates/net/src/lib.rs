//! The engine, the network and its measurements: events, packets, nodes, media, queues, observers. It knows no protocol.

pub mod engine;
pub mod measure;
pub mod net;
pub mod profile;
pub mod queues;
