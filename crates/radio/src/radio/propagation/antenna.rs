//! Antennas: how much more they send in one direction than in another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Angle, Decibel, Fault};

/// The pattern of a sector's antenna: −min(12 (θ/`beamwidth`)², `front_to_back`) beside `gain` (3GPP TR 25.996 §4.5.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Antenna {
    /// The gain in the main direction. Default: 14 dB (TR 25.996 §4.5.1).
    pub gain: Decibel,
    /// The width within which the gain is at most 3 dB less. Default: 70 deg (the same, for three
    /// sectors).
    pub beamwidth: Angle,
    /// How much less it is at the back. Default: 20 dB (the same).
    pub front_to_back: Decibel,
    /// The gain of an antenna that sends alike in all directions, cable losses included. Default: 11 dB (TR 25.942
    /// §5.1.4.1).
    pub omnidirectional: Decibel,
}

impl Default for Antenna {
    fn default() -> Self {
        Self {
            gain: Decibel::new(14.0),
            beamwidth: Angle::from_degrees(70.0),
            front_to_back: Decibel::new(20.0),
            omnidirectional: Decibel::new(11.0),
        }
    }
}

impl Antenna {
    /// The gain so far off the main direction.
    pub fn gain_at(&self, off: Angle) -> Decibel {
        let share = off.degrees() / self.beamwidth.degrees();
        self.gain - Decibel::new((12.0 * share * share).min(self.front_to_back.db()))
    }

    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        if self.beamwidth.degrees() <= 0.0 {
            let message = format!("an antenna with a beam of {}", self.beamwidth);
            return Err(Fault::new("beamwidth", message, "expected more than 0 deg"));
        }
        if self.front_to_back < Decibel::ZERO {
            let message = "an antenna that sends more to the back than to the front";
            return Err(Fault::new("front_to_back", message, "expected 0 dB or more"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_that_of_three_sectors() {
        // 12 (35/70)² = 3 dB at half the width; 12 (60/70)² = 8.816 dB where sectors meet; 20 dB from
        // 70 √(20/12) = 90.37 degrees on.
        let antenna = Antenna::default();
        for (degrees, below) in [
            (0.0, 0.0),
            (35.0, 3.0),
            (-35.0, 3.0),
            (60.0, 432.0 / 49.0),
            (90.0, 19.836_734_693_877_55),
            (91.0, 20.0),
            (180.0, 20.0),
        ] {
            let got = antenna.gain - antenna.gain_at(Angle::from_degrees(degrees));
            assert!((got.db() - below).abs() < 1e-9, "{degrees}: {got}, expected {below}");
        }
    }
}
