//! Differentiated-services code points and their names (RFC 2474, 2597, 3246).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A code point that has a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Dscp {
    /// Best effort: the default forwarding (RFC 2474 §4.1).
    #[default]
    Be = 0,
    /// Expedited forwarding (RFC 3246).
    Ef = 46,
    /// Assured forwarding, class 1, drop precedence 1 (RFC 2597).
    Af11 = 10,
    /// Assured forwarding, class 1, drop precedence 2 (RFC 2597).
    Af12 = 12,
    /// Assured forwarding, class 1, drop precedence 3 (RFC 2597).
    Af13 = 14,
    /// Assured forwarding, class 2, drop precedence 1 (RFC 2597).
    Af21 = 18,
    /// Assured forwarding, class 2, drop precedence 2 (RFC 2597).
    Af22 = 20,
    /// Assured forwarding, class 2, drop precedence 3 (RFC 2597).
    Af23 = 22,
    /// Assured forwarding, class 3, drop precedence 1 (RFC 2597).
    Af31 = 26,
    /// Assured forwarding, class 3, drop precedence 2 (RFC 2597).
    Af32 = 28,
    /// Assured forwarding, class 3, drop precedence 3 (RFC 2597).
    Af33 = 30,
    /// Assured forwarding, class 4, drop precedence 1 (RFC 2597).
    Af41 = 34,
    /// Assured forwarding, class 4, drop precedence 2 (RFC 2597).
    Af42 = 36,
    /// Assured forwarding, class 4, drop precedence 3 (RFC 2597).
    Af43 = 38,
    /// Class selector 1 (RFC 2474 §4.2.2).
    Cs1 = 8,
    /// Class selector 2 (RFC 2474 §4.2.2).
    Cs2 = 16,
    /// Class selector 3 (RFC 2474 §4.2.2).
    Cs3 = 24,
    /// Class selector 4 (RFC 2474 §4.2.2).
    Cs4 = 32,
    /// Class selector 5 (RFC 2474 §4.2.2).
    Cs5 = 40,
    /// Class selector 6 (RFC 2474 §4.2.2).
    Cs6 = 48,
    /// Class selector 7 (RFC 2474 §4.2.2).
    Cs7 = 56,
}

impl Dscp {
    /// The six bits of the DS field.
    pub const fn value(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_standards() {
        // RFC 3246 §2.7, RFC 2597 §6, RFC 2474 §4.2.2.
        assert_eq!([Dscp::Be, Dscp::Ef, Dscp::Cs6].map(Dscp::value), [0, 0b10_1110, 0b11_0000]);
        assert_eq!([Dscp::Af11, Dscp::Af23, Dscp::Af42].map(Dscp::value), [0b00_1010, 0b01_0110, 0b10_0100]);
    }
}
