//! What one part of the network shows of itself: a direction of a link, an end of a flow.

use crate::net::{FlowId, Histogram, Probe, Simulation, What};

/// The values of one part, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// What it is; not known of a flow's sender, which is all that is shown.
    pub what: Option<What>,
    pub name: String,
    values: Vec<(&'static str, f64)>,
    distributions: Vec<(&'static str, Distribution)>,
}

/// The statistics reported of a distribution.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Distribution {
    /// Median and 95th percentile.
    pub quantiles: [Option<f64>; 2],
    /// The mean.
    pub mean: Option<f64>,
    /// How many values it has.
    pub samples: u64,
}

impl Distribution {
    /// Those of a histogram, whose values are multiplied by `scale`.
    pub fn of(histogram: &Histogram, scale: f64) -> Self {
        let at = |q| histogram.quantile(q).map(|v| v * scale);
        let mean = histogram.mean().map(|v| v * scale);
        Self { quantiles: [at(0.5), at(0.95)], mean, samples: histogram.len() }
    }

    /// The values with the endings of their names.
    fn values(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let [median, high] = self.quantiles;
        let all = [("p50", median), ("p95", high), ("mean", self.mean), ("samples", Some(self.samples as f64))];
        all.into_iter().filter_map(|(which, value)| Some((which, value?)))
    }
}

impl Part {
    /// The value of this name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    /// The distribution of this name; empty if there is none.
    pub fn distribution(&self, name: &str) -> Distribution {
        self.distributions.iter().find(|(n, _)| *n == name).map_or_else(Distribution::default, |(_, all)| *all)
    }

    /// The value of this name, or of a distribution with the ending of the value: `rtt_ms_p95`.
    pub fn any(&self, name: &str) -> Option<f64> {
        self.value(name).or_else(|| {
            self.distributions.iter().find_map(|(distribution, of)| {
                let which = name.strip_prefix(distribution)?.strip_prefix('_')?;
                of.values().find(|(other, _)| *other == which).map(|(_, value)| value)
            })
        })
    }

    /// Values with their names, without distributions.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.values.iter().copied()
    }

    /// All values with their names, those of distributions too.
    pub fn all(&self) -> impl Iterator<Item = (String, f64)> + '_ {
        let of = |(name, all): &(&'static str, Distribution)| {
            let name = *name;
            all.values().map(move |(which, value)| (format!("{name}_{which}"), value)).collect::<Vec<_>>()
        };
        let values = self.values.iter().map(|(name, value)| ((*name).to_owned(), *value));
        values.chain(self.distributions.iter().flat_map(of))
    }

    /// What a flow's sender shows.
    pub fn of_sender(simulation: &Simulation, flow: FlowId) -> Self {
        let mut sender = Self::default();
        each(|probe| simulation.sample_sender(flow, probe), |part| sender = part.clone());
        sender
    }
}

/// How the distributions of parts are read.
pub(super) trait Reading {
    /// Whether the distribution of this name is wanted: means and quantiles take longer than all values.
    fn wants(&self, name: &'static str) -> bool;

    /// The statistics of a distribution of a part, whose values are multiplied by `scale`.
    fn read(&mut self, part: &Part, name: &'static str, histogram: &Histogram, scale: f64) -> Distribution;
}

/// All distributions, as they are since the start of the run.
struct SinceStart;

impl Reading for SinceStart {
    fn wants(&self, _name: &'static str) -> bool {
        true
    }

    fn read(&mut self, _part: &Part, _name: &'static str, histogram: &Histogram, scale: f64) -> Distribution {
        Distribution::of(histogram, scale)
    }
}

/// Gives `see` the parts that `sample` shows, one after the other: those of a large network
/// would take more memory than the network.
pub(super) fn each(sample: impl FnOnce(&mut dyn Probe), see: impl FnMut(&Part)) {
    each_with(SinceStart, sample, see);
}

/// The same with another reading of distributions.
pub(super) fn each_with(reading: impl Reading, sample: impl FnOnce(&mut dyn Probe), see: impl FnMut(&Part)) {
    // Most parts have fewer values.
    let current = Part { values: Vec::with_capacity(32), ..Part::default() };
    let mut parts = Parts { current, any: false, reading, see };
    sample(&mut parts);
    parts.end();
}

/// Collects the values of one part, and passes them on when the next part begins.
struct Parts<R: Reading, F: FnMut(&Part)> {
    current: Part,
    any: bool,
    reading: R,
    see: F,
}

impl<R: Reading, F: FnMut(&Part)> Parts<R, F> {
    fn end(&mut self) {
        if std::mem::take(&mut self.any) {
            (self.see)(&self.current);
        }
        self.current.values.clear();
        self.current.distributions.clear();
    }
}

impl<R: Reading, F: FnMut(&Part)> Probe for Parts<R, F> {
    fn part(&mut self, what: What, name: &str) {
        self.end();
        self.any = true;
        self.current.what = Some(what);
        self.current.name.clear();
        self.current.name.push_str(name);
    }

    fn value(&mut self, name: &'static str, value: f64) {
        self.any = true;
        self.current.values.push((name, value));
    }

    fn distribution(&mut self, name: &'static str, scale: f64, histogram: &Histogram) {
        self.any = true;
        if self.reading.wants(name) {
            let statistics = self.reading.read(&self.current, name, histogram, scale);
            self.current.distributions.push((name, statistics));
        }
    }

    fn wants(&self, name: &'static str) -> bool {
        self.reading.wants(name)
    }
}
