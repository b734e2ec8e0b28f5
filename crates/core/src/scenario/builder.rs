//! From a scenario to a network that is ready to run.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::engine::{Duration, Fault, Instant};
use crate::measure::totals::FlowInfo;
use crate::multicast::expulsion::{self, Judge};
use crate::multicast::membership;
use crate::net::guard::Guarded;
use crate::net::simulation::{Group, Part, Trees};
use crate::net::{Address, Agent, Core, Endpoint, GroupId, NodeId, Observer, Peer, Place, Simulation};
use crate::profile::Profile;
use crate::transport::congestion::Congestion;

use super::media::changeable::Changeables;
use super::media::{Radios, Setting, terminals_of};
use super::registry::{Qos, Transport};
use super::types::{Change, Flow, Scenario};
use super::{ends, group};

/// A scenario that cannot be built, with the place: `flow[2].to`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{path}: {message}")]
pub struct BuildError {
    /// Where in the scenario.
    pub path: String,
    /// The error.
    pub message: String,
}

/// A network that is ready to run.
pub struct Built {
    /// The network.
    pub simulation: Simulation,
    /// Its flows.
    pub flows: Vec<FlowInfo>,
    /// Joins and leaves of groups: when, and whether it joins; the first one last.
    pub switches: Vec<(Instant, GroupId, NodeId, bool)>,
    /// What can be changed.
    pub changeables: Changeables,
    /// The groups in the order of the scenario, without those of layered sessions.
    pub groups: Vec<(String, GroupId)>,
    /// The directions of links, forward and back, in the order of their media.
    pub links: Vec<(u32, [Place; 2])>,
}

/// Builds the network of `scenario` with the random streams of `seed`; `observer` looks at it
/// from the start.
///
/// # Errors
/// A name that stands for nothing, and the like.
pub fn build(scenario: &Scenario, seed: u64, observer: Option<Box<dyn Observer>>) -> Result<Built, BuildError> {
    build_with(scenario, seed, observer, Changes::Written)
}

/// The changes of the network that a run is ready for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Those of the scenario.
    Written,
    /// Others too, by its caller.
    Any,
}

