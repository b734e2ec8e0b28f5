//! Radio resource control: the states of terminals, and dedicated channels on demand.
//!
//! A terminal is in one of the states of 3GPP TS 25.331 §7: Idle, CELL_FACH, CELL_DCH, CELL_PCH or
//! URA_PCH. On CELL_FACH more waiting data than a threshold ask for dedicated channels (DCH); the cell
//! grants them while its budget lasts. A terminal on CELL_DCH that is silent keeps them for the
//! time `keep`; for the time `preemptible` after that another may take them; then it goes back to
//! CELL_FACH. Nothing is sent during a transition, unless `serve_during_switch` says so. From CELL_FACH a silent
//! terminal goes to CELL_PCH, from there to URA_PCH if it moves about, and to Idle when it has been silent
//! for long. Data for it (it is paged) or of it lead back to CELL_FACH. What a cell update costs is not modelled.
//!
//! If the cell has a downlink shared channel (DSCH), a terminal on CELL_DCH gets its data over that, and has
//! beside it a dedicated channel down for signalling alone, of 3.4 kbit/s, and one up (TS 25.301 §5.3.1). Then
//! the shared channel takes of the budget for good, and each terminal takes little.
//!
//! More than 500 lines: it is one state machine, which is read from state to state.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::Direction;
use crate::radio::attachment::{Attachment, Move, Service, Waiting};
use crate::radio::umts::mapping::Transport;
use crate::radio::umts::ovsf::Code;
use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Instant};
use lasthop_net::net::Probe;

use super::{AttachmentConfig, Cell};

mod admission;
#[cfg(test)]
mod tests;

use admission::Admission;

/// Dedicated channels on demand, and the states of RRC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The state at the start: `cell_fach`, or `idle`.
    pub initial: Initial,
    /// A terminal on CELL_FACH asks for dedicated channels when more than this waits for it in its RLC
    /// at the RNC: SDUs, and PDUs that are not acknowledged. Default: 1000 B.
    pub threshold: Bytes,
    /// The same of the data that wait at the terminal to be sent up. Default: it does not ask for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink_threshold: Option<Bytes>,
    /// What the cell may give away downlink, the forward access channel included. 800 kbit/s. Dedicated
    /// channels also need a code (TS 25.213 §4.3.1): of 64 kbit/s there are 31.
    pub budget: BitRate,
    /// How long it takes to set up dedicated channels. Default: 0.9 s.
    pub setup: Duration,
    /// How long it takes if another terminal has to be released first. Default: 1 s.
    pub setup_after_release: Duration,
    /// How long a silent terminal keeps dedicated channels to itself. Default: 5 s.
    pub keep: Duration,
    /// How long after that it has them until another asks for them. Default: 0 s.
    pub preemptible: Duration,
    /// What a terminal does that asks in vain: it `waits` for what becomes free, first come first served, or `asks_again`
    /// when more comes for it. Default: it waits (TS 25.413 §9.2.1.3, queuing allowed).
    pub refused: Refused,
    /// Whether the common channels serve a terminal while its dedicated ones are set up. Default:
    /// no.
    pub serve_during_switch: bool,
    /// A terminal that is silent on CELL_FACH for this time goes to CELL_PCH. Left out: it stays. On CELL_PCH more
    /// than 4 changes of its cell in 60 s make it go to URA_PCH.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paging_after: Option<Duration>,
    /// From CELL_PCH or URA_PCH to CELL_FACH, when there are data for the terminal or of it.
    /// Default: 0.5 s.
    pub from_paging: Duration,
    /// From Idle to CELL_FACH. Default: 2 s.
    pub from_idle: Duration,
    /// A terminal that has been silent for this time, in whatever states, is released, to Idle.
    /// Default: 30 min.
    pub idle_after: Duration,
}

/// The state of terminals at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Initial {
    /// Connected, on the common channels.
    #[default]
    CellFach,
    /// Not connected.
    Idle,
}

