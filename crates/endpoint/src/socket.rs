//! The UDP socket of an end.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;

use lasthop_net::engine::Duration;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Bytes that may wait in the socket before they are read or sent: a tenth of a second of 100 Mbit/s.
const BUFFER: usize = 1_250_000;

/// A socket that never waits.
#[derive(Debug)]
pub struct Socket {
    udp: UdpSocket,
    interface: Ipv4Addr,
}

impl Socket {
    /// Bound to this address and port, 0 for any. Several sockets of a host may be bound to the port of a group. One that is bound to the address
    /// of a group gets datagrams for that group only; one bound to all addresses those of each group that any socket of the host has joined (ip(7),
    /// `IP_MULTICAST_ALL`).
    ///
    /// # Errors
    /// If the system refuses.
    pub fn bind(address: SocketAddrV4, shared: bool, ttl: u8) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
        if shared {
            sockopt::set_socket_reuseaddr(&socket, true)?;
        }
        // The system gives what it allows.
        let _ = sockopt::set_socket_recv_buffer_size(&socket, BUFFER);
        rustix::net::bind(&socket, &address)?;
        let udp = UdpSocket::from(socket);
        udp.set_multicast_ttl_v4(ttl.into())?;
        Ok(Self { udp, interface: Ipv4Addr::UNSPECIFIED })
    }

    /// Joins groups, and sends to them, over the interface with this address from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn use_interface(&mut self, interface: Ipv4Addr) -> io::Result<()> {
        sockopt::set_ip_multicast_if(&self.udp, &interface)?;
        self.interface = interface;
        Ok(())
    }

    /// Listens to a group from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn join(&self, group: Ipv4Addr) -> io::Result<()> {
        self.udp.join_multicast_v4(&group, &self.interface)
    }

    /// Listens to it no longer.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn leave(&self, group: Ipv4Addr) -> io::Result<()> {
        self.udp.leave_multicast_v4(&group, &self.interface)
    }

    /// The next datagram, if one waits: its length, and its sender.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddrV4)>> {
        match self.udp.recv_from(buffer) {
            Ok((length, SocketAddr::V4(from))) => Ok(Some((length, from))),
            Ok((_, SocketAddr::V6(_))) => Ok(None),
            Err(error) if is_passing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a datagram. Gives the reason if the system did not take it this time.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn send(&self, datagram: &[u8], to: SocketAddrV4) -> io::Result<Option<io::Error>> {
        match self.udp.send_to(datagram, to) {
            Ok(_) => Ok(None),
            Err(error) if is_passing(&error) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// Waits until a datagram can be read, or this time has passed.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn wait(&self, time: Duration) -> io::Result<()> {
        let nanos = time.as_nanos();
        let time = Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 };
        match rustix::event::poll(&mut [PollFd::from_borrowed_fd(self.udp.as_fd(), PollFlags::IN)], Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Errors after which a socket goes on: nothing there, no room, an interface that is down, an ICMP message about an earlier datagram, or the
/// packet filter, which says EPERM for what it drops, also when its table of connections is full.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    use rustix::io::Errno;
    let known = matches!(
        error.kind(),
        Kind::WouldBlock
            | Kind::Interrupted
            | Kind::ConnectionRefused
            | Kind::HostUnreachable
            | Kind::NetworkUnreachable
            | Kind::NetworkDown
    );
    known || [Errno::NOBUFS, Errno::NOMEM, Errno::PERM].iter().any(|e| error.raw_os_error() == Some(e.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sessions of a host use one port: each receiver gets the datagrams of its own group.
    #[test]
    fn a_socket_of_a_group_gets_no_datagrams_of_another() {
        let port = 47_391;
        let groups = [Ipv4Addr::new(239, 77, 9, 1), Ipv4Addr::new(239, 77, 9, 2)];
        let sockets = groups.map(|group| {
            let mut socket = Socket::bind(SocketAddrV4::new(group, port), true, 1).unwrap();
            socket.use_interface(Ipv4Addr::LOCALHOST).unwrap();
            socket.join(group).unwrap();
            socket
        });
        let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        let mut sender = Socket::bind(any, false, 1).unwrap();
        sender.use_interface(Ipv4Addr::LOCALHOST).unwrap();
        for (group, text) in groups.iter().zip([&b"one"[..], b"two"]) {
            assert!(sender.send(text, SocketAddrV4::new(*group, port)).unwrap().is_none());
        }
        for (socket, text) in sockets.iter().zip([&b"one"[..], b"two"]) {
            socket.wait(Duration::from_secs(5)).unwrap();
            let mut buffer = [0; 9];
            assert_eq!(socket.receive(&mut buffer).unwrap().map(|(length, _)| length), Some(3));
            assert_eq!(&buffer[..3], text);
            assert_eq!(socket.receive(&mut buffer).unwrap(), None);
        }
    }
}
