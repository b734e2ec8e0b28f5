//! What tests over a bridge without devices share.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lasthop_core::scenario::types::Scenario;
use lasthop_core::scenario::{check, read};
use lasthop_live::bridge::Host;

/// The scenario of a valid text.
pub fn scenario(text: &str) -> Scenario {
    let document = read::toml(text, "test").unwrap_or_else(|error| panic!("{}", error.render(false)));
    check(&document).unwrap_or_else(|error| panic!("{}", error.render(false)));
    document.scenario
}

/// Hosts at these nodes: the N-th has 10.77.0.N and fd77::N.
pub fn hosts(nodes: &[&str]) -> Vec<Host> {
    let host = |(node, n): (&&str, u8)| {
        let v6 = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, n.into());
        let addresses = vec![IpAddr::V4(Ipv4Addr::new(10, 77, 0, n)), IpAddr::V6(v6)];
        Host { node: (*node).to_owned(), addresses }
    };
    nodes.iter().zip(1..).map(host).collect()
}
