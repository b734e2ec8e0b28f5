//! QUIC's controllers: their code in a small sender over one link. Each implementation is known by its name in the index (`who`).
//!
//! Logs of events have every packet sent, every acknowledgement and the window after it; trajectories have samples of a run.

mod harness;
mod implementation;
mod path;
mod quic;
mod replay;
mod rtt;
mod trajectory;

use std::path::Path as FilePath;

use serde::Deserialize;
use serde_json::Value;

use super::log::Log;
use super::{Entry, Kind};
use crate::report::Outcome;
use implementation::{Implementation, Likeness};
use path::Path;
use quic::PACKET;
use trajectory::Summary;

/// Compares a log of a folder with these entries.
pub fn compare(folder: &FilePath, entry: &Entry, entries: &[Value]) -> Result<Outcome, String> {
    let who = entry.who.as_deref().unwrap_or_default();
    let Some(implementation) = Implementation::of(who) else {
        return Ok(Outcome::Unsupported(format!("an implementation that is not known: {who}")));
    };
    if let Some(bytes) = entry.segment_bytes.filter(|bytes| *bytes != PACKET) {
        return Ok(Outcome::Unsupported(format!("packets of {bytes} bytes")));
    }
    let file = folder.join(&entry.file);
    match (implementation.likeness, entry.kind) {
        (Likeness::Other(why), _) => Ok(Outcome::LeftOut(why.to_owned())),
        (Likeness::Means(why), Kind::Exact) => Ok(Outcome::LeftOut(why.to_owned())),
        (Likeness::Same, Kind::Exact) => replay::replay(&Log::read(&file)?, &implementation)?.outcome(),
        (_, Kind::Trajectory) => match Path::read(entry.path.as_ref().unwrap_or(&Value::Null)) {
            Ok(path) => {
                let others = others(folder, entry, entries, &implementation, &path);
                trajectory::rerun(&Log::read(&file)?, &path, &implementation, &others)
            }
            Err(why) => Ok(Outcome::Unsupported(why)),
        },
        (_, Kind::Statistical) => Ok(Outcome::Unsupported("another kind of log".to_owned())),
    }
}

/// The runs of other implementations of the algorithm over the same path. One that cannot be read is a failure of its own entry.
fn others(
    folder: &FilePath,
    entry: &Entry,
    entries: &[Value],
    implementation: &Implementation,
    path: &Path,
) -> Vec<Summary> {
    let is_other = |other: &Entry| {
        let of = other.who.as_deref().and_then(Implementation::of);
        let is_same_algorithm = of.is_some_and(|of| {
            of.congestion.name() == implementation.congestion.name() && !matches!(of.likeness, Likeness::Other(_))
        });
        other.source == entry.source && other.kind == entry.kind && other.path == entry.path && is_same_algorithm
    };
    let entries = entries.iter().filter_map(|value| Entry::deserialize(value).ok()).filter(is_other);
    entries.filter_map(|other| trajectory::summary(&Log::read(&folder.join(&other.file)).ok()?, path).ok()).collect()
}
