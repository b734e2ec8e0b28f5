//! The packet-loss indication: with one bit in each packet a base station tells its terminals of packets that it never
//! had, or rejected itself (Alexiou, Bouras, Papazois 2009, §4.1).
//!
//! The paper describes the bit in two ways that cannot both hold: it stands for "a previously lost packet", and it is set
//! in packets "previously rejected", which carry nothing. So its rule is a parameter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the bit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Indication {
    /// It is set in the first packet after a gap, and in copies that the base station itself asked for.
    Edge,
    /// It changes with each gap, and stays until the next.
    Toggle,
    /// It is set only in copies that the base station itself asked for.
    Resend,
}

/// Sets the bit in the packets of one flow on one bearer.
#[derive(Clone, Debug)]
pub struct Marker {
    indication: Indication,
    /// On how many packets a set bit is repeated.
    hold: u32,
    left: u32,
    bit: bool,
    last: Option<u64>,
}

impl Marker {
    /// With this rule. In [`Indication::Edge`] the bit is set in `hold` packets after a gap, at least in one.
    pub fn new(indication: Indication, hold: u32) -> Self {
        Self { indication, hold: hold.max(1), left: 0, bit: false, last: None }
    }

    /// A packet of this number goes into the queue before the radio; `resent` if the base station had asked for it. The bit that it
    /// is to carry.
    #[inline]
    pub fn on_accept(&mut self, seq: u64, resent: bool) -> bool {
        let gap = self.last.is_some_and(|last| seq > last + 1);
        let ahead = self.last.is_none_or(|last| seq > last);
        if ahead {
            self.last = Some(seq);
        }
        match self.indication {
            Indication::Resend => resent,
            Indication::Toggle => {
                self.bit ^= gap;
                self.bit
            }
            Indication::Edge => {
                if gap {
                    self.left = self.hold;
                }
                let held = ahead && self.left > 0;
                self.left -= u32::from(held);
                held || resent
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of packets with these numbers; those with a second entry were asked for by the base station.
    fn bits(indication: Indication, hold: u32, packets: &[(u64, bool)]) -> String {
        let mut marker = Marker::new(indication, hold);
        packets.iter().map(|&(seq, resent)| if marker.on_accept(seq, resent) { '1' } else { '0' }).collect()
    }

    #[test]
    fn the_bit_follows_the_rule() {
        let packets =
            [(4, false), (5, false), (8, false), (9, false), (6, true), (10, false), (12, false), (13, false)];
        for (indication, hold, expected) in [
            (Indication::Edge, 1, "00101010"),
            (Indication::Edge, 2, "00111011"),
            (Indication::Toggle, 1, "00111100"),
            (Indication::Resend, 1, "00001000"),
        ] {
            assert_eq!(bits(indication, hold, &packets), expected, "{indication:?}, {hold}");
        }
    }
}
