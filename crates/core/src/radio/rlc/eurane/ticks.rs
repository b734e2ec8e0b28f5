//! EURANE's clock where it decides: a timer ends before or after the tick with which it coincides.
//!
//! Timers of 150 and 170 ms are whole numbers of intervals, and those of PDUs that leave at a tick end together with a later tick.
//! EURANE adds intervals up in seconds, as doubles, one by one; the timer is added at once. So rounding decides which comes
//! first, for seconds at a time: with intervals of 10 ms a poll timer ends after its tick from 1.85 s to 15.84 s, and before
//! it until 1.84 s, and from 15.87 s to beyond 30 s.

use crate::engine::{Duration, Instant};
use crate::radio::arq::Slot;

/// The ticks at which an entity sends.
pub(super) struct Ticks {
    tti: Duration,
    /// The last tick that was looked at, and the same in EURANE's seconds.
    last: Instant,
    sum: f64,
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
}

impl Timer {
    /// One that is off.
    pub const OFF: Self = Self { at: Instant::MAX, seconds: None, spaced: false };

    /// One that ends before the tick with which it coincides.
    pub fn new(at: Instant) -> Self {
        Self { at, seconds: None, spaced: false }
    }
}

impl Ticks {
    /// None yet.
    pub fn new() -> Self {
        Self { tti: Duration::ZERO, last: Instant::ZERO, sum: 0.0 }
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
            *self = Self { tti: slot.tti, last: slot.now, sum: slot.now.as_secs_f64() };
        }
        // A PDU that leaves later than its tick takes that off the timer's length.
        let sent = self.sum + slot.at.since(slot.now).as_secs_f64();
        let seconds = Some(sent + (length.as_secs_f64() - (sent - self.sum)));
        Timer { at, seconds, spaced: slot.at != slot.now }
    }

    /// From the tick `at` on intervals last `tti`, no longer `former`.
    pub fn change(&mut self, at: Instant, former: Duration, tti: Duration) {
        self.begin(former);
        self.advance(at);
        if self.last != at {
            (self.last, self.sum) = (at, at.as_secs_f64());
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
        if self.last == now && seconds > self.sum {
            *timer = Timer::new(now + MOMENT);
        }
    }

    /// The first tick is a millisecond before the end of an interval.
    fn begin(&mut self, tti: Duration) {
        if self.tti == Duration::ZERO {
            let first = tti.saturating_sub(LEAD);
            *self = Self { tti, last: Instant::ZERO + first, sum: tti.as_secs_f64() - LEAD.as_secs_f64() };
        }
    }

    /// Goes on to the last tick at `now` or the first after it.
    fn advance(&mut self, now: Instant) {
        let step = self.tti.as_secs_f64();
        while self.last < now && self.tti > Duration::ZERO {
            self.last += self.tti;
            self.sum += step;
        }
    }
}

/// How long before an interval an entity sends what it carries.
const LEAD: Duration = Duration::from_millis(1);
/// The least time.
const MOMENT: Duration = Duration::from_nanos(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn slot(now: Instant, tti: u64) -> Slot {
        Slot { now, at: now, tti: Duration::from_millis(tti), pdus: 2, place: 0 }
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
