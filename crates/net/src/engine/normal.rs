//! The standard normal distribution: Φ and its inverse.

/// Φ(z): the probability of a value below `z`.
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Φ⁻¹(p): the value below which the probability is `p`. Algorithm AS 241, function PPND16
/// (Wichura, *Applied Statistics* 37, 1988): three rational functions, with a relative error of
/// about 10⁻¹⁶.
pub fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.425 * 0.425 - q * q;
        return q * polynomial(&A, r) / polynomial(&B, r);
    }
    let r = (-libm::log(p.min(1.0 - p))).sqrt();
    if r == f64::INFINITY {
        return q.signum() * r;
    }
    let (r, numerator, denominator) = if r <= 5.0 { (r - 1.6, &C, &D) } else { (r - 5.0, &E, &F) };
    q.signum() * polynomial(numerator, r) / polynomial(denominator, r)
}

/// The polynomial with these coefficients, the constant first.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// For p from 0.075 to 0.925.
const A: [f64; 8] = [
    3.387_132_872_796_366_5,
    133.141_667_891_784_38,
    1_971.590_950_306_551_3,
    13_731.693_765_509_46,
    45_921.953_931_549_87,
    67_265.770_927_008_7,
    33_430.575_583_588_13,
    2_509.080_928_730_122_7,
];
const B: [f64; 8] = [
    1.0,
    42.313_330_701_600_91,
    687.187_007_492_057_9,
    5_394.196_021_424_751,
    21_213.794_301_586_597,
    39_307.895_800_092_71,
    28_729.085_735_721_943,
    5_226.495_278_852_854,
];

/// From there to a tail of e⁻²⁵.
const C: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    0.241_780_725_177_450_6,
    0.022_723_844_989_269_184,
    7.745_450_142_783_414e-4,
];
const D: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    0.689_767_334_985_1,
    0.148_103_976_427_480_08,
    0.015_198_666_563_616_457,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];

/// Beyond.
const E: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    0.296_560_571_828_504_87,
    0.026_532_189_526_576_124,
    0.001_242_660_947_388_078_4,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const F: [f64; 8] = [
    1.0,
    0.599_832_206_555_888,
    0.136_929_880_922_735_8,
    0.014_875_361_290_850_615,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_scipy() {
        // scipy 1.17.1, scipy.special.ndtri, on both sides of each of AS 241's borders.
        for (p, z) in [
            (1e-300, -37.0470962993612),
            (1e-100, -21.273453560965322),
            (1e-20, -9.262340089798409),
            (1e-10, -6.361340902404056),
            (1e-5, -4.264890793922825),
            (0.001, -3.090232306167813),
            (0.02, -2.053748910631823),
            (0.0749, -1.4402382675279635),
            (0.0751, -1.4388253927525403),
            (0.1, -1.2815515655446004),
            (0.25, -0.6744897501960817),
            (0.4, -0.2533471031357997),
            (0.5, 0.0),
            (0.6, 0.2533471031357997),
            (0.9, 1.2815515655446004),
            (0.975, 1.959963984540054),
            (0.999, 3.090232306167813),
            (0.999999999, 5.997807019601637),
            (0.9999999999999999, 8.209536151601387),
        ] {
            let got = quantile(p);
            assert!((got - z).abs() <= 1e-15 * z.abs().max(1.0), "{p}: {got}, expected {z}");
        }
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn the_probability_below_a_quantile_is_the_given_one() {
        for n in 1..1_000 {
            let p = f64::from(n) / 1_000.0;
            assert!((cdf(quantile(p)) - p).abs() < 4e-16, "{p}");
        }
        assert!((cdf(-10.0) / 7.619853024160525e-24 - 1.0).abs() < 1e-14, "scipy's ndtr(-10)");
    }
}
