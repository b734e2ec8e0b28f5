//! The live bridge: a scenario by the wall clock, through which real hosts send.
//!
//! [`bridge`] is the engine with real packets, driven by stamps and without a clock; [`turn`] drives it by a clock and devices;
//! [`recording`] keeps what was sent so that a run can be repeated without either. [`offload`] cuts and joins TCP where a host's kernel leaves that to its device.
//! Only `linux` knows namespaces and TUN devices.

mod addresses;
mod books;
pub mod bridge;
pub mod capture;
pub mod clock;
pub mod device;
pub mod flows;
pub mod headers;
pub mod igmp;
pub mod lateness;
mod limit;
pub mod offload;
pub mod plan;
pub mod recording;
pub mod results;
pub mod rewrite;
pub mod snapshot;
pub mod store;
pub mod turn;

#[cfg(target_os = "linux")]
pub mod linux;

/// What is said where there can be no live run.
pub const NEEDS_LINUX: &str = "live needs Linux: network namespaces and TUN devices";
