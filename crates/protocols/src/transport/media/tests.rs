//! Sender and receiver by themselves, over a path that the test makes: fates, losses, windows, pacing, silence, hints.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use lasthop_net::engine::{BitRate, Duration, Instant, Streams};
use lasthop_net::net::{
    Action, Address, Ecn, Endpoint, EndpointContext, FlowId, Hears, NodeId, Notice, Packet, Port, Probe, Socket, Timed,
};

use super::control::{Fate, Feedback, MediaCongestion, MediaContext, MediaControl, MediaControlConfig, Sent};
use super::receiver::Receiver;
use super::sender::Sender;
use super::*;

/// What a controller was given.
#[derive(Debug, Default)]
struct Seen {
    sent: Vec<Sent>,
    fates: Vec<Fate>,
    in_flight: u64,
    path_changes: u32,
    built: u32,
}

/// A controller that notes its inputs.
struct Notes {
    seen: Arc<Mutex<Seen>>,
    window: Option<u64>,
    pacing: Option<BitRate>,
}

impl MediaControl for Notes {
    fn on_sent(&mut self, sent: &Sent) {
        self.seen.lock().unwrap().sent.push(*sent);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let mut seen = self.seen.lock().unwrap();
        seen.fates.extend(feedback.packets);
        let bytes: u64 = feedback.packets.iter().map(|fate| u64::from(fate.bytes)).sum();
        assert_eq!(feedback.prior_in_flight - feedback.in_flight, bytes, "each fate leaves the flight");
        assert!(feedback.packets.is_sorted_by_key(|fate| fate.number));
        seen.in_flight = feedback.in_flight;
    }

    fn on_path_change(&mut self, _now: Instant) {
        self.seen.lock().unwrap().path_changes += 1;
    }

    fn target(&self) -> BitRate {
        BitRate::from_kbps(1_200)
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing
    }

    fn window(&self) -> Option<u64> {
        self.window
    }

    fn sample(&self, _probe: &mut dyn Probe) {}
}

#[derive(Default)]
struct NotesConfig {
    seen: Arc<Mutex<Seen>>,
    window: Option<u64>,
    pacing: Option<BitRate>,
    discards_after: Option<Duration>,
}

impl MediaControlConfig for NotesConfig {
    fn build(&self, _seat: &MediaContext) -> Box<dyn MediaControl> {
        self.seen.lock().unwrap().built += 1;
        Box::new(Notes { seen: Arc::clone(&self.seen), window: self.window, pacing: self.pacing })
    }

    fn discards_after(&self) -> Option<Duration> {
        self.discards_after
    }
}

/// Both ends, and packets under way in both directions with their arrivals.
struct Pair {
    now: Instant,
    sender: Sender,
    receiver: Receiver,
    forward: Vec<(Instant, Packet)>,
    back: Vec<(Instant, Packet)>,
    /// One-way delay.
    delay: Duration,
    /// Which packets are lost, by their numbers.
    lost: fn(u64) -> bool,
    /// Whether reports are lost, or every other one.
    deaf: bool,
    every_other: bool,
    reports: u64,
    told: Rc<RefCell<Vec<Notice>>>,
}

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

impl Pair {
    fn new(notes: NotesConfig, change: impl FnOnce(&mut Config)) -> Self {
        let congestion = MediaCongestion::custom("notes", Arc::new(notes));
        let mut config = Config { congestion, feedback: Some(Duration::from_millis(20)), ..Config::default() };
        change(&mut config);
        let hears = Hears { received: true, lost: true, rate: true, sent: true, ..Hears::default() };
        let seat = |node: u32| EndpointContext {
            local: Socket { node: NodeId(node), port: 4 },
            remote: Address::Node(NodeId(1 - node)),
            remote_port: 4,
            flow: FlowId(0),
            hears,
            observed: false,
        };
        Self {
            now: Instant::ZERO,
            sender: Sender::new(&config, seat(0), Streams::new(1).stream("flow", "sender")),
            receiver: Receiver::new(&config, seat(1)),
            forward: Vec::new(),
            back: Vec::new(),
            delay: Duration::from_millis(10),
            lost: |_| false,
            deaf: false,
            every_other: false,
            reports: 0,
            told: Rc::default(),
        }
    }

