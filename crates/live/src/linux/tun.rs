//! A TUN device: the interface `live0` of a host, seen from the other side.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::sys;
use crate::device::Device;

/// The name of the interface in each host.
pub const INTERFACE: &str = "live0";

/// Where TUN devices are made.
pub const TUN: &str = "/dev/net/tun";

/// A TUN device.
#[derive(Debug)]
pub struct Tun(OwnedFd);

impl Tun {
    /// Makes the interface in the network namespace of the calling thread.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new() -> io::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let file = OpenOptions::new().read(true).write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(TUN)?;
        sys::set_tun_interface(&file, INTERFACE)?;
        Ok(Self(file.into()))
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Device for Tun {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.0, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            // The interface is down: the host sends nothing.
            Err(Errno::IO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn write(&mut self, packet: &[u8]) -> io::Result<bool> {
        match rustix::io::write(&self.0, packet) {
            Ok(_) => Ok(true),
            // Down, or without memory for it, or not a packet that this interface takes.
            Err(Errno::IO | Errno::NOBUFS | Errno::NOMEM | Errno::INVAL | Errno::AGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
