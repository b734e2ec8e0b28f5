//! What the bridge asks of rtnetlink: an interface up, its addresses, its routes, and how many packets it dropped. Layouts are those of
//! linux/netlink.h and linux/rtnetlink.h; see rtnetlink(7).

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_STATS64: u16 = 23;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// No duplicate address detection: there is no other host on the link.
const IFA_F_NODAD: u8 = 2;
const RTA_OIF: u16 = 4;
const RTA_METRICS: u16 = 8;
/// Metrics of a route that do not change: bits by number.
const RTAX_LOCK: u16 = 1;
/// The congestion control of connections over a route.
const RTAX_CC_ALGO: u16 = 16;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IFF_UP: u32 = 1;

/// A socket of rtnetlink in the network namespace in which it was made.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    seq: u32,
}

impl Netlink {
    /// In the network namespace of the calling thread.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new() -> io::Result<Self> {
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        Ok(Self { socket, seq: 0 })
    }

    /// The number of an interface.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn index(&self, name: &str) -> io::Result<u32> {
        Ok(rustix::net::netdevice::name_to_index(&self.socket, name)?)
    }

    /// Brings an interface up; `size` is its MTU and the length of its queue in packets, if they are to be set.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn up(&mut self, index: u32, size: Option<(u32, u32)>) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWLINK, NLM_F_ACK);
        message.interface(index, IFF_UP, IFF_UP);
        if let Some((mtu, queue)) = size {
            message.attribute(IFLA_MTU, &mtu.to_ne_bytes());
            message.attribute(IFLA_TXQLEN, &queue.to_ne_bytes());
        }
        self.ask(message).map(drop)
    }

    /// Gives an interface an address, with no other on its link.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn address(&mut self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
        let (family, bytes) = parts(address);
        message.bytes(&[family, bytes.len() as u8 * 8, IFA_F_NODAD, 0]);
        message.bytes(&index.to_ne_bytes());
        message.attribute(IFA_LOCAL, &bytes);
        message.attribute(IFA_ADDRESS, &bytes);
        self.ask(message).map(drop)
    }

    /// Lets everything of this address's family go over an interface; connections by this congestion control, if one is named.
    ///
    /// # Errors
    /// If the system refuses, or does not know the congestion control.
    pub fn default_route(&mut self, index: u32, like: IpAddr, congestion: Option<&str>) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
        let scope = if like.is_ipv4() { RT_SCOPE_LINK } else { 0 };
        message.bytes(&[parts(like).0, 0, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, scope, RTN_UNICAST, 0, 0, 0, 0]);
        message.attribute(RTA_OIF, &index.to_ne_bytes());
        if let Some(name) = congestion {
            let mut metrics = Message(Vec::new());
            metrics.attribute(RTAX_LOCK, &(1u32 << RTAX_CC_ALGO).to_ne_bytes());
            metrics.attribute(RTAX_CC_ALGO, &[name.as_bytes(), &[0]].concat());
            message.attribute(RTA_METRICS, &metrics.0);
        }
        self.ask(message).map(drop)
    }

    /// How many packets that the host sent its interface dropped.
    ///
    /// # Errors
    /// If the interface is gone.
    pub fn dropped(&mut self, index: u32) -> io::Result<u64> {
        let mut message = Message::new(RTM_GETLINK, 0);
        message.interface(index, 0, 0);
        let answer = self.ask(message)?;
        // nlmsghdr and ifinfomsg are 16 bytes each; attributes follow.
        let mut rest = answer.get(32..).unwrap_or_default();
        while let [l0, l1, k0, k1, ..] = *rest {
            let length = usize::from(u16::from_ne_bytes([l0, l1]));
            // struct rtnl_link_stats64: tx_dropped is the eighth number.
            if u16::from_ne_bytes([k0, k1]) == IFLA_STATS64
                && let Some(number) = rest.get(4 + 7 * 8..4 + 8 * 8).and_then(|bytes| bytes.try_into().ok())
            {
                return Ok(u64::from_ne_bytes(number));
            }
            rest = rest.get(length.max(4).next_multiple_of(4)..).unwrap_or_default();
        }
        Err(io::Error::other("the interface shows no statistics"))
    }

    /// Sends a message and gives the answer.
    fn ask(&mut self, mut message: Message) -> io::Result<Vec<u8>> {
        self.seq += 1;
        send(&self.socket, message.finish(self.seq), SendFlags::empty())?;
        let mut answer = vec![0; 32_768];
        loop {
            let (length, _) = recv(&self.socket, &mut answer[..], RecvFlags::empty())?;
            let Some(head) = answer.get(..16).filter(|_| length >= 16) else { continue };
            if head[8..12] != self.seq.to_ne_bytes() {
                continue;
            }
            if u16::from_ne_bytes([head[4], head[5]]) == NLMSG_ERROR
                && let Some(&[a, b, c, d]) = answer.get(16..20)
            {
                let error = i32::from_ne_bytes([a, b, c, d]);
                return if error == 0 { Ok(Vec::new()) } else { Err(io::Error::from_raw_os_error(-error)) };
            }
            answer.truncate(length);
            return Ok(answer);
        }
    }
}

/// A message as it is written.
struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16, flags: u16) -> Self {
        let mut message = Self(vec![0; 4]);
        message.bytes(&kind.to_ne_bytes());
        message.bytes(&(NLM_F_REQUEST | flags).to_ne_bytes());
        message.bytes(&[0; 8]);
        message
    }

    /// `struct ifinfomsg`.
    fn interface(&mut self, index: u32, flags: u32, change: u32) {
        self.bytes(&[0; 4]);
        for field in [index, flags, change] {
            self.bytes(&field.to_ne_bytes());
        }
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.bytes(&(4 + value.len() as u16).to_ne_bytes());
        self.bytes(&kind.to_ne_bytes());
        self.bytes(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&mut self, seq: u32) -> &[u8] {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0[8..12].copy_from_slice(&seq.to_ne_bytes());
        &self.0
    }
}

/// The family of an address, and its bytes.
fn parts(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (AF_INET, address.octets().to_vec()),
        IpAddr::V6(address) => (AF_INET6, address.octets().to_vec()),
    }
}
