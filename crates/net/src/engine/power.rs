//! Powers on the linear scale.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::units::{Unit, bounded, written_as_text};

/// A power in watts; never negative, and unlike a [`Level`](super::Level) it may be nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Power(f64);

const UNITS: [Unit; 2] = [("mW", 1e-3), ("W", 1.0)];
/// The highest power that a scenario may ask for, in watts.
const MOST: f64 = 1e6;

impl Power {
    /// A power in watts.
    #[inline]
    pub const fn from_watts(watts: f64) -> Self {
        Self(watts)
    }

    /// Watts.
    #[inline]
    pub const fn watts(self) -> f64 {
        self.0
    }

    /// Reads text such as `"10 W"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        bounded(text, "a power", "10 W", &UNITS, MOST).map(Self)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} W", self.0)
    }
}

written_as_text!(
    Power,
    "Watts",
    "a power as text, such as \"10 W\"",
    r"^\s*\+?[0-9._eE+-]+\s*m?W\s*$",
    "A power: number and unit (W, mW), as in \"10 W\"."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_with_its_unit_and_written_back() {
        for text in ["10 W", "0 W", "1.9 W"] {
            assert_eq!(Power::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Power::parse("500 mW").unwrap(), Power::from_watts(0.5));
        for (text, part) in [("10", "needs a unit"), ("-1 W", "cannot be negative"), ("10 dBm", "unknown unit")] {
            let error = Power::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
