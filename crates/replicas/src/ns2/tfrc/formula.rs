//! ns-2's throughput equation and its inverse (`tcp/formula.h`, `tcp/formula-with-inverse.h`).
//! They differ from the standard's: the probability of a timeout is at most 1, and no rate is
//! above 25 MB/s.

use super::SMALL;

/// `MAXRATE`, bytes per second.
const MAX_RATE: f64 = 25_000_000.0;

/// The rate for a loss event rate of `p` (`p_to_b`).
pub fn rate(p: f64, rtt: f64, rto: f64, size: f64) -> f64 {
    if p < 0.0 || rtt < 0.0 {
        return MAX_RATE;
    }
    let timeout = (3.0 * libm::sqrt(3.0 * p / 8.0)).min(1.0);
    let interval = rtt * libm::sqrt(2.0 * p / 3.0) + timeout * (rto * p * (1.0 + 32.0 * p * p));
    if interval < SMALL { MAX_RATE } else { (size / interval).min(MAX_RATE) }
}

/// The loss event rate for a rate, within 5 % of that rate (`b_to_p`).
pub fn loss(target: f64, rtt: f64, rto: f64, size: f64) -> f64 {
    let (mut p, mut step) = (0.5, 0.25);
    for _ in 0..31 {
        let rate = rate(p, rtt, rto, size);
        if rate > 0.95 * target && rate < 1.05 * target {
            break;
        }
        p += if rate > target { step } else { -step };
        step /= 2.0;
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clamp matters above p = 8/27.
    #[test]
    fn the_timeout_term_is_clamped() {
        assert!((rate(0.4, 0.1, 0.4, 1000.0) - 970.1).abs() < 0.05);
        assert!((rate(0.01, 0.1, 0.4, 1000.0) - 112_332.0).abs() < 0.5);
        assert_eq!(rate(0.0, 0.1, 0.4, 1000.0), MAX_RATE);
    }
}
