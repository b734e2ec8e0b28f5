//! The round-trip time and the retransmission timeout in the kernel's integers (`tcp_rtt_estimator`, `tcp_set_rto`): the smoothed time is kept
//! eightfold, its deviation fourfold, and the variation is the largest deviation of a round trip, never below 200 ms.

use super::clock;
use super::minmax::Min;

/// `TCP_RTO_MIN`, microseconds.
pub const RTO_MIN_US: u64 = 200_000;
/// `TCP_RTO_MAX`, ticks: 120 s.
pub const RTO_MAX: u64 = 120 * clock::HZ;
/// `TCP_TIMEOUT_INIT`, ticks: 1 s.
const RTO_INITIAL: u64 = clock::HZ;
/// `tcp_min_rtt_wlen`, ticks: 300 s.
const MIN_RTT_WINDOW: u64 = 300 * clock::HZ;

/// The estimator. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct Estimator {
    /// Eight times the smoothed round-trip time; 0 before the first sample (`srtt_us`).
    pub srtt: u64,
    /// Four times the mean deviation (`mdev_us`).
    mdev: u64,
    /// The largest of this round trip (`mdev_max_us`).
    mdev_max: u64,
    /// The variation (`rttvar_us`).
    rttvar: u64,
    /// SND.NXT when the round trip of `mdev_max` began (`rtt_seq`).
    seq: u64,
    /// The timeout, ticks, back-off included (`icsk_rto`).
    pub rto: u64,
    /// How often it was doubled (`icsk_backoff`).
    pub backoff: u32,
    min: Min,
    /// The last sample.
    pub last: u64,
}

impl Default for Estimator {
    fn default() -> Self {
        let min = Min::default();
        Self { srtt: 0, mdev: 0, mdev_max: 0, rttvar: 0, seq: 0, rto: RTO_INITIAL, backoff: 0, min, last: 0 }
    }
}

impl Estimator {
    /// After the first sample.
    pub fn first(us: u64) -> Self {
        let mut estimator = Self::default();
        estimator.on_sample(us, 0, 0);
        estimator
    }

    /// The least round-trip time (`tcp_min_rtt`).
    #[inline]
    pub fn min(&self) -> Option<u64> {
        self.min.get()
    }

    /// A sample for the least round-trip time (`tcp_update_rtt_min`), which is that of the segment acknowledged last.
    pub fn note_min(&mut self, jiffies: u64, us: u64) {
        self.min.update(MIN_RTT_WINDOW, jiffies, if us == 0 { clock::ticks_us(1) } else { us });
    }

    /// A sample (`tcp_rtt_estimator`); `una` and `nxt` are SND.UNA and SND.NXT.
    pub fn on_sample(&mut self, us: u64, una: u64, nxt: u64) {
        self.last = us;
        if self.srtt == 0 {
            self.srtt = us << 3;
            self.mdev = us << 1;
            self.rttvar = self.mdev.max(RTO_MIN_US);
            self.mdev_max = self.rttvar;
            self.seq = nxt;
        } else {
            let mut m = us as i64 - (self.srtt >> 3) as i64;
            self.srtt = self.srtt.saturating_add_signed(m);
            if m < 0 {
                // A fall of the round-trip time is to count an eighth only.
                m = -m - (self.mdev >> 2) as i64;
                if m > 0 {
                    m >>= 3;
                }
            } else {
                m -= (self.mdev >> 2) as i64;
            }
            self.mdev = self.mdev.saturating_add_signed(m);
            if self.mdev > self.mdev_max {
                self.mdev_max = self.mdev;
                self.rttvar = self.rttvar.max(self.mdev_max);
            }
            if una > self.seq {
                if self.mdev_max < self.rttvar {
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
                }
                self.seq = nxt;
                self.mdev_max = RTO_MIN_US;
            }
        }
        self.srtt = self.srtt.max(1);
        self.rto = clock::ticks((self.srtt >> 3) + self.rttvar).min(RTO_MAX);
        self.backoff = 0;
    }

    /// The timeout has expired.
    pub fn back_off(&mut self) {
        self.backoff += 1;
        self.rto = (self.rto * 2).min(RTO_MAX);
    }

    /// The variation, microseconds.
    pub fn rttvar(&self) -> u64 {
        self.rttvar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of TCP_INFO in the reference (samples of bbr_10mbit_20ms_1bdp_0): 20,275 us after the handshake.
    #[test]
    fn the_first_sample_is_taken_whole_and_the_variation_is_200_ms_at_least() {
        let mut rtt = Estimator::default();
        rtt.on_sample(20_275, 1, 1);
        assert_eq!(rtt.srtt >> 3, 20_275);
        // 20.275 + 200 ms in ticks of 4 ms, rounded up.
        assert_eq!(rtt.rto, 56);
        rtt.on_sample(28_275, 1_449, 20_000);
        assert_eq!(rtt.srtt >> 3, 21_275);
    }

    #[test]
    fn a_rise_counts_a_quarter_of_the_deviation_and_a_fall_an_eighth_of_that() {
        let steady = || {
            let mut rtt = Estimator::default();
            for n in 0..200 {
                rtt.on_sample(400_000, n, n);
            }
            rtt
        };
        let (mut up, mut down) = (steady(), steady());
        let before = up.mdev >> 2;
        up.on_sample(800_000, 300, 300);
        down.on_sample(1, 300, 300);
        let (rise, fall) = (up.mdev - (before << 2), down.mdev - (before << 2));
        assert!((390_000..=400_100).contains(&rise), "{rise}");
        assert!((49_000..=50_100).contains(&fall), "{fall}");
    }
}
