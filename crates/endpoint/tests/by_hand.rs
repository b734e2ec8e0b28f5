//! Ends over a path that is moved by hand: clocks that are not shared, a slow link with a short queue, and hostile datagrams.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Cursor;

use lasthop_endpoint::file::receiving::Receiving;
use lasthop_endpoint::file::sending::Sending;
use lasthop_endpoint::host::{Do, Host, Load, Setting, To};
use lasthop_endpoint::plan::{self, Plan};
use lasthop_endpoint::wire::pgm;
use lasthop_net::engine::{Instant, Stream, Streams};

/// A host's clock: where it stands when the test begins, and by which share it runs fast.
#[derive(Clone, Copy)]
struct Law {
    offset: u64,
    drift: f64,
}

impl Law {
    fn local(self, time: u64) -> Instant {
        Instant::from_nanos((self.offset + time).saturating_add_signed((time as f64 * self.drift) as i64))
    }

    /// The first time at which this clock shows `at`.
    fn time(self, at: Instant) -> u64 {
        let mut time = (at.as_nanos().saturating_sub(self.offset) as f64 / (1.0 + self.drift)) as u64;
        time = time.saturating_sub(2);
        while self.local(time) < at {
            time += 1;
        }
        time
    }
}

const MS: u64 = 1_000_000;
/// The link: 1 Mbit/s, and 20 packets of 1500 B in its queue.
const RATE: u64 = 1_000_000;
const QUEUE: u64 = 30_000;
const DELAY: u64 = 40 * MS;

fn plan(words: &str) -> Plan {
    plan::read(words.split_whitespace().map(OsString::from)).unwrap().unwrap()
}

fn setting(words: &str, number: u32) -> Setting {
    let plan = plan(words);
    Setting {
        endpoint: plan.endpoint(number, number.into()),
        codec: plan.codec(number, number),
        load: if plan.sends { Load::Stream } else { Load::Counts },
        segment: plan.full_packet().map_or(0, |(segment, _)| segment),
        layered: plan.is_layered(),
    }
}

/// A sender, the first, and its receivers.
struct World {
    hosts: Vec<(Host, Law)>,
    joined: Vec<BTreeSet<u32>>,
    time: u64,
    /// When the link is free.
    free_at: u64,
    under_way: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    packets: u64,
    dropped: u64,
    /// Each datagram that was handed over, to be mutated: by its receiver.
    seen: Vec<Vec<Vec<u8>>>,
}

impl World {
    fn new(protocol: &str, options: &str, laws: &[Law]) -> Self {
        let address = if protocol == "tfrc" { ["--to 10.0.0.1:9", "--port 9"] } else { ["--group 239.1.1.1:9"; 2] };
        let hosts: Vec<(Host, Law)> = laws
            .iter()
            .enumerate()
            .map(|(number, law)| {
                let words = match number {
                    0 => format!("{protocol} send {} {options}", address[0]),
                    _ => format!("{protocol} receive {} {options}", address[1]),
                };
                (Host::new(setting(&words, 100 + number as u32)), *law)
            })
            .collect();
        Self::of(hosts)
    }

    fn of(hosts: Vec<(Host, Law)>) -> Self {
        let all = hosts.len();
        let mut world = Self {
            hosts,
            joined: vec![BTreeSet::from([0]); all],
            time: 0,
            free_at: 0,
            under_way: BTreeMap::new(),
            packets: 0,
            dropped: 0,
            seen: vec![Vec::new(); all],
        };
        for number in 0..all {
            let (host, law) = &mut world.hosts[number];
            host.start(law.local(0));
            world.act(number);
        }
        world
    }

    fn act(&mut self, number: usize) {
        let (mut datagram, mut wishes) = (Vec::new(), 0);
        loop {
            let (host, law) = &mut self.hosts[number];
            let Some(wish) = host.poll(law.local(self.time), &mut datagram) else { break };
            wishes += 1;
            assert!(wishes < 100_000, "an end that never rests");
            match wish {
                Do::Join(group) => drop(self.joined[number].insert(group)),
                Do::Leave(group) => drop(self.joined[number].remove(&group)),
                Do::Send(to) => self.send(number, to, &datagram),
            }
        }
    }

    fn send(&mut self, from: usize, to: To, datagram: &[u8]) {
        self.packets += 1;
        let group = match to {
            To::Peer if from > 0 => {
                let at = self.time + DELAY;
                self.under_way.insert((at, self.packets), (0, datagram.to_vec()));
                return;
            }
            To::Peer => 0,
            To::Group(group) => group,
        };
        let waiting = (self.free_at.saturating_sub(self.time)) * RATE / 8_000_000_000;
        if from == 0 && waiting + datagram.len() as u64 + 28 > QUEUE {
            self.dropped += 1;
            return;
        }
        if from == 0 {
            self.free_at = self.free_at.max(self.time) + (datagram.len() as u64 + 28) * 8_000_000_000 / RATE;
        }
        for receiver in (1..self.hosts.len()).filter(|receiver| *receiver != from) {
            if self.joined[receiver].contains(&group) {
                let at = self.free_at.max(self.time) + DELAY + 5 * MS * receiver as u64;
                self.packets += 1;
                self.under_way.insert((at, self.packets), (receiver, datagram.to_vec()));
            }
        }
    }

