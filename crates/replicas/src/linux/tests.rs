//! A sender and a receiver over a path, packet by packet.

use std::collections::VecDeque;

use lasthop_net::engine::choice::parsed;
use lasthop_net::engine::{Duration, Instant, Stream, Streams};
use lasthop_net::net::{
    Action, Address, Endpoint, EndpointContext, FlowId, Header, Hears, Histogram, NodeId, Notice, Packet, Port, Probe,
    SackBlocks, Socket as Seat, TcpFlags, TcpHeader, TcpOptions, Timed, What,
};

use super::receiver::Receiver;
use super::sender::Sender;
use super::settings::Settings;
use super::tcp::CaState;

mod branches;

fn seat(node: u32) -> EndpointContext {
    let hears = Hears { sent: true, acked: true, received: true, lost: false, rate: false };
    EndpointContext {
        local: Seat { node: NodeId(node), port: 1 },
        remote: Address::Node(NodeId(1 - node)),
        remote_port: 1,
        flow: FlowId(0),
        hears,
        observed: false,
    }
}

/// What becomes of a data packet: how often it arrives, and how much later.
type Fate = Box<dyn FnMut(Instant, &Packet) -> Vec<Duration>>;

/// 1.2 ms of serialisation, 20 ms each way; acknowledgements take no time but their delay.
struct Path {
    now: Instant,
    sender: Sender,
    receiver: Receiver,
    /// Under way, whether to the receiver, in no order.
    flight: Vec<(Instant, u64, bool, Packet)>,
    number: u64,
    free: Instant,
    fate: Fate,
    sent: Vec<(Instant, Packet)>,
    acked: Vec<(Instant, Packet)>,
    received: u64,
}

const DELAY: Duration = Duration::from_millis(20);
const SERIALISATION: Duration = Duration::from_micros(1_200);

impl Path {
    fn new(config: &str) -> Self {
        let settings = Settings::new(&parsed(config).unwrap());
        Self {
            now: Instant::ZERO,
            sender: Sender::new(settings.clone(), seat(0), Streams::new(1).stream("flow", "sender")),
            receiver: Receiver::new(settings, seat(1)),
            flight: Vec::new(),
            number: 0,
            free: Instant::ZERO,
            fate: Box::new(|_, _| vec![Duration::ZERO]),
            sent: Vec::new(),
            acked: Vec::new(),
            received: 0,
        }
    }

    fn with(mut self, fate: impl FnMut(Instant, &Packet) -> Vec<Duration> + 'static) -> Self {
        self.fate = Box::new(fate);
        self
    }

    fn notify(&mut self, notice: Notice) {
        self.sender.on_notice(self.now, notice);
        self.drain();
    }

    fn transfer(&mut self, bytes: u64) {
        self.notify(Notice::Open);
        self.notify(Notice::Write(bytes));
        if bytes < u64::MAX {
            self.notify(Notice::Close);
        }
    }

    fn drain(&mut self) {
        let mut packet = Packet::vacant();
        while let Some(action) = self.sender.poll(self.now, &mut packet) {
            if action != Action::Send {
                continue;
            }
            self.sent.push((self.now, packet));
            self.free = self.free.max(self.now) + SERIALISATION;
            for late in (self.fate)(self.now, &packet) {
                self.number += 1;
                self.flight.push((self.free + DELAY + late, self.number, true, packet));
            }
        }
        while let Some(action) = self.receiver.poll(self.now, &mut packet) {
            match action {
                Action::Send => {
                    self.acked.push((self.now, packet));
                    self.number += 1;
                    self.flight.push((self.now + DELAY, self.number, false, packet));
                }
                Action::Tell(Notice::Received(bytes)) => self.received = bytes,
                _ => {}
            }
        }
        assert!(self.sender.socket.tcp.is_consistent(), "at {}", self.now);
    }

