//! The reset procedure (TS 25.322 §11.4): one end asks, and both start anew.

use crate::radio::rlc::pdu::{Control, Pdu, Reason};
use lasthop_net::engine::{Duration, Instant};

use super::config::Config;

/// Both sides of the procedure.
#[derive(Debug)]
pub struct Reset {
    /// The reset that was asked for and is not acknowledged.
    pending: Option<Pending>,
    /// The sequence number of the next one.
    rsn: u8,
    /// The sequence number of the last one that the far end asked for, and the SDU with which this end
    /// goes on since.
    answered: Option<(u8, u64)>,
    /// Whether that is to be acknowledged.
    owes_answer: bool,
    period: Duration,
    max_rst: u32,
    /// Resets asked for, and how often MaxRST was reached.
    pub resets: u64,
    pub unrecoverable: u64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The SDU with which this end goes on.
    kept: u64,
    /// VT(RST): how often it was asked for (§9.4 h).
    vt_rst: u32,
    due: bool,
    /// Timer_RST.
    timer: Option<Instant>,
}

impl Reset {
    pub fn new(config: &Config) -> Self {
        Self {
            pending: None,
            rsn: 0,
            answered: None,
            owes_answer: false,
            period: config.reset_timer,
            max_rst: config.max_rst,
            resets: 0,
            unrecoverable: 0,
        }
    }

    /// Whether this end waits for an answer; it sends and takes no data then.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Asks for a reset. `kept`: the SDU with which this end will go on.
    pub fn ask(&mut self, kept: u64) {
        if self.pending.is_none() {
            self.resets += 1;
            self.pending = Some(Pending { kept, vt_rst: 1, due: true, timer: None });
        }
    }

    #[inline]
    pub fn is_due(&self) -> bool {
        self.owes_answer || self.pending.is_some_and(|pending| pending.due)
    }

    /// The PDU to be sent, an answer first.
    pub fn pull(&mut self, at: Instant) -> Option<Pdu> {
        let pdu =
            |control, sdu| Pdu { control: Some(Box::new(control)), sdu, reason: Reason::Control, ..Pdu::default() };
        if self.owes_answer {
            self.owes_answer = false;
            return self.answered.map(|(rsn, kept)| pdu(Control::ResetAck(rsn), kept));
        }
        let period = self.period;
        let pending = self.pending.as_mut().filter(|pending| pending.due)?;
        (pending.due, pending.timer) = (false, Some(at + period));
        Some(pdu(Control::Reset(self.rsn), pending.kept))
    }

    /// The far end asks for a reset. Whether that is a new one, for which this end has to start anew and will
    /// go on with the SDU `kept` (§11.4.3).
    pub fn on_reset(&mut self, rsn: u8, kept: u64) -> bool {
        self.owes_answer = true;
        let new = self.answered.is_none_or(|(last, _)| last != rsn);
        if new {
            self.answered = Some((rsn, kept));
        }
        new
    }

    /// The far end acknowledges a reset. Whether it is the one asked for, which ends the procedure
    /// (§11.4.4).
    pub fn on_answer(&mut self, rsn: u8) -> bool {
        let ends = self.pending.is_some() && rsn == self.rsn;
        if ends {
            self.pending = None;
            self.rsn ^= 1;
        }
        ends
    }

    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.pending.and_then(|pending| pending.timer)
    }

    /// Asks again if there was no answer. When it has asked too often the standard informs upper layers, which may set up the bearer anew;
    /// here that is counted, and the procedure goes on (§11.4.4a).
    pub fn on_timeout(&mut self, now: Instant) {
        let max_rst = self.max_rst;
        let Some(pending) = &mut self.pending else { return };
        if pending.timer.is_none_or(|timer| timer > now) {
            return;
        }
        (pending.due, pending.timer) = (true, None);
        pending.vt_rst += 1;
        if pending.vt_rst == max_rst {
            pending.vt_rst = 1;
            self.unrecoverable += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 25.322 §11.4.3: a RESET with the number of the last one is a repetition. It is answered as that was, and nothing starts anew.
    #[test]
    fn a_repeated_reset_is_only_answered() {
        let mut reset = Reset::new(&Config::default());
        for (rsn, kept, anew, answer) in [(0, 5, true, 5), (0, 9, false, 5), (1, 9, true, 9)] {
            assert_eq!(reset.on_reset(rsn, kept), anew, "RSN {rsn}");
            let pdu = reset.pull(Instant::ZERO).unwrap();
            assert_eq!(pdu.sdu, answer);
            assert!(matches!(pdu.control.as_deref(), Some(Control::ResetAck(n)) if *n == rsn));
        }
    }
}
