//! What does not make sense in a self.

use crate::engine::{Duration, Fault};
use crate::profile::Profile;
use crate::radio::umts::hs_dsch;
use crate::radio::umts::mapping::Transport;
use crate::radio::umts::ovsf::{Spread, Tree};
use crate::radio::umts::roaming::Power;
use crate::scenario::media::{Around, Faults};
use crate::scenario::registry::{Pdcp, Rlc};

use super::Cell;

/// Transmission time intervals of all channels but HS-DSCH: a radio frame, or 2, 4 or 8 of them (TS 25.302 §7.1.6).
const TTI: [Duration; 4] =
    [Duration::from_millis(10), Duration::from_millis(20), Duration::from_millis(40), Duration::from_millis(80)];

/// The most bits of an interval: far beyond any channel of TS 25.306, and small enough that twice the number can be counted.
const MOST_BITS: u32 = 1 << 30;

impl Cell {
    /// Channels, and what serves terminals.
    pub(super) fn find_faults(&self, around: &Around<'_>, faults: &mut Faults) {
        let profile = around.scenario.profile;
        for (path, loss) in [("loss", &self.loss), ("uplink_loss", &self.uplink_loss)] {
            faults.loss(path, loss.as_ref());
        }
        if let Some(indication) = &self.loss_indication {
            faults.found(&format!("loss_indication.{}", indication.name()), indication.config().check());
        }
        self.mobility_faults(faults);
        let rlc = self.rlc(profile);
        faults.found(&format!("rlc.{}", rlc.name()), rlc.config().check());
        faults.found(&format!("attachment.{}", self.attachment.name()), self.attachment.config().check());
        self.shared_channel_faults(faults);
        self.high_speed_faults(profile, faults);
        self.compression_faults(profile, around.other_headers.as_ref(), faults);
        // Of a PDU that is wrong itself nothing else is said.
        let pdu = rlc.config().check().map_or(0, |()| rlc.config().pdu_bits());
        let rates = [("fach", self.fach), ("rach", self.rach), ("dch.down", self.dch.down), ("dch.up", self.dch.up)];
        for (path, rate) in rates
            .into_iter()
            .chain(self.dsch.as_ref().map(|dsch| ("dsch", dsch.channel())))
            .chain(self.cpch.as_ref().map(|cpch| ("cpch", cpch.channel())))
        {
            let tti = rate.tti;
            if !TTI.contains(&tti) {
                let message = format!("a transmission time interval of {tti}");
                faults.add(format!("{path}.tti"), message, "expected 10, 20, 40 or 80 ms");
            } else if rate.bits() > MOST_BITS {
                let message = format!("an interval of {} bits", rate.bits());
                faults.add(format!("{path}.rate"), message, format!("the most is {MOST_BITS}"));
            } else if rate.bits() < pdu {
                let message = format!("an interval of {} bits carries no PDU of {pdu} bits", rate.bits());
                faults.add(format!("{path}.rate"), message, "expected a higher rate, or a longer interval");
            }
        }
    }

    /// What makes terminals of a cell move.
    fn mobility_faults(&self, faults: &mut Faults) {
        let Some(mobility) = &self.mobility else { return };
        for (path, Fault { field, message, expected }) in mobility.faults() {
            faults.add(format!("mobility.{path}{field}"), message, expected);
        }
        let of_one_cell = [
            ("dsch", self.dsch.is_some()),
            ("hs_dsch", self.hs_dsch.is_some()),
            ("cpch", self.cpch.is_some()),
            ("rach_aloha", self.rach_aloha.is_some()),
        ];
        for (field, there) in of_one_cell {
            if there {
                let message = format!("\"{field}\" is for terminals that stay in one cell");
                faults.add(field, message, "expected it, or mobility");
            }
        }
        if let Power::Loops(_) = mobility.power {
            for (field, loss) in [("loss", &self.loss), ("uplink_loss", &self.uplink_loss)] {
                if loss.is_some() {
                    let message = format!("\"{field}\" says what the air loses, and so does power control");
                    faults.add(field, message, "expected mobility.power = \"ideal\", or none");
                }
            }
        }
    }

