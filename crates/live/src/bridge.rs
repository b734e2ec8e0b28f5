//! The engine with real packets: a session into which packets are injected at their stamps, and from which they come out at the instants at
//! which the network delivers them. It has no clock: the same calls give the same packets, tables and captures.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use lasthop_core::engine::{Duration, Fault, Instant};
use lasthop_core::measure::table::Table;
use lasthop_core::net::simulation::{HandedOut, OUTSIDE_PORT, Progress};
use lasthop_core::net::{Address, GroupId, NodeId, Packet, RunError, Socket};
use lasthop_core::scenario::builder::BuildError;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::types::{Scenario, Switch};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::addresses::Addresses;
use crate::books::{Books, Keeper, Seen, open};
use crate::capture::{Capture, Unwritten};
use crate::flows::{Flows, OLDER_FLOW};
use crate::headers::{igmp_message, parse};
use crate::igmp::{self, Listening};
use crate::rewrite::write_class;

/// A host: a node of the scenario at which real packets enter and leave the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The node.
    pub node: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
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
    /// The hosts, with the node of each.
    hosts: Vec<(Host, NodeId)>,
    traffic: Vec<Traffic>,
    addresses: Addresses,
    /// Which senders of each group hosts listen to.
    listening: BTreeMap<(NodeId, GroupId), Listening>,
    flows: Flows,
    books: Arc<Mutex<Books>>,
    handed_out: Vec<HandedOut>,
    come: Vec<Delivery>,
    seen: Vec<Seen>,
    capture: Option<Capture>,
    not_for_a_host: u64,
    /// The most bytes that are kept.
    memory: u64,
    refused: u64,
}

