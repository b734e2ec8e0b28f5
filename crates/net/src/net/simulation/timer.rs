//! The wake-ups of machines.

use crate::engine::{FloatTime, Instant, Target};
use crate::net::core::Core;

/// The one pending wake-up of a machine.
pub(super) struct Timer {
    /// What the machine asked for; `Instant::MAX` if nothing.
    deadline: Instant,
    /// When it asked.
    since: Instant,
    /// When the valid wake-up in the queue comes; `Instant::MAX` if none is pending.
    armed: Instant,
    /// The same by ns-2's clock, if that is followed. It lies apart, since few runs have it and all have timers.
    float: Option<Box<Float>>,
}

#[derive(Default)]
struct Float {
    since: FloatTime,
    /// If the machine keeps it.
    deadline: Option<FloatTime>,
}

impl Timer {
    pub const IDLE: Self = Self { deadline: Instant::MAX, since: Instant::ZERO, armed: Instant::MAX, float: None };

    /// Takes the machine's wish. A later one adds nothing to the queue: the pending wake-up
    /// finds nothing due and arms the next.
    #[inline]
    pub fn set(&mut self, core: &mut Core, target: Target, wish: Option<Instant>) {
        self.set_float(core, target, wish, None);
    }

    /// The same, with the wish by ns-2's clock.
    #[inline(always)]
    pub fn set_float(&mut self, core: &mut Core, target: Target, wish: Option<Instant>, float: Option<FloatTime>) {
        let wish = wish.unwrap_or(Instant::MAX);
        // A machine without a timer, as most receivers are.
        if wish != Instant::MAX || self.deadline != Instant::MAX {
            self.take(core, target, wish, float);
        }
    }

    fn take(&mut self, core: &mut Core, target: Target, wish: Instant, float: Option<FloatTime>) {
        if wish != self.deadline {
            self.deadline = wish;
            self.since = core.now();
            if let Some(now) = core.float() {
                self.float.get_or_insert_default().since = now;
            }
        }
        if let Some(times) = &mut self.float {
            times.deadline = float;
        }
        let at = wish.max(core.now());
        if at < self.armed {
            self.armed = at;
            let order = self.float(at).map_or(self.since, |time| time.order_at(at, self.since));
            core.arm(target, at, order);
        }
    }

    /// The instant `at` by ns-2's clock, if that is followed: a sum of when the machine asked and
    /// how long it wants to wait.
    #[inline]
    fn float(&self, at: Instant) -> Option<FloatTime> {
        let times = self.float.as_ref()?;
        let known = times.deadline.filter(|_| self.deadline == at);
        Some(known.unwrap_or_else(|| times.since.after_duration(at.since(self.since))))
    }

    /// A wake-up has come at `now`: says whether the machine's time has, and the clock shows what it
    /// waited for. `None` is an old wake-up.
    #[inline]
    pub fn ring(&mut self, core: &mut Core, now: Instant) -> Option<bool> {
        if self.armed != now {
            return None;
        }
        self.armed = Instant::MAX;
        if let Some(time) = self.float(now) {
            core.set_float(time, self.since);
        }
        let due = self.deadline <= now;
        if due {
            // The same deadline, wished for again, would be a new one.
            self.deadline = Instant::MAX;
        }
        Some(due)
    }
}
