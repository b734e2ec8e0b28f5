//! RLC in acknowledged mode as EURANE does it, the UMTS extension of ns-2 (profile `ns2`).
//!
//! What EURANE does is known from runs of it (`tests/reference/eurane`), with which this agrees event
//! for event. Where it differs from the standard (3GPP TS 25.322):
//!
//! - Sequence numbers do not wrap, and a PDU's header takes no space.
//! - The window counts from the highest sequence number that a report spoke of, and what a report misses
//!   counts twice. If it closes while no poll is awaited, nothing opens it: the entity is silent for
//!   ever. With the usual window that takes some 700 PDUs in a row of which the far end reports nothing.
//! - A report asks for everything that is missing, under way or not; and all of it is sent again.
//! - A poll on a PDU sent again can end the wait for a later PDU. If that one is lost too, it is missed
//!   only when another follows.
//!
//! `max_dat` is not EURANE's (see `discard`). Over the high-speed shared channel its RNC has another entity ([`hs`]).

mod config;
mod discard;
pub mod hs;
mod receiver;
mod sdus;
mod sender;
mod ticks;

pub use config::Config;

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::Probe;
use lasthop_radio::radio::arq::{LinkArq, Outcome, Slot, Unsent};

use lasthop_radio::radio::rlc::{Control, Pdu, Reason, Status};
use receiver::Receiver;
use sdus::{INDICATOR, LEAST_SECOND};
use sender::Sender;

/// One end of a bearer.
pub struct Entity {
    pdu: u8,
    sender: Sender,
    receiver: Receiver,
    /// From when a report or an MRW that waits for a ride is due; set at the first opportunity to
    /// send it.
    due: Option<Instant>,
    /// PDUs that carried no data.
    alone: u64,
}

impl Entity {
    /// An entity that has sent and received nothing.
    pub fn new(config: &Config) -> Self {
        let pdu = config.pdu.get() as u8;
        Self { pdu, sender: Sender::new(config), receiver: Receiver::new(config), due: None, alone: 0 }
    }

    /// Whether a report or an MRW is to be sent.
    #[inline]
    fn wants_control(&self) -> bool {
        self.receiver.wants_report() || self.sender.mrw.wanted()
    }

    /// The size of the pending report and order, in bytes. It counts bits that the report has no room for: EURANE leaves out what does not
    /// fit into a PDU, but says the size of all.
    fn control_bytes(&self) -> u16 {
        let report = if self.receiver.wants_report() { BITMAP_BITS + self.receiver.report_bits() } else { 0 };
        let mrw = if self.sender.mrw.wanted() { MRW_BITS } else { 0 };
        (HEADER_BITS + report + mrw).div_ceil(8) as u16
    }

    /// Whether the pending report and order should wait for a PDU with data, in this interval or a later one.
    fn rides(&mut self, slot: &Slot, bytes: u16) -> bool {
        let next = slot.now + slot.tti;
        let due = *self.due.get_or_insert(next);
        if u16::from(self.pdu) < bytes + u16::from(2 * INDICATOR + LEAST_SECOND) {
            return false;
        }
        // EURANE counts the PDUs left in this interval as sent one interval later, and so on.
        let mut waits = (0..).map(|intervals| next.since(due) + slot.tti * intervals);
        let Some(intervals) = waits.position(|wait| !may_wait(due, wait)).filter(|intervals| *intervals > 0) else {
            return false;
        };
        let [all, left] = slot.pdus_of(u32::from(self.pdu) * 8).map(u64::from);
        let pdus = all * (intervals as u64 - 1) + left;
        self.sender.carries(bytes as u8 + INDICATOR, pdus)
    }

    /// The pending report and order, for a PDU of `slot`.
    fn control(&mut self, slot: &Slot, bytes: u16) -> Option<Box<Control>> {
        self.due = None;
        let mrw = self.sender.mrw.take(slot.at);
        let others = HEADER_BITS + BITMAP_BITS + if mrw.is_some() { MRW_BITS } else { 0 };
        let limit = u32::from(self.pdu) * 8 - others;
        let prohibited = self.sender.ticks.timer(slot, slot.now, self.receiver.prohibit);
        let (first, received) = self.receiver.take_report(prohibited, limit as usize).unwrap_or_default();
        Some(Box::new(Control::Status(Status {
            first,
            received,
            give_up: mrw.iter().map(|mrw| mrw.sn).collect(),
            kept: mrw.map_or(0, |mrw| mrw.resume),
            bytes,
            ..Status::default()
        })))
    }

    /// The pending report and order in a PDU of their own.
    fn alone(&mut self, slot: &Slot, bytes: u16) -> Pdu {
        self.alone += 1;
        Pdu {
            reason: Reason::Control,
            padding: u16::from(self.pdu).saturating_sub(bytes),
            bits: u32::from(self.pdu) * 8,
            control: self.control(slot, bytes),
            ..Pdu::default()
        }
    }
}

