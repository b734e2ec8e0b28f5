//! Packets in and out with times.
//!
//! More than 500 lines: a table of examples.

use super::*;
use crate::transport::congestion::{AckSample, Congestion, CongestionControl, CongestionEvent, Undo, cubic};
use lasthop_net::engine::{BitRate, Bytes};
use lasthop_net::net::{SackBlocks, TcpOptions};

/// A sender by itself, whose acknowledgements are written by hand. Segments are of 1000 bytes
/// and numbered from 0.
pub(super) struct Script {
    pub(super) now: Instant,
    pub(super) sender: Sender,
}

fn config() -> Config {
    Config { segment: Some(Bytes::new(1000)), handshake: Some(Handshake::None), ..Config::default() }
}

impl Script {
    /// A connection without a handshake that has `segments` to send.
    pub(super) fn new(config: &Config, segments: u64) -> (Self, Vec<u64>) {
        let mut script = Self {
            now: Instant::ZERO,
            sender: Sender::new(config, seat(0, Hears::default()), &Streams::new(1).stream("flow", "sender")),
        };
        script.sender.on_notice(script.now, Notice::Open);
        script.sender.on_notice(script.now, Notice::Write(segments * 1000));
        let sent = script.segments();
        (script, sent)
    }

    fn packets(&mut self) -> Vec<Packet> {
        let mut packets = Vec::new();
        let mut packet = Packet::vacant();
        while let Some(action) = self.sender.poll(self.now, &mut packet) {
            if action == Action::Send {
                packets.push(packet);
            }
        }
        packets
    }

    /// The numbers of the segments that leave.
    pub(super) fn segments(&mut self) -> Vec<u64> {
        self.packets().iter().map(|p| p.tcp().unwrap().seq / 1000).collect()
    }

    pub(super) fn input(&mut self, ms: u64, header: TcpHeader) {
        self.now = Instant::ZERO + Duration::from_millis(ms);
        let sender = &self.sender.seat;
        let packet = Packet {
            from: Socket { node: NodeId(1), port: 1 },
            to: Address::Node(NodeId(0)),
            to_port: 1,
            dscp: 0,
            ecn: Ecn::NotEct,
            size: 40,
            flow: sender.flow,
            connection: self.sender.connection,
            number: 1,
            header: Header::Tcp(header),
        };
        self.sender.on_packet(self.now, &packet, Port::LOCAL);
    }

    /// At `ms`, an acknowledgement of all segments before `ack`, with SACK blocks of segments.
    pub(super) fn ack(&mut self, ms: u64, ack: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|&(from, to)| sack.push(1 + from * 1000, 1 + to * 1000));
        let header = TcpHeader {
            ack: 1 + ack * 1000,
            window: 1 << 27,
            flags: TcpFlags::ACK,
            options: TcpOptions::Sack(sack),
            ..TcpHeader::default()
        };
        self.input(ms, header);
        self.segments()
    }

    /// The next timer expires: when, in milliseconds, and the segments that leave.
    pub(super) fn timeout(&mut self) -> (u64, Vec<u64>) {
        self.now = self.sender.next_timeout().expect("a timer runs");
        self.sender.on_timeout(self.now);
        (self.now.as_nanos() / 1_000_000, self.segments())
    }

    fn cwnd(&self) -> u64 {
        self.sender.c.window / 1000
    }
}

fn from_to(from: u64, to: u64) -> Vec<u64> {
    (from..to).collect()
}

