//! The reordering window: how much longer than a round trip a segment may take before it counts as lost (RFC 8985 §6.2, step 4).

use lasthop_net::engine::{Duration, Instant};

/// RACK.reordering_seen, RACK.dsack_round, RACK.reo_wnd_mult and RACK.reo_wnd_persist.
#[derive(Clone, Debug)]
pub(super) struct ReorderingWindow {
    pub(super) reordering_seen: bool,
    /// No report counts before this is acknowledged.
    dsack_round: Option<u64>,
    mult: u32,
    persist: u32,
}

/// RACK.min_RTT, the least round-trip time of the last [`PERIOD`] to twice as long ago: "a windowed min-filtered estimate" (§6.2, step 1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    since: Instant,
    /// The least of this period, and of the one before.
    least: Option<Duration>,
    before: Option<Duration>,
}

/// Loss recoveries until the window is at its start again (§6.2, step 4).
const PERSIST: u32 = 16;
/// The RFC leaves the length open. Half of Linux's five minutes (`tcp_min_rtt_wlen`), so that the two periods are at most that.
const PERIOD: Duration = Duration::from_secs(150);

impl Default for ReorderingWindow {
    fn default() -> Self {
        Self { reordering_seen: false, dsack_round: None, mult: 1, persist: 0 }
    }
}

impl ReorderingWindow {
    /// An acknowledgement has come: it may report a duplicate (`dsack`), and may end a recovery (`exit`).
    pub(super) fn on_ack(&mut self, una: u64, nxt: u64, dsack: bool, exit: bool) {
        if self.dsack_round.is_some_and(|round| una >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && dsack {
            self.dsack_round = Some(nxt);
            self.mult = self.mult.saturating_add(1);
            self.persist = PERSIST;
        } else if exit {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.mult = 1;
            }
        }
    }

    /// RACK.reo_wnd. `eager` says that a recovery goes on, or that DupThresh segments are SACKed.
    pub(super) fn get(&self, min_rtt: Option<Duration>, srtt: Option<Duration>, eager: bool) -> Duration {
        let Some((min_rtt, srtt)) = min_rtt.zip(srtt) else { return Duration::ZERO };
        if eager && !self.reordering_seen {
            return Duration::ZERO;
        }
        let ns = u128::from(self.mult) * u128::from(min_rtt.as_nanos()) / 4;
        Duration::from_nanos(ns.min(u128::from(srtt.as_nanos())) as u64)
    }
}

impl MinRtt {
    pub(super) fn on_sample(&mut self, now: Instant, rtt: Duration) {
        if now.since(self.since) >= PERIOD {
            (self.since, self.before) = (now, self.least.take());
        }
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    pub(super) fn get(&self) -> Option<Duration> {
        self.least.into_iter().chain(self.before).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN_RTT: Option<Duration> = Some(Duration::from_millis(40));
    const SRTT: Option<Duration> = Some(Duration::from_millis(55));

    fn ms(window: &ReorderingWindow, eager: bool) -> u64 {
        window.get(MIN_RTT, SRTT, eager).as_nanos() / 1_000_000
    }

    /// §6.2, step 4: 0 while there is no reordering and a loss is clear, else min_RTT/4; (N+1)·min_RTT/4 after N round trips with a
    /// duplicate, at most SRTT.
    #[test]
    fn it_grows_by_a_quarter_of_the_least_round_trip_in_each_round_with_duplicates() {
        let mut window = ReorderingWindow::default();
        assert_eq!((ms(&window, true), ms(&window, false)), (0, 10));
        window.reordering_seen = true;
        assert_eq!(ms(&window, true), 10);
        window.on_ack(1, 1000, true, false);
        assert_eq!(ms(&window, true), 20);
        window.on_ack(500, 1500, true, false);
        assert_eq!(ms(&window, true), 20, "the same round trip");
        for (una, expected) in [(1000, 30), (2000, 40), (3000, 50), (4000, 55), (5000, 55)] {
            window.on_ack(una, una + 1000, true, false);
            assert_eq!(ms(&window, true), expected, "bounded by SRTT");
        }
        assert_eq!(window.get(None, SRTT, false), Duration::ZERO, "without an estimate");
    }

    /// "RACK persists using the inflated RACK.reo_wnd for up to 16 loss recoveries".
    #[test]
    fn it_is_at_its_start_again_after_16_recoveries() {
        let mut window = ReorderingWindow { reordering_seen: true, ..ReorderingWindow::default() };
        window.on_ack(0, 10, true, false);
        for recovery in 1..=15 {
            window.on_ack(10 + recovery, 20 + recovery, false, true);
            assert_eq!(ms(&window, true), 20, "recovery {recovery}");
        }
        window.on_ack(50, 60, false, false);
        assert_eq!(ms(&window, true), 20, "no recovery ended");
        window.on_ack(60, 70, false, true);
        assert_eq!(ms(&window, true), 10);
    }

    #[test]
    fn the_least_round_trip_time_is_forgotten_on_a_longer_path() {
        let (mut least, at) = (MinRtt::default(), |s| Instant::ZERO + Duration::from_secs(s));
        assert_eq!(least.get(), None);
        for (second, rtt, expected) in
            [(0, 40, 40), (10, 90, 40), (151, 90, 40), (299, 80, 40), (302, 85, 80), (303, 99, 80)]
        {
            least.on_sample(at(second), Duration::from_millis(rtt));
            assert_eq!(least.get(), Some(Duration::from_millis(expected)), "at {second} s");
        }
    }
}
