//! TCP in profile `ns2` on a path whose every transmission can be computed by hand.
//!
//! Path P: each packet takes 1 ms to serialise, 50 ms each way, acknowledgements take no
//! capacity; window and initial ssthresh 20, initial window 2, SYN. The expected times come from
//! an event model of ns-2.35's sources, to 1 ms (transport sheet §1.8 and §2.2).

use std::collections::VecDeque;

use lasthop_core::engine::{Duration, Instant, Streams};
use lasthop_core::net::{
    Action, Address, Endpoint, EndpointContext, FlowId, Hears, Histogram, NodeId, Notice, Packet, Port, Probe, Socket,
};
use lasthop_core::replicas::ns2::tcp as ns2;
use lasthop_core::transport::tcp::Config;
use lasthop_core::transport::tcp::config::{Rto, Variant};
use lasthop_core::transport::tcp::recovery::Recovery;
use lasthop_core::transport::tcp::recovery::fack::{self, CwndAtTrigger};

const SERIALISE: Duration = Duration::from_millis(1);
const PROPAGATE: Duration = Duration::from_millis(50);

/// Both ends, the packets between them, and a record of those sent.
struct Path {
    sender: Box<dyn Endpoint>,
    receiver: Box<dyn Endpoint>,
    data: VecDeque<(Instant, Packet)>,
    acks: VecDeque<(Instant, Packet)>,
    free_at: Instant,
    /// Packets whose copies are lost, and how many of them.
    lost: Vec<(u64, u32)>,
    now: Instant,
    sent: Vec<(Instant, u64)>,
    /// The window when each packet was sent.
    windows: Vec<f64>,
}

impl Path {
    fn new(config: &Config, lost: &[(u64, u32)]) -> Self {
        let ends = [NodeId(0), NodeId(1)].map(|node| Socket { node, port: 1 });
        let seat = |here: Socket, there: Socket| EndpointContext {
            local: here,
            remote: Address::Node(there.node),
            remote_port: there.port,
            flow: FlowId(0),
            hears: Hears::default(),
            observed: false,
        };
        let stream = Streams::new(1).stream("flow", "sender");
        Self {
            sender: ns2::sender(config, seat(ends[0], ends[1]), stream),
            receiver: ns2::receiver(config, seat(ends[1], ends[0])),
            data: VecDeque::new(),
            acks: VecDeque::new(),
            free_at: Instant::ZERO,
            lost: lost.to_vec(),
            now: Instant::ZERO,
            sent: Vec::new(),
            windows: Vec::new(),
        }
    }

    /// Sends `packets` from time 0 on, and goes on until `until`.
    fn run(mut self, packets: u64, until: f64) -> Self {
        let until = Instant::from_secs_f64(until);
        self.sender.on_notice(self.now, Notice::Write(packets * 1000));
        self.settle();
        loop {
            let times = [
                self.data.front().map(|d| d.0),
                self.acks.front().map(|a| a.0),
                self.sender.next_timeout(),
                self.receiver.next_timeout(),
            ];
            let Some((at, which)) = times.iter().zip(0..).filter_map(|(t, i)| t.map(|t| (t, i))).min() else { break };
            if at > until {
                break;
            }
            self.now = at;
            match which {
                0 => {
                    let packet = self.data.pop_front().unwrap().1;
                    self.receiver.on_packet(at, &packet, Port(0));
                }
                1 => {
                    let packet = self.acks.pop_front().unwrap().1;
                    self.sender.on_packet(at, &packet, Port(0));
                }
                2 => self.sender.on_timeout(at),
                _ => self.receiver.on_timeout(at),
            }
            self.settle();
        }
        self
    }

    fn settle(&mut self) {
        let mut packet = Packet::vacant();
        while let Some(action) = self.receiver.poll(self.now, &mut packet) {
            if action == Action::Send {
                self.acks.push_back((self.now + PROPAGATE, packet));
            }
        }
        let mut sends = Vec::new();
        while let Some(action) = self.sender.poll(self.now, &mut packet) {
            if action == Action::Send {
                sends.push(packet);
            }
        }
        for packet in sends {
            let seq = packet.tcp().unwrap().seq;
            self.sent.push((self.now, seq));
            self.windows.push(self.value("cwnd_packets"));
            match self.lost.iter_mut().find(|(lost, copies)| *lost == seq && *copies > 0) {
                // A lost packet takes no time.
                Some((_, copies)) => *copies -= 1,
                None => {
                    self.free_at = self.free_at.max(self.now) + SERIALISE;
                    self.data.push_back((self.free_at + PROPAGATE, packet));
                }
            }
        }
    }

