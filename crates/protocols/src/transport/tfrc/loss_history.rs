//! Losses at a receiver: which packets are lost, which losses make one event, and the loss event
//! rate (RFC 5348 §5). Knows no headers and no endpoints; multicast receivers keep one too.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

/// The weights of the intervals, newest first (§5.4, n = 8).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
const INTERVALS: usize = 8;

/// The intervals between loss events, and the rate of events that follows from them.
///
/// Lengths are packets. Nothing is lost until [`LossIntervals::begin`].
#[derive(Clone, Debug)]
pub struct LossIntervals {
    /// Closed intervals, newest first, and by how much each is discounted for good (DF_i).
    closed: [f64; INTERVALS],
    factors: [f64; INTERVALS],
    count: usize,
    /// From the first to the last lost packet of each.
    lossy: [u64; INTERVALS],
    /// How many events came after the first.
    later: usize,
    /// Where the open interval began, its length (I_0), and its last lost packet.
    start: u64,
    open: f64,
    last_lost: u64,
    /// By how much closed intervals are discounted at the present length of the open one (DF).
    factor: f64,
    /// The least discount factor (THRESHOLD); 1 is no discounting.
    threshold: f64,
}

impl LossIntervals {
    /// Without any loss. `threshold` is the least discount factor; 1 is no discounting.
    pub fn new(threshold: f64) -> Self {
        Self {
            closed: [0.0; INTERVALS],
            factors: [1.0; INTERVALS],
            count: 0,
            lossy: [0; INTERVALS],
            later: 0,
            start: 0,
            open: 0.0,
            last_lost: 0,
            factor: 1.0,
            threshold,
        }
    }

    /// Whether nothing has been lost.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first loss event begins at `seq`; the interval before it counts as `length` packets (§6.3.1).
    pub fn begin(&mut self, seq: u64, length: f64) {
        *self = Self { count: 1, start: seq, last_lost: seq, ..Self::new(self.threshold) };
        self.closed[0] = length;
    }

    /// Multiplies the interval before the first loss event by `factor`, if it is still remembered.
    pub fn scale_first(&mut self, factor: f64) {
        if self.count > 0
            && let Some(first) = self.closed.get_mut(self.later)
        {
            *first *= factor;
        }
    }

    /// A further loss event begins at `seq`: the open interval closes, discounted as the rate was when it was last computed, at the
    /// packet before the loss.
    pub fn event(&mut self, seq: u64) {
        self.loss_rate();
        self.later += 1;
        self.lossy.copy_within(0..INTERVALS - 1, 1);
        self.lossy[0] = self.last_lost - self.start + 1;
        self.last_lost = seq;
        self.closed.copy_within(0..INTERVALS - 1, 1);
        self.closed[0] = seq.saturating_sub(self.start) as f64;
        // §5.5: the discount so far stays with all but the interval that closes.
        for factor in &mut self.factors {
            *factor *= self.factor;
        }
        self.factors.copy_within(0..INTERVALS - 1, 1);
        self.factors[0] = 1.0;
        self.factor = 1.0;
        self.count = (self.count + 1).min(INTERVALS);
        self.start = seq;
        self.open = 0.0;
    }

    /// The event that began last goes on: `seq` is lost too.
    #[inline]
    pub fn on_loss(&mut self, seq: u64) {
        self.last_lost = self.last_lost.max(seq);
    }

    /// Where the open interval began: the packet with which the last loss event began.
    pub fn start(&self) -> Option<u64> {
        (self.count > 0).then_some(self.start)
    }

    /// The intervals, the open one first, then from new to old: the length of each, and that from its
    /// first to its last lost packet. Before any loss there is one, of length 0.
    pub fn iter(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let open = if self.count > 0 { (self.open, self.last_lost - self.start + 1) } else { (0.0, 0) };
        let closed = self.closed.iter().copied().zip(self.lossy.iter().copied());
        std::iter::once(open).chain(closed.take(self.count))
    }

    /// The highest packet received is `seq`.
    pub fn extend(&mut self, seq: u64) {
        self.open = (seq + 1).saturating_sub(self.start) as f64;
    }

