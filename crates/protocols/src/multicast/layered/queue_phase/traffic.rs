//! The traffic of a link, as far as the addresses of packets show: multicast sessions with their layers, and TCP sessions.
//!
//! A session's layers have neighbouring group addresses, lower ones for layers of higher priority; the flow's number stands for the
//! source and its block of addresses. A layer is *present* while packets of it come to the link, whether or not they may pass: within the
//! window, or within two of its gaps if these are longer. One that comes for the first time, or again, may pass, until the session has had
//! a layer blocked; from then on it waits for its release.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::observe::Probe;
use lasthop_net::net::packet::{Address, FlowId, GroupId, NodeId, Packet};

use super::config::{Config, Counting, Sessions};

/// The traffic of a link.
pub struct Traffic {
    window: Duration,
    live: Duration,
    counting: Counting,
    by: Sessions,
    /// By flow.
    sessions: Vec<Session>,
    /// By key.
    connections: Vec<Connection>,
    /// The packets sent in the window.
    sent: VecDeque<(Instant, Sent)>,
    /// When it was last asked to forget.
    now: Instant,
    packets: u64,
    additions: u64,
}

/// A multicast session.
struct Session {
    flow: FlowId,
    /// By group.
    layers: Vec<Layer>,
    /// Whether a layer of it has been blocked since it came.
    capped: bool,
}

struct Layer {
    group: GroupId,
    blocked: bool,
    /// When a packet came last.
    arrived: Instant,
    /// From the one before to that one.
    gap: Duration,
    /// Since when it may pass.
    opened: Instant,
    /// When a packet was sent last.
    forwarded: Option<Instant>,
    /// How many were sent in the window.
    sent: u32,
}

struct Connection {
    key: Key,
    sent: u32,
}

/// What tells TCP sessions apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Connection(FlowId),
    Addresses(NodeId, NodeId),
}

/// Whose a packet was.
#[derive(Clone, Copy)]
enum Sent {
    Layer(FlowId, GroupId),
    Connection(Key),
}

/// The relative rates of sessions of either kind: packets in the window for each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// TCP sessions that sent in the window.
    pub tcp_sessions: usize,
    /// The mean of a TCP session.
    pub tcp: f64,
    /// The mean of a multicast session.
    pub multicast: f64,
}

impl Traffic {
    /// Nothing has passed yet.
    pub fn new(config: &Config) -> Self {
        Self {
            window: config.rate_window,
            live: config.live,
            counting: config.counting,
            by: config.sessions,
            sessions: Vec::new(),
            connections: Vec::new(),
            sent: VecDeque::new(),
            now: Instant::ZERO,
            packets: 0,
            additions: 0,
        }
    }

    /// A packet has come. Says whether it is of a blocked layer.
    pub fn arrives(&mut self, now: Instant, packet: &Packet) -> bool {
        self.packets += 1;
        let Address::Group(group) = packet.to else { return false };
        let window = self.window;
        let session = self.session(packet.flow);
        let gone = |layer: &Layer| !layer.is_present(now, window);
        if session.layers.iter().all(gone) {
            session.capped = false;
        }
        let place = session.layers.binary_search_by_key(&group, |layer| layer.group);
        let place = place.unwrap_or_else(|place| {
            let blocked = session.capped;
            let new =
                Layer { group, blocked, arrived: now, gap: Duration::ZERO, opened: now, forwarded: None, sent: 0 };
            session.layers.insert(place, new);
            place
        });
        let capped = session.capped;
        let layer = &mut session.layers[place];
        if gone(layer) {
            layer.blocked = capped;
            layer.opened = now;
        }
        layer.gap = now.since(layer.arrived);
        layer.arrived = now;
        layer.blocked
    }

