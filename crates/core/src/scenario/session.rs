//! A session: the network of a scenario, which a caller advances, observes and changes. Changes, joins and samples of the scenario happen
//! at their instants, however the session is advanced; a run is a session that goes on to the end in one go.

use std::any::Any;

use crate::engine::fault::shown;
use crate::engine::{Duration, Fault, Instant};
use crate::measure::labels::Labels;
use crate::measure::recorder::{Recorder, Wanted};
use crate::measure::series::Series;
use crate::measure::table::Table;
use crate::measure::totals;
use crate::net::simulation::{HandedOut, Progress};
use crate::net::{
    Access, Cause, FlowId, GroupId, NodeId, Observation, Observer, Packet, Peer, Place, RunError, Simulation, What,
};

use super::builder::{self, BuildError, Built, Changes};
use super::change::{self, Change};
use super::diagnostic::listed;
use super::media::changeable::Changeable;
use super::ramp::Ramp;
use super::types::Scenario;

/// A scenario that is under way.
pub struct Session {
    built: Built,
    end: Instant,
    /// Changes of the scenario that have not happened, the last one first, with their numbers.
    changes: Vec<(usize, Change)>,
    /// The number of the next change that the scenario does not have.
    next_change: usize,
    /// Rates on their way to new values.
    ramps: Vec<Ramp>,
    series: Option<(Duration, Series)>,
    /// Whether the tables `transfers` and `state` are wanted.
    transfers: bool,
    state: bool,
    samples: u64,
}

/// What a run gives.
pub struct Results {
    /// The tables by name.
    pub tables: Vec<(&'static str, Table)>,
    /// Transmissions that ended at the far side of a link.
    pub packet_hops: u64,
    /// The observer that was given to [`Session::new`].
    pub observer: Option<Box<dyn Any>>,
}

impl Results {
    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|(n, _)| *n == name).map(|(_, table)| table)
    }
}

impl Session {
    /// Builds `scenario` with the random streams of `seed`. `observer` looks at the run beside
    /// the recorder, and comes back with the results.
    ///
    /// # Errors
    /// A scenario that cannot be built.
    pub fn new(scenario: &Scenario, seed: u64, observer: Option<Box<dyn Observer>>) -> Result<Self, BuildError> {
        Self::with(scenario, seed, observer, Changes::Written)
    }

    /// The same, for a run to which its caller may make [`Session::change`]s: trees follow them, and the table `handovers` has them.
    ///
    /// # Errors
    /// As for [`Session::new`].
    pub fn changeable(scenario: &Scenario, seed: u64, observer: Option<Box<dyn Observer>>) -> Result<Self, BuildError> {
        Self::with(scenario, seed, observer, Changes::Any)
    }

    fn with(
        scenario: &Scenario,
        seed: u64,
        observer: Option<Box<dyn Observer>>,
        changes: Changes,
    ) -> Result<Self, BuildError> {
        let record = &scenario.record;
        let wanted = Wanted {
            packets: record.packets || record.hops,
            hops: record.hops,
            variables: record.variables,
            handovers: record.handovers,
            slots: record.slots,
        };
        let recorder: Option<Box<dyn Observer>> =
            (wanted.anything() || observer.is_some()).then(|| Box::new(Recorder::new(wanted, observer)) as _);
        let mut built = builder::build_with(scenario, seed, recorder, changes)?;
        built.simulation.set_most_rows(record.most_rows, record.transfers);
        if !record.transfer_quantities.is_empty() {
            built.simulation.mark_transfers(&record.transfer_quantities);
        }
        let mut changes: Vec<(usize, Change)> = change::expanded(&scenario.change).into_iter().enumerate().collect();
        changes.sort_by_key(|(number, change)| std::cmp::Reverse((change.at, *number)));
        Ok(Self {
            built,
            end: Instant::ZERO + scenario.duration,
            next_change: changes.len(),
            changes,
            ramps: Vec::new(),
            series: scenario.record.series.map(|interval| (interval, Series::new(&scenario.record.quantities))),
            transfers: scenario.record.transfers,
            state: scenario.record.state,
            samples: 0,
        })
    }

    /// The present.
    pub fn now(&self) -> Instant {
        self.built.simulation.now()
    }

    /// The end of the run.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// The network.
    pub fn simulation(&self) -> &Simulation {
        &self.built.simulation
    }

    /// When something happens next: an event of the network, or something that the scenario says. An event may turn out to be an old
    /// wake-up with nothing due. `None` at the end.
    pub fn next_event(&mut self) -> Option<Instant> {
        let next = self.built.simulation.next_event().into_iter().chain(self.agenda()).min()?;
        (next < self.end).then_some(next)
    }