#[test]
fn a_full_handshake_takes_a_round_trip() {
    let mut path = Path::new(&Config { handshake: Some(Handshake::Full), ..config() });
    path.transfer(20_000);
    path.run(1.0);
    let first: Vec<_> = path.sent.iter().take(4).map(|(at, p)| (at.as_nanos() / 1_000_000, p.size)).collect();
    assert_eq!(first, [(0, 40), (101, 40), (101, 1040), (101, 1040)]);
    let answer = path.acked[0].1.tcp().unwrap();
    assert!(answer.flags.has(TcpFlags::SYN.with(TcpFlags::ACK)) && answer.ack == 1);
    // Ten segments, then the rest and the FIN.
    assert_eq!(path.sent.iter().filter(|(at, p)| p.size == 1040 && at.as_nanos() == 101_000_000).count(), 10);
    let last = &path.sent.last().unwrap().1;
    assert!(last.tcp().unwrap().flags.has(TcpFlags::FIN) && last.size == 40);
    assert_eq!((path.told_received, path.told_acked), (20_000, 20_000));
    assert_eq!(path.sender.next_timeout(), None);
}

/// RFC 7323 §4.3: TS.Recent is that of the segment at Last.ACK.sent, also of the very first.
#[test]
fn without_a_handshake_the_first_time_stamp_is_echoed() {
    let mut path = Path::new(&Config { timestamps: Some(true), ..config() });
    path.run(5.0);
    path.transfer(1_000);
    path.run(6.0);
    assert_eq!(path.sender.c.last_rtt, Duration::from_millis(101));
}

#[test]
fn a_lost_syn_leaves_a_window_of_one_and_a_timer_of_three_seconds() {
    let mut path = Path::new(&Config { handshake: Some(Handshake::Full), ..config() });
    let mut left = 2;
    path.lose = Box::new(move |_| {
        left -= i32::from(left > 0);
        left > 0
    });
    path.notify(Notice::Open);
    path.notify(Notice::Write(20_000));
    path.run(1.101);
    assert_eq!(path.sent.len(), 2, "the SYN again after a second");
    path.run(1.102);
    assert_eq!(path.sent.len(), 4, "acknowledgement and one segment");
    assert_eq!(path.sender.c.window, 1000);
    assert_eq!(path.sender.c.rto.rto(), Duration::from_secs(3));
}

#[test]
fn the_timer_backs_off_until_a_sample_comes() {
    let rto = Rto { max: Some(Duration::from_secs(64)), ..Rto::default() };
    let (mut script, _) = Script::new(&Config { rto, ..config() }, 1);
    let mut last = 0;
    for seconds in [1, 2, 4, 8, 16, 32, 64, 64] {
        let (at, sent) = script.timeout();
        assert_eq!((at - last, sent), (seconds * 1000, vec![0]));
        last = at;
    }
    assert_eq!(script.sender.c.window, 1000);
    script.ack(last + 100, 1, &[]);
    assert_eq!(script.sender.c.rto.rto(), Duration::from_secs(64), "Karn: no sample from a segment sent twice");
    script.sender.on_notice(script.now, Notice::Write(1000));
    script.segments();
    script.ack(last + 200, 2, &[]);
    assert_eq!(script.sender.c.rto.rto(), Duration::from_secs(1));
}

#[test]
fn a_lost_fin_is_sent_again_by_the_timer() {
    let mut path = Path::new(&Config { handshake: Some(Handshake::Full), ..config() });
    let mut lost = false;
    path.lose = Box::new(move |p| p.tcp().unwrap().flags.has(TcpFlags::FIN) && !std::mem::replace(&mut lost, true));
    path.transfer(3_000);
    path.run(30.0);
    let fins = path.sent.iter().filter(|(_, p)| p.tcp().unwrap().flags.has(TcpFlags::FIN));
    let at: Vec<_> = fins.map(|(at, _)| at.as_nanos() / 1_000_000).collect();
    // The last data are acknowledged at 205 ms, the timer is at its least of a second.
    assert_eq!(at, [101, 1205]);
    assert!(path.sender.c.board.is_empty() && path.told_acked == 3_000);
}

