//! The channels down that terminals share: whose turn it is.
//!
//! MAC-c/sh at the RNC shares the intervals of FACH and DSCH out (3GPP TS 25.301 §5.3.1, TS 25.321 §4.2.3.2), and RLC hands
//! down only what it is asked for: nothing is sent in vain towards a queue that is full. An interval of DSCH carries the PDUs of one
//! terminal (TS 25.211 §5.3.3.3), one of FACH those of as many as fit. The PDUs of an interval of DSCH cross the Iub as one frame
//! (TS 25.435). In EURANE each terminal's RLC fills all intervals of FACH by itself, and the Node B drops what is too much.

use crate::radio::Direction;
use crate::radio::umts::channel::Order;
use lasthop_net::engine::Instant;
use lasthop_net::net::Core;

use super::channels::Kind;
use super::{ONE_CELL, Umts};

/// The turns of the terminals on a channel.
pub(super) struct Turns {
    channel: u32,
    order: Order,
    /// The terminal served last: one whose PDUs did not fit into what was left keeps its turn.
    last: u32,
    /// The terminals asked in this interval; empty between events.
    asked: Vec<u32>,
}

impl Turns {
    pub(super) fn new(channel: u32, order: Order) -> Self {
        Self { channel, order, last: u32::MAX, asked: Vec::new() }
    }
}

impl Umts {
    /// Whether MAC-c/sh shares the intervals of channels of this kind out.
    pub(super) fn is_shared_out(&self, kind: Kind) -> bool {
        kind == Kind::Dsch || kind == Kind::Fach && self.in_order
    }

    /// The terminal whose turn it is hands down what the next interval of the channel of this clock is to carry. Of one that has nothing
    /// after all, such as when its window is closed, the turn passes to the next; so does, on FACH, what it leaves.
    pub(super) fn share_interval(&mut self, core: &mut Core, clock: u16, senders: &[u32]) {
        let Some(mut turns) = self.channels.clocks[usize::from(clock)].turns.take() else { return };
        let is_of_one = self.channels[turns.channel].kind == Kind::Dsch;
        let mut left = self.channels[turns.channel].queue.interval_bits();
        while left >= self.pdu_bits
            && (!is_of_one || self.flights.leaving.is_empty())
            && let Some(terminal) = self.turn(core.now(), senders, &turns)
        {
            let bits = self.hand_down(core, terminal, Direction::Down, left);
            left -= bits;
            if bits > 0 {
                turns.last = terminal;
            }
            self.arm_entity(core, terminal, Direction::Down.index());
            turns.asked.push(terminal);
        }
        turns.asked.clear();
        self.channels.clocks[usize::from(clock)].turns = Some(turns);
        let Some((.., terminal, _)) = self.flights.leaving.first() else { return };
        let rnc = self.serving_rnc(*terminal);
        let at = is_of_one.then(|| {
            // One frame of the Iub: all of it comes with its last PDU.
            let bits = self.flights.leaving.iter().map(|(.., pdu)| pdu.bits).sum();
            self.utran.down(core.now(), bits, rnc, &ONE_CELL)
        });
        self.leave_rnc(core, at);
    }

    /// Whose turn it is of those (terminal × 2) that have something to send, and have not been asked yet.
    fn turn(&self, now: Instant, senders: &[u32], turns: &Turns) -> Option<u32> {
        let sender = |terminal: u32| &self.terminals[terminal as usize].senders[Direction::Down.index()];
        let may = |n: &u32| sender(*n).not_before <= now && !turns.asked.contains(n);
        let mut ready = senders.iter().map(|number| number / 2).filter(may);
        let first = ready.next()?;
        let Some(second) = ready.next() else { return Some(first) };
        let mut ready = [first, second].into_iter().chain(ready);
        match turns.order {
            // Control information comes first: it has no packet, and timers of the far end run until it comes.
            Order::Fifo => ready.min_by_key(|n| (!sender(*n).arq.has_control(), sender(*n).oldest())),
            Order::RoundRobin => ready.clone().find(|n| *n > turns.last).or_else(|| ready.next()),
        }
    }
}
