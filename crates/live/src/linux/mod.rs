//! Live runs on Linux: namespaces, TUN devices, programs.
//!
//! A run is two processes. The outer one makes the namespaces and waits; the inner one, the first of a process-id namespace of its own,
//! runs the network and starts the programs. Whichever ends, however it ends, the kernel ends all that is in that namespace, and with the
//! last process the network namespaces and their devices.

pub mod clock;
pub mod host;
pub mod netlink;
pub mod outer;
pub mod program;
pub mod run;
mod sys;
pub mod tun;
