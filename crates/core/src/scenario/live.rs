//! What a live run takes from a scenario: its hosts, and when a packet is late. Other runs do not look at it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Bytes, Duration, Fault};

/// The least MTU that IPv6 allows (RFC 8200 §5), and the most that IPv4's length field does (RFC 791 §3.1).
const MTUS: std::ops::RangeInclusive<u32> = 1_280..=65_535;

/// The longest name of a congestion control: `TCP_CA_NAME_MAX` of Linux, with the zero at its end.
const CONGESTION_NAME: usize = 15;

/// How `lasthop live` connects real programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Live {
    /// A packet that is handed to its host later than this counts as late. Default: 1 ms.
    pub late: Duration,
    /// The most bytes of real packets under way; further packets are dropped in front of the network, and the run is unsound. Default: 1 GB.
    pub memory: Bytes,
    /// Let the hosts' kernels hand over TCP uncut: it is cut into segments in front of the network, and segments for a host that are due at the
    /// same time are joined again. It spares time at high rates. Default: no.
    pub offload: bool,
    /// The nodes at which real packets enter and leave. Default: the ends of the flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<LiveHost>,
    /// Multicast addresses of groups. Default: 239.77.0.N for the N-th group.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub group: BTreeMap<String, Ipv4Addr>,
}

/// A node at which real packets enter and leave the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveHost {
    /// A node; `NAME.ue[*]` makes a host of each terminal of a cell.
    pub node: String,
    /// Its IPv4 address. Default: 10.77.0.N for the N-th host, beside fd77::N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Ipv4Addr>,
    /// The longest packet of its interface in bytes. Default: 1500 (Ethernet).
    #[serde(default = "default_mtu")]
    #[schemars(range(min = 1_280, max = 65_535))]
    pub mtu: u32,
    /// A program, with its arguments, that runs at this host as long as the live run lasts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// The congestion control of its kernel's TCP, such as `cubic` or `bbr`. Default: the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Settings of its kernel's network, such as `"net.ipv4.tcp_ecn" = "1"`. Default: the system's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<String, String>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            late: Duration::from_millis(1),
            memory: Bytes::new(1_000_000_000),
            offload: false,
            host: Vec::new(),
            group: BTreeMap::new(),
        }
    }
}

impl LiveHost {
    /// A host of this node, with all else by default.
    pub fn new(node: String) -> Self {
        Self { node, address: None, mtu: default_mtu(), run: Vec::new(), congestion: None, sysctl: BTreeMap::new() }
    }

    /// Whether its values can be had.
    ///
    /// # Errors
    /// The first that cannot.
    pub fn check(&self) -> Result<(), Fault> {
        if let Some(address) = self.address
            && (address.is_unspecified() || address.is_loopback() || address.is_multicast() || address.is_broadcast())
        {
            return Err(Fault::new(
                "address",
                format!("{address} is no address of a host"),
                "expected one such as 10.77.0.1",
            ));
        }
        if !MTUS.contains(&self.mtu) {
            let expected = format!("expected {} to {}", MTUS.start(), MTUS.end());
            return Err(Fault::new("mtu", format!("an MTU of {} bytes", self.mtu), expected));
        }
        let plain = |name: &String| {
            (1..=CONGESTION_NAME).contains(&name.len())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        };
        if let Some(name) = self.congestion.as_ref().filter(|name| !plain(name)) {
            let message = format!("\"{}\" is no name of a congestion control", name.escape_debug());
            return Err(Fault::new("congestion", message, "expected one such as \"cubic\""));
        }
        for name in self.sysctl.keys() {
            let plain =
                |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
            if !name.starts_with("net.") || !name.split('.').all(plain) {
                let message = format!("\"{}\" is no setting of a network", name.escape_debug());
                return Err(Fault::new("sysctl", message, "expected one such as \"net.ipv4.tcp_ecn\""));
            }
        }
        if self.run.first().is_some_and(String::is_empty) || self.run.iter().any(|word| word.contains('\0')) {
            return Err(Fault::new("run", "no program", "expected a program and its arguments"));
        }
        Ok(())
    }
}

fn default_mtu() -> u32 {
    1_500
}
