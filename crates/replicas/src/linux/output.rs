//! Output (tcp_output.c): bursts of a millisecond's worth of segments, put off when the next acknowledgement will let a whole one
//! leave, and paced by the socket's own timer where the controller asks for it.

use lasthop_net::engine::Instant;

use super::clock;
use super::congestion::Event;
use super::rtt::RTO_MIN_US;
use super::segments::Segment;
use super::socket::Socket;
use super::tcp::{CaState, Out, PACING_SHIFT, Pending, Tcp};

/// `gso_max_size`, less what the headers of a buffer may take.
const GSO_MAX_SIZE: u64 = 65_536 - 1 - 320;
/// `tcp_tso_rtt_log`: bursts may be larger on paths with a round-trip time below 2^9 us times the bits of a word.
const TSO_RTT_LOG: u32 = 9;
/// `tcp_tso_win_divisor`.
const TSO_WIN_DIVISOR: u64 = 3;
/// Segments that leave before pacing begins.
const UNPACED: u64 = 10;
/// Data of the source beyond this do not count: `TCP_NOTSENT_LOWAT` of the reference's sender, 128 KiB.
const MOST_WRITTEN: u64 = 128 << 10;
/// What one event may send: the rest leaves with the next acknowledgement. The device's queue would not take more either.
const MOST_AT_ONCE: u64 = 1 << 16;
/// One millisecond: bursts are put off only while the last one is that fresh, and the next acknowledgement that near.
const DEFER_NS: u64 = 1_000_000;

impl Socket {
    /// Sends what window and pacing allow (`tcp_write_xmit`); with `probe` one segment, whatever the window. Says whether any was sent.
    pub fn write(&mut self, probe: bool) -> bool {
        let tcp = &mut self.tcp;
        let max_segs = tcp.burst_segments(self.control.min_tso_segs(tcp.pacing_rate));
        let (mut sent, mut limited) = (0, false);
        while let Some((payload, _)) = self.tcp.new_segment().filter(|_| sent < MOST_AT_ONCE) {
            let tcp = &mut self.tcp;
            if tcp.is_paced() {
                break;
            }
            let quota = match tcp.cwnd_quota() {
                // A loss probe leaves in any case.
                0 if probe => 1,
                0 => break,
                quota => quota.min(max_segs),
            };
            if payload > 0 && tcp.snd_nxt + u64::from(payload) > tcp.wnd_end {
                break;
            }
            // A burst of what the source has written, the receiver takes, and the window allows.
            let written = (tcp.write_seq - tcp.snd_nxt).min(MOST_WRITTEN);
            let whole = written.div_ceil(tcp.mss).max(1);
            if whole > 1 && !probe && tcp.defers(written, max_segs, &mut limited) {
                break;
            }
            // Nagle with Minshall's change: a small segment waits for an earlier small one.
            let small = !written.is_multiple_of(tcp.mss) && tcp.snd_sml > tcp.snd_una && !tcp.closing && !probe;
            if small && whole == 1 {
                break;
            }
            let fits = (tcp.wnd_end.saturating_sub(tcp.snd_nxt) / tcp.mss).max(1);
            let count = (whole - u64::from(small)).min(quota).min(fits);
            self.note_start();
            sent += self.tcp.transmit_new(count);
            if probe {
                break;
            }
        }
        let tcp = &mut self.tcp;
        let limited = limited || tcp.in_flight() >= tcp.snd_cwnd;
        if sent > 0 || limited {
            tcp.validate(limited, self.control.governs());
        }
        if sent == 0 {
            self.check_zero_window();
            return false;
        }
        if tcp.in_reduction() {
            tcp.prr_out += sent;
        }
        if !probe {
            self.schedule_probe(false);
        }
        true
    }

    /// The first segment leaves after none was in flight (`CA_EVENT_TX_START`).
    fn note_start(&mut self) {
        if self.tcp.in_flight() == 0 {
            self.control.on_event(&mut self.tcp, Event::TxStart);
        }
    }

