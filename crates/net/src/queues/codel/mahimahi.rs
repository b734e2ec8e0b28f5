//! CoDel as in mahimahi (`codel_packet_queue.cc` of its revision ae477d4), which differs from RFC 8289: times are whole milliseconds; in the
//! dropping state the packet behind the first is lost, and the first one sent; a queue of at most 1,504 bytes is good; the law cuts the
//! interval down to whole milliseconds; and counts are of 32 bits.

use crate::engine::{Duration, Instant};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueDiscipline};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::trace::BYTES;
use crate::queues::fifo::Fifo;

use super::Config;

/// The queue.
pub struct CoDel {
    place: Place,
    fifo: Fifo,
    /// Whole milliseconds, as all times here.
    target: u64,
    interval: u64,
    /// 0: the waiting time was good.
    first_above_time: u64,
    dropping: bool,
    drop_next: u64,
    count: u32,
    lastcount: u32,
}

impl CoDel {
    /// An empty queue whose drops are counted at `place`.
    pub fn new(config: &Config, place: Place) -> Self {
        let ms = |duration: Duration| duration.as_nanos() / 1_000_000;
        Self {
            place,
            fifo: Fifo::limited(config.limit, config.also),
            target: ms(config.target),
            interval: ms(config.interval),
            first_above_time: 0,
            dropping: false,
            drop_next: 0,
            count: 0,
            lastcount: 0,
        }
    }

    /// The first packet, and whether it may be dropped.
    fn take(&mut self, core: &Core) -> Option<(Pkt, bool)> {
        let packet = self.fifo.pop(core)?;
        let (now, arrival) = (ms(core.now()), ms(core.queued_at(&packet)));
        let left = self.fifo.backlog();
        if left.packets == 0 || now - arrival < self.target || left.bytes <= u64::from(BYTES) {
            self.first_above_time = 0;
            return Some((packet, false));
        }
        if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
            return Some((packet, false));
        }
        Some((packet, now >= self.first_above_time))
    }

    /// Drops the first packet. Says whether the next one may be dropped too.
    fn drop_one(&mut self, core: &mut Core) -> bool {
        let Some((packet, ok_to_drop)) = self.take(core) else { return false };
        core.drop(packet, self.place, Cause::Early);
        ok_to_drop
    }

    fn law(&self, from: u64) -> u64 {
        from + (self.interval as f64 / f64::from(self.count).sqrt()) as u64
    }
}

impl QueueDiscipline for CoDel {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        if self.fifo.is_full(size) {
            return core.drop(packet, self.place, Cause::Overflow);
        }
        self.fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let now = ms(core.now());
        let (first, ok_to_drop) = self.take(core)?;
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.dropping = self.drop_one(core);
                self.count = self.count.wrapping_add(1);
                if self.dropping {
                    self.drop_next = self.law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            self.drop_one(core);
            self.dropping = true;
            let delta = self.count.wrapping_sub(self.lastcount);
            let soon = now.wrapping_sub(self.drop_next) < 16 * self.interval;
            self.count = if delta > 1 && soon { delta } else { 1 };
            self.drop_next = self.law(now);
            self.lastcount = self.count;
        }
        Some(first)
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        let packet = self.fifo.pop(core);
        if self.fifo.is_empty() {
            // As whenever its last packet is taken.
            self.first_above_time = 0;
        }
        packet
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.fifo.put_back(core, packet);
    }

    fn on_held(&mut self, held: Backlog) {
        self.fifo.hold(held);
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("drop_count", f64::from(self.count));
    }
}

impl Timed for CoDel {}

/// Whole milliseconds.
fn ms(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}
