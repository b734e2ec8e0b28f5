//! The tail loss probe: a segment that is sent when no acknowledgement has come for two round trips, so that its own acknowledgement tells
//! of losses that nothing else would tell of before the retransmission timer expires (RFC 8985 §7).

use lasthop_net::engine::Duration;

use super::super::AckEvent;

/// TLP.end_seq, TLP.is_retrans and TLP.max_ack_delay.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// SND.NXT behind the probe in flight, and whether that was sent again.
    in_flight: Option<(u64, bool)>,
    /// Whether a probe has been sent since the last sample of the round-trip time.
    unsampled: bool,
    max_ack_delay: Duration,
}

impl Probe {
    pub(super) fn new(max_ack_delay: Duration) -> Self {
        Self { in_flight: None, unsampled: false, max_ack_delay }
    }

    /// §7.1: a recovery begins.
    pub(super) fn reset(&mut self) {
        self.in_flight = None;
    }

    /// §7.3, condition 2: the round-trip time was measured.
    pub(super) fn on_sample(&mut self) {
        self.unsampled = false;
    }

    /// The probe was sent; SND.NXT is `end`.
    pub(super) fn on_sent(&mut self, end: u64, again: bool) {
        self.in_flight = Some((end, again));
        self.unsampled = true;
    }

    /// §7.3: whether a probe may leave.
    pub(super) fn may_leave(&self) -> bool {
        self.in_flight.is_none() && !self.unsampled
    }

    /// §7.2, TLP_calc_PTO: `alone` says that one segment is in flight.
    pub(super) fn timeout(&self, srtt: Duration, alone: bool) -> Duration {
        srtt * 2 + if alone { self.max_ack_delay } else { Duration::ZERO }
    }

    /// §7.4.2, TLP_process_ack: whether the acknowledgement says that the probe has repaired a loss.
    pub(super) fn on_ack(&mut self, ack: &AckEvent) -> bool {
        let Some((end, again)) = self.in_flight else { return false };
        if ack.una < end {
            return false;
        }
        let blocks = ack.header.sack();
        let duplicate = blocks.duplicate(ack.una).is_some_and(|(_, to)| to == end);
        let repaired = again && !duplicate && ack.una > end;
        // Cases 1 and 2, or new data.
        if !again || duplicate || repaired || (ack.duplicate && blocks.is_empty()) {
            self.in_flight = None;
        }
        repaired
    }
}