/// RFC 3042: a new segment for each of the first two duplicates; RFC 5681: the third resends.
#[test]
fn duplicates_let_new_segments_out_before_the_first_is_sent_again() {
    for (variant, recovery_sends) in [(Variant::NewReno, vec![0]), (Variant::Sack, vec![0])] {
        let (mut script, sent) = Script::new(&Config { variant: Some(variant), ..config() }, 100);
        assert_eq!(sent, from_to(0, 10));
        assert_eq!(script.ack(100, 0, &[(1, 2)]), [10], "{variant:?}");
        assert_eq!(script.ack(101, 0, &[(1, 3)]), [11], "{variant:?}");
        assert_eq!(script.ack(102, 0, &[(1, 4)]), recovery_sends, "{variant:?}");
        // What limited transmit sent does not count: half of ten.
        assert_eq!(script.cwnd(), 5, "{variant:?}");
    }
}

/// RFC 6675 §5: 5 of 10 segments lost; each SACK lets out what fits into the pipe, holes first.
#[test]
fn holes_are_filled_before_new_data_as_the_pipe_drains() {
    let variant = Some(Variant::Sack);
    let (mut script, _) = Script::new(&Config { variant, limited_transmit: Some(false), ..config() }, 100);
    // Segments 0 to 3 are lost.
    assert_eq!(script.ack(100, 0, &[(4, 5)]), from_to(0, 0));
    assert_eq!(script.ack(101, 0, &[(4, 6)]), from_to(0, 0));
    // 4 lost, 3 SACKed of 10: pipe 3 and the retransmission make 4 of 5.
    assert_eq!(script.ack(102, 0, &[(4, 7)]), [0, 1]);
    assert_eq!(script.ack(103, 0, &[(4, 8)]), [2]);
    assert_eq!(script.ack(104, 0, &[(4, 9)]), [3]);
    assert_eq!(script.ack(105, 0, &[(4, 10)]), [10]);
    assert_eq!(script.sender.c.in_flight(), 5000);
    assert_eq!(script.ack(200, 1, &[(4, 10)]), [11]);
    assert_eq!(script.ack(201, 2, &[(4, 10)]), [12]);
    assert!(script.sender.c.status.recovering);
    assert_eq!(script.ack(202, 10, &[]), from_to(13, 15));
    assert!(!script.sender.c.status.recovering);
    assert_eq!(script.cwnd(), 5);
}

#[test]
fn the_last_segment_is_rescued_when_nothing_new_is_left() {
    let (mut script, _) = Script::new(&Config { variant: Some(Variant::Sack), ..config() }, 10);
    // Segments 0, 8 and 9 are lost.
    script.ack(100, 0, &[(1, 2)]);
    script.ack(101, 0, &[(1, 3)]);
    assert_eq!(script.ack(102, 0, &[(1, 4)]), [0]);
    script.ack(103, 0, &[(1, 5)]);
    script.ack(104, 0, &[(1, 6)]);
    // The pipe is 4 of 5: segments 7 to 9, and 0 again.
    assert_eq!(script.ack(105, 0, &[(1, 7)]), [9], "NextSeg rule 4");
    assert_eq!(script.ack(106, 0, &[(1, 8)]), from_to(0, 0), "once in a recovery");
    assert_eq!(script.ack(203, 8, &[]), from_to(0, 0));
    assert_eq!(script.ack(208, 8, &[(9, 10)]), [8], "rule 3, by what the rescue brought");
}

fn spurious(kind: Spurious, variant: Variant) -> (Script, u64) {
    let (mut script, _) = Script::new(&Config { spurious: kind, variant: Some(variant), ..config() }, 100);
    let (at, sent) = script.timeout();
    assert_eq!((at, sent), (1000, vec![0]));
    assert_eq!(script.cwnd(), 1);
    (script, at)
}

/// RFC 5682: originals are acknowledged one by one, so nothing was lost.
#[test]
fn f_rto_sees_a_spurious_timeout_from_two_acknowledgements() {
    for variant in [Variant::NewReno, Variant::Sack] {
        let (mut script, at) = spurious(Spurious::FRto, variant);
        assert_eq!(script.ack(at + 10, 1, &[]), [10, 11], "step 2: two new segments, {variant:?}");
        // Step 3, and RFC 4015: FlightSize 10, and one more for the segment acknowledged.
        assert_eq!(script.ack(at + 20, 2, &[]), [12], "{variant:?}");
        assert_eq!((script.sender.totals.detected_spurious, script.cwnd()), (1, 11), "{variant:?}");
        assert_eq!(script.ack(at + 30, 3, &[]), [13, 14], "slow start goes on, {variant:?}");
    }
}

