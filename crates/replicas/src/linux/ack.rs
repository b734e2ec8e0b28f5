//! An acknowledgement (`tcp_ack`): what it covers, what it tells of the path, and in which order the parts act on it.

use lasthop_net::net::TcpHeader;

use super::clock;
use super::flags::{Flags, Tally};
use super::rate::Sample;
use super::recovery::Resend;
use super::socket::Socket;
use super::tcp::{CaState, Pending, Tcp};

impl Socket {
    /// An acknowledgement has come.
    pub fn on_ack(&mut self, header: &TcpHeader) {
        let tcp = &mut self.tcp;
        let (ack, una) = (header.ack, tcp.snd_una);
        if ack > tcp.snd_nxt {
            return;
        }
        if ack < una {
            return self.on_old_ack(header);
        }
        let mut flags = Flags { ts_echo_us: clock::micros(header.ts_echo), advances: ack > una, ..Flags::default() };
        let mut tally = Tally::default();
        tally.sample.prior_in_flight = tcp.in_flight();
        if flags.advances {
            tcp.retransmits = 0;
        }
        let (delivered, lost) = (tcp.delivery.delivered, tcp.lost);
        let highest_sack = tcp.highest_sack_seq();
        let was_empty = tcp.segments.is_empty();
        // A receiver without a window of its own says so.
        let window = if header.window == TcpHeader::ANY_WINDOW { 1 << 30 } else { u64::from(header.window) };
        let before = tcp.wnd_end.saturating_sub(una);
        flags.window_update = flags.advances || window > before;
        tcp.wnd_end = ack + if flags.window_update { window } else { before };
        tcp.snd_una = ack;
        tcp.totals.acked_bytes += ack - una - u64::from(tcp.fin_sent && ack == tcp.snd_nxt && flags.advances);
        if !header.sack().is_empty() {
            tcp.tag_sacked(header.sack(), ack, una, &mut flags, &mut tally);
        }
        tcp.probes = 0;
        if was_empty {
            // A duplicate that is reported late may undo a reduction.
            if flags.duplicate_reported {
                self.on_alert(una, false, &mut flags);
            }
            if self.tcp.tlp_high_seq > 0 {
                self.on_probe_ack(ack, &flags);
            }
            let tcp = &mut self.tcp;
            if tcp.pending == Pending::ZeroWindow && tcp.wnd_end > tcp.snd_nxt {
                tcp.disarm();
                tcp.rtt.backoff = 0;
            }
            return;
        }
        self.clean(una, highest_sack, &mut flags, &mut tally);
        let tcp = &mut self.tcp;
        tcp.rack_update_window(&tally.sample);
        if tcp.tlp_high_seq > 0 {
            self.on_probe_ack(ack, &flags);
        }
        let not_duplicate = flags.window_update || flags.data_acked;
        let alert = flags.data_sacked || flags.duplicate_reported;
        let mut resend = Resend::Nothing;
        if !not_duplicate || alert || self.tcp.ca_state != CaState::Open {
            let duplicate = !flags.advances && !not_duplicate && !flags.duplicate_reported;
            resend = self.on_alert(una, duplicate, &mut flags);
        }
        if flags.set_timer && !self.schedule_probe(true) {
            self.tcp.rearm_rto();
        }
        let tcp = &mut self.tcp;
        let (delivered, lost) = (tcp.delivery.delivered - delivered, tcp.lost - lost);
        tally.sample.ack_delayed = flags.maybe_delayed;
        let (now_us, min_rtt) = (tcp.now_us, tcp.rtt.min());
        tcp.delivery.complete(now_us, min_rtt, delivered, lost, &mut tally.sample);
        self.control_congestion(delivered, &flags, &tally.sample);
        self.send_again(resend);
    }

    /// One that a later one has overtaken (`old_ack`): its blocks are news all the same.
    #[cold]
    fn on_old_ack(&mut self, header: &TcpHeader) {
        let tcp = &mut self.tcp;
        if header.sack().is_empty() || tcp.segments.is_empty() {
            return;
        }
        let mut flags = Flags { ts_echo_us: clock::micros(header.ts_echo), ..Flags::default() };
        let una = tcp.snd_una;
        tcp.tag_sacked(header.sack(), header.ack, una, &mut flags, &mut Tally::default());
        let resend = self.on_alert(una, false, &mut flags);
        self.send_again(resend);
    }

    /// What an acknowledgement has to be answered with (`tcp_xmit_recovery`).
    fn send_again(&mut self, resend: Resend) {
        match resend {
            Resend::Nothing => {}
            Resend::Lost => self.retransmit(),
            Resend::New => {
                self.write(false);
                if self.tcp.snd_nxt <= self.tcp.high_seq {
                    self.tcp.frto = false;
                    self.retransmit();
                }
            }
        }
    }