    fn value(&self, name: &str) -> f64 {
        struct Find<'a>(&'a str, Option<f64>);
        impl Probe for Find<'_> {
            fn part(&mut self, _what: lasthop_core::net::What, _name: &str) {}
            fn value(&mut self, name: &'static str, value: f64) {
                if name == self.0 {
                    self.1 = Some(value);
                }
            }
            fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
        }
        let mut find = Find(name, None);
        self.sender.sample(&mut find);
        find.1.unwrap_or(0.0)
    }

    /// When a packet was first sent, seconds.
    fn first(&self, seq: u64) -> f64 {
        self.sent.iter().find(|(_, s)| *s == seq).unwrap().0.as_secs_f64()
    }

    /// Retransmissions: seconds after the first sending of `lost`, and the packet.
    fn resent(&self, lost: u64) -> Vec<(f64, u64)> {
        let start = self.first(lost);
        let again = |&(i, (_, seq)): &(usize, (Instant, u64))| self.sent[..i].iter().any(|(_, s)| *s == seq);
        let sent = self.sent.iter().copied().enumerate();
        sent.filter(again).map(|(_, (at, seq))| (at.as_secs_f64() - start, seq)).collect()
    }
}

fn config(variant: Variant) -> Config {
    Config {
        variant: Some(variant),
        rto: Rto { min: Some(Duration::from_secs(1)), ..Rto::default() },
        boot_time: Some(0.0),
        recovery: (variant == Variant::Fack).then_some(Recovery::Fack(fack::Config {
            cwnd_at_trigger: Some(CwndAtTrigger::Half),
            ..fack::Config::default()
        })),
        ..Config::default()
    }
}

fn once(lost: &[u64]) -> Vec<(u64, u32)> {
    lost.iter().map(|seq| (*seq, 1)).collect()
}

/// Whether the first retransmissions are the expected ones, to 1 ms.
#[track_caller]
fn check_resent(what: &str, path: &Path, lost: u64, expected: &[(f64, u64)]) {
    let got = path.resent(lost);
    let agrees = got.len() >= expected.len()
        && got.iter().zip(expected).all(|(g, e)| g.1 == e.1 && (g.0 - e.0).abs() <= 0.001 + 1e-9);
    assert!(agrees, "{what}: {got:.4?}, expected {expected:?}");
}

#[test]
fn slow_start_doubles_each_round_trip() {
    let path = Path::new(&config(Variant::NewReno), &[]).run(100, 0.99);
    for (seq, at) in [(1, 0.101), (3, 0.202), (7, 0.303), (15, 0.404), (31, 0.505)] {
        assert!((path.first(seq) - at).abs() < 1e-9, "packet {seq} at {}", path.first(seq));
    }
    let place = path.windows.iter().position(|w| *w >= 20.0).unwrap();
    assert_eq!(path.sent[place].1, 37, "the window first reaches 20");
}

#[test]
fn a_transfer_of_100_packets() {
    let path = Path::new(&config(Variant::NewReno), &[]).run(100, 3.0);
    assert_eq!(path.sent.len(), 101, "with the SYN");
    assert!((path.sent[100].0.as_secs_f64() - 0.817).abs() < 1e-9);
    assert_eq!(path.value("timeouts"), 0.0);
    assert!(path.value("idle_timeouts") >= 1.0, "ns-2 does not stop its timer");
}

