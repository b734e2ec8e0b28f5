//! Whether the Node Bs of MBMS of a scenario make sense.

use std::collections::BTreeSet;

use crate::engine::Duration;
use crate::scenario::mbms::Mbms;
use crate::scenario::types::Scenario;

use super::{Names, Problems, gateway, loss_faults, name, unique};

/// The most attempts to bring a packet over the air.
const MOST_ATTEMPTS: u32 = 1_000;
/// The most requests for one packet, and the longest time until the RNC answers one.
const MOST_REQUESTS: u32 = 1_000;
const LONGEST_REQUEST: Duration = Duration::from_secs(10);

/// Names, terminals, and how bearers send.
pub(super) fn mbms(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let radios = scenario.cell.iter().map(|cell| &cell.name).chain(scenario.hsdpa.iter().map(|hsdpa| &hsdpa.name));
    let mut seen: BTreeSet<&str> = radios.map(String::as_str).collect();
    for (i, mbms) in scenario.mbms.iter().enumerate() {
        name(|| format!("mbms[{i}].name"), &mbms.name, problems);
        unique(&mut seen, "radios", format!("mbms[{i}].name"), &mbms.name, problems);
        gateway(&format!("mbms[{i}].rnc"), &mbms.rnc, &mbms.name, names, problems);
        terminals(i, mbms, problems);
        bearers(i, mbms, problems);
    }
}

/// The losses of all terminals, and of single ones.
fn terminals(i: usize, mbms: &Mbms, problems: &mut Problems) {
    for (path, loss) in [("loss", &mbms.loss), ("uplink_loss", &mbms.uplink_loss)] {
        loss_faults(format!("mbms[{i}].{path}"), loss.as_ref(), problems);
    }
    let mut seen = BTreeSet::new();
    for (n, terminal) in mbms.terminal.iter().enumerate() {
        let path = format!("mbms[{i}].terminal[{n}]");
        if terminal.ue >= mbms.ues {
            let message = format!("there is no terminal {} of {}", terminal.ue, mbms.ues);
            problems.add(format!("{path}.ue"), message, "terminals are numbered from 0");
        } else if !seen.insert(terminal.ue) {
            let message = format!("terminal {} is named twice", terminal.ue);
            problems.add(format!("{path}.ue"), message, "keep one");
        }
        for (field, loss) in [("loss", &terminal.loss), ("uplink_loss", &terminal.uplink_loss)] {
            loss_faults(format!("{path}.{field}"), loss.as_ref(), problems);
        }
    }
}

/// How often what is sent, and asked for.
fn bearers(i: usize, mbms: &Mbms, problems: &mut Problems) {
    if !(1..=MOST_ATTEMPTS).contains(&mbms.attempts) {
        let message = format!("{} attempts for each packet", mbms.attempts);
        problems.add(format!("mbms[{i}].attempts"), message, format!("expected 1 to {MOST_ATTEMPTS}"));
    }
    if mbms.ptm_threshold == Some(0) {
        problems.add(format!("mbms[{i}].ptm_threshold"), "a bearer for nobody", "expected 1 or more");
    }
    if let Some(indication) = &mbms.loss_indication {
        problems.fault(format!("mbms[{i}].loss_indication.{}", indication.name()), indication.config().check());
    }
    if let Some(varying) = &mbms.varying {
        problems.fault(format!("mbms[{i}].varying"), varying.check(mbms.rate, mbms.delay));
    }
    let Some(retransmission) = mbms.retransmission else { return };
    if !(1..=MOST_REQUESTS).contains(&retransmission.times) {
        let message = format!("{} requests for a packet", retransmission.times);
        problems.add(format!("mbms[{i}].retransmission.times"), message, format!("expected 1 to {MOST_REQUESTS}"));
    }
    if retransmission.after > LONGEST_REQUEST {
        let message = format!("a packet is sent again after {}", retransmission.after);
        problems.add(format!("mbms[{i}].retransmission.after"), message, format!("the most is {LONGEST_REQUEST}"));
    }
}
