//! Undo of a reduction that proves needless: by time stamps of originals (`tcp_packet_delayed`), or when each retransmission was reported as a
//! duplicate (`undo_retrans`).

use super::socket::Socket;
use super::tcp::{CaState, Tcp};

impl Tcp {
    /// From now on retransmissions are counted (`tcp_init_undo`).
    pub fn begin_undo(&mut self) {
        self.undo_marker = Some(self.snd_una);
        self.undo_retrans = (self.retrans_out > 0).then_some(self.retrans_out);
        if self.tlp_high_seq > 0 && self.tlp_retrans {
            self.undo_retrans = Some(self.undo_retrans.unwrap_or(0) + 1);
        }
    }

    /// Whether an original has arrived that was only late (`tcp_packet_delayed`): nothing was sent again yet, or the time stamp that comes back is
    /// older than the first retransmission.
    fn is_late(&self, ts_echo_us: u64) -> bool {
        // Time stamps count milliseconds.
        self.retrans_stamp == 0 || (ts_echo_us > 0 && ts_echo_us / 1_000 < self.retrans_stamp / 1_000)
    }

    /// The stamp of the first retransmission does not outlive the retransmissions (`tcp_retrans_stamp_cleanup`).
    pub fn clean_retrans_stamp(&mut self) {
        if !self.any_retransmitted() {
            self.retrans_stamp = 0;
        }
    }

    fn may_undo(&self, ts_echo_us: u64) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == Some(0) || self.is_late(ts_echo_us))
    }
}

impl Socket {
    /// Puts window and threshold back (`tcp_undo_cwnd_reduction`).
    fn undo(&mut self, unmark: bool) {
        let tcp = &mut self.tcp;
        if unmark {
            tcp.segments.iter_mut().for_each(|one| one.lost = false);
            tcp.lost_out = 0;
            tcp.retransmit_hint = None;
        }
        if tcp.prior_ssthresh > 0 {
            tcp.snd_cwnd = self.control.undo_cwnd(tcp);
            tcp.snd_ssthresh = tcp.snd_ssthresh.max(tcp.prior_ssthresh);
        }
        tcp.snd_cwnd_stamp = tcp.jiffies();
        tcp.undo_marker = None;
        // Losses are to be looked for anew.
        tcp.rack.advanced = true;
        tcp.totals.undone += 1;
    }

    /// Everything in flight at the start of the recovery has arrived (`tcp_try_undo_recovery`).
    pub fn try_undo_recovery(&mut self, ts_echo_us: u64) {
        if self.tcp.may_undo(ts_echo_us) {
            self.undo(false);
        } else {
            self.tcp.rack.reo_wnd_persist = self.tcp.rack.reo_wnd_persist.saturating_sub(1);
        }
        self.set_state(CaState::Open);
    }

    /// Each retransmission was a duplicate (`tcp_try_undo_dsack`).
    pub fn try_undo_dsack(&mut self) -> bool {
        if self.tcp.undo_marker.is_none() || self.tcp.undo_retrans != Some(0) {
            return false;
        }
        self.tcp.rack_persist();
        self.undo(false);
        true
    }

    /// An advance in a recovery was perhaps that of an original (`tcp_try_undo_partial`). Says whether nothing more is to be marked or sent again: while
    /// retransmissions in flight may yet prove useful.
    pub fn try_undo_partial(&mut self, una: u64, ts_echo_us: u64) -> bool {
        if self.tcp.undo_marker.is_none() || !self.tcp.is_late(ts_echo_us) {
            return false;
        }
        self.tcp.check_reordering(una);
        if self.tcp.retrans_out > 0 {
            return true;
        }
        self.tcp.clean_retrans_stamp();
        self.undo(true);
        self.keep_open();
        false
    }

    /// A timeout was spurious (`tcp_try_undo_loss`); `certain` if F-RTO says so.
    pub fn try_undo_loss(&mut self, certain: bool, ts_echo_us: u64) -> bool {
        if !certain && !self.tcp.may_undo(ts_echo_us) {
            return false;
        }
        self.undo(true);
        self.tcp.retransmits = 0;
        self.set_state(CaState::Open);
        true
    }
}
