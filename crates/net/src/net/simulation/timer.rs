//! The wake-ups of machines.

use crate::engine::{FloatTime, Instant, Target};
use crate::net::core::Core;

/// The one pending wake-up of a machine.
pub(super) struct Timer {
    /// What the machine asked for.
    deadline: Option<Instant>,
    /// When it asked.
    since: Instant,
    /// The same by ns-2's clock, if that is followed.
    since_float: Option<FloatTime>,
    /// The deadline by ns-2's clock, if the machine keeps it.
    deadline_float: Option<FloatTime>,
    /// When the valid wake-up in the queue comes; `Instant::MAX` if none is pending.
    armed: Instant,
}

impl Timer {
    pub const IDLE: Self =
        Self { deadline: None, since: Instant::ZERO, since_float: None, deadline_float: None, armed: Instant::MAX };

    /// Takes the machine's wish. A later one adds nothing to the queue: the pending wake-up
    /// finds nothing due and arms the next.
    #[inline]
    pub fn set(&mut self, core: &mut Core, target: Target, wish: Option<Instant>) {
        self.set_float(core, target, wish, None);
    }

    /// The same, with the wish by ns-2's clock.
    #[inline(always)]
    pub fn set_float(&mut self, core: &mut Core, target: Target, wish: Option<Instant>, float: Option<FloatTime>) {
        // A machine without a timer, as most receivers are.
        if wish.is_some() || self.deadline.is_some() {
            self.take(core, target, wish, float);
        }
    }

    fn take(&mut self, core: &mut Core, target: Target, wish: Option<Instant>, float: Option<FloatTime>) {
        if wish != self.deadline {
            self.deadline = wish;
            self.since = core.now();
            self.since_float = core.float();
        }
        self.deadline_float = float;
        if let Some(at) = wish {
            let at = at.max(core.now());
            if at < self.armed {
                self.armed = at;
                let order = self.float(at).map_or(self.since, |time| time.order_at(at, self.since));
                core.arm(target, at, order);
            }
        }
    }

    /// The instant `at` by ns-2's clock, if that is followed: a sum of when the machine asked and
    /// how long it wants to wait.
    #[inline]
    fn float(&self, at: Instant) -> Option<FloatTime> {
        let known = self.deadline_float.filter(|_| self.deadline == Some(at));
        known.or_else(|| self.since_float.map(|since| since.after_duration(at.since(self.since))))
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
        let due = self.deadline.is_some_and(|at| at <= now);
        if due {
            // The same deadline, wished for again, would be a new one.
            self.deadline = None;
        }
        Some(due)
    }
}