/// What a terminal does that asks for dedicated channels in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// It waits for what becomes free, first come first served.
    #[default]
    Waits,
    /// It goes on with the common channels, and asks again when more comes for it and too much waits.
    AsksAgain,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            initial: Initial::CellFach,
            threshold: Bytes::new(1000),
            uplink_threshold: None,
            budget: BitRate::from_bps(800_000),
            setup: Duration::from_millis(900),
            setup_after_release: Duration::from_secs(1),
            keep: Duration::from_secs(5),
            preemptible: Duration::ZERO,
            refused: Refused::Waits,
            serve_during_switch: false,
            paging_after: None,
            from_paging: Duration::from_millis(500),
            from_idle: Duration::from_secs(2),
            idle_after: Duration::from_secs(1800),
        }
    }
}

impl AttachmentConfig for Config {
    fn build(&self, cell: &Cell) -> Box<dyn Attachment> {
        Box::new(Rrc::new(self, cell))
    }

    fn maps_to(&self) -> &'static [Transport] {
        &[Transport::Fach, Transport::Rach, Transport::Cpch, Transport::Dch, Transport::Dsch]
    }

    fn check(&self) -> Result<(), Fault> {
        if self.setup_after_release < self.setup {
            return Err(Fault {
                field: "setup_after_release".into(),
                message: "a release cannot make the set-up shorter".to_owned(),
                expected: "expected at least `setup`".to_owned(),
            });
        }
        for (field, after) in [("paging_after", self.paging_after), ("idle_after", Some(self.idle_after))] {
            if after == Some(Duration::ZERO) {
                let message = format!("`{field}` of zero: a terminal would leave each state at once");
                return Err(Fault::new(field, message, "expected a time, such as \"30 s\""));
            }
        }
        Ok(())
    }
}

/// The state of a terminal (TS 25.331 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    CellFach,
    CellDch,
    CellPch,
    UraPch,
}

impl State {
    const ALL: [Self; 5] = [Self::Idle, Self::CellFach, Self::CellDch, Self::CellPch, Self::UraPch];
    /// The time in it, as it stands in results.
    const NAMES: [&'static str; 5] = ["idle_s", "cell_fach_s", "cell_dch_s", "cell_pch_s", "ura_pch_s"];
}

/// Dedicated channels of a terminal that come from a cell.
struct Leg {
    cell: u32,
    codes: Vec<Code>,
}

/// The attachment.
struct Rrc {
    config: Config,
    terminals: Vec<Terminal>,
    /// A terminal is silent when it has sent and got nothing for this time: an interval.
    moment: Duration,
    /// Of each cell.
    admissions: Vec<Admission>,
    /// When something became free that was not yet offered to the waiting terminals.
    freed: Option<Instant>,
    /// What serves a terminal on CELL_DCH.
    dedicated: Service,
    /// Terminals that asked in vain, in that order.
    waiting: VecDeque<u32>,
    /// When to look at which terminal; entries may be old.
    timers: BinaryHeap<Reverse<(Instant, u32)>>,
    moves: VecDeque<Move>,
}

/// The state of a terminal.
struct Terminal {
    state: State,
    /// Since when, as far as times have been added up.
    since: Instant,
    /// The transition under way: where to, and when it is done.
    transition: Option<(State, Instant)>,
    /// When the last one began.
    began: Instant,
    /// When something last came for it or of it, or was sent.
    active: Instant,
    /// When its cell changed, the last times.
    cell_changes: VecDeque<Instant>,
    /// The cell that it is at, or was before it had dedicated channels.
    cell: u32,
    /// Where its dedicated channels come from.
    legs: Vec<Leg>,
    /// Another may take its dedicated channels.
    preemptible: bool,
    /// Whether it waits for dedicated channels.
    waits: bool,
    /// The earliest entry for it among the timers.
    armed: Instant,
    /// Seconds in each state.
    times: [Duration; 5],
    transitions: u64,
    /// Seconds in transitions that are over.
    transition_time: Duration,
    allocations: u64,
    refusals: u64,
    preemptions: u64,
}

/// With more changes of its cell than these in [`CELL_CHANGES_COUNT`], a terminal on CELL_PCH goes to URA_PCH. TS
/// 25.331 leaves it to the network.
const FEW_CELL_CHANGES: usize = 4;
/// For how long changes of the cell count.
const CELL_CHANGES_COUNT: Duration = Duration::from_secs(60);

impl Terminal {
    /// Since when nothing has been sent in its present state.
    fn silent_since(&self) -> Instant {
        self.active.max(self.since)
    }

