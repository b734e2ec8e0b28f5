//! A host's network namespace with its device.

use std::fs::File;
use std::io;
use std::net::IpAddr;

use rustix::thread::UnshareFlags;

use super::netlink::Netlink;
use super::sys;
use super::tun::{INTERFACE, Tun};
use crate::bridge::Host;

/// Packets that wait for the bridge in front of it: enough for the longest pause of a busy machine, so that the scenario's queues decide.
const QUEUE: u32 = 10_000;

/// Ethernet's, as hosts have it on most links.
pub const MTU: u32 = 1_500;

/// A host's namespace.
#[derive(Debug)]
pub struct Namespace {
    /// The namespace.
    pub file: File,
    /// The other side of its interface.
    pub tun: Tun,
    /// The congestion control that its TCP uses.
    pub congestion: String,
    netlink: Netlink,
    interface: u32,
}

impl Namespace {
    /// Makes the namespace of this host. An address of a family that the system does not have is left out.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(host: &Host) -> io::Result<Self> {
        let addresses = host.addresses.clone();
        // A thread of its own: it moves into the namespace, and the others stay.
        let made = std::thread::spawn(move || Self::make(&addresses));
        made.join().unwrap_or_else(|_| Err(io::Error::other("the thread of a host panicked")))
    }

    fn make(addresses: &[IpAddr]) -> io::Result<Self> {
        sys::unshare(UnshareFlags::NEWNET)?;
        let file = File::open("/proc/thread-self/ns/net")?;
        let tun = Tun::new()?;
        let mut netlink = Netlink::new()?;
        let interface = netlink.index(INTERFACE)?;
        let loopback = netlink.index("lo")?;
        netlink.up(loopback, None)?;
        netlink.up(interface, Some((MTU, QUEUE)))?;
        for &address in addresses {
            if address.is_ipv6() && !std::path::Path::new("/proc/sys/net/ipv6").exists() {
                continue;
            }
            netlink.address(interface, address)?;
            netlink.default_route(interface, address)?;
        }
        let congestion = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap_or_default();
        Ok(Self { file, tun, congestion: congestion.trim().to_owned(), netlink, interface })
    }

    /// What is needed when the devices are given away: asks how many packets the interface dropped so far.
    pub fn split(self) -> (Tun, Drops) {
        (self.tun, Drops { netlink: self.netlink, interface: self.interface })
    }
}

/// Counts packets that a host's interface dropped before the bridge read them.
#[derive(Debug)]
pub struct Drops {
    netlink: Netlink,
    interface: u32,
}

impl Drops {
    /// How many so far.
    ///
    /// # Errors
    /// If the interface is gone.
    pub fn count(&mut self) -> io::Result<u64> {
        self.netlink.dropped(self.interface)
    }
}