    fn run(&mut self, until: u64) {
        loop {
            let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
            let wakes = self.hosts.iter().map(|(host, law)| host.next_timeout().map(|at| law.time(at).max(self.time)));
            let wake = wakes.enumerate().filter_map(|(number, at)| Some((at?, number))).min();
            let next = [arrival, wake.map(|(at, _)| at)].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next < until) else { break };
            self.time = self.time.max(next);
            if arrival == Some(next) {
                let (_, (number, datagram)) = self.under_way.pop_first().unwrap();
                let (host, law) = &mut self.hosts[number];
                host.on_datagram(law.local(self.time), &datagram);
                if self.seen[number].len() < 2_000 {
                    self.seen[number].push(datagram);
                }
                self.act(number);
            } else if let Some((_, number)) = wake {
                let (host, law) = &mut self.hosts[number];
                host.on_timeout(law.local(self.time));
                self.act(number);
            }
        }
        self.time = until;
    }

    /// Bits per second that came to each receiver.
    fn rates(&self) -> Vec<f64> {
        let seconds = self.time as f64 * 1e-9;
        self.hosts[1..].iter().map(|(host, _)| host.counts().received_bytes as f64 * 8.0 / seconds).collect()
    }
}

const HOUR: u64 = 3_600_000_000_000;
/// Stamps in milliseconds, and those in units of 10 µs, begin again at zero.
const TURN: u64 = (1 << 32) * MS;

/// Protocols with what they are to reach of 1 Mbit/s in two minutes: their slow starts and sawtooths cost some. Receivers of 15 layers
/// of 50 kbit/s that add one each 2 s (`empty_layer`) get 750 kbit/s after 30 s: 656 kbit/s in the mean.
const PROTOCOLS: [(&str, &str, f64); 6] = [
    ("layered", "--control empty_layer", 0.64),
    ("tfrc", "", 0.9),
    ("tfmcc", "", 0.75),
    ("pgmcc", "", 0.75),
    ("pgmcc", "--reliable true", 0.75),
    (
        "layered",
        "--control.fixed.layers 10 --layers [\"50kbit/s\",\"50kbit/s\",\"50kbit/s\",\"50kbit/s\",\"50kbit/s\",\"50kbit/s\",\"50kbit/s\",\"50kbit/s\",\"50kbit/s\",\"50kbit/s\"]",
        0.49,
    ),
];

/// Clocks that stand hours and weeks apart, drift by 100 ppm, the most that a host's quartz does, and whose stamps begin again at zero during
/// the run: nothing that is compared may come from two of them.
/// A clock that is fast by 1e-4 measures times, and so rates, wrong by as much; a stamp in milliseconds or less is rounded the other way in
/// one run and not in the other, which moves a loss by a packet. A hundredth bounds both by far.
#[test]
fn clocks_are_not_shared() {
    let shared = Law { offset: 1_000 * MS, drift: 0.0 };
    let apart = [
        Law { offset: TURN - 60_000 * MS, drift: 1e-4 },
        Law { offset: 7 * HOUR + 123_456_789, drift: -1e-4 },
        Law { offset: 20 * MS, drift: 1e-4 },
        Law { offset: TURN - 30_000 * MS, drift: -1e-4 },
    ];
    for (protocol, options, least) in PROTOCOLS {
        let receivers = if protocol == "tfrc" { 1 } else { 3 };
        let mut same = World::new(protocol, options, &vec![shared; receivers + 1]);
        same.run(120_000 * MS);
        let mut other = World::new(protocol, options, &apart[..=receivers]);
        other.run(120_000 * MS);
        for (a, b) in same.rates().into_iter().zip(other.rates()) {
            assert!(a > least * RATE as f64, "{protocol} {options}: {a} bit/s");
            assert!((b / a - 1.0).abs() < 0.01, "{protocol} {options}: {a} and {b} bit/s");
        }
        for world in [&same, &other] {
            assert!(protocol == "layered" || world.dropped > 0, "{protocol}: the queue was never full");
            for (host, _) in &world.hosts {
                assert_eq!(host.counts().rejected, 0, "{protocol} {options}: {:?}", host.last_error());
            }
        }
    }
}

