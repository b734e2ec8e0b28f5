//! Holds lasthop's runs in profile `ns2` against traces of ns-2.35, and of EURANE; and today's congestion controls against logs of their
//! own code.
//!
//! A family is a folder with an `index.json`, which describes scenarios, and CSV files with the events
//! in them. Each scenario is built from its description alone, run, and compared: event
//! by event where ns-2 is deterministic, by means over seeds where it is not. A key of the index
//! that this crate does not know is a failure, never ignored.
//!
//! The logs of today's controllers are another matter: their arithmetic is replayed, or their small sender is built again; only runs of ns-3
//! become scenarios (`modern`).
//!
//! Another reference is the Linux kernel's own TCP: its bulk flows over a bottleneck are made again in profile `linux` (`live`).
//!
//! Read `families` for the families, [`index`] for the description, [`build`] for the network made of it,
//! [`watch`] and [`compare`] for the comparison.

pub mod bins;
pub mod build;
pub mod compare;
mod eurane;
mod families;
pub mod index;
mod known;
mod live;
pub mod means;
mod modern;
pub mod mrg;
pub mod queue_length;
pub mod random_loss;
pub mod report;
mod rlm;
mod satellite;
pub mod tfrc;
mod trace_link;
pub mod watch;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use report::{Line, Outcome};

/// Compares a folder of one family, with this many threads.
pub fn folder(path: &Path, jobs: usize) -> Vec<Line> {
    // A family may be in several folders of references.
    let parts: Vec<_> = path.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy()).collect();
    let name = parts.iter().rev().map(AsRef::as_ref).collect::<Vec<_>>().join("/");
    let outcomes = families::folder(path, jobs).and_then(|outcomes| known::explain(path, outcomes));
    let outcomes = outcomes.unwrap_or_else(|message| vec![(String::new(), Outcome::Failed(message))]);
    outcomes.into_iter().map(|(scenario, outcome)| Line { family: name.clone(), scenario, outcome }).collect()
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