#[test]
fn retransmissions_come_when_the_model_says() {
    use Variant::{Fack, NewReno, Reno, Sack, Tahoe};
    type Row = (Variant, &'static [u64], &'static [(f64, u64)], f64, f64);
    #[rustfmt::skip]
    let rows: [Row; 15] = [
        (Tahoe, &[60], &[(0.104, 60)], 10.0, 0.0),
        (Tahoe, &[60, 61, 62], &[(0.106, 60), (0.207, 61), (0.207, 62), (0.308, 63), (0.308, 64)], 10.0, 0.0),
        (Tahoe, &[25, 26, 27], &[(0.108, 25), (0.211, 26), (0.211, 27), (0.312, 28), (0.312, 29)], 10.0, 0.0),
        (Reno, &[60], &[(0.104, 60)], 10.0, 0.0),
        (Reno, &[60, 61, 62], &[(0.106, 60), (1.207, 61), (1.308, 62), (1.308, 63)], 5.0, 1.0),
        (Reno, &[25, 26, 27], &[(0.108, 25), (1.211, 26), (1.312, 27), (1.312, 28)], 5.0, 1.0),
        (NewReno, &[60], &[(0.104, 60)], 10.0, 0.0),
        (NewReno, &[60, 61, 62], &[(0.106, 60), (0.207, 61), (0.308, 62)], 10.0, 0.0),
        (NewReno, &[25, 26, 27], &[(0.108, 25), (0.211, 26), (0.312, 27)], 10.0, 0.0),
        (Sack, &[60], &[(0.104, 60)], 10.0, 0.0),
        (Sack, &[60, 61, 62], &[(0.106, 60), (0.195, 61), (0.196, 62)], 10.0, 0.0),
        (Sack, &[25, 26, 27], &[(0.108, 25), (0.204, 26), (0.205, 27)], 10.0, 0.0),
        (Fack, &[60], &[(0.104, 60)], 10.0, 0.0),
        (Fack, &[60, 61, 62], &[(0.104, 60), (0.193, 61), (0.194, 62)], 10.0, 0.0),
        (Fack, &[25, 26, 27], &[(0.106, 25), (0.202, 26), (0.203, 27)], 10.0, 0.0),
    ];
    for (variant, lost, expected, ssthresh, timeouts) in rows {
        let what = format!("{variant:?} without {lost:?}");
        let path = Path::new(&config(variant), &once(lost)).run(400, 3.0);
        check_resent(&what, &path, lost[0], expected);
        assert_eq!(path.value("ssthresh_packets"), ssthresh, "{what}");
        assert_eq!(path.value("timeouts"), timeouts, "{what}");
        if matches!(variant, NewReno | Sack | Fack) {
            let seqs: Vec<u64> = path.resent(lost[0]).iter().map(|r| r.1).collect();
            assert_eq!(seqs, lost, "{what}: exactly what was lost");
        }
        assert_eq!(path.value("spurious_timeouts") + path.value("spurious_fast_retransmits"), 0.0, "{what}");
    }
}

/// Impatient NewReno restarts the timer at the first partial acknowledgement only.
#[test]
fn newreno_times_out_with_a_short_timer() {
    let config = Config { rto: Rto::default(), ..config(Variant::NewReno) };
    let path = Path::new(&config, &once(&[25, 26, 27])).run(400, 3.0);
    assert_eq!(path.value("timeouts"), 1.0);
    let resent = path.resent(25);
    // 26 and 27 at partial acknowledgements, then 27 again: 0.2 s after the first of these.
    assert_eq!((resent[1].1, resent[2].1, resent[3].1), (26, 27, 27));
    assert!((resent[3].0 - resent[1].0 - 0.2).abs() <= 0.001 + 1e-9, "{resent:?}");
}

#[test]
fn reno_without_the_guard() {
    let wide = Config { guard: Some(false), window: Some(64), initial_ssthresh: Some(20), ..config(Variant::Reno) };
    let two = Path::new(&wide, &once(&[60, 61])).run(400, 3.0);
    check_resent("60 and 61", &two, 60, &[(0.105, 60), (0.300, 61)]);
    assert_eq!((two.value("timeouts"), two.value("ssthresh_packets")), (0.0, 5.0));
    let three = Path::new(&wide, &once(&[60, 61, 62])).run(400, 3.0);
    let timeout = three.resent(60)[2];
    assert!(timeout.1 == 62 && (timeout.0 - 1.402).abs() <= 0.001 + 1e-9, "{timeout:?}");
    assert_eq!((three.value("timeouts"), three.value("ssthresh_packets")), (1.0, 2.0));
}

#[test]
fn sack_waits_for_the_timer_if_a_retransmission_is_lost() {
    let path = Path::new(&config(Variant::Sack), &[(60, 2)]).run(400, 4.0);
    assert_eq!(path.value("timeouts"), 1.0);
    let resent = path.resent(60);
    assert_eq!((resent[0].1, resent[1].1), (60, 60));
    assert!((resent[1].0 - resent[0].0 - 1.0).abs() <= 0.001 + 1e-9, "{resent:?}");
}