    /// Goes on to the end, for at most about `events` events. There it checks that packets are conserved.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn advance(&mut self, events: u64) -> Result<Progress, RunError> {
        self.advance_to(self.end, events)
    }

    /// Goes on to `until`, for at most about `events` events; not beyond the end. Whatever is due at `until` itself belongs to the next
    /// call, so that a change or a look comes before it; but a sample that is due is made, since it comes before all else.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn advance_to(&mut self, until: Instant, mut events: u64) -> Result<Progress, RunError> {
        // An instant that is past is the present: the clock never goes back.
        let until = until.max(self.now()).min(self.end);
        loop {
            let before = self.built.simulation.events();
            let due = self.agenda().filter(|due| *due < until);
            let stop = due.unwrap_or(until);
            if self.built.simulation.run_until(stop, events)? == Progress::Paused {
                return Ok(Progress::Paused);
            }
            // Whatever happens at the stop counts as well.
            events = events.saturating_sub(1 + self.built.simulation.events() - before);
            if self.next_sample() == Some(stop)
                && let Some((_, series)) = &mut self.series
            {
                let rows = series.sample(&self.built.simulation, &self.built.flows);
                self.built.simulation.check_rows("series", series.rows())?;
                self.samples += 1;
                events = events.saturating_sub(rows);
            }
            if due.is_none() && stop < self.end {
                return Ok(Progress::Reached);
            }
            if stop == self.end {
                self.built.simulation.check_conservation()?;
                self.built.simulation.check_size()?;
                return Ok(Progress::Reached);
            }
            if self.next_change() == Some(stop) {
                events = events.saturating_sub(self.make_change());
            } else if self.next_step() == Some(stop) {
                self.step(stop);
            } else if self.next_switch() == Some(stop)
                && let Some((_, group, node, joins)) = self.built.switches.pop()
            {
                self.built.simulation.set_member(group, node, joins);
            }
        }
    }

    /// When the scenario has something to do next.
    fn agenda(&self) -> Option<Instant> {
        [self.next_change(), self.next_step(), self.next_sample(), self.next_switch()].into_iter().flatten().min()
    }

    fn next_change(&self) -> Option<Instant> {
        self.changes.last().map(|(_, change)| Instant::ZERO + change.at)
    }

    fn next_step(&self) -> Option<Instant> {
        self.ramps.iter().map(Ramp::due).min()
    }

    fn next_sample(&self) -> Option<Instant> {
        // Computed from its number, so that samples do not drift.
        self.series.as_ref().map(|(interval, _)| Instant::ZERO + *interval * self.samples)
    }

    fn next_switch(&self) -> Option<Instant> {
        self.built.switches.last().map(|(at, ..)| *at)
    }

    /// Goes on to the end.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn complete(&mut self) -> Result<(), RunError> {
        while self.advance(u64::MAX)? == Progress::Paused {}
        Ok(())
    }

    /// Injects a packet at `node`, now: it goes to an endpoint there, or on, and counts as sent.
    ///
    /// # Errors
    /// If its addresses are not of this network, or it belongs to a flow that there is not.
    pub fn inject(&mut self, node: NodeId, packet: Packet) -> Result<(), Fault> {
        self.built.simulation.inject(node, packet)
    }

    /// Counts what `place` has dropped of an injected flow for `cause` as another's: a caller with ever new flows bounds the table `drops` so.
    pub fn count_drops_as(&mut self, place: Place, cause: Cause, flow: FlowId, other: FlowId) {
        self.built.simulation.core_mut().count_drops_as(place, cause, flow, other);
    }

    /// From now on packets to these nodes that are for no endpoint there are handed out: [`Session::take_handed_out`] gives them.
    pub fn hand_out_at(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            self.built.simulation.hand_out_at(node);
        }
        self.built.simulation.route();
    }

    /// The groups in the order of the scenario, without those of layered sessions.
    pub fn groups(&self) -> &[(String, GroupId)] {
        &self.built.groups
    }

    /// A node begins or ceases to listen to a group now.
    pub fn set_member(&mut self, group: GroupId, node: NodeId, joins: bool) {
        self.built.simulation.set_member(group, node, joins);
    }

    /// Packets to a group are injected at this node from now on.
    pub fn send_to_group(&mut self, group: GroupId, node: NodeId) {
        self.built.simulation.send_to_group(group, node);
    }

    /// Moves the packets handed out since the last call to the end of `to`, in the order in which they came.
    pub fn take_handed_out(&mut self, to: &mut Vec<HandedOut>) {
        self.built.simulation.take_handed_out(to);
    }

    /// Changes a link or the way to a terminal now. When the change says that it is made, and how often, does not count.
    ///
    /// # Errors
    /// If there is nothing of this name, or the change makes no sense.
    pub fn change(&mut self, change: &Change) -> Result<(), Fault> {
        let Some(changeable) = self.built.changeables.get(&change.link) else {
            let message = format!("there is no link or terminal {}", shown(&change.link));
            return Err(Fault::new("link", message, format!("known: {}", listed(self.built.changeables.names()))));
        };
        changeable.check(change)?;
        if let Some(loss) = &change.loss {
            loss.config().check().map_err(|fault| fault.below(&format!("loss.{}", loss.name())))?;
        }
        self.next_change += 1;
        self.apply(self.next_change - 1, change);
        Ok(())
    }

    /// What the sender, the receivers, a direction of a link, a cell or a bearer of this name keep at present: rows as in the table
    /// `state`. Empty if there is nothing of this name.
    pub fn look(&self, name: &str) -> Table {
        totals::state_of(&self.built.simulation, &self.built.flows, name)
    }

    /// The flow of this name.
    pub fn flow(&self, name: &str) -> Option<FlowId> {
        self.built.flows.iter().find(|flow| *flow.name == *name).map(|flow| flow.id)
    }

    /// The names of all that can be looked at: flows, then the parts of media.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.built.flows.iter().map(|flow| flow.name.to_string()).collect();
        names.extend(totals::part_names(&self.built.simulation));
        names
    }

    /// Makes the next change of the scenario; says to how many ways.
    fn make_change(&mut self) -> u64 {
        let Some((number, change)) = self.changes.pop() else { return 0 };
        self.apply(number, &change)
    }

    /// Makes a change; the `number` names its random streams. Says how many ways change.
    fn apply(&mut self, number: usize, change: &Change) -> u64 {
        let Some(Changeable { medium, ends, .. }) = self.built.changeables.get(&change.link) else { return 0 };
        let name = format!("change {number}");
        let links = &self.built.links;
        if let Ok(place) = links.binary_search_by_key(&medium, |(medium, _)| *medium) {
            let (_, places) = links[place];
            self.show(medium, places, change);
            let what = builder::change(self.built.simulation.core(), change, &name, Peer::default());
            self.built.simulation.change(medium, what);
            return 1;
        }
        let core = self.built.simulation.core();
        let one = |end: u32| builder::change(core, change, &format!("{name} {end}"), Peer(end));
        let all: Vec<_> = ends.map(one).collect();
        let ways = all.len() as u64;
        self.built.simulation.change_all(medium, all);
        ways
    }

    /// Shows the change of a link as a handover, and begins its ramp.
    fn show(&mut self, medium: u32, places: [Place; 2], change: &Change) {
        let simulation = &mut self.built.simulation;
        // Forward is to peer 1.
        let before = [Peer(1), Peer(0)].map(|to| simulation.access(medium, to));
        let on_its_way = self.ramps.iter().find(|ramp| ramp.medium == medium).map(Ramp::goal);
        for (place, before) in places.into_iter().zip(before) {
            let after = Access {
                rate: change.rate.or(on_its_way).unwrap_or(before.rate),
                delay: change.delay.unwrap_or(before.delay),
                up: change.up.unwrap_or(before.up),
            };
            simulation.core_mut().observe(&Observation::Handover { place, before, after });
        }
        if let Some(rate) = change.rate {
            self.ramps.retain(|ramp| ramp.medium != medium);
            if change.ramp > Duration::ZERO {
                let from = before.map(|access| access.rate);
                self.ramps.push(Ramp::new(medium, simulation.now(), change.ramp, from, rate));
            }
        }
    }

    /// Makes the steps of ramps that are due now.
    fn step(&mut self, now: Instant) {
        for ramp in self.ramps.iter_mut().filter(|ramp| ramp.due() == now) {
            let change = crate::net::Change { rate: Some(ramp.take()), ..Default::default() };
            self.built.simulation.change(ramp.medium, change);
        }
        self.ramps.retain(|ramp| !ramp.is_over());
    }

    /// Makes the tables of the run so far.
    pub fn finish(self) -> Results {
        self.finish_with(&|_| String::new())
    }

    /// The same, with names for the flows of injected packets.
    pub fn finish_with(mut self, outside: &dyn Fn(FlowId) -> String) -> Results {
        let simulation = &mut self.built.simulation;
        let recorder = simulation.take_observer().and_then(|o| o.into_any().downcast::<Recorder>().ok());
        let flows = &self.built.flows;
        let simulation = &self.built.simulation;
        let name = |flow: FlowId| flows.get(flow.0 as usize).map_or_else(|| outside(flow), |f| f.name.to_string());
        let mut tables = vec![("flows", totals::flows(simulation, flows))];
        if self.transfers {
            tables.push(("transfers", totals::transfers(simulation, flows)));
            tables.extend(totals::transfer_state(simulation, flows).map(|table| ("transfer_state", table)));
        }
        tables.push(("links", totals::links(simulation)));
        tables.push(("drops", totals::drops(simulation, &name)));
        for (name, what) in [("cells", What::Cell), ("bearers", What::Bearer)] {
            tables.extend(totals::parts(simulation, what).map(|table| (name, table)));
        }
        tables.extend(totals::media(simulation, flows).map(|table| ("media", table)));
        if self.state {
            tables.push(("state", totals::state(simulation, flows)));
        }
        if let Some((_, series)) = self.series {
            tables.push(("series", series.table()));
        }
        let mut observer = None;
        if let Some(mut recorder) = recorder {
            observer = recorder.take_next().map(Observer::into_any);
            tables.extend(recorder.tables(&Labels {
                node: &|node| simulation.node_name(node).to_owned(),
                place: &|place| simulation.core().place_name(place).to_owned(),
                flow: &name,
            }));
        }
        Results { tables, packet_hops: simulation.core().counters().hops, observer }
    }
}