    fn notice(&mut self, notice: Notice) {
        self.sender.on_notice(self.now, notice);
        self.drain();
    }

    fn drain(&mut self) {
        let mut packet = Packet::vacant();
        while let Some(action) = self.sender.poll(self.now, &mut packet) {
            match action {
                Action::Send if (self.lost)(packet.number - 1) => {}
                Action::Send => self.forward.push((self.now + self.delay, packet)),
                Action::Tell(notice) => self.told.borrow_mut().push(notice),
                other => panic!("{other:?}"),
            }
        }
        while let Some(action) = self.receiver.poll(self.now, &mut packet) {
            self.reports += u64::from(action == Action::Send);
            match action {
                Action::Send if self.deaf || (self.every_other && self.reports.is_multiple_of(2)) => {}
                Action::Send => self.back.push((self.now + self.delay, packet)),
                Action::Tell(notice) => self.told.borrow_mut().push(notice),
                other => panic!("{other:?}"),
            }
        }
    }

    fn run_to(&mut self, until: Instant) {
        loop {
            let arrivals = self.forward.iter().chain(&self.back).map(|(at, _)| *at);
            let timers = [self.sender.next_timeout(), self.receiver.next_timeout()];
            let next = arrivals.chain(timers.into_iter().flatten()).min().filter(|at| *at <= until);
            let Some(next) = next else { break };
            self.now = self.now.max(next);
            let due = |line: &mut Vec<(Instant, Packet)>, now: Instant| {
                let (due, later) = std::mem::take(line).into_iter().partition(|(at, _)| *at <= now);
                *line = later;
                due
            };
            let (there, here): (Vec<_>, Vec<_>) = (due(&mut self.forward, self.now), due(&mut self.back, self.now));
            there.iter().for_each(|(_, packet)| self.receiver.on_packet(self.now, packet, Port(0)));
            here.iter().for_each(|(_, packet)| self.sender.on_packet(self.now, packet, Port(0)));
            if self.sender.next_timeout().is_some_and(|at| at <= self.now) {
                self.sender.on_timeout(self.now);
            }
            if self.receiver.next_timeout().is_some_and(|at| at <= self.now) {
                self.receiver.on_timeout(self.now);
            }
            self.drain();
        }
        self.now = until;
    }
}

#[test]
fn each_packet_has_one_fate_and_its_arrival() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut pair = Pair::new(NotesConfig { seen: Arc::clone(&seen), ..NotesConfig::default() }, |_| {});
    pair.lost = |number| number % 7 == 3;
    for n in 0..60 {
        pair.run_to(ms(20 * n));
        // Two packets: 1,188 bytes and the rest.
        pair.notice(Notice::Write(1_500));
    }
    pair.run_to(ms(1_400));
    let seen = seen.lock().unwrap();
    assert_eq!((seen.sent.len(), seen.in_flight), (120, 0));
    assert_eq!(
        (seen.sent[0].bytes, seen.sent[0].marker, seen.sent[1].bytes, seen.sent[1].marker),
        (1_200, false, 324, true)
    );
    let mut numbers: Vec<u64> = seen.fates.iter().map(|fate| fate.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..120).collect::<Vec<_>>(), "each of them once");
    for fate in &seen.fates {
        match fate.arrival {
            Some(arrival) => {
                let late = arrival.at.since(fate.sent_at + pair.delay).as_secs_f64();
                // ATO is rounded down: an arrival is reported up to 1/1024 s and a tick late.
                assert!((0.0..1.0 / 1024.0 + 1.0 / 65536.0).contains(&late), "{fate:?} {late}");
                assert_eq!(arrival.ecn, Ecn::NotEct);
            }
            None => assert_eq!(fate.number % 7, 3, "{fate:?}"),
        }
    }
}

