//! TCP. Profile `ns2` is what ns-2.35 does, counted in packets, in [`ns2`]; profile `rfc` is
//! what the standards say, counted in bytes, in the files beside it.

pub mod config;
pub mod ns2;

pub use config::Config;
