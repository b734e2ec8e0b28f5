//! The sender's rate and its choice of the current limiting receiver (RFC 4654 §3.3, §3.5, §3.6). It never sees a packet.
//!
//! Rates are bytes per second, round-trip times seconds. What the RFC calls R in its rules on silence has no index; here it is R_max,
//! which is at least the time between two packets, so that a slow sender does not take its own slowness for silence.

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::NodeId;

/// Multiples of R_max without reports of the CLR: after `SILENCE` the rate is halved, after `LOST` there is no CLR any more.
const SILENCE: f64 = 4.0;
const LOST: f64 = 10.0;

/// What a receiver reports.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The receiver.
    pub receiver: NodeId,
    /// The rate that it computed, adjusted if it knows no round-trip time (X_r).
    pub rate: f64,
    /// Whether it has seen a loss event.
    pub have_loss: bool,
    /// Whether it leaves.
    pub leaving: bool,
}

/// A rise of the rate in slow start: linear, from `from` at `since` to `to` after `over`.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    since: Instant,
    from: f64,
    to: f64,
    over: f64,
}

/// The current limiting receiver.
#[derive(Clone, Copy, Debug)]
struct Limiting {
    receiver: NodeId,
    elected: Instant,
    /// When data left for the first time after its last report.
    asked: Option<Instant>,
    /// Whether the rate was halved since.
    halved: bool,
}

/// The rate and the CLR.
#[derive(Clone, Debug)]
pub struct Control {
    /// s and the least rate.
    segment: f64,
    least: f64,
    /// X, but for what a ramp makes of it.
    x: f64,
    ramp: Option<Ramp>,
    slow_start: bool,
    clr: Option<Limiting>,
    /// Ends of rounds until the rate may rise again after the CLR is gone.
    held: u8,
    /// When the rate was increased last.
    increased: Instant,
    /// Without a CLR: when data left for the first time after the last report.
    asked: Option<Instant>,
    /// How often another receiver became the CLR, and how often the rate was halved for lack of reports.
    pub changes: u64,
    /// See `changes`.
    pub silences: u64,
}

impl Control {
    /// One packet of `segment` bytes for each `r_max` (§3.1), and never less than `least`.
    pub fn new(now: Instant, segment: f64, least: f64, r_max: f64) -> Self {
        Self {
            segment,
            least,
            x: segment / r_max,
            ramp: None,
            slow_start: true,
            clr: None,
            held: 0,
            increased: now,
            asked: None,
            changes: 0,
            silences: 0,
        }
    }

    /// The allowed rate (X).
    #[inline]
    pub fn rate(&self, now: Instant) -> f64 {
        let Some(Ramp { since, from, to, over }) = self.ramp else { return self.x };
        from + (to - from) * (now.since(since).as_secs_f64() / over).min(1.0)
    }

    /// The current limiting receiver.
    #[inline]
    pub fn clr(&self) -> Option<NodeId> {
        self.clr.map(|clr| clr.receiver)
    }

    /// Whether no receiver has reported a loss.
    pub fn is_slow_start(&self) -> bool {
        self.slow_start
    }

    /// A receiver reports; the largest round-trip time is `r_max`. Says whether it became the CLR.
    pub fn on_report(&mut self, now: Instant, report: Report, r_max: f64) -> bool {
        let Report { receiver, rate, have_loss, leaving } = report;
        let is_clr = self.clr() == Some(receiver);
        if leaving {
            if is_clr {
                self.lose_clr(now);
            }
            return false;
        }
        self.asked = None;
        let x = self.rate(now);
        let target = self.ramp.map_or(x, |ramp| ramp.to);
        let slow_start = self.slow_start && !have_loss;
        if !slow_start {
            if self.slow_start {
                self.slow_start = false;
                self.increased = now;
            }
            (self.x, self.ramp) = (x, None);
        }
        let limit = if slow_start { target } else { x };
        let elected = !is_clr && (self.clr.is_none() || rate < limit);
        if elected {
            self.clr = Some(Limiting { receiver, elected: now, asked: None, halved: false });
            self.changes += 1;
        } else if !is_clr {
            return false;
        } else if let Some(clr) = &mut self.clr {
            (clr.asked, clr.halved) = (None, false);
        }
        if slow_start {
            self.climb(now, x, rate, r_max);
        } else if rate <= x {
            self.x = rate.max(self.least);
        } else if self.held == 0 {
            self.increase(now, rate, r_max);
        }
        elected
    }

