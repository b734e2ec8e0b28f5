//! RACK-TLP, Proportional Rate Reduction and undo, packets in and out with times: the examples of RFC 8985 and RFC 9937.

use super::scripts::Script;
use super::*;
use crate::transport::congestion::{Congestion, reno};
use crate::transport::tcp::recovery::{Recovery, rack, sack};
use lasthop_net::engine::Bytes;
use lasthop_net::net::{SackBlocks, TcpOptions};

const NOTHING: [u64; 0] = [];

/// RACK with Reno's window, segments of 1000 bytes, the connection open.
fn config() -> Config {
    Config {
        recovery: Some(Recovery::Rack(rack::Config::default())),
        congestion: Some(Congestion::Reno(reno::Config::default())),
        segment: Some(Bytes::new(1000)),
        handshake: Some(Handshake::None),
        ..Config::default()
    }
}

fn without_prr() -> Config {
    Config { recovery: Some(Recovery::Rack(rack::Config { prr: false, ..rack::Config::default() })), ..config() }
}

/// A connection whose round-trip time is known to be 100 ms: segment 0 was acknowledged, and all is quiet at 100 ms.
fn measured(config: &Config) -> Script {
    let (mut script, sent) = Script::new(config, 1);
    assert_eq!(sent, [0]);
    assert_eq!(script.ack(100, 1, &[]), NOTHING);
    script
}

impl Script {
    /// At `ms` the application writes `n` segments; those that leave.
    fn write(&mut self, ms: u64, n: u64) -> Vec<u64> {
        self.now = Instant::ZERO + Duration::from_millis(ms);
        self.sender.on_notice(self.now, Notice::Write(n * 1000));
        self.segments()
    }
}

/// RFC 8985 §3.4, Figure 1.
#[test]
fn a_probe_repairs_the_tail_and_a_lost_retransmission_is_found() {
    let (mut script, sent) = Script::new(&without_prr(), 4);
    assert_eq!(sent, [0, 1, 2, 3]);
    assert_eq!(script.ack(100, 1, &[]), NOTHING);
    assert_eq!(script.timeout(), (300, vec![3]), "event 3: two round trips after the last acknowledgement");
    assert_eq!(script.ack(400, 1, &[(3, 4)]), [1, 2], "event 5");
    assert_eq!(script.sender.totals.cuts, 1);
    assert_eq!(script.ack(500, 1, &[(2, 4)]), [1], "event 7");
    // "results in two separate congestion control reactions"
    assert_eq!(script.sender.totals.cuts, 2);
    assert_eq!(script.ack(600, 4, &[]), NOTHING, "event 8");
    assert!(!script.sender.c.status.recovering);
    assert_eq!((script.sender.next_timeout(), script.sender.totals.timeouts), (None, 0));
}

/// RFC 8985 §9.1, example 1: P1 and P3 of three are lost, sent 30 ms apart; RACK.reo_wnd is 25 ms.
#[test]
fn drops_at_the_end_of_a_flight_are_repaired_without_a_timeout() {
    let mut script = measured(&config());
    for (ms, n) in [(200, 1), (230, 2), (260, 3)] {
        assert_eq!(script.write(ms, 1), [n]);
    }
    assert_eq!(script.ack(330, 1, &[(2, 3)]), [1], "200 + 100 + 25 ms have passed");
    assert_eq!(script.ack(430, 3, &[]), [3]);
    assert_eq!(script.ack(530, 4, &[]), NOTHING);
    assert_eq!((script.sender.totals.timeouts, script.sender.totals.cuts), (0, 1));
}

/// RFC 8985 §9.1, example 2: P1 and P2 are lost, and P1's retransmission too.
#[test]
fn a_lost_retransmission_is_found_by_the_next_one() {
    let mut script = measured(&without_prr());
    for ms in [200, 230, 260] {
        script.write(ms, 1);
    }
    assert_eq!(script.ack(360, 1, &[(3, 4)]), [1, 2]);
    assert_eq!(script.ack(460, 1, &[(2, 4)]), [1]);
    assert_eq!(script.ack(560, 4, &[]), NOTHING);
    assert_eq!((script.sender.totals.timeouts, script.sender.totals.cuts), (0, 2));
}

