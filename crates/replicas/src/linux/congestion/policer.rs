//! BBR's long-term rate (`bbr_lt_bw_sampling`): two intervals of four round trips or more, each with a fifth lost and at much the same rate,
//! mean a policer; its rate is kept for 48 round trips.

use super::super::tcp::Tcp;
use super::bandwidth::{BW_SCALE, bytes_per_sec};

/// `bbr_lt_intvl_min_rtts`.
const LEAST_ROUNDS: u64 = 4;
/// `bbr_lt_loss_thresh`, on a scale of 256.
const LOSS: u64 = 50;
/// `bbr_lt_bw_ratio`, on a scale of 256: an eighth.
const RATIO: u64 = 256 / 8;
/// `bbr_lt_bw_diff`, bytes a second.
const DIFFERENCE: u64 = 4_000 / 8;
/// `bbr_lt_bw_max_rtts`.
const MOST_ROUNDS: u64 = 48;

/// The sampler.
#[derive(Clone, Debug, Default)]
pub struct Policer {
    sampling: bool,
    in_use: bool,
    /// Whether that has begun with the last sample.
    just_begun: bool,
    bw: u64,
    rounds: u64,
    /// What was delivered and lost when the interval began, and when that was, ms.
    delivered: u64,
    lost: u64,
    begun_ms: u64,
}

impl Policer {
    /// The policer's rate, while it is in use.
    pub fn bw(&self) -> Option<u64> {
        self.in_use.then_some(self.bw)
    }

    /// Whether its use has begun with the last sample.
    pub fn has_just_begun(&self) -> bool {
        self.just_begun
    }

    fn begin_interval(&mut self, tcp: &Tcp) {
        self.begun_ms = tcp.delivery.delivered_us / 1_000;
        self.delivered = tcp.delivery.delivered;
        self.lost = tcp.lost;
        self.rounds = 0;
    }

    /// Forgets what was sampled.
    pub fn reset(&mut self, tcp: &Tcp) {
        *self = Self::default();
        self.begin_interval(tcp);
    }

    /// A sample. Says whether the cycle of gains is to begin anew, since the policer's rate has been used for long enough.
    pub fn on_sample(&mut self, tcp: &Tcp, losses: u64, app_limited: bool, round_start: bool, probing: bool) -> bool {
        self.just_begun = false;
        if self.in_use {
            if probing && round_start {
                self.rounds += 1;
                if self.rounds >= MOST_ROUNDS {
                    self.reset(tcp);
                    return true;
                }
            }
            return false;
        }
        // A policer has tokens at first: nothing is sampled before the first loss.
        if !self.sampling {
            if losses == 0 {
                return false;
            }
            self.begin_interval(tcp);
            self.sampling = true;
        }
        if app_limited {
            self.reset(tcp);
            return false;
        }
        self.rounds += u64::from(round_start);
        if self.rounds < LEAST_ROUNDS {
            return false;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(tcp);
            return false;
        }
        let (lost, delivered) = (tcp.lost - self.lost, tcp.delivery.delivered - self.delivered);
        let ms = (tcp.delivery.delivered_us / 1_000).saturating_sub(self.begun_ms);
        if losses == 0 || delivered == 0 || (lost << 8) < LOSS * delivered || ms == 0 {
            return false;
        }
        self.end_interval(tcp, (delivered << BW_SCALE) / (ms * 1_000));
        false
    }

    fn end_interval(&mut self, tcp: &Tcp, bw: u64) {
        let difference = bw.abs_diff(self.bw);
        let alike = difference * 256 <= RATIO * self.bw || bytes_per_sec(tcp.mss, difference, 256) <= DIFFERENCE;
        if self.bw > 0 && alike {
            self.bw = (bw + self.bw) >> 1;
            (self.in_use, self.just_begun) = (true, true);
            self.rounds = 0;
            return;
        }
        self.bw = bw;
        self.begin_interval(tcp);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::settings::Settings;
    use super::*;
    use lasthop_protocols::transport::tcp::config::Config;

    /// One in four lost at 100 segments in 10 ms rounds: after two intervals the mean of both is used, for 48 round trips.
    #[test]
    fn two_lossy_intervals_at_one_rate_are_a_policers() {
        let mut tcp = Tcp::new(&Settings::new(&Config::default()));
        let mut policer = Policer::default();
        let mut begun = None;
        let mut restarted = None;
        for round in 1..200 {
            tcp.delivery.delivered += 100;
            tcp.lost += 25;
            tcp.delivery.delivered_us += 10_000;
            if policer.on_sample(&tcp, 25, false, true, true) {
                restarted.get_or_insert(round);
            }
            if policer.has_just_begun() {
                begun.get_or_insert(round);
                assert_eq!(policer.bw(), Some((100 << BW_SCALE) / 10_000));
            }
        }
        // The first interval begins with round 1, which counts for it.
        assert_eq!(begun, Some(8));
        assert_eq!(restarted, Some(8 + 48));
    }
}
