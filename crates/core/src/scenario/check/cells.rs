//! Whether the cells of a scenario make sense.

use std::collections::BTreeSet;

use crate::engine::{Duration, Fault};
use crate::profile::Profile;
use crate::radio::umts::hs_dsch;
use crate::radio::umts::mapping::Transport;
use crate::radio::umts::ovsf::{Spread, Tree};
use crate::radio::umts::roaming::Power;
use crate::scenario::cell::Cell;
use crate::scenario::registry::{Pdcp, Rlc};
use crate::scenario::types::{Flow, Scenario};

use super::{Names, Problems, gateway, loss_faults, name, unique};

/// Transmission time intervals: a radio frame, or 2, 4 or 8 of them (TS 25.302 §7.1.6), or a subframe.
const TTI: [Duration; 5] = [
    Duration::from_millis(2),
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::from_millis(80),
];

/// The most bits of an interval: far beyond any channel of TS 25.306, and twice as many can be counted.
const MOST_BITS: u32 = 1 << 30;

/// Names, channels, and what serves terminals.
pub(super) fn cells(scenario: &Scenario, names: &Names<'_>, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    let fault = |flow: &Flow| flow.transport.config().header_fault(scenario.profile);
    let other = scenario.flow.iter().enumerate().find_map(|(n, flow)| Some((n, fault(flow)?)));
    for (i, cell) in scenario.cell.iter().enumerate() {
        name(|| format!("cell[{i}].name"), &cell.name, problems);
        unique(&mut seen, "cells", format!("cell[{i}].name"), &cell.name, problems);
        gateway(&format!("cell[{i}].rnc"), &cell.rnc, &cell.name, names, problems);
        for (path, loss) in [("loss", &cell.loss), ("uplink_loss", &cell.uplink_loss)] {
            loss_faults(format!("cell[{i}].{path}"), loss.as_ref(), problems);
        }
        if let Some(indication) = &cell.loss_indication {
            problems.fault(format!("cell[{i}].loss_indication.{}", indication.name()), indication.config().check());
        }
        mobility(i, cell, names, problems);
        let rlc = cell.rlc(scenario.profile);
        problems.fault(format!("cell[{i}].rlc.{}", rlc.name()), rlc.config().check());
        problems.fault(format!("cell[{i}].attachment.{}", cell.attachment.name()), cell.attachment.config().check());
        shared_channels(i, cell, problems);
        high_speed(i, cell, scenario.profile, problems);
        compression(i, cell, scenario.profile, other.as_ref(), problems);
        // Of a PDU that is wrong itself nothing else is said.
        let pdu = rlc.config().check().map_or(0, |()| rlc.config().pdu_bits());
        let rates = [("fach", cell.fach), ("rach", cell.rach), ("dch.down", cell.dch.down), ("dch.up", cell.dch.up)];
        for (path, rate) in rates
            .into_iter()
            .chain(cell.dsch.as_ref().map(|dsch| ("dsch", dsch.channel())))
            .chain(cell.cpch.as_ref().map(|cpch| ("cpch", cpch.channel())))
        {
            let (path, tti) = (format!("cell[{i}].{path}"), rate.tti);
            if !TTI.contains(&tti) {
                let message = format!("a transmission time interval of {tti}");
                problems.add(format!("{path}.tti"), message, "expected 2, 10, 20, 40 or 80 ms");
            } else if rate.bits() > MOST_BITS {
                let message = format!("an interval of {} bits", rate.bits());
                problems.add(format!("{path}.rate"), message, format!("the most is {MOST_BITS}"));
            } else if rate.bits() < pdu {
                let message = format!("an interval of {} bits carries no PDU of {pdu} bits", rate.bits());
                problems.add(format!("{path}.rate"), message, "expected a higher rate, or a longer interval");
            }
        }
    }
}

/// What makes terminals of a cell move.
fn mobility(i: usize, cell: &Cell, names: &Names<'_>, problems: &mut Problems) {
    let Some(mobility) = &cell.mobility else { return };
    for (path, Fault { field, message, expected }) in mobility.faults() {
        problems.add(format!("cell[{i}].mobility.{path}{field}"), message, expected);
    }
    for (n, rnc) in mobility.site.iter().enumerate().filter_map(|(n, site)| Some((n, site.rnc.as_ref()?))) {
        gateway(&format!("cell[{i}].mobility.site[{n}].rnc"), rnc, &cell.name, names, problems);
    }
    let of_one_cell = [
        ("dsch", cell.dsch.is_some()),
        ("hs_dsch", cell.hs_dsch.is_some()),
        ("cpch", cell.cpch.is_some()),
        ("rach_aloha", cell.rach_aloha.is_some()),
    ];
    for (field, there) in of_one_cell {
        if there {
            let message = format!("\"{field}\" is for terminals that stay in one cell");
            problems.add(format!("cell[{i}].{field}"), message, "expected it, or mobility");
        }
    }
    if let Power::Loops(_) = mobility.power {
        for (field, loss) in [("loss", &cell.loss), ("uplink_loss", &cell.uplink_loss)] {
            if loss.is_some() {
                let message = format!("\"{field}\" says what the air loses, and so does power control");
                problems.add(format!("cell[{i}].{field}"), message, "expected mobility.power = \"ideal\", or none");
            }
        }
    }
}