/// RFC 8985 §9.1, example 3: reordering has been seen, and P3 of three overtakes the others by less than min_RTT/4, or by more.
#[test]
fn segments_late_by_less_than_the_reordering_window_are_not_lost() {
    for late in [24, 26] {
        let mut script = measured(&config());
        script.write(200, 2);
        assert_eq!(script.ack(300, 1, &[(2, 3)]), NOTHING);
        assert_eq!(script.ack(305, 3, &[]), NOTHING, "segment 1 came behind segment 2");
        assert_eq!(script.write(400, 3), [3, 4, 5]);
        assert_eq!(script.ack(500, 3, &[(5, 6)]), NOTHING);
        if late == 26 {
            // The reordering timer: both are lost at 400 + 100 + 25 ms; Proportional Rate Reduction lets one out.
            assert_eq!(script.timeout(), (525, vec![3]));
            assert_eq!(script.sender.totals.cuts, 1);
        } else {
            assert_eq!(script.ack(524, 6, &[]), NOTHING);
            assert_eq!(script.sender.totals.cuts, 0);
        }
    }
}

/// RFC 8985 §6.2, step 4: without reordering three SACKed segments suffice, and the window is 0.
#[test]
fn three_sacked_segments_mean_a_loss_until_reordering_is_seen() {
    for (seen, lost_at) in [(false, 502), (true, 525)] {
        let mut script = measured(&config());
        script.write(200, 2);
        if seen {
            script.ack(300, 1, &[(2, 3)]);
        }
        script.ack(305, 3, &[]);
        script.write(400, 6);
        // They were sent at once, so the round trip behind the first is over when any other is SACKed.
        assert_eq!(script.ack(500, 3, &[(4, 5)]), NOTHING);
        assert_eq!(script.ack(501, 3, &[(4, 6)]), NOTHING);
        let sent = script.ack(502, 3, &[(4, 7)]);
        let (at, sent) = if sent.is_empty() { script.timeout() } else { (502, sent) };
        // RACK.rtt is that of the newest: 102 ms.
        let expected = if seen { lost_at + 2 } else { lost_at };
        assert_eq!((at, sent), (expected, vec![3]), "reordering seen: {seen}");
    }
}

/// RFC 8985 §3.5: the timer of one segment expires just after two others have been sent. Only the first is lost.
#[test]
fn a_timeout_does_not_condemn_segments_just_sent() {
    let tlp = Recovery::Rack(rack::Config { tlp: false, ..rack::Config::default() });
    for (recovery, again) in [(tlp, vec![]), (Recovery::Sack(sack::Config::default()), vec![2, 3])] {
        let mut script = measured(&Config { recovery: Some(recovery), ..config() });
        script.write(200, 1);
        assert_eq!(script.write(1190, 2), [2, 3]);
        assert_eq!(script.timeout(), (1200, vec![1]));
        assert_eq!(script.ack(1210, 2, &[]), again, "the original of segment 1 arrives");
    }
}

/// RFC 8985 §7.2: 2·SRTT; and the budget for a delayed acknowledgement with one segment in flight; at most the retransmission timer.
#[test]
fn the_probe_timeout_follows_its_rules() {
    let at = |config: &Config, segments: u64| {
        let mut script = measured(config);
        script.write(200, segments);
        script.timeout()
    };
    assert_eq!(at(&config(), 2), (400, vec![2]), "the highest segment again");
    assert_eq!(at(&config(), 1), (400, vec![1]));
    let delayed = Config { ack: AckPolicy { every: Some(2), delay: None }, ..config() };
    assert_eq!(at(&delayed, 1), (600, vec![1]));
    assert_eq!(at(&delayed, 2), (400, vec![2]));
    let short = Config { rto: Rto { min: Some(Duration::from_millis(150)), ..Rto::default() }, ..config() };
    // SRTT 100, RTTVAR 50: the timer has 300 ms.
    assert_eq!(at(&Config { rto: short.rto, ..delayed }, 1), (500, vec![1]), "TCP_RTO_expiration()");
    assert_eq!(at(&Config { recovery: Some(Recovery::Sack(sack::Config::default())), ..config() }, 2), (1200, vec![1]));
}

