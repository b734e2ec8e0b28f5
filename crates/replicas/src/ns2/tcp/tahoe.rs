//! Tahoe (`Agent/TCP`): a loss found by duplicates means slow start from one packet, from the
//! first unacknowledged packet on.

use super::agent::{Ack, CutTo, DUPLICATES, LastAction, Resume, TcpAgent};
use super::sender::Variant;

/// Tahoe has no state of its own.
pub struct Tahoe;

impl Variant for Tahoe {
    fn on_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        if ack.seq > m.last_ack {
            m.new_ack_and_grow(ack);
            m.open_after_syn();
        } else if ack.seq == m.last_ack {
            m.dupacks += 1;
            if m.dupacks == DUPLICATES {
                third_duplicate(m);
            } else if m.dupacks < DUPLICATES && m.settings.limited_transmit {
                self.send_one(m);
            }
        }
        // Further duplicates send too.
        self.send_much(m, false, m.settings.max_burst);
    }

    fn on_timeout(&mut self, m: &mut TcpAgent) {
        m.on_timeout();
        self.send_much(m, false, m.settings.max_burst);
    }
}

fn third_duplicate(m: &mut TcpAgent) {
    if m.may_retransmit_fast() {
        m.recover = m.max_seq;
        m.last_action = LastAction::DupAck;
        m.note_fast_retransmit();
        m.cut(CutTo::One, true);
        m.reset_timer(Resume::GoBack, false);
    } else if m.cut_by_ecn() {
        m.last_action = LastAction::DupAck;
        m.cut(CutTo::One, false);
        m.reset_timer(Resume::GoBack, false);
    }
}
