//! The engine with real packets: a session into which packets are injected at their stamps, and from which they come out at the instants at
//! which the network delivers them. It has no clock: the same calls give the same packets, tables and captures.

use std::any::Any;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lasthop_core::engine::{Duration, Fault, Instant};
use lasthop_core::measure::table::Table;
use lasthop_core::net::simulation::{HandedOut, OUTSIDE_PORT, Progress};
use lasthop_core::net::{Address, FlowId, GroupId, NodeId, Observation, Observer, Packet, RunError, Socket};
use lasthop_core::scenario::builder::BuildError;
use lasthop_core::scenario::diagnostic::{listed, nearest};
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::types::{Scenario, Switch};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::flows::Flows;
use crate::headers::{Parsed, parse};
use crate::igmp;
use crate::rewrite::write_class;
use crate::store::Store;

/// A host: a node of the scenario at which real packets enter and leave the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The node.
    pub node: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// The multicast address of a group of the scenario, among real packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupAddress {
    /// The group's name.
    pub group: String,
    /// Its address.
    pub address: Ipv4Addr,
}

/// A scenario that cannot run live.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "each has its sentence")]
pub enum Refused {
    #[error("there is no node \"{node}\"{hint}; the nodes are {known}")]
    UnknownNode { node: String, hint: String, known: String },
    #[error("hosts \"{one}\" and \"{other}\" both have {address}")]
    AddressTwice { one: String, other: String, address: IpAddr },
    #[error("host \"{0}\" is named twice")]
    HostTwice(String),
    #[error("there is no group \"{name}\"{hint}; the groups are {known}")]
    UnknownGroup { name: String, hint: String, known: String },
    #[error("{address} of group \"{name}\" is no multicast address; they are 224.0.0.0 to 239.255.255.255")]
    NotMulticast { name: String, address: Ipv4Addr },
    #[error("groups \"{one}\" and \"{other}\" both have {address}")]
    GroupAddressTwice { one: String, other: String, address: Ipv4Addr },
    #[error("a live run follows the real clock; profile \"ns2\" counts packets and cannot carry real ones")]
    CountsPackets,
    #[error("`ewa` changes TCP windows, which the bridge does not write into real packets")]
    RewritesWindows,
    #[error("`xcp` answers in its own header, which the bridge does not write into real packets")]
    RewritesCongestionHeaders,
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// A packet for a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it came, in the network.
    pub at: Instant,
    /// The host's number.
    pub host: usize,
    /// Its bytes, with the marks that it got.
    pub bytes: Box<[u8]>,
}

/// Packets and bytes of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Packets that it sent to other hosts.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that came for it.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
}

/// A session with real hosts.
pub struct Bridge {
    session: Session,
    hosts: Vec<(Host, NodeId)>,
    traffic: Vec<Traffic>,
    /// The groups of the scenario with their addresses.
    groups: Vec<(GroupAddress, GroupId)>,
    flows: Flows,
    books: Arc<Mutex<Books>>,
    handed_out: Vec<HandedOut>,
    dropped: Vec<FlowId>,
    not_for_a_host: u64,
}

/// What the network says of real packets as they end.
#[derive(Default)]
struct Books {
    store: Store,
    /// The flows of dropped packets, since they were last taken.
    dropped: Vec<FlowId>,
    /// For how long after its drop a packet to a group may be sent again, by an RNC of MBMS that keeps it.
    again: Option<Duration>,
    /// Dropped packets to groups, and until when their bytes are held.
    held: VecDeque<(u64, Instant)>,
}

/// Keeps the books.
struct Keeper(Arc<Mutex<Books>>);