    /// How long it has been in transitions.
    fn in_transition(&self, now: Instant) -> Duration {
        let present = if self.transition.is_some() { now.since(self.began) } else { Duration::ZERO };
        self.transition_time + present
    }
}

impl Rrc {
    fn new(config: &Config, cell: &Cell) -> Self {
        let state = match config.initial {
            Initial::CellFach => State::CellFach,
            Initial::Idle => State::Idle,
        };
        let terminal = |_| Terminal {
            state,
            since: Instant::ZERO,
            transition: None,
            began: Instant::ZERO,
            active: Instant::ZERO,
            cell_changes: VecDeque::new(),
            cell: 0,
            legs: Vec::new(),
            preemptible: false,
            waits: false,
            armed: Instant::MAX,
            times: [Duration::ZERO; 5],
            transitions: 0,
            transition_time: Duration::ZERO,
            allocations: 0,
            refusals: 0,
            preemptions: 0,
        };
        let mut rrc = Self {
            config: config.clone(),
            terminals: (0..cell.terminals).map(terminal).collect(),
            moment: cell.dsch.unwrap_or(cell.dch_down).tti,
            admissions: (0..cell.cells).map(|_| Admission::new(config.budget, cell)).collect(),
            freed: None,
            dedicated: if cell.dsch.is_some() { Service::Shared } else { Service::Dedicated },
            waiting: VecDeque::new(),
            timers: BinaryHeap::new(),
            moves: VecDeque::new(),
        };
        for n in 0..cell.terminals {
            rrc.set_timer(n);
        }
        rrc
    }

    fn terminal(&mut self, n: u32) -> &mut Terminal {
        &mut self.terminals[n as usize]
    }

    fn enter(&mut self, now: Instant, n: u32, state: State) {
        let terminal = self.terminal(n);
        terminal.times[terminal.state as usize] += now.since(terminal.since);
        terminal.since = now;
        terminal.state = state;
        terminal.transition_time = terminal.in_transition(now);
        terminal.transition = None;
        self.serve(n);
    }

    /// Begins a transition, during which nothing is sent.
    fn begin(&mut self, now: Instant, n: u32, to: State, takes: Duration) {
        let terminal = self.terminal(n);
        terminal.transition_time = terminal.in_transition(now);
        terminal.transition = Some((to, now + takes));
        terminal.began = now;
        terminal.transitions += 1;
        if takes == Duration::ZERO {
            self.enter(now, n, to);
        } else if !(to == State::CellDch && self.config.serve_during_switch) {
            self.serve(n);
        }
        self.set_timer(n);
    }

    /// Says what serves a terminal from now on.
    fn serve(&mut self, n: u32) {
        let terminal = &self.terminals[n as usize];
        let service = match terminal.state {
            _ if terminal.transition.is_some() => Service::Nothing,
            State::CellFach => Service::Common,
            State::CellDch => self.dedicated,
            State::Idle | State::CellPch | State::UraPch => Service::Nothing,
        };
        self.moves.push_back(Move { terminal: n, service });
    }

    /// A terminal gives its dedicated channels back, and goes to another state.
    fn release(&mut self, now: Instant, n: u32, to: State) {
        self.set_preemptible(now, n, false);
        let terminal = self.terminal(n);
        let legs = std::mem::take(&mut terminal.legs);
        if let Some(first) = legs.first() {
            terminal.cell = first.cell;
        }
        for mut leg in legs {
            self.admissions[leg.cell as usize].release(now, &mut leg.codes);
        }
        self.begin(now, n, to, Duration::ZERO);
    }

    /// Whether another may take a terminal's dedicated channels, from now on.
    fn set_preemptible(&mut self, now: Instant, n: u32, preemptible: bool) {
        let terminal = &mut self.terminals[n as usize];
        if terminal.preemptible != preemptible {
            terminal.preemptible = preemptible;
            for leg in &terminal.legs {
                self.admissions[leg.cell as usize].set_preemptible(now, preemptible);
            }
        }
    }

