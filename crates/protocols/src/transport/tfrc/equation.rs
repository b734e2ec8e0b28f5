//! TCP's throughput equation (RFC 5348 §3.1; Padhye, Firoiu, Towsley, Kurose 1998) and its
//! inverse. Sizes in bytes, times in seconds, rates in bytes per second.

/// The throughput of TCP Reno with segments of `s` bytes, a round-trip time of `r` seconds, a
/// loss event rate of `p` and a retransmission timeout of `t_rto` seconds, when each segment is
/// acknowledged (b = 1). Infinite without loss.
pub fn throughput(s: f64, r: f64, p: f64, t_rto: f64) -> f64 {
    s / (r * libm::sqrt(2.0 * p / 3.0) + t_rto * 3.0 * libm::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p))
}

/// The loss event rate at which TCP would reach `x`; 1 if it is less at every rate.
pub fn loss_rate(x: f64, s: f64, r: f64, t_rto: f64) -> f64 {
    // The equation falls with p. Rates over the whole range of p are met to a relative 10⁻⁹ by
    // halving its logarithm 40 times.
    let (mut low, mut high) = (LEAST_LOG, 0.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if throughput(s, r, libm::exp(middle), t_rto) > x {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(0.5 * (low + high))
}

/// ln 10⁻¹⁵: at less the equation knows no limit worth speaking of.
const LEAST_LOG: f64 = -34.538_776_394_910_68;

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the equation, computed apart with t_RTO = 4 R.
    #[test]
    fn rates_at_known_loss() {
        for (s, r, p, expected) in [
            (1000.0, 0.1, 0.001, 383_844.0),
            (1000.0, 0.1, 0.01, 112_332.0),
            (1000.0, 0.1, 0.1, 17_701.0),
            (1450.0, 0.15, 0.01, 108_588.0),
            (1460.0, 0.2, 0.05, 26_907.0),
            (1000.0, 0.1, 0.4, 840.8),
        ] {
            let x = throughput(s, r, p, 4.0 * r);
            assert!((x - expected).abs() < 0.5, "s {s}, R {r}, p {p}: {x}, not {expected}");
        }
    }

    #[test]
    fn loss_at_known_rates() {
        for (x, expected) in [(50_000.0, 0.034378), (125_000.0, 0.008_308_1)] {
            let p = loss_rate(x, 1000.0, 0.1, 0.4);
            assert!((p / expected - 1.0).abs() < 2e-5, "at {x} B/s: {p}, not {expected}");
        }
    }

    #[test]
    fn the_inverse_undoes_the_equation() {
        for n in 0..60 {
            let p = libm::pow(10.0, -f64::from(n) / 10.0);
            let back = loss_rate(throughput(1460.0, 0.07, p, 0.28), 1460.0, 0.07, 0.28);
            assert!((back / p - 1.0).abs() < 1e-8, "{p} became {back}");
        }
        assert!(loss_rate(1e-3, 1000.0, 0.1, 0.4) > 0.999_999);
    }
}