#[test]
fn f_rto_lets_a_genuine_timeout_take_its_course() {
    for (variant, blocks) in [(Variant::NewReno, &[][..]), (Variant::Sack, &[(10, 11)])] {
        let (mut script, at) = spurious(Spurious::FRto, variant);
        assert_eq!(script.ack(at + 100, 1, &[]), [10, 11], "{variant:?}");
        let sent = script.ack(at + 200, 1, blocks);
        assert_eq!(sent[0], 1, "step 3a: resends, {variant:?}");
        assert!(script.cwnd() <= 3, "{variant:?}");
        assert_eq!(script.sender.totals.detected_spurious, 0);
    }
    // Step 2: a duplicate first.
    let (mut script, at) = spurious(Spurious::FRto, Variant::NewReno);
    script.ack(at + 100, 0, &[]);
    assert_eq!(script.ack(at + 200, 1, &[]), [1, 2]);
}

/// RFC 3522: the first acknowledgement echoes the original's time stamp, or the retransmission's.
#[test]
fn eifel_sees_a_spurious_timeout_from_the_echo() {
    for (echo_ms, detected, cwnd) in [(0, 1, 10), (1000, 0, 2)] {
        let (mut script, at) = spurious(Spurious::Eifel, Variant::Sack);
        let flags = TcpFlags::ACK.with(TcpFlags::TIMESTAMPS);
        let ts_echo = Instant::ZERO + Duration::from_millis(echo_ms);
        script.input(at + 50, TcpHeader { ack: 1001, window: 1 << 27, flags, ts_echo, ..TcpHeader::default() });
        assert_eq!(script.sender.totals.detected_spurious, detected, "echo of {echo_ms} ms");
        assert_eq!(script.cwnd(), cwnd);
        assert_eq!(script.segments(), if detected == 1 { vec![10] } else { vec![1, 2] });
    }
}

/// RFC 3522 §3.2 step (5): an acknowledgement of everything may be the first of many that was not
/// lost, unless the receiver would have reported a duplicate.
#[test]
fn eifel_does_not_trust_an_acknowledgement_of_everything() {
    // Whether a duplicate was reported before, and with this acknowledgement; segments covered.
    for (before, now, covered, detected) in
        [(false, false, 10, 0), (true, false, 10, 1), (true, true, 10, 0), (false, false, 9, 1), (false, true, 9, 0)]
    {
        let (mut script, _) =
            Script::new(&Config { spurious: Spurious::Eifel, variant: Some(Variant::Sack), ..config() }, 100);
        let duplicate = |reported: bool| {
            let mut sack = SackBlocks::default();
            if reported {
                sack.push(1, 1001);
            }
            sack
        };
        let flags = TcpFlags::ACK.with(TcpFlags::TIMESTAMPS);
        let header = TcpHeader { window: 1 << 27, flags, ..TcpHeader::default() };
        let first =
            TcpHeader { ack: 1001, options: TcpOptions::Sack(duplicate(before)), ts_echo: Instant::ZERO, ..header };
        script.input(100, first);
        script.sender.c.end = script.sender.c.nxt;
        script.segments();
        let (at, _) = script.timeout();
        script.sender.on_notice(script.now, Notice::Write(50_000));
        script
            .input(at + 50, TcpHeader { ack: covered * 1000 + 1, options: TcpOptions::Sack(duplicate(now)), ..header });
        assert_eq!(script.sender.totals.detected_spurious, detected, "{before} {now} {covered}");
    }
}