    /// Something became free: it is to be offered to the waiting terminals now.
    fn note_freed(&mut self, now: Instant) {
        if !self.waiting.is_empty() {
            self.freed = Some(now);
        }
    }

    /// The cell that a terminal is at.
    fn admission(&self, n: u32) -> &Admission {
        &self.admissions[self.terminals[n as usize].cell as usize]
    }

    /// Takes of a cell what a terminal's dedicated channels need there; there must be room.
    fn take(&mut self, now: Instant, n: u32, cell: u32) {
        let mut leg = Leg { cell, codes: Vec::new() };
        let admission = &mut self.admissions[cell as usize];
        admission.grant(now, &mut leg.codes);
        let terminal = &mut self.terminals[n as usize];
        if terminal.preemptible {
            admission.set_preemptible(now, true);
        }
        terminal.legs.push(leg);
    }

    /// A terminal asks for dedicated channels.
    fn ask(&mut self, now: Instant, n: u32) {
        if self.admission(n).has_room() {
            return self.grant(now, n, self.config.setup);
        }
        match self.victim(self.terminals[n as usize].cell) {
            Some(victim) => {
                self.terminal(victim).preemptions += 1;
                self.release(now, victim, State::CellFach);
                self.grant(now, n, self.config.setup_after_release);
                self.note_freed(now); // the victim may have had channels in other cells too
            }
            None if self.terminal(n).waits => {}
            None => {
                let waits = self.config.refused == Refused::Waits;
                let terminal = self.terminal(n);
                terminal.waits = waits;
                terminal.refusals += 1;
                if waits {
                    self.waiting.push_back(n);
                }
            }
        }
    }

    fn grant(&mut self, now: Instant, n: u32, takes: Duration) {
        self.take(now, n, self.terminals[n as usize].cell);
        let terminal = &mut self.terminals[n as usize];
        terminal.allocations += 1;
        if std::mem::take(&mut terminal.waits) {
            self.waiting.retain(|other| *other != n);
        }
        self.begin(now, n, State::CellDch, takes);
    }

    /// The terminal that is to give up its dedicated channels in a cell: of those that may be made to, the one that has been silent for
    /// longest, since it is the least likely to come back.
    fn victim(&self, cell: u32) -> Option<u32> {
        let here = |terminal: &Terminal| terminal.legs.iter().any(|leg| leg.cell == cell);
        let preemptible = (0..).zip(&self.terminals).filter(|(_, terminal)| terminal.preemptible && here(terminal));
        preemptible.min_by_key(|(_, terminal)| terminal.silent_since()).map(|(n, _)| n)
    }

    /// Whether more waits for a terminal than the common channels should carry.
    fn is_above_threshold(&self, n: u32, waiting: &dyn Waiting) -> bool {
        let exceeds = |direction, threshold: Bytes| {
            let unsent = waiting.unsent(n, direction);
            unsent.sdus + unsent.unacknowledged > threshold.get()
        };
        exceeds(Direction::Down, self.config.threshold)
            || self.config.uplink_threshold.is_some_and(|threshold| exceeds(Direction::Up, threshold))
    }

    /// Waiting terminals get what has become free, first come first served; a terminal that has sent all that it asked for waits no more.
    fn serve_waiting(&mut self, now: Instant, waiting: &dyn Waiting) {
        let mut place = 0;
        while let Some(&n) = self.waiting.get(place) {
            if !self.admission(n).has_room() {
                place += 1;
                continue;
            }
            self.waiting.remove(place);
            self.terminal(n).waits = false;
            if self.terminals[n as usize].state == State::CellFach && self.is_above_threshold(n, waiting) {
                self.grant(now, n, self.config.setup);
            }
        }
    }

    /// When something is due at a terminal.
    fn due(&self, n: u32) -> Instant {
        let terminal = &self.terminals[n as usize];
        if let Some((_, done)) = terminal.transition {
            return done;
        }
        let idle = self.idle_at(n);
        let silent = terminal.silent_since();
        // A terminal that has sent nothing for less than an interval is not silent.
        match terminal.state {
            State::CellDch if terminal.preemptible => idle.min(silent + self.config.keep + self.config.preemptible),
            State::CellDch => idle.min(silent + self.config.keep.max(self.moment)),
            State::CellFach => self.config.paging_after.map_or(idle, |after| idle.min(silent + after.max(self.moment))),
            State::CellPch | State::UraPch => idle,
            State::Idle => Instant::MAX,
        }
    }

