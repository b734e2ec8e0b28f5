//! HyStart++ (RFC 9406): ends the initial slow start when the round-trip time of a whole round has
//! risen, before the queue overflows.
//!
//! A rise leads to conservative slow start (CSS) first, which grows a quarter as fast. If the
//! round-trip time falls again there, slow start is resumed; after five rounds congestion
//! avoidance begins. The controller that asks owns the window and the threshold. It is not asked
//! any more after a loss, a mark or a timeout (§4.2), nor in a later slow start (§4.3).

use lasthop_net::engine::Duration;

/// The round-trip times of this round and of the last.
#[derive(Clone, Debug)]
pub struct HyStart {
    /// The round that the samples are of.
    round: u64,
    /// lastRoundMinRTT; `Duration::MAX` is the RFC's infinity.
    last_round_min_rtt: Duration,
    /// currentRoundMinRTT, likewise.
    current_round_min_rtt: Duration,
    /// rttSampleCount.
    samples: u32,
    css: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Debug)]
struct Conservative {
    /// cssBaselineMinRtt.
    baseline: Duration,
    /// Rounds that are complete. The one in which it began counts, though it was not whole (§4.2).
    rounds: u32,
}

/// What an acknowledgement in slow start is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The window grows by this number of segments.
    Grow(f64),
    /// The threshold is to be the window of now: congestion avoidance begins.
    Leave,
}

impl Default for HyStart {
    fn default() -> Self {
        let infinity = Duration::MAX;
        Self { round: 0, last_round_min_rtt: infinity, current_round_min_rtt: infinity, samples: 0, css: None }
    }
}

impl HyStart {
    /// §4.2 on an acknowledgement of `segments`, in the order of the RFC. `round` is the running
    /// number of the round trip: a new one has begun when the SND.NXT of the start of the
    /// last is acknowledged.
    pub fn on_ack(&mut self, round: u64, segments: f64, rtt: Option<Duration>) -> Step {
        if self.round != round {
            self.round = round;
            self.last_round_min_rtt = self.current_round_min_rtt;
            self.current_round_min_rtt = Duration::MAX;
            self.samples = 0;
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds == CSS_ROUNDS {
                    return Step::Leave;
                }
            }
        }
        let divisor = if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 };
        if let Some(rtt) = rtt {
            self.on_rtt(rtt);
        }
        Step::Grow(segments.min(L) / divisor)
    }

    /// The path is another one: round-trip times of the old one are no measure.
    pub fn on_path_change(&mut self) {
        *self = Self { round: self.round, ..Self::default() };
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
        self.samples += 1;
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        if let Some(css) = &self.css {
            if self.current_round_min_rtt < css.baseline {
                self.css = None;
            }
        } else if self.last_round_min_rtt < Duration::MAX {
            let last = self.last_round_min_rtt;
            let thresh =
                MIN_RTT_THRESH.max(Duration::from_nanos(last.as_nanos() / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH));
            if self.current_round_min_rtt >= last + thresh {
                self.css = Some(Conservative { baseline: self.current_round_min_rtt, rounds: 0 });
            }
        }
    }
}

// The constants that §4.3 recommends.