    /// Channels of a cell that terminals share by turns: what serves the terminals must make use of them.
    fn shared_channel_faults(&self, faults: &mut Faults) {
        let attachment = &self.attachment;
        let shared = self.dsch.as_ref().map(|_| ("dsch", Transport::Dsch));
        let packet = self.cpch.as_ref().map(|_| ("cpch", Transport::Cpch));
        for (path, transport) in shared.into_iter().chain(packet) {
            if !attachment.config().maps_to().contains(&transport) {
                let message = format!("the attachment \"{}\" maps nothing to {}", attachment.name(), transport.name());
                faults.add(path, message, "expected another attachment, or no such channel");
            }
        }
        if let Some(cpch) = &self.cpch {
            faults.found("cpch", cpch.check());
        }
        if let Some(aloha) = &self.rach_aloha {
            faults.found("rach_aloha", aloha.check());
        }
        let Some(dsch) = &self.dsch else { return };
        let (spread, codes) = (Spread::of(dsch.rate), Tree::of_cell());
        let free = codes.free_codes(spread.sf);
        if free < spread.codes {
            let message = format!("{} take {} codes of spreading factor {}", dsch.rate, spread.codes, spread.sf);
            faults.add("dsch.rate", message, format!("a cell has {free} of them free"));
        }
    }

    /// The high-speed shared channel: its use by the attachment, and RLC and losses, which must suit it.
    fn high_speed_faults(&self, profile: Profile, faults: &mut Faults) {
        let uses = self.attachment.config().maps_to().contains(&Transport::HsDsch);
        let (attachment, rlc) = (self.attachment.name(), self.rlc(profile));
        if matches!(rlc, Rlc::EuraneHs(_)) && !uses {
            let message = "\"eurane_hs\" sends what a Node B gives capacity for";
            faults.add("rlc", message, "expected the attachment \"high_speed\"");
        }
        let Some(channel) = &self.hs_dsch else {
            if uses {
                let message = format!("the attachment \"{attachment}\" needs an HS-DSCH");
                faults.add("attachment", message, "expected hs_dsch = { cqi = [[[1, 14]]] }");
            }
            return;
        };
        if !uses {
            let message = format!("the attachment \"{attachment}\" maps nothing to HS-DSCH");
            faults.add("hs_dsch", message, "expected the attachment \"high_speed\", or no such channel");
        }
        for (part, Fault { field, message, expected }) in channel.faults(self.ues, profile) {
            faults.add(format!("hs_dsch.{part}{field}"), message, expected);
        }
        let pdu = rlc.config().check().map_or(0, |()| rlc.config().pdu_bits());
        let largest = channel.largest_block();
        if hs_dsch::HEADER_BITS + pdu > largest {
            let message = format!("a block of {largest} bits, the largest, carries no PDU of {pdu} bits");
            faults.add("rlc", message, "expected smaller PDUs, or a higher category");
        }
        if matches!(rlc, Rlc::Tm(_)) {
            let message = "an HS-DSCH carries PDUs of unacknowledged and acknowledged mode (TS 25.301 §5.3.1.1.2)";
            faults.add("rlc", message, "expected \"am\", \"um\", \"eurane\" or \"eurane_hs\"");
        }
        if self.loss.is_some() {
            let message = "\"loss\" says what the air loses down, and so does hs_dsch.reception";
            faults.add("loss", message, "expected one of them");
        }
    }

    /// Compression of headers: RLC must keep the order, and flows must have the headers of their protocols. `other` is the first that has
    /// not.
    fn compression_faults(&self, profile: Profile, other: Option<&(usize, String)>, faults: &mut Faults) {
        if matches!(self.pdcp, Pdcp::None(_)) {
            return;
        }
        let path = "pdcp";
        faults.found(&format!("{path}.{}", self.pdcp.name()), self.pdcp.config().check());
        if matches!(self.rlc(profile), Rlc::Am(rlc) if !rlc.in_sequence) {
            let message = "a header says what has changed since the one before, and RLC does not keep the order";
            faults.add(path, message, "expected rlc.am.in_sequence = true, or no compression");
        }
        if let Some((n, fault)) = other {
            let message = format!("headers are compressed as they are on the wire, and flow[{n}] {fault}");
            faults.add(path, message, "expected profile \"rfc\" and whole headers for it, or no compression");
        }
    }
}
