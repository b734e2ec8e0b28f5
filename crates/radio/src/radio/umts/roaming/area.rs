//! The machine that moves terminals between cells. It knows no packet: it says what changes, and the medium does it.
//!
//! Every 100 ms each terminal measures the pilots around it. What it will measure next is computed one interval ahead, so
//! that a channel knows how gains change in between.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::radio::attachment::Attachment;
use crate::radio::channel::Channel;
use crate::radio::mobility::active_set::SetChange;
use crate::radio::mobility::{ActiveSet, Held};
use crate::radio::propagation::{Sector, Shadow, coupling_gain};
use lasthop_net::engine::{Decibel, Duration, Instant, Level, Streams};
use lasthop_net::net::Probe;

use super::config::{Mobility, Site, System};
use super::terminal::{Kind, Past, Present, Terminal, Then};

/// A radio cell.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Its antenna.
    pub sector: Sector,
    /// Its site, whose Node B has the same number.
    pub node_b: u32,
    /// The RNC of that.
    pub rnc: u32,
    /// Its carrier.
    pub carrier: u32,
}

/// What changes for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// All its radio links end, and one to another cell begins. It is silent until it is resumed.
    Broken(u32),
    /// It is silent from now on, and keeps its links.
    Paused(u32),
    /// It may send and get again.
    Resumed(u32),
    /// Another system serves it, of this number. It is silent until it is resumed.
    Left(u32, u32),
    /// It is back from the other system of this number. It is silent until it is resumed.
    Returned(u32, u32),
    /// Its RLC ends at another RNC from now on.
    Relocated(u32),
}

/// All cells and all terminals of a medium.
pub struct Area {
    config: Mobility,
    cells: Vec<Cell>,
    systems: Vec<Sector>,
    terminals: Vec<Terminal>,
    /// When the next measurement is.
    due: Instant,
    /// The ends of pauses.
    pauses: BinaryHeap<Reverse<(Instant, u32)>>,
    steps: VecDeque<Step>,
}

/// The cells of sites whose RNCs have the places of their names in `rncs`.
fn cells(sites: &[Site], rncs: &[&str]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (node_b, site) in (0..).zip(sites) {
        let rnc =
            site.rnc.as_deref().and_then(|name| rncs.iter().position(|rnc| *rnc == name)).unwrap_or_default() as u32;
        let mut add = |direction| {
            cells.push(Cell { sector: Sector { at: site.at, direction }, node_b, rnc, carrier: site.carrier });
        };
        match site.sectors.as_slice() {
            [] => add(None),
            sectors => sectors.iter().for_each(|direction| add(Some(*direction))),
        }
    }
    cells
}

impl Area {
    /// The area of these sites. The first of `rncs` is that of sites that name none; `terminals` are names, for streams.
    pub fn new(config: &Mobility, rncs: &[&str], terminals: &[String], streams: &Streams) -> Self {
        let cells = cells(&config.site, rncs);
        let systems: Vec<Sector> = config.system.iter().map(|s| Sector { at: s.at, direction: None }).collect();
        let sites = config.site.len() + systems.len();
        let terminal = |(n, name): (usize, &String)| {
            let way = &config.movement[n % config.movement.len()];
            let mut movement = way.config().build(streams.stream(name, "movement"));
            let place = movement.position(Instant::ZERO);
            Terminal {
                movement,
                shadow: Shadow::new(&config.shadowing, sites, streams.stream(name, "shadowing")),
                place,
                pilots: vec![Level::default(); cells.len()],
                systems: vec![Level::default(); systems.len()],
                next: vec![Decibel::ZERO; cells.len()],
                next_systems: vec![Decibel::ZERO; systems.len()],
                set: ActiveSet::new(0, cells.len()),
                dedicated: false,
                away: None,
                pause: None,
                rnc: 0,
                better: vec![Held::default(); cells.len()],
                heard: vec![Held::default(); systems.len()],
                drifted: Held::default(),
                past: Past::default(),
            }
        };
        let terminals = terminals.iter().enumerate().map(terminal).collect();
        let (due, pauses, steps) = (Instant::ZERO, BinaryHeap::new(), VecDeque::new());
        Self { config: config.clone(), cells, systems, terminals, due, pauses, steps }
    }

