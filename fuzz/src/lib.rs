//! What the targets do with a scenario that was read.

use lasthop_core::net::simulation::Progress;
use lasthop_core::scenario::check::check;
use lasthop_core::scenario::diagnostic::Diagnostic;
use lasthop_core::scenario::read::Document;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{expand, read};

/// The most events of a run. An input has to take less than a millisecond to be worth its time.
const EVENTS: u64 = 5_000;

/// The most links, radios, flows and so on that are built: a network of a million nodes is right, and slow.
const PARTS: usize = 50;

/// Checks a scenario, writes it out and reads that again, builds it and runs a few events of it.
///
/// # Panics
/// If an error is no single line, if a document written out does not read back the same, or with a broken invariant of the core.
pub fn exercise(document: Result<Document, Diagnostic>) {
    let document = match document.and_then(|document| check(&document).map(|()| document)) {
        Ok(document) => document,
        Err(error) => return one_line(&error.message),
    };
    let scenario = &document.scenario;
    let json = expand::json(scenario);
    let again = read::json(&json, "expanded").unwrap_or_else(|error| panic!("{}\n{json}", error.render(false)));
    assert_eq!(json, expand::json(&again.scenario), "what is written out is what was read");

    let radios = scenario.cell.len() + scenario.hsdpa.len() + scenario.mbms.len() + scenario.constellation.len();
    let ues = scenario.cell.iter().map(|cell| cell.ues as usize).max().unwrap_or_default();
    if radios + scenario.link.len() + scenario.flow.len() + scenario.change.len() + ues > PARTS {
        return;
    }
    let mut run = match Session::new(scenario, scenario.seed, None) {
        Ok(run) => run,
        Err(error) => return one_line(&error.message),
    };
    match run.advance(EVENTS) {
        Ok(Progress::Reached | Progress::Paused) => drop(run.finish()),
        Err(error) => one_line(&error.to_string()),
    }
}

/// Whether a message is what the command line prints behind `error: `.
fn one_line(message: &str) {
    assert!(!message.is_empty() && !message.contains('\n'), "a message is one line: {message:?}");
}
