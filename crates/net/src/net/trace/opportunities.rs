//! The instants of a trace, one after the other, from round to round.

use crate::engine::{Duration, Instant};

use super::format::Trace;

/// Nanoseconds in a millisecond.
const MS: u64 = 1_000_000;

/// A place in a trace: the next opportunity.
pub struct Opportunities {
    trace: Trace,
    /// How much of the trace lies before the start of the run.
    skipped: u64,
    repeats: bool,
    period: u64,
    /// How often the trace has begun again; and the next line.
    round: u64,
    line: usize,
}

impl Opportunities {
    /// Those of a trace whose first `start` is left out.
    pub fn new(trace: Trace, start: Duration, repeats: bool) -> Self {
        let (period, skipped) = (trace.period().as_nanos(), start.as_nanos());
        let mut new = Self { trace, skipped, repeats, period, round: 0, line: 0 };
        new.seek(skipped, |time, at| time < at);
        new
    }

    /// The instant of the next one, if there is one.
    pub fn next(&self) -> Option<Instant> {
        if !self.repeats && self.round > 0 {
            return None;
        }
        let time = MS * u64::from(self.trace.times()[self.line]);
        Some(Instant::from_nanos((self.round * self.period).saturating_add(time) - self.skipped))
    }

    /// How many there were up to an instant, that instant included.
    pub fn until(&self, now: Instant) -> u64 {
        let of_round = |time: u64| self.trace.times().partition_point(|ms| MS * u64::from(*ms) <= time) as u64;
        let before = |time: u64| self.trace.times().partition_point(|ms| MS * u64::from(*ms) < time) as u64;
        let lines = self.trace.times().len() as u64;
        let time = now.as_nanos().saturating_add(self.skipped);
        let (rounds, rest) = (time / self.period, time % self.period);
        let all = match self.repeats {
            true => rounds * lines + of_round(rest),
            false => of_round(time),
        };
        all - before(self.skipped)
    }

    /// The next one is used up.
    pub fn take(&mut self) {
        self.line += 1;
        if self.line == self.trace.times().len() {
            self.line = 0;
            self.round += 1;
        }
    }

    /// All up to an instant have passed, that instant included.
    pub fn pass(&mut self, now: Instant) {
        if self.next().is_some_and(|next| next <= now) {
            self.seek(now.as_nanos() + self.skipped, |time, at| time <= at);
        }
    }

    /// Goes to the first line that is not `before` the trace's time `at`.
    fn seek(&mut self, at: u64, before: impl Fn(u64, u64) -> bool) {
        // The last line of a round and the first of the next may fall together: the round before is looked at first.
        let round = (at / self.period).saturating_sub(1);
        for round in round..=round + 2 {
            let of_round = at.saturating_sub(round * self.period);
            let earlier = at < round * self.period;
            let line = if earlier {
                0
            } else {
                self.trace.times().partition_point(|ms| before(MS * u64::from(*ms), of_round))
            };
            if line < self.trace.times().len() {
                (self.round, self.line) = (round, line);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Opportunities {
        Opportunities::new(Trace::try_from(text.to_owned()).unwrap(), Duration::ZERO, true)
    }

    fn ms(next: Option<Instant>) -> Option<u64> {
        next.map(|at| at.as_nanos() / MS)
    }

    fn some(opportunities: &mut Opportunities, n: usize) -> Vec<u64> {
        (0..n)
            .map(|_| {
                let next = ms(opportunities.next()).unwrap();
                opportunities.take();
                next
            })
            .collect()
    }

    /// The list that mahimahi's rules give for a trace that begins at 0.
    #[test]
    fn the_last_line_gives_the_period() {
        assert_eq!(some(&mut of("0\n0\n3\n5\n7"), 14), [0, 0, 3, 5, 7, 7, 7, 10, 12, 14, 14, 14, 17, 19]);
    }

    #[test]
    fn what_has_passed_is_found_at_once_wherever_it_is() {
        let text = "0\n0\n3\n5\n7";
        for now in 0..40_000_000 / 250_000 {
            let now = Instant::from_nanos(250_000 * now);
            let mut walked = of(text);
            while walked.next().is_some_and(|next| next <= now) {
                walked.take();
            }
            let mut sought = of(text);
            sought.pass(now);
            assert_eq!((sought.next(), sought.round, sought.line), (walked.next(), walked.round, walked.line), "{now}");
        }
        let mut far = of(text);
        far.pass(Instant::from_nanos(7 * MS * 100_000_007));
        assert_eq!(ms(far.next()), Some(7 * 100_000_007 + 3));
    }

    #[test]
    fn as_many_are_counted_as_there_are() {
        for (text, start, repeats) in [("0\n0\n3\n5\n7", 0, true), ("0\n0\n3\n5\n7", 3, true), ("2\n9", 0, false)] {
            let trace = Trace::try_from(text.to_owned()).unwrap();
            let made = || Opportunities::new(trace.clone(), Duration::from_millis(start), repeats);
            for now in 0..160 {
                let now = Instant::from_nanos(250_000 * now);
                let (mut walked, mut count) = (made(), 0);
                while walked.next().is_some_and(|next| next <= now) {
                    walked.take();
                    count += 1;
                }
                assert_eq!(made().until(now), count, "{text:?} from {start} ms until {now}");
            }
        }
    }

    #[test]
    fn a_trace_may_begin_inside_and_end_for_good() {
        let trace = Trace::try_from("0\n0\n3\n5\n7".to_owned()).unwrap();
        let mut late = Opportunities::new(trace.clone(), Duration::from_millis(3), true);
        assert_eq!(some(&mut late, 6), [0, 2, 4, 4, 4, 7]);
        let mut once = Opportunities::new(trace, Duration::ZERO, false);
        assert_eq!(some(&mut once, 5), [0, 0, 3, 5, 7]);
        assert_eq!(once.next(), None);
        once.pass(Instant::from_nanos(100 * MS));
        assert_eq!(once.next(), None);
    }
}
