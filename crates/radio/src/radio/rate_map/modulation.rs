//! Modulations and coding rates, chosen by thresholds (Landström, Larzon, Bodin, *Congestion Control in a High
//! Speed Radio Environment*, Tables I and II).
//!
//! | SIR at least | modulation, coding rate | bytes per code in 2 ms |
//! | --- | --- | --- |
//! | −3.5 dB | QPSK 1/4 | 30 |
//! | 0 dB | QPSK 1/2 | 60 |
//! | 3.5 dB | 16QAM 3/8 | 90 |
//! | 7.5 dB | 16QAM 5/8 | 150 |
//!
//! A code of spreading factor 16 carries 240 000 symbols per second: 480 in a slot of 2 ms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Decibel, Probability};

use super::{Grant, RateMap, RateMapConfig};

/// Four modulation and coding schemes, and a fixed share of blocks in error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Modulation")]
pub struct Config {
    /// How likely a block is in error whose scheme suits the signal-to-interference ratio with which it is sent.
    /// Default: 0.1.
    pub bler: Probability,
    /// How likely it is if the ratio is below the threshold of its scheme, as it may be with the lowest.
    /// Default: 0.5.
    pub bler_below: Probability,
}

impl Default for Config {
    fn default() -> Self {
        let share = |p| Probability::new(p).unwrap_or_default();
        Self { bler: share(0.1), bler_below: share(0.5) }
    }
}

impl RateMapConfig for Config {
    fn build(&self) -> Box<dyn RateMap> {
        Box::new(Modulation { bler: self.bler.get(), bler_below: self.bler_below.get() })
    }
}

/// From which ratio on a scheme is used, and what a code then carries in a slot, in bits.
const SCHEMES: [(Decibel, u32); 4] = [
    (Decibel::new(-3.5), 8 * 30),
    (Decibel::new(0.0), 8 * 60),
    (Decibel::new(3.5), 8 * 90),
    (Decibel::new(7.5), 8 * 150),
];

/// The map.
struct Modulation {
    bler: f64,
    bler_below: f64,
}

impl RateMap for Modulation {
    fn grant(&self, sir: Decibel, bits: u64, resources: u8) -> Option<Grant> {
        // Below the lowest threshold the lowest scheme is used.
        let format = SCHEMES.iter().rposition(|(threshold, _)| sir >= *threshold).unwrap_or(0);
        let per_code = SCHEMES[format].1;
        let codes = bits.div_ceil(u64::from(per_code)).min(u64::from(resources)) as u8;
        (codes > 0).then(|| Grant { format: format as u8, resources: codes, bits: u32::from(codes) * per_code })
    }

    fn error(&self, format: u8, sir: Decibel) -> f64 {
        if sir >= SCHEMES[usize::from(format)].0 { self.bler } else { self.bler_below }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_table() {
        // The third column of Table II, and 12 codes of 240 ksymbol/s with 2 or 4 bits and rates 1/4, 1/2, 3/8 and 5/8.
        let map = Config::default().build();
        for (sir, block, mbps, bits_per_symbol, rate) in [
            (-10.0, 360, 1.44, 2.0, 0.25),
            (-3.5, 360, 1.44, 2.0, 0.25),
            (-0.01, 360, 1.44, 2.0, 0.25),
            (0.0, 720, 2.88, 2.0, 0.5),
            (3.5, 1080, 4.32, 4.0, 0.375),
            (7.5, 1800, 7.2, 4.0, 0.625),
            (30.0, 1800, 7.2, 4.0, 0.625),
        ] {
            let grant = map.grant(Decibel::new(sir), u64::MAX, 12).unwrap();
            assert_eq!((grant.bits, grant.resources), (8 * block, 12), "{sir} dB");
            let in_mbps = f64::from(grant.bits) / 2e-3 / 1e6;
            assert!((in_mbps - mbps).abs() < 1e-9 && (12.0 * 0.24 * bits_per_symbol * rate - mbps).abs() < 1e-9);
        }
    }

    #[test]
    fn codes_are_those_that_the_bytes_need() {
        let map = Config::default().build();
        let codes = |sir: f64, bytes: u64, left: u8| {
            map.grant(Decibel::new(sir), 8 * bytes, left).map(|grant| (grant.resources, grant.bits / 8))
        };
        assert_eq!(codes(8.0, 40, 12), Some((1, 150)));
        assert_eq!(codes(8.0, 151, 12), Some((2, 300)));
        assert_eq!(codes(1.0, 1490, 12), Some((12, 720)));
        assert_eq!(codes(1.0, 1490, 5), Some((5, 300)));
        assert_eq!(codes(1.0, 1490, 0), None);
    }

    #[test]
    fn errors_depend_on_the_threshold_of_the_scheme() {
        let map = Config::default().build();
        for (format, sir, p) in [(0, -3.5, 0.1), (0, -3.6, 0.5), (0, 9.0, 0.1), (3, 7.5, 0.1), (3, 7.4, 0.5)] {
            assert!((map.error(format, Decibel::new(sir)) - p).abs() < 1e-12, "scheme {format} at {sir} dB");
        }
    }
}
