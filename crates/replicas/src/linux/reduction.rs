//! Window reduction (`tcp_init_cwnd_reduction`, `tcp_cwnd_reduction`, `tcp_end_cwnd_reduction`): PRR (RFC 6937) in whole segments, with slow
//! start towards the threshold when an acknowledgement advances and tells of no new loss.

use super::congestion::Event;
use super::socket::Socket;
use super::tcp::{CaState, Tcp};

impl Socket {
    /// A reduction begins; the threshold is the controller's.
    pub fn begin_reduction(&mut self) {
        let tcp = &mut self.tcp;
        tcp.high_seq = tcp.snd_nxt;
        tcp.tlp_high_seq = 0;
        tcp.snd_cwnd_cnt = 0;
        tcp.prior_cwnd = tcp.snd_cwnd;
        tcp.prr_delivered = 0;
        tcp.prr_out = 0;
        tcp.snd_ssthresh = self.control.ssthresh(tcp);
        tcp.totals.cuts += 1;
    }

    /// It ends: the window is the threshold.
    pub fn end_reduction(&mut self) {
        if self.control.governs() {
            return;
        }
        let tcp = &mut self.tcp;
        if tcp.snd_ssthresh < u64::MAX && (tcp.ca_state == CaState::Cwr || tcp.undo_marker.is_some()) {
            tcp.snd_cwnd = tcp.snd_ssthresh;
            tcp.snd_cwnd_stamp = tcp.jiffies();
        }
        self.control.on_event(tcp, Event::CompleteCwr);
    }
}

impl Tcp {
    /// An acknowledgement in a reduction: `delivered` segments newly, `lost` newly taken for lost; `advances` if it moves SND.UNA.
    pub fn reduce(&mut self, delivered: u64, lost: u64, advances: bool) {
        if delivered == 0 || self.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.in_flight();
        self.prr_delivered += delivered;
        let mut count = if in_flight > self.snd_ssthresh {
            let share = (self.snd_ssthresh * self.prr_delivered).div_ceil(self.prior_cwnd);
            share as i64 - self.prr_out as i64
        } else {
            let room = (self.snd_ssthresh - in_flight) as i64;
            let sent = self.prr_delivered as i64 - self.prr_out as i64;
            let catch_up = i64::from(advances && lost == 0);
            room.min(sent.max(delivered as i64) + catch_up)
        };
        // A retransmission leaves as the recovery begins, whatever the proportion.
        count = count.max(i64::from(self.prr_out == 0));
        self.snd_cwnd = in_flight.saturating_add_signed(count);
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::{Segment, Stamp};
    use super::super::settings::Settings;
    use super::*;
    use lasthop_protocols::transport::tcp::config::Config;

    /// RFC 6937 §4, first example's proportion: with ssthresh at half of the window, every second acknowledgement lets a segment leave.
    #[test]
    fn half_of_the_segments_delivered_are_sent() {
        let mut tcp = Tcp::new(&Settings::new(&Config::default()));
        for n in 0..20 {
            let stamp = Stamp::default();
            tcp.segments.push(Segment {
                start: 1 + n * 1_448,
                len: 1_448,
                fin: false,
                sent_us: n,
                tx: n,
                buffer: n,
                stamp,
                sacked: false,
                lost: false,
                resent: false,
                ever_resent: false,
                found_lost: false,
            });
        }
        (tcp.prior_cwnd, tcp.snd_ssthresh, tcp.snd_cwnd) = (20, 10, 20);
        tcp.lost_out = 1;
        let mut sent = Vec::new();
        for _ in 0..8 {
            tcp.sacked_out += 1;
            tcp.reduce(1, 0, false);
            let count = tcp.snd_cwnd - tcp.in_flight();
            tcp.prr_out += count;
            tcp.retrans_out += count;
            sent.push(count);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }
}
