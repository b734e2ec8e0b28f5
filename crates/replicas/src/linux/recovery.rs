//! The states of loss recovery (`tcp_fastretrans_alert` and what it calls).

use super::clock;
use super::congestion::Event;
use super::flags::Flags;
use super::socket::Socket;
use super::tcp::{CaState, REORDERING};

/// What is to be sent once the window is known (`REXMIT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    Nothing,
    Lost,
    /// F-RTO: new data first.
    New,
}

impl Socket {
    /// `tcp_set_ca_state`.
    pub fn set_state(&mut self, state: CaState) {
        self.control.on_state(&mut self.tcp, state);
        self.tcp.ca_state = state;
    }

    /// An acknowledgement that is not plain progress (`tcp_fastretrans_alert`); `una` is SND.UNA before it.
    pub fn on_alert(&mut self, una: u64, duplicate: bool, flags: &mut Flags) -> Resend {
        let tcp = &mut self.tcp;
        if tcp.ca_state == CaState::Open {
            tcp.retrans_stamp = 0;
        } else if tcp.snd_una >= tcp.high_seq {
            match tcp.ca_state {
                CaState::Cwr if tcp.snd_una != tcp.high_seq => {
                    self.end_reduction();
                    self.set_state(CaState::Open);
                }
                CaState::Recovery => {
                    self.try_undo_recovery(flags.ts_echo_us);
                    self.end_reduction();
                }
                _ => {}
            }
        }
        match self.tcp.ca_state {
            CaState::Recovery => {
                if flags.advances && self.try_undo_partial(una, flags.ts_echo_us) {
                    return Resend::Nothing;
                }
                if self.try_undo_dsack() {
                    self.try_to_open();
                }
                self.look_for_losses(flags);
                if self.tcp.ca_state != CaState::Recovery {
                    if self.tcp.lost_out == 0 {
                        return Resend::Nothing;
                    }
                    self.enter_recovery();
                }
                Resend::Lost
            }
            CaState::Loss => {
                let resend = self.in_loss(duplicate, flags);
                self.look_for_losses(flags);
                if self.tcp.ca_state != CaState::Open && !flags.retransmission_lost {
                    return resend;
                }
                self.open_or_recover().unwrap_or(resend)
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => {
                if self.tcp.ca_state <= CaState::Disorder {
                    self.try_undo_dsack();
                }
                self.look_for_losses(flags);
                self.open_or_recover().unwrap_or(Resend::Nothing)
            }
        }
    }

    /// Recovery begins if a segment is lost.
    fn open_or_recover(&mut self) -> Option<Resend> {
        if self.tcp.lost_out == 0 {
            self.try_to_open();
            return None;
        }
        self.enter_recovery();
        Some(Resend::Lost)
    }

    /// `tcp_identify_packet_loss`.
    fn look_for_losses(&mut self, flags: &mut Flags) {
        let tcp = &mut self.tcp;
        if tcp.segments.is_empty() {
            return;
        }
        let before = tcp.retrans_out;
        if tcp.rack_mark_lost() {
            flags.set_timer = false;
        }
        flags.retransmission_lost |= before > tcp.retrans_out;
    }

    /// `tcp_try_to_open`.
    fn try_to_open(&mut self) {
        self.tcp.clean_retrans_stamp();
        if self.tcp.ca_state != CaState::Cwr {
            self.keep_open();
        }
    }

    /// `tcp_try_keep_open`.
    pub fn keep_open(&mut self) {
        let disorder = self.tcp.left_out() > 0 || self.tcp.any_retransmitted();
        let state = if disorder { CaState::Disorder } else { CaState::Open };
        if self.tcp.ca_state != state {
            self.set_state(state);
            self.tcp.high_seq = self.tcp.snd_nxt;
        }
    }

    /// `tcp_enter_recovery`.
    pub fn enter_recovery(&mut self) {
        let tcp = &mut self.tcp;
        // The stamp is to be that of this recovery's first retransmission.
        tcp.clean_retrans_stamp();
        tcp.prior_ssthresh = 0;
        tcp.begin_undo();
        if !tcp.in_reduction() {
            tcp.prior_ssthresh = tcp.current_ssthresh();
            self.begin_reduction();
        }
        self.tcp.totals.recoveries += 1;
        self.set_state(CaState::Recovery);
    }

    /// The retransmission timer has expired (`tcp_enter_loss`).
    pub fn enter_loss(&mut self) {
        let tcp = &mut self.tcp;
        let new_recovery = tcp.ca_state < CaState::Recovery;
        let reneged = tcp.segments.first().is_some_and(|first| first.sacked);
        if reneged {
            tcp.segments.iter_mut().for_each(|one| one.sacked = false);
            tcp.sacked_out = 0;
            tcp.sack_cache = [(0, 0); 3];
        }
        // What was sent in the last round trip may still come.
        for place in 0..tcp.segments.len() {
            let Some(one) = tcp.segments.at(place) else { break };
            if place == 0 || reneged || tcp.rack_remaining(one.sent_us, 0) <= 0 {
                tcp.mark_lost(place);
            }
        }
        let tcp = &mut self.tcp;
        let anew = tcp.ca_state == CaState::Loss && tcp.retransmits == 0;
        if tcp.ca_state <= CaState::Disorder || tcp.high_seq <= tcp.snd_una || anew {
            tcp.prior_ssthresh = tcp.current_ssthresh();
            tcp.prior_cwnd = tcp.snd_cwnd;
            tcp.snd_ssthresh = self.control.ssthresh(tcp);
            self.control.on_event(tcp, Event::Loss);
            tcp.begin_undo();
            tcp.totals.cuts += 1;
        }
        tcp.snd_cwnd = tcp.in_flight() + 1;
        tcp.snd_cwnd_cnt = 0;
        tcp.snd_cwnd_stamp = clock::jiffies(tcp.now);
        // As many duplicates were enough by `tcp_reordering`: the degree of reordering was overestimated.
        if tcp.ca_state <= CaState::Disorder && tcp.sacked_out >= REORDERING {
            tcp.reordering = tcp.reordering.min(REORDERING);
        }
        self.set_state(CaState::Loss);
        let tcp = &mut self.tcp;
        tcp.high_seq = tcp.snd_nxt;
        tcp.tlp_high_seq = 0;
        tcp.frto = new_recovery || tcp.retransmits > 0;
    }

    /// An acknowledgement after a timeout (`tcp_process_loss`; RFC 5682 with SACK).
    fn in_loss(&mut self, duplicate: bool, flags: &Flags) -> Resend {
        let recovered = self.tcp.snd_una >= self.tcp.high_seq;
        if flags.advances && self.try_undo_loss(false, flags.ts_echo_us) {
            return Resend::Nothing;
        }
        if self.tcp.frto {
            // Step 3.b: data that were never sent again have arrived.
            if flags.original_sacked && self.try_undo_loss(true, flags.ts_echo_us) {
                return Resend::Nothing;
            }
            let tcp = &mut self.tcp;
            if tcp.snd_nxt > tcp.high_seq {
                if flags.data_sacked || duplicate {
                    // Step 3.a: the loss was real.
                    tcp.frto = false;
                }
            } else if flags.advances && !recovered {
                tcp.high_seq = tcp.snd_nxt;
                // Step 2.b.
                if tcp.new_segment().is_some() && tcp.wnd_end > tcp.snd_nxt {
                    return Resend::New;
                }
                tcp.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(flags.ts_echo_us);
            return Resend::Nothing;
        }
        Resend::Lost
    }
}
