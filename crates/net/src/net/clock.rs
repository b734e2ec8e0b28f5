//! How the instants of one network are distinguished: to the nanosecond, or as ns-2 adds them up.
//!
//! The clock of a run counts nanoseconds, and coinciding events are ordered by their causes. In
//! a network of links many events coincide: a sender clocked by acknowledgements meets the queue
//! just when a packet leaves it. ns-2 adds up its times in doubles, so there such events lie some
//! 10⁻¹⁶ s apart, in an order that only the sums know, and that order decides which packet is dropped. To
//! follow ns-2 event for event, a link keeps [`Ns2`]'s time beside the exact one; a link of an
//! [`Exact`] network keeps nothing, and pays nothing.

use std::cmp::Ordering;

use crate::engine::{FloatTime, Instant};

use super::core::Core;
use super::schedule::{Schedule, Service};
use super::slab::Pkt;

/// What a link knows of an instant beyond its nanosecond.
pub trait Clock: Send + Sized + 'static {
    /// A point in time, as this clock keeps it beside the nanosecond.
    type Time: Copy + Default + Send;

    /// The present.
    fn now(core: &Core) -> Self::Time;
    /// A point in time of which only the nanosecond is known.
    fn at(instant: Instant) -> Self::Time;
    /// The present event happens at `time`, and its cause began at `since`.
    fn set_now(core: &mut Core, time: Self::Time, since: Instant);
    /// How `a` stands to `b`.
    fn compare(a: (Instant, Self::Time), b: (Instant, Self::Time)) -> Ordering;
    /// The substitute for `since` in the order of wake-ups at `at`.
    fn order(since: Instant, at: Instant, time: Self::Time) -> Instant;
    /// The next service of `size` bytes, not before `from`.
    fn serve(schedule: &mut Schedule<Self>, from: (Instant, Self::Time), size: u32) -> Service<Self>;
    /// Keeps the end of service and the arrival of a packet under way.
    fn keep(core: &mut Core, pkt: &Pkt, times: [Self::Time; 2]);
    /// Gives them back.
    fn kept(core: &Core, place: u32) -> [Self::Time; 2];
}

/// Nanoseconds, and nothing beyond.
pub enum Exact {}

impl Clock for Exact {
    type Time = ();

    #[inline]
    fn now(_core: &Core) {}
    #[inline]
    fn at(_instant: Instant) {}
    #[inline]
    fn set_now(_core: &mut Core, _time: (), _since: Instant) {}
    #[inline]
    fn compare(a: (Instant, ()), b: (Instant, ())) -> Ordering {
        a.0.cmp(&b.0)
    }
    #[inline]
    fn order(since: Instant, _at: Instant, _time: ()) -> Instant {
        since
    }
    #[inline]
    fn serve(schedule: &mut Schedule<Self>, from: (Instant, ()), size: u32) -> Service<Self> {
        let start = from.0.max(schedule.free_at);
        let out = schedule.send(start, size);
        let mut arrival = out + schedule.delay;
        if let Some(unsteady) = &mut schedule.unsteady {
            arrival = out + unsteady.delay(start, schedule.delay);
            if let Some((last, ())) = &mut unsteady.last {
                if arrival < *last {
                    // ns-2's avoidReordering_: the last arrival given out, plus this transmission time.
                    arrival = *last + out.since(start);
                }
                *last = arrival;
            }
        }
        Service { start, out, arrival, times: [(); 2] }
    }
    #[inline]
    fn keep(_core: &mut Core, _pkt: &Pkt, _times: [(); 2]) {}
    #[inline]
    fn kept(_core: &Core, _place: u32) -> [(); 2] {
        [(); 2]
    }
}

/// ns-2's clock: seconds in a double, with the sums of its `DelayLink`.
pub enum Ns2 {}

impl Clock for Ns2 {
    type Time = FloatTime;

    fn now(core: &Core) -> FloatTime {
        core.float().unwrap_or_else(|| FloatTime::new(core.now()))
    }

    fn at(instant: Instant) -> FloatTime {
        FloatTime::new(instant)
    }

    fn set_now(core: &mut Core, time: FloatTime, since: Instant) {
        core.set_float(time, since);
    }

    fn compare(a: (Instant, FloatTime), b: (Instant, FloatTime)) -> Ordering {
        // Times are sums of finite numbers, so they compare.
        a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal)
    }

    fn order(since: Instant, at: Instant, time: FloatTime) -> Instant {
        time.order_at(at, since)
    }

    fn serve(schedule: &mut Schedule<Self>, from: (Instant, FloatTime), size: u32) -> Service<Self> {
        let begin = if schedule.free_time > from.1 { schedule.free_time } else { from.1 };
        let sending = 8.0 * f64::from(size) / schedule.rate as f64;
        let delay = schedule.delay.as_secs_f64();
        let out = begin.after(sending);
        let mut arrival = begin.after(sending + delay);
        if let Some((at, last)) = schedule.last_arrival() {
            if sending + delay < last.seconds_since(begin) {
                *last = last.after(sending);
                arrival = begin.after(last.seconds_since(begin));
            } else {
                *last = out.after(delay);
            }
            *at = arrival.instant();
        }
        schedule.free_time = out;
        schedule.free_at = out.instant();
        Service { start: begin.instant(), out: schedule.free_at, arrival: arrival.instant(), times: [out, arrival] }
    }

    fn keep(core: &mut Core, pkt: &Pkt, times: [FloatTime; 2]) {
        core.keep_times(pkt, times);
    }

    fn kept(core: &Core, place: u32) -> [FloatTime; 2] {
        core.kept_times(place)
    }
}