const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// Segments that one acknowledgement counts for at most, where nothing paces them.
const L: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of acknowledgements of one segment each, one per sample in milliseconds: the step after each of them.
    fn round(hystart: &mut HyStart, number: u64, rtts_ms: &[u64]) -> Vec<Step> {
        rtts_ms.iter().map(|&ms| hystart.on_ack(number, 1.0, Some(Duration::from_millis(ms)))).collect()
    }

    /// A HyStart++ with a round at `last` milliseconds behind it.
    fn after_a_round_at(last: u64) -> HyStart {
        let mut hystart = HyStart::default();
        round(&mut hystart, 1, &[last; 10]);
        hystart
    }

    const FULL: Step = Step::Grow(1.0);
    const QUARTER: Step = Step::Grow(0.25);

    /// RttThresh = max(4 ms, min(lastRoundMinRTT / 8, 16 ms)): 4 ms up to 32 ms, 16 ms from 128 ms.
    #[test]
    fn the_threshold_is_an_eighth_of_the_last_round_within_bounds() {
        for (last, thresh) in [(1, 4), (32, 4), (40, 5), (80, 10), (128, 16), (1000, 16)] {
            let mut below = after_a_round_at(last);
            round(&mut below, 2, &[last + thresh - 1; 20]);
            assert!(below.css.is_none(), "{last} ms: {} ms are no rise", last + thresh - 1);
            let mut at = after_a_round_at(last);
            round(&mut at, 2, &[last + thresh; 20]);
            assert!(at.css.is_some(), "{last} ms: {} ms are one", last + thresh);
        }
    }

    /// The acknowledgement with the eighth sample still counts in full: §4.2 lets the window grow
    /// before it looks at the samples.
    #[test]
    fn the_eighth_sample_of_a_round_slows_growth_to_a_quarter() {
        let mut hystart = after_a_round_at(80);
        let steps = round(&mut hystart, 2, &[90; 10]);
        assert_eq!(steps[..8], [FULL; 8]);
        assert_eq!(steps[8..], [QUARTER; 2]);
    }

    #[test]
    fn the_least_of_a_round_counts_and_acknowledgements_without_a_sample_do_not() {
        let mut hystart = after_a_round_at(80);
        round(&mut hystart, 2, &[200, 200, 89, 200, 200, 200, 200, 200, 200]);
        assert!(hystart.css.is_none(), "the least is 9 ms above");
        let mut hystart = after_a_round_at(80);
        round(&mut hystart, 2, &[200; 7]);
        for _ in 0..5 {
            assert_eq!(hystart.on_ack(2, 1.0, None), FULL);
        }
        assert!(hystart.css.is_none(), "seven samples");
        // A round without a sample leaves nothing to compare the next with.
        hystart.on_ack(3, 1.0, None);
        round(&mut hystart, 4, &[500; 20]);
        assert!(hystart.css.is_none());
    }

    #[test]
    fn a_round_trip_of_another_path_is_nothing_to_compare_with() {
        let mut hystart = after_a_round_at(80);
        hystart.on_path_change();
        assert!(round(&mut hystart, 2, &[700; 30]).iter().all(|&step| step == FULL));
        assert!(hystart.css.is_none());
        // The next is compared with that one.
        round(&mut hystart, 3, &[720; 8]);
        assert!(hystart.css.is_some());
    }

    #[test]
    fn the_first_round_has_nothing_to_compare_with() {
        let mut hystart = HyStart::default();
        assert!(round(&mut hystart, 1, &[700; 30]).iter().all(|&step| step == FULL));
        assert!(hystart.css.is_none());
    }

    /// Five rounds, of which the one in which it began is the first.
    #[test]
    fn congestion_avoidance_begins_after_five_conservative_rounds() {
        let mut hystart = after_a_round_at(80);
        round(&mut hystart, 2, &[90; 8]);
        for number in 3..=6 {
            assert_eq!(round(&mut hystart, number, &[95; 10]), [QUARTER; 10], "round {number}");
        }
        assert_eq!(hystart.on_ack(7, 1.0, Some(Duration::from_millis(95))), Step::Leave);
    }

    /// A later rise starts the count of rounds anew, and is measured from the last round.
    #[test]
    fn a_round_below_the_baseline_resumes_slow_start() {
        let mut hystart = after_a_round_at(80);
        round(&mut hystart, 2, &[90; 8]);
        round(&mut hystart, 3, &[90; 10]);
        // At the baseline is not below it; and below it needs eight samples.
        let steps = round(&mut hystart, 4, &[90, 89, 90, 90, 90, 90, 90, 90, 90, 90]);
        assert_eq!(steps[..8], [QUARTER; 8]);
        assert_eq!(steps[8..], [FULL; 2]);
        // 89 / 8 = 11.125 ms: from 100.125 ms on.
        assert_eq!(round(&mut hystart, 5, &[100; 10]), [FULL; 10]);
        // 112.5 ms from 100 ms.
        round(&mut hystart, 6, &[113; 10]);
        for number in 7..=10 {
            assert_eq!(round(&mut hystart, number, &[113; 10]), [QUARTER; 10], "round {number}");
        }
        assert_eq!(hystart.on_ack(11, 1.0, None), Step::Leave);
    }

    /// min(N, L·SMSS), and a quarter of it in conservative slow start.
    #[test]
    fn an_acknowledgement_counts_for_eight_segments_at_most() {
        let mut hystart = after_a_round_at(80);
        assert_eq!(hystart.on_ack(2, 2.5, None), Step::Grow(2.5));
        assert_eq!(hystart.on_ack(2, 30.0, None), Step::Grow(8.0));
        round(&mut hystart, 2, &[90; 8]);
        assert_eq!(hystart.on_ack(2, 30.0, None), Step::Grow(2.0));
    }
}
