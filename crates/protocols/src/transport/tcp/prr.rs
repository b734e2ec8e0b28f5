//! Proportional Rate Reduction (RFC 9937): how much leaves for each acknowledgement while losses are repaired, so that the amount in flight
//! comes down to the new window over a round trip, and comes back up to it if the losses alone have taken more than that.

/// An episode of it, from the reduction of the window to the end of the recovery. Bytes.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    smss: u64,
    /// RecoverFS.
    recover_fs: u64,
    /// prr_delivered and prr_out.
    delivered: u64,
    out: u64,
    cwnd: u64,
}

impl Prr {
    /// §6.1, after the acknowledgement that begins the recovery: `outstanding` bytes are neither acknowledged nor SACKed, and it has
    /// `delivered` others.
    pub fn begin(smss: u64, outstanding: u64, delivered: u64) -> Self {
        Self { smss, recover_fs: (outstanding + delivered).max(1), delivered: 0, out: 0, cwnd: 0 }
    }

    /// §6.2: an acknowledgement has delivered `delivered` bytes, and `inflight` are in flight. `ssthresh` is the window after the
    /// reduction, and `safe` is SafeACK. Where a timer begins the recovery nothing is delivered, and the first segment sent again
    /// leaves.
    pub fn on_ack(&mut self, delivered: u64, inflight: u64, ssthresh: u64, safe: bool) {
        if delivered == 0 && self.cwnd > 0 {
            return;
        }
        self.delivered += delivered;
        let mut count = if inflight > ssthresh {
            let out = (u128::from(self.delivered) * u128::from(ssthresh)).div_ceil(u128::from(self.recover_fs));
            (out as u64).saturating_sub(self.out)
        } else {
            // PRR-CRB, and PRR-SSRB if the recovery makes good progress.
            let count = self.delivered.saturating_sub(self.out).max(delivered) + if safe { self.smss } else { 0 };
            count.min(ssthresh - inflight)
        };
        if self.out == 0 && count == 0 {
            count = self.smss;
        }
        self.cwnd = inflight + count;
    }

    /// §6.3: `bytes` are sent, for the first time or again.
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// Whether a segment may leave: cwnd is not reached (§3).
    pub fn allows(&self, inflight: u64) -> bool {
        inflight < self.cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9937 §8, Figure 1: one of 20 segments is lost, Reno. For each acknowledgement from the third on: cwnd and inflight
    /// before sending, and whether a segment is sent. At ACK#19 the figure contradicts §6.2, whose steps hold here: inflight
    /// is not above ssthresh, so SndCnt is at most ssthresh − inflight = 0. The figure lets a segment out, here ACK#20 does.
    #[test]
    fn figure_1_spreads_the_reduction_over_the_round_trip() {
        #[rustfmt::skip]
        let (cwnd, inflight, sent) = (
            [19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10, 10, 10],
            [18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10,  9,  9],
            [ 1,  0,  1,  0,  1,  0,  1,  0,  1,  0,  1,  0,  1,  0,  1,  0,  0,  1,  1],
        );
        // 22 are sent, 3 SACKed, the last of them by this acknowledgement, which marks the first lost.
        let mut prr = Prr::begin(1, 19, 1);
        let mut pipe = 19;
        for (n, ((cwnd, inflight), sent)) in cwnd.into_iter().zip(inflight).zip(sent).enumerate() {
            pipe -= 1;
            assert_eq!(pipe, inflight, "ACK#{}", n + 3);
            prr.on_ack(1, pipe, 10, false);
            assert_eq!(prr.cwnd, cwnd, "ACK#{}", n + 3);
            let before = pipe;
            while prr.allows(pipe) {
                prr.on_sent(1);
                pipe += 1;
            }
            assert_eq!(pipe - before, sent, "ACK#{}", n + 3);
        }
    }

    /// RFC 9937 §8, Figure 2: 15 of 20 are lost. Three acknowledgements of the first round trip each let one out (PRR-CRB); those that
    /// move SND.UNA on let out two (PRR-SSRB) until the flight is at ssthresh.
    #[test]
    fn figure_2_conserves_packets_and_then_catches_up() {
        let mut prr = Prr::begin(1, 19, 1);
        let mut pipe = 4;
        let mut sent = |prr: &mut Prr, safe: bool, first: bool| {
            pipe -= u64::from(!first);
            prr.on_ack(1, pipe, 10, safe);
            let before = pipe;
            while prr.allows(pipe) {
                prr.on_sent(1);
                pipe += 1;
            }
            (prr.cwnd, before, pipe - before)
        };
        assert_eq!(sent(&mut prr, false, true), (5, 4, 1));
        assert_eq!(sent(&mut prr, false, false), (5, 4, 1));
        assert_eq!(sent(&mut prr, false, false), (5, 4, 1));
        for pipe in [4, 5, 6, 7, 8] {
            assert_eq!(sent(&mut prr, true, false), (pipe + 2, pipe, 2));
        }
        assert_eq!(sent(&mut prr, true, false), (10, 9, 1), "no more than ssthresh");
    }

    /// §6.2: "Force a fast retransmit upon entering recovery".
    #[test]
    fn the_first_retransmission_leaves_whatever_the_flight() {
        // At ssthresh already; and begun by a timer, with nothing delivered.
        for (delivered, inflight) in [(1, 10), (0, 12), (0, 3)] {
            let mut prr = Prr::begin(1, 20, delivered);
            prr.on_ack(delivered, inflight, 10, false);
            assert!(prr.allows(inflight));
            prr.on_sent(1);
            assert!(!prr.allows(inflight + 1));
        }
    }

    /// CUBIC's 0.7 in bytes: 7 of 10 acknowledgements let a segment out.
    #[test]
    fn shares_of_segments_add_up() {
        let mut prr = Prr::begin(1000, 99_000, 1000);
        let mut pipe = 98_000;
        let mut sent = 0;
        for n in 0..28 {
            pipe -= if n == 0 { 0 } else { 1000 };
            prr.on_ack(1000, pipe, 70_000, false);
            while prr.allows(pipe) {
                prr.on_sent(1000);
                pipe += 1000;
                sent += 1;
            }
        }
        assert_eq!(sent, 20);
    }
}