/// RFC 8985 §7.3: new data are the probe if there are any, also beyond the window. After a probe the retransmission timer runs, and
/// there is no second one before a sample of the round-trip time.
#[test]
fn a_probe_is_new_data_if_there_are_any_and_not_followed_by_another() {
    let mut script = measured(&config());
    assert_eq!(script.write(200, 50), from(1, 11), "the window is full");
    assert_eq!(script.timeout(), (400, vec![11]));
    assert_eq!(script.timeout(), (1400, vec![1]), "an RTO after the probe");
    assert_eq!(script.sender.totals.timeouts, 1);
}

/// An application writes on, and nothing comes back: what it writes does not put the retransmission timer off (RFC 6298 §5.1).
#[test]
fn new_data_behind_a_probe_do_not_put_the_timer_off() {
    let mut script = measured(&config());
    script.write(200, 1);
    assert_eq!(script.timeout(), (400, vec![1]));
    for n in 2..=9 {
        assert_eq!(script.write(300 + 100 * n, 1), [n]);
    }
    assert_eq!(script.timeout(), (1400, vec![1]));
    assert_eq!(script.sender.totals.timeouts, 1);
}

fn from(first: u64, end: u64) -> Vec<u64> {
    (first..end).collect()
}

/// RFC 8985 §7.4.2: a probe that was sent again and is acknowledged repaired a loss, unless a duplicate is reported. The congestion
/// control gets it once, when data behind it are acknowledged.
#[test]
fn a_loss_that_the_probe_repaired_is_answered_once() {
    for (case, cuts) in [("repaired", 1), ("duplicate reported", 0), ("duplicate without SACK", 0)] {
        let dsack = case == "duplicate reported";
        let mut script = measured(&Config { dsack: Some(dsack), ..config() });
        script.write(200, 2);
        assert_eq!(script.timeout(), (400, vec![2]));
        script.ack(410, 3, &[]);
        match case {
            "duplicate reported" => script.ack(500, 3, &[(2, 3)]),
            "duplicate without SACK" => {
                script.write(490, 1);
                script.ack(500, 3, &[])
            }
            _ => vec![],
        };
        assert_eq!(script.sender.totals.cuts, 0, "{case}");
        let next = script.write(600, 2)[0];
        script.ack(700, next + 1, &[]);
        script.ack(710, next + 2, &[]);
        assert_eq!((script.sender.totals.cuts, script.sender.totals.fast_retransmits), (cuts, 0), "{case}");
    }
}

/// RFC 8985 §9.3: all of ten segments are lost, in a window of twenty. The probe is answered after 2·RTT + RTT, and the other nine are
/// sent again by slow start.
#[test]
fn a_lost_flight_takes_slow_start_and_no_timeout() {
    let mut path = Path::new(&Config { initial_window: Some(20), ..config() });
    path.serialisation = Duration::from_micros(1);
    path.notify(Notice::Open);
    path.notify(Notice::Write(1_000));
    path.run(1.0);
    path.lose = lose(|segment, before| (2..=11).contains(&segment) && before == 0);
    path.notify(Notice::Write(10_000));
    path.run(10.0);
    assert_eq!((path.told_acked, path.sender.totals.timeouts), (11_000, 0));
    let done = path.acked.last().unwrap().0.as_secs_f64() + 0.05 - 1.0;
    // "2*RTT + 4*RTT": 1 + 2 + 4 + 3 segments. The probe is the last segment, so nine are left: 1 + 1 + 2 + 4 + 2 with
    // PRR-CRB on the probe's own acknowledgement, which does not move SND.UNA.
    assert!((0.6..=0.75).contains(&done), "{done} s");
}

