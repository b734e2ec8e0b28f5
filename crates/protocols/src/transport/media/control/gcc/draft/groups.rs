//! Pre-filtering (§5.2): packets in groups, and the delay's variation from group to group (§5.1).

use lasthop_net::engine::{Duration, Instant};

/// burst_time (§5.6).
pub const BURST_TIME: Duration = Duration::from_millis(5);

/// How the last finished group lies to the one before it; times in ms.
#[derive(Clone, Copy, Debug)]
pub struct Deltas {
    /// T(i) − T(i−1).
    pub sent_ms: f64,
    /// t(i) − t(i−1).
    pub arrived_ms: f64,
    /// t(i).
    pub arrived_at: Instant,
}

impl Deltas {
    /// d(i).
    pub fn variation(&self) -> f64 {
        self.arrived_ms - self.sent_ms
    }
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    last_sent: Instant,
    arrived_at: Instant,
}

/// The present group and the one before it.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    present: Option<Group>,
    previous: Option<Group>,
}

impl Groups {
    /// A packet has arrived. Gives the differences if it begins a new group; one that is out of order is passed over (§5.1).
    pub fn add(&mut self, sent_at: Instant, arrived_at: Instant) -> Option<Deltas> {
        let alone = Group { first_sent: sent_at, last_sent: sent_at, arrived_at };
        let Some(present) = &mut self.present else {
            self.present = Some(alone);
            return None;
        };
        if sent_at < present.first_sent {
            return None;
        }
        let passed = arrived_at.since(present.arrived_at);
        let is_burst = passed < BURST_TIME && passed < sent_at.since(present.last_sent);
        if is_burst || sent_at.since(present.first_sent) <= BURST_TIME {
            present.last_sent = present.last_sent.max(sent_at);
            present.arrived_at = arrived_at;
            return None;
        }
        let finished = *present;
        *present = alone;
        let previous = self.previous.replace(finished)?;
        Some(Deltas {
            sent_ms: ms(finished.last_sent) - ms(previous.last_sent),
            arrived_ms: ms(finished.arrived_at) - ms(previous.arrived_at),
            arrived_at: finished.arrived_at,
        })
    }
}

fn ms(at: Instant) -> f64 {
    at.as_nanos() as f64 / 1e6
}
