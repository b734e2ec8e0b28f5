//! TCP-like congestion control of DCCP's CCID 2 (RFC 4341 §5), with what RFC 2861 says of senders that lack data. It counts
//! packets: in its seat, samples and events sizes are packets, and a full segment is one.

use lasthop_net::engine::Instant;

use super::{AckSample, CongestionControl, CongestionEvent, EndpointContext, Sent, Undo, Wants};

/// The window, and the threshold of slow start.
#[derive(Clone, Debug)]
pub struct TcpLike {
    cwnd: u32,
    ssthresh: u32,
    initial: u32,
    /// Packets acknowledged since the window grew last.
    acked: u32,
    /// When a packet was sent last (RFC 2861, T_last), when the window was full last (T_prev),
    /// and how much of it was used since then (W_used).
    sent_at: Option<Instant>,
    full_at: Instant,
    used: u32,
}

impl TcpLike {
    /// At the start of a connection; the threshold is arbitrarily high.
    pub fn new(seat: &EndpointContext) -> Self {
        let initial = seat.initial_window as u32;
        Self { cwnd: initial, ssthresh: u32::MAX, initial, acked: 0, sent_at: None, full_at: Instant::ZERO, used: 0 }
    }

    /// The initial window for packets of `segment` bytes (RFC 3390, in packets as RFC 5681 §3.1 states
    /// it).
    pub fn initial(segment: u32) -> u32 {
        match segment {
            0..=1095 => 4,
            1096..=2190 => 3,
            _ => 2,
        }
    }

    fn shrink(&mut self, now: Instant, cwnd: u32) {
        self.ssthresh = self.ssthresh.max((u64::from(self.cwnd) * 3 / 4) as u32);
        self.cwnd = cwnd.max(self.cwnd.min(self.initial));
        self.full_at = now;
        self.used = 0;
    }
}

impl CongestionControl for TcpLike {
    fn wants(&self) -> Wants {
        Wants { sends: true, ..Wants::default() }
    }

    /// With `sent.in_flight` packets in the network. After an idle time, or a timeout's length of using less than it may, the window
    /// shrinks (RFC 2861), but not below that of a new connection (RFC 5681 §4.1).
    fn on_sent(&mut self, sent: &Sent) {
        let Sent { now, in_flight, rto, more, .. } = *sent;
        let pipe = in_flight as u32;
        let before = self.sent_at.replace(now);
        if pipe == 1
            && let Some(before) = before
        {
            let idle = now.since(before).as_nanos() / rto.as_nanos().max(1);
            if idle > 0 {
                self.shrink(now, self.cwnd.checked_shr(idle.min(32) as u32).unwrap_or(0));
            }
        }
        if pipe >= self.cwnd {
            self.full_at = now;
            self.used = 0;
        } else if !more {
            self.used = self.used.max(pipe);
            if now.since(self.full_at) >= rto {
                self.shrink(now, (self.cwnd + self.used) / 2);
            }
        }
    }

