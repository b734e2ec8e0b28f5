//! A host's network namespace with its device.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use super::netlink::Netlink;
use super::sys;
use super::tun::{INTERFACE, Tun};
use crate::bridge::Host;
use crate::offload::Offload;
use crate::plan::Interface;

/// Packets that wait for the bridge in front of it: enough for the longest pause of a busy machine, so that the scenario's queues decide.
const QUEUE: u32 = 10_000;

/// Why a namespace that is attached cannot be used: only one that exists can have it.
const HAS_ROUTE: &str =
    "its namespace has a default route, and a host's is over live0: remove it with `ip -n NETNS route del default`";

/// Why it cannot be used, likewise.
const HAS_INTERFACE: &str =
    "its namespace has a live0 already: perhaps another run has it, or another host of this one";

/// A host's namespace.
#[derive(Debug)]
pub struct Namespace {
    /// The namespace.
    pub file: File,
    /// The other side of its interface.
    pub tun: Tun,
    /// The addresses that it got.
    pub addresses: Vec<IpAddr>,
    /// The congestion control that its TCP uses.
    pub congestion: String,
    netlink: Netlink,
    interface: u32,
}

impl Namespace {
    /// Makes the namespace of this host, or the interface in the one that exists. An address of a family that the system does not have, or
    /// that is switched off there, is left out.
    ///
    /// # Errors
    /// A sentence: the system refuses.
    pub fn new(host: &Host, interface: &Interface) -> Result<Self, String> {
        let (addresses, interface) = (host.addresses.clone(), interface.clone());
        // A thread of its own: it moves into the namespace, and the others stay.
        let made = std::thread::spawn(move || Self::make(&addresses, &interface));
        let made = made.join().unwrap_or_else(|_| Err("the thread of a host panicked".to_owned()));
        made.map_err(|error| format!("host \"{}\" cannot be made: {error}", host.node))
    }

    fn make(addresses: &[IpAddr], wanted: &Interface) -> Result<Self, String> {
        match &wanted.namespace {
            None => sys::unshare(UnshareFlags::NEWNET).map_err(|error| error.to_string())?,
            Some(path) => enter(path).map_err(|error| format!("namespace {}: {error}", path.display()))?,
        }
        for (name, value) in &wanted.sysctl {
            let file = format!("/proc/sys/{}", name.replace('.', "/"));
            std::fs::write(file, value).map_err(|error| format!("{name} = {value}: {error}"))?;
        }
        let congestion = wanted.congestion.as_deref();
        Self::furnish(addresses, wanted).map_err(|error| match (congestion, error.kind()) {
            (Some(name), io::ErrorKind::InvalidInput) => {
                format!("this kernel has no congestion control \"{name}\"; it has {}", known_congestion_controls())
            }
            _ => error.to_string(),
        })
    }

    fn furnish(addresses: &[IpAddr], wanted: &Interface) -> io::Result<Self> {
        let congestion = wanted.congestion.as_deref();
        let file = File::open("/proc/thread-self/ns/net")?;
        let tun = Tun::new(wanted.offload.then(|| Offload::new(wanted.mtu))).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => io::Error::other(HAS_INTERFACE),
            _ => error,
        })?;
        let mut netlink = Netlink::new()?;
        let interface = netlink.index(INTERFACE)?;
        let loopback = netlink.index("lo")?;
        netlink.up(loopback, None)?;
        netlink.up(interface, Some((wanted.mtu, QUEUE)))?;
        let has_v6 = std::fs::read_to_string(format!("/proc/sys/net/ipv6/conf/{INTERFACE}/disable_ipv6"));
        let has_v6 = has_v6.is_ok_and(|text| text.trim() == "0");
        let addresses: Vec<IpAddr> = addresses.iter().copied().filter(|one| one.is_ipv4() || has_v6).collect();
        for &address in &addresses {
            netlink.address(interface, address)?;
            netlink.default_route(interface, address, congestion).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => io::Error::other(HAS_ROUTE),
                _ => error,
            })?;
        }
        let of_system = || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap_or_default();
        let congestion = congestion.map_or_else(of_system, str::to_owned).trim().to_owned();
        Ok(Self { file, tun, addresses, congestion, netlink, interface })
    }

    /// What is needed when the devices are given away: asks how many packets the interface dropped so far.
    pub fn split(self) -> (Tun, Drops) {
        (self.tun, Drops { netlink: self.netlink, interface: self.interface })
    }
}

/// Moves the calling thread into a network namespace that exists.
fn enter(namespace: &Path) -> io::Result<()> {
    let file = File::open(namespace)?;
    Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?)
}

fn known_congestion_controls() -> String {
    let all = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    all.split_whitespace().collect::<Vec<_>>().join(", ")
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
