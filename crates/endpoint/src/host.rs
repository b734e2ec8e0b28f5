//! One end of a session at a real host, still without IO: datagrams and the time go in; datagrams, joins and leaves come out.
//!
//! It drives the very endpoint that the simulator drives, by its own clock. A [`Codec`] stands between packets and datagrams, and behind the
//! endpoint is what it carries: a stream of bytes that mean nothing, or a file.

use lasthop_net::engine::Instant;
use lasthop_net::net::packet::LayeredHeader;
use lasthop_net::net::{
    Action, Address, Command, Endpoint, GroupId, Header, NodeId, Notice, Packet, PgmHeader, Port, Probe, Socket,
};

use crate::file::receiving::Receiving;
use crate::file::sending::Sending;
use crate::file::status::Status;
use crate::wire::{Codec, WireError};

/// Where a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// To the other end: of a receiver, to the address from which data come.
    Peer,
    /// To a group of the session: its own, 0, or that of a layer.
    Group(u32),
}

/// What an end wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    /// Send the datagram that was written.
    Send(To),
    /// Listen to this group of the session.
    Join(u32),
    /// Listen to it no longer.
    Leave(u32),
}

/// What an end carries.
pub enum Load {
    /// Sends bytes that mean nothing, without end.
    Stream,
    /// Sends a file.
    Sends(Box<Sending>),
    /// Counts datagrams that come.
    Counts,
    /// Receives a file.
    Receives(Box<Receiving>),
}

/// Datagrams of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams sent.
    pub sent: u64,
    /// Their bytes, headers of UDP and IPv4 included.
    pub sent_bytes: u64,
    /// Datagrams received that were packets of the session.
    pub received: u64,
    /// Their bytes, headers of UDP and IPv4 included.
    pub received_bytes: u64,
    /// Datagrams received that were not.
    pub rejected: u64,
}

/// How a session is written down for an end.
pub struct Setting {
    /// The endpoint.
    pub endpoint: Box<dyn Endpoint>,
    /// Its codec.
    pub codec: Box<dyn Codec>,
    /// What it carries.
    pub load: Load,
    /// Payload of a full packet: a file is written piece by piece. 0 for an endpoint that always sends.
    pub segment: u32,
    /// Whether the session has layers, to which the receiver subscribes.
    pub layered: bool,
}

/// One end.
pub struct Host {
    endpoint: Box<dyn Endpoint>,
    codec: Box<dyn Codec>,
    load: Load,
    segment: u32,
    layered: bool,
    packet: Packet,
    counts: Counts,
    last_error: Option<WireError>,
    /// Payload bytes that were handed to the endpoint, and that it has sent.
    written: u64,
    sent: u64,
    payloads: u64,
    /// When data came last.
    last_data: Option<Instant>,
}

/// Full packets that wait in the endpoint while a file is sent: with one more than that which leaves next the sender is never idle.
const AHEAD: u64 = 2;
/// IPv4 (20 B) and UDP (8 B).
const BELOW: u64 = 28;

impl Host {
    /// An end that has not begun.
    pub fn new(setting: Setting) -> Self {
        let Setting { endpoint, codec, load, segment, layered } = setting;
        Self {
            endpoint,
            codec,
            load,
            segment,
            layered,
            packet: Packet::vacant(),
            counts: Counts::default(),
            last_error: None,
            written: 0,
            sent: 0,
            payloads: 0,
            last_data: None,
        }
    }

    /// It begins.
    pub fn start(&mut self, now: Instant) {
        match &self.load {
            Load::Stream | Load::Sends(_) => {
                self.endpoint.on_notice(now, Notice::Open);
                if self.segment == 0 || matches!(self.load, Load::Stream) {
                    self.endpoint.on_notice(now, Notice::Write(u64::MAX));
                    self.written = u64::MAX;
                }
            }
            Load::Counts | Load::Receives(_) if self.layered => {
                self.endpoint.on_notice(now, Notice::Session(GroupId(0), true));
            }
            Load::Counts | Load::Receives(_) => self.endpoint.on_notice(now, membership(true)),
        }
    }

