//! When packets are sent over a link: its serialiser and its delay.

use std::cmp::Ordering;

use crate::engine::{BitRate, Duration, Instant};

use super::clock::Clock;

/// A way whose length changes, as to a satellite, or by jitter.
pub trait Path: Send {
    /// The delay of a packet that begins to be sent at `start`; `propagation` is that of the link.
    fn delay(&self, start: Instant, propagation: Duration) -> Duration;
}

/// The serialiser and the delay of one direction of a link.
///
/// The serialiser is free at an instant known to a fraction of a nanosecond, so that a busy one
/// never drifts.
#[repr(C)]
pub struct Schedule<C: Clock> {
    /// The two sizes sent last: data and acknowledgements, mostly.
    known: [u32; 2],
    /// The service time (ns, rest) of the first of them.
    service: (u64, u64),
    /// The fraction of a nanosecond at `free_at`, in units of 1/rate ns.
    rest: u64,
    pub(super) free_at: Instant,
    /// Bits per second.
    pub(super) rate: u64,
    /// The propagation delay, where no path says what it is.
    pub(super) delay: Duration,
    /// `None`: all packets have that delay, and one may overtake another that was sent before it became shorter.
    pub(super) unsteady: Option<Box<Unsteady<C>>>,
    /// The service time of the second.
    other: (u64, u64),
    /// `free_at` by the clock.
    pub(super) free_time: C::Time,
}

/// A way whose length changes, or on which packets keep their order whatever becomes of its delay.
pub(super) struct Unsteady<C: Clock> {
    path: Option<Box<dyn Path>>,
    /// The last arrival given out, also by the clock, if packets keep their order.
    pub last: Option<(Instant, C::Time)>,
}

impl<C: Clock> Unsteady<C> {
    /// The propagation delay of a packet that begins to be sent at `start`; `usual` is that of the link.
    pub fn delay(&self, start: Instant, usual: Duration) -> Duration {
        self.path.as_ref().map_or(usual, |path| path.delay(start, usual))
    }
}

/// A packet's way over a link.
pub struct Service<C: Clock> {
    /// Its first bit goes out.
    pub start: Instant,
    /// Its last bit is out.
    pub out: Instant,
    /// Its last bit has arrived.
    pub arrival: Instant,
    /// `out` and `arrival` by the clock.
    pub times: [C::Time; 2],
}

impl<C: Clock> Clone for Service<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Clock> Copy for Service<C> {}

/// The part of a service that occupies the serialiser.
pub struct InService<C: Clock> {
    /// The first bit goes out.
    pub start: Instant,
    /// The last bit is out.
    pub out: Instant,
    /// `out` by the clock.
    pub time: C::Time,
}

impl<C: Clock> Clone for InService<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Clock> Copy for InService<C> {}

/// An event's time and cause, which decide its order.
pub struct Occasion<C: Clock> {
    /// When.
    pub at: Instant,
    /// `at` by the clock.
    pub time: C::Time,
    /// When its cause began; `None` orders before all events of its instant.
    pub cause: Option<Instant>,
}

impl<C: Clock> Clone for Occasion<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Clock> Copy for Occasion<C> {}

impl<C: Clock> Service<C> {
    /// A service that does not end by itself.
    pub fn endless() -> Self {
        let (never, time) = (Instant::MAX, C::at(Instant::MAX));
        Self { start: never, out: never, arrival: never, times: [time; 2] }
    }

    /// The serialiser's part of it.
    #[inline]
    pub fn sending(&self) -> InService<C> {
        InService { start: self.start, out: self.out, time: self.times[0] }
    }
}

impl<C: Clock> InService<C> {
    /// Nothing: it ended before anything began.
    pub fn none() -> Self {
        Self { start: Instant::ZERO, out: Instant::ZERO, time: C::at(Instant::ZERO) }
    }

    /// Whether it occupies the serialiser on this occasion. Of coinciding events the one whose
    /// cause began earlier comes first; the end of a service is caused by its start.
    #[inline]
    pub fn occupies(&self, occasion: &Occasion<C>) -> bool {
        match C::compare((self.out, self.time), (occasion.at, occasion.time)) {
            Ordering::Greater => true,
            Ordering::Equal => occasion.cause.is_none_or(|cause| self.start > cause),
            Ordering::Less => false,
        }
    }
}

impl<C: Clock> Schedule<C> {
    /// A free serialiser.
    pub fn new(rate: BitRate, delay: Duration, reorder: bool) -> Self {
        let first = || Box::new(Unsteady { path: None, last: Some((Instant::ZERO, C::at(Instant::ZERO))) });
        let mut new = Self {
            known: [0; 2],
            service: (0, 0),
            rest: 0,
            free_at: Instant::ZERO,
            rate: 1,
            delay,
            unsteady: (!reorder).then(first),
            other: (0, 0),
            free_time: C::at(Instant::ZERO),
        };
        new.set_rate(rate);
        new
    }

    /// The rate from now on. A fraction of a nanosecond is forgotten.
    pub fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate.as_bps().max(1);
        self.rest = 0;
        self.known = [0; 2];
        (self.service, self.other) = ((0, 0), (0, 0));
    }

    /// The propagation delay of a packet that begins to be sent at `start`.
    pub(super) fn delay_at(&self, start: Instant) -> Duration {
        self.unsteady.as_ref().map_or(self.delay, |unsteady| unsteady.delay(start, self.delay))
    }

    /// From now on the way has this length.
    pub(super) fn set_path(&mut self, path: Box<dyn Path>) {
        self.unsteady.get_or_insert_with(|| Box::new(Unsteady { path: None, last: None })).path = Some(path);
    }

    /// The last arrival given out, if packets keep their order.
    pub(super) fn last_arrival(&mut self) -> Option<&mut (Instant, C::Time)> {
        self.unsteady.as_mut().and_then(|unsteady| unsteady.last.as_mut())
    }

    /// If packets keep their order: the next one arrives after this, or at any time.
    pub(super) fn arrive_after(&mut self, last: Option<(Instant, C::Time)>) {
        if let Some(present) = self.last_arrival() {
            *present = last.unwrap_or((Instant::ZERO, C::at(Instant::ZERO)));
        }
    }

    /// It is free when this service ends. A fraction of a nanosecond is forgotten.
    pub fn resume_after(&mut self, service: &InService<C>) {
        self.free_at = service.out;
        self.free_time = service.time;
        self.rest = 0;
    }

    /// Sends `size` bytes from `start` (not before it is free) and gives the end.
    #[inline]
    pub(super) fn send(&mut self, start: Instant, size: u32) -> Instant {
        if start > self.free_at {
            self.rest = 0;
        }
        let (ns, rest) = if self.known[0] == size {
            self.service
        } else if self.known[1] == size {
            self.other
        } else {
            self.learn(size)
        };
        let rest = self.rest + rest;
        let carry = u64::from(rest >= self.rate);
        self.rest = rest - carry * self.rate;
        self.free_at = start + Duration::from_nanos(ns + carry);
        self.free_at
    }

    #[cold]
    fn learn(&mut self, size: u32) -> (u64, u64) {
        // 2³² bytes are 3.4e19 bit·ns/s; u128 leaves no doubt.
        let work = u128::from(size) * 8 * 1_000_000_000;
        let rate = u128::from(self.rate);
        let (ns, rest) = ((work / rate) as u64, (work % rate) as u64);
        self.known = [size, self.known[0]];
        self.other = std::mem::replace(&mut self.service, (ns, rest));
        self.service
    }
}
