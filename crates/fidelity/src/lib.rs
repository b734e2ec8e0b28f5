//! Holds lasthop's runs in profile `ns2` against traces of ns-2.35, and of EURANE.
//!
//! A family is a folder with an `index.json`, which describes scenarios, and CSV files with what
//! happened in them. Each scenario is built from its description alone, run, and compared: event
//! by event where ns-2 is deterministic, by means over seeds where it is not. A key of the index
//! that this crate does not know is a failure, never ignored.
//!
//! Read [`index`] for the description, [`build`] for what is made of it, [`watch`] and
//! [`compare`] for the comparison.

pub mod bins;
pub mod build;
pub mod compare;
mod eurane;
pub mod index;
mod known;
pub mod means;
pub mod mrg;
pub mod queue_length;
pub mod random_loss;
pub mod report;
mod rlm;
mod satellite;
pub mod tfrc;
pub mod watch;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use index::Family;
use report::{Line, Outcome};

/// Compares a folder of one family, with this many threads.
pub fn folder(path: &Path, jobs: usize) -> Vec<Line> {
    let name = path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
    let line = |scenario: &str, outcome| Line { family: name.clone(), scenario: scenario.to_owned(), outcome };
    if let Some(outcomes) = eurane::folder(path, jobs) {
        return known::explain(path, outcomes).into_iter().map(|(s, outcome)| line(&s, outcome)).collect();
    }
    if let Some(outcomes) = satellite::folder(path).or_else(|| rlm::folder(path, jobs)) {
        return outcomes.into_iter().map(|(scenario, outcome)| line(&scenario, outcome)).collect();
    }
    let family = match Family::read(path) {
        Ok(family) => family,
        Err(message) => return vec![line("", Outcome::Failed(message))],
    };
    match family {
        Family::Unsupported(scenarios) => {
            scenarios.iter().map(|id| line(id, Outcome::Unsupported("another kind of scenario".to_owned()))).collect()
        }
        Family::Exact(cases) => {
            let (bins, events): (Vec<_>, Vec<_>) =
                cases.into_iter().partition(|case| case.as_ref().is_ok_and(|case| case.bins));
            let bins: Vec<_> = bins.into_iter().filter_map(Result::ok).collect();
            let lines = compare::family(path, &events, jobs).into_iter().chain(bins::family(path, &bins, jobs));
            lines.map(|(scenario, outcome)| line(&scenario, outcome)).collect()
        }
        Family::Tfrc(cases, statistical) => compare::family(path, &cases, jobs)
            .into_iter()
            .chain(tfrc::compare(path, &statistical, jobs))
            .map(|(scenario, outcome)| line(&scenario, outcome))
            .collect(),
        Family::RandomLoss(family) => random_loss::compare(&family, jobs)
            .into_iter()
            .map(|(scenario, outcome)| line(&scenario, outcome))
            .collect(),
    }
}

/// Applies `work` to each item with `jobs` threads; results are in the order of the items.
pub(crate) fn in_parallel<'a, T: Sync, R: Send>(
    jobs: usize,
    items: &'a [T],
    work: impl Fn(&'a T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { return };
                    let result = work(item);
                    results.lock().expect("no thread panics while it holds the results").push((place, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("all threads have ended");
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}