/// A path of 101 ms. A transfer's last segments are lost; its probe repairs them within two round trips, and a round trip for each
/// loss. With SACK alone the timer has to.
#[test]
fn tail_loss_is_repaired_within_two_round_trips() {
    let time = |recovery: Recovery, lost: &'static [u64]| {
        let mut path = Path::new(&Config { recovery: Some(recovery), ..config() });
        path.lose = lose(move |segment, before| before == 0 && lost.contains(&segment));
        path.transfer(10_000);
        path.run(20.0);
        assert_eq!(path.told_received, 10_000);
        let last = path.segments().iter().filter(|s| lost.contains(&s.1)).map(|s| s.0).fold(0.0, f64::max);
        (last, path.sender.totals.timeouts)
    };
    let rack = || Recovery::Rack(rack::Config::default());
    // Ten segments leave at once; the ninth is acknowledged at 109 ms. SRTT is about 103 ms.
    let (at, timeouts) = time(rack(), &[10]);
    assert!((at - (0.109 + 2.0 * 0.103)).abs() < 5e-3 && timeouts == 0, "{at}");
    let (at, timeouts) = time(rack(), &[9, 10]);
    assert!(at < 0.109 + 3.0 * 0.105 + 0.01 && timeouts == 0, "{at}");
    let (at, timeouts) = time(Recovery::Sack(sack::Config::default()), &[10]);
    assert!(at > 1.0 && timeouts == 1, "{at}");
}

/// Against `losses::a_lost_retransmission_waits_for_the_timer`: the next segment sent after it shows the loss.
#[test]
fn a_lost_retransmission_does_not_wait_for_the_timer() {
    for prr in [true, false] {
        let recovery = Recovery::Rack(rack::Config { prr, ..rack::Config::default() });
        let mut path = Path::new(&Config { recovery: Some(recovery), initial_ssthresh: Some(20), ..config() });
        path.lose = lose(|segment, before| segment == 60 && before < 3);
        path.transfer(200_000);
        path.run(100.0);
        let times: Vec<_> = path.segments().iter().filter(|s| s.1 == 60).map(|s| s.0).collect();
        assert_eq!((times.len(), path.sender.totals.timeouts), (4, 0), "{times:?}");
        // With Proportional Rate Reduction another segment follows at once; else up to half a window of acknowledgements later.
        let most = if prr { 0.11 } else { 0.2 };
        for pair in times.windows(2) {
            assert!((0.1..most).contains(&(pair[1] - pair[0])), "{times:?}");
        }
        assert_eq!(path.told_received, 200_000);
        // RFC 8985 §9.3: two indications, and more without Proportional Rate Reduction.
        assert_eq!(path.sender.totals.cuts, if prr { 1 } else { 3 });
    }
}

/// RFC 9937 §8, Figure 1, through the sender: one of twenty is lost. At ACK#19 the flight is ssthresh, so by §6.2 nothing leaves, and
/// the segment that the figure has there leaves at ACK#20.
#[test]
fn the_window_comes_down_over_a_round_trip() {
    for recovery in [Recovery::Sack(sack::Config { prr: true }), Recovery::Rack(rack::Config::default())] {
        let name = recovery.name().to_owned();
        let config =
            Config { recovery: Some(recovery), initial_window: Some(20), initial_ssthresh: Some(20), ..config() };
        let (mut script, sent) = Script::new(&config, 100);
        assert_eq!(sent, from(0, 20));
        let mut next = 20;
        for n in 1..=21 {
            // Two limited transmits, the retransmission, then a new segment for every second acknowledgement.
            let expected = match n {
                1 | 2 => vec![next],
                3 => vec![0],
                19 => vec![],
                20 => vec![next],
                n if n % 2 == 1 => vec![next],
                _ => vec![],
            };
            next += u64::from(!expected.is_empty() && n != 3);
            // ACK#20 and #21 carry those of the limited transmits.
            assert_eq!(script.ack(100 + n, 0, &[(1, n + 1)]), expected, "{name}, ACK#{n}");
        }
        assert_eq!(script.ack(203, 22, &[]), [next], "{name}, ACK#22");
        assert_eq!((script.sender.c.status.recovering, script.sender.c.window), (false, 10_000));
    }
}