    /// When a terminal that stays silent is released, to Idle.
    fn idle_at(&self, n: u32) -> Instant {
        let terminal = &self.terminals[n as usize];
        (terminal.active + self.config.idle_after.max(self.moment)).max(terminal.since)
    }

    /// Has a terminal looked at when something is due there. A wish that moves later is found out
    /// when the former comes.
    fn set_timer(&mut self, n: u32) {
        let due = self.due(n);
        let terminal = &mut self.terminals[n as usize];
        if due < terminal.armed {
            terminal.armed = due;
            self.timers.push(Reverse((due, n)));
        }
    }

    /// Something is due at a terminal.
    fn look_at(&mut self, now: Instant, n: u32, waiting: &dyn Waiting) {
        let terminal = &self.terminals[n as usize];
        if let Some((to, _)) = terminal.transition {
            return self.enter(now, n, to);
        }
        let busy = Direction::BOTH.into_iter().any(|direction| waiting.unsent(n, direction) != Default::default());
        let idle = self.idle_at(n) <= now;
        match terminal.state {
            _ if busy => self.terminal(n).active = now,
            State::CellDch if idle => {
                self.release(now, n, State::Idle);
                self.serve_waiting(now, waiting);
            }
            _ if idle => self.begin(now, n, State::Idle, Duration::ZERO),
            State::CellDch if !terminal.preemptible && self.config.preemptible > Duration::ZERO => {
                self.set_preemptible(now, n, true);
                self.preempt_for_waiting(now, waiting);
            }
            State::CellDch => {
                self.release(now, n, State::CellFach);
                self.serve_waiting(now, waiting);
            }
            _ => self.begin(now, n, State::CellPch, Duration::ZERO),
        }
    }

    /// A terminal is not silent.
    #[inline]
    fn note_activity(&mut self, now: Instant, n: u32) {
        let terminal = &mut self.terminals[n as usize];
        terminal.active = now;
        if terminal.preemptible {
            self.set_preemptible(now, n, false);
            // It may be silent again before the former wish comes.
            self.set_timer(n);
        }
    }

    /// Another cell serves a terminal from now on.
    fn on_cell_change(&mut self, now: Instant, n: u32) {
        let terminal = self.terminal(n);
        terminal.cell_changes.push_back(now);
        if terminal.cell_changes.len() <= FEW_CELL_CHANGES {
            return;
        }
        let first = terminal.cell_changes.pop_front();
        let is_often = first.is_some_and(|first| now.since(first) < CELL_CHANGES_COUNT);
        if is_often && terminal.state == State::CellPch && terminal.transition.is_none() {
            self.begin(now, n, State::UraPch, Duration::ZERO);
        }
    }

    /// A terminal can be made to give up its channels: the first waiting terminal gets them.
    fn preempt_for_waiting(&mut self, now: Instant, waiting: &dyn Waiting) {
        let mut place = 0;
        while let Some(&n) = self.waiting.get(place) {
            if !self.admission(n).has_preemptible() {
                place += 1;
                continue;
            }
            self.waiting.remove(place);
            self.terminal(n).waits = false;
            if self.terminals[n as usize].state == State::CellFach && self.is_above_threshold(n, waiting) {
                self.ask(now, n);
            }
        }
    }
}

impl Attachment for Rrc {
    fn service(&self, _terminal: u32) -> Service {
        match self.config.initial {
            Initial::CellFach => Service::Common,
            Initial::Idle => Service::Nothing,
        }
    }

    fn on_backlog(&mut self, now: Instant, n: u32, _direction: Direction, waiting: &dyn Waiting) {
        let terminal = &mut self.terminals[n as usize];
        if terminal.state == State::CellDch && terminal.transition.is_none() {
            return self.note_activity(now, n);
        }
        terminal.active = now;
        if terminal.transition.is_some() {
            return;
        }
        match terminal.state {
            State::CellFach => {
                if self.is_above_threshold(n, waiting) {
                    self.ask(now, n);
                }
            }
            State::CellPch | State::UraPch => self.begin(now, n, State::CellFach, self.config.from_paging),
            State::Idle => self.begin(now, n, State::CellFach, self.config.from_idle),
            State::CellDch => {}
        }
    }

