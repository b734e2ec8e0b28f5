//! Whatever a path loses, delays, duplicates and marks: a transfer completes, in order, and the
//! sums never go wrong.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::transport::congestion::Congestion;
use crate::transport::tcp::recovery::{Recovery, fack, rack, sack};
use lasthop_net::engine::choice::parsed;
use lasthop_net::engine::{Bytes, Stream, Streams};

/// Everything that a scenario can choose, some with their alternatives too: all recoveries, and all controls that do without routers.
fn pairs(alternatives: bool) -> impl Iterator<Item = (Recovery, Congestion)> {
    let recoveries = Recovery::NAMES.iter().map(move |name| match *name {
        "fack" => {
            Recovery::Fack(fack::Config { rampdown: alternatives, overdamping: alternatives, cwnd_at_trigger: None })
        }
        "rack" => Recovery::Rack(rack::Config { prr: !alternatives, tlp: !alternatives }),
        "sack" => Recovery::Sack(sack::Config { prr: alternatives }),
        name => parsed(&format!("chosen = '{name}'")).map(|Choice { chosen }| chosen).unwrap(),
    });
    recoveries.flat_map(|recovery| {
        let controls = Congestion::NAMES
            .iter()
            .filter(|name| **name != "python")
            .map(|name| parsed(&format!("chosen = '{name}'")).unwrap());
        let controls = controls.map(|Choice { chosen }: Choice<Congestion>| chosen);
        let blind = controls.filter(|one| !one.config().is_explicit());
        blind.map(move |congestion| (recovery.clone(), congestion)).collect::<Vec<_>>()
    })
}

#[derive(serde::Deserialize)]
struct Choice<T> {
    chosen: T,
}

/// What the path does to each packet.
#[derive(Clone, Debug)]
struct Chaos {
    seed: u64,
    /// Probabilities: loss of data, loss of acknowledgements, duplication, mark.
    lose: f64,
    lose_ack: f64,
    duplicate: f64,
    mark: f64,
    /// Extra delay of each packet, up to this many milliseconds: reordering.
    jitter_ms: f64,
    /// Probability of a spike of three seconds, which makes timeouts spurious.
    spike: f64,
}

/// The configurations.
fn configs() -> impl Strategy<Value = Config> {
    let switches = (any::<[bool; 6]>(), 1u32..3, 1u32..40, 0u32..4, 0usize..4, 0usize..3, 1u64..3000);
    switches.prop_map(|(on, every, window, burst, handshake, spurious, segment)| Config {
        segment: Some(Bytes::new(segment)),
        handshake: Some([Handshake::Full, Handshake::Partial, Handshake::DataOnSyn, Handshake::None][handshake]),
        window: on[0].then_some(window),
        ack: AckPolicy { every: Some(every), delay: None },
        max_burst: burst,
        limited_transmit: Some(on[1]),
        ecn: on[2],
        guard: Some(on[3]),
        timestamps: if on[4] { Some(true) } else { None },
        spurious: [Spurious::None, Spurious::Eifel, Spurious::FRto][spurious],
        undo: if on[5] { Some(true) } else { None },
        ..Config::default()
    })
}

fn chaos() -> impl Strategy<Value = Chaos> {
    (any::<u64>(), 0.0..0.4, 0.0..0.4, 0.0..0.2, 0.0..0.2, prop_oneof![Just(0.0), 0.0..200.0], 0.0..0.02).prop_map(
        |(seed, lose, lose_ack, duplicate, mark, jitter_ms, spike)| Chaos {
            seed,
            lose,
            lose_ack,
            duplicate,
            mark,
            jitter_ms,
            spike,
        },
    )
}

/// Both ends and the packets under way between them.
struct World {
    now: Instant,
    sender: Sender,
    receiver: Receiver,
    under_way: BTreeMap<(Instant, u64), Packet>,
    count: u64,
    chaos: Chaos,
    stream: Stream,
    received: u64,
    acked: u64,
}

