//! The channel quality indicator (CQI): transport formats by what a terminal reports of the air (3GPP TS 25.214 §6A.2).
//!
//! A terminal reports the highest of 30 formats that it would receive with an error of at most 0.1. Which formats these are
//! depends on its category: how many codes it can receive, whether it knows 16QAM, and how large a block may be (TS 25.306
//! §5.1).
//!
//! Which CQI that is at a ratio of signal to noise, and how likely a block fails, are fits to link level simulations (Brouwer,
//! de Bruin, Silva, Souto, Cercas, Correia, *Usage of link-level performance indicators for HSDPA network-level
//! simulations in E-UMTS*, ISSSTA 2004): CQI = ⌊SNR/1.02 + 16.62⌋, and
//! BLER = (10^(2 (SNR − 1.03 CQI + 17.3) / (√3 − log₁₀ CQI)) + 1)^(−1/0.7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Decibel, Fault};

use super::{Grant, RateMap, RateMapConfig};

/// Formats by CQI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Cqi")]
pub struct Config {
    /// The category of the terminals, 1 to 12: 1 to 6, 11 and 12 receive 5 codes, 7 and 8 receive 10, 9 and 10 receive 15; 11 and
    /// 12 do without 16QAM. Default: 6.
    pub category: u8,
}

impl Default for Config {
    fn default() -> Self {
        Self { category: 6 }
    }
}

impl RateMapConfig for Config {
    fn build(&self) -> Box<dyn RateMap> {
        Box::new(Cqi { table: Table::of(self.category), interval: self.interval() })
    }

    fn check(&self) -> Result<(), Fault> {
        if !(1..=12).contains(&self.category) {
            let message = format!("terminals of category {}", self.category);
            return Err(Fault::new("category", message, "expected 1 to 12 (TS 25.306 §5.1)"));
        }
        Ok(())
    }
}

impl Config {
    /// How many slots lie between the beginnings of two blocks to a terminal, at least (TS 25.306 table 5.1a).
    pub fn interval(&self) -> u64 {
        match self.category {
            1 | 2 => 3,
            3 | 4 | 11 => 2,
            _ => 1,
        }
    }
}

/// The highest CQI. CQI 0 says that no format would do.
pub const HIGHEST: u8 = 30;

/// The CQI at a ratio of signal to noise.
pub fn of_sir(sir: Decibel) -> u8 {
    // Values out of range are cut off by the conversion, or by the highest.
    (libm::floor(sir.db() / STEP + OFFSET) as u8).min(HIGHEST)
}

/// A ratio of signal to noise in the middle of those with this CQI.
pub fn to_sir(cqi: u8) -> Decibel {
    Decibel::new((f64::from(cqi) + 0.5 - OFFSET) * STEP)
}

/// Decibels per CQI, and the CQI at 0 dB.
const STEP: f64 = 1.02;
const OFFSET: f64 = 16.62;

/// Of a format: how many codes and bits, from CQI 1 on.
type Format = (u8, u16);

/// TS 25.214 table 7A; what the tables of all categories begin with.
const FORMATS: [Format; 22] = [
    (1, 137),
    (1, 173),
    (1, 233),
    (1, 317),
    (1, 377),
    (1, 461),
    (2, 650),
    (2, 792),
    (2, 931),
    (3, 1262),
    (3, 1483),
    (3, 1742),
    (4, 2279),
    (4, 2583),
    (5, 3319),
    (5, 3565),
    (5, 4189),
    (5, 4664),
    (5, 5287),
    (5, 5887),
    (5, 6554),
    (5, 7168),
];
/// What follows in tables 7B, 7C and 7D.
const LARGER: [Format; 3] = [(7, 9719), (8, 11_418), (10, 14_411)];
/// What follows in tables 7C and 7D.
const LARGER_STILL: [Format; 1] = [(12, 17_237)];
/// What follows in table 7D.
const LARGEST: [Format; 4] = [(15, 21_754), (15, 23_370), (15, 24_222), (15, 25_558)];

/// The formats of a category. Above the last that it knows the same is sent with less power.
struct Table {
    formats: Vec<Format>,
}

impl Table {
    fn of(category: u8) -> Self {
        let parts: &[&[Format]] = match category {
            7 | 8 => &[&FORMATS, &LARGER],
            9 => &[&FORMATS, &LARGER, &LARGER_STILL],
            10 => &[&FORMATS, &LARGER, &LARGER_STILL, &LARGEST],
            // Table 7E: the formats with QPSK.
            11 | 12 => &[&FORMATS[..15]],
            _ => &[&FORMATS],
        };
        Self { formats: parts.concat() }
    }
}

/// The map.
struct Cqi {
    table: Table,
    interval: u64,
}

impl RateMap for Cqi {
    fn grant(&self, sir: Decibel, bits: u64, resources: u8) -> Option<Grant> {
        let formats = &self.table.formats;
        let most = usize::from(of_sir(sir)).min(formats.len());
        // Larger blocks never take fewer codes.
        let allowed = formats[..most].partition_point(|(needed, _)| *needed <= resources);
        let enough = formats[..allowed].partition_point(|(_, size)| u64::from(*size) < bits);
        let (needed, size) = *formats[..allowed].get(enough).or(formats[..allowed].last())?;
        let format = enough.min(allowed - 1) as u8 + 1;
        Some(Grant { format, resources: needed, bits: u32::from(size) })
    }

