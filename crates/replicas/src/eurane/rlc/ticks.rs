//! EURANE's clock where it decides: a timer ends before or after the tick with which it coincides.
//!
//! Timers of 150 and 170 ms are whole numbers of intervals, and those of PDUs that leave at a tick end together with a later tick.
//! EURANE adds intervals up in seconds, as doubles, one by one; the timer is added at once. So rounding decides which comes
//! first, for seconds at a time: with intervals of 10 ms a poll timer ends after its tick from 1.85 s to 15.84 s, and before
//! it until 1.84 s, and from 15.87 s to beyond 30 s.
//!
//! Over the high-speed channel the RNC's ticks are those at which an allocation comes. Its requests are added up; from each to its
//! allocation half a round trip is added at once (`flow_control_rtt_`).

use lasthop_net::engine::{Duration, FloatTime, Instant};
use lasthop_radio::radio::arq::Slot;

/// The ticks at which an entity sends.
pub(super) struct Ticks {
    tti: Duration,
    /// The last tick that was looked at, and what it is added up from in EURANE's seconds.
    last: Instant,
    sum: f64,
    /// From that to the tick, in seconds.
    lag: f64,
}

/// A timer, by both clocks.
#[derive(Clone, Copy)]
pub(super) struct Timer {
    /// When it ends; `Instant::MAX` if it is off.
    pub at: Instant,
    /// The same in EURANE's seconds, if it can end with a tick.
    seconds: Option<f64>,
    /// Whether its PDU left later than the tick of its interval, as all do there.
    spaced: bool,
    /// Whether it ends an interval after the tick at which it started. The next tick was scheduled before it, and comes first if
    /// the sums are equal.
    next: bool,
    /// Whether it was put off to the moment after a tick.
    late: bool,
}

impl Timer {
    /// One that is off.
    pub const OFF: Self = Self { at: Instant::MAX, seconds: None, spaced: false, next: false, late: false };

    /// One that ends before the tick with which it coincides.
    pub fn new(at: Instant) -> Self {
        Self { at, ..Self::OFF }
    }

    /// One that starts now, by both clocks if the other is known.
    pub fn starting(now: Instant, seconds: Option<FloatTime>, length: Duration) -> Self {
        let seconds = seconds.map(|now| now.after_duration(length).as_secs());
        Self { at: now + length, seconds, ..Self::OFF }
    }

    /// One that starts as this one ends.
    pub fn followed_by(self, length: Duration) -> Self {
        let moment = if self.late { MOMENT } else { Duration::ZERO };
        let end = Instant::ZERO + self.at.since(Instant::ZERO + moment);
        Self::starting(end, self.seconds.map(FloatTime::from_secs), length)
    }

    /// When it ends in EURANE's seconds, if that is known.
    pub fn float(self) -> Option<FloatTime> {
        self.seconds.map(FloatTime::from_secs)
    }
}

impl Ticks {
    /// None yet.
    pub fn new() -> Self {
        Self { tti: Duration::ZERO, last: Instant::ZERO, sum: 0.0, lag: 0.0 }
    }

    /// Those of allocations, of which `slot` is one. Each comes less than an interval after its request.
    pub fn of_allocations(slot: &Slot) -> Self {
        let lag = Duration::from_nanos(slot.now.as_nanos() % slot.tti.as_nanos());
        let last = Instant::ZERO + slot.tti + lag;
        Self { tti: slot.tti, last, sum: slot.tti.as_secs_f64(), lag: lag.as_secs_f64() }
    }

    /// A timer that starts at `from`, with a PDU of this slot.
    pub fn timer(&mut self, slot: &Slot, from: Instant, length: Duration) -> Timer {
        let at = from + length;
        if from != slot.now {
            return Timer::new(at);
        }
        self.begin(slot.tti);
        self.advance(slot.now);
        if self.last != slot.now || self.tti != slot.tti {
            // The intervals of another channel, of which nothing was said.
            *self = Self { tti: slot.tti, last: slot.now, sum: slot.now.as_secs_f64(), lag: 0.0 };
        }
        // A PDU that leaves later than its tick takes that off the timer's length.
        let tick = self.seconds();
        let sent = tick + slot.at.since(slot.now).as_secs_f64();
        let seconds = Some(sent + (length.as_secs_f64() - (sent - tick)));
        Timer { at, seconds, spaced: slot.at != slot.now, next: at == slot.now + slot.tti, late: false }
    }