    /// It ends: a receiver says so, if its protocol has a word for it.
    pub fn stop(&mut self, now: Instant) {
        match &self.load {
            Load::Stream | Load::Sends(_) => {}
            _ if self.layered => self.endpoint.on_notice(now, Notice::Session(GroupId(0), false)),
            _ => self.endpoint.on_notice(now, membership(false)),
        }
    }

    /// A datagram has come. Says whether it was a packet of the session; others are counted.
    pub fn on_datagram(&mut self, now: Instant, datagram: &[u8]) -> bool {
        let read = self.read(now, datagram);
        match read {
            Ok(()) => {
                self.counts.received += 1;
                self.counts.received_bytes += datagram.len() as u64 + BELOW;
            }
            Err(error) => {
                // Numbers and clocks are those of the first packet that is the session's.
                if self.counts.received == 0 {
                    self.codec.forget();
                }
                self.counts.rejected += 1;
                self.last_error = Some(error);
            }
        }
        read.is_ok()
    }

    /// Whether receivers send this datagram to one another.
    pub fn is_of_receiver(&self, datagram: &[u8]) -> bool {
        self.codec.is_of_receiver(datagram)
    }

    fn read(&mut self, now: Instant, datagram: &[u8]) -> Result<(), WireError> {
        if Status::is(datagram) {
            let Load::Sends(sending) = &mut self.load else { return Err(WireError::Kind) };
            sending.on_status(now, &Status::read(datagram)?);
            return Ok(());
        }
        self.packet.connection = 0;
        self.packet.from = Socket { node: NodeId(0), port: 0 };
        let header = self.codec.decode(now, datagram, &mut self.packet)?;
        let payload = datagram.get(header..).unwrap_or_default();
        let receives = matches!(self.load, Load::Counts | Load::Receives(_));
        let data = self.packet.has_data();
        if data != receives && !self.goes_both_ways() {
            return Err(WireError::Kind);
        }
        // A file that is not this one is not counted as received either.
        if data && let Load::Receives(receiving) = &mut self.load {
            receiving.on_payload(now, payload)?;
            // Its sender shows itself by a piece; in layers, where others carry none, by any packet.
            if receiving.identity().is_none() && !self.layered {
                return Err(WireError::Kind);
            }
        }
        if data {
            self.last_data = Some(now);
        }
        self.endpoint.on_packet(now, &self.packet, Port(0));
        Ok(())
    }

    /// Messages that are no data and still go to receivers.
    fn goes_both_ways(&self) -> bool {
        matches!(
            self.packet.header,
            Header::Pgm(PgmHeader::Confirmation(_) | PgmHeader::Path(_)) | Header::Layered(LayeredHeader::Added(_))
        )
    }

    /// When it wants to be woken, at the latest.
    pub fn next_timeout(&self) -> Option<Instant> {
        let load = match &self.load {
            Load::Sends(sending) => sending.next_timeout(),
            Load::Receives(receiving) => receiving.next_timeout(),
            _ => None,
        };
        [self.endpoint.next_timeout(), load].into_iter().flatten().min()
    }