/// RFC 9937 §8, Figure 2: the first fifteen of twenty are lost.
#[test]
fn heavy_loss_conserves_packets_at_first() {
    let config = Config {
        recovery: Some(Recovery::Sack(sack::Config { prr: true })),
        initial_window: Some(20),
        initial_ssthresh: Some(20),
        ..config()
    };
    let (mut script, _) = Script::new(&config, 100);
    for (n, expected) in [(15, 20), (16, 21), (17, 0), (18, 1), (19, 2)] {
        assert_eq!(script.ack(100 + n, 0, &[(15, n + 1)]), [expected], "ACK#{n}");
    }
    script.ack(220, 0, &[(15, 21)]);
    script.ack(221, 0, &[(15, 22)]);
    // PRR-SSRB: one more for each that moves SND.UNA.
    assert_eq!(script.ack(230, 1, &[(15, 22)]).len(), 2);
}

impl Script {
    /// Like [`Script::ack`], with a time stamp's echo.
    fn ack_stamped(&mut self, ms: u64, ack: u64, blocks: &[(u64, u64)], echo_ms: u64) -> Vec<u64> {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|&(from, to)| sack.push(1 + from * 1000, 1 + to * 1000));
        self.input(
            ms,
            TcpHeader {
                ack: 1 + ack * 1000,
                window: 1 << 27,
                flags: TcpFlags::ACK.with(TcpFlags::TIMESTAMPS),
                options: TcpOptions::Sack(sack),
                ts_echo: Instant::ZERO + Duration::from_millis(echo_ms),
                ..TcpHeader::default()
            },
        );
        self.segments()
    }
}

/// CUBIC's default config with RACK, after a fast retransmit of segment 0 of ten at 103 ms.
fn reordered(config: &Config) -> Script {
    let config = Config { congestion: None, variant: Some(Variant::Cubic), ..config.clone() };
    let (mut script, _) = Script::new(&config, 100);
    for n in 1..=2 {
        script.ack(100 + n, 0, &[(1, n + 1)]);
    }
    assert_eq!(script.ack(103, 0, &[(1, 4)])[0], 0);
    assert_eq!((script.sender.c.window, script.sender.c.congestion.ssthresh()), (7_000, Some(7_000)));
    script
}

/// RFC 9438 §4.9.2 and RFC 3708 §3 (B.1): the original of segment 0 arrives, then its copy is reported as a duplicate.
#[test]
fn a_reported_duplicate_undoes_a_reduction() {
    let mut script = reordered(&config());
    script.ack(105, 4, &[]);
    assert!(script.sender.c.status.recovering);
    script.ack(106, 10, &[]);
    script.ack(204, 10, &[(0, 1)]);
    assert_eq!(script.sender.totals.undone, 1);
    // As before: slow start without a threshold.
    assert_eq!((script.sender.c.window, script.sender.c.congestion.ssthresh()), (10_000, None));
    assert!(!script.sender.c.status.recovering);
    script.ack(210, 12, &[]);
    assert!(script.sender.c.window > 10_000, "and it goes on");
}

/// RFC 3522: at the first acknowledgement that covers it, by the original's time stamp.
#[test]
fn the_echo_of_the_original_undoes_a_reduction() {
    for recovery in [Recovery::Rack(rack::Config::default()), Recovery::Sack(sack::Config::default())] {
        for (echo, undone) in [(0, 1), (103, 0)] {
            let config =
                Config { recovery: Some(recovery.clone()), undo: Some(true), timestamps: Some(true), ..config() };
            let mut script = reordered(&config);
            script.ack_stamped(105, 4, &[], echo);
            assert_eq!(script.sender.totals.undone, undone, "echo of {echo} ms");
            assert_eq!(script.sender.c.status.recovering, undone == 0);
            assert_eq!(script.sender.c.window, if undone == 1 { 10_000 } else { 7_000 });
        }
    }
}