    /// From the tick `at` on intervals last `tti`, no longer `former`.
    pub fn change(&mut self, at: Instant, former: Duration, tti: Duration) {
        self.begin(former);
        self.advance(at);
        if self.last != at {
            (self.last, self.sum, self.lag) = (at, at.as_secs_f64(), 0.0);
        }
        self.tti = tti;
    }

    /// Puts a timer that ends now off to the moment after the tick of this instant, if EURANE's sums have it so. Where PDUs leave later
    /// than their tick, those of this interval, if there are any, leave behind that moment too.
    pub fn order(&mut self, now: Instant, timer: &mut Timer, sends: bool) {
        if timer.at != now || (timer.spaced && sends) {
            return;
        }
        let Some(seconds) = timer.seconds else { return };
        self.advance(now);
        let tick = self.seconds();
        if self.last == now && (seconds > tick || (timer.next && seconds == tick)) {
            (timer.at, timer.late) = (now + MOMENT, true);
        }
    }

    /// Whether a tick may be at `at`.
    pub fn may_be_at(&self, at: Instant) -> bool {
        let apart = if at < self.last { self.last.since(at) } else { at.since(self.last) };
        self.tti > Duration::ZERO && apart.as_nanos() % self.tti.as_nanos() == 0
    }

    /// The last tick that was looked at, in EURANE's seconds.
    fn seconds(&self) -> f64 {
        self.sum + self.lag
    }

    /// The first tick is a millisecond before the end of an interval.
    fn begin(&mut self, tti: Duration) {
        if self.tti == Duration::ZERO {
            let first = tti.saturating_sub(LEAD);
            let sum = tti.as_secs_f64() - LEAD.as_secs_f64();
            *self = Self { tti, last: Instant::ZERO + first, sum, lag: 0.0 };
        }
    }

    /// Goes on to the last tick at `now` or the first after it.
    fn advance(&mut self, now: Instant) {
        if self.last >= now || self.tti == Duration::ZERO {
            return;
        }
        let ticks = now.since(self.last).as_nanos().div_ceil(self.tti.as_nanos());
        self.last += self.tti * ticks;
        self.sum = added_up(self.sum, self.tti.as_secs_f64(), ticks);
    }
}

/// `sum` after `step` was added to it `count` times, each sum rounded to a double. Added one by one, the sums of all ticks in which an
/// entity slept would take 3 % of the instructions of a cell with web pages.
///
/// From one power of two to the next the doubles are equally far apart. So each sum there exceeds the one before by the same, unless
/// `step` lies halfway between two of them: then rounding is up and down in turn.
fn added_up(mut sum: f64, step: f64, mut count: u64) -> f64 {
    while count > 0 {
        let next = sum + step;
        count -= 1;
        let power = f64::from_bits(sum.to_bits() & f64::INFINITY.to_bits());
        let grown = next - sum;
        let is_halfway = 2.0 * (step - grown).abs() == power * f64::EPSILON;
        sum = next;
        let room = 2.0 * power - sum;
        if grown > 0.0 && room > grown && !is_halfway {
            // The last one before the power of two is left out, since the quotient is rounded.
            let more = ((room / grown) as u64).saturating_sub(1).min(count);
            sum += more as f64 * grown;
            count -= more;
        }
    }
    sum
}

