//! The instants at which a controller is updated: the multiples of an interval, while there is something to control.

use crate::engine::{Duration, Instant};

/// When the next update is due.
pub struct Updates {
    interval: Duration,
    next: Option<Instant>,
}

impl Updates {
    /// None is due.
    pub fn new(interval: Duration) -> Self {
        Self { interval, next: None }
    }

    /// A packet has come: from now on there are updates.
    #[inline]
    pub fn begin(&mut self, now: Instant) {
        if self.next.is_none() {
            self.next = Some(self.after(now));
        }
    }

    /// An update was made. At `rest` another one would change nothing, so the next is made after a packet has come.
    pub fn on_update(&mut self, now: Instant, rest: bool) {
        self.next = (!rest).then(|| self.after(now));
    }

    /// When the next one is due.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        self.next
    }

    /// The first multiple of the interval after `now`.
    fn after(&self, now: Instant) -> Instant {
        Instant::ZERO + self.interval * (now.as_nanos() / self.interval.as_nanos() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_multiples_of_the_interval_and_rest_ends_with_a_packet() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut updates = Updates::new(Duration::from_millis(15));
        assert_eq!(updates.next(), None);
        updates.begin(at(7));
        assert_eq!(updates.next(), Some(at(15)));
        updates.begin(at(14));
        assert_eq!(updates.next(), Some(at(15)));
        updates.on_update(at(15), false);
        assert_eq!(updates.next(), Some(at(30)));
        updates.on_update(at(30), true);
        assert_eq!(updates.next(), None);
        updates.begin(at(1_000));
        assert_eq!(updates.next(), Some(at(1_005)));
    }
}
