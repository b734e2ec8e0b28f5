//! The states of one terminal, driven from outside.

use super::*;
use crate::radio::arq::Unsent;
use crate::radio::umts::channel::Rate;

/// The backlog of the terminal, down and up.
struct Waits([u64; 2]);

impl Waiting for Waits {
    fn unsent(&self, _terminal: u32, direction: Direction) -> Unsent {
        Unsent { sdus: self.0[direction.index()], unacknowledged: 0 }
    }
}

const NOTHING: Waits = Waits([0, 0]);

/// An attachment of one terminal, and when its states changed.
struct Driven {
    rrc: Rrc,
    services: Vec<(Instant, Service)>,
}

impl Driven {
    fn new(config: &Config) -> Self {
        let rate = |kbps: u64| Rate { rate: BitRate::from_bps(kbps * 1000), tti: Duration::from_millis(10) };
        let cell = Cell { terminals: 1, cells: 1, fach: rate(32), dch_down: rate(64), dsch: None };
        Self { rrc: Rrc::new(config, &cell), services: Vec::new() }
    }

    /// Until then nothing happens but that timers expire, with this backlog.
    fn until(&mut self, end: Instant, waits: &Waits) {
        while let Some(at) = self.rrc.next_timeout().filter(|at| *at <= end) {
            self.rrc.on_timeout(at, waits);
            self.note(at);
        }
    }

    /// A packet of `bytes` bytes comes, down or up.
    fn data(&mut self, now: Instant, direction: Direction, bytes: u64) -> Waits {
        let mut waits = Waits([0, 0]);
        waits.0[direction.index()] = bytes;
        self.until(now, &NOTHING);
        self.rrc.on_backlog(now, 0, direction, &waits);
        self.note(now);
        waits
    }

    fn note(&mut self, now: Instant) {
        while let Some(Move { service, .. }) = self.rrc.poll() {
            self.services.push((now, service));
        }
    }

    fn state(&self) -> State {
        self.rrc.terminals[0].state
    }

    /// The instant before nothing has changed from `state`, then it is another.
    fn changes_at(&mut self, at: Instant, waits: &Waits, from: State, to: State) {
        let before = Instant::from_nanos(at.as_nanos() - 1);
        self.until(before, waits);
        assert_eq!(self.state(), from, "just before {at:?}");
        self.until(at, waits);
        assert_eq!(self.state(), to, "at {at:?}");
    }
}

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn from_idle() -> Config {
    Config { initial: Initial::Idle, paging_after: Some(Duration::from_secs(10)), ..Config::default() }
}

#[test]
fn each_transition_takes_its_time_to_the_nanosecond() {
    let mut driven = Driven::new(&from_idle());
    // Idle to CELL_FACH: 2 s from the first data.
    let start = Instant::from_nanos(1_000_000_007);
    let waits = driven.data(start, Direction::Down, 1500);
    let fach = start + Duration::from_secs(2);
    driven.changes_at(fach, &waits, State::Idle, State::CellFach);
    // To CELL_DCH: 0.9 s, from the same instant, since 1500 B are more than 1000 B.
    let dch = fach + Duration::from_millis(900);
    driven.changes_at(dch, &waits, State::CellFach, State::CellDch);
    // The last PDU; 5 s later back to CELL_FACH, at once.
    let last = dch + Duration::from_nanos(123_456_789);
    driven.rrc.on_sent(last, 0, Direction::Down, 320);
    let back = last + Duration::from_secs(5);
    driven.changes_at(back, &NOTHING, State::CellDch, State::CellFach);
    // 10 s of silence there to CELL_PCH, at once.
    let pch = back + Duration::from_secs(10);
    driven.changes_at(pch, &NOTHING, State::CellFach, State::CellPch);
    // Four changes of the cell leave it there, the fifth within 60 s does not.
    for n in 1..=4 {
        driven.rrc.on_cell_change(pch + Duration::from_secs(10 * n), 0);
        assert_eq!(driven.state(), State::CellPch, "after {n} changes");
    }
    driven.rrc.on_cell_change(pch + Duration::from_secs(69), 0);
    assert_eq!(driven.state(), State::UraPch);
    // Idle 30 min after the last data.
    driven.changes_at(last + Duration::from_secs(1800), &NOTHING, State::UraPch, State::Idle);
    // Nothing was sent but on CELL_FACH and CELL_DCH, and never during a transition.
    let services: Vec<(Instant, Service)> =
        driven.services.into_iter().filter(|(_, service)| *service != Service::Nothing).collect();
    assert_eq!(services, [(fach, Service::Common), (dch, Service::Dedicated), (back, Service::Common)]);
    assert_eq!(driven.rrc.terminals[0].transitions, 6);
    assert_eq!(driven.rrc.terminals[0].transition_time, Duration::from_millis(2900));
}

