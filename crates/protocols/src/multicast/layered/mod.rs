//! Layered multicast: a source sends each layer of its data to a group of its own, and receivers subscribe to the layers that their paths
//! carry.
//!
//! | part | here |
//! | --- | --- |
//! | source | [`sender`]: layers of constant rates |
//! | receiver | [`receiver`]: counts arrivals, and lets a subscription controller decide |
//! | subscription controllers | [`control`]: [`rlm`], [`empty_layer`], [`fixed`] |
//!
//! A session has a group for what receivers tell one another, and one for each layer behind it. [`queue_phase`] is what a
//! link's router does to layers.

pub mod config;
pub mod control;
pub mod empty_layer;
pub mod fixed;
pub mod queue_phase;
pub mod receiver;
pub mod rlm;
pub mod sender;

pub use config::Config;