impl LinkArq for Entity {
    fn enqueue(&mut self, _now: Instant, bytes: u32, exempt: bool) -> bool {
        self.sender.enqueue(bytes, exempt)
    }

    fn pull(&mut self, slot: &Slot) -> Option<Pdu> {
        self.sender.give_up_unanswered();
        // What is kept free for a report or an order.
        let mut reserve = 0;
        if self.wants_control() {
            let bytes = self.control_bytes();
            if !self.rides(slot, bytes) {
                return Some(self.alone(slot, bytes));
            }
            reserve = bytes as u8 + INDICATOR;
        }
        let mut pdu = self.sender.pull(slot, reserve)?;
        if reserve > 0 && pdu.padding >= u16::from(reserve) {
            pdu.padding -= u16::from(reserve);
            pdu.indicators += 1;
            pdu.control = self.control(slot, u16::from(reserve - INDICATOR));
        }
        Some(pdu)
    }

    #[inline]
    fn wants_to_send(&self) -> bool {
        self.wants_control() || self.sender.may_send()
    }

    fn on_pdu(&mut self, now: Instant, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
        // The poll bit of a report that comes alone is not looked at.
        let mut asked = pdu.poll && pdu.data > 0;
        if let Some(Control::Status(status)) = pdu.control.as_deref() {
            if !status.received.is_empty() {
                self.sender.on_report(status);
                // An MRW that was waiting may be needed no more.
                self.due = self.due.filter(|_| self.wants_control());
            }
            for sn in &status.give_up {
                self.receiver.give_up(*sn, status.kept, outcomes);
                asked = true;
            }
        }
        if pdu.data > 0 {
            self.receiver.on_data(pdu, outcomes);
        }
        if pdu.data > 0 || asked {
            self.receiver.consider_report(now, asked);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        let sends = self.wants_to_send();
        let Sender { ticks, poll_expires, .. } = &mut self.sender;
        ticks.order(now, poll_expires, sends);
        ticks.order(now, &mut self.receiver.prohibited, sends);
        self.sender.on_timeout(now);
        self.receiver.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        let next = self.sender.next_timeout().min(self.receiver.next_timeout());
        (next < Instant::MAX).then_some(next)
    }

    fn on_channel_change(&mut self, at: Instant, former: Duration, tti: Duration) {
        // A report that waits for a ride has been due since it was wanted: an interval of the former channel after the next opportunity.
        if self.wants_control() {
            self.due.get_or_insert(at + former);
        }
        self.sender.ticks.change(at, former, tti);
    }

    fn ready_pdus(&self) -> u64 {
        if !self.wants_to_send() {
            return 0;
        }
        (self.sender.ready() + u64::from(self.wants_control())).max(1)
    }

    fn backlog(&self) -> Unsent {
        self.sender.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let (sent, received) = (&self.sender.totals, &self.receiver.totals);
        for (name, count) in [
            ("sent_sdus", sent.sdus),
            ("refused_sdus", sent.refused),
            ("given_up_sdus", sent.given_up),
            ("delivered_sdus", received.delivered),
            ("lost_sdus", received.lost),
            ("new_pdus", sent.new),
            ("retransmitted_pdus", sent.again),
            ("poll_pdus", sent.polls),
            ("control_pdus", self.alone),
            ("received_pdus", received.pdus),
            ("duplicate_pdus", received.duplicates),
            ("sent_reports", received.reports),
            ("sent_mrws", self.sender.mrw.told),
            ("repeated_mrws", self.sender.mrw.repeated),
            ("waiting_pdus", self.receiver.waiting() as u64),
        ] {
            probe.value(name, count as f64);
        }
    }
}

/// Data or control, and the kind of control PDU (TS 25.322 §9.2.1.5).
const HEADER_BITS: u32 = 4;

/// What a report takes beside its bits: type and first sequence number. With the header EURANE's 20 bits
/// (`status_pdu_header_`), less than in the standard, where it has a length too.
const BITMAP_BITS: u32 = 16;

/// What an MRW takes: type, length, sequence number, and the number of the SDU in its PDU (TS 25.322
/// §9.2.2.11).
const MRW_BITS: u32 = 24;

/// Whether control information due at `due` may wait `wait` for a ride (`max_status_delay_`, 10 ms). EURANE subtracts two
/// times in seconds, as doubles. So rounding decides of an interval of 10 ms, and differently as time goes by: it
/// is too long in the first 2 s, from 16 s to 32 s, from 64 s to 128 s, and after 2048 s.
fn may_wait(due: Instant, wait: Duration) -> bool {
    let due = due.as_secs_f64();
    (due + wait.as_secs_f64()) - due <= 0.01
}

#[cfg(test)]
mod tests;