    /// The first measurement: each terminal is at the best cell, and its RLC ends at the RNC of that.
    pub fn start(&mut self, channel: &mut dyn Channel, attachment: &mut dyn Attachment) {
        for n in 0..self.terminals.len() {
            self.look_ahead(n, Instant::ZERO);
            channel.on_gains(Instant::ZERO, n as u32, &self.terminals[n].next);
            self.take_measurement(n);
            let best = best_of(0..self.cells.len() as u32, &self.terminals[n].pilots);
            let terminal = &mut self.terminals[n];
            terminal.set.become_one(best);
            terminal.rnc = self.cells[best as usize].rnc;
            attachment.on_cell(Instant::ZERO, n as u32, best);
            self.look_ahead(n, Instant::ZERO + self.config.interval);
            channel.on_gains(Instant::ZERO + self.config.interval, n as u32, &self.terminals[n].next);
        }
        self.due = Instant::ZERO + self.config.interval;
    }

    /// The cells, by number.
    pub fn all_cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells that serve a terminal; the first is that on whose common channels it would be.
    #[inline]
    pub fn cells(&self, terminal: u32) -> &[u32] {
        self.terminals[terminal as usize].set.cells()
    }

    /// Where a terminal's RLC ends.
    #[inline]
    pub fn rnc(&self, terminal: u32) -> u32 {
        self.terminals[terminal as usize].rnc
    }

    /// Whether nothing may be sent to or from a terminal by UMTS.
    #[inline]
    pub fn is_silent(&self, terminal: u32) -> bool {
        let terminal = &self.terminals[terminal as usize];
        terminal.pause.is_some() || terminal.away.is_some()
    }

    /// The other system that serves a terminal.
    #[inline]
    pub fn away(&self, terminal: u32) -> Option<u32> {
        self.terminals[terminal as usize].away
    }

    /// The other systems.
    pub fn systems(&self) -> &[System] {
        &self.config.system
    }

    /// When it wants to be woken next.
    pub fn next_timeout(&self) -> Instant {
        self.pauses.peek().map_or(self.due, |Reverse((at, _))| self.due.min(*at))
    }

