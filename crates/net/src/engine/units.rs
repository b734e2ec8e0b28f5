//! Quantities with their unit in the type, and as text in a scenario (`"384 kbit/s"`, `"64 kB"`).
//!
//! Prefixes are decimal: 1 kB = 1000 B, 1 kbit = 1000 bit.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::fault::shown;
use super::time::{Duration, Instant};

/// A data rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// A probability, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

/// A length of a queue or of a transfer: packets or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
}

impl BitRate {
    /// The highest rate a scenario may ask for: 100 Tbit/s.
    pub const MAX: Self = Self(100_000_000_000_000);

    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// `kbps` thousand bits per second.
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps * 1_000)
    }

    /// `mbps` million bits per second.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }

    /// Bits per second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Bytes per second.
    pub fn as_bytes_per_s(self) -> f64 {
        self.0 as f64 / 8.0
    }
}

impl Bytes {
    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// How many bits these are; the most there can be, if they are more.
    pub const fn bits(self) -> u32 {
        let bits = self.0.saturating_mul(8);
        if bits < u32::MAX as u64 { bits as u32 } else { u32::MAX }
    }
}

impl Probability {
    /// `p`, if it lies in [0, 1].
    pub fn new(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Self(p))
    }

    /// The probability as a number.
    #[inline]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A unit of a quantity: its name in a scenario, and how many base units it has.
pub(super) type Unit = (&'static str, f64);

const TIME_UNITS: [Unit; 6] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];
const RATE_UNITS: [Unit; 4] = [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
const SIZE_UNITS: [Unit; 4] = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)];
const AMOUNT_UNITS: [Unit; 6] =
    [("packets", -1.0), ("packet", -1.0), SIZE_UNITS[0], SIZE_UNITS[1], SIZE_UNITS[2], SIZE_UNITS[3]];

/// Splits `text` into a number and one of `units`; `what` and `example` serve the error.
pub(super) fn quantity(text: &str, what: &str, example: &str, units: &[Unit]) -> Result<(f64, f64), String> {
    let text = text.trim();
    let names = || units.iter().map(|u| u.0).collect::<Vec<_>>().join(", ");
    let split = text
        .char_indices()
        .find(|&(i, c)| {
            !(c.is_ascii_digit()
                || matches!(c, '.' | '_')
                || exponent_at(text, i)
                || (matches!(c, '-' | '+') && (i == 0 || exponent_at(text, i - 1))))
        })
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let value: f64 = number.parse().map_err(|_| {
        format!("{} is not {what}: expected a number and a unit ({}), as in \"{example}\"", shown(text), names())
    })?;
    if unit.is_empty() {
        return Err(format!("{what} needs a unit: expected one of {}, as in \"{example}\"", names()));
    }
    let Some(&(_, factor)) = units.iter().find(|u| u.0 == unit) else {
        let nearest = units
            .iter()
            .find(|u| bare(u.0) == bare(unit) && !differ_by_eight(u.0, unit))
            .map_or(String::new(), |u| format!("; did you mean \"{}\"?", u.0));
        return Err(format!(
            "unknown unit {} for {what}: expected one of {}, as in \"{example}\"{nearest}",
            shown(unit),
            names()
        ));
    };
    Ok((value, factor))
}

/// Whether one counts bits and the other bytes: `MB/s` is no spelling of `Mbit/s`.
fn differ_by_eight(one: &str, other: &str) -> bool {
    let bits = |unit: &str| unit.to_ascii_lowercase().contains("bit");
    let bytes = |unit: &str| unit.contains('B') && !bits(unit);
    bits(one) && bytes(other) || bytes(one) && bits(other)
}

/// A unit without what differs between its spellings: `Mbit/s`, `Mbps` and `mbit` are one, and so are `us` and `µs` with either of its letters.
fn bare(unit: &str) -> String {
    let mut bare = unit.to_ascii_lowercase().replace(['\u{b5}', '\u{3bc}'], "u");
    for part in ["its", "it", "per", "p", "/", "ec", "s"] {
        bare = bare.replace(part, "");
    }
    bare
}

