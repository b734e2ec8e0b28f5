//! How far acknowledgements run ahead of BBR's rate (`bbr_update_ack_aggregation`): the excess may be in flight on top.

use super::super::rate::Sample;
use super::super::tcp::Tcp;
use super::bandwidth::BW_SCALE;

/// `bbr_extra_acked_win_rtts`.
const WINDOW_ROUNDS: u32 = 5;
/// `bbr_extra_acked_max_us`.
const MOST_US: u64 = 100_000;
/// `bbr_ack_epoch_acked_reset_thresh`.
const MOST_ACKED: u64 = 1 << 20;

/// The largest excess of the last five to ten round trips.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    epoch_us: u64,
    acked: u64,
    rounds: u32,
    excess: [u64; 2],
    current: usize,
}

impl Aggregation {
    /// An epoch begins.
    pub fn restart(&mut self, now_us: u64) {
        self.epoch_us = now_us;
        self.acked = 0;
    }

    /// What the window may exceed its target by.
    pub fn cwnd(&self, bw: u64) -> u64 {
        let most = u64::try_from((u128::from(bw) * u128::from(MOST_US)) >> BW_SCALE).unwrap_or(u64::MAX);
        self.excess[0].max(self.excess[1]).min(most)
    }

    /// A sample, at the rate `bw`.
    pub fn update(&mut self, tcp: &Tcp, sample: &Sample, bw: u64, round_start: bool) {
        if sample.acked_sacked == 0 || sample.delivered.is_none() || sample.interval_us.is_none_or(|us| us == 0) {
            return;
        }
        if round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.excess[self.current] = 0;
            }
        }
        let passed = tcp.delivery.delivered_us.saturating_sub(self.epoch_us);
        let mut expected = u64::try_from((u128::from(bw) * u128::from(passed)) >> BW_SCALE).unwrap_or(u64::MAX);
        if self.acked <= expected || self.acked + sample.acked_sacked >= MOST_ACKED {
            self.restart(tcp.delivery.delivered_us);
            expected = 0;
        }
        self.acked = (self.acked + sample.acked_sacked).min(MOST_ACKED - 1);
        let excess = self.acked.saturating_sub(expected).min(tcp.snd_cwnd);
        self.excess[self.current] = self.excess[self.current].max(excess);
    }
}
