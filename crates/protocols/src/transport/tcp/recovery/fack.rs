//! Forward acknowledgement (Mathis, Mahdavi 1996): everything below the forward-most SACKed
//! byte has left the network, so `awnd = snd.nxt − snd.fack + retran_data` is in flight.
//!
//! A retransmission that is lost waits for the timer. With `rampdown` the window shrinks by half
//! a segment for each one delivered instead of at once; with `overdamping` a loss in slow start
//! halves it twice (asked of the congestion control by the sender).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Instant;

use super::super::scoreboard::Scoreboard;
use super::super::settings::Settings;
use super::{AckEvent, Cut, DUP_THRESH, LossRecovery, Next, RecoveryConfig, Status, Verdict};

/// FACK's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The window when recovery begins. Default: `half`; in profile `ns2` `one`, as ns-2.35 does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_at_trigger: Option<CwndAtTrigger>,
    /// Reduce the window gradually, one segment for two acknowledgements (rampdown). Default: off.
    pub rampdown: bool,
    /// Halve the window twice if the loss hit in slow start (overdamping). Default: off.
    pub overdamping: bool,
}

/// FACK's window when recovery begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CwndAtTrigger {
    /// Half of it.
    Half,
    /// One segment.
    One,
}

impl RecoveryConfig for Config {
    fn build(&self, settings: &Settings) -> Box<dyn LossRecovery> {
        Box::new(Fack::new(*self, settings))
    }

    fn reads_sack(&self) -> bool {
        true
    }
}

/// The recovery.
pub struct Fack {
    smss: u64,
    limit: u64,
    rampdown: bool,
    cut: Cut,
    duplicates: u32,
    recovering: bool,
    /// SND.NXT when the last recovery or timeout began.
    recover: u64,
    /// Whether lost segments are to be sent again: in a recovery, or after a timeout. Otherwise they may only be late.
    repairing: bool,
    /// snd.fack.
    fack: u64,
    /// How far the window still has to shrink, bytes (`wintrim`).
    trim: u64,
}

impl Fack {
    /// At the start of a connection.
    pub fn new(config: Config, settings: &Settings) -> Self {
        let one = config.cwnd_at_trigger == Some(CwndAtTrigger::One);
        let smss = u64::from(settings.smss);
        Self {
            smss,
            limit: if one { smss } else { u64::MAX },
            rampdown: config.rampdown,
            cut: if config.overdamping { Cut::TwiceInSlowStart } else { Cut::Once },
            duplicates: 0,
            recovering: false,
            recover: 0,
            repairing: false,
            fack: 0,
            trim: 0,
        }
    }
}

impl LossRecovery for Fack {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        if ack.sacked > 0 {
            board.mark_lost_below_fack();
        }
        let fack = self.fack.max(ack.una + board.below_fack());
        self.trim = self.trim.saturating_sub((fack - self.fack) / 2);
        self.fack = fack;
        let mut verdict = Verdict::Usual;
        if ack.advance > 0 {
            self.duplicates = 0;
            if self.recovering {
                verdict = Verdict::Partial { resend: false, hold_timer: false };
                if ack.una >= self.recover {
                    self.recovering = false;
                    self.trim = 0;
                    verdict = Verdict::Exit { limit: u64::MAX };
                }
            }
        } else if ack.duplicate {
            self.duplicates += 1;
        }
        let far = board.below_fack() > u64::from(DUP_THRESH) * self.smss;
        let lost = board.first_is_lost() && (far || self.duplicates >= DUP_THRESH);
        if lost && !self.recovering && ack.una >= self.recover {
            self.recovering = true;
            self.recover = ack.nxt;
            self.trim = if self.rampdown { board.pipe() / 2 } else { 0 };
            board.begin();
            verdict = Verdict::Enter { limit: self.limit, cut: self.cut, resend: true };
        }
        self.repairing = self.recovering || ack.una < self.recover;
        verdict
    }

    fn next(&mut self, board: &mut Scoreboard, new_data: bool) -> Option<Next> {
        match board.next_hole() {
            Some((id, true)) if self.repairing => Some(Next::Resend(id)),
            _ => new_data.then_some(Next::New),
        }
    }

    fn on_timeout(&mut self, _now: Instant, board: &mut Scoreboard, nxt: u64) {
        self.duplicates = 0;
        self.recovering = false;
        self.recover = nxt;
        self.repairing = true;
        self.trim = 0;
        board.mark_all_lost();
    }

    fn on_undo(&mut self, _board: &mut Scoreboard, una: u64) {
        self.recover = una;
        self.repairing = false;
    }

    fn leave(&mut self, board: &mut Scoreboard, una: u64) {
        self.recovering = false;
        self.trim = 0;
        self.on_undo(board, una);
    }

    fn status(&self) -> Status {
        let alert = self.recovering || self.duplicates > 0;
        Status { recovering: self.recovering, alert, credit: self.trim as i64, duplicates: self.duplicates }
    }
}
