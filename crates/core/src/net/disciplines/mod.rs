//! Queue disciplines, one file each.

pub mod droptail;