    /// The loss event rate (§5.4, §5.5); 0 without any loss. The mean with the open interval is over I_0 to I_(k-1), where k
    /// intervals are closed, at most 8: it leaves the oldest out, whether there are 8 or fewer.
    pub fn loss_rate(&mut self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        // Total and weight of the closed intervals, by the weights with and without the open one.
        let (mut total, mut weight) = (0.0, 0.0);
        let (mut shifted_total, mut shifted_weight) = (0.0, 0.0);
        let intervals = self.closed.iter().zip(&self.factors).take(self.count);
        for (i, (closed, factor)) in intervals.enumerate() {
            let w = WEIGHTS[i] * factor;
            total += w * closed;
            weight += w;
            if i + 1 < self.count {
                let w = WEIGHTS[i + 1] * factor;
                shifted_total += w * closed;
                shifted_weight += w;
            }
        }
        let closed_mean = total / weight;
        self.factor =
            if self.open > 2.0 * closed_mean { (2.0 * closed_mean / self.open).max(self.threshold) } else { 1.0 };
        let open_total = WEIGHTS[0] * self.open + self.factor * shifted_total;
        let open_mean = open_total / (WEIGHTS[0] + self.factor * shifted_weight);
        1.0 / closed_mean.max(open_mean)
    }
}

/// Says which packets are lost, and which losses begin an event.
#[derive(Debug)]
pub struct LossDetector {
    /// How many later packets make a missing one lost (§5.1, NDUPACK).
    trigger: u32,
    /// The highest packet that has come, and when.
    highest: Option<(u64, Instant)>,
    /// Missing packets that are not lost yet, in order.
    holes: VecDeque<Hole>,
    /// When the present loss event began.
    event_at: Option<Instant>,
    /// Losses before this packet are no events.
    forgiven_before: u64,
    lost: u64,
}

/// Missing packets in a row.
#[derive(Clone, Copy, Debug)]
struct Hole {
    first: u64,
    /// The packet behind the hole, and when it came.
    end: u64,
    end_at: Instant,
    /// The packet before the hole, and when it came.
    before: u64,
    before_at: Instant,
    /// How many later packets have come.
    later: u32,
}

impl LossDetector {
    /// A detector to which a packet is lost when `trigger` later ones have come.
    pub fn new(trigger: u32) -> Self {
        Self { trigger, highest: None, holes: VecDeque::new(), event_at: None, forgiven_before: 0, lost: 0 }
    }

    /// Packets lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The highest packet that has come.
    pub fn highest(&self) -> Option<u64> {
        self.highest.map(|(seq, _)| seq)
    }

    /// The highest packet that has come, and when.
    pub fn highest_with_time(&self) -> Option<(u64, Instant)> {
        self.highest
    }

    /// How many packets there are from the first that may still come to the highest that has.
    pub fn unsettled(&self) -> u64 {
        match (self.highest, self.holes.front()) {
            (Some((highest, _)), Some(hole)) => highest + 1 - hole.first,
            _ => 0,
        }
    }

    /// Losses before `seq` are no loss events, and the next loss begins a new one.
    pub fn forgive_before(&mut self, seq: u64) {
        self.forgiven_before = seq;
        self.event_at = None;
    }

    /// Packets missing between the highest packet that has come and `seq` count as if they had come.
    pub fn excuse_before(&mut self, now: Instant, seq: u64) {
        if self.highest.is_some_and(|(highest, _)| highest + 1 < seq) {
            self.highest = Some((seq - 1, now));
        }
    }

    /// It shows now that a packet that counted as come was lost: that is a loss of the highest packet.
    pub fn on_late_loss(&mut self, now: Instant, rtt: Duration, on_loss: impl FnOnce(u64, bool)) {
        if let Some((seq, _)) = self.highest {
            self.lost += 1;
            on_loss(seq, self.begins_event(now, seq, rtt));
        }
    }

    /// A packet has come. Losses within `rtt` of the beginning of an event belong to it (§5.2); `on_loss` is called for each packet that is
    /// lost, and says whether an event begins with it. A mark is a loss at once, but not on a copy.
    /// Says whether the packet had come before.
    #[inline]
    pub fn on_packet(
        &mut self,
        now: Instant,
        seq: u64,
        marked: bool,
        rtt: Duration,
        mut on_loss: impl FnMut(u64, bool),
    ) -> bool {
        let Some((highest, highest_at)) = self.highest else {
            self.highest = Some((seq, now));
            if marked {
                on_loss(seq, self.begins_event(now, seq, rtt));
            }
            return false;
        };
        let mut duplicate = false;
        if seq > highest {
            if seq > highest + 1 {
                self.holes.push_back(Hole {
                    first: highest + 1,
                    end: seq,
                    end_at: now,
                    before: highest,
                    before_at: highest_at,
                    later: 0,
                });
            }
            self.highest = Some((seq, now));
        } else {
            duplicate = !self.fill(now, seq);
        }
        if !self.holes.is_empty() && !duplicate {
            self.count_later(seq, rtt, &mut on_loss);
        }
        if marked && !duplicate {
            on_loss(seq, self.begins_event(now, seq, rtt));
        }
        duplicate
    }

