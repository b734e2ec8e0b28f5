//! Delay spikes: packets that wait much longer than those before them.
//!
//! A spike lasts while the oldest packet has waited longer than half a second and three times the median so far of the mobile's
//! delays, and for a second after such a packet came.

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{Histogram, Probe};

/// What a spike is at least.
const LEAST: Duration = Duration::from_millis(500);
/// How often it is the median at least.
const TIMES: f64 = 3.0;
/// For how long what follows counts to it: the usual least retransmission timeout (RFC 6298 §2.4).
const AFTER: Duration = Duration::from_secs(1);

/// The delays of a mobile, and counts.
#[derive(Debug, Default)]
pub struct Spikes {
    delays: Histogram,
    until: Instant,
    spikes: u64,
    offered: u64,
    dropped: u64,
    offered_within: u64,
    dropped_within: u64,
}

impl Spikes {
    /// Whether this is far above the usual delay.
    fn is_spike(&self, delay: Duration) -> bool {
        // The median is looked for only if it may matter.
        delay > LEAST && self.delays.quantile(0.5).is_none_or(|median| delay.as_nanos() as f64 > TIMES * median)
    }

    /// Whether there is a spike now, when the oldest packet has waited for `oldest`.
    pub fn lasts(&self, now: Instant, oldest: Option<Duration>) -> bool {
        now < self.until || oldest.is_some_and(|delay| self.is_spike(delay))
    }

    /// A packet came to the buffer, within a spike or not.
    pub fn on_offered(&mut self, within: bool) {
        self.offered += 1;
        self.offered_within += u64::from(within);
    }

    /// The queue dropped this number of packets, within a spike or not.
    pub fn on_dropped(&mut self, packets: u64, within: bool) {
        self.dropped += packets;
        self.dropped_within += if within { packets } else { 0 };
    }

    /// A packet has come to the mobile after `delay`.
    pub fn on_delivered(&mut self, now: Instant, delay: Duration) {
        if self.is_spike(delay) {
            self.spikes += u64::from(now >= self.until);
            self.until = now + AFTER;
        }
        self.delays.add(delay.as_nanos());
    }

    /// Shows the counts.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("offered_packets", self.offered as f64);
        probe.value("dropped_packets", self.dropped as f64);
        probe.value("delay_spikes", self.spikes as f64);
        probe.value("offered_in_spike", self.offered_within as f64);
        probe.value("dropped_in_spike", self.dropped_within as f64);
        probe.distribution("radio_delay_ms", 1e-6, &self.delays);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_is_far_above_the_median_and_lasts_a_second() {
        let ms = Duration::from_millis;
        let at = |s: u64| Instant::ZERO + Duration::from_secs(s);
        let mut spikes = Spikes::default();
        for _ in 0..99 {
            spikes.on_delivered(at(0), ms(300));
        }
        spikes.on_delivered(at(1), ms(850)); // not three times 300 ms
        assert_eq!(spikes.spikes, 0);
        let offer = |spikes: &mut Spikes, now, oldest, dropped| {
            let within = spikes.lasts(now, oldest);
            spikes.on_offered(within);
            spikes.on_dropped(dropped, within);
        };
        offer(&mut spikes, at(1), Some(ms(300)), 1); // usual
        offer(&mut spikes, at(2), Some(ms(1000)), 0); // it has begun
        spikes.on_delivered(at(3), ms(2000));
        spikes.on_delivered(at(3), ms(1990)); // the same one
        offer(&mut spikes, at(3) + ms(999), None, 1); // within a second
        offer(&mut spikes, at(4), None, 1); // after it
        spikes.on_delivered(at(9), ms(1000)); // another
        assert_eq!(spikes.spikes, 2);
        assert_eq!((spikes.offered, spikes.dropped, spikes.offered_within, spikes.dropped_within), (4, 3, 2, 1));
    }

    #[test]
    fn half_a_second_is_the_least() {
        let mut spikes = Spikes::default();
        for _ in 0..9 {
            spikes.on_delivered(Instant::ZERO, Duration::from_millis(10));
        }
        for (delay, expected) in [(499, 0), (500, 0), (501, 1)] {
            spikes.on_delivered(Instant::ZERO, Duration::from_millis(delay));
            assert_eq!(spikes.spikes, expected, "after {delay} ms");
        }
    }
}
