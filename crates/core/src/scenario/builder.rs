//! From a scenario to a network that is ready to run.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::engine::{Duration, Instant};
use crate::measure::totals::FlowInfo;
use crate::multicast::expulsion::{self, Judge};
use crate::multicast::membership;
use crate::net::clock::{Clock, Exact, Ns2};
use crate::net::discipline::Site;
use crate::net::guard::Guarded;
use crate::net::link::Link as LinkMedium;
use crate::net::loss::Loss;
use crate::net::simulation::{Group, Part, Trees};
use crate::net::transmitter::Setup;
use crate::net::watched::Watched;
use crate::net::{Address, Agent, Core, End, Endpoint, GroupId, NodeId, Observer, Place, Simulation};
use crate::radio::hsdpa::Hsdpa;
use crate::radio::mbms::Mbms;
use crate::radio::umts::Umts;
use crate::satellite::Constellation;

use super::cell::Cell;
use super::constellation::{self, SatelliteRoutes};
use super::group;
use super::hsdpa;
use super::mbms;
use super::registry::{LossModel, Qos, Queue};
use super::types::{Change, Flow, Link, Scenario};
use super::umts;

/// A scenario that cannot be built, with the place: `flow[2].to`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{path}: {message}")]
pub struct BuildError {
    /// Where in the scenario.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// A network that is ready to run.
pub struct Built {
    /// The network.
    pub simulation: Simulation,
    /// Its flows.
    pub flows: Vec<FlowInfo>,
    /// Who joins and leaves groups: when, and whether it joins; the first one last.
    pub switches: Vec<(Instant, GroupId, NodeId, bool)>,
    /// Those links that change, by name.
    pub links: BTreeMap<String, Changing>,
}

/// A link that changes during the run.
#[derive(Clone, Copy, Debug)]
pub struct Changing {
    /// Its medium.
    pub medium: u32,
    /// Its directions, forward and back.
    pub places: [Place; 2],
}

/// Builds the network of `scenario` with the random streams of `seed`; `observer` looks at it
/// from the start.
///
/// # Errors
/// A name that stands for nothing, and the like.
pub fn build(scenario: &Scenario, seed: u64, observer: Option<Box<dyn Observer>>) -> Result<Built, BuildError> {
    let mut simulation = Simulation::new(seed);
    // Only links and some cells keep ns-2's clock.
    let others = !scenario.hsdpa.is_empty() || !scenario.mbms.is_empty() || !scenario.constellation.is_empty();
    let keep_it = !others && scenario.cell.iter().all(Cell::keeps_ns2_clock);
    let ns2_clock = scenario.profile.is_ns2() && keep_it;
    if ns2_clock {
        simulation.core_mut().follow_ns2_clock();
    }
    if let Some(observer) = observer {
        simulation.set_observer(observer);
    }
    let names = scenario.node_names();
    let nodes: Vec<NodeId> = names.iter().map(|name| simulation.add_node(name)).collect();
    let node = |name: &str, path: &dyn Fn() -> String| {
        let place = names.binary_search_by(|n| n.as_str().cmp(name)).ok();
        place
            .map(|i| nodes[i])
            .ok_or_else(|| BuildError { path: path(), message: format!("there is no node \"{name}\"") })
    };
    let changing: BTreeSet<&str> = scenario.change.iter().map(|change| change.link.as_str()).collect();
    let mut links = BTreeMap::new();
    for (i, link) in scenario.link.iter().enumerate() {
        let end = |n: usize| node(&link.between[n], &|| format!("link[{i}].between[{n}]"));
        let ends = [end(0)?, end(1)?];
        let changes = changing.contains(link.name.as_str());
        let added = if ns2_clock {
            add_link::<Ns2>(&mut simulation, scenario, link, ends, changes)
        } else {
            add_link::<Exact>(&mut simulation, scenario, link, ends, changes)
        };
        if changes {
            links.insert(link.name.clone(), added);
        }
    }
    for (i, cell) in scenario.cell.iter().enumerate() {
        let mut ends = Vec::new();
        for rnc in cell.rncs() {
            ends.push(node(rnc, &|| format!("cell[{i}].rnc"))?);
        }
        for terminal in cell.terminals() {
            ends.push(node(&terminal, &|| format!("cell[{i}].ues"))?);
        }
        add_cell(&mut simulation, scenario, cell, &ends);
    }
    for (i, hsdpa) in scenario.hsdpa.iter().enumerate() {
        let mut ends = vec![node(&hsdpa.node, &|| format!("hsdpa[{i}].node"))?];
        for terminal in hsdpa.terminals() {
            ends.push(node(&terminal, &|| format!("hsdpa[{i}].ues"))?);
        }
        simulation.add_medium(&ends, |core, component, ends| {
            Hsdpa::new(component, ends, hsdpa::setup(core, hsdpa, scenario.profile))
        });
    }
    let served = group::are_served(scenario);
    for (i, mbms) in scenario.mbms.iter().enumerate() {
        let mut ends = vec![node(&mbms.rnc, &|| format!("mbms[{i}].rnc"))?];
        for terminal in mbms.terminals() {
            ends.push(node(&terminal, &|| format!("mbms[{i}].ues"))?);
        }
        simulation.add_medium(&ends, |core, component, ends| {
            let setup = mbms::setup(core, mbms);
            Mbms::new(core, component, ends, setup)
        });
    }
    for (i, written) in scenario.constellation.iter().enumerate() {
        let mut ends = Vec::new();
        for satellite in written.satellites() {
            ends.push(node(&satellite, &|| format!("constellation[{i}].orbits"))?);
        }
        for terminal in written.terminals() {
            ends.push(node(terminal, &|| format!("constellation[{i}].terminal"))?);
        }
        simulation.add_medium(&ends, |core, component, ends| {
            let setup = constellation::setup(core, written, scenario.profile);
            Constellation::new(core, component, ends, setup)
        });
        if written.routes == SatelliteRoutes::Packets {
            simulation.route_every_packet();
        }
    }
    let mut groups = Vec::new();
    for (i, (group, layers)) in scenario.group.iter().zip(group::layers(scenario)).enumerate() {
        let numbers = |names: Vec<String>| -> Result<Vec<NodeId>, BuildError> {
            names.iter().map(|name| node(name, &|| format!("group[{i}]"))).collect()
        };
        let area = group.area.iter().flat_map(|name| scenario.nodes_called(name)).collect();
        let plain = Group {
            members: numbers(group.everybody(scenario))?,
            listening: numbers(group.listening(scenario))?,
            trees: group.trees,
            leave_latency: group.leave_latency,
            area: numbers(area)?,
            served_at: served.then_some(membership::PORT),
            expelled: Vec::new(),
            part: Part::None,
        };
        let added = if layers == 0 { simulation.add_group(plain) } else { add_session(&mut simulation, plain, layers) };
        groups.push(added);
    }
    let mut switches = Vec::new();
    for switch in group::switches(scenario) {
        let path = || format!("group[{}]", switch.group);
        switches.push((switch.at, groups[switch.group], node(&switch.node, &path)?, switch.joins));
    }
    switches.reverse();
    for agent in agents(scenario) {
        for &node in &nodes {
            let stream = simulation.core().stream(&format!("agent {}", agent.port), simulation.node_name(node));
            simulation.add_agent(node, agent.port, |seat| (agent.make)(seat, stream));
        }
    }
    let by_name: BTreeMap<&str, usize> =
        scenario.group.iter().zip(0..).map(|(group, n)| (group.name.as_str(), n)).collect();
    let mut flows = Vec::new();
    for (i, written) in scenario.flow.iter().enumerate() {
        for flow in written.each(scenario) {
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
    Ok(Built { simulation, flows, switches, links })
}

/// The machines that every node needs for what flows ask: one at each port.
fn agents(scenario: &Scenario) -> Vec<Agent> {
    let for_qos = scenario.flow.iter().filter_map(|flow| flow.qos.as_ref()?.config().agent());
    let for_transport = scenario.flow.iter().filter_map(|flow| flow.transport.config().agent());
    let for_groups = group::are_served(scenario).then_some(membership::AGENT);
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

fn add_link<C: Clock>(
    simulation: &mut Simulation,
    scenario: &Scenario,
    link: &Link,
    ends: [NodeId; 2],
    changes: bool,
) -> Changing {
    let [forward, backward] = setups(simulation.core_mut(), link, scenario);
    let places = [forward.place, backward.place];
    let new = |core: &mut Core, component: u32, ends: &[End]| {
        LinkMedium::<C>::new(core, component, [ends[0], ends[1]], forward, backward)
    };
    let medium = if changes && scenario.record.handovers {
        simulation.add_medium(&ends, |core, component, ends| {
            let ways = vec![(ends[1], places[0]), (ends[0], places[1])];
            Watched::new(new(core, component, ends), ways)
        })
    } else {
        simulation.add_medium(&ends, new)
    };
    Changing { medium, places }
}

fn add_cell(simulation: &mut Simulation, scenario: &Scenario, cell: &Cell, ends: &[NodeId]) {
    simulation.add_medium(ends, |core, component, ends| {
        let setup = umts::setup(core, component, ends, cell, scenario.profile);
        let mut medium = Umts::new(core, component, ends, setup);
        medium.start(core);
        medium
    });
}

/// Between whom a flow goes.
struct Way<'s> {
    from: NodeId,
    to: Address,
    /// The node that serves it, where its quality of service asks for one.
    served_by: Option<NodeId>,
    /// Who may be taken out of its group.
    expulsion: Option<&'s expulsion::Config>,
}

fn add_flow(simulation: &mut Simulation, scenario: &Scenario, names: &[String], flow: &Flow, way: Way<'_>) -> FlowInfo {
    let Way { from, to, served_by, expulsion } = way;
    let name = flow.label();
    let start = Instant::ZERO + flow.start;
    let streams = simulation.core().streams().clone();
    let stream = |purpose: &str| streams.stream(&format!("flow {name}"), purpose);
    let transport = flow.transport.config();
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
            let sender = transport.sender(seat, profile, stream("sender"));
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
            let receiver = transport.receiver_at(name, seat, profile, stream(&format!("receiver {node}")));
            match qos {
                Some(qos) => qos.receiver(receiver, seat, profile, stream(&format!("qos receiver {node}"))),
                None => receiver,
            }
        },
    );
    FlowInfo { id, name, from: flow.from.clone(), transport: transport.label(profile), start }
}

/// The two directions of a link.
fn setups(core: &mut Core, link: &Link, scenario: &Scenario) -> [Setup; 2] {
    let reverse = link.reverse.clone().unwrap_or_default();
    let [a, b] = &link.between;
    let forward = (link.rate, link.delay, &link.queue, link.loss.as_ref());
    let backward = (
        reverse.rate.unwrap_or(link.rate),
        reverse.delay.unwrap_or(link.delay),
        reverse.queue.as_ref().unwrap_or(&link.queue),
        reverse.loss.as_ref(),
    );
    let mut setup = |from: &str, to: &str, (rate, delay, queue, loss): (_, _, &Queue, Option<&LossModel>)| {
        let name = format!("{} {from}>{to}", link.name);
        let place = core.place(name.clone());
        let site = Site { name: &name, place, rate, delay, profile: scenario.profile, streams: core.streams() };
        let queue = queue.config().build(&site);
        let loss = loss.map_or_else(Loss::default, |model| model.config().build(core.stream(&name, "loss")));
        Setup { place, rate, delay, reorder: link.reorder, queue, loss }
    };
    [setup(a, b, forward), setup(b, a, backward)]
}

/// What a change of the scenario means for its medium, now. A ramp leaves the rate for later.
pub(super) fn change(core: &Core, change: &Change, number: usize) -> crate::net::Change {
    let stream = core.stream(&format!("change {number}"), "loss");
    crate::net::Change {
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