    /// Packets came unmarked, and none is lost. In slow start the window grows by a packet for each two of them, but at most by half the
    /// Ack Ratio, rounded up so that a ratio of 1 does not stop it; else by a packet for each window of them.
    fn on_ack(&mut self, sample: &AckSample) {
        if !sample.window_limited || sample.recovering {
            return;
        }
        self.acked += sample.acked as u32;
        if self.cwnd < self.ssthresh {
            let growth = (self.acked / 2).min(sample.ack_every.div_ceil(2));
            self.acked %= 2;
            self.cwnd = (self.cwnd + growth).min(self.ssthresh);
            return;
        }
        while self.acked >= self.cwnd {
            self.acked -= self.cwnd;
            self.cwnd += 1;
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.cwnd = (self.cwnd / 2).max(1);
        self.ssthresh = self.cwnd.max(2);
        self.acked = 0;
    }

    fn on_timeout(&mut self, _now: Instant, _flight: u64, _again: bool) {
        self.ssthresh = (self.cwnd / 2).max(2);
        self.cwnd = 1;
        self.acked = 0;
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.ssthresh = self.ssthresh.max(undo.flight as u32);
        self.cwnd = (undo.window as u32).max(1);
    }

    fn window(&self) -> u64 {
        debug_assert!(self.cwnd >= 1, "cwnd is at least one packet");
        self.cwnd.into()
    }

    fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh < u32::MAX).then_some(self.ssthresh.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::{Begun, CongestionKind};
    use lasthop_net::engine::Duration;

    fn window(cwnd: u32, ssthresh: u32) -> TcpLike {
        let (initial_window, initial_ssthresh) = (cwnd.into(), u64::MAX);
        TcpLike {
            ssthresh,
            ..TcpLike::new(&EndpointContext {
                smss: 1,
                header: 0,
                options: 0,
                initial_window,
                initial_ssthresh,
                flow: 0,
                seed: 0,
                begun: Begun::default(),
                sack: true,
            })
        }
    }

    fn acked(window: &mut TcpLike, packets: u64, ack_every: u32) {
        window.on_ack(&AckSample { acked: packets, ack_every, window_limited: true, ..AckSample::default() });
    }

    fn sent(window: &mut TcpLike, now: Instant, in_flight: u64, more: bool) {
        window.on_sent(&Sent { now, bytes: 1, in_flight, more, rto: Duration::from_secs(1), ..Sent::default() });
    }

    fn event(window: &mut TcpLike) {
        let (now, kind) = (Instant::ZERO, CongestionKind::Loss);
        window.on_congestion(&CongestionEvent { now, kind, flight: 0, lost: 1, resent: false });
    }

    /// RFC 5681 §3.1.
    #[test]
    fn the_initial_window_has_two_to_four_packets() {
        for (segment, packets) in [(100, 4), (1095, 4), (1096, 3), (1448, 3), (2190, 3), (2191, 2), (9000, 2)] {
            assert_eq!(TcpLike::initial(segment), packets, "{segment} B");
        }
    }

    /// RFC 4341 §5: a packet for each two acknowledged, up to Ack Ratio / 2 for each acknowledgement.
    #[test]
    fn slow_start_grows_with_the_ack_ratio() {
        for (name, ratio, counts, cwnd) in [
            ("ratio 2, each acknowledgement tells of two", 2, &[2, 2, 2][..], 13),
            ("ratio 1, each tells of one", 1, &[1, 1, 1, 1], 12),
            ("ratio 8, each tells of eight", 8, &[8, 8], 18),
            ("ratio 2, one tells of eight after losses of others", 2, &[8], 11),
            ("ratio 4, one tells of eight", 4, &[8], 12),
            ("ratio 3, each tells of three", 3, &[3, 3], 13),
        ] {
            let mut window = window(10, 100);
            counts.iter().for_each(|count| acked(&mut window, *count, ratio));
            assert_eq!(window.cwnd, cwnd, "{name}");
        }
        let mut window = window(10, 12);
        acked(&mut window, 8, 8);
        assert_eq!(window.cwnd, 12, "slow start ends at the threshold");
    }

    /// RFC 4341 §5: from there a packet for each window acknowledged: 10 for the first, 11 for the next.
    #[test]
    fn congestion_avoidance_grows_by_a_packet_for_each_window() {
        let mut window = window(10, 10);
        let after: Vec<u32> = (0..21)
            .map(|_| {
                acked(&mut window, 1, 2);
                window.cwnd
            })
            .collect();
        assert_eq!((after[8], after[9], after[19], after[20]), (10, 11, 11, 12));
    }

    /// RFC 4341 §5: halves are rounded down, cwnd is at least 1 and ssthresh at least 2.
    #[test]
    fn halves_are_rounded_down() {
        for (cwnd, halved, timed_out) in [
            (40, (20, 20), (1, 20)),
            (11, (5, 5), (1, 5)),
            (3, (1, 2), (1, 2)),
            (2, (1, 2), (1, 2)),
            (1, (1, 2), (1, 2)),
        ] {
            let mut one = window(cwnd, u32::MAX);
            event(&mut one);
            assert_eq!((one.cwnd, one.ssthresh), halved, "an event at {cwnd}");
            let mut one = window(cwnd, u32::MAX);
            one.on_timeout(Instant::ZERO, 0, false);
            assert_eq!((one.cwnd, one.ssthresh), timed_out, "a timeout at {cwnd}");
        }
    }

    /// RFC 2861: ssthresh becomes 3/4 cwnd, and cwnd halves with each RTO of idleness.
    #[test]
    fn idleness_halves_the_window_for_each_timeout() {
        let second = |n| Instant::ZERO + Duration::from_secs(n);
        for (idle, expected) in [(0, (64, 16)), (1, (32, 48)), (2, (16, 48)), (3, (8, 48)), (5, (4, 48)), (60, (4, 48))]
        {
            let mut window = TcpLike { initial: 4, ..window(64, 16) };
            sent(&mut window, second(10), 64, true);
            sent(&mut window, second(10 + idle), 1, true);
            assert_eq!((window.cwnd, window.ssthresh), expected, "{idle} s");
        }
    }

    /// RFC 2861: after an RTO with 8 of 64 packets in use the window is (64 + 8) / 2.
    #[test]
    fn what_is_not_used_is_lost_by_halves() {
        let mut window = TcpLike { initial: 4, ..window(64, 16) };
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        sent(&mut window, ms(0), 64, true);
        for n in 1..100 {
            sent(&mut window, ms(n * 10), 5 + n % 4, false);
            assert_eq!(window.cwnd, 64, "after {n} packets");
        }
        sent(&mut window, ms(1000), 5, false);
        assert_eq!((window.cwnd, window.ssthresh), (36, 48));
        // A full window starts the time anew.
        sent(&mut window, ms(1900), 36, true);
        sent(&mut window, ms(2100), 5, false);
        assert_eq!(window.cwnd, 36);
    }
}
