//! Whether the hosts of a live run make sense.

use std::collections::BTreeMap;

use crate::scenario::diagnostic::{listed, shown};
use crate::scenario::types::Scenario;

use super::names::Names;
use super::{Of, Problems};

/// Hosts are nodes, each once, with addresses of their own.
pub(super) fn live(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut nodes = BTreeMap::new();
    let mut addresses = BTreeMap::new();
    for (n, host) in scenario.live.host.iter().enumerate() {
        let path = format!("live.host[{n}]");
        problems.fault(path.clone(), host.check());
        let called = names.called(&host.node);
        if called.is_empty() {
            let message = format!("there is no node {}", shown(&host.node));
            problems.unknown(format!("{path}.node"), message, "", (&host.node, Of::Nodes));
        }
        for place in called.iter() {
            if nodes.insert(*place, n).is_some() {
                let message = format!("host {} is there twice", shown(&names.nodes[*place]));
                problems.add(format!("{path}.node"), message, "keep one");
                break;
            }
        }
        let Some(address) = host.address else { continue };
        if called.len() > 1 {
            let message = format!("{} hosts with one address", called.len());
            problems.add(format!("{path}.address"), message, "leave it out: each gets its own");
        }
        if let Some(other) = addresses.insert(address, &host.node) {
            let message = format!("hosts {} and {} both have {address}", shown(other), shown(&host.node));
            problems.add(format!("{path}.address"), message, "give it another one");
        }
    }
    for (name, address) in &scenario.live.group {
        let path = format!("live.group.{name}");
        if !names.groups.contains_key(name.as_str()) {
            let message = format!("there is no group {}", shown(name));
            let known = match names.groups.is_empty() {
                true => "the scenario has none".to_owned(),
                false => format!("known: {}", listed(names.groups.keys().copied())),
            };
            problems.add(path.clone(), message, known);
        }
        if !address.is_multicast() {
            problems.add(path, format!("{address} is no multicast address"), "expected 224.0.0.0 to 239.255.255.255");
        }
    }
}
