//! NewReno (RFC 6582): fast recovery that stays until everything outstanding at the loss is
//! acknowledged, and repairs one hole a round trip. Of its two ways with the timer it takes the
//! recommended *impatient* one (§4): restarted at the first partial acknowledgement only.

use crate::engine::Instant;

use super::super::scoreboard::Scoreboard;
use super::super::settings::Settings;
use super::{AckEvent, Duplicates, Recovery, Status, Verdict};

/// The recovery.
pub struct NewReno {
    duplicates: Duplicates,
    recovering: bool,
    /// Whether a partial acknowledgement has come in this recovery.
    partial: bool,
    credit: i64,
}

impl NewReno {
    /// At the start of a connection.
    pub fn new(settings: &Settings) -> Self {
        Self { duplicates: Duplicates::new(settings), recovering: false, partial: false, credit: 0 }
    }
}

impl Recovery for NewReno {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        let duplicates = &mut self.duplicates;
        let smss = duplicates.smss;
        if ack.advance > 0 {
            duplicates.count = 0;
            if !self.recovering {
                self.credit = 0;
                return Verdict::Usual;
            }
            if ack.una >= duplicates.recover {
                self.recovering = false;
                self.credit = 0;
                // §3.2 step 3, full acknowledgements, (1).
                return Verdict::Exit { limit: board.flight().max(smss) + smss };
            }
            // §3.2 step 3, partial acknowledgements: the window is deflated by what was
            // acknowledged, and a segment added back if that was one at least.
            let back = if ack.advance >= smss { smss as i64 } else { 0 };
            self.credit = (self.credit - ack.advance as i64).max(0) + back;
            board.begin();
            board.mark_first_lost();
            return Verdict::Partial { resend: true, hold_timer: std::mem::replace(&mut self.partial, true) };
        }
        if ack.duplicate {
            if self.recovering {
                duplicates.count += 1;
                self.credit += smss as i64;
            } else if duplicates.count(ack) {
                duplicates.recover = ack.nxt;
                self.recovering = true;
                self.partial = false;
                self.credit = 3 * smss as i64;
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
        let alert = self.recovering || duplicates > 0;
        Status { recovering: self.recovering, alert, credit: self.credit, duplicates }
    }
}
