//! The queues that can stand inside another one: those that hold none themselves.

use crate::net::discipline::{QueueConfig, QueueDiscipline, Site};
use crate::net::transmitter::Queue;

use super::{codel, droptail, drr, dualpi2, fq_codel, pie, red, rio, threshold};

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
        /// Proportional integral controller enhanced (RFC 8033).
        "pie" => Pie(pie::Config),
        /// Flow queue CoDel (RFC 8290).
        "fq_codel" => FqCoDel(fq_codel::Config),
        /// Two coupled queues, for low-latency and for classic traffic (RFC 9332).
        "dualpi2" => DualPi2(dualpi2::Config),
        /// A FIFO that marks above a threshold.
        "threshold" => Threshold(threshold::Config),
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
