//! Whether the cells of HSDPA of a scenario make sense.

use std::collections::BTreeSet;

use crate::engine::Fault;
use crate::scenario::hsdpa::Hsdpa;
use crate::scenario::types::Scenario;

use super::{Names, Problems, gateway, name, queue_faults, unique};

/// The most rings of cells, and the most gains between mobiles and sites.
const MOST_RINGS: u32 = 10;
const MOST_GAINS: u64 = 10_000_000;
/// The most codes of spreading factor 16 that a shared channel has (3GPP TS 25.211 §5.3.3.13).
const MOST_CODES: u8 = 15;

/// The most gains that fading draws for a mobile: who has had nothing to receive for long catches up at once.
const MOST_BLOCKS: u64 = 10_000_000;

/// Names, places, and what is shared.
pub(super) fn hsdpa(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut seen: BTreeSet<&str> = scenario.cell.iter().map(|cell| cell.name.as_str()).collect();
    for (i, hsdpa) in scenario.hsdpa.iter().enumerate() {
        name(|| format!("hsdpa[{i}].name"), &hsdpa.name, problems);
        unique(&mut seen, "radios", format!("hsdpa[{i}].name"), &hsdpa.name, problems);
        gateway(&format!("hsdpa[{i}].node"), &hsdpa.node, &hsdpa.name, names, problems);
        places(i, hsdpa, problems);
        if let Err((part, Fault { field, message, expected })) = hsdpa.air.check() {
            problems.add(format!("hsdpa[{i}].air.{part}{field}"), message, expected);
        }
        if let Some(coherence) = hsdpa.air.fading.as_ref().map(|fading| fading.coherence)
            && scenario.duration.as_nanos() / MOST_BLOCKS > coherence.as_nanos()
        {
            let message = format!("a run of {} with another gain every {coherence}", scenario.duration);
            let expected = format!("the most is {MOST_BLOCKS} gains");
            problems.add(format!("hsdpa[{i}].air.fading.coherence"), message, expected);
        }
        problems.fault(format!("hsdpa[{i}].rate_map.{}", hsdpa.rate_map.name()), hsdpa.rate_map.config().check());
        problems.fault(format!("hsdpa[{i}].scheduler.{}", hsdpa.scheduler.name()), hsdpa.scheduler.config().check());
        queue_faults(format!("hsdpa[{i}].queue"), Some(&hsdpa.queue), problems);
        shares(i, hsdpa, problems);
    }
}

/// How many cells there are, and how large these are.
fn places(i: usize, hsdpa: &Hsdpa, problems: &mut Problems) {
    if hsdpa.rings > MOST_RINGS {
        let message = format!("{} rings of cells", hsdpa.rings);
        problems.add(format!("hsdpa[{i}].rings"), message, format!("expected 0 to {MOST_RINGS}"));
    } else if u64::from(hsdpa.ues) * u64::from(3 * hsdpa.rings * (hsdpa.rings + 1) + 1) > MOST_GAINS {
        let message = format!("{} mobiles that see {} rings of cells", hsdpa.ues, hsdpa.rings);
        problems.add(format!("hsdpa[{i}].rings"), message, "expected fewer of one or the other");
    }
    if hsdpa.radius.metres() <= 0.0 {
        let message = format!("cells with a radius of {}", hsdpa.radius);
        problems.add(format!("hsdpa[{i}].radius"), message, "expected more than 0 m");
    }
}

/// How a slot is shared.
fn shares(i: usize, hsdpa: &Hsdpa, problems: &mut Problems) {
    if !(1..=MOST_CODES).contains(&hsdpa.codes) {
        let message = format!("a shared channel of {} codes", hsdpa.codes);
        problems.add(format!("hsdpa[{i}].codes"), message, format!("expected 1 to {MOST_CODES}"));
    }
    if hsdpa.users == 0 {
        problems.add(format!("hsdpa[{i}].users"), "a slot for nobody", "expected 1 or more");
    }
    if hsdpa.attempts == Some(0) {
        problems.add(format!("hsdpa[{i}].attempts"), "a block that is never sent", "expected 1 or more");
    }
}