#[test]
fn a_silent_terminal_is_released_to_idle_from_whatever_state() {
    // (what else a silent terminal would do later, the state in which it is silent): Idle 10 s after the last PDU.
    let ten = Duration::from_secs(10);
    let keeps = Config { idle_after: ten, keep: Duration::from_secs(40), ..Config::default() };
    let shares = Config { keep: Duration::from_secs(2), preemptible: Duration::from_secs(40), ..keeps.clone() };
    let pages = Config { idle_after: ten, paging_after: Some(Duration::from_secs(40)), ..Config::default() };
    for (config, bytes, state) in
        [(keeps, 1500, State::CellDch), (shares, 1500, State::CellDch), (pages, 500, State::CellFach)]
    {
        let mut driven = Driven::new(&config);
        let waits = driven.data(at_ms(0), Direction::Down, bytes);
        driven.until(at_ms(900), &waits);
        driven.rrc.on_sent(at_ms(1000), 0, Direction::Down, 320);
        let transitions = driven.rrc.terminals[0].transitions;
        driven.changes_at(at_ms(11_000), &NOTHING, state, State::Idle);
        assert_eq!(driven.services.last(), Some(&(at_ms(11_000), Service::Nothing)));
        let terminal = &driven.rrc.terminals[0];
        assert!(terminal.legs.is_empty() && !terminal.preemptible && !driven.rrc.admission(0).has_preemptible());
        assert_eq!(terminal.transitions, transitions + 1);
    }
}

#[test]
fn a_transition_under_way_counts_as_long_as_it_has_lasted() {
    let mut driven = Driven::new(&Config::default());
    driven.data(at_ms(100), Direction::Down, 1500);
    let lasted = |driven: &Driven, ms: u64| driven.rrc.terminals[0].in_transition(at_ms(ms));
    assert_eq!(lasted(&driven, 500), Duration::from_millis(400));
    // The terminal leaves for another system, and gives back what was being set up.
    driven.rrc.on_leave(at_ms(600), 0);
    assert_eq!(lasted(&driven, 2000), Duration::from_millis(500));
}

#[test]
fn data_of_and_for_a_terminal_lead_it_back_from_paging() {
    for (direction, moves) in [(Direction::Up, 0), (Direction::Down, 0), (Direction::Up, 5), (Direction::Down, 5)] {
        let mut driven = Driven::new(&Config { paging_after: Some(Duration::from_secs(10)), ..Config::default() });
        driven.changes_at(at_ms(10_000), &NOTHING, State::CellFach, State::CellPch);
        for n in 0..moves {
            driven.rrc.on_cell_change(at_ms(11_000 + n), 0);
        }
        let paging = if moves > 4 { State::UraPch } else { State::CellPch };
        // 0.5 s, whether it is paged or has something to send; then nothing is served yet but the common channels.
        let waits = driven.data(at_ms(12_345), direction, 40);
        driven.changes_at(at_ms(12_845), &waits, paging, State::CellFach);
        assert_eq!(driven.services.last(), Some(&(at_ms(12_845), Service::Common)));
    }
}

