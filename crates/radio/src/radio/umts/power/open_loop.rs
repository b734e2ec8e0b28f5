//! Open loop power control: the power of a first transmission on a random access channel.

use lasthop_net::engine::{Decibel, Level};

/// 3GPP TS 25.331 §8.5.7: primary CPICH power − CPICH RSCP + uplink interference + constant value.
pub fn first_power(pilot: Level, heard: Level, interference: Level, constant: Decibel) -> Level {
    interference + (pilot - heard) + constant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_power_makes_up_for_the_loss_of_the_way() {
        // 33 − (−90) + (−97) + (−15) = 11 dBm; over the same way 123 dB are lost, so it comes 15 dB below the interference.
        let [pilot, heard, interference] = [33.0, -90.0, -97.0].map(Level::from_dbm);
        let power = first_power(pilot, heard, interference, Decibel::new(-15.0));
        assert_eq!(power.dbm(), 11.0);
        assert_eq!(power - (pilot - heard) - interference, Decibel::new(-15.0));
    }
}
