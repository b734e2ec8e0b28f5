//! One run of a scenario: builds it, moves the clock from change to change and from sample to
//! sample, and makes the tables.

use std::any::Any;

use crate::engine::{Duration, Instant};
use crate::measure::recorder::{Labels, Recorder, Wanted};
use crate::measure::series::Series;
use crate::measure::table::Table;
use crate::measure::totals;
use crate::net::simulation::Progress;
use crate::net::{Observer, RunError, Simulation, What};

use super::builder::{self, BuildError, Built};
use super::types::{Change, Scenario};

/// A run that is under way.
pub struct Run {
    built: Built,
    end: Instant,
    /// Changes that have not happened, the last one first, with their places in the scenario.
    changes: Vec<(usize, Change)>,
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
        let wanted = Wanted { packets: scenario.record.packets, variables: scenario.record.variables };
        let recorder: Option<Box<dyn Observer>> = (wanted.packets || wanted.variables || observer.is_some())
            .then(|| Box::new(Recorder::new(wanted, observer)) as _);
        let built = builder::build(scenario, seed, recorder)?;
        let mut changes: Vec<(usize, Change)> = scenario.change.iter().cloned().enumerate().collect();
        changes.sort_by_key(|(number, change)| std::cmp::Reverse((change.at, *number)));
        Ok(Self {
            built,
            end: Instant::ZERO + scenario.duration,
            changes,
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
    pub fn advance(&mut self, events: u64) -> Result<Progress, RunError> {
        loop {
            let change = self.changes.last().map(|(_, change)| Instant::ZERO + change.at);
            // Computed from its number, so that samples do not drift.
            let sample = self.series.as_ref().map(|(interval, _)| Instant::ZERO + *interval * self.samples);
            let stop = [change, sample].into_iter().flatten().fold(self.end, Instant::min);
            if self.built.simulation.run_until(stop, events)? == Progress::Paused {
                return Ok(Progress::Paused);
            }
            if sample == Some(stop)
                && let Some((_, series)) = &mut self.series
            {
                series.sample(&self.built.simulation, &self.built.flows);
                self.samples += 1;
            }
            if change == Some(stop) && stop < self.end {
                self.change();
            }
            if stop == self.end {
                self.built.simulation.check_conservation()?;
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

    fn change(&mut self) {
        let Some((number, change)) = self.changes.pop() else { return };
        let Some(&link) = self.built.links.get(&change.link) else { return };
        let what = builder::change(self.built.simulation.core(), &change, number);
        self.built.simulation.change(link, what);
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
