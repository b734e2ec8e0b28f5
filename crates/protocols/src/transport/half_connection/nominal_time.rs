//! When the next packet may leave: an interval after the one before (RFC 5348 §4.6).
//!
//! A packet that waited for its time counts as sent at that time, however late the sender was woken: the timers of a real host are late, and
//! each time would cost rate. One that was not there at its time counts from when it leaves: an idle sender gathers no credit.

use lasthop_net::engine::{Duration, Instant};

/// The nominal send times of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct NominalTime {
    /// When the last packet left, by these times, and how long it was.
    last: Option<(Instant, u32)>,
    at: Instant,
    /// Whether a packet has been there before its time.
    waits: bool,
}

impl NominalTime {
    /// When the next packet may leave.
    #[inline]
    pub fn at(&self) -> Instant {
        self.at
    }

    /// Whether nothing was sent yet.
    pub fn is_first(&self) -> bool {
        self.last.is_none()
    }

    /// Whether a packet that is there may leave now.
    #[inline]
    pub fn has_come(&mut self, now: Instant) -> bool {
        self.waits |= now < self.at;
        now >= self.at
    }

    /// Whether the packet that leaves now waited for its time.
    #[inline]
    pub fn was_waited_for(&self, now: Instant) -> bool {
        self.waits || now == self.at
    }

    /// A packet has left, after which `interval` has to pass; whether `more` packets wait. A sender that was woken late makes up for no more
    /// than `most`.
    #[inline]
    pub fn pass(
        &mut self,
        now: Instant,
        payload: u32,
        interval: Duration,
        more: bool,
        most: impl FnOnce() -> Duration,
    ) {
        let late = now.since(self.at);
        let left = if self.waits && late > Duration::ZERO { self.at + late.saturating_sub(most()) } else { now };
        self.last = Some((left, payload));
        self.at = left + interval;
        self.waits = more;
    }

    /// The rate has changed: the interval after the last packet is what `of` makes of its length.
    #[inline]
    pub fn change(&mut self, now: Instant, of: impl FnOnce(u32) -> Duration) {
        if let Some((left, payload)) = self.last {
            self.at = (left + of(payload)).max(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: f64) -> Instant {
        Instant::from_secs_f64(ms / 1e3)
    }

    /// A sender of 1 ms a packet, with `more` waiting, that is woken whenever `clock` says so: when the packets left.
    fn sent(packets: usize, more: bool, clock: impl Fn(Instant) -> Instant) -> Vec<Instant> {
        let mut nominal = NominalTime::default();
        let mut now = Instant::ZERO;
        let mut sent = Vec::new();
        while sent.len() < packets {
            if nominal.has_come(now) {
                nominal.pass(now, 1000, MS, more, || MS * 20);
                sent.push(now);
            }
            now = now.max(clock(nominal.at()));
        }
        sent
    }

    #[test]
    fn late_timers_cost_no_rate() {
        // Timers of 4 ms, of which each packet waits for the next.
        let coarse = |at: Instant| Instant::from_nanos(at.as_nanos().next_multiple_of(4_000_000));
        assert_eq!(sent(1001, true, coarse)[1000], at(1000.0));
        // 0.3 ms late each time.
        assert_eq!(sent(1001, true, |due| due + Duration::from_micros(300))[1000], at(1000.3));
    }

    #[test]
    fn what_an_idle_sender_did_not_send_is_no_credit() {
        // Each packet comes 0.5 ms after it might have left.
        assert_eq!(sent(1001, false, |due| due + Duration::from_micros(500))[1000], at(1500.0));
    }

    #[test]
    fn a_sender_that_stood_still_makes_up_for_no_more_than_it_may() {
        let stands = |due: Instant| if due > at(10.0) { due.max(at(10_000.0)) } else { due };
        let sent = sent(100, true, stands);
        // From 11 ms to 10 s it slept; 20 ms of that are made up for, and the packet that was due.
        assert_eq!(sent.iter().filter(|&&one| one == at(10_000.0)).count(), 21);
        assert_eq!(sent[99], at(10_000.0) + MS * (99 - 11 - 20));
    }

    #[test]
    fn a_new_rate_counts_from_the_last_packet() {
        let mut nominal = NominalTime::default();
        nominal.pass(at(0.0), 1000, MS * 10, true, || Duration::ZERO);
        nominal.change(at(2.0), |_| MS * 5);
        assert!(!nominal.has_come(at(4.0)) && nominal.at() == at(5.0));
        nominal.change(at(4.0), |_| MS);
        assert!(nominal.has_come(at(4.0)) && nominal.was_waited_for(at(4.0)));
    }
}
