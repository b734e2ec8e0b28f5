//! One run of a scenario: builds it, moves the clock from change to change and from sample to
//! sample, and makes the tables.

use std::any::Any;

use crate::engine::{Duration, Instant};
use crate::measure::recorder::{Labels, Recorder, Wanted};
use crate::measure::series::Series;
use crate::measure::table::Table;
use crate::measure::totals;
use crate::net::simulation::Progress;
use crate::net::{Access, Observation, Observer, Peer, RunError, Simulation, What};

use super::builder::{self, BuildError, Built, Changing};
use super::change::{self, Change};
use super::ramp::Ramp;
use super::types::Scenario;

/// A run that is under way.
pub struct Run {
    built: Built,
    end: Instant,
    /// Changes that have not happened, the last one first, with their places in the scenario.
    changes: Vec<(usize, Change)>,
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
    /// The observer that was given to [`Run::new`].
    pub observer: Option<Box<dyn Any>>,
}

impl Results {
    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|(n, _)| *n == name).map(|(_, table)| table)
    }
}

impl Run {
    /// Builds `scenario` with the random streams of `seed`. `observer` looks at the run beside
    /// the recorder, and comes back with the results.
    ///
    /// # Errors
    /// A scenario that cannot be built.
    pub fn new(scenario: &Scenario, seed: u64, observer: Option<Box<dyn Observer>>) -> Result<Self, BuildError> {
        let record = &scenario.record;
        let wanted = Wanted {
            packets: record.packets,
            variables: record.variables,
            handovers: record.handovers,
            slots: record.slots,
        };
        let recorder: Option<Box<dyn Observer>> =
            (wanted.anything() || observer.is_some()).then(|| Box::new(Recorder::new(wanted, observer)) as _);
        let mut built = builder::build(scenario, seed, recorder)?;
        built.simulation.set_most_rows(record.most_rows, record.transfers);
        if !record.transfer_quantities.is_empty() {
            built.simulation.mark_transfers(&record.transfer_quantities);
        }
        let mut changes: Vec<(usize, Change)> = change::expanded(&scenario.change).into_iter().enumerate().collect();
        changes.sort_by_key(|(number, change)| std::cmp::Reverse((change.at, *number)));
        Ok(Self {
            built,
            end: Instant::ZERO + scenario.duration,
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

    /// Goes on, for at most about `events` events. At the end of the run it checks that packets
    /// are conserved.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn advance(&mut self, mut events: u64) -> Result<Progress, RunError> {
        loop {
            let change = self.changes.last().map(|(_, change)| Instant::ZERO + change.at);
            let step = self.ramps.iter().map(Ramp::due).min();
            // Computed from its number, so that samples do not drift.
            let sample = self.series.as_ref().map(|(interval, _)| Instant::ZERO + *interval * self.samples);
            let switch = self.built.switches.last().map(|(at, ..)| *at);
            let before = self.built.simulation.events();
            let stop = [change, step, sample, switch].into_iter().flatten().fold(self.end, Instant::min);
            if self.built.simulation.run_until(stop, events)? == Progress::Paused {
                return Ok(Progress::Paused);
            }
            // Whatever happens at the stop counts as well.
            events = events.saturating_sub(1 + self.built.simulation.events() - before);
            if sample == Some(stop)
                && let Some((_, series)) = &mut self.series
            {
                let rows = series.sample(&self.built.simulation, &self.built.flows);
                self.built.simulation.check_rows("series", series.rows())?;
                self.samples += 1;
                events = events.saturating_sub(rows);
            }
            if stop < self.end {
                if change == Some(stop) {
                    self.change();
                } else if step == Some(stop) {
                    self.step(stop);
                } else if switch == Some(stop)
                    && let Some((_, group, node, joins)) = self.built.switches.pop()
                {
                    self.built.simulation.set_member(group, node, joins);
                }
            } else {
                self.built.simulation.check_conservation()?;
                self.built.simulation.check_size()?;
                return Ok(Progress::Reached);
            }
        }
    }

    /// Goes on to the end.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn complete(&mut self) -> Result<(), RunError> {
        while self.advance(u64::MAX)? == Progress::Paused {}
        Ok(())
    }

    /// Makes the next change of the scenario.
    fn change(&mut self) {
        let Some((number, change)) = self.changes.pop() else { return };
        let Some(&Changing { medium, places }) = self.built.links.get(&change.link) else { return };
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
        let what = builder::change(simulation.core(), &change, number);
        simulation.change(medium, what);
    }

    /// Makes the steps of ramps that are due now.
    fn step(&mut self, now: Instant) {
        for ramp in self.ramps.iter_mut().filter(|ramp| ramp.due() == now) {
            let change = crate::net::Change { rate: Some(ramp.take()), ..Default::default() };
            self.built.simulation.change(ramp.medium, change);
        }
        self.ramps.retain(|ramp| !ramp.is_over());
    }

    /// Makes the tables of what has happened so far.
    pub fn finish(mut self) -> Results {
        let simulation = &mut self.built.simulation;
        let recorder = simulation.take_observer().and_then(|o| o.into_any().downcast::<Recorder>().ok());
        let flows = &self.built.flows;
        let simulation = &self.built.simulation;
        let mut tables = vec![("flows", totals::flows(simulation, flows))];
        if self.transfers {
            tables.push(("transfers", totals::transfers(simulation, flows)));
            tables.extend(totals::transfer_state(simulation, flows).map(|table| ("transfer_state", table)));
        }
        tables.push(("links", totals::links(simulation)));
        tables.push(("drops", totals::drops(simulation, flows)));
        for (name, what) in [("cells", What::Cell), ("bearers", What::Bearer)] {
            tables.extend(totals::parts(simulation, what).map(|table| (name, table)));
        }
        if self.state {
            tables.push(("state", totals::state(simulation, flows)));
        }
        if let Some((_, series)) = self.series {
            tables.push(("series", series.table()));
        }
        let mut observer = None;
        if let Some(mut recorder) = recorder {
            tables.extend(recorder.tables(&Labels {
                node: &|node| simulation.node_name(node).to_owned(),
                place: &|place| simulation.core().place_name(place).to_owned(),
                flow: &|flow| flows.get(flow.0 as usize).map_or_else(String::new, |f| f.name.clone()),
            }));
            observer = recorder.take_next().map(Observer::into_any);
        }
        Results { tables, packet_hops: simulation.core().counters().hops, observer }
    }
}
