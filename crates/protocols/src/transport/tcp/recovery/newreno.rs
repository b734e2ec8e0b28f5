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

#[cfg(test)]
mod tests {
    use lasthop_net::net::packet::TcpHeader;

    use super::super::Cut;
    use super::*;
    use crate::transport::tcp::config::{Config as TcpConfig, Rto};
    use crate::transport::tcp::rto::{RtoConfig, RtoEstimator};
    use crate::transport::tcp::scoreboard::{Acked, Segment};

    const SMSS: u64 = 1460;

    /// RFC 6582 §3.2 step 3, partial acknowledgements: the window is deflated by what is acknowledged, and a segment is added back if that
    /// is one at least.
    #[test]
    fn a_partial_acknowledgement_deflates_the_window() {
        for (credit, advance, left) in
            [(5 * SMSS, 2 * SMSS, 4 * SMSS), (5 * SMSS, 500, 5 * SMSS - 500), (2 * SMSS, 9 * SMSS, SMSS)]
        {
            let mut fast = FastRecovery::new(&Settings::new(&TcpConfig::default()));
            (fast.recovering, fast.credit) = (true, credit as i64);
            fast.repair_next(&mut Scoreboard::new(SMSS as u32, false), advance);
            assert_eq!(fast.credit, left as i64, "{advance} acknowledged");
        }
    }

    /// RFC 6582 §3.2: the third duplicate; the first partial acknowledgement restarts the timer, others do not; the full one leaves a window
    /// of max(FlightSize, SMSS) + SMSS at most.
    #[test]
    fn from_the_third_duplicate_to_the_full_acknowledgement() {
        let (header, rto) = (TcpHeader::default(), RtoEstimator::new(RtoConfig::new(&Rto::default())));
        let nxt = 20 * SMSS;
        let ack = |una: u64, advance: u64| AckEvent {
            header: &header,
            rto: &rto,
            now: Instant::ZERO,
            una,
            nxt,
            advance,
            sacked: 0,
            rtt: None,
            duplicate: advance == 0,
        };
        let mut board = Scoreboard::new(SMSS as u32, false);
        for n in 1..20 {
            board.push(Segment::new(n * SMSS, SMSS as u32, false, Instant::ZERO));
        }
        let mut newreno = NewReno::new(&Settings::new(&TcpConfig::default()));
        for _ in 0..2 {
            assert!(matches!(newreno.on_ack(&mut board, &ack(SMSS, 0)), Verdict::Usual));
        }
        let enters = newreno.on_ack(&mut board, &ack(SMSS, 0));
        assert!(matches!(enters, Verdict::Enter { limit: u64::MAX, cut: Cut::Once, resend: true }));
        for (segments, held) in [(2, false), (3, true), (5, true)] {
            board.on_ack(segments * SMSS, &mut Acked::default());
            let partial = newreno.on_ack(&mut board, &ack(segments * SMSS, SMSS));
            assert!(
                matches!(partial, Verdict::Partial { resend: true, hold_timer } if hold_timer == held),
                "{segments}"
            );
        }
        board.on_ack(nxt, &mut Acked::default());
        let full = newreno.on_ack(&mut board, &ack(nxt, 15 * SMSS));
        assert!(matches!(full, Verdict::Exit { limit } if limit == 2 * SMSS));
    }
}
