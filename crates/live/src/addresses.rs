//! Which address leads to which node or group of the network, and which host stands at a node.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use lasthop_core::net::{Address, GroupId, NodeId};
use lasthop_core::scenario::diagnostic::{listed, nearest};
use lasthop_core::scenario::types::Scenario;

use crate::bridge::{Host, Refused};

/// The addresses of hosts and groups.
pub struct Addresses {
    destinations: BTreeMap<IpAddr, Address>,
    hosts: BTreeMap<NodeId, usize>,
}

impl Addresses {
    /// Those of `hosts`, which are numbered in their order, and the node of each.
    ///
    /// # Errors
    /// A node that the scenario does not have, or a node or an address that two hosts have.
    pub fn of_hosts(scenario: &Scenario, hosts: &[Host]) -> Result<(Self, Vec<NodeId>), Refused> {
        let names = scenario.node_names();
        let mut made = Self { destinations: BTreeMap::new(), hosts: BTreeMap::new() };
        let mut nodes = Vec::with_capacity(hosts.len());
        for (number, host) in hosts.iter().enumerate() {
            let Ok(place) = names.binary_search(&host.node) else {
                let known = names.iter().map(String::as_str);
                let hint = nearest(&host.node, known.clone())
                    .map_or(String::new(), |name| format!("; did you mean \"{name}\"?"));
                return Err(Refused::UnknownNode { node: host.node.clone(), hint, known: listed(known) });
            };
            let node = NodeId(place as u32);
            if made.hosts.insert(node, number).is_some() {
                return Err(Refused::HostTwice(host.node.clone()));
            }
            for &address in &host.addresses {
                if let Some(Address::Node(other)) = made.destinations.insert(address, Address::Node(node))
                    && other != node
                {
                    let one = hosts[made.hosts[&other]].node.clone();
                    return Err(Refused::AddressTwice { one, other: host.node.clone(), address });
                }
            }
            nodes.push(node);
        }
        Ok((made, nodes))
    }

    /// Adds those of groups: the addresses that are named, or else 239.77.0.1 and up, in the order of the scenario. An address of a host stays
    /// that host's.
    ///
    /// # Errors
    /// An address that two groups have.
    pub fn add_groups(
        &mut self,
        groups: &[(String, GroupId)],
        named: &BTreeMap<String, Ipv4Addr>,
    ) -> Result<(), Refused> {
        let mut owners = BTreeMap::new();
        for ((name, group), number) in groups.iter().zip(1u16..) {
            let [high, low] = number.to_be_bytes();
            let address = named.get(name).copied().unwrap_or(Ipv4Addr::new(239, 77, high, low));
            if let Some(one) = owners.insert(address, name) {
                return Err(Refused::GroupAddressTwice { one: one.clone(), other: name.clone(), address });
            }
            self.destinations.entry(IpAddr::V4(address)).or_insert(Address::Group(*group));
        }
        Ok(())
    }

    /// The node or the group with this address.
    pub fn destination(&self, address: IpAddr) -> Option<Address> {
        self.destinations.get(&address).copied()
    }

    /// The number of the host at this node.
    pub fn host_at(&self, node: NodeId) -> Option<usize> {
        self.hosts.get(&node).copied()
    }
}

#[cfg(test)]
mod tests {
    use lasthop_core::scenario::read;

    use super::*;

    const STAR: &str = r#"
        [[link]]
        name = "one"
        between = ["c", "a"]
        rate = "1 Mbit/s"
        delay = "1 ms"
        [[link]]
        name = "two"
        between = ["c", "b"]
        rate = "1 Mbit/s"
        delay = "1 ms"
    "#;

    fn host(node: &str, addresses: &[&str]) -> Host {
        Host { node: node.to_owned(), addresses: addresses.iter().map(|text| text.parse().unwrap()).collect() }
    }

    #[test]
    fn addresses_lead_to_nodes_and_groups_and_nodes_to_hosts() {
        let scenario = read::toml(STAR, "test").unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
        // Nodes are numbered by their names: a, b, c. Hosts are in another order.
        let hosts = [host("c", &["10.77.0.1", "fd77::1"]), host("a", &["10.77.0.2"])];
        let (mut addresses, nodes) = Addresses::of_hosts(&scenario, &hosts).unwrap();
        assert_eq!(nodes, [NodeId(2), NodeId(0)]);
        let groups = [("tv".to_owned(), GroupId(0)), ("radio".to_owned(), GroupId(1))];
        let named = BTreeMap::from([("tv".to_owned(), Ipv4Addr::new(239, 9, 9, 9))]);
        addresses.add_groups(&groups, &named).unwrap();
        for (address, leads_to) in [
            ("10.77.0.1", Some(Address::Node(NodeId(2)))),
            ("fd77::1", Some(Address::Node(NodeId(2)))),
            ("10.77.0.2", Some(Address::Node(NodeId(0)))),
            ("239.9.9.9", Some(Address::Group(GroupId(0)))),
            ("239.77.0.2", Some(Address::Group(GroupId(1)))),
            ("239.77.0.1", None),
            ("10.77.0.3", None),
        ] {
            assert_eq!(addresses.destination(address.parse().unwrap()), leads_to, "{address}");
        }
        assert_eq!([0, 1, 2].map(|node| addresses.host_at(NodeId(node))), [Some(1), None, Some(0)]);
    }

    #[test]
    fn a_node_or_an_address_belongs_to_one_host() {
        let scenario = read::toml(STAR, "test").unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
        let refused = |hosts: &[Host]| Addresses::of_hosts(&scenario, hosts).err().map(|refused| refused.to_string());
        assert_eq!(
            refused(&[host("a", &["10.0.0.1"]), host("b", &["10.0.0.2"]), host("c", &["10.0.0.3", "10.0.0.1"])]),
            Some("hosts \"a\" and \"c\" both have 10.0.0.1".to_owned())
        );
        assert_eq!(
            refused(&[host("a", &["10.0.0.1"]), host("a", &["10.0.0.2"])]),
            Some("host \"a\" is named twice".to_owned())
        );
        assert_eq!(refused(&[host("a", &["10.0.0.1", "10.0.0.1"])]), None, "twice of one host is once");
    }
}
