//! Path loss that grows with a power of the distance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Decibel, Fault, Length};

/// Path loss by distance: `at_1_km` + 10 · `exponent` · log₁₀(d/km).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathLoss {
    /// The loss at 1 km. Default: 128.1 dB (3GPP TR 25.942 §5.1.4.1: the macro cell at 2 GHz with antennas 15 m above the roofs).
    pub at_1_km: Decibel,
    /// By which power of the distance the loss grows. Default: 3.76 (the same).
    pub exponent: f64,
    /// The least loss between two antennas' connectors, antenna gains included. Default: 70 dB (the same: minimum
    /// coupling loss).
    pub least_coupling: Decibel,
}

impl Default for PathLoss {
    fn default() -> Self {
        Self { at_1_km: Decibel::new(128.1), exponent: 3.76, least_coupling: Decibel::new(70.0) }
    }
}

/// Nearer than this the formula says nothing more.
const NEAREST_M: f64 = 1.0;

impl PathLoss {
    /// The loss at a distance.
    pub fn at(&self, distance: Length) -> Decibel {
        let km = distance.metres().max(NEAREST_M) / 1000.0;
        self.at_1_km + Decibel::of(km).times(self.exponent)
    }

    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        if (1.0..=10.0).contains(&self.exponent) {
            return Ok(());
        }
        let message = format!("a path loss that grows with power {} of the distance", self.exponent);
        Err(Fault::new("exponent", message, "expected 1 to 10"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_macro_cell() {
        // TR 25.942: L = 128.1 + 37.6 log10(R), R in kilometres.
        let loss = PathLoss::default();
        for (metres, db) in
            [(1000.0, 128.1), (100.0, 90.5), (10_000.0, 165.7), (500.0, 128.1 - 37.6 * std::f64::consts::LOG10_2)]
        {
            let got = loss.at(Length::from_metres(metres)).db();
            assert!((got - db).abs() < 1e-9, "{metres} m: {got}, expected {db}");
        }
        let free = PathLoss { at_1_km: Decibel::new(98.4), exponent: 2.0, ..loss };
        let doubled = free.at(Length::from_metres(2000.0)) - free.at(Length::from_metres(1000.0));
        assert!((doubled.db() - 6.020_599_913_279_624).abs() < 1e-12, "in free space twice the distance costs 6 dB");
    }
}