#[test]
fn five_changes_of_the_cell_in_a_minute_are_many() {
    // (seconds between changes, whether it goes to URA_PCH): the fifth comes four times that later.
    for (seconds, many) in [(14, true), (15, false), (20, false)] {
        let mut driven = Driven::new(&Config { paging_after: Some(Duration::from_secs(10)), ..Config::default() });
        driven.until(at_ms(10_000), &NOTHING);
        for n in 0..10 {
            driven.rrc.on_cell_change(at_ms(20_000 + n * seconds * 1000), 0);
        }
        assert_eq!(driven.state() == State::UraPch, many, "every {seconds} s");
    }
    // OtherSystems than on CELL_PCH they change nothing.
    let mut driven = Driven::new(&Config::default());
    for n in 0..10 {
        driven.rrc.on_cell_change(at_ms(n), 0);
    }
    assert_eq!(driven.state(), State::CellFach);
}

#[test]
fn a_pdu_just_before_the_timer_expires_starts_it_anew() {
    let config = Config { keep: Duration::from_secs(2), ..Config::default() };
    let mut driven = Driven::new(&config);
    let waits = driven.data(at_ms(0), Direction::Down, 1500);
    driven.until(at_ms(900), &waits);
    driven.rrc.on_sent(at_ms(1000), 0, Direction::Down, 320);
    driven.until(at_ms(2999), &NOTHING);
    driven.rrc.on_sent(at_ms(2999), 0, Direction::Up, 320);
    driven.changes_at(at_ms(4999), &NOTHING, State::CellDch, State::CellFach);
}

#[test]
fn a_leg_needs_room_in_its_cell_and_leaves_room_when_it_goes() {
    // Beside the FACH of 32 kbit/s each of two cells has room for one DCH of 64 kbit/s. Terminal 0 is at cell 0, the others at 1.
    let rate = |kbps: u64| Rate { rate: BitRate::from_bps(kbps * 1000), tti: Duration::from_millis(10) };
    let cell = Cell { terminals: 3, cells: 2, fach: rate(32), dch_down: rate(64), dsch: None };
    let mut rrc = Rrc::new(&Config { budget: BitRate::from_bps(100_000), ..Config::default() }, &cell);
    for (terminal, cell) in [(0, 0), (1, 1), (2, 1)] {
        assert!(rrc.on_cell(Instant::ZERO, terminal, cell));
    }
    let much = Waits([5000, 0]);
    for terminal in [0, 1] {
        rrc.on_backlog(at_ms(0), terminal, Direction::Down, &much);
        rrc.on_timeout(at_ms(900), &much);
        assert_eq!(rrc.terminals[terminal as usize].state, State::CellDch, "terminal {terminal} in its cell");
    }
    assert!(!rrc.add_leg(at_ms(1000), 0, 1), "cell 1 is full");
    assert!(!rrc.on_cell(at_ms(1000), 0, 1), "who has dedicated channels changes by legs only");
    rrc.on_leave(at_ms(2000), 1);
    assert!(rrc.add_leg(at_ms(2000), 0, 1), "cell 1 has room again");
    rrc.on_backlog(at_ms(3000), 2, Direction::Down, &much);
    assert!(rrc.terminals[2].waits, "and is full again");
    // Terminal 0 leaves cell 0 behind, which is of no use for terminal 2, and then cell 1, which is.
    rrc.drop_leg(at_ms(4000), 0, 0);
    assert_eq!(rrc.next_timeout(), Some(at_ms(4000)));
    rrc.on_timeout(at_ms(4000), &much);
    assert!(rrc.terminals[2].waits);
    assert!(rrc.add_leg(at_ms(5000), 0, 0));
    rrc.drop_leg(at_ms(5000), 0, 1);
    rrc.on_timeout(at_ms(5000), &much);
    assert_eq!(rrc.terminals[2].transition, Some((State::CellDch, at_ms(5900))));
}

