//! Satellites whose positions follow from their element sets, by SGP4.

use super::earth::State;

/// A satellite by its elements.
#[derive(Debug)]
pub struct Tracked {
    constants: sgp4::Constants,
    /// Minutes from its epoch to the start of time.
    begins: f64,
}

impl Tracked {
    /// With these constants, and the minutes from its epoch to the start of time.
    pub fn new(constants: sgp4::Constants, begins: f64) -> Self {
        Self { constants, begins }
    }

    /// Its state `seconds` after the start. Where SGP4 has no answer, as after a decay, it is nowhere: at the centre.
    pub fn state(&self, seconds: f64) -> State {
        let at = sgp4::MinutesSinceEpoch(self.begins + seconds / 60.0);
        self.constants.propagate(at).map_or(State { position: [0.0; 3], velocity: [0.0; 3] }, |found| State {
            position: found.position,
            velocity: found.velocity,
        })
    }
}
