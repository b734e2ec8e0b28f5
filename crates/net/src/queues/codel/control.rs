//! The control law of CoDel for one queue: which packets it drops or marks when it is asked for the next (RFC 8289 §5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Duration, Instant};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::observe::{Cause, Place};
use crate::queues::ecn::mark_if_capable;
use crate::queues::fifo::Fifo;

/// At which count, and so at which drop rate, dropping begins again soon after it has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resume {
    /// Within 16 intervals, at the count by which the last dropping period had grown (RFC 8289
    /// §5.5, as in Linux).
    Difference,
    /// Within 8 intervals, at the last count less two (Nichols' code for ns-2 of 2012).
    MinusTwo,
}

/// The parameters of the law.
pub struct Law {
    /// The waiting time that is acceptable all the time.
    pub target: Duration,
    /// How long the waiting time may stay above.
    pub interval: Duration,
    /// Mark packets of ECN-capable transports instead of dropping them.
    pub ecn: bool,
    /// At which count dropping begins again soon after it has stopped.
    pub resume: Resume,
}

impl Law {
    /// The time of the next drop after one at `t`, the `count`-th (RFC 8289 §5.6).
    fn next(&self, t: Instant, count: u64) -> Instant {
        t + Duration::from_secs_f64(self.interval.as_secs_f64() / (count as f64).sqrt())
    }
}

/// The state of one queue. Names are those of RFC 8289 §5.
#[derive(Default)]
pub struct Control {
    /// The largest packet seen: dropping never leaves less than one in the queue.
    maxpacket: u64,
    /// When the waiting time will have been above the target for an interval.
    first_above_time: Option<Instant>,
    /// Whether it is in the dropping state.
    dropping: bool,
    drop_next: Instant,
    /// Drops since the dropping state was entered; how many at that time.
    count: u64,
    lastcount: u64,
}

/// The packet at the head, and whether it has waited too long for too long.
struct Head {
    packet: Pkt,
    ok_to_drop: bool,
}

impl Control {
    /// A packet of this size joins the queue.
    #[inline]
    pub fn on_arrival(&mut self, size: u32) {
        self.maxpacket = self.maxpacket.max(u64::from(size));
    }

    /// Nothing waits any more.
    fn on_empty(&mut self) {
        self.first_above_time = None;
    }

    /// The first packet of `fifo`, which is being emptied: the law is not asked.
    pub fn evict(&mut self, core: &Core, fifo: &mut Fifo) -> Option<Pkt> {
        let packet = fifo.pop(core);
        if fifo.is_empty() {
            self.on_empty();
        }
        packet
    }

    /// Drops since the dropping state was entered.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The packet of `fifo` that leaves next. Those that the law has dropped before it are dropped at `place`.
    pub fn dequeue(&mut self, law: &Law, core: &mut Core, place: Place, fifo: &mut Fifo) -> Option<Pkt> {
        let now = core.now();
        let marks = |core: &mut Core, packet: &Pkt| law.ecn && mark_if_capable(core, packet, place);
        let mut head = self.take(law, core, fifo)?;
        if !self.dropping {
            if head.ok_to_drop {
                self.dropping = true;
                self.count = self.first_count(law, now);
                self.lastcount = self.count;
                self.drop_next = law.next(now, self.count);
                if !marks(core, &head.packet) {
                    core.drop(head.packet, place, Cause::Early);
                    head = self.take(law, core, fifo)?;
                }
            }
            return Some(head.packet);
        }
        self.dropping = head.ok_to_drop;
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            if marks(core, &head.packet) {
                self.drop_next = law.next(self.drop_next, self.count);
                break;
            }
            core.drop(head.packet, place, Cause::Early);
            let Some(next) = self.take(law, core, fifo) else {
                self.dropping = false;
                return None;
            };
            head = next;
            self.dropping = head.ok_to_drop;
            if self.dropping {
                self.drop_next = law.next(self.drop_next, self.count);
            }
        }
        Some(head.packet)
    }

    /// Takes the head of the queue (RFC 8289 §5.6, `dodequeue`).
    fn take(&mut self, law: &Law, core: &Core, fifo: &mut Fifo) -> Option<Head> {
        let Some(packet) = fifo.pop(core) else {
            self.on_empty();
            return None;
        };
        let now = core.now();
        let sojourn = now.since(core.queued_at(&packet));
        if sojourn < law.target || fifo.backlog().bytes <= self.maxpacket {
            self.first_above_time = None;
            return Some(Head { packet, ok_to_drop: false });
        }
        let first_above_time = *self.first_above_time.get_or_insert(now + law.interval);
        Some(Head { packet, ok_to_drop: now >= first_above_time })
    }

    /// The count with which the dropping state begins now.
    fn first_count(&self, law: &Law, now: Instant) -> u64 {
        let since = now.since(self.drop_next);
        match law.resume {
            Resume::MinusTwo if since < law.interval * 8 => self.count.saturating_sub(2).max(1),
            Resume::Difference if since < law.interval * 16 => (self.count - self.lastcount).max(1),
            _ => 1,
        }
    }
}
