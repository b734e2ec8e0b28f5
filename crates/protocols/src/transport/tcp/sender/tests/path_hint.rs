//! The path changes, and the sender knows it: what was in flight says nothing of the new one, and nothing of the old one
//! comes back.

use super::*;
use crate::transport::congestion::{Congestion, reno};
use crate::transport::tcp::recovery::{Recovery, rack};
use lasthop_net::engine::BitRate;
use lasthop_net::net::{Access, LinkNotice};

const NEW: Duration = Duration::from_millis(400);

fn config(variant: Variant, hint: PathHint) -> Config {
    Config {
        variant: Some(variant),
        path_hint: hint,
        rto: Rto { min: Some(Duration::from_millis(200)), ..Rto::default() },
        window: Some(60),
        ..Config::default()
    }
}

/// A transfer that has gone on over a path of 101 ms, and takes one of 801 ms from now on.
fn moved(config: &Config) -> Path {
    let mut path = Path::new(config);
    path.transfer(1 << 30);
    path.run(4.0);
    path.delay = NEW;
    path
}

fn notice() -> Notice {
    let access = Access { rate: BitRate::from_mbps(10), delay: Duration::ZERO, up: true };
    Notice::Link(LinkNotice { port: Port(0), before: access, after: access })
}

fn hint(path: &mut Path) {
    path.notify(notice());
}

fn packets(path: &Path) -> u64 {
    path.sender.c.window / u64::from(path.sender.settings.smss)
}

/// The acknowledgements of what was in flight give delays between those of the two paths. None counts.
#[test]
fn no_estimate_has_a_sample_of_the_old_path() {
    for hinted in [PathHint::Delays, PathHint::Restart] {
        let mut path = moved(&config(Variant::Sack, hinted));
        assert!(path.sender.c.rto.srtt().is_some_and(|srtt| srtt < Duration::from_millis(200)));
        hint(&mut path);
        let mut seen = 0;
        while path.step(Instant::from_secs_f64(12.0)) {
            if let Some(srtt) = path.sender.c.rto.srtt() {
                assert!(srtt >= NEW * 2, "{srtt:?} at {:?}", path.now);
                seen += 1;
            }
        }
        assert!(seen > 0);
    }
}

/// A base delay of 101 ms would take the 801 ms of the new path for a queue, and the window would go down to two segments.
#[test]
fn a_window_that_follows_the_delay_stays_on_a_longer_path() {
    for variant in [Variant::Ledbat, Variant::Vegas] {
        let mut path = moved(&config(variant, PathHint::Delays));
        let before = packets(&path);
        hint(&mut path);
        path.run(24.0);
        assert!(packets(&path) >= before.max(20), "{variant:?}: {} segments, {before} before", packets(&path));
        // And without the hint it does not: the delay is taken for a queue.
        let mut path = moved(&config(variant, PathHint::Off));
        path.run(24.0);
        assert!(packets(&path) < before.min(20), "{variant:?}: {} segments", packets(&path));
    }
}

/// The timer expires before the first acknowledgement comes over the longer path, and then the hint comes. That the timeout was
/// spurious is still found; but of what is put back the delays are void, or all of it.
#[test]
fn an_undo_brings_back_nothing_of_the_old_path() {
    let expire = |config: &Config| {
        let mut path = moved(config);
        while path.sender.totals.timeouts == 0 {
            assert!(path.step(Instant::MAX));
        }
        hint(&mut path);
        path
    };
    let eifel = |variant, hint| Config { spurious: Spurious::Eifel, ..config(variant, hint) };
    let mut path = expire(&eifel(Variant::Ledbat, PathHint::Delays));
    let before = packets(&path);
    path.run(24.0);
    assert_eq!(path.sender.totals.detected_spurious, 1);
    assert!(packets(&path) > before.max(20), "{} segments, {before} before", packets(&path));

    let mut path = expire(&eifel(Variant::Reno, PathHint::Restart));
    while path.sender.totals.detected_spurious == 0 {
        assert!(path.step(Instant::from_secs_f64(6.0)));
    }
    assert!(packets(&path) <= 10, "{} segments, of an initial window of ten", packets(&path));
    assert_eq!(path.sender.c.board.lost(), 0, "nothing is sent again in vain");

    // RACK's undo, by the time stamps.
    let parts = (Some(Recovery::Rack(rack::Config::default())), Some(Congestion::Reno(reno::Config::default())));
    let mut path = expire(&Config {
        variant: None,
        recovery: parts.0,
        congestion: parts.1,
        timestamps: Some(true),
        ..config(Variant::Reno, PathHint::Restart)
    });
    path.run(4.9);
    assert!(path.sender.totals.timeouts > 0 && path.sender.totals.undone == 0);
    assert!(packets(&path) <= 20, "{} segments, of an initial window of ten", packets(&path));
}

