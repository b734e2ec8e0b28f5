//! Branches of the kernel's TCP that a bulk flow over a drop-tail bottleneck seldom takes. Where a test names a recording, it is one of Linux 6.18
//! between two network namespaces, as those of the reference.

use lasthop_net::net::{Header, SackBlocks, TcpHeader};

use super::super::flags::{Flags, Tally};
use super::super::rate::Sample;
use super::super::tcp::Tcp;
use super::*;

/// `tcp_cwnd_test`: at most a half of the window leaves as one. Of three segments each leaves alone, so none has PSH; of four, two at a time.
#[test]
fn at_most_a_half_of_the_window_leaves_at_once() {
    for (window, pushed) in [(2, vec![false; 2]), (3, vec![false; 3]), (4, vec![false, true, false, true])] {
        let mut path = Path::new(&format!("initial_window = {window}"));
        path.transfer(u64::MAX);
        path.run(0.05);
        assert_eq!(path.data().iter().map(|one| one.2).collect::<Vec<_>>(), pushed);
    }
}

/// A recording, 10 Mbit/s and 20 ms: of 16,000 B the last 72 leave with the FIN; of 5,000 B all leave with write(), and the FIN follows; of
/// 14,480 B the FIN waits until the window lets it go. The last segment of what was written has PSH, with others or alone.
#[test]
fn the_fin_leaves_with_the_last_data_that_were_not_sent() {
    for (bytes, last) in [
        (16_000, [(1_500, false, false), (124, true, true)]),
        (5_000, [(708, false, true), (52, true, false)]),
        (14_480, [(1_500, false, true), (52, true, false)]),
    ] {
        let mut path = Path::new("variant = 'reno'");
        path.transfer(bytes);
        path.run(1.0);
        let sent: Vec<_> = path.sent.iter().map(|(_, p)| (p.size, p.tcp().unwrap().flags)).collect();
        let shape = |(size, flags): &(u32, TcpFlags)| (*size, flags.has(TcpFlags::FIN), flags.has(TcpFlags::PUSH));
        let place = sent.iter().rposition(|(_, flags)| flags.has(TcpFlags::FIN)).unwrap();
        assert_eq!([shape(&sent[place - 1]), shape(&sent[place])].map(|s| s), last, "{bytes} B");
        assert_eq!(path.received, bytes);
        assert!(path.sender.socket.tcp.segments.is_empty());
        assert_eq!(path.sender.socket.tcp.totals.acked_bytes, bytes);
    }
}

/// A recording: the SYN is sent again after one second four times more (`tcp_syn_linear_timeouts`), and then at growing distances. The window
/// begins with one segment.
#[test]
fn a_lost_syn_is_sent_again_each_second_at_first() {
    let mut left = 6;
    let mut path = Path::new("variant = 'reno'").with(move |_, packet| {
        let lost = packet.tcp().unwrap().flags.has(TcpFlags::SYN) && left > 0;
        left -= i32::from(lost);
        if lost { Vec::new() } else { vec![Duration::ZERO] }
    });
    path.transfer(20_000);
    path.run(8.0);
    let syns = path.sent.iter().filter(|one| one.1.tcp().unwrap().flags.has(TcpFlags::SYN));
    let at: Vec<u64> = syns.map(|one| one.0.as_nanos() / 1_000_000).collect();
    let recorded = [0, 1_021, 2_041, 3_065, 4_089, 5_113, 7_129];
    assert_eq!(at.len(), recorded.len(), "{at:?}");
    assert!(at.iter().zip(recorded).all(|(here, there)| here.abs_diff(there) <= 40), "{at:?}");
    let data = path.data();
    assert!(data[1].0 > data[0].0 + 40, "one segment a round trip at first: {:?}", &data[..3]);
}

/// A recording: a window of 251 segments became 125 while the sender was idle for half a second, and stayed so for five seconds in which five at
/// most were in flight: each acknowledgement of new data shows that it is used (`tcp_cong_avoid`).
#[test]
fn a_window_in_little_use_is_kept_while_data_are_acknowledged() {
    let mut path = Path::new("variant = 'reno'\ninitial_ssthresh = 100");
    path.notify(Notice::Open);
    path.notify(Notice::Write(1_448 * 1_000));
    path.run(3.0);
    path.notify(Notice::Write(1_448));
    let window = path.sender.socket.tcp.snd_cwnd;
    assert!(window >= 10);
    path.sender.socket.tcp.snd_cwnd = 60;
    for n in 1..=150 {
        path.run(3.0 + 0.02 * f64::from(n));
        path.notify(Notice::Write(1_448));
        assert_eq!(path.sender.socket.tcp.snd_cwnd, 60, "after {n} segments");
    }
}

