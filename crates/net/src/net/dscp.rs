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

/// What a code point asks for: the group of per-hop behaviours, whatever the drop precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Best effort, and every code point that asks for nothing known.
    #[default]
    BestEffort,
    /// Assured forwarding, classes 1 to 4 (RFC 2597).
    Assured(u8),
    /// Expedited forwarding (RFC 3246).
    Expedited,
    /// Network control: class selectors 6 and 7 (RFC 2474 §4.2.2.2).
    Control,
}

impl Class {
    /// The class of the six bits of a DS field.
    #[inline]
    pub fn of(dscp: u8) -> Self {
        match dscp {
            46 => Self::Expedited,
            48 | 56 => Self::Control,
            _ if precedence(dscp).is_some() => Self::Assured(dscp >> 3),
            _ => Self::BestEffort,
        }
    }

    /// The code point of its packets: those of lowest drop precedence.
    pub fn dscp(self) -> u8 {
        match self {
            Self::BestEffort => Dscp::Be.value(),
            Self::Assured(class) => assured(class, 1),
            Self::Expedited => Dscp::Ef.value(),
            Self::Control => Dscp::Cs6.value(),
        }
    }
}

/// The drop precedence of an assured-forwarding code point, 1 to 3 (RFC 2597 §6).
#[inline]
pub fn precedence(dscp: u8) -> Option<u8> {
    let (class, precedence) = (dscp >> 3, (dscp >> 1) & 3);
    ((1..=4).contains(&class) && precedence > 0 && dscp & 1 == 0).then_some(precedence)
}

/// The code point of assured forwarding with this class and drop precedence (RFC 2597 §6).
#[inline]
pub const fn assured(class: u8, precedence: u8) -> u8 {
    (class << 3) | (precedence << 1)
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

    #[test]
    fn classes_and_precedences_are_read_from_the_bits() {
        use Dscp::*;
        let table = [[Af11, Af12, Af13], [Af21, Af22, Af23], [Af31, Af32, Af33], [Af41, Af42, Af43]];
        for (class, row) in (1..).zip(table) {
            for (level, dscp) in (1..).zip(row) {
                assert_eq!(Class::of(dscp.value()), Class::Assured(class));
                assert_eq!(precedence(dscp.value()), Some(level));
                assert_eq!(assured(class, level), dscp.value());
            }
        }
        for (dscp, class) in [(Be, Class::BestEffort), (Ef, Class::Expedited), (Cs6, Class::Control)] {
            assert_eq!((Class::of(dscp.value()), class.dscp()), (class, dscp.value()));
        }
        // The other code points ask for nothing known (RFC 2474 §4.1), and have no precedence.
        let known = (0..64).filter(|&dscp| Class::of(dscp) != Class::BestEffort).count();
        assert_eq!(known, 12 + 3);
        assert!([Be, Ef, Cs1, Cs4].iter().all(|dscp| precedence(dscp.value()).is_none()));
    }
}