    /// A packet is sent.
    pub fn leaves(&mut self, now: Instant, packet: &Packet) {
        let whose = match packet.to {
            Address::Group(group) => {
                let session = self.session(packet.flow);
                let Ok(place) = session.layers.binary_search_by_key(&group, |layer| layer.group) else { return };
                session.layers[place].sent += 1;
                session.layers[place].forwarded = Some(now);
                Sent::Layer(packet.flow, group)
            }
            Address::Node(to) if packet.tcp().is_some() && !packet.is_pure_ack() => {
                let key = match self.by {
                    Sessions::Connections => Key::Connection(packet.flow),
                    Sessions::Addresses => Key::Addresses(packet.from.node, to),
                };
                self.connection(key).sent += 1;
                Sent::Connection(key)
            }
            Address::Node(_) => return,
        };
        self.additions += 1;
        self.sent.push_back((now, whose));
    }

    /// Forgets packets sent before the window.
    pub fn expire(&mut self, now: Instant) {
        self.now = now;
        while let Some(&(at, whose)) = self.sent.front()
            && now.since(at) >= self.window
        {
            self.sent.pop_front();
            self.additions += 1;
            match whose {
                Sent::Layer(flow, group) => {
                    let session = self.session(flow);
                    if let Ok(place) = session.layers.binary_search_by_key(&group, |layer| layer.group) {
                        session.layers[place].sent -= 1;
                    }
                }
                Sent::Connection(key) => self.connection(key).sent -= 1,
            }
        }
        self.connections.retain(|connection| connection.sent > 0);
        let gone = |layer: &Layer| !layer.is_present(now, self.window) && layer.sent == 0;
        self.sessions.retain(|session| !session.layers.iter().all(gone));
    }

    /// Whether nothing has passed for the whole window.
    pub fn is_silent(&self) -> bool {
        self.sessions.is_empty() && self.sent.is_empty()
    }

    /// The rates of sessions at present.
    pub fn rates(&mut self, now: Instant) -> Rates {
        let (mut all, mut sessions) = (0.0, 0_u32);
        let (mut additions, window, counting) = (0, self.window, self.counting);
        for session in &self.sessions {
            let sent: u32 = session.layers.iter().map(|layer| layer.sent).sum();
            additions += session.layers.len() as u64;
            if sent == 0 {
                continue;
            }
            sessions += 1;
            if counting == Counting::Plain {
                all += f64::from(sent);
                continue;
            }
            let open = session.layers.iter().filter(|layer| !layer.blocked && layer.is_present(now, window));
            let (mut old, mut old_sent, mut young, mut young_sent) = (0_u32, 0_u32, 0_u32, 0_u32);
            for layer in open {
                if now.since(layer.opened) >= window {
                    old += 1;
                    old_sent += layer.sent;
                } else {
                    young += 1;
                    young_sent += layer.sent;
                }
            }
            all += match old {
                0 => f64::from(young_sent),
                _ => f64::from(old_sent) * (1.0 + f64::from(young) / f64::from(old)),
            };
        }
        let tcp: u32 = self.connections.iter().map(|connection| connection.sent).sum();
        self.additions += additions + self.connections.len() as u64;
        let mean = |sum: f64, of: usize| if of == 0 { 0.0 } else { sum / of as f64 };
        let tcp_sessions = self.connections.len();
        Rates { tcp_sessions, tcp: mean(f64::from(tcp), tcp_sessions), multicast: mean(all, sessions as usize) }
    }

    /// Releases a layer: of the session with the fewest live layers among those that have one to release, its lowest. Says whether there
    /// was one.
    pub fn release(&mut self, now: Instant) -> bool {
        let (live, window) = (self.live, self.window);
        let waits = |layer: &Layer| layer.waits(now, window);
        let candidates = self.sessions.iter_mut().filter(|session| session.layers.iter().any(waits));
        let chosen = candidates.min_by_key(|session| (session.live_layers(now, live), session.base()));
        let Some(layer) = chosen.and_then(|session| session.layers.iter_mut().find(|layer| waits(layer))) else {
            return false;
        };
        layer.blocked = false;
        layer.opened = now;
        true
    }

