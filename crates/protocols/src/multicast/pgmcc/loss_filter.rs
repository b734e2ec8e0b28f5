//! The loss rate of a receiver: a low-pass filter over packets that came and packets that did not.

use lasthop_net::net::operations::Operations;

/// The filter of draft-ietf-rmt-bb-pgmcc-03 §2.6, in fixed point. The rate is reported with 16 fractional digits and kept with 32: with 16,
/// rounding at each step would take 1/(2κ) of them off its mean, which is 0.1 % with the draft's κ.
///
/// For each packet, in order, p ← p + κ(x − p), with x = 1 for a lost one, 0 for another. The draft prints
/// its constant as the weight of the old value; as such it would forget all but the last packet.
#[derive(Clone, Copy, Debug)]
pub struct LossFilter {
    /// κ·65536.
    kappa: i64,
    /// p·2³².
    p: i64,
}

/// Fractional digits of κ and of a report, and 1 with them.
const DIGITS: u32 = 16;
const REPORTED_ONE: i64 = 1 << DIGITS;

/// 1 with the digits of p.
const ONE: i64 = REPORTED_ONE << DIGITS;

impl LossFilter {
    /// What one packet costs: a difference, a product, a sum, and a shift, which is not counted.
    pub const COST: Operations = Operations { additions: 2, multiplications: 1 };

    /// A filter in which a packet has weight κ.
    pub fn new(kappa: f64) -> Self {
        Self { kappa: libm::round(kappa * REPORTED_ONE as f64) as i64, p: 0 }
    }

    /// The loss rate begins anew, at 0.
    pub fn reset(&mut self) {
        self.p = 0;
    }

    /// The next packet was lost, or was not.
    #[inline]
    pub fn take(&mut self, lost: bool) {
        let x = if lost { ONE } else { 0 };
        // The shift rounds down, so that p falls to 0 in the end.
        self.p += (self.kappa * (x - self.p)) >> DIGITS;
    }

    /// A run of packets was lost, or was not.
    pub fn take_run(&mut self, lost: bool, packets: u64) {
        for _ in 0..packets {
            let before = self.p;
            self.take(lost);
            if self.p == before {
                break; // it stands still
            }
        }
    }

    /// The loss rate as it stands in a report: 0 to 65535 for 0 to 1 (§2.1.3).
    #[inline]
    pub fn report(self) -> u16 {
        (self.p >> DIGITS).clamp(0, REPORTED_ONE - 1) as u16
    }

    /// The loss rate.
    pub fn rate(self) -> f64 {
        self.p as f64 / ONE as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The draft's constant.
    const KAPPA: f64 = 500.0 / 65536.0;

    fn after(losses: u64) -> LossFilter {
        let mut filter = LossFilter::new(KAPPA);
        filter.take_run(true, losses);
        filter
    }

    /// 1 − (1 − κ)ⁿ.
    #[test]
    fn it_follows_the_geometric_series() {
        for (losses, expected) in [(1, 0.00763), (32, 0.2174), (100, 0.5351)] {
            let exact = 1.0 - libm::pow(1.0 - KAPPA, losses as f64);
            assert!((exact - expected).abs() < 6e-5, "{losses}: {exact}");
            let got = after(losses).rate();
            assert!((exact - got).abs() < 1e-7, "{losses}: {got}, not {exact}");
        }
        assert_eq!(after(3).report(), 1488);
    }

    /// The mean of p is the loss rate, however small it is and however long the filter's memory.
    #[test]
    fn its_mean_is_the_loss_rate() {
        for kappa in [KAPPA, 33.0 / 65536.0] {
            let mut filter = LossFilter::new(kappa);
            let mut sum = 0.0;
            for n in 0..200_000 {
                filter.take(n % 1000 == 999);
                sum += if n < 100_000 { 0.0 } else { filter.rate() };
            }
            assert!((sum / 100_000.0 - 0.001).abs() < 1e-6, "{kappa}: {}", sum / 100_000.0);
        }
    }

    #[test]
    fn half_of_it_is_forgotten_after_90_packets() {
        let half_life = libm::log(0.5) / libm::log(1.0 - KAPPA);
        assert!((half_life - 90.5).abs() < 0.05, "{half_life}");
        let mut filter = LossFilter { p: ONE, ..LossFilter::new(KAPPA) };
        filter.take_run(false, 90);
        assert!(filter.rate() > 0.5);
        filter.take(false);
        assert!(filter.rate() < 0.5);
    }

    /// −1/ln(1 − κ) packets until 1/e is left: 131 for the draft's κ, 16 for one eight times as large.
    #[test]
    fn a_larger_weight_forgets_sooner() {
        for (kappa, memory) in [(KAPPA, 131), (8.0 * KAPPA, 16)] {
            let mut filter = LossFilter { p: ONE, ..LossFilter::new(kappa) };
            filter.take_run(false, memory);
            assert!((filter.rate() - libm::exp(-1.0)).abs() < 0.015, "{kappa}: {}", filter.rate());
        }
    }

    #[test]
    fn it_ends_at_its_ends() {
        let mut filter = after(u64::MAX);
        assert_eq!(filter.report(), u16::MAX);
        filter.take_run(false, u64::MAX);
        assert_eq!(filter.report(), 0);
    }
}