/// A recording: segments that an application writes one by one have PSH, and are acknowledged within 100 us. Beyond the sixteen that are acknowledged
/// as they come, reading sends the acknowledgement, some 20 us later than that.
#[test]
fn what_is_written_alone_is_acknowledged_when_it_is_read() {
    let mut path = Path::new("variant = 'reno'\nwindow = 34");
    path.notify(Notice::Open);
    for n in 1..=60 {
        path.run(0.15 * f64::from(n));
        path.notify(Notice::Write(1_448));
    }
    path.run(12.0);
    assert!(path.data().iter().all(|one| one.2));
    let acked: Vec<_> = path.acked[1..].iter().map(|one| one.0).collect();
    assert_eq!(acked.len(), 60);
    let data: Vec<_> = path.sent.iter().filter(|one| one.1.tcp().unwrap().payload > 0).map(|one| one.0).collect();
    let waits: Vec<Duration> =
        data.iter().zip(&acked).map(|(sent, acked)| acked.since(*sent) - DELAY - SERIALISATION).collect();
    let (quick, read) = waits.split_at(16);
    assert!(quick.iter().all(|wait| *wait == Duration::ZERO), "{quick:?}");
    let range = Duration::from_micros(10)..Duration::from_micros(100);
    assert!(read.iter().all(|wait| range.contains(wait)), "{read:?}");
}

/// The last two segments are late, not lost: the probe's duplicate is reported when nothing is in flight any more. It ends the episode
/// (`tcp_process_tlp_ack` in `no_queue`), so the next acknowledgement does not cut the window.
#[test]
fn a_probe_that_was_a_duplicate_cuts_nothing() {
    let mut path = Path::new("variant = 'reno'").with(|now, packet| {
        let late = packet.tcp().unwrap().payload > 0 && now < Instant::from_secs_f64(0.2);
        vec![if late { Duration::from_millis(250) } else { Duration::ZERO }]
    });
    path.notify(Notice::Open);
    path.notify(Notice::Write(2 * 1_448));
    path.run(2.0);
    let tcp = &path.sender.socket.tcp;
    assert_eq!((tcp.totals.loss_probes, tcp.totals.timeouts, tcp.tlp_high_seq), (1, 0, 0));
    path.notify(Notice::Write(1_448));
    path.run(3.0);
    assert_eq!(path.sender.socket.tcp.totals.cuts, 0);
}

/// Tells a sender of a duplicate [start, end), in segments of its flight of ten.
fn duplicate(tcp: &mut Tcp, start: u64, end: u64) -> (Flags, u64) {
    let seq = |n: u64| 1 + n * 1_448;
    let mut sack = SackBlocks::default();
    sack.push(seq(start), seq(end));
    let (mut flags, before) = (Flags::default(), tcp.delivery.delivered);
    let mut tally = Tally { sample: Sample::default(), first_sacked_us: None, last_sacked_us: None, reord: u64::MAX };
    let una = tcp.snd_una;
    tcp.snd_una = una.max(seq(end));
    tcp.tag_sacked(&sack, seq(end), una, &mut flags, &mut tally);
    tcp.snd_una = una;
    (flags, tcp.delivery.delivered - before)
}

/// `tcp_dsack_seen`: a duplicate counts as delivered; more of them than were sent again are not believed; and RACK's window grows by them only
/// where the path has reordered.
#[test]
fn a_duplicate_counts_as_delivered_if_it_was_sent_again() {
    let mut path = in_flight();
    let tcp = &mut path.sender.socket.tcp;
    let (flags, delivered) = duplicate(tcp, 0, 1);
    assert_eq!((flags.duplicate_reported, delivered), (false, 0), "nothing was sent again");
    tcp.resend(0, 2, false);
    let (flags, delivered) = duplicate(tcp, 0, 1);
    assert_eq!((flags.duplicate_reported, delivered), (true, 1));
    assert!(!tcp.rack.dsack_seen);
    tcp.reord_seen = true;
    tcp.resend(0, 2, false);
    duplicate(tcp, 0, 2);
    assert!(tcp.rack.dsack_seen);
}

/// `tcp_rack_update_reo_wnd`: an acknowledgement that delivers nothing leaves the report to the next one.
#[test]
fn the_reordering_window_waits_for_a_sample() {
    let mut path = in_flight();
    let tcp = &mut path.sender.socket.tcp;
    (tcp.rack.dsack_seen, tcp.rack.last_delivered) = (true, 5);
    tcp.rack_update_window(&Sample::default());
    assert!(tcp.rack.dsack_seen);
    assert_eq!(tcp.rack.reo_wnd_steps, 1);
}

/// A receiver by itself, over a round trip of 100 ms, with a window that does not grow.
struct Ear {
    receiver: Receiver,
    now: Instant,
    opened: Instant,
    /// When acknowledgements left, us since the first segment, and their first block in segments.
    acks: Vec<(u64, Option<(u64, u64)>)>,
}

impl Ear {
    fn new() -> Self {
        let receiver = Receiver::new(Settings::new(&parsed("window = 1000").unwrap()), seat(1));
        let mut ear = Self { receiver, now: Instant::ZERO, opened: Instant::ZERO, acks: Vec::new() };
        ear.hear(0, TcpFlags::SYN, 0);
        ear.now += Duration::from_millis(100);
        ear.hear(1, TcpFlags::ACK, 0);
        ear.opened = ear.now;
        ear.acks.clear();
        ear
    }

