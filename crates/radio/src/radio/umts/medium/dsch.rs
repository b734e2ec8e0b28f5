//! The downlink shared channel: whose turn it is.
//!
//! The channel sends the PDUs of one terminal in each interval (3GPP TS 25.211 §5.3.3.3). MAC-c/sh at the
//! RNC decides which (TS 25.301 §5.3.1), and only that terminal's RLC hands PDUs down: so, unlike on
//! FACH, nothing is sent in vain towards a queue that is full. The PDUs of an interval cross the Iub as one
//! frame (TS 25.435).

use crate::radio::Direction;
use crate::radio::umts::channel::Order;
use lasthop_net::engine::Instant;
use lasthop_net::net::Core;

use super::{ONE_CELL, Umts};

/// The scheduler of a downlink shared channel.
pub(super) struct Dsch {
    pub(super) order: Order,
    /// The terminal served last.
    pub(super) last: u32,
    /// The terminals asked in this interval; empty between events.
    pub(super) asked: Vec<u32>,
}

impl Umts {
    /// The terminal whose turn it is hands down what the next interval is to carry. Of one that has nothing
    /// after all, such as when its window is closed, the turn passes to the next.
    pub(super) fn share_interval(&mut self, core: &mut Core, senders: &[u32]) {
        let mut asked = self.dsch.as_mut().map_or_else(Vec::new, |dsch| std::mem::take(&mut dsch.asked));
        while self.flights.leaving.is_empty()
            && let Some(terminal) = self.turn(core.now(), senders, &asked)
        {
            self.hand_down(core, terminal, Direction::Down);
            self.arm_entity(core, terminal, Direction::Down.index());
            asked.push(terminal);
        }
        if let Some(dsch) = &mut self.dsch {
            dsch.last = asked.last().copied().unwrap_or(dsch.last);
            asked.clear();
            dsch.asked = asked;
        }
        let Some(terminal) = self.flights.leaving.first().map(|(_, _, terminal, _)| *terminal) else { return };
        // One frame of the Iub: all of it comes with its last PDU.
        let bits = self.flights.leaving.iter().map(|(.., pdu)| pdu.bits).sum();
        let at = self.utran.down(core.now(), bits, self.serving_rnc(terminal), &ONE_CELL);
        self.leave_rnc(core, Some(at));
    }

    /// Whose turn it is of those (terminal × 2) that have something to send, and have not been asked yet.
    fn turn(&self, now: Instant, senders: &[u32], asked: &[u32]) -> Option<u32> {
        let dsch = self.dsch.as_ref()?;
        let sender = |terminal: u32| &self.terminals[terminal as usize].senders[Direction::Down.index()];
        let may = |n: &u32| sender(*n).not_before <= now && !asked.contains(n);
        let mut ready = senders.iter().map(|number| number / 2).filter(may);
        match dsch.order {
            // Control information comes first: it has no packet, and timers of the far end run until it comes.
            Order::Fifo => ready.min_by_key(|n| (!sender(*n).arq.has_control(), sender(*n).oldest())),
            Order::RoundRobin => ready.clone().find(|n| *n > dsch.last).or_else(|| ready.next()),
        }
    }
}
