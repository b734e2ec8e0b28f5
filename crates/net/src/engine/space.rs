//! Places on a plane: lengths, speeds, angles, points.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::fault::shown;
use super::time::Duration;
use super::units::{Unit, bounded, quantity, written_as_text};

/// A distance or a coordinate in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Length(f64);

/// A speed in metres per second; never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Speed(f64);

/// An angle in degrees, counter-clockwise from the direction of the first coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Angle(f64);

/// A place: metres east and north of an origin, `["1 km", "0 m"]` in a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point(
    /// East.
    pub Length,
    /// North.
    pub Length,
);

const LENGTH_UNITS: [Unit; 2] = [("m", 1.0), ("km", 1e3)];
const SPEED_UNITS: [Unit; 2] = [("m/s", 1.0), ("km/h", 1.0 / 3.6)];
const ANGLE_UNITS: [Unit; 1] = [("deg", 1.0)];
/// The farthest coordinate, in metres: a quarter of the way to the Moon.
const FARTHEST: f64 = 1e8;
/// The highest speed, in metres per second.
const FASTEST: f64 = 1e4;

impl Length {
    /// A length in metres.
    #[inline]
    pub const fn from_metres(m: f64) -> Self {
        Self(m)
    }

    /// Metres.
    #[inline]
    pub const fn metres(self) -> f64 {
        self.0
    }

    /// Kilometres.
    pub const fn km(self) -> f64 {
        self.0 / 1e3
    }

    /// Reads text such as `"500 m"` or `"-1.2 km"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (value, factor) = quantity(text, "a distance", "500 m", &LENGTH_UNITS)?;
        let metres = value * factor;
        if metres.abs() > FARTHEST {
            return Err(format!("a distance of {} is too large: the most is 100000 km", shown(text)));
        }
        Ok(Self(metres))
    }
}

impl Speed {
    /// A speed in metres per second.
    pub const fn from_metres_per_s(speed: f64) -> Self {
        Self(speed)
    }

    /// Metres per second.
    pub const fn metres_per_s(self) -> f64 {
        self.0
    }

    /// Reads text such as `"50 km/h"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        bounded(text, "a speed", "50 km/h", &SPEED_UNITS, FASTEST).map(Self)
    }
}

impl Angle {
    /// An angle in degrees.
    pub const fn from_degrees(degrees: f64) -> Self {
        Self(degrees)
    }

    /// Degrees.
    #[inline]
    pub const fn degrees(self) -> f64 {
        self.0
    }

    /// The angle from `other` to this one the shorter way round, from −180 to 180 degrees.
    #[must_use]
    pub fn from(self, other: Self) -> Self {
        let turned = (self.0 - other.0) % 360.0;
        Self(if turned > 180.0 {
            turned - 360.0
        } else if turned < -180.0 {
            turned + 360.0
        } else {
            turned
        })
    }

    /// Reads text such as `"30 deg"`.
    ///
    /// # Errors
    /// A sentence with the expectation.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (value, _) = quantity(text, "an angle", "30 deg", &ANGLE_UNITS)?;
        if value.abs() > 360.0 {
            return Err(format!("an angle of {}: expected -360 deg to 360 deg", shown(text)));
        }
        Ok(Self(value))
    }
}

impl Point {
    /// A displacement in metres, east and north.
    pub const fn from_metres(east: f64, north: f64) -> Self {
        Self(Length(east), Length(north))
    }

    /// How far another point is.
    pub fn distance(self, other: Self) -> Length {
        Length(libm::hypot(other.0.0 - self.0.0, other.1.0 - self.1.0))
    }

    /// In which direction another point lies.
    pub fn direction(self, other: Self) -> Angle {
        Angle(libm::atan2(other.1.0 - self.1.0, other.0.0 - self.0.0).to_degrees())
    }

    /// The point on the way to `other` at this share of it.
    #[must_use]
    pub fn toward(self, other: Self, share: f64) -> Self {
        let between = |from: Length, to: Length| Length(from.0 + (to.0 - from.0) * share);
        Self(between(self.0, other.0), between(self.1, other.1))
    }

    /// How long the way to `other` takes at a speed above 0.
    pub fn time_to(self, other: Self, speed: Speed) -> Duration {
        Duration::from_secs_f64(self.distance(other).0 / speed.0)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m", self.0)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m/s", self.0)
    }
}

impl fmt::Display for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} deg", self.0)
    }
}

written_as_text!(
    Length,
    "Distance",
    "a distance as text, such as \"500 m\"",
    r"^\s*[+-]?[0-9._eE+-]+\s*k?m\s*$",
    "A distance or a coordinate: number and unit (m, km), as in \"500 m\"."
);
written_as_text!(
    Speed,
    "Speed",
    "a speed as text, such as \"50 km/h\"",
    r"^\s*\+?[0-9._eE+-]+\s*(m/s|km/h)\s*$",
    "A speed: number and unit (m/s, km/h), as in \"50 km/h\"."
);
written_as_text!(
    Angle,
    "Angle",
    "an angle as text, such as \"30 deg\"",
    r"^\s*[+-]?[0-9._eE+-]+\s*deg\s*$",
    "An angle: number and unit (deg), as in \"30 deg\"; in the plane counter-clockwise from east."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_and_directions_are_those_of_the_plane() {
        let (a, b) = (Point::from_metres(0.0, 0.0), Point::from_metres(30.0, 40.0));
        assert_eq!(a.distance(b).metres(), 50.0);
        assert!((a.direction(b).degrees() - 53.13010235415598).abs() < 1e-12);
        assert_eq!(a.toward(b, 0.5), Point::from_metres(15.0, 20.0));
        assert_eq!(a.time_to(b, Speed::parse("36 km/h").unwrap()), Duration::from_secs(5));
    }

    #[test]
    fn angles_turn_the_shorter_way() {
        for (to, from, expected) in
            [(10.0, 350.0, 20.0), (350.0, 10.0, -20.0), (-170.0, 170.0, 20.0), (90.0, 30.0, 60.0)]
        {
            assert_eq!(Angle(to).from(Angle(from)).degrees(), expected, "{to} from {from}");
        }
    }

    #[test]
    fn they_are_read_with_their_units_and_written_back() {
        assert_eq!(Length::parse("-1.2 km").unwrap(), Length(-1200.0));
        assert_eq!(Speed::parse("36 km/h").unwrap().metres_per_s(), 10.0);
        assert_eq!(Angle::parse(&Angle(30.5).to_string()).unwrap(), Angle(30.5));
        assert!(Length::parse("5 mm").unwrap_err().contains("expected one of m, km"));
        assert!(Speed::parse("-1 m/s").unwrap_err().contains("cannot be negative"));
        assert!(Angle::parse("400 deg").unwrap_err().contains("-360 deg to 360 deg"));
    }
}