    /// §3.6: to the rate that is reported, twice that of reception, or by a packet for each R_max if that is more.
    fn climb(&mut self, now: Instant, x: f64, rate: f64, r_max: f64) {
        let to = if self.held > 0 { x } else { rate.max(x + self.segment / r_max) };
        self.ramp = Some(Ramp { since: now, from: x, to, over: r_max });
    }

    /// §3.3: by at most a packet for each R_max in each R_max; reports may come more often.
    fn increase(&mut self, now: Instant, rate: f64, r_max: f64) {
        let share = (now.since(self.increased).as_secs_f64() / r_max).min(1.0);
        let x = rate.min(self.x + self.segment / r_max * share);
        if x > self.x {
            (self.x, self.increased) = (x, now);
        }
    }

    /// The CLR is gone: the next receiver that reports becomes it, and for a whole round the rate does not rise.
    fn lose_clr(&mut self, now: Instant) {
        self.clr = None;
        self.held = 2;
        self.asked = None;
        (self.x, self.ramp) = (self.rate(now), None);
    }

    /// A feedback round has ended.
    pub fn on_round(&mut self) {
        self.held = self.held.saturating_sub(1);
    }

    /// A packet leaves: a report is expected.
    #[inline]
    pub fn on_sent(&mut self, now: Instant) {
        match &mut self.clr {
            Some(clr) => clr.asked.get_or_insert(now),
            None => self.asked.get_or_insert(now),
        };
    }

    /// When the absence of reports has consequences (§3.5).
    #[inline]
    pub fn silent_at(&self, r_max: f64) -> Option<Instant> {
        let after = |times: f64| Duration::from_secs_f64(times * r_max);
        let Some(clr) = self.clr else { return self.asked.map(|at| at + after(LOST)) };
        let asked = clr.asked?;
        let lost = asked + after(LOST);
        // A receiver that was elected lately may not know of it.
        let halve = (asked + after(SILENCE)).max(clr.elected + after(LOST));
        Some(if clr.halved { lost } else { lost.min(halve) })
    }