impl World {
    fn put(&mut self, mut packet: Packet) {
        let is_data = packet.from.node == NodeId(0);
        let lose = if is_data { self.chaos.lose } else { self.chaos.lose_ack };
        if matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1) && self.stream.chance(self.chaos.mark) {
            packet.ecn = Ecn::Ce;
        }
        let copies = 1 + u32::from(self.stream.chance(self.chaos.duplicate));
        for _ in 0..copies {
            if self.stream.chance(lose) {
                continue;
            }
            let spike = if self.stream.chance(self.chaos.spike) { 3.0 } else { 0.0 };
            let delay = 0.02 + spike + self.stream.unit() * self.chaos.jitter_ms * 1e-3;
            self.count += 1;
            self.under_way.insert((self.now + Duration::from_secs_f64(delay), self.count), packet);
        }
    }

    fn drain(&mut self) {
        let mut packet = Packet::vacant();
        while let Some(action) = self.sender.poll(self.now, &mut packet) {
            match action {
                Action::Send => self.put(packet),
                Action::Tell(Notice::Acked(bytes)) => {
                    assert!(bytes >= self.acked && bytes <= self.received, "only what has arrived is acknowledged");
                    self.acked = bytes;
                }
                _ => {}
            }
        }
        while let Some(action) = self.receiver.poll(self.now, &mut packet) {
            match action {
                Action::Send => self.put(packet),
                Action::Tell(Notice::Received(bytes)) => {
                    assert!(bytes >= self.received, "data are delivered in order, once");
                    self.received = bytes;
                }
                _ => {}
            }
        }
        let c = &self.sender.c;
        assert!(c.window >= u64::from(self.sender.settings.smss), "a window of at least a segment");
        assert!(c.board.pipe() <= 2 * c.board.flight() && c.board.flight() <= c.nxt - c.una);
    }

    /// Runs one event.
    fn step(&mut self) -> bool {
        let arrival = self.under_way.keys().next().copied();
        let timers = [self.sender.next_timeout(), self.receiver.next_timeout()];
        let Some(at) = timers.into_iter().chain([arrival.map(|a| a.0)]).flatten().min() else { return false };
        self.now = self.now.max(at);
        match arrival {
            Some(key) if key.0 == at => {
                let packet = self.under_way.remove(&key).expect("it is under way");
                if packet.from.node == NodeId(0) {
                    self.receiver.on_packet(self.now, &packet, Port::LOCAL);
                } else {
                    self.sender.on_packet(self.now, &packet, Port::LOCAL);
                }
            }
            _ if timers[0] == Some(at) => self.sender.on_timeout(self.now),
            _ => self.receiver.on_timeout(self.now),
        }
        self.drain();
        true
    }
}

/// Transfers `bytes` over a path of 20 ms each way that delays each packet by up to `jitter_ms` more, and loses none; gives the sender.
pub(super) fn reordered(config: &Config, jitter_ms: f64, bytes: u64) -> Sender {
    let none = Chaos { seed: 1, lose: 0.0, lose_ack: 0.0, duplicate: 0.0, mark: 0.0, jitter_ms, spike: 0.0 };
    transfer(config, &none, bytes)
}

/// Transfers `bytes` in writes of different sizes; gives the sender.
fn transfer(config: &Config, chaos: &Chaos, bytes: u64) -> Sender {
    let mut world = World {
        now: Instant::ZERO,
        sender: Sender::new(config, seat(0, ALL), &Streams::new(1).stream("flow", "sender")),
        receiver: Receiver::new(config, seat(1, ALL)),
        under_way: BTreeMap::new(),
        count: 0,
        chaos: chaos.clone(),
        stream: Streams::new(chaos.seed).stream("path", "chaos"),
        received: 0,
        acked: 0,
    };
    world.sender.on_notice(world.now, Notice::Open);
    let mut left = bytes;
    let mut events = 0;
    while world.acked < bytes {
        if left > 0 && world.stream.chance(0.2) {
            let some = (1 + world.stream.bits() % bytes).min(left);
            left -= some;
            world.sender.on_notice(world.now, Notice::Write(some));
            if left == 0 {
                world.sender.on_notice(world.now, Notice::Close);
            }
        }
        world.drain();
        let went_on = world.step();
        assert!(went_on || left > 0, "the connection hangs at {:?}: {} of {bytes} bytes", world.now, world.acked);
        events += 1;
        assert!(events < 2_000_000, "{} of {bytes} bytes after {:?}", world.acked, world.now);
    }
    // The FIN too.
    while world.step() {
        events += 1;
        assert!(events < 2_000_000, "the end does not come");
    }
    assert_eq!(world.received, bytes);
    assert!(world.sender.c.board.is_empty());
    assert_eq!(world.sender.c.fin_sent, config.handshake == Some(Handshake::Full));
    assert_eq!(world.sender.totals.bytes, bytes);
    assert_eq!(world.sender.totals.acked_bytes, bytes);
    world.sender
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_transfer_completes(config in configs(), chaos in chaos(), segments in 1u64..120, alternatives: bool) {
        let bytes = segments * config.segment.unwrap().get() - segments / 2;
        for (recovery, congestion) in pairs(alternatives) {
            let config = Config { recovery: Some(recovery), congestion: Some(congestion), ..config.clone() };
            transfer(&config, &chaos, bytes.max(1));
        }
    }
}