/// RFC 3708 §3: nothing is undone if a segment that was sent again is not reported, if the report is of one that was not
/// sent again, or if the option is off; nor is a reduction by a mark.
#[test]
fn what_may_have_been_lost_is_not_undone() {
    // Segments 0 and 1 are sent again, only one of them needlessly.
    let config = Config { recovery: Some(Recovery::Sack(sack::Config::default())), undo: Some(true), ..config() };
    let (mut script, _) = Script::new(&config, 100);
    for n in 2..=4 {
        script.ack(100 + n, 0, &[(2, n + 1)]);
    }
    script.ack(105, 0, &[(2, 9)]);
    assert_eq!(script.sender.totals.resent_packets, 2);
    script.ack(206, 10, &[(0, 1)]);
    assert_eq!(script.sender.totals.undone, 0);
    // A duplicate of the network's own: no report counts any more.
    let mut script = reordered(&config);
    script.ack(105, 0, &[(5, 6), (1, 10)]);
    script.ack(106, 10, &[]);
    script.ack(204, 10, &[(0, 1)]);
    assert_eq!(script.sender.totals.undone, 0);
    let mut script = reordered(&Config { undo: None, ..config });
    script.ack(105, 10, &[]);
    script.ack(204, 10, &[(0, 1)]);
    assert_eq!(script.sender.totals.undone, 0);
}

/// RFC 4015 §3 step (9), detected late (LATE_SPUR_TO): the segment that the timer sent again was a duplicate.
#[test]
fn a_reported_duplicate_undoes_a_timeout() {
    let tlp = || Recovery::Rack(rack::Config { tlp: false, ..rack::Config::default() });
    let mut script = measured(&Config { recovery: Some(tlp()), ..config() });
    script.write(200, 1);
    assert_eq!(script.timeout(), (1200, vec![1]));
    assert_eq!(script.sender.c.window, 1000);
    assert_eq!(script.ack(1210, 2, &[]), NOTHING);
    assert_eq!(script.write(1250, 5), [2, 3]);
    script.ack(1310, 2, &[(1, 2)]);
    assert_eq!(script.sender.totals.undone, 1);
    assert_eq!(script.sender.c.congestion.ssthresh(), None, "there was no threshold before");
    assert_eq!(script.sender.c.window, 2000, "FlightSize");
    // RFC 3708 §3 (A.1): all acknowledgements of the window were lost.
    let (mut script, _) = Script::new(&Config { recovery: Some(tlp()), ..config() }, 10);
    script.timeout();
    script.ack(1100, 10, &[(0, 1)]);
    assert_eq!(script.sender.totals.undone, 0);
}

/// RFC 4015 §3 step (8): a timeout was spurious, so what was sent before it is not sent again. The original's acknowledgement comes later
/// than a round trip behind the copy, and so looks like the copy's.
#[test]
fn after_a_spurious_timeout_nothing_is_sent_again() {
    let rack = Recovery::Rack(rack::Config { tlp: false, ..rack::Config::default() });
    for recovery in [rack, Recovery::Sack(sack::Config::default())] {
        let name = recovery.name().to_owned();
        let mut script = measured(&Config { recovery: Some(recovery), spurious: Spurious::FRto, ..config() });
        let sent = script.write(200, 50);
        let next = 1 + sent.len() as u64;
        assert_eq!(script.timeout(), (1200, vec![1]), "{name}");
        assert_eq!(script.ack(1350, 2, &[]), from(next, next + 2), "{name}");
        for n in 3..next {
            let sent = script.ack(1350 + n, n, &[]);
            assert!(sent.iter().all(|&segment| segment >= next), "{name}: {sent:?}");
            assert!(script.sender.next_timeout() > Some(script.now), "{name}: no timer finds losses at once");
        }
        let totals = &script.sender.totals;
        assert_eq!((totals.detected_spurious, totals.resent_packets, totals.cuts), (1, 1, 1), "{name}");
        // A segment that is lost is found as before: three are SACKed behind it.
        assert_eq!(script.ack(1460, next, &[(next + 1, next + 4)])[0], next, "{name}");
    }
}

/// A path that reorders by up to 10 ms of a round trip of 40: RACK waits, SACK resends.
#[test]
fn reordering_within_the_window_costs_no_retransmissions() {
    let resent = |recovery: Recovery| {
        let config = Config { recovery: Some(recovery), ..config() };
        super::chaos::reordered(&config, 5.0, 2_000_000).totals.resent_packets
    };
    let (rack, sack) =
        (resent(Recovery::Rack(rack::Config::default())), resent(Recovery::Sack(sack::Config::default())));
    // Before the first reordering is seen three SACKed segments mean a loss: a window of ten at most.
    assert!(rack <= 10, "{rack}");
    assert!(sack >= 20, "{sack}: the path reorders");
}