impl Observer for Keeper {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Copied { packet } if is_real(packet) => open(&self.0).store.copy(packet.number),
            Observation::Dropped { packet, .. } if is_real(packet) => {
                let mut books = open(&self.0);
                if let Some(again) = books.again.filter(|_| matches!(packet.to, Address::Group(_))) {
                    books.store.hold(packet.number);
                    books.held.push_back((packet.number, now + again));
                }
                books.store.end(packet.number);
                books.dropped.push(packet.flow);
            }
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The groups of a flow, whichever they are: the first address of 224.0.0.0/4 (RFC 5771).
const ALL_GROUPS: IpAddr = IpAddr::V4(Ipv4Addr::new(224, 0, 0, 0));

/// Real packets go to a port at which no endpoint is.
fn is_real(packet: &Packet) -> bool {
    packet.to_port == OUTSIDE_PORT
}

fn open(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bridge {
    /// Builds `scenario` with the random streams of `seed` and with these hosts.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn new(scenario: &Scenario, seed: u64, hosts: Vec<Host>) -> Result<Self, Refused> {
        if scenario.profile.is_ns2() {
            return Err(Refused::CountsPackets);
        }
        refuse_rewriting(scenario)?;
        let hosts = placed(scenario, hosts)?;
        let again =
            scenario.mbms.iter().filter_map(|mbms| mbms.retransmission.as_ref()).map(|config| config.after).max();
        let books = Arc::new(Mutex::new(Books { again, ..Books::default() }));
        let scenario = &with_joins(scenario);
        let mut session = Session::new(scenario, seed, Some(Box::new(Keeper(Arc::clone(&books)))))?;
        let nodes: Vec<NodeId> = hosts.iter().map(|(_, node)| *node).collect();
        session.hand_out_at(&nodes);
        let address = |number: u16| {
            let [high, low] = number.to_be_bytes();
            Ipv4Addr::new(239, 77, high, low)
        };
        let named = session.groups().iter().zip(1..);
        let groups =
            named.map(|((name, id), n)| (GroupAddress { group: name.clone(), address: address(n) }, *id)).collect();
        Ok(Self {
            session,
            traffic: vec![Traffic::default(); hosts.len()],
            hosts,
            groups,
            flows: Flows::default(),
            books,
            handed_out: Vec::new(),
            dropped: Vec::new(),
            not_for_a_host: 0,
        })
    }

    /// Gives groups other addresses than 239.77.0.1 and up, in the order of the scenario.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn with_groups(mut self, addresses: &[GroupAddress]) -> Result<Self, Refused> {
        for GroupAddress { group: name, address } in addresses {
            if !address.is_multicast() {
                return Err(Refused::NotMulticast { name: name.clone(), address: *address });
            }
            let Some((known, _)) = self.groups.iter_mut().find(|(known, _)| known.group == *name) else {
                let known = self.groups.iter().map(|(known, _)| known.group.as_str());
                let hint =
                    nearest(name, known.clone()).map_or(String::new(), |name| format!("; did you mean \"{name}\"?"));
                return Err(Refused::UnknownGroup { name: name.clone(), hint, known: listed(known) });
            };
            known.address = *address;
        }
        for (place, (one, _)) in self.groups.iter().enumerate() {
            let mut later = self.groups[place + 1..].iter();
            if let Some((other, _)) = later.find(|(other, _)| other.address == one.address) {
                let (one, other, address) = (one.group.clone(), other.group.clone(), one.address);
                return Err(Refused::GroupAddressTwice { one, other, address });
            }
        }
        Ok(self)
    }

    /// The groups with their addresses.
    pub fn groups(&self) -> impl Iterator<Item = &GroupAddress> {
        self.groups.iter().map(|(group, _)| group)
    }

    /// The present of the network.
    pub fn now(&self) -> Instant {
        self.session.now()
    }

    /// The end of the run, if it is not ended before.
    pub fn end(&self) -> Instant {
        self.session.end()
    }

    /// When something happens next; see [`Session::next_event`].
    pub fn next_event(&mut self) -> Option<Instant> {
        self.session.next_event()
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter().map(|(host, _)| host)
    }

    /// A host's packets.
    pub fn traffic(&self, host: usize) -> Traffic {
        self.traffic[host]
    }