    /// Sends `count` segments again that left as one (`tcp_retransmit_skb`).
    pub fn resend(&mut self, place: usize, count: u64) {
        self.note_start();
        self.tcp.resend(place, count, false);
    }

    /// Sends lost segments again, from the first (`tcp_xmit_retransmit_queue`).
    pub fn retransmit(&mut self) {
        let max_segs = self.tcp.burst_segments(self.control.min_tso_segs(self.tcp.pacing_rate));
        let mut place = self.tcp.retransmit_hint.map_or(0, |hint| self.tcp.segments.place(hint));
        let (mut hole, mut rearm) = (false, false);
        loop {
            let tcp = &mut self.tcp;
            if tcp.is_paced() {
                break;
            }
            let Some(one) = tcp.segments.at(place) else { break };
            if !hole {
                tcp.retransmit_hint = Some(one.start);
            }
            let quota = tcp.snd_cwnd.saturating_sub(tcp.in_flight()).min(max_segs);
            if quota == 0 || tcp.retrans_out >= tcp.lost_out {
                break;
            }
            if !one.is_to_be_resent() {
                hole |= !one.lost && !one.resent && !one.sacked;
                place += 1;
                continue;
            }
            // Those behind it that left with it.
            let count = tcp.segments.buffer(place).take(quota as usize).count() as u64;
            self.resend(place, count);
            let tcp = &mut self.tcp;
            if tcp.in_reduction() {
                tcp.prr_out += count;
            }
            rearm |= place == 0 && tcp.pending != Pending::Reordering;
            place += count as usize;
        }
        if rearm {
            self.tcp.arm(Pending::Retransmit, self.tcp.rtt.rto, true);
        }
    }

    /// Arms the timer of a loss probe, in two round trips (`tcp_schedule_loss_probe`). Not while losses are repaired.
    pub fn schedule_probe(&mut self, advancing: bool) -> bool {
        let tcp = &mut self.tcp;
        if tcp.segments.is_empty() || !matches!(tcp.ca_state, CaState::Open | CaState::Cwr) {
            return false;
        }
        let mut ticks = clock::HZ;
        if tcp.rtt.srtt > 0 {
            let more = if tcp.packets_out() == 1 { RTO_MIN_US } else { super::rack::TIMEOUT_MIN_US };
            ticks = clock::ticks((tcp.rtt.srtt >> 2) + more);
        }
        let rto = if advancing { clock::ticks_us(tcp.rtt.rto) as i64 } else { tcp.rto_delta_us() };
        if rto > 0 {
            ticks = ticks.min(clock::ticks(rto as u64));
        }
        tcp.arm(Pending::LossProbe, ticks, true);
        true
    }

    /// The receiver's window is closed with nothing in flight: a timer has to ask for it.
    fn check_zero_window(&mut self) {
        let tcp = &mut self.tcp;
        if tcp.segments.is_empty() && tcp.pending == Pending::None && tcp.new_segment().is_some() && !tcp.is_paced() {
            tcp.arm(Pending::ZeroWindow, tcp.rtt.rto << tcp.probes.min(8), false);
        }
    }
}

impl Tcp {
    /// How many segments the window allows (`tcp_cwnd_test`): at most a half of it at once.
    fn cwnd_quota(&self) -> u64 {
        self.snd_cwnd.saturating_sub(self.in_flight()).min((self.snd_cwnd >> 1).max(1))
    }

    /// How many segments leave at once (`tcp_tso_autosize`).
    fn burst_segments(&self, least: u64) -> u64 {
        let mut bytes = self.pacing_rate >> PACING_SHIFT;
        let shift = self.rtt.min().unwrap_or(u64::MAX) >> TSO_RTT_LOG;
        if shift < 32 {
            bytes = bytes.saturating_add(GSO_MAX_SIZE >> shift);
        }
        (bytes.min(GSO_MAX_SIZE) / self.mss).max(least)
    }