    /// Takes `seq` out of the hole that it lies in, if any.
    fn fill(&mut self, now: Instant, seq: u64) -> bool {
        let Some(place) = self.holes.iter().position(|h| (h.first..h.end).contains(&seq)) else { return false };
        let hole = self.holes[place];
        let below = Hole { end: seq, end_at: now, ..hole };
        let above = Hole { first: seq + 1, before: seq, before_at: now, ..hole };
        self.holes.remove(place);
        for part in [above, below] {
            if part.first < part.end {
                self.holes.insert(place, part);
            }
        }
        true
    }

    /// A packet beyond some holes has come.
    fn count_later(&mut self, seq: u64, rtt: Duration, on_loss: &mut impl FnMut(u64, bool)) {
        for hole in &mut self.holes {
            hole.later += u32::from(hole.end <= seq);
        }
        while let Some(hole) = self.holes.front().copied().filter(|h| h.later >= self.trigger) {
            self.holes.pop_front();
            self.lost += hole.end - hole.first;
            let apart = hole.end_at.since(hole.before_at).as_secs_f64() / (hole.end - hole.before) as f64;
            for lost in hole.first..hole.end {
                // §5.2: between the packets around it, as if all had come at even intervals.
                let at = hole.before_at + Duration::from_secs_f64(apart * (lost - hole.before) as f64);
                on_loss(lost, self.begins_event(at, lost, rtt));
            }
        }
    }

