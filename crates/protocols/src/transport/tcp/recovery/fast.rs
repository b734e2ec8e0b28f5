//! Fast retransmit and fast recovery (RFC 5681 §3.2), as far as Reno, NewReno and Vegas share it:
//! the third duplicate acknowledgement means a loss, and each one that a segment has left the
//! network. When a recovery ends is for each of them to say.

use super::super::scoreboard::Scoreboard;
use super::super::settings::Settings;
use super::{AckEvent, Cut, Duplicates, Status, Verdict};

/// Its state.
pub(super) struct FastRecovery {
    pub(super) duplicates: Duplicates,
    pub(super) recovering: bool,
    /// See [`Status::credit`].
    pub(super) credit: i64,
}

impl FastRecovery {
    /// At the start of a connection.
    pub(super) fn new(settings: &Settings) -> Self {
        Self { duplicates: Duplicates::new(settings), recovering: false, credit: 0 }
    }

    /// A duplicate acknowledgement: begins a recovery if it is the one that means a loss.
    pub(super) fn on_duplicate(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        if !self.duplicates.count(ack) || self.recovering {
            self.inflate(ack.una);
            return Verdict::Usual;
        }
        self.duplicates.recover = ack.nxt;
        self.begin(board);
        Verdict::Enter { limit: u64::MAX, cut: Cut::Once, resend: true }
    }

    /// The first segment is lost. The duplicates so far count the segments that have left the network.
    pub(super) fn begin(&mut self, board: &mut Scoreboard) {
        self.recovering = true;
        self.credit = i64::from(self.duplicates.count) * self.duplicates.smss as i64;
        board.begin();
        board.mark_first_lost();
    }

    /// A duplicate has been counted that means no loss.
    pub(super) fn inflate(&mut self, una: u64) {
        let smss = self.duplicates.smss as i64;
        self.credit = if self.recovering { self.credit + smss } else { self.duplicates.limited(una) };
    }

    /// New data are acknowledged, but the first segment is lost too. The window is deflated by
    /// the amount acknowledged, and a segment added back if that was one at least (RFC 6582 §3.2
    /// step 3, partial acknowledgements).
    pub(super) fn repair_next(&mut self, board: &mut Scoreboard, advance: u64) {
        let smss = self.duplicates.smss;
        let back = if advance >= smss { smss as i64 } else { 0 };
        self.duplicates.count = 0;
        self.credit = (self.credit - advance as i64).max(0) + back;
        board.begin();
        board.mark_first_lost();
    }

    /// New data are acknowledged, and no recovery goes on. Says whether one did.
    pub(super) fn leave(&mut self) -> bool {
        self.duplicates.count = 0;
        self.credit = 0;
        std::mem::take(&mut self.recovering)
    }

    /// The retransmission timer has expired.
    pub(super) fn on_timeout(&mut self, board: &mut Scoreboard, nxt: u64) {
        self.leave();
        self.duplicates.recover = nxt;
        board.mark_all_lost();
    }

    /// Where it stands.
    pub(super) fn status(&self) -> Status {
        let duplicates = self.duplicates.count;
        let alert = self.recovering || duplicates > 0;
        Status { recovering: self.recovering, alert, credit: self.credit, duplicates }
    }
}
