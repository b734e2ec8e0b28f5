//! A receiver's losses and its loss event rate (RFC 4654 §5), on the history that TFRC has.

use crate::multicast::gaps::{Arrival, Blame, Classifier, Tracker};
use crate::transport::tfrc::loss_history::{LossDetector, LossIntervals};
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::Probe;

/// After how many later packets a missing one is lost (§5.1).
const TRIGGER: u32 = 3;

/// The losses by congestion. What the radio lost counts as received.
#[derive(Debug)]
pub struct Losses {
    tracker: Tracker,
    detector: LossDetector,
    intervals: LossIntervals,
    /// The round-trip time in seconds with which the length of the first interval was computed, if it was not measured.
    guess: Option<f64>,
    events: u64,
    /// Before the history was forgotten.
    lost_before: u64,
}

/// The state of the receiver when a packet comes.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// The present.
    pub now: Instant,
    /// The round-trip time.
    pub rtt: Duration,
    /// Whether it was measured.
    pub measured: bool,
}

impl Losses {
    /// Nothing has come. `threshold` is the least discount factor; 1 is no discounting.
    pub fn new(classifier: Classifier, threshold: f64) -> Self {
        Self {
            tracker: Tracker::new(classifier),
            detector: LossDetector::new(TRIGGER),
            intervals: LossIntervals::new(threshold),
            guess: None,
            events: 0,
            lost_before: 0,
        }
    }

    /// Whether there was a loss event.
    #[inline]
    pub fn have_loss(&self) -> bool {
        !self.intervals.is_empty()
    }

    /// The loss event rate.
    pub fn rate(&mut self) -> f64 {
        self.intervals.loss_rate().min(1.0)
    }

    /// A packet has come. `packets` says how many packets came in a round trip, if the first loss event is to be reckoned with it.
    /// Says whether the packet came for the first time.
    #[inline]
    pub fn on_packet(
        &mut self,
        present: Present,
        seq: u64,
        indicated: bool,
        marked: bool,
        packets: impl FnOnce() -> f64,
    ) -> bool {
        let Present { now, rtt, .. } = present;
        let arrival = self.tracker.on_packet(seq, indicated, marked);
        if let Arrival::After(gap) = arrival
            && gap.blame == Blame::Radio
        {
            self.detector.excuse_before(now, gap.next);
        }
        let lossless = self.intervals.is_empty();
        let (intervals, events) = (&mut self.intervals, &mut self.events);
        let on_loss = |seq: u64, begins: bool| {
            if !begins {
                intervals.on_loss(seq);
            } else {
                *events += 1;
                if intervals.is_empty() {
                    // Its length follows below.
                    intervals.begin(seq, 1.0);
                } else {
                    intervals.event(seq);
                }
            }
        };
        let duplicate = match arrival {
            Arrival::Late { rejected: true, news } => {
                if news {
                    self.detector.on_late_loss(now, rtt, on_loss);
                }
                // It stays lost: unlike a packet that was only late (RFC 4654 §5.1) it fills no hole.
                false
            }
            _ => self.detector.on_packet(now, seq, marked, rtt, on_loss),
        };
        if let Some(highest) = self.detector.highest() {
            self.intervals.extend(highest);
        }
        if lossless && self.have_loss() {
            self.guess = (!present.measured).then(|| rtt.as_secs_f64());
            self.intervals.scale_first(first_interval(packets()));
        }
        !duplicate
    }

    /// The round-trip time was measured for the first time, in seconds (§5.4): the length of the first interval is scaled by its square.
    pub fn on_first_sample(&mut self, rtt: f64) {
        if let Some(guess) = self.guess.take() {
            self.intervals.scale_first((rtt / guess) * (rtt / guess));
        }
    }

    /// Whether no packet before `seq` is missing that may still count as lost.
    pub fn are_settled_before(&self, seq: u64) -> bool {
        self.tracker.highest().is_none_or(|highest| seq <= highest + 1) && self.detector.unsettled() == 0
    }

    /// Forgets all losses: nothing was sent for long.
    pub fn forget(&mut self, threshold: f64) {
        self.intervals = LossIntervals::new(threshold);
        self.guess = None;
        self.lost_before += self.detector.lost();
        self.detector = LossDetector::new(TRIGGER);
    }

    /// Forgets the connection; totals stay.
    pub fn restart(&mut self, threshold: f64) {
        self.forget(threshold);
        self.tracker.restart();
    }

    /// Packets lost by congestion.
    pub fn lost(&self) -> u64 {
        self.lost_before + self.detector.lost()
    }

    /// Its totals.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("lost_packets", self.lost() as f64);
        probe.value("loss_events", self.events as f64);
        probe.value("loss_event_rate", self.intervals.clone().loss_rate());
        self.tracker.sample(probe);
    }
}

