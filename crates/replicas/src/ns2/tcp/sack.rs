//! Sack1 (`Agent/TCP/Sack1`): Fall and Floyd's recovery with SACK. While in recovery it sends as
//! long as `pipe`, an estimate of the packets under way, is below the window.

use super::agent::{Ack, CutTo, DUPLICATES, LastAction, Resume, TcpAgent};
use super::sack_board::Board;
use super::sender::Variant;

/// Sack1's own state.
#[derive(Default)]
pub struct Sack {
    board: Board,
    /// In recovery (`fastrecov_`).
    recovering: bool,
    /// Packets thought to be under way, in recovery.
    pipe: i64,
    /// After a timeout duplicates mean nothing until new data are acknowledged (`timeout_`).
    after_timeout: bool,
}

impl Variant for Sack {
    fn on_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        if self.recovering {
            self.on_ack_in_recovery(m, ack);
            self.send_much(m, false, m.settings.max_burst);
            return;
        }
        if ack.seq > m.last_ack {
            m.new_ack_and_grow(ack);
            self.after_timeout = false;
            self.board.clear();
            m.open_after_syn();
        } else if ack.seq == m.last_ack && !self.after_timeout && self.board.update(m.highest_ack, ack.blocks()) {
            // Only a duplicate that tells something new counts.
            m.dupacks += 1;
            if m.dupacks == DUPLICATES {
                self.third_duplicate(m);
            } else if m.dupacks < DUPLICATES && m.settings.limited_transmit {
                self.send_one(m);
            }
        }
        if m.dupacks == 0 {
            self.send_much(m, false, m.settings.max_burst);
        }
    }

    fn on_timeout(&mut self, m: &mut TcpAgent) {
        m.dupacks = 0;
        self.recovering = false;
        self.after_timeout = true;
        m.last_ack = m.last_ack.max(m.highest_ack);
        m.recover = m.max_seq;
        self.board.clear();
        m.on_timeout();
        self.send_much(m, false, m.settings.max_burst);
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    /// Sends holes first, then new packets. In recovery `pipe` limits them, else the window.
    fn send_much(&mut self, m: &mut TcpAgent, force: bool, burst: u32) {
        if !force && m.delayed_until.is_some() {
            return;
        }
        let mut usable = m.usable();
        let mut sent = 0;
        loop {
            let open = if self.recovering { self.pipe < m.cwnd() as i64 } else { m.next <= m.last_ack + usable };
            if !open || m.last_ack + 1 >= m.end {
                return;
            }
            if m.must_delay(force) {
                return;
            }
            let seq = match self.board.next_hole() {
                Some(hole) if m.recover > 0 && hole <= m.highest_ack + m.window => {
                    self.board.mark_resent(hole);
                    usable = m.usable();
                    hole
                }
                Some(_) => return,
                None => {
                    let limit = if self.recovering { m.window } else { usable };
                    if m.next > m.highest_ack + limit || m.next >= m.end {
                        return;
                    }
                    m.next
                }
            };
            m.next = m.next.max(seq + 1);
            self.output(m, seq);
            self.pipe += 1;
            sent += 1;
            if sent == burst {
                return;
            }
        }
    }
}

impl Sack {
    fn on_ack_in_recovery(&mut self, m: &mut TcpAgent, ack: &Ack) {
        self.pipe -= 1;
        if ack.seq >= m.recover {
            // Recovery ends. The window does not grow at this acknowledgement.
            m.recover = 0;
            self.recovering = false;
            m.new_ack(ack);
            self.after_timeout = false;
            self.board.clear();
        } else if ack.seq > m.highest_ack {
            // A partial acknowledgement: resent packets have left the path too.
            m.highest_ack = ack.seq;
            self.board.update(m.highest_ack, ack.blocks());
            self.pipe -= 1;
            m.timer_at_ack(ack.seq);
            m.end_back_off();
        } else if !self.after_timeout && self.board.update(m.highest_ack, ack.blocks()) && m.dupacks > 0 {
            m.dupacks += 1;
        }
    }

    fn third_duplicate(&mut self, m: &mut TcpAgent) {
        let by_ecn = !m.may_retransmit_fast() && m.cut_by_ecn();
        if !by_ecn && !m.may_retransmit_fast() {
            return;
        }
        if !by_ecn {
            m.recover = m.max_seq;
        }
        self.pipe = m.max_seq - m.highest_ack - DUPLICATES;
        m.reset_timer(Resume::Stay, false);
        self.recovering = true;
        self.board.mark_resent(m.highest_ack + 1);
        m.last_action = LastAction::DupAck;
        if !by_ecn {
            m.cut(CutTo::Half, true);
        }
        m.note_fast_retransmit();
        self.output(m, m.last_ack + 1);
    }
}
