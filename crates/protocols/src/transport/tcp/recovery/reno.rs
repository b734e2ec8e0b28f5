//! Reno (RFC 2581 §3.2): fast retransmit, and fast recovery that ends with the first new
//! acknowledgement, also if it leaves holes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Instant;

use super::super::scoreboard::Scoreboard;
use super::super::settings::Settings;
use super::fast::FastRecovery;
use super::{AckEvent, LossRecovery, RecoveryConfig, Status, Verdict};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

impl RecoveryConfig for Config {
    fn build(&self, settings: &Settings) -> Box<dyn LossRecovery> {
        Box::new(Reno::new(settings))
    }
}

/// The recovery.
pub struct Reno(FastRecovery);

impl Reno {
    /// At the start of a connection.
    pub fn new(settings: &Settings) -> Self {
        Self(FastRecovery::new(settings))
    }
}

impl LossRecovery for Reno {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        match ack.advance > 0 {
            true if self.0.leave() => Verdict::Exit { limit: u64::MAX },
            false if ack.duplicate => self.0.on_duplicate(board, ack),
            _ => Verdict::Usual,
        }
    }

    fn on_timeout(&mut self, _now: Instant, board: &mut Scoreboard, nxt: u64) {
        self.0.on_timeout(board, nxt);
    }

    fn leave(&mut self, _board: &mut Scoreboard, _una: u64) {
        self.0.leave();
    }

    fn status(&self) -> Status {
        self.0.status()
    }
}