#[test]
fn reports_that_are_lost_lose_nothing() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut pair = Pair::new(NotesConfig { seen: Arc::clone(&seen), ..NotesConfig::default() }, |_| {});
    for n in 0..100 {
        pair.run_to(ms(20 * n));
        // Two reports in a row of each four do not come.
        pair.deaf = n % 4 < 2;
        pair.notice(Notice::Write(800));
    }
    pair.deaf = false;
    pair.run_to(ms(2_100));
    assert!(seen.lock().unwrap().fates.iter().all(|fate| fate.arrival.is_some()));
}

#[test]
fn without_reports_the_flight_is_given_up_after_a_second() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let notes = NotesConfig { seen: Arc::clone(&seen), window: Some(3_000), ..NotesConfig::default() };
    let mut pair = Pair::new(notes, |_| {});
    pair.deaf = true;
    pair.notice(Notice::Write(10_000));
    pair.run_to(ms(999));
    assert_eq!(seen.lock().unwrap().sent.len(), 2, "a third packet would exceed the window");
    pair.run_to(ms(1_001));
    let lost = |seen: &Mutex<Seen>| seen.lock().unwrap().fates.iter().filter(|fate| fate.arrival.is_none()).count();
    assert_eq!((lost(&seen), seen.lock().unwrap().sent.len()), (2, 4));
}

#[test]
fn packets_leave_at_the_pacing_rate_and_old_frames_do_not() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let notes = NotesConfig {
        seen: Arc::clone(&seen),
        pacing: Some(BitRate::from_kbps(960)),
        discards_after: Some(Duration::from_millis(100)),
        ..NotesConfig::default()
    };
    let mut pair = Pair::new(notes, |_| {});
    // 20 packets of 1,200 bytes, 10 ms each; and a frame behind them that waits too long.
    pair.notice(Notice::Write(20 * 1_188));
    pair.notice(Notice::Write(500));
    pair.run_to(ms(300));
    let seen = seen.lock().unwrap();
    let times: Vec<u64> = seen.sent.iter().map(|sent| sent.now.as_nanos() / 1_000_000).collect();
    assert_eq!(times, (0..=10).map(|n| 10 * n).collect::<Vec<_>>(), "those of the first 100 ms");
    let told = pair.told.borrow();
    assert!(told.contains(&Notice::Lost { payload: 9 * 1_188, end: 20 * 1_188 }), "{told:?}");
    assert!(told.contains(&Notice::Lost { payload: 500, end: 20 * 1_188 + 500 }), "{told:?}");
    // A source that waits for its data to leave learns that nothing waits any more.
    let sent = told.iter().filter_map(|notice| if let Notice::Sent(bytes) = notice { Some(*bytes) } else { None });
    assert_eq!(sent.max(), Some(20 * 1_188 + 500), "{told:?}");
    // 1,200 kbit/s with RTP's 12 bytes of 1,200.
    assert_eq!(told[0], Notice::Rate(BitRate::from_kbps(1_188)));
}

/// RFC 8888 §3.1: of copies the first gives the time of arrival, and a mark on any of them is reported.
#[test]
fn a_copy_that_comes_marked_marks_the_packet() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut pair =
        Pair::new(NotesConfig { seen: Arc::clone(&seen), ..NotesConfig::default() }, |config| config.ecn = true);
    pair.notice(Notice::Write(800));
    let copy = Packet { ecn: Ecn::Ce, ..pair.forward[0].1 };
    pair.run_to(ms(15));
    pair.receiver.on_packet(ms(15), &copy, Port(0));
    pair.receiver.on_packet(ms(15), &copy, Port(0));
    pair.run_to(ms(100));
    let fates = &seen.lock().unwrap().fates;
    let [Fate { arrival: Some(arrival), .. }] = fates[..] else { panic!("one packet has one fate: {fates:?}") };
    assert_eq!(arrival.ecn, Ecn::Ce);
    assert!(arrival.at < ms(12), "{arrival:?}");
}