/// Channels of a cell that terminals share by turns: what serves the terminals must make use of them.
fn shared_channels(i: usize, cell: &Cell, problems: &mut Problems) {
    let attachment = &cell.attachment;
    let shared = cell.dsch.as_ref().map(|dsch| ("dsch", Transport::Dsch, dsch.channel()));
    let packet = cell.cpch.as_ref().map(|cpch| ("cpch", Transport::Cpch, cpch.channel()));
    for (field, transport, channel) in shared.into_iter().chain(packet) {
        let path = format!("cell[{i}].{field}");
        if !attachment.config().maps_to().contains(&transport) {
            let message = format!("the attachment \"{}\" maps nothing to {}", attachment.name(), transport.name());
            problems.add(path.as_str(), message, "expected another attachment, or no such channel");
        }
        if !Transport::SHARED_TTI.contains(&channel.tti) {
            let message = format!("a transmission time interval of {} of {}", channel.tti, transport.name());
            problems.add(format!("{path}.tti"), message, "expected 10, 20, 40 or 80 ms");
        }
    }
    if let Some(cpch) = &cell.cpch {
        problems.fault(format!("cell[{i}].cpch"), cpch.check());
    }
    if let Some(aloha) = &cell.rach_aloha {
        problems.fault(format!("cell[{i}].rach_aloha"), aloha.check());
    }
    let Some(dsch) = &cell.dsch else { return };
    let (spread, codes) = (Spread::of(dsch.rate), Tree::of_cell());
    let free = codes.free_codes(spread.sf);
    if free < spread.codes {
        let message = format!("{} take {} codes of spreading factor {}", dsch.rate, spread.codes, spread.sf);
        problems.add(format!("cell[{i}].dsch.rate"), message, format!("a cell has {free} of them free"));
    }
}

/// The high-speed shared channel: who uses it, and RLC and losses, which must suit it.
fn high_speed(i: usize, cell: &Cell, profile: Profile, problems: &mut Problems) {
    let uses = cell.attachment.config().maps_to().contains(&Transport::HsDsch);
    let (attachment, rlc) = (cell.attachment.name(), cell.rlc(profile));
    if matches!(rlc, Rlc::EuraneHs(_)) && !uses {
        let message = "\"eurane_hs\" sends what a Node B gives capacity for";
        problems.add(format!("cell[{i}].rlc"), message, "expected the attachment \"high_speed\"");
    }
    let Some(channel) = &cell.hs_dsch else {
        if uses {
            let message = format!("the attachment \"{attachment}\" needs an HS-DSCH");
            problems.add(format!("cell[{i}].attachment"), message, "expected hs_dsch = { cqi = [[[1, 14]]] }");
        }
        return;
    };
    if !uses {
        let message = format!("the attachment \"{attachment}\" maps nothing to HS-DSCH");
        problems.add(
            format!("cell[{i}].hs_dsch"),
            message,
            "expected the attachment \"high_speed\", or no such channel",
        );
    }
    for (part, Fault { field, message, expected }) in channel.faults(cell.ues, profile) {
        problems.add(format!("cell[{i}].hs_dsch.{part}{field}"), message, expected);
    }
    let pdu = rlc.config().check().map_or(0, |()| rlc.config().pdu_bits());
    let largest = channel.largest_block();
    if hs_dsch::HEADER_BITS + pdu > largest {
        let message = format!("a block of {largest} bits, the largest, carries no PDU of {pdu} bits");
        problems.add(format!("cell[{i}].rlc"), message, "expected smaller PDUs, or a higher category");
    }
    if matches!(rlc, Rlc::Tm(_)) {
        let message = "an HS-DSCH carries PDUs of unacknowledged and acknowledged mode (TS 25.301 §5.3.1.1.2)";
        problems.add(format!("cell[{i}].rlc"), message, "expected \"am\", \"um\", \"eurane\" or \"eurane_hs\"");
    }
    if cell.loss.is_some() {
        let message = "\"loss\" says what the air loses down, and so does hs_dsch.reception";
        problems.add(format!("cell[{i}].loss"), message, "expected one of them");
    }
}

/// Compression of headers: RLC must keep the order, and flows must have the headers of their protocols. `other` is the first that has
/// not.
fn compression(i: usize, cell: &Cell, profile: Profile, other: Option<&(usize, String)>, problems: &mut Problems) {
    if matches!(cell.pdcp, Pdcp::None(_)) {
        return;
    }
    let path = format!("cell[{i}].pdcp");
    problems.fault(format!("{path}.{}", cell.pdcp.name()), cell.pdcp.config().check());
    if matches!(cell.rlc(profile), Rlc::Am(rlc) if !rlc.in_sequence) {
        let message = "a header says what has changed since the one before, and RLC does not keep the order";
        problems.add(path.as_str(), message, "expected rlc.am.in_sequence = true, or no compression");
    }
    if let Some((n, fault)) = other {
        let message = format!("headers are compressed as they are on the wire, and flow[{n}] {fault}");
        problems.add(path, message, "expected profile \"rfc\" and whole headers for it, or no compression");
    }
}