    fn error(&self, format: u8, sir: Decibel) -> f64 {
        let cqi = f64::from(format);
        let steep = 3f64.sqrt() - libm::log10(cqi);
        let power = libm::pow(10.0, 2.0 * (sir.db() - 1.03 * cqi + 17.3) / steep);
        libm::pow(power + 1.0, -1.0 / 0.7)
    }

    fn interval(&self) -> u64 {
        self.interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(category: u8) -> Box<dyn RateMap> {
        Config { category }.build()
    }

    #[test]
    fn formats_are_those_of_the_tables() {
        // CQI, codes and bits: TS 25.214 tables 7A to 7E.
        for (category, rows) in [
            (6, &[(1, 1, 137), (7, 2, 650), (15, 5, 3319), (16, 5, 3565), (22, 5, 7168), (30, 5, 7168)][..]),
            (8, &[(22, 5, 7168), (23, 7, 9719), (24, 8, 11_418), (25, 10, 14_411), (30, 10, 14_411)]),
            (9, &[(25, 10, 14_411), (26, 12, 17_237), (30, 12, 17_237)]),
            (10, &[(26, 12, 17_237), (27, 15, 21_754), (28, 15, 23_370), (29, 15, 24_222), (30, 15, 25_558)]),
            (12, &[(14, 4, 2583), (15, 5, 3319), (16, 5, 3319), (30, 5, 3319)]),
        ] {
            for &(cqi, codes, bits) in rows {
                let grant = map(category).grant(to_sir(cqi), u64::MAX, 15).unwrap();
                assert_eq!((grant.resources, grant.bits), (codes, bits), "category {category}, CQI {cqi}");
            }
        }
        assert_eq!(map(6).grant(to_sir(0), u64::MAX, 15), None);
    }

    /// TS 25.321 §9.2.3.1 (FDD): 125 + 12 k bits for k below 40, then ⌊296 (2085/2048)^k⌋, k up to 254.
    #[test]
    fn every_size_can_be_signalled() {
        let size = |k: u32| {
            if k < 40 { 125 + 12 * k } else { (296.0 * libm::pow(2085.0 / 2048.0, f64::from(k))) as u32 }
        };
        let sizes: Vec<u32> = (1..=254).map(size).collect();
        let tables = FORMATS.iter().chain(&LARGER).chain(&LARGER_STILL).chain(&LARGEST);
        for (_, bits) in tables {
            assert!(sizes.contains(&u32::from(*bits)), "{bits}");
        }
        // TS 25.214 V5.5.0 has this in table 7C.
        assert!(!sizes.contains(&17_300));
    }

    #[test]
    fn no_block_is_larger_than_its_category_receives() {
        // TS 25.306 table 5.1a: bits of a block, and codes.
        for (category, bits, codes) in [
            (1, 7298, 5),
            (6, 7298, 5),
            (7, 14_411, 10),
            (8, 14_411, 10),
            (9, 20_251, 15),
            (10, 27_952, 15),
            (11, 3630, 5),
        ] {
            let grant = map(category).grant(to_sir(HIGHEST), u64::MAX, 15).unwrap();
            assert!(grant.bits <= bits && grant.resources <= codes, "category {category}: {grant:?}");
        }
    }

    #[test]
    fn the_smallest_block_that_suffices_is_taken() {
        let grant = |bits, codes| map(6).grant(to_sir(20), bits, codes).map(|grant| (grant.format, grant.bits));
        assert_eq!(grant(1, 5), Some((1, 137)));
        assert_eq!(grant(138, 5), Some((2, 173)));
        assert_eq!(grant(5888, 5), Some((20, 5887)));
        assert_eq!(grant(u64::MAX, 3), Some((12, 1742)));
        assert_eq!(grant(u64::MAX, 0), None);
    }

    #[test]
    fn a_ratio_in_the_middle_has_its_cqi() {
        for cqi in 0..=HIGHEST {
            assert_eq!(of_sir(to_sir(cqi)), cqi);
        }
        // Brouwer et al.: 0 up to −16 dB, 30 from 14 dB on.
        for (db, cqi) in [(-40.0, 0), (-16.0, 0), (0.0, 16), (14.0, 30), (40.0, 30)] {
            assert_eq!(of_sir(Decibel::new(db)), cqi, "{db} dB");
        }
    }

    #[test]
    fn a_format_fails_as_seldom_as_its_report_promises() {
        // The error is at most 0.1 (TS 25.214 §6A.2): in the middle of the range reported as this CQI. It falls from there.
        let map = map(10);
        for cqi in 1..=HIGHEST {
            let error = |more: f64| map.error(cqi, Decibel::new(to_sir(cqi).db() + more));
            assert!(error(0.0) < 0.1, "CQI {cqi}: {}", error(0.0));
            assert!(error(-1.0) > error(0.0) && error(0.0) > error(1.0), "CQI {cqi}");
        }
        // By hand: CQI 10 at −6 dB, (10^(2 · 1.0 / (1.732 051 − 1)) + 1)^(−1.428 571).
        assert!((map.error(10, Decibel::new(-6.0)) - 1.247_158e-4).abs() < 1e-10);
    }
}
