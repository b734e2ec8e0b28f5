//! Which acknowledged segments ns-3.37 counts for the growth of a window (`TcpSocketBase::ProcessAck`), where that is other than RFC 5681:
//!
//! - The acknowledgement that ends a recovery counts in full, with all that SACK had told before: a window of 9 segments of Reno grows by 2 or 3 each
//!   time that it was halved. RFC 5681 §3.2 step 6 sets the window to `ssthresh` there.
//! - After a timeout all that an acknowledgement covers counts, SACKed before or not; of the one that covers all that was in flight at the timeout
//!   only the data beyond them.

use lasthop_core::transport::congestion::AckSample;

/// The counter of a connection.
#[derive(Clone, Default)]
pub struct Counting {
    /// Bytes acknowledged so far, and those that have arrived.
    acked: u64,
    delivered: u64,
    /// Bytes that the last acknowledgement of a recovery acknowledged, as long as it is not known whether it was the last.
    ending: u64,
    /// Up to where data were in flight at a timeout, until they are acknowledged.
    lost_up_to: Option<u64>,
}

impl Counting {
    /// An acknowledgement has come. Gives the bytes that count, in one or two portions; nothing while losses are repaired.
    pub fn on_ack(&mut self, sample: &AckSample) -> [u64; 2] {
        self.acked += sample.acked;
        self.delivered = sample.delivered;
        if sample.recovering {
            self.ending = sample.acked;
            return [0; 2];
        }
        let mut bytes = sample.acked;
        if let Some(end) = self.lost_up_to.take_if(|end| *end <= self.acked) {
            bytes = self.acked - end;
        }
        [std::mem::take(&mut self.ending), bytes]
    }

    /// Bytes acknowledged so far.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Bytes sent so far, with `flight` outstanding.
    pub fn sent(&self, flight: u64) -> u64 {
        self.delivered + flight
    }

    /// The retransmission timer has expired with `flight` bytes outstanding, those that have arrived excepted.
    pub fn on_timeout(&mut self, flight: u64) {
        self.ending = 0;
        self.lost_up_to = Some(self.sent(flight));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_after_a_timeout() {
        let mut counting = Counting::default();
        let ack = |counting: &mut Counting, acked: u64, delivered: u64| {
            counting.on_ack(&AckSample { acked, delivered, ..AckSample::default() })
        };
        assert_eq!(ack(&mut counting, 1, 1), [0, 1]);
        // Six of sixteen have arrived behind a gap when the timer expires.
        assert_eq!(ack(&mut counting, 0, 7), [0, 0]);
        counting.on_timeout(10);
        assert_eq!(ack(&mut counting, 3, 10), [0, 3]);
        assert_eq!(ack(&mut counting, 13, 17), [0, 0], "the end of the episode");
        assert_eq!(ack(&mut counting, 2, 19), [0, 2]);
    }
}