    /// Blocks a layer: of the session with the most live layers, if it has two, its highest live one. Says whether there was one.
    pub fn block(&mut self, now: Instant) -> bool {
        let live = self.live;
        let most = self.sessions.iter_mut().max_by_key(|session| (session.live_layers(now, live), session.base()));
        let Some(session) = most.filter(|session| session.live_layers(now, live) > 1) else { return false };
        let Some(layer) = session.layers.iter_mut().rfind(|layer| layer.is_live(now, live)) else { return false };
        layer.blocked = true;
        session.capped = true;
        true
    }

    /// Which sessions there are at present: multicast ones with a live layer, TCP's that sent in the window.
    pub fn present(&self, now: Instant) -> Vec<u64> {
        let sessions = self.sessions.iter().filter(|session| session.live_layers(now, self.live) > 0);
        let connections = self.connections.iter().map(|connection| match connection.key {
            Key::Connection(flow) => u64::from(flow.0),
            Key::Addresses(from, to) => (u64::from(from.0) << 32) | u64::from(to.0),
        });
        sessions.map(|session| (1 << 63) | u64::from(session.flow.0)).chain(connections).collect()
    }

    /// Blocked layers that come all the same: the empty ones of receivers.
    pub fn waiting_layers(&self) -> usize {
        let layers = self.sessions.iter().flat_map(|session| &session.layers);
        layers.filter(|layer| layer.waits(self.now, self.window)).count()
    }

    /// Shows what it knows.
    pub fn sample(&self, probe: &mut dyn Probe) {
        let open = |session: &Session| session.layers.iter().filter(|layer| !layer.blocked).count();
        probe.value("multicast_sessions", self.sessions.len() as f64);
        probe.value("tcp_sessions", self.connections.len() as f64);
        probe.value("open_layers", self.sessions.iter().map(open).sum::<usize>() as f64);
        probe.value("waiting_layers", self.waiting_layers() as f64);
        let layers: usize = self.sessions.iter().map(|session| session.layers.len()).sum();
        // Source and address block, and whether it is capped; for each layer a count, three times and a bit; addresses, ports and a count.
        let bytes = self.sessions.len() * 9 + layers * (4 + 3 * 8 + 1) + self.connections.len() * (12 + 4);
        probe.value("state_bytes", bytes as f64);
        if self.packets > 0 {
            probe.value("additions_in", self.additions as f64 / self.packets as f64);
        }
    }

    fn session(&mut self, flow: FlowId) -> &mut Session {
        let place = self.sessions.binary_search_by_key(&flow, |session| session.flow).unwrap_or_else(|place| {
            self.sessions.insert(place, Session { flow, layers: Vec::new(), capped: false });
            place
        });
        &mut self.sessions[place]
    }

    fn connection(&mut self, key: Key) -> &mut Connection {
        let place = self.connections.binary_search_by_key(&key, |connection| connection.key).unwrap_or_else(|place| {
            self.connections.insert(place, Connection { key, sent: 0 });
            place
        });
        &mut self.connections[place]
    }
}

impl Layer {
    /// Whether its packets come.
    fn is_present(&self, now: Instant, window: Duration) -> bool {
        now.since(self.arrived) <= window.max(self.gap * 2)
    }

    /// Whether it comes and may not pass.
    fn waits(&self, now: Instant, window: Duration) -> bool {
        self.blocked && self.is_present(now, window)
    }

    /// Whether it may pass and does.
    fn is_live(&self, now: Instant, live: Duration) -> bool {
        let last = self.forwarded.unwrap_or(self.opened).max(self.opened);
        !self.blocked && now.since(last) <= live.max(self.gap * 2)
    }
}

impl Session {
    /// The group of its lowest layer here.
    fn base(&self) -> Option<GroupId> {
        self.layers.first().map(|layer| layer.group)
    }

    /// Layers that may pass and do.
    fn live_layers(&self, now: Instant, live: Duration) -> usize {
        self.layers.iter().filter(|layer| layer.is_live(now, live)).count()
    }
}
