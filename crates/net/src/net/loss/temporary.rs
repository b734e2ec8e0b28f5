//! A loss model that holds for a time, in place of another.

use crate::engine::Instant;

use super::{Loss, LossModel};

impl Loss {
    /// Puts another model in its place; if `until` is given, only until then.
    pub fn replace(&mut self, other: Self, until: Option<Instant>) {
        *self = match until {
            None => other,
            Some(until) => {
                let former = self.0.as_mut().and_then(|model| model.former());
                let former = former.unwrap_or_else(|| std::mem::take(self));
                Self(Some(Box::new(Temporary { model: other, until, former })))
            }
        };
    }
}

/// Asks one model until an instant, and another from then on. That one sees no packet before.
struct Temporary {
    model: Loss,
    until: Instant,
    former: Loss,
}

impl LossModel for Temporary {
    fn loses(&mut self, now: Instant) -> bool {
        let asked = if now < self.until { &mut self.model } else { &mut self.former };
        asked.0.as_mut().is_some_and(|model| model.loses(now))
    }

    fn former(&mut self) -> Option<Loss> {
        Some(std::mem::take(&mut self.former))
    }
}