/// The same, ready for these changes.
///
/// # Errors
/// As for [`build`].
pub fn build_with(
    scenario: &Scenario,
    seed: u64,
    observer: Option<Box<dyn Observer>>,
    changes: Changes,
) -> Result<Built, BuildError> {
    let mut simulation = Simulation::new(seed);
    let ns2_clock = scenario.profile.is_ns2() && scenario.media().all(|(_, medium)| medium.keeps_ns2_clock());
    if ns2_clock {
        simulation.core_mut().follow_ns2_clock();
    }
    if let Some(observer) = observer {
        simulation.set_observer(observer);
    }
    let names = scenario.node_names();
    let nodes: Vec<NodeId> = names.iter().map(|name| simulation.add_node(name)).collect();
    let find = |name: &str| names.binary_search_by(|n| n.as_str().cmp(name)).ok().map(|place| nodes[place]);
    let node = |name: &str, path: &dyn Fn() -> String| {
        find(name).ok_or_else(|| BuildError { path: path(), message: format!("there is no node \"{name}\"") })
    };
    let changing: BTreeSet<&str> = scenario.change.iter().map(|change| change.link.as_str()).collect();
    let mut links = Vec::new();
    for (entry, medium) in scenario.media() {
        let mut ends = Vec::new();
        for joined in medium.joins() {
            ends.push(node(joined.name, &|| format!("{entry}.{}", joined.field))?);
        }
        let terminals = terminals_of(medium.name(), medium.terminals());
        ends.extend(terminals.chain(medium.makes().into_iter().map(|made| made.name)).filter_map(|name| find(&name)));
        let shows_handovers =
            scenario.record.handovers && (changes == Changes::Any || changing.contains(medium.name()));
        let setting = Setting { profile: scenario.profile, ns2_clock, shows_handovers };
        let built = medium.build(&mut simulation, &ends, &setting);
        if let Some(places) = built.directions {
            links.push((built.medium, places));
        }
    }
    let served = group::are_served(scenario);
    let radios = Radios::of(scenario);
    let mut groups = Vec::new();
    for (i, (group, layers)) in scenario.group.iter().zip(group::layers(scenario)).enumerate() {
        let numbers = |names: Vec<String>| -> Result<Vec<NodeId>, BuildError> {
            names.iter().map(|name| node(name, &|| format!("group[{i}]"))).collect()
        };
        let area = group.area.iter().flat_map(|name| radios.called(name)).collect();
        let plain = Group {
            members: numbers(group.everybody(&radios))?,
            listening: numbers(group.listening(&radios))?,
            trees: group.trees,
            leave_latency: group.leave_latency,
            area: numbers(area)?,
            served_at: served.then_some(membership::PORT),
            expelled: Vec::new(),
            part: Part::None,
            outside: Vec::new(),
        };
        let added = if layers == 0 { simulation.add_group(plain) } else { add_session(&mut simulation, plain, layers) };
        groups.push(added);
    }
    let mut switches = Vec::new();
    for switch in group::switches(scenario, &radios) {
        let path = || format!("group[{}]", switch.group);
        switches.push((switch.at, groups[switch.group], node(&switch.node, &path)?, switch.joins));
    }
    switches.reverse();
    for agent in agents(scenario, served) {
        for &node in &nodes {
            let stream = simulation.core().stream(&format!("agent {}", agent.port), simulation.node_name(node));
            simulation.add_agent(node, agent.port, |seat| (agent.make)(seat, stream));
        }
    }
    let by_name: BTreeMap<&str, usize> =
        scenario.group.iter().zip(0..).map(|(group, n)| (group.name.as_str(), n)).collect();
    let mut flows = Vec::new();
    for (i, written) in scenario.flow.iter().enumerate() {
        if let Some(message) = fault_of_custom(&written.transport, scenario.profile) {
            return Err(BuildError { path: format!("flow[{i}].transport.tcp.congestion"), message });
        }
        for flow in radios.flows(written) {
            let from = node(&flow.from, &|| format!("flow[{i}].from"))?;
            let group = by_name.get(flow.to.as_str()).copied();
            let to = match group {
                Some(group) => Address::Group(groups[group]),
                None => Address::Node(node(&flow.to, &|| format!("flow[{i}].to"))?),
            };
            let served_by = match flow.qos.as_ref().and_then(|qos| Some((qos, qos.config().served_by()?))) {
                Some((qos, (field, name))) => Some(node(name, &|| format!("flow[{i}].qos.{}.{field}", qos.name()))?),
                None => None,
            };
            let expulsion = group.and_then(|group| scenario.group[group].expulsion.as_ref());
            flows.push(add_flow(&mut simulation, scenario, &names, &flow, Way { from, to, served_by, expulsion }));
        }
    }
    simulation.route();
    let written = scenario.group.iter().zip(group::layers(scenario)).zip(&groups);
    let groups =
        written.filter(|((_, layers), _)| *layers == 0).map(|((group, _), id)| (group.name.clone(), *id)).collect();
    Ok(Built { simulation, flows, switches, changeables: Changeables::of(scenario), groups, links })
}

/// A fault of a control that is made in code, which no scenario's check has seen: TCP of another program asks no other than its own, and
/// parameters may make no sense.
fn fault_of_custom(transport: &Transport, profile: Profile) -> Option<String> {
    let Transport::Tcp(tcp) = transport else { return None };
    let Some(Congestion::Custom(custom)) = &tcp.congestion else { return None };
    let own = match (tcp.is_ns2(profile), tcp.is_linux(profile)) {
        (true, _) => Some("ns-2's TCP"),
        (_, true) => Some("the Linux kernel's TCP"),
        _ => None,
    };
    if let Some(own) = own {
        return Some(format!("{own} takes no control that is made in code"));
    }
    let Fault { field, message, expected } = custom.config.check().err()?;
    Some(format!("{field}: {message}; {expected}"))
}