    fn run(&mut self, seconds: f64) {
        let until = Instant::from_secs_f64(seconds);
        loop {
            let next = self.flight.iter().map(|one| (one.0, one.1)).min();
            let timers = [self.sender.next_timeout(), self.receiver.next_timeout()];
            let timer = timers.iter().flatten().min().copied();
            let Some(at) = next.map(|next| next.0).into_iter().chain(timer).min().filter(|at| *at < until) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(at);
            if let Some((_, number)) = next.filter(|next| next.0 == at) {
                let place = self.flight.iter().position(|one| one.1 == number).expect("it is there");
                let (_, _, forward, packet) = self.flight.swap_remove(place);
                match forward {
                    true => self.receiver.on_packet(self.now, &packet, Port::LOCAL),
                    false => self.sender.on_packet(self.now, &packet, Port::LOCAL),
                }
            } else if timers[0] == Some(at) {
                self.sender.on_timeout(self.now);
            } else {
                self.receiver.on_timeout(self.now);
            }
            self.drain();
        }
    }

    /// Data packets sent: when in ms, the number of the segment from 0, and whether PSH is set.
    fn data(&self) -> Vec<(u64, u64, bool)> {
        let header = |p: &Packet| p.tcp().cloned().unwrap();
        let data = self.sent.iter().map(|(at, p)| (at, header(p))).filter(|(_, h)| h.payload > 0);
        data.map(|(at, h)| (at.as_nanos() / 1_000_000, (h.seq - 1) / 1_448, h.flags.has(TcpFlags::PUSH))).collect()
    }
}

/// Loses the first transmissions of these segments.
fn losing(lost: &'static [u64]) -> impl FnMut(Instant, &Packet) -> Vec<Duration> {
    let mut left: VecDeque<u64> = lost.iter().map(|n| n * 1_448 + 1).collect();
    move |_, packet| {
        let header = packet.tcp().unwrap();
        match left.iter().position(|seq| *seq == header.seq && header.payload > 0) {
            Some(place) => {
                left.remove(place);
                Vec::new()
            }
            None => vec![Duration::ZERO],
        }
    }
}

/// The captures of the reference: a SYN of 60 B, then, 118 to 429 us after the acknowledgement of the SYN+ACK, ten segments of 1,500 B at once, in
/// pairs of which the second has PSH; the first data segments are acknowledged one by one, and each lets two leave.
#[test]
fn a_connection_opens_as_in_the_captures() {
    let mut path = Path::new("variant = 'reno'");
    path.transfer(u64::MAX);
    path.run(0.2);
    assert_eq!(path.sent[0].1.size, 60);
    assert_eq!(path.acked[0].1.size, 60);
    // RFC 9293 §3.10.7.3: the SYN is acknowledged with SND.NXT, before any data.
    let first = path.sent[1].1.tcp().unwrap();
    assert_eq!((first.seq, first.payload), (1, 0));
    let (opened, wrote) = (path.sent[1].0, path.sent[2].0);
    assert!((118..=429).contains(&(wrote.since(opened).as_nanos() / 1_000)));
    let data = path.data();
    assert!(data[..10].iter().all(|one| one.0 == data[0].0));
    assert!(data[..30].iter().all(|(_, number, push)| *push == (number % 2 == 1)), "{:?}", &data[..30]);
    assert!(path.sent.iter().filter(|one| one.1.tcp().unwrap().payload > 0).all(|one| one.1.size == 1_500));
    let acks: Vec<u64> = path.acked[1..].iter().map(|one| (one.1.tcp().unwrap().ack - 1) / 1_448).collect();
    assert_eq!(acks[..20], (1..=20).collect::<Vec<_>>());
    assert_eq!(path.acked[1].1.size, 52);
}