/// The same, of a quantity that cannot be negative.
fn positive(text: &str, what: &str, example: &str, units: &[Unit]) -> Result<(f64, f64), String> {
    let (value, factor) = quantity(text, what, example, units)?;
    if value < 0.0 {
        return Err(format!("{what} cannot be negative: {}", shown(text.trim())));
    }
    Ok((value, factor))
}

/// Whether the byte at `i` of `text` is the `e` of a number such as `1e6`.
fn exponent_at(text: &str, i: usize) -> bool {
    let bytes = text.as_bytes();
    let follows_digit = i > 0 && bytes[i - 1].is_ascii_digit();
    let digit_at = |j: usize| bytes.get(j).is_some_and(u8::is_ascii_digit);
    matches!(bytes[i], b'e' | b'E')
        && follows_digit
        && (digit_at(i + 1) || (matches!(bytes.get(i + 1), Some(b'-' | b'+')) && digit_at(i + 2)))
}

/// Reads a non-negative quantity of at most `max` base units.
pub(super) fn bounded(text: &str, what: &str, example: &str, units: &[Unit], max: f64) -> Result<f64, String> {
    let (value, factor) = positive(text, what, example, units)?;
    let base = value * factor;
    if base > max {
        let (name, factor) = units.iter().rev().find(|u| u.1 > 0.0 && u.1 <= max).unwrap_or(&units[0]);
        return Err(format!("{what} of {} is too large: the most is {} {name}", shown(text), max / factor));
    }
    Ok(base)
}

/// Writes `value` with the largest of `units` that needs no fraction, or else the smallest.
fn spelled(value: u64, units: &[(&str, u64)]) -> String {
    let (name, factor) = units.iter().rev().find(|u| value >= u.1 && value.is_multiple_of(u.1)).unwrap_or(&units[0]);
    format!("{} {name}", value / factor)
}

impl Duration {
    /// Reads text such as `"10 ms"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        // In nanoseconds, so that whole numbers of any unit are exact.
        let most = Instant::MAX.as_nanos() as f64;
        let ns = bounded(text, "a duration", "10 ms", &TIME_UNITS, most)?;
        Ok(Self::from_nanos(libm::round(ns) as u64))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
        f.write_str(&if self.as_nanos() == 0 { "0 s".to_owned() } else { spelled(self.as_nanos(), &units) })
    }
}

impl BitRate {
    /// Reads text such as `"384 kbit/s"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bps = bounded(text, "a rate", "384 kbit/s", &RATE_UNITS, Self::MAX.0 as f64)?;
        if bps < 1.0 {
            return Err(format!("a rate must be at least 1 bit/s: {}", shown(text)));
        }
        Ok(Self(libm::round(bps) as u64))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spelled(
            self.0,
            &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)],
        ))
    }
}

impl Bytes {
    /// Reads text such as `"64 kB"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        bounded(text, "a size", "64 kB", &SIZE_UNITS, 1e15).map(|b| Self(libm::round(b) as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spelled(self.0, &[("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)]))
    }
}

impl Amount {
    /// Reads text such as `"64 packets"` or `"64 kB"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (what, example) = ("a length", "64 packets\" or \"64 kB");
        let (value, factor) = positive(text, what, example, &AMOUNT_UNITS)?;
        if factor > 0.0 {
            return Bytes::parse(text).map(Self::Bytes);
        }
        if value > 1e12 || value != libm::trunc(value) {
            return Err(format!("{what} in packets must be a whole number up to 10^12: {}", shown(text)));
        }
        Ok(Self::Packets(value as u64))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n} packets"),
            Self::Bytes(b) => b.fmt(f),
        }
    }
}

/// Text in a scenario for a type with `parse` and `Display`: serde and JSON Schema.
macro_rules! written_as_text {
    ($type:ty, $name:literal, $expected:literal, $pattern:literal, $doc:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        <$type>::parse(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn schema_id() -> Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($type)).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "description": $doc })
            }
        }
    };
}
pub(super) use written_as_text;