#[test]
fn a_victim_makes_room_in_all_its_cells() {
    // Each of two cells has room for one. Terminal 0 has channels in both; 1 and 2 wait, one at each. From 5 s on others may take what 0
    // has: 1 does, and what 0 had in the other cell is for 2.
    let rate = |kbps: u64| Rate { rate: BitRate::from_bps(kbps * 1000), tti: Duration::from_millis(10) };
    let cell = Cell { terminals: 3, cells: 2, fach: rate(32), dch_down: rate(64), dsch: None };
    let preemptible = Duration::from_secs(60);
    let mut rrc = Rrc::new(&Config { budget: BitRate::from_bps(100_000), preemptible, ..Config::default() }, &cell);
    assert!(rrc.on_cell(Instant::ZERO, 2, 1));
    let much = Waits([5000, 0]);
    rrc.on_backlog(at_ms(0), 0, Direction::Down, &much);
    assert!(rrc.add_leg(at_ms(100), 0, 1));
    for terminal in [1, 2] {
        rrc.on_backlog(at_ms(200), terminal, Direction::Down, &much);
        assert!(rrc.terminals[terminal as usize].waits);
    }
    struct AllButFirst;
    impl Waiting for AllButFirst {
        fn unsent(&self, terminal: u32, direction: Direction) -> Unsent {
            let sdus = if terminal > 0 && direction == Direction::Down { 5000 } else { 0 };
            Unsent { sdus, unacknowledged: 0 }
        }
    }
    // The channels are there at 0.9 s, and silent until 5.9 s.
    while let Some(at) = rrc.next_timeout().filter(|at| *at <= at_ms(5900)) {
        rrc.on_timeout(at, &AllButFirst);
    }
    assert_eq!(rrc.terminals[1].transition, Some((State::CellDch, at_ms(6900))), "after the release");
    assert_eq!(rrc.terminals[2].transition, Some((State::CellDch, at_ms(6800))), "there is room");
}

/// Two terminals in a cell with room for one: the first holds its channels for 5 s, the second has asked in vain at 1 s.
fn two_for_one(refused: Refused) -> Rrc {
    let rate = |kbps: u64| Rate { rate: BitRate::from_bps(kbps * 1000), tti: Duration::from_millis(10) };
    let cell = Cell { terminals: 2, cells: 1, fach: rate(32), dch_down: rate(64), dsch: None };
    let mut rrc = Rrc::new(&Config { budget: BitRate::from_bps(96_000), refused, ..Config::default() }, &cell);
    let much = Waits([1500, 0]);
    rrc.on_backlog(Instant::ZERO, 0, Direction::Down, &much);
    rrc.on_backlog(at_ms(1000), 1, Direction::Down, &much);
    assert_eq!((rrc.terminals[0].allocations, rrc.terminals[1].refusals), (1, 1));
    // The first has sent everything when its channels are there; the second's data are still above the threshold.
    struct OnlySecond;
    impl Waiting for OnlySecond {
        fn unsent(&self, terminal: u32, direction: Direction) -> Unsent {
            let sdus = if terminal == 1 && direction == Direction::Down { 1500 } else { 0 };
            Unsent { sdus, unacknowledged: 0 }
        }
    }
    while let Some(at) = rrc.next_timeout().filter(|at| *at <= at_ms(8000)) {
        rrc.on_timeout(at, &OnlySecond);
    }
    assert_eq!(rrc.terminals[0].state, State::CellFach);
    rrc
}

#[test]
fn who_asked_in_vain_waits_for_what_becomes_free() {
    let rrc = two_for_one(Refused::Waits);
    assert_eq!((rrc.terminals[1].state, rrc.terminals[1].allocations), (State::CellDch, 1));
}

#[test]
fn who_asked_in_vain_asks_again_with_its_next_data() {
    let mut rrc = two_for_one(Refused::AsksAgain);
    assert_eq!((rrc.terminals[1].state, rrc.terminals[1].allocations), (State::CellFach, 0));
    rrc.on_backlog(at_ms(9000), 1, Direction::Down, &Waits([1500, 0]));
    assert_eq!((rrc.terminals[1].allocations, rrc.terminals[1].refusals), (1, 1));
}