    /// That instant has come.
    pub fn on_silence(&mut self, now: Instant, r_max: f64) {
        match self.clr {
            Some(clr) if clr.asked.is_some_and(|at| now >= at + Duration::from_secs_f64(LOST * r_max)) => {
                self.lose_clr(now);
                return;
            }
            Some(ref mut clr) => clr.halved = true,
            None => self.asked = None,
        }
        self.silences += 1;
        (self.x, self.ramp) = ((0.5 * self.rate(now)).max(self.least), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: f64 = 1000.0;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn control() -> Control {
        Control::new(ms(0), S, S / 8.0, 0.5)
    }

    fn report(receiver: u32, rate: f64, have_loss: bool) -> Report {
        Report { receiver: NodeId(receiver), rate, have_loss, leaving: false }
    }

    /// §3.1: 16 kbit/s for 1000 B; the floor is 1 kbit/s.
    #[test]
    fn it_begins_with_a_packet_for_each_r_max() {
        let mut control = control();
        assert_eq!(control.rate(ms(0)) * 8.0, 16_000.0);
        for halvings in 1..10 {
            control.on_sent(ms(5000 * (halvings - 1)));
            let at = control.silent_at(0.5).unwrap();
            assert_eq!(at, ms(5000 * halvings));
            control.on_silence(at, 0.5);
        }
        assert_eq!(control.rate(ms(0)) * 8.0, 1_000.0);
    }

    #[test]
    fn slow_start_rises_to_the_least_of_what_is_reported() {
        let mut control = control();
        assert!(control.on_report(ms(100), report(1, 4000.0, false), 0.5));
        for (at, rate) in [(100, 2000.0), (350, 3000.0), (600, 4000.0), (900, 4000.0)] {
            assert_eq!(control.rate(ms(at)), rate);
        }
        // A higher report of another receiver changes nothing, a lower one does.
        assert!(!control.on_report(ms(350), report(2, 9000.0, false), 0.5));
        assert!(control.on_report(ms(350), report(3, 3500.0, false), 0.5));
        assert_eq!((control.clr(), control.rate(ms(850))), (Some(NodeId(3)), 5000.0), "a packet more for each R_max");
        assert!(control.is_slow_start());
        // The first loss ends it, at a rate that may not rise by more than a packet for each R_max.
        assert!(!control.on_report(ms(850), report(1, 8000.0, true), 0.5));
        assert!(!control.is_slow_start());
        assert_eq!(control.rate(ms(2000)), 5000.0);
        control.on_report(ms(1100), report(3, 9000.0, true), 0.5);
        assert_eq!(control.rate(ms(1100)), 6000.0, "half of R_max has gone");
        control.on_report(ms(3000), report(3, 9000.0, true), 0.5);
        assert_eq!(control.rate(ms(3000)), 8000.0);
    }

    /// The four cases of §3.3.
    #[test]
    fn the_lowest_limits() {
        let mut control = control();
        assert!(control.on_report(ms(0), report(1, 1800.0, true), 0.5));
        assert_eq!(control.rate(ms(0)), 1800.0);
        assert!(!control.on_report(ms(10), report(2, 1801.0, true), 0.5));
        assert!(control.on_report(ms(20), report(2, 1500.0, true), 0.5));
        control.on_report(ms(30), report(2, 1400.0, true), 0.5);
        assert_eq!((control.clr(), control.rate(ms(30)), control.changes), (Some(NodeId(2)), 1400.0, 2));
        // Others that leave change nothing; when the CLR does, the next to report takes its place.
        let leaving = |receiver| Report { leaving: true, ..report(receiver, 100.0, true) };
        assert!(!control.on_report(ms(40), leaving(1), 0.5));
        assert_eq!(control.clr(), Some(NodeId(2)));
        assert!(!control.on_report(ms(50), leaving(2), 0.5));
        assert_eq!((control.clr(), control.rate(ms(50))), (None, 1400.0));
        assert!(control.on_report(ms(60), report(1, 5000.0, true), 0.5));
        control.on_report(ms(2000), report(1, 5000.0, true), 0.5);
        assert_eq!(control.rate(ms(2000)), 1400.0, "not before a round is over");
        control.on_round();
        control.on_round();
        control.on_report(ms(4000), report(1, 5000.0, true), 0.5);
        assert_eq!(control.rate(ms(4000)), 3400.0);
    }

    /// §3.5: R_max is 100 ms.
    #[test]
    fn a_silent_clr_costs_half_and_then_its_place() {
        let mut control = control();
        control.on_report(ms(0), report(1, 1800.0, true), 0.1);
        control.on_sent(ms(1000));
        assert_eq!(control.silent_at(0.1), Some(ms(1400)));
        control.on_silence(ms(1400), 0.1);
        assert_eq!((control.rate(ms(1400)), control.silent_at(0.1)), (900.0, Some(ms(2000))));
        control.on_silence(ms(2000), 0.1);
        assert_eq!((control.clr(), control.rate(ms(2000)), control.silent_at(0.1)), (None, 900.0, None));
        control.on_sent(ms(2000));
        assert_eq!(control.silent_at(0.1), Some(ms(3000)));
        // No report at all.
        control.on_silence(ms(3000), 0.1);
        assert_eq!((control.rate(ms(3000)), control.silences), (450.0, 2));
        // One that was just elected has time to learn of it.
        control.on_report(ms(3100), report(2, 400.0, true), 0.1);
        control.on_sent(ms(3110));
        assert_eq!(control.silent_at(0.1), Some(ms(4100)));
        control.on_report(ms(3900), report(2, 400.0, true), 0.1);
        assert_eq!(control.silent_at(0.1), None, "nothing was sent since");
        control.on_sent(ms(3950));
        assert_eq!(control.silent_at(0.1), Some(ms(4350)));
    }
}