/// With a window of the receiver that does not grow, sixteen acknowledgements are sent at once (`TCP_MAX_QUICKACKS`), and then one for each pair.
#[test]
fn after_sixteen_quick_acknowledgements_each_second_segment_is_acknowledged() {
    // 32 segments of window: a half of it in segments is sixteen.
    let mut path = Path::new("variant = 'reno'\nwindow = 34");
    path.transfer(u64::MAX);
    path.run(1.0);
    let acks: Vec<u64> = path.acked[1..].iter().map(|one| (one.1.tcp().unwrap().ack - 1) / 1_448).collect();
    let steps: Vec<u64> = acks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(steps[..15], [1; 15]);
    assert!(steps[20..80].iter().all(|step| *step == 2), "{steps:?}");
}

/// One loss: with the third SACK the segment is sent again, at once, and PRR brings the window to the half.
#[test]
fn one_lost_segment_is_repaired_and_the_window_halved() {
    let mut path = Path::new("variant = 'reno'\ninitial_ssthresh = 20").with(losing(&[60]));
    path.transfer(u64::MAX);
    path.run(1.5);
    let tcp = &path.sender.socket.tcp;
    assert_eq!((tcp.totals.recoveries, tcp.totals.resent_packets, tcp.totals.timeouts), (1, 1, 0));
    let data = path.data();
    let again = data.iter().rposition(|one| one.1 == 60).unwrap();
    let (first, second) = (data.iter().position(|one| one.1 == 60).unwrap(), again);
    // A round trip of 41.2 ms and the queue of its window, and three more packets.
    assert!((41..60).contains(&(data[second].0 - data[first].0)));
    assert!((10..=12).contains(&tcp.snd_ssthresh), "{}", tcp.snd_ssthresh);
    assert_eq!(tcp.ca_state, CaState::Open);
}

/// The last segment is lost: the loss probe repairs it in two round trips, without a timeout. The window is cut when an acknowledgement comes that
/// is beyond the probe.
#[test]
fn a_lost_tail_is_probed() {
    let mut path = Path::new("variant = 'cubic'").with(losing(&[9]));
    path.notify(Notice::Open);
    path.notify(Notice::Write(10 * 1_448));
    path.run(2.0);
    let tcp = &path.sender.socket.tcp;
    assert_eq!((tcp.totals.loss_probes, tcp.totals.timeouts, tcp.totals.cuts), (1, 0, 0));
    assert_eq!(path.received, 14_480);
    path.notify(Notice::Write(1_448));
    path.run(3.0);
    assert_eq!(path.sender.socket.tcp.totals.cuts, 1);
    let data = &path.data()[..11];
    // Two of 41.2 ms after the last acknowledgement, and 2 ms, in ticks of 4 ms; with one segment in flight 200 ms more.
    let waited = data.last().unwrap().0 - data[8].0;
    assert!((250..=400).contains(&waited), "{waited} ms");
}

/// The path stands still for 600 ms: the timeout is found spurious by the first acknowledgement, whose time stamp is older, and undone.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut path = Path::new("variant = 'reno'\ninitial_ssthresh = 30").with(|now, _| {
        let (from, to) = (Instant::from_secs_f64(0.5), Instant::from_secs_f64(1.1));
        vec![if (from..to).contains(&now) { to.since(now) } else { Duration::ZERO }]
    });
    path.transfer(u64::MAX);
    path.run(0.5);
    let before = path.sender.socket.tcp.snd_cwnd;
    path.run(1.6);
    let tcp = &path.sender.socket.tcp;
    assert!(tcp.totals.timeouts >= 1);
    assert!(tcp.totals.undone >= 1);
    assert!(tcp.snd_cwnd >= before, "{} of {before}", tcp.snd_cwnd);
}

/// A flight lost whole is sent again after the timeout, in slow start from one segment.
#[test]
fn a_lost_flight_is_repaired_after_a_timeout() {
    let mut path = Path::new("variant = 'cubic'").with(losing(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 9]));
    path.transfer(40 * 1_448);
    path.run(5.0);
    let tcp = &path.sender.socket.tcp;
    assert!(tcp.totals.timeouts >= 1);
    assert_eq!(path.received, 40 * 1_448);
    assert!(tcp.segments.is_empty(), "the FIN is acknowledged too");
}

