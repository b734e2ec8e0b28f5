//! What timers do (tcp_timer.c): the retransmission timeout, the loss probe, the end of the reordering window, the probe of a closed window,
//! and pacing.

use lasthop_net::engine::Instant;

use super::flags::Flags;
use super::socket::Socket;
use super::tcp::{CaState, Out, Pending};

impl Socket {
    /// A timer may have expired.
    pub fn on_timers(&mut self) {
        let now = self.tcp.now;
        if self.tcp.pacing_at <= now {
            self.tcp.pacing_at = Instant::MAX;
            self.on_pacing_timer();
        }
        if self.tcp.timer_at <= now {
            self.tcp.timer_at = Instant::MAX;
            self.tcp.check_app_limited();
            match self.tcp.pending {
                Pending::Retransmit => self.on_timeout(),
                Pending::LossProbe => self.send_probe(),
                Pending::Reordering => self.on_reordering_timer(),
                Pending::ZeroWindow => self.probe_window(),
                Pending::None => {}
            }
        }
    }

    /// The next segment may leave (`tcp_tsq_write`).
    fn on_pacing_timer(&mut self) {
        let tcp = &mut self.tcp;
        if tcp.lost_out > tcp.retrans_out && tcp.snd_cwnd > tcp.in_flight() {
            self.retransmit();
        }
        self.write(false);
    }

    /// `tcp_retransmit_timer`.
    fn on_timeout(&mut self) {
        self.tcp.pending = Pending::None;
        if self.tcp.segments.is_empty() {
            return;
        }
        self.tcp.totals.timeouts += 1;
        self.enter_loss();
        self.tcp.retransmits += 1;
        self.resend(0, 1);
        let tcp = &mut self.tcp;
        tcp.rtt.back_off();
        tcp.arm(Pending::Retransmit, tcp.rtt.rto, false);
    }

    /// `tcp_send_loss_probe`: new data if there are any, else the last segment again.
    fn send_probe(&mut self) {
        let new = self.tcp.tlp_high_seq == 0 && {
            self.tcp.tlp_retrans = false;
            let tcp = &self.tcp;
            tcp.new_segment()
                .is_some_and(|(payload, _)| payload == 0 || tcp.snd_nxt + u64::from(payload) <= tcp.wnd_end)
        };
        let mut sent = false;
        if self.tcp.tlp_high_seq == 0 {
            if new {
                sent = self.write(true);
            } else if !self.tcp.segments.is_empty() {
                let last = self.tcp.segments.len() - 1;
                self.tcp.resend(last, 1, true);
                self.tcp.tlp_retrans = true;
                sent = true;
            }
        }
        let tcp = &mut self.tcp;
        if sent {
            tcp.totals.loss_probes += 1;
            tcp.tlp_high_seq = tcp.snd_nxt;
            // The timeout counts from now.
            tcp.pending = Pending::None;
        }
        tcp.rearm_rto();
    }

    /// `tcp_rack_reo_timeout`.
    fn on_reordering_timer(&mut self) {
        let tcp = &mut self.tcp;
        let (before, lost) = (tcp.in_flight(), tcp.lost);
        tcp.rack_detect();
        if before != tcp.in_flight() {
            let lost = tcp.lost - lost;
            if tcp.ca_state != CaState::Recovery {
                self.enter_recovery();
                if !self.control.governs() {
                    self.tcp.reduce(1, lost, false);
                }
            }
            self.retransmit();
        }
        if self.tcp.pending != Pending::Retransmit {
            self.tcp.rearm_rto();
        }
    }

    /// `tcp_send_probe0`: part of a segment if the window takes it, else none.
    fn probe_window(&mut self) {
        let tcp = &mut self.tcp;
        tcp.disarm();
        tcp.probes += 1;
        if tcp.wnd_end > tcp.snd_nxt && tcp.write_seq > tcp.snd_nxt {
            // What does not fit whole leaves in part.
            let mss = std::mem::replace(&mut tcp.mss, (tcp.wnd_end - tcp.snd_nxt).max(1));
            self.write(true);
            self.tcp.mss = mss;
        } else {
            tcp.out.push_back(Out::Probe);
            let ticks = tcp.rtt.rto << tcp.probes.min(8);
            tcp.arm(Pending::ZeroWindow, ticks, false);
        }
    }

    /// An acknowledgement of a loss probe (`tcp_process_tlp_ack`).
    pub fn on_probe_ack(&mut self, ack: u64, flags: &Flags) {
        let tcp = &mut self.tcp;
        if ack < tcp.tlp_high_seq {
            return;
        }
        if !tcp.tlp_retrans || flags.probe_duplicate {
            tcp.tlp_high_seq = 0;
        } else if ack > tcp.tlp_high_seq {
            // More has arrived than the probe's end: the probe has repaired a loss.
            self.begin_reduction();
            self.set_state(CaState::Cwr);
            self.end_reduction();
            self.keep_open();
        } else if !(flags.advances || flags.window_update || flags.data_acked || flags.data_sacked) {
            tcp.tlp_high_seq = 0;
        }
    }
}
