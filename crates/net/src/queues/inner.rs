//! The queues that can stand inside another one: those that hold none themselves.

use crate::net::discipline::{QueueConfig, QueueDiscipline, Site};
use crate::net::transmitter::Queue;

use super::{codel, droptail, drr, red, rio};

crate::choice! {
    /// A queue inside another.
    pub enum Inner: "queue inside another" as QueueConfig {
        /// A FIFO that drops arriving packets when it is full.
        "droptail" => DropTail(droptail::Config),
        /// Random early detection, also adaptive.
        "red" => Red(red::Config),
        /// Random early detection that drops out-of-profile packets first.
        "rio" => Rio(rio::Config),
        /// Controlled delay (RFC 8289).
        "codel" => CoDel(codel::Config),
        /// Deficit round robin: equal shares for flows.
        "drr" => Drr(drr::Config),
    }
}

impl Default for Inner {
    fn default() -> Self {
        Self::DropTail(droptail::Config::default())
    }
}

impl Inner {
    /// The queue at `site`, as a discipline that is asked.
    pub fn asked(&self, site: &Site<'_>) -> Box<dyn QueueDiscipline> {
        asked(self.config().build(site), site)
    }
}

/// A queue that was built for `site`, as a discipline that is asked.
pub fn asked(queue: Queue, site: &Site<'_>) -> Box<dyn QueueDiscipline> {
    match queue {
        Queue::Asked(discipline) => discipline,
        Queue::Planned(limit) => Box::new(droptail::DropTail::new(limit.into(), site.place)),
    }
}