/// Windows from one segment on, and segments of all sizes.
#[test]
fn a_small_window_of_the_receiver_is_kept_to() {
    for (config, bytes) in [("window = 1", 30_000), ("window = 2\nsegment = '100 B'", 5_000), ("segment = '1 B'", 300)]
    {
        let mut path = Path::new(config);
        path.transfer(bytes);
        path.run(60.0);
        assert_eq!(path.received, bytes, "{config}");
    }
}

/// Losses, duplicates and reordering at random: all arrives, and the counts stay those of the segments, which each step checks.
#[test]
fn all_arrives_over_a_path_that_loses_duplicates_and_reorders() {
    let chaos = |seed: u64| {
        let mut stream: Stream = Streams::new(seed).stream("path", "fate");
        move |_: Instant, _: &Packet| {
            let mut copies = Vec::new();
            for share in [0.9, 0.05] {
                if stream.chance(share) {
                    let late = if stream.chance(0.1) { stream.uniform(0.0, 0.08) } else { 0.0 };
                    copies.push(Duration::from_secs_f64(late));
                }
            }
            copies
        }
    };
    for variant in ["reno", "cubic", "bbr"] {
        for seed in 1..=20 {
            let mut path = Path::new(&format!("variant = '{variant}'")).with(chaos(seed));
            path.transfer(200_000);
            path.run(400.0);
            assert_eq!(path.received, 200_000, "{variant}, seed {seed}");
            assert!(path.sender.socket.tcp.segments.is_empty(), "{variant}, seed {seed}");
        }
    }
}

/// BBR on an empty path: a delivery rate of 1,448 B in 1.2 ms, the least round-trip time, and no losses that it would see.
#[test]
fn bbr_finds_rate_and_round_trip() {
    let mut path = Path::new("variant = 'bbr'");
    path.transfer(u64::MAX);
    path.run(5.0);
    let acked = path.sender.socket.tcp.snd_una as f64 / 5.0;
    let rate = 1_448.0 / 1.2e-3;
    assert!((0.85 * rate..=rate).contains(&acked), "{acked} of {rate} B/s");
    let cwnd = path.sender.socket.tcp.snd_cwnd;
    // Twice 41.2 ms of 833 packets a second are 69, and three bursts of two.
    assert!((69..=90).contains(&cwnd), "{cwnd}");
}

/// A connection with a flight of ten segments.
fn in_flight() -> Path {
    let mut path = Path::new("variant = 'reno'");
    path.transfer(u64::MAX);
    path.run(0.05);
    let tcp = &path.sender.socket.tcp;
    assert_eq!((tcp.segments.len(), tcp.ca_state), (10, CaState::Open));
    path
}

/// A timeout with three segments SACKed takes the estimate of reordering back to `tcp_reordering`, however large it is (`tcp_enter_loss`).
#[test]
fn a_timeout_after_three_duplicates_forgets_reordering() {
    for (sacked, reordering) in [(2, 50), (3, 3), (9, 3)] {
        let mut path = in_flight();
        let socket = &mut path.sender.socket;
        socket.tcp.reordering = 50;
        for place in 1..=sacked {
            socket.tcp.segments.at_mut(place).unwrap().sacked = true;
            socket.tcp.sacked_out += 1;
        }
        socket.enter_loss();
        assert_eq!(socket.tcp.reordering, reordering, "{sacked} SACKed");
    }
}

/// The stamp of an earlier episode's first retransmission is not taken for that of this recovery (`tcp_retrans_stamp_cleanup`).
#[test]
fn a_recovery_begins_with_a_stamp_of_its_own() {
    let mut path = in_flight();
    let socket = &mut path.sender.socket;
    socket.tcp.retrans_stamp = 1_000;
    socket.tcp.mark_lost(0);
    socket.enter_recovery();
    assert_eq!(socket.tcp.retrans_stamp, 0);
    socket.tcp.resend(0, 1, false);
    assert_eq!(socket.tcp.retrans_stamp, 41_400, "when the data were written, at the last event");
}