/// Receivers of one layer, of some and of all get a file whole: each of them hears what is asked, and the end.
#[test]
fn a_file_in_layers_arrives_whole() {
    let law = Law { offset: 1_000 * MS, drift: 0.0 };
    let end = |words: &str, number: u32, load: Load| (Host::new(Setting { load, ..setting(words, number) }), law);
    let send = "layered send --group 239.1.1.1:9";
    let content: Vec<u8> = (0..60_000_u32).map(|n| (n * 31 % 251) as u8).collect();
    let sending = Sending::new(Box::new(Cursor::new(content)), 7, plan(send).payload(), Some(3), 0).unwrap();
    let mut hosts = vec![end(send, 100, Load::Sends(Box::new(sending)))];
    for (number, layers) in [(1, 1), (2, 4), (3, 15)] {
        let store = Box::new(Cursor::new(Vec::new()));
        let receiving = Receiving::new(store, number, Streams::new(number.into()).stream("file", "answers"));
        let words = format!("layered receive --group 239.1.1.1:9 --control.fixed.layers {layers}");
        hosts.push(end(&words, number, Load::Receives(Box::new(receiving))));
    }
    let mut world = World::of(hosts);
    world.run(120_000 * MS);
    let [sender, receivers @ ..] = &world.hosts[..] else { panic!() };
    let Load::Sends(sending) = sender.0.load() else { panic!() };
    assert_eq!(
        (sending.complete(), sending.receivers(), sender.0.is_over()),
        (3, 3, true),
        "{} passes",
        sending.passes()
    );
    for (host, _) in receivers {
        let Load::Receives(receiving) = host.load() else { panic!() };
        assert!(receiving.is_whole() && host.is_over(), "{:?} bytes are missing", receiving.missing());
    }
}

/// Changes bytes, cuts, joins; the checksum of PGM is often made right again.
fn mutated(stream: &mut Stream, datagrams: &[Vec<u8>], protocol: &str) -> Vec<u8> {
    let pick = |stream: &mut Stream, all: usize| (stream.unit() * all as f64) as usize;
    let mut datagram = datagrams[pick(stream, datagrams.len())].clone();
    for _ in 0..=pick(stream, 4) {
        let header = datagram.len().min(64);
        match pick(stream, 6) {
            0 => datagram.truncate(pick(stream, datagram.len() + 1)),
            1 => datagram.extend((0..pick(stream, 40)).map(|n| n as u8)),
            2 => {
                let other = &datagrams[pick(stream, datagrams.len())];
                let (from, to) = (pick(stream, other.len().min(64) + 1), pick(stream, header + 1));
                datagram.truncate(to);
                datagram.extend(&other[from..]);
            }
            kind if header > 0 => {
                let place = pick(stream, header);
                datagram[place] = match kind {
                    3 => datagram[place] ^ 1 << pick(stream, 8),
                    4 => [0, 0xff, 0x7f, 0x80][pick(stream, 4)],
                    _ => stream.bits() as u8,
                };
            }
            _ => {}
        }
    }
    if protocol == "pgmcc" && stream.chance(0.8) && datagram.len() >= 16 {
        let data = datagram.len().saturating_sub(pgm::DATA_BYTES) as u16;
        datagram[6..8].fill(0);
        if stream.chance(0.5) {
            datagram[14..16].copy_from_slice(&data.to_be_bytes());
        }
    }
    datagram
}

/// Mutated datagrams to both ends of every protocol, in the midst of the session. They are counted or taken for packets; nothing panics,
/// loops or grows. With `LASTHOP_LONG` 10⁶ to each end.
#[test]
fn hostile_datagrams_do_no_harm() {
    let count = if std::env::var_os("LASTHOP_LONG").is_some() { 1_000_000 } else { 20_000 };
    let law = Law { offset: 1_000 * MS, drift: 0.0 };
    for (protocol, options, _) in PROTOCOLS {
        for victim in [0, 1] {
            let mut world = World::new(protocol, options, &[law; 3]);
            world.run(20_000 * MS);
            if world.seen[victim].is_empty() {
                assert!(protocol == "layered" && victim == 0, "a layered sender hears nothing");
                continue;
            }
            let mut stream = Streams::new(11).stream(protocol, "mutations");
            let before = world.hosts[victim].0.counts();
            let datagrams = world.seen[victim].clone();
            for n in 0..count {
                let datagram = mutated(&mut stream, &datagrams, protocol);
                let now = law.local(world.time);
                world.hosts[victim].0.on_datagram(now, &datagram);
                world.act(victim);
                if n % 16 == 0 {
                    let until = world.time + MS;
                    world.run(until);
                    // What the victim sends to the others is of no interest.
                    if world.under_way.len() > 10_000 {
                        world.under_way.clear();
                    }
                }
            }
            let after = world.hosts[victim].0.counts();
            let rejected = after.rejected - before.rejected;
            assert!(rejected > count / 100, "{protocol} {options} {victim}: {rejected}");
        }
    }
}
