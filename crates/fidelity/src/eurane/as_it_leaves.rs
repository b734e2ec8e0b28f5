//! RLC whose PDUs are built as they leave.
//!
//! EURANE's RLC builds a PDU when it leaves, up to 20 µs after the interval's PDUs are handed down; lasthop's as they are handed down. Between
//! the two a timer may end, which a PDU of lasthop learns an interval later. Means are alike; runs that are to be repeated draw by draw are not.

use std::sync::Arc;

use lasthop_core::engine::{Duration, FloatTime, Instant};
use lasthop_core::net::Probe;
use lasthop_core::radio::Direction;
use lasthop_core::radio::arq::{ArqConfig, LinkArq, Outcome, Slot, Unsent};
use lasthop_core::radio::rlc::Pdu;
use lasthop_core::scenario::registry::Rlc;

/// The same RLC, so built.
pub fn as_it_leaves(rlc: &Rlc) -> Rlc {
    Rlc::custom("RLC that builds a PDU as it leaves", Arc::new(Config(rlc.clone())))
}

struct Config(Rlc);

impl ArqConfig for Config {
    fn build(&self, sends: Direction) -> Box<dyn LinkArq> {
        Box::new(Entity(self.0.config().build(sends)))
    }

    fn pdu_bits(&self) -> u32 {
        self.0.config().pdu_bits()
    }
}

struct Entity(Box<dyn LinkArq>);

impl LinkArq for Entity {
    fn pull(&mut self, slot: &Slot) -> Option<Pdu> {
        while let Some(end) = self.0.next_timeout().filter(|end| slot.now < *end && *end <= slot.at) {
            self.0.on_timeout(end);
        }
        self.0.pull(slot)
    }

    fn enqueue(&mut self, now: Instant, bytes: u32, exempt: bool) -> bool {
        self.0.enqueue(now, bytes, exempt)
    }

    fn wants_to_send(&self) -> bool {
        self.0.wants_to_send()
    }

    fn has_control(&self) -> bool {
        self.0.has_control()
    }

    fn on_pdu(&mut self, now: Instant, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
        self.0.on_pdu(now, pdu, outcomes);
    }

    fn on_timeout(&mut self, now: Instant) {
        self.0.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.0.next_timeout()
    }

    fn set_float(&mut self, now: FloatTime) {
        self.0.set_float(now);
    }

    fn next_float(&self) -> Option<FloatTime> {
        self.0.next_float()
    }

    fn on_channel_change(&mut self, at: Instant, former: Duration, tti: Duration) {
        self.0.on_channel_change(at, former, tti);
    }

    fn ready_pdus(&self) -> u64 {
        self.0.ready_pdus()
    }

    fn backlog(&self) -> Unsent {
        self.0.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.0.sample(probe);
    }
}
