//! Newreno (`Agent/TCP/Newreno`): fast recovery that a partial acknowledgement does not end.
//!
//! It is the impatient variant of RFC 3782 §4 (`newreno_changes1_`): only the first partial
//! acknowledgement restarts the timer. While duplicates come, at most two packets leave at
//! each acknowledgement.

use super::agent::{Ack, CutTo, DUPLICATES, LastAction, Resume, TcpAgent};
use super::reno;
use super::sender::Variant;

/// Newreno's own state.
#[derive(Default)]
pub struct NewReno {
    /// A partial acknowledgement has come in this recovery (`firstpartial_`).
    partial_seen: bool,
}

/// Packets at most per acknowledgement in recovery, whatever `maxburst_` is.
const RECOVERY_BURST: u32 = 2;

impl Variant for NewReno {
    fn on_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        if ack.seq > m.last_ack {
            if ack.seq >= m.recover || m.last_action != LastAction::DupAck {
                if m.inflation > 0 {
                    m.inflation = 0;
                    if m.last_action == LastAction::DupAck {
                        m.last_action = LastAction::Exited;
                    }
                }
                self.partial_seen = false;
                m.new_ack_and_grow(ack);
                m.open_after_syn();
            } else {
                self.partial_ack(m, ack);
            }
        } else if ack.seq == m.last_ack {
            reno::on_duplicate(self, m, third_duplicate);
        }
        if m.dupacks == 0 {
            self.send_much(m, false, m.settings.max_burst);
        } else if m.dupacks >= DUPLICATES {
            self.send_much(m, false, RECOVERY_BURST);
        }
    }

    fn on_timeout(&mut self, m: &mut TcpAgent) {
        reno::on_timeout(m);
        self.send_much(m, false, m.settings.max_burst);
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl NewReno {
    /// Deflates the window by the amount acknowledged, and resends the next hole. `dupacks` goes on.
    fn partial_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        if !self.partial_seen {
            self.partial_seen = true;
            m.timer_at_ack(ack.seq);
        }
        let acked = ack.seq - m.last_ack;
        if m.inflation > acked {
            m.inflation -= acked - 1;
        } else {
            m.set_cwnd(m.cwnd() - (acked - m.inflation) as f64);
            m.inflation = 1;
        }
        if m.cwnd() < 1.0 {
            m.set_cwnd(1.0);
        }
        m.last_ack = ack.seq;
        m.highest_ack = ack.seq;
        m.next = m.next.max(ack.seq + 1);
        if m.covers_timed(ack) {
            m.timing = false;
            m.end_back_off();
        }
        m.output(ack.seq + 1);
    }
}

fn third_duplicate(m: &mut TcpAgent) {
    if m.may_retransmit_fast() {
        m.recover = m.max_seq;
        m.reset_timer(Resume::Stay, false);
        m.last_action = LastAction::DupAck;
        m.cut(CutTo::Half, true);
        reno::resend_first(m);
    } else {
        reno::recover_after_ecn(m);
    }
}
