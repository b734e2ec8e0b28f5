//! A loss model that holds for a time, in place of another.

use crate::engine::Instant;

use super::{Loss, LossModel};

/// Asks one model until an instant, and another from then on. That one sees no packet before.
pub struct Temporary {
    pub model: Loss,
    pub until: Instant,
    pub former: Loss,
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
