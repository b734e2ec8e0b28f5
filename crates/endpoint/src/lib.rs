//! The endpoints of the simulator between real hosts: TFRC, TFMCC, PGMCC and layered multicast over UDP sockets.
//!
//! [`host`] drives one end, without IO; [`wire`] has the layouts of datagrams, [`mod@file`] what carries a file whole over packets that may be lost.
//! [`plan`] reads the command line, [`tables`] writes what happened. Only [`run`] knows sockets and the clock.

pub mod file;
pub mod host;
pub mod plan;
pub mod tables;
pub mod wire;

#[cfg(target_os = "linux")]
pub mod run;
#[cfg(target_os = "linux")]
pub mod socket;
