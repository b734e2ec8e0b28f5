//! What marks do beside losses that were none, by how much they lower the window, and when the receiver tells of them.

use super::scripts::Script;
use super::*;
use lasthop_net::engine::units::Bytes;

fn config(spurious: Spurious, recovery: &str) -> Config {
    let text =
        format!("congestion = 'reno'\nrecovery = '{recovery}'\nsegment = '1000 B'\nhandshake = 'none'\necn = true");
    Config { spurious, ..lasthop_net::engine::choice::parsed(&text).unwrap() }
}

/// An acknowledgement of all segments before `ack` that echoes the time stamp of the start.
fn old_echo(ack: u64, more: TcpFlags) -> TcpHeader {
    let flags = TcpFlags::ACK.with(TcpFlags::TIMESTAMPS).with(more);
    TcpHeader { ack: 1 + 1000 * ack, window: 1 << 27, flags, ..TcpHeader::default() }
}

/// RFC 3168 §6.1.2: congestion is answered once in a window of data. A reduction that was undone has answered none, and no CWR tells of it.
#[test]
fn a_mark_behind_an_undone_timeout_is_answered() {
    for (config, by_detector) in [
        (config(Spurious::Eifel, "sack"), true),
        (Config { timestamps: Some(true), ..config(Spurious::None, "rack") }, false),
    ] {
        let (mut script, _) = Script::new(&config, 100);
        script.ack(100, 2, &[]);
        let before = script.sender.c.window;
        let mut at = 0;
        while script.sender.totals.timeouts == 0 {
            (at, _) = script.timeout();
        }
        script.input(at + 50, old_echo(3, TcpFlags::default()));
        let totals = &script.sender.totals;
        assert_eq!((totals.detected_spurious, totals.undone), (u64::from(by_detector), u64::from(!by_detector)));
        assert!(script.sender.c.window >= before && !script.sender.c.answered.tell, "{:?}", script.sender.c.answered);
        script.segments();
        script.input(at + 60, old_echo(4, TcpFlags::ECE));
        assert_eq!(script.sender.totals.cuts, 2, "the timeout, and the mark");
        assert!(script.sender.c.window <= before * 6 / 10, "{} of {before}", script.sender.c.window);
        assert!(script.sender.c.answered.tell);
    }
}

/// RFC 4015 §3: a timeout is undone by the one that proves first that it was spurious, and by that alone.
#[test]
fn a_timeout_is_undone_once() {
    let config = Config { timestamps: Some(true), ..config(Spurious::FRto, "rack") };
    let (mut script, _) = Script::new(&config, 100);
    script.ack(100, 2, &[]);
    let mut at = 0;
    while script.sender.totals.timeouts == 0 {
        (at, _) = script.timeout();
    }
    for (n, ack) in (3..8).enumerate() {
        script.input(at + 50 + n as u64, old_echo(ack, TcpFlags::default()));
        script.segments();
    }
    assert_eq!((script.sender.totals.undone, script.sender.totals.detected_spurious), (1, 0));
}

/// RFC 3168 §6.1.2, RFC 5681 §3.1 equation (4): half of what was in flight before the acknowledgement came, however much that covers.
#[test]
fn a_mark_halves_what_was_in_flight() {
    for covered in [1, 2, 8] {
        let (mut script, _) = Script::new(&config(Spurious::None, "sack"), 100);
        let before = script.sender.c.window;
        script.input(100, old_echo(covered, TcpFlags::ECE));
        // What it acknowledges lets the window grow by a segment at most.
        let after = script.sender.c.window;
        assert!((before / 2..=before / 2 + 1000).contains(&after), "{covered}: {after} of {before}");
    }
}

/// RFC 9768 §3.2.2.5.1: an acknowledgement at once for a mark after a packet without, and for each second one.
#[test]
fn a_mark_that_begins_is_told_at_once() {
    let ack = AckPolicy { every: Some(8), ..AckPolicy::default() };
    let mut path = Path::new(&Config { accurate_ecn: Some(true), ack, ..config(Spurious::None, "sack") });
    path.notify(Notice::Open);
    path.notify(Notice::Write(10_000));
    let marked = [1, 3, 4, 5];
    let mut arrivals = Vec::new();
    for (n, (at, packet)) in path.data.iter_mut().enumerate() {
        arrivals.push(*at);
        packet.ecn = if marked.contains(&n) { Ecn::Ce } else { Ecn::Ect0 };
    }
    path.run(0.07);
    let told: Vec<usize> = arrivals
        .iter()
        .enumerate()
        .filter(|(_, at)| path.acked.iter().any(|(t, _)| t == *at))
        .map(|(n, _)| n)
        .collect();
    assert_eq!(told, [1, 3, 5]);
}

/// RFC 3168 §6.1.5: what the header of a segment outside the window says of congestion is not heeded.
#[test]
fn a_segment_that_comes_again_does_not_end_the_echo() {
    let mut path = Path::new(&Config { segment: Some(Bytes::new(1000)), ..config(Spurious::None, "sack") });
    path.notify(Notice::Open);
    path.notify(Notice::Write(10_000));
    path.data.iter_mut().skip(3).for_each(|(_, packet)| packet.ecn = Ecn::Ce);
    let mut old = path.sent[0].1;
    path.run(0.07);
    let Header::Tcp(header) = &mut old.header else { panic!("a segment") };
    header.flags = header.flags.with(TcpFlags::CWR);
    path.receiver.on_packet(path.now, &old, Port::LOCAL);
    path.drain();
    let last = path.acked.last().unwrap().1;
    assert!(last.tcp().unwrap().flags.has(TcpFlags::ECE));
}
