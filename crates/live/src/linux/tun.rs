//! A TUN device: the interface `live0` of a host, seen from the other side.

use std::fs::OpenOptions;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::sys;
use crate::bridge::Delivery;
use crate::device::{Device, Packets, Written};
use crate::offload::Offload;

/// The name of the interface in each host.
pub const INTERFACE: &str = "live0";

/// Where TUN devices are made.
pub const TUN: &str = "/dev/net/tun";

/// A TUN device.
#[derive(Debug)]
pub struct Tun {
    file: OwnedFd,
    offload: Option<Offload>,
}

impl Tun {
    /// Makes the interface in the network namespace of the calling thread. With `offload` the host's kernel hands over TCP uncut, and takes it
    /// joined.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(offload: Option<Offload>) -> io::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let file = OpenOptions::new().read(true).write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(TUN)?;
        sys::set_tun_interface(&file, INTERFACE, offload.is_some())?;
        if offload.is_some() {
            sys::leave_tcp_to_device(&file)?;
        }
        Ok(Self { file: file.into(), offload })
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Device for Tun {
    fn read(&mut self, packets: &mut Packets) -> io::Result<bool> {
        let Self { file, offload } = self;
        let read = |buffer: &mut [u8]| match rustix::io::read(file, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            // The interface is down: the host sends nothing.
            Err(Errno::IO) => Ok(None),
            Err(error) => Err(error.into()),
        };
        match offload {
            Some(offload) => offload.read(packets, read),
            None => packets.fill(read),
        }
    }

    fn write(&mut self, packets: &[Delivery]) -> io::Result<Written> {
        let Self { file, offload } = self;
        match offload {
            Some(offload) => offload.write(packets, |parts: &[IoSlice<'_>]| taken(rustix::io::writev(file, parts))),
            None => Ok(Written { packets: 1, taken: taken(rustix::io::write(file, &packets[0].bytes))? }),
        }
    }

    fn joins(&self) -> bool {
        self.offload.is_some()
    }
}

/// Whether the host took what was written.
fn taken(written: rustix::io::Result<usize>) -> io::Result<bool> {
    match written {
        Ok(_) => Ok(true),
        // Down, or without memory for it, or not a packet that this interface takes. Of one that went away the next read tells.
        Err(Errno::IO | Errno::NOBUFS | Errno::NOMEM | Errno::INVAL | Errno::AGAIN | Errno::BADFD) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