/// The groups of a flow, whichever they are: the first address of 224.0.0.0/4 (RFC 5771).
const ALL_GROUPS: IpAddr = IpAddr::V4(Ipv4Addr::new(224, 0, 0, 0));

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
        let (mut addresses, nodes) = Addresses::of_hosts(scenario, &hosts)?;
        let again =
            scenario.mbms.iter().filter_map(|mbms| mbms.retransmission.as_ref()).map(|config| config.after).max();
        let books = Arc::new(Mutex::new(Books { again, ..Books::default() }));
        let scenario = &with_joins(scenario);
        let mut session = Session::new(scenario, seed, Some(Box::new(Keeper(Arc::clone(&books)))))?;
        session.hand_out_at(&nodes);
        addresses.add_groups(session.groups(), &scenario.live.group)?;
        Ok(Self {
            session,
            traffic: vec![Traffic::default(); hosts.len()],
            hosts: hosts.into_iter().zip(nodes).collect(),
            addresses,
            listening: BTreeMap::new(),
            flows: Flows::default(),
            books,
            handed_out: Vec::new(),
            come: Vec::new(),
            seen: Vec::new(),
            capture: None,
            not_for_a_host: 0,
            memory: scenario.live.memory.get(),
            refused: 0,
        })
    }

    /// Writes this capture from now on.
    pub fn capture(&mut self, capture: Capture) {
        open(&self.books).captures = true;
        self.capture = Some(capture);
    }

    /// Whether there is a capture that could not be written.
    pub fn capture_has_failed(&self) -> bool {
        self.capture.as_ref().is_some_and(Capture::has_failed)
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first failure to write it.
    pub fn end_capture(&mut self) -> Result<(), Unwritten> {
        self.capture.take().map_or(Ok(()), Capture::finish)
    }

    /// What serves each terminal at present, by the name of its bearer.
    pub fn served(&self) -> Vec<(String, &'static str)> {
        let core = self.session.simulation().core();
        open(&self.books).served.iter().map(|(place, service)| (core.place_name(*place).to_owned(), *service)).collect()
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

    /// Packets that did not enter the network because too many bytes were under way.
    pub fn refused(&self) -> u64 {
        self.refused
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
        let come = self.come.len();
        self.gather();
        let mut books = open(&self.books);
        std::mem::swap(&mut books.seen, &mut self.seen);
        while let Some((key, _)) = books.held.pop_front_if(|(_, until)| *until < now) {
            books.store.release(key);
        }
        drop(books);
        for (seen, cause) in self.seen.iter().filter_map(|seen| Some((seen, seen.dropped?))) {
            self.flows.dropped(seen.flow, (seen.place, cause));
        }
        self.count_forgotten();
        if let Some(capture) = &mut self.capture {
            let core = self.session.simulation().core();
            let mut come = self.come[come..].iter().peekable();
            for Seen { at, place, dropped, bytes, .. } in &self.seen {
                while let Some(Delivery { at, host, bytes }) = come.next_if(|delivery| delivery.at <= *at) {
                    capture.delivered(*host, *at, bytes);
                }
                let name = core.place_name(*place);
                let comment = match dropped {
                    Some(cause) => format!("dropped: {} at {name}", cause.name()),
                    None => format!("marked at {name}"),
                };
                capture.happened(*place, name, *at, bytes, &comment);
            }
            come.for_each(|Delivery { at, host, bytes }| capture.delivered(*host, *at, bytes));
        }
        self.seen.clear();
        Ok(())
    }

    /// Lets the network count drops of flows that were forgotten as those of older ones.
    fn count_forgotten(&mut self) {
        for (flow, (place, cause)) in self.flows.take_forgotten() {
            self.session.count_drops_as(place, cause, flow, OLDER_FLOW);
        }
    }

    /// Takes what the network has handed out.
    fn gather(&mut self) {
        self.session.take_handed_out(&mut self.handed_out);
        for HandedOut { at, node, packet } in self.handed_out.drain(..) {
            let Some(host) = self.addresses.host_at(node) else { continue };
            let Some(mut bytes) = open(&self.books).store.take(packet.number) else { continue };
            // Programs at the sender that listen to the group got it from their own kernel.
            if packet.from.node == node && matches!(packet.to, Address::Group(_)) {
                continue;
            }
            write_class(&mut bytes, packet.dscp, packet.ecn);
            self.traffic[host].delivered += 1;
            self.traffic[host].delivered_bytes += bytes.len() as u64;
            self.flows.delivered(packet.flow);
            self.come.push(Delivery { at, host, bytes });
        }
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
        let is_igmp = parsed.as_ref().is_some_and(|parsed| parsed.protocol == igmp::PROTOCOL);
        if let Some(message) = is_igmp.then(|| igmp_message(bytes)).flatten() {
            self.on_membership(from, message);
            return Ok(());
        }
        let found = parsed.and_then(|parsed| Some((self.addresses.destination(parsed.to)?, parsed)));
        let Some((to, mut parsed)) = found else {
            self.not_for_a_host += 1;
            return Ok(());
        };
        if (open(&self.books).store.bytes() + bytes.len()) as u64 > self.memory {
            self.refused += 1;
            return Ok(());
        }
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
        self.count_forgotten();
        // Queues and compression of headers tell flows apart by the ports of the network's own addresses; the one at the destination is
        // taken.
        let [source, destination] = parsed.ports;
        let port = source.rotate_left(5) ^ destination;
        let number = open(&self.books).store.keep(bytes);
        if let Some(capture) = &mut self.capture {
            capture.sent(host, stamp, bytes);
        }
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

    /// A host's kernel says to which groups its programs listen. Other groups than the scenario's are not carried.
    fn on_membership(&mut self, node: NodeId, message: &[u8]) {
        for record in igmp::records(message) {
            let Some(Address::Group(group)) = self.addresses.destination(IpAddr::V4(record.group)) else {
                self.not_for_a_host += 1;
                continue;
            };
            if let Some(listens) = self.listening.entry((node, group)).or_default().hear(&record) {
                self.session.set_member(group, node, listens);
            }
        }
    }

    /// Moves what has come for hosts since the last call to the end of `to`, in the order in which it came.
    pub fn take(&mut self, to: &mut Vec<Delivery>) {
        to.append(&mut self.come);
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
        let flows = &self.flows;
        Ok(self.session.finish_with(&|flow| flows.name(flow)).tables)
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
