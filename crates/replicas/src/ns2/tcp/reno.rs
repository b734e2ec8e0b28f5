//! Reno (`Agent/TCP/Reno`): fast recovery with an inflated window, which any new
//! acknowledgement ends.

use super::agent::{Ack, CutTo, DUPLICATES, LastAction, Resume, TcpAgent};
use super::sender::Variant;

/// Reno has no state of its own.
pub struct Reno;

impl Variant for Reno {
    fn on_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        on_ack(self, m, ack, |_, m| m.new_ack_and_grow(ack));
    }

    fn on_timeout(&mut self, m: &mut TcpAgent) {
        on_timeout(m);
        self.send_much(m, false, m.settings.max_burst);
    }
}

/// An acknowledgement has come; `new_ack` takes one of new data.
#[inline]
pub fn on_ack<V: Variant>(variant: &mut V, m: &mut TcpAgent, ack: &Ack, new_ack: impl FnOnce(&mut V, &mut TcpAgent)) {
    if ack.seq > m.last_ack {
        if m.last_action == LastAction::DupAck {
            m.last_action = LastAction::Exited;
        }
        m.inflation = 0;
        new_ack(variant, m);
        m.open_after_syn();
    } else if ack.seq == m.last_ack {
        on_duplicate(variant, m, third_duplicate);
    }
    if m.dupacks == 0 || m.dupacks >= DUPLICATES {
        variant.send_much(m, false, m.settings.max_burst);
    }
}

/// A duplicate has come; `third` answers the third one.
#[inline]
pub fn on_duplicate<V: Variant>(variant: &mut V, m: &mut TcpAgent, third: impl FnOnce(&mut TcpAgent)) {
    m.dupacks += 1;
    if m.dupacks == DUPLICATES {
        third(m);
    } else if m.dupacks > DUPLICATES {
        if m.last_action == LastAction::DupAck {
            m.inflation += 1;
        }
    } else if m.settings.limited_transmit {
        variant.send_one(m);
    }
}

fn third_duplicate(m: &mut TcpAgent) {
    // A second fast retransmit in one window is allowed while no new data are acknowledged.
    if m.may_retransmit_fast() || m.last_action == LastAction::DupAck {
        m.recover = m.max_seq;
        m.last_action = LastAction::DupAck;
        m.cut(CutTo::Half, true);
        m.reset_timer(Resume::Stay, false);
        resend_first(m);
    } else {
        recover_after_ecn(m);
    }
}

/// Recovery without another cut, if an echo of congestion has cut the window already.
pub fn recover_after_ecn(m: &mut TcpAgent) {
    if m.cut_by_ecn() {
        m.last_action = LastAction::DupAck;
        m.reset_timer(Resume::Stay, false);
        resend_first(m);
    }
}

/// Resends the first unacknowledged packet, and counts the three duplicates into the window.
pub fn resend_first(m: &mut TcpAgent) {
    m.note_fast_retransmit();
    m.output(m.last_ack + 1);
    m.inflation = DUPLICATES;
}

/// A timeout ends fast recovery.
pub fn on_timeout(m: &mut TcpAgent) {
    m.inflation = 0;
    m.dupacks = 0;
    m.recover = if m.settings.guard { m.max_seq } else { m.recover };
    m.on_timeout();
}