    /// Whether the pacing timer has to expire first (`tcp_pacing_check`).
    fn is_paced(&mut self) -> bool {
        if !self.paces || self.wstamp_ns <= self.now.as_nanos() {
            return false;
        }
        self.pacing_at = Instant::from_nanos(self.wstamp_ns);
        true
    }

    /// Whether a burst of `written` bytes that could leave in part had better wait for the next acknowledgement (`tcp_tso_should_defer`).
    fn defers(&self, written: u64, max_segs: u64, limited: &mut bool) -> bool {
        let now_ns = self.now.as_nanos();
        if self.ca_state >= CaState::Recovery || now_ns > self.wstamp_ns + DEFER_NS {
            return false;
        }
        // The first buffer of what was written; the last one may yet become longer, unless the FIN is on it.
        let buffer = GSO_MAX_SIZE / self.mss * self.mss;
        let (len, last) = (written.min(buffer), written <= buffer);
        let send_win = self.wnd_end.saturating_sub(self.snd_nxt);
        let cong_win = (self.snd_cwnd - self.in_flight()) * self.mss;
        let limit = send_win.min(cong_win);
        if limit >= max_segs * self.mss || (!last && limit >= len) {
            return false;
        }
        let window = self.wnd_end.saturating_sub(self.snd_una).min(self.snd_cwnd * self.mss);
        if limit >= window / TSO_WIN_DIVISOR {
            return false;
        }
        let Some(first) = self.segments.first() else { return false };
        let srtt_ns = (self.rtt.srtt >> 3) * 1_000;
        let expected = first.sent_us * 1_000 + srtt_ns;
        if expected > now_ns && expected - now_ns > DEFER_NS.min(srtt_ns >> 1) {
            return false;
        }
        if limit > len {
            return !self.closing;
        }
        *limited |= cong_win < send_win;
        true
    }

    /// Sends `count` new segments as one burst; the stamp of all is the same.
    fn transmit_new(&mut self, count: u64) -> u64 {
        let was_empty = self.segments.is_empty();
        let stamp_us = self.stamp_ns() / 1_000;
        let (mut sent, mut bytes, buffer) = (0, 0, self.tx + 1);
        while sent < count {
            let Some((payload, fin)) = self.new_segment() else { break };
            let len = payload + u32::from(fin);
            self.tx += 1;
            let stamp = self.delivery.stamp(stamp_us, self.segments.is_empty());
            self.segments.push(Segment {
                start: self.snd_nxt,
                len,
                fin,
                sent_us: stamp_us,
                tx: self.tx,
                buffer,
                stamp,
                sacked: false,
                lost: false,
                resent: false,
                ever_resent: false,
                found_lost: false,
            });
            sent += 1;
            // The last segment of a burst of several asks to be passed on, and the last one of all that was written.
            let end = self.snd_nxt + u64::from(payload);
            let push = payload > 0 && (end == self.write_seq || (sent > 1 && sent == count));
            self.out.push_back(Out::Data { start: self.snd_nxt, len, fin, push });
            self.snd_nxt += u64::from(len);
            self.fin_sent |= fin;
            if payload > 0 && u64::from(payload) < self.mss {
                self.snd_sml = self.snd_nxt;
            }
            self.totals.packets += 1;
            self.totals.bytes += u64::from(payload);
            bytes += u64::from(payload);
        }
        self.note_burst(sent, bytes);
        if was_empty || self.pending == Pending::LossProbe {
            self.rearm_rto();
        }
        sent
    }