written_as_text!(
    Duration,
    "Duration",
    "a duration as text, such as \"10 ms\"",
    r"^\s*\+?[0-9._eE+-]+\s*(ns|us|ms|s|min|h)\s*$",
    "A length of time: number and unit (ns, us, ms, s, min, h), as in \"10 ms\"."
);
written_as_text!(
    BitRate,
    "Rate",
    "a rate as text, such as \"384 kbit/s\"",
    r"^\s*\+?[0-9._eE+-]+\s*[kMG]?bit/s\s*$",
    "A data rate: number and unit (bit/s, kbit/s, Mbit/s, Gbit/s), as in \"384 kbit/s\"."
);
written_as_text!(
    Bytes,
    "Size",
    "a size as text, such as \"64 kB\"",
    r"^\s*\+?[0-9._eE+-]+\s*[kMG]?B\s*$",
    "A number of bytes: number and unit (B, kB, MB, GB; 1 kB = 1000 B), as in \"64 kB\"."
);
written_as_text!(
    Amount,
    "Length",
    "a length as text, such as \"64 packets\" or \"64 kB\"",
    r"^\s*\+?[0-9._eE+-]+\s*(packets?|[kMG]?B)\s*$",
    "Packets or bytes, as in \"64 packets\" or \"64 kB\"."
);

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let p = f64::deserialize(deserializer)?;
        Self::new(p).ok_or_else(|| de::Error::custom(format!("a probability lies between 0 and 1, not at {p}")))
    }
}

impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "description": "A probability, from 0 to 1." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(Duration::parse("10 ms").unwrap().as_nanos(), 10_000_000);
        assert_eq!(Duration::parse("1.5s").unwrap().as_nanos(), 1_500_000_000);
        assert_eq!(Duration::parse("1e-3 s").unwrap().as_nanos(), 1_000_000);
        assert_eq!(BitRate::parse("3.84 Mbit/s").unwrap(), BitRate::from_kbps(3840));
        assert_eq!(Bytes::parse("64 kB").unwrap().get(), 64_000);
        assert_eq!(Amount::parse("64 packets").unwrap(), Amount::Packets(64));
        assert_eq!(Amount::parse("64 kB").unwrap(), Amount::Bytes(Bytes::new(64_000)));
    }

    #[test]
    fn wrong_quantities_say_what_was_expected() {
        for (text, part) in [
            ("10", "needs a unit"),
            ("ten ms", "expected a number and a unit"),
            ("10 MS", "did you mean \"ms\""),
            ("10 kg", "expected one of ns, us, ms, s, min, h"),
            ("-1 s", "cannot be negative"),
            ("1e300 s", "too large"),
            ("nan s", "expected a number"),
            ("", "expected a number"),
        ] {
            let error = Duration::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(Duration::parse("20 µs").unwrap_err().contains("did you mean \"us\""));
        for (text, near) in [("1 Mbps", "Mbit/s"), ("1 MBit/s", "Mbit/s"), ("1 Mb/s", "Mbit/s")] {
            let error = BitRate::parse(text).unwrap_err();
            assert!(error.ends_with(&format!("did you mean \"{near}\"?")), "{text}: {error}");
        }
        // A hint must not make a rate an eighth of what was meant, nor a size eight times as large.
        for error in ["1 MB/s", "1 MBps", "1 KB"].map(|text| BitRate::parse(text).unwrap_err()) {
            assert!(!error.contains("did you mean"), "{error}");
        }
        assert!(!Bytes::parse("64 kbit").unwrap_err().contains("did you mean"));
        assert!(Bytes::parse("64 KB").unwrap_err().contains("did you mean \"kB\""));
        assert!(BitRate::parse("0 bit/s").unwrap_err().contains("at least 1 bit/s"));
        assert!(Amount::parse("1.5 packets").unwrap_err().contains("whole number"));
    }

    #[test]
    fn written_quantities_read_back_the_same() {
        for text in ["10 ms", "1500 us", "48300 us", "0 s", "3 s"] {
            let d = Duration::parse(text).unwrap();
            assert_eq!(Duration::parse(&d.to_string()).unwrap(), d);
        }
        assert_eq!(BitRate::from_kbps(384).to_string(), "384 kbit/s");
        assert_eq!(Bytes::new(64_000).to_string(), "64 kB");
    }
}
