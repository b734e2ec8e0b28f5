//! A polar constellation (Walker star), such as Iridium: its planes share half a turn, so that the first and the last fly in opposite
//! directions beside each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::satellite::body::{Body, Circle};
use crate::satellite::mesh::Shell;
use lasthop_net::engine::Fault;
use lasthop_net::engine::space::{Angle, Length};

use super::{OrbitsConfig, circles_fault};

/// Planes over half a turn, each second one moved by half a satellite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "StarOrbits")]
pub struct Config {
    /// How many planes. Default: 6 (Iridium).
    pub planes: u32,
    /// How many satellites each has. Default: 11 (Iridium).
    pub per_plane: u32,
    /// How high above the ground. Default: 780 km (Iridium).
    pub altitude: Length,
    /// The angle between the planes and the equator's. Default: 86.4 deg (Iridium).
    pub inclination: Angle,
    /// Between the ascending nodes of neighbouring planes. Default: 31.6 deg (Iridium), which leaves 22 deg at
    /// the seam.
    pub node_spacing: Angle,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            planes: 6,
            per_plane: 11,
            altitude: Length::from_metres(780e3),
            inclination: Angle::from_degrees(86.4),
            node_spacing: Angle::from_degrees(31.6),
        }
    }
}

impl OrbitsConfig for Config {
    fn count(&self) -> u32 {
        self.planes.saturating_mul(self.per_plane)
    }

    fn shell(&self) -> Shell {
        let spacing = 360.0 / f64::from(self.per_plane.max(1));
        let satellite = |plane: u32, place: u32| {
            let moved = if plane % 2 == 1 { 0.5 } else { 0.0 };
            let node = f64::from(plane) * self.node_spacing.degrees();
            let angle = (f64::from(place) + moved) * spacing;
            Body::Circle(Circle::orbit(self.altitude.km(), self.inclination.degrees(), node, angle))
        };
        let all = |plane| (0..self.per_plane).map(move |place| satellite(plane, place));
        Shell {
            bodies: (0..self.planes).flat_map(all).collect(),
            planes: vec![self.per_plane; self.planes as usize],
            closes_with: None,
            turned: 0.0,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        circles_fault(self.planes, self.per_plane, self.altitude.km())
    }
}