/// RFC 5682 §3.1 step 1: RecoveryPoint is that of the recovery, and not acknowledged.
#[test]
fn f_rto_with_sack_does_not_judge_a_timeout_in_a_recovery() {
    let config = Config { spurious: Spurious::FRto, variant: Some(Variant::Sack), ..config() };
    let (mut script, _) = Script::new(&config, 100);
    for to in 2..6 {
        script.ack(100 + to, 0, &[(1, to)]);
    }
    assert!(script.sender.c.status.recovering);
    let (at, _) = script.timeout();
    assert!(script.ack(at + 10, 1, &[(1, 5)]).iter().all(|&segment| segment < 10), "holes, not new data");
    script.ack(at + 20, 6, &[]);
    assert_eq!(script.sender.totals.detected_spurious, 0);
}

/// RFC 5682 §3.1 step 3a: also when a duplicate tells of nothing new below RecoveryPoint.
#[test]
fn f_rto_with_sack_takes_a_duplicate_without_news_for_a_loss() {
    let (mut script, at) = spurious(Spurious::FRto, Variant::Sack);
    assert_eq!(script.ack(at + 10, 1, &[]), [10, 11]);
    assert_eq!(script.ack(at + 20, 1, &[])[0], 1);
    script.ack(at + 30, 3, &[]);
    assert_eq!(script.sender.totals.detected_spurious, 0);
}

/// RFC 4015 §3 step (9): with a mark, the window stays as the timeout left it.
#[test]
fn a_mark_keeps_a_spurious_timeout_from_restoring_the_window() {
    for (ece, cwnd) in [(false, 10), (true, 1)] {
        let config = Config { spurious: Spurious::Eifel, ecn: true, ..config() };
        let (mut script, _) = Script::new(&config, 100);
        let (at, _) = script.timeout();
        let flags = TcpFlags::ACK.with(TcpFlags::TIMESTAMPS);
        let flags = if ece { flags.with(TcpFlags::ECE) } else { flags };
        script.input(at + 50, TcpHeader { ack: 1001, window: 1 << 27, flags, ..TcpHeader::default() });
        assert_eq!((script.sender.totals.detected_spurious, script.cwnd()), (1, cwnd));
    }
}

/// What really arrived decides what a timeout was: here every segment is delayed by two seconds.
#[test]
fn a_delay_spike_makes_a_timeout_spurious_in_truth() {
    let mut path = Path::new(&config());
    path.delay = Duration::from_secs(2);
    path.transfer(5_000);
    path.run(60.0);
    assert!(path.sender.totals.timeouts >= 1);
    assert!(path.sender.truth.totals().spurious_timeouts >= 1);
}

/// RFC 3168 §6.1: a mark is echoed until the sender says that it has reduced, once a window.
#[test]
fn a_mark_halves_the_window_once() {
    let mut path = Path::new(&Config { ecn: true, variant: Some(Variant::NewReno), ..config() });
    path.notify(Notice::Open);
    path.notify(Notice::Write(60_000));
    path.data.iter_mut().take(3).for_each(|(_, p)| p.ecn = Ecn::Ce);
    assert!(path.sent.iter().all(|(_, p)| p.ecn == Ecn::Ect0));
    path.run(1.0);
    let cwr = path.sent.iter().filter(|(_, p)| p.tcp().unwrap().flags.has(TcpFlags::CWR)).count();
    assert_eq!((path.sender.totals.cuts, cwr, path.sender.totals.resent_packets), (1, 1, 0));
    let echoes = path.acked.iter().filter(|(_, p)| p.tcp().unwrap().flags.has(TcpFlags::ECE)).count();
    assert!((10..20).contains(&echoes), "from the mark until the window is said to be reduced: {echoes}");
    assert_eq!(path.told_received, 60_000);
}

