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

impl Ticks {
    /// None yet.
    pub fn new() -> Self {
        Self { tti: Duration::ZERO, last: Instant::ZERO, sum: 0.0 }
    }

    /// When a timer ends that starts with a PDU of this slot: a moment after the tick with which it coincides, if EURANE's sums have it
    /// so.
    pub fn end(&mut self, slot: &Slot, from: Instant, length: Duration) -> Instant {
        let end = from + length;
        if slot.at != slot.now || !length.as_nanos().is_multiple_of(slot.tti.as_nanos().max(1)) {
            return end;
        }
        self.advance(slot);
        let step = slot.tti.as_secs_f64();
        let tick = (0..length.as_nanos() / slot.tti.as_nanos()).fold(self.sum, |sum, _| sum + step);
        if self.sum + length.as_secs_f64() > tick { end + MOMENT } else { end }
    }

    /// Goes on to the tick of a slot.
    fn advance(&mut self, slot: &Slot) {
        let step = slot.tti.as_secs_f64();
        if self.tti != slot.tti {
            self.tti = slot.tti;
            // The first tick is a millisecond before the end of an interval. Those of another phase follow a change of channels.
            let first = Instant::ZERO + slot.tti.saturating_sub(LEAD);
            let phase = slot.now.as_nanos() % slot.tti.as_nanos();
            let usual = phase == first.as_nanos();
            (self.last, self.sum) =
                if usual { (first, step - LEAD.as_secs_f64()) } else { (slot.now, slot.now.as_secs_f64()) };
        }
        while self.last < slot.now {
            self.last += slot.tti;
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

    #[test]
    fn sums_decide_what_comes_first() {
        // What a C program prints for `t += 0.01` from 0.009 on and `t + 0.17 > …`, 17 steps later.
        let tti = Duration::from_millis(10);
        let timer = Duration::from_millis(170);
        let mut ticks = Ticks::new();
        for (ms, after) in
            [(1_009, false), (1_829, false), (1_839, false), (1_849, true), (15_839, true), (15_869, false)]
        {
            let now = Instant::ZERO + Duration::from_millis(ms);
            let slot = Slot { now, at: now, tti, pdus: 2, place: 0 };
            assert_eq!(ticks.end(&slot, now, timer) > now + timer, after, "at {ms} ms");
            let later = Slot { at: now + MOMENT, ..slot };
            assert_eq!(ticks.end(&later, later.at, timer), later.at + timer, "nothing coincides");
        }
        let now = Instant::ZERO + Duration::from_millis(1_849);
        let slot = Slot { now, at: now, tti, pdus: 2, place: 0 };
        assert_eq!(Ticks::new().end(&slot, now, Duration::from_millis(175)), now + Duration::from_millis(175));
    }
}