/// How long before an interval an entity sends what it carries.
const LEAD: Duration = Duration::from_millis(1);
/// The least time.
const MOMENT: Duration = Duration::from_nanos(1);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Steps of intervals, and such as lie halfway between the doubles about `sum`.
    fn step(sum: f64) -> impl Strategy<Value = f64> {
        let power = f64::from_bits(sum.to_bits() & f64::INFINITY.to_bits());
        let halfway = (0u32..1 << 30).prop_map(move |n| power * f64::EPSILON * (f64::from(n) + 0.5));
        prop_oneof![Just(0.01), Just(0.02), Just(0.25), 1e-9..10.0, halfway]
    }

    proptest! {
        #[test]
        fn sums_are_those_added_up_one_by_one(
            (sum, step) in prop_oneof![Just(0.0), 1e-6..1e-3, 1e-3..1e5].prop_flat_map(|sum| (Just(sum), step(sum))),
            count in 0u64..3000,
        ) {
            let one_by_one = (0..count).fold(sum, |sum, _| sum + step);
            prop_assert_eq!(added_up(sum, step, count).to_bits(), one_by_one.to_bits());
        }
    }

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn slot(now: Instant, tti: u64) -> Slot {
        Slot { now, at: now, tti: Duration::from_millis(tti), bits: 640, left: 640 }
    }

    /// When a timer ends.
    fn end(ticks: &mut Ticks, slot: &Slot, length: u64) -> Instant {
        let mut timer = ticks.timer(slot, slot.at, Duration::from_millis(length));
        ticks.order(timer.at, &mut timer, false);
        timer.at
    }

    #[test]
    fn sums_decide_what_comes_first() {
        // What a C program prints for `t += 0.01` from 0.009 on and `t + 0.17 > …`, 17 steps later.
        for (at, after) in
            [(1_009, false), (1_829, false), (1_839, false), (1_849, true), (15_839, true), (15_869, false)]
        {
            // Of one interval both are the same sum, and the tick was scheduled first.
            assert_eq!(end(&mut Ticks::new(), &slot(ms(at), 10), 10), ms(at + 10) + MOMENT, "at {at} ms");
            let mut ticks = Ticks::new();
            let now = ms(at);
            assert_eq!(end(&mut ticks, &slot(now, 10), 170) > now + Duration::from_millis(170), after, "at {at} ms");
            // Of a PDU that leaves within its interval the timer of the report ends with a tick likewise (`set_status_prohibit_timer`).
            let (mut ticks, spaced) = (Ticks::new(), Slot { at: now + Duration::from_micros(20), ..slot(now, 10) });
            let prohibited = ticks.timer(&spaced, now, Duration::from_millis(170));
            for sends in [false, true] {
                let mut timer = prohibited;
                ticks.order(timer.at, &mut timer, sends);
                assert_eq!(timer.at > now + Duration::from_millis(170), after && !sends, "at {at} ms");
            }
            let mut ticks = Ticks::new();
            let later = Slot { at: now + MOMENT, ..slot(now, 10) };
            assert_eq!(end(&mut ticks, &later, 170), later.at + Duration::from_millis(170), "nothing coincides");
        }
        assert_eq!(end(&mut Ticks::new(), &slot(ms(1_849), 10), 175), ms(1_849 + 175), "nothing coincides");
    }

    /// EURANE's run `4ue-mixed-rr-tfrc` (tests/reference/eurane-2/hsdpa): a report that leaves the RNC at 1.605 s lets the next ride on
    /// the PDUs of 1.755 s, and one of 2.145 s does not let it ride on those of 2.295 s. The other moments are what a program of
    /// doubles prints for `t += 0.03` and `(t + 0.015) + 0.15 > …`, 5 steps later.
    #[test]
    fn allocations_come_half_a_round_trip_after_sums() {
        for (at, after) in
            [(1_605, false), (1_935, false), (2_145, true), (3_915, true), (4_005, false), (15_885, true)]
        {
            let slot = slot(ms(at), 30);
            let mut ticks = Ticks::of_allocations(&slot);
            assert_eq!(end(&mut ticks, &slot, 150) > ms(at + 150), after, "at {at} ms");
        }
    }

    /// `status_timeout_` is added to the end of the timer of the report, and that timer again. 3 × (150 ms + 1 s) are whole intervals.
    #[test]
    fn timers_that_follow_each_other_are_added_up() {
        let first = slot(ms(2_145), 30);
        let mut ticks = Ticks::of_allocations(&first);
        let mut timer = ticks.timer(&first, first.now, Duration::from_millis(150));
        ticks.order(timer.at, &mut timer, false);
        assert_eq!(timer.at, ms(2_295) + MOMENT);
        let next = timer.followed_by(Duration::from_secs(1));
        assert_eq!(next.at, ms(3_295));
        assert_eq!(Timer::new(ms(40)).followed_by(Duration::from_millis(2)).at, ms(42));
    }

    /// EURANE's run `trickle` (tests/reference/eurane-2/switch): intervals of 10 ms until 1.509 s, of 20 ms until 2.889 s,
    /// and of 10 ms again. A report leaves at 2.869 s, and 150 ms later the tick comes first.
    #[test]
    fn ticks_go_on_through_changes_of_channel() {
        let [short, long] = [10, 20].map(Duration::from_millis);
        let mut ticks = Ticks::new();
        ticks.change(ms(1_509), short, long);
        let mut timer = ticks.timer(&slot(ms(2_869), 20), ms(2_869), Duration::from_millis(150));
        ticks.change(ms(2_889), long, short);
        ticks.order(timer.at, &mut timer, false);
        assert_eq!(timer.at, ms(3_019) + MOMENT);
    }
}
