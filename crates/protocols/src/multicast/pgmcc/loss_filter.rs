//! The loss rate of a receiver: a low-pass filter over packets that came and packets that did not.

use lasthop_net::net::operations::Operations;

/// The filter of draft-ietf-rmt-bb-pgmcc-03 §2.6, in fixed point with 16 fractional digits.
///
/// For each packet, in order, p ← p + κ(x − p), with x = 1 for a lost one, 0 for another. The draft prints
/// its constant as the weight of the old value; as such it would forget all but the last packet.
#[derive(Clone, Copy, Debug)]
pub struct LossFilter {
    /// κ·65536.
    kappa: i32,
    /// p·65536.
    p: i32,
}

/// 1 in fixed point.
const ONE: i32 = 1 << 16;

impl LossFilter {
    /// What one packet costs: a difference, a product, a sum, and a shift, which is not counted.
    pub const COST: Operations = Operations { additions: 2, multiplications: 1 };

    /// A filter in which a packet has weight κ.
    pub fn new(kappa: f64) -> Self {
        Self { kappa: libm::round(kappa * f64::from(ONE)) as i32, p: 0 }
    }

    /// The loss rate begins anew, at 0.
    pub fn reset(&mut self) {
        self.p = 0;
    }

    /// The next packet was lost, or was not.
    #[inline]
    pub fn take(&mut self, lost: bool) {
        let x = if lost { ONE } else { 0 };
        // The shift rounds down, so that p falls to 0 in the end. In its mean it lies 1/(2κ) of 1/65536 too low.
        self.p += ((i64::from(self.kappa) * i64::from(x - self.p)) >> 16) as i32;
    }

    /// A run of packets was lost, or was not.
    pub fn take_run(&mut self, lost: bool, packets: u64) {
        // The filter stands still long before that.
        for _ in 0..packets.min(STANDS_STILL) {
            self.take(lost);
        }
    }

    /// The loss rate as it stands in a report: 0 to 65535 for 0 to 1 (§2.1.3).
    #[inline]
    pub fn report(self) -> u16 {
        self.p.clamp(0, ONE - 1) as u16
    }

    /// The loss rate.
    pub fn rate(self) -> f64 {
        f64::from(self.p) / f64::from(ONE)
    }
}

/// After this number of equal packets the filter does not move any more: each moves it by at least 1, or by nothing.
const STANDS_STILL: u64 = ONE as u64;

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

    /// 1 − (1 − κ)ⁿ, in which the rounding of each step, at most 1/65536, is forgotten with 1/κ = 131 packets.
    #[test]
    fn it_follows_the_geometric_series() {
        for (losses, expected) in [(1, 0.00763), (32, 0.2174), (100, 0.5351)] {
            let exact = 1.0 - libm::pow(1.0 - KAPPA, losses as f64);
            assert!((exact - expected).abs() < 6e-5, "{losses}: {exact}");
            let got = after(losses).rate();
            assert!(exact - got >= 0.0 && exact - got <= 131.1 / 65536.0, "{losses}: {got}, not {exact}");
        }
        assert_eq!(after(3).p, 1488);
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
        assert_eq!(filter.report(), (ONE - 131) as u16, "500·131 is less than 65536");
        filter.take_run(false, u64::MAX);
        assert_eq!(filter.report(), 0);
    }
}
