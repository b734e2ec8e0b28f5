//! The short floating-point numbers of TFMCC's packets (RFC 4654 §2.2).

/// The rate in bytes per second nearest to `x` that a field of 12 bits carries: 100 bit/s · 2^e · (1 + m/128), with e of 5 and m of 7 bits.
pub fn rate(x: f64) -> f64 {
    float(8.0 * x / 100.0, 31, 128.0, libm::round) * 100.0 / 8.0
}

/// The least time in seconds from `r` that a field of 8 bits carries: 1 ms · 2^e · (1 + m/16), with e and m of 4 bits each. With an R_max
/// below their own round-trip time the farthest receivers would take it for unknown to the sender, and none of them would be suppressed.
pub fn time(r: f64) -> f64 {
    // A number that the field has may have been computed with an error.
    float(r / 1e-3, 15, 16.0, |steps| libm::ceil(steps - 1e-9)) * 1e-3
}

/// A number 2^e · (1 + m/`steps`), with e from 0 to `most` and m below `steps`: `x`, with the mantissa's steps rounded by `round`.
fn float(x: f64, most: i32, steps: f64, round: impl Fn(f64) -> f64) -> f64 {
    // x = f · 2^e with f in [0.5, 1).
    let (fraction, exponent) = libm::frexp(x.max(1.0));
    let largest = libm::ldexp(2.0 - 1.0 / steps, most);
    if !x.is_finite() || exponent - 1 > most {
        return largest;
    }
    let mantissa = round(2.0 * fraction * steps) / steps;
    libm::ldexp(mantissa, exponent - 1).min(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half a step of 1/128 is the largest error of a rate. Times are never less, and at most a step of 1/16 more. The ends of the scales.
    #[test]
    fn numbers_are_as_near_as_the_fields_allow() {
        for n in 0..2000 {
            let share = f64::from(n) / 2000.0;
            let (x, r) = (12.5 * libm::pow(4e9, share), 1e-3 * libm::pow(6e4, share));
            assert!((rate(x) / x - 1.0).abs() <= 1.0 / 256.0 + 1e-12, "{x}");
            assert!((-1e-9..=1.0 / 16.0).contains(&(time(r) / r - 1.0)), "{r}");
            assert_eq!((rate(rate(x)), time(time(r))), (rate(x), time(r)));
        }
        assert_eq!((rate(0.0), rate(12.5), rate(25.0)), (12.5, 12.5, 25.0));
        // A step above 25 B/s is 25/128 B/s.
        assert_eq!((rate(25.09), rate(25.1)), (25.0, 25.1953125));
        assert_eq!((time(0.0), time(0.1), time(100.0)), (1e-3, 0.1 * 0.96 + 0.004, 63.488));
        assert!(rate(f64::INFINITY) > 5e10 && rate(f64::INFINITY).is_finite());
    }
}