/// On a path that has become shorter new reports overtake old ones, which know nothing of the change.
#[test]
fn reports_that_others_have_overtaken_are_no_changes_of_the_path() {
    let access = lasthop_net::net::Access { rate: BitRate::from_kbps(1), delay: Duration::ZERO, up: true };
    let link = lasthop_net::net::LinkNotice { port: Port(0), before: access, after: access };
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut pair = Pair::new(NotesConfig { seen: Arc::clone(&seen), ..NotesConfig::default() }, |config| {
        config.path_hint = PathHint::Delays;
    });
    pair.delay = Duration::from_millis(200);
    for n in 0..60 {
        pair.run_to(ms(20 * n));
        if n == 40 {
            pair.receiver.on_notice(pair.now, Notice::Link(link));
            pair.delay = Duration::from_millis(10);
        }
        pair.notice(Notice::Write(800));
    }
    assert_eq!(seen.lock().unwrap().path_changes, 1);
}

#[test]
fn a_change_of_the_path_is_told_once_at_whichever_end() {
    let link = || {
        let access = lasthop_net::net::Access { rate: BitRate::from_kbps(1), delay: Duration::ZERO, up: true };
        Notice::Link(lasthop_net::net::LinkNotice { port: Port(0), before: access, after: access })
    };
    for (hint, path_changes, built) in [(PathHint::Off, 0, 1), (PathHint::Delays, 2, 1), (PathHint::Restart, 0, 3)] {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut pair = Pair::new(NotesConfig { seen: Arc::clone(&seen), ..NotesConfig::default() }, |config| {
            config.path_hint = hint
        });
        pair.delay = Duration::from_millis(100);
        let mut before = 0;
        for n in 0..60 {
            pair.run_to(ms(20 * n));
            if n == 20 {
                pair.receiver.on_notice(pair.now, link());
            }
            if n == 40 {
                pair.sender.on_notice(pair.now, link());
                before = seen.lock().unwrap().fates.len();
            }
            pair.notice(Notice::Write(800));
        }
        let seen = seen.lock().unwrap();
        assert_eq!((seen.path_changes, seen.built), (path_changes, built), "{hint:?}");
        // A controller that begins anew hears nothing of packets that were sent over the former path.
        let (oldest, changed) = (seen.fates[before..].iter().map(|fate| fate.sent_at).min().unwrap(), ms(800));
        assert_eq!(oldest >= changed, hint == PathHint::Restart, "{hint:?}: {oldest:?}");
    }
}

/// Every report that comes has room for all that arrived since the last one that came, also where one of two is lost and packets are missing in
/// between: 14 in a row, one in ten.
#[test]
fn a_report_that_is_lost_loses_nothing_where_packets_are_missing() {
    let missing: [fn(u64) -> bool; 3] = [
        |number| number % 10 == 3,
        |number| (13..27).contains(&(number % 40)),
        |number| number % 100 > 13 && number % 100 < 70,
    ];
    for (case, lost) in missing.into_iter().enumerate() {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut pair = Pair::new(NotesConfig { seen: Arc::clone(&seen), ..NotesConfig::default() }, |_| {});
        pair.lost = lost;
        // The third case has gaps that no report has room for. Of it none is lost.
        pair.every_other = case < 2;
        for n in 0..2_000 {
            pair.run_to(Instant::from_nanos(500_000 * n));
            pair.notice(Notice::Write(800));
        }
        pair.every_other = false;
        pair.run_to(ms(1_200));
        let seen = seen.lock().unwrap();
        // Behind the last ones nothing comes that would tell of a loss.
        assert!(seen.fates.len() > 1_900, "{case}");
        for fate in &seen.fates {
            assert_eq!(fate.arrival.is_none(), lost(fate.number), "{case}: {fate:?}");
        }
    }
}