    /// Sends `count` segments again as one (`tcp_retransmit_skb`); as a loss `probe` they do not count as retransmissions in flight.
    pub fn resend(&mut self, place: usize, count: u64, probe: bool) {
        let stamp_us = self.stamp_ns() / 1_000;
        let stamp = self.delivery.stamp(stamp_us, false);
        let (buffer, mut sent, mut bytes) = (self.tx + 1, 0, 0);
        for place in place..place.saturating_add(count as usize) {
            let Some(one) = self.segments.at_mut(place) else { break };
            self.tx += 1;
            sent += 1;
            self.retrans_out += u64::from(!one.resent && !probe);
            one.resent |= !probe;
            one.ever_resent = true;
            (one.sent_us, one.stamp, one.buffer) = (stamp_us, stamp, buffer);
            let (start, len, fin) = (one.start, one.len, one.fin);
            self.segments.note_resent(place, self.tx);
            self.out.push_back(Out::Data { start, len, fin, push: sent > 1 && sent == count });
            bytes += u64::from(len) - u64::from(fin);
        }
        if !probe {
            if self.retrans_stamp == 0 {
                self.retrans_stamp = stamp_us;
            }
            self.undo_retrans = Some(self.undo_retrans.unwrap_or(0) + sent);
        }
        self.total_retrans += sent;
        self.totals.resent_packets += sent;
        self.totals.resent_bytes += bytes;
        self.note_burst(sent, bytes);
    }

    /// The time that a segment bears which leaves now, ns: the pacing timer's if that lies ahead.
    fn stamp_ns(&self) -> u64 {
        self.wstamp_ns.max(self.now.as_nanos())
    }

    /// A burst has left: when may the next (`tcp_update_skb_after_send`)?
    fn note_burst(&mut self, segments: u64, bytes: u64) {
        let prior = self.wstamp_ns;
        self.wstamp_ns = self.stamp_ns();
        self.data_segs_out += segments;
        self.lsndtime = self.jiffies();
        if self.paces && self.pacing_rate > 0 && self.pacing_rate < u64::MAX && self.data_segs_out >= UNPACED {
            let length = u64::try_from(u128::from(bytes) * 1_000_000_000 / u128::from(self.pacing_rate));
            let length = length.unwrap_or(u64::MAX / 4);
            // A timer that was late is made up for, by up to half.
            let credit = self.wstamp_ns - prior;
            self.wstamp_ns += length - credit.min(length / 2);
        }
    }

    /// Whether the window is in use (`tcp_cwnd_validate`); one that is not grows no further, and shrinks in time.
    fn validate(&mut self, limited: bool, governed: bool) {
        let out = self.packets_out();
        if self.snd_una >= self.cwnd_usage_seq || limited || (!self.is_cwnd_limited && out > self.max_packets_out) {
            self.is_cwnd_limited = limited;
            self.max_packets_out = out;
            self.cwnd_usage_seq = self.snd_nxt;
        }
        if self.is_limited() {
            self.snd_cwnd_used = 0;
            self.snd_cwnd_stamp = self.jiffies();
            return;
        }
        self.snd_cwnd_used = self.snd_cwnd_used.max(out);
        if !governed && self.jiffies() - self.snd_cwnd_stamp >= self.rtt.rto {
            self.shrink_unused();
        }
    }

    /// `tcp_cwnd_application_limited`.
    fn shrink_unused(&mut self) {
        if self.ca_state == CaState::Open {
            let used = self.snd_cwnd_used.max(self.initial_window);
            if used < self.snd_cwnd {
                self.snd_ssthresh = self.current_ssthresh();
                self.snd_cwnd = (self.snd_cwnd + used) >> 1;
            }
            self.snd_cwnd_used = 0;
        }
        self.snd_cwnd_stamp = self.jiffies();
    }

    /// After an idle time the window is halved for each timeout that has passed (`tcp_cwnd_restart`).
    pub fn restart_after_idle(&mut self) {
        let mut idle = self.jiffies().saturating_sub(self.lsndtime);
        if self.data_segs_out == 0 || idle <= self.rtt.rto {
            return;
        }
        let least = self.initial_window.min(self.snd_cwnd);
        self.snd_ssthresh = self.current_ssthresh();
        while idle > self.rtt.rto && self.snd_cwnd > least {
            idle -= self.rtt.rto;
            self.snd_cwnd >>= 1;
        }
        self.snd_cwnd = self.snd_cwnd.max(least);
        self.snd_cwnd_stamp = self.jiffies();
        self.snd_cwnd_used = 0;
    }
}