#[test]
fn retransmissions_and_acknowledgements_are_not_ecn_capable() {
    let mut path = Path::new(&Config { ecn: true, handshake: Some(Handshake::Full), ..config() });
    path.lose = lose(|segment, before| segment == 3 && before == 0);
    path.transfer(50_000);
    path.run(5.0);
    let again: Vec<_> = path.sent.iter().filter(|(_, p)| p.tcp().unwrap().seq == 2001).map(|(_, p)| p.ecn).collect();
    assert_eq!(again, [Ecn::Ect0, Ecn::NotEct]);
    assert_eq!(path.sent[0].1.ecn, Ecn::NotEct, "nor is the SYN");
    assert!(path.sent[0].1.tcp().unwrap().flags.has(TcpFlags::ECE.with(TcpFlags::CWR)));
    assert!(path.acked.iter().all(|(_, p)| p.ecn == Ecn::NotEct));
}

/// RFC 9293 §3.8.6.1.
#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let (mut script, _) = Script::new(&config(), 12);
    let header = |ack: u64, window| TcpHeader { ack, window, flags: TcpFlags::ACK, ..TcpHeader::default() };
    script.input(100, header(10_001, 0));
    assert_eq!(script.packets().len(), 0);
    let mut last = 100;
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
        script.now = script.sender.next_timeout().unwrap();
        script.sender.on_timeout(script.now);
        let at = script.now.as_nanos() / 1_000_000;
        let probes = script.packets();
        let header = probes[0].tcp().unwrap();
        assert_eq!((at - last, header.seq, header.payload), (seconds * 1000, 10_000, 1));
        last = at;
    }
    // Half a segment's room is used when the timer expires again.
    script.input(last + 10, header(10_001, 500));
    assert_eq!(script.packets().len(), 0);
    script.timeout();
    assert_eq!(script.sender.c.board.flight(), 500);
    script.input(last + 100_000, header(10_501, 20_000));
    let lengths: Vec<_> = script.packets().iter().map(|p| p.tcp().unwrap().payload).collect();
    assert_eq!(lengths, [1000, 500]);
}

/// RFC 5681 §4.1.
#[test]
fn after_an_idle_time_the_window_begins_anew() {
    for (restart, burst) in [(IdleRestart::Rfc5681, 10), (IdleRestart::Ns2, 1), (IdleRestart::Off, 40)] {
        // RFC 5681's slow start: one segment for the acknowledgement of the rest, not up to eight.
        let cubic = Congestion::Cubic(cubic::Config { hystart: false, ..cubic::Config::default() });
        let config = Config { idle_restart: Some(restart), congestion: Some(cubic), ..config() };
        let (mut script, _) = Script::new(&config, 1000);
        let mut next = 10;
        for ack in 1..=30 {
            next += script.ack(100 + ack, ack, &[]).len() as u64;
        }
        assert_eq!((next, script.cwnd()), (70, 40));
        script.sender.c.end = script.sender.c.nxt;
        script.ack(200, next, &[]);
        script.now = Instant::ZERO + Duration::from_secs(10);
        script.sender.on_notice(script.now, Notice::Write(100_000));
        let sent = script.segments().len();
        // The acknowledgement of the rest lets the window grow by one more.
        assert!(sent == burst || sent == burst + 1, "{restart:?}: {sent}");
    }
}

/// A window that is not in use does not grow.
#[test]
fn an_application_that_sends_little_does_not_earn_a_window() {
    let (mut script, _) = Script::new(&config(), 2);
    for n in 1..100u64 {
        script.ack(100 * n, n + 1, &[]);
        script.sender.on_notice(script.now, Notice::Write(1000));
        script.segments();
    }
    assert_eq!(script.cwnd(), 10);
}

#[test]
fn a_burst_has_a_limit() {
    let (mut script, sent) = Script::new(&Config { max_burst: 3, ..config() }, 100);
    assert_eq!(sent, from_to(0, 3));
    assert_eq!(script.ack(100, 1, &[]), from_to(3, 6));
}

/// A controller that only paces, at this rate in bit/s.
#[derive(Clone)]
struct Paced(u64);

impl CongestionControl for Paced {
    fn on_ack(&mut self, _: &AckSample) {}
    fn on_congestion(&mut self, _: &CongestionEvent) {}
    fn on_timeout(&mut self, _: Instant, _: u64, _: bool) {}
    fn window(&self) -> u64 {
        1 << 40
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate::from_bps(self.0))
    }
    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
    fn on_undo(&mut self, _: &Undo) {}
}

