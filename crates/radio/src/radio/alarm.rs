//! The wake-up of a machine in a medium.

use lasthop_net::engine::{Instant, Target};
use lasthop_net::net::Core;

/// The one valid wake-up of a machine. An earlier deadline replaces it; the wake-up that it leaves behind in the event queue comes and
/// is not valid.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    target: Target,
    /// When the valid wake-up comes; `Instant::MAX` if none is pending.
    at: Instant,
}

impl Alarm {
    /// One of which no wake-up is pending. Its wake-ups come to `target`.
    pub const fn new(target: Target) -> Self {
        Self { target, at: Instant::MAX }
    }

    /// The machine waits for this deadline, or for none.
    #[inline]
    pub fn set(&mut self, core: &mut Core, deadline: Option<Instant>) {
        self.set_as(core, deadline, |core| core.now());
    }

    /// The same; among the events of its instant the wake-up has the place of one that was made at `since`. For a deadline that has
    /// passed, such as that of a timer which ran while its machine was not asked, it comes now.
    #[inline]
    pub fn set_as(&mut self, core: &mut Core, deadline: Option<Instant>, since: impl FnOnce(&Core) -> Instant) {
        if let Some(at) = deadline.map(|at| at.max(core.now()))
            && at < self.at
        {
            let since = since(core);
            self.arm(core, at, since);
        }
    }

    #[inline(never)]
    fn arm(&mut self, core: &mut Core, at: Instant, since: Instant) {
        self.at = at;
        core.arm(self.target, at, since);
    }

    /// A wake-up has come: whether it is the valid one. Then none is pending any more.
    #[inline]
    pub fn rings(&mut self, core: &Core) -> bool {
        let rings = self.at == core.now();
        if rings {
            self.at = Instant::MAX;
        }
        rings
    }
}