    /// The flows between hosts.
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Packets that hosts sent to no host: router solicitations and the like.
    pub fn not_for_a_host(&self) -> u64 {
        self.not_for_a_host
    }

    /// How many real packets are under way by the books, and whether bytes of any packet are kept.
    pub fn kept(&self) -> (u64, bool) {
        let books = open(&self.books);
        (books.store.copies(), !books.store.is_empty())
    }

    /// Goes on to `until`: everything before it happens.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn advance_to(&mut self, until: Instant) -> Result<(), RunError> {
        while self.session.advance_to(until, u64::MAX)? == Progress::Paused {}
        let now = self.session.now();
        let mut books = open(&self.books);
        std::mem::swap(&mut books.dropped, &mut self.dropped);
        while let Some((key, _)) = books.held.pop_front_if(|(_, until)| *until < now) {
            books.store.release(key);
        }
        drop(books);
        for flow in self.dropped.drain(..) {
            self.flows.dropped(flow);
        }
        Ok(())
    }

    /// The host sends this packet at `stamp`, not before the present. After the end of the run nothing is sent.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn send(&mut self, host: usize, bytes: &[u8], stamp: Instant) -> Result<(), RunError> {
        self.advance_to(stamp)?;
        if stamp >= self.session.end() {
            return Ok(());
        }
        let from = self.hosts[host].1;
        let parsed = parse(bytes);
        if let Some(message) = parsed.as_ref().and_then(|parsed| igmp_message(parsed, bytes)) {
            self.on_membership(from, message);
            return Ok(());
        }
        let found = parsed.and_then(|parsed| Some((self.destination(&parsed.to)?, parsed)));
        let Some((to, mut parsed)) = found else {
            self.not_for_a_host += 1;
            return Ok(());
        };
        if let Address::Group(group) = to {
            self.session.send_to_group(group, from);
            // All layers of a session are one flow: what a socket sends to the same port of several groups.
            parsed.to = ALL_GROUPS;
        }
        let size = bytes.len() as u32;
        let traffic = &mut self.traffic[host];
        traffic.sent += 1;
        traffic.sent_bytes += u64::from(size);
        let (flow, header) = self.flows.send(stamp, &parsed, size.into());
        // Queues and compression of headers tell flows apart by the ports of the network's own addresses; the one at the destination is
        // taken.
        let [source, destination] = parsed.ports;
        let port = source.rotate_left(5) ^ destination;
        let number = open(&self.books).store.keep(bytes);
        let packet = Packet {
            from: Socket { node: from, port },
            to,
            to_port: OUTSIDE_PORT,
            dscp: parsed.dscp,
            ecn: parsed.ecn,
            size,
            flow,
            connection: 0,
            number,
            header,
        };
        let injected: Result<(), Fault> = self.session.inject(from, packet);
        assert!(injected.is_ok(), "nodes and flow of a real packet are the network's: {injected:?}");
        Ok(())
    }

    /// The node or the group with this address.
    fn destination(&self, address: &IpAddr) -> Option<Address> {
        if let Some((_, node)) = self.hosts.iter().find(|(host, _)| host.addresses.contains(address)) {
            return Some(Address::Node(*node));
        }
        self.groups.iter().find(|(group, _)| group.address == *address).map(|(_, group)| Address::Group(*group))
    }

    /// A host's kernel says to which groups its programs listen. Other groups than the scenario's are not carried.
    fn on_membership(&mut self, node: NodeId, message: &[u8]) {
        for (address, listens) in igmp::reports(message) {
            match self.groups.iter().find(|(group, _)| group.address == address) {
                Some(&(_, group)) => self.session.set_member(group, node, listens),
                None => self.not_for_a_host += 1,
            }
        }
    }

    /// Moves what has come for hosts since the last call to the end of `to`, in the order in which it came.
    pub fn take(&mut self, to: &mut Vec<Delivery>) {
        self.session.take_handed_out(&mut self.handed_out);
        for HandedOut { at, node, packet } in self.handed_out.drain(..) {
            let Some(host) = self.hosts.iter().position(|(_, at)| *at == node) else { continue };
            let Some(mut bytes) = open(&self.books).store.take(packet.number) else { continue };
            // Programs at the sender that listen to the group got it from their own kernel.
            if packet.from.node == node && matches!(packet.to, Address::Group(_)) {
                continue;
            }
            write_class(&mut bytes, packet.dscp, packet.ecn);
            self.traffic[host].delivered += 1;
            self.traffic[host].delivered_bytes += bytes.len() as u64;
            self.flows.delivered(packet.flow);
            to.push(Delivery { at, host, bytes });
        }
    }

    /// Ends the run at the present: checks that packets are conserved, and that the books agree with the network; gives its tables.
    ///
    /// # Errors
    /// [`RunError::NotConserved`], which is a defect of lasthop.
    pub fn finish(self) -> Result<Vec<(&'static str, Table)>, RunError> {
        self.session.simulation().check_conservation()?;
        let under_way = self.session.simulation().core().under_way();
        let (copies, _) = self.kept();
        assert!(copies <= under_way, "{copies} real packets are kept, but {under_way} packets are under way");
        Ok(self.session.finish().tables)
    }
}

