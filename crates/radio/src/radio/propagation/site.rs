//! From a place to an antenna at a site.

use lasthop_net::engine::{Angle, Decibel, Point};

use super::antenna::Antenna;
use super::path_loss::PathLoss;

/// An antenna at a site.
#[derive(Clone, Copy, Debug)]
pub struct Sector {
    /// Where it stands.
    pub at: Point,
    /// Its main direction; `None`: it sends alike in all.
    pub direction: Option<Angle>,
}

/// The gain between an antenna's connector and a terminal's at a place, mostly far below 0 dB: antenna gain less path loss
/// and shadowing, but at most what the least coupling loss leaves (3GPP TR 25.942 §5.1.4.1).
pub fn coupling_gain(sector: &Sector, antenna: &Antenna, loss: &PathLoss, shadow: Decibel, place: Point) -> Decibel {
    let gain = match sector.direction {
        None => antenna.omnidirectional,
        Some(direction) => antenna.gain_at(sector.at.direction(place).from(direction)),
    };
    let coupling = loss.at(sector.at.distance(place)) + shadow - gain;
    -coupling.within(loss.least_coupling, Decibel::new(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_add_up() {
        let (antenna, loss) = (Antenna::default(), PathLoss::default());
        let at = Point::from_metres(0.0, 0.0);
        let omni = Sector { at, direction: None };
        let east = Sector { at, direction: Some(Angle::from_degrees(0.0)) };
        let gain = |sector: &Sector, shadow: f64, x: f64, y: f64| {
            coupling_gain(sector, &antenna, &loss, Decibel::new(shadow), Point::from_metres(x, y)).db()
        };
        for (got, expected, what) in [
            (gain(&omni, 0.0, 1000.0, 0.0), 11.0 - 128.1, "1 km, all round"),
            (gain(&omni, 6.0, 0.0, -1000.0), 11.0 - 128.1 - 6.0, "in a shadow of 6 dB"),
            (gain(&east, 0.0, 1000.0, 0.0), 14.0 - 128.1, "in the main direction"),
            (gain(&east, 0.0, -100.0, 0.0), 14.0 - 20.0 - 90.5, "behind the antenna"),
            (gain(&omni, 0.0, 1.0, 0.0), -70.0, "as near as it gets"),
        ] {
            assert!((got - expected).abs() < 1e-9, "{what}: {got}, expected {expected}");
        }
    }
}