    /// The time has come.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.endpoint.next_timeout().is_some_and(|at| at <= now) {
            self.endpoint.on_timeout(now);
        }
        if let Load::Sends(sending) = &mut self.load {
            sending.on_timeout(now);
        }
    }

    /// What it wants done next; `None` when nothing is left. A datagram to be sent is written to `datagram`.
    pub fn poll(&mut self, now: Instant, datagram: &mut Vec<u8>) -> Option<Do> {
        loop {
            if let Load::Receives(receiving) = &mut self.load
                && let Some(status) = receiving.poll(now)
            {
                datagram.clear();
                status.write(datagram);
                return Some(self.send(To::Peer, datagram.len()));
            }
            let Some(action) = self.endpoint.poll(now, &mut self.packet) else {
                if self.write_more(now) {
                    continue;
                }
                return None;
            };
            match action {
                Action::Send => {
                    datagram.clear();
                    self.codec.encode(&self.packet, datagram);
                    self.carry(now, datagram);
                    self.codec.seal(&self.packet, datagram);
                    let to = match self.packet.to {
                        Address::Node(_) => To::Peer,
                        Address::Group(GroupId(group)) => To::Group(group),
                    };
                    return Some(self.send(to, datagram.len()));
                }
                Action::Order(order) => match order.command {
                    Command::Listen(GroupId(group)) => return Some(Do::Join(group)),
                    Command::Ignore(GroupId(group)) => return Some(Do::Leave(group)),
                    _ => {}
                },
                Action::Tell(Notice::Sent(bytes)) => self.sent = bytes,
                // There is neither a neighbour nor an observer.
                Action::SendToward(_) | Action::Tell(_) | Action::Observe(..) => {}
            }
        }
    }

    fn send(&mut self, to: To, length: usize) -> Do {
        self.counts.sent += 1;
        self.counts.sent_bytes += length as u64 + BELOW;
        Do::Send(to)
    }

    /// Writes the payload of the packet behind its header.
    fn carry(&mut self, now: Instant, datagram: &mut Vec<u8>) {
        let (payload, again) = match &self.packet.header {
            Header::Tfrc(header) => (header.payload, None),
            Header::Tfmcc(header) => (header.payload, None),
            Header::Pgm(PgmHeader::Data(data)) => (data.payload, None),
            Header::Pgm(PgmHeader::Repair(data)) => (data.payload, Some(data.seq)),
            Header::Layered(LayeredHeader::Data { .. }) => {
                (self.packet.size.saturating_sub(BELOW as u32 + datagram.len() as u32), None)
            }
            _ => return,
        };
        let from = datagram.len();
        // The last payload that waits asks, or says the end. It is left to the lowest layer, the one that all receivers have.
        let left = u64::from(matches!(self.packet.header, Header::Layered(LayeredHeader::Data { layer: 2.., .. })));
        if let Load::Sends(sending) = &mut self.load {
            match again {
                Some(number) => sending.write_again(now, number, datagram),
                None if self.segment > 0 || sending.waiting() > left => {
                    sending.write(now, self.payloads, datagram);
                    self.payloads += 1;
                }
                // An endpoint that always sends has nothing to carry.
                None => {}
            }
        }
        // The last piece of a file is shorter, and nothing may stand behind it.
        if datagram.len() == from {
            datagram.resize(from + payload as usize, 0);
        }
    }

    /// Hands the next piece of a file to the endpoint. Says whether there was one.
    fn write_more(&mut self, now: Instant) -> bool {
        let Load::Sends(sending) = &self.load else { return false };
        let segment = u64::from(self.segment);
        if segment == 0 {
            return false;
        }
        let ahead = self.written.saturating_sub(self.sent) / segment;
        if ahead >= AHEAD.min(sending.waiting()) {
            return false;
        }
        self.written += segment;
        self.endpoint.on_notice(now, Notice::Write(segment));
        true
    }

    /// Whether everything is sent, or nothing more comes.
    pub fn is_over(&self) -> bool {
        match &self.load {
            Load::Sends(sending) => sending.is_over(),
            Load::Receives(receiving) => receiving.is_over(),
            Load::Stream | Load::Counts => false,
        }
    }

    /// What it carries.
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Its datagrams.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Why the last datagram that was none of the session's was not.
    pub fn last_error(&self) -> Option<WireError> {
        self.last_error
    }

    /// When data came last.
    pub fn last_data(&self) -> Option<Instant> {
        self.last_data
    }

    /// The state and the totals of the endpoint.
    pub fn sample(&self, probe: &mut dyn Probe) {
        self.endpoint.sample(probe);
    }
}

fn membership(joins: bool) -> Notice {
    Notice::Membership(lasthop_net::net::Membership {
        group: GroupId(0),
        source: NodeId(0),
        joins,
        leave_latency: lasthop_net::engine::Duration::ZERO,
    })
}
