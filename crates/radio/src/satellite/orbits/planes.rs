//! A constellation written down satellite by satellite, on circles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::satellite::body::{Body, Circle};
use crate::satellite::mesh::Shell;
use lasthop_net::engine::Fault;
use lasthop_net::engine::space::{Angle, Length};

use super::{MOST_SATELLITES, OrbitsConfig, altitude_fault};

/// Planes with the places of their satellites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PlanesOrbits")]
pub struct Config {
    /// How high above the ground.
    pub altitude: Length,
    /// The angle between the planes and the equator's.
    pub inclination: Angle,
    /// The planes, from west to east.
    pub plane: Vec<Plane>,
    /// By how many places a satellite's neighbour in the first plane is ahead of its place in the last one, if these are neighbours,
    /// of three planes at least. Default: a seam is between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes_with: Option<u32>,
}

/// A plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OrbitalPlane")]
pub struct Plane {
    /// Where it crosses the equator to the north at the start, in degrees east.
    pub node: Angle,
    /// Where its satellites are at the start, from that node on.
    pub places: Vec<Angle>,
}

impl OrbitsConfig for Config {
    fn count(&self) -> u32 {
        let all: usize = self.plane.iter().map(|plane| plane.places.len()).sum();
        u32::try_from(all).unwrap_or(u32::MAX)
    }

    fn shell(&self) -> Shell {
        let circle = |node: Angle, place: &Angle| {
            Circle::orbit(self.altitude.km(), self.inclination.degrees(), node.degrees(), place.degrees())
        };
        let all = |plane: &Plane| plane.places.iter().map(|place| Body::Circle(circle(plane.node, place))).collect();
        Shell {
            bodies: self.plane.iter().flat_map(|plane| -> Vec<Body> { all(plane) }).collect(),
            planes: self.plane.iter().map(|plane| plane.places.len() as u32).collect(),
            closes_with: self.closes_with,
            turned: 0.0,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        if self.plane.is_empty() || self.plane.iter().any(|plane| plane.places.is_empty()) {
            return Err(Fault::new("plane", "a plane has no satellite", "expected planes with `places`"));
        }
        if self.count() > MOST_SATELLITES {
            return Err(Fault::new("plane", "there are too many satellites", "expected 20000 at most"));
        }
        if let (Some(ahead), ..3) = (self.closes_with, self.plane.len()) {
            let found = format!("closes_with = {ahead} with fewer than three planes");
            return Err(Fault::new("closes_with", found, "expected no such field: two planes are neighbours already"));
        }
        altitude_fault(self.altitude.km())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_planes_do_not_close() {
        let planes = |count: usize| Config {
            altitude: Length::from_metres(780e3),
            inclination: Angle::from_degrees(86.4),
            plane: (0..count)
                .map(|n| Plane { node: Angle::from_degrees(30.0 * n as f64), places: vec![Angle::default()] })
                .collect(),
            closes_with: Some(0),
        };
        assert_eq!(planes(2).check().unwrap_err().field, "closes_with");
        assert!(planes(3).check().is_ok());
    }

    /// Places ahead go around the plane.
    #[test]
    fn a_neighbour_may_be_more_than_a_turn_ahead() {
        let links = |ahead: u32| {
            let plane =
                |n: u32| Plane { node: Angle::from_degrees(40.0 * f64::from(n)), places: vec![Angle::default(); 4] };
            Config {
                altitude: Length::from_metres(780e3),
                inclination: Angle::from_degrees(86.4),
                plane: (0..3).map(plane).collect(),
                closes_with: Some(ahead),
            }
            .shell()
            .links()
        };
        assert_eq!(links(u32::MAX), links(3));
        assert_ne!(links(u32::MAX), links(0));
    }
}