    #[inline]
    fn on_sent(&mut self, now: Instant, n: u32, _direction: Direction, _bits: u32) {
        self.note_activity(now, n);
    }

    fn add_leg(&mut self, now: Instant, n: u32, cell: u32) -> bool {
        let has_room = self.admissions[cell as usize].has_room();
        if has_room {
            self.take(now, n, cell);
        }
        has_room
    }

    fn drop_leg(&mut self, now: Instant, n: u32, cell: u32) {
        let terminal = &mut self.terminals[n as usize];
        let Some(place) = terminal.legs.iter().position(|leg| leg.cell == cell) else { return };
        let mut leg = terminal.legs.remove(place);
        let admission = &mut self.admissions[cell as usize];
        if terminal.preemptible {
            admission.set_preemptible(now, false);
        }
        admission.release(now, &mut leg.codes);
        if let Some(first) = terminal.legs.first() {
            terminal.cell = first.cell;
        }
        self.note_freed(now);
    }

    fn on_cell(&mut self, now: Instant, n: u32, cell: u32) -> bool {
        let terminal = self.terminal(n);
        if !terminal.legs.is_empty() {
            return false; // its dedicated channels are being set up in the former cell
        }
        if std::mem::replace(&mut terminal.cell, cell) != cell && now > Instant::ZERO {
            self.on_cell_change(now, n);
            self.note_freed(now); // there may be room in the new cell
        }
        true
    }

    fn on_leave(&mut self, now: Instant, n: u32) {
        if !self.terminals[n as usize].legs.is_empty() {
            self.release(now, n, State::CellFach);
            self.note_freed(now);
        }
    }

    fn on_timeout(&mut self, now: Instant, waiting: &dyn Waiting) {
        if self.freed.take().is_some() {
            self.serve_waiting(now, waiting);
        }
        while let Some(&Reverse((at, n))) = self.timers.peek()
            && at <= now
        {
            self.timers.pop();
            let terminal = &mut self.terminals[n as usize];
            if terminal.armed != at {
                continue; // an old entry
            }
            terminal.armed = Instant::MAX;
            if self.due(n) <= now {
                self.look_at(now, n, waiting);
                // Data that came meanwhile may need more than the new state gives.
                if self.terminals[n as usize].state == State::CellFach && self.is_above_threshold(n, waiting) {
                    self.on_backlog(now, n, Direction::Down, waiting);
                }
            }
            self.set_timer(n);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let timer = self.timers.peek().map(|Reverse((at, _))| *at);
        self.freed.or(timer)
    }

    fn poll(&mut self) -> Option<Move> {
        self.moves.pop_front()
    }

    fn sample_cell(&self, now: Instant, cell: u32, probe: &mut dyn Probe) {
        self.admissions[cell as usize].sample(now, probe);
    }

    fn sample(&self, _now: Instant, probe: &mut dyn Probe) {
        let sum = |of: fn(&Terminal) -> u64| self.terminals.iter().map(of).sum::<u64>() as f64;
        probe.value("allocations", sum(|terminal| terminal.allocations));
        probe.value("preemptions", sum(|terminal| terminal.preemptions));
        probe.value("refusals", sum(|terminal| terminal.refusals));
    }

    fn sample_terminal(&self, now: Instant, n: u32, probe: &mut dyn Probe) {
        let terminal = &self.terminals[n as usize];
        for (state, name) in State::ALL.into_iter().zip(State::NAMES) {
            let present = if state == terminal.state { now.since(terminal.since) } else { Duration::ZERO };
            probe.value(name, (terminal.times[state as usize] + present).as_secs_f64());
        }
        probe.value("preemptible", f64::from(u8::from(terminal.preemptible)));
        probe.value("transitions", terminal.transitions as f64);
        probe.value("transition_s", terminal.in_transition(now).as_secs_f64());
        probe.value("allocations", terminal.allocations as f64);
        probe.value("preemptions", terminal.preemptions as f64);
        probe.value("refusals", terminal.refusals as f64);
    }
}
