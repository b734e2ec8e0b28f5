//! Queue disciplines, one file each.

pub mod codel;
pub mod droptail;
pub mod red;
pub mod xcp;
