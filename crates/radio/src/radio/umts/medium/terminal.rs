//! A terminal: the two ends of its bearer, what they take, and their timers.

use crate::radio::Direction;
use crate::radio::alarm::Alarm;
use crate::radio::arq::Unsent;
use crate::radio::attachment::{Service, Waiting};
use crate::radio::rlc::Pdu;
use crate::radio::umts::bearer::Sender;
use crate::radio::umts::cpch::Uplink;
use lasthop_net::engine::Instant;
use lasthop_net::net::medium::End;
use lasthop_net::net::observe::{Cause, PduStep};
use lasthop_net::net::{Core, Pkt};

use super::Umts;

/// A terminal.
pub(super) struct Ue {
    pub(super) end: End,
    /// At the RNC, which sends down, and at the terminal, which sends up.
    pub(super) senders: [Sender; 2],
    /// PDUs that the air lost, down and up.
    pub(super) lost: [u64; 2],
    /// PDUs that found no room in the queue in front of the air, down and up.
    pub(super) dropped: [u64; 2],
    pub(super) service: Service,
    /// When the last PDU that is on its way will be at the Node B's queue, and at the RNC: none overtakes another there.
    pub(super) last: [Instant; 2],
    /// Over what it sends up while the common channels serve it.
    pub(super) uplink: Uplink,
    /// When its last message on RACH ends, if access takes time.
    pub(super) rach_free: Instant,
    /// Wakes its RLC entities.
    pub(super) alarm: Alarm,
}

/// The backlogs of the terminals' bearers.
pub(super) struct Bearers<'a>(pub(super) &'a [Ue]);

impl Waiting for Bearers<'_> {
    fn unsent(&self, terminal: u32, direction: Direction) -> Unsent {
        self.0[terminal as usize].senders[direction.index()].arq.backlog()
    }
}

impl Umts {
    /// Takes a packet to send, or drops it if there is no room.
    pub(super) fn enqueue(&mut self, core: &mut Core, terminal: u32, direction: Direction, pkt: Pkt) {
        if let Some(system) = self.away(terminal) {
            return self.elsewhere.accept(core, terminal, system, direction, pkt);
        }
        let sender = &mut self.terminals[terminal as usize].senders[direction.index()];
        match sender.enqueue(core, pkt) {
            Ok(()) => self.follow_backlog(core, terminal, direction),
            Err(pkt) => core.drop(pkt, sender.place, Cause::Overflow),
        }
    }

    /// A PDU will not come. An exempt packet of which it carried a part is sent again.
    pub(super) fn lose(&mut self, core: &mut Core, at: Instant, terminal: u32, direction: Direction, pdu: &Pdu) {
        let lost = self.terminals[terminal as usize].senders[direction.index()].take_lost(core, pdu);
        self.count_lost(core, at, terminal, direction, pdu);
        for pkt in lost {
            self.enqueue(core, terminal, direction, pkt);
        }
    }

    /// A PDU without a part of an exempt packet will not come.
    pub(super) fn count_lost(&mut self, core: &mut Core, at: Instant, terminal: u32, direction: Direction, pdu: &Pdu) {
        self.terminals[terminal as usize].lost[direction.index()] += 1;
        self.observe(core, at, PduStep::Lost, terminal, direction, pdu, None);
    }

    /// There is more to send than before.
    fn follow_backlog(&mut self, core: &mut Core, terminal: u32, direction: Direction) {
        self.activate(core, terminal, direction);
        if direction == Direction::Up {
            self.consider_cpch(core, terminal);
        }
        self.arm_entity(core, terminal, direction.index());
        self.attachment.on_backlog(core.now(), terminal, direction, &Bearers(&self.terminals));
    }

    /// A PDCP entity asks the far end for a header of a context.
    pub(super) fn request_header(&mut self, core: &mut Core, terminal: u32, direction: Direction, cid: u8) {
        self.terminals[terminal as usize].senders[direction.index()].request(core.now(), cid);
        self.follow_backlog(core, terminal, direction);
        self.follow_attachment(core);
    }

    /// Wakes an RLC entity of a terminal when it wishes.
    #[inline(always)]
    pub(super) fn arm_entity(&mut self, core: &mut Core, terminal: u32, entity: usize) {
        let Ue { senders, alarm, .. } = &mut self.terminals[terminal as usize];
        let arq = &senders[entity].arq;
        alarm.set_as(core, arq.next_timeout(), |core| {
            // Timers expire before anything else happens at their instant, unless ns-2's clock says more.
            let time = core.float().and_then(|_| arq.next_float());
            time.map_or(Instant::ZERO, |time| time.order_at(time.instant(), core.now()))
        });
    }

    pub(super) fn wake_terminal(&mut self, core: &mut Core, terminal: u32) {
        let now = core.now();
        if !self.terminals[terminal as usize].alarm.rings(core) {
            return;
        }
        for direction in Direction::BOTH {
            let arq = &mut self.terminals[terminal as usize].senders[direction.index()].arq;
            if arq.next_timeout().is_some_and(|at| at <= now) {
                arq.on_timeout(now);
                self.activate(core, terminal, direction);
            }
        }
        for direction in Direction::BOTH {
            self.arm_entity(core, terminal, direction.index());
        }
    }
}