/// 1040 bytes at 104 kB/s: one segment every 10 ms.
#[test]
fn segments_leave_at_the_pacing_rate() {
    let (mut script, _) = Script::new(&config(), 0);
    script.sender.c.congestion = Box::new(Paced(8 * 104_000));
    script.sender.c.refresh();
    script.sender.on_notice(script.now, Notice::Write(5_000));
    assert_eq!(script.segments(), [0]);
    for n in 1..5 {
        assert_eq!(script.timeout(), (10 * n, vec![n]));
    }
    // A last look at 50 ms finds nothing waiting; then only the retransmission timer runs.
    assert_eq!(script.timeout(), (50, vec![]));
    assert_eq!(script.sender.next_timeout(), Some(Instant::ZERO + Duration::from_secs(1)));
}

/// What the pacer counts is what the link carries, options too; and parts of a nanosecond add up. 1052 bytes at 3 Gbit/s take
/// 2,805 and a third nanoseconds.
#[test]
fn the_pace_is_that_of_whole_packets_to_parts_of_a_nanosecond() {
    let (mut script, _) = Script::new(&Config { timestamps: Some(true), ..config() }, 0);
    script.sender.c.congestion = Box::new(Paced(3_000_000_000));
    script.sender.c.refresh();
    script.sender.on_notice(script.now, Notice::Write(400_000));
    let mut sizes: Vec<u32> = script.packets().iter().map(|packet| packet.size).collect();
    for _ in 0..300 {
        script.now = script.sender.next_timeout().expect("the pacer has a time");
        script.sender.on_timeout(script.now);
        sizes.extend(script.packets().iter().map(|packet| packet.size));
    }
    assert_eq!(sizes, [1052; 301]);
    let nanos = script.now.as_nanos();
    assert!(nanos.abs_diff(841_600) <= 1, "{nanos} ns for 300 packets");
}

#[test]
fn a_reset_forgets_everything() {
    let mut path = Path::new(&config());
    path.notify(Notice::Open);
    path.notify(Notice::Write(100_000));
    path.run(0.12);
    path.notify(Notice::Reset);
    assert_eq!(path.sender.next_timeout(), None);
    path.transfer(4_000);
    path.run(5.0);
    let last = &path.sent.last().unwrap().1;
    assert_eq!(last.connection, 1);
    assert_eq!((path.told_received, path.told_acked), (4_000, 4_000));
    assert_eq!(path.sender.c.window, 10_000, "nothing is left of the first connection");
}

// The receiver by itself.

/// Segments of 500 bytes, numbered from 0.
struct Receiving {
    receiver: Receiver,
    now: Instant,
    count: u64,
}

impl Receiving {
    fn new(config: &Config) -> Self {
        Self { receiver: Receiver::new(config, seat(1, Hears::default())), now: Instant::ZERO, count: 0 }
    }

    /// Brings segment `n`; gives the acknowledgement that it causes at once.
    fn packet(&mut self, ms: u64, n: u64) -> Option<Packet> {
        self.now = Instant::ZERO + Duration::from_millis(ms);
        self.count += 1;
        let header = TcpHeader { seq: 1 + 500 * n, ack: 1, payload: 500, flags: TcpFlags::ACK, ..TcpHeader::default() };
        let packet = Packet {
            from: Socket { node: NodeId(0), port: 1 },
            to: Address::Node(NodeId(1)),
            to_port: 1,
            dscp: 0,
            ecn: Ecn::NotEct,
            size: 540,
            flow: FlowId(0),
            connection: 0,
            number: self.count,
            header: Header::Tcp(header),
        };
        self.receiver.on_packet(self.now, &packet, Port::LOCAL);
        self.answer()
    }

