//! When the far end is asked for a report (TS 25.322 §9.7.1).

use crate::radio::rlc::segmentation::Segment;
use lasthop_net::engine::{Duration, Instant};

use super::config::{Config, Poll};

/// A PDU that is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Whether it was sent before.
    pub again: bool,
    /// Whether none that is due, or new, can follow.
    pub last: bool,
    /// How many PDUs of the window are in use.
    pub used_window: u64,
    /// What it carries.
    pub segment: &'a Segment,
}

/// The polling function.
#[derive(Debug)]
pub struct Polling {
    /// Whether a poll is due with the next PDU, or alone.
    due: bool,
    last: bool,
    last_retransmission: bool,
    /// Poll_PDU, Poll_SDU, and hundredths of PDUs for Poll_Window; 0 for none.
    every: u32,
    every_sdus: u32,
    window: u64,
    /// VT(PDU) and VT(SDU) (§9.4 f, g).
    vt_pdu: u32,
    vt_sdu: u32,
    /// The SDU at whose end Poll_SDU asks for a poll.
    at_end_of: Option<u64>,
    period: Duration,
    /// Timer_Poll, if it runs.
    timer: Option<Instant>,
    /// VT(S) after the last poll.
    awaited: u64,
    /// When Timer_Poll_Periodic expires next, if it is used and anything waits.
    periodic: Option<Instant>,
    uses_timer: bool,
}

impl Polling {
    pub fn new(config: &Config) -> Self {
        Self {
            due: false,
            last: config.poll_last,
            last_retransmission: config.poll_last_retransmission,
            every: config.poll_every,
            every_sdus: config.poll_every_sdus,
            window: u64::from(config.poll_window) * u64::from(config.window),
            vt_pdu: 0,
            vt_sdu: 0,
            at_end_of: None,
            period: config.poll_timer,
            timer: None,
            awaited: 0,
            periodic: None,
            uses_timer: config.poll == Poll::Timer,
        }
    }

    #[inline]
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// There is something to send after a time in which there was not.
    pub fn wake(&mut self, now: Instant) {
        if !self.uses_timer {
            let passed = now.as_nanos() / self.period.as_nanos();
            self.periodic = Some(Instant::ZERO + self.period * (passed + 1));
        }
    }

    /// Whether this PDU polls.
    #[inline]
    pub fn polls(&mut self, pdu: &Leaving<'_>) -> bool {
        let mut polls = self.due | (pdu.last & if pdu.again { self.last_retransmission } else { self.last });
        if self.every > 0 {
            self.vt_pdu += 1;
            if self.vt_pdu >= self.every {
                self.vt_pdu = 0;
                polls = true;
            }
        }
        if self.window > 0 {
            polls |= pdu.used_window * 100 >= self.window;
        }
        if self.every_sdus > 0 && !pdu.again {
            polls |= self.ends_counted_sdu(pdu.segment);
        }
        self.due &= !polls;
        polls
    }

    /// Whether a new PDU tells the end of an SDU that makes VT(SDU) full.
    fn ends_counted_sdu(&mut self, segment: &Segment) -> bool {
        let ended = segment.sdu + u64::from(segment.ends);
        let mut polls = self.at_end_of.take_if(|sdu| *sdu < ended).is_some();
        for sdu in segment.sdu + u64::from(!segment.starts)..=segment.last() {
            self.vt_sdu += 1;
            if self.vt_sdu < self.every_sdus {
                continue;
            }
            self.vt_sdu = 0;
            if sdu < ended {
                polls = true;
            } else {
                self.at_end_of = Some(sdu);
            }
        }
        polls
    }

    /// A PDU that polls has left. VT(S) is now `vt_s`.
    pub fn submit(&mut self, at: Instant, vt_s: u64) {
        self.awaited = vt_s;
        if self.uses_timer {
            self.timer = Some(at + self.period);
        }
    }

    /// A report came. `is_missing`: whether a PDU is due to be sent again.
    pub fn on_report(&mut self, vt_a: u64, is_missing: impl Fn(u64) -> bool) {
        let awaited = self.awaited;
        if self.timer.is_some() && (vt_a >= awaited || is_missing(awaited - 1)) {
            self.timer = None;
        }
    }

    /// Nothing is left to be polled for.
    pub fn rest(&mut self) {
        self.due = false;
        self.timer = None;
        self.periodic = None;
    }

    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        if self.uses_timer { self.timer } else { self.periodic }
    }

    /// Whether a timer has expired.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.timer.is_some_and(|timer| timer <= now) {
            self.timer = None;
            self.due = true;
        }
        if self.periodic.is_some_and(|next| next <= now) {
            self.due = true;
            self.wake(now);
        }
    }

    /// Starts anew (§11.4.3); the periodic timer runs on.
    pub fn reset(&mut self) {
        (self.due, self.timer, self.at_end_of) = (false, None, None);
        (self.vt_pdu, self.vt_sdu, self.awaited) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 25.322 §9.5 a): Timer_Poll stops when all PDUs up to VT(S) - 1 of the poll are acknowledged, or that one is reported missing.
    #[test]
    fn the_poll_timer_stops_when_the_polled_pdu_is_settled() {
        for (vt_a, missing, runs) in [(5, None, false), (4, None, true), (3, Some(4), false), (3, Some(3), true)] {
            let mut polling = Polling::new(&Config { poll: Poll::Timer, ..Config::default() });
            polling.submit(Instant::ZERO, 5);
            polling.on_report(vt_a, |sn| Some(sn) == missing);
            assert_eq!(polling.next_timeout().is_some(), runs, "VT(A) {vt_a}, {missing:?} missing");
        }
    }

    /// §9.7.1: *last PDU in buffer* and *last PDU in retransmission buffer* are triggers of their own.
    #[test]
    fn the_last_pdu_and_the_last_one_again_poll_apart() {
        let segment = Segment::default();
        for (poll_last, poll_last_retransmission) in [(true, false), (false, true)] {
            let mut polling = Polling::new(&Config { poll_last, poll_last_retransmission, ..Config::default() });
            let mut polls = |again| polling.polls(&Leaving { again, last: true, used_window: 1, segment: &segment });
            assert_eq!([polls(false), polls(true)], [poll_last, poll_last_retransmission]);
        }
    }
}