    /// The next change; polled after every input until there is none.
    pub fn poll(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// A terminal has dedicated channels now, or has none any more.
    pub fn on_dedicated(&mut self, now: Instant, n: u32, dedicated: bool, attachment: &mut dyn Attachment) {
        if self.terminals[n as usize].dedicated == dedicated {
            return;
        }
        self.add_up(now, n as usize);
        let terminal = &mut self.terminals[n as usize];
        terminal.dedicated = dedicated;
        // The active set is of a terminal with dedicated channels only. A terminal that gives them back is at the cell that joined first,
        // and leaves it for a better one like all others.
        let first = terminal.set.cells()[0];
        terminal.set.become_one(first);
        terminal.better.fill(Held::default());
        if !dedicated {
            attachment.on_cell(now, n, first);
        }
    }

    /// The instant that [`Area::next_timeout`] named has come.
    pub fn on_timeout(&mut self, now: Instant, channel: &mut dyn Channel, attachment: &mut dyn Attachment) {
        while let Some(&Reverse((at, n))) = self.pauses.peek()
            && at <= now
        {
            self.pauses.pop();
            self.end_pause(now, n);
        }
        if self.due > now {
            return;
        }
        self.due = now + self.config.interval;
        for n in 0..self.terminals.len() {
            self.take_measurement(n);
            self.look_ahead(n, self.due);
            channel.on_gains(self.due, n as u32, &self.terminals[n].next);
            if self.terminals[n].pause.is_none() {
                self.decide(now, n, channel, attachment);
            }
        }
    }

    /// The measurement computed ahead takes place.
    fn take_measurement(&mut self, n: usize) {
        let Terminal { pilots, systems, next, next_systems, .. } = &mut self.terminals[n];
        for (level, gain) in pilots.iter_mut().zip(next) {
            *level = self.config.pilot + *gain;
        }
        for ((level, gain), system) in systems.iter_mut().zip(next_systems).zip(&self.config.system) {
            *level = system.power + *gain;
        }
    }

    /// Computes what a terminal will measure at `at`.
    fn look_ahead(&mut self, n: usize, at: Instant) {
        let Self { config, cells, systems, terminals, .. } = self;
        let terminal = &mut terminals[n];
        let place = terminal.movement.position(at);
        if place == terminal.place && at > Instant::ZERO {
            return;
        }
        terminal.shadow.move_by(terminal.place.distance(place));
        terminal.place = place;
        for (gain, cell) in terminal.next.iter_mut().zip(cells) {
            let shadow = terminal.shadow.to(cell.node_b as usize);
            *gain = coupling_gain(&cell.sector, &config.antenna, &config.path_loss, shadow, place);
        }
        for ((gain, sector), site) in terminal.next_systems.iter_mut().zip(systems).zip(config.site.len()..) {
            let shadow = terminal.shadow.to(site);
            *gain = coupling_gain(sector, &config.antenna, &config.path_loss, shadow, place);
        }
    }

    /// What follows for a terminal from what it measured.
    fn decide(&mut self, now: Instant, n: usize, channel: &mut dyn Channel, attachment: &mut dyn Attachment) {
        if let Some(system) = self.terminals[n].away {
            return self.come_back(now, n, system, attachment);
        }
        if self.go_away(now, n, attachment) || self.go_elsewhere(now, n, channel, attachment) {
            return;
        }
        if self.terminals[n].dedicated && self.renew_set(now, n, attachment) {
            channel.on_new_link(now, n as u32);
            return;
        }
        self.relocate(now, n);
    }

    /// Another system takes a terminal that hears it well.
    fn go_away(&mut self, now: Instant, n: usize, attachment: &mut dyn Attachment) -> bool {
        let terminal = &mut self.terminals[n];
        let own = terminal.pilots[terminal.set.best(&terminal.pilots) as usize];
        let mut chosen = None;
        for (number, system) in self.config.system.iter().enumerate() {
            let poor = system.only_below.is_none_or(|below| own < below);
            let wanted = terminal.systems[number] > system.enter && poor;
            if terminal.heard[number].note(now, wanted, system.held) && chosen.is_none() {
                chosen = Some(number);
            }
        }
        let Some(number) = chosen else { return false };
        self.add_up(now, n);
        let terminal = &mut self.terminals[n];
        terminal.away = Some(number as u32);
        terminal.heard.fill(Held::default());
        terminal.past.count(Kind::Intersystem);
        attachment.on_leave(now, n as u32);
        self.steps.push_back(Step::Left(n as u32, number as u32));
        self.pause(now, n, self.config.system[number].interruption, Then::Resume);
        true
    }

    /// A terminal comes back from another system that it hears poorly.
    fn come_back(&mut self, now: Instant, n: usize, number: u32, attachment: &mut dyn Attachment) {
        let system = &self.config.system[number as usize];
        let terminal = &mut self.terminals[n];
        let poor = terminal.systems[number as usize] < system.leave;
        if !terminal.heard[number as usize].note(now, poor, system.held) {
            return;
        }
        let best = best_of(0..self.cells.len() as u32, &terminal.pilots);
        if terminal.dedicated && !attachment.add_leg(now, n as u32, best) {
            return; // It is asked for again.
        }
        let interruption = system.interruption;
        self.add_up(now, n);
        let terminal = &mut self.terminals[n];
        terminal.away = None;
        terminal.heard.fill(Held::default());
        terminal.better.fill(Held::default());
        terminal.drifted.restart();
        terminal.set.become_one(best);
        terminal.past.count(Kind::Intersystem);
        if !terminal.dedicated {
            attachment.on_cell(now, n as u32, best);
        }
        self.steps.push_back(Step::Returned(n as u32, number));
        self.pause(now, n, interruption, Then::Resume);
    }

    /// A better cell of another carrier takes a terminal, or any better cell one without dedicated channels.
    fn go_elsewhere(
        &mut self,
        now: Instant,
        n: usize,
        channel: &mut dyn Channel,
        attachment: &mut dyn Attachment,
    ) -> bool {
        let terminal = &mut self.terminals[n];
        let rule = if terminal.dedicated { &self.config.hard } else { &self.config.reselection };
        let best = terminal.set.best(&terminal.pilots);
        let carrier = self.cells[best as usize].carrier;
        let threshold = terminal.pilots[best as usize] + rule.by;
        let mut chosen = None;
        for (number, cell) in self.cells.iter().enumerate() {
            let other = if terminal.dedicated { cell.carrier != carrier } else { number != best as usize };
            let better = other && terminal.pilots[number] > threshold;
            if terminal.better[number].note(now, better, rule.held)
                && chosen.is_none_or(|chosen: u32| terminal.pilots[number] > terminal.pilots[chosen as usize])
            {
                chosen = Some(number as u32);
            }
        }
        let Some(cell) = chosen else { return false };
        let dedicated = terminal.dedicated;
        let room =
            if dedicated { attachment.add_leg(now, n as u32, cell) } else { attachment.on_cell(now, n as u32, cell) };
        if !room {
            return false;
        }
        if dedicated {
            for former in self.terminals[n].set.cells() {
                attachment.drop_leg(now, n as u32, *former);
            }
        }
        let (kind, interruption) = match dedicated {
            true => (Kind::Hard, self.config.hard.interruption),
            false => (Kind::Reselection, self.config.reselection.interruption),
        };
        self.break_to(now, n, cell, kind);
        self.pause(now, n, interruption, Then::Resume);
        channel.on_new_link(now, n as u32);
        true
    }

    /// All links of a terminal end, and one to this cell begins.
    fn break_to(&mut self, now: Instant, n: usize, cell: u32, kind: Kind) {
        self.add_up(now, n);
        let terminal = &mut self.terminals[n];
        terminal.set.become_one(cell);
        terminal.better.fill(Held::default());
        terminal.past.count(kind);
        self.steps.push_back(Step::Broken(n as u32));
    }

    /// Cells join and leave the active set. Whether that broke the link.
    fn renew_set(&mut self, now: Instant, n: usize, attachment: &mut dyn Attachment) -> bool {
        self.add_up(now, n);
        let (cells, rules) = (&self.cells, &self.config.soft);
        let Terminal { set, pilots, past, .. } = &mut self.terminals[n];
        let carrier = cells[set.cells()[0] as usize].carrier;
        let mut members: Vec<u32> = set.cells().to_vec();
        let mut broken = None;
        set.measure(
            now,
            rules,
            pilots,
            |cell| cells[cell as usize].carrier == carrier,
            |change| {
                let (joins, leaves) = match change {
                    SetChange::Add(cell) => (Some(cell), None),
                    SetChange::Drop(cell) => (None, Some(cell)),
                    SetChange::Replace(former, cell) => (Some(cell), Some(former)),
                };
                if joins.is_some_and(|cell| !attachment.add_leg(now, n as u32, cell)) {
                    return false;
                }
                if let Some(cell) = leaves {
                    attachment.drop_leg(now, n as u32, cell);
                    members.retain(|member| *member != cell);
                }
                if let (SetChange::Replace(..), 1) = (change, rules.most) {
                    broken = joins;
                } else {
                    // Of a replacement the newcomer says what it is.
                    let node_b = |cell: u32| cells[cell as usize].node_b;
                    let new = joins.or(leaves).map(node_b);
                    let softer = members.iter().any(|member| Some(node_b(*member)) == new);
                    past.count(if softer { Kind::Softer } else { Kind::Soft });
                }
                members.extend(joins);
                true
            },
        );
        let Some(cell) = broken else { return false };
        self.break_to(now, n, cell, Kind::Hard);
        self.pause(now, n, self.config.hard.interruption, Then::Resume);
        true
    }

    /// The RLC of a terminal moves to the RNC at whose Node Bs it is.
    fn relocate(&mut self, now: Instant, n: usize) {
        let Some(rule) = &self.config.relocation else { return };
        let terminal = &mut self.terminals[n];
        let away = terminal.set.cells().iter().all(|cell| self.cells[*cell as usize].rnc != terminal.rnc);
        if !terminal.drifted.note(now, away, rule.held) {
            return;
        }
        let best = terminal.set.best(&terminal.pilots);
        terminal.drifted.restart();
        self.steps.push_back(Step::Paused(n as u32));
        let (pause, rnc) = (rule.pause, self.cells[best as usize].rnc);
        self.pause(now, n, pause, Then::Relocate(rnc));
    }

    /// A terminal is silent for some time.
    fn pause(&mut self, now: Instant, n: usize, time: Duration, then: Then) {
        self.add_up(now, n);
        let until = now + time;
        self.terminals[n].pause = Some((until, then));
        self.pauses.push(Reverse((until, n as u32)));
    }

    fn end_pause(&mut self, now: Instant, n: u32) {
        self.add_up(now, n as usize);
        let terminal = &mut self.terminals[n as usize];
        let Some((_, then)) = terminal.pause.take() else { return };
        if let Then::Relocate(rnc) = then {
            terminal.rnc = rnc;
            terminal.past.count(Kind::Relocation);
            self.steps.push_back(Step::Relocated(n));
        }
        self.steps.push_back(Step::Resumed(n));
    }

    /// Whether cells of several Node Bs serve a terminal, and whether several of one do.
    fn diversity(&self, terminal: &Terminal) -> (bool, bool) {
        let node_b = |cell: &u32| self.cells[*cell as usize].node_b;
        let cells = terminal.set.cells();
        let soft = cells.iter().any(|cell| node_b(cell) != node_b(&cells[0]));
        let softer = (1..cells.len()).any(|n| cells[..n].iter().any(|cell| node_b(cell) == node_b(&cells[n])));
        (soft, softer)
    }

    fn present(&self, terminal: &Terminal) -> Present {
        let (soft, softer) = self.diversity(terminal);
        let here = terminal.away.is_none();
        let cells = if here { terminal.set.cells().len() as u32 } else { 0 };
        Present { cells, soft: here && soft, softer: here && softer, silent: terminal.pause.is_some(), away: !here }
    }

    fn add_up(&mut self, now: Instant, n: usize) {
        let present = self.present(&self.terminals[n]);
        self.terminals[n].past.add(now, present);
    }

    /// What it knows of a terminal.
    pub fn sample(&self, now: Instant, n: u32, probe: &mut dyn Probe) {
        let terminal = &self.terminals[n as usize];
        let present = self.present(terminal);
        let mut past = terminal.past;
        past.add(now, present);
        past.sample(probe);
        let seconds = now.as_secs_f64();
        probe.value("active_set", f64::from(present.cells));
        probe.value("cell", f64::from(terminal.set.best(&terminal.pilots)));
        probe.value("rnc", f64::from(terminal.rnc));
        probe.value("silent", f64::from(u8::from(present.silent)));
        probe.value("other_system", terminal.away.map_or(0.0, |number| f64::from(number + 1)));
        probe.value("pilot_dbm", terminal.pilots[terminal.set.best(&terminal.pilots) as usize].dbm());
        if seconds > 0.0 {
            probe.value("active_set_mean", past.cell_seconds() / seconds);
        }
    }
}

/// The best of some cells, by the measurements of all.
fn best_of(cells: impl Iterator<Item = u32>, measured: &[Level]) -> u32 {
    let better = |a: u32, b: u32| if measured[b as usize] > measured[a as usize] { b } else { a };
    cells.reduce(better).unwrap_or_default()
}