/// The scenario with groups that may be joined during the run, as hosts do.
fn with_joins(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    for group in &mut scenario.group {
        group.join.push(Switch { at: Duration::ZERO, members: Vec::new() });
    }
    scenario
}

/// The message of a packet of IGMP.
fn igmp_message<'p>(parsed: &Parsed, packet: &'p [u8]) -> Option<&'p [u8]> {
    (parsed.protocol == igmp::PROTOCOL).then_some(())?;
    etherparse::IpSlice::from_slice(packet).ok().map(|ip| ip.payload().payload)
}

/// The hosts with their nodes.
fn placed(scenario: &Scenario, hosts: Vec<Host>) -> Result<Vec<(Host, NodeId)>, Refused> {
    let names = scenario.node_names();
    let mut placed: Vec<(Host, NodeId)> = Vec::with_capacity(hosts.len());
    for host in hosts {
        let Ok(place) = names.binary_search(&host.node) else {
            let known = names.iter().map(String::as_str);
            let hint =
                nearest(&host.node, known.clone()).map_or(String::new(), |name| format!("; did you mean \"{name}\"?"));
            return Err(Refused::UnknownNode { node: host.node, hint, known: listed(known) });
        };
        for (other, _) in &placed {
            if other.node == host.node {
                return Err(Refused::HostTwice(host.node));
            }
            if let Some(&address) = host.addresses.iter().find(|address| other.addresses.contains(address)) {
                return Err(Refused::AddressTwice { one: other.node.clone(), other: host.node, address });
            }
        }
        placed.push((host, NodeId(place as u32)));
    }
    Ok(placed)
}

/// Refuses queues that write into transport headers.
fn refuse_rewriting(scenario: &Scenario) -> Result<(), Refused> {
    let written = serde_json::to_value(scenario).unwrap_or_default();
    if chooses(&written, "ewa") {
        return Err(Refused::RewritesWindows);
    }
    if chooses(&written, "xcp") {
        return Err(Refused::RewritesCongestionHeaders);
    }
    Ok(())
}

/// Whether any field `queue` chooses this discipline, alone or with parameters.
fn chooses(written: &serde_json::Value, queue: &str) -> bool {
    use serde_json::Value;
    match written {
        Value::Object(fields) => fields.iter().any(|(name, value)| {
            let chosen = value.as_str() == Some(queue) || value.get(queue).is_some();
            (name.ends_with("queue") && chosen) || chooses(value, queue)
        }),
        Value::Array(values) => values.iter().any(|value| chooses(value, queue)),
        _ => false,
    }
}
