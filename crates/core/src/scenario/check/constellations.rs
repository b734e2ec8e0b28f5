//! Whether the constellations of a scenario make sense.

use std::collections::BTreeSet;

use crate::satellite::handoff;
use crate::scenario::types::Scenario;

use super::{Problems, loss_faults, name, unique};

/// Whether there are satellites, and not too many to write their names down.
pub(super) fn orbits(scenario: &Scenario, problems: &mut Problems) -> bool {
    let mut fine = true;
    for (i, constellation) in scenario.constellation.iter().enumerate() {
        let orbits = &constellation.orbits;
        let found = orbits.config().check();
        fine &= found.is_ok();
        problems.fault(format!("constellation[{i}].orbits.{}", orbits.name()), found);
    }
    fine
}

/// Names, terminals, and what sends.
pub(super) fn constellations(scenario: &Scenario, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    let mut terminals = BTreeSet::new();
    for (i, constellation) in scenario.constellation.iter().enumerate() {
        let path = format!("constellation[{i}]");
        name(|| format!("{path}.name"), &constellation.name, problems);
        unique(&mut seen, "constellations", format!("{path}.name"), &constellation.name, problems);
        problems.fault(format!("{path}.handoff"), constellation.handoff.check());
        let satellites = constellation.orbits.config().count();
        if constellation.handoff.initial.is_some_and(|satellite| satellite >= satellites) {
            let expected = format!("expected a number below {satellites}");
            problems.add(format!("{path}.handoff.initial"), "there is no such satellite", &expected);
        }
        if constellation.terminal.is_empty() {
            problems.add(format!("{path}.terminal"), "nobody is on the ground", "expected one terminal or more");
        }
        for (n, terminal) in constellation.terminal.iter().enumerate() {
            let path = format!("{path}.terminal[{n}]");
            name(|| format!("{path}.node"), &terminal.node, problems);
            unique(&mut terminals, "terminals of constellations", format!("{path}.node"), &terminal.node, problems);
            if terminal.latitude.degrees().abs() > 90.0 {
                problems.add(format!("{path}.latitude"), "there is no such place", "expected -90 deg to 90 deg");
            }
            if let Some(queue) = &terminal.queue {
                problems.fault(format!("{path}.queue.{}", queue.name()), queue.config().check());
            }
        }
        if !(0.0..=90.0).contains(&constellation.isl.latitude_limit.degrees()) {
            problems.add(format!("{path}.isl.latitude_limit"), "there is no such latitude", "expected 0 deg to 90 deg");
        }
        let (interval, jitter) = (constellation.isl.interval, constellation.isl.jitter);
        problems.fault(format!("{path}.isl"), handoff::looks_fault(interval, jitter));
        let parts = [("isl", &constellation.isl.queue, &constellation.isl.loss)];
        let ground =
            [("up", &constellation.up), ("down", &constellation.down)].map(|(at, link)| (at, &link.queue, &link.loss));
        for (at, queue, loss) in parts.into_iter().chain(ground) {
            problems.fault(format!("{path}.{at}.queue.{}", queue.name()), queue.config().check());
            loss_faults(format!("{path}.{at}.loss"), loss.as_ref(), problems);
        }
    }
}
