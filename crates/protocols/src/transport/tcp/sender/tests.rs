//! A sender and a receiver over a path, packet by packet.

use std::collections::VecDeque;

use super::super::config::*;
use super::super::receiver::Receiver;
use super::*;
use lasthop_net::engine::{Duration, Streams};
use lasthop_net::net::{Address, Ecn, FlowId, Hears, NodeId, Socket, TcpHeader};

mod chaos;
mod copa;
mod cuts;
mod data_on_syn;
mod ecn;
mod hystart;
mod losses;
mod ns3;
mod path_hint;
mod rack;
mod scripts;
mod vegas;

/// A seat at one end.
fn seat(node: u32, hears: Hears) -> EndpointContext {
    EndpointContext {
        local: Socket { node: NodeId(node), port: 1 },
        remote: Address::Node(NodeId(1 - node)),
        remote_port: 1,
        flow: FlowId(0),
        hears,
        observed: false,
    }
}

const ALL: Hears = Hears { sent: true, acked: true, received: true, lost: false, rate: false };

/// A data path of one millisecond's serialisation for each packet of any size, 50 ms each way,
/// acknowledgements without serialisation: path P of the checks.
struct Path {
    now: Instant,
    sender: Sender,
    receiver: Receiver,
    /// The packets under way, in order of arrival.
    data: VecDeque<(Instant, Packet)>,
    acks: VecDeque<(Instant, Packet)>,
    /// When the serialiser is free.
    free: Instant,
    serialisation: Duration,
    delay: Duration,
    /// What an acknowledgement's serialisation adds.
    ack_serialisation: Duration,
    /// Whether a data packet is lost, by its transmission.
    lose: Box<dyn FnMut(&Packet) -> bool>,
    /// Every data packet sent: when, and itself.
    sent: Vec<(Instant, Packet)>,
    acked: Vec<(Instant, Packet)>,
    told_received: u64,
    told_acked: u64,
}

impl Path {
    fn new(config: &Config) -> Self {
        Self {
            now: Instant::ZERO,
            sender: Sender::new(config, seat(0, ALL), &Streams::new(1).stream("flow", "sender")),
            receiver: Receiver::new(config, seat(1, ALL)),
            data: VecDeque::new(),
            acks: VecDeque::new(),
            free: Instant::ZERO,
            serialisation: Duration::from_millis(1),
            delay: Duration::from_millis(50),
            ack_serialisation: Duration::ZERO,
            lose: Box::new(|_| false),
            sent: Vec::new(),
            acked: Vec::new(),
            told_received: 0,
            told_acked: 0,
        }
    }

    fn notify(&mut self, notice: Notice) {
        self.sender.on_notice(self.now, notice);
        self.drain();
    }

    /// Opens, writes `bytes` and closes.
    fn transfer(&mut self, bytes: u64) {
        self.notify(Notice::Open);
        self.notify(Notice::Write(bytes));
        self.notify(Notice::Close);
    }

    fn drain(&mut self) {
        let mut packet = Packet::vacant();
        while let Some(action) = self.sender.poll(self.now, &mut packet) {
            match action {
                Action::Send => {
                    self.sent.push((self.now, packet));
                    if !(self.lose)(&packet) {
                        self.free = self.free.max(self.now) + self.serialisation;
                        self.data.push_back((self.free + self.delay, packet));
                    }
                }
                Action::Tell(Notice::Acked(bytes)) => self.told_acked = bytes,
                _ => {}
            }
        }
        let mut packet = Packet::vacant();
        while let Some(action) = self.receiver.poll(self.now, &mut packet) {
            match action {
                Action::Send => {
                    self.acked.push((self.now, packet));
                    self.acks.push_back((self.now + self.ack_serialisation + self.delay, packet));
                }
                Action::Tell(Notice::Received(bytes)) => self.told_received = bytes,
                _ => {}
            }
        }
    }

    /// Runs one event; says whether there was any before `until`.
    fn step(&mut self, until: Instant) -> bool {
        let timers = [self.sender.next_timeout(), self.receiver.next_timeout()];
        let arrivals = [self.data.front(), self.acks.front()].map(|p| p.map(|p| p.0));
        let Some(at) = timers.into_iter().chain(arrivals).flatten().min() else { return false };
        if at >= until {
            return false;
        }
        self.now = self.now.max(at);
        let now = self.now;
        if arrivals[0] == Some(at) {
            let (_, packet) = self.data.pop_front().expect("it is due");
            self.receiver.on_packet(now, &packet, Port::LOCAL);
        } else if arrivals[1] == Some(at) {
            let (_, packet) = self.acks.pop_front().expect("it is due");
            self.sender.on_packet(now, &packet, Port::LOCAL);
        } else if timers[0] == Some(at) {
            self.sender.on_timeout(now);
        } else {
            self.receiver.on_timeout(now);
        }
        self.drain();
        true
    }

    /// Runs until `seconds`, or until nothing is left to happen.
    fn run(&mut self, seconds: f64) {
        while self.step(Instant::from_secs_f64(seconds)) {}
        self.now = self.now.max(Instant::from_secs_f64(seconds));
    }

    /// Data segments sent, as (seconds, number of the segment from 1), SYN and the like left out.
    fn segments(&self) -> Vec<(f64, u64)> {
        let data = |p: &&(Instant, Packet)| p.1.tcp().is_some_and(|h| h.payload > 0);
        let smss = u64::from(self.sender.settings.smss);
        self.sent.iter().filter(data).map(|(at, p)| (at.as_secs_f64(), p.tcp().unwrap().seq / smss + 1)).collect()
    }
}

/// Loses the transmissions for which `lost(segment number, how often it was sent before)`.
fn lose(mut lost: impl FnMut(u64, u32) -> bool + 'static) -> Box<dyn FnMut(&Packet) -> bool> {
    let mut seen = std::collections::BTreeMap::new();
    Box::new(move |packet| {
        let header = packet.tcp().unwrap();
        if header.payload == 0 {
            return false;
        }
        let times = seen.entry(header.seq).or_insert(0);
        *times += 1;
        lost(header.seq / u64::from(header.payload) + 1, *times - 1)
    })
}
