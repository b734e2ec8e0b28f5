//! Whether a transmission of a block is received, together with those before it.
//!
//! One number is drawn for each block, at its first transmission: it says how good its transmissions must be. So how often a block
//! fails after n transmissions is what the model says of n transmissions together, and not a product of what it says of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::rate_map::{RateMap, cqi};
use lasthop_net::engine::{Decibel, Fault};

use super::harq::Attempts;

/// Decides which blocks are received.
pub trait Reception: Send {
    /// Whether the last transmission of a block, at this ratio of signal to interference, is received.
    fn receives(&self, block: &mut Attempts, sir: Decibel, map: &dyn RateMap) -> bool;
}

/// The parameters of reception.
pub trait ReceptionConfig: Send + Sync {
    /// The model.
    fn build(&self) -> Box<dyn Reception>;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// Chase combining: the energy of all transmissions adds up, and the block error rate is that of the rate map at the
/// ratio that comes of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Combining {}

impl ReceptionConfig for Combining {
    fn build(&self) -> Box<dyn Reception> {
        Box::new(self.clone())
    }
}

impl Reception for Combining {
    fn receives(&self, block: &mut Attempts, sir: Decibel, map: &dyn RateMap) -> bool {
        block.combined += sir.ratio();
        block.draw >= map.error(block.grant.format, Decibel::of(block.combined))
    }
}

/// Thresholds, as in EURANE: a transmission is received if its power reaches a threshold, which is drawn for each block
/// from a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// How much more power than the first the second, third, … transmission has; those after the last have as much as that. The
    /// first has 40 dB and 1 dB for each step of its CQI. Default: none: all have the same.
    pub gains: Vec<Decibel>,
    /// The thresholds, each as likely as any other. Default: 0 dB, which all transmissions reach.
    pub thresholds: Vec<Decibel>,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { gains: Vec::new(), thresholds: vec![Decibel::ZERO] }
    }
}

impl ReceptionConfig for Thresholds {
    fn build(&self) -> Box<dyn Reception> {
        Box::new(self.clone())
    }

    fn check(&self) -> Result<(), Fault> {
        if self.thresholds.is_empty() {
            return Err(Fault::new("thresholds", "a list of none", "expected at least one"));
        }
        Ok(())
    }
}

/// The power of the first transmission at CQI 0.
const FIRST: f64 = 40.0;

impl Reception for Thresholds {
    fn receives(&self, block: &mut Attempts, _sir: Decibel, _map: &dyn RateMap) -> bool {
        let count = self.thresholds.len();
        let threshold = self.thresholds[((block.draw * count as f64) as usize).min(count - 1)];
        let gain = match (block.transmission as usize).checked_sub(2) {
            None => Decibel::ZERO,
            Some(place) => self.gains.get(place).or(self.gains.last()).copied().unwrap_or(Decibel::ZERO),
        };
        // The CQI, not the format: those above the last format are sent with the last, and received with more power. EURANE reads both
        // powers in single precision.
        let power = FIRST + f64::from(cqi::of_sir(block.sir)) + gain.db();
        power as f32 >= threshold.db() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::rate_map::{Grant, RateMapConfig, cqi};

    /// After each of three transmissions at a ratio: whether a block is received.
    fn tries(reception: &dyn Reception, cqi: u8, draw: f64, sir: Decibel) -> [bool; 3] {
        let map = cqi::Config::default().build();
        let grant = Grant { format: cqi, resources: 1, bits: 137 };
        let mut block = Attempts::new(grant, cqi::to_sir(cqi), draw);
        [(); 3].map(|()| {
            block.transmission += 1;
            reception.receives(&mut block, sir, &*map)
        })
    }

    #[test]
    fn energy_adds_up() {
        let reception = Combining {}.build();
        let map = cqi::Config::default().build();
        // Two transmissions with one ratio are one with 3.01 dB more, three with 4.77 dB.
        let sir = Decibel::new(cqi::to_sir(10).db() - 4.0);
        let errors = [0.0, 3.0103, 4.7712].map(|gain| map.error(10, Decibel::new(sir.db() + gain)));
        assert!(errors[0] > 0.9 && errors[0] > errors[1] && errors[1] > errors[2]);
        for (place, error) in errors.into_iter().enumerate() {
            let received = |draw: f64| tries(&*reception, 10, draw, sir)[place];
            assert!(received(error * 1.001) && !received(error * 0.999), "transmission {}", place + 1);
        }
    }

    #[test]
    fn thresholds_are_reached_by_power() {
        let db = |list: &[f64]| list.iter().map(|db| Decibel::new(*db)).collect::<Vec<_>>();
        // With CQI 14 the first transmission has 54 dB; one of ten thresholds is 60 dB.
        let thresholds = Thresholds { gains: db(&[20.0, 40.0]), thresholds: db(&[60.0, 0.0, 0.0, 0.0, 0.0]) };
        let of = |draw| tries(&*thresholds.build(), 14, draw, Decibel::ZERO);
        assert_eq!(
            (of(0.0), of(0.199), of(0.2), of(0.999)),
            ([false, true, true], [false, true, true], [true; 3], [true; 3])
        );
        // Beyond the last format power still grows with the CQI.
        let high = Thresholds { thresholds: db(&[64.0]), ..Thresholds::default() };
        assert_eq!(
            [22, 23, 24, 25, 30].map(|cqi| tries(&*high.build(), cqi, 0.5, Decibel::ZERO)[0]),
            [false, false, true, true, true]
        );
        // 58.02 is 54 and 4.02, whatever the digits beyond single precision.
        let close = Thresholds { gains: db(&[4.02]), thresholds: db(&[58.02]) };
        assert_eq!(tries(&*close.build(), 14, 0.5, Decibel::ZERO), [false, true, true]);
        let never = Thresholds { thresholds: db(&[60.0]), ..Thresholds::default() };
        assert_eq!(tries(&*never.build(), 14, 0.5, Decibel::ZERO), [false; 3]);
        assert_eq!(tries(&*Thresholds::default().build(), 1, 0.5, Decibel::ZERO), [true; 3]);
        assert_eq!(Thresholds { thresholds: Vec::new(), ..never }.check().unwrap_err().field, "thresholds");
    }
}