    fn hear(&mut self, seq: u64, flags: TcpFlags, payload: u16) {
        let flags = TcpFlags::TIMESTAMPS.with(flags);
        let header = TcpHeader { seq, ack: 1, payload, flags, ts_val: self.now, ..TcpHeader::default() };
        self.receiver.on_packet(self.now, &Packet { header: Header::Tcp(header), ..Packet::vacant() }, Port::LOCAL);
        self.drain();
    }

    fn drain(&mut self) {
        let mut packet = Packet::vacant();
        while let Some(action) = self.receiver.poll(self.now, &mut packet) {
            if action == Action::Send {
                let header = packet.tcp().unwrap();
                let block = header.sack().iter(header.ack).next();
                let number = |seq: u64| (seq - 1) / 1_448;
                let us = self.now.since(self.opened).as_nanos() / 1_000;
                self.acks.push((us, block.map(|(start, end)| (number(start), number(end)))));
            }
        }
    }

    /// Until an instant, us; and then the segment of this number comes.
    fn segment(&mut self, us: u64, number: u64) {
        self.wait(us);
        self.hear(1 + number * 1_448, TcpFlags::ACK, 1_448);
    }

    fn wait(&mut self, us: u64) {
        let until = self.opened + Duration::from_micros(us);
        while let Some(at) = self.receiver.next_timeout().filter(|at| *at < until) {
            self.now = at;
            self.receiver.on_timeout(at);
            self.drain();
        }
        self.now = until;
    }
}

/// `tcp_delack_timer_handler`: an acknowledgement that was delayed in vain makes the next one wait twice as long, a round trip at most. After more
/// than the timeout of 300 ms, not only after a second, sixteen are sent at once (`tcp_event_data_recv`).
#[test]
fn acknowledgements_are_delayed_longer_and_longer_and_after_a_pause_not_at_all() {
    let mut ear = Ear::new();
    for n in 0..16 {
        ear.segment(n * 1_000, n);
    }
    assert_eq!(ear.acks.len(), 16);
    let starts = [200_000, 400_000, 600_000, 1_100_000];
    for (n, start) in (16..).zip(starts) {
        ear.segment(start, n);
    }
    ear.wait(2_000_000);
    let late: Vec<u64> = ear.acks[16..].iter().zip(starts).map(|(ack, start)| (ack.0 - start) / 1_000).collect();
    // Ticks of 4 ms, and a tick more by the timer wheel.
    assert!((40..=48).contains(&late[0]) && (80..=88).contains(&late[1]) && (100..=108).contains(&late[2]), "{late:?}");
    assert_eq!(late[3], 0);
}

/// A recording, 20 Mbit/s: with two blocks beside its own a segment lets the SACKs go that are held back, without itself, and waits for the next
/// segment (`tcp_sack_compress_send_ack`, `TCP_SACK_BLOCKS_EXPECTED`). In the reference's captures those leave 1.10 ms after the segment, the delay and
/// its slack.
#[test]
fn sacks_that_are_held_back_leave_before_their_blocks_are_forgotten() {
    let mut ear = Ear::new();
    for n in 0..18 {
        ear.segment(n * 100, n);
    }
    ear.acks.clear();
    for (us, number) in
        [(0, 1), (600, 2), (1_200, 3), (1_800, 5), (2_400, 6), (3_000, 8), (3_600, 10), (4_200, 11), (4_800, 12)]
    {
        ear.segment(100_000 + us, 18 + number);
    }
    ear.wait(200_000);
    let acks: Vec<_> =
        ear.acks.iter().map(|(us, block)| (us - 100_000, block.map(|(a, b)| (a - 18, b - 18)).unwrap())).collect();
    let expected = [(0, (1, 2)), (600, (1, 3)), (1_200, (1, 4)), (2_900, (5, 7)), (3_600, (8, 9)), (5_300, (10, 13))];
    assert_eq!(acks, expected);
}

/// `__tcp_ack_snd_check`: a retransmission that fills one gap of two is the first of the three acknowledgements at its number that are not held
/// back, so the third segment after it waits; it is not a fourth beside them.
#[test]
fn an_advance_to_the_next_gap_is_one_of_three_that_are_not_held_back() {
    let mut ear = Ear::new();
    for n in 0..18 {
        ear.segment(n * 100, n);
    }
    ear.acks.clear();
    for (n, number) in (0..).zip([1, 3, 4, 0, 5, 6, 7]) {
        ear.segment(100_000 + n * 1_200, 18 + number);
    }
    ear.wait(200_000);
    let times: Vec<u64> = ear.acks.iter().map(|(us, _)| us - 100_000).collect();
    assert_eq!(times, [0, 1_200, 2_400, 3_600, 4_800, 6_000, 7_200 + 1_100]);
}
