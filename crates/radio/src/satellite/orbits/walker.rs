//! A constellation of inclined planes around the whole Earth (Walker delta i: t/p/f), such as Starlink's shells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::satellite::body::{Body, Circle};
use crate::satellite::mesh::Shell;
use lasthop_net::engine::Fault;
use lasthop_net::engine::space::{Angle, Length};

use super::{OrbitsConfig, circles_fault};

/// Planes over a whole turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WalkerOrbits")]
pub struct Config {
    /// How many planes. Default: 72 (Starlink's first shell; FCC 20-588).
    pub planes: u32,
    /// How many satellites each has. Default: 22 (the same).
    pub per_plane: u32,
    /// How high above the ground. Default: 550 km (the same).
    pub altitude: Length,
    /// The angle between the planes and the equator's. Default: 53 deg (the same).
    pub inclination: Angle,
    /// By how many t-th parts of a turn a satellite is ahead of its neighbour in the plane before it, of t satellites in all. 39: a
    /// value by which the planes of this shell miss one another where they cross.
    pub phasing: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            planes: 72,
            per_plane: 22,
            altitude: Length::from_metres(550e3),
            inclination: Angle::from_degrees(53.0),
            phasing: 39,
        }
    }
}

impl OrbitsConfig for Config {
    fn count(&self) -> u32 {
        self.planes.saturating_mul(self.per_plane)
    }

    fn shell(&self) -> Shell {
        let all = f64::from(self.count().max(1));
        let (planes, per_plane) = (f64::from(self.planes.max(1)), f64::from(self.per_plane.max(1)));
        let satellite = |plane: u32, place: u32| {
            let node = 360.0 * f64::from(plane) / planes;
            let angle = 360.0 * (f64::from(place) / per_plane + f64::from(plane) * f64::from(self.phasing) / all);
            Body::Circle(Circle::orbit(self.altitude.km(), self.inclination.degrees(), node, angle))
        };
        let plane = |plane| (0..self.per_plane).map(move |place| satellite(plane, place));
        Shell {
            bodies: (0..self.planes).flat_map(plane).collect(),
            planes: vec![self.per_plane; self.planes as usize],
            // After all planes a satellite's place has moved on by this number.
            closes_with: Some(self.phasing % self.per_plane.max(1)),
            turned: 0.0,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        circles_fault(self.planes, self.per_plane, self.altitude.km())?;
        if self.phasing >= self.planes {
            return Err(Fault::new("phasing", "it counts planes", "expected less than `planes`"));
        }
        Ok(())
    }
}