/// The length of the interval before the first loss event, from the packets received in a round trip: p = 1.5 / n², the inverse of the
/// simple model of TCP's throughput (§5.4).
fn first_interval(packets: f64) -> f64 {
    (packets * packets / 1.5).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tfrc::equation;

    fn present(ms: u64, rtt_ms: u64, measured: bool) -> Present {
        let now = Instant::from_nanos(ms * 1_000_000);
        Present { now, rtt: Duration::from_millis(rtt_ms), measured }
    }

    /// Packets 10 ms apart, of which some are lost; the sign is the packet-loss indication.
    fn feed(losses: &mut Losses, rtt_ms: u64, measured: bool, packets: &[(u64, bool)], in_rtt: f64) {
        for &(seq, indicated) in packets {
            losses.on_packet(present(10 * seq, rtt_ms, measured), seq, indicated, false, || in_rtt);
        }
    }

    /// 400 kbit/s, 100 ms, 1000 B: five packets in a round trip.
    #[test]
    fn the_first_interval_inverts_the_simple_model() {
        let mut losses = Losses::new(Classifier::All, 1.0);
        let packets: Vec<_> = (0..14).filter(|seq| *seq != 10).map(|seq| (seq, false)).collect();
        feed(&mut losses, 100, true, &packets, 50_000.0 * 0.1 / 1000.0);
        let p = losses.rate();
        assert!((p * 16.667 - 1.0).abs() < 1e-4, "{p}");
        let x = equation::throughput(1000.0, 0.1, 0.06, 0.4) * 8e-3;
        assert!((x - 249.7).abs() < 0.05, "{x} kbit/s");
        // The round-trip time was only a guess, twice too long.
        let mut losses = Losses::new(Classifier::All, 1.0);
        feed(&mut losses, 200, false, &packets, 10.0);
        assert!((losses.rate() * 66.667 - 1.0).abs() < 1e-4);
        losses.on_first_sample(0.1);
        assert!((losses.rate() * 16.667 - 1.0).abs() < 1e-4);
        // Once is enough.
        losses.on_first_sample(0.1);
        assert!((losses.rate() * 16.667 - 1.0).abs() < 1e-4);
    }

    /// I_0 … I_8 = 50, 100, 80, 120, 100, 90, 110, 100, 100: the open interval is ignored while it is short.
    #[test]
    fn the_mean_interval_is_that_of_the_standard() {
        let mut intervals = LossIntervals::new(1.0);
        intervals.begin(0, 100.0);
        let mut seq = 0;
        for length in [100, 110, 90, 100, 120, 80, 100] {
            seq += length;
            intervals.event(seq);
        }
        intervals.extend(seq + 49);
        assert!((1.0 / intervals.loss_rate() - 99.667).abs() < 1e-3);
        intervals.extend(seq + 299);
        assert!((1.0 / intervals.loss_rate() - 133.0).abs() < 1e-9);
    }

    #[test]
    fn what_the_radio_lost_counts_as_received() {
        let run = |classifier, packets: &[(u64, bool)]| {
            let mut losses = Losses::new(classifier, 1.0);
            feed(&mut losses, 20, true, packets, 5.0);
            (losses.have_loss(), losses.lost(), losses.events)
        };
        let packets: Vec<_> = (0..40).filter(|seq| ![10, 11, 30].contains(seq)).map(|seq| (seq, false)).collect();
        assert_eq!(run(Classifier::Indication, &packets), (false, 0, 0));
        assert_eq!(run(Classifier::All, &packets), (true, 3, 2));
        // 10 and 11 were rejected on the way.
        let packets: Vec<_> = packets.iter().map(|&(seq, _)| (seq, seq == 12)).collect();
        assert_eq!(run(Classifier::Indication, &packets), (true, 2, 1));
        // A copy of a packet that was taken for a loss of the radio says that it was rejected: it counts once.
        let packets: Vec<_> =
            (0..20).filter(|seq| *seq != 8).map(|seq| (seq, false)).chain([(8, true), (8, true)]).collect();
        assert_eq!(run(Classifier::Indication, &packets), (true, 1, 1));
        // 8 was rejected, and its copy comes before three later packets have: it stays a loss, unlike a packet that was only late.
        let rejected =
            |bit| (0..8).map(|seq| (seq, false)).chain([(9, bit), (8, bit)]).chain((10..20).map(|seq| (seq, false)));
        assert_eq!(run(Classifier::Indication, &rejected(true).collect::<Vec<_>>()), (true, 1, 1));
        assert_eq!(run(Classifier::All, &rejected(false).collect::<Vec<_>>()), (false, 0, 0));
    }

    /// The lengths of intervals, too: a loss by congestion after ten, with and without losses by the radio in between.
    #[test]
    fn losses_of_the_radio_do_not_shorten_intervals() {
        let run = |radio: &[u64]| {
            let mut losses = Losses::new(Classifier::Indication, 1.0);
            for seq in (0..400u64).filter(|seq| seq % 20 != 10 && !radio.contains(seq)) {
                losses.on_packet(present(10 * seq, 20, true), seq, seq % 20 == 11, false, || 5.0);
            }
            losses.rate()
        };
        assert!((run(&[]) * 20.0 - 1.0).abs() < 1e-9);
        assert_eq!(run(&[]), run(&[25, 26, 103, 317]));
    }

    #[test]
    fn who_joins_late_misses_nothing() {
        let mut losses = Losses::new(Classifier::All, 1.0);
        feed(&mut losses, 20, true, &(5000..5050).map(|seq| (seq, false)).collect::<Vec<_>>(), 5.0);
        assert!(!losses.have_loss());
    }
}
