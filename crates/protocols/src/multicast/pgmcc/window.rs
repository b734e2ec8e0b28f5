//! The window of the sender (draft-ietf-rmt-bb-pgmcc-03 §2.2), in packets. It knows no packet: which packets are acknowledged and which are
//! lost is decided in [`scoreboard`](super::scoreboard).

use super::config::{CutAgain, TokenMode};

/// The window W, and the tokens T that allow to send.
#[derive(Clone, Debug)]
pub struct Window {
    w: f64,
    /// The tokens of [`TokenMode::Literal`]; otherwise they follow from W and the packets in flight.
    t: f64,
    mode: TokenMode,
    cut_again: CutAgain,
    ssthresh: f64,
    /// The last number sent before the last cut. Only feedback for later ones changes W again.
    recover: Option<u64>,
    cuts: u64,
}

/// What an ACK has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// The packet that it acknowledges.
    pub seq: u64,
    /// How many packets are acknowledged for the first time.
    pub acked: u32,
    /// The highest number of those that were found to be lost.
    pub lost: Option<u64>,
}

impl Window {
    /// One packet (§2.2, initialization).
    pub fn new(ssthresh: u32, mode: TokenMode, cut_again: CutAgain) -> Self {
        Self { w: 1.0, t: 1.0, mode, cut_again, ssthresh: ssthresh.into(), recover: None, cuts: 0 }
    }

    /// W.
    #[inline]
    pub fn size(&self) -> f64 {
        self.w
    }

    /// T, with this number of packets in flight.
    #[inline]
    pub fn tokens(&self, in_flight: u32) -> f64 {
        debug_assert!(self.w >= 1.0 && self.t <= self.w, "W is at least one packet, and T at most W");
        match self.mode {
            TokenMode::InFlight => self.w - f64::from(in_flight),
            TokenMode::Literal => self.t,
        }
    }

    /// A packet leaves.
    #[inline]
    pub fn on_send(&mut self) {
        self.t -= 1.0;
    }

    /// An ACK has come; `last` is the last number sent.
    #[inline]
    pub fn on_ack(&mut self, feedback: Feedback, last: u64) {
        let is_later = Some(feedback.seq) > self.recover;
        let cuts = match self.cut_again {
            CutAgain::LaterLoss => feedback.lost > self.recover,
            CutAgain::LaterFeedback => feedback.lost.is_some() && is_later,
        };
        if cuts {
            let half = self.w / 2.0;
            self.t -= half;
            self.w = half.max(1.0);
            self.recover = Some(last);
            self.cuts += 1;
            return;
        }
        if !is_later {
            return;
        }
        for _ in 0..feedback.acked {
            let growth = if self.w < self.ssthresh { 1.0 } else { 1.0 / self.w };
            self.w += growth;
            self.t += 1.0 + growth;
        }
        // T is bounded above by W (§2.2).
        self.t = self.t.min(self.w);
    }

    /// Nothing was heard for too long (§3).
    pub fn on_timeout(&mut self) {
        (self.w, self.t, self.recover) = (1.0, 1.0, None);
        self.cuts += 1;
    }

    /// The acker has left, and with it its ACKs: a packet may leave that elects another (§2.3.2).
    pub fn on_vacancy(&mut self) {
        self.t = self.t.max(1.0);
    }

    /// There is an acker where there was none (§3): packets sent before will not be acknowledged.
    pub fn on_election(&mut self) {
        self.t = (self.t + 1.0).min(self.w);
    }

    /// How often W was reduced.
    pub fn cuts(&self) -> u64 {
        self.cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(seq: u64, acked: u32) -> Feedback {
        Feedback { seq, acked, lost: None }
    }

    #[test]
    fn it_opens_by_one_below_the_threshold_and_by_its_inverse_above() {
        let mut window = Window::new(6, TokenMode::InFlight, CutAgain::LaterLoss);
        for seq in 0..12 {
            window.on_ack(acked(seq, 1), seq);
        }
        assert!((window.size() - 7.083).abs() < 5e-4, "{}", window.size());
        let mut at_once = Window::new(6, TokenMode::InFlight, CutAgain::LaterLoss);
        at_once.on_ack(acked(11, 12), 11);
        assert_eq!(at_once.size(), window.size());
    }

    #[test]
    fn losses_of_one_round_halve_it_once() {
        let mut window = Window::new(6, TokenMode::InFlight, CutAgain::LaterLoss);
        window.w = 20.0;
        let lost = |seq| Feedback { seq, acked: 1, lost: Some(seq - 3) };
        window.on_ack(lost(10), 25);
        for seq in 11..=25 {
            window.on_ack(lost(seq), 25 + seq);
        }
        assert_eq!((window.size(), window.cuts()), (10.0, 1));
        window.on_ack(acked(26, 1), 40);
        assert_eq!(window.size(), 10.1);
        // Packets 23 to 25 were sent before the cut: their losses are of that round, no matter which receiver reports them and when.
        (27..=28).for_each(|seq| window.on_ack(Feedback { acked: 0, ..lost(seq) }, 41));
        assert_eq!((window.size(), window.cuts()), (10.1, 1));
        window.on_ack(lost(29), 41);
        assert_eq!((window.size(), window.cuts()), (5.05, 2));
    }

    #[test]
    fn feedback_for_a_later_packet_may_cut_again_for_an_earlier_loss() {
        let mut window = Window::new(6, TokenMode::InFlight, CutAgain::LaterFeedback);
        window.w = 20.0;
        let lost = |seq| Feedback { seq, acked: 1, lost: Some(seq - 3) };
        window.on_ack(lost(10), 25);
        (11..=25).for_each(|seq| window.on_ack(lost(seq), 25 + seq));
        assert_eq!((window.size(), window.cuts()), (10.0, 1));
        window.on_ack(lost(26), 40);
        assert_eq!((window.size(), window.cuts()), (5.0, 2));
    }

    #[test]
    fn it_never_falls_below_one_packet() {
        let mut window = Window::new(6, TokenMode::InFlight, CutAgain::LaterLoss);
        window.on_ack(Feedback { seq: 3, acked: 1, lost: Some(0) }, 3);
        assert_eq!((window.size(), window.tokens(1)), (1.0, 0.0));
        window.on_ack(acked(4, 4), 4);
        assert_eq!(window.size(), 5.0);
        window.on_timeout();
        assert_eq!(window.size(), 1.0);
    }

    /// §2.2 as printed: T − 1 for each packet, + 2 for each ACK in slow start, + 1 + 1/W after it, − W/2 on a loss, and nothing
    /// for ACKs until the round is over.
    #[test]
    fn literal_tokens_are_those_of_the_draft() {
        let mut window = Window::new(4, TokenMode::Literal, CutAgain::LaterLoss);
        assert_eq!(window.tokens(99), 1.0);
        window.on_send();
        window.on_ack(acked(0, 1), 0);
        assert_eq!((window.size(), window.tokens(0)), (2.0, 2.0));
        (window.w, window.t) = (8.0, 0.0);
        window.on_ack(acked(1, 1), 9);
        assert_eq!((window.size(), window.tokens(0)), (8.125, 1.125));
        window.on_send();
        window.on_ack(Feedback { seq: 5, acked: 1, lost: Some(2) }, 10);
        assert_eq!((window.size(), window.tokens(0)), (4.0625, 0.125 - 4.0625));
        window.on_ack(acked(10, 8), 10);
        assert_eq!(window.tokens(0), 0.125 - 4.0625, "suspended");
        window.on_election();
        assert_eq!(window.tokens(0), 1.125 - 4.0625);
    }
}