/// On a path that has become shorter new acknowledgements overtake old ones, which know nothing of the change.
#[test]
fn what_others_have_overtaken_is_no_change_of_the_path() {
    let mut path = moved(&config(Variant::Reno, PathHint::Delays));
    let old: Vec<Packet> = path.acked.iter().rev().take(20).rev().map(|(_, packet)| *packet).collect();
    let last = *old.last().expect("there are some");
    let Header::Tcp(header) = last.header else { panic!("it is TCP's") };
    let new = Packet { number: last.number + 1, header: Header::Tcp(TcpHeader { path_changes: 1, ..header }), ..last };
    path.now += Duration::from_millis(1);
    path.sender.on_packet(path.now, &new, Port::LOCAL);
    let since = path.now;
    for late in old {
        path.now += Duration::from_millis(1);
        path.sender.on_packet(path.now, &late, Port::LOCAL);
    }
    assert_eq!((path.sender.c.path_since, path.sender.path_changes), (since, 1));
}

/// The receiver's link goes down and comes up again; the acknowledgement that tells of the first is lost.
#[test]
fn two_changes_that_one_acknowledgement_tells_of_are_a_change() {
    for changes in [1, 2, 4] {
        let mut path = moved(&config(Variant::Sack, PathHint::Delays));
        for _ in 0..changes {
            path.receiver.on_notice(path.now, notice());
        }
        path.run(6.0);
        assert!(path.sender.c.path_since > Instant::ZERO, "{changes} changes");
        assert!(path.sender.c.rto.srtt().is_none_or(|srtt| srtt >= NEW * 2), "{changes} changes");
    }
}

/// The path changes between the SYN and its answer, which gives a delay of neither.
#[test]
fn a_handshake_over_two_paths_is_no_sample() {
    let mut path = Path::new(&config(Variant::Reno, PathHint::Delays));
    path.transfer(1 << 30);
    path.run(0.02);
    path.delay = NEW;
    hint(&mut path);
    while path.step(Instant::from_secs_f64(3.0)) {
        assert!(path.sender.c.rto.srtt().is_none_or(|srtt| srtt >= NEW * 2), "at {:?}", path.now);
    }
    assert!(path.sender.c.rto.srtt().is_some());
}

/// CUBIC (RFC 9438 §5.8): a silence after a full window is no time in which the window may have grown.
#[test]
fn a_window_does_not_jump_after_a_silence() {
    let config = Config { idle_restart: Some(IdleRestart::Off), ..config(Variant::Cubic, PathHint::Off) };
    let mut path = Path::new(&config);
    let smss = u64::from(path.sender.settings.smss);
    path.lose = lose(|segment, times| segment == 30 && times == 0);
    path.notify(Notice::Open);
    path.notify(Notice::Write(80 * smss));
    path.run(4.0);
    let before = packets(&path);
    path.run(34.0);
    path.notify(Notice::Write(before * smss));
    path.run(34.15);
    // A round trip gives at most one segment here, as Reno's would be.
    assert!(packets(&path) <= before + 1, "{} segments, {before} before", packets(&path));
}
