//! Samples of the delivery rate (net/ipv4/tcp_rate.c; draft-cheng-iccrg-delivery-rate-estimation), in segments and microseconds.

use super::segments::{Segment, Stamp};

/// The connection's side of the samples.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// Segments delivered so far, the SYN included (`delivered`).
    pub delivered: u64,
    /// When that number last rose, us (`delivered_mstamp`).
    pub delivered_us: u64,
    /// When the segment acknowledged last was sent, us (`first_tx_mstamp`).
    pub first_tx_us: u64,
    /// Samples are application-limited until this number is delivered; 0 if they are not (`app_limited`).
    pub app_limited: u64,
}

/// What an acknowledgement tells of the rate (`struct rate_sample`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// The record of the segment acknowledged that was sent last.
    prior: Option<Stamp>,
    last_end: u64,
    send_us: u64,
    /// Segments delivered while it was in flight; `None` without a valid sample.
    pub delivered: Option<u64>,
    /// The longer of the times in which they were sent and acknowledged; `None` if it is shorter than the least round-trip time.
    pub interval_us: Option<u64>,
    /// Round-trip time of the segment acknowledged last, us.
    pub rtt_us: Option<u64>,
    /// Segments newly taken for lost.
    pub losses: u64,
    /// Segments newly delivered.
    pub acked_sacked: u64,
    /// Segments in flight before the acknowledgement.
    pub prior_in_flight: u64,
    pub app_limited: bool,
    /// Whether the acknowledgement may have been delayed.
    pub ack_delayed: bool,
}

impl Sample {
    /// That of a timeout, which tells of a loss and of nothing else.
    pub fn of_timeout() -> Self {
        Self { losses: 1, ..Self::default() }
    }

    /// How many segments had been delivered when that segment was sent.
    pub fn prior_delivered(&self) -> u64 {
        self.prior.map_or(0, |prior| prior.delivered)
    }
}

/// Whether a transmission was later than another (`tcp_skb_sent_after`).
#[inline]
pub fn sent_after(us: u64, end: u64, other_us: u64, other_end: u64) -> bool {
    us > other_us || (us == other_us && end > other_end)
}

impl Delivery {
    /// The record of a segment that is sent now (`tcp_rate_skb_sent`).
    pub fn stamp(&mut self, now_us: u64, nothing_in_flight: bool) -> Stamp {
        if nothing_in_flight {
            self.first_tx_us = now_us;
            self.delivered_us = now_us;
        }
        Stamp {
            first_tx_us: self.first_tx_us,
            delivered_us: self.delivered_us,
            delivered: self.delivered,
            app_limited: self.app_limited > 0,
        }
    }

    /// A segment was acknowledged, by number or by a SACK block (`tcp_rate_skb_delivered`).
    pub fn on_delivered(&mut self, segment: &mut Segment, sample: &mut Sample) {
        let stamp = segment.stamp;
        if stamp.delivered_us == 0 {
            return;
        }
        let newest =
            sample.prior.is_none() || sent_after(segment.sent_us, segment.end(), self.first_tx_us, sample.last_end);
        if newest {
            sample.prior = Some(stamp);
            sample.app_limited = stamp.app_limited;
            sample.last_end = segment.end();
            self.first_tx_us = segment.sent_us;
            sample.send_us = segment.sent_us.saturating_sub(stamp.first_tx_us);
        }
        segment.stamp.delivered_us = 0;
    }

    /// Completes the sample of an acknowledgement (`tcp_rate_gen`).
    pub fn complete(&mut self, now_us: u64, min_rtt: Option<u64>, delivered: u64, lost: u64, sample: &mut Sample) {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if delivered > 0 {
            self.delivered_us = now_us;
        }
        sample.acked_sacked = delivered;
        sample.losses = lost;
        let Some(prior) = sample.prior else { return };
        sample.delivered = Some(self.delivered - prior.delivered);
        let interval = sample.send_us.max(now_us.saturating_sub(prior.delivered_us));
        sample.interval_us = min_rtt.is_none_or(|min| interval >= min).then_some(interval);
    }

    /// The sender has nothing more to send (`tcp_rate_check_app_limited`).
    pub fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(delivery: &mut Delivery, start: u64, now_us: u64, empty: bool) -> Segment {
        Segment {
            start,
            len: 1_000,
            fin: false,
            sent_us: now_us,
            tx: start,
            buffer: start,
            stamp: delivery.stamp(now_us, empty),
            sacked: false,
            lost: false,
            resent: false,
            ever_resent: false,
            found_lost: false,
        }
    }

    /// draft-cheng-iccrg-delivery-rate-estimation §3: 20 segments, one each millisecond, round trip 20 ms: 20 in 20 ms. Acknowledgements that
    /// were held up and come at once must not exceed the rate of sending.
    #[test]
    fn the_rate_is_that_of_sending_or_of_acknowledging_whichever_is_lower() {
        let run = |held: bool| {
            let mut delivery = Delivery::default();
            let mut flight: Vec<Segment> =
                (0..40).map(|n| sent(&mut delivery, n * 1_000, 1_000_000 + n * 1_000, n == 0)).collect();
            let mut rates = Vec::new();
            for (n, segment) in flight.iter_mut().enumerate() {
                let now = if held { 1_060_000 } else { 1_020_000 + n as u64 * 1_000 };
                let mut sample = Sample::default();
                delivery.delivered += 1;
                delivery.on_delivered(segment, &mut sample);
                delivery.complete(now, Some(20_000), 1, 0, &mut sample);
                if let (Some(delivered), Some(interval)) = (sample.delivered, sample.interval_us) {
                    rates.push(delivered as f64 / interval as f64);
                }
            }
            rates.into_iter().fold(0.0, f64::max)
        };
        assert!(run(false) <= 1.0 / 1_000.0 * 1.0001);
        assert!(run(true) <= 1.0 / 1_000.0 * 1.0001);
    }
}
