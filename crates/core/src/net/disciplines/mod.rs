//! Queue disciplines, one file each.

pub mod codel;
pub mod droptail;
pub mod ewa;
pub mod red;
pub mod xcp;
