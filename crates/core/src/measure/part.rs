//! What one part of the network shows of itself: a direction of a link, an end of a flow.

use crate::net::{FlowId, Histogram, Probe, Simulation, What};

/// The values of one part, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// What it is; not known of a flow's sender, which is all that is shown.
    pub what: Option<What>,
    pub name: String,
    values: Vec<(&'static str, f64)>,
    /// Median and 95th percentile of distributions.
    quantiles: Vec<(&'static str, [Option<f64>; 2])>,
}

impl Part {
    /// The value of this name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    /// Median and 95th percentile of the distribution of this name.
    pub fn quantiles(&self, name: &str) -> [Option<f64>; 2] {
        self.quantiles.iter().find(|(n, _)| *n == name).map_or([None; 2], |(_, both)| *both)
    }

    /// Values with their names, without distributions.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.values.iter().copied()
    }

    /// All values with their names, and the medians and 95th percentiles of distributions.
    pub fn all(&self) -> impl Iterator<Item = (String, f64)> + '_ {
        let quantile = |(name, [median, high]): &(&str, [Option<f64>; 2])| {
            [("p50", *median), ("p95", *high)].map(|(which, value)| Some((format!("{name}_{which}"), value?)))
        };
        let values = self.values.iter().map(|(name, value)| ((*name).to_owned(), *value));
        values.chain(self.quantiles.iter().flat_map(quantile).flatten())
    }

    /// What a flow's sender shows.
    pub fn of_sender(simulation: &Simulation, flow: FlowId) -> Self {
        let mut sender = Self::default();
        each(|probe| simulation.sample_sender(flow, probe), |part| sender = part.clone());
        sender
    }
}

/// Gives `see` the parts that `sample` shows, one after the other: those of a large network
/// would take more memory than the network.
pub(super) fn each(sample: impl FnOnce(&mut dyn Probe), see: impl FnMut(&Part)) {
    let mut parts = Parts { current: Part::default(), any: false, see };
    sample(&mut parts);
    parts.end();
}

/// Collects what is shown of one part, and passes it on when the next begins.
struct Parts<F: FnMut(&Part)> {
    current: Part,
    any: bool,
    see: F,
}

impl<F: FnMut(&Part)> Parts<F> {
    fn end(&mut self) {
        if std::mem::take(&mut self.any) {
            (self.see)(&self.current);
        }
        self.current.values.clear();
        self.current.quantiles.clear();
    }
}

impl<F: FnMut(&Part)> Probe for Parts<F> {
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
        let at = |q| histogram.quantile(q).map(|v| v * scale);
        self.current.quantiles.push((name, [at(0.5), at(0.95)]));
    }
}