    /// Takes what is acknowledged out of the queue, and measures by it (`tcp_clean_rtx_queue`).
    fn clean(&mut self, una: u64, highest_sack: u64, flags: &mut Flags, tally: &mut Tally) {
        let tcp = &mut self.tcp;
        let (mut first_us, mut last_us) = (None, 0);
        let mut reord = u64::MAX;
        let prior_sacked = tcp.sacked_out;
        let mut acked = 0;
        while let Some(mut one) = tcp.segments.first().filter(|one| one.end() <= tcp.snd_una).cloned() {
            tcp.segments.pop();
            if one.ever_resent {
                tcp.retrans_out -= u64::from(one.resent);
                flags.retransmission_acked = true;
            } else if !one.sacked {
                last_us = one.sent_us;
                first_us.get_or_insert(one.sent_us);
                reord = reord.min(one.start);
                flags.original_sacked |= one.end() <= tcp.high_seq;
            }
            if one.sacked {
                tcp.sacked_out -= 1;
            } else {
                tcp.delivery.delivered += 1;
                // A retransmission whose original has just been acknowledged tells nothing of time.
                let spurious =
                    one.ever_resent && flags.ts_echo_us > 0 && flags.ts_echo_us / 1_000 < one.sent_us / 1_000;
                if !spurious {
                    tcp.rack_advance(one.ever_resent, one.end(), one.sent_us);
                }
            }
            tcp.lost_out -= u64::from(one.lost);
            tcp.delivery.on_delivered(&mut one, &mut tally.sample);
            flags.data_acked = true;
            acked += 1;
        }
        if tcp.retransmit_hint.is_some_and(|hint| hint < tcp.snd_una) {
            tcp.retransmit_hint = None;
        }
        let since = |sent_us: u64| tcp.now_us.saturating_sub(sent_us);
        let (mut sample_us, mut last_sample_us) = (None, None);
        if let Some(first) = first_us.filter(|_| !flags.retransmission_acked) {
            sample_us = Some(since(first));
            last_sample_us = Some(since(last_us));
            // A small segment that was alone in its round trip: a receiver acknowledges it late.
            let alone = acked == 1 && tally.sample.prior_delivered() + 1 == tcp.delivery.delivered;
            let alert = flags.data_sacked || flags.duplicate_reported;
            flags.maybe_delayed = alone && prior_sacked == 0 && tcp.snd_una - una < tcp.mss && !alert;
        }
        let sacked_us = tally.first_sacked_us.map(since);
        if sacked_us.is_some() {
            last_sample_us = tally.last_sacked_us.map(since);
        }
        let measured = tcp.measure(sample_us, sacked_us, last_sample_us, flags, &mut tally.sample);
        if flags.data_acked {
            flags.set_timer = true;
            if reord < highest_sack {
                tcp.check_reordering(reord);
            }
        } else if let (true, Some(sacked), Some(first)) = (measured, sacked_us, tcp.segments.first()) {
            // Not if it was sent before the first one: else a timeout could be put off for ever.
            flags.set_timer |= sacked > tcp.now_us.saturating_sub(first.sent_us);
        }
        self.control.on_acked(&mut self.tcp, &tally.sample);
    }

    /// `tcp_cong_control`.
    fn control_congestion(&mut self, delivered: u64, flags: &Flags, sample: &Sample) {
        let tcp = &mut self.tcp;
        if self.control.governs() {
            self.control.on_sample(tcp, sample);
            return;
        }
        if tcp.in_reduction() {
            tcp.reduce(delivered, sample.losses, flags.advances);
        } else {
            // `tcp_may_raise_cwnd`: where segments are reordered, any progress counts.
            let reorders = tcp.reordering > super::tcp::REORDERING;
            if flags.data_acked || (reorders && flags.data_sacked) {
                self.control.on_progress(tcp, delivered);
                // A window that is acknowledged is not unused.
                tcp.snd_cwnd_stamp = tcp.jiffies();
            }
        }
        self.tcp.update_pacing_rate();
    }
}

impl Tcp {
    /// Samples of the round-trip time (`tcp_ack_update_rtt`): that of the first segment acknowledged, or SACKed, or by time stamp, for the timeout;
    /// that of the last for the controller.
    fn measure(
        &mut self,
        acked_us: Option<u64>,
        sacked_us: Option<u64>,
        last_us: Option<u64>,
        flags: &Flags,
        sample: &mut Sample,
    ) -> bool {
        let mut rtt_us = acked_us.or(sacked_us);
        let mut last_us = last_us;
        if rtt_us.is_none() && flags.ts_echo_us > 0 && flags.data_acked {
            // Time stamps count milliseconds.
            let ms = (self.now_us / 1_000).saturating_sub(flags.ts_echo_us / 1_000);
            rtt_us = Some(ms.max(1) * 1_000);
            last_us = rtt_us;
        }
        sample.rtt_us = last_us;
        let Some(rtt_us) = rtt_us else { return false };
        if let Some(last) = last_us
            && !(flags.maybe_delayed && self.rtt.min().is_some_and(|min| last > min))
        {
            self.rtt.note_min(self.jiffies(), last);
        }
        self.rtt.on_sample(rtt_us, self.snd_una, self.snd_nxt);
        true
    }

    /// Twice the window a round trip in slow start, 1.2 times after (`tcp_update_pacing_rate`): how large bursts may be.
    pub fn update_pacing_rate(&mut self) {
        let share = if self.snd_cwnd < self.snd_ssthresh / 2 { PACING_SS_RATIO } else { PACING_CA_RATIO };
        let window = u128::from(self.snd_cwnd.max(self.packets_out()));
        let rate = u128::from(self.mss * (10_000 << 3) * share) * window;
        let rate = rate.checked_div(self.rtt.srtt.into()).unwrap_or(rate);
        self.pacing_rate = u64::try_from(rate).unwrap_or(u64::MAX);
    }
}

/// `tcp_pacing_ss_ratio`, percent.
const PACING_SS_RATIO: u64 = 200;
/// `tcp_pacing_ca_ratio`, percent.
const PACING_CA_RATIO: u64 = 120;