    /// Brings segment `n`; gives the immediate acknowledgement, and the SACK blocks, in segments.
    fn segment(&mut self, ms: u64, n: u64) -> Option<(u64, Vec<(u64, u64)>)> {
        self.packet(ms, n).map(|p| {
            let header = p.tcp().unwrap();
            let units = |n: u64| (n - 1) / 500;
            (units(header.ack), header.sack().iter(header.ack).map(|(a, b)| (units(a), units(b))).collect())
        })
    }

    fn answer(&mut self) -> Option<Packet> {
        let mut packet = Packet::vacant();
        let mut answers = Vec::new();
        while let Some(action) = self.receiver.poll(self.now, &mut packet) {
            if action == Action::Send {
                answers.push(packet);
            }
        }
        assert!(answers.len() <= 1, "one acknowledgement at a time");
        answers.pop()
    }
}

/// RFC 2018 §7, case 3: the 2nd, 4th, 6th and 8th of eight segments are lost; then the fourth and
/// the second arrive.
#[test]
fn sack_blocks_are_reported_most_recent_first() {
    let mut receiving = Receiving::new(&config());
    for (n, ack, blocks) in [
        (0, 1, &[][..]),
        (2, 1, &[(2, 3)]),
        (4, 1, &[(4, 5), (2, 3)]),
        (6, 1, &[(6, 7), (4, 5), (2, 3)]),
        (3, 1, &[(2, 5), (6, 7)]),
        (1, 5, &[(6, 7)]),
    ] {
        assert_eq!(receiving.segment(n, n), Some((ack, blocks.to_vec())), "segment {n}");
    }
}

/// RFC 2883 §4.1 and §4.2: the first block is the duplicate, the second the block above.
#[test]
fn a_duplicate_is_reported_first() {
    let mut receiving = Receiving::new(&config());
    receiving.segment(0, 0);
    receiving.segment(1, 2);
    receiving.segment(2, 3);
    assert_eq!(receiving.segment(3, 0), Some((1, vec![(0, 1), (2, 4)])));
    assert_eq!(receiving.segment(4, 3), Some((1, vec![(3, 4), (2, 4)])));
    assert_eq!(receiving.segment(5, 1), Some((4, vec![])));
    assert!(receiving.packet(6, 1).unwrap().tcp().unwrap().flags.has(TcpFlags::DUPLICATE));
}

#[test]
fn option_bytes_of_acknowledgements_are_counted() {
    for (timestamps, sizes) in [(false, [40, 52, 60, 68]), (true, [52, 64, 72, 80])] {
        let mut receiving = Receiving::new(&Config { timestamps: Some(timestamps), ..config() });
        for (n, size) in [0, 2, 4, 6].into_iter().zip(sizes) {
            assert_eq!(receiving.packet(0, n).unwrap().size, size, "segment {n}");
        }
    }
}

/// RFC 5681 §4.2: every second segment, or after 200 ms; at once when something is out of order.
#[test]
fn acknowledgements_are_delayed_only_in_order() {
    let ack = AckPolicy { every: Some(2), delay: None };
    let mut receiving = Receiving::new(&Config { ack, ..config() });
    assert_eq!(receiving.segment(0, 0), None);
    assert_eq!(receiving.segment(10, 1), Some((2, vec![])));
    assert_eq!(receiving.segment(20, 2), None);
    assert_eq!(receiving.receiver.next_timeout(), Some(Instant::ZERO + Duration::from_millis(220)));
    receiving.now = Instant::ZERO + Duration::from_millis(220);
    receiving.receiver.on_timeout(receiving.now);
    assert_eq!(receiving.answer().unwrap().tcp().unwrap().ack, 1501);
    assert_eq!(receiving.receiver.next_timeout(), None);
    assert_eq!(receiving.segment(300, 4), Some((3, vec![(4, 5)])), "a gap");
    assert_eq!(receiving.segment(310, 3), Some((5, vec![])), "which is filled");
    assert_eq!(receiving.segment(320, 3), Some((5, vec![(3, 4)])), "a duplicate");
}
