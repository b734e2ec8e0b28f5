//! Where a constellation's satellites are: kinds of constellations, a file each.

pub mod planes;
pub mod star;
pub mod tle;
pub mod walker;

use lasthop_net::engine::Fault;

use super::mesh::Shell;

/// The most satellites of a constellation.
pub const MOST_SATELLITES: u32 = 20_000;

/// The parameters of a kind of constellation.
pub trait OrbitsConfig: Send + Sync {
    /// How many satellites there are.
    fn count(&self) -> u32;
    /// The satellites. Parameters that [`OrbitsConfig::check`] refuses give an empty one.
    fn shell(&self) -> Shell;
    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault>;
}

/// Refuses what no constellation of circles has.
fn circles_fault(planes: u32, per_plane: u32, altitude_km: f64) -> Result<(), Fault> {
    if planes == 0 {
        return Err(Fault::new("planes", "there is no satellite", "expected 1 or more"));
    }
    if per_plane == 0 {
        return Err(Fault::new("per_plane", "there is no satellite", "expected 1 or more"));
    }
    if planes.checked_mul(per_plane).is_none_or(|all| all > MOST_SATELLITES) {
        return Err(Fault::new("planes", "there are too many satellites", "expected 20000 at most, in all planes"));
    }
    altitude_fault(altitude_km)
}

/// Refuses altitudes at which nothing flies, or far from the Earth.
fn altitude_fault(altitude_km: f64) -> Result<(), Fault> {
    if (super::earth::ATMOSPHERE_KM..=50_000.0).contains(&altitude_km) {
        Ok(())
    } else {
        Err(Fault::new("altitude", "no satellite flies there", "expected 150 km to 50000 km"))
    }
}
