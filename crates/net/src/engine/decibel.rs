//! Ratios and powers on the logarithmic scale: decibels, and decibels above a milliwatt.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::fault::shown;
use super::units::{Unit, quantity, written_as_text};

/// A ratio of powers: 10 log₁₀ of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Decibel(f64);

/// A power: 10 log₁₀ of its ratio to a milliwatt (dBm).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Level(f64);

/// The largest ratio, and the highest level, that a scenario may ask for.
const MOST: f64 = 1000.0;

impl Decibel {
    /// The same power.
    pub const ZERO: Self = Self(0.0);

    /// A ratio in dB.
    #[inline]
    pub const fn new(db: f64) -> Self {
        Self(db)
    }

    /// The decibels of a ratio.
    #[inline]
    pub fn of(ratio: f64) -> Self {
        Self(10.0 * libm::log10(ratio))
    }

    /// The number of decibels.
    #[inline]
    pub const fn db(self) -> f64 {
        self.0
    }

    /// The ratio.
    #[inline]
    pub fn ratio(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }

    /// The number of decibels times a factor.
    #[must_use]
    #[inline]
    pub fn times(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }

    /// The nearest value from `least` to `most`.
    #[must_use]
    #[inline]
    pub fn within(self, least: Self, most: Self) -> Self {
        Self(self.0.clamp(least.0, most.0))
    }

    /// Reads text such as `"3 dB"`, which may be negative.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        signed(text, "a ratio", "3 dB", &[("dB", 1.0)]).map(Self)
    }
}

impl Level {
    /// A power in dBm.
    #[inline]
    pub const fn from_dbm(dbm: f64) -> Self {
        Self(dbm)
    }

    /// The level of a power in milliwatts.
    #[inline]
    pub fn from_milliwatts(milliwatts: f64) -> Self {
        Self(10.0 * libm::log10(milliwatts))
    }

    /// The number of dBm.
    #[inline]
    pub const fn dbm(self) -> f64 {
        self.0
    }

    /// The power in milliwatts.
    #[inline]
    pub fn milliwatts(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }

    /// The lower of two levels.
    #[must_use]
    #[inline]
    pub fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    /// The nearest level from `least` to `most`.
    #[must_use]
    #[inline]
    pub fn within(self, least: Self, most: Self) -> Self {
        Self(self.0.clamp(least.0, most.0))
    }

    /// Reads text such as `"-100 dBm"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        signed(text, "a power", "33 dBm", &[("dBm", 1.0)]).map(Self)
    }
}

fn signed(text: &str, what: &str, example: &str, units: &[Unit]) -> Result<f64, String> {
    let (value, factor) = quantity(text, what, example, units)?;
    if value.abs() > MOST {
        return Err(format!("{what} of {}: expected -{MOST} {1} to {MOST} {1}", shown(text), units[0].0));
    }
    Ok(value * factor)
}

impl Add for Decibel {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Decibel {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Decibel {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl AddAssign for Decibel {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Decibel {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Add<Decibel> for Level {
    type Output = Self;
    #[inline]
    fn add(self, gain: Decibel) -> Self {
        Self(self.0 + gain.0)
    }
}

impl Sub<Decibel> for Level {
    type Output = Self;
    #[inline]
    fn sub(self, loss: Decibel) -> Self {
        Self(self.0 - loss.0)
    }
}

impl Sub for Level {
    type Output = Decibel;
    #[inline]
    fn sub(self, other: Self) -> Decibel {
        Decibel(self.0 - other.0)
    }
}

impl fmt::Display for Decibel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dBm", self.0)
    }
}

written_as_text!(
    Decibel,
    "Decibel",
    "a ratio as text, such as \"3 dB\"",
    r"^\s*[+-]?[0-9._eE+-]+\s*dB\s*$",
    "A ratio of powers: number and unit (dB), as in \"3 dB\". It may be negative."
);
written_as_text!(
    Level,
    "Level",
    "a power as text, such as \"33 dBm\"",
    r"^\s*[+-]?[0-9._eE+-]+\s*dBm\s*$",
    "A power: number and unit (dBm), as in \"33 dBm\". It may be negative."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_powers_are_those_of_the_definition() {
        assert_eq!((Decibel::of(100.0).db(), Decibel::new(30.0).ratio()), (20.0, 1000.0));
        assert_eq!(
            (Level::from_dbm(30.0).milliwatts(), Level::from_milliwatts(20_000.0).dbm()),
            (1000.0, 43.010_299_956_639_81)
        );
        assert_eq!(Level::from_dbm(33.0) - Level::from_dbm(-90.0), Decibel::new(123.0));
    }

    #[test]
    fn they_are_read_with_their_units_and_written_back() {
        for text in ["3 dB", "-0.5 dB", "0 dB"] {
            assert_eq!(Decibel::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Level::parse("-103.5dBm").unwrap(), Level::from_dbm(-103.5));
        for (text, part) in
            [("3", "needs a unit"), ("3 dBm", "unknown unit"), ("2000 dB", "expected -1000 dB to 1000 dB")]
        {
            let error = Decibel::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
