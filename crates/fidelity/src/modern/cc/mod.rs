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

use serde_json::Value;

use super::log::Log;
use super::{Entry, Kind};
use crate::report::Outcome;
use implementation::{Implementation, Likeness};
use path::Path;

/// Compares a log.
pub fn compare(file: &FilePath, entry: &Entry) -> Result<Outcome, String> {
    let who = entry.who.as_deref().unwrap_or_default();
    let Some(implementation) = Implementation::of(who) else {
        return Ok(Outcome::Unsupported(format!("an implementation that is not known: {who}")));
    };
    match (implementation.likeness, entry.kind) {
        (Likeness::Other(why), _) => Ok(Outcome::LeftOut(why.to_owned())),
        (Likeness::Means(why), Kind::Exact) => Ok(Outcome::LeftOut(why.to_owned())),
        (Likeness::Same, Kind::Exact) => replay::replay(&Log::read(file)?, &implementation)?.outcome(),
        (_, Kind::Trajectory) => match Path::read(entry.path.as_ref().unwrap_or(&Value::Null)) {
            Ok(path) => trajectory::rerun(&Log::read(file)?, &path, &implementation),
            Err(why) => Ok(Outcome::Unsupported(why)),
        },
        (_, Kind::Statistical) => Ok(Outcome::Unsupported("another kind of log".to_owned())),
    }
}
