//! Tahoe (Jacobson 1988): a loss means slow start from one segment, beginning with the first
//! that is not acknowledged. The receiver keeps what arrived out of order, so resending ends
//! where the cumulative acknowledgement jumps to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Instant;

use super::super::scoreboard::Scoreboard;
use super::super::settings::Settings;
use super::{AckEvent, Cut, Duplicates, LossRecovery, RecoveryConfig, Status, Verdict};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

impl RecoveryConfig for Config {
    fn build(&self, settings: &Settings) -> Box<dyn LossRecovery> {
        Box::new(Tahoe::new(settings))
    }
}

/// The recovery.
pub struct Tahoe {
    duplicates: Duplicates,
    credit: i64,
}

impl Tahoe {
    /// At the start of a connection.
    pub fn new(settings: &Settings) -> Self {
        Self { duplicates: Duplicates::new(settings), credit: 0 }
    }
}

impl LossRecovery for Tahoe {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        if ack.advance > 0 {
            self.duplicates.count = 0;
            self.credit = 0;
        } else if ack.duplicate {
            if self.duplicates.count(ack) {
                self.credit = 0;
                self.duplicates.recover = ack.nxt;
                board.mark_all_lost();
                return Verdict::Enter { limit: self.duplicates.smss, cut: Cut::Once, resend: true };
            }
            self.credit = self.duplicates.limited(ack.una);
        }
        Verdict::Usual
    }

    fn on_timeout(&mut self, _now: Instant, board: &mut Scoreboard, nxt: u64) {
        self.duplicates.count = 0;
        self.credit = 0;
        self.duplicates.recover = nxt;
        board.mark_all_lost();
    }

    fn status(&self) -> Status {
        let duplicates = self.duplicates.count;
        Status { recovering: false, alert: duplicates > 0, credit: self.credit, duplicates }
    }
}
