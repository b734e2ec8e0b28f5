//! Thermal noise.

use lasthop_net::engine::{Decibel, Level};

/// The density of thermal noise at 290 K: −174 dBm in a bandwidth of 1 Hz.
const DENSITY: Level = Level::from_dbm(-174.0);

/// The noise of a receiver with this noise figure in a bandwidth given in hertz.
pub fn thermal(bandwidth_hz: f64, figure: Decibel) -> Level {
    DENSITY + Decibel::of(bandwidth_hz) + figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_3gpp_receivers() {
        // TR 25.942 §5.1.4.1: −99 dBm at a terminal (noise figure 9 dB) and −103 dBm at a Node B (5 dB), rounded, in 3.84 MHz.
        for (figure, dbm) in [(9.0, -99.0), (5.0, -103.0)] {
            let got = thermal(3.84e6, Decibel::new(figure)).dbm();
            assert!((got - dbm).abs() < 0.5, "{figure} dB: {got}, expected {dbm}");
        }
        assert!((thermal(3.84e6, Decibel::new(9.0)).dbm() + 99.156_687_8).abs() < 1e-6);
    }
}
