//! What a step was worth.

use libm::log;

use super::observation::Report;

/// A reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reward {
    /// 10 throughput − 1000 latency − 2000 loss, in packets/s, s and shares (Aurora, Jay et al. 2019; its PCC-RL
    /// takes a thousandth).
    Aurora,
    /// log(throughput) − δ log(latency), in packets/s and s, with δ = 0.5 (Copa, Arun and Balakrishnan 2018,
    /// equation 1).
    Power,
    /// None: the caller has its own.
    Own,
}

/// The rewards that have a name.
pub const REWARDS: [(&str, Reward); 2] = [("aurora", Reward::Aurora), ("power", Reward::Power)];

/// δ of Copa's default mode (Arun and Balakrishnan 2018).
const DELTA: f64 = 0.5;
/// The least throughput that counts, packets/s: the logarithm of none is −∞.
const LEAST_THROUGHPUT: f64 = 1.0;

impl Reward {
    /// The reward of a step.
    pub fn of(self, report: &Report) -> f64 {
        match self {
            Self::Aurora => 10.0 * report.throughput() - 1000.0 * report.latency() - 2000.0 * report.loss(),
            Self::Power => log(report.throughput().max(LEAST_THROUGHPUT)) - DELTA * log(report.latency()),
            Self::Own => 0.0,
        }
    }
}
