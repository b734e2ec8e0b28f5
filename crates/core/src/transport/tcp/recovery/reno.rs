//! Reno (RFC 2581 §3.2): fast retransmit, and fast recovery that ends with the first new
//! acknowledgement, also if it leaves holes.

use crate::engine::Instant;

use super::super::scoreboard::Scoreboard;
use super::super::settings::Settings;
use super::{AckEvent, Duplicates, Recovery, Status, Verdict};

/// The recovery.
pub struct Reno {
    duplicates: Duplicates,
    recovering: bool,
    credit: i64,
}

impl Reno {
    /// At the start of a connection.
    pub fn new(settings: &Settings) -> Self {
        Self { duplicates: Duplicates::new(settings), recovering: false, credit: 0 }
    }
}

impl Recovery for Reno {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        let duplicates = &mut self.duplicates;
        if ack.advance > 0 {
            duplicates.count = 0;
            self.credit = 0;
            if std::mem::take(&mut self.recovering) {
                return Verdict::Exit { limit: u64::MAX };
            }
        } else if ack.duplicate {
            if self.recovering {
                duplicates.count += 1;
                self.credit += duplicates.smss as i64;
            } else if duplicates.count(ack) {
                duplicates.recover = ack.nxt;
                self.recovering = true;
                self.credit = 3 * duplicates.smss as i64;
                board.begin();
                board.mark_first_lost();
                return Verdict::Enter { limit: u64::MAX, cut: true };
            } else {
                self.credit = duplicates.limited(ack.una);
            }
        }
        Verdict::Usual
    }

    fn on_timeout(&mut self, _now: Instant, board: &mut Scoreboard, nxt: u64) {
        self.duplicates.count = 0;
        self.duplicates.recover = nxt;
        self.recovering = false;
        self.credit = 0;
        board.mark_all_lost();
    }

    fn status(&self) -> Status {
        let duplicates = self.duplicates.count;
        Status { recovering: self.recovering, alert: duplicates > 0, credit: self.credit, duplicates }
    }
}
