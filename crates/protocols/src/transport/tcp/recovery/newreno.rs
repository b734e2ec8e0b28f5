//! NewReno (RFC 6582): fast recovery that stays until everything outstanding at the loss is
//! acknowledged, and repairs one hole a round trip. Of its two ways with the timer it takes the
//! recommended one (§3.2 step 3), *impatient* in RFC 3782 §4: restarted at the first partial acknowledgement only.

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
        Box::new(NewReno::new(settings))
    }
}

/// The recovery.
pub struct NewReno {
    fast: FastRecovery,
    /// Whether a partial acknowledgement has come in this recovery.
    partial: bool,
}

impl NewReno {
    /// At the start of a connection.
    pub fn new(settings: &Settings) -> Self {
        Self { fast: FastRecovery::new(settings), partial: false }
    }
}

impl LossRecovery for NewReno {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        if ack.advance == 0 {
            return if ack.duplicate { self.fast.on_duplicate(board, ack) } else { Verdict::Usual };
        }
        if self.fast.recovering && ack.una < self.fast.duplicates.recover {
            self.fast.repair_next(board, ack.advance);
            return Verdict::Partial { resend: true, hold_timer: std::mem::replace(&mut self.partial, true) };
        }
        self.partial = false;
        if !self.fast.leave() {
            return Verdict::Usual;
        }
        // §3.2 step 3, full acknowledgements, (1).
        let smss = self.fast.duplicates.smss;
        Verdict::Exit { limit: board.flight().max(smss) + smss }
    }

    fn on_timeout(&mut self, _now: Instant, board: &mut Scoreboard, nxt: u64) {
        self.partial = false;
        self.fast.on_timeout(board, nxt);
    }

    fn leave(&mut self, _board: &mut Scoreboard, _una: u64) {
        self.partial = false;
        self.fast.leave();
    }

    fn status(&self) -> Status {
        self.fast.status()
    }
}
