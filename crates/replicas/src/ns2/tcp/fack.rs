//! Fack (`Agent/TCP/Fack`; Mathis and Mahdavi 1996): the data under way are measured from the forward-most packet that the receiver
//! reports.
//!
//! ns-2.35 departs from the paper: at the trigger the window falls to one packet (unless
//! `fack.cwnd_at_trigger` is `half`), and it grows at every acknowledgement of the recovery.
//! Each of these also gives a round-trip-time sample, from the time stamp that comes back.

use super::agent::{Ack, CutTo, DUPLICATES, LastAction, Resume, TcpAgent};
use super::fack_board::Board;
use super::sender::Variant;
use super::settings::Settings;

/// Fack's own state.
pub struct Fack {
    to_one: bool,
    rampdown: bool,
    overdamping: bool,
    board: Board,
    /// In recovery (`fastrecov_`). A timeout does not end it.
    recovering: bool,
    /// A resent packet was lost again: nothing is sent before the timer expires (`timeout_`).
    stalled: bool,
    /// The forward-most packet that the receiver has (`fack_`).
    forward: i64,
    /// Resent packets under way (`retran_data_`).
    resent: i64,
    /// What rampdown still adds to the window (`wintrim_`), and how fast that shrinks.
    trim: f64,
    trim_factor: f64,
    /// The blocks of the present acknowledgement.
    blocks: Vec<(i64, i64)>,
}

impl Fack {
    pub fn new(settings: &Settings) -> Self {
        Self {
            to_one: settings.fack_to_one,
            rampdown: settings.fack_rampdown,
            overdamping: settings.fack_overdamping,
            board: Board::default(),
            recovering: false,
            stalled: false,
            forward: -1,
            resent: 0,
            trim: 0.0,
            trim_factor: 0.5,
            blocks: Vec::with_capacity(3),
        }
    }

    /// The window in whole packets, with what rampdown adds.
    fn usable(&self, m: &TcpAgent) -> i64 {
        (m.cwnd().min(m.window as f64) + self.trim) as i64
    }

    /// An acknowledgement with blocks, or one in recovery (`oldack`).
    fn old_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        m.last_ack = ack.seq;
        m.highest_ack = ack.seq;
        self.forward = self.forward.max(ack.seq);
        m.max_seq = m.max_seq.max(ack.seq);
        m.next = m.next.max(ack.seq + 1);
        m.timer_at_ack(ack.seq);
        if m.covers_timed(ack) {
            m.timing = false;
            m.end_back_off();
        }
        let sent = m.echoed(ack.ts_echo);
        m.sample_rtt(sent);
    }

    fn forward_most(&self) -> i64 {
        self.blocks.iter().map(|b| b.1 - 1).max().unwrap_or(-1)
    }

    fn trigger(&mut self, m: &mut TcpAgent) {
        m.recover = m.next;
        m.last_action = LastAction::DupAck;
        self.trim_factor = 0.5;
        if self.overdamping && m.cwnd() <= m.ssthresh() as f64 + 0.5 {
            m.set_cwnd(m.cwnd() / 2.0);
            self.trim_factor = 0.75;
        }
        m.cut(if self.to_one { CutTo::One } else { CutTo::Half }, true);
        if self.rampdown {
            self.trim = (m.next - self.forward - 1) as f64 * self.trim_factor;
        }
        m.reset_timer(Resume::Stay, false);
        self.recovering = true;
        self.board.mark_resent(m.last_ack + 1, m.next);
        self.resent += 1;
        m.note_fast_retransmit();
        self.output(m, m.last_ack + 1);
    }

    fn on_ack_in_recovery(&mut self, m: &mut TcpAgent, ack: &Ack) {
        self.old_ack(m, ack);
        let forward = self.forward_most();
        if forward > self.forward {
            if self.rampdown {
                self.trim = (self.trim - (forward - self.forward) as f64 * self.trim_factor).max(0.0);
            }
            self.forward = forward;
        }
        m.next = m.next.max(self.forward + 1);
        self.resent -= self.board.update(m.highest_ack, &self.blocks);
        self.stalled |= self.board.lost_again(&self.blocks);
        m.grow();
        if self.blocks.is_empty() && m.last_ack >= m.recover {
            self.end_recovery();
            m.dupacks = 0;
        }
    }

    fn end_recovery(&mut self) {
        self.recovering = false;
        self.stalled = false;
        self.board.clear();
        self.resent = 0;
        self.trim = 0.0;
    }
}

impl Variant for Fack {
    fn on_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        self.blocks.clear();
        self.blocks.extend(ack.blocks());
        if self.recovering {
            self.on_ack_in_recovery(m, ack);
            self.send_much(m, false, m.settings.max_burst);
            return;
        }
        if ack.seq > m.last_ack && self.blocks.is_empty() {
            m.new_ack(ack);
            m.grow();
            self.forward = m.last_ack;
            self.end_recovery();
        } else if ack.seq >= m.last_ack {
            self.resent -= self.board.update(m.highest_ack, &self.blocks);
            self.old_ack(m, ack);
            self.forward = self.forward.max(self.forward_most());
            m.next = m.next.max(self.forward + 1);
            m.dupacks = self.forward - m.last_ack - 1;
            if m.dupacks >= DUPLICATES {
                self.trigger(m);
            }
        }
        if m.dupacks == 0 {
            self.send_much(m, false, m.settings.max_burst);
        }
    }

    fn on_timeout(&mut self, m: &mut TcpAgent) {
        let idle = m.is_idle();
        if idle && !m.settings.idle_restart {
            return;
        }
        self.stalled = false;
        self.resent = 0;
        m.last_action = LastAction::Timeout;
        if idle {
            m.cut(CutTo::Initial, false);
        } else {
            m.cut(CutTo::One, true);
        }
        self.board.clear();
        m.reset_timer(Resume::Stay, !idle);
        self.forward = m.last_ack;
        m.next = m.last_ack + 1;
        self.send_much(m, false, 0);
    }

    fn reset(&mut self) {
        self.end_recovery();
        self.forward = -1;
    }

    /// Sends while less is under way than the window: every hole below the forward-most packet
    /// once, in order, then new packets.
    fn send_much(&mut self, m: &mut TcpAgent, force: bool, burst: u32) {
        if !force && m.delayed_until.is_some() {
            return;
        }
        let mut usable = self.usable(m);
        let mut sent = 0;
        while m.next <= self.forward + usable - self.resent && !self.stalled {
            if m.must_delay(force) {
                return;
            }
            let seq = match self.board.next_hole() {
                Some(hole) => {
                    self.board.mark_resent(hole, m.next);
                    self.resent += 1;
                    usable = self.usable(m);
                    hole
                }
                None => {
                    if m.next >= m.end || (self.recovering && m.next > m.highest_ack + m.window) {
                        return;
                    }
                    m.next
                }
            };
            m.next = m.next.max(seq + 1);
            self.output(m, seq);
            sent += 1;
            if sent == burst {
                return;
            }
        }
    }
}