    fn begins_event(&mut self, at: Instant, seq: u64, rtt: Duration) -> bool {
        let begins = seq >= self.forgiven_before && self.event_at.is_none_or(|start| at > start + rtt);
        if begins {
            self.event_at = Some(at);
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of these lengths, the oldest first, and an open one.
    fn intervals(threshold: f64, closed: &[u64], open: u64) -> f64 {
        let mut intervals = LossIntervals::new(threshold);
        intervals.begin(0, closed[0] as f64);
        let mut seq = 0;
        for length in &closed[1..] {
            seq += length;
            intervals.event(seq);
        }
        intervals.extend(seq + open - 1);
        intervals.loss_rate()
    }

    /// Closed forms of §5.4 and §5.5.
    #[test]
    fn rates_of_known_intervals() {
        let even = [100; 8];
        // Oldest first: I_8 … I_1.
        let uneven = [70, 110, 90, 100, 60, 120, 80, 40];
        for (name, threshold, closed, open, expected) in [
            ("short open interval", 0.25, &even, 10, 0.01),
            ("long one, no discounting", 1.0, &even, 300, 0.0075),
            ("long one, DF 2/3", 0.25, &even, 300, 0.006_842_1),
            ("very long one, DF 0.5", 0.5, &even, 1000, 0.0028),
            ("very long one, DF 0.25", 0.25, &even, 1000, 0.002),
            ("uneven", 0.25, &uneven, 20, 0.012_195_1),
        ] {
            let p = intervals(threshold, closed, open);
            assert!((p / expected - 1.0).abs() < 1e-5, "{name}: {p}, not {expected}");
        }
    }

    /// §5.4 with k < 8 closed intervals: both sums have k terms, and the one with I_0 ends at I_(k-1).
    #[test]
    fn fewer_intervals_than_weights() {
        for (name, threshold, closed, open, mean) in [
            ("one: I_1", 1.0, vec![100], 40, 100.0),
            ("one: I_0", 1.0, vec![100], 300, 300.0),
            ("two: I_0, I_1", 1.0, vec![60, 100], 400, 250.0),
            ("two, the oldest long", 1.0, vec![900, 100], 400, 500.0),
            ("three, DF 100/300", 0.25, vec![100, 100, 100], 600, (600.0 + 200.0 / 3.0) / (1.0 + 2.0 / 3.0)),
            (
                "five: weights 1, 1, 1, 1, 0.8",
                1.0,
                vec![10, 20, 30, 40, 50],
                150,
                (150.0 + 50.0 + 40.0 + 30.0 + 16.0) / 4.8,
            ),
        ] {
            let p = intervals(threshold, &closed, open);
            assert!((p * mean - 1.0).abs() < 1e-12, "{name}: {}, not {mean}", 1.0 / p);
        }
    }

    /// §5.5: the discount of the open interval stays with those before it when it closes (DF_i = DF_i · DF).
    #[test]
    fn discounts_stay() {
        let mut intervals = LossIntervals::new(0.25);
        intervals.begin(0, 100.0);
        for n in 1..8 {
            intervals.extend(100 * n - 1);
            intervals.event(100 * n);
        }
        // DF = 2 · 100 / 800 = 0.25, for all but the interval that closes.
        intervals.extend(1499);
        intervals.event(1500);
        intervals.extend(1500);
        let mean = (800.0 + 0.25 * 100.0 * 5.0) / (1.0 + 0.25 * 5.0);
        assert!((intervals.loss_rate() * mean - 1.0).abs() < 1e-12, "{}", 1.0 / intervals.loss_rate());
    }

    /// §5.2: a loss at T_old + R belongs to the event, one after that does not.
    #[test]
    fn a_round_trip_after_its_beginning_an_event_still_goes_on() {
        let rtt = Duration::from_millis(100);
        for (after, begins) in [(Duration::from_millis(100), false), (Duration::from_nanos(100_000_001), true)] {
            let mut detector = LossDetector::new(3);
            let mut events = Vec::new();
            for (seq, at, marked) in [(0, ms(0), false), (1, ms(10), true), (2, ms(10) + after, true)] {
                detector.on_packet(at, seq, marked, rtt, |seq, begins| events.push((seq, begins)));
            }
            assert_eq!(events, [(1, true), (2, begins)]);
        }
    }

    #[test]
    fn without_loss_the_rate_is_zero() {
        let mut intervals = LossIntervals::new(0.25);
        intervals.extend(1_000_000);
        assert!(intervals.is_empty());
        assert_eq!(intervals.loss_rate(), 0.0);
    }

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    /// The events that begin when these packets come, 10 ms apart; and how many are lost.
    fn events(trigger: u32, rtt_ms: u64, packets: &[u64]) -> (Vec<u64>, u64) {
        let mut detector = LossDetector::new(trigger);
        let mut events = Vec::new();
        for (n, &seq) in (0..).zip(packets) {
            let rtt = Duration::from_millis(rtt_ms);
            detector.on_packet(ms(10 * n), seq, false, rtt, |seq, begins| {
                if begins {
                    events.push(seq);
                }
            });
        }
        (events, detector.lost())
    }

    #[test]
    fn three_later_packets_make_a_loss() {
        assert_eq!(events(3, 100, &[0, 1, 3, 4]), (vec![], 0));
        assert_eq!(events(3, 100, &[0, 1, 3, 4, 5]), (vec![2], 1));
        assert_eq!(events(1, 100, &[0, 1, 3]), (vec![2], 1));
        // Late, but in time.
        assert_eq!(events(3, 100, &[0, 1, 3, 4, 2, 5, 6]), (vec![], 0));
        // The late one fills the middle of a hole.
        assert_eq!(events(3, 9, &[0, 1, 5, 3, 6, 7]), (vec![2, 4], 2));
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let packets: Vec<u64> = (0..60).filter(|n| ![10, 12, 19, 40].contains(n)).collect();
        assert_eq!(events(3, 100, &packets), (vec![10, 40], 4));
        assert_eq!(events(3, 1, &packets), (vec![10, 12, 19, 40], 4));
    }

    #[test]
    fn marks_are_losses_at_once_and_duplicates_nothing() {
        let mut detector = LossDetector::new(3);
        let mut events = Vec::new();
        let rtt = Duration::from_millis(100);
        for (n, marked) in [(0, false), (1, true), (1, false), (2, true)] {
            let duplicate = detector.on_packet(ms(10 * n), n, marked, rtt, |seq, begins| events.push((seq, begins)));
            assert_eq!(duplicate, n == 1 && !marked);
        }
        assert_eq!((events, detector.lost()), (vec![(1, true), (2, false)], 0));
    }
}
