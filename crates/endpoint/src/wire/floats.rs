//! The short floating-point fields of TFMCC (RFC 4654 §2.2): an exponent, then a mantissa; the number is unit · 2^e · (1 + m/2^bits).

use lasthop_protocols::multicast::tfmcc::floats;

/// X_supp and X_r: 12 bits, of which 7 of mantissa, in units of 100 bit/s.
const RATE_MANTISSA: u32 = 7;
/// Bytes per second of such a unit.
const RATE_UNIT: f64 = 100.0 / 8.0;
/// The largest of these numbers stands for no limit: no receiver other than the CLR has reported.
pub const NO_LIMIT: u16 = 0xfff;
/// R_max: 8 bits, of which 4 of mantissa, in milliseconds.
const TIME_MANTISSA: u32 = 4;
const TIME_UNIT: f64 = 1e-3;

/// The field nearest to a rate in bytes per second.
pub fn write_rate(rate: f64) -> u16 {
    if rate.is_infinite() {
        NO_LIMIT
    } else {
        (field(floats::rate(rate) / RATE_UNIT, RATE_MANTISSA) as u16).min(NO_LIMIT - 1)
    }
}

/// The rate of a field.
pub fn read_rate(field: u16) -> f64 {
    if field >= NO_LIMIT { f64::INFINITY } else { number(field.into(), RATE_MANTISSA) * RATE_UNIT }
}

/// The field of the least time from this one, in seconds.
pub fn write_time(time: f64) -> u8 {
    field(floats::time(time) / TIME_UNIT, TIME_MANTISSA) as u8
}

/// The time of a field in seconds.
pub fn read_time(field: u8) -> f64 {
    number(field.into(), TIME_MANTISSA) * TIME_UNIT
}

/// The field of a number of at least 1 that the field can hold.
fn field(number: f64, bits: u32) -> u32 {
    let (fraction, exponent) = libm::frexp(number.max(1.0));
    let mantissa = libm::round((2.0 * fraction - 1.0) * f64::from(1u32 << bits)) as u32;
    // A mantissa that is rounded up to 2^bits is that of the next exponent, and zero.
    ((exponent - 1) as u32) * (1 << bits) + mantissa
}

fn number(field: u32, bits: u32) -> f64 {
    let steps = 1u32 << bits;
    libm::ldexp(1.0 + f64::from(field % steps) / f64::from(steps), (field / steps) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each field is known again, and values are those of the scale: 100 bit/s is 0, twice that an exponent of 1.
    #[test]
    fn fields_are_those_of_the_scale() {
        for field in 0..NO_LIMIT {
            assert_eq!(write_rate(read_rate(field)), field);
        }
        for field in 0..=u8::MAX {
            assert_eq!(write_time(read_time(field)), field);
        }
        assert_eq!((read_rate(0), read_rate(1 << 7), read_rate(1 << 7 | 64)), (12.5, 25.0, 37.5));
        assert_eq!((write_rate(f64::INFINITY), read_rate(NO_LIMIT)), (NO_LIMIT, f64::INFINITY));
        assert!(
            (read_time(write_time(0.5)) - 0.512).abs() < 1e-12,
            "2⁹ ms: 2⁸ · (1 + 15/16) ms would be less than 500 ms"
        );
        assert_eq!(read_time(u8::MAX), 63.488);
        assert_eq!(write_rate(f64::MAX), NO_LIMIT - 1);
    }
}