/// A recovery in which nothing was sent again when an original arrives is undone, and losses are looked for at once (`tcp_packet_delayed`,
/// `tcp_try_undo_partial`); with a retransmission in flight it is not, and nothing more is sent again.
#[test]
fn a_recovery_before_its_first_retransmission_is_undone() {
    for resent in [false, true] {
        let mut path = in_flight();
        let una = path.sender.socket.tcp.snd_una;
        let socket = &mut path.sender.socket;
        let before = socket.tcp.snd_cwnd;
        socket.tcp.mark_lost(0);
        socket.enter_recovery();
        if resent {
            socket.tcp.resend(0, 1, false);
        }
        socket.tcp.snd_cwnd = 5;
        let stamp = socket.tcp.retrans_stamp;
        let echo = if resent { stamp - 2_000 } else { stamp + 2_000 };
        assert_eq!(socket.try_undo_partial(una, echo), resent);
        let tcp = &socket.tcp;
        assert_eq!((tcp.ca_state == CaState::Recovery, tcp.undo_marker.is_some()), (resent, resent));
        assert_eq!(tcp.snd_cwnd >= before, !resent);
    }
}

/// An acknowledgement that later ones have overtaken moves nothing; its blocks are heeded (`old_ack`).
#[test]
fn blocks_of_an_overtaken_acknowledgement_are_heeded() {
    let mut path = in_flight();
    let socket = &mut path.sender.socket;
    let (una, first) = (socket.tcp.snd_una, socket.tcp.segments.at(4).unwrap().clone());
    let mut sack = SackBlocks::default();
    sack.push(first.start, first.end());
    let ack = |options| TcpHeader { ack: una - 1, window: TcpHeader::ANY_WINDOW, options, ..TcpHeader::default() };
    socket.on_ack(&ack(TcpOptions::Sack(SackBlocks::default())));
    assert_eq!((socket.tcp.sacked_out, socket.tcp.snd_una), (0, una));
    socket.on_ack(&ack(TcpOptions::Sack(sack)));
    assert_eq!((socket.tcp.sacked_out, socket.tcp.snd_una), (1, una));
    assert!(socket.tcp.is_consistent());
}

/// A FIN that comes again beyond a gap takes a sequence number, and is no byte and no segment of data.
#[test]
fn a_fin_that_comes_again_is_no_data() {
    let handshake = |_, packet: &Packet| match packet.tcp() {
        Some(header) if header.payload > 0 => Vec::new(),
        _ => vec![Duration::ZERO],
    };
    let mut path = Path::new("variant = 'reno'").with(handshake);
    path.transfer(2_896);
    path.run(0.05);
    let (_, mut fin) = *path.sent.last().unwrap();
    let Header::Tcp(header) = &mut fin.header else { panic!("a segment") };
    (header.seq, header.payload, header.flags) = (5_000, 0, header.flags.with(TcpFlags::FIN));
    for _ in 0..2 {
        path.receiver.on_packet(path.now, &fin, Port::LOCAL);
    }
    let mut totals = Totals::default();
    path.receiver.sample(&mut totals);
    assert_eq!((totals.0["duplicate_packets"], totals.0["duplicate_bytes"]), (0.0, 0.0));
}

/// What an endpoint shows.
#[derive(Default)]
struct Totals(std::collections::BTreeMap<&'static str, f64>);

impl Probe for Totals {
    fn part(&mut self, _: What, _: &str) {}
    fn distribution(&mut self, _: &'static str, _: f64, _: &Histogram) {}
    fn value(&mut self, name: &'static str, value: f64) {
        self.0.insert(name, value);
    }
}