/// The machines that every node needs for what flows ask: one at each port.
fn agents(scenario: &Scenario, serves_groups: bool) -> Vec<Agent> {
    let for_qos = scenario.flow.iter().filter_map(|flow| flow.qos.as_ref()?.config().agent());
    let for_transport = scenario.flow.iter().filter_map(|flow| flow.transport.config().agent());
    let for_groups = serves_groups.then_some(membership::AGENT);
    let mut agents: Vec<Agent> = for_qos.chain(for_transport).chain(for_groups).collect();
    agents.sort_by_key(|agent| agent.port);
    agents.dedup_by_key(|agent| agent.port);
    agents
}

/// The groups of a layered session: its own, and one for each layer.
fn add_session(simulation: &mut Simulation, plain: Group, layers: u32) -> GroupId {
    let nobody = Group { listening: Vec::new(), ..plain };
    let session = simulation.add_group(Group { trees: Trees::Instant, part: Part::Session, ..nobody.clone() });
    for _ in 0..layers {
        simulation.add_group(Group { part: Part::Layer(session), ..nobody.clone() });
    }
    session
}

/// The ends of a flow.
struct Way<'s> {
    from: NodeId,
    to: Address,
    /// The node that serves it, where its quality of service asks for one.
    served_by: Option<NodeId>,
    /// The rule by which receivers may be taken out of its group.
    expulsion: Option<&'s expulsion::Config>,
}

fn add_flow(simulation: &mut Simulation, scenario: &Scenario, names: &[String], flow: &Flow, way: Way<'_>) -> FlowInfo {
    let Way { from, to, served_by, expulsion } = way;
    let name = flow.label();
    let start = Instant::ZERO + flow.start;
    let streams = simulation.core().streams().clone();
    let stream = |purpose: &str| streams.stream(&format!("flow {name}"), purpose);
    let profile = scenario.profile;
    let qos = flow.qos.as_ref().map(Qos::config);
    let mut source = flow.source.config().build(start, stream("source"));
    if !scenario.record.transfers {
        source.forget_transfers();
    }
    let id = simulation.add_flow(
        from,
        to,
        start,
        source,
        |seat| {
            let sender = ends::sender(&flow.transport, seat, profile, stream("sender"));
            let sender: Box<dyn Endpoint> = match (expulsion, to) {
                (Some(config), Address::Group(group)) => {
                    Box::new(Guarded::new(Judge::new(config, group, seat), sender))
                }
                _ => sender,
            };
            match qos {
                Some(qos) => qos.sender_served_by(served_by, sender, seat, profile, stream("qos sender")),
                None => sender,
            }
        },
        |seat| {
            let node = seat.local.node.0;
            let name = &names[node as usize];
            let receiver = ends::receiver(&flow.transport, name, seat, profile, stream(&format!("receiver {node}")));
            match qos {
                Some(qos) => qos.receiver(receiver, seat, profile, stream(&format!("qos receiver {node}"))),
                None => receiver,
            }
        },
    );
    FlowInfo {
        id,
        name: name.into(),
        from: flow.from.as_str().into(),
        transport: flow.transport.config().label(profile).into(),
        start,
        to_group: matches!(to, Address::Group(_)),
    }
}

/// What a change of the scenario means for the way to `peer`, now. A ramp leaves the rate for later. `name` is that of its random stream.
pub(super) fn change(core: &Core, change: &Change, name: &str, peer: Peer) -> crate::net::Change {
    let stream = core.stream(name, "loss");
    crate::net::Change {
        peer,
        quality: change.quality,
        rate: change.rate.filter(|_| change.ramp == Duration::ZERO).map(|rate| [rate; 2]),
        delay: change.delay,
        up: change.up,
        loss: change.loss.as_ref().map(|model| model.config().build(stream)),
        loss_for: change.loss_for,
        in_flight: change.in_flight,
        queue: change.queue,
        forwarding: change.forwarding,
        interruption: change.interruption,
        overlap: change.overlap,
    }
}
