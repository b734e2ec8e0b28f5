//! The intervals of one length: when PDUs are handed down for them, and when they begin.

use lasthop_net::engine::{Duration, Instant};

use super::turns::Turns;

/// How long before an interval the RLC entities hand down what it is to carry (EURANE).
const LEAD: Duration = Duration::from_millis(1);

/// The intervals of one length.
pub(super) struct Clock {
    pub(super) tti: Duration,
    /// It is the clock of one channel whose intervals MAC-c/sh shares out; no other uses it.
    pub(super) turns: Option<Turns>,
    /// PDUs are handed down this time after multiples of `tti`.
    pub(super) phase: Duration,
    /// When PDUs were handed down last.
    pub(super) ticked: Instant,
    /// When the next are handed down, if a sender waits for that.
    pub(super) tick: Instant,
    /// When the next interval begins, if anything waits for it.
    pub(super) frame: Instant,
    /// Those that have something to send: terminal × 2 + direction, in order.
    pub(super) senders: Vec<u32>,
    /// Channels with something to send, in order.
    pub(super) channels: Vec<u32>,
    /// How many PDUs are on their way to its channels.
    pub(super) coming: u32,
}

impl Clock {
    pub(super) fn new(tti: Duration, phase: Duration, turns: Option<Turns>) -> Self {
        let never = Instant::MAX;
        let (senders, channels) = (Vec::new(), Vec::new());
        Self { tti, turns, phase, ticked: never, tick: never, frame: never, senders, channels, coming: 0 }
    }

    /// The first instant at `from` or later at which PDUs are handed down.
    fn tick_from(&self, from: Instant) -> Instant {
        let (from, phase, tti) = (from.as_nanos(), self.phase.as_nanos(), self.tti.as_nanos());
        Instant::from_nanos(from.saturating_sub(phase).div_ceil(tti) * tti + phase)
    }

    /// Whether the interval that it waits for, if any, comes after the first that begins at `at` or later.
    #[inline]
    pub(super) fn is_too_late(&self, at: Instant) -> bool {
        self.frame >= at + self.tti
    }

    /// When PDUs that there are now are handed down. One that comes at the very instant, but before
    /// those of others are handed down, goes with them.
    pub(super) fn next_tick(&self, now: Instant) -> Instant {
        let moment = Duration::from_nanos(u64::from(self.ticked == now));
        self.tick_from(now + moment)
    }
}

/// PDUs are handed down one lead before an interval begins.
pub(super) fn usual_phase(tti: Duration) -> Duration {
    tti.saturating_sub(LEAD)
}

/// Enters a number into a sorted list, once.
#[inline]
pub(super) fn insert(list: &mut Vec<u32>, number: u32) {
    if let Err(place) = list.binary_search(&number) {
        list.insert(place, number);
    }
}

/// Takes a number out of a sorted list.
pub(super) fn remove(list: &mut Vec<u32>, number: u32) {
    if let Ok(place) = list.binary_search(&number) {
        list.remove(place);
    }
}

/// The first multiple of `tti` at `at` or later.
pub(super) fn at_or_after(at: Instant, tti: Duration) -> Instant {
    Instant::from_nanos(at.as_nanos().div_ceil(tti.as_nanos()) * tti.as_nanos())
}
