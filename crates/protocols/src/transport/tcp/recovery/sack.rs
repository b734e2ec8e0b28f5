//! Recovery with selective acknowledgements (RFC 6675): the scoreboard says which segments are lost, `pipe` how much is in flight,
//! NextSeg() which segment to send.
//!
//! One deviation: the rescue retransmission (NextSeg rule 4) is not spent on a segment that
//! this recovery has already sent again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Instant;

use super::super::scoreboard::Scoreboard;
use super::super::settings::Settings;
use super::{AckEvent, Cut, DUP_THRESH, LossRecovery, Next, RecoveryConfig, Status, Verdict};

/// SACK recovery's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Proportional Rate Reduction (RFC 9937) while it recovers. Default: off (RFC 6675 §5 sets the window at once).
    pub prr: bool,
}

impl RecoveryConfig for Config {
    fn build(&self, settings: &Settings) -> Box<dyn LossRecovery> {
        Box::new(Sack::new(settings))
    }

    fn reads_sack(&self) -> bool {
        true
    }

    fn has_prr(&self) -> bool {
        self.prr
    }
}

/// The recovery.
pub struct Sack {
    limited_transmit: bool,
    /// DupAcks: acknowledgements that SACKed something since SND.UNA last moved (§5).
    duplicates: u32,
    recovering: bool,
    /// RecoveryPoint: SND.NXT when the last recovery or timeout began.
    recovery_point: u64,
    /// Whether this recovery has had its rescue retransmission.
    rescued: bool,
    credit: i64,
}

impl Sack {
    /// At the start of a connection.
    pub fn new(settings: &Settings) -> Self {
        Self {
            limited_transmit: settings.limited_transmit,
            duplicates: 0,
            recovering: false,
            recovery_point: 0,
            rescued: false,
            credit: 0,
        }
    }
}

impl LossRecovery for Sack {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        if ack.sacked > 0 {
            board.mark_lost_rfc6675();
        }
        let mut verdict = Verdict::Usual;
        if ack.advance > 0 {
            self.duplicates = 0;
            if self.recovering {
                verdict = Verdict::Partial { resend: false, hold_timer: false };
                if ack.una >= self.recovery_point {
                    self.recovering = false;
                    verdict = Verdict::Exit { limit: u64::MAX };
                }
            }
        } else if ack.sacked > 0 {
            self.duplicates += 1;
        }
        // §5 step (2), and §5.1 after a timeout.
        let lost = self.duplicates >= DUP_THRESH || board.first_is_lost();
        if lost && !self.recovering && ack.una >= self.recovery_point {
            self.recovering = true;
            self.recovery_point = ack.nxt;
            self.rescued = false;
            board.begin();
            verdict = Verdict::Enter { limit: u64::MAX, cut: Cut::Once, resend: true };
        }
        // Without limited transmit SACKed segments release no new ones until a loss is clear.
        let hold = !self.limited_transmit && !self.recovering && ack.una >= self.recovery_point;
        self.credit = if hold { -(board.sacked() as i64) } else { 0 };
        verdict
    }

    fn next(&mut self, board: &mut Scoreboard, new_data: bool) -> Option<Next> {
        let hole = board.next_hole();
        match hole {
            // NextSeg rule 1.
            Some((id, true)) => Some(Next::Resend(id)),
            // Rule 2.
            _ if new_data => Some(Next::New),
            _ if !self.recovering => None,
            // Rule 3.
            Some((id, false)) => Some(Next::Resend(id)),
            // Rule 4.
            None if !self.rescued => {
                self.rescued = true;
                board.last_unsent_again().map(Next::Resend)
            }
            None => None,
        }
    }

    fn on_timeout(&mut self, _now: Instant, board: &mut Scoreboard, nxt: u64) {
        self.duplicates = 0;
        self.recovering = false;
        self.recovery_point = nxt;
        self.credit = 0;
        board.mark_all_lost();
    }

    fn on_undo(&mut self, _board: &mut Scoreboard, una: u64) {
        self.recovery_point = una;
    }

    fn leave(&mut self, board: &mut Scoreboard, una: u64) {
        self.recovering = false;
        self.on_undo(board, una);
    }

    fn status(&self) -> Status {
        let alert = self.recovering || self.duplicates > 0 || self.credit != 0;
        Status { recovering: self.recovering, alert, credit: self.credit, duplicates: self.duplicates }
    }
}

#[cfg(test)]
mod tests {
    use lasthop_net::net::SackBlocks;
    use lasthop_net::net::packet::TcpHeader;

    use super::*;
    use crate::transport::tcp::config::{Config as TcpConfig, Rto};
    use crate::transport::tcp::rto::{RtoConfig, RtoEstimator};
    use crate::transport::tcp::scoreboard::{Acked, Segment};

    /// RFC 6675 §5 step (2): a recovery begins with the first duplicate that tells of enough segments above, and before three of them.
    #[test]
    fn one_acknowledgement_may_tell_of_a_loss() {
        let (header, rto) = (TcpHeader::default(), RtoEstimator::new(RtoConfig::new(&Rto::default())));
        for (sacked, enters) in [(2, false), (3, true)] {
            let mut board = Scoreboard::new(1000, false);
            for n in 1..20 {
                board.push(Segment::new(1000 * n, 1000, false, Instant::ZERO));
            }
            let mut blocks = SackBlocks::NONE;
            blocks.push(2000, 2000 + 1000 * sacked);
            board.on_sack(1000, &blocks, &mut Acked::default());
            let ack = AckEvent {
                header: &header,
                rto: &rto,
                now: Instant::ZERO,
                una: 1000,
                nxt: 20_000,
                advance: 0,
                sacked: 1000 * sacked,
                rtt: None,
                duplicate: true,
            };
            let verdict = Sack::new(&Settings::new(&TcpConfig::default())).on_ack(&mut board, &ack);
            assert_eq!(matches!(verdict, Verdict::Enter { resend: true, .. }), enters, "{sacked} SACKed");
        }
    }
}
